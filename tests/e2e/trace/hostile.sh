#!/bin/sh
# Readers trust nothing: hostile files, names that steer terminals, things that are no files, for every
# command that takes a trace.
# The for loops are over names without blanks; the list of commands is another file than the function.
# shellcheck disable=SC2013,SC2094
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

example=$TOP/tests/data/example.json
hostile() {
	"$PYTHON" "$TOP/tests/e2e/trace/hostile.py" "$@"
}

# Every command with a trace among its operands, as it is called, one a line; {} is the file. A command
# that this does not know is called with its operands alone.
commands() {
	for command in $(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' "$TOP/src/cli/commands.def"); do
		operands=$(memtrace "$command" --help | sed -n 's/^usage: memtrace [a-z]* \[options\] *//p')
		case $command:$operands in
		report:*) printf '%s\n' 'report {}' 'report --json {}' 'report --full --limit 0 {}' 'report --at exit {}' ;;
		export:*)
			for format in $(sed -n 's/^FORMAT([a-z_]*, *"\([a-z-]*\)".*/\1/p' "$TOP/src/render/export/formats.def"); do
				# What is nothing for a terminal goes into a file.
				echo "export {} --to $format$(grep "\"$format\".*BINARY" "$TOP/src/render/export/formats.def" | sed 's/.*/ -o exported/')"
			done
			;;
		check:*)
			for format in $(sed -n 's/^DIFF_FORMAT(\([a-z-]*\),.*/\1/p' "$TOP/src/render/compare/diff_formats.def"); do
				echo "check {} --max allocated.peak<=8000000TiB --format $format"
			done
			;;
		diff:*)
			# Whatever the file holds: --force. What a hostile process says of itself is unlike anything.
			printf '%s\n' "diff --force {} $example" "diff --force $example {}"
			for format in $(sed -n 's/^DIFF_FORMAT(\([a-z-]*\),.*/\1/p' "$TOP/src/render/compare/diff_formats.def"); do
				echo "diff --full {} {} --format $format"
			done
			;;
		html:*) echo 'html {} -o page.html' ;;
		recover:*) ;; # takes spools only: below
		*:TRACE* | *:RANK*) echo "$command {}" ;;
		esac
	done
}
commands >list-of-commands

# --- what a file may hold -------------------------------------------------------------------------------
mkdir bad cut
ok 'hostile files' hostile write bad "$example"
ok 'and a file cut everywhere' hostile cut cut "$example" 41
# What every command refuses is tried once a command; with further options a command gets what may be read
# to its end, and a cut file if its options make it read the events.
mkdir readable
grep -v '^3' bad/list >readable/list
for name in $(sed 's/^[^ ]* //' readable/list); do ln "bad/$name" "readable/$name"; done
before=
while read -r line; do
	case $line in
	*'--at '*) events=1 ;;
	*) events=0 ;;
	esac
	[ "${line%% *}" = "$before" ] && files=readable || files=bad
	before=${line%% *}
	# shellcheck disable=SC2086  # words
	is "memtrace $line" "$(EVENTS=$events hostile try $files memtrace $line)" ''
	[ "$files:$events" != readable:0 ] || continue
	# shellcheck disable=SC2086
	is "memtrace $line: cut" "$(hostile try cut memtrace $line)" ''
done <list-of-commands
sed 's/^[0EM]/3/' bad/list >list && mv list bad/list
is 'memtrace recover takes none of them' "$(hostile try bad memtrace recover {} -o out.json)" ''
is 'and leaves nothing' "$(find . -name 'out*')" ''

# Changed at random, for a few seconds; make check-all does it for long, under the sanitizers.
"$BUILD/tests/generator" --events 300 --json seed.json >"$OUT"
"$BUILD/tests/generator" --events 300 --spool seed.spool >"$OUT"
ok 'a baseline' memtrace baseline "$example" -o seed.base.json
is 'whatever is changed' "$(PATH=${HOSTILE_TOOL:-$BUILD}:$PATH hostile mutate "${HOSTILE_SECONDS:-3}" "${HOSTILE_SEED:-1}" "$example" \
	"$example" seed.json seed.spool seed.base.json "$TOP/tests/data/recorded/oom-cache.json" 2>seed.said)" ''
sed 's/^/# /' seed.said
[ -z "${HOSTILE_ONLY:-}" ] || exit 0

# --- what is no file ------------------------------------------------------------------------------------
mkdir folder
: >empty
mkfifo fifo
ln -s loop loop
while read -r line; do
	for what in folder empty loop missing /dev/null /dev/zero 'a name
of two lines'; do
		set -f
		# shellcheck disable=SC2086  # words
		set -- $line
		set +f
		for word; do
			shift
			[ "$word" = '{}' ] && word=$what
			set -- "$@" "$word"
		done
		timeout 60 memtrace "$@" >"$OUT" 2>"$ERR" </dev/null
		is "memtrace $line: $(echo "$what" | tr '\n' ' ')" "$?:$(grep -c . "$ERR"):$(wc -c <"$OUT")" 3:1:0
	done
	first=$(echo "$line" | sed 's/{}.*//')
	rest=$(echo "$line" | sed 's/[^{]*{}//')
	case $line in
	*'{} {}'*) continue ;;
	esac
	# shellcheck disable=SC2086
	{
		cat "$example" >fifo &
		ok "memtrace $line: a FIFO" timeout 60 memtrace $first fifo $rest
		wait
		: >fifo &
		fails 3 'memtrace: ' timeout 60 memtrace $first fifo $rest
		wait
	}
