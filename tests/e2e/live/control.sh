#!/bin/sh
# Control: events off from the start, on and off by the API, a signal or memtrace ctl; what the ledger
# says stays exact.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

device='d["summary"]["devices"][0]'
own() { # WAY: runs it, with the settings that are exported
	traced "$PYTHON" "$TOP/tests/e2e/live/control.py" "$E2E" "$1"
	cp "$OUT" own.out
}

# sums NAME: what the program held is what the trace says, and the pool's segments are its own
sums() {
	is "$1: the program's books" \
		"$(json "$TRACE" "\"%d %d\" % (${device}[\"allocated\"][\"peak_bytes\"], ${device}[\"allocated\"][\"exit_bytes\"])")" \
		"$(cat own.out)"
	is "$1: what is reserved is the pool's" \
		"$(json "$TRACE" "[[p[\"pool\"] for p in ${device}[\"pools\"]],
			${device}[\"pools\"][0][\"reserved\"] == ${device}[\"reserved\"]]")" '[["torch"], true]'
	ok "$1: the trace keeps its promises" validate "$TRACE"
	ok "$1: a report of it" memtrace report "$TRACE"
}

# --- off from the start ----------------------------------------------------------------------------------
MEMTRACE_START=off
export MEMTRACE_START
own stopped
sums 'MEMTRACE_START=off'
is 'MEMTRACE_START=off: no events' "$(json "$TRACE" '[len(d["events"]), d["capture"]["truncated"]]')" '[0, true]'
own toggled
sums 'a thousand toggles'
is 'a thousand toggles: some events, not all' \
	"$(json "$TRACE" '300 < len(d["events"]) < 2000 and d["capture"]["events_dropped"] > 300')" true
unset MEMTRACE_START

# --- a filter --------------------------------------------------------------------------------------------
own stopped
cp "$TRACE" every.json
# filtered FILTER EXPRESSION: what is recorded is what the run without a filter has of `e` like that
filtered() {
	MEMTRACE_FILTER=$1
	export MEMTRACE_FILTER
	own stopped
	unset MEMTRACE_FILTER
	sums "$1"
	is "$1: the events that match, each with its stack and its device's sums" \
		"$(json "$TRACE" "$lines" | sort -u | wc -l):$(json "$TRACE" "$lines" | cksum)" \
		"1:$(json every.json "$lines" | "$PYTHON" -c "
import json, sys
lines = json.load(sys.stdin)
print(json.dumps([e for e in lines if $2]))" | cksum)"
	is "$1: the others are counted" \
		"$(json "$TRACE" '[d["capture"].get("events_filtered", 0) + len(d["events"]), d["capture"]["events_dropped"] == d["capture"].get("events_filtered", 0)]')" \
		"[$(json every.json 'len(d["events"])'), true]"
}
lines='(lambda f, s: [[e["op"], e["size"], e["pool"], e["device"], e["allocated"], e["reserved"],
	[f[i]["function"] for i in s[e["stack"]]["frames"]][-1]] for e in d["events"]])(d["frames"], d["stacks"])'
filtered 'size>=1MiB' 'e[1] >= 1 << 20'
has 'size>=1MiB: it is said' "$TRACE" 'events are filtered out (MEMTRACE_FILTER)'
ok 'size>=1MiB: a report says so' memtrace report "$TRACE"
has 'size>=1MiB: in its notes' "$OUT" 'events are filtered out (MEMTRACE_FILTER)'
hasnt 'size>=1MiB: which were not dropped for newer ones' "$OUT" 'events are not in the trace'
ok 'size>=1MiB: the peak is exact all the same' memtrace report --json --at peak "$TRACE"
is 'size>=1MiB: all of it' "$(json "$OUT" 'd["moment"]["live"]["bytes"]')" \
	"$(json "$TRACE" "${device}[\"allocated\"][\"peak_bytes\"]")"
