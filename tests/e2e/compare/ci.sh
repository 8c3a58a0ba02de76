#!/bin/sh
# scripts/ci/gate.sh: the job that the action, GitLab's and Jenkins's run. Every process decides, and nothing that is
# not known passes.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

MEMTRACE_QUIET=1
export MEMTRACE_QUIET
job() { # SETTINGS...
	: >summary.md
	: >outputs
	env GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY="$PWD/summary.md" GITHUB_OUTPUT="$PWD/outputs" MEMTRACE_OUT=out "$@" \
		sh "$TOP/scripts/ci/gate.sh" >"$OUT" 2>"$ERR" </dev/null
}
decided() { # NAME FILE: the line that says who decided, without the pid
	sed -n -e 's/pid [0-9]*/pid N/' -e "s|$E2E/||" -e 's/^memtrace gate: //p' "$ERR"
}

# --- one process ----------------------------------------------------------------------------------------
job MEMTRACE_RUN="$E2E/changes none 1" MEMTRACE_BASELINE=base.json
is 'a baseline that is missing fails' $? 3
has 'and what to commit is said' "$ERR" 'base.json is not there: commit out/head.json in its place'
has 'also where the pull request is looked at' summary.md '<code>base.json</code> is not there (MEMTRACE_RENEW=1 makes it)'
has 'the new baseline is an output' outputs 'head=out/head.json'
job MEMTRACE_RUN="$E2E/changes none 1" MEMTRACE_BASELINE=base.json MEMTRACE_RENEW=1
is 'MEMTRACE_RENEW=1 makes it' $? 0
is 'and tells what goes where' "$(cat out/renew)" "$(printf 'base.json\tout/head.json')"
cp out/head.json base.json
job MEMTRACE_RUN="$E2E/changes none 2" MEMTRACE_BASELINE=base.json
is 'the same program passes' $? 0
is 'who passed is named' "$(decided)" 'passed: pid N, changes none 2'
ok 'with the same baseline' cmp out/head.json base.json
has 'a status for the steps that follow' outputs 'status=0'
is 'nothing is to be renewed' "$(find out -maxdepth 1 -name renew)" ''
job MEMTRACE_RUN="$E2E/changes larger 3" MEMTRACE_BASELINE=base.json
is 'a change does not' $? 1
is 'who decided is named' "$(decided)" 'status 1, decided by pid N, changes larger 3'
has 'it is annotated' "$OUT" '::error '
has 'and summed up' summary.md 'forward &#40;changes&#41; allocates larger blocks and holds 8.00 MiB more'
for format in 'markdown diff.md' 'junit diff.junit.xml' 'sarif diff.sarif' 'benchmark benchmark.json'; do
	ok "${format#* }" "$PYTHON" "$TOP/tests/formats.py" "${format%% *}" "out/${format#* }"
done
has 'the curve as text' out/picture.txt '68.00 MiB'
has 'and the trace that it is of' outputs 'trace=out/traces/trace.'
if memtrace html "$TOP/tests/data/example.json" -o page.html 2>/dev/null; then
	ok 'a page' test -s out/page.html
else
	skip 'a page' 'built without the page'
fi
job MEMTRACE_RUN="MEMTRACE_MAX_EVENTS=0 $E2E/changes none '1
::error::a|<b>%'" MEMTRACE_BASELINE=base.json
is 'words of a command stay words, in the log' "$? $(grep -h -c '^::error::a' "$OUT" "$ERR" | tr '\n' ' ')" '0 0 0 '
is 'in what annotates' "$(grep -c '^::warning::pid .* none 1\\n::error::a|<b>%25: what' "$OUT")" 1
is 'and in the summary' "$(grep -c '^| ✅ .* none 1\\n::error::a&#124;&lt;b&gt;%</code> | No change' summary.md)" 1
job MEMTRACE_RUN="$E2E/changes larger 3" MEMTRACE_BASELINE=base.json MEMTRACE_FAIL_ON='allocated.peak>20%

count>0'
is 'gates of its own' $? 0
job MEMTRACE_RUN="$E2E/changes larger 3" MEMTRACE_BASELINE=base.json MEMTRACE_RENEW=1
is 'a change that is accepted' $? 0
has 'is told all the same' "$OUT" 'FAIL'
job MEMTRACE_RUN="$E2E/changes none 1" MEMTRACE_BASELINE=base.json MEMTRACE_FAIL_ON='peak>1'
is 'a wrong gate' $? 2
job MEMTRACE_RUN="$E2E/changes none 1"
is 'a gate with nothing to hold' $? 2
has 'says so' "$ERR" 'neither MEMTRACE_BASELINE nor MEMTRACE_BUDGET'

