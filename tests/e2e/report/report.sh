#!/bin/sh
# What `memtrace report` says, of the format's own example, of broken files and of hostile names.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

example=$TOP/tests/data/example.json

# --- the example --------------------------------------------------------------------------------------
ok 'the example is explained' memtrace report "$example"
expected report.text "$OUT"
is 'no line is wider than a terminal' "$(awk 'length > 80' "$OUT")" ''
is 'no line ends in blanks' "$(grep -n ' $' "$OUT")" ''
ok 'in full' memtrace report --full "$example"
expected report.full "$OUT"
ok 'as a document' memtrace report --json "$example"
expected report.json "$OUT"
is 'which is JSON' "$(json "$OUT" 'd["schema"]')" memtrace-report/1
is 'whose parts sum to the peak' \
	"$(json "$OUT" '[sum(s["bytes"] for s in p["stacks"]) - p["bytes"] for p in d["peaks"]]')" '[0]'
cp "$OUT" whole.json
ok 'one row of each list' memtrace report --json --limit 1 "$example"
is 'what is left out is summed' \
	"$(json "$OUT" '[sum(s["bytes"] for s in p["stacks"]) + p["other_stacks_bytes"] - p["bytes"] for p in d["peaks"]]')" '[0]'
ok 'into a file' memtrace report --json -o told.json "$example"
ok 'the same there' cmp told.json whole.json
ok 'from a pipe' sh -c "cat '$example' | memtrace report -"
has 'which has no name' "$OUT" 'Peak 68.00 MiB allocated of 72.00 MiB reserved on device 0'
ok 'one device' memtrace report --device 0 "$example"
fails 3 'has no device 1' memtrace report --device 1 "$example"

# --- a terminal, and what is none -----------------------------------------------------------------------
ok 'no colours in a file' memtrace report "$example"
is 'not one' "$(grep -c "$(printf '\033')" "$OUT")" 0
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
	TERM=xterm script -qec "memtrace report '$example'" /dev/null >terminal </dev/null
	has 'colours on a terminal' terminal "$(printf '\033')[1m"
	TERM=xterm NO_COLOR=1 script -qec "memtrace report '$example'" /dev/null >terminal </dev/null
	hasnt 'none with NO_COLOR' terminal "$(printf '\033')["
	script -qec "stty cols 150; NO_COLOR=1 memtrace report '$TOP/tests/data/recorded/forward_backward.json'" /dev/null >terminal </dev/null
	has 'a wide one has room for names' terminal 'cublasCreate_v2 (libcublas.so.13) from Net.forward [backward] (forward_backward.py)  '
else
	skip 'colours on a terminal' 'no script(1)'
fi

# A name of the traced program may try to steer the terminal of who reads about it.
sed 's/Net\.forward/Net\\u001b[2J\\u009b\\r\\n\\u202eforward/; s/"fwd"/"f\\u0007\\u001b]0;x"/g' \
	"$example" >hostile.json
ok 'hostile names are told' memtrace report --full hostile.json
is 'without what they would do' "$(LC_ALL=C tr -d '\n -~' <"$OUT" | wc -c)" 0
has 'but for their letters' "$OUT" 'Net?[2J????forward'
ok 'and programs get them escaped' memtrace report --json hostile.json
is 'whole' "$(json "$OUT" 'ascii(d["peaks"][0]["sites"][0]["line"])')" \
	"'Net\\x1b[2J\\x9b\\r\\n\\u202eforward (train.py:12)'"

# --- what cannot be read --------------------------------------------------------------------------------
fails 3 'nowhere.json: No such file' memtrace report nowhere.json
: >empty.json
fails 3 'empty.json: is empty' memtrace report empty.json
mkdir -p no_traces
fails 3 'this folder has no trace' memtrace report no_traces
echo hello >text.json
fails 3 'text.json: neither a memtrace trace (JSON) nor a memtrace spool' memtrace report text.json
echo '{"traceEvents":[]}' >other.json
fails 3 'other.json: JSON, but not a memtrace trace' memtrace report other.json
sed 's|memtrace/1|memtrace/2|' "$example" >newer.json
fails 3 'newer.json: written by a newer memtrace version (schema memtrace/2' memtrace report newer.json
fails 3 'whole.json: contains memtrace-report/1, not a trace' memtrace report whole.json
sed 's|"module":0|"module":7|' "$example" >range.json
fails 3 'range.json: frames[1] refers to modules[7], but there are only 1' memtrace report range.json
gzip -c "$example" >packed.json.gz
ok 'one that is compressed' memtrace report packed.json.gz
ok 'through a pipe, too' sh -c 'cat packed.json.gz | memtrace report -'

