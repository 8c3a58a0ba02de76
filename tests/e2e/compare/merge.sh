#!/bin/sh
# `memtrace merge`: ranks as one picture, counted anew; who is missing, there twice, or of another job.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

MEMTRACE_QUIET=1
export MEMTRACE_QUIET
GENERATOR=$BUILD/tests/generator
counted() { "$PYTHON" "$TOP/tests/e2e/compare/merge.py" "$@"; }

# --- a job of eight, some of them spools ----------------------------------------------------------------
ok 'eight ranks are made' "$GENERATOR" --events 3000 --ranks 8 --devices 2 --json '%r.json'
ok 'and three of them as spools' "$GENERATOR" --events 3000 --ranks 3 --devices 2 --spool 'made.%r.spool'
ok 'eight traces merge' memtrace merge --json -o merged.json 7.json 1.json 2.json 3.json 4.json 5.json 6.json 0.json
ok 'and every figure is that of all traces at once' counted merged.json [0-7].json
ok 'in text' memtrace merge ./?.json
is 'the first sentence names who stands out' \
	"$(sed -n '1s/\(Rank [0-9]\) peaks [0-9.]* MiB above the median of 8 ranks ([0-9.]* GiB allocated):/\1/p' "$OUT")" \
	"Rank $(json merged.json 'd["imbalance"][0]["highest"]["rank"]')"
is 'each line fits a terminal' "$(awk 'length($0) > 80 || / $/' "$OUT")" ''
is 'each rank has a line, and one for its second device' "$(grep -cE '^ +[0-7] node7 +0 ' "$OUT"):$(grep -cE '^ {17} +1 +[0-9]' "$OUT")" 8:8
mkdir folder
cp [0-7].json folder
# Other things lie there too: no trace, one that is being written, a document's own spool.
echo '{"schema":"memtrace-report/1"}' >folder/report.json
echo '{"schema":"memtrace/1","pro' >folder/8.json.Ab12Cd
mkdir folder/below.json
ok 'a folder is all traces in it' memtrace merge --json -o folder.json folder
is 'which are the same' "$(json folder.json '[r["rank"] for r in d["ranks"]], d["cards"]')" "$(json merged.json '[r["rank"] for r in d["ranks"]], d["cards"]')"
for format in text json markdown; do
	ok "format $format" memtrace merge --format $format folder
done
is '--json is --format json' "$(memtrace merge --json folder)" "$(memtrace merge -f json folder)"
ok 'few rows on request' memtrace merge --limit 2 folder
has 'say what is left out' "$OUT" '... and 6 more ranks (--limit 0)'
has 'and show the highest' "$OUT" 'Ranks, highest peak first'

# A spool tells what its document tells.
ok 'documents of the same three' "$GENERATOR" --events 3000 --ranks 3 --devices 2 --json 'three.%r.json'
ok 'spools merge' memtrace merge --json -o spools.json made.0.spool made.1.spool made.2.spool
ok 'as their documents do' memtrace merge --json -o documents.json three.0.json three.1.json three.2.json
same_picture() {
	for file in "$@"; do
		json "$file" '[{k: v for k, v in r.items() if k not in ("trace", "exit")} for r in d["ranks"]], d["imbalance"], d["cards"], d["sites"]' >"$file.told"
	done
	cmp "$1.told" "$2.told"
}
ok 'to the byte' same_picture spools.json documents.json
ok 'mixed too' memtrace merge --json -o mixed.json made.0.spool three.1.json made.2.spool
ok 'the same' same_picture mixed.json documents.json
mkdir both
cp three.?.json both
cp made.1.spool both/three.1.spool
ok 'a spool beside its document in a folder is passed over' memtrace merge --json -o both.json both
ok 'and changes nothing' same_picture both.json documents.json

