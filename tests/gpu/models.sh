#!/bin/sh
# PyTorch to the byte: every program of models.py, and PyTorch's own history beside the trace.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
python3 -c 'import torch' 2>/dev/null || { skip 'PyTorch to the byte' 'no PyTorch here'; exit 0; }
GPU_TESTS=$TOP/tests/gpu

# to_the_byte PROGRAM: marks and peaks of the largest trace (workers that use CUDA would leave others)
to_the_byte() {
	rm -f "$1".*.json
	MEMTRACE_QUIET=1 MEMTRACE_OUTPUT="$PWD/$1.%p.json" LD_PRELOAD="$LIBRARY" \
		timeout 200 python3 "$GPU_TESTS/models.py" "$1" >figures || return 1
	# shellcheck disable=SC2012,SC2046  # names of our own; words
	python3 "$GPU_TESTS/marks.py" "$(ls -S "$1".*.json | head -n 1)" $(tail -n 1 figures)
}

for program in $(python3 "$GPU_TESTS/models.py"); do
	ok "$program: allocated and reserved at every mark, and both peaks" to_the_byte "$program"
done

history() {
	rm -f history.*.json
	PYTORCH_CUDA_ALLOC_CONF=$1 MEMTRACE_QUIET=1 MEMTRACE_OUTPUT="$PWD/history.%p.json" \
		LD_PRELOAD="$LIBRARY" python3 "$GPU_TESTS/history.py" run history.pickle &&
		python3 "$GPU_TESTS/history.py" compare history.pickle history.*.json
}

ok "_record_memory_history: same addresses, same order, same lines" history ''
ok "_record_memory_history with expandable segments" history expandable_segments:True
