#!/bin/sh
# `memtrace timeline`: every column counted again from the trace, its width, its letters, what it marks.
. "$(dirname "$0")/../lib.sh"

GENERATOR=$BUILD/tests/generator
TIMELINE=$TOP/tests/e2e/report/timeline.py
train=$TOP/tests/data/recorded/train.json
example=$TOP/tests/data/example.json
unset COLUMNS

# --- every column -------------------------------------------------------------------------------------------
ok 'three devices' "$GENERATOR" --events 4000 --live 300 --devices 3 --threads 3 --seed 5 --json three.json
ok 'many events' "$GENERATOR" --events 100000 --live 300 --phases 2 --seed 6 --spool many.spool --json many.json
ok 'events dropped' "$GENERATOR" --events 60000 --live 300 --max-events 9000 --seed 9 --json dropped.json
traced "$SAMPLES/caching"
cp "$TRACE" caching.json
for trace in three many dropped caching; do
	for size in '80 10' '133 7' '50 2'; do
		# shellcheck disable=SC2086  # two numbers
		set -- $size
		ok "$trace in $1 columns" memtrace timeline "$trace.json" --width "$1" --height "$2" -o drawn
		ok 'as it was' "$PYTHON" "$TIMELINE" "$trace.json" drawn "$1" "$2"
	done
done
for trace in "$TOP"/tests/data/recorded/[a-bd-z]*.json "$TOP/tests/data/recorded/caching.json"; do
	ok "$(basename "$trace")" memtrace timeline "$trace" -o drawn
	ok 'as it was' "$PYTHON" "$TIMELINE" "$trace" drawn 80 10
done
start=$(seconds "$train" 3 'peak - 4e6') end=$(seconds "$train" 3 'peak + 3e6')
ok 'a stretch' memtrace timeline "$train" --from "${start}s" --to "${end}s" -o drawn
ok 'as it was' "$PYTHON" "$TIMELINE" "$train" drawn 80 10 "${start%.*}${start#*.}000000" "${end%.*}${end#*.}000000"
ok 'where nothing happens' memtrace timeline "$train" --from 10.5s --to 10.55s -o drawn
ok 'as it was' "$PYTHON" "$TIMELINE" "$train" drawn 80 10 10500000000 10550000000
ok 'a phase' memtrace timeline "$train" --from 'phase:step 1' --to 'phase:step 1'
has 'with its name' "$OUT" '├step 1─'
ok 'one pool' memtrace timeline "$train" --pool torch
is 'and nothing else' "$(grep -cE '^(Device|Pool)' "$OUT"):$(grep -c '^Pool torch on device 0' "$OUT")" 1:1
ok 'one device' memtrace timeline three.json --device 2
is 'with its pools' "$(grep -E '^(Device|Pool)' "$OUT" | grep -vc 'evice 2')" 0
ok 'a spool' memtrace timeline many.spool -o spool.drawn
memtrace timeline many.json -o json.drawn
ok 'is drawn as its trace' cmp spool.drawn json.drawn
ok 'from a pipe' sh -c "cat '$train' | memtrace timeline -"

# --- what it marks ------------------------------------------------------------------------------------------
traced "$SAMPLES/oom"
ok 'a run out of memory' memtrace timeline "$TRACE"
has 'marks where' "$OUT" '✗ out of memory'
is 'in the curve' "$(grep -c '^ *[ ▼]*✗' "$OUT")" "$(json "$TRACE" 'len(d["timeline"])')"
ok 'the example' memtrace timeline "$example"
has 'too' "$OUT" '✗'
"$PYTHON" - phases.json "$example" <<'END'
import json, sys
with open(sys.argv[2]) as file:
    d = json.load(file)
sums = {"start_bytes": 0, "end_bytes": 0, "peak_bytes": 0}
def phase(name, start, end):
    return {"name": name, "domain": None, "thread": 1, "start": start, "end": end, "allocated": sums, "reserved": sums}
