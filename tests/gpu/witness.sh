#!/bin/sh
# Cross-check with CUPTI on the real driver: each record of its has its event, for every program of these
# tests; torch.profiler beside us gets CUPTI and says what it says alone.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
GPU_TESTS=$TOP/tests/gpu

cat >check.py <<'PYTHON'
import json
import sys

bad = records = 0
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    witness = document.get("cupti_check")
    if not witness:
        sys.exit(f"{path}: no cross-check: {document['capture']['notes']}")
    records += witness["records"]
    bad += witness["records"] - witness["matched"] + witness["lost"]
    for record in witness["unmatched"][:10]:
        print(f"{path}: {record}")
print(f"{records} records, {bad} without an event")
sys.exit(bool(bad) or not records)
PYTHON

# witnessed NAME COMMAND...: each process that it leaves a trace of.
witnessed() {
	name=$1
	shift
	MEMTRACE_CUPTI=1 MEMTRACE_OUTPUT="$PWD/$name.%p.json" LD_PRELOAD="$LIBRARY" "$@" >"$name.out" 2>"$name.err"
	is "$name: the program succeeds" "$?" 0 || tap_comment "$name.err"
	ok "$name: each record has its event" "$PYTHON" check.py "$name".*.json
	[ -z "${KEEP:-}" ] || cp "$name".*.json "$KEEP/"
}

if [ -x "$SAMPLES/leak" ]; then
	for sample in leak arrays pool vmm managed ipc graph threads caching churn; do
		for kind in '' -static; do
			[ ! -x "$SAMPLES/$sample$kind" ] || witnessed "$sample$kind" "$SAMPLES/$sample$kind"
		done
	done
	[ ! -x "$SAMPLES/vector_add" ] || witnessed vector_add "$SAMPLES/vector_add"
else
	skip 'the samples' "no toolkit: there is no $SAMPLES/leak"
fi

for program in torch_default torch_expandable torch_async torch_uncached torch_mempool torch_graphs \
	nccl cupy_default cupy_async jax_growing jax_preallocated jax_platform triton; do
	module=${program%%_*}
	case $module in nccl | triton) module=torch ;; esac
	if python3 -c "import importlib.util, sys; sys.exit(not importlib.util.find_spec('$module'))"; then
		witnessed "$program" python3 "$GPU_TESTS/libraries.py" "$program"
	else
		skip "$program" "no $module here"
	fi
done

if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
	witnessed train python3 "$TOP/samples/train.py"
	is 'its kernels are in the trace' "$(json train.*.json 'sum(a["count"] for a in d["actions"]
		if a["kind"] == "kernel") > 500 and len(d["spans"]) > 500')" true
	python3 "$GPU_TESTS/profiler.py" >plain.out 2>plain.err
	witnessed profiler python3 "$GPU_TESTS/profiler.py"
	is 'torch.profiler sees what it sees alone' "$(cat profiler.out)" "$(cat plain.out)"
	has 'and that we gave way is said' "$(echo profiler.*.json)" 'began to use CUPTI itself'
else
	skip 'PyTorch' 'no PyTorch for this GPU'
fi
