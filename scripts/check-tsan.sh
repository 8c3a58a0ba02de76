#!/bin/sh
# Eight threads in a library that ThreadSanitizer watches, which finds nothing: TIMES times, ROUNDS each.
#
# gcc's knows no fences (-Wno-tsan silences that it says so). Those in the library order writes for
# readers in other processes, which no sanitizer sees; between its own threads it has none.
set -eu
cd "$(dirname "$0")/.."

: "${BUILD:=build}" "${MAKE:=make}" "${CC:=cc}" "${ROUNDS:=100}" "${TIMES:=1}"
command -v setarch >/dev/null || { echo 'skip check-tsan: setarch is missing'; exit 0; }
echo 'int main(void) { return 0; }' | $CC -fsanitize=thread -x c - -o /dev/null 2>/dev/null ||
	{ echo "skip check-tsan: $CC has no ThreadSanitizer here"; exit 0; }
"$MAKE" -s --no-print-directory BUILD="$BUILD/tsan" LIB_SANITIZE=-fsanitize=thread DEBUG=1 \
	CFLAGS='-g -Wno-tsan -Wno-maybe-uninitialized -Wno-unknown-warning-option' tsan-programs
BUILD=$(cd "$BUILD/tsan" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$BUILD/libmemtrace.so" "$work/libmemtrace.so.1"
for i in 0 1 2 3; do
	cp "$BUILD/tests/tsan/plug.so" "$work/plug$i.so"
done
# PyTorch's library that has the reports, and its version beside the folder.
mkdir "$work/lib"
cp "$BUILD/tests/e2e/libc10.so" "$work/lib"
echo "__version__ = '2.2.0'" >"$work/version.py"
# libunwind gives its cache of a thread back when the sanitizer has already left that: glibc unwinds.
echo 'not a library' >"$work/libunwind.so.8"

failed() { # WHY
	echo "$1"
	cat "$work/log"
	exit 1
}

python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
time=0
while [ $time -lt "$TIMES" ]; do
	time=$((time + 1))
	status=0
	# Kernels that spread mappings further than an old sanitizer expects: setarch -R.
	LD_LIBRARY_PATH=$work:$work/lib:$BUILD/fake MEMTRACE_CPU=1 MEMTRACE_OUTPUT=$work/trace$time.%p.json \
		TSAN_OPTIONS="exitcode=66 atexit_sleep_ms=50 suppressions=$PWD/tests/tsan/suppressions" \
		timeout -k 10 600 setarch -R "$BUILD/tests/tsan/threads" "$work" "$ROUNDS" >"$work/log" 2>&1 ||
		status=$?
	[ "$status" = 0 ] || failed "ended with $status"
	[ "$(grep -vc '^memtrace: wrote ' "$work/log")" = 0 ] || failed 'said something'
	"$python" tests/validate.py "$work"/trace$time.*.json
	"$python" - "$work"/trace$time.*.json <<'END'
import json, sys
# What must have been raced for is there: every kind of memory and of phase.
trace = json.load(open(sys.argv[1]))
events = trace["events"]
ops = {event["op"] for event in events}
apis = {event.get("api") for event in events}
pools = {event.get("pool") for event in events}
wanted = {
    "ops": {"alloc", "free", "reserve", "release", "map", "unmap", "oom", "mark", "push", "pop"} - ops,
    "apis": {"cudaMalloc", "cudaMallocAsync", "cuMemCreate", "cudaMallocHost", "cudaMallocArray",
             "cudaMallocManaged", "torch"} - apis,
    "pools": {"torch", "tsan"} - pools,
    "torch": set() if trace["environment"]["torch"] == "2.2.0" else {trace["environment"]["torch"]},
}
stopped = [note for note in trace["capture"]["notes"] if "stopped early" in note]
if stopped or trace["capture"]["unwinder"] != "glibc":
    sys.exit("{capture}".format(**trace))
missing = {what: sorted(names) for what, names in wanted.items() if names}
if missing:
    sys.exit(f"nobody saw {missing}")
END
done
