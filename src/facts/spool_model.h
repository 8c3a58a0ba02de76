/*
 * From a spool to a trace: names frames and stacks, and provides memory.
 *
 * Also used at the end of the traced program, so memory comes from an arena or mmap; only
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
	uint32_t module, frame; /* numbers of the module and the frame in the spool */
};

/* Fills the queries, which must be sorted by offset; none if the file is missing or does not have
 * the build-id `build_id` (hexadecimal; NULL or "" if unknown). 0 or -errno. */
int symbols_find(const char *path, const char *build_id, struct symbol_query *queries, size_t count,
		 struct arena *arena);

/* True if the bytes of a build-id are those that `hex` has as text. */
bool symbols_is_build_id(const char *bytes, size_t size, const char *hex);

enum symbols_names {
	SYMBOLS_DEMANGLED, /* demangled by the libstdc++ of this process, if it has one */
	SYMBOLS_LOAD,      /* demangled; libstdc++ may be loaded for that (in the tool) */
	SYMBOLS_MANGLED,   /* as the files have them: malloc must not be called */
};

/* Returns the C++ name in the arena, or the symbol itself if it cannot be demangled. With
 * SYMBOLS_MANGLED always the symbol itself; otherwise malloc may be called. */
const char *symbols_demangle(const char *symbol, enum symbols_names names, struct arena *arena);

/* --- the model --- */

struct spool_model {
	const struct spool *spool;
	struct arena arena;
	uint32_t frames, stacks, scopes;
	uint32_t room;              /* number of entries allocated in `names` and `seen` */
	struct trace_frame *names;  /* by frame: its row in the trace */
	struct site_frame *seen;    /* by frame: its texts and kind, for the names of sites */
	struct trace *trace;        /* the trace that is filled; it points into the arena */
	struct trace_phase *phases; /* the trace's phases, which are not in the arena */
	size_t phases_size;
	const char *unnamed; /* a file that is gone or is another build; NULL if none is */
	uint64_t unnamed_n;  /* native frames that lack names because of such files */
	int error;           /* 0, or -ENOMEM: something is missing in the trace */
	bool damaged;        /* true if the spool had invalid data, which is not in the trace */
};

/* Names the frames that were added to the spool since the last call. Before the first call the
 * model must be all 0. The spool must always be the same one, at the same address. 0 or -ENOMEM. */
int spool_model_extend(struct spool_model *recording, const struct spool *spool,
		       enum symbols_names names);
void spool_model_clear(struct spool_model *recording);

/* Return memory from the arena: `count` zeroed values of `size` bytes; `count` structs of the kind
 * `of` (enum rows_of), all null; a copy of a text. Without memory, return NULL and set `error`. */
void *spool_model_room(struct spool_model *recording, size_t count, size_t size);
void *spool_model_items(struct spool_model *recording, size_t count, unsigned of);
const char *spool_model_text(struct spool_model *recording, const char *text);

/* The spool's stack or module with this number, NULL if there is none. */
const struct spool_stack *spool_model_stack(const struct spool_model *recording, uint32_t stack);
const struct spool_module *spool_model_module(const struct spool_model *recording, uint32_t module);

/* The number of the frame at position `i` of a stack, innermost first, UINT32_MAX if missing; and
 * the number of the stack's frames, 0 if the spool does not have all of them. */
uint32_t spool_model_step(const struct spool_model *recording, const struct spool_stack *stack,
			  uint32_t i);
uint32_t spool_model_depth(const struct spool_model *recording, const struct spool_stack *stack);

/* spool_model_names.c: spool_model_see() fills `seen` from frame `first` on, 0 or -ENOMEM.
 * spool_model_site() writes the name of a stack's site into SITE_LONGEST bytes. */
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
	char node[96]; /* "MmBackward0", "" if unknown */
	enum backward_via via;
	uint32_t stack; /* number of the stack that `via` names */
};

/*
 * The forward stack is used only if an operator in it has the node's name (mm for MmBackward0). The
 * recorder may have stored another operator's stack for the node, if the node's own operator
 * allocated nothing (capture/stack/autograd.c).
 */
void backward_read(const struct spool_model *recording, const struct spool_stack *stack,
		   struct backward *backward);

/* cupti_check.c: fills the trace's cupti_check. */
void spool_model_match(struct spool_model *recording);

/* spool_model_sites.c: fills the trace's sites from its stacks. */
void spool_model_find_sites(struct spool_model *recording);

/* Writes the line of code by which a user recognizes the stack, cut to size: "Net.forward
 * (train.py:12)", "take (leak)". backward_read()'s stack is marked "[backward]" or "[via
 * backward()]". */
void spool_model_line(const struct spool_model *recording, uint32_t stack, char *to, size_t size);

/* Sorts shares by bytes, largest first; equal shares by their bytes at the end of the recording. */
void shares_sort(struct trace_share *shares, size_t count);

/* 1 + position of the spool's first fact with the key, from position `from` on; 0 for none. */
uint32_t fact_find(const struct spool *spool, const char *key, uint32_t from);
const char *fact_value(const struct spool *spool, uint32_t fact);

/* The value of the spool's first fact with the key, NULL for none. */
const char *fact_told(const struct spool *spool, const char *key);
