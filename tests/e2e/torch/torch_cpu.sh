#!/bin/sh
# PyTorch's report (door 4) and Python frames without a GPU: CPU tensors of Debian's PyTorch.
. "$(dirname "$0")/../lib.sh"

PYTHON3=/usr/bin/python3
if ! $PYTHON3 -c 'import torch' 2>/dev/null; then
	skip "CPU tensors of PyTorch" "no PyTorch for $PYTHON3 (apt-get install python3-torch)"
	exit 0
fi

traced env MEMTRACE_CPU=1 $PYTHON3 "$TOP/tests/e2e/torch/torch_cpu.py"
cp "$OUT" said
ok "the trace keeps its promises" validate "$TRACE"
is "every tensor has its line, function and file" "$($PYTHON3 - "$TRACE" said <<'PY'
import json, sys
trace = json.load(open(sys.argv[1]))
wrong = found = 0
for line in open(sys.argv[2]):
    size, rest = line.split(" ", 1)
    file, number, function = rest.rstrip("\n").rsplit(" ", 2)
    event = [e for e in trace["events"] if e["op"] == "alloc" and e["size"] == int(size)]
    frames = [trace["frames"][i] for e in event for i in trace["stacks"][e["stack"]]["frames"]]
    python = [f for f in frames if f["language"] == "python"]
    found += 1
    if len(event) != 1 or not python or (python[0]["file"], python[0]["line"]) != (file, int(number)) \
            or (sys.version_info >= (3, 11) and python[0]["function"] != function):
        wrong += 1
        print(size, file, number, function, python[:1], len(event))
print(found, wrong)
PY
)" "10 0"
is "they are CPU memory" "$(json "$TRACE" '[s["space"] for s in d["summary"]["spaces"]]')" '["cpu"]'
is "native frames end where Python begins" "$(json "$TRACE" \
	'sum(f["function"] == "_PyEval_EvalFrameDefault" for f in d["frames"])')" "0"
ok "a report" memtrace report "$TRACE"
has "tells who held it" "$OUT" 'Peak of cpu memory: '
