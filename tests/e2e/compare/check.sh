#!/bin/sh
# `memtrace check` and `memtrace baseline`: budgets, and the small file that stands for a run.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

example=$TOP/tests/data/example.json
train=$TOP/tests/data/recorded/train.json
MEMTRACE_QUIET=1
export MEMTRACE_QUIET

# --- limits ---------------------------------------------------------------------------------------------
verdict() { # STATUS ARGS...
	wanted=$1
	shift
	memtrace check "$@" >"$OUT" 2>"$ERR"
	is "check $(basename "$1") $2 $3 ends with $wanted" $? "$wanted"
}
verdict 0 "$example" --max 'allocated.peak<=68MiB'
has 'it says what was held' "$OUT" 'PASS    allocated.peak<=68MiB: device 0 has 68.00 MiB'
verdict 1 "$example" --max 'allocated.peak<=67.9MiB'
has 'and what was not, and by how much' "$OUT" 'FAIL    allocated.peak<=67.9MiB: device 0 has 68.00 MiB, 102.40 KiB over'
has 'and which site holds it, at which line' "$OUT" 'limit: 68.00 MiB in Net.forward (train.py), train.py:12'
for format in github junit sarif markdown; do
	verdict 1 "$example" --max 'allocated.peak<=67.9MiB' -f $format
	has "$format names the site" "$OUT" '68.00 MiB in Net'
done
memtrace check "$example" --max 'allocated.peak<=67.9MiB' -f github >"$OUT"
has 'the annotation is at its line' "$OUT" '::error file=train.py,line=12,title=GPU memory::allocated.peak<=67.9MiB: device 0 has'
verdict 1 "$train" --max 'allocated.exit[site=cublas*]<=1MiB'
is 'of the sites that are asked for' "$(grep -o '[0-9.]* MiB in [a-zA-Z_0-9]*' "$OUT" | sort -u)" '64.13 MiB in cublasCreate_v2'
verdict 1 "$train" --max 'allocated.peak[pool=torch]<=1MiB'
hasnt 'sites of all pools explain no pool' "$OUT" ' in cublas'
verdict 0 "$example" --max 'allocated.peak <= 71303168'
verdict 1 "$example" --max 'allocated.peak<=71303167'
verdict 1 "$example" --max 'allocated.peak<=100MiB' --max 'ooms<=0'
verdict 0 "$example" --max 'ooms<=1' --max 'count<=10' --max 'used.peak<=1GB' --max 'reserved.peak<=72MiB'
verdict 1 "$example" --max 'count<=9'
verdict 0 "$example" --max 'allocated.peak[phase=fwd]<=68MiB'
verdict 0 "$example" --max 'allocated.added[phase=fwd]<=52MiB'
verdict 1 "$example" --max 'allocated.added[phase=fwd]<=51MiB'
verdict 1 "$example" --max 'allocated.peak[pool=torch]<=1MiB'
verdict 1 "$example" --max 'allocated.exit[site=Net.forward*]<=1MiB'
verdict 1 "$train" --max 'reserved.peak[owner=libcublas.so.*]<=128MiB'
verdict 0 "$train" --max 'reserved.peak[owner=libcublas.so.*]<=129MiB'
verdict 1 "$train" --max 'allocated.peak[space=pinned]<=3'
verdict 3 "$example" --max 'allocated.peak[phase=none]<=1GiB'
verdict 3 "$example" --max 'allocated.peak[space=pinnned]<=1GiB'
verdict 3 nowhere.json --max 'count<=1'
fails 2 'expected METRIC[KEY=VALUE]<=LIMIT' memtrace check "$example" --max 'allocated.peak<30GiB'
fails 2 'expected METRIC[KEY=VALUE]<=LIMIT' memtrace check "$example" --max 'allocated.peak<=5%'
fails 2 'expected METRIC[KEY=VALUE]<=LIMIT' memtrace check "$example" --max 'count<=5MiB'
fails 2 'give a limit' memtrace check "$example"

# --- a budget file --------------------------------------------------------------------------------------
cat >budget.json <<'END'
{"schema": "memtrace-budget/1", "max": {"allocated.peak": "68 MiB", "allocated.peak[phase=fwd]": "100 MB", "ooms": 1}}
END
verdict 0 "$example" --budget budget.json
sed 's/"ooms": 1/"ooms": 0/' budget.json >tight.json
verdict 1 "$example" --budget tight.json
verdict 1 "$example" --budget tight.json --max 'count<=1000'
ok 'budgets are as their schema says' "$PYTHON" -c '
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
for path in sys.argv[2:]:
    jsonschema.Draft7Validator(schema).validate(json.load(open(path)))
bad = {"schema": "memtrace-budget/1", "max": {"colour": "red"}}
assert not jsonschema.Draft7Validator(schema).is_valid(bad)' "$TOP/include/memtrace/budget.schema.json" budget.json tight.json
budget() { # TEXT, WHAT IS SAID
	printf '%s' "$1" >wrong.json
	fails 2 "$2" memtrace check "$example" --budget wrong.json
}
budget '{"max":{}}' 'not a budget'
budget '{"schema":"memtrace-budget/1","max":{}}' 'has no limits'
budget '{"schema":"memtrace-budget/1","max":{"peak":"1 GiB"}}' 'unknown metric peak'
budget '{"schema":"memtrace-budget/1","max":{"count":true}}' 'must be a number, or text like'
budget '{"schema":"memtrace-budget/1","max":{"count":-1}}' 'must be a number, or text like'
budget '{"schema":' 'not valid JSON'
budget '' 'not valid JSON'
fails 2 'nowhere.json: No such file' memtrace check "$example" --budget nowhere.json

