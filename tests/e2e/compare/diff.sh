#!/bin/sh
# `memtrace diff`: planted changes are named at their site, first and alone; equal runs are equal.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

example=$TOP/tests/data/example.json
MEMTRACE_QUIET=1
export MEMTRACE_QUIET

changes() { # NAME CHANGE SEED
	MEMTRACE_OUTPUT=$PWD/$1.json
	export MEMTRACE_OUTPUT
	traced "$E2E/changes" "$2" "$3"
	unset MEMTRACE_OUTPUT
}

# rows COLUMN: the sites of the last diff that changed there, as "bytes why name", in their order
rows() {
	memtrace diff -f json "$1" "$2" >rows.json || return
	json rows.json "[[r['head']['$3'] - r['base']['$3'], r['why'], r['name']] for r in d['rows'] if r['dimension'] == 'site' and r['head']['$3'] != r['base']['$3']]"
}

# --- equal runs -----------------------------------------------------------------------------------------
changes base none 1
for seed in 2 3 4; do
	changes "again$seed" none $seed
	ok "threads in another order ($seed): nothing changed" memtrace diff --gate --fail-on 'count>0' base.json "again$seed.json"
	has 'and it says so' "$OUT" 'No change (60.00 MiB allocated on device 0).'
	is 'no row differs' "$(memtrace diff -f json base.json "again$seed.json" | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["rows"])')" '[]'
done

# --- planted changes ------------------------------------------------------------------------------------
for change in larger leak longer optimizer; do
	changes $change $change 5
done
mib=1048576
is '8 MiB more in one function' "$(rows base.json larger.json allocated)" "[[$((8 * mib)), \"larger\", \"forward (changes)\"]]"
is 'a leak at the peak' "$(rows base.json leak.json allocated)" "[[$((9 * mib / 16)), \"not freed\", \"log_loss (changes)\"]]"
is 'at exit' "$(rows base.json leak.json exit)" "[[$((10 * mib / 16)), \"not freed\", \"log_loss (changes)\"]]"
is 'one block a step' "$(rows base.json leak.json exit_count)" '[[10, "not freed", "log_loss (changes)"]]'
is 'and no other allocation' "$(rows base.json leak.json allocations)" '[]'
is 'a longer life raises the peak alone' "$(rows base.json longer.json allocated)" "[[$((10 * mib)), \"held longer\", \"scratch (changes)\"]]"
is 'not what is live at exit' "$(rows base.json longer.json exit)" '[]'
is 'not what is allocated' "$(rows base.json longer.json bytes)" '[]'
is 'a shorter one lowers it' "$(rows longer.json base.json allocated)" "[[-$((10 * mib)), \"freed sooner\", \"scratch (changes)\"]]"
is 'more state' "$(rows base.json optimizer.json allocated)" "[[$((16 * mib)), \"more often\", \"make_optimizer (changes)\"]]"
ok 'the sentence names the site' memtrace diff base.json larger.json
has 'first' "$OUT" 'The peak on device 0 grew by 8.00 MiB (13.3%) to 68.00 MiB allocated: forward'
ok 'and a leak' memtrace diff base.json leak.json
has 'as what is not freed' "$OUT" 'no longer frees all it allocates'

# --- lines that moved -----------------------------------------------------------------------------------
cp "$TOP/tests/e2e/compare/changes.py" before.py
mkdir -p first second
cp before.py first/model.py
awk '/# MOVE/ { for (i = 0; i < 40; i++) print "    # more" } { print }' before.py >second/model.py
for side in first second; do
	MEMTRACE_OUTPUT=$PWD/$side.json
	export MEMTRACE_OUTPUT
	traced /usr/bin/python3 "$side/model.py"
	unset MEMTRACE_OUTPUT
done
ok 'a function moved by 40 lines, in another folder: nothing changed' memtrace diff --gate first.json second.json
has 'says the sentence' "$OUT" 'No change'
is 'and the sites' "$(rows first.json second.json allocated)$(rows first.json second.json allocations)" '[][]'
MEMTRACE_OUTPUT=$PWD/grown.json
export MEMTRACE_OUTPUT
traced /usr/bin/python3 second/model.py 12
unset MEMTRACE_OUTPUT
is 'a change in it has its site' "$(rows first.json grown.json allocated)" "[[$((4 * mib)), \"larger\", \"Model.forward (model.py)\"]]"
ok 'with lines on request' memtrace diff --full first.json grown.json
has 'old and new' "$OUT" 'second/model.py:62 (was line 22)'
ok 'annotated at the line' sh -c "memtrace diff -f github --gate first.json grown.json; [ \$? = 1 ]"
has 'in the repository' "$OUT" '::error file=second/model.py,line=62,title=GPU memory::'

