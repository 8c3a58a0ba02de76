/*
 * A spool's facts on their way into a trace: the names of its frames and stacks, and the memory of
 * all that is computed.
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
	uint32_t module, frame; /* numbers of the frame and its module */
};

/* Answers queries, which must be sorted by offset. A file that is not there, or whose build-id (in
 * hexadecimal, NULL or "" when unknown) is another one's, answers none. 0 or -errno. */
int symbols_find(const char *path, const char *build_id, struct symbol_query *queries, size_t count,
		 struct arena *arena);

enum symbols_names {
	SYMBOLS_DEMANGLED, /* by the libstdc++ that is there, if there is one */
	SYMBOLS_LOAD,      /* it may be loaded for them (the tool) */
	SYMBOLS_MANGLED,   /* as the files spell them: malloc is not to be called */
};

/* The C++ name in the arena, or the symbol itself when it is no mangled name or nothing here can
 * demangle. It takes memory from malloc. */
const char *symbols_demangle(const char *symbol, enum symbols_names names, struct arena *arena);

/* --- the model --- */

struct spool_model {
	const struct spool *spool;
	struct arena arena;
	uint32_t frames, stacks, scopes;
	uint32_t room;             /* for frames */
	struct trace_frame *names; /* by frame */
	struct site_frame *seen;   /* by frame, as sites use it */
	struct trace *trace;       /* that is filled; it points into the arena */
	int error;                 /* 0, or -ENOMEM: the trace lacks something */
	bool damaged;              /* the spool has invalid data, which was left out */
};

/* Names the frames and stacks that the spool has got since the last call; a recording that is all 0
 * has none yet. The spool must be the same, at the same address. 0 or -ENOMEM. */
int spool_model_extend(struct spool_model *recording, const struct spool *spool,
		       enum symbols_names names);
void spool_model_clear(struct spool_model *recording);

/* Memory of the arena: zeroed, for `count` values; for structs of an object (enum rows_of),
 * cleared; for a copy of a text. NULL without memory, and `error` is set. */
void *spool_model_room(struct spool_model *recording, size_t count, size_t size);
void *spool_model_items(struct spool_model *recording, size_t count, unsigned of);
const char *spool_model_text(struct spool_model *recording, const char *text);

/* The row; NULL for a number out of range. */
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

/* backward.c: the node of autograd's graph that a stack of one of its threads is in, and the line
 * of Python that it comes from. These threads run no Python. */
enum backward_via {
	BACKWARD_NOT,     /* no backward pass, or its origin is not known */
	BACKWARD_FORWARD, /* the stack of the operator that the node is the derivative of */
	BACKWARD_CALL,    /* the stack that called backward() */
};

struct backward {
	char node[96]; /* "MmBackward0", "" when unknown */
	enum backward_via via;
	uint32_t stack; /* of `via` */
};

/*
 * The forward stack is used only when an operator in it has the node's name (mm for MmBackward0):
 * capture records the first stack that allocated under the node's number, see
 * capture/stack/autograd.c.
 */
void backward_read(const struct spool_model *recording, const struct spool_stack *stack,
		   struct backward *backward);

/* cupti_check.c: fills the trace's cupti_check. */
void spool_model_match(struct spool_model *recording);

/* spool_model_sites.c: fills the trace's sites from its stacks. */
void spool_model_find_sites(struct spool_model *recording);

/* Writes the line of a stack that its user knows, cut to size: "Net.forward (train.py:12)", "take
 * (leak)"; that of a backward pass is marked as such. */
void spool_model_line(const struct spool_model *recording, uint32_t stack, char *to, size_t size);

/* Sorts them, largest first; those that are equal at a peak by the bytes at the end. */
void shares_sort(struct trace_share *shares, size_t count);

/* Returns 1 + the position of the first fact with the key from position `from` on, 0 for none. */
uint32_t fact_find(const struct spool *spool, const char *key, uint32_t from);
const char *fact_value(const struct spool *spool, uint32_t fact);

/* The value of the first fact with the key, NULL for none. */
const char *fact_told(const struct spool *spool, const char *key);
