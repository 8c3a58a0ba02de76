/* The document's sums: summary, peaks with their composition, timeline. */
#include <string.h>

#include "codec/event.h"
#include "ledger/timeline.h"
#include "ledger/totals.h"
#include "render/document/document_sections.h"

static const char metric_names[METRICS][16] = { "allocated", "reserved", "used" };

static const struct spool_scope *scope_at(const struct recording *recording, uint32_t i)
{
	return totals_scope(recording->spool, i);
}

static void write_sum(struct out *out, const struct spool_scope *scope, enum metric metric)
{
	const struct spool_sum *sum = &scope->sums[metric];

	out_char(out, '"');
	out_text(out, metric_names[metric]);
	out_text(out, "\":{\"peak_bytes\":");
	out_u64(out, sum->peak);
	out_text(out, ",\"peak_t\":");
	out_u64(out, sum->peak_t);
	out_text(out, ",\"exit_bytes\":");
	out_u64(out, sum->now);
	out_char(out, '}');
}

static void write_counts(struct out *out, const struct spool_scope *scope)
{
	out_text(out, ",\"allocations\":");
	out_u64(out, scope->allocations);
	out_text(out, ",\"frees\":");
	out_u64(out, scope->frees);
}

/* Pools or owners of a device, one shape. */
static void write_parts(struct out *out, const struct recording *recording, int device,
			enum scope_kind kind, const char *list, const char *key)
{
	const char *comma = "";

	out_text(out, list);
	for (uint32_t i = 0; i < recording->scopes; i++) {
		const struct spool_scope *scope = scope_at(recording, i);
		const char *name = spool_text(recording->spool, scope->name);

		if (scope->kind != (uint32_t)kind || scope->device != device)
			continue;
		out_text(out, comma);
		out_text(out, key);
		out_json(out, name ? name : "");
		out_char(out, ',');
		write_sum(out, scope, METRIC_ALLOCATED);
		out_char(out, ',');
		write_sum(out, scope, METRIC_RESERVED);
		document_part_at_used(out, scope);
		write_counts(out, scope);
		out_char(out, '}');
		comma = ",\n  ";
	}
	out_char(out, ']');
}

/* Name and size of a device, which the facts tell. */
static void write_device_facts(struct out *out, const struct recording *recording, int device)
{
	for (uint32_t i = 0; (i = recording_fact(recording, "device", i));) {
		const char *ordinal = recording_value(recording, i);
		const char *total =
			recording_value(recording, recording_fact(recording, "total_bytes", i));
		int number = 0;

		for (const char *p = ordinal ? ordinal : "";
		     *p >= '0' && *p <= '9' && number < 100000; p++)
			number = number * 10 + *p - '0';
		if (number != device)
			continue;
		out_text(out, ",\"name\":");
		out_json(out, recording_value(recording, recording_fact(recording, "name", i)));
		out_text(out, ",\"total_bytes\":");
		out_text(out,
			 total && strspn(total, "0123456789") == strlen(total) ? total : "null");
		return;
	}
	out_text(out, ",\"name\":null,\"total_bytes\":null");
}

static void write_device(struct out *out, const struct recording *recording,
			 const struct spool_scope *scope)
{
	out_text(out, "{\"device\":");
	out_i64(out, scope->device);
	write_device_facts(out, recording, scope->device);
	out_text(out, ",\n ");
	write_sum(out, scope, METRIC_ALLOCATED);
	out_char(out, ',');
	write_sum(out, scope, METRIC_RESERVED);
	out_char(out, ',');
	document_used_of(out, recording, scope);
	write_counts(out, scope);
	out_text(out, ",\"ooms\":");
	out_u64(out, scope->ooms);
	out_text(out, ",\"retries\":");
	out_u64(out, scope->retries);
	document_named(out, recording, scope->device);
	write_parts(out, recording, scope->device, SCOPE_POOL, ",\n \"pools\":[", "{\"pool\":");
	write_parts(out, recording, scope->device, SCOPE_OWNER, ",\n \"owners\":[", "{\"owner\":");
	out_char(out, '}');
}

/* The device scope with the smallest ordinal above `after`, NULL for none. */
static const struct spool_scope *next_device(const struct recording *recording, int after)
{
	const struct spool_scope *next = NULL;

	for (uint32_t i = 0; i < recording->scopes; i++) {
		const struct spool_scope *scope = scope_at(recording, i);

		if (scope->kind == SCOPE_DEVICE && scope->device > after &&
		    (!next || scope->device < next->device))
			next = scope;
	}
	return next;
}

void document_summary(struct out *out, const struct recording *recording)
{
	const struct spool_scope *device = NULL;
	const char *comma = "";

	out_text(out, "\"summary\":{\"devices\":[");
	while ((device = next_device(recording, device ? device->device : NO_DEVICE))) {
		out_text(out, comma);
		write_device(out, recording, device);
		comma = ",\n";
	}
	out_text(out, "],\n \"spaces\":[");
	comma = "";
	for (uint32_t i = 0; i < recording->scopes; i++) {
		const struct spool_scope *scope = scope_at(recording, i);
		const char *name = space_name(scope->name);

		if (scope->kind != SCOPE_SPACE || !name)
			continue;
		out_text(out, comma);
		out_text(out, "{\"space\":\"");
		out_text(out, name);
		out_text(out, "\",");
		write_sum(out, scope, METRIC_ALLOCATED);
		write_counts(out, scope);
		out_char(out, '}');
		comma = ",";
	}
	out_text(out, "]},\n");
}

static void write_peak(struct out *out, const struct recording *recording, uint32_t index,
		       enum metric metric)
{
	const struct spool_scope *scope = scope_at(recording, index);
	uint32_t sum = index * METRICS + metric;
	const char *comma = "";

