#!/bin/sh
# `make check`, and everything that takes longer: check-all.sh [STEP...]
#
# A step is a row of the table below and prints one line, as TAP has it; what a failed one said follows.
# The last line is `N passed, N failed`. SHORT=1 is for who has just run `make check`: what that does
# not do at all, in four minutes on two cores, in the place of hours. The logs lie in BUILD/check-all.
set -u
cd "$(dirname "$0")/.." || exit 1

: "${BUILD:=build}" "${MAKE:=make}" "${SHORT:=}" "${CC:=cc}"
mkdir -p "$BUILD/check-all" || exit 1
logs=$(cd "$BUILD/check-all" && pwd)

# step                what it is                                                  short  long
steps='
check                 make check                                                  -      run
tidy                  clang-tidy, that follows as many paths as clang does        -      225000
sanitizers            the unit tests under ASan and UBSan                         -      run
threads               eight threads under TSan, so many times                     -      10
promises              the end-to-end scripts with a library that asserts itself  rows   all
gcc-O0                built by gcc without optimisation                           units  run
gcc-O2                built by gcc                                                -      run
clang-O0              built by clang without optimisation                         -      run
clang-O2              built by clang; in short: its unit tests under sanitizers   units-address,undefined run
valgrind              the tool and the library under memcheck                     few    all
fuzz-libfuzzer        the readers against libFuzzer, so many seconds each         5      900
fuzz-afl              the readers against AFL++                                   -      900
hostile               every command on traces changed at random, under sanitizers, so many seconds  60 1800
steps                 a SIGKILL after so many instructions of each update         -      1
forks                 forks while threads allocate                                -      200
unloads               libraries that come and go while threads unwind             -      10000
kills                 killed at random moments, three kinds of program            100    1000
guests                hosts that do what they must not, all of it                 -      run
package               the Debian package, into this system                        run    run
glibc                 the wheel under glibc 2.31, 2.36 and 2.41, the same of the same    -      run
samples               recorded runs, sampled so many times: sites are unbiased    -      100
soak                  a long job, of so many seconds                              -      1800
keep                  a flight recorder of so many events: a week of 2,000/s      -      1200000000
'

quiet_make() {
	"$MAKE" --no-print-directory SETUP=no "$@"
}

skip() { # WHY
	echo "skip: $*"
	exit 77
}

# A build of its own, and its tests: `run` all of them; `units` the unit tests, but for the one that
# goes by single instructions, and `units-SAN` the same under sanitizers.
compiled() { # COMPILER LEVEL HOW
	command -v "$1" >/dev/null || skip "no $1 here"
	how=$3
	set -- "BUILD=$BUILD/all/$1$2" "CC=$1" "OPT=$2" WERROR=1
	case $how in
	units) ;;
	units-*) set -- "$@" "SAN=${how#units-}" ;;
	*)
		quiet_make "$@" check-unit && quiet_make "$@" check-e2e
		return
		;;
	esac
	STEPS=0 quiet_make "$@" check-unit
}

tidy() { # PATHS
	command -v clang-tidy-14 >/dev/null || skip 'no clang-tidy 14 here'
	quiet_make -j"$(nproc)" "BUILD=$BUILD/all/tidy" "TIDY_PATHS=$1" check-tidy
}

under_valgrind() { # few|all
	command -v valgrind >/dev/null || skip 'no valgrind here'
	quiet_make test-programs || return 1
	BUILD=$BUILD sh scripts/check-valgrind.sh "$1"
}

threads() {
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || continue
		TIMES=$1 ROUNDS=1000 quiet_make check-tsan "BUILD=$BUILD/all/$compiler" CC=$compiler || return 1
	done
}

package() {
	[ "$(id -u)" = 0 ] || skip 'only root may install a package'
	command -v dpkg-deb >/dev/null || skip 'no dpkg here'
	REAL=1 quiet_make check-e2e T=deb
}

glibc() {
	[ "$(id -u)" = 0 ] || skip 'only root may make systems of other releases'
	command -v debootstrap >/dev/null || skip 'no debootstrap here'
	BUILD=$BUILD MAKE=$MAKE sh scripts/check-glibc.sh
}