# --- who is missing, there twice, of another job --------------------------------------------------------
ok 'six of eight' memtrace merge --json -o gaps.json 0.json 1.json 2.json 4.json 5.json 6.json
is 'two are missing' "$(json gaps.json '[d["world_size"], d["missing"]]')" '[8, [{"first": 3, "last": 3}, {"first": 7, "last": 7}]]'
ok 'says the text' memtrace merge 0.json 1.json 2.json 4.json 5.json 6.json
has 'in a sentence' "$OUT" 'Of 8 ranks, 6 are given; missing: 3, 7.'
ok 'one of eight' memtrace merge 2.json
has 'is told as well' "$OUT" 'Of 8 ranks, 1 is given; missing: 0-1, 3-7.'
fails 3 'from the same process (rank 3): leave one out' memtrace merge 3.json 1.json 3.json
ok '--force counts it once' memtrace merge --force --json -o once.json 3.json 1.json 3.json
is 'one row' "$(json once.json '[r["rank"] for r in d["ranks"]]')" '[1, 3]'
sed 's/"pid":4245/"pid":99/' 3.json >again.json
fails 3 'rank 3 is given twice, by 3.json and again.json' memtrace merge 3.json 1.json again.json
is 'in one line' "$(wc -l <"$ERR")" 1
ok '--force takes both' memtrace merge --force --json -o twice.json 3.json again.json
is 'two rows' "$(json twice.json '[r["rank"] for r in d["ranks"]]')" '[3, 3]'
is 'on the same cards' "$(json twice.json 'len(d["cards"])')" 2
fails 3 'the traces are not of one job' memtrace merge 0.json three.1.json
has 'naming both' "$ERR" 'three.1.json has world size 3, 0.json has 8; memtrace merge --force'
ok '--force merges them' memtrace merge --force --json -o strange.json 0.json three.1.json
is 'without a number' "$(json strange.json '[r["rank"] for r in d["ranks"]]')" '[0, null]'

sed 's/"start_time":"2026-11-21T02/"start_time":"2026-11-22T02/' 3.json >later.json
ok 'a rank of the next day' memtrace merge 1.json 2.json later.json
has 'is doubted' "$OUT" 'Rank 1 (1.json) had ended 23 h 59 min before rank 3 (later.json) began'
ok 'those of one job' memtrace merge 1.json 2.json 3.json
hasnt 'are not' "$OUT" 'from different jobs'

# --- a rank that stands out -----------------------------------------------------------------------------
"$BUILD/tests/generator" --events 3000 --ranks 4 --json 'even.%r.json' >"$OUT"
# Four ranks that are the same but for their number, one of them with 1 GiB more at one site.
planted() { # RANK BYTES
	"$PYTHON" - "$1" "$2" <<'PYTHON'
import json, sys
rank, more = map(int, sys.argv[1:])
with open("even.0.json", encoding="utf-8") as file:
    d = json.load(file)
d["process"].update(rank=rank, pid=4242 + rank)
d["environment"]["devices"][0]["uuid"] = f"GPU-{rank}"
peak = next(p for p in d["peaks"] if p["metric"] == "allocated" and p["pool"] is None and p["device"] == 0)
peak["stacks"][0]["bytes"] += more
peak["bytes"] += more
for key in ("allocated", "reserved"):
    d["summary"]["devices"][0][key]["peak_bytes"] += more
with open(f"planted.{rank}.json", "w", encoding="utf-8") as file:
    json.dump(d, file)
PYTHON
}
for rank in 0 1 2; do
	planted $rank 0
done
planted 3 1073741824
ok 'a planted excess' memtrace merge planted.?.json
has 'is the first sentence' "$OUT" 'Rank 3 peaks 1.00 GiB above the median of 4 ranks'
ok 'with its site' memtrace merge --json -o planted.all planted.?.json
is 'and by how much' "$(json planted.all '"holds 1.00 GiB more there" in d["sentences"][0]')" true
is 'who would run out first' "$(json planted.all 'd["first_to_run_out"]["rank"]')" 3
planted 3 0
ok 'without it' memtrace merge planted.?.json
has 'all are alike' "$OUT" 'All 4 ranks have about the same peak'
hasnt 'no site is listed that all hold alike' "$OUT" 'Sites at the peak'
planted 3 1073741824
ok 'one of two' memtrace merge --json -o two.all planted.0.json planted.3.json
is 'is half of it above their mean' "$(json two.all '[d["imbalance"][0]["highest"]["bytes"] - d["imbalance"][0]["median_bytes"]]')" '[536870912]'

# --- several traces given to verbs of one ---------------------------------------------------------------
memtrace merge 0.json 1.json 2.json >merge.out
ok 'report of several is their merge' memtrace report 0.json 1.json 2.json
is 'the same text' "$(cat "$OUT")" "$(cat merge.out)"
is 'and document' "$(memtrace report --json folder)" "$(memtrace merge --json folder)"
fails 2 '--at is for one trace' memtrace report --at peak 0.json 1.json
fails 2 '--by is for one trace' memtrace report --by line folder
fails 3 'from the same process (rank 0)' memtrace report 0.json 0.json
highest=$(json merged.json 'd["imbalance"][0]["highest"]["rank"]')
fails 3 'nowhere.json' memtrace html -o page.html 0.json 1.json nowhere.json
fails 3 'from the same process (rank 0)' memtrace html -o page.html 0.json 0.json 1.json
fails 3 'standard input can be read only once, but the traces of ranks are read twice: use regular files' memtrace html -o page.html 0.json 1.json -
ok 'no page is begun' [ ! -e page.html ]
if [ -s "$BUILD/page/page.html" ]; then
	ok 'a page of a folder' memtrace html -o page.html folder
	has 'shows the rank that peaks highest' page.html "\"name\":\"$highest.json\""
	is 'and tells the ranks as they are' "$("$PYTHON" -c 'import json, re
