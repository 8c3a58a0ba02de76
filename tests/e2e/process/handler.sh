#!/bin/sh
# A signal handler that interrupted an update, whatever it does, and a thread cancelled in one: the
# program goes on, and what was recorded is whole.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

case $LIBRARY in
*/debug/*)
	skip 'handlers' 'what they interrupt holds a lock: no promise is broken by that'
	exit 0
	;;
esac

for stacks in none native; do
	MEMTRACE_STACKS=$stacks
	export MEMTRACE_STACKS
	traced timeout 120 "$E2E/handler" calls
	is "calls in a handler, stacks $stacks: the program ends" "$?" 0
	calls=$(($(sed -n 's/.* signals=//p' "$OUT") * 2))
	ok "calls in a handler, stacks $stacks: the trace keeps its promises" validate "$TRACE"
	is "calls in a handler, stacks $stacks: each is recorded, or counted as not" "$(json "$TRACE" '(
(lambda own: sum(e["op"] != "reserve" and e["ptr"] == own for e in d["events"]))(
	hex(int(d["events"][0]["ptr"], 16) + 4096)) +
sum(int(n.split()[0]) for n in d["capture"]["notes"] if "signal handlers" in n))')" "$calls"
done
unset MEMTRACE_STACKS

traced timeout 120 "$E2E/handler" jump
is 'a handler that jumps away: the program ends' "$?" 0
ok 'a handler that jumps away: the trace keeps its promises' validate "$TRACE"

traced timeout 120 "$E2E/handler" exit
is 'a handler that ends the program: it ends' "$?" 0
ok 'a handler that ends the program: the trace keeps its promises' validate "$TRACE"

for _ in 1 2; do
	traced timeout 120 "$E2E/handler" cancel
	is 'threads cancelled anywhere: the program ends' "$?" 0
	is 'threads cancelled anywhere: recording goes on' "$(wc -l <"$ERR"):$(json "$TRACE" 'sum(
e["ptr"] == hex(int(d["events"][0]["ptr"], 16) + 16384) for e in d["events"])')" 1:14
	ok 'threads cancelled anywhere: the trace keeps its promises' validate "$TRACE"
done
