/*
 * Libraries whose calls go past every preload: loaded with RTLD_DEEPBIND.
 *
 * The flag leaves no mark, but what the loader has bound their imports to does: the address in the
 * slot of each relocation is CUDA's own where it should be ours.
 */
#include "capture/loader/libc_binding.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text/text.h"
#include "capture/loader/hooks.h"
#include "capture/loader/loader.h"
#include "capture/loader/resolve.h"

struct dynamic {
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * relocations[2]; /* of functions, and of all else */
	size_t bytes[2];
};

/* glibc has made addresses of the dynamic section's offsets; musl has not. */
static uintptr_t address_of(const struct dl_phdr_info *info, ElfW(Addr) value)
{
	return value < info->dlpi_addr ? info->dlpi_addr + value : value;
}

static void read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * entry,
			 struct dynamic *dynamic)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		uintptr_t at = address_of(info, entry->d_un.d_ptr);

		switch (entry->d_tag) {
		case DT_SYMTAB:
			dynamic->symbols = (const void *)at;
			break;
		case DT_STRTAB:
			dynamic->names = (const void *)at;
			break;
		case DT_JMPREL:
			dynamic->relocations[0] = (const void *)at;
			break;
		case DT_PLTRELSZ:
			dynamic->bytes[0] = entry->d_un.d_val;
			break;
		case DT_RELA:
			dynamic->relocations[1] = (const void *)at;
			break;
		case DT_RELASZ:
			dynamic->bytes[1] = entry->d_un.d_val;
			break;
		default:
			break;
		}
	}
}

enum { CUDAS = 16 }; /* runtimes and drivers in a process: two or three */

/*
 * Where CUDA's own libraries lie. They are looked for first, for while the loader lists what is
 * there it has a lock that who loads a library takes second: it must not be asked then.
 */
struct search {
	struct {
		uintptr_t low, high;
	} cuda[CUDAS];
	unsigned count;
	bool past;
};

static int note_cuda(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *name = text_base(info->dlpi_name);
	struct search *search = data;
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

static bool is_cudas(const struct search *search, uintptr_t address)
{
	for (unsigned i = 0; i < search->count; i++) {
		if (address - search->cuda[i].low < search->cuda[i].high - search->cuda[i].low)
			return true;
	}
	return false;
}

/* A slot that nobody has called through yet still points into its own library. */
static bool is_past(const struct dl_phdr_info *info, const struct dynamic *dynamic,
		    const ElfW(Rela) * relocation, const struct search *search)
{
	const ElfW(Sym) *symbol = &dynamic->symbols[ELF64_R_SYM(relocation->r_info)];
	uintptr_t bound;

	if (!ELF64_R_SYM(relocation->r_info) || symbol->st_shndx != SHN_UNDEF ||
	    hook_named(dynamic->names + symbol->st_name) < 0)
		return false;
	memcpy(&bound, (const void *)(info->dlpi_addr + relocation->r_offset), sizeof(bound));
	return is_cudas(search, bound);
}

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	struct dynamic dynamic = { 0 };

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_dynamic(info,
				     (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
				     &dynamic);
	}
	if (!dynamic.symbols || !dynamic.names)
		return 0;
	for (unsigned kind = 0; kind < 2 && dynamic.relocations[kind]; kind++) {
		size_t count = dynamic.bytes[kind] / sizeof(ElfW(Rela));

		for (size_t i = 0; i < count; i++) {
			search->past =
				is_past(info, &dynamic, &dynamic.relocations[kind][i], search);
			if (search->past)
				return 1;
		}
	}
	return 0;
}

bool bound_past_us(void)
{
	struct search search = { .count = 0 };

	dl_iterate_phdr(note_cuda, &search);
	if (search.count)
		dl_iterate_phdr(look_at, &search);
	return search.past;
}

/*
 * ThreadSanitizer, where it is compiled in (check-tsan), has to see what is called, and the loader
 * has protected the slots there.
 */
#ifdef __SANITIZE_THREAD__
void bound_bind(void)
{
}
#else
/* What malloc gave goes back to the same, whoever stands before libc there. */
static void *find_own(void *libc, const char *name)
{
	void *own = libc && strcmp(name, "free") != 0 ? resolve_dlsym(libc, name) : NULL;

	return own ? own : resolve_dlsym(RTLD_DEFAULT, name);
}

void bound_bind(void)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	static atomic_bool done;
	struct dl_phdr_info own = { .dlpi_addr = (uintptr_t)__ehdr_start };
	struct dynamic dynamic = { 0 };
	void *libc;

	if (atomic_load(&loader_silent) || atomic_exchange(&done, true))
		return;
	read_dynamic(&own, _DYNAMIC, &dynamic);
	loader_enter();
	libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	for (size_t i = 0;
	     dynamic.relocations[0] && dynamic.symbols && i < dynamic.bytes[0] / sizeof(ElfW(Rela));
	     i++) {
		const ElfW(Rela) *slot = &dynamic.relocations[0][i];
		const ElfW(Sym) *symbol = &dynamic.symbols[ELF64_R_SYM(slot->r_info)];
		void *function = find_own(libc, dynamic.names + symbol->st_name);

		if (function)
			atomic_store((_Atomic(void *) *)(own.dlpi_addr + slot->r_offset), function);
	}
	dlerror();
	loader_leave();
}
#endif

static void replace_in(uintptr_t base, const struct dynamic *dynamic, const ElfW(Rela) * slot,
		       const char *name, void *function)
{
	const ElfW(Sym) *symbol = &dynamic->symbols[ELF64_R_SYM(slot->r_info)];
	uintptr_t at = base + slot->r_offset;
	uintptr_t page = at & ~(uintptr_t)(getpagesize() - 1);

	if (!ELF64_R_SYM(slot->r_info) || strcmp(dynamic->names + symbol->st_name, name) != 0)
		return;
	/* The loader may have protected it, and nobody is there to do so again. */
	if (!mprotect((void *)page, (size_t)getpagesize(), PROT_READ | PROT_WRITE))
		atomic_store((_Atomic(void *) *)at, function);
}

void bound_replace(void *library, const char *name, void *function)
{
	struct link_map *map;
	struct dynamic dynamic = { 0 };
	struct dl_phdr_info info = { 0 };

	if (dlinfo(library, RTLD_DI_LINKMAP, &map))
		return;
	info.dlpi_addr = map->l_addr;
	read_dynamic(&info, map->l_ld, &dynamic);
	for (unsigned kind = 0; kind < 2 && dynamic.relocations[kind] && dynamic.symbols; kind++) {
		for (size_t i = 0; i < dynamic.bytes[kind] / sizeof(ElfW(Rela)); i++)
			replace_in(map->l_addr, &dynamic, &dynamic.relocations[kind][i], name,
				   function);
	}
}
