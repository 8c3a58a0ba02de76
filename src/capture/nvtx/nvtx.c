/*
 * NVTX ranges and marks, through its own injection: each library that contains NVTX 3 reads
 * NVTX_INJECTION64_PATH at its first call and hands us a table of its functions to fill.
 *
 * Slots and layouts: nvtx3/nvtxDetail/nvtxTypes.h and nvToolsExt.h of CUDA 13.0. No CUPTI involved.
 */
#include "capture/nvtx/nvtx.h"

#include <string.h>
#include <wchar.h>

#include "base/text/text.h"
#include "capture/life/init.h"
#include "capture/nvtx/nvtx_parts.h"
#include "capture/recorder/record.h"

#define EXPORT __attribute__((visibility("default")))

enum {
	ETID_CALLBACKS = 1,
	MODULE_CORE = 1,
	MODULE_CORE2 = 5,
	MESSAGE_ASCII = 1,
	MESSAGE_UNICODE = 2,
	MESSAGE_REGISTERED = 3,
	COLOR_ARGB = 1,
	PAYLOAD_U64 = 1,
	PAYLOAD_I64 = 2,
	PAYLOAD_F64 = 3,
	PAYLOAD_U32 = 4,
	PAYLOAD_I32 = 5,
	PAYLOAD_F32 = 6, /* beyond these: NVTX's extension, whose payload is an address */
};

struct attributes { /* nvtxEventAttributes_v2 */
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

_Static_assert(sizeof(struct attributes) == 48, "as NVTX lays it out");

typedef void (*function)(void);

struct callbacks { /* NvtxExportTableCallbacks */
	size_t size;
	int (*module_table)(int module, function ***table, unsigned int *size);
};

EXPORT int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id));

static _Atomic uint64_t ranges;
static _Thread_local int level;

static void read_message(const struct attributes *attributes, char *name)
{
	name[0] = '\0';
	if (!attributes || attributes->size < sizeof(*attributes) || !attributes->message)
		return;
	if (attributes->message_type == MESSAGE_UNICODE)
		nvtx_narrow(name, RECORD_NAME, attributes->message);
	else if (attributes->message_type == MESSAGE_ASCII ||
		 attributes->message_type == MESSAGE_REGISTERED)
		text_copy(name, RECORD_NAME, attributes->message);
}

static void read_payload(const struct attributes *attributes, struct event_detail *detail)
{
	uint32_t low = (uint32_t)attributes->payload;
	double real;
	float narrow_real;

	detail->payload = attributes->payload;
	switch (attributes->payload_type) {
	case PAYLOAD_U64:
		detail->payload_kind = PAYLOAD_UNSIGNED;
		break;
	case PAYLOAD_I64:
		detail->payload_kind = PAYLOAD_SIGNED;
		break;
	case PAYLOAD_F64:
		detail->payload_kind = PAYLOAD_REAL;
		break;
	case PAYLOAD_U32:
		detail->payload = low;
		detail->payload_kind = PAYLOAD_UNSIGNED;
		break;
	case PAYLOAD_I32:
		detail->payload = (uint64_t)(int64_t)(int32_t)low;
		detail->payload_kind = PAYLOAD_SIGNED;
		break;
	case PAYLOAD_F32:
		memcpy(&narrow_real, &low, sizeof(narrow_real));
		real = (double)narrow_real;
		memcpy(&detail->payload, &real, sizeof(real));
		detail->payload_kind = PAYLOAD_REAL;
		break;
	default:
		detail->payload = 0;
	}
}

static void tell(enum event_op op, const char *domain, const struct attributes *attributes,
		 uint64_t range)
{
	struct record_detail detail = { .category = NULL };
	char name[RECORD_NAME];
	char number[24];

	read_message(attributes, name);
	if (attributes && attributes->size >= sizeof(*attributes)) {
		if (attributes->category)
			detail.category = nvtx_category(domain, attributes->category, number);
		if (attributes->color_type == COLOR_ARGB)
			detail.rest.color = 0xff000000u | attributes->color;
		read_payload(attributes, &detail.rest);
	}
	record_mark_detailed(op, name, domain, range, &detail);
}

static void mark_in(const char *domain, const struct attributes *attributes)
{
	tell(EVENT_MARK, domain, attributes, 0);
}

static int push_in(const char *domain, const struct attributes *attributes)
{
	tell(EVENT_PUSH, domain, attributes, 0);
	return level++;
}

int nvtx_pop(const char *domain)
{
	record_mark(EVENT_POP, "", domain, 0);
	return level > 0 ? --level : -1;
}

static uint64_t start_in(const char *domain, const struct attributes *attributes)
{
	uint64_t range = atomic_fetch_add(&ranges, 1) + 1;

	tell(EVENT_PUSH, domain, attributes, range);
	return range;
}

void nvtx_end(const char *domain, uint64_t range)
{
	record_mark(EVENT_POP, "", domain, range);
}

