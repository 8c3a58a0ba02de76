/*
 * What is mapped where: the process's ELF files with their build-ids, entered into the spool.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "spool/layout.h"

/*
 * Looks again if anything was loaded or unloaded since the last time. Takes the loader's lock, so
 * not with the recorder's lock held; takes that one itself to enter what is new. True if there was.
 */
bool modules_refresh(void);

/* Was anything unloaded since? Then an address may be known as another module's. Needs no lock. */
bool modules_stale(void);

struct module {
	struct spool_module at;
	uint32_t row; /* 1 + position in the spool */
	bool runtime; /* the CUDA runtime or driver, or this library: never an owner */
	bool walked;  /* a stack went through it */
};

/* The module that holds the address, NULL if none is known. With the recorder's lock held. */
struct module *modules_find(uint64_t address);

/* The text that names it as an owner, 0 for none. With the recorder's lock held. */
uint32_t modules_owner(const struct module *module);

/* Is it the CUDA runtime or driver, or this library? By the name of its file. */
bool modules_is_runtime(const char *path);

/* Forgets everything (after fork). */
void modules_clear(void);

#pragma GCC visibility push(hidden)
extern _Atomic uint64_t unload_now;
#pragma GCC visibility pop

/*
 * A word that is another one whenever a library may have taken the place of another: 0 while none
 * has been unloaded. Addresses read under one word mean the same as under the same word later.
 */
static inline uint64_t unload_word(void)
{
	return atomic_load_explicit(&unload_now, memory_order_relaxed);
}
