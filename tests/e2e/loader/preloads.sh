#!/bin/sh
# Other preloads before and behind ours: each does what it does without us, and we see what we see
# without it. (rtld_next.sh has the plain wrapper.)
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# both NAME PROGRAM EXPECTED PRELOADED: the preload in front of ours and behind; EXPECTED is what the
# expression `what` gives of the trace, and `said` of what the program printed without us.
both() {
	for order in front behind; do
		case $order in
		front) preload=$4:$LIBRARY ;;
		*) preload=$LIBRARY:$4 ;;
		esac
		TRACE=$PWD/$1-$(basename "$2")-$order.json
		LD_PRELOAD=$preload MEMTRACE_OUTPUT=$TRACE timeout 120 "$2" >"$OUT" 2>"$ERR" </dev/null
		is "$1 in $order of ours, $(basename "$2"): the program is itself" "$?:$(sort "$OUT" | said)" "0:$plain"
		is "$1 in $order of ours, $(basename "$2"): the trace is the same" "$(json "$TRACE" "$what")" "$3"
		ok "$1 in $order of ours, $(basename "$2"): it keeps its promises" validate "$TRACE"
	done
}

# without PRELOADED PROGRAM: what it prints without us
without() {
	plain=$(LD_PRELOAD=$1 timeout 120 "$2" 2>/dev/null | sort | said)
}

what='[len(d["events"]), d["summary"]["devices"][0]["allocated"]["peak_bytes"],
	sorted({e["api"] for e in d["events"]})]'
said() { cat; }

# --- one that governs the driver, by every door -----------------------------------------------------------
for program in leak leak-static; do
	without "$E2E/libgovern.so" "$SAMPLES/$program"
	case $program in
	leak) api='["cudaFree", "cudaMalloc"]' calls='13 6 13 6' ;;
	*) api='["cuMemAlloc_v2", "cuMemFree_v2"]' calls='0 0 13 6' ;;
	esac
	is "$program: what it governs without us" "$(echo "$plain" | grep governed)" "governed=$calls"
	both govern "$SAMPLES/$program" "[19, 15728640, $api]" "$E2E/libgovern.so"
done

# --- other heaps ------------------------------------------------------------------------------------------
# What a heap keeps at the same addresses differs: only figures are compared.
for heap in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
	found=$(ldconfig -p 2>/dev/null | sed -n "s|.*$heap .*=> ||p" | head -n 1)
	if [ -z "$found" ]; then
		skip "the heap of $heap" "not installed"
		continue
	fi
	without "$found" "$SAMPLES/leak"
	both "$heap" "$SAMPLES/leak" '[19, 15728640, ["cudaFree", "cudaMalloc"]]' "$found"
	# Threads that come and go, Python, and the end, where names are looked up.
	for preload in "$found:$LIBRARY" "$LIBRARY:$found"; do
		TRACE=$PWD/$heap-threads.json
		rm -f "$TRACE"
		LD_PRELOAD=$preload MEMTRACE_OUTPUT=$TRACE timeout 120 "$SAMPLES/threads" >"$OUT" 2>"$ERR" </dev/null
		is "$heap, threads: the program ends well" "$?" 0
		ok "$heap, threads: the trace keeps its promises" validate "$TRACE"
		is "$heap, python: nothing is to be seen" "$(LD_PRELOAD=$preload "$PYTHON" -c 'print(sum(range(10)))' 2>&1)" 45
	done
done

# --- a heap that itself takes device memory ---------------------------------------------------------------
# Every block that it took and gave back is in the trace, beside the program's own.
for order in "$E2E/libmalloc.so:$LIBRARY" "$LIBRARY:$E2E/libmalloc.so"; do
	if [ "${order%%:*}" = "$LIBRARY" ] && heap_is_ours; then
		skip 'a malloc that calls cudaMalloc, behind ours' 'a library that watches the heap'
		continue
	fi
	TRACE=$PWD/malloc.json
	rm -f "$TRACE"
	LD_PRELOAD=$order MEMTRACE_OUTPUT=$TRACE timeout 120 "$PYTHON" -c '
kept = [b"x" * (5000 + i) for i in range(2000)]
print(len(kept))' >"$OUT" 2>"$ERR" </dev/null
	is 'a malloc that calls cudaMalloc: the program ends well' "$?" 0
	taken=$(sed -n 's/^taken=//p' "$OUT")
	ok 'a malloc that calls cudaMalloc: the trace keeps its promises' validate "$TRACE"
	ok 'a malloc that calls cudaMalloc: it did' [ "${taken:-0}" -gt 0 ]
	is 'a malloc that calls cudaMalloc: what it took is there, until our end' "$(json "$TRACE" \
		'(lambda sizes: sizes == list(range(8192, 8192 + len(sizes))) and 0 < len(sizes) <= '"${taken:-0}"')(
			sorted(e["size"] for e in d["events"] if e["op"] == "alloc" and 8192 <= e["size"] < 8192 + 4000
				and any("libmalloc" in d["modules"][d["frames"][i]["module"]]["path"]
					for i in d["stacks"][e["stack"]]["frames"] if d["frames"][i]["module"] is not None)))')" true
done
