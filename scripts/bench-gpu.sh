#!/bin/sh
# What memtrace costs PyTorch on this GPU, beside PyTorch's own recorder: one process a stack mode, in it
# all are measured in turns (tests/gpu/bench.py).
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
nvidia-smi -L 2>/dev/null | sed 's/ (UUID.*//' || { echo "no GPU here"; exit 0; }
python3 -c 'import platform, torch; print(f"PyTorch {torch.__version__}, Python {platform.python_version()}")'
for stacks in none native python python,native; do
	echo "MEMTRACE_STACKS=$stacks"
	for what in events step; do
		env LD_PRELOAD="$BUILD/libmemtrace.so" MEMTRACE_STACKS=$stacks MEMTRACE_QUIET=1 \
			MEMTRACE_OUTPUT="$temp/t.json" python3 tests/gpu/bench.py $what | sed 's/^/  /'
	done
done
