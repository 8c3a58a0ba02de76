#!/bin/sh
# Ranges and marks of NVTX become phases and events with their names, without CUPTI.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

"$E2E/nvtx" >plain.out
plain=$?
if [ $plain = 77 ]; then
	skip nvtx 'no NVTX headers under /usr/local/cuda'
	exit 0
fi
traced "$E2E/nvtx"
is 'the program succeeds' "$?:$(cat "$OUT")" "$plain:$(cat plain.out)"
ok 'the trace keeps its promises' validate "$TRACE"
is 'marks' "$(json "$TRACE" '[e["name"] for e in d["events"] if e["op"] == "mark"][:5]')" \
	'["before CUDA", "registered", "end", "full", "marked by payload"]'
is 'a long name is whole' "$(json "$TRACE" '[(e["name"][:5], e["name"][-5:], len(e["name"])) for e in d["events"] if e["op"] == "mark"][5]')" \
	'["aten:", "conv1", 167]'
is 'a mark without a name' "$(json "$TRACE" 'len([e for e in d["events"] if e["op"] == "mark"])')" 7
is 'pushes and pops' \
	"$(json "$TRACE" '" ".join("%s:%s" % (e["op"], e["name"]) for e in d["events"] if e["op"] in ("push", "pop")
		and e["name"])')" \
	'push:step push:größe pop:größe push:first push:registered pop:first pop:registered pop:step push:in domain pop:in domain push:full pop:full push:crossing pop:crossing push:closed by payload pop:closed by payload push:by payload pop:by payload push:schema pop:schema push:left open'
is 'phases, with their domains and what was held at start, peak and end' \
	"$(json "$TRACE" '"\n".join("%s %s %s" % (p["name"], p["domain"],
		[(p["allocated"][k + "_bytes"] or 0) >> 20 for k in ("start", "peak", "end")])
		for p in sorted(d["phases"], key=lambda p: p["name"]))')" \
	'by payload payload [9, 9, 9]
closed by payload payload [9, 9, 9]
crossing None [8, 9, 9]
first None [1, 3, 3]
full library [8, 8, 8]
größe None [1, 3, 1]
in domain library [4, 8, 8]
left open None [9, 10, 0]
registered library [2, 4, 4]
schema payload [9, 9, 9]
step None [0, 4, 4]'
is 'born, freed and kept, in MiB' \
	"$(json "$TRACE" '"\n".join("%s %s" % (p["name"],
		[p[k]["bytes"] >> 20 for k in ("allocations", "freed", "kept")])
		for p in sorted(d["phases"], key=lambda p: p["name"]))')" \
	'by payload [0, 0, 0]
closed by payload [0, 0, 0]
crossing [1, 0, 1]
first [2, 0, 2]
full [0, 0, 0]
größe [2, 2, 0]
in domain [4, 0, 4]
left open [1, 0, 1]
registered [2, 0, 2]
schema [0, 0, 0]
step [6, 2, 4]'
is 'colour, category and payload of a range' \
	"$(json "$TRACE" '[(p["category"], p["color"], p["payload"]) for p in d["phases"] if p["name"] == "full"]')" \
	'[["kernels", "#76b900", -5]]'
is 'and of a mark, whose domain has no such category' \
	"$(json "$TRACE" '[(e["category"], e["color"], e["payload"]) for e in d["events"] if e["op"] == "mark" and e["name"] == "full"]')" \
	'[["7", "#76b900", 0.25]]'

# Where a person or another tool sees phases, their words are there too.
ok 'a report' memtrace report --show phases "$TRACE"
has 'names the domain' "$OUT" '  full (library) '
ok 'a timeline' memtrace timeline "$TRACE"
has 'too' "$OUT" 'full (library) '
ok 'chrome' memtrace export "$TRACE" --to chrome -o nvtx.chrome
is 'has colour, category and payload' "$(json nvtx.chrome '[[e["args"].get(k) for k in ("domain", "category", "color", "payload")]
	for e in d["traceEvents"] if e.get("cat") == "phase" and e["name"] in ("full", "step")]')" \
	'[[null, null, null, null], ["library", "kernels", "#76b900", -5]]'
ok 'sqlite' memtrace export "$TRACE" --to sqlite -o nvtx.db
is 'has them' "$("$PYTHON" -c 'import sqlite3
print(sqlite3.connect("nvtx.db").execute("SELECT category, color, payload FROM phases WHERE color <> 0").fetchall())')" \
	"[('kernels', '#76b900', -5)]"
ok 'a page' memtrace html "$TRACE" -o nvtx.html
has 'has them' nvtx.html '"category":"kernels","color":"#76b900","payload":-5'

# Where stacks are weighed, each is told apart by the phase in which its blocks were born: the peak is
# at the end.
born=$("$PYTHON" "$TOP/tests/e2e/capture/births.py" "$TRACE")
ok 'folded by phase' memtrace export "$TRACE" --to folded --by phase
is 'has the phase outermost' "$(awk -F';' '{ split($NF, last, " "); n = split($0, words, " "); sum[$1] += words[n] }
	END { for (name in sum) print sum[name], name }' "$OUT" | sort)" "$born"
ok 'speedscope by phase' memtrace export "$TRACE" --to speedscope --by phase
is 'as well' "$(json "$OUT" '"\n".join(sorted("%d %s" % (sum(w for s, w in zip(p["samples"], p["weights"]) if s[0] == n), f["name"])
	for p in d["profiles"] for n, f in enumerate(d["shared"]["frames"]) if any(s[0] == n for s in p["samples"])))')" "$born"
ok 'pprof by phase' memtrace export "$TRACE" --to pprof --by phase -o nvtx.pb.gz
is 'has it as a label' "$(gzip -dc nvtx.pb.gz | grep -ac 'in domain')" 1
fails 2 'only on: folded, speedscope, pprof' memtrace export "$TRACE" --to csv --by phase
fails 2 'is not one of phase, thread' memtrace export "$TRACE" --to folded --by site
