#!/bin/sh
# scripts/ci: the steps of GitHub's action around the gate, against a small server that stands in for its API.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

# shellcheck source=ci_lib.sh
. "$ROOM/ci_lib.sh"

step() { # FILE [WORD]
	: >outputs
	"$PYTHON" "$CI/$1" ${2:+"$2"} >"$OUT" 2>"$ERR" </dev/null
}
pull_request

# --- the comment ----------------------------------------------------------------------------------------
start '{"comments":[{"id":1,"issue":7,"user":{"login":"p"},"body":"quotes <!-- memtrace gate: memtrace -->"},
	{"id":2,"issue":7,"user":{"login":"p"},"body":"b"},{"id":4,"issue":7,"user":{"login":"bot"},"body":"see <!-- memtrace gate: memtrace -->"},{"id":3,"issue":8,"user":{"login":"bot"},"body":"<!-- memtrace gate: memtrace -->"}]}'
env -u MEMTRACE_OUT memtrace run -q -o run.json -- "$E2E/changes" larger
memtrace baseline run.json -o base.json
MEMTRACE_RUN="$E2E/changes none" MEMTRACE_BASELINE=base.json sh "$CI/gate.sh" >"$OUT" 2>"$ERR"
MEMTRACE_TRACE=$(sed -n 's/^trace=//p' outputs)
MEMTRACE_PICTURES=pictures
export MEMTRACE_TRACE MEMTRACE_PICTURES
step comment.py
is 'a comment is written' "$? $(cat "$OUT")" '0 the comment is written'
is 'one, of that pull request' "$(state '[c["issue"] for c in d["comments"]]')" '[7, 7, 7, 8, 7]'
state 'd["comments"][4]["body"]' >body.md
is 'its first line is the mark' "$(head -n 1 body.md)" '<!-- memtrace gate: memtrace -->'
has 'it has the verdict' body.md '### GPU memory: passed'
has 'and the comparison' body.md 'The peak on device 0 shrank by 8.00 MiB'
has 'the commit that was tried, not the merge' body.md 'Commit feedfacefeed'
has 'the way to the artifacts' body.md 'https://example.test/o/r/actions/runs/77'
first=$(state 'd["branches"]["pictures"]["commit"]')
has 'and the map, in the commit that keeps it' body.md \
	"![Allocated memory by call site](https://example.test/o/r/raw/$first/pull-7/memtrace.png)"
has 'whose colours have names' body.md '<code>forward (changes.c:'
is 'the branch holds the picture alone' "$(state 'sorted(d["branches"]["pictures"]["files"])')" '["pull-7/memtrace.png"]'
json state.json 'd["branches"]["pictures"]["files"]["pull-7/memtrace.png"]' | base64 -d >kept.png
ok 'the one that is an artifact' cmp kept.png out/map.png
is 'nothing went wrong in the server' "$(cat server.log)" ''

MEMTRACE_RUN="$E2E/changes larger" MEMTRACE_BASELINE=base.json sh "$CI/gate.sh" >"$OUT" 2>"$ERR"
MEMTRACE_TRACE=$(sed -n 's/^trace=//p' outputs)
step comment.py
is 'the next run changes it, over pages of comments' "$? $(cat "$OUT") $(state 'len(d["comments"])')" '0 the comment is changed 5'
state 'd["comments"][4]["body"]' >body.md
has 'to what is so now' body.md 'No change &#40;68.00 MiB'
is 'and shows the new picture, in a commit that follows' "$(state 'd["branches"]["pictures"]["commit"]')" \
	"$(sed -n 's/.*raw\/\([0-9a-f]*\)\/pull-7.*/\1/p' body.md)"
is 'the older one' "$(state 'd["branches"]["pictures"]["commit"]' | grep -c "$first")" 0
MEMTRACE_NAME='other -->x' step comment.py
is 'another gate has a comment of its own' "$(state '[len(d["comments"]), d["comments"][5]["body"].split("\n")[0]]')" \
	'[6, "<!-- memtrace gate: other ___x -->"]'

MEMTRACE_PICTURES='' step comment.py
state 'd["comments"][4]["body"]' >body.md
has 'without a branch the picture is text' body.md ' 68.00 MiB ┤'
hasnt 'and no address' body.md '/raw/'
# --- what goes wrong ------------------------------------------------------------------------------------
# shellcheck disable=SC2016  # Markdown
python_lines() { "$PYTHON" -c 'print("\n<details><summary>s</summary>\n\n```\n" + "line of a table\n" * 9000 + "```\n</details>")'; }
cp out/summary.md kept.md
python_lines >>out/summary.md
step comment.py
state 'd["comments"][4]["body"]' >body.md
is 'what is too long for a comment' "$? $([ "$(wc -c <body.md)" -le 65536 ] && echo fits)" '0 fits'
has 'is cut, which is said' body.md 'The rest is too long for a comment'
is 'with nothing left open' "$(grep -c '<details>' body.md) $(($(grep -c '^```' body.md) % 2))" "$(grep -c '</details>' body.md) 0"
cp kept.md out/summary.md
start '{"comments":[{"id":1,"issue":7,"user":{"login":"p"},"body":"<!-- memtrace gate: memtrace -->"}],
	"fail":{"GET /repos/o/r/issues/7/comments":{"status":502,"times":3}}}'
