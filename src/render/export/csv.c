/*
 * The export `csv`: a line for each event (RFC 4180), with names next to the numbers of threads,
 * stacks and call sites.
 *
 * Spreadsheets evaluate a cell that begins with =, +, - or @ as a formula, so such a text gets an
 * apostrophe before it (OWASP, "CSV Injection"). Numbers need none: they are never negative.
 */
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "render/export/export.h"
#include "render/selection/stack_texts.h"

struct csv_writer {
	struct out *out;
	struct trace *trace;
	struct stack_texts stacks;
	bool first; /* true until a cell of the current line is written */
	uint64_t t; /* latest time so far, in ns: events of threads may be slightly out of order */
	struct trace_phase_walk phases;
};

static void next_cell(struct csv_writer *writer)
{
	if (!writer->first)
		out_char(writer->out, ',');
	writer->first = false;
}

static void cell_u64(struct csv_writer *writer, uint64_t value)
{
	next_cell(writer);
	if (value != TRACE_NONE)
		out_u64(writer->out, value);
}

static void cell_hex(struct csv_writer *writer, uint64_t value)
{
	next_cell(writer);
	if (value)
		out_hex(writer->out, value);
}

/* True if a text needs no change: it is printable ASCII without quotes, and does not begin like a
 * formula. If true, *length is the text's length. */
static bool is_plain(const char *text, size_t *length)
{
	const char *p = text;

	while (*p >= ' ' && *p < 0x7f && *p != '"')
		p++;
	*length = (size_t)(p - text);
	return !*p && !strchr("=+-@", text[0]);
}

static void cell_text(struct csv_writer *writer, const char *text)
{
	char clean[8192];
	size_t length;

	next_cell(writer);
	if (!text || !*text)
		return;
	out_char(writer->out, '"');
	if (is_plain(text, &length)) {
		out_bytes(writer->out, text, length);
	} else {
		text_copy(clean, sizeof(clean), text);
		utf8_clean(clean);
		if (strchr("=+-@", clean[0]))
			out_char(writer->out, '\'');
		for (const char *p = clean; *p; p++) {
			if (*p == '"')
				out_char(writer->out, '"');
			out_char(writer->out, *p);
		}
	}
	out_char(writer->out, '"');
}

static void put_event(struct csv_writer *writer, const struct event *event)
{
	const struct trace *trace = writer->trace;
	const struct trace_thread *thread = trace_thread(trace, event->thread);
	const struct stack_text *stack = stack_text(&writer->stacks, event->stack);
	uint32_t phase;
	bool memory = event_is_memory(event->op);

	writer->t = event->t > writer->t ? event->t : writer->t;
	phase = trace_phase_at(&writer->phases, trace, writer->t);
	cell_u64(writer, event->seq);
	cell_u64(writer, event->t);
	cell_text(writer, event_op_name(event->op));
	cell_u64(writer, event->device < 0 ? TRACE_NONE : (uint64_t)event->device);
	cell_text(writer, space_name(event->space));
	cell_text(writer, trace_text(trace, event->pool));
	cell_hex(writer, event->ptr);
	cell_u64(writer, memory ? event->size : TRACE_NONE);
	cell_u64(writer, memory ? event->flags & EVENT_FOREIGN : TRACE_NONE);
	cell_u64(writer, event->thread);
	cell_text(writer, thread ? thread->name : NULL);
	cell_hex(writer, event->stream);
	cell_text(writer, trace_text(trace, event->api));
	cell_text(writer, trace_text(trace, event->error));
	cell_u64(writer, event->allocated);
	cell_u64(writer, event->reserved);
	cell_text(writer, trace_text(trace, event->name));
	cell_u64(writer, event->stack == UINT32_MAX ? TRACE_NONE : event->stack);
	cell_text(writer, stack->owner);
	cell_text(writer, stack->site);
	cell_text(writer, stack->line);
	cell_text(writer, stack->frames);
	cell_text(writer, phase ? trace->phases[phase - 1].name : NULL);
	out_text(writer->out, "\r\n");
	writer->first = true;
}

static int put_events(struct csv_writer *writer, const struct selection_options *options)
{
	struct event event;
	int more;

	out_text(writer->out,
		 "seq,t_ns,op,device,space,pool,address,size,foreign,thread,thread_name,stream,api,"
		 "error,allocated,reserved,name,stack,owner,site,line,frames,phase\r\n");
	while ((more = trace_next(writer->trace, &event)) == 1 && !writer->out->error) {
		if (export_wants(writer->trace, options, event.device, event.pool))
			put_event(writer, &event);
	}
	return more < 0 ? more : 0;
}

int format_csv(struct trace *trace, struct out *out, const struct selection_options *options)
{
	struct csv_writer writer = { .out = out, .trace = trace, .first = true };

	stack_texts_make(&writer.stacks, trace);
	trace_phase_walk(&writer.phases, trace);
	return put_events(&writer, options);
}
