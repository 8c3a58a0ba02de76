/*
 * Compresses a trace with zlib or zstd.
 *
 * The levels are low, because the traced program cannot exit before its trace is written, and
 * similar lines of JSON shrink to a tenth of their size at any level.
 */
#include "base/text/pack.h"

#include <errno.h>
#include <zlib.h>

#include "base/guest/table_rows.h"
#include "base/mem/arena.h"
#include "base/text/fd.h"
#include "base/text/text.h"

enum {
	BLOCK = 1 << 16,
	FRONT = 64,
	GZIP_LEVEL = 2,
	GZIP_WINDOW = 15 + 16, /* 15: largest window; 16: gzip header (zlib.h, deflateInit2) */
	GZIP_MEMORY = 8,       /* zlib's own default */
	ZSTD_LEVEL = 3,        /* zstd's own default */
};

/* Constants of zstd.h (stable since 1.4.0), which may not be installed where this is compiled. */
enum { ZSTD_PARAMETER_LEVEL = 100, ZSTD_PARAMETER_CHECKSUM = 201 };
enum { ZSTD_CONTINUE = 0, ZSTD_END = 2 };

/* Layout of zstd's ZSTD_customMem, which is passed by value. */
struct zstd_memory {
	void *(*take)(void *unused, size_t size);
	void (*give)(void *unused, void *p);
	void *unused;
};

/* Layout of ZSTD_inBuffer and ZSTD_outBuffer; zstd never writes to the bytes of an inBuffer. */
struct zstd_buffer {
	void *bytes;
	size_t size, at;
};

struct gzip {
	__typeof__(&deflateInit2_) init;
	__typeof__(&deflate) go;
	__typeof__(&deflateEnd) end;
	z_stream stream;
};

struct zstd {
	void *(*create)(struct zstd_memory memory);
	size_t (*set)(void *context, int parameter, int value);
	size_t (*go)(void *context, struct zstd_buffer *out, struct zstd_buffer *in, int directive);
	unsigned (*failed)(size_t result);
	size_t (*end)(void *context);
	void *context;
};

struct pack {
	enum pack_kind kind;
	int fd;
	int error;
	union {
		struct gzip gzip;
		struct zstd zstd;
	};
	char block[BLOCK];
};