done <list-of-commands
for what in folder empty fifo missing /dev/zero; do
	fails 3 "$what: " timeout 60 memtrace recover "$what" -o out.json
done
ok 'a large trace' "$BUILD/tests/generator" --events 200000 --json big.json
is 'cut in half while it is read' "$(hostile shrink big.json memtrace export big.json --to events | sed 's/byte [0-9]*/byte N/')" \
	'3 True memtrace: export: big.json: truncated: it ends at byte N, inside "events"'

# --- what wants all time and memory -------------------------------------------------------------------
hostile bomb blanks "$example" >blanks.json.gz
for command in report timeline 'diff --force' check merge baseline html export; do
	line=$(grep "^${command%% *}" list-of-commands | head -n 1 | sed 's/{}/blanks.json.gz/g')
	# shellcheck disable=SC2086  # words
	is "memtrace $command: a bomb" "$(hostile bounded memtrace $line)" ''
done
ok 'which is read where that is wanted' memtrace report --no-limits blanks.json.gz
hostile bomb frames "$example" >frames.json
is 'frames without end' "$(hostile bounded memtrace report frames.json)" ''
is 'through a pipe, too' "$(hostile bounded memtrace report - <frames.json)" ''
rm -f frames.json
ok 'help tells of it' memtrace report --help
has 'by name' "$OUT" '--no-limits'
fails 2 'there is no option --no-limits' memtrace run --no-limits -- true

# --- what reaches a terminal ----------------------------------------------------------------------------
while read -r line; do
	for file in evil long-evil-names percent-names schema-evil utf8-c1; do
		# shellcheck disable=SC2046
		set -- $(echo "$line" | sed "s|{}|bad/$file|g")
		hostile terminal memtrace "$@" >"$file.tty"
	done
	is "memtrace $line: nothing steers the terminal" "$(hostile check ./*.tty)" ''
done <list-of-commands
ok 'a report on a terminal' hostile terminal memtrace report "$example"
has 'is written as for one' "$OUT" "$(printf '\033[1m')"
evil=$(printf '\033]0;title\007\302\233m\342\200\256end')
for command in 'report EVIL' 'recover EVIL' 'export --to EVIL EXAMPLE' 'report --limit EVIL EXAMPLE' 'report --EVIL' \
	'report --at EVIL EXAMPLE' 'report --pool EVIL EXAMPLE' 'report --show EVIL EXAMPLE' EVIL 'help EVIL' \
	'help --completion EVIL' 'run --max-events=EVIL true' 'run EVIL' 'run -o EVIL/x.json true' 'doctor EVIL'; do
	# shellcheck disable=SC2046
	hostile terminal memtrace $(echo "$command" | sed -e "s|EVIL|$evil|" -e "s|EXAMPLE|$example|") >words.tty
	is "memtrace $command: nothing steers the terminal" "$(hostile check words.tty)" ''
	is "memtrace $command: it says something" "$(test -s words.tty; echo $?)" 0
done
mkdir "$evil"
cp "$E2E/ends" "$evil/$evil"
steers() { # WHAT COMMAND...: what it prints on a terminal
	what=$1
	shift
	hostile terminal "$@" >words.tty
	is "$what: nothing steers the terminal" "$(hostile check words.tty)" ''
}
steers 'the line at the end' env LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT="$evil/own.json" "$evil/$evil"
has 'which tells the trace' words.tty 'memtrace: wrote '
steers 'the line of a recording that stopped' sh -c "ulimit -f 8; LD_PRELOAD='$LIBRARY' MEMTRACE_OUTPUT='$evil/stopped.json' '$evil/$evil'"
steers 'the summary of run' memtrace run -o "$evil/run.json" -- "$evil/$evil"
has 'which tells the trace, too' words.tty 'memtrace: the trace is '
steers 'the summary of a killed one' memtrace run -o "$evil/%e.json" -- "$evil/$evil" 9
has 'which tells the signal' words.tty 'was killed by signal 9'
env LD_PRELOAD="$LIBRARY" MEMTRACE_OUTPUT="$evil/left.json" "$evil/$evil" _exit >/dev/null 2>&1
steers 'recover' memtrace recover "$evil/left.spool"
has 'which tells the trace as well' words.tty 'left.json'
cp "$evil/left.spool" sparse.spool
if truncate -s 1T sparse.spool 2>/dev/null; then
	ok 'a spool that is sparse behind its end' sh -c 'ulimit -v 2000000; timeout 20 memtrace report sparse.spool'
else
	skip 'a spool that is sparse behind its end' 'no such large files here'
fi
rm -f sparse.spool
ok 'recover for a script' memtrace recover "$evil/left.spool"
ok 'names the very file' test -e "$(cat "$OUT")"
steers 'doctor' env MEMTRACE_OUTPUT="$evil/none/x.json" MEMTRACE_STACKS="$evil" "MEMTRACE_$evil=1" memtrace doctor -- "$evil/$evil"
