/*
 * The JSON document memtrace/1: its sections, then the events.
 */
#include "render/document/document.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text/out.h"
#include "facts/phases.h"
#include "facts/spool_model.h"
#include "ledger/pending.h"
#include "ledger/timeline.h"
#include "render/document/document_sections.h"
#include "spool/journal.h"

enum { BUFFER = 1 << 18 };

static void text_or_null(struct out *out, const struct spool *spool, const char *key, uint32_t text)
{
	out_text(out, key);
	out_json(out, spool_text(spool, text));
}

static void write_mark(struct out *out, const struct spool *spool, const struct event *event)
{
	const char *text = spool_text(spool, event->name);
	struct detail_text detail;

	out_text(out, ",\"thread\":");
	out_u64(out, event->thread);
	out_text(out, ",\"name\":");
	out_json(out, text ? text : "");
	if (event->pool)
		text_or_null(out, spool, ",\"domain\":", event->pool);
	if (event->stream) {
		out_text(out, ",\"range\":");
		out_u64(out, event->stream);
	}
	document_detail(&event->detail, &detail);
	if (event->detail.category)
		text_or_null(out, spool, ",\"category\":", event->detail.category);
	if (detail.color[0]) {
		out_text(out, ",\"color\":");
		out_json(out, detail.color);
	}
	if (detail.payload[0]) {
		out_text(out, ",\"payload\":");
		out_text(out, detail.payload);
	}
}

static void write_memory(struct out *out, const struct spool *spool, const struct event *event)
{
	if (event->device >= 0) {
		out_text(out, ",\"device\":");
		out_u64(out, (uint64_t)event->device);
	} else {
		out_text(out, ",\"device\":null");
	}
	out_text(out, ",\"space\":\"");
	out_text(out, space_name(event->space));
	text_or_null(out, spool, "\",\"pool\":", event->pool);
	if (event->ptr) {
		out_text(out, ",\"ptr\":\"");
		out_hex(out, event->ptr);
		out_text(out, "\",\"size\":");
	} else {
		out_text(out, ",\"ptr\":null,\"size\":");
	}
	out_u64(out, event->size);
	out_text(out, ",\"stack\":");
	out_u64(out, event->stack);
	out_text(out, ",\"thread\":");
	out_u64(out, event->thread);
	if (event->stream) {
		out_text(out, ",\"stream\":\"");
		out_hex(out, event->stream);
		out_char(out, '"');
	} else {
		out_text(out, ",\"stream\":null");
	}
	text_or_null(out, spool, ",\"api\":", event->api);
	if (event->error)
		text_or_null(out, spool, ",\"error\":", event->error);
	if (event->flags & EVENT_FOREIGN)
		out_text(out, ",\"foreign\":true");
	if (event->device < 0) {
		out_text(out, ",\"allocated\":null,\"reserved\":null");
		return;
	}
	out_text(out, ",\"allocated\":");
	out_u64(out, event->allocated);
	out_text(out, ",\"reserved\":");
	out_u64(out, event->reserved);
}

void document_event(struct out *out, const struct spool *spool, const struct event *event)
{
	out_text(out, "{\"seq\":");
	out_u64(out, event->seq);
	out_text(out, ",\"t\":");
	out_u64(out, event->t);
	out_text(out, ",\"op\":\"");
	out_text(out, event_op_name(event->op));
	out_char(out, '"');
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
	struct ranges open;
	struct range ended;
	struct event event;
	bool first = true;
	int error = journal_read(&reader, spool);

	ranges_start(&open);
	while (!error && !out->error && journal_next(&reader, &event)) {
		if (event.op == EVENT_PUSH && !ranges_push(&open, &event, 0))
			error = -ENOMEM;
		if (event.op == EVENT_POP && ranges_pop(&open, &event, &ended))
			event.name = ended.name;
		out_text(out, first ? "\n" : ",\n");
		first = false;
		document_event(out, spool, &event);
	}
	ranges_clear(&open);
	journal_read_end(&reader);
	return error;
}

/* The last failure is the one that a program ends by. */
static void tell(struct document_told *told, const struct ooms *ooms,
		 const struct recording *recording)
{
	const struct oom *last = ooms->count ? &ooms->list[ooms->count - 1] : NULL;

	told->ooms = ooms->all;
	told->survived = !last || last->survived;
	if (last)
		oom_text(&told->oom, last, recording);
}

