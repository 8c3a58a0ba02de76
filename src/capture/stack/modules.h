/* Lists the process's modules (ELF files) with their addresses and build-ids in the recording. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "spool/layout.h"

/*
 * Reads the list of modules again if a module was loaded or unloaded since the last time; true if
 * so. Takes the loader's lock, then the recorder's; the caller must not hold the recorder's.
 */
bool modules_refresh(void);

/* True if a library was unloaded since the list of modules was read. Needs no lock. */
bool modules_stale(void);

struct module {
	struct spool_module at; /* path, build-id and addresses */
	uint32_t row;           /* 1 + index in the spool's table of modules */
	bool runtime;           /* modules_is_runtime(path) */
	bool walked;            /* a recorded stack has a frame in this module */
};

/* The listed module that contains the address, or NULL. Called with the recorder's lock held. */
struct module *modules_find(uint64_t address);

/* The id of the module's base name among the spool's texts; 0 for a module with `runtime`, to which
 * no memory is attributed. Called with the recorder's lock held. */
uint32_t modules_owner(const struct module *module);

/* True if no memory is attributed to this file, by its name: a library of the CUDA runtime, the
 * driver or CUPTI, this library, libffi, and Python's _ctypes. Their callers own the memory. */
bool modules_is_runtime(const char *path);

void modules_clear(void);

#pragma GCC visibility push(hidden)
extern _Atomic uint64_t unload_now;
#pragma GCC visibility pop

/* A word that changes whenever a library is unloaded, because another library may then get the same
 * addresses; 0 at first. Data stored by address is valid while the word stays the same. */
static inline uint64_t unload_word(void)
{
	return atomic_load_explicit(&unload_now, memory_order_relaxed);
}
