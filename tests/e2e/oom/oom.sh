#!/bin/sh
# What fails is told with its stack and its size, and moves no sum.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# The sample asks for twice the card.
traced "$SAMPLES/oom"
asked=$(sed -n 's/^asked=//p' "$OUT")
is 'the refusal is one event, with size, name, reason and nobody'\''s address' \
	"$(json "$TRACE" '[[e["size"], e["api"], e["error"], e["ptr"], e["device"], e["space"]] for e in d["events"] if e["op"] == "oom"]')" \
	"[[$asked, \"cudaMalloc\", \"out of memory\", null, 0, \"device\"]]"
is 'it names who asked' "$(json "$TRACE" '["ask_too_much" in [d["frames"][i]["function"]
	for i in d["stacks"][e["stack"]]["frames"]] for e in d["events"] if e["op"] == "oom"]')" '[true]'
is 'it is counted' "$(json "$TRACE" 'd["summary"]["devices"][0]["ooms"]')" 1
is 'the sums are as before' \
	"$(json "$TRACE" '[[e["allocated"], e["reserved"]] for e in d["events"] if e["op"] in ("oom",)
		or e is d["events"][[f["op"] for f in d["events"]].index("oom") - 1]]')" \
	'[[100663296, 100663296], [100663296, 100663296]]'
ok 'the trace keeps its promises' validate "$TRACE"

[ -z "$GPU" ] || exit 0

# Any allocation may be the one that fails, of any kind.
fields='[[e["op"], e["api"], e["size"] >> 20] for e in d["events"] if "error" in e and e["error"]]'
for number in 1 2 3 4 5 6 10; do
	traced env FAKE_CUDA_OOM_AFTER=$number FAKE_CUDA_REPORT="$PWD/report$number" "$E2E/failures"
	is "allocation $number fails: the program goes on" "$?:$(grep -c . "$OUT")" 0:4
	case $((number % 5)) in
	1) failed='["oom", "cudaMalloc", 1]' ;;
	2) failed='["oom", "cuMemAlloc_v2", 2]' ;;
	3) failed='["oom", "cudaMallocAsync", 4]' ;;
	4) failed='["oom", "cudaMallocHost", 8]' ;;
	0) failed='["oom", "cuMemCreate", 16]' ;;
	esac
	is "allocation $number fails: it is an event" "$(json "$TRACE" "$fields")" "[$failed]"
	is "allocation $number fails: its caller is named" "$(json "$TRACE" '["take_and_give" in
		[d["frames"][i]["function"] for i in d["stacks"][e["stack"]]["frames"]] for e in d["events"]
		if e["op"] == "oom"]')" '[true]'
	is "allocation $number fails: the peak is the driver's" \
		"$(json "$TRACE" 'd["summary"]["devices"][0]["allocated"]["peak_bytes"]')" \
		"$(json "report$number" 'd["all"]["allocated"]["peak"]')"
	ok "allocation $number fails: the trace keeps its promises" validate "$TRACE"
done

# A free that fails has freed nothing: with or without it the sums are the same.
sums='([[v[m]["peak_bytes"], v[m]["exit_bytes"]] for v in d["summary"]["devices"] for m in ("allocated", "reserved")]
	+ [[v["allocated"]["peak_bytes"], v["allocated"]["exit_bytes"]] for v in d["summary"]["spaces"]])'
traced "$E2E/failures"
wanted=$(json "$TRACE" "$sums")
for number in 1 2 3 4 5 8; do
	traced env FAKE_CUDA_FREE_FAILS=$number "$E2E/failures"
	is "free $number fails: the program goes on" "$?:$(sed -n 's/^failed_frees=//p' "$OUT")" 0:1
	is "free $number fails: no sum is another" "$(json "$TRACE" "$sums")" "$wanted"
	is "free $number fails: nothing is live at the end" \
		"$(json "$TRACE" 'sum(e["size"] * {"alloc": 1, "free": -1}.get(e["op"], 0) for e in d["events"])')" 0
	ok "free $number fails: the trace keeps its promises" validate "$TRACE"
done
