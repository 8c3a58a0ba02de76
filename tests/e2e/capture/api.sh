#!/bin/sh
# What a program tells through memtrace.h is in the trace; without the library it is as if not said.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

"$E2E/api" >plain.out 2>plain.err
is 'without the library the program runs' "$?:$(cat plain.err)" 0:
traced "$E2E/api"
is 'with it, too' "$?:$(cat "$OUT")" "0:$(cat plain.out)"
ok 'the trace keeps its promises' validate "$TRACE"

is 'marks are events, also from before the first allocation' \
	"$(json "$TRACE" '[e["name"] for e in d["events"] if e["op"] == "mark" and e["name"]]')" \
	'["before CUDA", "half", "dumped", "recorded", "seen"]'
is 'pushes and pops are events, each with its name' \
	"$(json "$TRACE" '[(e["op"], e["name"]) for e in d["events"] if e["op"] in ("push", "pop")][:6]')" \
	'[["push", "outer"], ["push", "inner"], ["pop", "inner"], ["push", "thread"], ["pop", "thread"], ["pop", "outer"]]'
is 'a dump has what was until then' "$(json dump.json '[d["process"]["exit"], d["summary"]["devices"][0]["allocated"]["exit_bytes"] >> 20,
	[e["name"] for e in d["events"] if e["op"] == "mark"][-1]]')" '["running", 4, "dumped"]'
ok 'and keeps its promises' validate dump.json
ok 'so does one without a name, beside the spool' validate "${TRACE%.json}.dump.json"
is 'nothing else is left of them' "$(echo ./*.partial*)" './*.partial*'
phase='{p["name"]: [p["allocated"][k + "_bytes"] >> 20 for k in ("start", "peak", "end")]
	for p in d["phases"] if p["name"] in ("outer", "inner", "thread")}'
is 'phases have the sums at their ends and in between' "$(json "$TRACE" "$phase" | tr -d '{}' | sed 's/, "/\n"/g' | sort)" \
	'"inner": [1, 5, 1]
"outer": [0, 5, 1]
"thread": [1, 3, 1]'
is 'a phase is of the thread that opened it' \
	"$(json "$TRACE" '(len({p["thread"] for p in d["phases"] if p["name"] in ("outer", "inner")}) == 1
		and len({p["thread"] for p in d["phases"]}) == 2)')" true
is 'a phase without an end is there' \
	"$(json "$TRACE" '[p["end"] is None or p["end"] >= p["start"] for p in d["phases"] if p["name"] == "never popped"]')" '[true]'

# From 1 MiB to 17 and 1.5: what is not recorded is summed, what is not seen is not.
is 'stopped: the peak knows' "$(json "$TRACE" 'd["summary"]["devices"][0]["allocated"]["peak_bytes"] >> 20')" 17
is 'stopped: the events do not' \
	"$(json "$TRACE" '[e["size"] >> 20 for e in d["events"] if e["op"] == "alloc" and e["size"] > 8 << 20]')" '[]'
is 'disabled: nothing remains of it' \
	"$(json "$TRACE" 'd["summary"]["devices"][0]["allocated"]["exit_bytes"]')" $((1 << 20))
is 'every event says what is held after it' \
	"$(json "$TRACE" '[e["allocated"] for e in d["events"] if e["op"] in ("alloc", "free")][-1]')" $((1 << 20))

# Nobody reserved it, so what a pool's block appears in is the pool's from there on: 1 + 2 MiB, not 1 + 8 + 2.
pool='{p["pool"]: [p[k][w] >> 20 for k in ("allocated", "reserved") for w in ("peak_bytes", "exit_bytes")]
	for v in d["summary"]["devices"] for p in v["pools"]}'
is 'a block makes the memory around it the pool'\''s' "$(json "$TRACE" "($pool)[\"unreserved\"]")" '[2, 0, 8, 0]'
is 'and nothing counts twice' "$(json "$TRACE" 'max(e["allocated"] >> 20 for e in d["events"]
	if e.get("pool") == "unreserved" and e["op"] in ("alloc", "free"))')" 3
is 'what the pool has in managed memory is no device'\''s' "$(json "$TRACE" \
	'sorted({(e["op"], e["space"], e["allocated"] >> 20) for e in d["events"] if e.get("pool") == "managed"})')" \
	'[["alloc", "managed", 1], ["free", "managed", 1], ["release", "managed", 1], ["reserve", "managed", 1]]'

# --- pools: the caching sample -------------------------------------------------------------------------
"$SAMPLES/caching" >plain.out
traced "$SAMPLES/caching"
cp "$OUT" own.out
is 'caching: the same output' "$(cat own.out)" "$(cat plain.out)"
ok 'caching: the program'\''s figures' "$PYTHON" "$TOP/tests/e2e/figures.py" "$TRACE" own.out
pool='[p for v in d["summary"]["devices"] for p in v["pools"]]'
is 'caching: one pool, of that name' "$(json "$TRACE" "[p[\"pool\"] for p in $pool]")" '["caching"]'
is 'caching: blocks are the pool'\''s' "$(json "$TRACE" 'sorted({(e["op"], e["api"]) for e in d["events"]
	if e.get("pool") == "caching" and e["op"] in ("alloc", "free")})')" \
	'[["alloc", "memtrace_pool_alloc"], ["free", "memtrace_pool_free"]]'
is 'caching: cached is what is reserved and not in use' \
	"$(json "$TRACE" '[v["reserved"]["exit_bytes"] - v["allocated"]["exit_bytes"] for v in d["summary"]["devices"]]')" \
	"[$((5 << 19))]"
is 'caching: its phase and its mark' "$(json "$TRACE" '([p["name"] for p in d["phases"]]
	+ [e["name"] for e in d["events"] if e["op"] == "mark"])')" '["fill", "filled"]'
