#!/bin/sh
# Records tests/data/h200-change-*.json on a machine with a GPU and PyTorch: record-changes.sh FOLDER
#
# One program before and after each of four real changes, and once more unchanged. What is kept of
# each is a baseline (memtrace baseline): some ten kB.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$top/build}" "${PYTHON:=python3}" "${SCRIPT:=$top/tests/gpu/changes.py}"
to=${1:?usage: record-changes.sh FOLDER}
mkdir -p "$to"

record() { # NAME OPTIONS...
	name=$1
	shift
	rm -f "$to/whole.json"
	MEMTRACE_QUIET=1 MEMTRACE_OUTPUT="$to/whole.json" LD_PRELOAD="$BUILD/libmemtrace.so" \
		"$PYTHON" "$SCRIPT" "$@"
	"$BUILD/memtrace" baseline "$to/whole.json" -o "$to/h200-change-$name.json"
	rm -f "$to/whole.json"
}

record none
record again
record batch --batch 12
record adamw --optimizer adamw
record losses --keep-losses
record deep --batch 32 --length 256
record checkpoint --batch 32 --length 256 --checkpoint
ls -l "$to"
