#!/bin/sh
# Threads whose stacks are as small as they may be: the library's own part of one is small, and the
# first call of a process, which makes the files, fits too.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# The smallest stack that a thread can have, with the recording begun on it.
traced "$E2E/smallstack"
is 'PTHREAD_STACK_MIN: the first call of a process' "$?:$(grep -c '^[0-9]*$' "$OUT")" 0:1
is 'PTHREAD_STACK_MIN: is recorded' "$(json "$TRACE" '[e["op"] for e in d["events"]]')" '["alloc", "free"]'
ok 'PTHREAD_STACK_MIN: the trace keeps its promises' validate "$TRACE"

# What src/capture/stack/stacks.h promises: 2 KiB where the stack is known, 6 where it is new or the process
# has just begun. Without optimisation and with promises asserted it may be twice that.
case $LIBRARY in
*/debug/*) most=2 ;;
*) most=1 ;;
esac
for stacks in none native all; do
	for how in '' warm known; do
		own=$("$E2E/smallstack" 131072 $how)
		MEMTRACE_STACKS=$stacks
		export MEMTRACE_STACKS
		traced "$E2E/smallstack" 131072 $how
		unset MEMTRACE_STACKS
		limit=$((most * 6144))
		[ "$how" != known ] || limit=$((most * 2048))
		ok "stacks $stacks ${how:-cold}: a hooked call takes little of the stack ($(cat "$OUT"), without us $own)" \
			[ $(($(cat "$OUT") - own)) -le $limit ]
	done
done
