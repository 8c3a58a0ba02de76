#!/bin/sh
# Builds and runs tests, prints what failed in full, and closes with `N passed, N failed`.
#
#	run-tests.sh [static] [unit] [e2e] [guest] [gpu]	T=word: only tests with it in their name, T=room/: of a folder
#
# A test is a line of TAP that a unit binary or a script prints, or one static check. A program that
# ends badly without saying which test failed, prints no test at all, promises another number of
# tests (1..N) or takes too long is one failure more. `run-tests.sh --one KIND NAME` runs one of
# them, and is how this script calls itself to run several at a time (JOBS).
set -u
cd "$(dirname "$0")/.." || exit 1

: "${BUILD:=build}" "${MAKE:=make}" "${T:=}" "${SECONDS_EACH:=300}"
JOBS=${JOBS:-$(nproc 2>/dev/null || echo 2)}
export MAKE T SECONDS_EACH BUILD_AS_GIVEN="${BUILD_AS_GIVEN:-$BUILD}"
mkdir -p "$BUILD" || exit 1
BUILD=$(cd "$BUILD" && pwd) || exit 1
results=$BUILD/check

# Longest first, or the last of them runs alone.
static_checks='check-tidy check-tsan check-instructions check-format check-headers check-shell check-layers check-names check-schema check-guest check-symbols check-abi check-calls'

run_program() { # KIND NAME
	case $1 in
	static) "$MAKE" -s --no-print-directory "BUILD=$BUILD_AS_GIVEN" "$2" ;;
	unit) timeout -k 10 "$SECONDS_EACH" "$BUILD/tests/$2" ;;
	*) timeout -k 10 "$SECONDS_EACH" sh "$(find "tests/$1" -name "$2.sh")" "$BUILD" ;;
	esac
}

# The verdict on one log: three numbers (passed, failed, skipped) and the reason for a failure that
# no line of the log tells.
judge_tap() { # LOG STATUS
	awk -v status="$2" -v limit="$SECONDS_EACH" '
	/^ok([ \t]|$)/ {
		if (toupper($0) ~ /# *SKIP/)
			skipped++
		else
			passed++
	}
	/^not ok([ \t]|$)/ { failed++ }
	/^1\.\.[0-9]+/     { plan = substr($1, 4); planned = 1 }
	END {
		total = passed + failed + skipped
		if (status == 124 || status == 137)
			why = "took more than " limit " s"
		else if (status && !failed)
			why = "ended with status " status " and no failing test"
		else if (!total && !(planned && plan ~ /^0/))
			why = "printed no test"
		else if (planned && plan != total)
			why = "promised " plan " tests and ran " total
		if (why != "")
			failed++
		print passed + 0, failed + 0, skipped + 0, why
	}' "$1"
}

judge_static() { # LOG STATUS
	if [ "$2" != 0 ]; then
		echo 0 1 0
	elif grep -q '^skip ' "$1"; then
		echo 0 0 1
	else
		echo 1 0 0
	fi
}

run_one() { # KIND NAME
	log=$results/$1-$2.log
	MEMTRACE_TEST_TMP=$(mktemp -d) || exit 1
	trap 'rm -rf "$MEMTRACE_TEST_TMP"' EXIT
	export MEMTRACE_TEST_TMP BUILD

	if [ "$1" = unit ] && [ ! -x "$BUILD/tests/$2" ]; then
		echo "not ok 1 - $2 does not build" >"$log"
		status=1
	else
		run_program "$1" "$2" >"$log" 2>&1 </dev/null
		status=$?
	fi
	if [ "$1" = static ]; then
		verdict=$(judge_static "$log" "$status")
	else
		verdict=$(judge_tap "$log" "$status")
	fi
	# shellcheck disable=SC2086  # three numbers and words
	set -- "$1" "$2" $verdict
	kind=$1 name=$2 passed=$3 failed=$4 skipped=$5
	shift 5
	[ $# = 0 ] || echo "# $name $*" >>"$log"
	echo "$passed $failed $skipped" >"$results/$kind-$name.sum"

	word=ok
	[ "$skipped" = 0 ] || [ "$passed" != 0 ] || word=skip
	[ "$failed" = 0 ] || word=FAILED
	line=$(printf '%-7s %-7s %s' "$word" "$kind" "$name")
	[ "$kind" = static ] || line="$line ($passed passed, $failed failed, $skipped skipped)"
	echo "$line"
}

list_tests() { # KIND...
	for kind; do
		case $kind in
		static) for name in $static_checks; do echo static "$name"; done ;;
		unit) find tests/unit -name 'test_*.c' | sort ;;
		*) find "tests/$kind" -name '*.sh' ! -name lib.sh ! -name '*_lib.sh' | sort ;;
		esac
	done | awk -v word="$T" '
	/^static/ && index($2, word)
	/^tests/ {
		parts = split($0, part, "/")
		name = part[parts]
		sub(/\.[a-z]*$/, "", name)
		if (index(word ~ /\// ? $0 : name, word))
			print part[2], name
	}'
}

build() { # WERROR KIND...
	werror=$1 goals=
	shift
	for kind; do
		case $kind in
		unit) goals="$goals unit-programs" ;;
		guest) goals="$goals guest-programs" ;;
		gpu) goals="$goals all fake samples CUDA=${CUDA:-}" ;;
		*) goals="$goals test-programs" ;;
		esac
	done
	# shellcheck disable=SC2086  # words
	"$MAKE" -k -j"$JOBS" --no-print-directory "BUILD=$BUILD_AS_GIVEN" WERROR="$werror" $goals
}

