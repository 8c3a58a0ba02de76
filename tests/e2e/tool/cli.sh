#!/bin/sh
# The command line: every command, option and status; `run` as a way to start programs.
# Single quotes: it is another shell, or Python, that expands.
# shellcheck disable=SC2016,SC2013
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

example=$TOP/tests/data/example.json

# --- loops over the tables ------------------------------------------------------------------------------
ok 'help' memtrace --help
cp "$OUT" help
ok 'help, as a command' memtrace help
cp "$OUT" again
ok 'which is the same' cmp help again
for command in $(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' "$TOP/src/cli/commands.def"); do
	has "help tells $command" help "  $command "
	ok "$command has help" memtrace "$command" --help
	has "$command: usage" "$OUT" "usage: memtrace $command"
	ok "help $command" memtrace help "$command"
	fails 2 "$command: there is no option --nonsense" memtrace "$command" --nonsense
done
ok 'the help of run' memtrace run --help
cp "$OUT" help
for option in $(sed -n 's/^OPTION(\([a-z_]*\),.*/\1/p' "$TOP/src/base/settings/opt.def" | tr _ -); do
	has "run has --$option" help "--$option"
done
ok 'the help of export' memtrace export --help
cp "$OUT" help
for format in $(sed -n 's/^FORMAT([a-z_]*, *"\([a-z-]*\)".*/\1/p' "$TOP/src/render/export/formats.def"); do
	has "export tells $format" help "  $format "
	ok "export to $format" memtrace export "$example" --to "$format"
done

# --- usage ----------------------------------------------------------------------------------------------
fails 2 'usage' sh -c 'memtrace 3>&1 1>&2 2>&3'
ok 'version' memtrace --version
is 'its first line' "$(head -n 1 "$OUT")" "memtrace $(sed -n 's/.*MEMTRACE_VERSION "\(.*\)"/\1/p' "$TOP/src/base/settings/version.h")"
has 'what it was built with' "$OUT" 'with zlib 1.'
is 'where the tool and its library lie' "$(sed -n 2,3p "$OUT")" "$(realpath "$BUILD/memtrace" "$BUILD/libmemtrace.so")"
fails 2 'there is no command repotr; did you mean report?' memtrace repotr
fails 2 'there is no command nonsense; see memtrace --help' memtrace nonsense
fails 2 'there is no option --nonsense' memtrace --nonsense
fails 2 'report: the operand TRACE... is missing' memtrace report
fails 2 'timeline: too many operands' memtrace timeline a b
fails 2 'report: there is no option --limt; did you mean --limit?' memtrace report --limt 3 a
fails 2 'report: --limit needs a value' memtrace report a --limit
fails 2 'report: --limit: x is not a number' memtrace report --limit x a
fails 2 'report: --json takes no value' memtrace report --json=1 a
fails 2 'export: --to FORMAT is missing' memtrace export "$example"
fails 2 'there is no format event; did you mean events?' memtrace export "$example" --to event
fails 2 'run: the operand -- CMD... is missing' memtrace run
fails 2 'run: --max-events: many is not a number' memtrace run --max-events many -- true
fails 2 'run: --cpu: maybe is not 0 or 1' memtrace run --cpu=maybe -- true
fails 2 'did you mean --max-events?' memtrace run --max-evnts 3 -- true
fails 3 'standard output could not be written: No space left' sh -c "memtrace report '$example' >/dev/full"
fails 3 'standard output could not be written' sh -c 'memtrace --help >&-'

memtrace export --to csv -o - "$example" >as-file
is '-o - is standard output' "$(head -c 7 as-file) $(ls -- - 2>/dev/null)" 'seq,t_n '

# --- run: statuses, signals -----------------------------------------------------------------------------
fails 7 'no trace was written: sh used no GPU memory' memtrace run -- sh -c 'exit 7'
fails 0 'no trace was written: true used no GPU memory' memtrace run true
fails 0 'or recording could not begin' memtrace run -o /nowhere/t.json -- "$SAMPLES/leak"
is 'no file then' "$(find . -name 'memtrace.*')" ''
ok 'quiet' memtrace run -q -- true
is 'nothing on stderr' "$(cat "$ERR")" ''
fails 127 'run: no-such-program: command not found' memtrace run -- no-such-program
fails 127 './no-such-program: No such file' memtrace run -- ./no-such-program
: >plain
fails 126 './plain: Permission denied' memtrace run -- ./plain
fails 137 'sh was killed by signal 9' memtrace run -- sh -c 'kill -9 $$'
fails 3 'MEMTRACE_LIBRARY: /nowhere' env MEMTRACE_LIBRARY=/nowhere memtrace run -- true
ok 'options of the program are its own' memtrace run -q -- sh -c 'test "$1" = --help' sh --help
ok 'without the dashes, too' memtrace run -q sh -c 'test "$1" = --quiet' sh --quiet
ok 'another preload stays' env LD_PRELOAD="$LIBRARY" memtrace run -q -- sh -c 'test -n "$LD_PRELOAD"'
ok 'settings arrive' memtrace run -q --max-events=5M --no-used --stacks python -- \
	sh -c 'test "$MEMTRACE_MAX_EVENTS $MEMTRACE_USED $MEMTRACE_STACKS" = "5M 0 python"'

for signal in TERM HUP INT USR1 USR2; do
	# A shell's background jobs ignore SIGINT; Python starts it anew.
	"$PYTHON" - "$signal" >"$OUT" 2>&1 <<-'END'
		import signal, subprocess, sys
		number = getattr(signal, "SIG" + sys.argv[1])
		signal.signal(signal.SIGINT, signal.SIG_DFL)
		child = subprocess.Popen(["memtrace", "run", "-q", "--", "sh", "-c",
		    "trap 'exit 42' %s; echo ready; while :; do sleep 0.05; done" % sys.argv[1]],
		    stdout=subprocess.PIPE)
		child.stdout.readline()
		child.send_signal(number)
		print(child.wait(timeout=20))
	END
	is "SIG$signal reaches the program" "$(cat "$OUT")" 42
done

# --- run: what it leaves --------------------------------------------------------------------------------
ok 'a traced program' memtrace run -o 'here.%p.json' -- "$SAMPLES/leak"
has 'its peak' "$ERR" 'memtrace: device 0'
has 'its site' "$ERR" 'take (leak)'
has 'its trace' "$ERR" 'memtrace: the trace is here.'
is 'ten lines at most' "$(awk 'END { print NR <= 10 }' "$ERR")" 1
ok 'that is there' validate here.*.json
rm -f here.*

fails 137 'ends was killed by signal 9' memtrace run -o killed.json -- "$E2E/ends" 9
ok 'its trace is whole' validate killed.json
is 'and tells the end' "$(json killed.json '(d["process"]["exit"], d["process"]["signal"])')" '["unfinished", 9]'
ok 'the spool is gone' [ ! -e killed.spool ]
fails 6 'the trace is left.json' memtrace run -o left.json -- "$E2E/ends" _exit
is 'a status' "$(json left.json '(d["process"]["exit"], d["process"]["status"])')" '["unfinished", 6]'
fails 5 'the trace is exited.json' memtrace run -o exited.json -- "$E2E/ends" exit
is 'of a process that ended well, too' "$(json exited.json '(d["process"]["exit"], d["process"]["status"])')" '["exit", 5]'
ok 'which is still valid' validate exited.json
ok 'another run' memtrace run -o left.json -- "$SAMPLES/leak"
is 'overwrites nothing' "$(json left.json 'd["process"]["status"]')" 6
has 'but takes the next name' "$ERR" 'the trace is left.1.json'
fails 137 'the trace is left.2.json' memtrace run -o left.json -- "$E2E/ends" 9
mkdir spools
fails 137 'the trace is away.json' memtrace run -o away.json --spool-dir spools -- "$E2E/ends" 9
is 'no spool stays elsewhere' "$(ls spools)" ''
mkdir rank0
fails 137 'the trace is rank0/away.json' memtrace run -o 'rank%r/away.json' --spool-dir spools -- "$E2E/ends" 9
is 'nor a trace that belongs into a folder of its own' "$(ls spools)" ''
ok 'children are told of' memtrace run -- "$SAMPLES/fork"
has 'by name' "$ERR" 'memtrace: another trace is memtrace.'
ok 'a numbered name' memtrace run -o 'twice.%p.json' -- sh -c "'$SAMPLES/leak' && cp twice.*.json twice.7.1.json"
is 'is told once' "$(grep -c 'twice\.7\.1\.json' "$ERR")" 1
ok 'a shell between' memtrace run -o 'deep.%p.json' -- sh -c "'$E2E/ends' 9; exit 0"
has 'is no hindrance' "$ERR" 'the trace is deep.'
ok 'nor an odd folder' sh -c "mkdir '[a]*b%%' && cd '[a]*b%%' && memtrace run -- '$SAMPLES/leak'"
has 'where the trace is found' "$ERR" 'the trace is memtrace.'
printf '#!/bin/sh\nexec "%s"\n' "$SAMPLES/leak" >script.sh
chmod +x script.sh
ok 'a script' memtrace run -o script.json -- ./script.sh
ok 'is traced' [ -e script.json ]

# Whose a trace is no clock tells: not the wall's, which libfaketime takes from the program or from us.
LD_PRELOAD=$LIBRARY MEMTRACE_OUTPUT=beside.%p.json sh -c 'until [ -e go ]; do sleep 0.05; done; exec "$0"' "$SAMPLES/leak" >"$OUT" 2>&1 &
sleep 0.1
fails 0 'no trace was written' memtrace run -o 'beside.%p.json' -- sh -c 'touch go; until ls | grep -q "^beside.*json$"; do sleep 0.05; done'
wait
ok 'though it is there' memtrace report beside.*.json
fails 0 'no trace was written' memtrace run -o 'beside.%p.json' -- true
if command -v faketime >/dev/null; then
	for clock in -10y '+20d x1000'; do
		ok "a program of another time: $clock" memtrace run -o "inner.%p.json" -- faketime -f "$clock" "$SAMPLES/leak"
		has 'has a trace' "$ERR" 'the trace is inner.'
		ok "we of another time: $clock" faketime -f "$clock" memtrace run -o "outer.%p.json" -- "$SAMPLES/leak"
		has 'it has one, too' "$ERR" 'the trace is outer.'
		fails 0 'no trace was written' faketime -f "$clock" memtrace run -o "outer.%p.json" -- true
	done
else
	skip 'another time' 'no faketime here'
fi

# --- recover --------------------------------------------------------------------------------------------
LD_PRELOAD=$LIBRARY MEMTRACE_OUTPUT=$PWD/r.json "$E2E/ends" _exit >/dev/null 2>&1
ok 'recover' memtrace recover r.spool
is 'says where' "$(cat "$OUT")" r.json
ok 'what is whole' validate r.json
ok 'the spool stays' [ -e r.spool ]
ok 'again' memtrace recover r.spool
is 'the next name' "$(cat "$OUT")" r.1.json
fails 3 'r.json: exists already (--force replaces it)' memtrace recover r.spool -o r.json
ok 'unless forced' memtrace recover r.spool -o r.json --force
ok 'elsewhere' memtrace recover r.spool -o elsewhere.json
ok 'the same' cmp r.json elsewhere.json
fails 3 'nowhere.spool' memtrace recover nowhere.spool
fails 3 "$example" memtrace recover "$example"
is 'nothing half-made stays' "$(find . -name '*.json.*')" ''

# --- export ---------------------------------------------------------------------------------------------
ok 'export the events' memtrace export r.json --to events
cp "$OUT" events
grep '^{"seq"' r.json | sed 's/,$//' >lines
ok 'which are the lines of the trace' cmp lines events
ok 'of a spool, too' memtrace export r.spool --to events -o spool.ndjson
ok 'the same lines' cmp lines spool.ndjson
head -n -3 r.json >cut.json
fails 3 'truncated' memtrace export cut.json --to events

# --- spool ----------------------------------------------------------------------------------------------
ok 'the tables of a spool' memtrace spool r.spool
cp "$OUT" tables
for table in $(sed -n 's/^TABLE(\([A-Z]*\),.*/\1/p' "$TOP/src/spool/tables.def") PENDING UNDO; do
	has "$table" tables "# $table, "
done
has 'the header' tables 'HEADER 0: version='
has 'a text' tables 'TEXT 1: "[not recorded]"'
is 'what has been allocated, of each stack' \
	"$(sed -n 's/^STACK .* allocations=\([0-9]*\) .*/\1/p' tables | awk '{ n += $1 } END { print n }')" \
	"$(grep -c '"op":"alloc"' lines)"
ok 'one table' memtrace spool r.spool --table node
is 'and no other' "$(cut -d' ' -f1 "$OUT" | sort -u | tr '\n' ' ')" "$(grep '^# NODE\|^NODE' tables | cut -d' ' -f1 | sort -u | tr '\n' ' ')"
fails 2 'spool: there is no table nodes' memtrace spool r.spool --table nodes
fails 3 'not a memtrace spool' memtrace spool r.json

# --- hooks ----------------------------------------------------------------------------------------------
ok 'hooks' memtrace hooks
has 'a call of the runtime' "$OUT" 'cudaError_t cudaMalloc(void **ptr, size_t size)'
has 'a door' "$OUT" '  dlsym'
ok 'names' memtrace hooks --names
has 'twins' "$OUT" 'cudaMallocAsync_ptsz'
is 'each once' "$(sort "$OUT" | uniq -d)" ''

# --- doctor ---------------------------------------------------------------------------------------------
memtrace doctor -- "$SAMPLES/leak" >"$OUT" 2>&1
has 'doctor finds the library' "$OUT" 'libmemtrace.so'
has 'doctor tells where the tool lies' "$OUT" ", $(realpath "$BUILD/memtrace")"
has 'doctor tells what the tool was built with' "$OUT" "$(memtrace --version | tail -n 1)"
has 'doctor finds what compresses' "$OUT" 'libz.so.1 for *.json.gz'
[ -n "$GPU" ] || has 'doctor finds NVML' "$OUT" 'libnvidia-ml.so.1'
has 'and CUDA' "$OUT" 'libcuda.so'
has 'and says that the program will do' "$OUT" "ok       program       $SAMPLES/leak"
MEMTRACE_MAX_EVENTS=many MEMTRACE_OUPUT=x memtrace doctor >"$OUT" 2>&1
has 'doctor names a bad value' "$OUT" 'MEMTRACE_MAX_EVENTS=many'
has 'and a setting that is none' "$OUT" 'did you mean MEMTRACE_OUTPUT?'
MEMTRACE_OUPUT=x memtrace run -o typo.json -- "$SAMPLES/leak" >"$OUT" 2>&1
has 'so does run' "$OUT" 'there is no setting MEMTRACE_OUPUT; did you mean MEMTRACE_OUTPUT?'
fails 2 '--stacks: pyton is not python,native (both), python, native or none' memtrace run --stacks pyton -- true
MEMTRACE_STACKS=python,naive traced "$SAMPLES/leak"
has 'a trace says that a kind of frames is none' "$TRACE" 'the value of MEMTRACE_STACKS was not understood: the default was used'
is 'and has all frames' "$(json "$TRACE" 'd["capture"]["stacks"]')" python,native
MEMTRACE_OUTPUT=/proc/x.json memtrace doctor >"$OUT" 2>&1
is 'an output that cannot be: the answer is no' $? 1
has 'and why' "$OUT" 'missing  output        /proc'
if echo 'int main(void) { return 0; }' | ${CC:-cc} -static -x c -o static - 2>/dev/null; then
	memtrace doctor -- ./static >"$OUT" 2>&1
	is 'a static program: the answer is no' $? 1
	has 'with the reason' "$OUT" 'is linked statically'
	fails 0 'nothing was recorded: ./static is linked statically' memtrace run -- ./static
else
	skip 'a static program' 'the compiler links none'
fi

# --- an output is no input ------------------------------------------------------------------------------
cp "$TOP/tests/data/example.json" mine.json
ln mine.json other.json
fails 3 'mine.json: is also an input, and would be lost' memtrace baseline mine.json -o mine.json
fails 3 './other.json: is also an input' memtrace report -o ./other.json mine.json
fails 3 'mine.json: is also an input' memtrace diff --force --base mine.json --head "$TOP/tests/data/recorded/train.json" -omine.json
is 'nothing was lost' "$(cmp mine.json "$TOP/tests/data/example.json")" ''
ok 'an output is written again' memtrace baseline mine.json -o base.json
ok 'and again' memtrace baseline mine.json -o base.json
fails 3 'mine.json: not a memtrace spool' memtrace recover mine.json
fails 3 'mine.json: not a memtrace spool' memtrace top --once mine.json
