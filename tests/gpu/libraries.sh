#!/bin/sh
# Libraries that ask the driver themselves, and PyTorch's allocators: reserved is what the driver says.
# KEEP=folder keeps the traces there.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
GPU_TESTS=$TOP/tests/gpu

# owners_of PROGRAM: libraries that must be among its owners.
owners_of() {
	case $1 in
	cupy_*) echo libcublas libcusolver ;;
	jax_*) echo xla_cuda_plugin ;;
	nccl) echo libnccl ;;
	torch_default | torch_expandable) echo libc10_cuda libcublas libcusolver ;;
	*) ;;
	esac
}

# module_of PROGRAM: what has to be installed for it.
module_of() {
	case $1 in
	cupy_*) echo cupy ;;
	jax_*) echo jax ;;
	numba) echo numba.cuda ;;
	triton) echo torch, triton ;;
	*) echo torch ;;
	esac
}

# held PROGRAM: the trace of its only process that used CUDA.
held() {
	# shellcheck disable=SC2012,SC2046  # names of our own; words
	"$PYTHON" "$GPU_TESTS/libraries_check.py" "$(ls -S "$1".*.json | head -n 1)" \
		--owners $(owners_of "$1")
}

alone() { python3 "$GPU_TESTS/libraries.py" "$1" >"$1.alone" 2>"$1.alone.err"; }
under() {
	MEMTRACE_QUIET=1 MEMTRACE_OUTPUT="$PWD/$1.%p.json" LD_PRELOAD="$LIBRARY" \
		timeout 120 python3 "$GPU_TESTS/libraries.py" "$1" >"$1.under" 2>"$1.under.err"
}

for program in ${PROGRAMS:-$(python3 "$GPU_TESTS/libraries.py")}; do
	if ! python3 -c "import $(module_of "$program")" 2>/dev/null; then
		skip "$program" "no $(module_of "$program") here"
		continue
	fi
	if ! alone "$program"; then
		skip "$program" "it fails by itself here: $(tail -n 1 "$program.alone.err")"
		continue
	fi
	under "$program"
	is "$program: it ends as well" "$?" 0
	is "$program: the same output" "$(cat "$program.under")" "$(cat "$program.alone")"
	ok "$program: reserved is what the driver says, after every step" held "$program"
	tap_comment "$OUT"
	# shellcheck disable=SC2046  # names of our own
	ok "$program: the trace keeps its promises" validate $(ls "$program".*.json)
	[ -z "${KEEP:-}" ] || cp "$program".* "$KEEP"
done
