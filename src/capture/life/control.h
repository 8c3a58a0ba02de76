/*
 * What others ask of this process while it runs: a tool through the spool's header (memtrace ctl),
 * or somebody with the signal that the user chose (MEMTRACE_SIGNAL).
 *
 * Each memory event looks whether there is something, with a load and a compare; then it acts.
 */
#ifndef CAPTURE_LIFE_CONTROL_H
#define CAPTURE_LIFE_CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "spool/layout.h"

extern _Atomic uint32_t control_seen; /* what `asked` was when it was last looked at */

static inline bool control_asked(const struct spool_header *header)
{
	return atomic_load_explicit(&header->asked, memory_order_relaxed) !=
	       atomic_load_explicit(&control_seen, memory_order_relaxed);
}

/*
 * MEMTRACE_SIGNAL: installs its handler, unless the program was started with one or ignores the
 * signal. The only handler of the library, and only because the user asked; it stores two words.
 */
void control_init(void);

/* Has the program taken the signal for itself meanwhile? Then that is noted. */
void control_check_signal(void);

/* Acts upon all that was asked. Takes the recorder's lock; there is a spool. */
void control_act(void);

/* There is a new spool. With the lock held. */
void control_opened(const struct spool_header *header);

#endif
