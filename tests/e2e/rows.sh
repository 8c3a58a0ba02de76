#!/bin/sh
# Every row of the table of calls, through every door that leads to it: recorded once, with the sums
# that the driver itself keeps; and a call that fails changes no sum.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

FAKE_CUDA_DEVICES=2
export FAKE_CUDA_DEVICES

memtrace hooks --names | grep -v '^cuGetProcAddress' >names
traced "$E2E/rows"
is 'every row is called' "$?" 0
tap_comment "$ERR"
cp "$OUT" calls
ok 'each call is recorded once, with the sums of the driver' \
	"$PYTHON" "$TOP/tests/e2e/rows.py" "$TRACE" calls names
ok 'the trace keeps its promises' validate "$TRACE"
is 'nothing was freed that was not seen' \
	"$(json "$TRACE" '[note for note in d["capture"]["notes"] if "not seen" in note]')" '[]'
