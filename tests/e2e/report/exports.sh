#!/bin/sh
# `memtrace export`: every format by its own rules and readers, and its sums against the trace's.
. "$(dirname "$0")/../lib.sh"

GENERATOR=$BUILD/tests/generator
EXPORTS=$TOP/tests/exports.py
data=$TOP/tests/data
train=$data/recorded/train.json
[ -x "$GENERATOR" ] || need generator

missing=
for format in pprof sqlite; do
	memtrace export "$data/example.json" --to "$format" 2>&1 >/dev/null | grep -q 'which was built without' && missing="$missing $format"
done

# exported FORMAT TRACE [OPTIONS of export]: writes ./out and holds it to the format and the trace.
exported() {
	format=$1 trace=$2
	shift 2
	words=
	options="$*"
	while [ $# -ge 2 ]; do
		words="$words ${1#--}=$2"
		shift 2
	done
	name="$(basename "$trace") as $format${options:+ $options}"
	case " $missing " in
	*" $format "*)
		skip "$name" 'this memtrace was built without its library'
		return
		;;
	esac
	# shellcheck disable=SC2086
	ok "$name" memtrace export "$trace" --to "$format" -o out $options &&
		ok "$name: keeps the rules" "$PYTHON" "$EXPORTS" "$format" out "$trace" $words
}

ok 'a made-up program' "$GENERATOR" --events 4000 --live 300 --stacks 100 --phases 2 --json plain.json
ok 'one of three devices' "$GENERATOR" --events 4000 --live 300 --devices 3 --threads 3 --seed 5 --json three.json
ok 'one without a pool' "$GENERATOR" --events 1500 --live 100 --pool none --seed 7 --json none.json
ok 'one that dropped events' "$GENERATOR" --events 16000 --live 300 --max-events 6000 --seed 9 --json dropped.json
for sample in caching pool vmm managed arrays threads graph oom; do
	[ $sample = threads ] && few='4 300' || few=
	# shellcheck disable=SC2086  # words
	traced "$SAMPLES/$sample" $few
	# Steps that the tool infers are in no trace: there is nothing to compare them with.
	memtrace report "$TRACE" >"$OUT" 2>&1
	grep -q "inferred step" "$OUT" || cp "$TRACE" "sample-$sample.json"
done
# With what CUPTI saw: kernels and copies on three streams, calls that took long.
MEMTRACE_CUPTI=1 FAKE_CUPTI_STREAMS=3 FAKE_CUPTI_SLOW=cuMemAlloc_v2 traced "$E2E/calls" rows
cp "$TRACE" spans.json
is 'a trace with kernels, copies, fills and a long call' "$(json spans.json \
	'" ".join(sorted(set(d["actions"][s["action"]]["kind"] for s in d["spans"])))')" 'copy driver fill kernel'
traces="plain.json three.json none.json dropped.json spans.json $(echo sample-*.json)"
for trace in train caching cupy jax nccl operators scopes; do
	traces="$traces $data/recorded/$trace.json"
done

# Without these libraries the rest builds, and the format says what it wants.
for file in pprof sqlite sqlite_file; do
	ok "$file.c without its library" "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE= -I"$TOP/src" -Wall -Wextra -Werror \
		-fsyntax-only "$TOP/src/render/export/$file.c"
done

# --- torch-snapshot ---------------------------------------------------------------------------------------
for trace in $traces; do
	exported torch-snapshot "$trace"
done
exported torch-snapshot three.json --device 1
exported torch-snapshot "$train" --pool torch
exported torch-snapshot "$train" --at peak
exported torch-snapshot "$train" --at seq:100
# What a filter left out moves sums, too.
sed 's/"events_dropped":0/"events_dropped":5,"events_filtered":5/' "$data/example.json" >filtered.json
exported torch-snapshot filtered.json

