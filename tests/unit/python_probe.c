/*
 * The Python frames that capture/python/python.h sees, for a Python program to compare with its own
 * view.
 *
 * Built as a shared object and called through ctypes.CDLL, which releases the GIL around each call,
 * as PyTorch does: tests/e2e/python/python_frames.py is the other half.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/python/python.h"

#define EXPORT __attribute__((visibility("default")))

enum { DEPTH = 2048, TABLE = 1024 };

int probe_prepare(const char *lookup);
const char *probe_version(void);
const char *probe_trouble(void);
int probe(char *out, int size);
int probe_first(uint64_t key[3], char *file, int size);
int probe_capped(unsigned capacity);
int probe_sum(uint64_t sum[2], char *out, int size);
int probe_entries(int *loops, int *entries);
int probe_lines(void *code, int size, int *checked);
long probe_same(int milliseconds, long *changes);
long probe_ceaseless(int milliseconds);
double probe_cost(int iterations, bool trailed, int *frames);

/* As a thread of a traced program has it: what the walk before left. */
static struct python_trail *trail(void)
{
	static _Thread_local struct python_trail *own;

	if (!own)
		own = calloc(1, sizeof(*own));
	return own;
}

/* As the first walk of a thread has it. */
static struct python_trail *fresh_trail(void)
{
	static _Thread_local struct python_trail *own;

	if (!own)
		own = malloc(sizeof(*own));
	return memset(own, 0, sizeof(*own));
}

static int64_t tsc_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A table of offsets as a version from the future would carry it, made from this interpreter's. */
static char runtime[TABLE];
static const unsigned long future_version = 0x036300f0;

static const char *future_text(void)
{
	return "3.99.0 (main, Jan  1 2040, 00:00:00) [GCC]";
}

static const char *old_text(void)
{
	return "3.7.17 (default, Jan  1 2020, 00:00:00) [GCC]";
}

static const char *other_text(void)
{
	return "3.10.13 (abc, Jan  1 2024, 00:00:00) [Graal, GraalVM CE, Java 21]";
}

/* These answer as dlsym does, but that this Python ... */
static void *lookup_none(void *handle, const char *name) /* ... is none */
{
	(void)handle;
	(void)name;
	return NULL;
}

static void *lookup_future(void *handle, const char *name) /* ... is newer than all we know */
{
	void *real = dlsym(handle, name);
	uint64_t version = future_version;

	if (!real)
		return NULL;
	if (strcmp(name, "Py_Version") == 0)
		return (void *)(uintptr_t)&future_version;
	if (strcmp(name, "Py_GetVersion") == 0)
		return (void *)future_text;
	if (strcmp(name, "_PyRuntime") != 0)
		return real;
	memcpy(runtime, real, 600);
	if (memcmp(runtime, "xdebugpy", 8) == 0)
		memcpy(runtime, real, 888);
	memcpy(runtime + 8, &version, sizeof(version));
	return runtime;
}

static void *lookup_shifted(void *handle, const char *name) /* ... keeps its strings elsewhere */
{
	void *found = lookup_future(handle, name);

	/* Offsets of co_filename, by the newest table that is known and by the others: all go
	 * wrong. */
	if (found == runtime)
		for (size_t at = 264; at < 480; at += 8) {
			uint64_t offset;

			memcpy(&offset, runtime + at, sizeof(offset));
			offset += offset >= 112 && offset <= 144 ? 8 : 0;
			memcpy(runtime + at, &offset, sizeof(offset));
		}
	return found;
}

static void *lookup_old(void *handle, const char *name) /* ... is older than all we know */
{
	return strcmp(name, "Py_GetVersion") == 0 ? (void *)old_text : dlsym(handle, name);
}

static void *lookup_other(void *handle, const char *name) /* ... is no CPython */
{
	return strcmp(name, "Py_GetVersion") == 0 ? (void *)other_text : dlsym(handle, name);
}

static void *lookup_partial(void *handle, const char *name) /* ... hides something */
{
	return strcmp(name, "PyCode_Type") == 0 ? NULL : dlsym(handle, name);
}

EXPORT int probe_prepare(const char *lookup)
{
	static const struct {
		const char *name;
		void *(*lookup)(void *, const char *);
	} lookups[] = {
		{ "real", dlsym },
		{ "none", lookup_none },
		{ "future", lookup_future },
		{ "shifted", lookup_shifted },
		{ "old", lookup_old },
		{ "other", lookup_other },
		{ "partial", lookup_partial },
	};

	for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++)
		if (strcmp(lookups[i].name, lookup) == 0) {
			python_prepare(lookups[i].lookup);
			return 0;
		}
	return -1;
}

EXPORT const char *probe_version(void)
{
	return python_version();
}

EXPORT const char *probe_trouble(void)
{
	return python_trouble();
}

/*
 * This thread's frames as text, innermost first: file, function, line and entry bit, each ended by
 * \x1f, each frame by \x1e. The number of frames; negative when a name could not be read.
 */
EXPORT int probe(char *out, int size)
{
	struct python_frame frames[DEPTH];
	struct python_name name;
	struct python_frames walked = { .list = frames, .capacity = DEPTH };
	unsigned count = python_walk(&walked);
	int used = 0;

	out[0] = '\0';
	if (!python_list(&walked))
		return -1;
	for (unsigned i = 0; i < count && used < size - 1700; i++) {
		if (!python_name(&frames[i], &name))
			return -1;
		used += snprintf(out + used, (size_t)(size - used), "%s\x1f%s\x1f%d\x1f%d\x1e",
				 name.file, name.function, name.line, frames[i].entry);
	}
	return (int)count;
}

