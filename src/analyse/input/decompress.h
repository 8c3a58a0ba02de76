/*
 * Reads a file and unpacks it if it is compressed with gzip or zstd.
 *
 * The compression is recognized by the first bytes, never by the name; a file that is not
 * compressed is read unchanged. Gzip members, or zstd frames, that follow one another are one
 * stream, as for zcat and zstdcat. The memory needed does not depend on the size of the result.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/text/pack.h"

struct unpack;

struct decompress {
	int fd;
	bool looked; /* true if the first bytes of the file are in `begin` */
	char begin[4];
	size_t begun, given;   /* number of bytes in `begin`, and how many were returned */
	enum pack_kind kind;   /* set by the first read */
	struct unpack *unpack; /* NULL if the file is not compressed */
};

/* Starts to read at the file's current position. The caller closes fd. */
void decompress_open(struct decompress *source, int fd);
void decompress_close(struct decompress *source);

/*
 * Fills the buffer unless the end or an error comes first. Returns the number of bytes, 0 at the
 * end, or -errno: -ENODATA if compressed data ends too early, -EBADMSG if it is corrupt, -EFBIG if
 * the unpacked data exceeds LIMITS_UNPACKED and LIMITS_RATIO, -ENOTSUP for zstd if the tool was
 * built without it. After an error in compressed data, later calls return the same error.
 */
ssize_t decompress_read(struct decompress *source, char *bytes, size_t size);

/* Returns the message for an error of decompress_read(), to be printed after the file's name. */
const char *decompress_why(const struct decompress *source, int error);

/* Limits for readers of traces, so that a hostile file cannot use up all time and memory. No
 * recording comes near them; the option --no-limits and `memtrace run` turn them off. */
enum {
	/* Maximum unpacked bytes per compressed byte; a recorded loop of cudaMalloc has 26. */
	LIMITS_RATIO = 100,
	LIMITS_UNPACKED = 1 << 27, /* bytes that may be unpacked whatever the ratio is */
	/* Maximum bytes of memory for a trace without its events; a 64-frame stack takes 500. */
	LIMITS_FACTS = 1 << 29,
};

#define LIMITS_LIFT "to read it anyway, add --no-limits"

/* Turns the limits off for the rest of the process. */
void limits_lift(void);

bool limits_hold(void);
