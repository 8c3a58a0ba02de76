/* Compressed output, chosen by the ending of a file's name, and the libraries that it needs. */
#pragma once

#include <stdbool.h>

#include "base/text/pack.h"

/* Starts to compress output to fd if `path` ends in .gz or .zst; otherwise *pack is NULL. Returns
 * 0, or -EINVAL with err_text(). */
int packed_start(struct pack **pack, const char *path, int fd);

/* Writes "with zlib 1.2.13, with zstd 1.5.4, without sqlite" for the libraries that the tool was
 * built with; true if it has all of them. */
enum { PACKED_LIBRARIES = 200 };
bool packed_libraries(char text[PACKED_LIBRARIES]);
