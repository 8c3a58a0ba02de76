#!/bin/sh
# Who asks the loader gets the answer that it would get without us: RTLD_NEXT, RTLD_DEFAULT, libraries
# loaded RTLD_LOCAL and RTLD_DEEPBIND, two runtimes in one process, other preloads.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

sizes() { # in MiB, of what the trace saw: allocations, frees, failures
	json "$TRACE" '" ".join("%s:%d" % (e["op"], e["size"] >> 20) for e in d["events"] if "size" in e)'
}

too_much=$((1 << 30)) # MiB

# --- RTLD_NEXT ----------------------------------------------------------------------------------------
LD_PRELOAD=$E2E/libnext1.so:$E2E/libnext2.so
traced "$E2E/nocuda"
is 'RTLD_NEXT: the successor is found, and only once' "$(cat "$OUT")" next_answer=42
LD_PRELOAD=$E2E/libnext1.so
traced "$E2E/nocuda"
is 'RTLD_NEXT: where there is none the answer is NULL' "$(cat "$OUT")" next_answer=0
unset LD_PRELOAD

# --- RTLD_DEFAULT -------------------------------------------------------------------------------------
names='cuMemAlloc_v2 cudaMalloc cuGetProcAddress_v2 cuMemAllocAsync_ptsz'
# shellcheck disable=SC2086  # words
traced "$E2E/nocuda" $names
is 'a program without CUDA is not told that there is some' "$(cat "$OUT")" \
	"$(for name in $names; do echo "$name is missing"; done)"
ok 'and leaves no file' [ ! -e "$TRACE" ]

# --- RTLD_LOCAL ---------------------------------------------------------------------------------------
right='take=0 take=0 give=0 too_much=2 remembered=2'
traced "$E2E/loader" "$E2E/liballoc.so"
is 'RTLD_LOCAL: the library works' "$(cat "$OUT")" "$right"
is 'RTLD_LOCAL: and is seen' "$(sizes)" "alloc:1 alloc:2 free:2 oom:$too_much"
is 'RTLD_LOCAL: with the name of what it called' \
	"$(json "$TRACE" 'sorted({e["api"] for e in d["events"]})')" '["cudaFree", "cudaMalloc"]'

# --- two runtimes -------------------------------------------------------------------------------------
# A second copy under another name, from the same objects, and a library that is linked with it.
if [ -z "$GPU" ] && command -v "${CC:-cc}" >/dev/null && [ -e "$BUILD/fake/shared/cudart.o" ]; then
	mkdir old
	sed 's/libcudart.so.13/libcudart.so.12/' "$TOP/tests/fake/cudart.map" >old/cudart.map
	{
		"${CC:-cc}" -shared -Wl,-Bsymbolic -Wl,-soname,libcudart.so.12 \
			-Wl,--version-script=old/cudart.map -o old/libcudart.so.12 "$BUILD"/fake/shared/cudart*.o -ldl &&
			"${CC:-cc}" -shared -fPIC -O1 -I"$TOP/tests/fake/include" -o old/libuser.so \
				"$TOP/tests/e2e/loader/liballoc.c" old/libcudart.so.12 -Wl,-rpath,"$PWD/old"
	} >old/log 2>&1 || tap_comment old/log
	traced "$E2E/loader" -g "$E2E/liballoc.so" -l old/libuser.so
	is 'two runtimes: each remembers its own failure' "$(cat "$OUT")" "$right
$right"
	is 'two runtimes: each call is seen once' "$(sizes)" \
		"alloc:1 alloc:2 free:2 oom:$too_much alloc:2 alloc:4 free:4 oom:$too_much"
	ok 'two runtimes: the trace keeps its promises' validate "$TRACE"
	traced "$E2E/loader" -l old/libuser.so -l "$E2E/liballoc.so"
	is 'two runtimes, the older first: the same' "$(cat "$OUT")" "$right
$right"
else
	skip 'two runtimes' 'no compiler, or real ones'
fi

# --- RTLD_DEEPBIND ------------------------------------------------------------------------------------
# Its runtime is loaded already: what that asked the driver for is ours.
cp "$E2E/liballoc.so" deep.so
traced "$E2E/loader" "$E2E/liballoc.so" -d "$PWD/deep.so"
is 'RTLD_DEEPBIND: the library works' "$(cat "$OUT")" "$right
$right"
is 'RTLD_DEEPBIND: it is seen through the driver' "$(sizes)" \
	"alloc:1 alloc:2 free:2 oom:$too_much alloc:2 alloc:4 free:4 oom:$too_much"
is 'RTLD_DEEPBIND: the trace says so' \
	"$(json "$TRACE" 'sum("RTLD_DEEPBIND" in note for note in d["capture"]["notes"])')" 1
traced "$E2E/loader" "$E2E/liballoc.so"
is 'and only then' "$(json "$TRACE" 'sum("RTLD_DEEPBIND" in note for note in d["capture"]["notes"])')" 0
# It brings its own runtime, bound to libc past every preload: nothing can be seen.
traced "$E2E/loader" -d "$PWD/deep.so"
is 'RTLD_DEEPBIND, runtime and all: the library works' "$(cat "$OUT")" "$right"
has 'RTLD_DEEPBIND, runtime and all: it is said' "$ERR" 'a preloaded library cannot see'

# --- dlvsym -------------------------------------------------------------------------------------------
# A version names the library's own function: it is not ours to answer, and its driver call is seen.
traced "$E2E/dlvsym"
is 'dlvsym: the program gets what it asked for' "$(cat "$OUT")" 'done'
is 'dlvsym: it is seen through the driver' "$(sizes)" 'alloc:3 free:3'

# --- other preloads -----------------------------------------------------------------------------------
LD_PRELOAD=$E2E/libwrap.so
traced "$SAMPLES/leak"
is 'a preload behind ours is reached by every call' "$(grep wrapped "$OUT")" wrapped=13
is 'and each is one event' "$(json "$TRACE" 'len(d["events"])')" 19
LD_PRELOAD=$E2E/libwrap.so:$LIBRARY MEMTRACE_OUTPUT=$PWD/behind.json "$SAMPLES/leak" >"$OUT" 2>"$ERR"
is 'a preload in front of ours is reached by every call' "$(grep wrapped "$OUT")" wrapped=13
is 'and each is one event, too' "$(json behind.json 'len(d["events"])')" 19