page = json.loads(re.search(r"id=\"ranks\">(.*?)</script>", open("page.html").read(), re.S)[1])
merged = json.load(open("folder.json"))
print([key for key in merged if key != "sites" and merged[key] != page[key]], all(s in merged["sites"] for s in page["sites"]), len(page["sites"]) > 0)')" '[] True True'
	ok 'a page of a folder with one trace' sh -c 'mkdir -p single && cp 0.json single && memtrace html -o page.html single'
	hasnt 'is the page of that trace' page.html 'json" id="ranks"'
else
	skip 'a page of a folder' 'this memtrace was built without the page'
fi

# --- baselines ------------------------------------------------------------------------------------------
for rank in 0 1 2; do
	ok "a baseline of rank $rank" memtrace baseline three.$rank.json -o base.$rank.json
done
ok 'baselines merge' memtrace merge --json -o baselines.json base.0.json base.1.json base.2.json
is 'with the peaks of their traces' "$(json baselines.json '[d["imbalance"][:2], [r["rank"] for r in d["ranks"]]]')" \
	"$(json documents.json '[d["imbalance"][:2], [r["rank"] for r in d["ranks"]]]')"

# --- a side of ranks in a diff --------------------------------------------------------------------------
"$GENERATOR" --events 3000 --ranks 8 --devices 2 --seed 9 --json 'head.%r.json' >"$OUT"
ok 'the same ranks are no change' memtrace diff --gate --base ./[0-7].json --head ./[0-7].json
has 'rank by rank' "$OUT" 'Compared rank by rank (8 ranks)'
hasnt 'not as repetitions' "$OUT" 'middle'
memtrace diff -f json --fail-on 'allocated.peak>0' --base 3.json 1.json 2.json --head head.2.json head.7.json head.3.json head.1.json >ranks.diff
is 'growth of one rank breaks a gate' "$?" 1
is 'ranks on both sides are compared' "$(json ranks.diff '[sorted(d["ranks"]["compared"]), d["ranks"]["left_out"]]')" '[[1, 2, 3], 1]'
ok 'the document fits its schema' "$PYTHON" "$TOP/tests/formats.py" json ranks.diff
# What a diff of that rank alone says, and the gate the worst of all of them.
shown=$(json ranks.diff 'd["ranks"]["shown"]')
memtrace diff -f json "$shown.json" "head.$shown.json" >alone.diff
is 'the rows are those of the rank that is shown' "$(json ranks.diff 'd["rows"]')" "$(json alone.diff 'd["rows"]')"
"$PYTHON" - >"$OUT" 2>&1 <<'PYTHON'
import json, subprocess
gate = json.load(open("ranks.diff"))["gates"][0]
def run(rank):
    told = subprocess.run(["memtrace", "diff", "-f", "json", "--fail-on", "allocated.peak>0", f"{rank}.json", f"head.{rank}.json"],
                          stdout=subprocess.PIPE).stdout
    one = json.loads(told)["gates"][0]
    return one["head"] - one["base"], one["broken"], f"{one['place']} of rank {rank}"
worst = max(run(rank) for rank in (1, 2, 3))
assert (gate["head"] - gate["base"], gate["broken"], gate["place"]) == worst, (gate, worst)
PYTHON
is 'the gate is about the worst of them' "$?:$(cat "$OUT")" 0:
fails 3 'base and head have no rank in common' memtrace diff --base 0.json 1.json --head head.2.json head.3.json
fails 3 'are both rank 1, but other traces have other ranks' memtrace diff --base 1.json 1.json 2.json --head head.1.json head.2.json
fails 3 'has no rank' memtrace diff --force --base 1.json 2.json --head "$TOP/tests/data/example.json"
ok 'one rank several times is a repetition' memtrace diff --base 1.json 1.json --head 1.json
has 'as any' "$OUT" 'the median runs are shown'
for format in text markdown junit sarif github benchmark bencher; do
	ok "format $format of ranks" memtrace diff -f $format -o told.$format --base ./[0-7].json --head head.?.json
	ok "format $format keeps its rules" "$PYTHON" "$TOP/tests/formats.py" $format told.$format
