#!/bin/sh
# Categories against the sums of the tensors themselves: every program of categories.py.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
python3 -c 'import torch' 2>/dev/null || { skip 'categories' 'no PyTorch here'; exit 0; }

python3 "$TOP/tests/gpu/categories.py" list >programs
while read -r program; do
	# shellcheck disable=SC2086  # words
	traced python3 "$TOP/tests/gpu/categories.py" run $program
	is "$program: ends well" "$?" 0
	ok "$program: parameters, gradients, state, activations" \
		python3 "$TOP/tests/gpu/categories.py" compare "$TRACE"
	tap_comment "$OUT"
done <programs
