#!/bin/sh
# Every row of the table of calls, through every door that leads to it: recorded once, with the sums
# that the driver itself keeps; and a call that fails changes no sum.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

FAKE_CUDA_DEVICES=2
export FAKE_CUDA_DEVICES

# rows NAME ROWS...: the program's calls against its trace
rows() {
	name=$1
	shift
	traced "$E2E/rows" "$@"
	is "$name: every row is called" "$?" 0
	cp "$OUT" calls
	ok "$name: each call is recorded once, with the sums of the driver" \
		"$PYTHON" "$TOP/tests/e2e/capture/rows.py" "$TRACE" calls names
	ok "$name: the trace keeps its promises" validate "$TRACE"
	is "$name: nothing was freed that was not seen" \
		"$(json "$TRACE" '[note for note in d["capture"]["notes"] if "allocation was not recorded" in note]')" '[]'
}

# Those that are only counted are calls.sh's.
awk -F '[(, ]+' '/^CALL\(/ { print $3 } /^CALLS\(/ { print $4; print $4 $2 }' \
	"$TOP/src/capture/loader/counted_calls.def" >counted
memtrace hooks --names | grep -Ev '^(cuGetProcAddress|cupti)' | grep -vxF -f counted >names
rows 'all rows'

# A runtime that reaches the driver unseen: its calls count by themselves.
grep '^cuda' names >runtime
mv runtime names
FAKE_CUDART_UNSEEN=1
export FAKE_CUDART_UNSEEN
rows 'the runtime alone' runtime
is 'the trace says that memory was recorded at CUDA runtime calls' \
	"$(json "$TRACE" 'sum("memory was recorded at CUDA runtime calls" in note for note in d["capture"]["notes"])')" 1
