#!/bin/sh
# MEMTRACE_CUPTI=1: each record of CUPTI's has its event, a missed call is told, whoever else wants
# CUPTI gets it.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

witness() { # TRACE: "RECORDS MATCHED LISTED"
	json "$1" '"%d %d %d" % (d["cupti_check"]["records"], d["cupti_check"]["matched"], len(d["cupti_check"]["unmatched"]))'
}

traced "$SAMPLES/leak"
is 'not asked for: not a word of it' \
	"$(json "$TRACE" '[k for k in ("cupti_check", "actions", "spans", "spans_dropped") if k in d]')" '[]'
hasnt 'nor is it loaded' "$OUT" cupti

MEMTRACE_CUPTI=1
export MEMTRACE_CUPTI
for sample in leak pool vmm managed arrays threads caching churn oom; do
	"$SAMPLES/$sample" >plain.out 2>&1
	plain=$?
	for kind in '' -static; do
		traced "$SAMPLES/$sample$kind"
		is "$sample$kind: the program does as it does" "$?" "$plain"
		ok "$sample$kind: the trace keeps its promises" validate "$TRACE"
		is "$sample$kind: all records have their events" "$(json "$TRACE" '(lambda w: w["records"] > 3 and
			w["records"] == w["matched"] and not w["unjudged"] and not w["lost"])(d["cupti_check"])')" true
		is "$sample$kind: nothing more to say" "$(json "$TRACE" '[n for n in d["capture"]["notes"] if "CUPTI" in n]')" '[]'
	done
done

MEMTRACE_START=off
export MEMTRACE_START
traced "$SAMPLES/leak"
unset MEMTRACE_START
is 'while recording is off, no record is said to lack its event' "$(json "$TRACE" '(lambda w: [w["records"] > 3,
	w["records"] - w["unjudged"] - w["matched"], w["unmatched"]])(d["cupti_check"])')" '[true, 0, []]'

# By another count than ours: what the driver's books say began and ended.
traced "$SAMPLES/leak"
is 'as many records as calls' "$(witness "$TRACE")" "$(json "$TRACE" '"%d %d 0" % ((sum(c["calls"]
	for c in d["calls"] if c["api"] in ("cudaMalloc", "cudaFree")),) * 2)')"
is 'calls of the driver are counted' "$(json "$TRACE" '[a["count"] for a in d["actions"] if a["name"] == "cuMemAlloc_v2"]')" \
	"$(json "$TRACE" '[c["calls"] for c in d["calls"] if c["api"] == "cudaMalloc"]')"

# Two looks at one thing must agree: this CUPTI lies about every fifth address.
FAKE_CUPTI_BLIND=5
export FAKE_CUPTI_BLIND
traced "$SAMPLES/leak"
is 'records without an event are told' "$(json "$TRACE" '(lambda w: w["records"] - w["matched"] == len(w["unmatched"])
	== w["records"] // 5)(d["cupti_check"])')" true
ok 'the trace keeps its promises' validate "$TRACE"
ok 'a report' memtrace report --show cupti_check "$TRACE"
has 'and in the report' "$OUT" 'have no event'
ok 'a report for programs' memtrace report --json "$TRACE"
is 'with the same figures' "$(json "$OUT" '(lambda w: w["missing"] == len(w["unmatched"]) > 0)(d["cupti_check"])')" true
unset FAKE_CUPTI_BLIND

# More records than events are kept: the older ones cannot be judged, and are not called missed.
MEMTRACE_MAX_EVENTS=100 traced "$SAMPLES/churn" 500 1
is 'a ring: what is older is not judged' "$(json "$TRACE" '(lambda w: w["unjudged"] > 500 and
	w["records"] == w["matched"] + w["unjudged"])(d["cupti_check"])')" true

# Kernels, and a ring of them.
traced "$E2E/calls" rows
is 'kernels' "$(json "$TRACE" '[a["count"] > 0 for a in d["actions"] if a["kind"] == "kernel"]')" '[true]'
is 'and when they ran' "$(json "$TRACE" 'all(s["ns"] == (5000 if d["actions"][s["action"]]["kind"] == "kernel" else 2000)
	and 0 < s["t"] < d["process"]["duration_ns"] for s in d["spans"]) and len(d["spans"]) > 0')" true
ok 'the trace keeps its promises' validate "$TRACE"

# Migrations can be asked for only once cuInit is done.
traced "$SAMPLES/managed"
is 'migrations of managed memory' "$(json "$TRACE" 'sorted(set(a["name"] for a in d["actions"] if a["kind"] == "migration"))')" \
	'["migration DtoH", "migration HtoD"]'
