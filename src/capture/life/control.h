/*
 * Requests to this process while it runs: by a tool through the spool's header (memtrace ctl), or
 * by the signal that the user chose (MEMTRACE_SIGNAL). The next memory event carries them out
 * (recorder/guest.h).
 */
#ifndef CAPTURE_LIFE_CONTROL_H
#define CAPTURE_LIFE_CONTROL_H

#include "spool/layout.h"

/*
 * MEMTRACE_SIGNAL: installs its handler, unless the program was started with one or ignores the
 * signal. The only handler of the library, and only because the user asked; it stores two words.
 */
void control_init(void);

/* Notes it if the program has taken the signal for itself meanwhile. */
void control_check_signal(void);

/* There is a new spool. With the lock held. */
void control_opened(const struct spool_header *header);

#endif