ok 'size>=1MiB: some other moment' memtrace report --at "seq:$(json "$TRACE" 'd["events"][50]["seq"]')" "$TRACE"
has 'size>=1MiB: is told with its doubt' "$OUT" 'missing between'
filtered 'size<70000,pool=torch' 'e[1] < 70000'
filtered 'pool=none' 'False'
filtered 'owner=libc10_cuda.so,device=0' 'True'
filtered 'owner!=libc10_cuda.so' 'False'
filtered 'device=1' 'False'
MEMTRACE_FILTER='size>=1MiB'
export MEMTRACE_FILTER
own toggled
sums 'a filter and a thousand toggles'
is 'a filter and a thousand toggles: each is counted' \
	"$(json "$TRACE" '(lambda c: c["events_stopped"] > 300 and c["events_filtered"] > 100
		and c["events_dropped"] == c["events_stopped"] + c["events_filtered"])(d["capture"])')" true
ok 'a filter and a thousand toggles: a report' memtrace report "$TRACE"
hasnt 'a filter and a thousand toggles: nothing gave way' "$OUT" 'events are not in the trace'
unset MEMTRACE_FILTER
fails 2 'run: --filter: size>>1 is not a filter like size>=1MiB' memtrace run --filter 'size>>1' -- true

# --- sampling --------------------------------------------------------------------------------------------
MEMTRACE_SAMPLE=1MiB
export MEMTRACE_SAMPLE
own stopped
sums 'MEMTRACE_SAMPLE=1MiB'
is 'MEMTRACE_SAMPLE=1MiB: every event is there, with its device'\''s sums' \
	"$(json "$TRACE" '[[e["op"], e["size"], e["allocated"], e["reserved"]] for e in d["events"]]' | cksum)" \
	"$(json every.json '[[e["op"], e["size"], e["allocated"], e["reserved"]] for e in d["events"]]' | cksum)"
is 'MEMTRACE_SAMPLE=1MiB: the trace says so' "$(json "$TRACE" 'd["capture"]["sample_bytes"]')" 1048576
is 'MEMTRACE_SAMPLE=1MiB: sites and the rest sum to all' \
	"$(json "$TRACE" '[sum(s["bytes"] for s in d["sites"]), "[not sampled]" in [s["site"] for s in d["sites"]]]')" \
	"[$(json every.json 'sum(s["bytes"] for s in d["sites"])'), true]"
is 'MEMTRACE_SAMPLE=1MiB: what was sampled stands for more than it is' \
	"$(json "$TRACE" 'all(s["estimated_bytes"] >= s["bytes"] and s["estimated_peak_bytes"] >= s["peak_bytes"]
		and s["estimated_live_bytes"] >= s["live_bytes"] for s in d["sites"] if s["site"] != "[not sampled]")')" true
# A block of 11 MiB is no sample with a probability of e^-11, one of 1,000 bytes is with 1 in 1,000.
is 'MEMTRACE_SAMPLE=1MiB: large blocks have their line' \
	"$(json "$TRACE" '[any("control.py" in str(d["frames"][i]["file"]) for i in d["stacks"][e["stack"]]["frames"])
		for e in d["events"] if e["op"] == "alloc" and e["size"] > 10 << 20].count(False) < 3')" true
ok 'MEMTRACE_SAMPLE=1MiB: near the run with every stack' "$PYTHON" "$TOP/tests/e2e/estimates.py" "$TRACE" every.json
ok 'MEMTRACE_SAMPLE=1MiB: a report' memtrace report "$TRACE"
has 'MEMTRACE_SAMPLE=1MiB: says that it estimates' "$OUT" 'estimated from one sample for every 1.00 MiB allocated'
hasnt 'MEMTRACE_SAMPLE=1MiB: and whose' "$OUT" '[not sampled]'
ok 'MEMTRACE_SAMPLE=1MiB: by line' memtrace report --by line --json "$TRACE"
is 'MEMTRACE_SAMPLE=1MiB: with the samples'\'' distance' "$(json "$OUT" 'd["sample_bytes"]')" 1048576
own toggled
sums 'sampling and a thousand toggles'
MEMTRACE_FILTER='size>=1MiB'
export MEMTRACE_FILTER
own stopped
sums 'sampling and a filter'
unset MEMTRACE_FILTER
MEMTRACE_SAMPLE=1
own stopped
sums 'MEMTRACE_SAMPLE=1'
is 'MEMTRACE_SAMPLE=1: everything is a sample, and stands for itself' \
	"$(json "$TRACE" '[[s["site"], s["allocations"], s["bytes"], s["estimated_bytes"], s["estimated_peak_bytes"]] for s in d["sites"]]')" \
	"$(json every.json '[[s["site"], s["allocations"], s["bytes"], s["bytes"], s["peak_bytes"]] for s in d["sites"]]')"
