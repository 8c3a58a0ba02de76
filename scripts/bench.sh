#!/bin/sh
# What memtrace costs, measured in one run, beside the budgets of the design. Nothing here fails a build:
# times on a shared machine wobble; scripts/check-instructions.sh counts what can be held.
#
# bench.sh [small]: with "small" a tenth of the events, to try the script itself.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
scale=1
[ "${1-}" = small ] && scale=10
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
million=$((1000000 / scale))

# bench MODE STACKS: the added CPU ns per event, hooks on and off in turns in one process
bench() {
	env LD_PRELOAD="$BUILD/libmemtrace.so" LD_LIBRARY_PATH="$BUILD/fake" MEMTRACE_QUIET=1 \
		MEMTRACE_STACKS="$2" MEMTRACE_SPOOL_DIR="$temp" MEMTRACE_OUTPUT="$temp/none/t.json" \
		"$BUILD/tests/e2e/bench" "$1" 30 $((40000 / scale)) 15
	rm -f "$temp"/*.spool
}

value() {
	echo "$2" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

# measured COMMAND...: "seconds MiB" of CPU time and largest resident size
measured() {
	python3 - "$@" <<'PY'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
use = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{use.ru_utime + use.ru_stime:.2f} {use.ru_maxrss / 1024:.0f}")
PY
}

# startup COMMAND...: how many times longer it takes to start and end with the library in it, by the
# medians of 50 runs each in turns
startup() {
	python3 - "$BUILD/libmemtrace.so" "$((50 / scale))" "$@" <<'PY'
import os, statistics, subprocess, sys, time
library, runs, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
took = {True: [], False: []}
for run in range(2 * runs + 4):
    ours = run % 2 == 1
    environment = dict(plain, LD_PRELOAD=library) if ours else plain
    begin = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    if run >= 4:
        took[ours].append(time.perf_counter() - begin)
print(f"{statistics.median(took[True]) / statistics.median(took[False]):.3f}x")
PY
}

row() {
	printf '| %-52s | %14s | %-22s |\n' "$1" "$2" "$3"
}

printf '%s, %s cores, Linux %s, %s\n\n' \
	"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$(uname -r)" \
	"$(${CC:-cc} --version | head -n 1)"
row "what" "measured" "budget (design)"
row "---" "---" "---"
for mode in driver block; do
	for stacks in none native; do
		out=$(bench $mode $stacks)
		budget="-"
		[ "$mode $stacks" = "block native" ] && budget="200 ns with Python"
		row "ns added per $mode event, stacks $stacks" "$(value added "$out")" "$budget"
	done
done
plain=$(LD_LIBRARY_PATH="$BUILD/fake" "$BUILD/tests/e2e/bench" driver 30 $((40000 / scale)) 15)
off=$(value off "$(bench driver none)")
row "ns added per call when off (two hooked calls an event)" \
	"$(echo "$off $(value off "$plain")" | awk '{ printf "%.1f", ($1 - $2) / 2 }')" "5 ns"
while read -r name count; do
	[ "$name" = compiler ] || row "instructions added per driver event, $name" "$count" "baseline in make check"
done <tests/data/instructions.txt

# ranges COUNT: "seconds MiB" of COUNT ranges, traced, the document's writing included
ranges() {
	measured env LD_PRELOAD="$BUILD/libmemtrace.so" LD_LIBRARY_PATH="$BUILD/fake" MEMTRACE_QUIET=1 \
		MEMTRACE_OUTPUT="$temp/ranges.json" "$BUILD/tests/e2e/ranges" "$1"
}
# shellcheck disable=SC2046  # two words
set -- $(ranges $((million / 10))) $(ranges $million)
row "ns of a range, its push, pop and lines of JSON" \
	"$(echo "$3 $1 $million" | awk '{ printf "%.0f", ($1 - $2) * 1e9 / ($3 * 0.9) }')" "-"
row "bytes of memory of a range while JSON is written" \
	"$(echo "$4 $2 $million" | awk '{ printf "%.0f", ($1 - $2) * 1048576 / ($3 * 0.9) }')" "-"
rm -f "$temp/ranges.json"

for command in /bin/true 'python3 -c pass' 'gcc --version'; do
	# shellcheck disable=SC2086  # words
	row "start and end of \`$command\`" "$(startup $command)" "1.05x"
done

"$BUILD/tests/generator" --events $million --spool "$temp/m.spool" >/dev/null
"$BUILD/tests/generator" --events $((2 * million)) --spool "$temp/b.spool" >/dev/null
row "spool, bytes per event ($million events more)" \
	"$(echo "$(stat -c %s "$temp/b.spool") $(stat -c %s "$temp/m.spool") $million" |
		awk '{ printf "%.1f", ($1 - $2) / $3 }')" "16"
rm -f "$temp/b.spool"
# shellcheck disable=SC2046  # two words
set -- $(measured "$BUILD/memtrace" recover "$temp/m.spool" -o "$temp/m.json")
row "JSON of $million events, CPU seconds" "$1" "1.5 s a million"
# shellcheck disable=SC2046
set -- $(measured "$BUILD/memtrace" report "$temp/m.json")
row "report of $million events, seconds / MiB" "$1 / $2" "-"

# page FILE EVENTS: what it is to make and to look at. The first budget is of a million events.
page() {
	# shellcheck disable=SC2046  # two words
	set -- "$1" "$2" $(measured "$BUILD/memtrace" html "$1" -o "$temp/page.html")
	row "page of $2 events, seconds / MiB" "$3 / $4" "-"
	row "its size, MB" "$(stat -c %s "$temp/page.html" | awk '{ printf "%.1f", $1 / 1e6 }')" "40"
	for view in flame map; do
		# shellcheck disable=SC2046  # two words
		set -- "$1" "$2" $(PAGE_MODULES=$BUILD/page/work node tests/page/bench.mjs "$temp/page.html" $view)
		row "opened in Chromium with its $view, ms" "${3:-failed}" "5,000"
		row "slowest frame of a zoom there, ms" "${4:-failed}" "100"
	done
}
if [ -s "$BUILD/page/page.html" ] && command -v chromium node >/dev/null; then
	page "$temp/m.json" $million
fi
rm -f "$temp"/*
"$BUILD/tests/generator" --events $((10 * million)) --max-events $((10 * million)) --json "$temp/x.json" >/dev/null
if [ -s "$BUILD/page/page.html" ] && command -v chromium node >/dev/null; then
	page "$temp/x.json" $((10 * million))
fi
# shellcheck disable=SC2046
set -- $(measured "$BUILD/memtrace" report "$temp/x.json")
row "report of $((10 * million)) events, seconds / MiB" "$1 / $2" "1 s / 512 MiB"
# shellcheck disable=SC2046
set -- $(measured "$BUILD/memtrace" report --at peak "$temp/x.json")
row "report --at peak of $((10 * million)) events, seconds / MiB" "$1 / $2" "5 s / 512 MiB"
# shellcheck disable=SC2046
set -- $(measured "$BUILD/memtrace" diff "$temp/x.json" "$temp/x.json")
row "diff of two times $((10 * million)) events, seconds / MiB" "$1 / $2" "2 s / 512 MiB"
# shellcheck disable=SC2046
set -- $(measured "$BUILD/memtrace" check "$temp/x.json" --max 'allocated.peak<=1TiB')
row "check of $((10 * million)) events, seconds / MiB" "$1 / $2" "2 s / 512 MiB"
rm -f "$temp/x.json"
ranks=$((1024 / scale))
mkdir "$temp/ranks"
"$BUILD/tests/generator" --events 3000 --ranks $ranks --json "$temp/ranks/%r.json" >/dev/null
# shellcheck disable=SC2046
set -- $(measured "$BUILD/memtrace" merge "$temp/ranks")
row "merge of $ranks ranks, seconds / MiB" "$1 / $2" "60 s / 1024 MiB"
