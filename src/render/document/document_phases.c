/* The document's phases: what memory did between each push and its pop. */
#include <stdio.h>
#include <string.h>

#include "render/document/document_sections.h"

/* As JSON has it, in whatever locale: what is no digit, sign or e is the locale's point. */
static void write_real(struct out *out, double real)
{
	char text[40];
	const char *p = text;

	snprintf(text, sizeof(text), "%.17g", real);
	if (real - real != 0) { /* infinite, or not a number */
		out_text(out, "null");
		return;
	}
	while (*p) {
		if (strchr("0123456789+-e", *p)) {
			out_char(out, *p++);
			continue;
		}
		out_char(out, '.');
		while (*p && !strchr("0123456789+-e", *p))
			p++;
	}
}

static void write_payload(struct out *out, const struct event_detail *detail)
{
	double real;

	if (detail->payload_kind == PAYLOAD_UNSIGNED) {
		out_text(out, ",\"payload\":");
		out_u64(out, detail->payload);
	} else if (detail->payload_kind == PAYLOAD_SIGNED) {
		out_text(out, ",\"payload\":");
		out_i64(out, (int64_t)detail->payload);
	} else if (detail->payload_kind == PAYLOAD_REAL) {
		memcpy(&real, &detail->payload, sizeof(real));
		out_text(out, ",\"payload\":");
		write_real(out, real);
	}
}

void document_detail(struct out *out, const struct spool *spool, const struct event_detail *detail)
{
	static const char digits[] = "0123456789abcdef";
	char color[8] = "#";

	if (detail->category) {
		out_text(out, ",\"category\":");
		out_json(out, spool_text(spool, detail->category));
	}
	if (detail->color) {
		for (unsigned i = 0; i < 6; i++)
			color[1 + i] = digits[detail->color >> (20 - 4 * i) & 15];
		out_text(out, ",\"color\":");
		out_json(out, color);
	}
	write_payload(out, detail);
}

static void write_sums(struct out *out, const char *key, const struct track_sums *sums, bool open)
{
	out_text(out, key);
	out_u64(out, sums->start);
	out_text(out, ",\"end_bytes\":");
	if (open)
		out_text(out, "null");
	else
		out_u64(out, sums->end);
	out_text(out, ",\"peak_bytes\":");
	out_u64(out, sums->peak);
	out_char(out, '}');
}

static void write_count(struct out *out, const char *key, const struct track_count *count)
{
	out_text(out, key);
	out_u64(out, count->bytes);
	out_text(out, ",\"count\":");
	out_u64(out, count->count);
	out_char(out, '}');
}

static void write_part(struct out *out, const struct phase *phase, const struct track_part *part)
{
	write_sums(out, ",\"allocated\":{\"start_bytes\":", &part->allocated, phase->open);
	write_sums(out, ",\"reserved\":{\"start_bytes\":", &part->reserved, phase->open);
	if (phase->cut) {
		out_text(out, ",\"born\":null,\"freed\":null,\"outliving\":null");
		return;
	}
	write_count(out, ",\"born\":{\"bytes\":", &part->born);
	write_count(out, ",\"freed\":{\"bytes\":", &part->freed);
	write_count(out, ",\"outliving\":{\"bytes\":", &part->outliving);
}

/* Nothing held, nothing born: the phase has nothing to say of the device. */
static bool says_nothing(const struct track_part *part)
{
	return !part->allocated.peak && !part->reserved.peak && !part->born.count &&
	       !part->freed.count;
}

static void write_devices(struct out *out, const struct phases *phases, const struct phase *phase)
{
	bool first = true;

	for (uint32_t i = 0; i < phase->devices; i++) {
		int device;
		const struct track_part *part = phases_part(phases, phase, i, &device);

		if (says_nothing(part))
			continue;
		out_text(out, first ? ",\"devices\":[{\"device\":" : ",{\"device\":");
		first = false;
		out_u64(out, (uint64_t)device);
		write_part(out, phase, part);
		out_char(out, '}');
	}
	if (!first)
		out_char(out, ']');
}

static void write_phase(struct out *out, const struct recording *recording,
			const struct phases *phases, const struct phase *phase)
{
	const char *name = spool_text(recording->spool, phase->name);

	out_text(out, "{\"name\":");
	out_json(out, name ? name : "");
	out_text(out, ",\"domain\":");
	out_json(out, spool_text(recording->spool, phase->domain));
	out_text(out, ",\"thread\":");
	out_u64(out, phase->thread);
	out_text(out, ",\"start\":");
	out_u64(out, phase->start);
	out_text(out, ",\"end\":");
	if (phase->open)
		out_text(out, "null");
	else
		out_u64(out, phase->end);
	document_detail(out, recording->spool, &phase->detail);
	write_part(out, phase, &phase->all);
	write_devices(out, phases, phase);
	out_char(out, '}');
}

void document_phases(struct out *out, const struct recording *recording,
		     const struct phases *phases)
{
	out_text(out, "\"phases\":[");
	for (size_t i = 0; i < phases->count; i++) {
		out_text(out, i ? ",\n" : "\n");
		write_phase(out, recording, phases, &phases->list[i]);
	}
	out_text(out, "],\n");
}
