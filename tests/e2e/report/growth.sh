#!/bin/sh
# Growth, leaks and advice: ten healthy programs and recordings raise no alarm, planted leaks do.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# Sites that grow, and the advice that speaks of growth and leaks.
verdict() { # TRACE
	memtrace report --json --show growth,advice "$1" >verdict.json 2>"$ERR" || cat "$ERR"
	json verdict.json '[[[s["line"], s["bytes_per_step"]] for s in d["growth"]["sites"]],
		[a["rule"] for a in d["advice"] if a["rule"][:4] in ("grow", "leak")]]'
}

# --- healthy programs, and one leak of a thousandth a step in each -------------------------------------
for character in plain lazy optimizer saturating cyclic evaluating varying queueing replacing shuffled; do
	traced "$E2E/steps" "$character" 50 0
	is "$character: no alarm" "$(verdict "$TRACE")" '[[], []]'
	traced "$E2E/steps" "$character" 50 262144
	is "$character: 256 KiB a step are found" "$(verdict "$TRACE")" \
		'[[["leak_here (steps.c:36)", 262144]], ["growth_native"]]'
	ok "$character: without phases" env MEMTRACE_OUTPUT="$character.json" LD_PRELOAD="$LIBRARY" \
		"$E2E/steps" "$character+" 200 0
	is "$character: no alarm there either" "$(verdict "$character.json")" '[[], []]'
done
traced "$E2E/steps" plain+ 200 262144
is 'a leak is found without phases' \
	"$(json "$TRACE" 'len(d["phases"])') $(verdict "$TRACE" |
	cut -c 1-29)" '0 [[["leak_here (steps.c:36)", '

is 'what else is amiss is told besides' "$(json verdict.json '"uncached" in [a["rule"] for a in d["advice"]]')" true

# --- what people read ---------------------------------------------------------------------------------
traced "$E2E/steps" plain 50 2097152
ok 'a large leak is reported' memtrace report "$TRACE"
# shellcheck disable=SC2016  # the names of phases are quoted so
is 'in the first line' "$(head -n 1 "$OUT")" \
	'Memory keeps growing: 2.00 MiB more each `step #`, 78.00 MiB in total, from'
has 'with its row' "$OUT" '2.00 MiB   78.00 MiB   39 of 39'
is 'no line is wider than a terminal' "$(awk 'length > 80' "$OUT")" ''
is 'no line ends in blanks' "$(grep -n ' $' "$OUT")" ''
ok 'every section of it' memtrace report --full "$TRACE"
is 'none is wider than a terminal' "$(awk 'length > 80' "$OUT")" ''
is 'nor ends in blanks' "$(grep -n ' $' "$OUT")" ''

# --- leaks and suppressions -----------------------------------------------------------------------------
ok 'leaks' memtrace report --json --show leaks "$TRACE"
is 'are what was not given back' \
	"$(json "$OUT" '[d["leaks"]["bytes"], d["leaks"]["count"], d["leaks"]["sites"][0]["line"]]')" \
	'[104857600, 50, "leak_here (steps.c:36)"]'
printf '# known\nleak_here   # since ever\nnobody*\n' >known
ok 'known ones' memtrace report --suppressions known --show leaks,growth,advice "$TRACE"
has 'are left out' "$OUT" '100.00 MiB           not listed: matched by suppressions'
# shellcheck disable=SC2016
has 'and grow no more' "$OUT" 'Growth: no call site grew during 50 phases `step #`.'
has 'what is out of date is said' "$OUT" 'known:3: this suppression matches nothing: nobody*'
fails 3 'nothere: No such file' memtrace report --suppressions nothere "$TRACE"
traced "$SAMPLES/leak"
ok 'a program without steps' memtrace report "$TRACE"
has 'gets its leak told' "$OUT" 'was never freed, most of it'
ok 'growth' memtrace report --show growth "$TRACE"
has 'which cannot be told' "$OUT" 'Growth: not enough data'
ok 'of a selection' memtrace report --show growth,short_lived,histogram --space device "$TRACE"
has 'not either' "$OUT" 'Growth: shown only in a report on the whole run.'

# --- sums ---------------------------------------------------------------------------------------------
"$BUILD/tests/generator" --events 20000 --devices 2 --json made.json >/dev/null
ok 'trees' memtrace report --json --full made.json
cp "$OUT" made.report
ok 'sum to the peaks, each row to those below it' "$PYTHON" - made.report <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
peaks = {p["device"]: p["bytes"] for p in d["peaks"] if p["metric"] == "allocated" and not p["pool"]}
for tree in d["tree"] + d["inverted"]:
    rows = tree["rows"]
    assert rows[0]["bytes"] == peaks[tree["device"]]
    for i, row in enumerate(rows):
        below = [r for r in rows[i + 1:next((k for k in range(i + 1, len(rows))
                 if rows[k]["depth"] <= row["depth"]), len(rows))] if r["depth"] == row["depth"] + 1]
        assert not below or sum(r["bytes"] for r in below) == row["bytes"], row
assert len(d["tree"]) == len(d["inverted"]) == 2
END
is 'sizes sum to all allocations' "$(json made.report 'sum(b["count"] for b in d["histogram"])')" \
	"$(json made.json 'sum(e["op"] == "alloc" for e in d["events"])')"
is 'and their bytes' "$(json made.report 'sum(b["live_bytes"] for b in d["histogram"])')" \
	"$(json made.json 'sum(d_["allocated"]["exit_bytes"] for d_ in d["summary"]["devices"]) + sum(s["allocated"]["exit_bytes"] for s in d["summary"]["spaces"])')"

# --- many events ------------------------------------------------------------------------------------------
"$BUILD/tests/generator" --events 600000 --leak --json many.json >/dev/null
ok 'many events' memtrace report many.json
has 'are read: a leak shows in a long run' "$OUT" '- log_metrics (metrics.py:20) keeps 96.00 KiB more each'
sed 's/"events_recorded":600000/"events_recorded":6000000/' many.json >more.json
ok 'very many' memtrace report more.json
has 'are left for when they are wanted' "$OUT" 'Growth was not checked (6,000,000 events to read)'
rm -f many.json more.json

# --- recordings, and made-up trainings ------------------------------------------------------------------
for recording in recorded/train example; do
	is "$recording: no alarm" "$(verdict "$TOP/tests/data/$recording.json")" '[[], []]'
done
for seed in 1 2 3; do
	"$BUILD/tests/generator" --events 60000 --live 300 --seed $seed --json made.json >/dev/null
	is "made-up training $seed: no alarm" "$(verdict made.json)" '[[], []]'
	"$BUILD/tests/generator" --events 60000 --live 300 --seed $seed --growth 1048576 \
		--json made.json >/dev/null
	is "made-up training $seed: growth is found" "$(verdict made.json)" \
		'[[["Cache.append (cache.py:20)", 1048576]], ["growth"]]'
done
