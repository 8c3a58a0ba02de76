/* The export `events`: writes every event in order, each as a line of JSON, in constant memory. */
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "render/export/formats.h"

int format_events(struct trace *trace, struct out *out, const struct selection_options *options)
{
	int more;

	(void)options; /* not used: all events are written */
	while ((more = trace_copy(trace, out)) == 1 && !out->error)
		out_char(out, '\n');
	return more < 0 ? more : 0;
}
