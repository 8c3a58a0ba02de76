/*
 * Records ranges and marks of NVTX's payload extension, whose data has a schema. NCCL opens ranges
 * without the extension and closes them with it (nvtxRangePopPayload).
 *
 * Each library that contains the extension initialises it separately; calls through slots that stay
 * empty do nothing. Slots and layouts: nvtx3/nvToolsExtPayload.h and nvtxDetail/nvtxExtTypes.h of
 * CUDA 13.0. Of a payload only the event's message is read.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/mem/each.h"
#include "capture/loader/hooks.h"
#include "capture/nvtx/nvtx.h"
#include "capture/recorder/callbacks.h"

enum {
	MODULE_PAYLOAD = 2,
	TYPE_CSTRING = 75,
	TYPE_CSTRING_UTF8 = 76,
	TYPE_REGISTERED = 80,
	FLAGS_INDIRECT = 3 << 2 | 7 << 4, /* the field holds an offset or text, not a pointer */
	FLAGS_EVENT = 3 << 10,
	FLAG_MESSAGE = 1 << 10,
	FIELD_NAME = 1 << 1,
	FIELD_ENTRIES = 1 << 4,
	FIELD_NUM_ENTRIES = 1 << 5,
	FIELD_SCHEMA_ID = 1 << 8,
	SCHEMAS = 512,
};

static const uint64_t DYNAMIC_START = 1ull << 32;

struct schema_entry { /* laid out as nvtxPayloadSchemaEntry_v1 */
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset;
	const void *semantics, *reserved;
};

struct schema { /* laid out as nvtxPayloadSchemaAttr_v1 */
	uint64_t fields;
	const char *name;
	uint64_t type, flags;
	const struct schema_entry *entries;
	size_t entries_n, size, align;
	uint64_t id;
	void *extension;
};

struct payload { /* laid out as nvtxPayloadData_v1 */
	uint64_t schema;
	size_t size;
	const void *data;
};

struct segment { /* laid out as nvtxExtModuleSegment_t */
	size_t id, slots_n;
	intptr_t *slots;
};

struct extension_module { /* laid out as nvtxExtModuleInfo_t */
	uint16_t version, size, id, compatible;
	size_t segments_n;
	const struct segment *segments;
	intptr_t (*get_function)(uint32_t id);
	const void *information;
};

_Static_assert(sizeof(struct schema_entry) == 64 && sizeof(struct schema) == 80 &&
		       sizeof(struct payload) == 24 && sizeof(struct extension_module) == 40,
	       "the sizes must be as in NVTX");

EXPORT int InitializeInjectionNvtxExtension(const struct extension_module *module);

/* Registered schemas, each with the position of the event's message in its payloads. */
static struct known {
	_Atomic uint64_t id; /* 0 while the entry is incomplete */
	const char *name;
	const char *domain;
	size_t offset;
	bool message;
} schemas[SCHEMAS];

static atomic_uint schemas_n;

static bool is_message(const struct schema_entry *entry, size_t position)
{
	bool text = entry->type == TYPE_CSTRING || entry->type == TYPE_CSTRING_UTF8 ||
		    entry->type == TYPE_REGISTERED;

	/* Of the entries without an offset, only the first has a known position. */
	return (entry->flags & FLAGS_EVENT) == FLAG_MESSAGE && text &&
	       !(entry->flags & FLAGS_INDIRECT) && (entry->offset || !position);
}

static uint64_t register_schema(const char *domain, const struct schema *schema)
{
	unsigned at = atomic_fetch_add(&schemas_n, 1);
	uint64_t id = DYNAMIC_START + at;
	struct known *known = &schemas[at < SCHEMAS ? at : 0];
	size_t count;

	if (!schema)
		return 0;
	if ((schema->fields & FIELD_SCHEMA_ID) && schema->id)
		id = schema->id;
	if (at >= SCHEMAS)
		return id;
	known->domain = domain;
	known->name = nvtx_keep(schema->fields & FIELD_NAME ? schema->name : NULL);
	count = (schema->fields & FIELD_ENTRIES) && (schema->fields & FIELD_NUM_ENTRIES) &&
				schema->entries
			? schema->entries_n
			: 0;
	for (size_t i = 0; i < count && !known->message; i++) {
		known->message = is_message(&schema->entries[i], i);
		known->offset = schema->entries[i].offset;
	}
	atomic_store(&known->id, id);
	return id;
}

/* Returns an id for an enumeration, which names values in payloads. The names are not used. */
static uint64_t register_enum(const char *domain, const void *attributes)
{
	(void)domain;
	(void)attributes;
	return DYNAMIC_START + SCHEMAS + atomic_fetch_add(&schemas_n, 1);
}

static const struct known *find_schema(const char *domain, uint64_t id)
{
	unsigned count = atomic_load(&schemas_n);

	for (unsigned i = 0; i < count && i < SCHEMAS; i++) {
		if (atomic_load(&schemas[i].id) == id && schemas[i].domain == domain)
			return &schemas[i];
	}
	return NULL;
}

static const char *payload_name(const char *domain, const struct payload *payloads, size_t count)
{
	const char *name = NULL;

	for (size_t i = 0; payloads && i < count; i++) {
		const struct payload *payload = &payloads[i];
		const struct known *known = find_schema(domain, payload->schema);
		const char *text;

		if (!known)
			continue;
		name = name ? name : known->name;
		if (!known->message || !payload->data || payload->size < known->offset ||
		    payload->size - known->offset < sizeof(text))
			continue;
		memcpy(&text, (const char *)payload->data + known->offset, sizeof(text));
		if (text)
			return text;
	}
	return name ? name : "";
}

static void mark(const char *domain, const struct payload *payloads, size_t count)
{
	nvtx_mark(domain, NVTX_MESSAGE(NVTX_ASCII, payload_name(domain, payloads, count)));
}

static int push_payload(const char *domain, const struct payload *payloads, size_t count)
{
	return nvtx_push(domain, NVTX_MESSAGE(NVTX_ASCII, payload_name(domain, payloads, count)));
}

static int pop_payload(const char *domain, const struct payload *payloads, size_t count)
{
	(void)payloads;
	(void)count;
	return nvtx_pop(domain);
}

static uint64_t start_payload(const char *domain, const struct payload *payloads, size_t count)
{
	return nvtx_start(domain, NVTX_MESSAGE(NVTX_ASCII, payload_name(domain, payloads, count)));
}

static void end_range(const char *domain, uint64_t range, const struct payload *payloads,
		      size_t count)
{
	(void)payloads;
	(void)count;
	nvtx_end(domain, range);
}

static uint8_t is_enabled(const char *domain)
{
	(void)domain;
	return 1;
}

int InitializeInjectionNvtxExtension(const struct extension_module *module)
{
	const intptr_t ours[] = {
		(intptr_t)register_schema, (intptr_t)register_enum, (intptr_t)mark,
		(intptr_t)push_payload,    (intptr_t)pop_payload,   (intptr_t)start_payload,
		(intptr_t)end_range,       (intptr_t)is_enabled
	};

	if (!guest_preloaded || !module || module->size < sizeof(*module) ||
	    module->id != MODULE_PAYLOAD || !module->segments_n)
		return 0;
	for (size_t i = 0; i < COUNT_OF(ours); i++) {
		if (i < module->segments[0].slots_n)
			module->segments[0].slots[i] = ours[i];
	}
	return 1;
}
