/* Compressed output, chosen by the ending of a file's name, and the libraries that it needs. */
#pragma once

#include <stdbool.h>

#include "base/text/pack.h"

/* Starts to compress output to fd; for PACK_NONE *pack becomes NULL. Messages name `path`, NULL
 * for standard output. The caller calls pack_end(). Returns 0, or -EINVAL with err_text(). */
int packed_start(struct pack **pack, enum pack_kind kind, const char *path, int fd);

/* Writes which libraries the tool was built with: "with zlib 1.2.13, with zstd 1.5.4, without
 * sqlite". True if it was built with all of them. */
enum { PACKED_LIBRARIES = 200 };
bool packed_libraries(char text[PACKED_LIBRARIES]);
