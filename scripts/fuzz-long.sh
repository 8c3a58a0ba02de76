#!/bin/sh
# Fuzzes all readers at once with libFuzzer: fuzz-long.sh JOBS SECONDS
#
# The targets are those of `make fuzz-portable`, in build-fuzz, which this machine need not have built: they
# want nothing else but libc. The jobs are dealt out over them; where there are fewer jobs than targets, these
# take turns within the time. What was found is gone on from, in build-fuzz/found. The last line sums what
# was run; inputs that crash, hang or want too much memory lie in build-fuzz/crashes, and the status is 1.
set -eu
cd "$(dirname "$0")/.."

: "${FUZZ:=build-fuzz}"
if [ $# != 2 ] || [ "$1" -lt 1 ] || [ "$2" -lt 1 ]; then
	echo 'usage: scripts/fuzz-long.sh JOBS SECONDS' >&2
	exit 2
fi
jobs=$1 seconds=$2
targets=$(basename -a tests/fuzz/fuzz_*.c | sed 's/\.c$//')
count=$(echo "$targets" | wc -l)
for target in $targets; do
	[ -x "$FUZZ/fuzz/libfuzzer/$target" ] || {
		echo "fuzz-long: $target is missing in $FUZZ: run make fuzz-portable" >&2
		exit 2
	}
done
mkdir -p "$FUZZ/found" "$FUZZ/crashes"
rm -f "$FUZZ"/found/*.log
sh scripts/fuzz.sh words >"$FUZZ/words"

start() { # NUMBER TARGET SECONDS: in the background
	seeds=tests/fuzz/corpus/$2
	limit=400
	case $2 in
	fuzz_trace) limit=6000 ;;
	fuzz_views) limit=6000 seeds="$seeds tests/fuzz/corpus/fuzz_trace" ;;
	fuzz_files) limit=2000 ;;
	esac
	mkdir -p "$FUZZ/found/$2"
	# shellcheck disable=SC2086  # two folders
	"$FUZZ/fuzz/libfuzzer/$2" -max_total_time="$3" -timeout=20 -rss_limit_mb=2048 -len_control=0 \
		-max_len="$limit" -dict="$FUZZ/words" -print_final_stats=1 -reload=10 -use_value_profile=$(($1 / count % 2)) \
		-artifact_prefix="$FUZZ/crashes/$2-" "$FUZZ/found/$2" $seeds >"$FUZZ/found/$2.$1.log" 2>&1 &
}

# A turn has as many targets as there are jobs; one that has crashed leaves its place empty.
turns=$(((count + jobs - 1) / jobs))
[ "$turns" -le "$seconds" ] || turns=$seconds
number=0
while [ "$number" -lt "$jobs" ] || [ "$number" -lt "$count" ]; do
	target=$(echo "$targets" | sed -n "$((number % count + 1))p")
	start "$number" "$target" "$((seconds / turns))"
	number=$((number + 1))
	[ "$jobs" -ge "$count" ] || [ "$((number % jobs))" != 0 ] || wait
done
wait

for target in $targets; do
	sed -n 's/^stat::number_of_executed_units: *//p' "$FUZZ/found/$target".*.log |
		awk -v target="$target" '{ sum += $1 } END { printf "%s: %d inputs\n", target, sum }'
done
found=$(find "$FUZZ/crashes" -type f | wc -l)
sed -n 's/^stat::number_of_executed_units: *//p' "$FUZZ"/found/*.log |
	awk -v found="$found" '{ sum += $1 } END { printf "%d inputs in all, %d crashing ones kept\n", sum, found }'
for log in "$FUZZ"/found/*.log; do
	grep -q '^stat::number_of_executed_units' "$log" || {
		echo "$log: the target did not end well:"
		tail -n 20 "$log"
		found=$((found + 1))
	}
done
[ "$found" = 0 ]
