/* The preload library, and the programs it can be preloaded into. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The absolute path of libmemtrace.so: MEMTRACE_LIBRARY, else beside this executable, in ../lib, or
 * where systems keep libraries. 0, or -EINVAL and a sentence in err_text(). */
int library_find(char *path, size_t size);

/* Writes LD_PRELOAD with the library before those that it names already. 0 or -EINVAL. */
int library_preload(const char *library, char *value, size_t size);

/* Finds the file that execvp() would run. 0, or -errno (-ENOENT, -EACCES). */
int program_find(const char *name, char *path, size_t size);

/* True if the loader would not preload anything into the program; `why` is the reason then. */
bool program_refuses(const char *path, char *why, size_t size);

/* True if the program (a file, or a name in PATH) needs the runtime of AddressSanitizer as a
 * library; that runtime has to be loaded before everything else. */
bool sanitizer_in(const char *program);

/*
 * If it does, or if LD_PRELOAD names the runtime: sets the option in ASAN_OPTIONS that lets the
 * runtime start although it is not loaded first. If the user has set that option, it stays as it
 * is.
 */
void sanitizer_admit(const char *program);
