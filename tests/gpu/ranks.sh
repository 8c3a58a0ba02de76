#!/bin/sh
# Two ranks under torchrun on two GPUs: each trace equals PyTorch's own figures at every step, NCCL's
# memory is its own, and merge tells both. KEEP=folder keeps the traces there; MODES="ddp fsdp" as below.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
GPU_TESTS=$TOP/tests/gpu
ranks=2
steps=20
cards=$(nvidia-smi -L | grep -c '^GPU ')
if [ "$cards" -lt "$ranks" ]; then
	skip ranks "$cards GPU here, $ranks are wanted"
	exit 0
fi
if ! python3 -c 'import torch, torch.distributed.run; assert torch.cuda.device_count() > 1' 2>"$ERR"; then
	skip ranks "no PyTorch with torchrun for these GPUs: $(tail -n 1 "$ERR")"
	exit 0
fi
# NVLink multicast wants a fabric manager that not every machine has, and it is not what is tested.
: "${NCCL_NVLS_ENABLE:=0}"
export NCCL_NVLS_ENABLE

torchrun() { # PROGRAM ARGS...
	timeout 200 python3 -m torch.distributed.run --nnodes 1 --nproc-per-node "$ranks" \
		--rdzv-backend c10d --rdzv-endpoint 127.0.0.1:0 "$@"
}

for mode in ${MODES:-ddp fsdp fsdp2}; do
	mkdir -p "$mode.alone" "$mode"
	if ! torchrun "$GPU_TESTS/ranks.py" "$mode" "$steps" "$mode.alone" >alone.out 2>alone.err; then
		skip "$mode" "it fails by itself here: $(grep -v '^$' alone.err | tail -n 1)"
		continue
	fi
	MEMTRACE_OUTPUT=$PWD/$mode/rank.%r.json memtrace run -- timeout 200 python3 -m torch.distributed.run \
		--nnodes 1 --nproc-per-node "$ranks" --rdzv-backend c10d --rdzv-endpoint 127.0.0.1:0 \
		"$GPU_TESTS/ranks.py" "$mode" "$steps" "$mode" >run.out 2>run.err
	is "$mode: the run succeeds" "$?" 0
	tap_comment run.err
	is "$mode: a trace a rank, and no other" "$(cd "$mode" && echo rank.*)" 'rank.0.json rank.1.json'
	for rank in 0 1; do
		has "$mode: the summary names rank $rank" run.err "$mode/rank.$rank.json"
		# Sums of atomics differ from run to run by themselves.
		ok "$mode: rank $rank learns the same as without" "$PYTHON" -c '
import json, sys
a, b = (json.load(open(path))["loss"] for path in sys.argv[1:])
assert abs(a - b) < 0.05, (a, b)' "$mode/figures.$rank.json" "$mode.alone/figures.$rank.json"
	done
	if "$PYTHON" -c 'import jsonschema' 2>"$ERR"; then
		ok "$mode: the traces keep their promises" validate "$mode/rank.0.json" "$mode/rank.1.json"
	else
		skip "$mode: the traces keep their promises" 'no jsonschema here'
	fi
	ok "$mode: they merge" memtrace merge "$mode"/rank.*.json
	tap_comment "$OUT"
	ok "$mode: as a document" memtrace merge --json -o merged.json "$mode"/rank.*.json
	ok "$mode: to the byte at every step, NCCL's and phases too" \
		python3 "$GPU_TESTS/ranks_check.py" "$mode" merged.json
	tap_comment "$OUT"
	if [ -n "${KEEP:-}" ]; then
		mkdir -p "$KEEP/$mode"
		cp "$mode"/*.json merged.json run.err "$KEEP/$mode"
	fi
done
