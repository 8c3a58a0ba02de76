/* What the C API has told that hooks must know (include/memtrace/memtrace.h). */
#ifndef CAPTURE_LIFE_API_H
#define CAPTURE_LIFE_API_H

#include <stdint.h>

/* With the lock held: the pool that this thread takes memory for, a text; 0 for none. */
uint32_t api_growing(void);

#endif
