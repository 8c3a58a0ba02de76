#!/bin/sh
# PyTorch under control: after a thousand toggles the ledger is PyTorch's own, by the API and by
# memtrace ctl; with samples its sums are those of a run with every stack, and sites are near them.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
if ! python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
	skip control 'no PyTorch for this GPU'
	exit 0
fi

# What PyTorch says at the end: current and peak of both, allocations and frees. The program's end
# frees more, so this is the pool's state at the last event before: its peaks, and the counts.
pool='[p for p in d["summary"]["devices"][0]["pools"] if p["pool"] == "torch"][0]'
compare() { # NAME OUTPUT
	is "$1: the peaks are PyTorch's" \
		"$(json "$TRACE" "[${pool}[\"allocated\"][\"peak_bytes\"], ${pool}[\"reserved\"][\"peak_bytes\"]]")" \
		"[$(awk '/^allocated_bytes/ { a = $3 } /^reserved_bytes/ { r = $3 } END { print a ", " r }' "$2")]"
	is "$1: so is the number of allocations" "$(json "$TRACE" "${pool}[\"allocations\"]")" \
		"$(awk '/^allocations/ { print $2 }' "$2")"
	is "$1: every segment is the pool's" \
		"$(json "$TRACE" "sum(o[\"reserved\"][\"peak_bytes\"] for o in d[\"summary\"][\"devices\"][0][\"owners\"] if o[\"owner\"] == \"libc10_cuda.so\") >= ${pool}[\"reserved\"][\"peak_bytes\"]")" true
	if "$PYTHON" -c 'import jsonschema' 2>/dev/null; then
		ok "$1: the trace keeps its promises" validate "$TRACE"
	else
		skip "$1: the trace keeps its promises" 'no jsonschema here'
	fi
}

run() { # NAME WAY: with the settings that are exported
	traced python3 "$TOP/tests/gpu/control.py" "$2"
	is "$1: it ends as it would" $? 0
	cp "$OUT" own.out
	echo "# $1: $(grep '^seconds' "$ERR"), $(json "$TRACE" 'len(d["events"])') events"
	compare "$1" own.out
}

run 'every event' plain
cp "$TRACE" every.json

MEMTRACE_START=off
export MEMTRACE_START
run 'off from the start' plain
run 'toggled by the program' toggled
unset MEMTRACE_START
is 'toggled by the program: some events, not all' \
	"$(json "$TRACE" '[len(d["events"]) > 1000, d["capture"]["events_dropped"] > 1000]')" '[true, true]'

# By the tool, from outside, as fast as it goes.
TRACE=$MEMTRACE_TEST_TMP/ctl.json
env LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT="$TRACE" python3 "$TOP/tests/gpu/control.py" plain >own.out 2>own.err &
pid=$!
while kill -0 "$pid" 2>>not; do
	memtrace ctl "$pid" stop --wait 60 >>toggled 2>>not
	memtrace ctl "$pid" start --wait 60 >>toggled 2>>not
done
wait "$pid"
is 'toggled by ctl: it ends as it would' $? 0
echo "# toggled by ctl: $(wc -l <toggled) times, $(json "$TRACE" '[len(d["events"]), d["capture"]["events_dropped"]]')"
ok 'toggled by ctl: that worked' [ "$(wc -l <toggled)" -gt 10 ]
compare 'toggled by ctl' own.out

MEMTRACE_FILTER='size>=1MiB,pool=torch'
export MEMTRACE_FILTER
run 'a filter' plain
unset MEMTRACE_FILTER
is 'a filter: what matches, and no other' \
	"$(json "$TRACE" 'len([e for e in d["events"] if e["op"] in ("alloc", "free")])')" \
	"$(json every.json 'len([e for e in d["events"] if e["op"] in ("alloc", "free") and e["size"] >= 1 << 20 and e["pool"] == "torch"])')"

for interval in 64KiB 1MiB; do
	MEMTRACE_SAMPLE=$interval
	export MEMTRACE_SAMPLE
	run "samples of $interval" plain
	ok "samples of $interval: near the run with every stack" \
		"$PYTHON" "$TOP/tests/e2e/estimates.py" "$TRACE" every.json
	tap_comment "$OUT"
done
unset MEMTRACE_SAMPLE
