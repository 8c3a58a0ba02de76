#!/bin/sh
# Programs in Python that do what they like while they allocate (kinds.py), under every CPython there is:
# they end and print what they do by themselves. PYTHONS="python3.14 ..." asks those and no others.
# LONG=1: ten times as much of each, each kind alone; without it the last Pythons do not try every end.
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

# shellcheck disable=SC3045  # dash has it, too
ulimit -c 0
kinds=$TOP/tests/guest/kinds.py
rounds=30 forks=60
if [ -n "${LONG:-}" ]; then
	rounds=300 forks=750
fi

export JUMPS="$E2E/libjump.so" FAKE_CUDA_SIGNALS=1 LD_BIND_NOW=1

tried=0
seen=' '
for python in ${PYTHONS:-/usr/bin/python3 "$HOME"/.pyenv/versions/*/bin/python3 python3}; do
	program=$("$python" -c 'import os, sys, ctypes; print(os.path.realpath(sys.executable))' 2>/dev/null) || continue
	version=$("$program" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
	case $seen in *" $program "*) continue ;; esac
	seen="$seen$program "
	tried=$((tried + 1))
	"$program" "$kinds" >list
	together=$(sed -n 1p list) alone=$(sed -n 2p list)
	# It crashes the interpreter by itself in 3.9 and 3.10.
	case $version in 3.9.* | 3.10.*) ;; *) together="$together faults_told" ;; esac
	if "$program" -c 'import greenlet' 2>/dev/null; then
		together="$together greenlets"
	fi
	mkdir "$version.$tried"
	cd "$version.$tried" || exit 1
	export MEMTRACE_OUTPUT="$PWD/%p.json"
	if [ -n "${LONG:-}" ]; then
		for kind in $together; do
			same "python $version, $kind" "$program" -W ignore "$kinds" $rounds "$kind"
		done
	else
		# shellcheck disable=SC2086  # words
		same "python $version, one after the other: $together" "$program" -W ignore "$kinds" $rounds $together
	fi
	for kind in $alone; do
		limit=30
		case $kind in
		forks_beside_threads) count=$forks ;;
		jumps_out) count=$((rounds * 5)) limit=8 ;;
		*)
			count=$rounds
			[ -n "${LONG:-}" ] || [ $tried -le 2 ] || continue
			;;
		esac
		LIMIT=$limit SLACK=10000 same "python $version, $kind" "$program" -W ignore "$kinds" $count "$kind"
	done
	unset MEMTRACE_OUTPUT
	find . -name '*.json' | head -n 3 >traces
	# shellcheck disable=SC2046  # words
	ok "python $version: some of the traces keep their promises" validate $(cat traces)
	cd "$MEMTRACE_TEST_TMP" || exit 1
	rm -rf "$version.$tried"
done
ok 'there is a Python' [ $tried -gt 0 ]
