#!/bin/sh
# Hosts whose threads, signals, clocks and processes are another library's: OpenMP, TBB, libuv, MPI, Rust,
# Go, libfaketime, namespaces. Status and output are theirs, and each allocation that they count is there.
# LONG=1: Go, and a job that is stopped for 70 seconds in the middle.
# shellcheck source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

# shellcheck disable=SC3045  # dash has it, too
ulimit -c 0
include=$TOP/tests/fake/include

# built NAME COMMAND...: or the case is skipped
built() {
	name=$1
	shift
	command -v "$1" >/dev/null || {
		skip "$name" "no $1 here"
		return 1
	}
	"$@" >log 2>&1 || {
		skip "$name" "it does not build here: $(grep -m1 -i 'error' log)"
		return 1
	}
}

# whole NAME COMMAND...: and as many allocations as it printed
whole() {
	same "$@"
	is "$1: each allocation is recorded" "$(json "$TRACE" 'd["summary"]["devices"][0]["allocations"]')" \
		"$(sed -n 's/^allocations=//p' "$OUT")"
	ok "$1: the trace keeps its promises" validate "$TRACE"
}

# --- pools of threads, in the middle and at the end ----------------------------------------------------
cat >openmp.c <<'C'
#include <cuda_runtime.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_long made;

static void work(void)
{
#pragma omp parallel for schedule(dynamic)
	for (int i = 0; i < 2000; i++) {
		void *ptr;

		if (!cudaMalloc(&ptr, 4096 + i % 8 * 512) && !cudaFree(ptr))
			made++;
	}
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < 200; i++) {
#pragma omp task
		{
			void *ptr;

			if (!cudaMalloc(&ptr, 512) && !cudaFree(ptr))
				made++;
		}
	}
}

static void last(void)
{
	work();
	printf("allocations=%ld\n", (long)made);
}

int main(void)
{
	atexit(last);
	work();
	return 7;
}
C
for compiler in gcc clang; do
	if built "OpenMP of $compiler" "$compiler" -O1 -fopenmp -I"$include" -o "openmp-$compiler" openmp.c -L"$BUILD/fake" -lcudart; then
		OMP_NUM_THREADS=6 whole "OpenMP of $compiler, and again at exit" "./openmp-$compiler"
	fi
done

cat >tbb.cc <<'C'
#include <atomic>
#include <cstdio>
#include <cuda_runtime.h>
#include <stdexcept>
#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

static std::atomic<long> made;

static void pair(int i)
{
	void *ptr;

	if (!cudaMalloc(&ptr, 4096 + i % 8 * 512) && !cudaFree(ptr))
		made++;
}

struct Last {
	~Last()
	{
		tbb::parallel_for(0, 2000, pair);
		std::printf("allocations=%ld\n", made.load());
	}
};

int main()
{
	static Last last;
	tbb::task_group group;

	tbb::parallel_for(0, 2000, pair);
	for (int i = 0; i < 100; i++) {
		try {
			group.run_and_wait([i] { pair(i); throw std::runtime_error("thrown"); });
		} catch (const std::runtime_error &) {
			pair(i);
		}
	}
	return 7;
}
C
if built TBB g++ -O1 -I"$include" -o tbb tbb.cc -L"$BUILD/fake" -lcudart -ltbb; then
	whole 'TBB, with what is thrown, and again in a destructor' ./tbb
fi

cat >uv.c <<'C'
#include <cuda_runtime.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

enum { WORKS = 400, SIGNALS = 50 };
static atomic_long made;
static int worked, signalled;
static uv_signal_t watcher;
static uv_timer_t timer;

static void pair(void)
{
	void *ptr;

	if (!cudaMalloc(&ptr, 4096) && !cudaFree(ptr))
		made++;
}

static void work(uv_work_t *unused)
{
	(void)unused;
	for (int i = 0; i < 20; i++)
		pair();
}

static void end_of_work(uv_work_t *unused, int status)
{
	(void)unused;
	worked += !status;
	pair();
}

static void on_signal(uv_signal_t *unused, int number)
{
	(void)unused;
	(void)number;
	signalled++;
	pair();
}

static void on_timer(uv_timer_t *unused)
{
	(void)unused;
	kill(getpid(), SIGUSR1);
	pair();
	if (worked == WORKS && signalled >= SIGNALS) {
		uv_close((uv_handle_t *)&watcher, NULL);
		uv_close((uv_handle_t *)&timer, NULL);
	}
}

