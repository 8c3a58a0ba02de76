/*
 * Offsets into function names, from the symbol tables of ELF files (.symtab, else .dynsym).
 *
 * Also used at the end of the traced program: it maps the file, reads each table once, and
 * allocates from the caller's arena alone.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/mem/arena.h"

struct symbol_query {
	uint64_t offset;    /* an address of the ELF file's own address space */
	const char *symbol; /* answer: the name as it stands in the file, NULL if none covers it */
	uint64_t start, size;   /* answer: where that symbol lies */
	uint32_t module, frame; /* who asks */
};

/*
 * Answers queries, which must be sorted by offset. A file that is not there, or whose build-id (in
 * hexadecimal, NULL or "" when unknown) is another one's, answers none. 0 or -errno.
 */
int symbols_find(const char *path, const char *build_id, struct symbol_query *queries, size_t count,
		 struct arena *arena);

/* Names of C++ functions. */
enum symbols_names {
	SYMBOLS_DEMANGLED, /* by the libstdc++ that is there, if there is one */
	SYMBOLS_LOAD,      /* it may be loaded for them (the tool) */
	SYMBOLS_MANGLED,   /* as the files spell them: malloc is not to be called */
};

/*
 * The C++ name in the arena, or the symbol itself when it is no mangled name or nothing here can
 * demangle. It takes memory from malloc.
 */
const char *symbols_demangle(const char *symbol, enum symbols_names names, struct arena *arena);