# --- gates ----------------------------------------------------------------------------------------------
verdict() { # STATUS EXPR...
	wanted=$1
	shift
	memtrace diff "$@" >"$OUT" 2>"$ERR"
	is "$* ends with $wanted" $? "$wanted"
}
verdict 0 base.json larger.json
verdict 1 base.json larger.json --gate
has 'the site that grew is named' "$OUT" '+8.00 MiB in forward (changes)'
verdict 0 larger.json base.json --gate
verdict 0 base.json leak.json --gate
verdict 1 base.json leak.json --fail-on 'allocated.peak>512KiB'
verdict 0 base.json leak.json --fail-on 'allocated.peak>576KiB'
verdict 1 base.json leak.json --fail-on 'allocated.peak > 0.5%'
verdict 0 base.json leak.json --fail-on 'allocated.peak>0.5%+1MiB'
verdict 1 base.json leak.json --fail-on 'allocated.exit>0'
verdict 0 base.json leak.json --fail-on 'allocated.peak>1%' --fail-on 'reserved.peak>1GiB'
verdict 1 base.json leak.json --fail-on 'allocated.peak>1%' --fail-on 'allocated.exit>0B'
verdict 1 base.json optimizer.json --fail-on 'count>3'
verdict 0 base.json optimizer.json --fail-on 'count>4'
verdict 1 base.json larger.json --fail-on 'allocated.peak[site=forward]>1MiB'
verdict 0 base.json larger.json --fail-on 'allocated.peak[site=back*]>1MiB'
verdict 1 base.json larger.json --fail-on 'allocated.peak[device=0][site=forward (changes)]>1MiB'
verdict 1 base.json larger.json --fail-on 'reserved.peak[owner=changes]>1MiB'
verdict 1 first.json grown.json --fail-on 'allocated.peak[phase=step]>1MiB'
is 'whose sites are not known: none is named' "$(grep -A2 ^FAIL "$OUT" | grep -c ' in ')" 0
verdict 1 first.json grown.json --fail-on 'allocated.added[phase=step 3]>1MiB'
verdict 3 base.json larger.json --fail-on 'allocated.peak[pool=torch]>1%'
has 'nothing matches' "$ERR" 'matches nothing: there is no such pool'
verdict 3 base.json larger.json --fail-on 'allocated.peak[device=7]>1%'
verdict 3 base.json larger.json --fail-on 'allocated.peak[phase=nine]>1%'
verdict 3 base.json larger.json --fail-on 'allocated.peak[category=weights]>1%'
verdict 3 base.json larger.json --device 3
has 'a device that is not there' "$ERR" 'base.json: the trace has no device 3'
for wrong in '' 'allocated.peak' 'allocated.peak>' 'allocated.peak>x' 'allocated.peak>2%%' 'peak>2%' 'allocated.peak>2%+3%' \
	'allocated.peak>-1' 'allocated.peak>1e9' 'allocated.peak>2XB' 'count>2MiB' 'allocated.peak[pool]>1' 'allocated.peak[pool=]>1' \
	'allocated.peak[pool=a>1' 'allocated.peak[colour=red]>1' 'ooms[pool=torch]>0' 'allocated.peak[pool=a][owner=b]>1' \
	'allocated.added>1' 'allocated.peak<=1GiB' 'allocated.peak[device=0][phase=step]>1' 'allocated.peak>1MiB junk'; do
	fails 2 'expected METRIC[KEY=VALUE]>LIMIT' memtrace diff base.json larger.json --fail-on "$wrong"
	is 'in one line' "$(wc -l <"$ERR")" 1
done
fails 2 'did you mean markdown' memtrace diff -f markdwn base.json larger.json
fails 2 'give BASE and HEAD' memtrace diff base.json
fails 2 'give BASE and HEAD' memtrace diff --base base.json -- larger.json

