#!/bin/sh
# The four classic experiments: every figure that a sample prints is the trace's.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
python3 -c 'import torch' 2>/dev/null || { skip 'the experiments' 'no PyTorch here'; exit 0; }

for sample in scopes caching forward_backward operators; do
	traced python3 "$TOP/samples/$sample.py"
	is "$sample ends well" "$?" 0
	cp "$OUT" "$sample.txt"
	cp "$TRACE" "$sample.json"
	ok "$sample: every figure is the trace's" python3 "$TOP/tests/gpu/experiments.py" \
		"$sample.json" "$sample.txt"
	tap_comment "$OUT"
	ok "$sample: report" memtrace report "$sample.json"
done
