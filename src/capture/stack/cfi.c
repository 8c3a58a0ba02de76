/* Call frame information: the entry for an address is found, and what it says is told. */
#include "capture/stack/cfi.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "capture/stack/cfi_parts.h"

enum { OFFSET_MOST = 1 << 18, SAVED_MOST = 1 << 12 };

/* How pointers are written (LSB 5.0, 10.5.1) */
enum {
	PE_ABSPTR = 0,
	PE_UDATA4 = 3,
	PE_UDATA8 = 4,
	PE_SDATA4 = 0xb,
	PE_SDATA8 = 0xc,
	PE_FORMAT = 0xf,
	PE_PCREL = 0x10,
	PE_DATAREL_SDATA4 = 0x3b,
	PE_INDIRECT = 0x80,
};

static uint64_t encoded(struct cfi_bytes *bytes, uint8_t encoding)
{
	uint64_t at = (uint64_t)(uintptr_t)bytes->p;
	uint64_t value = 0;

	switch (encoding & PE_FORMAT) {
	case PE_UDATA4:
		value = cfi_fixed(bytes, 4);
		break;
	case PE_SDATA4:
		value = (uint64_t)(int64_t)(int32_t)cfi_fixed(bytes, 4);
		break;
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		value = cfi_fixed(bytes, 8);
		break;
	default:
		bytes->bad = true;
	}
	if ((encoding & 0x70) == PE_PCREL)
		value += at;
	else if (encoding & 0x70)
		bytes->bad = true;
	return value;
}

/* An entry's bytes behind its length; the 64-bit form is not written by anybody. */
static struct cfi_bytes entry_at(const uint8_t *p)
{
	uint32_t length;

	memcpy(&length, p, sizeof(length));
	if (length >= 0xfffffff0u || !length)
		return (struct cfi_bytes){ NULL, NULL, true };
	return (struct cfi_bytes){ p + 4, p + 4 + length, false };
}

static void read_augmentation(struct cfi_bytes *bytes, const char *text, struct cfi_cie *cie)
{
	uint64_t size = cfi_uleb(bytes);
	const uint8_t *end = bytes->p + size;

	if ((uint64_t)(bytes->end - bytes->p) < size) {
		bytes->bad = true;
		return;
	}
	cie->augmented = true;
	for (; *text && !bytes->bad; text++) {
		if (*text == 'R')
			cie->encoding = (uint8_t)cfi_fixed(bytes, 1);
		else if (*text == 'L')
			cfi_fixed(bytes, 1);
		else if (*text == 'P')
			encoded(bytes, (uint8_t)(cfi_fixed(bytes, 1) & PE_FORMAT));
		else
			bytes->bad = true; /* 'S', a signal's frame, among them */
	}
	bytes->p = end;
}

static bool read_cie(const uint8_t *p, struct cfi_cie *cie)
{
	struct cfi_bytes bytes = entry_at(p);
	uint64_t version;
	const char *text;

	*cie = (struct cfi_cie){ .encoding = PE_ABSPTR };
	if (bytes.bad || cfi_fixed(&bytes, 4))
		return false;
	version = cfi_fixed(&bytes, 1);
	text = (const char *)bytes.p;
	while (!bytes.bad && cfi_fixed(&bytes, 1))
		;
	cie->code_align = cfi_uleb(&bytes);
	cie->data_align = cfi_sleb(&bytes);
	if ((version == 1 ? cfi_fixed(&bytes, 1) : cfi_uleb(&bytes)) != CFI_RETURN ||
	    (version != 1 && version != 3))
		return false;
	if (*text == 'z')
		read_augmentation(&bytes, text + 1, cie);
	else if (*text)
		return false;
	cie->program = bytes;
	return !bytes.bad;
}

static struct cfi_rule rule_of(const struct cfi_row *row)
{
	struct cfi_rule other = { CFI_OTHER, 0, 0 };
	struct cfi_rule rule = { row->cfa_register == CFI_RBP ? CFI_FRAME : CFI_STACK, 0, 0 };

	if (row->back.where == CFI_GONE)
		return (struct cfi_rule){ CFI_END, 0, 0 };
	if (!row->cfa_known || (row->cfa_register != CFI_RBP && row->cfa_register != CFI_RSP) ||
	    row->cfa_offset < 8 || row->cfa_offset >= OFFSET_MOST || row->cfa_offset % 8 ||
	    row->back.where != CFI_AT_OFFSET || row->back.offset != -8)
		return other;
	rule.offset = (uint32_t)row->cfa_offset;
	if (row->frame.where == CFI_AS_IT_WAS)
		return rule;
	if (row->frame.where != CFI_AT_OFFSET || row->frame.offset > -16 ||
	    row->frame.offset <= -SAVED_MOST || row->frame.offset % 8)
		return other;
	rule.saved = (uint32_t)-row->frame.offset;
	return rule;
}

/* The table's entry for the address: the last that does not begin beyond it. */
static const uint8_t *entry_for(const uint8_t *header, uint64_t address)
{
	struct cfi_bytes bytes = { header, header + 12, false };
	const uint8_t *table;
	uint32_t low = 0;
	uint32_t high;
	int32_t place[2];

	if (header[0] != 1 || header[2] != PE_UDATA4 || header[3] != PE_DATAREL_SDATA4)
		return NULL;
	bytes.p += 4;
	encoded(&bytes, header[1]);
	if (bytes.bad || bytes.p != header + 8)
		return NULL;
	high = (uint32_t)cfi_fixed(&bytes, 4);
	table = bytes.p;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		memcpy(place, table + 8 * (size_t)middle, sizeof(place));
		if ((uint64_t)(uintptr_t)header + (uint64_t)(int64_t)place[0] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	memcpy(place, table + 8 * (size_t)(low - 1), sizeof(place));
	return header + place[1];
}

struct cfi_rule cfi_rule(const void *header, uint64_t address)
{
	const struct cfi_rule other = { CFI_OTHER, 0, 0 };
	uint64_t place = address - 1; /* of the call: what follows may be another function */
	const uint8_t *entry = entry_for(header, place);
	struct cfi_bytes bytes;
	struct cfi_row row;
	struct cfi_cie cie;
	uint64_t back, begin, size;

	if (!entry)
		return other;
	bytes = entry_at(entry);
	back = cfi_fixed(&bytes, 4);
	if (bytes.bad || !back || !read_cie(entry + 4 - back, &cie))
		return other;
	begin = encoded(&bytes, cie.encoding);
	size = encoded(&bytes, cie.encoding & PE_FORMAT);
	if (place < begin || place - begin >= size)
		return other;
	if (cie.augmented)
		cfi_skip(&bytes, cfi_uleb(&bytes));
	if (bytes.bad || !cfi_run(&cie, bytes, begin, place, &row))
		return other;
	return rule_of(&row);
}

struct search {
	uint64_t address;
	const void *header;
};

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const void *header = NULL;
	bool here = false;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t low = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && search->address - low < segment->p_memsz)
			here = true;
		else if (segment->p_type == PT_GNU_EH_FRAME)
			header = (const void *)(uintptr_t)low;
	}
	if (here)
		search->header = header;
	return here;
}

struct cfi_rule cfi_find(uint64_t address)
{
	struct search search = { address - 1, NULL };

	dl_iterate_phdr(look, &search);
	return search.header ? cfi_rule(search.header, address)
			     : (struct cfi_rule){ CFI_OTHER, 0, 0 };
}
