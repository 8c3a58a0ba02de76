#!/bin/sh
# What memtrace costs PyTorch on this GPU, beside PyTorch's own recorder: one process a stack mode, in it
# all are measured in turns (tests/gpu/bench.py). The rows and their budgets are tests/bench/rows_and_budgets.py's.
#
# bench-gpu.sh [-o FILE]: the table on stdout, and as JSON in FILE (BUILD/bench-gpu.json).
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
out=$BUILD/bench-gpu.json
[ "${1-}" != -o ] || out=$2
nvidia-smi -L >/dev/null || { echo "bench-gpu: there is no GPU here"; exit 0; }
python3 -c 'import torch' || { echo "bench-gpu: there is no PyTorch for python3 here"; exit 0; }
exec python3 tests/bench/gpu.py "$BUILD" "$out"
