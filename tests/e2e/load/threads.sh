#!/bin/sh
# A million pairs from eight threads: no event is lost or told twice, and order holds.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# One look at every line, without a JSON reader: two million lines are many. Prints what was counted,
# and what is wrong.
cat >look.py <<'PYTHON'
import re
import sys

event = re.compile(r'\{"seq":(\d+),"t":\d+,"op":"(\w+)".*?"ptr":"(0x[0-9a-f]+)","size":(\d+).*?'
                   r'"allocated":(\d+),').match
live, counts, wrong = {}, {"alloc": 0, "free": 0}, []
now = peak = total = expected = lines = 0
whole = sys.argv[2] == "whole"
with open(sys.argv[1]) as file:
    for line in file:
        if not line.startswith('{"seq":'):
            continue
        seq, op, ptr, size, allocated = event(line).groups()
        lines += 1
        seq, size = int(seq), int(size)
        if seq != expected and (whole or seq < expected):
            wrong.append(f"event {seq} where {expected} should be")
        if seq != expected:  # a gap: what lived then is not known
            live, now = {}, int(allocated) - (size if op == "alloc" else -size)
            known = False
        expected = seq + 1
        counts[op] += 1
        if op == "alloc":
            if ptr in live:
                wrong.append(f"event {seq}: {ptr} is given out twice")
            live[ptr] = size
            now += size
            total += size
        else:
            if live.pop(ptr, size if not whole else -1) != size:
                wrong.append(f"event {seq}: a free of {ptr}, which is not live")
            now -= size
        peak = max(peak, now)
        if now != int(allocated):
            wrong.append(f"event {seq}: allocated is {allocated}, not {now}")
            now = int(allocated)
for line in wrong[:20]:
    print(line)
if whole:
    print(f"allocations={counts['alloc']}\nfrees={counts['free']}\nbytes={total}\nlive={now}\npeak={peak}")
else:
    print(f"events={lines}")
PYTHON

# The facts before the events, which is all that these traces' size allows to load.
facts() { # TRACE EXPRESSION
	sed '/^"events":\[/,$d' "$1" | sed '$s/,$/}/' >facts.json
	json facts.json "$2"
}

figures='"\n".join("%s=%d" % row for row in (("allocations", v["allocations"]), ("frees", v["frees"]),
	("live", v["allocated"]["exit_bytes"]), ("peak", v["allocated"]["peak_bytes"])))'
figures="[$figures for v in d[\"summary\"][\"devices\"]][0]"

pairs=125000
[ -z "$GPU" ] || pairs=12500 # there each is a call into the kernel
events=$((2 * 8 * pairs + 8))
traced "$SAMPLES/threads" 8 $pairs
is 'the program succeeds' "$?" 0
cp "$OUT" program.out
"$PYTHON" look.py "$TRACE" whole >events.out
is 'what the events sum to is what the program counted' \
	"$(grep -v '^peak=' events.out)" "$(grep -v '^threads=' program.out)"
facts "$TRACE" "$figures" >summary.out
is 'the summary says the same' "$(cat summary.out)" "$(grep -v '^bytes=' events.out)"
is 'nothing was dropped' \
	"$(facts "$TRACE" '(d["capture"]["events_recorded"], d["capture"]["events_dropped"], d["capture"]["truncated"])')" \
	"[$events, 0, false]"
is 'the peak is exactly made up of stacks' \
	"$(facts "$TRACE" 'all(sum(s["bytes"] for s in p["stacks"]) == p["bytes"] for p in d["peaks"]) and len(d["peaks"]) >= 2')" true
rm -f "$TRACE"

MEMTRACE_MAX_EVENTS=$((events / 20))
export MEMTRACE_MAX_EVENTS
traced "$SAMPLES/threads" 8 $pairs
is 'bounded: the program succeeds' "$?" 0
"$PYTHON" look.py "$TRACE" part >events.out
is 'bounded: the trace says that it is cut' "$(facts "$TRACE" 'd["capture"]["truncated"]')" true
is 'bounded: what is there and what is not make up all' \
	"$(facts "$TRACE" 'd["capture"]["events_recorded"] + d["capture"]["events_dropped"]')" $events
is 'bounded: the events are those that it counts, in order' \
	"$(cat events.out)" "events=$(facts "$TRACE" 'd["capture"]["events_recorded"]')"
is 'bounded: it keeps what was asked for, nearly' \
	"$(facts "$TRACE" "0.8 <= d['capture']['events_recorded'] / $MEMTRACE_MAX_EVENTS <= 1.1")" true
is 'bounded: the sums are exact all the same' \
	"$(facts "$TRACE" "$figures" | grep -v '^peak=')" "$(grep -v -e '^threads=' -e '^bytes=' program.out)"
ok 'bounded: the trace keeps its promises' validate "$TRACE"

# --- names ------------------------------------------------------------------------------------------------
traced "$SAMPLES/leak"
is 'the thread that begins the recording has its name' "$(json "$TRACE" '[(t["name"], t["main"]) for t in d["threads"]]')" \
	'[["leak", true]]'
