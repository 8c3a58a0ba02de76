/* The export `events`: every event in order, a JSON object a line, in constant memory. */
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
