/*
 * A spool's facts on their way into a trace: what its frames and stacks are called, and memory for
 * all that is found out.
 *
 * Also used at the end of the traced program, so all memory comes from its arena. The spool is not
 * changed and must outlive the recording.
 */
#pragma once

#include <stdbool.h>

#include "base/mem/arena.h"
#include "facts/trace_model.h"
#include "spool/spool.h"

/* --- symbols.c: offsets into function names, from ELF symbol tables (.symtab, else .dynsym) --- */

struct symbol_query {
	uint64_t offset;    /* an address of the ELF file's own address space */
	const char *symbol; /* answer: the name as it stands in the file, NULL if none covers it */
	uint64_t start, size;   /* answer: where that symbol lies */
	uint32_t module, frame; /* who asks */
};

/*
 * Answers queries, which must be sorted by offset. A file that is not there, or whose build-id (in
 * hexadecimal, NULL or "" when unknown) is another one's, answers none. 0 or -errno.
 */
int symbols_find(const char *path, const char *build_id, struct symbol_query *queries, size_t count,
		 struct arena *arena);

/* Names of C++ functions. */
enum symbols_names {
	SYMBOLS_DEMANGLED, /* by the libstdc++ that is there, if there is one */
	SYMBOLS_LOAD,      /* it may be loaded for them (the tool) */
	SYMBOLS_MANGLED,   /* as the files spell them: malloc is not to be called */
};

/*
 * The C++ name in the arena, or the symbol itself when it is no mangled name or nothing here can
 * demangle. It takes memory from malloc.
 */
const char *symbols_demangle(const char *symbol, enum symbols_names names, struct arena *arena);

/* --- the model --- */

struct spool_model {
	const struct spool *spool;
	struct arena arena;
	uint32_t frames, stacks, scopes;
	uint32_t room;             /* for frames */
	struct trace_frame *names; /* by frame */
	struct site_frame *seen;   /* by frame, as sites see it */
	struct trace *trace;       /* that is filled; it points into the arena */
	int error;                 /* 0, or -ENOMEM: something was left out of the trace */
	bool damaged;              /* something in the spool made no sense and was left out */
};

/*
 * Of a recording that is empty (all 0) or was extended before: names what the spool's frames and
 * stacks have become more by since, and nothing else. The spool must be the same, and lie where it
 * lay. 0 or -ENOMEM.
 */
int spool_model_extend(struct spool_model *recording, const struct spool *spool,
		       enum symbols_names names);
void spool_model_clear(struct spool_model *recording);

/*
 * Zeroed room for so many values; structs of an object (enum rows_of), cleared; a copy of a text.
 * NULL without memory, which `error` tells from then on.
 */
void *spool_model_room(struct spool_model *recording, size_t count, size_t size);
void *spool_model_items(struct spool_model *recording, size_t count, unsigned of);
const char *spool_model_text(struct spool_model *recording, const char *text);

/* The row checked; NULL for a number out of range. */
const struct spool_stack *spool_model_stack(const struct spool_model *recording, uint32_t stack);
const struct spool_module *spool_model_module(const struct spool_model *recording, uint32_t module);

/* The frames of a stack, innermost first; `i` below native + python. */
uint32_t spool_model_step(const struct spool_model *recording, const struct spool_stack *stack,
			  uint32_t i);
uint32_t spool_model_depth(const struct spool_model *recording, const struct spool_stack *stack);

/* spool_model_names.c: fills `seen` from a frame on, for which there is room: 0 or -ENOMEM. Then
 * the name of a stack's site, into SITE_LONGEST bytes. */
int spool_model_see(struct spool_model *recording, uint32_t first);
void spool_model_site(const struct spool_model *recording, const struct spool_stack *stack,
		      char *to);

/*
 * backward.c: a stack of one of autograd's threads, which run no Python: which node of the graph it
 * is in, and which line of Python that comes from.
 */
enum backward_via {
	BACKWARD_NOT,     /* no backward pass, or nobody knows whose */
	BACKWARD_FORWARD, /* the stack of the operator that the node is the derivative of */
	BACKWARD_CALL,    /* the stack that called backward() */
};

struct backward {
	char node[96]; /* "MmBackward0", "" when unknown */
	enum backward_via via;
	uint32_t stack; /* of `via` */
};

/*
 * The forward stack is believed only when an operator in it has the node's name (mm for
 * MmBackward0): capture takes whoever allocated first under the node's number, see
 * capture/stack/autograd.c.
 */
void backward_read(const struct spool_model *recording, const struct spool_stack *stack,
		   struct backward *backward);

/* cupti_check.c: fills the trace's witness. */
void spool_model_match(struct spool_model *recording);

/* spool_model_sites.c: fills the trace's sites from its stacks. */
void spool_model_find_sites(struct spool_model *recording);

/*
 * The line of a stack that its user knows: "Net.forward (train.py:12)", "take (leak)", cut to size;
 * a backward pass's says so.
 */
void spool_model_line(const struct spool_model *recording, uint32_t stack, char *to, size_t size);

/* Largest first; what held the same at a peak by what it held at the end. */
void shares_sort(struct trace_share *shares, size_t count);

/* The first fact with the key behind `from` (0 to begin): 1 + its position, 0 for none. */
uint32_t fact_find(const struct spool *spool, const char *key, uint32_t from);
const char *fact_value(const struct spool *spool, uint32_t fact);

/* The value of the first fact with the key, NULL for none. */
const char *fact_told(const struct spool *spool, const char *key);