unset MEMTRACE_SAMPLE

# --- a signal --------------------------------------------------------------------------------------------
traced "$PYTHON" "$TOP/tests/e2e/live/control.py" "$E2E" signalled
is 'a signal that nobody asked for ends the program as ever' $? 140
MEMTRACE_SIGNAL=USR2 MEMTRACE_START=off
export MEMTRACE_SIGNAL MEMTRACE_START
own signalled
sums 'MEMTRACE_SIGNAL=USR2'
is 'MEMTRACE_SIGNAL=USR2: off, on, off ... on' \
	"$(json "$TRACE" '[100 < len(d["events"]) < 210, 100 < d["capture"]["events_dropped"] < 210]')" '[true, true]'
unset MEMTRACE_START
MEMTRACE_SIGNAL=SIGUSR2:mark
own signalled
sums 'MEMTRACE_SIGNAL=SIGUSR2:mark'
is 'MEMTRACE_SIGNAL=SIGUSR2:mark: each is a mark' \
	"$(json "$TRACE" '[sum(e["op"] == "mark" and e["name"] == "signal" for e in d["events"]), d["capture"]["truncated"]]')" \
	'[101, false]'
MEMTRACE_SIGNAL=USR2:dump
own signalled
sums 'MEMTRACE_SIGNAL=USR2:dump'
stem=${TRACE%.json}
is 'MEMTRACE_SIGNAL=USR2:dump: each is a trace so far' "$(for dump in "$stem".dump*.json; do
	json "$dump" 'd["process"]["exit"]'; done | sort | uniq -c | tr -s ' ')" ' 101 running'
ok 'MEMTRACE_SIGNAL=USR2:dump: the last keeps its promises' validate "$stem.dump.100.json"
is 'MEMTRACE_SIGNAL=USR2:dump: it ends where the trace went on' "$("$PYTHON" -c '
import json, sys
late, whole = (json.load(open(path))["events"] for path in sys.argv[1:])
print(0 < len(late) < len(whole), late == whole[:len(late)])' "$stem.dump.100.json" "$TRACE")" 'True True'
rm -f "$stem".dump*.json
MEMTRACE_SIGNAL=SIGUSR2:mark
own taken
sums 'a program that takes the signal'
is 'a program that takes the signal has it for itself' \
	"$(json "$TRACE" '[sum(e["op"] == "mark" for e in d["events"]), any("changed how that signal is handled" in n for n in d["capture"]["notes"])]')" \
	'[0, true]'
traced sh -c 'trap "" USR2; exec "$@"' - "$PYTHON" "$TOP/tests/e2e/live/control.py" "$E2E" signalled
cp "$OUT" own.out
sums 'a program that ignores the signal'
is 'a program that ignores the signal goes on so' \
	"$(json "$TRACE" '[sum(e["op"] == "mark" for e in d["events"]), any("has no effect" in n for n in d["capture"]["notes"])]')" \
	'[0, true]'
MEMTRACE_SIGNAL=SEGV
own stopped
has 'a signal that makes no sense is none, and that is said' "$TRACE" 'the value of MEMTRACE_SIGNAL was not understood'
unset MEMTRACE_SIGNAL
for signal in SEGV KILL USR3 USR2: USR2:dumps 12; do
	fails 2 "run: --signal: $signal is not USR1, USR2, HUP" memtrace run --signal "$signal" -- true
done

# --- memtrace ctl ----------------------------------------------------------------------------------------
# begin ARGUMENTS...: the program in the background, once it has allocated; $pid is its number
begin() {
	rm -f pid stop again report.json
	traced_number=$((traced_number + 1))
	TRACE=$MEMTRACE_TEST_TMP/trace$traced_number.json
	SPOOL=$MEMTRACE_TEST_TMP/trace$traced_number.spool
	env LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT="$TRACE" FAKE_CUDA_REPORT="$PWD/report.json" \
		"$E2E/control" "$@" >program.out 2>program.err </dev/null &
	job=$!
	while [ ! -e pid ] && kill -0 "$job"; do
		sleep 0.01
	done
	pid=$(cat pid)
}

