#!/bin/sh
# Made-up traces keep the promises of real ones, and say what their maker counted without the ledger.
. "$(dirname "$0")/../lib.sh"

GENERATOR=$BUILD/tests/generator
[ -x "$GENERATOR" ] || need generator

# What the generator says, from the summary of the document instead.
truth_of() { # FILE
	"$PYTHON" - "$1" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
capture = d["capture"]
print("events=%d" % (capture["events_recorded"] + capture["events_dropped"]), end=" ")
if not capture["events_dropped"]:
    print("phases=%d" % len(d["phases"]), end=" ")
pinned = [s for s in d["summary"]["spaces"] if s["space"] == "pinned"]
print("pinned.live_bytes=%d" % (pinned[0]["allocated"]["exit_bytes"] if pinned else 0), end="")
for device in d["summary"]["devices"]:
    name = " device%d." % device["device"]
    print(name + "peak_allocated=%d" % device["allocated"]["peak_bytes"], end="")
    print(name + "peak_reserved=%d" % device["reserved"]["peak_bytes"], end="")
    print(name + "live_bytes=%d" % device["allocated"]["exit_bytes"], end="")
    print(name + "reserved_bytes=%d" % device["reserved"]["exit_bytes"], end="")
    print(name + "allocations=%d" % device["allocations"], end="")
    print(name + "frees=%d" % device["frees"], end="")
print()
END
}

# steps= is nothing that a document tells; phases= is not when events were dropped.
told() { # DROPPED
	if [ "$1" = dropped ]; then
		sed 's/ steps=[0-9]*//; s/ phases=[0-9]*//' "$OUT"
	else
		sed 's/ steps=[0-9]*//' "$OUT"
	fi
}

made() { # NAME DROPPED OPTIONS...
	name=$1 dropped=$2
	shift 2
	ok "$name: made" "$GENERATOR" "$@" --json "$name.json"
	wanted=$(told "$dropped")
	ok "$name: keeps its promises" validate "$name.json"
	is "$name: says what is true" "$(truth_of "$name.json")" "$wanted"
}

made plain no --events 20000 --pool none
made torch no --events 20000 --stacks 1000 --live 500
made devices no --events 20000 --devices 4 --threads 6 --seed 3 --live 600
made leak no --events 20000 --leak --growth 3000000 --live 200 --phases 2
made dropped dropped --events 30000 --max-events 4000 --live 300
made tiny no --events 3 --stacks 1 --live 1

ok 'a spool is made' "$GENERATOR" --events 20000 --spool t.spool
cp "$OUT" truth
ok 'and recovered' memtrace recover t.spool -o recovered.json
ok 'the recovered document keeps its promises' validate recovered.json
cp truth "$OUT"
is 'and says what is true' "$(truth_of recovered.json)" "$(told no)"
fails 1 'File exists' "$GENERATOR" --events 10 --spool t.spool

ok 'the same seed again' "$GENERATOR" --events 5000 --seed 9 --json again1.json
ok 'gives' "$GENERATOR" --events 5000 --seed 9 --json again2.json
ok 'the same trace' cmp again1.json again2.json

ok 'three ranks' "$GENERATOR" --events 3000 --ranks 3 --json 'rank%r.json'
is 'each in a file of its own' "$(json rank2.json 'd["process"]["rank"]')" 2
ok 'that keeps its promises' validate rank0.json rank1.json rank2.json
