#!/bin/sh
# What a CI job does with memtrace: run a command, compare it with its baseline, say so in every form
# that the platform reads. Used by action.yml and gitlab.yml; runs anywhere.
#
#	MEMTRACE_RUN       the command, as a line of sh
#	MEMTRACE_BASELINE  the committed baseline; none, or one that is not there yet: only the budget
#	MEMTRACE_BUDGET    a budget file, if there is one
#	MEMTRACE_FAIL_ON   gates, one a line; nothing stands for --gate
#	MEMTRACE_BIN       the tool (memtrace)
#	MEMTRACE_OUT       where files go (memtrace-out): head.json, diff.md, diff.junit.xml, diff.sarif, benchmark.json
#
# It ends with the status of the command when that fails, else 0, or 1 when a gate or the budget is broken.
set -u

: "${MEMTRACE_RUN:?the command to run}" "${MEMTRACE_BASELINE:=}" "${MEMTRACE_BUDGET:=}" "${MEMTRACE_FAIL_ON:=}"
: "${MEMTRACE_BIN:=memtrace}" "${MEMTRACE_OUT:=memtrace-out}"

mkdir -p "$MEMTRACE_OUT" || exit 2
trace=$MEMTRACE_OUT/trace.json
rm -f "$trace"
MEMTRACE_OUTPUT=$trace "$MEMTRACE_BIN" run -- sh -c "$MEMTRACE_RUN"
status=$?
if [ "$status" != 0 ]; then
	echo "the command ended with status $status" >&2
	exit "$status"
fi
if [ ! -e "$trace" ]; then
	echo "$MEMTRACE_RUN left no trace: it did not allocate GPU memory, or not where libmemtrace.so was loaded" >&2
	exit 3
fi
"$MEMTRACE_BIN" baseline "$trace" -o "$MEMTRACE_OUT/head.json" || exit 3
[ -z "${GITHUB_OUTPUT:-}" ] || echo "head=$MEMTRACE_OUT/head.json" >>"$GITHUB_OUTPUT"

# told VERB ARGS...: in every format, and what the first of them ends with
told() {
	"$MEMTRACE_BIN" "$@"
	verdict=$?
	[ "$verdict" -lt 2 ] || return "$verdict"
	"$MEMTRACE_BIN" "$@" --format markdown -o "$MEMTRACE_OUT/$1.md"
	"$MEMTRACE_BIN" "$@" --format junit -o "$MEMTRACE_OUT/$1.junit.xml"
	"$MEMTRACE_BIN" "$@" --format sarif -o "$MEMTRACE_OUT/$1.sarif"
	"$MEMTRACE_BIN" "$@" --format benchmark -o "$MEMTRACE_OUT/benchmark.json"
	if [ -n "${GITHUB_ACTIONS:-}" ]; then
		"$MEMTRACE_BIN" "$@" --format github
		[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$MEMTRACE_OUT/$1.md" >>"$GITHUB_STEP_SUMMARY"
	fi
	return "$verdict"
}

status=0
if [ -n "$MEMTRACE_BUDGET" ]; then
	told check "$trace" --budget "$MEMTRACE_BUDGET"
	status=$?
fi
if [ -n "$MEMTRACE_BASELINE" ] && [ ! -e "$MEMTRACE_BASELINE" ]; then
	echo "$MEMTRACE_BASELINE is not there yet: commit $MEMTRACE_OUT/head.json in its place" >&2
elif [ -n "$MEMTRACE_BASELINE" ]; then
	set -- diff "$MEMTRACE_BASELINE" "$trace"
	[ -n "$MEMTRACE_FAIL_ON" ] || set -- "$@" --gate
	while IFS= read -r gate; do
		[ -z "$gate" ] || set -- "$@" --fail-on "$gate"
	done <<END
$MEMTRACE_FAIL_ON
END
	told "$@"
	verdict=$?
	[ "$verdict" -le "$status" ] || status=$verdict
fi
exit "$status"
