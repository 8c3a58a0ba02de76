#!/bin/sh
# A program traced and its memory explained: PyTorch on the GPU where both are, else the simulated one.
set -eu
cd "$(dirname "$0")/.."

: "${BUILD:=build}" "${MAKE:=make}"
jobs=$(nproc 2>/dev/null || echo 2)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo 'building'
"$MAKE" -s -j"$jobs" BUILD="$BUILD" CUDA= all fake samples >"$log" 2>&1 || {
	cat "$log" >&2
	exit 1
}

if nvidia-smi -L >/dev/null 2>&1 && [ -e samples/train.py ] &&
	python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
	echo 'An NVIDIA GPU and PyTorch are here: tracing a small training loop.'
	where=
	program='python3 samples/train.py'
else
	echo 'No NVIDIA GPU with PyTorch here: tracing a sample on a simulated one.'
	where="LD_LIBRARY_PATH=$BUILD/fake "
	for sample in caching churn leak; do
		program=$BUILD/samples/$sample
		[ ! -x "$program" ] || break
	done
	LD_LIBRARY_PATH=$BUILD/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
fi

mkdir -p "$BUILD/demo"
rm -f "$BUILD/demo/trace.json"
show() {
	printf '\n\033[1m$ %s\033[0m\n' "$1" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
		cat
	else
		sed 's/\x1b\[[0-9]*m//g'
	fi
}

show "$where$BUILD/memtrace run --output $BUILD/demo/trace.json -- $program"
status=0
# shellcheck disable=SC2086  # a command and its argument
"$BUILD/memtrace" run --output "$BUILD/demo/trace.json" -- $program || status=$?
[ "$status" = 0 ] || echo "(the program ended with status $status)"

show "$BUILD/memtrace report $BUILD/demo/trace.json"
"$BUILD/memtrace" report "$BUILD/demo/trace.json"

printf '\nThe trace: %s/demo/trace.json (%s bytes)\n' "$BUILD" "$(wc -c <"$BUILD/demo/trace.json")"
exit "$status"
