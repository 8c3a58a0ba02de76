#!/bin/sh
# Out of memory, explained: the true reason in each way, at the end and in one write, in the trace, in
# reports; nothing where a framework or the program has dealt with it. The status stays the program's.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

FAKE_CUDA_MEMORY=$((1 << 30)) FAKE_CUDA_CONTEXT_BYTES=$((16 << 20))
export FAKE_CUDA_MEMORY FAKE_CUDA_CONTEXT_BYTES
MIB=1048576

run_out() { # WAY
	traced "$PYTHON" "$TOP/tests/e2e/oom/oom.py" "$E2E" "$1"
}

# last EXPRESSION: over `o`, the last failure
last() {
	json "$TRACE" "(lambda o: $1)(d[\"ooms\"][-1])"
}

# explained WAY REASON ADVICE
explained() {
	run_out "$1"
	is "$1: the status is the program's" "$?" 1
	has "$1: so are its words" "$ERR" 'rror: CUDA'
	sed -n '/^memtrace: out of memory on device 0 (Simulated GPU, 1.00 GiB)/,/^Full report: /p' "$ERR" >words
	lines=$(wc -l <words)
	is "$1: once" "$(grep -c '^memtrace: out of memory' "$ERR")" 1
	ok "$1: it is explained in at most 24 lines" [ "$lines" -ge 6 -a "$lines" -le 24 ]
	is "$1: no sentence is cut" "$(grep '[.][.][.]$' words)" ''
	is "$1: the reason, and what would help" "$(last '[o["reason"], o["survived"]] + [a["rule"] for a in o["advice"]]')" \
		"[\"$2\", false, $3]"
	ok "$1: the trace keeps its promises" validate "$TRACE"
	ok "$1: report --oom" memtrace report --oom "$TRACE"
	sed -e '1s/^memtrace: //' -e '/^Full report: /d' words >wanted
	is "$1: it says the same" "$(head -n "$((lines - 1))" "$OUT")" "$(cat wanted)"
	memtrace report --json --at "seq:$(last 'o["seq"]')" "$TRACE" >then.json
	is "$1: what was live is what the events say" \
		"$(json then.json '{str(s["stack"]): s["bytes"] for s in d["moment"]["live"]["stacks"]}')" \
		"$(last '{str(s["stack"]): s["bytes"] for s in o["stacks"]}')"
}

explained plain full '"batch"'
is 'plain: who held it, by line' "$(sed -n 's/ *\([0-9.]* MiB\)  *[0-9.]*%  \([a-z]*\).*/\1 \2/p' words)" \
	'832.00 MiB activations
128.00 MiB parameters'
is 'plain: what the driver said at its refusal' "$(last "[o[k] // $MIB for k in
	('size', 'refused_bytes', 'free_bytes', 'total_bytes', 'others_bytes', 'allocated', 'reserved', 'cached')]")" \
	'[64, 64, 48, 1024, 16, 960, 960, 0]'

