#!/bin/sh
# Threads allocate while others hold the GIL, trace, collect and exec: no deadlock, the right lines.
# LONG=1: for a minute.
. "$(dirname "$0")/../lib.sh"

# On a GPU the PyTorch there, on autograd's threads too; else the CPU tensors of Debian's.
PYTHON3=/usr/bin/python3 WHERE=cpu
[ -z "$GPU" ] || PYTHON3=python3 WHERE=cuda
if ! $PYTHON3 -c 'import torch' 2>/dev/null; then
	skip "PyTorch among other threads" "no PyTorch for $PYTHON3 (apt-get install python3-torch)"
	exit 0
fi
SECONDS_EACH=6
[ -z "${LONG:-}" ] || SECONDS_EACH=60

MEMTRACE_CPU=1 MEMTRACE_MAX_EVENTS=400000
export MEMTRACE_CPU MEMTRACE_MAX_EVENTS
traced timeout 300 $PYTHON3 "$TOP/tests/e2e/python/contention.py" "$SECONDS_EACH" "$WHERE"
is "it ends as it would" "$?" 0
cp "$OUT" said
is "nothing failed in it" "$(grep -v '^memtrace: wrote ' "$ERR")" ""
ok "the trace keeps its promises" validate "$TRACE"
ok "every allocation has its line" $PYTHON3 "$TOP/tests/e2e/python/contention_check.py" "$TRACE" said
tap_comment "$OUT"
