/* The document on what the driver says is occupied: of each device, by name, step by step. */
#include <string.h>

#include "ledger/totals.h"
#include "render/document/document_sections.h"

static void write_signed(struct out *out, const char *key, int64_t value)
{
	out_text(out, key);
	out_i64(out, value);
}

static void write_text(struct out *out, const struct recording *recording, const char *key,
		       uint32_t text)
{
	out_text(out, key);
	out_json(out, text ? spool_text(recording->spool, text) : NULL);
}

/* Samples with which something came or went, in their order. */
void document_used(struct out *out, const struct recording *recording)
{
	const struct spool *spool = recording->spool;
	uint64_t rows = spool_count(spool, SPOOL_USED);

	out_text(out, "\"used\":[");
	for (uint64_t i = 0; i < rows; i++) {
		const struct spool_used *row = spool_at(spool, SPOOL_USED, i);

		document_number(out, i ? ",\n{\"t\":" : "\n{\"t\":", row->t);
		write_signed(out, ",\"device\":", row->device);
		write_signed(out, ",\"bytes\":", row->bytes);
		write_text(out, recording, ",\"name\":", row->name);
		write_text(out, recording, ",\"kind\":", row->kind);
		write_text(out, recording, ",\"api\":", row->api);
		out_text(out, ",\"stack\":");
		if (row->stack && row->stack < recording->stacks)
			out_u64(out, row->stack);
		else
			out_text(out, "null");
		out_text(out, ",\"thread\":");
		if (row->thread)
			out_u64(out, row->thread);
		else
			out_text(out, "null");
		document_number(out, ",\"used\":", row->used);
		document_number(out, ",\"reserved\":", row->reserved);
		write_signed(out, ",\"rounding\":", row->rounding);
		write_signed(out, ",\"named\":", row->named);
		write_signed(out, ",\"residual\":", row->residual);
		out_char(out, '}');
	}
	out_text(out, "],\n");
}

void document_used_of(struct out *out, const struct recording *recording,
		      const struct spool_scope *device)
{
	const struct spool_sum *sum = &device->sums[METRIC_USED];

	if (!sum->peak) {
		out_text(out, "\"used\":null");
		return;
	}
	document_number(out, "\"used\":{\"peak_bytes\":", sum->peak);
	document_number(out, ",\"peak_t\":", sum->peak_t);
	document_number(out, ",\"exit_bytes\":", sum->now);
	write_text(out, recording, ",\"source\":", device->used_source);
	document_number(out, ",\"samples\":", device->used_samples);
	document_number(out,
			",\n  \"at_peak\":{\"reserved_bytes\":", device->at_used[METRIC_RESERVED]);
	write_signed(out, ",\"rounding_bytes\":", device->rounding_at_used);
	write_signed(out, ",\"named_bytes\":", device->named_at_used);
	write_signed(out, ",\"residual_bytes\":", device->residual_at_used);
	document_number(out, "},\n  \"at_exit\":{\"reserved_bytes\":",
			sum->now - (uint64_t)(device->rounding + device->named + device->residual));
	write_signed(out, ",\"rounding_bytes\":", device->rounding);
	write_signed(out, ",\"named_bytes\":", device->named);
	write_signed(out, ",\"residual_bytes\":", device->residual);
	write_signed(out, "},\n  \"residual_min_bytes\":", device->residual_low);
	write_signed(out, ",\"residual_max_bytes\":", device->residual_high);
	out_char(out, '}');
}

void document_named(struct out *out, const struct recording *recording, int device)
{
	const char *comma = "";

	out_text(out, ",\n \"named\":[");
	for (uint32_t i = 0; i < recording->scopes; i++) {
		const struct spool_scope *scope = totals_scope(recording->spool, i);

		if (scope->kind != SCOPE_NAMED || scope->device != device)
			continue;
		out_text(out, comma);
		write_text(out, recording, "{\"name\":", scope->name);
		write_text(out, recording, ",\"kind\":", scope->used_kind);
		write_signed(out, ",\"bytes\":", (int64_t)scope->sums[METRIC_USED].now);
		write_signed(out, ",\"at_used_peak_bytes\":", (int64_t)scope->at_used[METRIC_USED]);
		document_number(out, ",\"steps\":", scope->used_samples);
		out_char(out, '}');
		comma = ",\n  ";
	}
	out_char(out, ']');
}

void document_part_at_used(struct out *out, const struct spool_scope *part)
{
	document_number(out,
			",\"at_used_peak\":{\"allocated_bytes\":", part->at_used[METRIC_ALLOCATED]);
	document_number(out, ",\"reserved_bytes\":", part->at_used[METRIC_RESERVED]);
	out_char(out, '}');
}
