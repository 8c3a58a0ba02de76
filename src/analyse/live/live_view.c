/* Reads the current state of a process from its spool. */
#include "analyse/live/live_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/spool/read.h"
#include "base/guest/clock.h"
#include "base/mem/sort.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "codec/event.h"
#include "ledger/totals.h"
#include "spool/spool.h"

static void read_command(struct look *look)
{
	const struct spool *spool = &look->follow.spool;

	look->command[0] = '\0';
	for (uint32_t i = 0; (i = fact_find(spool, "command", i));) {
		const char *word = fact_value(spool, i);

		if (look->command[0])
			text_append(look->command, sizeof(look->command), " ");
		text_append(look->command, sizeof(look->command), word ? word : "");
	}
	utf8_clean(look->command);
}

/* Reads a device's model, UUID and size: the facts "name", "uuid" and "total_bytes" that follow the
 * fact "device" with the device's number. */
static void read_device_facts(const struct look *look, struct live_view_scope *scope)
{
	const struct spool *spool = &look->follow.spool;

	for (uint32_t i = 0; (i = fact_find(spool, "device", i));) {
		const char *number = fact_value(spool, i);
		const char *total;

		if (!number || atoi(number) != scope->row.device)
			continue;
		total = fact_value(spool, fact_find(spool, "total_bytes", i));
		scope->name = fact_value(spool, fact_find(spool, "name", i));
		scope->uuid = fact_value(spool, fact_find(spool, "uuid", i));
		if (total && strtoull(total, NULL, 10))
			scope->total = strtoull(total, NULL, 10);
		return;
	}
}

static struct live_view_scope read_scope(const struct look *look, uint32_t number, double seconds)
{
	const struct spool_scope *row = totals_scope(&look->follow.spool, number);
	uint64_t before = number < look->allocations_n ? look->allocations[number] : 0;
	uint64_t allocated = row->sums[METRIC_ALLOCATED].now;
	uint64_t reserved = row->sums[METRIC_RESERVED].now;
	struct live_view_scope scope = {
		.row = *row,
		.name = row->kind == SCOPE_SPACE ? space_name(row->name)
						 : spool_text(&look->follow.spool, row->name),
		.source = spool_text(&look->follow.spool, row->used_source),
		.total = TRACE_NONE,
		.cached = reserved > allocated ? reserved - allocated : 0,
		.rate = live_view_rate(row->allocations, before, seconds),
	};

	if (!row->used_samples)
		scope.row.sums[METRIC_USED] = (struct spool_sum){ TRACE_NONE, TRACE_NONE, 0, 0 };
	if (row->kind == SCOPE_DEVICE)
		read_device_facts(look, &scope);
	return scope;
}

static int read_scopes(struct look *look, double seconds)
{
	static const struct sort_key keys[] = { SORT_UP(struct live_view_scope, row.kind),
						SORT_UP(struct live_view_scope, row.device),
						{ 0 } };
	uint32_t count = (uint32_t)spool_count(&look->follow.spool, SPOOL_SCOPE);
	struct live_view_scope *scopes = realloc(look->scopes, (count + 1) * sizeof(*scopes));
	uint64_t *allocations;

	if (!scopes)
		return -ENOMEM;
	look->scopes = scopes;
	look->scopes_n = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t kind = totals_scope(&look->follow.spool, i)->kind;

		if (kind >= SCOPE_DEVICE && kind <= SCOPE_SPACE)
			scopes[look->scopes_n++] = read_scope(look, i, seconds);
	}
	allocations = realloc(look->allocations, (count + 1) * sizeof(*allocations));
	if (!allocations)
		return -ENOMEM;
	look->allocations = allocations;
	look->allocations_n = count;
	for (uint32_t i = 0; i < count; i++)
		allocations[i] = totals_scope(&look->follow.spool, i)->allocations;
	sort_rows(scopes, look->scopes_n, sizeof(*scopes), keys);
	return 0;
}

const struct live_view_scope *live_view_next(const struct look *look, enum scope_kind kind,
					     const struct live_view_scope *after)
{
	const struct live_view_scope *scope = after ? after + 1 : look->scopes;

	for (; scope && scope < look->scopes + look->scopes_n; scope++) {
		if (scope->row.kind == kind)
			return scope;
	}
	return NULL;
}

/* If the process may be on another machine, only the spool's header shows whether it ended. */
static bool is_running(const struct look *look)
{
	const struct spool *spool = &look->follow.spool;

	if (spool_writer_elsewhere(spool))
		return !spool->header->end && look->stop != SPOOL_CLOSED;
	return spool_writer_lives(spool);
}

static void read_process(struct look *look, double seconds)
{
	const struct spool_header *header = look->follow.spool.header;
	bool here = !spool_writer_elsewhere(&look->follow.spool);

	look->stop = atomic_load(&header->stop);
	look->recording = look->stop == SPOOL_RECORDING;
	look->running = is_running(look);
	look->events_on = atomic_load(&header->recording);
	look->sample = header->sample ? header->sample : TRACE_NONE;
	look->rank = fact_told(&look->follow.spool, "rank");
	look->host = fact_told(&look->follow.spool, "host");
	look->start_time = header->start_realtime / 1000000000u;
	look->uptime = here && look->running && look->looked_at > header->start_monotonic
			       ? look->looked_at - header->start_monotonic
			       : header->t;
	look->events_rate = live_view_rate(header->seq, look->events, seconds);
	look->events = header->seq;
	look->dropped = header->dropped;
	look->ooms = header->ooms;
}

int live_view_now(struct look *look)
{
	uint64_t before = look->looked_at;
	uint64_t allocated = look->lines.allocated;
	int error = follow_look(&look->follow);
	double seconds;

	if (error)
		return error;
	look->looked_at = clock_now();
	seconds = before ? (double)(look->looked_at - before) / 1e9 : 0;
	read_process(look, seconds);
	error = read_scopes(look, seconds);
	if (!error)
		error = live_view_lines_read(&look->lines, &look->follow.spool, seconds);
	if (error) {
		err("%s: too little memory to read this spool", look->follow.spool.path);
		return error;
	}
	look->bytes_rate = live_view_rate(look->lines.allocated, allocated, seconds);
	live_view_ranges_read(&look->ranges, &look->follow);
	return 0;
}

int live_view_open(struct look *look, const char *path, int pid)
{
	int error;

	memset(look, 0, sizeof(*look));
	error = follow_open(&look->follow, path);
	if (error)
		return error;
	look->pid = pid ? pid : (int)look->follow.spool.header->pid;
	read_command(look);
	error = live_view_now(look);
	if (error)
		live_view_close(look);
	return error;
}

void live_view_close(struct look *look)
{
	live_view_lines_clear(&look->lines);
	free(look->scopes);
	free(look->allocations);
	follow_close(&look->follow);
	memset(look, 0, sizeof(*look));
	look->follow.reading.fd = -1;
}