/* As probe(), with the sum that a walk without its list has; -2 if one by a trail has another. */
EXPORT int probe_sum(uint64_t sum[2], char *out, int size)
{
	struct python_frame frames[DEPTH];
	struct python_frames walked = { .list = frames, .capacity = DEPTH, .trail = fresh_trail() };
	struct python_frames trailed = { .list = frames, .capacity = DEPTH, .trail = trail() };

	python_walk(&walked);
	python_walk(&trailed);
	sum[0] = (uint64_t)walked.sum;
	sum[1] = (uint64_t)(walked.sum >> 64);
	if (trailed.sum != walked.sum || trailed.count != walked.count)
		return -2;
	return out ? probe(out, size) : (int)walked.count;
}

/* The innermost frame's key, as a recorder would keep it, and its file. */
EXPORT int probe_first(uint64_t key[3], char *file, int size)
{
	struct python_frame frame;
	struct python_name name;
	struct python_frames walked = { .list = &frame, .capacity = 1 };

	if (python_walk(&walked) != 1 || !python_list(&walked) || !python_name(&frame, &name))
		return -1;
	memcpy(key, &frame, sizeof(frame));
	snprintf(file, (size_t)size, "%s", name.file);
	return 0;
}

/* The number of frames kept with this capacity, negative when a walk by a trail finds another. */
EXPORT int probe_capped(unsigned capacity)
{
	struct python_frame frames[DEPTH];
	struct python_frames walked = { .list = frames,
					.capacity = capacity,
					.trail = fresh_trail() };
	struct python_frames trailed = { .list = frames, .capacity = capacity, .trail = trail() };
	unsigned count = python_walk(&walked);

	return python_walk(&trailed) == count && trailed.sum == walked.sum ? (int)count : -1;
}

/* How many evaluation loops stand in the native stack, and how many frames say that they began one.
 */
EXPORT int probe_entries(int *loops, int *entries)
{
	static void *native[16 * DEPTH];
	struct python_frame frames[DEPTH];
	uint64_t low, high;
	struct python_frames walked = { .list = frames, .capacity = DEPTH };
	unsigned count = python_walk(&walked);
	int depth = backtrace(native, 16 * DEPTH);

	*loops = *entries = 0;
	if (!python_list(&walked) || !python_eval_range(&low, &high))
		return -1;
	for (unsigned i = 0; i < count; i++)
		*entries += frames[i].entry;
	for (int i = 0; i < depth; i++) {
		uint64_t at = (uint64_t)(uintptr_t)native[i] - 1;

		*loops += at >= low && at < high;
	}
	return 0;
}

/*
 * Compares the line of every instruction of a code object with PyCode_Addr2Line, adds their number
 * to *checked and returns how many differ. Called with the GIL (ctypes.PyDLL).
 */
EXPORT int probe_lines(void *code, int size, int *checked)
{
	int (*addr2line)(void *, int) =
		(int (*)(void *, int))dlsym(RTLD_DEFAULT, "PyCode_Addr2Line");
	struct python_frame frame = { .code = (uint64_t)(uintptr_t)code };
	struct python_name name;
	int wrong = 0;

	for (frame.position = 0; frame.position < size; frame.position += 2, ++*checked) {
		int line = addr2line(code, frame.position);

		if (!python_name(&frame, &name))
			return -1;
		wrong += name.line != (line < 0 ? 0 : line);
	}
	return wrong;
}

/* Walks for a while, as another thread meddles: how often, and how often the frames had changed. */
EXPORT long probe_same(int milliseconds, long *changes)
{
	struct python_frame first[256], frames[256];
	int64_t end = tsc_ns() + (int64_t)milliseconds * 1000000;
	struct python_frames before = { .list = first, .capacity = 256, .trail = fresh_trail() };
	struct python_frames walked = { .list = frames, .capacity = 256, .trail = trail() };
	unsigned count = python_walk(&before);
	long walks = 0;

	if (!python_list(&before))
		return -1;
	for (*changes = 0; tsc_ns() < end; walks++)
		*changes += python_walk(&walked) != count || walked.sum != before.sum ||
			    !python_list(&walked) ||
			    memcmp(first, frames, count * sizeof(frames[0])) != 0;
	return walks;
}

/*
 * Walks without a pause for so many milliseconds: how often. One frame a walk, so that most of the
 * time goes by between the question whether the interpreter ends and the look at the thread's
 * state.
 */
EXPORT long probe_ceaseless(int milliseconds)
{
	int64_t end = tsc_ns() + (int64_t)milliseconds * 1000000;
	struct python_frame frame;
	struct python_frames walked = { .list = &frame, .capacity = 1 };
	struct python_name name;
	long walks = 0;

	while (tsc_ns() < end) {
		for (int i = 0; i < 1000; i++, walks++)
			python_walk(&walked);
		if (python_walk(&walked) && python_list(&walked))
			python_name(&frame, &name);
	}
	return walks;
}

/* Nanoseconds for one walk, without a trail or by it. */
EXPORT double probe_cost(int iterations, bool trailed, int *frames)
{
	struct python_frame list[DEPTH];
	struct python_frames walked = { .list = list,
					.capacity = DEPTH,
					.trail = trailed ? trail() : NULL };
	int64_t start = tsc_ns();

	for (int i = 0; i < iterations; i++)
		*frames = (int)python_walk(&walked);
	return (double)(tsc_ns() - start) / iterations;
}
