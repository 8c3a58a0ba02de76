#!/bin/sh
# `memtrace report` of moments and selections: exact against events counted again in Python, honest
# about what was dropped, and one sentence for what cannot be. Frames and rows by choice.
. "$(dirname "$0")/../lib.sh"

GENERATOR=$BUILD/tests/generator
MOMENTS=$TOP/tests/e2e/report/moments.py
train=$TOP/tests/data/recorded/train.json
[ -x "$GENERATOR" ] || need generator

# --- against the events, counted again ------------------------------------------------------------------
ok 'a made-up trace' "$GENERATOR" --events 4000 --live 300 --stacks 100 --phases 2 --json plain.json
ok 'is told as its events are' "$PYTHON" "$MOMENTS" plain.json --moments 4
ok 'one of three devices' "$GENERATOR" --events 4000 --live 300 --devices 3 --threads 3 --seed 5 --json three.json
ok 'too' "$PYTHON" "$MOMENTS" three.json --moments 4 --seed 2
ok 'one without a pool' "$GENERATOR" --events 1500 --live 100 --pool none --seed 7 --json none.json
ok 'too' "$PYTHON" "$MOMENTS" none.json --moments 3 --seed 3
ok 'the recorded training' "$PYTHON" "$MOMENTS" "$train" --moments 4
ok 'the recorded cache' "$PYTHON" "$MOMENTS" "$TOP/tests/data/recorded/caching.json" --moments 4
for sample in caching pool vmm managed threads; do
	traced "$SAMPLES/$sample"
	ok "the sample $sample" "$PYTHON" "$MOMENTS" "$TRACE" --moments 3
done

# What graphs hold has no address: it shrinks in other pieces than it grew in, and on other threads.
traced "$E2E/graphs"
ok 'memory without addresses' "$PYTHON" "$MOMENTS" "$TRACE" --moments 2
ok 'keeps its promises' validate "$TRACE"
ok 'no stack is missing' memtrace report --show advice "$TRACE"
hasnt 'graphs have none' "$OUT" 'has no stack'
ok 'by thread' memtrace report --json --by thread "$TRACE"
is 'it is whose it was' "$(json "$OUT" '(d["peaks"][0]["bytes"] >> 20, d["live_at_exit"]["bytes"] >> 20, d["lines"]["total"]["live_count"])')" '[128, 32, 1]'
echo 'shrunk: api=cudaDeviceGraphMemTrim' >rules
ok 'by categories' memtrace report --json --rules rules "$TRACE"
is 'it goes from where it came to' \
	"$(json "$OUT" '[(c["category"], c["peak_bytes"] >> 20, c["peak_count"], c["exit_bytes"] >> 20) for c in d["categories"][0]["categories"]]')" '[["cuda-graphs", 128, 1, 32]]'
traced "$E2E/graphs" 3
is 'none is left' "$(json "$TRACE" '[s.get("live_count", 0) for s in d["stacks"]]')" "$(json "$TRACE" '[0 for s in d["stacks"]]')"

# --- documents ------------------------------------------------------------------------------------------
cat >schema.py <<'END'
import json, sys
import jsonschema
schema = json.load(open(sys.argv[1]))
kind = jsonschema.validators.validator_for(schema)
kind.check_schema(schema)
def closed(part):  # in a test every key must be known
    if isinstance(part, dict):
        if "properties" in part:
            part.setdefault("additionalProperties", False)
        for value in part.values():
            closed(value)
    elif isinstance(part, list):
        for value in part:
            closed(value)
closed(schema)
for path in sys.argv[2:]:
    kind(schema).validate(json.load(open(path)))
END
said() { # NAME OPTIONS...
	said_name=$1
	shift
	ok "report $*" memtrace report --json "$@" -o "$said_name.report"
	ok 'fits its schema' "$PYTHON" schema.py "$TOP/include/memtrace/report.schema.json" "$said_name.report"
}
said whole "$train"
said full --full "$train"
said example "$TOP/tests/data/example.json"
said peak --at peak "$train"
said time --at 9.9s --by thread -n 3 "$train"
said pool --pool torch --from 'phase:step 0' --to 'phase:step 1' --by phase "$train"
said filter --filter 'Block.*' --stacks python "$train"
traced "$SAMPLES/oom"
said oom "$TRACE"
said driver --show devices,notes "$TRACE"

