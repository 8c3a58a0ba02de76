/*
 * CUPTI's records into the spool. They come a buffer at a time, on a thread of CUPTI's or on one
 * that flushes; what they tell goes where a killed process leaves it.
 */
#include <string.h>

#include "base/guest/signals.h"
#include "base/mem/hash.h"
#include "base/text/text.h"
#include "capture/cupti/cupti.h"
#include "capture/recorder/record.h"

enum {
	AT_ONCE = 256,    /* records under one lock */
	LONG_NS = 100000, /* a call that took so long is shown on the timeline */
	SLOTS = 1 << 12,
};

/* Actions of this spool by kind and name: 1 + the row, 0 for none. */
static uint32_t slots[SLOTS];

static struct {
	const struct cupti_functions *cupti;
	uint64_t offset;
	uint32_t version; /* that the spool was told */
} from;

static uint64_t since_start(uint64_t theirs)
{
	return theirs > from.offset ? theirs - from.offset : 0;
}

/* A text of the spool for a name that may be missing or longer than anybody reads. */
static uint32_t name_text(const char *name)
{
	enum { LONGEST = 400 };

	if (!name)
		name = "?";
	return intern_text_n(record_intern(), name, strnlen(name, LONGEST));
}

/* --- sums --- */

static struct spool_action *action_at(uint32_t row)
{
	return spool_at(record_spool(), SPOOL_ACTION, row);
}

/* NULL without room. */
static struct spool_action *make_action(uint32_t *slot, enum action_kind kind, uint32_t name)
{
	struct spool *spool = record_spool();
	uint64_t count = spool_count(spool, SPOOL_ACTION);

	if (spool_need(spool, SPOOL_ACTION, count))
		return NULL;
	*action_at((uint32_t)count) = (struct spool_action){ .name = name, .kind = kind };
	spool_add_rows(spool, SPOOL_ACTION, 1);
	*slot = (uint32_t)count + 1;
	return action_at((uint32_t)count);
}

static struct spool_action *find_action(enum action_kind kind, uint32_t name)
{
	uint64_t key = (uint64_t)kind << 32 | name;
	uint64_t slot = hash_mix(key, HASH_C) % SLOTS;

	for (unsigned tries = 0; tries < SLOTS; tries++, slot = (slot + 1) % SLOTS) {
		struct spool_action *action;

		if (!slots[slot])
			return make_action(&slots[slot], kind, name);
		action = action_at(slots[slot] - 1);
		if (action->name == name && action->kind == kind)
			return action;
	}
	return NULL; /* programs have some hundreds of kernels */
}

static void sum(const struct spool_span *span, uint64_t count)
{
	struct spool_action *action = find_action(span->kind, span->name);

	if (!action)
		return;
	action->count += count;
	action->total += span->ns;
	action->bytes += span->bytes;
	if (span->ns > action->max)
		action->max = span->ns;
}

/* The ring grows to its size, then forgets the oldest. */
static void put_span(const struct spool_span *span)
{
	struct spool *spool = record_spool();
	uint64_t at = spool->header->spans % SPANS_MOST;

	if (spool_need(spool, SPOOL_SPAN, at))
		return;
	*(struct spool_span *)spool_at(spool, SPOOL_SPAN, at) = *span;
	if (at == spool_count(spool, SPOOL_SPAN))
		spool_add_rows(spool, SPOOL_SPAN, 1);
	__atomic_store_n(&spool->header->spans, spool->header->spans + 1, __ATOMIC_RELEASE);
}

static void put_timed(struct spool_span *span, uint64_t start, uint64_t end)
{
	span->t = since_start(start);
	span->ns = end > start ? end - start : 0;
	sum(span, 1);
	if ((span->kind != ACTION_RUNTIME && span->kind != ACTION_DRIVER) || span->ns >= LONG_NS)
		put_span(span);
}

/* --- kinds of records --- */

static void take_kernel(const void *record)
{
	const struct cupti_kernel *kernel = record;
	struct spool_span span = {
		.kind = ACTION_KERNEL,
		.name = name_text(kernel->name),
		.device = (int16_t)kernel->device,
		.stream = kernel->stream,
	};

	put_timed(&span, kernel->start, kernel->end);
}

static const char *copy_name(unsigned kind)
{
	static const char names[][16] = {
		"copy",      "copy HtoD", "copy DtoH", "copy HtoA", "copy AtoH", "copy AtoA",
		"copy AtoD", "copy DtoA", "copy DtoD", "copy HtoH", "copy PtoP",
	};

	return names[kind < sizeof(names) / sizeof(names[0]) ? kind : 0];
}

static void take_transfer(const void *record)
{
	const struct cupti_transfer *transfer = record;
	bool copy = transfer->kind == CUPTI_KIND_MEMCPY;
	struct spool_span span = {
		.kind = copy ? ACTION_COPY : ACTION_FILL,
		.name = intern_text(record_intern(), copy ? copy_name(transfer->copy) : "fill"),
		.device = (int16_t)transfer->device,
		.stream = transfer->stream,
		.bytes = transfer->bytes,
	};

	put_timed(&span, transfer->start, transfer->end);
}