# --- budgets --------------------------------------------------------------------------------------------
echo '{"schema":"memtrace-budget/1","max":{"allocated.peak":"64 MiB"}}' >budget.json
job MEMTRACE_RUN="$E2E/changes none 1; $E2E/changes larger 3; $E2E/changes none 2" MEMTRACE_BUDGET=budget.json
is 'a budget holds for the second process, too' $? 1
is 'which is named' "$(decided)" 'status 1, decided by pid N, changes larger 3'
ok 'and has its own files' "$PYTHON" "$TOP/tests/formats.py" junit out/check-2.junit.xml
job MEMTRACE_RUN="$E2E/changes larger 3" MEMTRACE_BUDGET=budget.json MEMTRACE_BASELINE=base.json MEMTRACE_RENEW=1
is 'a budget is no baseline: it is not renewed' $? 1
is 'and no baseline by a run that breaks it' "$(find out -maxdepth 1 -name renew)" ''

# --- several processes ----------------------------------------------------------------------------------
two="$E2E/changes none 1; $E2E/changes larger 3"
job MEMTRACE_RUN="$two" MEMTRACE_BASELINE=base.json
is 'of two processes one has no baseline' $? 3
is 'that one decides' "$(decided)" 'status 3, decided by pid N, changes larger 3'
cp out/head.json base-2.json
job MEMTRACE_RUN="$two" MEMTRACE_BASELINE=base.json
is 'the second is held to its own' $? 1
ok 'and has its own files' "$PYTHON" "$TOP/tests/formats.py" sarif out/diff-2.sarif
is 'the summary has a row for each' "$(grep -c '^| [✅❌] | <code>pid' summary.md)" 2
job MEMTRACE_RUN="$E2E/changes none 1" MEMTRACE_BASELINE=base.json
is 'a process that has gone fails' $? 3
is 'by the name of its baseline' "$(decided)" 'status 3, decided by base-2.json'
touch base-2gpu.json
job MEMTRACE_RUN="$E2E/changes none 1" MEMTRACE_BASELINE=base.json MEMTRACE_RENEW=1
is 'unless baselines are renewed' $? 0
is 'then its baseline goes, and no other file' "$(sort out/renew)" "$(printf 'base-2.json\t\nbase.json\tout/head.json')"
job MEMTRACE_RUN="$two" MEMTRACE_BUDGET=budget.json MEMTRACE_PROCESSES=3
is 'too few processes' $? 3
has 'are told' summary.md 'left 2 traces; MEMTRACE_PROCESSES asks for 3'

# --- ranks ----------------------------------------------------------------------------------------------
# Rank 1 begins first, so that the order of the starts is not that of the ranks.
ranks() { # WHAT RANK 0 DOES, ITS WORKER, RANK 1, ITS WORKER: a worker has its rank's environment
	run="WORLD_SIZE=2; export WORLD_SIZE; RANK=1; export RANK; $E2E/changes $3; $E2E/changes $4
RANK=0; $E2E/changes $1; $E2E/changes $2"
}
ranks optimizer none leak none
job MEMTRACE_RUN="$run" MEMTRACE_BASELINE=job.json MEMTRACE_RENEW=1
is 'two ranks, each with a worker' $? 0
is 'each has a baseline by its rank and its start' "$(cut -f 1 out/renew | tr '\n' ' ')" \
	'job.json job-2.json job-rank1.json job-rank1-2.json '
is 'which is its own' "$(for head in head head-2 head-rank1 head-rank1-2; do
	json out/$head.json 'd["summary"]["devices"][0]["allocated"]["peak_bytes"] >> 20'
done | tr '\n' ' ')" '76 60 60 60 '
while IFS=$(printf '\t') read -r base head; do
	cp "$head" "$base"
done <out/renew
ranks optimizer none larger none
job MEMTRACE_RUN="$run" MEMTRACE_BASELINE=job.json
is 'rank 1 takes more than it did, and less than rank 0' $? 1
is 'it is the one that decides' "$(decided)" 'status 1, decided by rank 1, pid N, changes larger'
ranks optimizer none leak larger
job MEMTRACE_RUN="$run" MEMTRACE_BASELINE=job.json
is 'so is its worker that takes more' "$? $(decided)" '1 status 1, decided by rank 1, pid N, changes larger'
one="RANK=0 WORLD_SIZE=2 $E2E/changes none"
job MEMTRACE_RUN="$one" MEMTRACE_BUDGET=budget.json
is 'a rank that left no trace' $? 3
has 'is missed' summary.md 'left traces of 1 of its 2 ranks'
job MEMTRACE_RUN="$one" MEMTRACE_BUDGET=budget.json MEMTRACE_PROCESSES=1
is 'unless it is said how many there are' $? 0

