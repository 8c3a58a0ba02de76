/* The texts of NVTX: kept for as long as the process lives, and the names of categories. */
#include "capture/nvtx/nvtx_parts.h"

#include <stdatomic.h>
#include <string.h>

#include "base/guest/lock.h"
#include "base/guest/signals.h"
#include "base/guest/start.h"
#include "base/mem/arena.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "capture/nvtx/nvtx.h"
#include "capture/recorder/record.h"

enum { CATEGORIES = 256 };

/* Registered strings and domains live as long as the process; their handle is their text. */
static START_DATA struct lock names_lock = LOCK_INIT(NAMES);
static struct arena names;

/* Named categories, in the order they were named; readers need no lock. */
static struct category {
	const char *domain, *name;
	uint32_t id;
} categories[CATEGORIES];
static _Atomic uint32_t categories_n;

void nvtx_narrow(char *to, size_t size, const wchar_t *from)
{
	size_t used = 0;
	size_t more = 1;

	for (; from && *from && more; from++) {
		more = utf8_encode(to + used, size - 1 - used, (uint32_t)*from);
		used += more;
	}
	to[used] = '\0';
}

const char *nvtx_keep(const char *text)
{
	struct signals_deferred deferred;
	char *copy;

	signals_defer(&deferred);
	lock_take(&names_lock);
	copy = arena_text(&names, text ? text : "", text ? strlen(text) : 0);
	lock_drop(&names_lock);
	signals_deliver(&deferred);
	return copy;
}

/* A text that was half way in costs its bytes, no more. */
void nvtx_forked(void)
{
	lock_reset(&names_lock);
}

const char *nvtx_keep_wide(const wchar_t *text)
{
	char name[RECORD_NAME];

	nvtx_narrow(name, sizeof(name), text);
	return nvtx_keep(name);
}

void nvtx_name_category(const char *domain, uint32_t id, const char *name)
{
	const char *kept = nvtx_keep(name);
	struct signals_deferred deferred;
	uint32_t at;

	if (!kept)
		return;
	signals_defer(&deferred);
	lock_take(&names_lock);
	at = atomic_load(&categories_n);
	if (at < CATEGORIES) {
		categories[at] = (struct category){ domain, kept, id };
		atomic_store(&categories_n, at + 1);
	}
	lock_drop(&names_lock);
	signals_deliver(&deferred);
}

const char *nvtx_category(const char *domain, uint32_t id, char number[24])
{
	for (uint32_t i = atomic_load(&categories_n); i--;) {
		if (categories[i].id == id && categories[i].domain == domain)
			return categories[i].name;
	}
	text_u64(number, id);
	return number;
}
