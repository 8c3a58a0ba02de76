#!/bin/sh
# The world changes under a process that has begun, and the kernel refuses what it gave before: the
# status and the output are the program's own, and what is recorded is whole or says that it is not.
# LONG=1: every call that there is refused, in both moments.
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

# shellcheck disable=SC3045  # dash has it, too
ulimit -c 0
WORLD=$BUILD/tests/guest/world

# sound NAME: what the program counted is what the trace has, or its spool, which says if it stopped.
sound() {
	counted=$(sed -n 's/^allocations=//p' "$OUT")
	[ -n "$counted" ] || return 0
	told=$TRACE
	spool=${TRACE%.json}.spool
	if [ ! -f "$told" ] && [ -f "$spool" ] && [ ! -L "$spool" ] && [ "$(stat -c %h "$spool")" = 1 ]; then
		told=recovered.json
		memtrace recover -f "$spool" -o $told >/dev/null 2>&1
	fi
	if [ -f "$told" ]; then
		grep -q '"truncated":true' "$told" ||
			is "$1: all of it is recorded" \
				"$(grep -o '"allocations":[0-9]*' "$told" | head -n 1)" "\"allocations\":$counted"
	else
		ok "$1: no trace was written, and it is told why" grep -q '^memtrace: ' said
	fi
}

in_its_folder() { # NAME COMMAND...
	folder=$MEMTRACE_TEST_TMP/$(echo "$1" | tr ' /' '__')
	mkdir "$folder"
	chmod 777 "$folder"
	cd "$folder" || exit 1
	MEMTRACE_OUTPUT=t.json
	export MEMTRACE_OUTPUT
	same "$@"
	unset MEMTRACE_OUTPUT
	case $1 in
	# Children with traces of their own, none to be found from here; what stderr is cannot be asked.
	two-exits | pid-namespace-first | newfstatat* | another-root | another-mount-namespace | another-user) ;;
	*) cp "$ERR" said && sound "$1" ;;
	esac
	[ "$1" != two-exits ] || is "$1: nothing is left half made" "$(find . -name '*.partial')" ''
	cd "$MEMTRACE_TEST_TMP" || exit 1
	rm -rf "$folder"
}

chmod 755 "$MEMTRACE_TEST_TMP"
for case in $("$WORLD"); do
	in_its_folder "$case" "$WORLD" "$case"
done

# Of each kind one or two.
calls='openat close_range fallocate mmap mremap munmap renameat2 link unlink write futex tkill rt_sigprocmask clone3'
[ -z "${LONG:-}" ] || calls=$("$WORLD" calls)
for call in $calls; do
	in_its_folder "$call is refused" "$WORLD" refused "$call"
	[ -z "${LONG:-}" ] || in_its_folder "$call is refused before the first event" "$WORLD" refused-first "$call"
done
