#!/bin/sh
# The end-to-end scripts that make sense there, on the real driver and both runtimes. What they need
# beside the samples is built here, against the simulated CUDA, whose ABI is the real one's.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
if [ ! -x "$SAMPLES/leak" ]; then
	skip 'the samples on the GPU' "no toolkit: there is no $SAMPLES/leak"
	exit 0
fi

# The toolkit's runtime, where it is not in the system's path.
if ! ldconfig -p 2>/dev/null | grep -q libcudart.so.13; then
	LD_LIBRARY_PATH=${CUDA:-/usr/local/cuda}/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
fi

# A script's lines are lines of this one.
adopt() { # SCRIPT
	mkdir -p "$MEMTRACE_TEST_TMP/$1"
	MEMTRACE_TEST_TMP="$MEMTRACE_TEST_TMP/$1" sh "$TOP"/tests/e2e/*/"$1.sh" >"$1.tap" 2>&1
	script_status=$?
	while IFS= read -r line; do
		case $line in
		'ok '*) tap '' "$1: ${line#*- }" ;;
		'not ok '*) tap 'not ' "$1: ${line#*- }" ;;
		1..*) ;;
		*) echo "# ${line#\# }" ;;
		esac
	done <"$1.tap"
	grep -q '^not ok' "$1.tap" || is "$1: ends well" "$script_status" 0
}

scripts='truth stacks doors rtld_next threads fork kill oom api nvtx errno env quiet'

# The programs of tests/e2e that these scripts name.
programs=
for script in $scripts; do
	# shellcheck disable=SC2013,SC2016  # words, and a name that stands in the scripts
	for program in $(grep -ohE '\$E2E/[a-z_0-9.]+' "$TOP"/tests/e2e/*/"$script.sh" | sort -u); do
		program=$E2E/${program#*/}
		[ -e "$program" ] || programs="$programs $program"
	done
done
# shellcheck disable=SC2086  # words
[ -z "$programs" ] || ok 'test programs' "${MAKE:-make}" -s -C "$TOP" BUILD="$BUILD" CUDA= $programs

for script in $scripts; do
	adopt "$script"
done

# Kernels, and nvcc's way to link.
if [ -x "$SAMPLES/vector_add" ]; then
	traced "$SAMPLES/vector_add"
	is 'vector_add: the program succeeds' "$?" 0
	cp "$OUT" own.out
	ok 'vector_add: its figures' "$PYTHON" "$TOP/tests/e2e/figures.py" "$TRACE" own.out
fi
if [ -x "$SAMPLES/agree" ]; then
	"$SAMPLES/agree" >plain.out 2>&1
	plain=$?
	traced "$SAMPLES/agree"
	is 'agree: the driver answers the same under the library' "$?:$(cat "$OUT")" "$plain:$(cat plain.out)"
fi
