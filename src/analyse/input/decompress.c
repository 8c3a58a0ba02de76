#include "analyse/input/decompress.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/text/fd.h"

enum {
	BLOCK = 1 << 17,
	GZIP_WINDOW = 15 + 16, /* any window size, with a gzip header (zlib.h, inflateInit2) */
};

struct unpack {
	int (*read)(struct unpack *unpack, void *bytes, size_t size, size_t *got);
	z_stream gzip;
#ifdef HAVE_ZSTD
	ZSTD_DStream *zstd;
#endif
	char block[BLOCK];
	size_t used, at;  /* number of bytes in `block`, and how many were unpacked */
	bool ended;       /* true after the end of the file */
	bool between;     /* true after a gzip member or zstd frame, where the file may end */
	uint64_t in, out; /* bytes read from the file, bytes unpacked from them */
	int error;
};

static bool limits_lifted;

void limits_lift(void)
{
	limits_lifted = true;
}

bool limits_hold(void)
{
	return !limits_lifted;
}

/* Recognizes gzip (RFC 1952) and zstd (RFC 8878), which may begin with a skippable frame. */
static enum pack_kind kind_of(const char *begin, size_t length)
{
	if (length >= 2 && !memcmp(begin, "\x1f\x8b", 2))
		return PACK_GZIP;
	if (length == 4 && (!memcmp(begin, "\x28\xb5\x2f\xfd", 4) ||
			    ((begin[0] & 0xf0) == 0x50 && !memcmp(begin + 1, "\x2a\x4d\x18", 3))))
		return PACK_ZSTD;
	return PACK_NONE;
}

/* --- gzip --- */

/* After a gzip member: skips zeros, which may follow on tapes; starts the next member, if any. */
static int gzip_next(struct unpack *unpack)
{
	while (unpack->at < unpack->used && !unpack->block[unpack->at])
		unpack->at++;
	if (unpack->at == unpack->used)
		return 0;
	unpack->between = false;
	return inflateReset(&unpack->gzip) == Z_OK ? 0 : -EBADMSG;
}

static int gzip_read(struct unpack *unpack, void *bytes, size_t size, size_t *got)
{
	z_stream *stream = &unpack->gzip;
	int result;

	if (unpack->between) {
		int error = gzip_next(unpack);

		if (error || unpack->between)
			return error;
	}
	stream->next_in = (Bytef *)unpack->block + unpack->at;
	stream->avail_in = (uInt)(unpack->used - unpack->at);
	stream->next_out = bytes;
	stream->avail_out = (uInt)size;
	result = inflate(stream, Z_NO_FLUSH);
	unpack->at = unpack->used - stream->avail_in;
	*got = size - stream->avail_out;
	unpack->between = result == Z_STREAM_END;
	if (result == Z_MEM_ERROR)
		return -ENOMEM;
	/* After Z_BUF_ERROR, read_unpacked() reads more or finds that the file ends too early. */
	return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR ? 0 : -EBADMSG;
}

/* --- zstd --- */

#ifdef HAVE_ZSTD
static int zstd_read(struct unpack *unpack, void *bytes, size_t size, size_t *got)
{
	ZSTD_inBuffer in = { unpack->block, unpack->used, unpack->at };
	ZSTD_outBuffer out = { bytes, size, 0 };
	size_t left;

	if (unpack->between && in.pos == in.size)
		return 0;
	left = ZSTD_decompressStream(unpack->zstd, &out, &in);
	unpack->at = in.pos;
	*got = out.pos;
	unpack->between = !left;
	return ZSTD_isError(left) ? -EBADMSG : 0;
}
#endif

/* --- gzip and zstd --- */

void decompress_open(struct decompress *source, int fd)
{
	*source = (struct decompress){ .fd = fd };
}

void decompress_close(struct decompress *source)
{
	struct unpack *unpack = source->unpack;

	if (unpack) {
		inflateEnd(&unpack->gzip); /* does nothing for a zstd file */
#ifdef HAVE_ZSTD
		ZSTD_freeDStream(unpack->zstd);
#endif
	}
	free(unpack);
	*source = (struct decompress){ .fd = -1 };
}

