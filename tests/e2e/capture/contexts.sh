#!/bin/sh
# A runtime that releases its contexts when the process exits ends nothing that the program left.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

FAKE_CUDART_RELEASES=1
export FAKE_CUDART_RELEASES

for sample in leak leak-static managed arrays-static; do
	traced "$SAMPLES/$sample"
	is "$sample: the program succeeds" "$?" 0
	cp "$OUT" own.out
	ok "$sample: what it left is still there" "$PYTHON" "$TOP/tests/e2e/figures.py" "$TRACE" own.out
	ok "$sample: the trace keeps its promises" validate "$TRACE"
done
