#!/bin/sh
# Fuzzes the readers for a fixed time: fuzz.sh [libfuzzer] [afl] (both, without a word). `fuzz.sh words`
# prints the dictionary; fuzz-long.sh runs all targets at once.
#
# SECONDS_EACH is for each target under each fuzzer, T=word picks targets. What was found before
# lies in BUILD/fuzz/found and is gone on from, beside tests/fuzz/corpus. A finding is printed with
# the file that shows it, and the status is 1. KEEP=1 puts what gives new coverage, if it is small,
# into tests/fuzz/corpus.
set -eu
cd "$(dirname "$0")/.."

: "${BUILD:=build}" "${MAKE:=make}" "${SECONDS_EACH:=60}" "${T:=}" "${KEEP:=}"
[ $# != 0 ] || set -- libfuzzer afl
SMALL=${SMALL:-2000c} # of a file in the corpus, as find's -size has it
status=0

fail() {
	echo "fuzz: $*" >&2
	exit 1
}

# The words of a trace, which no fuzzer guesses: the strings of the example, as tokens.
dictionary() {
	{
		grep -o '"[a-z0-9_/.]*"' tests/data/example.json
		printf '"%s"\n' '{' '}' '[' ']' ':' ',' null true 18446744073709551615 -1 1e999 '\\\\u001b' '\\\\ud800'
	} | sed -e '/^"[^a-z0-9]*"$/b' -e 's/^"\(.*\)"$/"\\"\1\\""/' | LC_ALL=C sort -u
}

findings() { # NAME FILE...
	name=$1
	shift
	for file; do
		[ -f "$file" ] || continue
		echo "$name: $file"
		status=1
	done
}

run_libfuzzer() { # TARGET LIMIT
	found=$BUILD/fuzz/found/$1
	"$BUILD/fuzz/libfuzzer/$1" -max_total_time="$SECONDS_EACH" -timeout=20 -rss_limit_mb=4096 \
		-len_control=0 -max_len="$2" -dict="$BUILD/fuzz/words" -print_final_stats=1 \
		-artifact_prefix="$BUILD/fuzz/found/$1-" "$found" "tests/fuzz/corpus/$1" >"$found.log" 2>&1 || {
		tail -n 40 "$found.log"
		status=1
	}
	sed -n 's/^stat::number_of_executed_units: */libfuzzer: '"$1"': inputs run: /p' "$found.log"
	findings "libfuzzer: $1" "$BUILD/fuzz/found/$1"-*
}

run_afl() { # TARGET
	work=$BUILD/fuzz/found/$1.afl
	rm -rf "$work"
	# The machine is left as it is: no core pattern, no governor; ASan wants its memory.
	AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_NO_UI=1 AFL_QUIET=1 \
		AFL_IGNORE_PROBLEMS=1 AFL_IGNORE_SEED_PROBLEMS=1 \
		afl-fuzz -V "$SECONDS_EACH" -m none -t 5000+ -x "$BUILD/fuzz/words" \
		-i "tests/fuzz/corpus/$1" -o "$work" -- "$BUILD/fuzz/afl/$1" >"$work.log" 2>&1 || {
		tail -n 40 "$work.log"
		status=1
	}
	sed -n 's/^execs_done *: */afl: '"$1"': inputs run: /p' "$work/default/fuzzer_stats" || true
	findings "afl: $1" "$work"/default/crashes/id* "$work"/default/hangs/id*
	find "$work/default/queue" -type f -name 'id*' -exec cp {} "$BUILD/fuzz/found/$1/" \; 2>/dev/null || true
}

# The inputs that cover what the corpus does not, smallest first, if they are small.
keep() { # TARGET
	mkdir -p "$BUILD/fuzz/small"
	rm -rf "$BUILD/fuzz/small/$1"
	mkdir "$BUILD/fuzz/small/$1"
	find "$BUILD/fuzz/found/$1" -type f -size "-$SMALL" -exec cp {} "$BUILD/fuzz/small/$1/" \;
	"$BUILD/fuzz/libfuzzer/$1" -merge=1 "tests/fuzz/corpus/$1" "$BUILD/fuzz/small/$1" >/dev/null 2>&1
}

if [ "$1" = words ]; then
	dictionary
	exit
fi
for kind; do
	case $kind in
	libfuzzer) command -v clang >/dev/null || fail 'clang is missing: run scripts/setup.sh check-all' ;;
	afl) command -v afl-fuzz >/dev/null || fail 'afl-fuzz is missing: run scripts/setup.sh check-all' ;;
	*) fail 'usage: scripts/fuzz.sh [libfuzzer] [afl]' ;;
	esac
	"$MAKE" -s --no-print-directory -j2 BUILD="$BUILD" "fuzz-$kind" >/dev/null
done
mkdir -p "$BUILD/fuzz/found"
dictionary >"$BUILD/fuzz/words"
for file in tests/fuzz/fuzz_*.c; do
	target=$(basename "$file" .c)
	case $target in
	*"$T"*) ;;
	*) continue ;;
	esac
	case $target in
	fuzz_trace | fuzz_views) limit=6000 ;;
	*) limit=400 ;;
	esac
	mkdir -p "$BUILD/fuzz/found/$target" "tests/fuzz/corpus/$target"
	for kind; do
		case $kind in
		libfuzzer) run_libfuzzer "$target" "$limit" ;;
		afl) run_afl "$target" ;;
		esac
	done
	[ -z "$KEEP" ] || keep "$target"
done
exit "$status"
