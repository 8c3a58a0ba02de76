/*
 * memtrace.h: calls by which a program gives memtrace names, pools and commands, if it is there.
 *
 * Every function is a weak symbol and a macro around it: in a process without libmemtrace.so a call
 * does nothing and costs a comparison. There is no library to link, so the calls can stay in:
 *
 *	memtrace_push("step");
 *	...
 *	memtrace_pop();
 *
 * From Python: `ctypes.CDLL(None).memtrace_mark(b"epoch 3")`.
 *
 * Addresses are device addresses, sizes are bytes. Names are copied. All functions may be called
 * from any thread, at any time, even before CUDA starts and after main has ended.
 */
#ifndef MEMTRACE_MEMTRACE_H
#define MEMTRACE_MEMTRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMTRACE_WEAK __attribute__((weak))

typedef uint32_t memtrace_pool; /* 0: no pool, calls do nothing */

/*
 * Events are recorded from here on (they are from the beginning, unless MEMTRACE_START=off). From
 * outside: `memtrace ctl PID start` and `stop`, or the signal of MEMTRACE_SIGNAL.
 */
void memtrace_start(void) MEMTRACE_WEAK;

/* From now on no events and no stacks are recorded; sums, peaks and live memory still are. */
void memtrace_stop(void) MEMTRACE_WEAK;

/* 0: recording is off, a hooked call costs a jump. 1: on again; pools start from their own sums. */
void memtrace_enable(int on) MEMTRACE_WEAK;

/*
 * Writes the trace of what was recorded so far, as JSON, to a file that must not be there yet;
 * NULL: beside the spool, under a name that ends in `.dump.json`. Recording goes on, and so do
 * other threads. 0, also without the library; or a negative error number, as -ENODATA when nothing
 * is recorded yet, -EEXIST, -EBUSY while another thread is at it. From outside: `memtrace ctl PID
 * dump`.
 */
int memtrace_dump(const char *path) MEMTRACE_WEAK;

/* Marks this moment with a name. */
void memtrace_mark(const char *name) MEMTRACE_WEAK;

/* Begins and ends a named phase. Phases nest; each thread has its own. */
void memtrace_push(const char *name) MEMTRACE_WEAK;
void memtrace_pop(void) MEMTRACE_WEAK;

/* Gives the allocation at the address a name. */
void memtrace_label(const void *ptr, const char *name) MEMTRACE_WEAK;

/*
 * A pool: an allocator of the program's own, which gets segments from CUDA and makes blocks of
 * them. By these calls the trace has its allocated and its reserved bytes. `reserve` follows the
 * CUDA call that allocated a segment, `release` precedes the one that frees it. If a block lies in
 * memory that no pool has reserved, all of that allocation becomes its pool's.
 */
memtrace_pool memtrace_pool_create(const char *name) MEMTRACE_WEAK;
void memtrace_pool_reserve(memtrace_pool pool, const void *ptr, size_t size) MEMTRACE_WEAK;
void memtrace_pool_release(memtrace_pool pool, const void *ptr) MEMTRACE_WEAK;
void memtrace_pool_alloc(memtrace_pool pool, const void *ptr, size_t size) MEMTRACE_WEAK;
void memtrace_pool_free(memtrace_pool pool, const void *ptr) MEMTRACE_WEAK;

/*
 * From now on, memory that this thread allocates from CUDA belongs to the pool at once; 0: to none
 * again. Returns the pool that was set before, so that a pool above another can restore it. Without
 * this call a segment counts as allocated until it is reserved, which may make a peak too high.
 */
memtrace_pool memtrace_pool_grow(memtrace_pool pool) MEMTRACE_WEAK;

#ifdef __cplusplus
}
#endif

#ifndef MEMTRACE_LIBRARY
#define memtrace_start() (memtrace_start ? memtrace_start() : (void)0)
#define memtrace_stop() (memtrace_stop ? memtrace_stop() : (void)0)
#define memtrace_enable(on) (memtrace_enable ? memtrace_enable(on) : (void)0)
#define memtrace_dump(path) (memtrace_dump ? memtrace_dump(path) : 0)
#define memtrace_mark(name) (memtrace_mark ? memtrace_mark(name) : (void)0)
#define memtrace_push(name) (memtrace_push ? memtrace_push(name) : (void)0)
#define memtrace_pop() (memtrace_pop ? memtrace_pop() : (void)0)
#define memtrace_label(ptr, name) (memtrace_label ? memtrace_label(ptr, name) : (void)0)
#define memtrace_pool_create(name) (memtrace_pool_create ? memtrace_pool_create(name) : 0)
#define memtrace_pool_grow(pool) (memtrace_pool_grow ? memtrace_pool_grow(pool) : 0)
#define memtrace_pool_reserve(pool, ptr, size) \
	(memtrace_pool_reserve ? memtrace_pool_reserve(pool, ptr, size) : (void)0)
#define memtrace_pool_release(pool, ptr) \
	(memtrace_pool_release ? memtrace_pool_release(pool, ptr) : (void)0)
#define memtrace_pool_alloc(pool, ptr, size) \
	(memtrace_pool_alloc ? memtrace_pool_alloc(pool, ptr, size) : (void)0)
#define memtrace_pool_free(pool, ptr) (memtrace_pool_free ? memtrace_pool_free(pool, ptr) : (void)0)
#endif

#endif
