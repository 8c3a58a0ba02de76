#!/bin/sh
# Stacks that are small, and stacks that a thread leaves (stacks.c): the program ends as it does without us.
# LONG=1: on more sizes, with fewer stacks recorded, each time as the first of the process too.
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

# shellcheck disable=SC3045  # dash has it, too
ulimit -c 0
STACKS=$BUILD/tests/guest/stacks
export FAKE_CUDA_SIGNALS=1 LD_BIND_NOW=1 MEMTRACE_SIGNAL=USR2:dump

case $LIBRARY in
*/debug/*)
	skip 'small stacks' 'a library that watches itself takes more'
	exit 0
	;;
esac

small=16384 alternate=16384 recorded=python,native moments=warm times=1
if [ -n "${LONG:-}" ]; then
	small='16384 32768 65536' alternate='8192 16384 32768 65536'
	recorded='python,native native none' moments='warm first' times=5
fi
for MEMTRACE_STACKS in $recorded; do
	export MEMTRACE_STACKS
	"$STACKS" >cases
	while read -r kind case; do
		case $kind in
		small) sizes=$small ;;
		alternate) sizes=$alternate ;;
		*)
			for time in $(seq $times); do
				same "tasks that are $case, stacks $MEMTRACE_STACKS, $time of $times" "$STACKS" "$case"
			done
			continue
			;;
		esac
		for size in $sizes; do
			for moment in $moments; do
				same "$case on $size bytes, $moment, stacks $MEMTRACE_STACKS" "$STACKS" "$case" "$size" "$moment"
				rm -f dump* trace*
			done
		done
	done <cases
done
