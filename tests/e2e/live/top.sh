#!/bin/sh
# Looking at running processes: the figures are the program's own and recover's, whatever happens to
# the process meanwhile; on a terminal, as JSON, as Prometheus reads it.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

helper=$TOP/tests/e2e/live/top.py
schema=$TOP/include/memtrace/top.schema.json
export FAKE_CUDA_DEVICES=2

# start NAME [WORDS...]: `alive` under the library; tell NAME LINE: what it answers is in $answer.
start() {
	name=$1
	shift
	rm -f "$name.in" "$name.out"
	mkfifo "$name.in" "$name.out"
	LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT="$PWD/$name.json" "$E2E/alive" "$@" <"$name.in" >"$name.out" 2>"$name.err" &
	eval "pid_$name=$!"
	case $name in
	a) exec 5>"$name.in" 6<"$name.out" && read -r answer <&6 ;;
	b) exec 7>"$name.in" 8<"$name.out" && read -r answer <&8 ;;
	esac
}

tell() {
	case $1 in
	a) echo "$2" >&5 && read -r answer <&6 ;;
	b) echo "$2" >&7 && read -r answer <&8 ;;
	esac
}

kill_hard() {
	{ kill -9 "$1" && wait "$1"; } 2>"$MEMTRACE_TEST_TMP/.killed"
}

# --- figures ----------------------------------------------------------------------------------------
RANK=3
export RANK
start a 'one "quoted" \word'
unset RANK
# shellcheck disable=SC2154
pid=$pid_a
fails 3 "process $pid is not traced" memtrace top "$pid" --once
tell a 'take 5 1048576'
tell a 'push outer'
tell a 'push inner'
tell a 'take 2 4096'
tell a 'give 1'
books=${answer#given }
tell a 'device 1'
tell a 'take 3 10000'
tell a 'pin 8192'

ok 'a page, once' memtrace top "$pid" --once
has 'with the process' "$OUT" "$pid  rank 3"
has 'with the line that holds most' "$OUT" 'GPU 0   take_here (alive)'
has 'with the open range' "$OUT" 'inner'
ok 'as JSON' memtrace top "$pid" --once --json
cp "$OUT" top.json
ok 'which fits its schema' "$PYTHON" "$helper" valid "$schema" top.json
is 'now and peak are those of the program' \
	"$(json top.json '" ".join(str(d["processes"][0]["devices"][0]["allocated"][k]) for k in ("now_bytes", "peak_bytes"))')" "$books"
is 'the other device' "$(json top.json 'd["processes"][0]["devices"][1]["allocated"]["now_bytes"]')" 30000
is 'page-locked memory' "$(json top.json 'd["processes"][0]["spaces"][0]["allocated"]["now_bytes"]')" 8192
is 'lines' "$(json top.json '[[l["line"], l["device"], l["bytes"], l["count"]] for l in d["processes"][0]["lines"]]')" \
	'[["take_here (alive)", 0, 5246976, 6], ["take_here (alive)", 1, 30000, 3], ["pin_here (alive)", null, 8192, 1]]'
is 'ranges' "$(json top.json '[[r["name"] for r in d["processes"][0]["ranges"]["open"]], d["processes"][0]["ranges"]["complete"]]')" \
	'[["outer", "inner"], true]'
is 'no rates at a first look' "$(json top.json '[d["processes"][0]["events_rate"], d["processes"][0]["devices"][0]["allocations_rate"]]')" '[null, null]'
ok 'with an interval it looks twice' memtrace top "$pid" --once --json --interval 20ms
is 'and has rates' "$(json "$OUT" '[d["processes"][0]["events_rate"], d["processes"][0]["allocated_rate"]]')" '[0.0, 0.0]'
ok 'recover reads the same spool' memtrace recover --force -o same.json a.spool
is 'and says the same of devices' \
	"$(json top.json '[[e["device"], e["allocated"]["now_bytes"], e["allocated"]["peak_bytes"], e["allocated"]["peak_t"],
		e["reserved"]["now_bytes"], e["used"]["now_bytes"], e["used"]["residual_bytes"], e["allocations"], e["frees"]] for e in d["processes"][0]["devices"]]')" \
	"$(json same.json '[[e["device"], e["allocated"]["exit_bytes"], e["allocated"]["peak_bytes"], e["allocated"]["peak_t"],
		e["reserved"]["exit_bytes"], e["used"]["exit_bytes"], e["used"]["at_exit"]["residual_bytes"], e["allocations"], e["frees"]] for e in d["summary"]["devices"]]')"
is 'and of all that lives' "$(json top.json 'sum(l["bytes"] for l in d["processes"][0]["lines"])')" \
	"$(json same.json 'sum(s["live_bytes"] for s in d["sites"])')"
