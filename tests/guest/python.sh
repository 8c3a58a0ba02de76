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

# jumps(n): calls that a timer's handler leaves by siglongjmp, on the thread that makes them.
cat >jumps.c <<'C'
#include <cuda_runtime.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static __thread sigjmp_buf out;
static __thread volatile sig_atomic_t armed;

static void leave(int number)
{
	(void)number;
	if (armed) {
		armed = 0;
		siglongjmp(out, 1);
	}
}

void jumps(int count)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct sigaction action = { .sa_handler = leave };
	timer_t timer;

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	sigaction(SIGUSR1, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	for (volatile int i = 0; i < count; i++) {
		struct itimerspec soon = { { 0, 0 }, { 0, 60000 + rand() % 200000 } };

		if (sigsetjmp(out, 1))
			continue;
		armed = 1;
		timer_settime(timer, 0, &soon, NULL);
		for (;;) {
			void *ptr;

			cudaMalloc(&ptr, 4096);
			cudaFree(ptr);
		}
	}
	timer_delete(timer);
}
C
"${CC:-cc}" -D_GNU_SOURCE -O1 -shared -fPIC -I"$TOP/tests/fake/include" -o libjumps.so jumps.c -L"$BUILD/fake" -lcudart || exit 1
export JUMPS="$PWD/libjumps.so" FAKE_CUDA_SIGNALS=1 LD_BIND_NOW=1

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
