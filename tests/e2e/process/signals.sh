#!/bin/sh
# Signal handlers that call CUDA, fork, jump away or exit in the middle of recorded calls of four
# threads: the program goes on as without us, and every call is an event, or counted as passed.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

case $LIBRARY in
*/debug/*)
	skip 'signals' 'what they interrupt holds a lock: no promise is broken by that'
	exit 0
	;;
esac

signals=1000
[ -z "${LONG:-}" ] || signals=100000
export FAKE_CUDA_SIGNALS=1

# noted WORDS: the number in front of them in the trace's notes, 0 without
noted() {
	json "$TRACE" "sum(int(n.split()[0]) for n in d['capture']['notes'] if '$1' in n)"
}

# With and without stacks: the walk, or the lock, is where a signal arrives most.
for stacks in native none; do
	MEMTRACE_STACKS=$stacks
	export MEMTRACE_STACKS
	for mode in calls stack fork; do
		what="$mode, stacks $stacks"
		rm -f ./*.json ./*.spool
		traced timeout 100 "$E2E/signals" $mode $signals
		is "$what: the program does what it does" "$?:$(sed 's/forks=.*//' "$OUT")" '0:handled=1 failed=0 errno=0 '
		# A child forked in a handler before its parent's first event has the name; it writes no document.
		[ -e "$TRACE" ] || TRACE=$(ls "${TRACE%.json}".*.json)
		made=$(sed -n 's/.*calls=//p' "$OUT")
		is "$what: each call is an event, or counted as passed" \
			$(($(json "$TRACE" 'len(d["events"])') + $(noted 'in signal handlers were not recorded'))) "$made"
		is "$what: nothing was taken back" "$(noted 'never finished')" 0
		is "$what: what lives at the end is what passed" \
			"$(json "$TRACE" 'sum(e["op"] == "alloc" for e in d["events"]) == sum(e["op"] == "free" for e in d["events"])')" true
		ok "$what: the trace keeps its promises" validate "$TRACE"
	done
done
unset MEMTRACE_STACKS

# A child goes on in the middle of what was interrupted, and then has a trace of its own: _exit leaves a spool.
rm -f ./*.json ./*.spool
MEMTRACE_OUTPUT=$PWD/%p.json
export MEMTRACE_OUTPUT
LD_PRELOAD=$LIBRARY timeout 100 "$E2E/signals" fork $signals >"$OUT" 2>"$ERR"
is 'fork in a handler: the program does what it does' "$?:$(sed 's/ forks=.*//' "$OUT")" '0:handled=1 failed=0 errno=0'
forks=$(sed -n 's/.*forks=\([0-9]*\).*/\1/p' "$OUT")
is 'fork in a handler: each child has a trace' "$(find . -name '*.spool' | wc -l)" "$forks"
ok 'fork in a handler: there were some' [ "$forks" -gt 3 ]
for spool in *.spool; do
	memtrace recover "$spool" >>recover.log 2>&1 || cat recover.log
	rm -f one.json
	mv "${spool%.spool}.json" child."${spool%.spool}".json
done
ok 'fork in a handler: the traces of children keep their promises' validate child.*.json
# shellcheck disable=SC2016
ok 'fork in a handler: each has its own events only' "$PYTHON" -c '
import json, sys
for name in sys.argv[1:]:
    with open(name) as file:
        d = json.load(file)
    got = [(e["op"], e["pool"], e["size"]) for e in d["events"]]
    assert got == [("reserve", "child", 1 << 20)] + [("alloc", "child", 1024)] * 50, (name, got)
' child.*.json
unset MEMTRACE_OUTPUT

# --- out of the middle of an update ---------------------------------------------------------------------
for stacks in native none; do
	MEMTRACE_STACKS=$stacks
	export MEMTRACE_STACKS
	what="siglongjmp, stacks $stacks"
	rm -f ./*.json ./*.spool
	traced timeout 100 "$E2E/signals" jump $((signals * 3))
	is "$what: the program does what it does" "$?:$(sed 's/forks=.*//' "$OUT")" '0:handled=1 failed=0 errno=0 '
	is "$what: recording goes on" "$(json "$TRACE" '[e["size"] for e in d["events"]].count(8192)')" 400
	lost=$(($(noted 'in signal handlers were not recorded') + $(noted 'never finished')))
	ok "$what: what is missing is counted" [ $(($(json "$TRACE" 'len(d["events"])') + lost)) -ge \
		"$(sed -n 's/.*calls=//p' "$OUT")" ]
	ok "$what: the trace keeps its promises" validate "$TRACE"
	echo "# $what: $(noted 'never finished') updates were taken back"
done
unset MEMTRACE_STACKS

for _ in 1 2 3; do
	rm -f ./*.json ./*.spool
	traced timeout 120 "$E2E/signals" exit
	is 'exit() in a handler: the status is its' "$?" 5
	ok 'exit() in a handler: what was recorded keeps its promises' validate "$TRACE"
done
