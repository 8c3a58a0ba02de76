#!/bin/sh
# The steps of a loop that nothing names are found in its allocations, and called inferred.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

phases='[(p["name"], p["times"], p["growth_bytes"], p["allocations"], p["kept"],
	p["allocated_peak_bytes"]) for p in d["phases"]]'

traced "$E2E/period"
ok 'a report' memtrace report --json "$TRACE" -o report.json
is 'twenty steps, each with its figures' "$(json report.json "$phases")" \
	'[["inferred step", 20, 1024, {"bytes": 8212480, "count": 160}, {"bytes": 1024, "count": 1}, 429056]]'
ok 'by phase' memtrace report --by phase "$TRACE"
has 'what each step holds is told under its name' "$OUT" 'inferred step'
is 'the trace itself has none' "$(json "$TRACE" 'd["phases"]')" '[]'


# Every picture and export has them.
ok 'a timeline' memtrace timeline "$TRACE"
has 'has the steps' "$OUT" 'inferred step                           20   419.00 KiB'
ok 'a page' memtrace html "$TRACE" -o page.html
is 'has a band for each' "$(grep -c '^{"name":"inferred step","domain":null,"thread"' page.html)" 20
ok 'chrome' memtrace export "$TRACE" --to chrome -o steps.chrome
is 'has a slice for each, on the main thread' "$(json steps.chrome '[e["tid"] == e["pid"]
	for e in d["traceEvents"] if e.get("cat") == "phase"].count(True)')" 20
ok 'csv' memtrace export "$TRACE" --to csv -o steps.csv
is 'names them where their blocks were born' "$(grep -c '^[0-9]*,[0-9]*,"alloc",.*,"inferred step"' steps.csv)" 160
ok 'sqlite' memtrace export "$TRACE" --to sqlite -o steps.db
ok 'what was live in one' memtrace export "$TRACE" --to folded --at 'phase:inferred step'

counted() { # MODE NAME PHASES: names of phases, and how many there are of each
	traced "$E2E/period" "$1"
	ok "a report ($1)" memtrace report --json "$TRACE" -o report.json
	is "$2" "$(json report.json 'sorted([p["name"], p["times"]] for p in d["phases"])')" "$3"
}
counted none 'no steps where there is no period' '[]'
counted build 'the layers of a model that is built are none' '[]'
counted train 'nor do they hide the steps, nor does validation' '[["inferred step", 20]]'
counted deep 'nor does a line that allocates as often before them' '[["inferred step", 20]]'
counted parameters 'an optimizer that goes over parameters makes no steps of them' '[["inferred step", 20]]'
counted chance 'calls in no order are no steps' '[]'
counted load 'a range that names no step leaves them to be found' '[["inferred step", 20], ["loading", 1]]'
counted named 'the steps that the program names are its own' '[["my step", 20]]'