build_all() { # KIND...
	echo "building with $JOBS jobs"
	if build 1 "$@" >"$results/build.log" 2>&1; then
		echo 1 0 0 >"$results/build.sum"
		echo 'ok      build'
		return
	fi
	echo 0 1 0 >"$results/build.sum"
	echo 'FAILED  build'
	# A warning is a failure, but no reason to leave the other tests out.
	build 0 "$@" >/dev/null 2>&1
}

print_failures() {
	for sum in "$results"/*.sum; do
		read -r _ failed _ <"$sum"
		[ "$failed" = 0 ] && continue
		name=$(basename "$sum" .sum)
		printf '\n--- %s\n' "$name"
		if [ "$name" = build ]; then
			cat "$results/$name.log"
		else # the last word of make adds nothing to a check's own
			sed '/^make[^ ]*: \*\*\* /d' "$results/$name.log"
		fi
	done
}

if [ "${1:-}" = --one ]; then
	run_one "$2" "$3"
	exit 0
fi

# What the caller's shell has set must not decide what a test finds. Of make's own flags only the
# variables stay (CC=clang): its jobs are not for those who are not called by it.
for name in $(env | sed -n 's/^\(MEMTRACE_[A-Z0-9_]*\)=.*/\1/p'); do
	unset "$name"
done
unset LD_PRELOAD CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
MAKEFLAGS=$(printf '%s' "${MAKEFLAGS:-}" | sed 's/^[a-zA-Z]* *//; s/-j[0-9]*//g; s/--jobserver-[a-z]*=[^ ]*//g')
export MAKEFLAGS
unset MFLAGS MAKELEVEL

[ $# != 0 ] || set -- static unit e2e guest
rm -rf "$results"
mkdir -p "$results" || exit 1
build_all "$@"
list_tests "$@" | xargs -r -P "$JOBS" -n 2 sh scripts/run-tests.sh --one
print_failures

echo
cat "$results"/*.sum | awk '
{ passed += $1; failed += $2; skipped += $3 }
END {
	printf "%d passed, %d failed", passed, failed
	printf skipped ? ", " skipped " skipped\n" : "\n"
	exit failed != 0
}'
