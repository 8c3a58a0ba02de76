#!/bin/sh
# A process that does not end by itself leaves its spool, from which everything can be had.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

figures=$TOP/tests/e2e/figures.py

# shellcheck disable=SC3045  # dash has it, too
ulimit -c 0

# --- every way to end ---------------------------------------------------------------------------------
for how in _exit abort segv 9 15 2; do
	{ # the shell tells a signal as a status, and aloud
		"$E2E/ends" "$how" >"$OUT"
		plain=$?
		traced "$E2E/ends" "$how"
		status=$?
	} 2>/dev/null
	cp "$OUT" own.out
	is "$how: the status is the program's" "$status" "$plain"
	spool=${TRACE%.json}.spool
	is "$how: there is a spool and no trace" "$(find . -name "trace$traced_number.*")" "./${spool##*/}"
	ok "$how: it is recovered" memtrace recover "$spool"
	ok "$how: as a trace that keeps its promises" validate "$TRACE"
	is "$how: which is unfinished" "$(json "$TRACE" 'd["process"]["exit"]')" unfinished
	ok "$how: with all that the program counted" "$PYTHON" "$figures" "$TRACE" own.out
done

for how in return exit quick_exit; do
	traced "$E2E/ends" "$how"
	is "$how: a trace" "$(json "$TRACE" 'd["process"]["exit"]')" exit
	ok "$how: and no spool" [ ! -e "${TRACE%.json}.spool" ]
done

traced env LD_PRELOAD="$LIBRARY:$E2E/libquickend.so" "$E2E/ends" return
is 'quick_exit in a destructor that comes after ours: the status' "$?" 8
is 'one trace' "$(find . -name "trace$traced_number.*")" "./$(basename "$TRACE")"

# --- every verb takes a spool where it takes a trace ----------------------------------------------------
spool=$PWD/trace1.spool
recovered=$PWD/trace1.json
ok 'report takes a spool' memtrace report "$spool"
cp "$OUT" report.spool
ok 'report takes the trace' memtrace report "$recovered"
is 'and says the same of both' "$(normalise <"$OUT" | sed 's/trace1.json/trace1.spool/')" "$(normalise <report.spool)"
# What a verb needs besides the trace. One that is not named here gets the spool alone.
arguments_of() {
	case $1 in
	report) echo --json ;;
	check) echo '--max allocated.peak<=1GiB' ;;
	diff) echo "$spool" ;;
	html | baseline | merge) echo "-o $1.out" ;;
	export) echo '--to events' ;;
	recover) echo '-o again.json' ;;
	esac
}
taken=0
# shellcheck disable=SC2013  # words
for verb in $(sed -n 's/^COMMAND(\([a-z_]*\),.*/\1/p' "$TOP/src/cli/commands.def"); do
	memtrace "$verb" --help >help
	grep -qE '^usage:.*(TRACE|SPOOL|BASE|RANK)' help || continue
	taken=$((taken + 1))
	# shellcheck disable=SC2046  # words
	ok "$verb takes a spool" memtrace "$verb" "$spool" $(arguments_of "$verb")
done
ok 'which are some' [ "$taken" -ge 3 ]
# shellcheck disable=SC2013  # words
for format in $(sed -n 's/^FORMAT([a-z_]*, *"\([a-z-]*\)".*/\1/p' "$TOP/src/render/export/formats.def"); do
	ok "export to $format takes a spool" memtrace export "$spool" --to "$format" -o exported
done
ok 'recover can write elsewhere' memtrace recover "$spool" -o elsewhere.json
is 'recover is the same twice' "$(cat elsewhere.json)" "$(cat "$recovered")"
fails 3 'spool' memtrace recover "$recovered"

# --- a last update that is torn -------------------------------------------------------------------------
# As a kill in the middle leaves it: odd generation, old values kept. tests/unit/spool/test_txn.c has all.
cp "$spool" torn.spool
"$PYTHON" - torn.spool <<'PYTHON'
import struct
import sys

with open(sys.argv[1], "r+b") as file:
    head = file.read(72)
    generation, = struct.unpack_from("Q", head, 56)
    assert head[:8] == b"MEMTRACE" and generation % 2 == 0 and generation > 1000, generation
    file.seek(56)
    file.write(struct.pack("Q", generation | 1))
PYTHON
ok 'a torn last update is no obstacle' memtrace recover torn.spool -o torn.json
ok 'what is left keeps its promises' validate torn.json
has 'and it is told' torn.json 'the last update of the recording was cut off and is left out'
# The last update is an event, or an answer of the driver's to "how much is used" that came after it.
updates='len(d["events"]) + sum(x["used"]["samples"] for x in d["summary"]["devices"] if "samples" in x["used"])'
is 'one update less' "$(json torn.json "$updates")" "$(($(json "$recovered" "$updates") - 1))"
# Killed as it was made: nothing to tell, in one sentence.
truncate -s $((64 * 131072)) young.spool
fails 3 'nothing is recorded in this spool' memtrace recover young.spool
fails 3 'nothing is recorded in this spool' memtrace report young.spool