# --- two devices ----------------------------------------------------------------------------------------
"$PYTHON" - "$example" <<'END'
import copy, json, sys
for name, peaks in (("two-base", (70 << 20, 50 << 20)), ("two-head", (60 << 20, 50 << 20))):
    d = json.load(open(sys.argv[1]))
    one = d["summary"]["devices"][0]
    d["summary"]["devices"] = []
    for device, peak in enumerate(peaks):
        d["summary"]["devices"].append(dict(copy.deepcopy(one), device=device, allocated={
            "peak_bytes": peak, "peak_t": 1, "exit_bytes": 0}))
    d.update(peaks=[], sites=[], timeline=[], ooms=[], events=[], phases=[])
    json.dump(d, open(name + ".json", "w"))
END
ok 'one device of two has less' memtrace diff two-base.json two-head.json
has 'and is the one that is spoken of' "$OUT" 'The peak on device 0 shrank by 10.00 MiB'

# --- runs without a device ------------------------------------------------------------------------------
for bytes in 10000000 20000000; do
	"$PYTHON" - "$example" $bytes >cpu.$bytes.json <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
sums = {"peak_bytes": int(sys.argv[2]), "peak_t": 1, "exit_bytes": 0}
d["summary"] = {"devices": [], "spaces": [{"space": "cpu", "allocated": sums, "allocations": 1, "frees": 1}]}
d.update(peaks=[], sites=[], timeline=[], ooms=[], events=[])
print(json.dumps(d))
END
done
verdict 0 cpu.20000000.json cpu.20000000.json --gate
verdict 1 cpu.10000000.json cpu.20000000.json --gate
has 'CPU memory is judged' "$OUT" 'FAIL    allocated.peak>2%+1MiB: cpu memory went from 9.54 MiB to'

memtrace check cpu.20000000.json --max 'allocated.peak<=10MiB' >"$OUT" 2>"$ERR"
is 'a limit is one of CPU memory, too' $? 1

# --- several runs a side --------------------------------------------------------------------------------
sed 's/"peak_bytes":71303168,"peak_t":70123456,"exit/"peak_bytes":72351744,"peak_t":70123456,"exit/g; s/"bytes":71303168,"stacks"/"bytes":72351744,"stacks"/; s/{"stack":0,"bytes":37748736/{"stack":0,"bytes":38797312/' "$example" >more.json
verdict 1 "$example" more.json --fail-on 'allocated.peak>0'
verdict 0 --base "$example" more.json "$example" --head more.json "$example" more.json --fail-on 'allocated.peak>0'
has 'the spread is no growth' "$OUT" 'within the noise'
is 'nor a change of a site' "$(grep -c 'Net.forward' "$OUT")" 0
verdict 1 --base "$example" "$example" --head more.json more.json --fail-on 'allocated.peak>0'

# --- runs that ran out of memory -------------------------------------------------------------------------
sed 's/"ooms":1,/"ooms":0,/' "$example" >enough.json
ok 'one run had memory enough' memtrace diff enough.json "$example"
has 'the other had not' "$OUT" 'Out of memory: 0 allocations failed in the base, 1 in the head.'
ok 'in Markdown' memtrace diff -f markdown enough.json "$example"
has 'as well' "$OUT" '- Out of memory&#58; 0 allocations failed in the base, 1 in the head.'
is 'and for programs' "$(memtrace diff -f json enough.json "$example" >ooms.json; json ooms.json '[d["base"]["ooms"], d["head"]["ooms"], len(d["remarks"])]')" '[0, 1, 1]'
ok 'none of two' memtrace diff enough.json enough.json
hasnt 'is not told' "$OUT" 'Out of memory'

# --- runs of different programs -------------------------------------------------------------------------
sed 's|\["python","train.py"\]|["/usr/bin/python3.12","-u","-X","dev","/home/other.py","train.py"]|' "$example" >other.json
memtrace baseline other.json -o other.base.json
is 'a baseline names the program and its script alone' "$(json other.base.json 'd["process"]["command"]')" '["python3.12", "other.py"]'
for head in other.json other.base.json; do
	ok "$head is compared" memtrace diff --gate "$example" $head
	has 'with a remark' "$OUT" 'The runs are of different programs: train.py in the base, other.py in the'
done
sed 's|\["python","train.py"\]|["/opt/python3","/home/b/train.py","--steps","3"]|' "$example" >moved.json
ok 'the same script' memtrace diff "$example" moved.json
hasnt 'is the same program' "$OUT" 'different programs'

