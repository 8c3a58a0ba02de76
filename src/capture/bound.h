/* Libraries whose calls go past every preload: loaded with RTLD_DEEPBIND. */
#ifndef CAPTURE_BOUND_H
#define CAPTURE_BOUND_H

#include <stdbool.h>

/*
 * Does a loaded library have a call of the table bound to CUDA itself, not to this library? Takes
 * the loader's lock and reads relocations; for the end of a recording.
 */
bool bound_past_us(void);

#endif
