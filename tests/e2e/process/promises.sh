#!/bin/sh
# What a debug build asserts in whatever programs do: the order of locks (src/base/guest/locks.def),
# nothing of the host's called with one held, no malloc on the path of a hook.
# `make check-debug` runs all the other scripts with that library.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# --- the assertions themselves -------------------------------------------------------------------------
steps() { # STEPS: what is said of them
	"$BUILD/tests/debug/promises" "$1" >"$OUT" 2>"$ERR"
	cat "$OUT" "$ERR"
}
is 'inward is in order, and again once dropped' "$(steps ornNRO)$(steps rRonNOoO)" keptkept
is 'the host may be called with none held' "$(steps rRhpPm)" kept
while read -r order said; do
	is "$order is not kept" "$(steps "$order" | head -n 1)" "memtrace: assertion failed: $said"
	hasnt "$order ends there" "$OUT" kept
done <<END
ro the lock OPEN was taken while holding the lock RECORD
rr the lock RECORD was taken while holding the lock RECORD
onr the lock RECORD was taken while holding the lock NAMES
no the lock OPEN was taken while holding the lock NAMES
u a lock without a rank was taken
rh dlopen was called while holding the lock RECORD
onh dlopen was called while holding the lock NAMES
pm malloc was called inside memtrace's hook of cuMemAlloc_v2
rm malloc was called while holding the lock RECORD
END

# --- the library ----------------------------------------------------------------------------------------
LIBRARY=$BUILD/debug/libmemtrace.so
ok 'the debug build has no other exports but the heap' sh -c "
	for which in debug/ ''; do
		nm -D --defined-only '$BUILD'/\$which/libmemtrace.so | awk '{ print \$3 }' | sort
	done | sort | uniq -u | tr '\n' ' ' | grep -qx 'calloc free malloc realloc '"

keeps() { # NAME PROGRAM ARGS...: as untraced, and nothing is said
	keeps=$1
	shift
	"$@" >plain.out 2>plain.err
	plain=$?
	traced "$@"
	is "$keeps" "$?:$(grep -a 'assertion failed' "$ERR")" "$plain:"
}
for program in leak leak-static churn threads pool vmm managed arrays graph oom; do
	keeps "$program" "$SAMPLES/$program"
	ok "$program: the trace keeps its promises" validate "$TRACE"
done
keeps 'the C API' "$E2E/api"
keeps 'NVTX' "$E2E/nvtx"
for how in fork vfork; do
	keeps "$how" "$E2E/forks" $how
done

# --- eight threads, and children that are born beside them -----------------------------------------------
# What makes children hang is a lock that another thread held: of the loader, of libunwind, of ours.
ln -s "$LIBRARY" libmemtrace.so.1
for i in 0 1 2 3; do cp "$BUILD/tests/tsan/plug.so" "plug$i.so"; done
MEMTRACE_CPU=1 MEMTRACE_OUTPUT=$PWD/threads.%p.json LD_LIBRARY_PATH=$PWD:$E2E:$BUILD/fake \
	timeout -s KILL 120 "$BUILD/tests/tsan/threads" "$PWD" 400 whole >"$OUT" 2>"$ERR"
is 'threads and children: they end' "$?:$(grep -vc '^memtrace: wrote ' "$ERR")" 0:0
is 'a trace each' "$(find . -name 'threads.*.json' | wc -l)" 21
ok 'threads and children: the traces keep their promises' validate threads.*.json
