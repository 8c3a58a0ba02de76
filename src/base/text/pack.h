/*
 * Compresses output by zlib or zstd, chosen by the suffix of the file's name (pack.def).
 *
 * This code is linked with neither library: its caller passes a function that finds theirs. The
 * tool is linked with both. libmemtrace.so loads one when it writes the trace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum pack_kind {
	PACK_NONE,
#define PACK(id, word, suffix, library) PACK_##id,
#include "base/text/pack.def"
#undef PACK
	PACK_KINDS
};

struct pack_row {
	char word[8], suffix[8], library[24]; /* "" for PACK_NONE */
};

extern const struct pack_row pack_rows[PACK_KINDS];

/* The compression that the suffix of a path selects; PACK_NONE if it selects none. */
enum pack_kind pack_named(const char *path);

/* Finds a function of zlib or zstd by name; `from` is pack_start()'s argument. NULL if missing. */
typedef void *pack_find(void *from, const char *name);

struct pack;

/* Starts a compressed stream into fd, which the caller closes; pack_end() frees it. Returns 0,
 * -ENOTSUP if a function is missing, or -ENOMEM. Its memory comes from mmap. */
int pack_start(struct pack **pack, enum pack_kind kind, int fd, pack_find *find, void *from);

/* Sets the descriptor, if pack_start() had none yet; to be called before pack_write(). */
void pack_to(struct pack *pack, int fd);

/* Adds bytes: 0, or the first failure's -errno. The type is that of an out_sink (out.h). */
int pack_write(void *pack, const char *bytes, size_t length);

/* Writes the end and frees the stream. Returns 0, or the -errno of the first failure. */
int pack_end(struct pack *pack);
