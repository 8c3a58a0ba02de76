#!/bin/sh
# `memtrace export`: every format by its own rules and readers, and its sums against the trace's.
. "$(dirname "$0")/lib.sh"

GENERATOR=$BUILD/tests/generator
EXPORTS=$TOP/tests/exports.py
data=$TOP/tests/data
train=$data/h200-train.json
[ -x "$GENERATOR" ] || need generator

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
	# shellcheck disable=SC2086  # words
	ok "$name" memtrace export "$trace" --to "$format" -o out $options &&
		ok "$name: keeps the rules" "$PYTHON" "$EXPORTS" "$format" out "$trace" $words
}

ok 'a made-up program' "$GENERATOR" --events 4000 --live 300 --stacks 100 --phases 2 --json plain.json
ok 'one of three devices' "$GENERATOR" --events 4000 --live 300 --devices 3 --threads 3 --seed 5 --json three.json
ok 'one without a pool' "$GENERATOR" --events 1500 --live 100 --pool none --seed 7 --json none.json
ok 'one that dropped events' "$GENERATOR" --events 60000 --live 300 --max-events 20000 --seed 9 --json dropped.json
for sample in caching pool vmm managed arrays threads graph oom; do
	traced "$SAMPLES/$sample"
	cp "$TRACE" "sample-$sample.json"
done
traces="plain.json three.json none.json dropped.json $(echo sample-*.json)"
for trace in train caching cupy jax nccl operators scopes; do
	traces="$traces $data/h200-$trace.json"
done

# --- torch-snapshot ---------------------------------------------------------------------------------------
for trace in $traces; do
	exported torch-snapshot "$trace"
done
exported torch-snapshot three.json --device 1
exported torch-snapshot "$train" --pool torch
exported torch-snapshot "$train" --at peak
exported torch-snapshot "$train" --at seq:100
