/* What the parts of an explanation share: oom.c finds what is known, oom_then.c what was live. */
#ifndef FACTS_OOM_OOM_PARTS_H
#define FACTS_OOM_OOM_PARTS_H

#include "facts/live_at.h"
#include "facts/oom/oom.h"

/*
 * Fills pools, holders, shares and lines, and the facts about them, from what was live at the
 * failure. 0 or -ENOMEM.
 */
int oom_then(struct oom *oom, struct recording *recording, const struct census *census);

#endif
