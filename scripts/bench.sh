#!/bin/sh
# What memtrace costs, measured in one run, beside the budgets of the design. Nothing here fails a build:
# times on a shared machine wobble; scripts/check-instructions.sh counts what can be held. The rows and
# their budgets are tests/bench/rows_and_budgets.py's.
#
# bench.sh [-o FILE] [--small] [GROUP...]: the table on stdout, and as JSON in FILE (BUILD/bench.json). With
# groups (tests/bench/cpu.py) only those rows; --small: a tenth of everything, to try the script itself.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
exec python3 tests/bench/cpu.py "$BUILD" "$@"
