#!/bin/sh
# Other libraries' pools told by scripts/memtrace_pools.py and samples/pluggable.c: at every step the
# trace has the pool's own figures. KEEP=folder keeps the traces there.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
GPU_TESTS=$TOP/tests/gpu
PYTHONPATH=$TOP/scripts${PYTHONPATH:+:$PYTHONPATH}
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE

# The runtime that PyTorch brings; headers that say no more than the sample uses.
pluggable() {
	runtime=$(python3 -c 'import torch
print(next(line.split()[-1] for line in open("/proc/self/maps") if "/libcudart.so" in line))') &&
		"${CC:-cc}" -shared -fPIC -O2 -I"$TOP/include" -I"$TOP/tests/fake/include" \
			-o libpluggable.so "$TOP/samples/pluggable.c" "$runtime"
}

for program in ${PROGRAMS:-$(python3 "$GPU_TESTS/pools.py")}; do
	case $program in
	rmm_cupy | rmm_numba | rmm_torch) modules="${program%%_*}, ${program#*_}" ;;
	*) modules=${program%%_*} ;;
	esac
	if ! python3 -c "import $modules" 2>.why; then
		skip "$program" "$(tail -n 1 .why)"
		continue
	fi
	if [ "$program" = torch_pluggable ]; then
		ok 'the sample is built for PyTorch' pluggable || continue
		PLUGGABLE=$PWD/libpluggable.so
		export PLUGGABLE
	fi
	ok "$program: it runs by itself" python3 "$GPU_TESTS/pools.py" "$program" || continue
	cp "$OUT" "$program.alone"
	MEMTRACE_QUIET=1 MEMTRACE_OUTPUT="$PWD/$program.json" LD_PRELOAD="$LIBRARY" \
		timeout 120 python3 "$GPU_TESTS/pools.py" "$program" >"$program.under" 2>"$program.err"
	is "$program: it ends as well" "$?" 0 || tap_comment "$program.err"
	is "$program: the same output" "$(cat "$program.under")" "$(cat "$program.alone")"
	hasnt "$program: nothing is said while Python ends" "$program.err" 'Exception ignored'
	ok "$program: the trace has the pool's own figures" "$PYTHON" "$GPU_TESTS/pools_check.py" "$program.json"
	[ "$tap_status" != 0 ] || tap_comment "$OUT"
	ok "$program: the trace keeps its promises" validate "$program.json"
	[ -z "${KEEP:-}" ] || cp "$program".* "$KEEP"
done
