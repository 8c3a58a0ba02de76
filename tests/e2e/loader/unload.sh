#!/bin/sh
# Libraries that come and go while threads allocate: each call has the name of the library that was
# there, not of the one that was there before; names outlive their library, or are null.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

: "${TIMES:=1000}"
command -v "${CC:-cc}" >/dev/null || { skip 'libraries that come and go' 'no compiler'; exit 0; }

# The optimizer's frames: how to go on from an address of theirs is not the same in both.
for i in 1 2; do
	"${CC:-cc}" -O1 -g -fomit-frame-pointer -fno-optimize-sibling-calls -fPIC -shared \
		-Wl,-soname,libunload$i.so -I"$TOP/tests/fake/include" -o libunload$i.so \
		"$TOP/tests/e2e/loader/libunload$i.c" -L"$BUILD/fake" -lcudart || exit 1
done

# Of the calls that the libraries made: how many, with which functions of theirs on the stack.
seen() {
	json "$TRACE" '" ".join("%s:%d:%s:%d" % (*key, count) for key, count in sorted(
		__import__("collections").Counter((e["op"], e["size"] >> 20, "/".join(
			str(d["frames"][i]["function"]) for i in d["stacks"][e["stack"]]["frames"]
			if str(d["frames"][i]["function"]).startswith(("unload", "give_back"))))
			for e in d["events"] if e["size"] > 4096).items()))'
}

half=$((TIMES / 2))
kept=$((TIMES / 16 + (TIMES % 16 > 0)))
given=$((half - kept))
one=unload1_inner/unload1_deeper/unload_pair two=unload2_inner/unload2_deeper/unload_pair
wanted="alloc:1:$one:$half alloc:2:$two:$half"
wanted="$wanted free:give_back free:1:$one:$given free:give_back free:2:$two:$given"
for stacks in native python,native; do
	MEMTRACE_STACKS=$stacks
	export MEMTRACE_STACKS
	traced timeout 250 "$E2E/unload" "$TIMES" 4 "$PWD/libunload1.so" "$PWD/libunload2.so"
	is "$stacks: the program ends as it should" "$?:$(cat "$OUT")" 0:failures=0
	is "$stacks: each call is by the library that was there" \
		"$(seen | sed 's/free:[12]:give_back[^ ]*/free:give_back/g')" "$wanted"
	is "$stacks: a call out of a library that is being unloaded, too" \
		"$(json "$TRACE" 'sum("give_back" in [d["frames"][i]["function"]
			for i in d["stacks"][e["stack"]]["frames"]][:1] for e in d["events"])')" $((2 * kept))
	is "$stacks: the threads' own stacks are whole" "$(json "$TRACE" 'all("work" in
		[d["frames"][i]["function"] for i in d["stacks"][e["stack"]]["frames"]]
		for e in d["events"] if e["size"] == 4096)')" true
	is "$stacks: a library that came $half times is one module" \
		"$(json "$TRACE" 'sum("libunload" in m["path"] for m in d["modules"])')" 2
	ok "$stacks: and its stacks are few" [ "$(json "$TRACE" 'len(d["stacks"])')" -lt 300 ]
	ok "$stacks: the trace keeps its promises" validate "$TRACE"
done

# --- the file is another one before the end ---------------------------------------------------------------
MEMTRACE_STACKS=native
mkdir gone
cp libunload1.so libunload2.so gone/
traced "$E2E/unload" 1 0 "$PWD/gone/libunload1.so" "$PWD/gone/libunload2.so"
is 'unloaded by the end: the names are there' "$(seen | tr ' ' '\n' | grep -c unload1_inner)" 1
traced "$E2E/unload" 1 0 "$PWD/gone/libunload1.so" "$PWD/gone/libunload2.so" "$PWD/gone/libunload2.so"
is 'another file in its place: no name is better than a wrong one' \
	"$(seen | tr ' ' '\n' | grep -c 'unload2\|unload1')" 0
ok 'another file in its place: the trace keeps its promises' validate "$TRACE"
