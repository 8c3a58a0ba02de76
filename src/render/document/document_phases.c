/* The document's phases: what memory did between each push and its pop. */
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "render/document/document_sections.h"

/* As JSON has it, in whatever locale: what is no digit, sign or e is the locale's point. */
static void real_text(char *to, double real)
{
	char text[DETAIL_PAYLOAD];
	const char *p = text;

	snprintf(text, sizeof(text), "%.17g", real);
	if (real - real != 0) { /* infinite, or not a number */
		memcpy(to, "null", sizeof("null"));
		return;
	}
	while (*p) {
		size_t digits = strspn(p, "0123456789+-e");

		memcpy(to, p, digits);
		to += digits;
		p += digits;
		if (*p)
			*to++ = '.';
		p += strcspn(p, "0123456789+-e");
	}
	*to = 0;
}

void document_detail(const struct event_detail *detail, struct detail_text *text)
{
	double real;

	*text = (struct detail_text){ { 0 }, { 0 } };
	if (detail->color)
		snprintf(text->color, sizeof(text->color), "#%06x", detail->color & 0xffffff);
	if (detail->payload_kind == PAYLOAD_UNSIGNED) {
		text_u64(text->payload, detail->payload);
	} else if (detail->payload_kind == PAYLOAD_SIGNED) {
		snprintf(text->payload, sizeof(text->payload), "%lld", (long long)detail->payload);
	} else if (detail->payload_kind == PAYLOAD_REAL) {
		memcpy(&real, &detail->payload, sizeof(real));
		real_text(text->payload, real);
	}
}

static void fill_sums(struct trace_phase_sums *to, const struct track_sums *sums, bool open)
{
	to->start_bytes = sums->start;
	to->end_bytes = open ? TRACE_NONE : sums->end;
	to->peak_bytes = sums->peak;
}

/* Not known where events are missing. */
static void fill_count(struct trace_phase_count *to, const struct track_count *count, bool cut)
{
	if (!cut)
		*to = (struct trace_phase_count){ count->bytes, count->count };
}

/* Nothing held, nothing born: the phase has nothing to say of the device. */
static bool says_nothing(const struct track_part *part)
{
	return !part->allocated.peak && !part->reserved.peak && !part->born.count &&
	       !part->freed.count;
}

/* The parts have the same members under the same names. */
#define FILL_PART(to, phase, part)                                      \
	fill_sums(&(to)->allocated, &(part)->allocated, (phase)->open); \
	fill_sums(&(to)->reserved, &(part)->reserved, (phase)->open);   \
	fill_count(&(to)->born, &(part)->born, (phase)->cut);           \
	fill_count(&(to)->freed, &(part)->freed, (phase)->cut);         \
	fill_count(&(to)->outliving, &(part)->outliving, (phase)->cut)

static void fill_devices(struct recording *recording, const struct phases *phases,
			 const struct phase *from, struct trace_phase *phase)
{
	phase->devices = recording_items(recording, from->devices, ROWS_phase_device);
	for (uint32_t i = 0; phase->devices && i < from->devices; i++) {
		struct trace_phase_device *device = &phase->devices[phase->devices_n];
		const struct track_part *part = phases_part(phases, from, i, &device->device);

		if (says_nothing(part))
			continue;
		phase->devices_n++;
		FILL_PART(device, from, part);
	}
}

static void fill_phase(struct recording *recording, const struct phases *phases,
		       const struct phase *from, struct trace_phase *phase)
{
	const struct spool *spool = recording->spool;
	const char *name = spool_text(spool, from->name);
	struct detail_text detail;

	document_detail(&from->detail, &detail);
	phase->name = name ? name : "";
	phase->domain = spool_text(spool, from->domain);
	phase->thread = from->thread;
	phase->start = from->start;
	phase->end = from->open ? TRACE_NONE : from->end;
	phase->category = spool_text(spool, from->detail.category);
	phase->color = detail.color[0] ? recording_text(recording, detail.color) : NULL;
	phase->payload = detail.payload[0] ? recording_text(recording, detail.payload) : NULL;
	FILL_PART(phase, from, &from->all);
	fill_devices(recording, phases, from, phase);
}

void document_phases(struct recording *recording, const struct phases *phases)
{
	struct trace *trace = recording->trace;

	trace->phases = recording_items(recording, phases->count, ROWS_phase);
	for (size_t i = 0; trace->phases && i < phases->count; i++)
		fill_phase(recording, phases, &phases->list[i], &trace->phases[trace->phases_n++]);
}