static void mark_ex(const struct attributes *attributes)
{
	mark_in(NULL, attributes);
}

void nvtx_mark(const char *domain, const char *name)
{
	record_mark(EVENT_MARK, name, domain, 0);
}

static void mark_a(const char *name)
{
	nvtx_mark(NULL, name);
}

static void mark_w(const wchar_t *wide)
{
	char name[RECORD_NAME];

	nvtx_narrow(name, sizeof(name), wide);
	mark_a(name);
}

static int push_ex(const struct attributes *attributes)
{
	return push_in(NULL, attributes);
}

int nvtx_push(const char *domain, const char *name)
{
	record_mark(EVENT_PUSH, name, domain, 0);
	return level++;
}

static int push_a(const char *name)
{
	return nvtx_push(NULL, name);
}

static int push_w(const wchar_t *wide)
{
	char name[RECORD_NAME];

	nvtx_narrow(name, sizeof(name), wide);
	return push_a(name);
}

static int pop(void)
{
	return nvtx_pop(NULL);
}

static uint64_t start_ex(const struct attributes *attributes)
{
	return start_in(NULL, attributes);
}

uint64_t nvtx_start(const char *domain, const char *name)
{
	uint64_t range = atomic_fetch_add(&ranges, 1) + 1;

	record_mark(EVENT_PUSH, name, domain, range);
	return range;
}

static uint64_t start_a(const char *name)
{
	return nvtx_start(NULL, name);
}

static uint64_t start_w(const wchar_t *wide)
{
	char name[RECORD_NAME];

	nvtx_narrow(name, sizeof(name), wide);
	return start_a(name);
}

static void range_end(uint64_t range)
{
	nvtx_end(NULL, range);
}

static void category_in_a(const char *domain, uint32_t id, const char *name)
{
	nvtx_name_category(domain, id, name);
}

static void category_in_w(const char *domain, uint32_t id, const wchar_t *wide)
{
	char name[RECORD_NAME];

	nvtx_narrow(name, sizeof(name), wide);
	nvtx_name_category(domain, id, name);
}

static void category_a(uint32_t id, const char *name)
{
	category_in_a(NULL, id, name);
}

static void category_w(uint32_t id, const wchar_t *wide)
{
	category_in_w(NULL, id, wide);
}

static const char *register_a(const char *domain, const char *text)
{
	(void)domain;
	return nvtx_keep(text);
}

static const char *register_w(const char *domain, const wchar_t *text)
{
	(void)domain;
	return nvtx_keep_wide(text);
}

/* Their handles stay valid: a range may be closed after its domain. */
static void domain_destroy(const char *domain)
{
	(void)domain;
}

struct slots {
	function **table;
	unsigned int size;
};

static struct slots slots_of(const struct callbacks *callbacks, int module)
{
	struct slots slots = { NULL, 0 };

	if (!callbacks->module_table(module, &slots.table, &slots.size) || !slots.table)
		slots.size = 0;
	return slots;
}

static void put(const struct slots *slots, unsigned int slot, function ours)
{
	if (slot < slots->size)
		*slots->table[slot] = ours;
}

static void fill_core(const struct callbacks *callbacks)
{
	struct slots slots = slots_of(callbacks, MODULE_CORE);

	put(&slots, 1, (function)mark_ex);
	put(&slots, 2, (function)mark_a);
	put(&slots, 3, (function)mark_w);
	put(&slots, 4, (function)start_ex);
	put(&slots, 5, (function)start_a);
	put(&slots, 6, (function)start_w);
	put(&slots, 7, (function)range_end);
	put(&slots, 8, (function)push_ex);
	put(&slots, 9, (function)push_a);
	put(&slots, 10, (function)push_w);
	put(&slots, 11, (function)pop);
	put(&slots, 12, (function)category_a);
	put(&slots, 13, (function)category_w);
}

static void fill_core2(const struct callbacks *callbacks)
{
	struct slots slots = slots_of(callbacks, MODULE_CORE2);

	put(&slots, 1, (function)mark_in);
	put(&slots, 2, (function)start_in);
	put(&slots, 3, (function)nvtx_end);
	put(&slots, 4, (function)push_in);
	put(&slots, 5, (function)nvtx_pop);
	put(&slots, 8, (function)category_in_a);
	put(&slots, 9, (function)category_in_w);
	put(&slots, 10, (function)register_a);
	put(&slots, 11, (function)register_w);
	put(&slots, 12, (function)nvtx_keep);
	put(&slots, 13, (function)nvtx_keep_wide);
	put(&slots, 14, (function)domain_destroy);
}

int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id))
{
	const struct callbacks *callbacks;

	if (!life_preloaded())
		return 0;
	callbacks = get_table(ETID_CALLBACKS);
	if (!callbacks || callbacks->size < sizeof(*callbacks))
		return 0;
	fill_core(callbacks);
	fill_core2(callbacks);
	return 1;
}
