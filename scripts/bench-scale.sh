#!/bin/sh
# What an event costs as everything becomes much: 10^8 events, 10^6 distinct stacks, 10^7 live blocks, 64
# threads (tests/e2e/load/scale.c), with the slope from each line to the next.
#
# bench-scale.sh [-o FILE] [--small] [GROUP...]: the tables on stdout, and as JSON in FILE
# (BUILD/bench-scale.json). Groups are those of tests/bench/scale.py; --small: no more than 10^5 of anything.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
# On a disk pages are written back meanwhile and fault again: that is measured too then (TMPDIR=/tmp).
[ ! -d /dev/shm ] || export TMPDIR="${TMPDIR:-/dev/shm}"
exec python3 tests/bench/scale.py "$BUILD" "$@"
