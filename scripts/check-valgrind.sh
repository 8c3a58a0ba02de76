#!/bin/sh
# The tool on traces and spools, and the library inside programs, under memcheck: no error, no leak of
# the tool's. check-valgrind.sh [few]: of each kind one.
set -u
cd "$(dirname "$0")/.." || exit 1

: "${BUILD:=build}"
# Debian's own is the one that python3-jsonschema was installed for.
python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
BUILD=$(cd "$BUILD" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0
traces="tests/data/example.json tests/data/recorded/caching.json $work/t.spool"
formats=$(sed -n 's/^FORMAT([a-z_]*, *"\([a-z-]*\)".*/\1/p' src/render/export/formats.def)
samples='leak threads pool vmm managed arrays graph'
if [ "${1-}" = few ]; then
	traces=$work/t.spool formats=csv samples=threads
fi
export LD_LIBRARY_PATH="$BUILD/fake"

# A status of 99 is memcheck's; any other is the program's own, and as it should be.
check() { # WANTED OPTIONS -- COMMAND...
	wanted=$1
	shift
	valgrind -q --error-exitcode=99 "$@" >"$work/out" 2>"$work/err" </dev/null
	got=$?
	[ "$got" = "$wanted" ] && return
	echo "ended with $got, wanted $wanted: $*"
	cat "$work/err"
	status=1
}
tool() { # WANTED ARGUMENTS...
	wanted=$1
	shift
	check "$wanted" --leak-check=full --errors-for-leak-kinds=definite "$BUILD/memtrace" "$@"
}

"$BUILD/tests/generator" --events 3000 --ranks 1 --spool "$work/t.spool" >/dev/null
for trace in $traces; do
	tool 0 report "$trace"
	tool 0 report --json --full "$trace"
	tool 0 report --at exit "$trace"
	for format in $formats; do
		tool 0 export --to "$format" "$trace"
	done
done
tool 0 recover -o "$work/t.json" "$work/t.spool"
tool 0 help --completion bash
tool 0 hooks
head -c 2000 tests/data/example.json >"$work/cut.json"
tool 3 report "$work/cut.json"
tool 3 recover "$work/cut.json"

for sample in $samples; do
	[ -x "$BUILD/samples/$sample" ] || continue
	wanted=0
	"$BUILD/samples/$sample" >/dev/null 2>&1 || wanted=$?
	# The host's own leaks are not ours to judge.
	LD_PRELOAD=$BUILD/libmemtrace.so MEMTRACE_OUTPUT=$work/$sample.json \
		valgrind -q --error-exitcode=99 "$BUILD/samples/$sample" >"$work/out" 2>"$work/err" </dev/null
	got=$?
	if [ "$got" != "$wanted" ]; then
		echo "$sample under valgrind and the library ended with $got, wanted $wanted"
		cat "$work/err"
		status=1
	fi
	"$python" tests/validate.py "$work/$sample.json" || status=1
done
exit "$status"
