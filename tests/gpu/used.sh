#!/bin/sh
# What nvidia-smi shows has a name: contexts, modules, heaps, and hardly a residual.
# KEEP=folder keeps traces and tables there; PROGRAMS="train graph" runs only these.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
GPU_TESTS=$TOP/tests/gpu

for program in ${PROGRAMS:-$(python3 "$GPU_TESTS/used.py")}; do
	case $program in
	train | graph | nccl) module=torch ;;
	triton) module='torch, triton' ;;
	*) module=ctypes ;;
	esac
	if ! python3 -c "import $module" 2>/dev/null; then
		skip "$program" "no $module here"
		continue
	fi
	if ! timeout 120 python3 "$GPU_TESTS/used.py" "$program" >"$program.alone" 2>"$program.alone.err"; then
		skip "$program" "it fails by itself here: $(tail -n 1 "$program.alone.err")"
		continue
	fi
	MEMTRACE_OUTPUT=$PWD/$program.json
	export MEMTRACE_OUTPUT
	traced timeout 120 python3 "$GPU_TESTS/used.py" "$program"
	is "$program: it ends as well" "$?" 0
	cp "$OUT" "$program.out"
	cp "$ERR" "$program.err"
	ok "$program: what is used has a name" "$PYTHON" "$GPU_TESTS/used_check.py" "$TRACE" \
		${KEEP:+--verbose}
	tap_comment "$OUT"
	[ -z "${KEEP:-}" ] || cp "$OUT" "$KEEP/used-$program.txt"
	# Nothing names its 20 steps; the first may be of other stacks (the optimizer's state, cuDNN).
	if [ "$program" = train ]; then
		memtrace report --json --limit 0 "$TRACE" -o steps.json
		is "train: its steps are found" "$(json steps.json '[18 < p["times"] <= 20 and p["allocations"]["count"] > 20 * 10
			for p in d["phases"] if p["name"] == "inferred step"]')" '[true]'
	fi
	ok "$program: the trace keeps its promises" validate "$TRACE"
	[ -z "${KEEP:-}" ] || cp "$program".* "$KEEP"
done