done

# --- memory that two processes share --------------------------------------------------------------------
mkdir ipc
MEMTRACE_OUTPUT=$PWD/ipc/%p.json
export MEMTRACE_OUTPUT
traced "$SAMPLES/ipc"
unset MEMTRACE_OUTPUT
cp "$OUT" own.out
ok 'exporter and importer merge' memtrace merge --json -o shared.json ipc
# shellcheck disable=SC2046  # words
set -- $(sed -n 's/^[a-z]*porter.peak=//p' own.out)
is 'what one imported counts once' "$(json shared.json 'sum(x["reserved"]["peak_bytes"] for r in d["ranks"] for x in r["devices"])')" $(($1 + $2))
is 'on one card, which both use' "$(json shared.json '[len(c["ranks"]) for c in d["cards"]]')" '[2]'
is 'no launcher told them a rank' "$(json shared.json '[d["numbered"], d["world_size"], [r["rank"] for r in d["ranks"]]]')" '[true, null, [0, 1]]'
ok 'counted anew' "$PYTHON" -c '
import glob, json
d = json.load(open("shared.json"))
held = sum(max(x["used"]["peak_bytes"], x["reserved"]["peak_bytes"])
           for path in glob.glob("ipc/*.json") for x in json.load(open(path))["summary"]["devices"])
assert d["cards"][0]["peak_bytes"] == held, (d["cards"], held)'

# --- what cannot be merged ------------------------------------------------------------------------------
mkdir empty
: >nothing.json
head -c 20000 1.json >cut.json
fails 2 'TRACE... is missing' memtrace merge
fails 2 'did you mean markdown' memtrace merge -f markdwn 0.json
fails 2 '--limit' memtrace merge --limit x 0.json
fails 3 'nowhere.json: No such file' memtrace merge 0.json nowhere.json
fails 3 'nothing.json: is empty' memtrace merge 0.json nothing.json
fails 3 'cut.json: truncated' memtrace merge 0.json cut.json
fails 3 'empty: this folder has no trace and no spool in it' memtrace merge 0.json empty
fails 3 'neither a memtrace trace' memtrace merge "$SAMPLES/ipc" 0.json
fails 3 'nowhere/out.json' memtrace merge -o nowhere/out.json 0.json 1.json
cp 0.json "bad$(printf '\033[31m').json"
# The same process again: what the name holds must not reach a terminal.
memtrace merge 0.json ./bad*.json >"$OUT" 2>"$ERR"
is 'names steer no terminal' "$(grep -c "$(printf '\033')" "$ERR")" 0

# --- many -----------------------------------------------------------------------------------------------
mkdir many
ok '128 ranks are made' "$GENERATOR" --events 300 --stacks 40 --live 60 --ranks 128 --json 'many/%r.json'
ok 'and merge' memtrace merge --json -o many.json many
ok 'counted anew' counted many.json many/*.json
ok 'in text' memtrace merge many
is 'a screen or two' "$(wc -l <"$OUT" | awk '{ print $1 < 70 }')" 1
# One trace at a time is held: sixteen times the ranks are some more sums, not sixteen times the traces.
ok 'memory does not grow with the traces' "$PYTHON" -c '
import glob, os, resource, subprocess
def held(paths):
    child = subprocess.Popen(["memtrace", "merge"] + paths, stdout=subprocess.DEVNULL)
    _, status, use = os.wait4(child.pid, 0)
    assert status == 0
    return use.ru_maxrss << 10
paths = sorted(glob.glob("many/*.json"))
few, all_ = held(paths[:8]), held(paths)
facts = sum(open(p, "rb").read().index(b"\"events\":[") for p in paths)
print(few, all_, facts)
assert all_ - few < facts / 4, (few, all_, facts)'
tap_comment "$OUT"

# --- who is short of memory -----------------------------------------------------------------------------
ok 'two ranks on large cards' memtrace merge "$TOP/tests/data/recorded/ddp"
is 'none of which is near the end of its memory' "$(grep -c 'closest to running out' "$OUT")" 0
mkdir tight
for rank in 0 1; do
	sed 's/"total_bytes":[0-9]*/"total_bytes":2500000000/' "$TOP/tests/data/recorded/ddp/rank.$rank.json" >"tight/$rank.json"
done
ok 'on small ones' memtrace merge tight
has 'the fullest is named' "$OUT" 'Rank 1 is closest to running out of memory: 505.93 MiB of 2.33 GiB'
