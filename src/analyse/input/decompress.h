/*
 * The bytes of a file as they were before it was compressed.
 *
 * What it is compressed with is known by its first bytes, never by its name; what is not compressed
 * passes as it is. Members and frames that follow one another are one stream, as for zcat and
 * zstdcat. Memory is bounded, however much comes out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/text/pack.h"

struct unpack;

struct decompress {
	int fd;
	bool looked; /* at the first bytes */
	char begin[4];
	size_t begun, given;   /* of begin: there, and handed on already */
	enum pack_kind kind;   /* good once something was read */
	struct unpack *unpack; /* NULL when it is not compressed */
};

/* Reads from fd, from where it stands; it stays the caller's. */
void decompress_open(struct decompress *source, int fd);
void decompress_close(struct decompress *source);

/*
 * Fills the buffer unless the end comes first: the count, 0 at the end, or -errno: -ENODATA when
 * compressed data ends too early, -EBADMSG when it is corrupt, -EFBIG when it is
 * a bomb, -ENOTSUP when this tool was built
 * without what it wants. Every later call gives the same.
 */
ssize_t decompress_read(struct decompress *source, char *bytes, size_t size);

/* What the error of decompress_read() means, to stand behind the name of the file. */
const char *decompress_why(const struct decompress *source, int error);

/*
 * What a trace may ask of its reader, so that one that somebody sent cannot take all time and
 * memory: far more than any recording does. What is refused says that --no-limits reads it.
 */
enum {
	/* Of bytes packed, what comes out: a loop of one cudaMalloc and cudaFree has 26. */
	LIMITS_RATIO = 100,
	LIMITS_UNPACKED = 1 << 27, /* bytes that may come out whatever the ratio */
	/* Bytes of memory that facts take, all but events: a stack of 64 frames takes 500. */
	LIMITS_FACTS = 1 << 29,
};

#define LIMITS_LIFT "--no-limits reads it all the same"

/* From now on there are none. */
void limits_lift(void);

bool limits_hold(void);
