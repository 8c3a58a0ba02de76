/* The life of a guest: constructor, fork, exit. */
#ifndef CAPTURE_LIFE_INIT_H
#define CAPTURE_LIFE_INIT_H

#include <stdbool.h>

/* Was this copy preloaded? One that was dlopened (an injection variable outlived LD_PRELOAD) is
 * inert. */
bool life_preloaded(void);

/* A door or a row of ours is used for the first time: from here on forks are looked at. */
void life_begin(void);

/* The end of the process: the trace is written. Once; later calls find nothing to do. */
void life_finish(void);

#endif
