/* The document's ooms: each allocation that failed, explained. */
#include <errno.h>

#include "codec/event.h"
#include "facts/oom/oom.h"
#include "render/document/document.h"
#include "render/document/document_sections.h"

enum { SENTENCE = 1024 };

static uint64_t known(uint64_t value, bool is)
{
	return is ? value : TRACE_NONE;
}

/* An empty name is none. */
static const char *name_of(const struct recording *recording, uint32_t text)
{
	const char *name = spool_text(recording->spool, text);

	return name && name[0] ? name : NULL;
}

static void fill_asked(const struct recording *recording, const struct oom *from,
		       struct trace_oom *oom)
{
	const struct spool_oom *row = from->row;
	const struct oom_facts *facts = &from->facts;
	bool limit = from->reason == OOM_limit;
	bool card = facts->left || facts->others;

	oom->seq = row->seq;
	oom->t = row->t;
	oom->device = row->device >= 0 ? (int)facts->device : -1;
	oom->space = space_name(row->space);
	oom->pool = name_of(recording, row->pool);
	oom->api = name_of(recording, row->api);
	oom->thread = row->thread;
	oom->stack = row->stack < recording->stacks ? row->stack : 0;
	oom->size = row->size;
	oom->refused_bytes = known(row->refused, row->refused);
	oom->free_bytes = known(facts->left, card);
	oom->total_bytes = known(facts->total, facts->total);
	oom->others_bytes = known(facts->others, card);
	oom->limit_min_bytes = known(facts->limit_min, limit);
	oom->limit_max_bytes = known(facts->limit_max, limit);
	oom->allocated = known(row->allocated, row->device >= 0);
	oom->reserved = known(row->reserved, row->device >= 0);
	oom->cached = known(facts->cached, facts->pooled);
	oom->reason = oom_reason_name(from->reason);
	oom->survived = from->survived;
	oom->allocations_after = from->after;
}

static void fill_holders(struct recording *recording, const struct oom *from, struct trace_oom *oom)
{
	oom->holders = recording_room(recording, from->holders_n, sizeof(*oom->holders));
	for (size_t i = 0; oom->holders && i < from->holders_n; i++)
		oom->holders[oom->holders_n++] = (struct trace_oom_holder){
			.holder = name_of(recording, from->holders[i].name),
			.pool = from->holders[i].pool,
			.bytes = from->holders[i].bytes,
		};
}

/* As they were found. */
static void fill_then(const struct oom *from, struct trace_oom *oom)
{
	oom->pools = from->pools;
	oom->pools_n = from->pools_n;
	if (!from->known)
		return;
	oom->unknown_bytes = from->unknown;
	oom->stacks = from->shares;
	oom->stacks_n = from->shares_n;
}

static void fill_words(struct recording *recording, const struct oom *from, struct trace_oom *oom,
		       struct oom_text *text)
{
	char line[SENTENCE];

	oom->advice = recording_room(recording, from->advice_n, sizeof(*oom->advice));
	for (unsigned i = 0; oom->advice && i < from->advice_n; i++) {
		oom_text_advice(from, i, line, sizeof(line));
		oom->advice[oom->advice_n++] = (struct trace_oom_advice){
			.rule = oom_advice_name(from->advice[i]),
			.bytes = from->advice_bytes[i],
			.text = line[0] ? recording_text(recording, line) : NULL,
		};
	}
	oom_text(text, from, recording);
	oom->text = recording_room(recording, text->count, sizeof(*oom->text));
	for (unsigned i = 0; oom->text && i < text->count; i++)
		oom->text[oom->text_n++] = recording_text(recording, text->lines[i]);
}

void document_ooms(struct recording *recording, struct document_told *told)
{
	struct trace *trace = recording->trace;
	struct oom_text text = { .count = 0 };
	struct ooms ooms;

	if (ooms_find(&ooms, recording))
		recording->error = -ENOMEM;
	trace->ooms = recording_items(recording, ooms.count, ROWS_oom);
	for (size_t i = 0; !recording->error && i < ooms.count; i++) {
		const struct oom *from = &ooms.list[i];
		struct trace_oom *oom = &trace->ooms[trace->ooms_n++];

		fill_asked(recording, from, oom);
		fill_holders(recording, from, oom);
		fill_then(from, oom);
		fill_words(recording, from, oom, &text);
	}
	if (!told)
		return;
	/* The last failure is the one that a program ends by. */
	*told = (struct document_told){
		.ooms = ooms.all,
		.survived = !trace->ooms_n || trace->ooms[trace->ooms_n - 1].survived,
		.oom = text,
	};
}
