/*
 * The process's modules: its ELF files with their addresses and build-ids, entered into the spool.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "spool/layout.h"

/*
 * Reads the list of modules again if any was loaded or unloaded since the last time. Takes the
 * loader's lock, so it must not be called with the recorder's lock held; takes that one itself to
 * enter new modules. True if the list was read.
 */
bool modules_refresh(void);

/* True if a library was unloaded since: an address may be another module's now. Needs no lock. */
bool modules_stale(void);

struct module {
	struct spool_module at;
	uint32_t row; /* 1 + position in the spool */
	bool runtime; /* the CUDA runtime or driver, or this library: never an owner */
	bool walked;  /* a recorded stack went through it */
};

/* The module that holds the address, NULL if none is known. With the recorder's lock held. */
struct module *modules_find(uint64_t address);

/* The text of its name as an owner, 0 if it cannot be one. With the recorder's lock held. */
uint32_t modules_owner(const struct module *module);

/* True if the file is the CUDA runtime or driver, or this library, by its name. */
bool modules_is_runtime(const char *path);

/* Forgets everything (after fork). */
void modules_clear(void);

#pragma GCC visibility push(hidden)
extern _Atomic uint64_t unload_now;
#pragma GCC visibility pop

/* A word that changes whenever a library may have taken the place of another; 0 while none has been
 * unloaded. Addresses read at the same word mean the same. */
static inline uint64_t unload_word(void)
{
	return atomic_load_explicit(&unload_now, memory_order_relaxed);
}
