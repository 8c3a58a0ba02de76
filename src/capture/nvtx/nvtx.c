/*
 * Records NVTX ranges and marks by NVTX's own injection, without CUPTI: at its first call, each
 * library that contains NVTX 3 loads the library named by NVTX_INJECTION64_PATH and passes it a
 * table of functions to fill in.
 *
 * Slots and layouts: nvtx3/nvtxDetail/nvtxTypes.h and nvToolsExt.h of CUDA 13.0.
 */
#include "capture/nvtx/nvtx.h"

#include <stdatomic.h>
#include <string.h>

#include "base/guest/lock.h"
#include "base/guest/signals.h"
#include "base/guest/start.h"
#include "base/mem/arena.h"
#include "base/mem/each.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "capture/recorder/callbacks.h"
#include "capture/recorder/record.h"

enum {
	NAME = sizeof(((struct record_mark *)0)->name), /* bytes of a name: longer ones are cut */
	CATEGORY = sizeof(((struct record_mark *)0)->category),
	CATEGORIES = 256,
	ETID_CALLBACKS = 1,
	MODULE_CORE = 1,
	MODULE_CORE2 = 5,
	COLOR_ARGB = 1,
	PAYLOAD_U32 = 4, /* types 4 to 6: U32, I32, F32; types 1 to 3: U64, I64, F64 */
	PAYLOAD_I32 = 5,
	PAYLOAD_F32 = 6, /* larger: types of NVTX's extension, whose payload is an address */
};

typedef void (*function)(void);

struct callbacks { /* laid out as NvtxExportTableCallbacks */
	size_t size;
	int (*module_table)(int module, function ***table, unsigned int *size);
};

EXPORT int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id));

static _Atomic uint64_t ranges;
static _Thread_local int level;

/* --- storage of names --- */

static START_DATA struct lock names_lock = LOCK_INIT(NAMES);
static struct arena names;

/* Named categories, in the order in which they were named. */
static struct category {
	_Atomic(const char *) name; /* written last; NULL while the entry is incomplete */
	const char *domain;
	uint32_t id;
} categories[CATEGORIES];
static _Atomic uint32_t categories_n;

/* Converts wide text (or NULL) to UTF-8. Invalid characters become U+FFFD; long texts are cut. */
static void narrow(char to[NAME], const wchar_t *from)
{
	size_t used = 0;
	size_t more = 1;

	for (; from && *from && more; from++) {
		more = utf8_encode(to + used, NAME - 1 - used, (uint32_t)*from);
		used += more;
	}
	to[used] = '\0';
}

const char *nvtx_keep(const char *text)
{
	SIGNALS_DEFERRED();
	char *copy;

	lock_take(&names_lock);
	copy = arena_text(&names, text ? text : "", text ? strlen(text) : 0);
	lock_drop(&names_lock);
	return copy;
}

/* In a forked child: resets the lock. A name that another thread was copying only wastes bytes. */
void nvtx_forked(void)
{
	lock_reset(&names_lock);
}

static const char *keep_wide(const wchar_t *text)
{
	char name[NAME];

	narrow(name, text);
	return nvtx_keep(name);
}

/* If a category is named again, the new name is used from then on. */
static void name_category(const char *domain, uint32_t id, const char *name)
{
	const char *kept = nvtx_keep(name);
	uint32_t at = atomic_fetch_add(&categories_n, 1);

	if (at >= CATEGORIES)
		return;
	categories[at].domain = domain;
	categories[at].id = id;
	atomic_store(&categories[at].name, kept);
}

static void copy_category(char to[CATEGORY], const char *domain, uint32_t id)
{
	uint32_t count = atomic_load(&categories_n);

	text_u64(to, id);
	for (uint32_t i = count < CATEGORIES ? count : CATEGORIES; i--;) {
		const char *name = atomic_load(&categories[i].name);

		if (name && categories[i].id == id && categories[i].domain == domain) {
			text_copy(to, CATEGORY, name);
			break;
		}
	}
}

/* --- recording of marks and ranges --- */

static void copy_message(char to[NAME], const struct nvtx_attributes *attributes)
{
	const char *text = attributes->message;

	if (attributes->message_type == NVTX_UNICODE)
		narrow(to, attributes->message);
	else if (text && (attributes->message_type == NVTX_ASCII ||
			  attributes->message_type == NVTX_REGISTERED))
		text_copy(to, NAME, text);
}

static void read_payload(const struct nvtx_attributes *attributes, struct event_detail *detail)
{
	int type = attributes->payload_type;
	uint32_t low = (uint32_t)attributes->payload;
	double real;
	float narrow_real;

	if (type <= 0 || type > PAYLOAD_F32)
		return;
	detail->payload_kind = (uint8_t)(PAYLOAD_UNSIGNED + (type - 1) % 3);
	detail->payload = type < PAYLOAD_U32 ? attributes->payload : low;
	if (type == PAYLOAD_I32) {
		detail->payload = (uint64_t)(int64_t)(int32_t)low;
	} else if (type == PAYLOAD_F32) {
		memcpy(&narrow_real, &low, sizeof(narrow_real));
		real = (double)narrow_real;
		memcpy(&detail->payload, &real, sizeof(real));
	}
}

