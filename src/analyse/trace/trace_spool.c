/* Reads a trace from a spool (the file that a recording is written to): facts and events. */
#include <errno.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/spool/read.h"
#include "analyse/trace/trace_parts.h"
#include "base/text/utf8.h"
#include "facts/lives.h"
#include "facts/spool_model.h"
#include "render/document/document.h"
#include "spool/event_journal.h"

/* The spool, whose bytes the trace points to, and the reader of the spool's events. */
struct trace_spool {
	struct spool spool;
	struct spool_model recording;
	struct journal_reader events;
	struct blocks open;       /* open ranges: the events that end them get their names */
	const char *last_text[8]; /* by key: the last text, as it is in the spool */
	uint32_t last_id[8];      /* by key: the id of last_text[key] */
};

/* --- texts --- */

/* Replaces bytes that are not UTF-8 with U+FFFD, as in JSON traces. Returns `text` itself if all of
 * it is UTF-8, else a copy. */
static const char *clean(struct trace *trace, const char *text)
{
	size_t length = strlen(text);
	size_t good = 0;
	size_t used = 0;
	size_t step = 0;
	uint32_t c;
	char *copy;

	while (good < length && (step = utf8_decode(text + good, length - good, &c)))
		good += step;
	if (good == length)
		return text;
	copy = need(&trace->reader->from->recording.arena, 3 * length + 1);
	for (size_t i = 0; i < length; i += step ? step : 1) {
		step = utf8_decode(text + i, length - i, &c);
		used += utf8_encode(copy + used, 3 * length - used, step ? c : 0xfffd);
	}
	return copy;
}

static void clean_text(struct trace *trace, const char **text)
{
	if (*text)
		*text = clean(trace, *text);
}

static void clean_object(struct trace *trace, enum rows_of of, void *object);

/* NOLINTNEXTLINE(misc-no-recursion): recurses only as deep as rows of facts/trace.def nest */
static void clean_items(struct trace *trace, const struct row *row, void *items, size_t count)
{
	const size_t size = row->kind == ROW_LIST ? rows_of(row->of).size : 0;

	for (size_t i = 0; i < count; i++) {
		struct trace_pair *pair = (struct trace_pair *)items + i;

		if (row->kind == ROW_LIST) {
			clean_object(trace, row->of, (char *)items + i * size);
		} else if (row->kind == ROW_TEXTS) {
			clean_text(trace, (const char **)items + i);
		} else if (row->kind == ROW_PAIRS) {
			clean_text(trace, &pair->name);
			clean_text(trace, &pair->value);
		}
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): recurses only as deep as rows of facts/trace.def nest */
static void clean_object(struct trace *trace, enum rows_of of, void *object)
{
	struct rows rows = rows_of(of);

	for (size_t i = 0; i < rows.rows_n; i++) {
		const struct row *row = &rows.rows[i];
		char *value = (char *)object + row->at;

		if (row->kind == ROW_TEXT)
			clean_text(trace, (const char **)value);
		else if (row->kind == ROW_OBJECT)
			clean_object(trace, row->of, value);
		else if (row->count_at && row->kind != ROW_U32S && row->kind != ROW_U64S)
			clean_items(trace, row, *(void **)value,
				    *(size_t *)((char *)object + row->count_at));
	}
}

/* --- facts --- */

int trace_spool_open(struct trace *trace)
{
	struct trace_spool *from = need(&trace->arena, sizeof(*from));

	if (spool_read(&from->spool, trace->path))
		return -EINVAL;
	trace->reader->from = from;
	NEED(!document_fill(trace, &from->recording, &from->spool, SYMBOLS_LOAD,
			    spool_exit(&from->spool), NULL) &&
	     !journal_read(&from->events, &from->spool));
	clean_object(trace, ROWS_trace, trace);
	trace->reader->in_events = true;
	return 0;
}

void trace_spool_close(struct trace_spool *from)
{
	journal_read_end(&from->events);
	blocks_clear(&from->open);
	spool_model_clear(&from->recording);
	spool_close(&from->spool);
}

/* --- events --- */

enum key { KEY_POOL, KEY_API, KEY_ERROR, KEY_NAME };

static uint32_t text_of(struct trace *trace, enum key key, uint32_t number)
{
	struct trace_spool *from = trace->reader->from;
	const char *text = spool_text(&from->spool, number);

	if (!text && key == KEY_NAME)
		text = "";
	if (text && text != from->last_text[key]) {
		const char *cleaned = clean(trace, text);

		from->last_text[key] = text;
		from->last_id[key] = trace_enter_text(trace, cleaned, strlen(cleaned));
	}
	return text ? from->last_id[key] : 0;
}

static void take_memory(struct trace *trace, struct event *event)
{
	event->pool = text_of(trace, KEY_POOL, event->pool);
	event->api = text_of(trace, KEY_API, event->api);
	event->error = event->error ? text_of(trace, KEY_ERROR, event->error) : 0;
	if (event->device < 0) {
		event->device = NO_DEVICE;
		event->allocated = event->reserved = TRACE_NONE;
	}
}

int trace_spool_next(struct trace *trace, struct event *to, struct out *out)
{
	struct trace_spool *from = trace->reader->from;
	struct event event;

	if (!trace->reader->in_events || !journal_next(&from->events, &event)) {
		trace->reader->in_events = false;
		return 0;
	}
	NEED(ranges_tell(&from->open, &event));
	if (event_is_memory(event.op) && event.stack >= trace->stacks_n)
		return err("%s: an event refers to stacks[%u], but there are only %zu stacks",
			   trace->path, event.stack, trace->stacks_n);
	if (out) {
		document_event(out, &from->spool, &event);
		return 1;
	}
	if (event_is_memory(event.op)) {
		*to = event;
		take_memory(trace, to);
	} else {
		to->seq = event.seq;
		to->t = event.t;
		to->op = event.op;
		to->thread = event.thread;
		to->name = text_of(trace, KEY_NAME, event.name);
	}
	return 1;
}