is 'nothing is estimated' "$(json top.json '[d["processes"][0]["sample_bytes"], d["processes"][0]["events_on"], d["processes"][0]["lines"][0]["estimated_bytes"]]')" '[null, true, null]'
tell a pop
ok 'a range ends' memtrace top "$pid" --once --json
is 'and is told as the last that ended' \
	"$(json "$OUT" '[[r["name"] for r in d["processes"][0]["ranges"][k]] for k in ("open", "ended")]')" '[["outer"], ["inner"]]'
ok 'lines may be few' memtrace top "$pid" --once --json --lines 1 --sort count
is 'and then the rest is summed' "$(json "$OUT" '[len(d["processes"][0]["lines"]), d["processes"][0]["lines_left_out"]]')" '[1, {"count": 2, "bytes": 38192}]'
ok 'the spool may be named itself' memtrace top a.spool --once
ok 'without a pid: every process of this user' memtrace top --once --json
is 'with this one' "$(json "$OUT" "$pid in [p['pid'] for p in d['processes']]")" true

# --- the terminal -----------------------------------------------------------------------------------
for how in keys stop control-c SIGINT SIGTERM SIGHUP; do
	ok "the terminal is given back: $how" "$PYTHON" "$helper" screen "$pid" "$how"
done

# --- Prometheus -------------------------------------------------------------------------------------
ok 'a file for the textfile collector' memtrace top "$pid" --once --prometheus metrics.prom
ok 'which is well formed' "$PYTHON" "$helper" metrics metrics.prom
cp "$OUT" metrics.json
is 'and has the same sums' "$(json metrics.json 'sorted([s[1]["device"], s[2]] for s in d if s[0] == "memtrace_allocated_bytes")')" '[["0", 5246976], ["1", 30000]]'
is 'each with its process' "$(json metrics.json 'sorted({(s[1]["pid"], s[1]["rank"], s[1]["host"], s[1]["command"]) for s in d})')" \
	"[[\"$pid\", \"3\", \"$(uname -n)\", \"$E2E/alive "'one \\\"quoted\\\" \\\\word"]]'
is 'and a device with its card' "$(json metrics.json 'sorted({s[1].get("uuid") for s in d if s[0] == "memtrace_allocated_bytes"})')" \
	"$(json same.json 'sorted(x["uuid"] for x in d["environment"]["devices"])')"
is 'one file, readable by others' "$(find . -name 'metrics.prom*' -perm 644)" ./metrics.prom
fails 3 'cannot be written' memtrace top "$pid" --once --prometheus none/metrics.prom

serve() { # ADDRESS [DESCRIPTORS]: $served is where
	: >served.err
	"$PYTHON" -c 'import os, resource, sys
if sys.argv[1]:
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]),) * 2)
os.execvp(sys.argv[2], sys.argv[2:])' "${2:-}" \
		memtrace top "$pid" --host trainer --prometheus "$1" >served.out 2>>served.err &
	server=$!
	served=
	while [ -z "$served" ] && kill -0 "$server" 2>"$MEMTRACE_TEST_TMP/.killed"; do
		served=$(sed -n 's|.*http://\(.*\)/metrics|\1|p' served.err)
		sleep 0.05
	done
}
serve :0
case $served in
127.0.0.1:*) tap '' 'served to this machine alone' ;;
*) tap 'not ' "served to this machine alone: $served" ;;
esac
ok 'whatever clients ask' "$PYTHON" "$helper" http "$served"
fails 3 'Address already in use' memtrace top "$pid" --prometheus ":${served##*:}"
kill "$server"
wait "$server"
serve :0 10
ok 'more clients than descriptors: it waits until one is free' "$PYTHON" "$helper" full "$served" "$server"
kill "$server"
wait "$server"
is 'it ends by its signal' "$?" 143

# --- sampled, events off -----------------------------------------------------------------------------------
export MEMTRACE_SAMPLE=4KiB
start b sampled
unset MEMTRACE_SAMPLE
# shellcheck disable=SC2154
other=$pid_b
tell b 'take 3 1048576'
ok 'a sampled process' memtrace top "$other" --once --json
cp "$OUT" sampled.json
ok 'fits the schema' "$PYTHON" "$helper" valid "$schema" sampled.json
is 'sums are exact, and blocks as large as these are samples surely' \
	"$(json sampled.json '[[p["sample_bytes"], p["allocated_bytes"], [[l["line"], l["bytes"], l["estimated_bytes"]] for l in p["lines"]]] for p in d["processes"]]')" \
	'[[4096, 3145728, [["take_here (alive)", 3145728, 3145728]]]]'
