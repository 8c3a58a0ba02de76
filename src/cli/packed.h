/* Files written compressed, by the ending of their names; and the libraries built in. */
#pragma once

#include <stdbool.h>

#include "base/text/pack.h"

/* Starts the compression that the ending of `path` asks for, of output to fd; *pack is NULL when it
 * asks for none. 0, or -EINVAL with a sentence in err_text(). */
int packed_start(struct pack **pack, const char *path, int fd);

/* "with zlib 1.2.13, with zstd 1.5.4, without sqlite": the libraries that the tool was built with
 * or without; returns true when none is missing. */
enum { PACKED_LIBRARIES = 200 };
bool packed_libraries(char text[PACKED_LIBRARIES]);