/* Everything before the events, in the order of the document. */
static void fill_facts(struct filler *filler, const struct ooms *ooms, const struct phases *phases,
		       enum trace_exit exit)
{
	document_head(filler, exit);
	document_calls(filler);
	document_cupti(filler);
	document_used(filler);
	document_summary(filler);
	document_peaks(filler);
	document_ooms(filler, ooms);
	document_names(filler);
	document_sites(filler);
	document_phases(filler, phases);
	document_timeline(filler);
}

/* Finds what takes looking through all events, and fills. */
static int find_facts(struct filler *filler, struct recording *recording, enum trace_exit exit,
		      struct document_told *told)
{
	struct phases phases;
	struct ooms ooms;
	int error = phases_find(&phases, recording->spool);

	recording->damaged |= phases.broken != 0;
	if (!error)
		error = ooms_find(&ooms, recording);
	if (!error && told)
		tell(told, &ooms, recording);
	if (!error) {
		fill_facts(filler, &ooms, &phases, exit);
		error = filler->error;
	}
	phases_clear(&phases);
	return error;
}

int document_fill(struct trace *trace, struct recording *recording, enum trace_exit exit)
{
	struct filler filler = {
		.recording = recording,
		.spool = recording->spool,
		.arena = &trace->arena,
		.to = trace,
	};

	return find_facts(&filler, recording, exit, NULL);
}

static int write_all(struct out *out, struct recording *recording, unsigned flags, const char *exit,
		     struct document_told *told)
{
	struct arena arena = { 0 };
	struct filler filler = {
		.recording = recording,
		.spool = recording->spool,
		.arena = &arena,
		.writer = { .out = out },
	};
	enum trace_exit how = TRACE_EXIT;
	int error;

	while (how < TRACE_UNFINISHED && strcmp(rows_word(WORDS_EXITS, how), exit) != 0)
		how++;
	error = find_facts(&filler, recording, how, told);
	arena_clear(&arena);
	if (!error) {
		out_text(out, "\"events\":[");
		if (flags & DOCUMENT_EVENTS)
			error = write_events(out, recording->spool);
	}
	out_text(out, "\n]}\n");
	return error;
}

static enum symbols_names names_of(unsigned flags)
{
	if (flags & DOCUMENT_MANGLED)
		return SYMBOLS_MANGLED;
	return flags & DOCUMENT_LOAD ? SYMBOLS_LOAD : SYMBOLS_DEMANGLED;
}

int document_write_told(const struct spool *spool, const struct document_to *to, unsigned flags,
			const char *exit, struct document_told *told)
{
	struct recording recording;
	struct out out;
	char *buffer =
		mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int written;
	int error;

	if (told)
		*told = (struct document_told){ .survived = true };
	if (buffer == MAP_FAILED)
		return -ENOMEM;
	out_init(&out, to->fd, buffer, BUFFER);
	out.sink = to->sink;
	out.sink_to = to->sink_to;
	error = recording_read(&recording, spool, names_of(flags));
	if (!error) {
		error = write_all(&out, &recording, flags, exit, told);
		recording_clear(&recording);
	}
	written = out_flush(&out);
	munmap(buffer, BUFFER);
	return error ? error : written;
}

int document_write(const struct spool *spool, int fd, unsigned flags, const char *exit)
{
	const struct document_to to = { .fd = fd };

	return document_write_told(spool, &to, flags, exit, NULL);
}

enum trace_exit document_exit(const struct spool *spool)
{
	if (spool_writer_lives(spool))
		return TRACE_RUNNING;
	return spool->header->end ? TRACE_EXIT : TRACE_UNFINISHED;
}

int document_from_spool(const char *path, const struct document_to *to, unsigned flags, char *why,
			size_t size)
{
	struct spool spool;
	int error = spool_open(&spool, path, why, size);

	if (error)
		return error;
	backlog_settle_left(&spool);
	curve_settle(&spool);
	error = document_write_told(&spool, to, flags,
				    rows_word(WORDS_EXITS, document_exit(&spool)), NULL);
	if (error)
		snprintf(why, size, "%s: its document could not be written: %s", path,
			 strerror(-error));
	spool_close(&spool);
	return error;
}
