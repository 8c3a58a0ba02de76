#!/bin/sh
# scripts/ci/action.yml: its steps one after the other, as GitHub would do them (run_action.py), over the life of a
# repository: the default branch makes the baseline, pull requests are held to it. And the two scripts that no other test has.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=ci_lib.sh
. "$ROOM/ci_lib.sh"

need git
if ! "$PYTHON" -c 'import yaml' 2>/dev/null; then
	skip 'the action' 'no python3-yaml'
	exit 0
fi
unset MEMTRACE_OUT GITHUB_OUTPUT
git_quietly() {
	git -c user.name=t -c user.email=t@example.test -c init.defaultBranch=trunk "$@" >git.log 2>&1
}
on() { # EVENT BRANCH
	echo '{"repository":{"default_branch":"trunk"}}' >"$GITHUB_EVENT_PATH"
	[ "$1" != pull_request ] || pull_request
	GITHUB_EVENT_NAME=$1 GITHUB_REF=refs/heads/$2
	export GITHUB_EVENT_NAME GITHUB_REF
}
action() { # NAME=VALUE...
	PYTHONPATH='' "$PYTHON" "$ROOM/run_action.py" "$CI/action.yml" "$@" >"$OUT" 2>"$ERR" </dev/null
}
start '{}'

# --- the tool -------------------------------------------------------------------------------------------
# A wheel of its own making, with what such a wheel will have: a package and the tool as a script.
"$PYTHON" - "$BUILD/memtrace" <<'END'
import sys
import zipfile
info = "memtrace-9.9.dist-info/"
with zipfile.ZipFile("memtrace-9.9-py3-none-any.whl", "w") as wheel:
    def add(name, text, mode=0o644):
        row = zipfile.ZipInfo(name)
        row.external_attr = (0o100000 | mode) << 16
        wheel.writestr(row, text)
    add("memtrace/__init__.py", "here = True\n")
    add("memtrace-9.9.data/scripts/memtrace", "#!/bin/sh\necho \"$0\" >>\"$WHEEL_LOG\"\nexec '%s' \"$@\"\n" % sys.argv[1], 0o755)
    add(info + "METADATA", "Metadata-Version: 2.1\nName: memtrace\nVersion: 9.9\n")
    add(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    add(info + "RECORD", "")
END
RUNNER_TEMP=$PWD/temp WHEEL_LOG=$PWD/wheel.log
export RUNNER_TEMP WHEEL_LOG
tool() { # SETTINGS...
	rm -f tool.out tool.env tool.path
	env MEMTRACE_PYTHON="$PYTHON" GITHUB_OUTPUT=tool.out GITHUB_ENV=tool.env GITHUB_PATH=tool.path "$@" sh "$CI/tool.sh"
}
if "$PYTHON" -m pip --version >/dev/null 2>&1; then
	ok 'a wheel by its address' tool MEMTRACE_WHEEL="$home/files/memtrace-9.9-py3-none-any.whl"
	is 'its tool is told' "$(cat tool.out)" "memtrace=$PWD/temp/memtrace-wheel/bin/memtrace"
	is 'it is on PATH' "$(cat tool.path)" "$PWD/temp/memtrace-wheel/bin"
	is 'its package is found' "$(env "$(cat tool.env)" "$PYTHON" -c 'import memtrace; print(memtrace.here)')" True
	rm -rf temp
	fails 1 'the wheel cannot be installed' tool MEMTRACE_WHEEL="$home/files/memtrace-9.8-py3-none-any.whl"
	wheel=wheel=$PWD/memtrace-9.9-py3-none-any.whl
else
	skip 'a wheel' "no pip for $PYTHON (apt-get install python3-pip)"
	wheel=wheel=
fi
ok 'no wheel: the tool on PATH' tool MEMTRACE_WHEEL=
is 'is taken' "$(cat tool.out)" memtrace=memtrace
fails 1 'there is no no-such-tool on PATH' tool MEMTRACE_BIN=no-such-tool

# --- the default branch makes the baseline ------------------------------------------------------------------
git_quietly init --bare origin.git
git_quietly init work
cd work || exit 1
git_quietly remote add origin ../origin.git
git_quietly commit --allow-empty -m first
git_quietly push origin HEAD:trunk
run="run=$E2E/changes none 1"
base=baseline=.memtrace/base.json
on pull_request topic
action "$run" "$base" renew=commit
is 'a pull request before there is a baseline' "$? $(grep -c '^memory failure' "$OUT")" '1 1'
is 'makes none' "$(ls .memtrace 2>/dev/null)" ''
is 'and says so in its comment' "$(state 'd["comments"][0]["body"].count("has no baseline")')" 1
on push trunk
action "$run" "$base" renew=commit "$wheel"
is 'a push to the default branch' $? 0
is 'does these steps' "$(cat "$OUT")" 'tool success
before success
memory success
comment success
step4 actions/upload-artifact@v4 memtrace memtrace-out/*.html memtrace-out/*.sarif memtrace-out/*.md memtrace-out/*.xml memtrace-out/*.json memtrace-out/*.png
after success
step6 skipped
output head memtrace-out/head.json
output status 0'
is 'commits the baseline' "$(git -C ../origin.git log --format='%an: %s' trunk | head -n 1)" \
	'memtrace: Renew the GPU memory baseline [skip ci]'
is 'and nothing else' "$(git -C ../origin.git show --format= --name-only trunk)" .memtrace/base.json
[ "$wheel" = wheel= ] || ok "with the tool of a wheel by its path" grep -q '/temp/memtrace-wheel/bin/memtrace$' "$WHEEL_LOG"

# --- pull requests are held to it ---------------------------------------------------------------------------
on pull_request topic
action "run=$E2E/changes larger 3" "$base" renew=commit
is 'one that takes more' "$? $(grep -c -e '^memory failure' -e '^comment success' -e '^step4 actions' -e '^after skipped' "$OUT")" '1 4'
is 'has the one comment changed' "$(state '[len(d["comments"]), d["comments"][0]["body"].count("**Gate broken.**") > 0]')" \
	'[1, true]'
is 'and renews nothing' "$(git -C ../origin.git rev-list --count trunk)" 2
GITHUB_TOKEN=reader action "$run" "$base" renew=commit
is 'one that changes nothing, from a fork, whose token only reads' "$? $(grep -c '^comment success' "$OUT")" '0 1'
action 'run=exit 3' "$base" renew=commit
is 'a command that fails' "$? $(state 'd["comments"][0]["body"].count("the command ended with status 3") > 0')" '1 true'
on push trunk
action "run=$E2E/changes larger 3" "$base" renew=commit
is 'once it is merged, the baseline moves' "$? $(git -C ../origin.git rev-list --count trunk)" '0 3'
put() { # TEXT HEAD-2-OR-NOTHING: as if the gate had told of a first process that changed, and of a second or of its end
	printf '%s\n' "$1" >memtrace-out/head.json
	printf '.memtrace/base.json\tmemtrace-out/head.json\n.memtrace/base-2.json\t%s\n' "$2" >memtrace-out/renew
	MEMTRACE_RENEW_BY=commit "$PYTHON" "$CI/baseline.py" put >"$OUT" 2>"$ERR" </dev/null
}
cp memtrace-out/head.json memtrace-out/head-2.json
put 1 memtrace-out/head-2.json
is 'a second process gets one' "$? $(git -C ../origin.git ls-tree -r --name-only trunk | tr '\n' ' ')" \
	'0 .memtrace/base-2.json .memtrace/base.json '
put 1 memtrace-out/head-2.json
is 'the same again is no commit' "$? $(cat "$OUT")" '0 the baseline is what it was'
put 2 ''
is 'which goes with it' "$? $(git -C ../origin.git ls-tree -r --name-only trunk)" '0 .memtrace/base.json'
git_quietly clone -q ../origin.git ../other
git_quietly -C ../other checkout trunk
git_quietly -C ../other commit --allow-empty -m newer
git_quietly -C ../other push origin HEAD:trunk
put 3 ''
is 'a branch that has moved on meanwhile is left to its own run' "$? $(grep -c 'left to the run of the newer commit' "$ERR")" '0 1'
git_quietly fetch origin
git_quietly reset --hard origin/trunk
printf '#!/bin/sh\nexit 1\n' >../origin.git/hooks/pre-receive
chmod +x ../origin.git/hooks/pre-receive
put 4 ''
is 'a branch that takes no push' "$? $(grep -c '^::warning::the baseline cannot be pushed to trunk' "$OUT")" '1 1'
on pull_request_target trunk
put 5 ''
is 'a pull request renews nothing, whatever it calls its branch' "$? $(cat "$OUT")" '0 this run renews nothing'
on push trunk
rm memtrace-out/renew
MEMTRACE_RENEW_BY=commit "$PYTHON" "$CI/baseline.py" put >"$OUT" 2>"$ERR"
is 'without a run that passed there is nothing to renew' $? 1

# --- by artifact ----------------------------------------------------------------------------------------
git_quietly reset --hard origin/trunk
rm -rf .memtrace
action "$run" "$base" renew=artifact name=gpu
is 'a baseline as an artifact' "$? $(tail -n 3 "$OUT" | head -n 1)" \
	'0 step6 actions/upload-artifact@v4 gpu-baseline memtrace-out/baseline'
is 'holds it by its name' "$(ls memtrace-out/baseline)" base.json
cp memtrace-out/baseline/base.json ../base.json
cd .. || exit 1
memtrace run -q -o fork.json -- "$E2E/changes" larger
memtrace baseline fork.json -o fork-base.json
"$PYTHON" - <<'END' >artifacts.json
import base64
import io
import json
import zipfile

def packed(path):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.write(path, "base.json")
        archive.writestr("../../out-of-place.json", "{}")
    return base64.b64encode(data.getvalue()).decode()

def row(number, path, branch, head, **more):
    return dict({"id": number, "name": "gpu-baseline", "expired": False, "zip": packed(path),
                 "workflow_run": {"head_branch": branch, "head_repository_id": head, "repository_id": 1}}, **more)

print(json.dumps({"artifacts": [row(9, "fork-base.json", "trunk", 2), row(8, "fork-base.json", "topic", 1),
                                row(7, "fork-base.json", "trunk", 1, expired=True), row(6, "base.json", "trunk", 1),
                                row(5, "fork-base.json", "trunk", 1)]}))
END
start "$(cat artifacts.json)"
cd work || exit 1
on pull_request topic
get() { # WAY
	MEMTRACE_RENEW_BY=$1 MEMTRACE_ARTIFACT=gpu-baseline MEMTRACE_BASELINE=.memtrace/base.json \
		"$PYTHON" "$CI/baseline.py" get >"$OUT" 2>"$ERR" </dev/null
}
get artifact
is 'a pull request fetches it' $? 0
ok 'the newest of the default branch, and of no fork' cmp .memtrace/base.json ../base.json
is 'what an archive says of a way goes nowhere' "$(find .. ../.. -maxdepth 1 -name out-of-place.json)" ''
is 'the store of archives sees no token' "$(state 'd["log"].count("GET /store/6")')" 1
start '{}'
rm -rf .memtrace
get artifact
is 'where there is none, the gate will say so' "$? $(grep -c 'has no baseline so far' "$ERR") $(ls .memtrace 2>/dev/null)" '0 1 '
get sometimes
is 'a way that is none is refused' $? 2
stop
