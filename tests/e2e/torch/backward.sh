#!/bin/sh
# Blocks made in a backward pass, on a thread without Python, know the line they come from.
. "$(dirname "$0")/../lib.sh"

# A GPU has PyTorch itself: tests/gpu.
[ -z "$GPU" ] || { skip "the model of autograd" "PyTorch is here"; exit 0; }

lines_of() { # TRACE SAID
	"$PYTHON" - "$1" "$2" <<'PY'
import json, sys
trace = json.load(open(sys.argv[1]))
frames, stacks = trace["frames"], trace["stacks"]
threads = {t["thread"]: t["name"] for t in trace["threads"]}
said = dict((int(s), (via, int(line))) for s, via, line in map(str.split, open(sys.argv[2])))
seen = wrong = 0
for event in trace["events"]:
    stack = stacks[event["stack"]] if "stack" in event else {}
    own = [frames[i] for i in stack.get("frames", []) if frames[i]["language"] == "python"]
    if event["op"] == "alloc" and event["size"] in said:
        via = [frames[i] for i in stacks[stack["via_stack"]]["frames"]] if "via" in stack else []
        line = [f["line"] for f in via if f["language"] == "python"][:1]
        node = {"forward": "MmBackward0"}.get(stack.get("via"), stack.get("node"))
        seen += 1
        if own or (stack.get("via"), line) != (said[event["size"]][0], [said[event["size"]][1]]) \
                or node != stack["node"] or threads[event["thread"]] != "pt_autograd_0":
            wrong += 1
            print(event, stack, line, said[event["size"]])
    elif "via" in stack:
        wrong += 1
        print("not in a backward pass:", event, stack)
print(seen, "of", len(said), "seen,", wrong, "wrong")
PY
}

for python in /usr/bin/python3 "$HOME"/.pyenv/versions/3.*/bin/python3; do
	version=$("$python" -c 'import sys; assert sys.version_info >= (3, 8); print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
	traced "$python" "$TOP/tests/e2e/torch/backward.py" "$E2E"
	is "python $version: the program is none the wiser" "$?" 0
	cp "$OUT" said
	ok "python $version: the trace keeps its promises" validate "$TRACE"
	is "python $version: each block of a backward pass has its line" "$(lines_of "$TRACE" said)" \
		"20 of 20 seen, 0 wrong"
	memtrace report --json "$TRACE" >report.json
	is "python $version: they are gradients" \
		"$(json report.json '[r["exit_bytes"] for r in d["categories"][0]["categories"] if r["category"] == "gradients"]')" \
		"[$(awk '{ sum += $1 } END { print sum }' said)]"
done
ok "a report names the lines" memtrace report --by line --limit 50 "$TRACE"
has "of the operators" "$OUT" "step [backward] (backward.py:"
has "and of the call" "$OUT" "step [via backward()] (backward.py:"
