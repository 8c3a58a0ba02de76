#!/bin/sh
# A job of CI with memtrace: runs a command, compares it with its baseline, and reports in every form
# that the platform reads. Used by action.yml and gitlab.yml; runs anywhere.
#
#	MEMTRACE_RUN       the command, as a line of sh
#	MEMTRACE_BASELINE  the committed baseline; none, or one that is not there yet: only the budget
#	MEMTRACE_BUDGET    a budget file, if there is one
#	MEMTRACE_FAIL_ON   gates, one a line; nothing stands for --gate
#	MEMTRACE_BIN       the tool (memtrace)
#	MEMTRACE_OUT       where files go (memtrace-out): head.json, diff.md, diff.junit.xml, diff.sarif, benchmark.json
#
# The command may be several processes. The budget holds for each of them. In the order of their ranks and
# starts, the second is compared with base-2.json beside the baseline base.json and leaves head-2.json,
# diff-2.md and so on.
#
# It ends with the status of the command when that fails, else 0, or 1 when a gate or the budget is broken.
set -u

: "${MEMTRACE_RUN:?the command to run}" "${MEMTRACE_BASELINE:=}" "${MEMTRACE_BUDGET:=}" "${MEMTRACE_FAIL_ON:=}"
: "${MEMTRACE_BIN:=memtrace}" "${MEMTRACE_OUT:=memtrace-out}"

traces=$MEMTRACE_OUT/traces
rm -rf "$traces"
mkdir -p "$traces" || exit 2
MEMTRACE_OUTPUT=$traces/trace.%p.json "$MEMTRACE_BIN" run -- sh -c "$MEMTRACE_RUN"
status=$?
if [ "$status" != 0 ]; then
	echo "the command ended with status $status" >&2
	exit "$status"
fi

# member FILE NAME: of the trace's `process`, which is among its first lines
member() {
	head -n 5 "$1" | sed -n "s/^\"process\":.*\"$2\":\"\{0,1\}\([^\",]*\).*/\1/p"
}
for trace in "$traces"/*.json; do
	[ ! -e "$trace" ] || echo "$(member "$trace" rank) $(member "$trace" start_time) $trace"
done | sort -n -k 1,1 -k 2 | cut -d ' ' -f 3- >"$MEMTRACE_OUT/processes"
if [ ! -s "$MEMTRACE_OUT/processes" ]; then
	echo "$MEMTRACE_RUN left no trace: it did not allocate GPU memory, or not where libmemtrace.so was loaded" >&2
	exit 3
fi

# in_formats NAME VERB ARGS...: in every format, to files of that name; ends as the first of them does
in_formats() {
	name=$1
	shift
	"$MEMTRACE_BIN" "$@"
	verdict=$?
	[ "$verdict" -lt 2 ] || return "$verdict"
	"$MEMTRACE_BIN" "$@" --format markdown -o "$MEMTRACE_OUT/$name.md"
	"$MEMTRACE_BIN" "$@" --format junit -o "$MEMTRACE_OUT/$name.junit.xml"
	"$MEMTRACE_BIN" "$@" --format sarif -o "$MEMTRACE_OUT/$name.sarif"
	"$MEMTRACE_BIN" "$@" --format benchmark -o "$MEMTRACE_OUT/benchmark${name#"$1"}.json"
	if [ -n "${GITHUB_ACTIONS:-}" ]; then
		"$MEMTRACE_BIN" "$@" --format github
		[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$MEMTRACE_OUT/$name.md" >>"$GITHUB_STEP_SUMMARY"
	fi
	return "$verdict"
}

# compare TRACE SUFFIX: with its baseline
compare() {
	base=${MEMTRACE_BASELINE%.json}$2.json
	[ -n "$2" ] || base=$MEMTRACE_BASELINE
	if [ ! -e "$base" ]; then
		echo "$base is not there yet: commit $MEMTRACE_OUT/head$2.json in its place" >&2
		return 0
	fi
	suffix=$2
	set -- diff "$base" "$1"
	[ -n "$MEMTRACE_FAIL_ON" ] || set -- "$@" --gate
	while IFS= read -r gate; do
		[ -z "$gate" ] || set -- "$@" --fail-on "$gate"
	done <<END
$MEMTRACE_FAIL_ON
END
	in_formats "diff$suffix" "$@"
}

status=0
if [ -n "$MEMTRACE_BUDGET" ]; then
	in_formats check check "$traces" --budget "$MEMTRACE_BUDGET"
	status=$?
fi
number=1
suffix=
while IFS= read -r trace <&3; do
	"$MEMTRACE_BIN" baseline "$trace" -o "$MEMTRACE_OUT/head$suffix.json" || exit 3
	if [ -n "$MEMTRACE_BASELINE" ]; then
		compare "$trace" "$suffix"
		verdict=$?
		[ "$verdict" -le "$status" ] || status=$verdict
	fi
	number=$((number + 1))
	suffix=-$number
done 3<"$MEMTRACE_OUT/processes"
[ -z "${GITHUB_OUTPUT:-}" ] || echo "head=$MEMTRACE_OUT/head.json" >>"$GITHUB_OUTPUT"
exit "$status"
