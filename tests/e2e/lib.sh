# shellcheck shell=sh
# What an end-to-end script is written with; sourced first: `. "$(dirname "$0")/../lib.sh"`.
#
#	traced "$SAMPLES/leak" 3                   run under the library; leaves $TRACE, $OUT, $ERR
#	ok 'a report is written' memtrace report "$TRACE"
#	fails 3 'cannot be read' memtrace report broken.json
#	is 'two blocks leak' "$(json "$TRACE" 'len(d["events"])')" 2
#	ok 'the trace keeps its promises' validate "$TRACE"
#	[ -n "$DISPLAY" ] || skip 'a window opens' 'no display'
#
# Each check is one TAP line. A script runs in a fresh folder ($PWD, also $MEMTRACE_TEST_TMP), with
# memtrace in PATH and the simulated CUDA in LD_LIBRARY_PATH, or the real one with GPU=1. Checks
# must not run in a pipeline or in ( ): their numbers would be lost.
set -u

ROOM=$(cd "$(dirname "$0")" && pwd)
TOP=${ROOM%/tests/*}
: "${BUILD:=$TOP/build}" "${GPU:=}"
if [ -z "${MEMTRACE_TEST_TMP:-}" ]; then
	MEMTRACE_TEST_TMP=$(mktemp -d)
	own_tmp=$MEMTRACE_TEST_TMP
fi
SAMPLES=$BUILD/samples
E2E=$BUILD/tests/e2e
: "${LIBRARY:=$BUILD/libmemtrace.so}" # of a debug build: make check-debug
if [ -n "$GPU" ]; then
	SAMPLES=$BUILD/gpu-samples
else
	LD_LIBRARY_PATH=$BUILD/fake
	export LD_LIBRARY_PATH
fi
PATH=$BUILD:$PATH
LC_ALL=C.UTF-8
export BUILD GPU PATH LC_ALL MEMTRACE_TEST_TMP TOP SAMPLES E2E LIBRARY

# Debian's own python3 is the one that python3-jsonschema was installed for.
if [ -z "${PYTHON:-}" ]; then
	PYTHON=python3
	if [ -x /usr/bin/python3 ]; then
		PYTHON=/usr/bin/python3
	fi
fi

cd "$MEMTRACE_TEST_TMP" || exit 1
tap_number=0
tap_failed=0
traced_number=0
OUT=$MEMTRACE_TEST_TMP/.out
ERR=$MEMTRACE_TEST_TMP/.err
TRACE=$MEMTRACE_TEST_TMP/none.json

tap_end() {
	status=$?
	echo "1..$tap_number"
	[ -z "${own_tmp:-}" ] || rm -rf "$own_tmp"
	[ "$status" != 0 ] || [ "$tap_failed" = 0 ] || status=1
	exit "$status"
}
trap tap_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Lines of a log become TAP comments, so that a program's words are never taken for a verdict.
tap_comment() { # FILE...
	cat "$@" 2>/dev/null | head -n "${TAP_LINES:-60}" | sed 's/^/#   /'
}

tap() { # '' or 'not ', NAME
	tap_number=$((tap_number + 1))
	[ -z "$1" ] || tap_failed=$((tap_failed + 1))
	echo "$1ok $tap_number - $2"
}

# ok NAME COMMAND...: the command succeeds. What it prints is kept in $OUT and $ERR.
ok() {
	tap_name=$1
	shift
	"$@" >"$OUT" 2>"$ERR" </dev/null
	tap_status=$?
	if [ "$tap_status" = 0 ]; then
		tap '' "$tap_name"
		return 0
	fi
	tap 'not ' "$tap_name"
	echo "# status $tap_status: $*"
	tap_comment "$OUT" "$ERR"
	return 1
}

# fails STATUS TEXT COMMAND...: it ends with this very status and TEXT is in what it says on stderr.
fails() {
	tap_wanted=$1 tap_text=$2
	shift 2
	"$@" >"$OUT" 2>"$ERR" </dev/null
	tap_status=$?
	if [ "$tap_status" = "$tap_wanted" ] && grep -qF -e "$tap_text" "$ERR"; then
		tap '' "$* fails with $tap_wanted"
		return 0
	fi
	tap 'not ' "$* fails with $tap_wanted"
	echo "# status $tap_status, wanted $tap_wanted and on stderr: $tap_text"
	tap_comment "$OUT" "$ERR"
	return 1
}

# is NAME ACTUAL EXPECTED: two texts are the same.
is() {
	if [ "$2" = "$3" ]; then
		tap '' "$1"
		return 0
	fi
	tap 'not ' "$1"
	printf '%s\n' "$2" | sed 's/^/# is:     /'
	printf '%s\n' "$3" | sed 's/^/# wanted: /'
	return 1
}

# has NAME FILE TEXT: the file contains the text. hasnt: it does not.
has() {
	if grep -qF -e "$3" "$2"; then
		tap '' "$1"
		return 0
	fi
	tap 'not ' "$1"
	echo "# wanted: $3"
	tap_comment "$2"
	return 1
}

hasnt() {
	if ! grep -qF -e "$3" "$2"; then
		tap '' "$1"
		return 0
	fi
	tap 'not ' "$1"
	echo "# not wanted: $3"
	tap_comment "$2"
	return 1
}

skip() { # NAME WHY
	tap '' "$1 # SKIP $2"
}

# need WHAT: ends the script with one skipped test where a thing is missing: gpu, or a command.
need() {
	if [ "$1" = gpu ]; then
		nvidia-smi -L >/dev/null 2>&1 && return 0
	else
		command -v "$1" >/dev/null && return 0
	fi
	skip "$(basename "$0" .sh)" "no $1 here"
	exit 0
}

# traced PROGRAM ARGS...: runs it under the library and gives its status. $TRACE is where its trace
# goes (a new name each time, unless MEMTRACE_OUTPUT is set), $OUT and $ERR what it printed. Other
# settings are given as `MEMTRACE_MAX_EVENTS=10; export MEMTRACE_MAX_EVENTS` before.
traced() {
	traced_number=$((traced_number + 1))
	TRACE=${MEMTRACE_OUTPUT:-$MEMTRACE_TEST_TMP/trace$traced_number.json}
	env LD_PRELOAD="$LIBRARY${LD_PRELOAD:+:$LD_PRELOAD}" MEMTRACE_OUTPUT="$TRACE" "$@" \
		>"$OUT" 2>"$ERR" </dev/null
}

# same NAME PROGRAM ARGS...: traced it ends with the status and prints what it does by itself, and takes
# at most twice its time and SLACK ms more. Leaves $plain_ms and $traced_ms. LIMIT: seconds of a run.
same() {
	same_name=$1
	shift
	same_at=$(date +%s%N)
	timeout -s KILL "${LIMIT:-60}" "$@" >plain.out 2>plain.err </dev/null
	same_plain=$?
	plain_ms=$((($(date +%s%N) - same_at) / 1000000))
	same_at=$(date +%s%N)
	traced timeout -s KILL "${LIMIT:-60}" "$@"
	same_traced=$?
	traced_ms=$((($(date +%s%N) - same_at) / 1000000))
	same_late=
	[ $traced_ms -le $((2 * plain_ms + ${SLACK:-5000})) ] || same_late=" late: $traced_ms ms, by itself $plain_ms"
	is "$same_name" "status $same_traced$same_late: $(cat "$OUT")" "status $same_plain: $(cat plain.out)" ||
		tap_comment "$ERR"
}

# json FILE EXPRESSION: prints what a Python expression over the loaded document `d` gives. Lists
# and the like are printed as JSON, texts and numbers bare.
json() {
	"$PYTHON" -c '
import json, sys
with open(sys.argv[1]) as f:
    d = json.load(f)
value = eval(sys.argv[2])
print(value if isinstance(value, str) else json.dumps(value))
' "$1" "$2"
}

# seconds TRACE DIGITS [EXPRESSION]: a time of the trace in seconds, with so many digits; by default that of its peak.
# `mark("NAME")`, `push(...)` and `pop(...)` in the expression are the times of all such events,
# `missing` those of the events before and after the longest gap.
seconds() {
	"$PYTHON" -c '
import json, sys
with open(sys.argv[1]) as f:
    d = json.load(f)
def times(op):
    return lambda name: [e["t"] for e in d["events"] if e["op"] == op and e["name"] == name]
missing = max(zip(d["events"], d["events"][1:]), key=lambda pair: pair[1]["seq"] - pair[0]["seq"], default=None)
missing = missing and [event["t"] for event in missing]
mark, push, pop = times("mark"), times("push"), times("pop")
peak = next(p["t"] for p in d["peaks"] if p["metric"] == "allocated" and not p["pool"])
print("%.*f" % (int(sys.argv[2]), eval(sys.argv[3]) / 1e9))
' "$1" "$2" "${3:-peak}"
}

# heap_is_ours: a debug build watches who allocates, so what stands behind it has no heap to stand in front of.
heap_is_ours() {
	nm -D --defined-only "$LIBRARY" | grep -q ' malloc$'
}

# validate FILE...: schema and promises, one line a problem.
validate() {
	"$PYTHON" "$TOP/tests/validate.py" "$@"
}

# normalise <TEXT: what differs from run to run becomes words.
normalise() {
	sed -E \
		-e "s|$MEMTRACE_TEST_TMP|TMP|g" -e "s|$BUILD|BUILD|g" -e "s|$TOP|TOP|g" \
		-e 's/0x[0-9a-f]+/ADDRESS/g' \
		-e 's/\b[0-9]+(\.[0-9]+)? ?(ns|us|ms|s)\b/TIME/g' \
		-e 's/\b(pid|thread) [0-9]+/\1 ID/g' \
		-e 's/"(pid|ppid|thread|t|start|end|peak_t|duration_ns)": ?[0-9]+/"\1":N/g'
}

# expected NAME FILE: the file, normalised, is expected/NAME beside the script. UPDATE=1 writes that.
expected() {
	normalise <"$2" >"$MEMTRACE_TEST_TMP/.normal"
	if [ -n "${UPDATE:-}" ]; then
		mkdir -p "$ROOM/expected"
		cp "$MEMTRACE_TEST_TMP/.normal" "$ROOM/expected/$1"
	fi
	if diff -u "$ROOM/expected/$1" "$MEMTRACE_TEST_TMP/.normal" >"$MEMTRACE_TEST_TMP/.diff" 2>&1; then
		tap '' "$1 is as expected"
		return 0
	fi
	tap 'not ' "$1 is as expected"
	tap_comment "$MEMTRACE_TEST_TMP/.diff"
	return 1
}