const struct pack_row pack_rows[PACK_KINDS] = {
#define PACK(id, word, suffix, library) \
	[PACK_##id] = { WHOLE(word), WHOLE(suffix), WHOLE(library) },
#include "base/text/pack.def"
};

enum pack_kind pack_named(const char *path)
{
	for (int kind = PACK_NONE + 1; kind < PACK_KINDS; kind++) {
		if (text_ends(path, pack_rows[kind].suffix))
			return (enum pack_kind)kind;
	}
	return PACK_NONE;
}

/* Allocates for zlib and zstd, which must not use malloc(). The size is stored before the block. */
static void *take_memory(void *unused, size_t size)
{
	size_t bytes = size + FRONT;
	char *p = pages_grow(NULL, 0, bytes);

	(void)unused;
	if (!p)
		return NULL;
	*(size_t *)(void *)p = bytes;
	return p + FRONT;
}

static void give(void *unused, void *p)
{
	char *begin = (char *)p - FRONT;

	(void)unused;
	pages_free(begin, *(size_t *)(void *)begin);
}

/* --- gzip --- */

static void *take_items(void *unused, unsigned items, unsigned size)
{
	return take_memory(unused, (size_t)items * size);
}

static int gzip_start(struct gzip *gzip, pack_find *find, void *from)
{
	*(void **)&gzip->init = find(from, "deflateInit2_");
	*(void **)&gzip->go = find(from, "deflate");
	*(void **)&gzip->end = find(from, "deflateEnd");
	if (!gzip->init || !gzip->go || !gzip->end)
		return -ENOTSUP;
	gzip->stream.zalloc = take_items;
	gzip->stream.zfree = give;
	switch (gzip->init(&gzip->stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			   Z_DEFAULT_STRATEGY, ZLIB_VERSION, (int)sizeof(gzip->stream))) {
	case Z_OK:
		return 0;
	case Z_MEM_ERROR:
		return -ENOMEM;
	default:
		return -ENOTSUP; /* the loaded zlib does not match the zlib.h of the build */
	}
}

static int gzip_write(struct pack *pack, const char *bytes, size_t length, bool last)
{
	z_stream *stream = &pack->gzip.stream;
	int result;
	int error = 0;

	stream->next_in = (z_const Bytef *)bytes;
	stream->avail_in = (uInt)length;
	do {
		stream->next_out = (Bytef *)pack->block;
		stream->avail_out = sizeof(pack->block);
		result = pack->gzip.go(stream, last ? Z_FINISH : Z_NO_FLUSH);
		if (result == Z_STREAM_ERROR)
			return -EIO;
		error = fd_write_all(pack->fd, pack->block,
				     sizeof(pack->block) - stream->avail_out);
	} while (!error && !stream->avail_out);
	return error;
}

/* --- zstd --- */

static int zstd_start(struct zstd *zstd, pack_find *find, void *from)
{
	struct zstd_memory memory = { 0 };

	*(void **)&zstd->create = find(from, "ZSTD_createCCtx_advanced");
	*(void **)&zstd->set = find(from, "ZSTD_CCtx_setParameter");
	*(void **)&zstd->go = find(from, "ZSTD_compressStream2");
	*(void **)&zstd->failed = find(from, "ZSTD_isError");
	*(void **)&zstd->end = find(from, "ZSTD_freeCCtx");
	if (!zstd->create || !zstd->set || !zstd->go || !zstd->failed || !zstd->end)
		return -ENOTSUP;
	memory.take = take_memory;
	/* Keeps the compiler from making a constant table of pointers (base/guest/table_rows.h). */
	__asm__("" : "+m"(memory));
	memory.give = give;
	zstd->context = zstd->create(memory);
	if (!zstd->context)
		return -ENOMEM;
	zstd->set(zstd->context, ZSTD_PARAMETER_LEVEL, ZSTD_LEVEL);
	zstd->set(zstd->context, ZSTD_PARAMETER_CHECKSUM, 1);
	return 0;
}

static int zstd_write(struct pack *pack, const char *bytes, size_t length, bool last)
{
	struct zstd_buffer in = { (void *)bytes, length, 0 };
	bool more = true;
	int error = 0;

	while (!error && more) {
		struct zstd_buffer out = { pack->block, sizeof(pack->block), 0 };
		size_t left = pack->zstd.go(pack->zstd.context, &out, &in,
					    last ? ZSTD_END : ZSTD_CONTINUE);

		if (pack->zstd.failed(left))
			return -EIO;
		error = fd_write_all(pack->fd, pack->block, out.at);
		more = last ? left > 0 : in.at < in.size;
	}
	return error;
}

int pack_start(struct pack **pack, enum pack_kind kind, int fd, pack_find *find, void *from)
{
	struct pack *started = pages_grow(NULL, 0, sizeof(*started));
	int error;

	if (!started)
		return -ENOMEM;
	started->kind = kind;
	started->fd = fd;
	error = kind == PACK_GZIP ? gzip_start(&started->gzip, find, from)
				  : zstd_start(&started->zstd, find, from);
	if (error)
		pages_free(started, sizeof(*started));
	else
		*pack = started;
	return error;
}

void pack_to(struct pack *pack, int fd)
{
	pack->fd = fd;
}

static int pack_go(struct pack *pack, const char *bytes, size_t length, bool last)
{
	if (!pack->error)
		pack->error = pack->kind == PACK_GZIP ? gzip_write(pack, bytes, length, last)
						      : zstd_write(pack, bytes, length, last);
	return pack->error;
}

int pack_write(void *pack, const char *bytes, size_t length)
{
	return pack_go(pack, bytes, length, false);
}

int pack_end(struct pack *pack)
{
	int error = pack_go(pack, NULL, 0, true);

	if (pack->kind == PACK_GZIP)
		pack->gzip.end(&pack->gzip.stream);
	else
		pack->zstd.end(pack->zstd.context);
	pages_free(pack, sizeof(*pack));
	return error;
}