# --- Python's own ways -----------------------------------------------------------------------------------
# multiprocessing ends forked children by os._exit: no destructor runs. Those of spawn end as programs.
cat >children.py <<'PYTHON'
import ctypes
import multiprocessing
import os
import sys


def child(count):
    cuda = ctypes.CDLL(sys.argv[1])
    for _ in range(count):
        ptr = ctypes.c_void_p()
        assert not cuda.cudaMalloc(ctypes.byref(ptr), ctypes.c_size_t(4096))
    os.write(1, f"{os.getpid()} {count}\n".encode())  # at once: the others write there, too


context = multiprocessing.get_context(sys.argv[2])
if __name__ == "__main__":
    children = [context.Process(target=child, args=(n,)) for n in (1, 20, 300)]
    for process in children:
        process.start()
    for process in children:
        process.join()
    sys.exit(any(process.exitcode for process in children))
PYTHON
for method in fork spawn forkserver; do
	rm -rf made
	mkdir made
	MEMTRACE_OUTPUT=$PWD/made/%p.json
	export MEMTRACE_OUTPUT
	traced "$PYTHON" children.py "$BUILD/fake/libcudart.so.13" $method
	is "multiprocessing by $method: the status is the program's" "$?" 0
	cp "$OUT" said
	left=spool
	[ $method != spawn ] || left=json
	is "multiprocessing by $method: a $left for each child, nothing else" "$(find made -type f | sort)" \
		"$(awk -v left=$left '{ print "made/" $1 "." left }' said | sort)"
	while read -r pid count; do
		[ $left = json ] || memtrace recover "made/$pid.spool" >recover.log 2>&1
		is "multiprocessing by $method: all $count allocations" \
			"$(json "made/$pid.json" 'd["summary"]["devices"][0]["allocations"], len(d["events"])')" \
			"[$count, $count]"
	done <said
done
unset MEMTRACE_OUTPUT

# Another CUDA program in the same process: the first one's spool is whole, the second has a number.
MEMTRACE_OUTPUT=$PWD/exec.json
export MEMTRACE_OUTPUT
traced "$E2E/forks" exec
is 'exec: the status' "$?" 0
ok 'exec: what came before is recovered' memtrace recover exec.spool -o before.json
is 'exec: the whole of it' \
	"$(json before.json '[(e["op"], e["size"]) for e in d["events"]]')" \
	'[["alloc", 2097152], ["alloc", 2097152], ["free", 2097152]]'
ok 'exec: both keep their promises' validate before.json exec.1.json
unset MEMTRACE_OUTPUT

# --- many moments --------------------------------------------------------------------------------------
# One after the other, and looked at together: a start of the checker costs more than a look. The
# first ones fall into the program's start, where nothing may be there yet.
cat >kill_at.py <<'PYTHON'
import random
import signal
import subprocess
import sys
import time

first, step, count = map(float, sys.argv[3:6])
for i, program in zip(range(int(count)), ["churn", "threads", "churn-static"] * 10):
    words = [sys.argv[1] + "/" + program] + (["8", "10000000"] if program == "threads" else ["10000000", "2"])
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={
        **__import__("os").environ, "LD_PRELOAD": sys.argv[2], "MEMTRACE_OUTPUT": f"moments/{i}.json"})
    time.sleep(first + random.uniform(0, step * (i + 1)))
    child.send_signal(signal.SIGKILL)
    child.wait()
PYTHON
# A real driver takes its time to start, and so does a program on a busy machine.
for moments in '0 0.0012 30' '0.1 0.01 30' '0.4 0.1 12'; do
	[ -z "$GPU" ] || moments='0.2 0.1 12'
	rm -rf moments
	mkdir moments
	# shellcheck disable=SC2086  # words
	"$PYTHON" kill_at.py "$SAMPLES" "$LIBRARY" $moments
	[ "$(find moments -name '*.spool' | wc -l)" -lt 6 ] || break
done
is 'killed at many moments: no trace, no leftover' "$(find moments -name '*.json*')" ''
ok 'and spools' [ "$(find moments -name '*.spool' | wc -l)" -ge 6 ]
unfit=
for spool in moments/*.spool; do
	memtrace recover "$spool" >recover.log 2>&1 && continue
	# Killed before the header was there: nothing was recorded.
	[ "$(head -c 8 "$spool" | tr -d '\0')" = '' ] || unfit="$unfit $spool: $(cat recover.log)"
done
is 'each is recovered' "$unfit" ''
ok 'each gives a trace that keeps its promises' validate moments/*.json
is 'each is unfinished' "$(cat moments/*.json | grep -o '"exit":"[a-z]*"' | sort -u)" '"exit":"unfinished"'