static void record_range(enum event_op op, const char *domain,
			 const struct nvtx_attributes *attributes, uint64_t range)
{
	struct record_mark mark = { .op = (uint8_t)op, .range = range };

	text_copy(mark.domain, sizeof(mark.domain), domain ? domain : "");
	if (attributes && attributes->size >= sizeof(*attributes)) {
		copy_message(mark.name, attributes);
		if (attributes->category)
			copy_category(mark.category, domain, attributes->category);
		if (attributes->color_type == COLOR_ARGB)
			mark.detail.color = 0xff000000u | attributes->color;
		read_payload(attributes, &mark.detail);
	}
	record_mark(&mark);
}

/* --- NVTX's functions that take a domain and attributes --- */

void nvtx_mark(const char *domain, const struct nvtx_attributes *attributes)
{
	record_range(EVENT_MARK, domain, attributes, 0);
}

int nvtx_push(const char *domain, const struct nvtx_attributes *attributes)
{
	record_range(EVENT_PUSH, domain, attributes, 0);
	return level++;
}

int nvtx_pop(const char *domain)
{
	record_range(EVENT_POP, domain, NULL, 0);
	return level > 0 ? --level : -1;
}

uint64_t nvtx_start(const char *domain, const struct nvtx_attributes *attributes)
{
	uint64_t range = atomic_fetch_add(&ranges, 1) + 1;

	record_range(EVENT_PUSH, domain, attributes, range);
	return range;
}

void nvtx_end(const char *domain, uint64_t range)
{
	record_range(EVENT_POP, domain, NULL, range);
}

static void category_in_w(const char *domain, uint32_t id, const wchar_t *wide)
{
	char name[NAME];

	narrow(name, wide);
	name_category(domain, id, name);
}

/* --- NVTX's functions without a domain: _ex takes attributes, _a ASCII text, _w wide text --- */

#define OWN_FORMS(result, name)                                             \
	static result name##_ex(const struct nvtx_attributes *attributes)   \
	{                                                                   \
		return nvtx_##name(NULL, attributes);                       \
	}                                                                   \
	static result name##_a(const char *text)                            \
	{                                                                   \
		return nvtx_##name(NULL, NVTX_MESSAGE(NVTX_ASCII, text));   \
	}                                                                   \
	static result name##_w(const wchar_t *text)                         \
	{                                                                   \
		return nvtx_##name(NULL, NVTX_MESSAGE(NVTX_UNICODE, text)); \
	}

OWN_FORMS(void, mark)
OWN_FORMS(int, push)
OWN_FORMS(uint64_t, start)

static int pop_range(void)
{
	return nvtx_pop(NULL);
}

static void range_end(uint64_t range)
{
	nvtx_end(NULL, range);
}

static void category_a(uint32_t id, const char *name)
{
	name_category(NULL, id, name);
}

static void category_w(uint32_t id, const wchar_t *wide)
{
	category_in_w(NULL, id, wide);
}

/* --- NVTX's tables of functions --- */

static const char *register_a(const char *domain, const char *text)
{
	(void)domain;
	return nvtx_keep(text);
}

static const char *register_w(const char *domain, const wchar_t *text)
{
	(void)domain;
	return keep_wide(text);
}

/* Fills in a table of NVTX. Calls through empty slots do nothing. Slot 14 of core2, which ends a
 * domain, stays empty: ranges may be closed after their domain, so its handle must stay valid. */
static void fill(const struct callbacks *callbacks, int module, const function *ours,
		 unsigned int count)
{
	function **table = NULL;
	unsigned int size = 0;

	if (!callbacks->module_table(module, &table, &size) || !table)
		return;
	for (unsigned int slot = 1; slot < count && slot < size; slot++) {
		if (ours[slot])
			*table[slot] = ours[slot];
	}
}

int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id))
{
	const function core[] = {
		[1] = (function)mark_ex,     [2] = (function)mark_a,
		[3] = (function)mark_w,      [4] = (function)start_ex,
		[5] = (function)start_a,     [6] = (function)start_w,
		[7] = (function)range_end,   [8] = (function)push_ex,
		[9] = (function)push_a,      [10] = (function)push_w,
		[11] = (function)pop_range,  [12] = (function)category_a,
		[13] = (function)category_w,
	};
	const function core2[] = {
		[1] = (function)nvtx_mark,     [2] = (function)nvtx_start,
		[3] = (function)nvtx_end,      [4] = (function)nvtx_push,
		[5] = (function)nvtx_pop,      [8] = (function)name_category,
		[9] = (function)category_in_w, [10] = (function)register_a,
		[11] = (function)register_w,   [12] = (function)nvtx_keep,
		[13] = (function)keep_wide,
	};
	const struct callbacks *callbacks;

	if (!guest_preloaded)
		return 0;
	callbacks = get_table(ETID_CALLBACKS);
	if (!callbacks || callbacks->size < sizeof(*callbacks))
		return 0;
	fill(callbacks, MODULE_CORE, core, COUNT_OF(core));
	fill(callbacks, MODULE_CORE2, core2, COUNT_OF(core2));
	return 1;
}