static void take_migration(const void *record)
{
	const struct cupti_unified *unified = record;
	bool in = unified->counter == CUPTI_UNIFIED_HTOD;
	struct spool_span span = {
		.kind = ACTION_MIGRATION,
		.name = intern_text(record_intern(), in ? "migration HtoD" : "migration DtoH"),
		.device = (int16_t)(in ? unified->to : unified->from),
		.bytes = unified->value,
	};

	if (in || unified->counter == CUPTI_UNIFIED_DTOH)
		put_timed(&span, unified->start, unified->end);
}

static void take_call(const void *record)
{
	const struct cupti_api *call = record;
	bool driver = call->kind == CUPTI_KIND_DRIVER;
	const char *name = NULL;
	struct spool_span span = {
		.kind = driver ? ACTION_DRIVER : ACTION_RUNTIME,
		.device = -1,
		.thread = call->thread,
	};

	if (from.cupti->cuptiGetCallbackName)
		from.cupti->cuptiGetCallbackName(
			driver ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME, call->call, &name);
	span.name = name_text(name);
	put_timed(&span, call->start, call->end);
}

static void put_witness(const struct spool_witness *witness)
{
	struct spool *spool = record_spool();
	uint64_t count = spool_count(spool, SPOOL_WITNESS);

	if (count >= WITNESS_MOST || spool_need(spool, SPOOL_WITNESS, count)) {
		spool->header->witness_lost++;
		return;
	}
	*(struct spool_witness *)spool_at(spool, SPOOL_WITNESS, count) = *witness;
	spool_add_rows(spool, SPOOL_WITNESS, 1);
}

/* What modules bring with them is asked for by no call: a sum. */
static void take_variable(const struct cupti_memory *memory)
{
	struct spool_span span = {
		.kind = ACTION_VARIABLES,
		.name = intern_text(record_intern(), "variables of modules"),
		.bytes = memory->bytes,
	};

	if (memory->operation == CUPTI_ALLOCATED)
		sum(&span, 1);
}

static void take_memory(const void *record)
{
	const struct cupti_memory *memory = record;
	struct spool_witness witness = {
		.t = since_start(memory->timestamp),
		.address = memory->address,
		.bytes = memory->bytes,
		.pool = memory->async ? memory->pool : 0,
		.device = (int16_t)memory->device,
		.operation = (uint8_t)memory->operation,
		.flags = (uint8_t)((memory->async ? WITNESS_ORDERED : 0) |
				   (memory->context == (uint32_t)CUPTI_NO_CONTEXT ? WITNESS_MAPPED
										  : 0)),
	};

	switch (memory->memory_kind) {
	case CUPTI_MEMORY_VARIABLE:
	case CUPTI_MEMORY_MANAGED_VARIABLE:
		take_variable(memory);
		return;
	case CUPTI_MEMORY_PINNED:
		witness.memory = WITNESS_PINNED;
		break;
	case CUPTI_MEMORY_ARRAY:
		witness.memory = WITNESS_ARRAY;
		break;
	case CUPTI_MEMORY_MANAGED:
		witness.memory = WITNESS_MANAGED;
		break;
	default:
		witness.memory = WITNESS_DEVICE;
		break;
	}
	put_witness(&witness);
}

static void take_pool(const void *record)
{
	const struct cupti_pool *pool = record;
	struct spool_witness witness = {
		.t = since_start(pool->timestamp),
		.address = pool->address,
		.bytes = pool->size,
		.pool = pool->address,
		.device = (int16_t)pool->device,
		.memory = WITNESS_POOL,
		.operation = (uint8_t)pool->operation,
		.flags = WITNESS_ORDERED,
	};

	put_witness(&witness);
}

static void take(const struct cupti_record *record)
{
	switch (record->kind) {
	case CUPTI_KIND_MEMORY2:
		take_memory(record);
		break;
	case CUPTI_KIND_MEMORY_POOL:
		take_pool(record);
		break;
	case CUPTI_KIND_KERNEL:
		take_kernel(record);
		break;
	case CUPTI_KIND_MEMCPY:
	case CUPTI_KIND_MEMSET:
		take_transfer(record);
		break;
	case CUPTI_KIND_UNIFIED:
		take_migration(record);
		break;
	case CUPTI_KIND_DRIVER:
	case CUPTI_KIND_RUNTIME:
		take_call(record);
		break;
	default:
		break;
	}
}

static void tell_version(void)
{
	char digits[24];

	if (from.version)
		return;
	from.version = from.cupti->version;
	text_u64(digits, from.version);
	intern_fact(record_intern(), "cupti", digits);
}

/* Up to AT_ONCE of them; false behind the last. */
static bool take_some(uint8_t *buffer, size_t valid, void **record)
{
	for (unsigned i = 0; i < AT_ONCE; i++) {
		if (from.cupti->cuptiActivityGetNextRecord(buffer, valid, record))
			return false;
		take(*record);
	}
	return true;
}

void cupti_take(const struct cupti_functions *cupti, uint64_t offset, uint8_t *buffer, size_t valid)
{
	void *record = NULL;
	bool more = true;

	/* May be the first word of memory there is: then a call has been missed, and this tells. */
	while (more && record_begin(true)) {
		struct signals_deferred deferred;

		signals_defer(&deferred);
		record_lock();
		from.cupti = cupti;
		from.offset = offset;
		more = !record_ledger()->error;
		if (more) {
			tell_version();
			more = take_some(buffer, valid, &record);
		}
		record_unlock();
		signals_deliver(&deferred);
	}
}

void cupti_records_clear(void)
{
	memset(slots, 0, sizeof(slots));
	from.version = 0;
}
