/* The document's ooms: each allocation that failed, explained. */
#include "base/text/out.h"
#include "codec/event.h"
#include "facts/oom.h"
#include "render/document/document_sections.h"
#include "render/document/oom_text.h"

enum { SENTENCE = 1024 };

static void number_or_null(struct out *out, const char *key, uint64_t value, bool known)
{
	out_text(out, key);
	if (known)
		out_u64(out, value);
	else
		out_text(out, "null");
}

static void text_or_null(struct out *out, const char *key, const char *text)
{
	out_text(out, key);
	out_json(out, text && text[0] ? text : NULL);
}

static void write_asked(struct out *out, const struct recording *recording, const struct oom *oom)
{
	const struct spool_oom *row = oom->row;
	const struct oom_facts *facts = &oom->facts;
	bool limit = oom->reason == OOM_limit;
	bool card = facts->left || facts->others;

	document_number(out, "{\"seq\":", row->seq);
	document_number(out, ",\"t\":", row->t);
	number_or_null(out, ",\"device\":", facts->device, row->device >= 0);
	text_or_null(out, ",\"space\":", space_name(row->space));
	text_or_null(out, ",\"pool\":", spool_text(recording->spool, row->pool));
	text_or_null(out, ",\"api\":", spool_text(recording->spool, row->api));
	document_number(out, ",\"thread\":", row->thread);
	document_number(out, ",\"stack\":", row->stack < recording->stacks ? row->stack : 0);
	document_number(out, ",\"size\":", row->size);
	number_or_null(out, ",\n \"refused_bytes\":", row->refused, row->refused);
	number_or_null(out, ",\"free_bytes\":", facts->left, card);
	number_or_null(out, ",\"total_bytes\":", facts->total, facts->total);
	number_or_null(out, ",\"others_bytes\":", facts->others, card);
	number_or_null(out, ",\"limit_min_bytes\":", facts->limit_min, limit);
	number_or_null(out, ",\"limit_max_bytes\":", facts->limit_max, limit);
	number_or_null(out, ",\"allocated\":", row->allocated, row->device >= 0);
	number_or_null(out, ",\"reserved\":", row->reserved, row->device >= 0);
	number_or_null(out, ",\"cached\":", facts->cached, facts->pooled);
	text_or_null(out, ",\n \"reason\":", oom_reason_name(oom->reason));
	out_text(out, oom->survived ? ",\"survived\":true" : ",\"survived\":false");
	document_number(out, ",\"allocations_after\":", oom->after);
}

static void write_pools(struct out *out, const struct recording *recording, const struct oom *oom)
{
	out_text(out, ",\n \"pools\":[");
	for (size_t i = 0; i < oom->pools_n; i++) {
		const struct oom_pool *pool = &oom->pools[i];
		const char *name = spool_text(recording->spool, pool->name);

		out_text(out, i ? ",{\"pool\":" : "{\"pool\":");
		out_json(out, name && name[0] ? name : "?");
		document_number(out, ",\"reserved_bytes\":", pool->reserved);
		document_number(out, ",\"allocated_bytes\":", pool->allocated);
		document_number(out, ",\"largest_free_bytes\":", pool->largest);
		document_number(out, ",\"free_segments_bytes\":", pool->whole);
		document_number(out, ",\"gaps_bytes\":", pool->gaps);
		document_number(out, ",\"gaps\":", pool->gaps_n);
		out_char(out, '}');
	}
	out_text(out, "],\n \"holders\":[");
	for (size_t i = 0; i < oom->holders_n; i++) {
		const struct oom_holder *holder = &oom->holders[i];

		out_text(out, i ? ",{" : "{");
		text_or_null(out, "\"holder\":", spool_text(recording->spool, holder->name));
		out_text(out, holder->pool ? ",\"pool\":true" : ",\"pool\":false");
		document_number(out, ",\"bytes\":", holder->bytes);
		out_char(out, '}');
	}
	out_char(out, ']');
}

static void write_stacks(struct out *out, const struct oom *oom)
{
	if (!oom->known) {
		out_text(out, ",\n \"stacks\":null,\"unknown_bytes\":null");
		return;
	}
	out_text(out, ",\n \"stacks\":[");
	for (size_t i = 0; i < oom->shares_n; i++) {
		document_number(out, i ? ",{\"stack\":" : "{\"stack\":", oom->shares[i].stack);
		document_number(out, ",\"bytes\":", oom->shares[i].bytes);
		document_number(out, ",\"count\":", oom->shares[i].count);
		out_char(out, '}');
	}
	document_number(out, "],\"unknown_bytes\":", oom->unknown);
}

static void write_words(struct out *out, const struct recording *recording, const struct oom *oom)
{
	struct oom_text text;
	char line[SENTENCE];

	out_text(out, ",\n \"advice\":[");
	for (unsigned i = 0; i < oom->advice_n; i++) {
		out_text(out, i ? ",{" : "{");
		text_or_null(out, "\"rule\":", oom_advice_name(oom->advice[i]));
		document_number(out, ",\"bytes\":", oom->advice_bytes[i]);
		oom_text_advice(oom, i, line, sizeof(line));
		text_or_null(out, ",\"text\":", line);
		out_char(out, '}');
	}
	oom_text(&text, oom, recording);
	out_text(out, "],\n \"text\":[");
	for (unsigned i = 0; i < text.count; i++) {
		out_text(out, i ? ",\n  " : "\n  ");
		out_json(out, text.lines[i]);
	}
	out_text(out, "]}");
}

void document_ooms(struct out *out, const struct recording *recording, const struct ooms *ooms)
{
	out_text(out, "\"ooms\":[");
	for (size_t i = 0; i < ooms->count; i++) {
		const struct oom *oom = &ooms->list[i];

		out_text(out, i ? ",\n" : "\n");
		write_asked(out, recording, oom);
		write_pools(out, recording, oom);
		write_stacks(out, oom);
		write_words(out, recording, oom);
	}
	out_text(out, "],\n");
}