head -c 1500 "$example" >cut.json
fails 3 'cut.json: truncated: it ends at byte 1500, inside "summary"' memtrace report cut.json
head -n -2 "$example" >cut.json
fails 3 'inside "events"' memtrace report cut.json
printf MEMTRACE >cut.spool
fails 3 'its spool file is next to it; run: memtrace recover' memtrace report cut.json
fails 3 'cut.spool' memtrace report cut.spool

# --- what is not known is not said ----------------------------------------------------------------------
ok 'a baseline' memtrace report --show categories,short_lived,histogram,used "$TOP/tests/data/recorded/change-none.json"
has 'has no sizes' "$OUT" 'Sizes of allocations: not known, because a baseline has no events.'
has 'no short-lived blocks' "$OUT" 'Short-lived blocks: not known, because a baseline has no events.'
has 'nor blocks' "$OUT" ' 79.1%           -    193.25 MiB'
has 'what was asked for is answered' "$OUT" 'used: this baseline has nothing for this section.'
fails 3 'is a baseline, which has no events to select from' memtrace report --at peak "$TOP/tests/data/recorded/change-none.json"
fails 3 'is a baseline, which has no events to select from' memtrace report --by thread "$TOP/tests/data/recorded/change-none.json"
ok 'a trace that lacks events' memtrace report --show histogram,short_lived,gaps "$TOP/tests/data/recorded/nccl.json"
has 'tells of the others' "$OUT" 'Sizes of allocations whose events were kept'
is 'and not what lives of them' "$(grep -c '^  4 B  *1  *4 B  *-  *-' "$OUT")" 1
has 'its short-lived blocks, too' "$OUT" 'Short-lived blocks in the events that were kept: freed within'
has 'gaps are of a moment' "$OUT" 'gaps: add --at WHEN to choose a time.'

# --- what is offered, and asked for -----------------------------------------------------------------------
ok 'a baseline' memtrace report "$TOP/tests/data/recorded/change-adamw.json"
has 'offers what it has' "$OUT" 'More sections with --show NAME: live leaks tree inverted; everything with'
hasnt 'and no look at events' "$OUT" 'Growth was not checked'
ok 'a document' memtrace report --json "$TOP/tests/data/recorded/forward_backward.json"
is 'is whole' "$(json "$OUT" '[len(d["phases"]), d["other_phases"], d["lines"]["other_rows"]]')" '[24, 0, 0]'
memtrace report --oom "$TOP/tests/data/recorded/train.json" >oom.txt
is 'where nothing failed, there is nothing to explain' "$? $(cat oom.txt)" '1 No allocation failed.'
fails 3 "train.json: 99s is after the trace's end, which is at $(json "$TOP/tests/data/recorded/train.json" '"%.3f" % (d["process"]["duration_ns"] / 1e9)') s" memtrace report --at 99s "$TOP/tests/data/recorded/train.json"
sed "s/\"train.py\"\]/\"train.py\",\"--only\",\"it's both\",\"\"]/" "$example" >quoted.json
ok 'a command with blanks' memtrace report quoted.json
# shellcheck disable=SC2016  # the report's own quotes
has 'is one for a shell' "$OUT" "\`python train.py --only 'it'\\''s both' ''\`"