d["process"]["duration_ns"] = 1000
d["timeline"] = [{"device": 0, "pool": None, "t": [0, 500], "allocated": [10, 5], "reserved": [10, 10], "used": [None, None]}]
d["phases"] = [phase("outer", 100, 900), phase("inner one", 120, 400), phase("inner two", 450, 880), phase("short", 460, 460),
               phase("innermost", 500, 700), phase("behind", 910, None)]
d["events"] = []
with open(sys.argv[1], "w") as file:
    json.dump(d, file)
END
ok 'phases' memtrace timeline phases.json --width 112
sed -n '/^Phases/,/^$/p' "$OUT" | sed 's/^ \{12\}//' >phases
is 'lie below those around them' "$(cat phases)" "$(cat <<'END'
Phases
         ├outer──────────────────────────────────────────────────────────────────────────┤├behind──┤
           ├inner one──────────────────┤    ├inner two─────────────────────────────────┤
                                             │   ├innermost──────────┤
END
)"

# --- width, letters, colours --------------------------------------------------------------------------------
ok 'no terminal' memtrace timeline "$train"
is 'is 80 columns wide' "$(wc -L <"$OUT")" 80
ok 'COLUMNS' env COLUMNS=101 memtrace timeline "$train"
is 'is a width' "$(wc -L <"$OUT")" 101
ok 'nonsense' env COLUMNS=wide memtrace timeline "$train"
is 'is none' "$(wc -L <"$OUT")" 80
ok 'a locale without UTF-8' env LC_ALL=C memtrace timeline "$TRACE"
is 'gets ASCII only' "$(LC_ALL=C tr -d '\n -~' <"$OUT" | wc -c)" 0
cp "$OUT" ascii
ok 'as --ascii' memtrace timeline --ascii "$TRACE"
cp "$OUT" wanted
ok 'does' cmp wanted ascii
sed 's/"step 0"/"Sch\\u00f6ner \\u20ac Schritt"/; s/NVIDIA H100/\\u00c4 H100/' "$train" >umlaut.json
ok 'names that are not' memtrace timeline --ascii --from 'phase:Schöner € Schritt' --to 'phase:Schöner € Schritt' umlaut.json
has 'too' "$OUT" '[Sch?ner ? Schritt---'
is 'all of it' "$(LC_ALL=C tr -d '\n -~' <"$OUT" | wc -c)" 0
ok 'and whole elsewhere' memtrace timeline --from 'phase:Schöner € Schritt' --to 'phase:Schöner € Schritt' umlaut.json
has 'as they are' "$OUT" '├Schöner € Schritt───'
sed 's/"step 0"/""/' "$train" >nameless.json
ok 'a phase without a name' timeout 60 memtrace timeline nameless.json
hasnt 'no colours in a file' ascii "$(printf '\033')"
on_terminal() { # COLUMNS COMMAND...
	"$PYTHON" - "$@" <<'END'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
}
ok 'a terminal' on_terminal 97 env TERM=xterm memtrace timeline "$train"
has 'has colours' "$OUT" "$(printf '\033')[34m"
is 'and a width' "$(sed 's/\x1b\[[0-9;]*m//g' "$OUT" | wc -L)" 97
ok 'without colours' on_terminal 60 env TERM=xterm NO_COLOR=1 memtrace timeline "$train"
hasnt 'has none' "$OUT" "$(printf '\033')"

# --- what cannot be -----------------------------------------------------------------------------------------
fails 3 'has no device 7; it has 0' memtrace timeline "$train" --device 7
fails 3 'has no pool x; the pools are: torch' memtrace timeline "$train" --pool x
fails 3 'has no phase x' memtrace timeline "$train" --from phase:x
fails 3 'nothing to draw: 7s is later than 6s' memtrace timeline "$train" --from 7s --to 6s
fails 3 'is a baseline, which has no curves' memtrace timeline "$TOP/tests/data/recorded/change-none.json"
fails 2 '--width: 20 is less than 50' memtrace timeline "$train" --width 20
fails 2 'cannot read the time x' memtrace timeline "$train" --from x
