#!/bin/sh
# Traces that are compressed: written by name, read by what they hold, the same answer as the plain one.
# shellcheck disable=SC2016  # another shell expands
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

need gzip
need zstd

suffix() { # gzip or zstd
	case $1 in
	gzip) echo .gz ;;
	zstd) echo .zst ;;
	esac
}

# --- written by name ------------------------------------------------------------------------------------
for kind in gzip zstd; do
	MEMTRACE_OUTPUT=$PWD/own.json$(suffix $kind)
	export MEMTRACE_OUTPUT
	traced "$SAMPLES/leak" 3
	is "$kind: the program ends well" $? 0
	has "$kind: its end is told" "$ERR" "memtrace: wrote $MEMTRACE_OUTPUT"
	is "$kind: one file" "$(find . -name 'own.*' ! -name 'own.gzip*')" "./own.json$(suffix $kind)"
	ok "$kind: another reader takes it" $kind -t "$MEMTRACE_OUTPUT"
	$kind -dc "$MEMTRACE_OUTPUT" >own.$kind.json
	ok "$kind: and finds a trace that keeps its promises" validate own.$kind.json
	is "$kind: without a note about it" "$(json own.$kind.json '[n for n in d["capture"]["notes"] if "compressed" in n]')" '[]'
	traced "$SAMPLES/leak" 3
	is "$kind: the next takes the next name" "$(find . -name 'own.1.*')" "./own.1.json$(suffix $kind)"
	rm -f own.json* own.1.json*
done
unset MEMTRACE_OUTPUT
ok "Python's gzip reads the library's" env MEMTRACE_OUTPUT="$PWD/p.json.gz" LD_PRELOAD="$LIBRARY" "$SAMPLES/leak" 3
ok 'as JSON' "$PYTHON" -c 'import gzip, json; assert json.load(gzip.open("p.json.gz"))["schema"] == "memtrace/1"'

# Without the library the trace is plain, under the name of a plain one.
mkdir broken
: >broken/libz.so.1
: >broken/libzstd.so.1
for kind in gzip zstd; do
	library=$([ $kind = gzip ] && echo libz.so.1 || echo libzstd.so.1)
	env LD_LIBRARY_PATH="$PWD/broken:${LD_LIBRARY_PATH:-}" LD_PRELOAD="$LIBRARY" \
		MEMTRACE_OUTPUT="$PWD/without.json$(suffix $kind)" "$SAMPLES/leak" 3 >"$OUT" 2>"$ERR"
	is "$kind is missing: one plain file" "$(find . -name 'without.*')" ./without.json
	has "$kind is missing: said at the end" "$ERR" \
		"memtrace: wrote $PWD/without.json (not compressed: $library could not be loaded)"
	is "$kind is missing: noted" "$(json without.json '[n for n in d["capture"]["notes"] if "compressed" in n]')" \
		"[\"the trace is not compressed: $library could not be loaded\"]"
	ok "$kind is missing: a trace that keeps its promises" validate without.json
	rm -f without.json
	ok "$kind is missing: run finds the plain one" env LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}" \
		memtrace run -o "without.json$(suffix $kind)" -- \
		sh -c 'LD_LIBRARY_PATH=$1/broken:$LD_LIBRARY_PATH exec "$2" 3' sh "$PWD" "$SAMPLES/leak"
	has "$kind is missing: and names it" "$ERR" 'the trace is without.json'
	rm -f without.json
done

