#!/bin/sh
# Children of one process, killed at random moments KILLS times each (40; check-all has 1,000): all that
# they had done is in their spools, and nothing else. tests/e2e/load/storm.sh does it to programs in C.
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

: "${KILLS:=40}" "${SEED:=$(date +%s)}"
kill_them() { # WHAT
	mkdir "$1"
	MEMTRACE_OUTPUT=$PWD/$1/%p.json MEMTRACE_QUIET=1 MEMTRACE_CPU=1 \
		ok "$1: killed $KILLS times, nothing done is missing, nothing is invented" env LD_PRELOAD="$LIBRARY" \
		"$PYTHON" "$TOP/tests/guest/kills.py" "$1" "$KILLS" "$SEED" "$PWD/$1"
	cp "$OUT" told
	tap_comment told
}

kill_them cuda
if "$PYTHON" -c 'import torch' 2>/dev/null; then
	kill_them torch
else
	skip 'tensors of PyTorch' "no PyTorch for $PYTHON (apt-get install python3-torch)"
fi
