#!/bin/sh
# A recording made before keys were renamed is read in full once the table of names is applied to it.
. "$(dirname "$0")/../lib.sh"

schema_holds() {
	"$PYTHON" -c 'import json, jsonschema, sys
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' "$1" "$TOP/include/memtrace/trace.schema.json"
}

cp "$TOP/tests/data/old_keys.json" old.json
is 'the keys of before are not those of the schema' "$(schema_holds old.json 2>/dev/null; echo $?)" 1
ok 'the names are brought up to date' "$PYTHON" "$TOP/tests/renamed_keys.py" old.json
ok 'then all its keys are those of the schema' schema_holds old.json
ok 'and is reported' memtrace report --json --show phases old.json
is 'with its phases' "$(json "$OUT" '[[p[k]["bytes"] > 0 for k in ("allocations", "freed", "kept")] for p in d["phases"]][0]')" \
	'[true, false, true]'
is 'texts are left alone' "$(printf '%s' '{"born":"\"born\":","name":"born"}' >text && "$PYTHON" "$TOP/tests/renamed_keys.py" text && cat text)" \
	'{"allocations":"\"born\":","name":"born"}'
