/* Compresses the tool's output with the zlib and zstd that it is linked with. */
#include "cli/packed.h"
#include "base/mem/each.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#define ZSTD_STATIC_LINKING_ONLY 1 /* for ZSTD_createCCtx_advanced() */
#include <zstd.h>
#define ZSTD_VERSION_HERE ZSTD_versionString()
#else
#define ZSTD_VERSION_HERE NULL
#endif
#ifdef HAVE_SQLITE
#include <sqlite3.h>
#define SQLITE_VERSION_HERE sqlite3_libversion()
#else
#define SQLITE_VERSION_HERE NULL
#endif

#include "analyse/input/error.h"
#include "render/emit/term.h"

static const struct {
	const char *name;
	void *function;
} functions[] = {
	{ "deflateInit2_", (void *)deflateInit2_ },
	{ "deflate", (void *)deflate },
	{ "deflateEnd", (void *)deflateEnd },
#ifdef HAVE_ZSTD
	{ "ZSTD_createCCtx_advanced", (void *)ZSTD_createCCtx_advanced },
	{ "ZSTD_CCtx_setParameter", (void *)ZSTD_CCtx_setParameter },
	{ "ZSTD_compressStream2", (void *)ZSTD_compressStream2 },
	{ "ZSTD_isError", (void *)ZSTD_isError },
	{ "ZSTD_freeCCtx", (void *)ZSTD_freeCCtx },
#endif
};

static void *find_symbol(void *unused, const char *name)
{
	(void)unused;
	foreach (function, functions, COUNT_OF(functions)) {
		if (!strcmp(function->name, name))
			return function->function;
	}
	return NULL;
}

int packed_start(struct pack **pack, enum pack_kind kind, const char *path, int fd)
{
	int error;

	*pack = NULL;
	if (!kind)
		return 0;
	error = pack_start(pack, kind, fd, find_symbol, NULL);
	if (error == -ENOTSUP)
		return err("%s: this memtrace was built without %s: choose a name without %s", path,
			   pack_rows[kind].word, pack_rows[kind].suffix);
	return error ? err("%s: %s", path ? path : "standard output", strerror(-error)) : 0;
}

bool packed_libraries(char text[PACKED_LIBRARIES])
{
	const struct {
		const char *name, *version; /* version: NULL if built without the library */
	} libraries[] = {
		{ "zlib", zlibVersion() },
		{ "zstd", ZSTD_VERSION_HERE },
		{ "sqlite", SQLITE_VERSION_HERE },
	};
	bool all = true;

	text[0] = '\0';
	for (size_t i = 0; i < COUNT_OF(libraries); i++) {
		const char *version = libraries[i].version;

		all = all && version;
		show_more(text, PACKED_LIBRARIES, "%s%s %s%s%s", i ? ", " : "",
			  version ? "with" : "without", libraries[i].name, version ? " " : "",
			  version ? version : "");
	}
	return all;
}
