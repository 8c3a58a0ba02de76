#!/bin/sh
# scripts/ci: the job that the action and the snippet run, with and without a change.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

MEMTRACE_QUIET=1
export MEMTRACE_QUIET
job() { # SETTINGS...
	env GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY="$PWD/summary.md" GITHUB_OUTPUT="$PWD/outputs" MEMTRACE_OUT=out "$@" \
		sh "$TOP/scripts/ci/gate.sh" >"$OUT" 2>"$ERR" </dev/null
}
job MEMTRACE_RUN="$E2E/changes none 1" MEMTRACE_BASELINE=base.json
is 'the first run has nothing to be compared with' $? 0
has 'and says what to commit' "$ERR" 'base.json is not there yet: commit out/head.json in its place'
has 'the new baseline is an output' outputs 'head=out/head.json'
cp out/head.json base.json
job MEMTRACE_RUN="$E2E/changes none 2" MEMTRACE_BASELINE=base.json
is 'the same program passes' $? 0
ok 'with the same baseline' cmp out/head.json base.json
job MEMTRACE_RUN="$E2E/changes larger 3" MEMTRACE_BASELINE=base.json
is 'a change does not' $? 1
has 'it is annotated' "$OUT" '::error '
has 'and summed up' summary.md 'forward &#40;changes&#41; allocates larger blocks and holds 8.00 MiB more'
for format in 'markdown diff.md' 'junit diff.junit.xml' 'sarif diff.sarif' 'benchmark benchmark.json'; do
	ok "${format#* }" "$PYTHON" "$TOP/tests/formats.py" "${format%% *}" "out/${format#* }"
done
job MEMTRACE_RUN="$E2E/changes larger 3" MEMTRACE_BASELINE=base.json MEMTRACE_FAIL_ON='allocated.peak>20%

count>0'
is 'gates of its own' $? 0
echo '{"schema":"memtrace-budget/1","max":{"allocated.peak":"10 MiB"}}' >budget.json
job MEMTRACE_RUN="$E2E/changes none 1" MEMTRACE_BUDGET=budget.json
is 'a budget' $? 1
job MEMTRACE_RUN="$E2E/changes none 1; $E2E/changes larger 3" MEMTRACE_BASELINE=base.json
is 'of two processes the first has its baseline' $? 0
has 'and the second gets one' "$ERR" 'base-2.json is not there yet: commit out/head-2.json in its place'
cp out/head.json base-2.json
job MEMTRACE_RUN="$E2E/changes none 1; $E2E/changes larger 3" MEMTRACE_BASELINE=base.json
is 'the second is held to its own' $? 1
ok 'and has its own files' "$PYTHON" "$TOP/tests/formats.py" sarif out/diff-2.sarif
echo '{"schema":"memtrace-budget/1","max":{"allocated.peak":"64 MiB"}}' >budget.json
job MEMTRACE_RUN="$E2E/changes none 1; $E2E/changes larger 3" MEMTRACE_BUDGET=budget.json
is 'a budget holds for the second process, too' $? 1
job MEMTRACE_RUN='exit 7' MEMTRACE_BASELINE=base.json
is 'the status of a command that fails' $? 7
job MEMTRACE_RUN=true MEMTRACE_BASELINE=base.json
is 'a command without CUDA' $? 3
has 'is told' "$ERR" 'left no trace'
job MEMTRACE_RUN="$E2E/changes none 1" MEMTRACE_BASELINE=base.json MEMTRACE_FAIL_ON='peak>1'
is 'a wrong gate' $? 2
if "$PYTHON" -c 'import yaml' 2>/dev/null; then
	# shellcheck disable=SC2016  # the $ are GitHub's
	ok 'the YAML is YAML' "$PYTHON" -c '
import sys, yaml
action, gitlab = (yaml.safe_load(open(path)) for path in sys.argv[1:])
assert action["runs"]["using"] == "composite" and action["runs"]["steps"][0]["shell"]
assert all("description" in row for row in action["inputs"].values())
used = set(action["runs"]["steps"][0]["env"].values())
assert used == {"${{ inputs.%s }}" % name for name in action["inputs"]}
assert gitlab[".memtrace"]["artifacts"]["reports"]["junit"]' "$TOP/scripts/ci/action.yml" "$TOP/scripts/ci/gitlab.yml"
else
	skip 'the YAML is YAML' 'no python3-yaml'
fi
