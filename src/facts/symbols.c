/* Finds the function names for offsets in the symbol tables of ELF files. */
#include "facts/spool_model.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem/sort.h"
#include "base/text/fd.h"

struct image {
	const char *bytes;
	size_t size;
	const Elf64_Ehdr *header;
	const Elf64_Shdr *sections;
};

/* Returns the bytes of the file at an offset, NULL if some of them lie beyond its end. */
static const void *part(const struct image *image, uint64_t offset, uint64_t size)
{
	if (offset > image->size || size > image->size - offset)
		return NULL;
	return image->bytes + offset;
}

bool symbols_is_build_id(const char *bytes, size_t size, const char *hex)
{
	static const char digits[] = "0123456789abcdef";

	if (strlen(hex) != 2 * size)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (hex[2 * i] != digits[(unsigned char)bytes[i] >> 4] ||
		    hex[2 * i + 1] != digits[bytes[i] & 15])
			return false;
	}
	return true;
}

/* True if the file has this build-id (it was not replaced after its load), or none is given. */
static bool same_build(const struct image *image, const char *build_id)
{
	if (!build_id || !*build_id)
		return true;
	for (unsigned i = 0; i < image->header->e_shnum; i++) {
		const Elf64_Shdr *section = &image->sections[i];
		const char *p = part(image, section->sh_offset, section->sh_size);
		const Elf64_Nhdr *note = (const void *)p;

		if (section->sh_type != SHT_NOTE || !p || section->sh_size < sizeof(*note) + 4 ||
		    note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4)
			continue;
		if (sizeof(*note) + 4 + (uint64_t)note->n_descsz <= section->sh_size)
			return symbols_is_build_id(p + sizeof(*note) + 4, note->n_descsz, build_id);
	}
	return false;
}

static int open_image(struct image *image, const char *path)
{
	struct stat status;
	void *p = MAP_FAILED;
	int fd = fd_open_regular(path, &status);

	memset(image, 0, sizeof(*image));
	if (fd < 0)
		return fd;
	if (status.st_size > (off_t)sizeof(Elf64_Ehdr))
		p = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	fd_close(fd);
	if (p == MAP_FAILED)
		return -EINVAL;
	*image = (struct image){ .bytes = p, .size = (size_t)status.st_size, .header = p };
	if (!memcmp(p, ELFMAG, SELFMAG) && image->header->e_ident[EI_CLASS] == ELFCLASS64 &&
	    image->header->e_shentsize == sizeof(Elf64_Shdr))
		image->sections = part(image, image->header->e_shoff,
				       (uint64_t)image->header->e_shnum * sizeof(Elf64_Shdr));
	if (image->sections)
		return 0;
	munmap(p, image->size);
	return -EINVAL;
}

/* Stores the symbol's name in the queries whose offsets it covers. Of overlapping symbols, the one
 * with the highest start is used; of two with the same start, a global one before a local one. */
static void offer(const Elf64_Sym *symbol, const char *name, struct symbol_query *queries,
		  size_t count)
{
	/* Symbols of assembly code often have size 0; they are taken to be one byte long. */
	uint64_t size = symbol->st_size ? symbol->st_size : 1;

	for (size_t i = sort_until(queries, count, sizeof(*queries),
				   offsetof(struct symbol_query, offset), symbol->st_value - 1);
	     i < count && queries[i].offset - symbol->st_value < size; i++) {
		if (queries[i].symbol && queries[i].start > symbol->st_value)
			continue;
		if (queries[i].symbol && queries[i].start == symbol->st_value &&
		    ELF64_ST_BIND(symbol->st_info) == STB_LOCAL)
			continue;
		queries[i].symbol = name;
		queries[i].start = symbol->st_value;
		queries[i].size = size;
	}
}

static void read_table(const struct image *image, const Elf64_Shdr *table,
		       struct symbol_query *queries, size_t count)
{
	const Elf64_Sym *symbols = part(image, table->sh_offset, table->sh_size);
	const Elf64_Shdr *names;
	const char *text;

	if (!symbols || table->sh_link >= image->header->e_shnum)
		return;
	names = &image->sections[table->sh_link];
	text = part(image, names->sh_offset, names->sh_size);
	if (!text || !names->sh_size || text[names->sh_size - 1])
		return;
	for (uint64_t i = 0; i < table->sh_size / sizeof(*symbols); i++) {
		unsigned type = ELF64_ST_TYPE(symbols[i].st_info);

		if (symbols[i].st_value &&
		    (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
		    symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_name < names->sh_size &&
		    text[symbols[i].st_name])
			offer(&symbols[i], text + symbols[i].st_name, queries, count);
	}
}

int symbols_find(const char *path, const char *build_id, struct symbol_query *queries, size_t count,
		 struct arena *arena)
{
	struct image image;
	int error = open_image(&image, path);
	bool full = false;

	if (error || !image.header)
		return error;
	if (!same_build(&image, build_id)) {
		munmap((void *)(uintptr_t)image.bytes, image.size);
		return -ESTALE;
	}
	for (unsigned i = 0; i < image.header->e_shnum; i++)
		full |= image.sections[i].sh_type == SHT_SYMTAB;
	for (unsigned i = 0; i < image.header->e_shnum; i++) {
		if (image.sections[i].sh_type == (full ? SHT_SYMTAB : SHT_DYNSYM))
			read_table(&image, &image.sections[i], queries, count);
	}
	for (size_t i = 0; i < count; i++) {
		if (queries[i].symbol)
			queries[i].symbol =
				arena_text(arena, queries[i].symbol, strlen(queries[i].symbol));
	}
	munmap((void *)(uintptr_t)image.bytes, image.size);
	return 0;
}

const char *symbols_demangle(const char *symbol, enum symbols_names names, struct arena *arena)
{
	static char *(*demangle)(const char *, char *, size_t *, int *);
	static bool looked;
	const char *result = symbol;
	char *plain;
	int status;

	if (names == SYMBOLS_MANGLED || strncmp(symbol, "_Z", 2))
		return symbol;
	if (!looked) {
		void *handle = dlopen("libstdc++.so.6",
				      RTLD_LAZY | (names == SYMBOLS_LOAD ? 0 : RTLD_NOLOAD));

		looked = true;
		if (handle)
			*(void **)&demangle = dlsym(handle, "__cxa_demangle");
	}
	if (!demangle)
		return symbol;
	plain = demangle(symbol, NULL, NULL, &status);
	if (plain && *plain)
		result = arena_text(arena, plain, strlen(plain));
	free(plain);
	return result ? result : symbol;
}
