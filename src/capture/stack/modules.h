/*
 * What is mapped where: the process's ELF files with their build-ids, entered into the spool.
 */
#ifndef CAPTURE_STACK_MODULES_H
#define CAPTURE_STACK_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Looks again if anything was loaded or unloaded since the last time. Takes the loader's lock, so
 * not with the recorder's lock held; takes that one itself to enter what is new. True if there was.
 */
bool modules_refresh(void);

/* Was anything unloaded since? Then an address may be known as another module's. Needs no lock. */
bool modules_stale(void);

/* Was a module unloaded that stacks had gone through, as far as was looked? */
bool modules_lost(void);

struct module {
	uint64_t low, high; /* addresses */
	uint64_t base;
	uint32_t row;  /* 1 + position in the spool */
	uint32_t path; /* text */
	bool runtime;  /* the CUDA runtime or driver, or this library: never an owner */
	bool walked;   /* a stack went through it */
};

/* The module that holds the address, NULL if none is known. With the recorder's lock held. */
struct module *modules_find(uint64_t address);

/* The text that names it as an owner, 0 for none. With the recorder's lock held. */
uint32_t modules_owner(const struct module *module);

/* Is it the CUDA runtime or driver, or this library? By the name of its file. */
bool modules_is_runtime(const char *path);

/* Forgets everything (after fork). */
void modules_clear(void);

#endif
