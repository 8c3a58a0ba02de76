#!/bin/sh
# PyTorch's own ways to have more processes, and signals while it trains: each job prints what it prints
# by itself, ends as it does, and leaves traces that keep their promises. LOADERS=N: so many DataLoaders.
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

jobs=$TOP/tests/guest/torch_jobs.py
if [ -n "$GPU" ]; then
	PYTHON=python3
fi
if ! "$PYTHON" -c 'import torch' 2>/dev/null; then
	skip 'jobs of PyTorch' "no PyTorch for $PYTHON (apt-get install python3-torch)"
	exit 0
fi
[ -n "${LONG:-}" ] && more=10 || more=1
: "${LOADERS:=$((more * 10))}" "${WORKERS:=4}"

MEMTRACE_OUTPUT=$PWD/%p.json MEMTRACE_CPU=1
export MEMTRACE_OUTPUT MEMTRACE_CPU
same() { # JOB...
	rm -f ./*.json ./*.spool
	timeout -s KILL $((120 * more)) "$PYTHON" "$jobs" "$@" >plain.out 2>plain.err
	plain=$?
	traced timeout -s KILL $((240 * more)) "$PYTHON" "$jobs" "$@"
	is "$*: status and output" "$?:$(cat "$OUT")" "$plain:$(cat plain.out)"
	grep -v '^memtrace: wrote ' "$ERR" >others
	diff plain.err others >/dev/null || tap_comment others
	for spool in *.spool; do
		[ ! -e "$spool" ] || ok "$*: what was killed is whole" memtrace recover "$spool"
	done
	set -- "$*" ./*.json
	[ ! -e "$2" ] || ok "$1: the traces keep their promises ($(($# - 1)))" validate "$2"
}

same loaders "$LOADERS" "$WORKERS"
same starts spawn
same starts forkserver
same signals $((more * 200))
same watchdog
