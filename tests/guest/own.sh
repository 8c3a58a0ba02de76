#!/bin/sh
# What is the program's own stays its own: descriptors that it closes and opens while the library
# writes (own.c), and a stderr that takes nothing (voice.py).
# LONG=1: the descriptors twenty times.
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

OWN=$BUILD/tests/guest/own
export MEMTRACE_SIGNAL=USR2:dump
times=4
[ -z "${LONG:-}" ] || times=20
for case in exit begin growth dumps; do
	for time in $(seq $times); do
		rm -f mine* ./*.json ./*.spool
		same "$case, $time of $times: status and descriptors" "$OWN" $case
		is "$case, $time of $times: nothing of ours is in its files" "$(cat mine* | tr -d x | wc -c)" 0
	done
done
unset MEMTRACE_SIGNAL

"$PYTHON" "$TOP/tests/guest/voice.py" "$LIBRARY" "$SAMPLES/leak" >told 2>"$ERR" || tap_comment "$ERR"
ok 'stderr: every case was tried' [ "$(wc -l <told)" -ge 24 ]
while read -r verdict dash line; do
	case $verdict in
	ok) tap '' "$line" ;;
	*) tap 'not ' "${line:-$dash}" ;;
	esac
done <<END
$(sed 's/^not ok/not-ok/' told)
END
