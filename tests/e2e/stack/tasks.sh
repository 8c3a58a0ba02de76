#!/bin/sh
# Threads that have several stacks: tasks that are left for good in the middle of a call, led away
# from by a timer's handler, or give way in one and go on on another thread. The program does what it
# does without us, and what was recorded is whole. LONG=50: fifty times as much of it.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

export LD_BIND_NOW=1 FAKE_CUDA_SIGNALS=1

# noted WORDS: the number in front of them in the trace's notes, 0 without
noted() {
	json "$TRACE" "sum(int(n.split()[0]) for n in d['capture']['notes'] if '$1' in n)"
}

# goes MODE COUNT: it ends as it does without us, and the trace keeps its promises
goes() {
	what="$1${MEMTRACE_STACKS:+, stacks $MEMTRACE_STACKS}"
	tasks_count=$(($2 * ${LONG:-1}))
	rm -f ./*.json ./*.spool
	without=$(timeout 300 "$E2E/tasks" "$1" $tasks_count 2>/dev/null)
	without="$?:$without"
	traced timeout 300 "$E2E/tasks" "$1" $tasks_count
	is "$what: the program does what it does" "$?:$(cat "$OUT")" "$without"
	made=$(sed -n 's/^calls=//p' "$ERR")
	ok "$what: the trace keeps its promises" validate "$TRACE"
	hasnt "$what: calls are counted where the driver is" "$TRACE" 'memory was recorded at CUDA runtime calls'
}

if [ "${LIBRARY#*/debug/}" = "$LIBRARY" ]; then
	for stacks in native none; do
		export MEMTRACE_STACKS=$stacks
		goes leave 400
		is "$what: recording goes on" "$(json "$TRACE" 'sum(e["op"] == "alloc" and e["size"] == 8192 for e in d["events"])')" \
			$((400 * ${LONG:-1}))
		for mode in preempt preempt-16 preempt-64 preempt-ways; do
			goes $mode 60
			# A block whose free passed ends with the next one at its address.
			counted=$(json "$TRACE" 'sum(e["op"] == "alloc" or "Free" in e["api"] for e in d["events"])')
			passed=$(($(noted 'in signal handlers were not recorded') + $(noted 'whose allocation was not recorded')))
			ok "$what: each call is an event, or counted as passed ($counted + $passed of $made)" \
				[ $((counted + passed)) -ge "$made" ]
			is "$what: nothing was taken back" "$(noted 'never finished')" 0
		done
	done
	unset MEMTRACE_STACKS
else
	skip 'tasks led by signals' 'what they interrupt holds a lock: no promise is broken by that'
fi

for mode in migrate callback wander; do
	[ $mode = migrate ] || export LD_PRELOAD="$E2E/libdetour.so"
	goes $mode 60
	is "$what: each call is an event, and there are no others" \
		"$(json "$TRACE" '"%d %d %s" % (len(d["events"]), d["events"][-1]["allocated"], d["capture"]["notes"])')" \
		"$made 0 []"
done
