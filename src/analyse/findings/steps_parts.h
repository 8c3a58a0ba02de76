/* Between the two halves of steps.h: finding steps, and measuring them. */
#ifndef ANALYSE_FINDINGS_STEPS_PARTS_H
#define ANALYSE_FINDINGS_STEPS_PARTS_H

#include "analyse/findings/steps.h"

struct steps_found {
	const uint64_t *starts; /* seq of the first event of each */
	size_t count;           /* not 0 */
	uint64_t end;           /* seq of the last event of the last */
};

/* Gives each event of the file to `take`, until one is not 0. That, 0, or -errno with err_text().
 */
typedef int steps_take_fn(void *context, const struct event *event);
int steps_read(const char *path, steps_take_fn *take, void *context);

/* As steps_infer() is said to do once they are found. 0 or -errno with err_text(). */
int steps_put(struct trace *trace, const struct steps_found *found);

#endif
