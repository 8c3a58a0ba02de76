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
	SITE_OWN,       /* the program's own: the innermost of these names the site */
	SITE_VENDOR,    /* a library of operations */
	SITE_FRAMEWORK, /* named together with the code that called it */
	SITE_PLUMBING, /* allocators, runtimes, interpreters: a name only where there is no other */
};

/* The kind of a library, by the base name of its file. */
enum site_kind site_library(const char *base);

/* True for a native function of others that is linked into programs (LINKED in frame_kinds.def). */
bool site_linked_in(const char *function);

enum { SITE_LONGEST = 512 }; /* bytes of a name, with its NUL */

/* A frame as sites use it. */
struct site_frame {
	const char *function; /* stable; NULL when unknown */
	const char *where;    /* file or library, stable; NULL when unknown */
	uint8_t kind;         /* enum site_kind */
	bool python;
	bool installed; /* not a file of the program's own */
	bool helper;    /* a row NATIVE or PYTHON of frame_kinds.def */
};

/* `path` is the source file of a Python frame, the ELF file of a native one; each may be NULL. 0,
 * or -ENOMEM. */
int site_frame_read(struct site_frame *frame, bool python, const char *function, const char *path,
		    struct arena *arena);

/*
 * The part of a frame's path that identifies the frame: with it site_frame_read() gives the same
 * again. Folders of the machine are removed; a path below `cwd` (NULL for none) keeps its folders.
 */
const char *site_path(bool python, const char *path, const char *cwd);

/* "void at::f<float, 4>(at::Tensor const&) const" becomes "at::f<...>", cut to size. */
void names_short(const char *from, char *to, size_t size);

/* The last part of a path, or the last two where the last one is the same in every package. */
const char *names_path(const char *path);

/* The frames of a stack that name its site, as positions in the stack; UINT32_MAX for none. */
struct site_pick {
	uint32_t inner; /* the framework or library inside of `outer` */
	uint32_t outer;
};

/* `frames`: a stack's, innermost first, as numbers of `all`. */
struct site_pick site_pick(const struct site_frame *all, const uint32_t *frames, size_t count);

/* Appends "function (where:line)", without the line where it is 0, cut to size. */
void site_append(char *to, size_t size, const struct site_frame *frame, uint32_t line);

/* Writes the site's name, never empty, into SITE_LONGEST bytes; of the two frames, each or NULL. */
void site_join(char *to, const struct site_frame *inner, const struct site_frame *outer);
