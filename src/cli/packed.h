/* Files that the tool writes compressed, as their names ask; and what it was built with. */
#pragma once

#include <stdbool.h>

#include "base/text/pack.h"

/*
 * What is to be written to fd, compressed as `path` ends; NULL in *pack when it asks for nothing. 0
 * or -EINVAL with a sentence in err_text().
 */
int packed_start(struct pack **pack, const char *path, int fd);

/* "with zlib 1.2.13, with zstd 1.5.4, without sqlite": what the tool was built with; true for all.
 */
enum { PACKED_LIBRARIES = 200 };
bool packed_libraries(char text[PACKED_LIBRARIES]);
