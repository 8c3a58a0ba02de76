/*
 * The bytes of a file as they were before it was compressed.
 *
 * The kind of compression is known from the first bytes, never from the name; a file that is not
 * compressed passes unchanged. Members and frames that follow one another are one stream, as for
 * zcat and zstdcat. Memory is bounded, whatever the size of the result.
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
	enum pack_kind kind;   /* valid after the first read */
	struct unpack *unpack; /* NULL when it is not compressed */
};

/* Reads from fd, from where it stands; it stays the caller's. */
void decompress_open(struct decompress *source, int fd);
void decompress_close(struct decompress *source);

/*
 * Fills the buffer unless the end comes first. Returns the count, 0 at the end, or -errno: -ENODATA
 * when compressed data ends too early, -EBADMSG when it is corrupt, -EFBIG when it unpacks to far
 * more than LIMITS_RATIO allows, -ENOTSUP when this tool was built without the library that it
 * needs. Every later call returns the same.
 */
ssize_t decompress_read(struct decompress *source, char *bytes, size_t size);

/* The meaning of an error of decompress_read(), as a text that follows the name of the file. */
const char *decompress_why(const struct decompress *source, int error);

/* Limits of a trace, so that a file from somebody else cannot take all time and memory: far more
 * than any recording needs. The message of a refusal names --no-limits, which lifts them. */
enum {
	/* Bytes unpacked for each packed byte: a loop of one cudaMalloc and cudaFree has 26. */
	LIMITS_RATIO = 100,
	LIMITS_UNPACKED = 1 << 27, /* bytes that may come out whatever the ratio */
	/* Bytes of memory that facts take, all but events: a stack of 64 frames takes 500. */
	LIMITS_FACTS = 1 << 29,
};

#define LIMITS_LIFT "--no-limits reads it all the same"

/* Lifts the limits. */
void limits_lift(void);

bool limits_hold(void);
