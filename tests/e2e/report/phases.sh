#!/bin/sh
# What a report tells of phases: by name, numbers folded where there are many, device by device.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

GENERATOR=$BUILD/tests/generator

told() { # TRACE: the names that its report has, once its figures are right
	memtrace report --json --limit 0 "$1" >report.json && "$PYTHON" "$TOP/tests/e2e/report/phases.py" report.json "$1"
}

FAKE_CUDA_DEVICES=2 traced "$E2E/ranges" 2000
is 'many names that differ in a number are one' "$(told "$TRACE")" 'all depth #'
ok 'a report of phases' memtrace report --show phases "$TRACE"
has 'tells what was born and freed' "$OUT" '    reserved peak 8.00 KiB, allocated in total 84.00 KiB, freed 80.00 KiB'
is 'of each device, too' "$(grep -cE '^ {11}[01] +[0-9.]+ [KMG]?i?B' "$OUT")" 4
is 'and all of a kind in a row' "$(grep -c '^  depth #  *2,000 ' "$OUT")" 1

ok 'three devices' "$GENERATOR" --events 4000 --live 300 --devices 3 --threads 3 --phases 2 --json three.json
is 'few names are told one by one' "$(told three.json)" 'forward step'
sed 's/"name":"step"/"name":"step 7"/; s/"name": "step"/"name": "step 7"/' three.json >seven.json
is 'as they are' "$(told seven.json)" 'forward step 7'
for trace in train scopes operators jax nccl; do
	ok "$trace: figures of phases" told "$TOP/tests/data/recorded/$trace.json"
done

# What the exports tell of them.
ok 'chrome' memtrace export three.json --to chrome -o three.chrome
is 'has what was born, freed and outlives' "$(json three.chrome '[sum(e["args"][k] for e in d["traceEvents"] if e.get("cat") == "phase")
	for k in ("allocations", "freed", "kept")]')" \
	"$(json three.json '[sum(p[k]["bytes"] for p in d["phases"]) for k in ("allocations", "freed", "kept")]')"
is 'and the peaks of each device' "$(json three.chrome 'max(e["args"]["peak of allocated on device 2"] for e in d["traceEvents"] if e.get("cat") == "phase")')" \
	"$(json three.json 'max(x["allocated"]["peak_bytes"] for p in d["phases"] for x in p["devices"] if x["device"] == 2)')"

# What the timeline tells of them is the report's.
ok 'a timeline' memtrace timeline three.json
sed -n '/^By name/,/^$/p' "$OUT" | sed '1,2d; /^$/d; s/^ *//; s/  */ /g' >timeline.phases
memtrace report --json --limit 0 three.json >report.json
is 'has the highest phases by name' "$(cat timeline.phases)" "$(json report.json '"\n".join("%s %d %s %s" % (
	p["name"], p["times"], *(("%.2f GiB" % (b / 2**30) if b >= 2**30 else "%.2f MiB" % (b / 2**20) if b else "0 B")
	for b in (p["allocated_peak_bytes"], p["growth_bytes"]))) for p in d["phases"])' | sed 's/ \([0-9.]* [GM]iB\)$/ +\1/')"
