#!/bin/sh
# What memory is for, against the sums of the tensors themselves: CPU tensors of Debian's PyTorch.
. "$(dirname "$0")/../lib.sh"

PYTHON3=/usr/bin/python3
CATEGORIES=$TOP/tests/gpu/categories.py
if ! $PYTHON3 -c 'import torch' 2>/dev/null; then
	skip "categories of CPU tensors" "no PyTorch for $PYTHON3 (apt-get install python3-torch)"
	exit 0
fi

# --direct is of PyTorch 2; the rest that is left out is another path on a card alone.
$PYTHON3 "$CATEGORIES" list | grep "${PROGRAMS:-^gpt}" |
	grep -v -e --direct -e 'gpt --opt' -e 'gpt --checkpoint --re' -e 'accumulate 3' -e 'hand -' -e 'conv --opt' >programs
while read -r program; do
	# shellcheck disable=SC2086  # words
	traced env MEMTRACE_CPU=1 $PYTHON3 "$CATEGORIES" run $program --device cpu
	is "$program: ends well" "$?" 0
	ok "$program: parameters, gradients, state, activations" \
		$PYTHON3 "$CATEGORIES" compare "$TRACE"
done <programs
