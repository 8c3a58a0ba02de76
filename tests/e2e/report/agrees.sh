#!/bin/sh
# A report agrees with itself: sums with their parts, peaks with what they are peaks of, text with JSON.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# agrees TRACE OPTION...
agrees() {
	agrees_name=$(basename "$1")
	memtrace report --full --json "$@" >report.json 2>"$ERR" && memtrace report --full "$@" >report.txt 2>>"$ERR"
	shift
	ok "$agrees_name $*: agrees with itself" "$PYTHON" "$ROOM/agrees.py" report.json report.txt ||
		tap_comment "$ERR"
}

for trace in "$TOP"/tests/data/*.json "$TOP"/tests/data/recorded/*.json "$TOP"/tests/data/recorded/ddp/*.json; do
	case $trace in
	*/old_keys.json) continue ;; # no trace
	esac
	agrees "$trace"
done
for program in leak caching pool vmm managed ipc graph threads arrays; do
	traced "$SAMPLES/$program"
	mv "$TRACE" "$program.json"
	agrees "$program.json"
done
"$BUILD/tests/generator" --events 20000 --json made.json >/dev/null
"$BUILD/tests/generator" --events 20000 --leak --json leaking.json >/dev/null
"$BUILD/tests/generator" --events 50000 --max-events 5000 --json dropped.json >/dev/null
for trace in made leaking dropped; do
	agrees $trace.json
	agrees $trace.json --device 0
	agrees $trace.json --stacks merged --by line
done
