#!/bin/sh
# errno is the program's: a hooked call leaves it as the real call did, the first call too.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

"$E2E/errno" >plain.out
traced "$E2E/errno"
is 'no call changes errno that did not before' "$(cat "$OUT")" "$(cat plain.out)"
ok 'the calls were recorded' [ "$(json "$TRACE" 'len(d["events"]) > 40')" = true ]
ok 'the trace keeps its promises' validate "$TRACE"

# With a wrapper of somebody else between us and the runtime: errno as it came in, and what it left.
WRAP_ERRNO=77
LD_PRELOAD=$E2E/libwrap.so
export WRAP_ERRNO
traced "$E2E/errno" once
is 'errno passes in and out' "$(cat "$OUT")" 'first call: errno is 1234
second call: errno is 1234
wrapped=2'
traced env MEMTRACE_OUTPUT=/nowhere/t.json "$E2E/errno" once
is 'also when no file can be made' "$(cat "$OUT")" 'first call: errno is 1234
second call: errno is 1234
wrapped=2'
