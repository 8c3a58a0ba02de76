#!/bin/sh
# The traces recorded on a real GPU: they keep their promises, and every verb reads them.
. "$(dirname "$0")/../lib.sh"

for trace in "$TOP"/tests/data/recorded/*.json; do
	name=${trace##*/}
	case $name in change-*) continue ;; esac # baselines: diff.sh reads them
	ok "$name: the trace keeps its promises" validate "$trace"
	ok "$name: report" memtrace report "$trace"
	is "$name: which is a screen, of 80 columns" "$(awk 'length > 80 { n++ } END { print NR <= 66 && !n }' "$OUT")" 1
	ok "$name: report --json" memtrace report --json "$trace"
	cp "$OUT" report.json
	is "$name: the report's peaks are the trace's" \
		"$(json report.json '[[x["allocated"]["peak_bytes"], x["reserved"]["peak_bytes"]] for x in d["devices"]]')" \
		"$(json "$trace" '[[x["allocated"]["peak_bytes"], x["reserved"]["peak_bytes"]] for x in d["summary"]["devices"]]')"
	ok "$name: export" memtrace export "$trace" --to events -o events
	is "$name: every event is exported" "$(wc -l <events | tr -d ' ')" "$(json "$trace" 'len(d["events"])')"
done
for sample in scopes operators caching-py forward_backward; do
	ok "$sample.py: every figure that it printed is the trace's" "$PYTHON" "$TOP/tests/gpu/experiments.py" \
		"$TOP/tests/data/recorded/$sample.json" "$TOP/tests/data/recorded/$sample.txt"
done
for sample in scopes operators train; do
	memtrace report --json "$TOP/tests/data/recorded/$sample.json" >report.json
	is "$sample.py: nearly all of its peak has a category" "$(json report.json \
		'sum(r["peak_bytes"] for r in d["categories"][0]["categories"] if r["category"] == "other") * 20 < d["categories"][0]["peak_bytes"]')" true
done
memtrace report "$TOP/tests/data/recorded/train.json" >train.txt
has 'the training: lines of the program are named' train.txt 'train.py:'
has 'the training: the workspace of cuBLAS has its own library as owner' train.txt 'libcublas.so.13'
is 'the training: the pool is PyTorch'"'"'s' \
	"$(json "$TOP/tests/data/recorded/train.json" '[p["pool"] for p in d["summary"]["devices"][0]["pools"]]')" '["torch"]'
two=$TOP/tests/data/recorded/two_devices
is 'two devices in one process: peaks are what PyTorch counted on each' \
	"$(json "$two.json" '[[x["device"], p["allocated"]["peak_bytes"], p["reserved"]["peak_bytes"]] for x in d["summary"]["devices"] for p in x["pools"] if p["pool"] == "torch"]')" \
	"$("$PYTHON" -c 'import sys; print([[int(w) for i, w in enumerate(line.split()) if i in (0, 2, 4)] for line in open(sys.argv[1])])' "$two.txt")"
memtrace report --full "$two.json" >two.txt
has 'and the report shows both' two.txt 'Device 1: NVIDIA H100'
ok 'the example of the format fits the schema' "$PYTHON" -c '
import json, sys
import jsonschema
schema, example = (json.load(open(path)) for path in sys.argv[1:])
jsonschema.validators.validator_for(schema)(schema).validate(example)
' "$TOP/include/memtrace/trace.schema.json" "$TOP/tests/data/example.json"
memtrace merge "$TOP/tests/data/recorded/ddp" >merged.txt
has 'two ranks: which peaks' merged.txt 'Rank 1 peaks 79.84 MiB above the median of 2 ranks'
has 'two ranks: why' merged.txt '_ddp_init_helper'
memtrace report --json "$TOP/tests/data/recorded/change-adamw.json" >baseline.json
is 'a baseline tells of a leak what it tells of its site' \
	"$(json baseline.json '[(s["bytes"], s["count"], s["allocations"], s["frees"]) for s in d["leaks"]["sites"] if s["site"].startswith("MmBackward0")]')" '[[33554432, 1, 9, 8]]'
