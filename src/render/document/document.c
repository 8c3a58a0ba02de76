/*
 * The JSON document memtrace/1: its sections, then the events.
 */
#include "render/document/document.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text/out.h"
#include "facts/phases.h"
#include "facts/spool_model.h"
#include "render/document/document_sections.h"
#include "spool/journal.h"

enum { BUFFER = 1 << 18 };

static void event_number(struct out *out, const char *key, uint64_t number)
{
	out_text(out, key);
	out_u64(out, number);
}

static void event_text(struct out *out, const char *key, const char *text)
{
	out_text(out, key);
	out_json(out, text);
}

/* None is 0. */
static void event_address(struct out *out, const char *key, uint64_t address)
{
	out_text(out, key);
	if (!address) {
		out_text(out, "null");
		return;
	}
	out_char(out, '"');
	out_hex(out, address);
	out_char(out, '"');
}

static void write_mark(struct out *out, const struct spool *spool, const struct event *event)
{
	const char *text = spool_text(spool, event->name);
	struct detail_text detail;

	event_number(out, ",\"thread\":", event->thread);
	event_text(out, ",\"name\":", text ? text : "");
	if (event->pool)
		event_text(out, ",\"domain\":", spool_text(spool, event->pool));
	if (event->stream)
		event_number(out, ",\"range\":", event->stream);
	detail_tell(&event->detail, &detail);
	if (event->detail.category)
		event_text(out, ",\"category\":", spool_text(spool, event->detail.category));
	if (detail.color[0])
		event_text(out, ",\"color\":", detail.color);
	if (detail.payload[0]) {
		out_text(out, ",\"payload\":");
		out_text(out, detail.payload);
	}
}

static void write_memory(struct out *out, const struct spool *spool, const struct event *event)
{
	if (event->device >= 0)
		event_number(out, ",\"device\":", (uint64_t)event->device);
	else
		out_text(out, ",\"device\":null");
	event_text(out, ",\"space\":", space_name(event->space));
	event_text(out, ",\"pool\":", spool_text(spool, event->pool));
	event_address(out, ",\"ptr\":", event->ptr);
	event_number(out, ",\"size\":", event->size);
	event_number(out, ",\"stack\":", event->stack);
	event_number(out, ",\"thread\":", event->thread);
	event_address(out, ",\"stream\":", event->stream);
	event_text(out, ",\"api\":", spool_text(spool, event->api));
	if (event->error)
		event_text(out, ",\"error\":", spool_text(spool, event->error));
	if (event->flags & EVENT_FOREIGN)
		out_text(out, ",\"foreign\":true");
	if (event->device < 0) {
		out_text(out, ",\"allocated\":null,\"reserved\":null");
		return;
	}
	event_number(out, ",\"allocated\":", event->allocated);
	event_number(out, ",\"reserved\":", event->reserved);
}

void document_event(struct out *out, const struct spool *spool, const struct event *event)
{
	event_number(out, "{\"seq\":", event->seq);
	event_number(out, ",\"t\":", event->t);
	event_text(out, ",\"op\":", event_op_name(event->op));
	if (event_is_memory(event->op))
		write_memory(out, spool, event);
	else
		write_mark(out, spool, event);
	out_char(out, '}');
}

/* Events as they come from the chunks; pops are told the name of what they end. */
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

/* What is found out last is told first: whether something was damaged, and what devices there are.
 */
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
