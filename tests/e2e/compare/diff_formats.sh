#!/bin/sh
# Every format of diff and check, by its own reader: of changes, of none, of hostile names, of many.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

example=$TOP/tests/data/example.json
formats=$(sed -n 's/^DIFF_FORMAT(\([a-z]*\),.*/\1/p' "$TOP/src/render/compare/diff_formats.def")
is 'there are eight formats' "$(echo "$formats" | wc -w)" 8

"$BUILD/tests/generator" --events 4000 --seed 1 --stacks 300 --json one.json >"$OUT"
"$BUILD/tests/generator" --events 9000 --seed 2 --stacks 900 --devices 2 --json two.json >"$OUT"

# Names that try everything: markup, mentions, terminals, quotes, ends of lines, workflow commands.
"$PYTHON" - "$example" <<'END'
import json, sys
text = open(sys.argv[1]).read()
hostile = "Net</td></details>|`@everyone`\r\n::error::x\u001b[2J\u202e]]>&\"'%0A" + "n" * 3000
text = text.replace("Net.forward", json.dumps(hostile)[1:-1])
text = text.replace("/home/u/train.py", "/home/u/a,b:c %0A\\n<x>.py")
open("hostile.json", "w").write(text)
open("hostile2.json", "w").write(text.replace('"bytes":71303168,"stacks"', '"bytes":81303168,"stacks"')
                                 .replace('"peak_bytes":71303168', '"peak_bytes":81303168')
                                 .replace('{"stack":0,"bytes":37748736', '{"stack":0,"bytes":47748736'))
END
is 'the hostile names are read' "$(memtrace diff --gate hostile.json hostile2.json >"$OUT" 2>&1; echo $?)" 1

written() { # STATUS FORMAT ARGS...
	wanted=$1 format=$2
	shift 2
	memtrace "$@" --format "$format" -o "out.$format" 2>"$ERR"
	status=$?
	if [ "$status" != "$wanted" ]; then
		cat "$ERR"
		echo "status $status, wanted $wanted"
		return 1
	fi
	"$PYTHON" "$TOP/tests/formats.py" "$format" "out.$format"
}

for format in $formats; do
	ok "$format: nothing changed" written 0 "$format" diff "$example" "$example"
	ok "$format: a gate that holds" written 0 "$format" diff --gate "$example" "$example"
	ok "$format: a gate that is broken" written 1 "$format" diff --gate --fail-on 'count>0' --force one.json two.json
	ok "$format: hundreds of sites, every row" written 0 "$format" diff --force --limit 0 one.json two.json
	ok "$format: hostile names" written 1 "$format" diff --gate --fail-on 'allocated.peak[site=Net*]>1' hostile.json hostile2.json
	cp "out.$format" "h.$format"
	ok "$format: a budget that is held" written 0 "$format" check "$example" --max 'allocated.peak<=1GiB'
	ok "$format: a budget that is not" written 1 "$format" check "$example" --max 'allocated.peak<=1KiB' --max 'count<=10'
done
for command in "diff --gate $example" "check --max allocated.peak<=1GiB"; do
	# shellcheck disable=SC2086  # a command and its options
	memtrace $command "$example" --json >json.out
	# shellcheck disable=SC2086
	memtrace $command "$example" --format json | cmp -s - json.out
	is "${command%% *} --json is --format json" $? 0
done
ok 'text in full' written 0 text diff "$example" hostile.json
is 'no letter steers a terminal' "$(LC_ALL=C grep -c "$(printf '\033')" h.text)" 0
is 'no command of a name' "$(grep -c '^::error::' h.github)" 0
is 'one error a gate' "$(grep -c '^::error ' h.github)" 2
is 'JUnit counts the failures' "$(grep -o 'failures="[0-9]*"' h.junit | sort -u)" 'failures="2"'
is 'SARIF has an error a gate' "$(json h.sarif 'sum(r["level"] == "error" for r in d["runs"][0]["results"])')" 2
is 'at the line' "$(json h.sarif 'd["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"]')" 12
ok 'the benchmark has figures' written 0 benchmark diff "$example" "$example"
is 'named on and on the same' "$(json out.benchmark '[e["name"] for e in d]')" \
	'["allocated.peak (device 0)", "allocated.exit (device 0)", "reserved.peak (device 0)", "count (device 0)"]'
ok 'of several runs' written 0 benchmark diff --base "$example" --head "$example" "$example"
has 'with their range' out.benchmark '"range":"± 0"'
ok 'a gate that is given twice' written 0 bencher diff "$example" "$example" --fail-on 'count[pool=torch]>1' --fail-on 'count[pool=torch]>2'
is 'is one benchmark for Bencher' "$(json out.bencher 'd')" '{"allocated.peak (device 0)": {"bytes": {"value": 71303168}}, "allocated.exit (device 0)": {"bytes": {"value": 67108864}}, "reserved.peak (device 0)": {"bytes": {"value": 75497472}}, "count (device 0)": {"allocations": {"value": 10}}, "count (pool torch on device 0)": {"allocations": {"value": 10}}}'
sed 's/"peak_bytes":71303168,"peak_t":70123456,"exit/"peak_bytes":81303168,"peak_t":70123456,"exit/' "$example" >high.json
ok 'several runs' written 0 bencher diff --base "$example" --head "$example" high.json
is 'have bounds' "$(json out.bencher 'd["allocated.peak (device 0)"]["bytes"]')" '{"value": 76303168, "lower_value": 71303168, "upper_value": 81303168}'
ok 'in the other format' written 0 benchmark diff --base "$example" --head "$example" high.json
has 'as half of their spread' out.benchmark '"range":"± 5000000"'

# --- a terminal -----------------------------------------------------------------------------------------
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
	sed 's/"peak_bytes":71303168/"peak_bytes":81303168/g' "$example" >more.json
	TERM=xterm LC_ALL=C script -qec "memtrace diff '$example' more.json" /dev/null >ascii </dev/null
	is 'no letter beyond ASCII where there is none' "$(LC_ALL=C tr -d '\r\n\033 -~' <ascii | wc -c)" 0
	TERM=xterm LC_ALL=C.UTF-8 script -qec "memtrace diff '$example' more.json" /dev/null >unicode </dev/null
	has 'blocks where there are' unicode '█'
else
	skip 'a terminal' 'no script(1)'
fi
