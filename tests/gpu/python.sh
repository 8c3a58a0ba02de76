#!/bin/sh
# Python among other threads, and at its end, with tensors on the GPU: the same scripts, the long way.
GPU=1
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

need gpu
LONG=1
export LONG
mkdir ends minute # each script keeps its files in a folder of its own
MEMTRACE_TEST_TMP=$PWD/ends sh "$TOP/tests/e2e/python/shutdown.sh" >shutdown.tap 2>&1 &
ok "a minute among threads that disturb Python" env MEMTRACE_TEST_TMP="$PWD/minute" \
	sh "$TOP/tests/e2e/python/contention.sh"
tap_comment "$OUT"
wait
ok "a hundred ends" grep -q '^1\.\.' shutdown.tap
is "all of them clean" "$(grep '^not ok' shutdown.tap)" ""
tap_comment shutdown.tap
