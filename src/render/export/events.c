/* The export `events`: every event in order, one JSON object a line. Memory use does not grow with
 * the trace. */
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "render/export/formats.h"

int format_events(struct trace *trace, struct out *out, const struct selection_options *options)
{
	int more;

	(void)options; /* all events are written as they are */
	while ((more = trace_copy(trace, out)) == 1 && !out->error)
		out_char(out, '\n');
	return more < 0 ? more : 0;
}