explained fragmentation fragmentation '"expandable", "batch"'
is 'fragmentation: gaps' "$(last "[[p[k] // $MIB for k in ('gaps_bytes', 'largest_free_bytes', 'free_segments_bytes')]
	+ [p['gaps']] for p in o['pools']]")" '[[452, 4, 0, 113]]'
is 'fragmentation: and what they would give' "$(last "o['advice'][0]['bytes'] // $MIB")" 452

explained expandable full '"batch"'
is 'expandable: a piece was refused, what was left at the end is less than what was asked for' \
	"$(last "[o[k] // $MIB for k in ('size', 'refused_bytes', 'free_bytes')]")" '[512, 20, 240]'

explained limit limit '"limit", "batch"'
is 'limit: the driver was not asked, and where it lies' \
	"$(last "[o['refused_bytes'], o['limit_min_bytes'] // $MIB, o['limit_max_bytes'] // $MIB, o['free_bytes'] // $MIB]")" \
	'[null, 512, 544, 496]'

FAKE_CUDA_CONTEXT_BYTES=$((600 << 20))
explained others others '"processes", "batch"'
FAKE_CUDA_CONTEXT_BYTES=$((16 << 20))

explained beside beside '"beside"'
has 'beside: its line is named' words 'raw (oom.py:'
is 'beside: who held what of the driver' "$(last "[[h['holder'], h['bytes'] // $MIB] for h in o['holders']]")" \
	"[[\"$(basename "$(readlink -f "$PYTHON")")\", 600], [\"torch\", 384]]"

explained cache cache '"empty_cache", "leave_room"'
is 'cache: what empty_cache() would give' "$(last "[o['api'], o['advice'][0]['bytes'] // $MIB]")" '["cudaMalloc", 512]'
explained too_large too_large '"shape"'
explained ordered full '"holder"'
is 'ordered: the pool has what the driver reserved for it, and the rest of the card is the context' \
	"$(last "[p[k] // $MIB for p in o['pools'] for k in ('reserved_bytes', 'allocated_bytes')] + [o['others_bytes'] // $MIB]")" \
	'[960, 960, 16]'

# --- silence --------------------------------------------------------------------------------------------

run_out retried
is 'retried: ends well' "$?" 0
is 'retried: a framework that tries again says nothing' "$(cat "$ERR")" "memtrace: wrote $TRACE"
is 'retried: it is no failure' "$(json "$TRACE" '[d["ooms"], d["summary"]["devices"][0]["ooms"], d["summary"]["devices"][0]["retries"]]')" \
	'[[], 0, 1]'
ok 'retried: the trace keeps its promises' validate "$TRACE"
is 'retried: report --oom says that there was none' "$(memtrace report --oom "$TRACE"; echo $?)" 'No allocation failed.
1'

run_out caught
is 'caught: ends well' "$?" 0
is 'caught: one line tells of it' "$(cat "$ERR")" \
	"memtrace: wrote $TRACE (3 allocations failed for lack of memory: see memtrace report --oom)"
is 'caught: all were survived' "$(json "$TRACE" '[o["survived"] for o in d["ooms"]]')" '[true, true, true]'
ok 'caught: report tells the second' memtrace report --oom=2 "$TRACE"
has 'caught: by its number' "$OUT" 'requested 2.00 GiB by caught (oom.py:'
fails 3 'there is no failed allocation number 4; the trace explains 3, numbered from 1' memtrace report --oom=4 "$TRACE"
is 'caught: and prints nothing then' "$(cat "$OUT")" ''
fails 2 'the first failed allocation has the number 1' memtrace report --oom=0 "$TRACE"
fails 2 'cannot be combined with --at, --from' memtrace report --oom --at peak "$TRACE"

run_out survived
is 'survived: another status' "$?" 4
hasnt 'survived: what came 300 allocations before was not the reason' "$ERR" 'memtrace: out of memory'

MEMTRACE_QUIET=1
export MEMTRACE_QUIET
run_out plain
is 'MEMTRACE_QUIET=1: nothing' "$?:$(grep -c '^memtrace: ' "$ERR")" 1:0
is 'MEMTRACE_QUIET=1: the trace has it' "$(last 'o["reason"]')" full
unset MEMTRACE_QUIET

# --- raw calls, and ends of all kinds -------------------------------------------------------------------

traced "$E2E/outofmemory" 5
is 'a plain program: its status' "$?" 5
has 'a plain program: explained' "$ERR" 'Why: This process fills the card; it needed 92.00 MiB more.'
has 'a plain program: by its functions' "$ERR" '700.00 MiB  70.0%  work (outofmemory)'
traced "$E2E/outofmemory" 0
is 'a plain program that ends well: one line' "$(grep -v '^no memory' "$ERR")" \
	"memtrace: wrote $TRACE (1 allocation failed for lack of memory: see memtrace report --oom)"

traced env FAKE_CUDA_OOM_AFTER=2 "$E2E/outofmemory" 5
has 'refused with room on the card: it is not the card' "$ERR" 'Why: The driver refused 100.00 MiB with '

report_schema() {
	"$PYTHON" -c '
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.validators.validator_for(schema)(schema).validate(json.load(open(sys.argv[2])))
' "$TOP/include/memtrace/report.schema.json" "$1"
}

spool() {
	echo "${TRACE%.json}.spool"
}

traced "$E2E/outofmemory" abort
is 'abort: the signal' "$?" 134
ok 'abort: the spool tells' memtrace report --oom "$(spool)"
has 'abort: the same' "$OUT" 'it needed 92.00 MiB more'
run_out killed
is '_exit: the status' "$?" 3
hasnt '_exit: nothing is said' "$ERR" memtrace
ok '_exit: the spool tells' memtrace report --oom "$(spool)"
has '_exit: the same' "$OUT" '832.00 MiB  86.7%  activations'
ok '_exit: for programs' memtrace report --oom --json "$(spool)"
cp "$OUT" report.json
ok '_exit: by the schema' report_schema report.json
ok '_exit: recovered' memtrace recover "$(spool)" -o recovered.json
ok '_exit: what was recovered keeps its promises' validate recovered.json

memtrace run --output run.json -- "$PYTHON" "$TOP/tests/e2e/oom/oom.py" "$E2E" killed >"$OUT" 2>"$ERR"
is 'memtrace run: the status' "$?" 3
is 'memtrace run: explains what could not speak for itself' "$(grep -c '^memtrace: out of memory' "$ERR")" 1
memtrace run --output run2.json -- "$PYTHON" "$TOP/tests/e2e/oom/oom.py" "$E2E" plain >"$OUT" 2>"$ERR"
is 'memtrace run: once' "$?:$(grep -c '^memtrace: out of memory' "$ERR")" 1:1

# --- less detail ----------------------------------------------------------------------------------------

MEMTRACE_MAX_EVENTS=100
export MEMTRACE_MAX_EVENTS
run_out fragmentation
is 'dropped events: the same of what was live' "$(last "[o['reason'], o['pools'][0]['gaps_bytes'] // $MIB,
	o['pools'][0]['largest_free_bytes'] // $MIB, o['unknown_bytes'],
	sum(s['bytes'] for s in o['stacks']) // $MIB]")" '["fragmentation", 452, 4, 0, 512]'
ok 'dropped events: the trace keeps its promises' validate "$TRACE"
MEMTRACE_MAX_EVENTS=0
run_out plain
is 'no events: what else is known' "$(last '[o["reason"], o["stacks"], o["allocated"] >> 20]')" '["full", null, 960]'
has 'no events: is told' "$ERR" '960.00 MiB allocated'
ok 'no events: the trace keeps its promises' validate "$TRACE"
unset MEMTRACE_MAX_EVENTS

# --- one write ------------------------------------------------------------------------------------------

cat >packets.py <<'PYTHON'
import os, socket, subprocess, sys
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
child = subprocess.Popen(sys.argv[1:], stderr=theirs, stdout=subprocess.DEVNULL)
theirs.close()
packets = []
while packet := ours.recv(1 << 20):
    packets.append(packet.decode())
child.wait()
whole = [p for p in packets if p.startswith("memtrace: out of memory")]
print(len(whole), whole[0].count("\n") >= 6, whole[0].splitlines()[-1].startswith("Full report: "))
PYTHON
is 'it comes in one write' "$(env LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT="$PWD/packets.json" \
	"$PYTHON" packets.py "$E2E/outofmemory" 5)" '1 True True'
