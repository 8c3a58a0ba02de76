/* Finds the library to preload, and checks programs for reasons why it cannot be preloaded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Finds libmemtrace.so and writes its absolute path: MEMTRACE_LIBRARY if it is set, else a file
 * near this executable or in a system directory. Returns 0, or -EINVAL with err_text(). */
int library_find(char *path); /* PATH_MAX bytes */

/* Writes a value for LD_PRELOAD: the library, then the old value. 0, or -EINVAL with err_text(). */
int library_preload(const char *library, char *value, size_t size);

/* Finds the file that execvp() would run for a name. Returns 0, or -ENOENT, -EACCES and so on. */
int program_find(const char *name, char *path, size_t size);

/* True, and writes why, if the loader preloads nothing into the program. False if it preloads, and
 * also if the file cannot be read. */
bool program_refuses(const char *path, char *why, size_t size);

/* True if the program (a path, or a name in PATH) needs AddressSanitizer's runtime as a shared
 * library, which must be loaded before all others. */
bool sanitizer_in(const char *program);

/*
 * If sanitizer_in() is true, or LD_PRELOAD names that runtime: sets verify_asan_link_order=0 in
 * ASAN_OPTIONS, so that the runtime starts although it is not loaded first. A value that the user
 * has set is kept.
 */
void sanitizer_admit(const char *program);
