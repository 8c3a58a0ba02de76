/*
 * Finds libraries whose calls bypass preloaded ones, because they were loaded with RTLD_DEEPBIND.
 * That flag cannot be read, but the addresses to which the loader has bound a library's imports
 * can: a relocation's slot then holds CUDA's own function instead of this library's wrapper.
 *
 * Also binds this library's calls of libc, and replaces single functions that a library calls.
 */
#include "capture/loader/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text/text.h"

struct dynamic {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * relocations[2]; /* [0]: relocations of functions, [1]: all others */
	size_t bytes[2];
};

/* glibc has replaced the dynamic section's offsets by addresses, except in the vDSO. */
static const void *address_of(uintptr_t base, ElfW(Addr) value)
{
	return (const void *)(value && value < base ? base + value : value);
}

static void read_dynamic(uintptr_t base, const ElfW(Dyn) * entry, struct dynamic *dynamic)
{
	ElfW(Addr) values[DT_NUM] = { 0 };

	for (; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag > 0 && entry->d_tag < DT_NUM)
			values[entry->d_tag] = entry->d_un.d_val;
	}
	dynamic->base = base;
	dynamic->symbols = address_of(base, values[DT_SYMTAB]);
	dynamic->names = address_of(base, values[DT_STRTAB]);
	dynamic->relocations[0] = address_of(base, values[DT_JMPREL]);
	dynamic->relocations[1] = address_of(base, values[DT_RELA]);
	dynamic->bytes[0] = values[DT_PLTRELSZ];
	dynamic->bytes[1] = values[DT_RELASZ];
}

/* Called for each slot in which the loader stores an import's address; true ends the search. */
typedef bool slot_fn(uintptr_t slot, const char *name, void *data);

static bool each_slot(const struct dynamic *dynamic, unsigned kinds, slot_fn *each, void *data)
{
	for (unsigned kind = 0; kind < kinds && dynamic->symbols && dynamic->names; kind++) {
		for (size_t i = 0; i < dynamic->bytes[kind] / sizeof(ElfW(Rela)); i++) {
			const ElfW(Rela) *relocation = &dynamic->relocations[kind][i];
			const ElfW(Sym) *symbol =
				&dynamic->symbols[ELF64_R_SYM(relocation->r_info)];

			if (ELF64_R_SYM(relocation->r_info) && symbol->st_shndx == SHN_UNDEF &&
			    each(dynamic->base + relocation->r_offset,
				 dynamic->names + symbol->st_name, data))
				return true;
		}
	}
	return false;
}

enum { CUDAS = 16 }; /* CUDA libraries that are looked at; most processes have two or three */

/* The addresses of CUDA's own libraries, found before the search. The search runs under the lock of
 * the list of modules, which dlopen() takes while it holds the loader's lock: a dlsym() during the
 * search would take the two in reverse order and could deadlock. */
struct symbol_search {
	struct {
		uintptr_t low, high;
	} cuda[CUDAS];
	unsigned count;
};

static int note_cuda(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *name = text_base(info->dlpi_name);
	struct symbol_search *search = data;
	uintptr_t high = 0;

	(void)size;
	if (search->count == CUDAS ||
	    (strncmp(name, "libcudart", 9) != 0 && strncmp(name, "libcuda.so", 10) != 0))
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;

		if (segment->p_type == PT_LOAD && end > high)
			high = end;
	}
	search->cuda[search->count].low = info->dlpi_addr;
	search->cuda[search->count++].high = high;
	return 0;
}

/* True if the slot points into a CUDA library. Until the function is first called, the slot may
 * point into the library that contains the slot (lazy binding). */
static bool is_past(uintptr_t slot, const char *name, void *data)
{
	const struct symbol_search *search = data;
	uintptr_t bound;

	if ((unsigned)hook_named(name) >= HOOKS)
		return false;
	memcpy(&bound, (const void *)slot, sizeof(bound));
	for (unsigned i = 0; i < search->count; i++) {
		if (bound - search->cuda[i].low < search->cuda[i].high - search->cuda[i].low)
			return true;
	}
	return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *search)
{
	struct dynamic dynamic = { 0 };

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_dynamic(info->dlpi_addr,
				     (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
				     &dynamic);
	}
	return each_slot(&dynamic, 2, is_past, search);
}

bool libc_binding_past_us(void)
{
	struct symbol_search search = { .count = 0 };

	dl_iterate_phdr(note_cuda, &search);
	return search.count && dl_iterate_phdr(look_at, &search);
}

/* Does nothing under ThreadSanitizer, which must see our libc calls and has read-only slots. */
#ifdef __SANITIZE_THREAD__
void libc_binding_bind(void)
{
}
#else
/* Binds a slot to libc, but that of free() to the library whose malloc() the process uses. */
static bool bind(uintptr_t slot, const char *name, void *libc)
{
	void *own = libc && strcmp(name, "free") != 0 ? resolve_dlsym(libc, name) : NULL;
	void *function = own ? own : resolve_dlsym(RTLD_DEFAULT, name);

	if (function)
		atomic_store((_Atomic(void *) *)slot, function);
	return false;
}

void libc_binding_bind(void)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	static atomic_bool done;
	struct dynamic dynamic;

	if (atomic_load(&loader_silent) || atomic_exchange(&done, true))
		return;
	read_dynamic((uintptr_t)__ehdr_start, _DYNAMIC, &dynamic);
	loader_enter();
	each_slot(&dynamic, 1, bind, dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD));
	dlerror();
	loader_leave();
}
#endif

struct replacement {
	const char *name;
	void *function;
};

static bool replace(uintptr_t slot, const char *name, void *data)
{
	const struct replacement *replacement = data;
	uintptr_t page = slot & ~(uintptr_t)(getpagesize() - 1);

	/* The loader may have protected the page; it stays writable from now on. */
	if (!strcmp(name, replacement->name) &&
	    !mprotect((void *)page, (size_t)getpagesize(), PROT_READ | PROT_WRITE))
		atomic_store((_Atomic(void *) *)slot, replacement->function);
	return false;
}

void libc_binding_replace(void *library, const char *name, void *function)
{
	struct replacement replacement = { name, function };
	struct dynamic dynamic;
	struct link_map *map;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map))
		return;
	read_dynamic(map->l_addr, map->l_ld, &dynamic);
	each_slot(&dynamic, 2, replace, &replacement);
}