ok 'as a page' memtrace top "$other" --once
has 'which says so' "$OUT" 'estimated from one sample for every 4.00 KiB allocated'
kill_hard "$other"
export MEMTRACE_START=off
start b quiet
unset MEMTRACE_START
other=$pid_b
tell b 'take 3 1048576'
ok 'a process whose events are off' memtrace top "$other" --once
has 'which the page says' "$OUT" 'recording of events is off'
has 'with sums all the same' "$OUT" '3.00 MiB'
kill_hard "$other"

# --- two processes, fork, exec ------------------------------------------------------------------------
start b two
other=$pid_b
tell b fork # before it uses CUDA, which does not outlive a fork
child=${answer#child }
tell b 'take 1 2048'
ok 'two processes' memtrace top "$other" "$pid" --once --json
cp "$OUT" two.json
is 'by pid, each with its own' "$(json two.json 'sorted([p["pid"], p["devices"][0]["allocated"]["now_bytes"]] for p in d["processes"]) == [[p["pid"], p["devices"][0]["allocated"]["now_bytes"]] for p in d["processes"]]')" true
is 'the second' "$(json two.json "[p['devices'][0]['allocated']['now_bytes'] for p in d['processes'] if p['pid'] == $other]")" '[2048]'
# The child takes its first memory when it comes to it.
tries=0
until memtrace top "$child" --once --json >child.json 2>child.err || [ "$tries" = 300 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
is 'a forked child has its own' "$(json child.json '[p["devices"][0]["allocated"]["now_bytes"] for p in d["processes"]]')" '[1048576]'
tell b exec
fails 3 "process $other is not traced" memtrace top "$other" --once
tell b 'take 1 512'
ok 'the same process, another program' memtrace top "$other" --once --json
is 'with what that one took' "$(json "$OUT" '[p["devices"][0]["allocated"]["now_bytes"] for p in d["processes"]]')" '[512]'

# --- a program that never pauses; its end ---------------------------------------------------------------
tell b 'take 100 4096'
tell b churn
looked=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
	memtrace top "$other" --once --json --interval 10ms >busy.json 2>busy.err || break
	"$PYTHON" "$helper" valid "$schema" busy.json || break
	# 512 and a hundred pages live, and what the two threads are at.
	[ "$(json busy.json 'sum(e["allocated"]["now_bytes"] for e in d["processes"][0]["devices"]) - 410112 in (0, 4096, 8192)')" = true ] || break
	looked=$((looked + 1))
done
is 'sums are right while threads allocate without end' "$looked" 10
ok 'killed while it is watched' "$PYTHON" "$helper" dies "$other"
wait "$other" 2>"$MEMTRACE_TEST_TMP/.killed"
fails 3 "there is no process $other" memtrace top "$other" --once
ok 'its spool is whole' memtrace recover --force -o killed.json b.3.spool
for _ in 1 2 3 4 5; do
	start b again
	tell b 'take 1 100'
	tell b churn
	memtrace top "$pid_b" --interval 10ms --json >watched.out 2>watched.err &
	watcher=$!
	kill_hard "$pid_b"
	wait "$watcher"
	status=$?
	[ "$status" = 0 ] || [ "$status" = 3 ] || break
	grep -qE 'has ended|no process|is not traced' watched.err || break
	status=fine
done
is 'killed in a loop while it is watched: said, and a documented status' "$status" fine

# --- what cannot be looked at ---------------------------------------------------------------------------
fails 3 'there is no process 2147483647' memtrace top 2147483647 --once
fails 3 'is not traced' memtrace top $$ --once
fails 3 'No such file' memtrace top 12x --once
fails 2 'is not one of bytes, count, rate' memtrace top --sort size
fails 2 'a time from 10ms' memtrace top --interval never
fails 2 'a time from 10ms' memtrace top --interval nan
fails 2 'cannot be combined' memtrace top --once --json --prometheus x
cp a.spool newer.spool
printf '\177' | dd of=newer.spool bs=1 seek=8 conv=notrunc status=none
fails 3 'written by a newer version of memtrace' memtrace top newer.spool --once
head -c 1000 a.spool >short.spool
fails 3 'too short for a spool' memtrace top short.spool --once
head -c 700000 a.spool >cut.spool
fails 3 'has truncated this spool' memtrace top cut.spool --once
head -c 2000000 /dev/zero >empty.spool
fails 3 'nothing is recorded in this spool' memtrace top empty.spool --once
cp a.spool shrinks.spool
memtrace top shrinks.spool --json --interval 20ms >shrinks.out 2>shrinks.err &
watcher=$!
until [ -s shrinks.out ]; do sleep 0.05; done
head -c 700000 a.spool | dd of=shrinks.spool status=none
wait "$watcher"
is 'a spool that is truncated while it is watched' "$? $(grep -c 'truncated this spool\|has ended' shrinks.err)" '3 1'

exec 5>&- 6<&-
wait "$pid"
is 'what was looked at ends as ever' "$?" 0
ok 'and leaves its trace' validate a.json
