/* What the files of categories*.c share: what a stack tells, and the facts of a block's life. */
#ifndef ANALYSE_CATEGORIES_PARTS_H
#define ANALYSE_CATEGORIES_PARTS_H

#include "analyse/blocks.h"
#include "analyse/categories.h"
#include "base/arena.h"
#include "base/map.h"

/* What a stack by itself says. */
struct stack_view {
	uint8_t marked; /* enum stage of the innermost frame that tells one; STAGES for none */
	bool inside;    /* of a backward pass */
	uint32_t first; /* its rules: candidates[first ...] */
	uint32_t count;
};

struct stack_views {
	struct stack_view *list; /* by stack; the last: no stack */
	uint16_t *candidates;    /* rules whose conditions about stacks hold, in their order */
};

/* categories_stacks.c. 0 or -ENOMEM; the memory is the arena's. */
int stack_views_find(struct stack_views *views, struct trace *trace, const struct rules *rules,
		     struct arena *arena);

/* A block's life, as far as rules ask for it. */
struct life {
	uint32_t stack;      /* position in views */
	const char *pool;    /* NULL for none */
	uint32_t api;        /* a text of the trace */
	uint32_t phase;      /* 1 + the innermost that was open at its birth */
	uint8_t space, born; /* enum stage */
	uint8_t freed;       /* enum stage, or FREED_... */
	const char *thread;  /* its name; NULL */
	bool gradient;
	uint64_t size, lifetime;
	uint64_t allocations; /* of its device while it lived */
	uint64_t passes, pass;
};

/* categories_life.c: the first rule that fits. */
uint8_t life_category(const struct categories *categories, const struct life *life);

/* Of a block, beside its row in the table of blocks. */
struct birth {
	uint32_t api, phase, thread;
	uint32_t alloc;   /* the so-manieth allocation */
	uint32_t point;   /* of the device's curve: the first that it is in */
	uint8_t born;     /* enum stage */
	uint16_t track;   /* whose passes it lived through */
	uint64_t ordinal; /* of the track's allocations */
	uint32_t pass, step;
};

/* What a device is at; the last track is for memory of none. */
struct track {
	uint64_t allocations;
	uint64_t backward_seq; /* of the last event of a backward pass that is no recomputation */
	uint32_t passes, steps;
	bool in_pass, in_step;
};

/* What the blocks of a stack were, by their bytes. */
struct vote {
	uint64_t weight; /* Boyer and Moore's majority */
	int64_t kept;    /* bytes that outlived their stage, less those that did not */
	uint8_t category;
};

/* A thread's part in training. */
struct worker {
	uint64_t thread;
	const char *name;
	bool autograd; /* one of autograd's own */
	bool trains;   /* the end of a pass is seen by what it does */
};

struct place_own {
	uint64_t now; /* bytes */
	uint64_t peak_seq;
	uint64_t corpses[CATEGORIES_MOST][2]; /* bytes, count: died since the peak, lived at it */
	uint64_t loose[CATEGORIES_MOST];      /* bytes without an address, now */
	uint64_t loose_at[CATEGORIES_MOST];   /* at the peak */
	uint32_t pool;                        /* the text */
	size_t point;                         /* of its curve: the first behind now */
};

struct categories_own {
	struct trace *trace;
	struct arena arena;
	struct stack_views views;
	struct blocks blocks;
	struct birth *births; /* by position in blocks */
	size_t births_n;
	struct track *tracks;
	struct vote *votes; /* by stack, the last: no stack */
	struct place_own *places;
	uint64_t *stack_loose; /* by stack: bytes without an address */
	struct worker *workers;
	size_t workers_n, last_worker;
	bool knows_threads;
	uint32_t *phase_parents; /* by phase: 1 + the one that was open when it began */
	uint32_t *phases;        /* open ones */
	size_t phases_open, phase_next;
	struct map gradients; /* hashes of sizes that outlived a backward pass */
	uint32_t looks;       /* how often live blocks were searched for those */
	uint64_t next_seq, last_t;
	uint64_t gap_seq; /* the first event behind missing ones, UINT64_MAX for none missing */
	uint64_t longest; /* lifetime of what a backward pass made, ns */
	bool keep_allocs, any;
	size_t allocs_size;
};

/* categories_places.c. The places of the trace, with the points of their curves: 0 or -ENOMEM. */
int categories_find_places(struct categories *categories);

/* What the figures of a stack say, of which no event tells. */
uint8_t categories_stack_alone(const struct categories *categories, size_t stack);

/* The sums, once the pass is over. */
void categories_settle(struct categories *categories);

#endif
