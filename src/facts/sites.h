/*
 * The name of a call site: the code that asked for memory, in words that are the same in every run.
 *
 * It has the function, and the file or library, but no addresses, offsets, lines, folders, versions
 * of files, or numbers made by a compiler or a code generator. So sites of two runs of a program,
 * or of two builds, can be paired.
 *
 *   Block.attend (train.py)                 the user's code itself
 *   Linear.forward (linear.py) from Block.attend (train.py)    through a framework
 *   libcublas.so.13 from Block.attend (train.py)               a library on its behalf
 *   take (leak)                             native code
 *
 * The rule is the same for documents and for spools, also at the end of the traced program: memory
 * comes from the caller's arena.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum site_kind {
	SITE_OWN,       /* the program's own code: the innermost such frame names the site */
	SITE_VENDOR,    /* a library of operations: cuBLAS, cuDNN, NCCL */
	SITE_FRAMEWORK, /* a framework: named together with the code that called it */
	SITE_PLUMBING, /* allocators, runtimes, interpreters: named only if there is nothing else */
};

/* The kind of a library, by the base name of its file. */
enum site_kind site_library(const char *base);

/* True for a native function of a library linked into programs (LINKED in frame_kinds.def). */
bool site_linked_in(const char *function);

enum { SITE_LONGEST = 512 }; /* bytes of a site's name, with its NUL */

/* A frame, prepared for the names of sites. */
struct site_frame {
	const char *function; /* its name, the same in every run; NULL if unknown */
	const char *where;    /* its file or library, the same in every run; NULL if unknown */
	uint8_t kind;         /* enum site_kind */
	bool python;
	bool installed; /* the file belongs to an installed package, not to the program */
	bool helper;    /* listed as a helper in frame_kinds.def */
};

/* Fills the frame. `path` is a Python frame's source file or a native one's ELF file; path and
 * function may be NULL. 0 or -ENOMEM. */
int site_frame_read(struct site_frame *frame, bool python, const char *function, const char *path,
		    struct arena *arena);

/*
 * The part of a frame's path that is enough for site_frame_read(). Folders of the machine are
 * removed; a path below `cwd` (NULL for none) keeps its folders.
 */
const char *site_path(bool python, const char *path, const char *cwd);

/* "void at::f<float, 4>(at::Tensor const&) const" becomes "at::f<...>", cut to size. */
void names_short(const char *from, char *to, size_t size);

/* The last part of a path, or the last two where the last one is the same in every package. */
const char *names_path(const char *path);

/* The frames of a stack that name its site, as positions in the stack; UINT32_MAX for none. */
struct site_pick {
	uint32_t inner; /* a frame of a framework or library, called by `outer` */
	uint32_t outer;
};

/* Picks. `frames` are a stack's, innermost first, as positions in `all`. */
struct site_pick site_pick(const struct site_frame *all, const uint32_t *frames, size_t count);

/* Appends "function (where:line)", without the line where it is 0, cut to size. */
void site_append(char *to, size_t size, const struct site_frame *frame, uint32_t line);

/* Writes the name, never empty, of the site of two frames, each or NULL, into SITE_LONGEST bytes.
 */
void site_join(char *to, const struct site_frame *inner, const struct site_frame *outer);