# --- unlike runs ----------------------------------------------------------------------------------------
unlike() { # KEY SED
	sed "$2" "$example" >unlike.json
	fails 3 "$1" memtrace diff "$example" unlike.json
	ok "--force compares all the same ($1)" memtrace diff --force "$example" unlike.json
	has 'and says so' "$OUT" "Compared only because of --force: ${1%% (*}"
}
unlike 'device 0 (NVIDIA H200, NVIDIA A100)' 's/"name":"NVIDIA H200","uuid"/"name":"NVIDIA A100","uuid"/'
unlike 'device 0 total_bytes (150109880320, 80)' 's/"uuid":"GPU-...","total_bytes":150109880320/"uuid":"GPU-...","total_bytes":80/'
unlike 'devices (0, 1)' 's/"device":0/"device":1/g'
unlike 'cuda_driver (13000, 12040)' 's/"cuda_driver":13000/"cuda_driver":12040/'
unlike 'cuda_runtime (13000, 12040)' 's/"cuda_runtime":13000/"cuda_runtime":12040/'
unlike 'torch (2.11.0, 2.10.0)' 's/"torch":"2.11.0"/"torch":"2.10.0"/'
unlike 'python (3.12, 3.11)' 's/"python":"3.12.3"/"python":"3.11.3"/'
unlike 'world_size (1, 8)' 's/"world_size":1/"world_size":8/'
unlike 'PYTORCH_CUDA_ALLOC_CONF (none, expandable_segments:True)' 's/"PYTORCH_CUDA_ALLOC_CONF":null/"PYTORCH_CUDA_ALLOC_CONF":"expandable_segments:True"/'
sed 's/"python":"3.12.3"/"python":"3.12.9"/; s/"pid":4242/"pid":1/; s/node7/node8/' "$example" >alike.json
ok 'another host and patch release are alike' memtrace diff "$example" alike.json

# --- traces that cannot be read -------------------------------------------------------------------------
: >empty.json
sed 's|memtrace/1|memtrace/2|' "$example" >newer.json
head -c 3000 "$example" >cut.json
sed '/^"events"/,$d' "$example" | sed '$s/,$/}/' >eventless.json
fails 3 'empty.json: is empty' memtrace diff "$example" empty.json
fails 3 'newer.json: written by a newer memtrace version' memtrace diff newer.json "$example"
fails 3 'cut.json: truncated' memtrace diff "$example" cut.json
fails 3 'nowhere.json: No such file' memtrace diff "$example" nowhere.json
fails 3 'eventless.json: has no "events"' memtrace diff "$example" eventless.json

# --- spools ---------------------------------------------------------------------------------------------
ok 'a spool is made' "$BUILD/tests/generator" --events 5000 --spool made.spool
ok 'and its document' memtrace recover made.spool -o made.json
ok 'sites of a spool and of its document are the same' memtrace diff made.spool made.json
has 'one rule' "$OUT" 'No change'
is 'in every row' "$(memtrace diff -f json made.spool made.json | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["rows"])')" '[]'

# --- sums -----------------------------------------------------------------------------------------------
for seed in 1 2 3 4 5 6; do
	"$BUILD/tests/generator" --events $((2000 * seed)) --seed $seed --devices $((1 + seed % 3)) --stacks $((30 * seed)) --json "random$seed.json" >"$OUT" 2>&1
done
sums() {
	for base in 1 2 3 4 5 6; do
		for head in 1 2 3 4 5 6; do
			memtrace diff --force -f json "random$base.json" "random$head.json" >"sums$base$head.json" || return 1
		done
	done
	"$PYTHON" "$TOP/tests/formats.py" json sums??.json
}
ok 'every column of 36 pairs sums to the difference of the totals' sums
one_device() {
	for head in 1 3 4 6; do
		memtrace diff --force --device 0 -f json random2.json "random$head.json" >"device$head.json" || return 1
	done
	"$PYTHON" "$TOP/tests/formats.py" json device?.json
}
ok 'of one device of several as well' one_device
fails 3 'has no device 2' memtrace diff --force --device 2 random2.json random1.json
told() { # LIMIT: the rows of the table of counts sum to its last row
	memtrace diff --force --full --limit "$1" random1.json random6.json | "$PYTHON" -c '
import sys
rows = []
for line in sys.stdin:
    if line.startswith("Allocations"):
        rows = [0]
    elif rows and not line.strip():
        break
    elif rows and line[:12].strip().lstrip("+-").replace(",", "").isdigit():
        rows.append(int(line[:12].replace(",", "").replace("+", "")))
assert len(rows) > 2 and sum(rows[:-1]) == rows[-1], rows'
}
ok 'what is shown sums to what is told, one row' told 1
ok 'two rows' told 2
ok 'all rows' told 0

