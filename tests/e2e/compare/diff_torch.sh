#!/bin/sh
# A real model before and after real changes, on CPU tensors of Debian's PyTorch: each has its site.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

PYTHON3=/usr/bin/python3
if ! $PYTHON3 -c 'import torch' 2>/dev/null; then
	skip "changes of a real model" "no PyTorch for $PYTHON3 (apt-get install python3-torch)"
	exit 0
fi
MEMTRACE_QUIET=1
export MEMTRACE_QUIET

record() { # NAME OPTIONS...
	name=$1
	shift
	MEMTRACE_OUTPUT=$PWD/$name.json
	export MEMTRACE_OUTPUT
	traced env MEMTRACE_CPU=1 $PYTHON3 "$TOP/tests/gpu/changes.py" --device cpu --steps 3 --width 64 --length 32 --layers 2 \
		--vocabulary 512 "$@"
	unset MEMTRACE_OUTPUT
	ok "$name is recorded" memtrace baseline "$name.json" -o "$name.base.json"
}
record none
record again
record batch --batch 12
record adamw --optimizer adamw
record losses --keep-losses
record deep --batch 32
record checkpoint --batch 32 --checkpoint

# rows BASE HEAD: the sites that changed at the peak, as [bytes, why, name], the first first
rows() {
	memtrace diff -f json "$1" "$2" >rows.json || return
	json rows.json "[[r['head']['allocated'] - r['base']['allocated'], r['why'], r['name']] for r in d['rows'] if r['dimension'] == 'site' and r['head']['allocated'] != r['base']['allocated']]"
}
reasons() {
	rows "$1" "$2" | "$PYTHON" -c 'import json, sys; print(" ".join(sorted({row[1] for row in json.load(sys.stdin) if abs(row[0]) > 65536})))'
}

for kind in json base.json; do
	ok "$kind: the same again" memtrace diff --fail-on 'allocated.peak[space=cpu]>0' "none.$kind" "again.$kind"
	is "$kind: no row differs" "$(rows "none.$kind" "again.$kind")" '[]'
	is "$kind: a larger batch is larger blocks" "$(reasons "none.$kind" "batch.$kind")" 'larger'
	rows "none.$kind" "adamw.$kind" >found
	is "$kind: AdamW is its state, and nothing else" "$("$PYTHON" -c '
import json
rows = json.load(open("found"))
print(len(rows), rows[0][1], "adamw.py" in rows[0][2] and "from train (changes.py)" in rows[0][2])')" '1 new True'
	is "$kind: kept losses hold what they were computed from" "$(reasons "none.$kind" "losses.$kind")" 'held longer'
	is "$kind: checkpoints free sooner" "$(reasons "deep.$kind" "checkpoint.$kind")" 'freed sooner'
	memtrace diff --fail-on 'allocated.peak[space=cpu]>2%' "none.$kind" "losses.$kind" >"$OUT" 2>"$ERR"
	is "$kind: a gate on them" $? 1
	has "$kind: in a sentence" "$OUT" 'The peak in cpu memory grew by'
done