finish() { # NAME
	: >again
	: >stop
	wait "$job"
	is "$1: it ends as it would" "$?:$(grep -v '^memtrace: wrote' program.err)" 0:
	: >none
	ok "$1: the trace keeps its promises" validate "$TRACE"
	ok "$1: the driver's books" "$PYTHON" "$TOP/tests/e2e/figures.py" "$TRACE" none --report report.json
}

MEMTRACE_START=off
export MEMTRACE_START
begin 3
unset MEMTRACE_START
ok 'status' memtrace ctl "$pid" status
is 'it has begun stopped' "$(sed -E 's/, 0 events and [0-9]+ while/, 0 events and N while/' "$OUT")" \
	"$pid: stopped, 0 events and N while stopped; $SPOOL"
fails 1 "recording is off in process $pid, so the mark was not recorded; turn it on with: memtrace ctl $pid start" memtrace ctl "$pid" mark 'too early'
ok 'start' memtrace ctl "$pid" start
is 'which is done when it says so' "$(cat "$OUT")" "$pid: recording"
ok 'start once more' memtrace ctl "$pid" start
ok 'a mark' memtrace ctl "$pid" mark 'epoch "3"'
is 'is made' "$(cat "$OUT")" "$pid: marked epoch \"3\""
ok 'a dump' memtrace ctl "$pid" dump
dump=$(cat "$OUT")
is 'its name' "$dump" "${SPOOL%.spool}.dump.json"
ok 'of which a report is made' memtrace report "$dump"
is 'the dump is of a running process, and has the mark' \
	"$(json "$dump" '[d["process"]["exit"], [e["name"] for e in d["events"] if e["op"] == "mark"]]')" \
	'["running", ["epoch \"3\""]]'
ok 'the dump goes where it should' memtrace ctl "$pid" dump -o there.json
ok 'and is a trace' memtrace report there.json
fails 3 'there.json: exists already' memtrace ctl "$pid" dump -o there.json
ok 'the spool stays' test -e "$SPOOL"
ok 'stop' memtrace ctl "$pid" stop
is 'which is done, too' "$(cat "$OUT")" "$pid: stopped: totals and peaks only"
ok 'start again' memtrace ctl "$pid" start
: "${TOGGLES:=1000}"
for _ in $(seq $((TOGGLES / 2))); do
	memtrace ctl "$pid" stop >>toggled || break
	memtrace ctl "$pid" start >>toggled || break
done 2>toggled.err
is "$TOGGLES toggles by ctl, each acted upon" "$(wc -l <toggled):$(cat toggled.err)" "$TOGGLES:"
finish 'toggled by ctl'
is 'some of it was recorded, some was not' \
	"$(json "$TRACE" '[len(d["events"]) > 100, d["capture"]["events_dropped"] > 100]')" '[true, true]'

begin 4 1000
finish 'toggled by the program'

# Killed in between: nothing that was done is missing.
begin 4 1000000
ok 'a dump of a busy process' memtrace ctl "$pid" dump -o busy.json
if grep -q 'kept recording while' busy.json; then
	skip 'is of one moment' 'it did not pause for as long as a copy takes, and the dump says so'
else
	ok 'is of one moment' validate busy.json
fi
ok 'two at a time' memtrace ctl "$pid" stop
ok 'started' memtrace ctl "$pid" start
kill -9 "$pid"
wait "$job"
ok 'killed while it is toggled: recover' memtrace recover "$SPOOL" -o killed.json
ok 'killed while it is toggled: the trace keeps its promises' validate killed.json
fails 3 "there is no process $pid" memtrace ctl "$pid" start

# --- a process that does nothing -------------------------------------------------------------------------
begin idle
ok 'a dump' memtrace ctl "$pid" dump
ok 'of a moment without events keeps its promises' validate "$(cat "$OUT")"
fails 1 "process $pid has not allocated or freed GPU memory since the request: stop takes effect when it does" \
	memtrace ctl "$pid" stop --wait 0
