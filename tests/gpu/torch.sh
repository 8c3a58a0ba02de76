#!/bin/sh
# A PyTorch training run under the library: its output is unchanged, its own counters equal the trace
# after every operator, and torch.profiler sees what it saw before.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
if ! python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
	skip torch 'no PyTorch for this GPU'
	exit 0
fi
validates() {
	"$PYTHON" -c 'import jsonschema' 2>/dev/null
}

# The program's own figures, as marks.py takes them.
figures() { # OUTPUT
	sed -n -e 's/^\(allocated\|reserved\)=\([0-9]*\) peak=\([0-9]*\)$/\1=\2 peak_\1=\3/p' "$1"
}

# The stream-ordered pool, which PyTorch makes no reports of, against the same figures.
async_figures() { # TRACE allocated=N ...
	"$PYTHON" - "$@" <<'PYTHON'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    pools = [p for d in json.load(file)["summary"]["devices"] for p in d["pools"]]
told = dict(word.split("=") for word in sys.argv[2:])
pool = max(pools, key=lambda p: p["allocations"])
found = {"allocated": pool["allocated"]["exit_bytes"], "peak_allocated": pool["allocated"]["peak_bytes"]}
wrong = [f"{name}: PyTorch says {told[name]}, the trace {value}"
         for name, value in found.items() if int(told[name]) != value]
print("\n".join(wrong or [f"{pool['pool']}: {found}"]))
sys.exit(bool(wrong))
PYTHON
}

train() { # CONFIGURATION NAME
	PYTORCH_CUDA_ALLOC_CONF=$1
	export PYTORCH_CUDA_ALLOC_CONF
	python3 "$TOP/samples/train.py" >plain.out 2>plain.err
	plain=$?
	traced python3 "$TOP/samples/train.py"
	is "$2: the same status and output" "$?:$(cat "$OUT")" "$plain:$(cat plain.out)"
	is "$2: the same on stderr, but for one line" "$(grep -v '^memtrace: wrote ' "$ERR")" "$(cat plain.err)"
	cp "$OUT" own.out
	cp "$TRACE" plain.json
	if validates; then
		ok "$2: the trace keeps its promises" validate "$TRACE"
	else
		skip "$2: the trace keeps its promises" 'no jsonschema here'
	fi
	is "$2: phases are the program's NVTX ranges" \
		"$(json "$TRACE" '[p["name"] for p in d["phases"] if p["name"].startswith("step ")]')" \
		'["step 0", "step 1", "step 2"]'
	ok "$2: lines of the program are on the stacks" [ "$(json "$TRACE" 'any(f["language"] == "python"
		and f["function"] == "Block.attend" and f["file"].endswith("train.py") for f in d["frames"])')" = true ]
}

for configuration in '' expandable_segments:True; do
	name=${configuration:-default}
	train "$configuration" "$name"
	# shellcheck disable=SC2046  # words
	ok "$name: peaks and ends are PyTorch's" python3 "$TOP/tests/gpu/marks.py" plain.json $(figures own.out)
	traced python3 "$TOP/samples/train.py" --check
	is "$name, --check: the program succeeds" "$?" 0
	cp "$OUT" own.out
	# shellcheck disable=SC2046  # words
	ok "$name, --check: to the byte after every operator" \
		python3 "$TOP/tests/gpu/marks.py" "$TRACE" $(figures own.out)
	cp "$OUT" marks.out
	ok "$name, --check: there are marks" grep -qE '^[1-9][0-9]* marks compared' marks.out
done
train backend:cudaMallocAsync cudaMallocAsync
# shellcheck disable=SC2046  # words
ok 'cudaMallocAsync: peaks and ends are PyTorch'\''s' async_figures plain.json $(figures own.out)
unset PYTORCH_CUDA_ALLOC_CONF

python3 "$TOP/tests/gpu/profiler.py" >plain.out 2>plain.err
plain=$?
traced python3 "$TOP/tests/gpu/profiler.py"
is 'torch.profiler sees the same kernels, calls and memory' "$?:$(cat "$OUT")" "$plain:$(cat plain.out)"
