#!/bin/sh
# `memtrace export --to torch-snapshot` against PyTorch itself: block by block what its own snapshot holds,
# and readable by every function of torch.cuda._memory_viz.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
python3 -c 'import torch' 2>/dev/null || { skip 'the exports' 'no PyTorch here'; exit 0; }
PYTHON=python3 # which PyTorch is installed for

# What the viewer must draw: PyTorch's own recorder runs beside, and dumps at a mark.
for backend in '' expandable_segments:True backend:cudaMallocAsync; do
	name="PyTorch${backend:+ with $backend}"
	PYTORCH_CUDA_ALLOC_CONF=$backend PYTORCH_ALLOC_CONF=$backend
	export PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF
	traced python3 "$TOP/tests/gpu/exports.py" program own.pickle
	is "$name ends well" "$?" 0
	tap_comment "$ERR"
	mark=$(json "$TRACE" 'next(e["seq"] for e in d["events"] if e["op"] == "mark" and e["name"] == "snapshot")')
	ok "$name: exported" memtrace export "$TRACE" --to torch-snapshot -o out.pickle
	ok "$name: by the rules" python3 "$TOP/tests/exports.py" torch-snapshot out.pickle "$TRACE"
	ok "$name: torch.cuda._memory_viz reads it" python3 "$TOP/tests/gpu/exports.py" read out.pickle
	tap_comment "$OUT"
	case $backend in
	backend*) ;; # PyTorch's own recorder sees nothing then, and there is no pool torch
	*)
		ok "$name: at the mark" \
			memtrace export "$TRACE" --to torch-snapshot --pool torch --at "seq:$mark" -o at.pickle
		ok "$name: its own snapshot, block by block" \
			python3 "$TOP/tests/gpu/exports.py" same own.pickle at.pickle
		tap_comment "$OUT"
		;;
	esac
	# shellcheck disable=SC2013  # words
	for format in $(sed -n 's/^FORMAT([a-z_]*, *"\([a-z-]*\)".*/\1/p' "$TOP/src/render/export/formats.def"); do
		ok "$name: to $format" memtrace export "$TRACE" --to "$format" -o "out.$format"
		case $format in
		events | torch-snapshot) ;;
		*) ok "$name: $format by its rules" python3 "$TOP/tests/exports.py" "$format" "out.$format" "$TRACE" ;;
		esac
	done
done