# --- ranks of a job -------------------------------------------------------------------------------------
ddp=$TOP/tests/data/recorded/ddp
memtrace check "$ddp" --max 'allocated.peak<=1.65GiB' --max 'ooms<=0' >"$OUT" 2>"$ERR"
is 'a folder: one rank is enough to break a limit' $? 1
has 'the worst is shown' "$OUT" 'device 1 of rank 1 has 1.77 GiB, '
ok 'which all of them hold' memtrace check "$ddp" --max 'allocated.peak<=2GiB'
ok 'and are compared, folder by folder' memtrace diff --gate "$ddp" "$ddp"
has 'rank by rank' "$OUT" 'Compared rank by rank (2 ranks)'
mkdir -p nothing
fails 3 'nothing: this folder has no trace and no spool in it' memtrace check nothing --max 'ooms<=0'
fails 3 'nothing: this folder has no trace and no spool in it' memtrace diff "$ddp" nothing

# --- baselines ------------------------------------------------------------------------------------------
for name in example recorded/train recorded/caching; do
	trace=$TOP/tests/data/$name.json
	name=${name##*/}
	ok "$name: a baseline" memtrace baseline "$trace" -o "$name.base.json"
	ok "$name: it keeps the promises of a trace" validate "$name.base.json"
	ok "$name: it is its trace" memtrace diff --gate --fail-on 'count>0' --fail-on 'allocated.exit>0' "$trace" "$name.base.json"
	is "$name: in every row" "$(memtrace diff -f json "$name.base.json" "$trace" | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["rows"])')" '[]'
	ok "$name: a baseline of it is itself" sh -c "memtrace baseline '$name.base.json' | cmp - '$name.base.json'"
	ok "$name: it is reported on" memtrace report "$name.base.json"
	is "$name: without the times that it has not" "$(grep -c '[^0-9]0 ns' "$OUT")" 0
	fails 3 'is a baseline, which has no events' memtrace export "$name.base.json" --to events
done
"$PYTHON" - "$TOP/tests/data/example.json" phases.json <<'END'
import copy, json, sys
with open(sys.argv[1]) as f:
    trace = json.load(f)
first, second = (copy.deepcopy(trace["phases"][0]) for _ in range(2))
for phase, start, end, peak in ((first, 0, 50, 90), (second, 50, 50, 100)):
    phase["allocated"] = {"start_bytes": start, "end_bytes": end, "peak_bytes": peak}
trace["phases"] = [first, second]
with open(sys.argv[2], "w") as f:
    f.write(json.dumps(trace).replace('"phases": [', '"phases":['))
END
ok 'phases of one name' memtrace baseline phases.json -o phases.base.json
is 'the highest peak, end and rise of them are kept' "$(json phases.base.json \
	'[max(f(p["allocated"]) for p in d["phases"]) for f in (lambda a: a["peak_bytes"], lambda a: a["end_bytes"], lambda a: a["peak_bytes"] - a["start_bytes"])]')" '[100, 50, 90]'
ok 'it is checked' memtrace check train.base.json --max 'allocated.peak<=200MiB'
is 'it is small' "$([ "$(wc -c <train.base.json)" -lt 40000 ] && echo yes)" yes
ok 'JAX: hundreds of names with the numbers of a compilation' memtrace baseline "$TOP/tests/data/recorded/jax.json" -o jax.base.json
is 'JAX: are few, and small' "$([ "$(wc -c <jax.base.json)" -lt 40000 ] && echo yes)" yes
is 'JAX: and no change' "$(memtrace diff -f json jax.base.json "$TOP/tests/data/recorded/jax.json" | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["rows"])')" '[]'
fails 3 'the trace does not record the metric' memtrace diff --fail-on 'used.peak>1' train.base.json "$train"
head -c 2000 "$example" >cut.json
fails 3 'cut.json: truncated' memtrace baseline cut.json
for seed in 1 2; do
	MEMTRACE_OUTPUT=$PWD/run$seed.json
	export MEMTRACE_OUTPUT
	traced "$E2E/changes" none "$seed"
	unset MEMTRACE_OUTPUT
	ok "run $seed" memtrace baseline "run$seed.json" -o "run$seed.base.json"
done
ok 'two runs of one program have one baseline, to the byte' cmp run1.base.json run2.base.json
is 'which names neither process nor folder' "$(grep -c "$MEMTRACE_TEST_TMP" run1.base.json)" 0
ok 'phases by the thousand become one' "$BUILD/tests/generator" --events 60000 --json many.json
ok 'in a baseline' memtrace baseline many.json -o many.base.json
is 'that is small' "$([ "$(wc -c <many.base.json)" -lt 100000 ] && echo yes)" yes
ok 'and keeps their peaks' memtrace diff --fail-on 'allocated.peak[phase=step]>0' --fail-on 'allocated.added[phase=step]>0' many.base.json many.json
is 'in every row' "$(memtrace diff -f json many.base.json many.json | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["rows"])')" '[]'
ok 'a baseline of it is itself' sh -c "memtrace baseline many.base.json | cmp - many.base.json"
ok 'of a run that allocated nothing' memtrace baseline "$TOP/tests/data/recorded/oom-too_large.json" -o none.base.json
ok 'too' sh -c "memtrace baseline none.base.json | cmp - none.base.json"
