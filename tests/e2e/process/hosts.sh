#!/bin/sh
# Hosts that watch their own memory or are watched: sanitizers, valgrind, gdb, strace. They find what
# they find without us, and nothing of ours.
# shellcheck disable=SC2016  # what is in single quotes is for another shell
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

events='[len(d["events"]), d["summary"]["devices"][0]["allocated"]["peak_bytes"]]'
whole='[19, 15728640]' # of the sample leak

# --- sanitizers -------------------------------------------------------------------------------------------
cat >overflow.c <<'C'
#include <cuda_runtime.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	char *heap = malloc(8);
	void *ptr = NULL;

	if (cudaMalloc(&ptr, 4096))
		return 2;
	heap[argc > 1 ? 8 : 7] = argv[0][0]; /* with an argument: one too far */
	free(heap);
	return cudaFree(ptr);
}
C
for compiler in gcc clang; do
	sanitized="$compiler -g -O1 -fsanitize=address,undefined -I$TOP/tests/fake/include"
	if ! $sanitized -o "leak-$compiler" "$TOP/samples/leak.c" -rdynamic -L"$BUILD/fake" -lcudart -ldl >log 2>&1 ||
		! $sanitized -o "overflow-$compiler" overflow.c -L"$BUILD/fake" -lcudart >log 2>&1; then
		skip "AddressSanitizer of $compiler" "it cannot build with it: $(head -n 1 log)"
		continue
	fi
	# A runtime that is a library wants to be the first of all, or to be told that it need not.
	runtime=$(ldd "./leak-$compiler" | sed -n 's/.*libasan[^ ]* => \([^ ]*\).*/\1/p')
	./leak-"$compiler" >plain.out 2>plain.err
	for order in "${runtime:+$runtime:}$LIBRARY" 'ours first' 'run'; do
		TRACE=$PWD/$compiler.json
		rm -f "$TRACE"
		case $order in
		run) set -- memtrace run --output "$TRACE" -- ;;
		ours*) set -- env LD_PRELOAD="$LIBRARY" ASAN_OPTIONS=verify_asan_link_order=0 MEMTRACE_OUTPUT="$TRACE" ;;
		*) set -- env LD_PRELOAD="$order" MEMTRACE_OUTPUT="$TRACE" ;;
		esac
		name="ASan and UBSan of $compiler, $(echo "$order" | sed 's|.*libasan[^:]*:.*|its runtime first|; s|^/.*|linked in|')"
		"$@" "./leak-$compiler" >"$OUT" 2>"$ERR" </dev/null
		is "$name: status and output are the program's" "$?:$(cat "$OUT")" "0:$(cat plain.out)"
		is "$name: nothing is found" "$(grep -c 'Sanitizer\|runtime error' "$ERR")" 0
		is "$name: the trace is whole" "$(json "$TRACE" "$events")" "$whole"
		"$@" "./overflow-$compiler" 1 >"$OUT" 2>"$ERR" </dev/null
		found="$?:$(grep -c 'heap-buffer-overflow on' "$ERR")"
		if [ "$order" = 'ours first' ] && heap_is_ours; then
			skip "$name: an error of the host is found as ever" 'a library that watches the heap'
		else
			is "$name: an error of the host is found as ever" "$found" 1:1
		fi
		rm -f "$PWD"/*.spool
	done
	if [ -n "$runtime" ]; then
		memtrace doctor -- "./leak-$compiler" >"$OUT" 2>&1
		has "doctor tells about the order, $compiler" "$OUT" 'verify_asan_link_order=0'
		TRACE=$PWD/preloaded.json
		LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0 memtrace run --output "$TRACE" -- "./leak-$compiler" >"$OUT" 2>"$ERR"
		is "memtrace run behind a runtime that is preloaded, $compiler" "$?:$(json "$TRACE" "$events")" "0:$whole"
	fi
done

# Its reports of what no compiler has prepared are for who asks; it leaves a thread before others do.
if ! gcc -g -O1 -fsanitize=thread -I"$TOP/tests/fake/include" -o threads-tsan "$TOP/samples/threads.c" -L"$BUILD/fake" \
	-lcudart -lpthread -ldl -rdynamic >log 2>&1; then
	skip 'ThreadSanitizer' "gcc cannot build with it: $(head -n 1 log)"
elif ! ./threads-tsan >plain.out 2>plain.err; then
	skip 'ThreadSanitizer' "its runtime does not start here: $(head -n 1 plain.err)"
else
	traced env TSAN_OPTIONS=ignore_noninstrumented_modules=1 ./threads-tsan
	is 'ThreadSanitizer: status and output are the program'\''s' "$?:$(cat "$OUT")" "0:$(cat plain.out)"
	is 'ThreadSanitizer: nothing is found' "$(grep -c Sanitizer "$ERR")" 0
	ok 'ThreadSanitizer: the trace keeps its promises' validate "$TRACE"
fi

# --- valgrind ---------------------------------------------------------------------------------------------
if command -v valgrind >/dev/null && ! valgrind "$SAMPLES/leak" >"$OUT" 2>"$ERR" </dev/null; then
	skip 'valgrind' "it does not run the program by itself: $(grep -m1 'unhandled' "$ERR")"
elif command -v valgrind >/dev/null; then
	# memory VARIABLE=VALUE...: what is still reachable at the end, in bytes
	memory() {
		env "$@" valgrind --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
			"$SAMPLES/leak" >"$OUT" 2>"$ERR" </dev/null
		echo "$?:$(sed -n 's/.*still reachable: \([0-9,]*\) bytes.*/\1/p' "$ERR" | tr -d ,)"
	}
	alone=$(memory MEMTRACE_QUIET=1)
	rm -f valgrind.json
	ours=$(memory LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT="$PWD/valgrind.json")
	is 'valgrind: the program ends well' "${alone%:*} ${ours%:*}" '0 0'
	has 'valgrind: it finds no error' "$ERR" 'ERROR SUMMARY: 0 errors'
	is 'valgrind: the trace is whole' "$(json valgrind.json "$events")" "$whole"
	# What the loader keeps for libraries that it loads for us; nothing that grows.
	ok 'valgrind: at the end we hold at most 16 KiB of the heap' \
		[ "${ours#*:}" -le $((${alone#*:} + 16384)) ]
else
	skip 'valgrind' 'it is not installed'
fi

# --- gdb --------------------------------------------------------------------------------------------------
debugger() { # COMMANDS PROGRAM...
	file=$1
	shift
	timeout 120 gdb -batch -nx -iex 'set debuginfod enabled off' -ex "set environment LD_PRELOAD $LIBRARY" \
		-ex "set environment MEMTRACE_OUTPUT $PWD/gdb.json" -x "$file" --args "$@" >gdb.out 2>&1 </dev/null
}
if command -v gdb >/dev/null && gdb -batch -nx -ex 'python print(1)' 2>/dev/null | grep -q 1; then
	cat >frames.gdb <<'GDB'
set breakpoint pending on
set confirm off
break cuMemAlloc_v2
run
backtrace
delete
continue
GDB
	debugger frames.gdb "$SAMPLES/leak"
	is 'gdb: the frames are those that called' "$(sed -n 's/^#[0-9]* *\(0x[0-9a-f]* in \)\{0,1\}\([a-zA-Z0-9_]*\) (.*/\2/p' gdb.out |
		grep -vx 'span_.*\|driver_.*' | tr '\n' ' ')" \
		'cuMemAlloc_v2 cudaMalloc cudaMalloc take load_weights main '
	has 'gdb: the program ends well' gdb.out 'exited normally'
	is 'gdb: the trace is whole' "$(json gdb.json "$events")" "$whole"

	# At each instruction of our dlsym, and behind its jump, the frame below is its caller's.
	cat >dlsym.py <<'PYTHON'
import gdb

gdb.execute("set breakpoint pending on")
gdb.execute("set confirm off")
gdb.execute("break interpose_dlsym")
gdb.execute("run")
start = gdb.selected_frame().older()
where = gdb.execute("info symbol %d" % start.pc(), to_string=True)
begin = start.pc() - int(where.split()[2]) if where.split()[1] == "+" else start.pc()
gdb.execute("delete")
gdb.execute("tbreak *%d" % begin)
gdb.execute("continue")
frame = gdb.selected_frame()
caller = (frame.older().pc(), frame.older().name())
steps = wrong = 0
inside = entered = True
while steps < 60 and inside:
    frame = gdb.selected_frame()
    in_ours = begin <= frame.pc() < begin + 200
    if in_ours and (frame.older().pc(), frame.older().name()) != caller:
        wrong += 1
        print("at +%d the caller is %s" % (frame.pc() - begin, frame.older().name()))
    inside = in_ours
    steps += 1
    if inside:
        gdb.execute("nexti" if "call" in gdb.execute("x/i $pc", to_string=True) else "stepi", to_string=True)
frame = gdb.selected_frame()
print("steps=%d wrong=%d caller=%s" % (steps, wrong, caller[1]))
print("behind=%s by=%s" % (frame.name(), frame.older().name()))
gdb.execute("continue")
PYTHON
	rm -f gdb.json
	debugger dlsym.py "$E2E/nocuda" some_function
	is 'gdb: in our dlsym the caller is known at each instruction' \
		"$(sed -n 's/^steps=[1-9][0-9]* \(.*\)/\1/p' gdb.out)" 'wrong=0 caller=main'
	is 'gdb: and in the one that it jumps to' "$(sed -n 's/^behind=\(.*dlsym\)[^ ]* by/\1 by/p' gdb.out |
		sed 's/.*dlsym/dlsym/')" 'dlsym by=main'
	tap_comment gdb.out | grep 'at +' || true
else
	skip 'gdb' 'it is not installed, or has no Python'
fi

# --- strace -----------------------------------------------------------------------------------------------
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	TRACE=$PWD/strace.json
	strace -f -o log -E LD_PRELOAD="$LIBRARY" -E MEMTRACE_OUTPUT="$TRACE" "$SAMPLES/threads" >"$OUT" 2>"$ERR" </dev/null
	is 'strace -f: the program ends well' "$?" 0
	ok 'strace -f: the trace keeps its promises' validate "$TRACE"
	# What the library does in a program without CUDA, as the kernel sees it.
	strace -f -o log -E LD_PRELOAD="$LIBRARY" /bin/ls / >/dev/null 2>&1
	awk '/libmemtrace/ { seen = 1 } seen' log |
		grep -E '(open|openat|creat)\(.*O_(WRONLY|RDWR|CREAT)|clone3?\(|socket\(|unlink|rename' >wrote
	is 'strace: in ls it opens nothing for writing and starts nothing' "$(cat wrote)" ''
else
	skip 'strace' 'it is not installed, or may not trace'
fi
