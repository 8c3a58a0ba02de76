#!/bin/sh
# Instructions that one memory event costs, counted by callgrind, against the committed baseline.
#
# check-instructions.sh [--update]: a count is the same however busy the machine is, so this can fail
# a build where a timing could not. Counted twice, with few and with many events: the difference is
# free of start-up and end. Another compiler makes other code: the baseline names its own.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
baseline=tests/data/instructions.txt
status=0
few=1000
many=6000
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

# instructions PAIRS [VARIABLE=VALUE...]: of one run of the sample churn
instructions() {
	pairs=$1
	shift
	# The document cannot be written where there is no directory: only recording is counted.
	env LD_LIBRARY_PATH="$BUILD/fake" MEMTRACE_QUIET=1 MEMTRACE_USED=0 MEMTRACE_SPOOL_DIR="$temp" \
		MEMTRACE_OUTPUT="$temp/none/trace.json" "$@" setarch -R \
		valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		"$BUILD/samples/churn" "$pairs" 1 2>&1 >/dev/null |
		sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
	rm -f "$temp"/*
}

# per_event [VARIABLE=VALUE...]: what `many - few` pairs cost more than without the library
per_event() {
	a=$(instructions $few "$@")
	b=$(instructions $many "$@")
	echo $(((b - a - plain) / (2 * (many - few))))
}

for tool in valgrind setarch; do
	command -v $tool >/dev/null || { echo "skip check-instructions: $tool is missing"; exit 0; }
done
plain=$(($(instructions $many) - $(instructions $few)))
compiler=$(${CC:-cc} -dumpfullversion)
{
	echo "compiler $compiler"
	echo "off $(per_event LD_PRELOAD="$BUILD/libmemtrace.so" MEMTRACE_ENABLE=0)"
	echo "none $(per_event LD_PRELOAD="$BUILD/libmemtrace.so" MEMTRACE_STACKS=none)"
	echo "native $(per_event LD_PRELOAD="$BUILD/libmemtrace.so" MEMTRACE_STACKS=native)"
} >"$temp.now"

if [ "${1-}" = --update ]; then
	cp "$temp.now" $baseline
elif ! grep -qx "compiler $compiler" $baseline; then
	echo "the baseline is another compiler's: nothing compared"
else
	awk 'NR == FNR { base[$1] = $2; next }
		$1 == "compiler" { next }
		$2 > base[$1] * 1.03 + 1 {
			printf "%s: %d instructions an event, the baseline says %d\n", $1, $2, base[$1]; bad = 1 }
		END { exit bad }' $baseline "$temp.now" || status=1
fi
cat "$temp.now"
rm -f "$temp.now"
exit $status
