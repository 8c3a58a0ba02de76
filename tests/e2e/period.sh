#!/bin/sh
# The steps of a loop that nothing names are found in its allocations, and called inferred.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

phases='[(p["name"], p["times"], p["growth_bytes"], p["born"], p["outliving"],
	p["allocated_peak_bytes"]) for p in d["phases"]]'

traced "$E2E/period"
ok 'a report' memtrace report --json "$TRACE" -o report.json
is 'twenty steps, each with its figures' "$(json report.json "$phases")" \
	'[["inferred step", 20, 20480, {"bytes": 8212480, "count": 160}, {"bytes": 20480, "count": 20}, 429056]]'
ok 'by phase' memtrace report --by phase "$TRACE"
has 'what each step holds is told under its name' "$OUT" 'inferred step'
is 'the trace itself has none' "$(json "$TRACE" 'd["phases"]')" '[]'

traced "$E2E/period" none
ok 'another report' memtrace report --json "$TRACE" -o report.json
is 'no steps where there is no period' "$(json report.json "$phases")" '[]'
