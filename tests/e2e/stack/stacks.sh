#!/bin/sh
# Every event's stack names who called, however stacks are taken.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# How many events have each set of the sample's functions on their stack, and main.
callers() {
	json "$TRACE" '__import__("collections").Counter(" ".join(sorted(
		{d["frames"][i]["function"] for i in d["stacks"][e["stack"]]["frames"]}
		& {"load_weights", "build_cache", "keep_scratch", "main"})) for e in d["events"])'
}

depths() { # of all stacks
	json "$TRACE" 'sorted({len(d["stacks"][e["stack"]]["frames"]) for e in d["events"]})'
}

by_caller='{"load_weights main": 2, "build_cache main": 12, "keep_scratch main": 5}'

for program in leak leak-static; do
	traced "$SAMPLES/$program"
	is "$program: each event's caller is named" "$(callers)" "$by_caller"
	is "$program: frames are of the program's file" "$(json "$TRACE" 'sorted({d["modules"][f["module"]]["path"]
		.rsplit("/", 1)[-1] for f in d["frames"] if f["function"] in ("load_weights", "main")})')" "[\"$program\"]"
	is "$program: and none of them is the library's" \
		"$(json "$TRACE" '[m["path"] for m in d["modules"] if "libmemtrace" in m["path"] and any(
			f.get("module") == i for i, m2 in enumerate(d["modules"]) if m2 is m for f in d["frames"])]')" '[]'
done

MEMTRACE_STACKS=native
export MEMTRACE_STACKS
traced "$SAMPLES/leak"
is 'native: each caller is named' "$(callers)" "$by_caller"
is 'native: and the trace says so' "$(json "$TRACE" 'd["capture"]["stacks"]')" native

MEMTRACE_STACKS=none
traced "$SAMPLES/leak"
is 'none: no more than the call itself' "$(json "$TRACE" 'max(len(s["frames"]) for s in d["stacks"]) <= 1')" true
is 'none: and the trace says so' "$(json "$TRACE" 'd["capture"]["stacks"]')" none
is 'none: the sums are the same' "$(json "$TRACE" 'd["summary"]["devices"][0]["allocated"]["peak_bytes"]')" 15728640
ok 'none: the trace keeps its promises' validate "$TRACE"

unset MEMTRACE_STACKS
MEMTRACE_STACK_DEPTH=1
export MEMTRACE_STACK_DEPTH
traced "$SAMPLES/leak"
is 'depth 1: one frame' "$(depths)" '[1]'
is 'depth 1: the one that called' \
	"$(json "$TRACE" 'sorted({d["frames"][d["stacks"][e["stack"]]["frames"][0]]["function"] for e in d["events"]}
		- {"take", "give", "load_weights", "build_cache", "keep_scratch"})')" '[]'
MEMTRACE_STACK_DEPTH=3
traced "$SAMPLES/leak"
is 'depth 3: three frames' "$(depths)" '[3]'
unset MEMTRACE_STACK_DEPTH

# A file of that name which is no library stands before the real one, and nothing lies beside ours.
mkdir hidden private
echo 'not a library' >hidden/libunwind.so.8
cp "$LIBRARY" private/
LIBRARY=$PWD/private/libmemtrace.so
LD_LIBRARY_PATH=$PWD/hidden${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
traced "$SAMPLES/leak"
is 'without libunwind: glibc unwinds' "$(json "$TRACE" 'd["capture"]["unwinder"]')" glibc
is 'without libunwind: each caller is named' "$(callers)" "$by_caller"
ok 'without libunwind: the trace keeps its promises' validate "$TRACE"

# Where one cannot install, it may lie beside the library.
found=$(find /lib /usr/lib -name 'libunwind.so.8' -print 2>/dev/null | head -n 1)
if [ -n "$found" ]; then
	cp "$found" private/
	traced "$SAMPLES/leak"
	is 'libunwind beside the library' "$(json "$TRACE" 'd["capture"]["unwinder"]')" libunwind
	is 'libunwind beside the library: each caller is named' "$(callers)" "$by_caller"
else
	skip 'libunwind beside the library' 'no libunwind.so.8 here'
fi
