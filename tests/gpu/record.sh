#!/bin/sh
# Records the traces of tests/data on a machine with a GPU: record.sh FOLDER [NAME...]
#
# NAME is a file of tests/data/recorded without its ending, or one of `changes` (change-*.json), `ooms` (oom-*.json)
# and `ddp` (needs two GPUs); by default everything that this machine can run. tests/data/README.md lists them. Paths of this machine are replaced: the repository becomes /opt/memtrace, Python's prefix /opt/venv.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
: "${BUILD:=$top/build}" "${PYTHON:=python3}" "${CUDA:=/usr/local/cuda}"
to=${1:?usage: record.sh FOLDER [NAME...]}
shift
mkdir -p "$to"
to=$(cd "$to" && pwd)
gpu=$top/tests/gpu
room=$(mktemp -d)
mkdir "$room/u"
trap 'rm -rf "$room"' EXIT
cd "$room/u"
failed=
NCCL_NVLS_ENABLE=0 # NVLink multicast needs a fabric manager
export NCCL_NVLS_ENABLE

# neutral FILE: replaces this machine's paths and names
neutral() {
	prefix=$("$PYTHON" -c 'import sys, torch, os; print(os.path.dirname(os.path.dirname(os.path.dirname(torch.__path__[0]))))')
	sed -i -e "s,$top,/opt/memtrace,g" -e "s,$prefix/python3,/opt/venv/lib/python3,g" -e "s,$room/u,/home/u,g" \
		-e "s/\"host\":\"$(hostname)\"/\"host\":\"vm\"/" "$1"
}

# traced NAME COMMAND...: the trace becomes NAME.json; the status is the command's
traced() {
	traced_name=$1
	shift
	traced_status=0
	MEMTRACE_QUIET=1 MEMTRACE_OUTPUT="$room/trace.json" LD_PRELOAD="$BUILD/libmemtrace.so" \
		"$@" >"$room/out" 2>"$room/err" || traced_status=$?
	if [ -s "$room/trace.json" ]; then
		mv "$room/trace.json" "$to/$traced_name.json"
		neutral "$to/$traced_name.json"
	else
		failed="$failed $traced_name"
		tail -n 3 "$room/err" >&2
	fi
	return "$traced_status"
}

# may_fail COMMAND...: the command is expected to end with an error
may_fail() {
	"$@" || :
}

# wants MODULE NAME: true if Python has the module
wants() {
	"$PYTHON" -c "import $1" 2>/dev/null || { echo "not recorded, no $1 here: $2" >&2; return 1; }
}

# has_two NAME: true if there are two GPUs
has_two() {
	[ "$("$PYTHON" -c 'import torch; print(torch.cuda.device_count())')" -ge 2 ] ||
		{ echo "not recorded, one GPU here: $1" >&2; return 1; }
}

experiment() { # NAME SAMPLE
	traced "$1" env MEMTRACE_STACK_DEPTH=24 "$PYTHON" "$top/samples/$2.py"
	cp "$room/out" "$to/$1.txt"
}

one_change() { # NAME OPTIONS...: a baseline, of some ten kB
	change=$1
	shift
	traced whole "$PYTHON" "$gpu/changes.py" "$@"
	"$BUILD/memtrace" baseline "$to/whole.json" -o "$to/change-$change.json" >/dev/null
	rm "$to/whole.json"
}

record() {
	case $1 in
	train)
		traced train "$PYTHON" "$top/samples/train.py" --steps 2 --layers 1 --width 64 --length 32 --vocabulary 512
		;;
	caching)
		gcc -O1 -g -I"$CUDA/include" -I"$top/include" -o "$room/u/caching" "$top/samples/caching.c" \
			-L"$CUDA/lib64" -Wl,-rpath,"$CUDA/lib64" -lcudart
		traced caching "$room/u/caching"
		;;
	cupy) ! wants cupy cupy || traced cupy env MEMTRACE_STACK_DEPTH=8 "$PYTHON" "$gpu/libraries.py" cupy_default ;;
	nccl) traced nccl env MEMTRACE_STACK_DEPTH=8 MEMTRACE_MAX_EVENTS=600 "$PYTHON" "$gpu/libraries.py" nccl ;;
	jax)
		! wants jax jax || traced jax env MEMTRACE_STACKS=python MEMTRACE_MAX_EVENTS=1500 \
			"$PYTHON" "$gpu/libraries.py" jax_growing
		;;
	rmm) ! wants rmm rmm || traced rmm "$PYTHON" "$gpu/pools.py" rmm_pool ;;
	scopes | operators | forward_backward) experiment "$1" "$1" ;;
	caching-py) experiment caching-py caching ;;
	cupti)
		traced cupti env MEMTRACE_CUPTI=1 MEMTRACE_STACK_DEPTH=8 "$PYTHON" "$gpu/changes.py" \
			--steps 5 --layers 2 --width 256 --optimizer adamw
		;;
	changes)
		one_change none
		one_change again
		one_change batch --batch 12
		one_change adamw --optimizer adamw
		one_change losses --keep-losses
		one_change deep --batch 32 --length 256
		one_change checkpoint --batch 32 --length 256 --checkpoint
		one_change autocast --batch 32 --length 256 --autocast
		;;
	ooms)
		may_fail traced oom-plain env PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync "$PYTHON" "$gpu/oom.py" plain
		for way in limit others beside cache too_large; do
			may_fail traced "oom-$way" "$PYTHON" "$gpu/oom.py" "$way"
		done
		;;
	two_devices)
		has_two two_devices || return 0
		experiment two_devices ../tests/gpu/two_devices
		;;
	ddp)
		has_two ddp || return 0
		MORE=1 KEEP=$room/kept MODES=ddp BUILD=$BUILD sh "$gpu/ranks.sh" >&2
		mkdir -p "$to/ddp"
		for rank in 0 1; do
			neutral "$room/kept/ddp/rank.$rank.json"
			"$BUILD/memtrace" baseline "$room/kept/ddp/rank.$rank.json" -o "$to/ddp/rank.$rank.json" >/dev/null
		done
		;;
	*)
		echo "record.sh: no recording is called $1" >&2
		exit 2
		;;
	esac
}

[ $# -gt 0 ] || set -- train caching cupy nccl jax rmm scopes operators caching-py forward_backward cupti changes ooms two_devices ddp
for name; do
	record "$name" || failed="$failed $name"
done
[ -z "$failed" ] || { echo "not recorded:$failed" >&2; exit 1; }
