#!/bin/sh
# The flight recorder: whatever is kept of the events, sums, peaks and what lives are those of a
# recording without bounds; killed or not.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# What must not depend on what is kept: all of the ledger but its times and what is sampled in time.
ledger='json.dumps([
	[[e["device"], e["allocations"], e["frees"], e["ooms"]] + [[e[m]["peak_bytes"], e[m]["exit_bytes"]] for m in ("allocated", "reserved")]
	 + [[o["owner"], o["reserved"]["peak_bytes"], o["allocations"], o["frees"]] for o in e["owners"]] for e in d["summary"]["devices"]],
	[[p["device"], p["metric"], p["bytes"], sorted([s["bytes"], s["count"]] for s in p["stacks"])] for p in d["peaks"]],
	sorted([s["site"], s["allocations"], s["frees"], s["bytes"], s["live_bytes"], s["peak_bytes"]] for s in d["sites"])])'
stretch='[d["capture"]["events_recorded"] == len(d["events"]), d["capture"]["events_since"] is not None,
	d["capture"]["events_recorded"] + d["capture"]["events_dropped"] == d["events"][-1]["seq"] + 1,
	all(e["seq"] == d["capture"]["events_dropped"] + i for i, e in enumerate(d["events"])),
	d["capture"]["events_since"] is None or all(e["t"] >= d["capture"]["events_since"] for e in d["events"])]'

traced "$SAMPLES/churn" 60000
whole=$TRACE
is 'all is kept as a rule' "$(json "$whole" '[d["capture"]["events_dropped"], d["capture"]["events_since"]]')" '[0, null]'
wanted=$(json "$whole" "$ledger")
for keep in 1s,256KiB 256KiB 1h,256KiB; do
	ok "run --keep $keep" memtrace run --keep "$keep" -o "$PWD/kept.json" -- "$SAMPLES/churn" 60000
	is "$keep: the same ledger" "$(json kept.json "$ledger")" "$wanted"
	ok "$keep: a trace that keeps its promises" validate kept.json
	is "$keep: the end, without a hole" "$(json kept.json "$stretch")" '[true, true, true, true, true]'
	ok "$keep: reported" memtrace report kept.json
	has "$keep: with what the events cover" "$OUT" 'none is missing from the last'
	ok "$keep: as JSON" memtrace report --json kept.json
	is "$keep: with the same" "$(json "$OUT" 'd["events_since"]')" "$(json kept.json 'd["capture"]["events_since"]')"
	for verb in timeline 'html -o page.html' 'export --to chrome' 'export --to csv'; do
		# shellcheck disable=SC2086  # words
		ok "$keep: memtrace ${verb%% *}" memtrace $verb kept.json
	done
	rm -f kept.json
done
MEMTRACE_KEEP=1h traced "$SAMPLES/churn" 60000
is 'an hour is more than there is' "$(json "$TRACE" '[d["capture"]["events_dropped"], len(d["events"])]')" '[0, 120002]'
MEMTRACE_KEEP=1h MEMTRACE_MAX_EVENTS=1000 traced "$SAMPLES/churn" 60000
is 'a number of events that is asked for counts besides' "$(json "$TRACE" '900 < len(d["events"]) <= 1000')" true
is 'and they are the latest' "$(json "$TRACE" "$stretch")" '[true, true, true, true, true]'

# --- a bounded file, also when the process is killed ------------------------------------------------------
mkfifo in
MEMTRACE_KEEP=1s,1MiB LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT="$PWD/killed.json" "$E2E/alive" <in >alive.out 2>alive.err &
pid=$!
exec 5>in
printf 'take 7 4096\nchurn\n' >&5
# Several times round the ring of eight chunks.
until [ -e killed.spool ] && memtrace top "$pid" --once --json >top.json 2>top.err &&
	[ "$(json top.json 'd["processes"][0]["events"] > 1000000')" = true ]; do
	kill -0 "$pid" || break
	sleep 0.1
done
size=$(stat -c %s killed.spool)
until memtrace top "$pid" --once --json >top.json 2>top.err &&
	[ "$(json top.json 'd["processes"][0]["events"] > 2000000')" = true ]; do
	kill -0 "$pid" || break
	sleep 0.1
done
is 'a million events later the file is as large' "$(stat -c %s killed.spool)" "$size"
{ kill -9 "$pid" && wait "$pid"; } 2>killed.said
exec 5>&-
ok 'it is recovered' memtrace recover killed.spool
ok 'as a trace that keeps its promises' validate killed.json
is 'the end, without a hole' "$(json killed.json "$stretch")" '[true, true, true, true, true]'
is 'with all that was taken' "$(json killed.json '[s["allocations"] for s in d["sites"] if s["site"].startswith("take_here")]')" '[7]'

# --- what cannot be kept ------------------------------------------------------------------------------------
for keep in 10 10m 0s 5weeks 1s,2s; do
	fails 2 'is not a time, a size or both' memtrace run --keep "$keep" -- true
done
MEMTRACE_KEEP=10m traced "$SAMPLES/leak"
has 'a bad value is told in the trace, and the default taken' "$TRACE" 'the value of MEMTRACE_KEEP'