int main(void)
{
	static uv_work_t works[WORKS];
	uv_loop_t *loop = uv_default_loop();

	uv_signal_init(loop, &watcher);
	uv_signal_start(&watcher, on_signal, SIGUSR1);
	uv_timer_init(loop, &timer);
	uv_timer_start(&timer, on_timer, 1, 1);
	for (int i = 0; i < WORKS; i++)
		uv_queue_work(loop, &works[i], work, end_of_work);
	uv_run(loop, UV_RUN_DEFAULT);
	fprintf(stderr, "allocations=%ld\n", (long)made); /* as many as there were signals */
	printf("works=%d\n", worked);
	return 7;
}
C
if built libuv "${CC:-cc}" -O1 -I"$include" -o uv uv.c -L"$BUILD/fake" -lcudart -luv; then
	same 'a loop of libuv, its threads and signals' ./uv
	is 'a loop of libuv: each allocation is recorded' "$(json "$TRACE" 'd["summary"]["devices"][0]["allocations"]')" \
		"$(sed -n 's/^allocations=//p' "$ERR")"
fi

# --- other languages ----------------------------------------------------------------------------------
cat >panics.rs <<'C'
use std::os::raw::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

#[link(name = "cudart")]
extern "C" {
    fn cudaMalloc(ptr: *mut *mut c_void, size: usize) -> c_int;
    fn cudaFree(ptr: *mut c_void) -> c_int;
}

static MADE: AtomicUsize = AtomicUsize::new(0);

struct Block(*mut c_void);

impl Block {
    fn new(size: usize) -> Block {
        let mut ptr = std::ptr::null_mut();
        assert_eq!(unsafe { cudaMalloc(&mut ptr, size) }, 0);
        MADE.fetch_add(1, Ordering::Relaxed);
        Block(ptr)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        unsafe { cudaFree(self.0) };
    }
}

fn work(depth: usize) {
    let _held = Block::new(4096 + depth * 512);
    if depth == 0 {
        panic!("as it should");
    }
    work(depth - 1)
}

fn main() {
    std::panic::set_hook(Box::new(|_| drop(Block::new(512))));
    let threads: Vec<_> = (0..6)
        .map(|_| {
            std::thread::spawn(|| {
                let caught = (0..100).filter(|i| std::panic::catch_unwind(|| work(i % 10)).is_err()).count();
                work(5); // the thread ends by it
                caught
            })
        })
        .collect();
    let panicked = threads.into_iter().map(|thread| thread.join()).filter(|end| end.is_err()).count();
    println!("panicked={}\nallocations={}", panicked, MADE.load(Ordering::Relaxed));
    std::process::exit(7)
}
C
if built Rust rustc -O -o panics panics.rs -L "$BUILD/fake"; then
	whole 'Rust: threads and panics' ./panics
fi

cat >collected.go <<'C'
package main

/*
#include <cuda_runtime.h>
static int pair(int size) { void *ptr; return cudaMalloc(&ptr, size) || cudaFree(ptr); }
*/
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

func main() {
	var made int64
	var all sync.WaitGroup
	for i := 0; i < 200; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for k := 0; k < 100; k++ {
				if C.pair(C.int(4096+i%8*512)) == 0 {
					atomic.AddInt64(&made, 1)
				}
				if k%20 == 0 {
					runtime.GC()
				}
			}
		}(i)
	}
	all.Wait()
	fmt.Printf("allocations=%d\n", made)
}
C
if [ -z "${LONG:-}" ]; then
	skip 'Go' 'LONG=1 has it'
elif CGO_CFLAGS=-I$include CGO_LDFLAGS="-L$BUILD/fake -lcudart" GO111MODULE=off GOFLAGS=-p=1 \
	built 'Go' go build -o collected collected.go; then
	# Its main ends by _exit: there is a spool.
	same 'Go: goroutines, signals of its own, collections' ./collected
	cp "$OUT" counted
	ok 'Go: the spool is recovered' memtrace recover "${TRACE%.json}.spool"
	is 'Go: each allocation is recorded' "$(json "$TRACE" 'd["summary"]["devices"][0]["allocations"]')" \
		"$(sed -n 's/^allocations=//p' counted)"
fi

