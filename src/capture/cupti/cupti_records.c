/* Enters CUPTI's records into the spool (the recording's mapped file), where they survive if the
 * process is killed. CUPTI delivers records on its own thread, or on one that flushes CUPTI. */
#include <string.h>

#include "base/guest/signals.h"
#include "base/mem/each.h"
#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/text/text.h"
#include "capture/cupti/cupti.h"
#include "capture/recorder/record.h"

enum {
	AT_ONCE = 256,    /* records after which the lock is released and taken again */
	LONG_NS = 100000, /* API calls of at least this duration appear on the timeline */
};

/* Maps an action's kind and name to 1 + the index of its row in the spool's table ACTION. */
static struct map actions;

static bool version_told; /* true once CUPTI's version is in the spool */

static uint64_t since_start(uint64_t theirs)
{
	return theirs > cupti_library.offset ? theirs - cupti_library.offset : 0;
}

static uint32_t name_text(const char *name)
{
	enum { LONGEST = 400 };

	if (!name)
		name = "?";
	return intern_text_n(record_intern(), name, strnlen(name, LONGEST));
}

/* --- sums and spans of actions --- */

/* The row with an action's sums, which is added if it is missing. NULL if the spool is full. */
static struct spool_action *find_action(enum action_kind kind, uint32_t name)
{
	const struct spool_action fresh = { .name = name, .kind = kind };
	uint64_t key = ((uint64_t)kind << 32 | name) * HASH_C;
	uint32_t row = map_get(&actions, key);

	if (!row) {
		if (!spool_append(record_spool(), SPOOL_ACTION, &fresh))
			return NULL;
		row = (uint32_t)spool_count(record_spool(), SPOOL_ACTION);
		map_put(&actions, key, row);
	}
	return spool_at(record_spool(), SPOOL_ACTION, row - 1);
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

/* Stores a span in the ring. Once there are SPANS_MOST spans, the oldest one is overwritten. */
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

/* --- CUPTI's kinds of records --- */

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

static void take_transfer(const void *record)
{
	static const char copies[][16] = {
		"copy",      "copy HtoD", "copy DtoH", "copy HtoA", "copy AtoH", "copy AtoA",
		"copy AtoD", "copy DtoA", "copy DtoD", "copy HtoH", "copy PtoP",
	};
	const struct cupti_transfer *transfer = record;
	bool copy = transfer->kind == CUPTI_KIND_MEMCPY;
	bool named = transfer->copy < COUNT_OF(copies);
	struct spool_span span = {
		.kind = copy ? ACTION_COPY : ACTION_FILL,
		.name = record_text(copy ? copies[named ? transfer->copy : 0] : "fill"),
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
		.name = record_text(in ? "migration HtoD" : "migration DtoH"),
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

	if (cupti_library.cuptiGetCallbackName)
		cupti_library.cuptiGetCallbackName(
			driver ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME, call->call, &name);
	span.name = name_text(name);
	put_timed(&span, call->start, call->end);
}

static void put_witness(const struct spool_witness *witness)
{
	struct spool *spool = record_spool();

	if (spool_count(spool, SPOOL_WITNESS) >= WITNESS_MOST ||
	    !spool_append(spool, SPOOL_WITNESS, witness))
		spool->header->witness_lost++;
}

/* No call allocates a module's variables: their sum is stored, but no row in SPOOL_WITNESS. */
static void take_variable(const struct cupti_memory *memory)
{
	struct spool_span span = {
		.kind = ACTION_VARIABLES,
		.name = record_text("variables of modules"),
		.bytes = memory->bytes,
	};

	if (memory->operation == CUPTI_ALLOCATED)
		sum(&span, 1);
}

static uint8_t witness_memory(uint32_t kind)
{
	static const uint8_t memories[] = {
		[CUPTI_MEMORY_PINNED] = WITNESS_PINNED,
		[CUPTI_MEMORY_ARRAY] = WITNESS_ARRAY,
		[CUPTI_MEMORY_MANAGED] = WITNESS_MANAGED,
	};

	return kind < sizeof(memories) && memories[kind] ? memories[kind] : WITNESS_DEVICE;
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
		.memory = witness_memory(memory->memory_kind),
		.operation = (uint8_t)memory->operation,
		.flags = (uint8_t)((memory->async ? WITNESS_ORDERED : 0) |
				   (memory->context == (uint32_t)CUPTI_NO_CONTEXT ? WITNESS_MAPPED
										  : 0)),
	};

	if (memory->memory_kind == CUPTI_MEMORY_VARIABLE ||
	    memory->memory_kind == CUPTI_MEMORY_MANAGED_VARIABLE)
		take_variable(memory);
	else
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

static void take_record(const void *record)
{
	uint32_t kind = ((const struct cupti_record *)record)->kind;
	void (*take)(const void *) =
		kind == CUPTI_KIND_MEMORY2                                ? take_memory
		: kind == CUPTI_KIND_MEMORY_POOL                          ? take_pool
		: kind == CUPTI_KIND_KERNEL                               ? take_kernel
		: kind == CUPTI_KIND_MEMCPY || kind == CUPTI_KIND_MEMSET  ? take_transfer
		: kind == CUPTI_KIND_UNIFIED                              ? take_migration
		: kind == CUPTI_KIND_DRIVER || kind == CUPTI_KIND_RUNTIME ? take_call
									  : NULL;

	if (take)
		take(record);
}

static void tell_version(void)
{
	char digits[24];

	if (version_told)
		return;
	version_told = true;
	text_u64(digits, cupti_library.version);
	record_fact("cupti", digits);
}

/* Enters up to AT_ONCE records of the buffer. False after the last record. */
static bool take_some(uint8_t *buffer, size_t valid, void **record)
{
	for (unsigned i = 0; i < AT_ONCE; i++) {
		if (cupti_library.cuptiActivityGetNextRecord(buffer, valid, record))
			return false;
		take_record(*record);
	}
	return true;
}

void cupti_take(uint8_t *buffer, size_t valid)
{
	void *record = NULL;
	bool more = true;

	/* `true` allows the slow work of a first event: the hooks may have seen none before. */
	while (more && record_begin(true)) {
		SIGNALS_DEFERRED();
		if (record_held())
			return;
		record_lock();
		more = !record_ledger()->error;
		if (more) {
			tell_version();
			more = take_some(buffer, valid, &record);
		}
		record_unlock();
	}
}

void cupti_records_clear(void)
{
	map_clear(&actions);
	version_told = false;
}
