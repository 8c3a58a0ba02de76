#include "render/export/export.h"

#include <string.h>

#include "analyse/input/error.h"
#include "analyse/lifetimes/timepoint.h"

/* Makes `wish` end with the event at which the selected bytes peak; reads the trace to find it. */
static int find_highest(struct replay_wish *wish, const struct trace *trace)
{
	struct trace again;
	struct replay replay;
	int error;

	if (trace->once)
		return err("%s can be read only once; give a file for --at peak", trace->path);
	error = trace_open(&again, trace->path);
	if (error)
		return error;
	error = replay_run(&replay, &again, wish);
	if (!error) {
		wish->to = UINT64_MAX;
		wish->last = replay.seq;
		replay_clear(&replay);
	}
	trace_close(&again);
	return error;
}

int export_find_end(struct replay_wish *end, const struct trace *trace,
		    const struct selection_options *options)
{
	char what[300];
	int error;

	*end = (struct replay_wish){ .device = options->device,
				     .pool = options->pool,
				     .space = SPACES,
				     .to = UINT64_MAX,
				     .last = UINT64_MAX };
	if (!options->at)
		return 0;
	error = moment_find(end, trace, options->at, what, sizeof(what));
	return !error && end->moment == REPLAY_PEAK ? find_highest(end, trace) : error;
}

bool export_wants(const struct trace *trace, const struct selection_options *options, int device,
		  uint32_t pool)
{
	const char *name = options->pool ? trace_text(trace, pool) : NULL;

	return (options->device == NO_DEVICE || options->device == device) &&
	       (!options->pool || (name && !strcmp(name, options->pool)));
}
