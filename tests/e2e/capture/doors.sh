#!/bin/sh
# Whichever way a program reaches CUDA, a call is one event, with the name of what was called.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

calls() { # TRACE: name and size of each allocation and free
	json "$1" '"\n".join("%s %s %d" % (e["op"], e["api"], e["size"]) for e in d["events"]
		if e["op"] in ("alloc", "free", "map", "oom"))'
}

for door in $("$E2E/doors"); do
	traced "$E2E/doors" "$door"
	is "$door: the program succeeds" "$?" 0
	read -r alloc give size <"$OUT"
	is "$door: one event a call" "$(calls "$TRACE")" "alloc $alloc $size
free $give $size"
	ok "$door: the trace keeps its promises" validate "$TRACE"
done

# All of them in one process: a function that two doors lead to is recorded by each.
traced "$E2E/doors" all
is 'all doors: the program succeeds' "$?" 0
while read -r alloc give size; do
	echo "alloc $alloc $size"
	echo "free $give $size"
done <"$OUT" >wanted
is 'all doors: one event a call, in order' "$(calls "$TRACE")" "$(cat wanted)"
is 'each door was counted' \
	"$(json "$TRACE" '[d["capture"]["hooks"][door] > 0 for door in ("linked", "dlsym", "procaddress")]')" \
	'[true, true, true]'
ok 'all doors: the trace keeps its promises' validate "$TRACE"