static int start_kind(struct unpack *unpack, enum pack_kind kind)
{
	if (kind == PACK_GZIP) {
		unpack->read = gzip_read;
		return inflateInit2(&unpack->gzip, GZIP_WINDOW) == Z_OK ? 0 : -ENOMEM;
	}
#ifdef HAVE_ZSTD
	unpack->read = zstd_read;
	unpack->zstd = ZSTD_createDStream();
	return unpack->zstd ? 0 : -ENOMEM;
#else
	return -ENOTSUP;
#endif
}

static int start_stream(struct decompress *source)
{
	struct unpack *unpack = calloc(1, sizeof(*unpack));
	ssize_t more;

	if (!unpack)
		return -ENOMEM;
	source->unpack = unpack;
	unpack->error = start_kind(unpack, source->kind);
	/* Reads a full block: zstd 1.5.4, if given 4 bytes first, takes the rest as a new frame. */
	memcpy(unpack->block, source->begin, source->begun);
	more = fd_read_all(source->fd, unpack->block + source->begun, BLOCK - source->begun);
	if (more < 0)
		unpack->error = (int)more;
	unpack->used = source->begun + (more > 0 ? (size_t)more : 0);
	unpack->in = unpack->used;
	return unpack->error;
}

static int look_ahead(struct decompress *source)
{
	ssize_t length = fd_read_all(source->fd, source->begin, sizeof(source->begin));

	if (length < 0)
		return (int)length;
	source->looked = true;
	source->begun = (size_t)length;
	source->kind = kind_of(source->begin, source->begun);
	return source->kind ? start_stream(source) : 0;
}

static int refill(struct decompress *source)
{
	struct unpack *unpack = source->unpack;
	ssize_t length;

	if (unpack->at < unpack->used || unpack->ended)
		return 0;
	length = fd_read_all(source->fd, unpack->block, sizeof(unpack->block));
	if (length < 0)
		return (int)length;
	unpack->at = 0;
	unpack->used = (size_t)length;
	unpack->in += (uint64_t)length;
	unpack->ended = !length;
	return 0;
}

static ssize_t read_unpacked(struct decompress *source, char *bytes, size_t size)
{
	struct unpack *unpack = source->unpack;
	size_t total = 0;

	while (total < size && !unpack->error) {
		size_t part = size - total < BLOCK ? size - total : BLOCK;
		size_t before;
		size_t got = 0;

		unpack->error = refill(source);
		if (unpack->error)
			break;
		before = unpack->at;
		unpack->error = unpack->read(unpack, bytes + total, part, &got);
		total += got;
		unpack->out += got;
		if (unpack->out > LIMITS_UNPACKED && unpack->out / LIMITS_RATIO > unpack->in &&
		    limits_hold())
			unpack->error = -EFBIG;
		if (got || unpack->at > before || !unpack->ended || unpack->error)
			continue;
		if (!unpack->between)
			unpack->error = -ENODATA;
		break;
	}
	return total || !unpack->error ? (ssize_t)total : unpack->error;
}

static ssize_t read_plain(struct decompress *source, char *bytes, size_t size)
{
	size_t part = source->begun - source->given;
	ssize_t length;

	if (part > size)
		part = size;
	memcpy(bytes, source->begin + source->given, part);
	source->given += part;
	length = fd_read_all(source->fd, bytes + part, size - part);
	return length < 0 ? length : (ssize_t)part + length;
}

ssize_t decompress_read(struct decompress *source, char *bytes, size_t size)
{
	int error = source->looked ? 0 : look_ahead(source);

	if (error)
		return error;
	return source->unpack ? read_unpacked(source, bytes, size)
			      : read_plain(source, bytes, size);
}

const char *decompress_why(const struct decompress *source, int error)
{
	switch (error) {
	case -ENODATA:
		return source->kind == PACK_GZIP ? "truncated: the gzip data ends too early"
						 : "truncated: the zstd data ends too early";
	case -EBADMSG:
		return source->kind == PACK_GZIP ? "the gzip data is corrupt"
						 : "the zstd data is corrupt, or needs a window of "
						   "more than 128 MiB";
	case -EFBIG:
		return "the file unpacks to more than 100 times its size, as no recording "
		       "does; " LIMITS_LIFT;
	case -ENOTSUP:
		return "compressed with zstd, which this build of memtrace cannot unpack; "
		       "run: zstdcat FILE | memtrace report -";
	default:
		return strerror(-error);
	}
}
