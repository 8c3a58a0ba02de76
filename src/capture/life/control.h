/*
 * What others ask of this process while it runs: a tool through the spool's header (memtrace ctl),
 * or somebody with the signal that the user chose (MEMTRACE_SIGNAL). The next memory event acts
 * upon it (recorder/guest.h).
 */
#ifndef CAPTURE_LIFE_CONTROL_H
#define CAPTURE_LIFE_CONTROL_H

#include "spool/layout.h"

/*
 * MEMTRACE_SIGNAL: installs its handler, unless the program was started with one or ignores the
 * signal. The only handler of the library, and only because the user asked; it stores two words.
 */
void control_init(void);

/* Has the program taken the signal for itself meanwhile? Then that is noted. */
void control_check_signal(void);

/* There is a new spool. With the lock held. */
void control_opened(const struct spool_header *header);

#endif
