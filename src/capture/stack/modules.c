/*
 * Lists the loaded libraries (modules), sorted by address, and hooks dlclose(). After dlclose()
 * another library may lie at the same addresses, so nothing stored by address is used any longer:
 * the real functions found for callers are forgotten, hashes of stacks depend on unload_word(), and
 * glibc's unwinder replaces libunwind if libunwind may have cached frames of the unloaded library.
 */
#include "capture/stack/modules.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/guest/hot.h"
#include "base/mem/arena.h"
#include "base/mem/each.h"
#include "base/mem/sort.h"
#include "base/text/text.h"
#include "capture/loader/loader.h"
#include "capture/recorder/record.h"
#include "capture/stack/unwind.h"

enum {
	MODULES = 8192, /* maximum number of modules in the list */
	BUILD_ID_BYTES = 64,
};

struct found {
	struct spool_module row; /* its path and build-id are set later, from the next members */
	char build_id[2 * BUILD_ID_BYTES + 1];
	char path[512];
};

struct scan {
	struct found *found;
	uint32_t count;
};

static struct {
	_Atomic uint64_t seen;     /* 1 + loads and unloads when the list was read; 0: never */
	_Atomic uint64_t unloaded; /* unload_word() when the list was read */
	_Atomic bool lost;         /* a library on a recorded stack was unloaded */
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
	/* In a chroot without /proc, the path by which the program was started is used. */
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
	*found = (struct found){ .row = { .base = info->dlpi_addr, .low = UINT64_MAX } };
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t low = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_NOTE && !found->build_id[0])
			read_build_id(info, segment, found->build_id);
		if (segment->p_type != PT_LOAD)
			continue;
		if (low < found->row.low)
			found->row.low = low;
		if (low + segment->p_memsz > found->row.high)
			found->row.high = low + segment->p_memsz;
	}
	if (found->row.high > found->row.low) {
		read_path(info->dlpi_name, found->path, sizeof(found->path));
		scan->count++;
	}
	return 0;
}

/* Numbers of libraries loaded and unloaded since the process began. */
struct counts {
	uint64_t loads, unloads;
};

static int read_counts(struct dl_phdr_info *info, size_t size, void *counts)
{
	(void)size;
	*(struct counts *)counts = (struct counts){ info->dlpi_adds, info->dlpi_subs };
	return 1;
}

bool modules_is_runtime(const char *path)
{
	static const char names[][24] = { "libcuda.so",     "libcudart.so", "libcudart-",
					  "libmemtrace.so", "libnvidia-",   "libcupti.so",
					  "libffi.so",      "_ctypes." };
	const char *base = text_base(path);

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

static struct module enter_module(struct found *found)
{
	const struct module *known = modules_find(found->row.low);
	struct module module = { .runtime = modules_is_runtime(found->path) };

	found->row.path = record_text(found->path);
	found->row.build_id = record_text(found->build_id);
	module.at = found->row;
	module.row = intern_module(record_intern(), &found->row);
	module.walked = known && known->walked && known->row == module.row &&
			known->at.low == module.at.low;
	return module;
}

bool modules_stale(void)
{
	return atomic_load_explicit(&modules.unloaded, memory_order_relaxed) != unload_word();
}

/* Replaces the list of modules with the scan's result, unless the list is newer. *list: an array
 * for the new list; afterwards, the array that the caller must free. */
static void replace(struct module **list, const struct scan *scan, uint64_t counts)
{
	static const struct sort_key by_address[] = { SORT_UP(struct module, at.low), { 0 } };
	struct module *fresh = *list;
	uint32_t lost = 0; /* number of unloaded modules on recorded stacks */

	record_lock();
	if (counts > atomic_load(&modules.seen)) {
		for (uint32_t i = 0; i < modules.count; i++)
			lost += modules.sorted[i].walked;
		for (uint32_t i = 0; i < scan->count; i++) {
			fresh[i] = enter_module(&scan->found[i]);
			lost -= fresh[i].walked;
		}
		sort_rows(fresh, scan->count, sizeof(*fresh), by_address);
		if (lost)
			atomic_store(&modules.lost, true);
		*list = modules.sorted;
		modules.sorted = fresh;
		modules.count = scan->count;
		atomic_store(&modules.seen, counts);
	}
	record_unlock();
}

static bool refresh(void)
{
	uint64_t unloaded = unload_word();
	struct scan scan = { NULL, 0 };
	struct counts now = { 0, 0 };
	struct module *list;
	uint64_t counts;
	bool done;

	dl_iterate_phdr(read_counts, &now);
	counts = now.loads + now.unloads + 1;
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
	size_t below = sort_until(modules.sorted, modules.count, sizeof(struct module),
				  offsetof(struct module, at.high), address);
	struct module *module = &modules.sorted[below];

	return below < modules.count && module->at.low <= address ? module : NULL;
}

uint32_t modules_owner(const struct module *module)
{
	if (module->runtime || !module->at.path)
		return 0;
	return record_text(text_base(spool_text(record_spool(), module->at.path)));
}

void modules_clear(void)
{
	pages_free(modules.sorted, sizeof(struct module) * MODULES);
	memset(&modules, 0, sizeof(modules));
}

/* --- libraries that are unloaded --- */

/*
 * Amounts added to unload_now. dlclose() adds CLOSING before the real call, because another
 * thread may load a library at the same addresses before the real call returns. If nothing was
 * unloaded, CLOSING is subtracted again, since programs often close a library that stays loaded.
 */
enum { CLOSING = 1, UNLOADED = 1 << 16 };

HOT_DATA _Atomic uint64_t unload_now;

static uint64_t count_unloads(void)
{
	SIGNALS_DEFERRED();
	struct counts now = { 0, 0 };

	dl_iterate_phdr(read_counts, &now);
	return now.unloads;
}

/* True if libunwind can be used again: no recorded stack has a frame in an unloaded library. */
static bool unwinds_as_before(void)
{
	if (!record_continue())
		return true;
	modules_refresh();
	if (!atomic_load(&modules.lost))
		return true;
	record_note("a library with frames on recorded call stacks was unloaded: later "
		    "stacks are walked by glibc's unwinder, which is slower");
	return false;
}

EXPORT int dlclose(void *handle)
{
	uint64_t before = count_unloads();
	int status;
	int saved;

	unwind_careful(true);
	atomic_fetch_add(&unload_now, CLOSING);
	status = resolve_dlclose(handle);
	saved = errno;
	if (count_unloads() == before) {
		atomic_fetch_sub(&unload_now, CLOSING);
		unwind_careful(false);
	} else {
		resolve_forget();
		atomic_fetch_add(&unload_now, UNLOADED - CLOSING);
		if (unwinds_as_before())
			unwind_careful(false);
	}
	errno = saved;
	return status;
}
