/* The table of the comparison's formats. */
#include "render/compare/diff.h"

const struct diff_format diff_formats[] = {
#define DIFF_FORMAT(name, help) { #name, help, diff_##name },
#include "render/compare/diff_formats.def"
#undef DIFF_FORMAT
	{ NULL, NULL, NULL },
};
