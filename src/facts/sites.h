/*
 * The name of a call site, which is the code that allocated memory; it is the same in every run.
 *
 * A name has the function, and the file or library, but no addresses, offsets, lines, paths, minor
 * versions, or numbers made by a compiler or a code generator. So the sites of two runs of a
 * program, or of two builds, can be compared.
 *
 *   Block.attend (train.py)                                    allocated by the user's code
 *   Linear.forward (linear.py) from Block.attend (train.py)    by a framework that it called
 *   libcublas.so.13 from Block.attend (train.py)               by a library that it called
 *   take (leak)                                                by native code of a program
 *
 * Sites get the same names from a spool and from the JSON trace that is made from it. This also
 * runs in the traced program when it ends, so memory comes from an arena, not from malloc.
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

/* Returns the kind of a native library, given the base name of its file. */
enum site_kind site_library(const char *base);

/* True for a function of libc or the CUDA runtime that is linked into the program itself. */
bool site_linked_in(const char *function);

enum { SITE_LONGEST = 512 }; /* maximum bytes of a site's name, including the NUL */

/* A frame, prepared for the names of sites. */
struct site_frame {
	const char *function; /* the function's name, the same in every run; NULL if unknown */
	const char *where;    /* the file or library, the same in every run; NULL if unknown */
	uint8_t kind;         /* enum site_kind */
	bool python;
	bool installed; /* true for files of packages, of Python itself, and for generated code */
	bool helper;    /* true for functions that frame_kinds.def lists as NATIVE or PYTHON */
};

/* Fills the frame. `path` (a Python frame's source file or a native frame's ELF file) must outlive
 * the frame; path and function may be NULL. Returns 0 or -ENOMEM. */
int site_frame_read(struct site_frame *frame, bool python, const char *function, const char *path,
		    struct arena *arena);

/* Returns what site_frame_read() needs of a frame's path, without folders that differ between
 * machines: for a Python file below the folder `cwd` (or NULL), its path relative to `cwd`. */
const char *site_path(bool python, const char *path, const char *cwd);

/* Shortens "void at::f<float, 4>(at::Tensor const&) const" to "at::f<...>", cut to `size`. */
void names_short(const char *from, char *to, size_t size);

/* Returns the file name at the end of a path, for __init__.py and __main__.py with its folder. */
const char *names_path(const char *path);

/* The frames of a stack that name its site, as positions in the stack; UINT32_MAX for none. */
struct site_pick {
	uint32_t inner; /* a frame of a framework or library, called by `outer` */
	uint32_t outer;
};

/* Picks the frames that name a stack's site. `frames` has the positions in `all` of the stack's
 * frames, the innermost first. */
struct site_pick site_pick(const struct site_frame *all, const uint32_t *frames, size_t count);

/* Appends "function (where:line)", without ":line" if the line is 0, cut to `size`. */
void site_append(char *to, size_t size, const struct site_frame *frame, uint32_t line);

/* Writes a site's name, which is never empty, to SITE_LONGEST bytes. Either frame may be NULL. */
void site_join(char *to, const struct site_frame *inner, const struct site_frame *outer);
