/*
 * Every row of hooks.def, through every door that leads to it, succeeding and failing.
 *
 * rows, or rows runtime: the runtime's alone. A row without a scenario does not compile. Printed is
 * what the trace must say of each call and what the simulated driver holds after it; rows.py
 * compares.
 */
#include "rows.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../include/memtrace/memtrace.h"
#include "../../fake/control.h"
#include "rows_code.h"
#include "rows_contexts.h"
#include "rows_memory.h"
#include "rows_pools.h"
#include "rows_shared.h"

#undef cuGetProcAddress
CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags);

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

typedef void any_fn(void);

enum outcome { SUCCEEDS = 0, IS_REFUSED = 1, IS_OUT_OF_MEMORY = 2 }; /* the status that is given */

static const char *const outcome_names[] = { "succeeds", "is refused", "is out of memory" };

struct row {
	const char *name;
	bool runtime, twin;
	any_fn *linked;
	void (*use)(any_fn *call);
};

static struct {
	const struct row *row;
	const char *door;
	enum outcome outcome;
	char failing[64];
	int calls; /* made by the scenario: must be one */
} now;

CUipcMemHandle foreign_handle;

void must(int status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "rows: %s through %s, %s: %s: %d\n", now.row ? now.row->name : "start",
		now.door, outcome_names[now.outcome], what, status);
	exit(1);
}

/* --- the rows -------------------------------------------------------------------------------- */

/* Named by the assembler's name: what a program linked with the libraries calls. */
#define HOOK(api, name, ...)                           \
	extern any_fn linked_##name __asm__(#name);    \
	static void use_row_##name(any_fn *call)       \
	{                                              \
		use_##name((fn_##name *)(void *)call); \
	}
#define BOTH(api, name, ...) \
	HOOK(api, name)      \
	extern any_fn linked_##name##_ptsz __asm__(#name "_ptsz");
#include "../../../src/capture/loader/hooks.def"
#undef HOOK

enum { RT = 1, DRV = 0 };