# --- what a killed process leaves -----------------------------------------------------------------------
for kind in gzip zstd; do
	output=killed.json$(suffix $kind)
	{ # the shell tells a signal aloud
		env MEMTRACE_OUTPUT="$PWD/$output" LD_PRELOAD="$LIBRARY" "$E2E/ends" 9 >"$OUT" 2>"$ERR"
	} 2>/dev/null
	is "$kind: the spool has the name of any" "$(find . -name 'killed.*')" ./killed.spool
	ok "$kind: it is recovered under its own name" memtrace recover killed.spool -o "$output"
	ok "$kind: compressed" $kind -t "$output"
	ok "$kind: and without one, plain" memtrace recover killed.spool
	$kind -dc "$output" | cmp -s - killed.json
	is "$kind: the same document" $? 0
	is "$kind: a folder holds one trace, and it is not told twice" \
		"$(mkdir -p one && cp killed.spool "$output" one && memtrace merge one --json | "$PYTHON" -c 'import json, sys; print(len(json.load(sys.stdin)["ranks"]))')" 1
	rm -rf killed.* one

	memtrace run -o "$output" -- "$E2E/ends" 9 >"$OUT" 2>"$ERR"
	is "$kind: run finishes it" "$(find . -name 'killed.*')" "./$output"
	$kind -dc "$output" >ended.json
	is "$kind: with how it ended" "$(json ended.json 'd["process"]["signal"]')" 9
	ok "$kind: a trace that keeps its promises" validate ended.json
	rm -f killed.* ended.json
	memtrace run -o "$output" -- sh -c '"$1" 3; exit 5' sh "$SAMPLES/leak" >"$OUT" 2>"$ERR"
	is "$kind: run gives the status" $? 5
	has "$kind: and tells the trace" "$ERR" "the trace is $output"
	rm -f killed.*
done

# --- read by what they hold -----------------------------------------------------------------------------
# The same name in three folders: what a verb prints of the file is the same, too.
mkdir plain gzip zstd twice
cp "$TOP/tests/data/example.json" plain/t.json
cp own.gzip.json plain/own.json
cp "$TOP/tests/data/recorded/caching.json" plain/real.json
for name in t own real; do
	gzip <plain/$name.json >gzip/$name.json
	zstd -q <plain/$name.json >zstd/$name.json
	# Two members, and two frames: cut anywhere.
	{
		head -c 3000 plain/$name.json | gzip
		tail -c +3001 plain/$name.json | gzip
	} >twice/$name.json
done
{
	head -c 3000 plain/t.json | zstd -q
	tail -c +3001 plain/t.json | zstd -q
} >twice/frames.json
{
	cat gzip/t.json
	head -c 1000 /dev/zero
} >twice/padded.json
mkdir again
cp plain/t.json again/frames.json
cp plain/t.json again/padded.json

says() { # FOLDER VERB ARGS...: what it prints there
	folder=$1
	shift
	(cd "$folder" && memtrace "$@") >"$MEMTRACE_TEST_TMP/said.$folder" 2>&1
	echo "status $?" >>"$MEMTRACE_TEST_TMP/said.$folder"
}
same() { # VERB ARGS...: in every folder
	says plain "$@"
	for packed in gzip zstd twice; do
		[ -e "$packed/${trace##*/}" ] || continue
		says $packed "$@"
		ok "$packed: $*" diff said.plain said.$packed
	done
}
for trace in t.json own.json real.json; do
	same report "$trace"
	same report --json --full "$trace"
	same check "$trace" --max 'allocated.peak<=1KiB'
	same diff "$trace" "$trace" --format json
	same export "$trace" --to folded
done
trace=own.json
same timeline $trace
same merge $trace t.json --force
same baseline $trace
same export $trace --to events --at peak
same report $trace --by site --stacks
same html $trace
for name in frames padded; do
	says again report --json $name.json
	says twice report --json $name.json
	ok "$name" diff said.again said.twice
done

# Through a pipe, and from a file without a name.
memtrace report - <plain/own.json >wanted
for kind in gzip zstd; do
	# shellcheck disable=SC2002  # a pipe is the point
	cat $kind/own.json | memtrace report - >piped 2>&1
	ok "$kind: from a pipe" cmp wanted piped
	mkfifo fifo.$kind
	cat $kind/own.json >fifo.$kind &
	memtrace report fifo.$kind >"$OUT" 2>"$ERR"
	is "$kind: from a fifo" $? 0
	wait
	# shellcheck disable=SC2002
	cat $kind/own.json | memtrace html - >"$OUT" 2>"$ERR"
	is "$kind: a page from a pipe" $? 0
