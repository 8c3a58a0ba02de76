#!/bin/sh
# Ranges and marks of NVTX become phases and events with their names, without CUPTI.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

"$E2E/nvtx" >plain.out
plain=$?
if [ $plain = 77 ]; then
	skip nvtx 'no NVTX headers under /usr/local/cuda'
	exit 0
fi
traced "$E2E/nvtx"
is 'the program succeeds' "$?:$(cat "$OUT")" "$plain:$(cat plain.out)"
ok 'the trace keeps its promises' validate "$TRACE"
is 'marks' "$(json "$TRACE" '[e["name"] for e in d["events"] if e["op"] == "mark"]')" \
	'["before CUDA", "registered", "end"]'
is 'pushes and pops' \
	"$(json "$TRACE" '" ".join("%s:%s" % (e["op"], e["name"]) for e in d["events"] if e["op"] in ("push", "pop")
		and e["name"])')" \
	'push:step push:größe pop:größe push:first push:registered pop:first pop:registered pop:step push:in domain pop:in domain'
is 'phases, with their domains and what was held at start, peak and end' \
	"$(json "$TRACE" '"\n".join("%s %s %s" % (p["name"], p["domain"],
		[p["allocated"][k + "_bytes"] >> 20 for k in ("start", "peak", "end")])
		for p in sorted(d["phases"], key=lambda p: p["name"]))')" \
	'first None [1, 3, 3]
größe None [1, 3, 1]
in domain library [4, 8, 8]
registered library [2, 4, 4]
step None [0, 4, 4]'
