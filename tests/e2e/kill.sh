#!/bin/sh
# A process that does not end by itself leaves its spool, from which everything can be had.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

figures=$TOP/tests/e2e/figures.py

# shellcheck disable=SC3045  # dash has it, too
ulimit -c 0

# --- every way to end ---------------------------------------------------------------------------------
for how in _exit quick_exit abort segv 9 15 2; do
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

for how in return exit; do
	traced "$E2E/ends" "$how"
	is "$how: a trace" "$(json "$TRACE" 'd["process"]["exit"]')" exit
	ok "$how: and no spool" [ ! -e "${TRACE%.json}.spool" ]
done

# --- every verb takes a spool where it takes a trace ----------------------------------------------------
spool=$PWD/trace1.spool
recovered=$PWD/trace1.json
ok 'report takes a spool' memtrace report "$spool"
cp "$OUT" report.spool
ok 'report takes the trace' memtrace report "$recovered"
is 'and says the same of both' "$(normalise <"$OUT" | sed 's/trace1.json/trace1.spool/')" "$(normalise <report.spool)"
for verb in 'report --json' timeline 'export --to folded' 'export --to chrome' 'export --to csv' \
	'check --max allocated.peak<=1GiB'; do
	# shellcheck disable=SC2086  # words
	ok "$verb takes a spool" memtrace $verb "$spool"
done
ok 'html takes a spool' memtrace html "$spool" -o page.html
ok 'diff takes two' memtrace diff "$spool" "$spool"
ok 'recover can write elsewhere' memtrace recover "$spool" -o elsewhere.json
is 'recover is the same twice' "$(cat elsewhere.json)" "$(cat "$recovered")"
fails 3 'spool' memtrace recover "$recovered"

# --- thirty moments ------------------------------------------------------------------------------------
# One after the other, and looked at together: a start of the checker costs more than a look. The
# first ones fall into the program's start, where nothing may be there yet.
mkdir moments
cat >kill_at.py <<'PYTHON'
import random
import signal
import subprocess
import sys
import time

for i, program in zip(range(30), ["churn", "threads", "churn-static"] * 10):
    words = [sys.argv[1] + "/" + program] + (["8", "10000000"] if program == "threads" else ["10000000", "2"])
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={
        **__import__("os").environ, "LD_PRELOAD": sys.argv[2], "MEMTRACE_OUTPUT": f"moments/{i}.json"})
    time.sleep(random.uniform(0, 0.004 * (i + 1)))
    child.send_signal(signal.SIGKILL)
    child.wait()
PYTHON
"$PYTHON" kill_at.py "$SAMPLES" "$LIBRARY"
is 'killed at thirty moments: no trace, no leftover' "$(find moments -name '*.json*')" ''
ok 'and spools' [ "$(find moments -name '*.spool' | wc -l)" -ge 15 ]
unfit=
for spool in moments/*.spool; do
	memtrace recover "$spool" >>recover.log 2>&1 || unfit="$unfit $spool:$?"
done
is 'each is recovered' "$unfit" ''
ok 'each gives a trace that keeps its promises' validate moments/*.json
is 'each is unfinished' "$(cat moments/*.json | grep -o '"exit":"[a-z]*"' | sort -u)" '"exit":"unfinished"'