static const struct row rows[] = {
#define HOOK(api, name, ...) { #name, api, false, linked_##name, use_row_##name },
#define BOTH(api, name, ...) \
	HOOK(api, name)      \
	{ #name "_ptsz", api, true, linked_##name##_ptsz, use_row_##name },
#include "../../../src/capture/loader/hooks.def"
#undef HOOK
};

/* --- what the trace must say --------------------------------------------------------------- */

static void tell(const char *op, const char *space, size_t size, bool foreign)
{
	printf("event %s %s %zu %d\n", op, space, size, foreign);
}

void takes(const char *space, size_t size)
{
	if (now.outcome != IS_REFUSED)
		tell(now.outcome ? "oom" : "alloc", space, size, false);
}

static void tell_free(const char *space, size_t size, bool foreign)
{
	tell("free", space, size, foreign);
	if (now.outcome)
		tell("alloc", space, size, foreign);
}

void gives(const char *space, size_t size)
{
	tell_free(space, size, false);
}

void closes(const char *space, size_t size)
{
	tell_free(space, size, true);
}

void moves(const char *op, size_t size)
{
	if (!now.outcome)
		tell(op, "device", size, false);
}

void ends(const char *space, size_t size)
{
	if (!now.outcome)
		tell("free", space, size, false);
}

void imports(const char *space, size_t size)
{
	if (!now.outcome)
		tell("alloc", space, size, true);
}

void fails_to_take(const char *space, size_t size)
{
	if (now.outcome == IS_OUT_OF_MEMORY)
		tell("oom", space, size, false);
}

void stands(const char *space)
{
	if (!now.outcome)
		tell("alloc", space, 0, false);
}

bool call_fails(void)
{
	return now.outcome != SUCCEEDS;
}

void beneath(const char *driver_function)
{
	snprintf(now.failing, sizeof(now.failing), "%s%s", driver_function,
		 now.row->twin ? "_ptsz" : "");
}

void row_begin(void)
{
	now.calls++;
	if (now.outcome)
		fakeCudaFail(now.failing, (int)now.outcome);
	memtrace_mark("the row");
}

static void tell_holdings(void)
{
	struct fake_figures figures;

	for (int device = 0; device < DEVICES; device++) {
		fakeCudaFigures(device, &figures);
		must(figures.unfailed, "the failure reached nobody");
		printf("holds %d %llu %llu %llu %llu\n", device,
		       (unsigned long long)figures.allocated, (unsigned long long)figures.reserved,
		       (unsigned long long)figures.managed, (unsigned long long)figures.pinned);
	}
}

void check_now(void)
{
	printf("row %s %s afterwards\n", now.row->name, now.door);
	memtrace_mark("the row");
	memtrace_mark("has returned");
	tell_holdings();
}

int row_end(int status)
{
	memtrace_mark("has returned");
	must(status != (int)now.outcome, "not the outcome that was asked for");
	tell_holdings();
	cudaGetLastError();
	return status;
}

/* --- doors --------------------------------------------------------------------------------- */

static any_fn *linked(const struct row *row)
{
	return row->linked;
}

static any_fn *by_dlsym(const struct row *row)
{
	void *library = dlopen(row->runtime ? "libcudart.so.13" : "libcuda.so.1", RTLD_NOW);

	return (any_fn *)dlsym(library, row->name);
}

static any_fn *by_default(const struct row *row)
{
	return (any_fn *)dlsym(RTLD_DEFAULT, row->name);
}

/* The name that the driver's lookup knows: without the version and the twin's mark. */
static const char *base_name(const struct row *row)
{
	static char name[64];
	char *end;

	snprintf(name, sizeof(name), "%s", row->name);
	end = strstr(name, "_ptsz");
	if (!end)
		end = strstr(name, "_v");
	if (end)
		*end = '\0';
	return name;
}

typedef bool lookup_fn(const char *name, void **found, int version, cuuint64_t flags);

static bool ask_v1(const char *name, void **found, int version, cuuint64_t flags)
{
	return cuGetProcAddress(name, found, version, flags) == CUDA_SUCCESS;
}

static bool ask_v2(const char *name, void **found, int version, cuuint64_t flags)
{
	return cuGetProcAddress_v2(name, found, version, flags, NULL) == CUDA_SUCCESS;
}

static bool ask_runtime(const char *name, void **found, int version, cuuint64_t flags)
{
	enum cudaDriverEntryPointQueryResult result;

	return cudaGetDriverEntryPointByVersion(name, found, (unsigned int)version, flags,
						&result) == cudaSuccess;
}

/*
 * The function as somebody gets it who asks for the version that has it. Which that is no row says:
 * the pointer is right when it is what a program linked with the driver calls.
 */
static any_fn *look_up(const struct row *row, lookup_fn *ask)
{
	cuuint64_t flags = row->twin ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;

	for (int version = 2000; version <= CUDA_VERSION; version += 10) {
		void *found = NULL;

		if (ask(base_name(row), &found, version, flags) && found == (void *)row->linked)
			return (any_fn *)found;
	}
	return NULL;
}

static any_fn *by_lookup_v1(const struct row *row)
{
	return look_up(row, ask_v1);
}

static any_fn *by_lookup_v2(const struct row *row)
{
	return look_up(row, ask_v2);
}

static any_fn *by_entry_point(const struct row *row)
{
	return look_up(row, ask_runtime);
}

static const struct {
	const char *name;
	any_fn *(*open)(const struct row *row);
	bool driver_only;
} doors[] = {
	{ "linked", linked, false },
	{ "dlsym", by_dlsym, false },
	{ "RTLD_DEFAULT", by_default, false },
	{ "cuGetProcAddress", by_lookup_v1, true },
	{ "cuGetProcAddress_v2", by_lookup_v2, true },
	{ "cudaGetDriverEntryPointByVersion", by_entry_point, true },
};

/* --- the run ------------------------------------------------------------------------------- */

static void use(const struct row *row, size_t door)
{
	any_fn *call;

	now.row = row;
	now.door = doors[door].name;
	now.outcome = SUCCEEDS;
	call = doors[door].open(row);
	must(!call, "no such door");
	for (; now.outcome <= IS_OUT_OF_MEMORY; now.outcome++) {
		now.calls = 0;
		snprintf(now.failing, sizeof(now.failing), "%s", row->name);
		printf("row %s %s %s\n", row->name, now.door, outcome_names[now.outcome]);
		row->use(call);
		must(now.calls != 1, "the scenario must make the call once");
	}
}

/* A process whose memory can be opened here; made before CUDA is used, and not traced. */
static pid_t exporter(int *wait_for_end)
{
	int told[2], end[2];
	CUdeviceptr ptr = 0;
	void *begin = NULL;
	pid_t child;
	char byte;

	must(pipe(told) || pipe(end), "pipe");
	child = fork();
	if (!child) {
		if (memtrace_enable)
			memtrace_enable(0);
		close(end[1]);
		must(cudaMalloc(&begin, 3 * MIB), "cudaMalloc");
		ptr = (CUdeviceptr)(uintptr_t)begin;
		must(cuIpcGetMemHandle(&foreign_handle, ptr), "cuIpcGetMemHandle");
		must(write(told[1], &foreign_handle, sizeof(foreign_handle)) !=
			     (ssize_t)sizeof(foreign_handle),
		     "write");
		must(read(end[0], &byte, 1) != 0, "read");
		_exit(0);
	}
	close(end[0]);
	close(told[1]);
	must(read(told[0], &foreign_handle, sizeof(foreign_handle)) !=
		     (ssize_t)sizeof(foreign_handle),
	     "read");
	close(told[0]);
	*wait_for_end = end[1];
	return child;
}

int main(int argc, char **argv)
{
	bool runtime_only = argc > 1 && !strcmp(argv[1], "runtime");
	int end;

	now.door = "none";
	exporter(&end);
	must(cudaSetDevice(0), "cudaSetDevice");
	prepare_pools();
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (size_t door = 0; door < COUNT(doors); door++) {
			if (rows[i].runtime ? !doors[door].driver_only : !runtime_only)
				use(&rows[i], door);
		}
	}
	close(end);
	return 0;
}
