/* The formats that a trace can be exported to, as a table. */
#include "render/formats.h"

#include <stddef.h>

const struct format formats[] = {
#define FORMAT(name, extension, help) { #name, extension, help, format_##name },
#include "render/formats.def"
#undef FORMAT
	{ NULL, NULL, NULL, NULL },
};
