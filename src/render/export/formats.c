/* The table of the formats that `memtrace export` writes. */
#include "render/export/formats.h"

#include <stddef.h>

enum {
	AT = FORMAT_AT,
	METRIC = FORMAT_METRIC,
	SELECT = FORMAT_SELECT,
	BINARY = FORMAT_BINARY,
	GZIPPED = FORMAT_GZIPPED,
	BY = FORMAT_BY,
};

const struct format formats[] = {
#define FORMAT(id, name, extension, takes, help) \
	{ name, help " (." extension ")", extension, takes, format_##id },
#include "render/export/formats.def"
	{ NULL, NULL, NULL, 0, NULL },
};