	out_text(out, "{\"device\":");
	out_i64(out, scope->device);
	out_text(out, ",\"pool\":");
	out_json(out, scope->kind == SCOPE_POOL ? spool_text(recording->spool, scope->name) : NULL);
	out_text(out, ",\"metric\":\"");
	out_text(out, metric_names[metric]);
	out_text(out, "\",\"t\":");
	out_u64(out, scope->sums[metric].peak_t);
	out_text(out, ",\"bytes\":");
	out_u64(out, scope->sums[metric].peak);
	out_text(out, ",\"stacks\":[");
	for (uint32_t i = recording->first[sum]; i < recording->first[sum + 1]; i++) {
		const struct recording_share *share = &recording->shares[i];

		if (!share->at_peak)
			break; /* sorted: the rest held nothing then */
		out_text(out, comma);
		out_text(out, "{\"stack\":");
		out_u64(out, share->stack);
		out_text(out, ",\"bytes\":");
		out_u64(out, share->at_peak);
		out_text(out, ",\"count\":");
		out_u64(out, share->at_peak_count);
		if (recording->spool->header->sample) {
			out_text(out, ",\"estimated_bytes\":");
			out_u64(out, share->estimated_at_peak);
		}
		out_char(out, '}');
		comma = ",";
	}
	out_text(out, "]}");
}

void document_peaks(struct out *out, const struct recording *recording)
{
	const char *comma = "";

	out_text(out, "\"peaks\":[");
	for (uint32_t i = 0; i < recording->scopes; i++) {
		const struct spool_scope *scope = scope_at(recording, i);

		if (scope->device < 0 || (scope->kind != SCOPE_DEVICE && scope->kind != SCOPE_POOL))
			continue;
		for (unsigned metric = METRIC_ALLOCATED; metric <= METRIC_RESERVED; metric++) {
			if (!scope->sums[metric].peak)
				continue;
			out_text(out, comma);
			write_peak(out, recording, i, metric);
			comma = ",\n";
		}
	}
	out_text(out, "],\n");
}

/* --- timeline --- */

enum column { COLUMN_T, COLUMN_ALLOCATED, COLUMN_RESERVED, COLUMN_USED };

struct moment {
	uint64_t t, allocated, reserved, used;
};

static void write_moment(struct out *out, const struct moment *moment, enum column column)
{
	const uint64_t values[] = { moment->t, moment->allocated, moment->reserved, moment->used };

	if (column == COLUMN_USED && !moment->used)
		out_text(out, "null");
	else
		out_u64(out, values[column]);
}

/* The up to three moments of a stretch in order of time, no moment twice. */
static unsigned moments_of(const struct spool_point *point, struct moment *moments)
{
	struct moment three[3] = {
		{ point->top.t, point->top.allocated, point->top.reserved, 0 },
		{ point->high.t, point->high.allocated, point->high.reserved, 0 },
		{ point->last.t, point->last.allocated, point->last.reserved, point->used },
	};
	unsigned count = 0;

	if (three[0].t > three[1].t) {
		struct moment first = three[1];

		three[1] = three[0];
		three[0] = first;
	}
	for (unsigned i = 0; i < 3; i++) {
		if (count && moments[count - 1].t == three[i].t &&
		    moments[count - 1].allocated == three[i].allocated &&
		    moments[count - 1].reserved == three[i].reserved)
			count--;
		moments[count++] = three[i];
	}
	return count;
}

static void write_column(struct out *out, const struct recording *recording,
			 const struct spool_scope *scope, enum column column)
{
	unsigned points = curve_points(recording->spool, scope);
	const struct moment zero = { 0, 0, 0, 0 };
	/* Curves are drawn one event late: the last state is the sums themselves. */
	const struct moment end = { recording->spool->header->t, scope->sums[METRIC_ALLOCATED].now,
				    scope->sums[METRIC_RESERVED].now,
				    scope->sums[METRIC_USED].now };

	out_char(out, '[');
	write_moment(out, &zero, column);
	for (unsigned i = 0; i < points; i++) {
		struct moment moments[3];
		unsigned count = moments_of(curve_point(recording->spool, scope, i), moments);

		for (unsigned k = 0; k < count; k++) {
			out_char(out, ',');
			write_moment(out, &moments[k], column);
		}
	}
	out_char(out, ',');
	write_moment(out, &end, column);
	out_char(out, ']');
}

static void write_curve(struct out *out, const struct recording *recording,
			const struct spool_scope *scope)
{
	static const char columns[][16] = { ",\"t\":", ",\"allocated\":", ",\"reserved\":",
					    ",\"used\":" };

	out_text(out, "{\"device\":");
	out_i64(out, scope->device);
	out_text(out, ",\"pool\":");
	out_json(out, scope->kind == SCOPE_POOL ? spool_text(recording->spool, scope->name) : NULL);
	for (unsigned i = 0; i < 4; i++) {
		out_text(out, columns[i]);
		write_column(out, recording, scope, i);
	}
	out_char(out, '}');
}

void document_timeline(struct out *out, const struct recording *recording)
{
	const char *comma = "";

	out_text(out, "\"timeline\":[");
	for (uint32_t i = 0; i < recording->scopes; i++) {
		const struct spool_scope *scope = scope_at(recording, i);

		if (scope->device < 0 || !scope->curve ||
		    (scope->kind != SCOPE_DEVICE && scope->kind != SCOPE_POOL))
			continue;
		out_text(out, comma);
		write_curve(out, recording, scope);
		comma = ",\n";
	}
	out_text(out, "],\n");
}
