/* The like of libunload1.c. */
#define UNLOAD_FRAME 4096
#define UNLOAD_INNER unload2_inner
#define UNLOAD_DEEPER unload2_deeper
#include "libunload1.c"