# --- people ---------------------------------------------------------------------------------------------
ok 'what was live at a moment' memtrace report --at peak "$train"
has 'the sentence first' "$OUT" "Live at the peak: 197.77 MiB, at $(seconds "$train" 1) s."
has 'the sums then' "$OUT" 'Device 0: 197.77 MiB allocated of 198.25 MiB reserved.'
has 'what is free in a pool' "$OUT" 'Pool torch on device 0: 489.50 KiB free of 70.00 MiB in 5 segments'
has 'what pins a segment' "$OUT" '512.00 KiB in 1 block: Model.forward (train.py:48)'
is 'no line is wider than a terminal' "$(awk 'length > 80' "$OUT")" ''
is 'no line ends in blanks' "$(grep -n ' $' "$OUT")" ''
ok 'of one pool' memtrace report --at peak --pool torch "$train"
has 'which is said' "$OUT" "Live at the peak, pool torch: 69.52 MiB, at $(seconds "$train" 1) s."
ok 'the lines' memtrace report --show lines -n 3 "$train"
has 'with file and line' "$OUT" 'Block.attend (train.py:28)'
is 'none wider than a terminal' "$(awk 'length > 80' "$OUT")" ''
ok 'Python only' memtrace report --stacks python --show peaks,lines "$train"
hasnt 'native code is not' "$OUT" libcublas
ok 'of a program without Python' memtrace report --stacks python "$TOP/tests/data/recorded/caching.json"
has 'who has no Python is told' "$OUT" '[no Python frames]'
ok 'native only' memtrace report --stacks native --show peaks,lines "$train"
hasnt 'Python is not told' "$OUT" '.py'
ok 'threads by name' memtrace report --by thread --show peaks three.json
has 'the name' "$OUT" 'python (thread 4242)'
ok 'whole stacks' memtrace report --full --show peaks "$TOP/tests/data/example.json"
for by in 'owner libcublas.so.13' 'module train.py' 'function Block.attend (train.py)' 'line Block.attend (train.py:28)'; do
	memtrace report --json --by "${by%% *}" "$train" >by.json
	is "by ${by%% *}: the answer names what the first row names" \
		"$(json by.json '[d["answer"].split(" from ")[1], d["peaks"][0]["sites"][0]["site"]]')" "[\"${by#* }.\", \"${by#* }\"]"
done
ok 'a filter' memtrace report --filter Block.attend --show peaks "$train"
has 'the part of the peak' "$OUT" 'stacks with Block.attend held 97.50 MiB of that.'
has 'the rest is told' "$OUT" '[other call stacks]'

marks=$TOP/tests/data/recorded/caching-py.json
ok 'at a mark, the last of the name' memtrace report --json --at 'mark:freed by backward()' "$marks"
is 'is what its number tells' "$(json "$OUT" '[d["answer"], d["moment"]["live"]["bytes"]]')" \
	"[\"Live at mark freed by backward() (2 of 2 with this name): 217.26 MiB, at $(seconds "$marks" 1 'mark("freed by backward()")[1]') s.\", $(memtrace report --json --at seq:347 "$marks" >n.json; json n.json 'd["moment"]["live"]["bytes"]')]"
ok 'or another' memtrace report --at 'mark:freed by backward()#1' "$marks"
has 'by its number' "$OUT" 'freed by backward()#1 (1 of 2 with this name): 217.26 MiB, at'
fails 3 'has no mark 40 MiB#2' memtrace report --at 'mark:40 MiB#2' "$marks"
ok 'from mark to mark' memtrace report --from 'mark:40 MiB' --to 'mark:40 MiB again' "$marks"
has 'in the sentence' "$OUT" "From mark:40 MiB to mark:40 MiB again: peak 40.00 MiB, at $(seconds "$marks" 1 'mark("40 MiB")[0]') s."
ok 'so can a timeline' memtrace timeline --from 'mark:40 MiB' --to 'mark:40 MiB again' "$marks"

