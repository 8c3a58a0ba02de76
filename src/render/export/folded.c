/* The export `folded`: a line for each stack, "outermost;...;innermost BYTES": flamegraph.pl's
 * format, which inferno, speedscope and Firefox Profiler read as well. */
#include <string.h>

#include "base/text/out.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "render/export/formats.h"
#include "render/selection/flame_weights.h"

/* Writes a frame's text; replaces line breaks and ';', which separate stacks and frames. */
static void put_text(struct out *out, char *text)
{
	char *p = text;

	utf8_clean(text);
	while ((p = strchr(p, ';')))
		*p = ':';
	out_text(out, text);
}

static void put_bytes(struct out *out, uint64_t bytes)
{
	out_char(out, ' ');
	out_u64(out, bytes);
	out_char(out, '\n');
}

static void put_share(struct out *out, const struct trace *trace, const char *root,
		      const struct trace_share *share)
{
	const struct trace_stack *stack = &trace->stacks[share->stack];
	char text[600];

	out_text(out, root);
	if (stack->group) {
		text_copy(text, sizeof(text), stack->group);
		put_text(out, text);
		out_char(out, ';');
	}
	for (size_t i = stack->frames_n; i--;) {
		trace_frame_text(trace, stack->frames[i], text, sizeof(text));
		put_text(out, text);
		if (i)
			out_char(out, ';');
	}
	if (!stack->frames_n)
		out_text(out, WEIGHTS_NO_FRAMES);
	put_bytes(out, share->bytes);
}

int format_folded(struct trace *trace, struct out *out, const struct selection_options *options)
{
	struct weights weights;
	int error = weights_find(&weights, trace, options);

	for (size_t i = 0; !error && i < weights.sets_n; i++) {
		const struct weights_set *set = &weights.sets[i];
		char root[40] = "";

		/* Devices peak at different times, so each gets a root frame of its own. */
		if (weights.sets_n > 1) {
			weights_name(&weights, set, root, sizeof(root) - 1);
			text_append(root, sizeof(root), ";");
		}
		foreach (share, set->shares) {
			if (share->bytes)
				put_share(out, trace, root, share);
		}
		if (set->unknown) {
			out_text(out, root);
			out_text(out, WEIGHTS_UNKNOWN);
			put_bytes(out, set->unknown);
		}
	}
	report_select_clear(&weights.selection);
	return error;
}