# --- names ----------------------------------------------------------------------------------------------
for trace in forward_backward operators jax; do
	recorded=$TOP/tests/data/recorded/$trace.json
	ok "$trace: phases and lines" memtrace report --show phases,lines -n 0 "$recorded"
	is 'are cut, but no two look alike' "$(sed -n 's/^  \([^ ].*[^ ]\)  *[-+]*[0-9][0-9.]* .*/\1/p' "$OUT" | sort | uniq -d)" ''
	ok "$trace: in full" memtrace report --show phases,lines,short_lived --full "$recorded"
	is 'no name is cut' "$(grep -F '...' "$OUT" | grep -vF '<...>')" ''
done

# --- advice and table -----------------------------------------------------------------------------------
ok 'advice about temporaries' memtrace report --show advice,categories "$TOP/tests/data/recorded/operators.json"
has 'is of the category' "$OUT" '- 4.00 GiB of the peak were temporaries'
has 'which the table shows' "$OUT" '  temporaries                4.00 GiB'
ok 'where the table has few' memtrace report --show advice "$TOP/tests/data/recorded/cupy.json"
hasnt 'there is none' "$OUT" 'of the peak were'
ok 'what was short-lived has its name' memtrace report --show short_lived "$TOP/tests/data/recorded/operators.json"
has 'and no other' "$OUT" 'Short-lived blocks: freed within the next 16 allocations'

# --- lines ----------------------------------------------------------------------------------------------
ok 'lines of two kinds of memory' memtrace report --json -n 0 --show lines "$TOP/tests/data/recorded/jax.json"
is 'make up the peak of the device' "$(json "$OUT" 'd["lines"]["total"]["peak_bytes"]')" 630004920
is 'those of the host apart' "$(json "$OUT" '[r["peak_bytes"] for r in d["lines"]["rows"] if r["name"].endswith(" [pinned]")]')" '[0, 0]'

# --- trees ----------------------------------------------------------------------------------------------
ok 'a tree' memtrace report --show inverted "$TOP/tests/data/recorded/train.json"
is 'branches stand out from chains' "$(sed -n '6,9p;12,13p' "$OUT" | cut -c25-55 | sed "s, *$,,")" '- 0x5b45ee in libcublas.so.13
  - Block.attend (train.py:28)
    Block.forward (train.py:33)
    Model.forward (train.py:47)
    <module> (train.py:108)
  - Model.forward [backward] (t'
ok 'stacks' memtrace report --by stack --show peaks -n 9 "$TOP/tests/data/recorded/train.json"
is 'each has its frames' "$(grep -c '^  .*%.* blocks*$' "$OUT") $(grep -A 1 '^  .*%.* blocks*$' "$OUT" | grep -c '^  *[a-zA-Z0].*[0-9)]$')" '9 9'

# --- several devices ------------------------------------------------------------------------------------
ok 'four devices' "$BUILD/tests/generator" --events 3000 --devices 4 --json four.json
ok 'on a screen' memtrace report four.json
is 'which is one, of 80 columns' "$(awk 'length > 80 { n++ } END { print NR <= 75 && !n }' "$OUT")" 1
is 'each device has its line' "$(sed -n '/^Peaks by device$/,/^$/p' "$OUT" | grep -c '^  [0-3] ')" 4
is 'one has more' "$(grep -c '^Peak of allocated memory on device' "$OUT")" 1
ok 'another when it is asked for' memtrace report --device 3 four.json
has 'has, too' "$OUT" 'Peak of allocated memory on device 3'
ok 'all of them' memtrace report --show peaks four.json
is 'likewise' "$(grep -c '^Peak of allocated memory on device' "$OUT")" 4

# --- what was really traced -----------------------------------------------------------------------------
traced "$SAMPLES/leak"
ok 'a program that leaks' memtrace report "$TRACE"
has 'the sentence first' "$OUT" 'Peak 15.00 MiB allocated of 15.00 MiB reserved on device 0'
has 'and who it was' "$OUT" 'load_weights (leak.c:'
ok 'with what is left on request' memtrace report --show live "$TRACE"
has 'and what is left' "$OUT" 'Still allocated at exit: 13.00 MiB'
traced "$SAMPLES/oom"
ok 'a program that asks for too much' memtrace report "$TRACE"
has 'what failed, and where' "$OUT" 'ask_too_much (oom.c:'