done

# --- what is broken -------------------------------------------------------------------------------------
for kind in gzip zstd; do
	size=$(wc -c <$kind/real.json)
	bad=bad.$kind
	for part in 1 10 50 90 99; do
		head -c $((size * part / 100 + 6)) $kind/real.json >$bad
		fails 3 "$bad: truncated: it ends at byte" memtrace report $bad
		fails 3 "$bad: truncated: it ends at byte" memtrace diff $bad $kind/real.json
	done
	is "$kind: one sentence" "$(wc -l <"$ERR" | tr -d ' ')" 1
	head -c $((size - 1)) $kind/real.json >$bad
	fails 3 "$bad: truncated" memtrace check $bad --max 'allocated.peak<=1TiB'
	{
		head -c $((size / 2)) $kind/real.json
		head -c 100 /dev/zero | tr '\0' x
		tail -c +$((size / 2 + 101)) $kind/real.json
	} >$bad
	fails 3 "$bad: the $kind data is corrupt" memtrace check $bad --max 'allocated.peak<=1TiB'
	{
		cat $kind/real.json
		echo garbage
	} >$bad
	fails 3 "$bad: the $kind data is corrupt" memtrace report $bad
	: | $kind >$bad
	fails 3 "$bad: truncated: it ends at byte 0 (unpacked), before any data" memtrace report $bad
	echo '[1]' | $kind >$bad
	fails 3 "$bad: neither a memtrace trace (JSON) nor a memtrace spool" memtrace report $bad
	printf MEMTRACE | $kind >$bad
	fails 3 "$bad: a spool cannot be read compressed" memtrace report $bad
done
cut=$(head -c 2000 gzip/own.json | memtrace report - 2>&1)
is 'a pipe that ends too early' $? 3
is 'is told as such' "${cut%%: it ends*}" 'memtrace: report: standard input: truncated'

# What comes out may be a thousand times what goes in: memory stays what it was.
"$PYTHON" -c '
import gzip, sys
text = open("plain/t.json", "rb").read()
head, tail = text.split(b"\n", 1)
with gzip.open("large.json.gz", "wb", 1) as f:
    f.write(head)
    for i in range(300):
        f.write(b" " * (1 << 20))
    f.write(tail)'
ok 'what was 300 MiB' sh -c 'ulimit -v 120000; exec memtrace report --no-limits --json large.json.gz'
cp "$OUT" large.told
memtrace report --json plain/t.json | sed s,plain/t.json,large.json.gz, >wanted
ok 'is read as it was' cmp wanted large.told

# --- -o ---------------------------------------------------------------------------------------------------
for kind in gzip zstd; do
	end=$(suffix $kind)
	for words in 'report --json' timeline baseline merge 'export --to csv' html; do
		# shellcheck disable=SC2086  # words
		set -- $words
		verb=$1
		shift
		case $words in
		merge) two=plain/t.json ;;
		*) two= ;;
		esac
		# shellcheck disable=SC2086
		memtrace "$verb" plain/own.json $two "$@" >wanted 2>"$ERR"
		# shellcheck disable=SC2086
		ok "$words -o x$end" memtrace "$verb" plain/own.json $two "$@" -o "x$end"
		ok "$words: it is $kind" $kind -t "x$end"
		$kind -dc "x$end" >given
		ok "$words: and holds the same" cmp wanted given
	done
	ok "a baseline that is $kind" memtrace baseline plain/own.json -o "base$end"
	ok 'stands for its trace' memtrace diff "base$end" plain/own.json --gate
	cp "base$end" "base1$end"
	ok 'again' memtrace baseline plain/own.json -o "base$end"
	ok 'is the same file' cmp "base$end" "base1$end"
done