# --- what was dropped -------------------------------------------------------------------------------------
ok 'a trace that lacks events' "$GENERATOR" --events 30000 --max-events 4000 --live 300 --json dropped.json
ok 'in front of the gap all is exact' memtrace report --json -n 0 --at seq:300 dropped.json
is 'and nothing in doubt' "$(json "$OUT" '[d["selection"]["doubt"], d["moment"]["live"]["unknown_bytes"]]')" '[null, 0]'
ok 'behind it' memtrace report --json -n 0 --at seq:29000 dropped.json
cp "$OUT" behind.report
is 'the sum is' "$(json behind.report 'd["moment"]["live"]["bytes"] - d["moment"]["devices"][0]["allocated_bytes"]')" 0
is 'though not who holds it' "$(json behind.report 'd["moment"]["live"]["unknown_bytes"] > 0')" true
is 'nor the gaps' "$(json behind.report 'd["gaps"]')" null
has 'which is said' behind.report 'only the total'
for when in peak exit; do
	ok "$when: in spite of the gap" memtrace report --json -n 0 --at $when dropped.json
	is 'known to the byte' "$(json "$OUT" 'd["moment"]["live"]["unknown_bytes"]')" 0
	has 'which is said' "$OUT" 'are exact, but'
done
is 'and it is what the trace says' \
	"$(json "$OUT" 'd["moment"]["live"]["bytes"]')" "$(json dropped.json 'd["summary"]["devices"][0]["allocated"]["exit_bytes"]')"
ok 'people read it' memtrace report --at seq:29000 dropped.json
has 'in the table' "$OUT" '[not known: allocated before or in missing events]'

