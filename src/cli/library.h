/* The preload library, and the programs it can be preloaded into. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The absolute path of libmemtrace.so: MEMTRACE_LIBRARY, else beside this executable, in ../lib, or
 * where systems keep libraries. 0, or -EINVAL and a sentence in err_text().
 */
int library_find(char *path, size_t size);

/* LD_PRELOAD with the library in front of what is there already. 0 or -EINVAL. */
int library_preload(const char *library, char *value, size_t size);

/* The file that execvp() would run. 0, or -errno (-ENOENT, -EACCES). */
int program_find(const char *name, char *path, size_t size);

/* Why the loader would not preload anything into the program; false when it would. */
bool program_refuses(const char *path, char *why, size_t size);

/* Does the program (a file, or a name in PATH) need the runtime of AddressSanitizer, which wants to
 * be loaded before everything else, as a library? */
bool sanitizer_in(const char *program);

/*
 * If it does, or if LD_PRELOAD names the runtime: lets the runtime be content with not being the
 * first, by its own setting in ASAN_OPTIONS. What the user has set there about it is left alone.
 */
void sanitizer_admit(const char *program);
