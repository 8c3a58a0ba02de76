/*
 * Compresses output with zlib or zstd, chosen by the suffix of the file's name (pack.def).
 *
 * This code is not linked with these libraries: its caller passes a function that looks up their
 * functions. The tool is linked with zlib, and with zstd if the build has it; libmemtrace.so loads
 * the library that it needs.
 */
#pragma once

#include <stddef.h>

enum pack_kind {
	PACK_NONE,
#define PACK(id, word, suffix, library) PACK_##id,
#include "base/text/pack.def"
	PACK_KINDS
};

struct pack_row {
	char word[8], suffix[8], library[24]; /* "" for PACK_NONE */
};

extern const struct pack_row pack_rows[PACK_KINDS];

/* Returns the compression that a path's suffix selects, PACK_NONE if it selects none. */
enum pack_kind pack_named(const char *path);

/* Returns the library's function `name`, NULL if missing; `from` is pack_start()'s argument. */
typedef void *pack_find(void *from, const char *name);

struct pack;

/* Starts a stream that compresses into fd, with memory from mmap; pack_end() frees it and leaves fd
 * open. Returns 0, -ENOMEM, or -ENOTSUP if a function is missing or zlib is incompatible. */
int pack_start(struct pack **pack, enum pack_kind kind, int fd, pack_find *find, void *from);

/* Sets the descriptor if it was not known yet at pack_start(). To be called before pack_write(). */
void pack_to(struct pack *pack, int fd);

/* Compresses bytes. Returns 0 or the first failure's -errno. Can serve as an out_sink (out.h). */
int pack_write(void *pack, const char *bytes, size_t length);

/* Writes the end of the stream and frees it. Returns 0, or the -errno of the first failure. */
int pack_end(struct pack *pack);
