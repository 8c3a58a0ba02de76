#!/bin/sh
# Control: events off from the start, on and off by the API; what the ledger says stays exact.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

device='d["summary"]["devices"][0]'
own() { # WAY: runs it, with the settings that are exported
	traced "$PYTHON" "$TOP/tests/e2e/control.py" "$E2E" "$1"
	cp "$OUT" own.out
}

# sums NAME: what the program held is what the trace says, and the pool's segments are its own
sums() {
	is "$1: the program's books" \
		"$(json "$TRACE" "\"%d %d\" % ($device[\"allocated\"][\"peak_bytes\"], $device[\"allocated\"][\"exit_bytes\"])")" \
		"$(cat own.out)"
	is "$1: what is reserved is the pool's" \
		"$(json "$TRACE" "[[p[\"pool\"] for p in $device[\"pools\"]],
			$device[\"pools\"][0][\"reserved\"] == $device[\"reserved\"]]")" '[["torch"], true]'
	ok "$1: the trace keeps its promises" validate "$TRACE"
	ok "$1: a report of it" memtrace report "$TRACE"
}

# --- off from the start ----------------------------------------------------------------------------------
MEMTRACE_START=off
export MEMTRACE_START
own stopped
sums 'MEMTRACE_START=off'
is 'MEMTRACE_START=off: no events' "$(json "$TRACE" '[len(d["events"]), d["capture"]["truncated"]]')" '[0, true]'
own toggled
sums 'a thousand toggles'
is 'a thousand toggles: some events, not all' \
	"$(json "$TRACE" '300 < len(d["events"]) < 2000 and d["capture"]["events_dropped"] > 300')" true
unset MEMTRACE_START