is 'as much as was managed' "$(json "$TRACE" '(sum(a["bytes"] for a in d["actions"] if a["kind"] == "migration") ==
	2 * sum(e["size"] for e in d["events"] if e["op"] == "free" and e["space"] == "managed") > 0)')" true
ok 'the trace keeps its promises' validate "$TRACE"

# Pictures of them: what is left out is said.
FAKE_CUPTI_STREAMS=2 FAKE_CUPTI_SLOW=cuMemAlloc_v2 traced "$E2E/calls" rows
ok 'copies, fills and a long call' validate "$TRACE"
spans=$(json "$TRACE" 'len(d["spans"])')
ok 'a report for programs' memtrace report --json "$TRACE"
is 'tells how many are on the timeline' "$(json "$OUT" '"%d %d" % (d["spans"]["count"], d["spans"]["dropped"])')" "$spans 0"
ok 'a report' memtrace report "$TRACE" --show actions
has 'says whose calls are among them' "$OUT" 'that memtrace itself makes'
ok 'an export' memtrace export "$TRACE" --to chrome
is 'with tracks of the device and its streams' "$(json "$OUT" 'sorted(set(e["args"]["name"] for e in d["traceEvents"]
	if e["ph"] == "M" and e["pid"] != '"$(json "$TRACE" 'd["process"]["pid"]')"'))')" \
	'["device 0: Simulated GPU", "stream 7: copies", "stream 7: fills", "stream 7: kernels", "stream 8: copies", "stream 8: fills", "stream 8: kernels"]'
if [ -s "$BUILD/page/page.html" ]; then
	ok 'a page' memtrace html "$TRACE" -o all.html
	has 'has them all' all.html "\"spans\":{\"count\":$spans,\"dropped\":0,\"left_out\":0,"
	ok 'a short page' memtrace html --max-events 10 "$TRACE" -o few.html
	has 'has the longest' few.html "\"spans\":{\"count\":10,\"dropped\":0,\"left_out\":$((spans - 10)),\"left_out_ns\":2000,"
	ok 'a page without names' memtrace html --anonymize "$TRACE" -o nameless.html
	hasnt 'hides those of kernels' nameless.html fake_kernel
	has 'and keeps those of calls' nameless.html cuMemcpyAsync
fi

# Others.
is 'alone, a tool has its records' "$("$E2E/cupti" first) $("$E2E/cupti" later)" '8 5'
traced "$E2E/cupti" later
is 'a tool that comes later gets CUPTI, and all it would have had' "$(cat "$OUT")" 5
is 'until then we had it' "$(witness "$TRACE")" '3 3 0'
has 'and it is said' "$TRACE" 'began to use CUPTI itself'
is 'and nothing else is lost' "$(json "$TRACE" 'd["summary"]["devices"][0]["allocations"]')" 8
traced "$E2E/cupti" first
is 'a tool that was first keeps it' "$(cat "$OUT")" 8
has 'and it is said' "$TRACE" 'the program itself uses CUPTI'
is 'and nothing else is lost' "$(json "$TRACE" 'd["summary"]["devices"][0]["allocations"]')" 8
env LD_PRELOAD="$LIBRARY:$BUILD/fake/libcupti.so.13" MEMTRACE_OUTPUT="$PWD/linked.json" \
	"$E2E/cupti" linked >linked.out 2>linked.err
is 'the same where the linker bound it' "$(cat linked.out) $(witness linked.json)" '5 3 3 0'
MEMTRACE_CUPTI=0 traced "$E2E/cupti" later
is 'not asked for: the tool has it' "$(cat "$OUT")" 5

traced "$E2E/cupti" fork
is 'a child that starts CUDA has a cross-check of its own' "$(for trace in "${TRACE%.json}"*.json; do witness "$trace"; done | sort | tr '\n' ' ')" \
	"$(printf '2 2 0\n3 3 0\n' | tr '\n' ' ')"

# No CUPTI there, or another tool's injection.
mkdir bare
ln -s "$BUILD"/fake/libcuda* bare/
LD_LIBRARY_PATH=$PWD/bare CUDA_HOME=$PWD/none traced "$SAMPLES/leak"
if [ ! -e /usr/local/cuda/lib64/libcupti.so ]; then
	has 'no CUPTI: said, with what to do' "$TRACE" 'set CUDA_HOME'
fi
is 'and the rest is as ever' "$(json "$TRACE" 'd["summary"]["devices"][0]["allocations"]')" 13
CUDA_INJECTION64_PATH=/nonexistent.so traced "$SAMPLES/leak"
has "another tool's injection: said" "$TRACE" 'CUDA_INJECTION64_PATH'
ok 'memtrace run takes it as an option' memtrace run --cupti -o run.json -- "$SAMPLES/leak"
is 'and it is on' "$(witness run.json)" '19 19 0'