# --- stacks by weight -------------------------------------------------------------------------------------
for format in folded speedscope pprof; do
	for trace in $traces; do
		exported "$format" "$trace"
	done
	exported "$format" three.json --device 2
	exported "$format" "$train" --pool torch
	exported "$format" "$train" --metric reserved
	exported "$format" three.json --metric reserved --device 1
	for trace in three.json none.json "$train" sample-graph.json sample-vmm.json; do
		exported "$format" "$trace" --at exit
		exported "$format" "$trace" --at exit --metric reserved
	done
	exported "$format" "$train" --at exit --pool torch --metric reserved
	exported "$format" dropped.json --at exit
	exported "$format" "$train" --at "$(seconds "$train" 2)s"
done
if "$PYTHON" -c 'import torch' 2>/dev/null; then
	MEMTRACE_CPU=1
	export MEMTRACE_CPU
	traced "$PYTHON" -c 'import torch
a = torch.zeros(1000, 1000)
b = a + a
c = b @ b
del b'
	unset MEMTRACE_CPU
	cp "$TRACE" cpu.json
	for format in folded speedscope pprof; do
		exported "$format" cpu.json
	done
else
	skip 'a program without a device' 'no PyTorch here'
fi
# What folded tells of a moment is what the report tells.
for at in "$(seconds "$train" 2)s" seq:200 'phase:step 1' exit; do
	told=$(memtrace report --json --at "$at" "$train" | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["moment"]["live"]["bytes"])')
	is "folded --at $at sums to the report's" \
		"$(memtrace export "$train" --to folded --at "$at" | awk '{ sum += $NF } END { printf "%d", sum }')" "$told"
done
fails 3 'stacks that hold used memory are not known' memtrace export "$train" --to folded --metric used
fails 3 'has no device 4; it has 0' memtrace export "$train" --to folded --device 4
fails 3 'has no pool nonsense; the pools are: torch' memtrace export "$train" --to folded --pool nonsense
fails 2 '--at has no effect on events, only on: ' memtrace export "$train" --to events --at 1s
fails 2 'cannot read the moment nonsense: expected 12.5s' memtrace export "$train" --to folded --at nonsense
if command -v go >/dev/null; then
	HOME=$PWD
	export HOME
	ok 'a profile' memtrace export "$train" --to pprof -o train.pb.gz
	ok 'for go tool pprof' go tool pprof -top -unit=b -nodecount=3 train.pb.gz
	has 'which sums to the same' "$OUT" 'Total samples = 207380992B'
	ok 'also of what was allocated' go tool pprof -top -unit=b -sample_index=alloc_space -nodecount=3 train.pb.gz
else
	skip 'go tool pprof' 'no go here'
fi

# --- events -----------------------------------------------------------------------------------------------
for format in chrome csv; do
	for trace in $traces; do
		exported "$format" "$trace"
	done
	exported "$format" three.json --device 1
	exported "$format" "$train" --pool torch
done
"$PYTHON" - "$TOP/tests/data/example.json" >payloads.json <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
d["phases"] = [dict(d["phases"][0], payload=text) for text in ("-4.5", "7e3", "1.2.3", "e", "0x1", "-", "")]
json.dump(d, sys.stdout)
END
ok 'payloads of other programs' memtrace export payloads.json --to chrome -o payloads.chrome
is 'are numbers where they are some, else text' "$(json payloads.chrome \
	'[e["args"]["payload"] for e in d["traceEvents"] if "payload" in e.get("args", {})]')" \
	'[-4.5, 7000.0, "1.2.3", "e", "0x1", "-", ""]'
for trace in $traces; do
	exported sqlite "$trace"
done
is 'README shows the questions as they are' "$(awk '/^[`]+$/ { on = 0 } on; /^[`]+sql$/ { on = 1 }' "$TOP/README.md")" \
	"$(cat "$TOP/samples/queries.sql")"
ok 'a database' memtrace export "$train" --to sqlite -o out.db
ok 'a database through a pipe' sh -c "memtrace export '$train' --to sqlite | cat >piped.db"
ok 'is the same' cmp out.db piped.db
is 'no temporary file is left' "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'memtrace.??????' -newer out 2>/dev/null)" ''
fails 3 'cannot create a temporary file' env TMPDIR=/nowhere memtrace export "$train" --to sqlite -o out.db
