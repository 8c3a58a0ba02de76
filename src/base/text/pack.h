/*
 * Writing compressed with zlib or zstd, as the end of the file's name asks.
 *
 * Neither library is linked here. The caller gives a function that finds theirs: the tool has them
 * linked, the library in the traced process asks the loader for them at the end.
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

/* The compression that the end of a file's name asks for. */
enum pack_kind pack_named(const char *path);

/* The address of a function of zlib or zstd by its name, NULL when there is none. */
typedef void *pack_find(void *from, const char *name);

struct pack;

/* Starts a pack: the bytes written to it go compressed to fd, which the caller closes. 0, -ENOTSUP
 * when a function is missing, or -ENOMEM. Its memory comes from mmap. */
int pack_start(struct pack **pack, enum pack_kind kind, int fd, pack_find *find, void *from);

/* Sets the descriptor later; nothing is written before the first pack_write(). */
void pack_to(struct pack *pack, int fd);

/* 0, or the -errno of the first failure. An out_sink (base/text/out.h): `pack` is a struct pack. */
int pack_write(void *pack, const char *bytes, size_t length);

/* Writes the end and gives everything back: 0, or the -errno of the first failure. */
int pack_end(struct pack *pack);