# --- real changes, recorded on a GPU (tests/gpu/record.sh) ------------------------------------
data=$TOP/tests/data/recorded
first_of() { # CHANGE BASE: the site that changed most at the peak, and why
	memtrace diff -f json "$data/change-$2.json" "$data/change-$1.json" >rows.json || return
	json rows.json '[[r["name"], r["why"]] for r in d["rows"] if r["dimension"] == "site"][0]'
}
if [ -e "$data/change-none.json" ]; then
	ok 'the same program again has no change' memtrace diff --gate "$data/change-none.json" "$data/change-again.json"
	is 'AdamW for SGD is its state' "$(first_of adamw none)" '["Adam._init_group (adam.py) from train (changes.py)", "new"]'
	for change in batch losses; do
		memtrace diff --gate "$data/change-none.json" "$data/change-$change.json" >"$OUT" 2>"$ERR"
		is "$change breaks the gate" $? 1
	done
	is 'a larger batch is larger blocks' "$(first_of batch none | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[1])')" larger
	ok 'kept losses keep their graphs' sh -c "memtrace diff '$data/change-none.json' '$data/change-losses.json' | grep -A1 'why .* site' | grep -F 'Block.forward (changes.py)'"
	ok 'other sites keep as many blocks at exit' memtrace diff --force "$data/train.json" "$data/change-none.json"
	hasnt 'a sum that did not change is not listed' "$OUT" '(0)'
	ok 'checkpointing lowers the peak' memtrace diff --gate "$data/change-deep.json" "$data/change-checkpoint.json"
	has 'says the sentence' "$OUT" 'shrank'
	is 'autocast halves what the blocks compute' "$(first_of autocast deep)" '["Block.forward (changes.py)", "smaller"]'
else
	for change in again batch adamw losses checkpoint autocast; do
		skip "$change" 'tests/data/recorded/change-*.json are not recorded yet'
	done
fi

# --- two phases of one trace -------------------------------------------------------------------------------
experiment=$data/caching-py.json
ok 'two phases of a trace' memtrace diff "$experiment" --phase float32 --phase 'autocast and GradScaler'
has 'are compared at their peaks' "$OUT" 'The peak on device 0 shrank by 18.00 MiB (4.8%) to 359.26 MiB allocated:'
has 'a reason is one of the peak' "$OUT" 'smaller      GELU.forward (activation.py)'
hasnt 'curves are of no phase' "$OUT" 'Allocated over time'
hasnt 'failures neither' "$OUT" 'Out of memory'
memtrace diff -f json "$experiment" --phase float32 --phase 'autocast and GradScaler' >phases.json
is 'peaks are those of the table of phases' "$(json phases.json '[[r["base"]["allocated"], r["head"]["allocated"]] for r in d["rows"] if r["dimension"] == "device"]')" \
	"$(json "$experiment" '[[next(p["allocated"]["peak_bytes"] for p in d["phases"] if p["name"] == name) for name in ("float32", "autocast and GradScaler")]]')"
is 'changes of sites sum to the change' "$(json phases.json '[sum(r["head"]["allocated"] - r["base"]["allocated"] for r in d["rows"] if r["dimension"] == kind) for kind in ("site", "device")]')" '[-18877440, -18877440]'
is 'a gate holds for them' "$(memtrace diff "$experiment" --phase 'autocast and GradScaler' --phase float32 --fail-on 'allocated.peak>1%' >"$OUT" 2>&1; echo $?)" 1
is 'one phase of two runs' "$(memtrace diff "$experiment" "$experiment" --phase float32 | head -n 1)" 'No change (377.26 MiB allocated on device 0).'
fails 3 'has no phase float16; the phases are: float32' memtrace diff "$experiment" --phase float32 --phase float16
fails 3 'is a baseline, which has no events' memtrace diff "$data/change-none.json" --phase 'step 0' --phase 'step 1'
fails 2 '--phase can be given twice at most' memtrace diff "$experiment" --phase a --phase b --phase c
fails 2 'give BASE and HEAD' memtrace diff "$experiment" --phase float32
