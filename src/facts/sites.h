/*
 * The name of a call site: the code that asked for memory, in words that are the same in every run.
 *
 * It has the function, and the file or library, but no addresses, offsets, lines, paths, minor
 * versions, or numbers made by a compiler or a code generator. So the sites of two runs of a
 * program, or of two builds, can be paired.
 *
 *   Block.attend (train.py)                 the user's code itself
 *   Linear.forward (linear.py) from Block.attend (train.py)    through a framework
 *   libcublas.so.13 from Block.attend (train.py)               through a library
 *   take (leak)                             native code
 *
 * A spool and the JSON trace made from it give sites the same names. This also runs at the end of
 * the traced program, so memory comes from the caller's arena, not from malloc.
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

/* True for a function of libc or the CUDA runtime that is linked into the program itself. */
bool site_linked_in(const char *function);

enum { SITE_LONGEST = 512 }; /* most bytes of a site's name, including the NUL */

/* A frame, prepared for the names of sites. */
struct site_frame {
	const char *function; /* the function's name, the same in every run; NULL if unknown */
	const char *where;    /* the file or library, the same in every run; NULL if unknown */
	uint8_t kind;         /* enum site_kind */
	bool python;
	bool installed; /* true for the files of packages and of Python, and for generated code */
	bool helper;    /* a framework's function that frame_kinds.def has as NATIVE or PYTHON */
};

/* Fills the frame. `path` is a Python frame's source file or a native frame's ELF file; path and
 * function may be NULL. 0 or -ENOMEM. */
int site_frame_read(struct site_frame *frame, bool python, const char *function, const char *path,
		    struct arena *arena);

/*
 * Returns the part of a frame's path that site_frame_read() needs. The machine's folders are
 * removed; a Python file below `cwd` (may be NULL) keeps its folders from there on.
 */
const char *site_path(bool python, const char *path, const char *cwd);

/* Shortens "void at::f<float, 4>(at::Tensor const&) const" to "at::f<...>", cut to size. */
void names_short(const char *from, char *to, size_t size);

/* The last part of a path, or the last two for __init__.py and __main__.py. */
const char *names_path(const char *path);

/* The frames of a stack that name its site, as positions in the stack; UINT32_MAX for none. */
struct site_pick {
	uint32_t inner; /* a frame of a framework or library, called by `outer` */
	uint32_t outer;
};

/* Picks the frames for a stack's name. `frames`: positions in `all`, the innermost frame first. */
struct site_pick site_pick(const struct site_frame *all, const uint32_t *frames, size_t count);

/* Appends "function (where:line)", without the line where it is 0, cut to size. */
void site_append(char *to, size_t size, const struct site_frame *frame, uint32_t line);

/* Writes a site's name, never empty, into SITE_LONGEST bytes. Either frame may be NULL. */
void site_join(char *to, const struct site_frame *inner, const struct site_frame *outer);