for i in 2 3 4 5 6 7; do
	memtrace ctl "$pid" mark "mark $i" --wait 0 >>"$OUT" 2>>"$ERR"
done
fails 1 'has not allocated or freed GPU memory since the request' memtrace ctl "$pid" start --wait 0
fails 1 "8 requests are already pending for process $pid" memtrace ctl "$pid" mark nine --wait 0
ok 'status' memtrace ctl "$pid" status
has 'says what waits' "$OUT" ', 8 pending requests (handled at the next allocation or free); '
: >again
ok "its next event takes them all" sh -c "while memtrace ctl $pid status | grep -q request; do sleep 0.01; done"
finish 'idle'
is "in their order: what was marked while stopped is none, the free after start is there" \
	"$(json "$TRACE" '[[e["op"] for e in d["events"]], d["capture"]["events_dropped"]]')" '[["alloc", "free"], 0]'

# --- whom one cannot ask ---------------------------------------------------------------------------------
sleep 600 &
sleeper=$!
fails 3 "process $sleeper is not traced" memtrace ctl "$sleeper" start
env LD_PRELOAD="$LIBRARY" sleep 600 &
quiet=$!
while kill -0 "$quiet" && ! grep -q libmemtrace "/proc/$quiet/maps"; do
	sleep 0.01
done
fails 3 "process $quiet has not used any GPU memory yet" memtrace ctl "$quiet" start
kill "$sleeper" "$quiet"

begin idle
fails 3 "process $sleeper" memtrace ctl "$sleeper" "$pid" status
has 'the others are told of all the same' "$OUT" "$pid: recording, 1 events; $SPOOL"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$MEMTRACE_TEST_TMP"
	fails 3 "process $pid belongs to another user" \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$BUILD/memtrace" ctl "$pid" stop
else
	skip "another user's process" 'not root, or no setpriv'
fi
if [ "$(id -u)" = 0 ] && ! cat /proc/1/maps >"$OUT" 2>&1; then
	fails 3 'process 1: the system does not allow inspecting it' memtrace ctl 1 status
else
	skip 'a process that even root may not look at' 'not root, or nothing is forbidden here'
fi
version() { # NUMBER: into the header
	"$PYTHON" -c 'import struct, sys
with open(sys.argv[1], "r+b") as file:
    file.seek(8)
    file.write(struct.pack("I", int(sys.argv[2])))' "$SPOOL" "$1"
}
own_version=$(od -An -tu4 -j8 -N4 "$SPOOL" | tr -d ' ')
version 77
fails 3 "process $pid is traced by another version of memtrace (its spool has version 77, not $own_version)" \
	memtrace ctl "$pid" stop
version "$own_version"
cp "$SPOOL" copy.spool
"$PYTHON" - "$SPOOL" copy.spool >holder.out <<'PYTHON' &
import mmap
import sys
import time

files = [open(name, "r+b") for name in sys.argv[1:]]
maps = [mmap.mmap(file.fileno(), 4096) for file in files]
print("ready", flush=True)
time.sleep(600)
PYTHON
holder=$!
while [ ! -s holder.out ] && kill -0 "$holder"; do
	sleep 0.01
done
fails 3 "process $holder maps 2 spools" memtrace ctl "$holder" stop
kill "$holder"
finish 'left alone'
fails 3 "there is no process $pid" memtrace ctl "$pid" status

fails 2 'PID... VERB is missing' memtrace ctl
fails 2 'VERB is missing' memtrace ctl 1
fails 2 'PID is missing' memtrace ctl status
fails 2 'there is no verb strat; did you mean start?' memtrace ctl 1 strat
fails 2 'nonsense is neither a process id nor a verb' memtrace ctl nonsense
fails 2 'mark needs a NAME' memtrace ctl 1 mark
fails 2 'mark needs a NAME of 1 to 91 bytes' memtrace ctl 1 mark "$(printf '%092d' 1)"
fails 2 'too many operands after stop' memtrace ctl 1 stop now
fails 2 '-o can be given only for a dump of one process' memtrace ctl 1 2 dump -o x
fails 2 '--wait: soon is not a number' memtrace ctl 1 stop --wait soon
