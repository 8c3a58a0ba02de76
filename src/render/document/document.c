/* Writes a trace, the JSON document memtrace/1: its sections, then the events. */
#include "render/document/document.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text/out.h"
#include "facts/phases.h"
#include "facts/spool_model.h"
#include "spool/event_journal.h"

enum { BUFFER = 1 << 18 };

static void write_mark(struct out *out, const struct spool *spool, const struct event *event)
{
	const char *name = spool_text(spool, event->name);
	struct detail_text detail;
	struct trace_mark mark = {
		.seq = event->seq,
		.t = event->t,
		.op = event_op_name(event->op),
		.thread = event->thread,
		.name = name ? name : "",
		.domain = spool_text(spool, event->pool),
		.range = event->stream,
		.category = spool_text(spool, event->detail.category),
	};

	detail_tell(&event->detail, &detail);
	mark.color = detail.color[0] ? detail.color : NULL;
	mark.payload = detail.payload[0] ? detail.payload : NULL;
	document_object(out, ROWS_mark, &mark);
}

void document_event(struct out *out, const struct spool *spool, const struct event *event)
{
	bool sums = event->device >= 0;
	const struct trace_event memory = {
		.seq = event->seq,
		.t = event->t,
		.op = event_op_name(event->op),
		.device = sums ? event->device : -1,
		.space = space_name(event->space),
		.pool = spool_text(spool, event->pool),
		.ptr = event->ptr,
		.size = event->size,
		.stack = event->stack,
		.thread = event->thread,
		.stream = event->stream,
		.api = spool_text(spool, event->api),
		.error = spool_text(spool, event->error),
		.foreign = event->flags & EVENT_FOREIGN,
		.allocated = sums ? event->allocated : TRACE_NONE,
		.reserved = sums ? event->reserved : TRACE_NONE,
	};

	if (event_is_memory(event->op))
		document_object(out, ROWS_event, &memory);
	else
		write_mark(out, spool, event);
}

/* Writes the events in order. The event that ends a range (a pop) gets the name of the range. */
static int write_events(struct out *out, const struct spool *spool)
{
	struct journal_reader reader;
	struct blocks open = { 0 };
	struct event event;
	bool first = true;
	int error = journal_read(&reader, spool);

	while (!error && !out->error && journal_next(&reader, &event)) {
		if (!ranges_tell(&open, &event))
			error = -ENOMEM;
		out_text(out, first ? "\n" : ",\n");
		first = false;
		document_event(out, spool, &event);
	}
	blocks_clear(&open);
	journal_read_end(&reader);
	return error;
}

/* document_head() writes a note if the spool is damaged; the functions before it find out. */
static void fill_all(struct spool_model *recording, enum trace_exit exit,
		     struct document_told *told)
{
	document_names(recording);
	document_peaks(recording);
	spool_model_find_sites(recording);
	document_head(recording, exit);
	document_calls(recording);
	document_cupti(recording);
	document_used(recording);
	document_summary(recording);
	document_ooms(recording, told);
	document_timeline(recording);
}

int document_fill(struct trace *trace, struct spool_model *recording, const struct spool *spool,
		  enum symbols_names names, enum trace_exit exit, struct document_told *told)
{
	recording->trace = trace;
	recording->error = spool_model_extend(recording, spool, names);
	if (recording->error)
		return recording->error;
	recording->error = phases_find(recording);
	if (!recording->error)
		fill_all(recording, exit, told);
	return recording->error;
}

int document_write(const struct spool *spool, const struct document_to *to,
		   enum symbols_names names, enum trace_exit exit, struct document_told *told)
{
	struct spool_model recording = { 0 };
	struct trace trace = { 0 };
	struct out out;
	char *buffer =
		mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int written;
	int error;

	if (buffer == MAP_FAILED)
		return -ENOMEM;
	out_init(&out, to->fd, buffer, BUFFER);
	out.sink = to->sink;
	out.sink_to = to->sink_to;
	rows_clear(ROWS_trace, &trace);
	error = document_fill(&trace, &recording, spool, names, exit, told);
	if (!error) {
		out_char(&out, '{');
		document_facts(&out, &trace, false);
		out_text(&out, "\"events\":[");
		error = write_events(&out, spool);
		out_text(&out, "\n]}\n");
	}
	spool_model_clear(&recording);
	written = out_flush(&out);
	munmap(buffer, BUFFER);
	return error ? error : written;
}