step comment.py
is 'a server that is busy is asked again' "$? $(cat "$OUT")" '0 the comment is written'
is "somebody else's comment stays" "$(state 'd["comments"][0]["body"]')" '<!-- memtrace gate: memtrace -->'
start '{"fail":{"GET /repos/o/r/issues/7/comments":{"status":502,"times":4}}}'
step comment.py
is 'but not for ever' $? 1
GITHUB_TOKEN=reader step comment.py
is 'a token that may not write' "$? $(state 'len(d["comments"])')" '0 0'
has 'is told, and is not the verdict' "$OUT" '::warning::no comment: this token may not write one'
mv out/summary.md out/none.md
start '{}'
step comment.py
state 'd["comments"][0]["body"]' >body.md
has 'a gate that did not end is no success' body.md '### GPU memory: unknown'
mv out/none.md out/summary.md
env -u MEMTRACE_OUT memtrace run -q --max-events 0 -o bare.json -- "$E2E/changes"
MEMTRACE_TRACE=bare.json step comment.py
state 'd["comments"][0]["body"]' >body.md
is 'a trace without events has its picture as text' "$? $(grep -c '/raw/' body.md) $(grep -c '┤' body.md)" '0 0 2'
echo '{"repository":{"default_branch":"trunk"}}' >event.json
step comment.py
is 'a push has no comment' "$? $(cat "$OUT")" '0 no pull request, so no comment'
stop

for file in "$CI"/*.py "$TOP/scripts/pytest_memtrace.py"; do
	ok "${file##*/} is Python 3.8" "$PYTHON" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 8))' "$file"
done

# --- the picture ----------------------------------------------------------------------------------------
"$PYTHON" "$CI/picture.py" "$TOP/tests/data/recorded/train.json" --png map.png --legend map.md
is 'a recorded run: its peak, its sites' "$(sed -n -e '1s/.*peak of/peak/p' -e 3p map.md)" "$(printf \
	'peak 197.77 MiB:\n🟥 97.13 MiB <code>Block.attend (train.py:28)</code>  ')"
cat >look.py <<'END'
"""The share of each colour in the last column of a map, from below, and of the sites at the peak."""
import struct
import sys
import zlib

data, at, packed = open(sys.argv[1], "rb").read(), 8, b""
while at < len(data):
    length, kind = struct.unpack(">I4s", data[at:at + 8])
    assert zlib.crc32(data[at + 4:at + 8 + length]) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
    if kind == b"IHDR":
        width, height = struct.unpack(">II", data[at + 8:at + 16])
    if kind == b"IDAT":
        packed += data[at + 8:at + 8 + length]
    at += 12 + length
points = zlib.decompress(packed)
column = [points[y * (width + 1) + 1 + int(sys.argv[2])] for y in range(height)]
filled = [point for point in column if point > 2]
print(width, height, " ".join("%d:%d" % (colour, filled.count(colour)) for colour in sorted(set(filled))))
END
# tests/e2e/compare/changes.c: 16 MiB of weights and 16 of states all the time, and 16 + 12 more at the peak of 60 MiB,
# which is 268 points high.
env -u MEMTRACE_OUT memtrace run -q -o map.json -- "$E2E/changes"
"$PYTHON" "$CI/picture.py" map.json --png map.png --legend map.md
is 'each site has its bytes at the peak' "$(sed -n '3,$s/ <code>\([a-z_]*\) .*/ \1/p' map.md)" '🟥 16.00 MiB load_weights
🟦 16.00 MiB make_optimizer
🟩 16.00 MiB forward
🟨 12.00 MiB backward'
for x in 200 300 400 500 600 700; do
	"$PYTHON" look.py map.png $x
done >columns
is 'in each column stands what was live then' "$(grep -c '^800 300 3:71 4:7[12]' columns)" 6 || tap_comment columns
env -u MEMTRACE_OUT MEMTRACE_MAX_EVENTS=40 memtrace run -q -o few.json -- "$E2E/changes"
"$PYTHON" "$CI/picture.py" few.json --png map.png --legend map.md
ok 'memory whose events are missing belongs to no site' grep -q 'events that are not in the trace' map.md
fails 3 'picture: ' "$PYTHON" "$CI/picture.py" none.json --png none.png
fails 1 'has no events' "$PYTHON" "$CI/picture.py" bare.json --png none.png
