#!/bin/sh
# Categories by rules of one's own, and wherever else a category can be asked for.
. "$(dirname "$0")/../lib.sh"

TRAIN=$TOP/tests/data/recorded/train.json
SCHEMA=$TOP/include/memtrace/report.schema.json

fits_schema() { # FILE
	"$PYTHON" -c '
import json, sys
import jsonschema
schema, said = (json.load(open(path)) for path in sys.argv[1:])
jsonschema.validators.validator_for(schema)(schema).validate(said)
' "$SCHEMA" "$1"
}

verdict() { # STATUS ARGUMENTS...
	verdict_wanted=$1
	shift
	memtrace "$@" >"$OUT" 2>"$ERR"
	is "memtrace $*: the verdict" "$?" "$verdict_wanted"
}

# --- a recorded training: parameters, gradients and AdamW's state are 1 : 1 : 2 ---
ok 'categories of a recorded training' memtrace report --json "$TRAIN"
cp "$OUT" said.json
ok 'fit the schema' fits_schema said.json
is 'all told block by block' "$(json said.json '[p["peak_from"] + p["exit_from"] for p in d["categories"]]')" \
	'["blocksblocks", "blocksblocks", "blocksblocks"]'
is 'parameters and twice of them as state' "$(json said.json '[r["peak_bytes"] for r in d["categories"][0]["categories"]
	if r["category"] in ("parameters", "optimizer-state")]')" '[463872, 927744]'
is 'categories of each peak sum to it' "$(json said.json 'all(sum(c["bytes"] for c in p["categories"]) == p["bytes"]
	for p in d["peaks"] if p["metric"] == "allocated")')" true
is 'at every point of the curve, too' "$("$PYTHON" - said.json "$TRAIN" <<'PY'
import bisect, json, sys
place = json.load(open(sys.argv[1]))["categories"][0]
curve = next(c for c in json.load(open(sys.argv[2]))["timeline"] if c["pool"] is None)
wrong = 0
for i, t in enumerate(place["timeline"]["t"]):
    whole = curve["allocated"][bisect.bisect_right(curve["t"], t) - 1]
    wrong += sum(column[i] for column in place["timeline"]["bytes"].values()) != whole
print(len(place["timeline"]["t"]) > 50, wrong, place["peak_t"] in place["timeline"]["t"])
PY
)" 'True 0 True'
ok 'the highest moment of one category' memtrace report --json --filter 'category=gradients' "$TRAIN"
is 'has nothing else' "$(json "$OUT" '[(p["bytes"], [c["category"] for c in p["categories"]]) for p in d["peaks"]]')" \
	'[[463872, ["gradients"]]]'
ok 'rows are categories' memtrace report --by category --show peaks "$TRAIN"
has 'with their lines' "$OUT" 'optimizer-state                                28 blocks'
ok 'a moment' memtrace report --at peak "$TRAIN"
has 'tells them' "$OUT" 'optimizer-state'
ok 'a moment by category' memtrace report --json --at "$(seconds "$TRAIN" 3 'peak - 8e7')s" --by category "$TRAIN"
cp "$OUT" moment.json
ok 'fits the schema' fits_schema moment.json
ok 'a pipe' sh -c "cat '$TRAIN' | memtrace report --show categories -"
has 'is told as well' "$OUT" 'optimizer-state'
fails 3 'standard input cannot be read twice' sh -c "cat '$TRAIN' | memtrace report --by category -"
fails 2 'there is no category grads; the categories are: parameters, gradients' memtrace report --filter category=grads "$TRAIN"

# --- rules of one's own ---
cat >my.rules <<'END'
# ours
attention: frame="Block.attend (*" stage=forward|backward
workspaces: size>1TiB
END
ok 'rules of a file' memtrace report --json --rules my.rules "$TRAIN"
is 'come first' "$(json "$OUT" '"attention" in [r["category"] for r in d["categories"][0]["categories"]]')" true
ok 'a category of the file' memtrace report --rules my.rules --filter category=attention "$TRAIN"
fails 2 'there is no category attention' memtrace report --filter category=attention "$TRAIN"
echo 'attention frame=f' >bad.rules
for verb in 'report' 'diff' 'check --max ooms<=0' 'baseline'; do
	set -- "$TRAIN"
	[ "$verb" != diff ] || set -- "$TRAIN" "$TRAIN"
	# shellcheck disable=SC2086  # words
	fails 2 'bad.rules: line 1: no colon' memtrace $verb --rules bad.rules "$@"
done
fails 2 'no.rules: No such file' memtrace report --rules no.rules "$TRAIN"
ok 'the built-in rules are printed' memtrace help --rules
cp "$OUT" built-in.rules
memtrace report --json "$TRAIN" | sed 1,2d >plain.json
ok 'and are a file of rules' memtrace report --json --rules built-in.rules "$TRAIN"
is 'that changes nothing' "$(sed 1,2d "$OUT" | cmp - plain.json && echo same)" same

# --- compared ---
ok 'a baseline' memtrace baseline -o base.json "$TRAIN"
ok 'keeps them' memtrace report --json base.json
is 'to the byte' "$(json "$OUT" 'sorted((r["category"], r["peak_bytes"]) for r in d["categories"][0]["categories"] if r["peak_bytes"])')" \
	"$(json said.json 'sorted((r["category"], r["peak_bytes"]) for r in d["categories"][0]["categories"] if r["peak_bytes"])')"
ok 'that is valid' validate base.json
verdict 1 check --max 'allocated.peak[category=workspaces]<=100MiB' base.json
verdict 1 check --max 'allocated.peak[device=0][category=param*]<=400KiB' "$TRAIN"
ok 'within a budget' memtrace check --max 'allocated.peak[category=parameters]<=453KiB' "$TRAIN"
ok 'what there is none of is 0' memtrace check --max 'allocated.peak[category=kv-caches]<=0' "$TRAIN"
fails 3 'matches nothing: there is no such category' memtrace check --max 'allocated.peak[category=weights]<=0' "$TRAIN"
ok 'no change' memtrace diff base.json "$TRAIN" --force --fail-on 'allocated.peak[category=*]>0%'
echo 'weights: file=*/torch/nn/modules/module.py called=no' >weights.rules
verdict 1 diff "$TRAIN" base.json --force --rules weights.rules --fail-on 'allocated.peak[category=parameters]>1KiB'
"$PYTHON" -c 'import json, sys
base = json.load(sys.stdin)
for row in base["summary"]["devices"] + base["summary"]["spaces"]:
    row.pop("categories", None)
print(json.dumps(base))' <"$TOP/tests/data/recorded/change-none.json" >older.json
fails 3 'cannot be compared by category' memtrace diff older.json "$TRAIN" --force \
	--fail-on 'allocated.peak[category=parameters]>1KiB'
