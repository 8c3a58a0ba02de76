/* The formats of `memtrace merge`, by name. */
#include "render/ranks/ranks.h"

const struct merge_format merge_formats[] = {
#define MERGE_FORMAT(name, help) { #name, help, merge_##name },
#include "render/ranks/ranks_formats.def"
#undef MERGE_FORMAT
	{ NULL, NULL, NULL },
};