fuzz() { # FUZZER SECONDS, shared by its targets
	case $1 in
	afl) command -v afl-fuzz >/dev/null || skip 'no afl-fuzz here' ;;
	*) command -v clang >/dev/null || skip 'no clang here' ;;
	esac
	BUILD=$BUILD SECONDS_EACH=$2 sh scripts/fuzz.sh "$1"
}

# Leaks of a tool that ends are no concern.
hostile() { # SECONDS
	quiet_make "BUILD=$BUILD/san" SAN=address,undefined all || return 1
	ASAN_OPTIONS=detect_leaks=0:hard_rss_limit_mb=3000 HOSTILE_TOOL=$(cd "$BUILD/san" && pwd) HOSTILE_ONLY=1 \
		HOSTILE_SECONDS=$1 HOSTILE_SEED=$(date +%s) SECONDS_EACH=$(($1 + 900)) quiet_make check-e2e T=hostile
}

soak() { # SECONDS
	events=$(($1 * 56000))
	SOAK_SECONDS=$1 SOAK_EVENTS=$events SOAK_KEPT=$((events / 200)) SECONDS_EACH=$(($1 * 3 + 600)) \
		quiet_make check-e2e T=soak
}

run_step() { # NAME HOW
	case $1 in
	check) quiet_make check ;;
	tidy) tidy "$2" ;;
	sanitizers) quiet_make check-san ;;
	threads) threads "$2" ;;
	promises) quiet_make check-debug T="${2#all}" ;;
	gcc-* | clang-*) compiled "${1%-*}" "-${1#*-}" "$2" ;;
	valgrind) under_valgrind "$2" ;;
	fuzz-*) fuzz "${1#fuzz-}" "$2" ;;
	steps) STEPS=$2 SECONDS_EACH=3600 quiet_make check-unit T=txn ;;
	forks) FORKS=$2 SECONDS_EACH=1800 quiet_make check-e2e T=fork ;;
	unloads) TIMES=$2 SECONDS_EACH=1800 quiet_make check-e2e T=unload ;;
	kills)
		KILLS=$2 SECONDS_EACH=7200 quiet_make check-e2e T=storm &&
			KILLS=$2 SECONDS_EACH=7200 quiet_make check-hostile T=kills
		;;
	guests) LONG=1 SECONDS_EACH=7200 quiet_make check-hostile ;;
	package) package ;;
	glibc) glibc ;;
	samples) RUNS=$2 TIMES=20 SECONDS_EACH=1800 quiet_make check-e2e T=sampling ;;
	hostile) hostile "$2" ;;
	soak) soak "$2" ;;
	keep) KEEP_EVENTS=$2 SECONDS_EACH=7200 quiet_make check-unit T=keep ;;
	*)
		echo "there is no step $1"
		return 1
		;;
	esac
}

number=0
passed=0
failed=0
skipped=0
wanted=" $* "
while read -r step rest; do
	[ -n "$step" ] || continue
	what=$(echo "$rest" | sed 's/  .*//')
	long=${rest##* }
	short=$(echo "$rest" | awk '{ print $(NF - 1) }')
	how=${SHORT:+$short}
	how=${how:-$long}
	case $wanted in
	'  ') [ "$how" != - ] || continue ;;
	*" $step "*) [ "$how" != - ] || how=$long ;;
	*) continue ;;
	esac
	number=$((number + 1))
	start=$(date +%s)
	(run_step "$step" "$how") >"$logs/$step.log" 2>&1 </dev/null
	status=$?
	took=$(($(date +%s) - start))
	case $status in
	0)
		passed=$((passed + 1))
		echo "ok $number - $step: $what (${took} s)"
		;;
	77)
		skipped=$((skipped + 1))
		echo "ok $number - $step: $what # SKIP $(sed -n 's/^skip: //p' "$logs/$step.log" | tail -n 1)"
		;;
	*)
		failed=$((failed + 1))
		echo "not ok $number - $step: $what (${took} s)"
		tail -n 60 "$logs/$step.log" | sed 's/^/#   /'
		;;
	esac
done <<END
$steps
END
echo "1..$number"
if [ "$number" = 0 ]; then
	echo "there is no such step: $*" >&2
	failed=1
fi
echo
printf '%d passed, %d failed' "$passed" "$failed"
[ "$skipped" = 0 ] || printf ', %d skipped' "$skipped"
echo
[ "$failed" = 0 ]
