/* What is mapped where, read from the loader and kept sorted by address. */
#include "capture/stack/modules.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/mem/arena.h"
#include "base/mem/sort.h"
#include "base/text/text.h"
#include "capture/loader/loader.h"
#include "capture/recorder/record.h"

enum {
	MODULES = 8192, /* more are not named */
	BUILD_ID_BYTES = 64,
};

struct found {
	uint64_t base, low, high;
	char build_id[2 * BUILD_ID_BYTES + 1];
	char path[512];
};

struct scan {
	struct found *found;
	uint32_t count;
};

static struct {
	_Atomic uint64_t seen;     /* loads and unloads at the last look, and one more */
	_Atomic uint64_t unloaded; /* unload_word() at the last look */
	_Atomic bool lost;
	struct module *sorted;
	uint32_t count;
} modules;

static void read_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * note, char *text)
{
	const char *p = (const char *)info->dlpi_addr + note->p_vaddr;
	const char *end = p + note->p_memsz;

	while (p + sizeof(ElfW(Nhdr)) <= end) {
		const ElfW(Nhdr) *header = (const void *)p;
		const char *name = p + sizeof(*header);
		const unsigned char *id = (const void *)(name + ((header->n_namesz + 3) & ~3u));

		p = (const char *)id + ((header->n_descsz + 3) & ~3u);
		if (p > end || header->n_type != NT_GNU_BUILD_ID || header->n_namesz != 4 ||
		    memcmp(name, "GNU", 4) || header->n_descsz > BUILD_ID_BYTES)
			continue;
		for (unsigned i = 0; i < header->n_descsz; i++) {
			*text++ = "0123456789abcdef"[id[i] >> 4];
			*text++ = "0123456789abcdef"[id[i] & 15];
		}
		break;
	}
	*text = '\0';
}

static void read_path(const char *name, char *path, size_t size)
{
	ssize_t length;

	if (name[0]) {
		text_copy(path, size, name);
		return;
	}
	length = readlink("/proc/self/exe", path, size - 1);
	path[length > 0 ? length : 0] = '\0';
	/* In a chroot without /proc: what the program was started as. */
	if (length <= 0 && getauxval(AT_EXECFN))
		text_copy(path, size, (const char *)getauxval(AT_EXECFN));
}

static int scan_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct scan *scan = data;
	struct found *found = &scan->found[scan->count];

	(void)size;
	if (scan->count == MODULES)
		return 1;
	*found = (struct found){ .base = info->dlpi_addr, .low = UINT64_MAX };
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t low = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_NOTE && !found->build_id[0])
			read_build_id(info, segment, found->build_id);
		if (segment->p_type != PT_LOAD)
			continue;
		if (low < found->low)
			found->low = low;
		if (low + segment->p_memsz > found->high)
			found->high = low + segment->p_memsz;
	}
	if (found->high > found->low) {
		read_path(info->dlpi_name, found->path, sizeof(found->path));
		scan->count++;
	}
	return 0;
}

static int look_at_counts(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(uint64_t *)data = (uint64_t)info->dlpi_adds + info->dlpi_subs + 1;
	return 1;
}

bool modules_is_runtime(const char *path)
{
	static const char names[][24] = { "libcuda.so",     "libcudart.so", "libcudart-",
					  "libmemtrace.so", "libnvidia-",   "libcupti.so" };
	const char *base = text_base(path);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

static struct module enter_module(const struct found *found)
{
	const struct module *known = modules_find(found->low);
	struct module module = { found->low, found->high, found->base, 0, 0, false, false };
	struct spool_module row = { .base = found->base, .low = found->low, .high = found->high };

	module.runtime = modules_is_runtime(found->path);
	row.path = module.path = intern_text(record_intern(), found->path);
	row.build_id = intern_text(record_intern(), found->build_id);
	module.row = intern_module(record_intern(), &row);
	module.walked = known && known->walked && known->row == module.row;
	return module;
}

static int by_address(const void *a, const void *b)
{
	uint64_t low = ((const struct module *)a)->low;
	uint64_t other = ((const struct module *)b)->low;

	return (low > other) - (low < other);
}

bool modules_stale(void)
{
	return atomic_load_explicit(&modules.unloaded, memory_order_relaxed) != unload_word();
}

bool modules_lost(void)
{
	return atomic_load(&modules.lost);
}

static bool lost_any(const struct module *old, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct module *now = modules_find(old[i].low);

		if (old[i].walked && (!now || now->low != old[i].low || now->row != old[i].row))
			return true;
	}
	return false;
}

/* Exchanges the list for what the scan found, unless another thread has seen more meanwhile. */
static void replace(struct module **list, const struct scan *scan, uint64_t counts)
{
	struct module *fresh = *list;
	uint32_t count;

	record_lock();
	if (counts > atomic_load(&modules.seen)) {
		for (uint32_t i = 0; i < scan->count; i++)
			fresh[i] = enter_module(&scan->found[i]);
		sort_rows(fresh, scan->count, sizeof(*fresh), by_address);
		*list = modules.sorted;
		count = modules.count;
		modules.sorted = fresh;
		modules.count = scan->count;
		atomic_store(&modules.seen, counts);
		if (lost_any(*list, count))
			atomic_store(&modules.lost, true);
	}
	record_unlock();
}

static bool refresh(void)
{
	uint64_t unloaded = unload_word();
	struct scan scan = { NULL, 0 };
	struct module *list;
	uint64_t counts = 0;
	bool done;

	dl_iterate_phdr(look_at_counts, &counts);
	if (atomic_load(&modules.seen) >= counts) {
		atomic_store(&modules.unloaded, unloaded);
		return false;
	}
	scan.found = pages_grow(NULL, 0, sizeof(struct found) * MODULES);
	list = pages_grow(NULL, 0, sizeof(struct module) * MODULES);
	done = scan.found && list;
	if (done) {
		dl_iterate_phdr(scan_one, &scan);
		replace(&list, &scan, counts);
		atomic_store(&modules.unloaded, unloaded);
	}
	pages_free(scan.found, sizeof(struct found) * MODULES);
	pages_free(list, sizeof(struct module) * MODULES);
	return done;
}

bool modules_refresh(void)
{
	bool changed;

	if (atomic_load_explicit(&loader_silent, memory_order_relaxed))
		return false;
	loader_enter();
	changed = refresh();
	loader_leave();
	return changed;
}

struct module *modules_find(uint64_t address)
{
	uint32_t low = 0;
	uint32_t high = modules.count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (modules.sorted[middle].high <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < modules.count && modules.sorted[low].low <= address)
		return &modules.sorted[low];
	return NULL;
}

uint32_t modules_owner(const struct module *module)
{
	if (module->runtime || !module->path)
		return 0;
	return intern_text(record_intern(), text_base(spool_text(record_spool(), module->path)));
}

void modules_clear(void)
{
	pages_free(modules.sorted, sizeof(struct module) * MODULES);
	memset(&modules, 0, sizeof(modules));
}