cat >launch.py <<'END'
"""As torchrun does: two ranks at once, each of which starts a worker with its own environment once it has begun."""
import ctypes
import os
import subprocess
import sys

def take(mib):
    pointer = ctypes.c_void_p()
    assert ctypes.CDLL("libcudart.so.13").cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(mib << 20)) == 0

if len(sys.argv) == 1:
    for rank in [subprocess.Popen([sys.executable, "-S", __file__, "rank", mib], env=dict(os.environ, RANK=n, WORLD_SIZE="2"))
                 for n, mib in (("1", "20"), ("0", "10"))]:
        rank.wait()
else:
    take(int(sys.argv[2]))
    if sys.argv[1] == "rank":
        subprocess.run([sys.executable, "-S", __file__, "worker", str(int(sys.argv[2]) + 1)], check=True)
END
job MEMTRACE_RUN="$PYTHON -S launch.py" MEMTRACE_BASELINE=python.json MEMTRACE_RENEW=1
is 'Python ranks that run at the same time' "$? $(for head in head head-2 head-rank1 head-rank1-2; do
	json out/$head.json 'd["summary"]["devices"][0]["allocated"]["peak_bytes"] >> 20'
done | tr '\n' ' ')" '0 10 11 20 21 '

# --- what is not known ----------------------------------------------------------------------------------
job MEMTRACE_RUN='exit 7' MEMTRACE_BASELINE=base.json
is 'the status of a command that fails' $? 7
job MEMTRACE_RUN="$E2E/changes none 1; exit 2" MEMTRACE_BASELINE=base.json
is 'which neither a good trace nor a worse one hides' $? 2
has 'nor the summary' summary.md '### GPU memory: the command ended with status 2'
job MEMTRACE_RUN=true MEMTRACE_BASELINE=base.json
is 'a command without CUDA' $? 3
has 'is told' "$ERR" 'left no trace'
rm -f base-2.json base-2gpu.json
job MEMTRACE_RUN="MEMTRACE_MAX_EVENTS=20 $E2E/changes none 1" MEMTRACE_BASELINE=base.json
is 'a trace without its events still has its peak' $? 0
has 'and that they are missing is said' summary.md '208 events are not in the trace'
has 'in the annotations, too' "$OUT" '::warning::pid '
cat >hold.py <<'END'
import ctypes, os, time
assert ctypes.CDLL("libcudart.so.13").cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(1 << 20)) == 0
open("held", "w").close()
while not os.path.exists("release") and os.path.exists(os.getcwd()):
    time.sleep(0.05)
END
job MEMTRACE_RUN="$PYTHON -S hold.py & while [ ! -e held ]; do sleep 0.05; done; $E2E/changes none 1" MEMTRACE_BASELINE=base.json
is 'a process that still runs' $? 3
has 'decides, for nobody knows what it will take' "$ERR" 'status 3, decided by trace.'
touch release
if command -v prlimit >/dev/null; then
	job MEMTRACE_RUN="prlimit --fsize=2048000 $E2E/changes none 1" MEMTRACE_BASELINE=base.json MEMTRACE_RENEW=1
	is 'a recording that had to stop is no recording' $? 3
	has 'which is said' summary.md 'has an incomplete trace: its peak is not known'
	has 'with the reason' "$ERR" 'recording stopped early'
else
	skip 'a recording that had to stop' 'no prlimit here'
fi

if "$PYTHON" -c 'import yaml' 2>/dev/null; then
	ok 'GitLab takes what the gate leaves' "$PYTHON" -c '
import sys, yaml
job = yaml.safe_load(open(sys.argv[1]))[".memtrace"]
assert job["artifacts"]["reports"]["junit"] == job["artifacts"]["paths"][0] + "/*.junit.xml"
assert job["rules"][0]["variables"] == {"MEMTRACE_RENEW": "1"} and "gate.sh" in job["variables"]["MEMTRACE_GATE"]
' "$TOP/scripts/ci/gitlab.yml"
else
	skip 'GitLab takes what the gate leaves' 'no python3-yaml'
fi
has 'and so does Jenkins' "$TOP/scripts/ci/Jenkinsfile" 'memtrace-out/*.junit.xml'