# --- many processes -----------------------------------------------------------------------------------
cat >ranks.c <<'C'
#include <cuda_runtime.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	long made = 0;
	long sum = 0;
	int rank = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 2000; i++) {
		void *ptr;

		if (!cudaMalloc(&ptr, 4096) && !cudaFree(ptr))
			made++;
		if (i % 200 == 0)
			MPI_Allreduce(&made, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Allreduce(&made, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("sum=%ld\n", sum);
	MPI_Finalize();
	return 0;
}
C
if built MPI mpicc -O1 -I"$include" -o ranks ranks.c -L"$BUILD/fake" -lcudart; then
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	mkdir ranks.out
	MEMTRACE_OUTPUT=$PWD/ranks.out/%r.json
	export MEMTRACE_OUTPUT
	same 'MPI: mpirun itself is traced, too' mpirun -n 2 --oversubscribe ./ranks
	unset MEMTRACE_OUTPUT
	is 'MPI: a trace of each rank' "$(cd ranks.out && echo *)" '0.json 1.json'
	ok 'MPI: which keep their promises' validate ranks.out/0.json ranks.out/1.json
	memtrace run -o 'ranks.out/run.%r.json' -- mpirun -n 2 --oversubscribe ./ranks >"$OUT" 2>"$ERR" </dev/null
	is 'MPI under memtrace run' "$?:$(cd ranks.out && echo run.*)" '0:run.0.json run.1.json'
fi

for options in -Ur '-Urpf --mount-proc' -Urn; do
	# shellcheck disable=SC2086  # words
	if unshare $options true 2>/dev/null; then
		whole "unshare $options" unshare $options "$E2E/ends" return
	else
		skip "unshare $options" 'no such namespaces here'
	fi
done

# --- clocks -------------------------------------------------------------------------------------------
faketime=$(find /usr/lib -name 'libfaketime.so.1' 2>/dev/null | head -n 1)
steady='s/^ns_per_pair=.*//'
if [ -n "$faketime" ]; then
	"$SAMPLES/churn" 2000 | sed "$steady" >plain.out
	for when in -10y '+20d x1000' '@2000-12-24 20:30:00'; do
		for order in "$faketime:$LIBRARY" "$LIBRARY:$faketime"; do
			case $order in
			"$LIBRARY"*) name="libfaketime behind us, $when" ;;
			*) name="libfaketime in front of us, $when" ;;
			esac
			rm -f clock.*
			FAKETIME=$when LD_PRELOAD=$order MEMTRACE_OUTPUT=$PWD/clock.json timeout -s KILL 30 "$SAMPLES/churn" 2000 \
				>"$OUT" 2>"$ERR" </dev/null
			is "$name: status and output" "$?:$(sed "$steady" "$OUT")" "0:$(cat plain.out)"
			is "$name: a trace and nothing else" "$(echo clock.*)" clock.json
			ok "$name: it keeps its promises" validate clock.json
		done
	done
	if command -v faketime >/dev/null; then
		rm -f clock.*
		ok 'memtrace run of faketime' memtrace run -o "$PWD/clock.json" -- faketime -f -10y "$SAMPLES/churn" 2000
		hasnt 'memtrace run of faketime: the trace is found' "$ERR" 'no trace was written'
	fi
else
	skip 'libfaketime' 'not installed (apt-get install libfaketime)'
fi

# --- stopped for long -----------------------------------------------------------------------------------
# As a checkpoint or a debugger does it: nobody has died who holds a lock, however long it takes.
if [ -n "${LONG:-}" ]; then
	rm -f stopped.*
	LD_PRELOAD=$LIBRARY MEMTRACE_OUTPUT=$PWD/stopped.json MEMTRACE_MAX_EVENTS=50000 \
		"$SAMPLES/churn" 8000000 4 >"$OUT" 2>"$ERR" &
	program=$!
	sleep 0.5
	for seconds in 70 0.1 12 0.1 0.1 0.1 0.1 0.1; do
		kill -STOP $program
		sleep $seconds
		kill -CONT $program
		sleep 0.037
	done
	wait $program
	is 'stopped for 70 s in the middle: the status' "$?" 0
	is 'stopped for 70 s in the middle: one line at the end' "$(grep -vc 'memtrace: wrote' "$ERR")" 0
	is 'stopped for 70 s in the middle: nothing is lost' \
		"$(json stopped.json 'len(d["events"]) + d["capture"]["events_dropped"]')" \
		"$(($(sed -n 's/^allocations=//p' "$OUT") + $(sed -n 's/^frees=//p' "$OUT")))"
	ok 'stopped for 70 s in the middle: the trace keeps its promises' validate stopped.json
else
	skip 'stopped for 70 s in the middle' 'LONG=1 has it'
fi
