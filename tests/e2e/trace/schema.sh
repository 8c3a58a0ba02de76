#!/bin/sh
# `make schema`: the schema of traces follows the rows of facts/trace.def.
. "$(dirname "$0")/../lib.sh"

mkdir -p copy/scripts copy/src/facts copy/include/memtrace
cp "$TOP/scripts/schema.py" copy/scripts/
cp "$TOP/src/facts/trace.def" copy/src/facts/
cp "$TOP/include/memtrace/trace.schema.json" copy/include/memtrace/
rows=copy/src/facts/trace.def schema=copy/include/memtrace/trace.schema.json

ok 'the schema has the members of the rows' "$PYTHON" copy/scripts/schema.py --check
sed -i '/^BEGIN(peak)/a\	ROW(U64, sizes, ALWAYS) /* how many sizes held it */' "$rows"
sed -i '/^BEGIN(thread)/,/^END/ s/ROW(BOOL, main, ALWAYS)/ROW(U64, main, ALWAYS)/; /ROW(U64, gaps, ALWAYS)/d' "$rows"
fails 1 'trace.peaks.sizes has a row and is not in the schema' "$PYTHON" copy/scripts/schema.py --check
has 'a member that lost its row' "$ERR" 'trace.ooms.pools.gaps is in the schema and has no row'
has 'another type' "$ERR" "trace.threads.main is ['boolean'], its row ['integer']"
ok 'the schema is made from the rows' "$PYTHON" copy/scripts/schema.py
ok 'and has them then' "$PYTHON" copy/scripts/schema.py --check
is 'the description is the comment of the row' \
	"$(json "$schema" 'd["properties"]["peaks"]["items"]["properties"]["sizes"]')" \
	'{"type": "integer", "minimum": 0, "description": "How many sizes held it."}'
is 'it is required, as its row says' "$(json "$schema" '"sizes" in d["properties"]["peaks"]["items"]["required"]')" true
sed -i '/^BEGIN(peak)/a\	ROW(U64, nameless, ALWAYS)' "$rows"
fails 1 'nameless needs a comment in its line' "$PYTHON" copy/scripts/schema.py