# Of NCCL's events most were dropped: what a kind of memory or a pool held at its peak is in the trace.
for selected in 'space device 830472192' 'space pinned 2359308' 'pool torch 16777216'; do
	held=${selected##* } option=--${selected% *}
	# shellcheck disable=SC2086  # an option and its value
	ok "the peak of $selected" memtrace report --json -n 0 ${option% *} ${option#* } "$TOP/tests/data/recorded/nccl.json"
	is 'is known to the byte, by stack' \
		"$(json "$OUT" '[(p["bytes"], p["unknown_bytes"], sum(s["bytes"] for s in p["stacks"])) for p in d["peaks"]]')" \
		"[[$held, 0, $held]]"
	# shellcheck disable=SC2086
	ok 'as a moment, too' memtrace report --json --at peak ${option% *} ${option#* } "$TOP/tests/data/recorded/nccl.json"
	is 'likewise' "$(json "$OUT" '[d["moment"]["live"]["bytes"], d["moment"]["live"]["unknown_bytes"]]')" "[$held, 0]"
done
ok 'people read it' memtrace report --space pinned "$TOP/tests/data/recorded/nccl.json"
has 'in the sentence' "$OUT" 'For pinned memory: peak 2.25 MiB, at '
nccl=$TOP/tests/data/recorded/nccl.json
ok 'a moment among events that are missing' memtrace report --at "$(seconds "$nccl" 3 '(missing[0] + missing[1]) / 2')s" "$nccl"
has 'is in doubt' "$OUT" "$(json "$nccl" '"{:,}".format(d["capture"]["events_dropped"])') events are missing between $(seconds "$nccl" 1 'missing[0]') s and $(seconds "$nccl" 1 'missing[1]') s: missing events do not count"
ok 'what the trace cannot tell' memtrace report --by thread "$TOP/tests/data/recorded/nccl.json"
has 'is not called nothing' "$OUT" 'For the whole run: not known.'

# The program stopped recording for a while: sequence numbers go on, sums do not fit any more.
"$PYTHON" - plain.json paused.json <<'END'
import json, sys
lines = open(sys.argv[1]).read().split("\n")
first = lines.index('"events":[') + 1
events = [json.loads(line.rstrip(",")) for line in lines[first:] if line.startswith("{")]
events = events[:1500] + events[2000:]
for seq, event in enumerate(events):
    event["seq"] = seq
body = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events)
open(sys.argv[2], "w").write("\n".join(lines[:first]) + "\n" + body + "\n]}\n")
END
ok 'a trace that was stopped for a while' memtrace report --json -n 0 --at seq:1400 paused.json
is 'before that all is exact' "$(json "$OUT" 'd["moment"]["live"]["unknown_bytes"]')" 0
ok 'behind it' memtrace report --json -n 0 --at seq:2500 paused.json
is 'the sum is' "$(json "$OUT" 'd["moment"]["live"]["bytes"] - d["moment"]["devices"][0]["allocated_bytes"]')" 0
is 'and not all of it known' "$(json "$OUT" 'd["moment"]["live"]["unknown_bytes"] > 0 and d["gaps"] is None')" true

# --- one device of several: its own peaks, and nothing of the others ---------------------------------------
ok 'one device' memtrace report --json -n 0 --device 1 three.json
cp "$OUT" one.report
is 'its peaks' "$(json one.report 'sorted({p["device"] for p in d["peaks"]}) + [len(d["peaks"])]')" \
	"$(json three.json '[1, len([p for p in d["peaks"] if p["device"] == 1])]')"
is 'what lives there' "$(json one.report 'd["live_at_exit"]["bytes"]')" \
	"$(json three.json 'd["summary"]["devices"][1]["allocated"]["exit_bytes"]')"
is 'its lines' "$(json one.report '[d["lines"]["total"]["allocations"], d["lines"]["total"]["frees_here"]]')" \
	"$(json three.json '[d["summary"]["devices"][1]["allocations"], d["summary"]["devices"][1]["frees"]]')"
for trace in train nccl jax; do
	recorded=$TOP/tests/data/recorded/$trace.json
	memtrace report --full "$recorded" >all.report
	ok "$trace: the only device" memtrace report --full --device 0 -o only.report "$recorded"
	ok "$trace: is all there is" cmp only.report all.report
done
ok 'people read it' memtrace report --device 1 three.json
has 'as a whole report' "$OUT" 'Peak of allocated memory on device 1'

# --- spools, pipes ----------------------------------------------------------------------------------------
ok 'a spool' "$GENERATOR" --events 3000 --live 100 --spool t.spool
ok 'has moments' memtrace report --at peak t.spool
ok 'a pipe too' sh -c 'memtrace report --at 50ms - <plain.json'
has 'from it' "$OUT" 'Live at 50ms'

# --- nothing, and nonsense --------------------------------------------------------------------------------
start=$(seconds "$train" 1 'peak - 5e7')s end=$(seconds "$train" 1 'peak + 5e7')s
ok 'a window' memtrace report --from "$start" --to "$end" "$train"
has 'is told as one' "$OUT" "From $start to $end: peak 197.77 MiB"
has 'of a pool as well' "$(memtrace report --to "$end" --pool torch "$train" >pool.txt; echo pool.txt)" "For pool torch until $end: peak"
ok 'nothing matches' memtrace report --filter no-such-frame "$train"
is 'in one sentence' "$(cat "$OUT")" 'Nothing in the trace matches: stacks with no-such-frame.'
ok 'no such memory' memtrace report --space cpu "$train"
is 'in one sentence' "$(cat "$OUT")" 'Nothing in the trace matches: cpu memory.'
ok 'nothing yet' memtrace report --at 0s "$train"
has 'is said' "$OUT" 'Live at 0s: nothing.'
fails 3 'has no device 7; it has 0, 1, 2' memtrace report --device 7 three.json
fails 3 'has no pool x; the pools are: torch' memtrace report --pool x "$train"
fails 3 'has no phase x; the phases are: step 0, step 1' memtrace report --at phase:x "$train"
fails 2 'is later than --to' memtrace report --from 2s --to 1s "$train"
fails 2 'cannot read the moment yesterday' memtrace report --at yesterday "$train"
fails 2 'expected an event number' memtrace report --at seq:1x "$train"
fails 2 'cannot read the time 12' memtrace report --from 12 "$train"
fails 2 '--by: x is not one of site, line' memtrace report --by x "$train"
fails 2 '--stacks: x is not one of merged' memtrace report --stacks x "$train"
fails 2 '--space: x is not one of device' memtrace report --space x "$train"
fails 2 'there is no section x' memtrace report --show x "$train"
fails 2 'cannot be combined with --from' memtrace report --at 1s --from 1s "$train"

# --- where C code called Python -----------------------------------------------------------------------------
sed 's/{"frames":\[1,0\],"entries":\[1\]/{"frames":[1,0,0],"entries":[1]/' "$TOP/tests/data/example.json" >called.json
ok 'a stack in which C code called Python' memtrace report --full --show peaks called.json
is 'marks the place between two frames' "$(grep -A 2 CUDABlas "$OUT" | tail -n 2 | sed 's/^ *//')" \
	'Net.forward (train.py:12)
(called by C code)'
ok 'Python alone keeps it' memtrace report --full --stacks python --show peaks called.json
is 'between the same frames' "$(grep -c 'called by C code' "$OUT")" 1
ok 'native code has none' memtrace report --full --stacks native --show peaks called.json
hasnt 'of them' "$OUT" 'called by C code'
