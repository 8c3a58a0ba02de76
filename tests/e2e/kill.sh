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
memtrace --help >help
while read -r verb arguments; do
	grep -q "^  $verb " help || continue
	# shellcheck disable=SC2086  # words
	ok "$verb $arguments takes a spool" memtrace $verb "$spool" $arguments
done <<-WORDS
	report --json
	timeline
	check --max allocated.peak<=1GiB
	html -o page.html
	diff $spool
	baseline -o base.json
	merge -o merged.json
WORDS
# shellcheck disable=SC2013  # words
for format in $(sed -n 's/^FORMAT(\([a-z_]*\),.*/\1/p' "$TOP/src/render/formats.def"); do
	ok "export to $format takes a spool" memtrace export "$spool" --to "$format" -o exported
done
ok 'recover can write elsewhere' memtrace recover "$spool" -o elsewhere.json
is 'recover is the same twice' "$(cat elsewhere.json)" "$(cat "$recovered")"
fails 3 'spool' memtrace recover "$recovered"

# --- many moments --------------------------------------------------------------------------------------
# One after the other, and looked at together: a start of the checker costs more than a look. The
# first ones fall into the program's start, where nothing may be there yet.
mkdir moments
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
# A real driver takes its time to start.
moments='0 0.0012 30'
[ -z "$GPU" ] || moments='0.2 0.1 12'
# shellcheck disable=SC2086  # words
"$PYTHON" kill_at.py "$SAMPLES" "$LIBRARY" $moments
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
