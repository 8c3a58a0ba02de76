/*
 * The made-up program that tests/generator.c records: its code, its memory, and what is true of it.
 */
#pragma once

#include "ledger/intern.h"
#include "ledger/ledger.h"

/* What the command line asked for. */
struct wish {
	uint64_t events, live, seed, growth, max_events;
	unsigned stacks, devices, threads, phases, ranks;
	bool leak;
	const char *pool;  /* NULL for a program without a pool */
	const char *spool; /* files, NULL for none */
	const char *json;
};

/* Who allocates: each has its own kind of call stack. */
enum role {
	ROLE_PARAMETER,
	ROLE_OPTIMIZER,
	ROLE_ACTIVATION,
	ROLE_TEMPORARY,
	ROLE_GRADIENT,
	ROLE_BATCH,
	ROLE_PINNED,
	ROLE_LEAK,
	ROLE_GROWTH,
	ROLE_CUBLAS,
	ROLE_NCCL,
	ROLES
};

struct code {
	uint32_t *stacks[ROLES]; /* numbers of stacks by role */
	unsigned count[ROLES];
};

/* generator_code.c: modules, frames and `wanted` distinct stacks (and never fewer than a role
 * needs). */
void code_make(struct code *code, struct intern *intern, unsigned wanted, bool pool);
void code_clear(struct code *code);

static inline uint32_t code_stack(const struct code *code, enum role role, uint64_t i)
{
	return code->stacks[role][i % code->count[role]];
}

/* generator_program.c: what is true of a device, counted without the ledger. */
struct truth {
	uint64_t allocated, reserved;
	uint64_t peak_allocated, peak_reserved;
	uint64_t allocations, frees;
};

struct program;

/* Runs the program into the spool until the wished number of events is made. */
struct program *program_run(const struct wish *wish, struct spool *spool, unsigned rank);
const struct truth *program_truth(const struct program *program, unsigned device);
uint64_t program_pinned(const struct program *program);
uint64_t program_steps(const struct program *program);
uint64_t program_ranges(const struct program *program);
void program_free(struct program *program);

/* splitmix64: the same numbers on every machine. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}
