/* What calls of libraries are bound to: of those that go past every preload, and of ours. */
#ifndef CAPTURE_LOADER_LIBC_BINDING_H
#define CAPTURE_LOADER_LIBC_BINDING_H

#include <stdbool.h>

/*
 * Does a loaded library have a call of the table bound to CUDA itself, not to this library? Takes
 * the loader's lock and reads relocations; for the end of a recording.
 */
bool bound_past_us(void);

/*
 * Binds, once, all that this library calls of libc, to libc itself. The Makefile leaves each to its
 * first call (LIB_LAYOUT), but a lookup takes 2 KiB of the caller's stack, which a handler may not
 * have, and another preload that stands before libc may have ended when our end comes, or tell
 * another time than the kernel does (libfaketime). Takes the loader's lock.
 */
void bound_bind(void);

/*
 * From here on the library calls this function where it has bound the name. `library` is what
 * dlopen() gave.
 */
void bound_replace(void *library, const char *name, void *function);

#endif
