/*
 * Makes a trace from a spool, the file of a recording: gives names to the recorded frames and
 * stacks, and provides memory for the structs of the trace.
 *
 * This also runs in the traced program when it ends, so memory comes from an arena or mmap; only
 * symbols_demangle() may call malloc. The spool is not changed and must outlive the model.
 */
#pragma once

#include <stdbool.h>

#include "base/mem/arena.h"
#include "facts/trace_model.h"
#include "spool/spool.h"

/* --- symbols.c: function names for offsets, from ELF symbol tables (.symtab, else .dynsym) --- */

struct symbol_query {
	uint64_t offset;        /* in the ELF file's own address space */
	const char *symbol;     /* result: the name as the file has it, NULL if not found */
	uint64_t start, size;   /* result: offset and bytes of the symbol */
	uint32_t module, frame; /* positions in the spool's tables of modules and frames */
};

/* Sets the queries' symbols (in the arena); queries must be sorted by offset. Returns -errno if the
 * file cannot be read or its build-id is not `build_id` (in hexadecimal; NULL if unknown), or 0. */
int symbols_find(const char *path, const char *build_id, struct symbol_query *queries, size_t count,
		 struct arena *arena);

/* True if `hex` is the build-id of `size` bytes in hexadecimal. */
bool symbols_is_build_id(const char *bytes, size_t size, const char *hex);

enum symbols_names {
	SYMBOLS_DEMANGLED, /* demangled, if libstdc++ is already loaded in this process */
	SYMBOLS_LOAD,      /* demangled; libstdc++ may be loaded for that (only in the tool) */
	SYMBOLS_MANGLED,   /* as in the ELF files, because malloc must not be called */
};

/* Returns the demangled C++ name, in the arena, or `symbol` if it cannot be demangled. With
 * SYMBOLS_MANGLED it returns `symbol` and does not call malloc; otherwise it may call malloc. */
const char *symbols_demangle(const char *symbol, enum symbols_names names, struct arena *arena);

/* --- the model --- */

struct spool_model {
	const struct spool *spool;
	struct arena arena;
	uint32_t frames, stacks, scopes;
	uint32_t room;              /* number of entries allocated in `names` and `seen` */
	struct trace_frame *names;  /* for each frame of the spool, its row in the trace */
	struct site_frame *seen;    /* for each frame, its texts and kind, to name sites by */
	struct trace *trace;        /* the trace that is filled; it points into the arena */
	struct trace_phase *phases; /* the trace's phases, which are not in the arena */
	size_t phases_size;
	const char *unnamed; /* path of an ELF file that was deleted or rebuilt; NULL if none was */
	uint64_t unnamed_n;  /* number of native frames without names because of such files */
	int error;           /* 0, or -ENOMEM: the trace is then incomplete */
	bool damaged;        /* true if the spool had invalid data, which the trace lacks */
};

/* Names the frames that were added to the spool since the last call. Before the first call the
 * model must be all 0. All calls must pass the same spool. Returns 0 or -ENOMEM. */
int spool_model_extend(struct spool_model *recording, const struct spool *spool,
		       enum symbols_names names);
void spool_model_clear(struct spool_model *recording);

/* Return memory from the arena: `count` zeroed values of `size` bytes; `count` structs of kind `of`
 * (enum rows_of), members null; a copy of a text. Without memory, return NULL and set `error`. */
void *spool_model_room(struct spool_model *recording, size_t count, size_t size);
void *spool_model_items(struct spool_model *recording, size_t count, unsigned of);
const char *spool_model_text(struct spool_model *recording, const char *text);

/* Return the spool's stack or module with this number, NULL if there is none. */
const struct spool_stack *spool_model_stack(const struct spool_model *recording, uint32_t stack);
const struct spool_module *spool_model_module(const struct spool_model *recording, uint32_t module);

/* spool_model_step() returns the number of the stack's frame at position `i` (0: the innermost),
 * UINT32_MAX if there is none. spool_model_depth() counts the stack's frames; 0 if the spool lacks
 * some of them. */
uint32_t spool_model_step(const struct spool_model *recording, const struct spool_stack *stack,
			  uint32_t i);
uint32_t spool_model_depth(const struct spool_model *recording, const struct spool_stack *stack);

/* spool_model_names.c: spool_model_see() fills `seen` from frame `first` on and returns 0 or
 * -ENOMEM. spool_model_site() writes the name of a stack's site into SITE_LONGEST bytes. */
int spool_model_see(struct spool_model *recording, uint32_t first);
void spool_model_site(const struct spool_model *recording, const struct spool_stack *stack,
		      char *to);

/* backward.c: finds the node of autograd's graph that a thread of a backward pass runs, and the
 * stack with the Python code that the node comes from, since such threads run no Python. */
enum backward_via {
	BACKWARD_NOT,     /* not a stack of a backward pass, or its origin is unknown */
	BACKWARD_FORWARD, /* the Python code is in the stack of the forward operator */
	BACKWARD_CALL,    /* the Python code is in the stack that called backward() */
};

struct backward {
	char node[96]; /* such as "MmBackward0", "" if unknown */
	enum backward_via via;
	uint32_t stack; /* number of the stack with the Python code, 0 for BACKWARD_NOT */
};

/* Fills *backward for a stack. The stack of a forward operator is used only if it has the node's
 * operator (mm for MmBackward0): if that operator allocated nothing, the recorder may have stored
 * another operator's stack for the node (capture/stack/autograd.c). */
void backward_read(const struct spool_model *recording, const struct spool_stack *stack,
		   struct backward *backward);

/* cupti_check.c: compares CUPTI's records with the events; fills the trace's cupti_check. */
void spool_model_match(struct spool_model *recording);

/* spool_model_sites.c: fills the trace's sites from its stacks. */
void spool_model_find_sites(struct spool_model *recording);

/* Writes the line of code by which a user recognizes the stack, cut to `size`: "Net.forward
 * (train.py:12)" or "take (leak)". A line from the stack that backward_read() found is marked
 * "[backward]" or "[via backward()]". */
void spool_model_line(const struct spool_model *recording, uint32_t stack, char *to, size_t size);

/* Sorts shares by bytes, largest first; equal shares by their bytes at the end of the recording. */
void shares_sort(struct trace_share *shares, size_t count);

/* A fact is a key with a value. fact_find() returns 1 + the position of the first fact with the
 * key at or after position `from`, 0 for none. fact_value() returns the value for this number. */
uint32_t fact_find(const struct spool *spool, const char *key, uint32_t from);
const char *fact_value(const struct spool *spool, uint32_t fact);

/* Returns the value of the spool's first fact with the key, NULL for none. */
const char *fact_told(const struct spool *spool, const char *key);
