#!/bin/sh
# Every sample, with a shared and a static runtime: the trace says what the program counted itself and
# what the driver saw, and the program does not notice.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# What differs from run to run, whoever looks.
steady() {
	sed -E 's/^(ns_per_pair|[a-z]+\.pid)=.*/\1=N/' "$1"
}

# The trace without what time and place decide.
sums() { # TRACE
	json "$1" '[{k: v for k, v in row.items() if k in ("device", "space", "allocations", "frees", "ooms")}
		| {m: (row[m]["peak_bytes"], row[m]["exit_bytes"]) for m in ("allocated", "reserved") if m in row}
		for row in d["summary"]["devices"] + d["summary"]["spaces"]]'
}

compare() { # NAME PROGRAM ARGUMENTS...
	name=$1
	shift
	rm -f report.json
	"$@" >plain.out 2>plain.err </dev/null
	plain=$?
	traced env FAKE_CUDA_REPORT="$PWD/report.json" "$@"
	is "$name: the same status" $? "$plain"
	cp "$OUT" traced.out
	cp "$ERR" traced.err
	is "$name: the same output" "$(steady traced.out)" "$(steady plain.out)"
	is "$name: one line more on stderr" "$(grep -v '^memtrace: wrote' traced.err)" "$(cat plain.err)"
	ok "$name: the trace keeps its promises" validate "$TRACE"
	if [ -n "$GPU" ]; then
		ok "$name: the program's figures" "$PYTHON" "$TOP/tests/e2e/figures.py" "$TRACE" traced.out
	else
		ok "$name: the program's and the driver's figures" \
			"$PYTHON" "$TOP/tests/e2e/figures.py" "$TRACE" traced.out --report report.json
	fi
}

both() { # SAMPLE ARGUMENTS...
	sample=$1
	shift
	compare "$sample${1:+ $*}" "$SAMPLES/$sample" "$@"
	shared=$(sums "$TRACE")
	compare "$sample-static${1:+ $*}" "$SAMPLES/$sample-static" "$@"
	[ "${sample#threads}" = "$sample" ] || return 0 # peaks differ from run to run
	is "$sample${1:+ $*}: the same sums with either runtime" "$(sums "$TRACE")" "$shared"
}

both leak
both churn 2000
both churn 500 4
both pool
both vmm
both managed
both oom
both caching
both arrays
both graph
both threads 4 500
