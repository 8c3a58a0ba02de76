/*
 * memtrace.h: the C API by which a program names its memory for memtrace and controls recording.
 *
 * Every function is a weak symbol, called through a macro: in a process without libmemtrace.so a
 * call does nothing and costs one comparison. No library is linked, so programs can keep the calls:
 *
 *	memtrace_push("step");
 *	...
 *	memtrace_pop();
 *
 * From Python: `ctypes.CDLL(None).memtrace_mark(b"epoch 3")`.
 *
 * Addresses are device addresses, sizes are in bytes. Names are copied. All functions may be called
 * from any thread, at any time, even before CUDA starts and after main() has returned.
 */
#ifndef MEMTRACE_MEMTRACE_H
#define MEMTRACE_MEMTRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMTRACE_WEAK __attribute__((weak))

typedef uint32_t memtrace_pool; /* a pool's number; 0 for no pool, for which calls record nothing */

/*
 * Starts recording events, as a process does by itself unless MEMTRACE_START=off is set. From
 * another process, `memtrace ctl PID start` and `stop`, or the signal of MEMTRACE_SIGNAL, do this.
 */
void memtrace_start(void) MEMTRACE_WEAK;

/* Stops recording events and stacks; sums, peaks and live memory are still recorded. */
void memtrace_stop(void) MEMTRACE_WEAK;

/*
 * With 0, switches all recording off; an intercepted call then costs one jump. With 1, switches it
 * on again: the sums of PyTorch's pool continue from the totals of PyTorch's own allocator.
 */
void memtrace_enable(int on) MEMTRACE_WEAK;

/*
 * Writes a JSON trace of the run so far to a file that must not exist yet; with NULL, to a file in
 * the spool's directory whose name ends in `.dump.json`. Recording and other threads continue.
 * Returns 0 (also without the library) or a negative error number, such as -ENODATA if nothing is
 * recorded yet, -EEXIST, or -EBUSY while another thread writes a trace. From another process:
 * `memtrace ctl PID dump`.
 */
int memtrace_dump(const char *path) MEMTRACE_WEAK;

/* Records a named mark at the current time. */
void memtrace_mark(const char *name) MEMTRACE_WEAK;

/* Begin a named phase, and end the innermost one. Phases nest; each thread has its own phases. */
void memtrace_push(const char *name) MEMTRACE_WEAK;
void memtrace_pop(void) MEMTRACE_WEAK;

/* Gives a name to the live allocation that begins at this address. */
void memtrace_label(const void *ptr, const char *name) MEMTRACE_WEAK;

/*
 * A pool is an allocator of the program's own, which divides segments from CUDA into blocks. These
 * calls record the pool's reserved bytes (segments) and allocated bytes (blocks). Call `reserve`
 * after the CUDA call that allocates a segment, and `release` before the CUDA call that frees it.
 * A CUDA allocation in no pool becomes part of the pool whose block first lies in it.
 */
memtrace_pool memtrace_pool_create(const char *name) MEMTRACE_WEAK;
void memtrace_pool_reserve(memtrace_pool pool, const void *ptr, size_t size) MEMTRACE_WEAK;
void memtrace_pool_release(memtrace_pool pool, const void *ptr) MEMTRACE_WEAK;
void memtrace_pool_alloc(memtrace_pool pool, const void *ptr, size_t size) MEMTRACE_WEAK;
void memtrace_pool_free(memtrace_pool pool, const void *ptr) MEMTRACE_WEAK;

/*
 * Memory that this thread allocates from CUDA from now on belongs to the pool at once; 0 ends this.
 * Returns the pool that was set before, so that nested pools can restore it. Without this call, a
 * segment counts as allocated until memtrace_pool_reserve(), which can raise peaks.
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
