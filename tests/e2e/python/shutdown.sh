#!/bin/sh
# The interpreter ends under live tensors and daemon threads: cleanly, each time. LONG=1: 100 times.
. "$(dirname "$0")/../lib.sh"

PYTHON3=/usr/bin/python3 WHERE=cpu
[ -z "$GPU" ] || PYTHON3=python3 WHERE=cuda
if ! $PYTHON3 -c 'import torch' 2>/dev/null; then
	skip "PyTorch at the end of Python" "no PyTorch for $PYTHON3 (apt-get install python3-torch)"
	exit 0
fi
TIMES=20
[ -z "${LONG:-}" ] || TIMES=100

MEMTRACE_CPU=1
export MEMTRACE_CPU
mkdir ends
MEMTRACE_OUTPUT=ends/%p.json traced timeout 500 $PYTHON3 "$TOP/tests/e2e/python/shutdown.py" "$TIMES" "$WHERE"
is "every interpreter ends well" "$(cat "$OUT")" "$TIMES of $TIMES ended well []"
is "and leaves its trace" "$(find ends -name '*.json' | wc -l)" "$TIMES"
# shellcheck disable=SC2046  # names of our own
ok "which keeps its promises" validate $(find ends -name '*.json' | head -n 8)
