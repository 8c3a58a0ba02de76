#!/bin/sh
# Under every Python that is here: children beside threads that allocate, interpreters that end under
# them, calls that a signal handler leaves. FORKS, ENDS and JUMPS say how many of each.
# PYTHONS="python3.14 /opt/bin/python3 ..." asks those and no others.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

: "${FORKS:=24}" "${ENDS:=6}" "${JUMPS:=2}"
program=$TOP/tests/e2e/python/python_threads.py
# No more of the trace is kept than a few seconds, for as long as they fork.
MEMTRACE_OUTPUT=%p.json MEMTRACE_KEEP=1MiB MEMTRACE_QUIET=1
export MEMTRACE_OUTPUT MEMTRACE_KEEP MEMTRACE_QUIET

seen='' first=0
for python in ${PYTHONS:-/usr/bin/python3 "$HOME"/.pyenv/versions/3.*/bin/python3}; do
	version=$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3], sys.version_info >= (3, 8))' 2>/dev/null)
	case $version in *True) version=${version% *} ;; *) continue ;; esac
	seen="$seen $version"

	traced timeout 3600 "$python" -W ignore "$program" forks "$E2E" "$FORKS"
	is "python $version: children beside threads that allocate" "$(tail -n 1 "$OUT")" \
		"$FORKS of $FORKS ended well []"
	rm -f ./*.json*
	MALLOC_PERTURB_=165 traced timeout 3600 "$python" -W ignore "$program" ends "$E2E" "$ENDS"
	is "python $version: interpreters that end under daemon threads" "$(tail -n 1 "$OUT")" \
		"$ENDS of $ENDS ended well []"
	rm -f ./*.json*
	LD_BIND_NOW=1 FAKE_CUDA_SIGNALS=1 traced timeout 3600 \
		"$python" -W ignore "$program" jumps "$E2E" "$JUMPS" "$first"
	is "python $version: calls that a signal handler leaves by a jump" "$(tail -n 1 "$OUT")" \
		"$JUMPS of $JUMPS ended well []"
	first=$((first + JUMPS)) # each Python has ways of its own
	rm -f ./*.json*
done
[ -n "$seen" ] || skip 'threads of Python programs' 'no Python from 3.8 on is here'
