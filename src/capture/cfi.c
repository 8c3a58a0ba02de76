/* Call frame information, read for one address. */
#include "capture/cfi.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

enum {
	/* DWARF's numbers of registers on x86-64 (System V ABI, figure 3.36) */
	RBP = 6,
	RSP = 7,
	RETURN = 16,
	STATES = 8, /* remembered at the same time */
	OFFSET_MOST = 1 << 18,
	SAVED_MOST = 1 << 12,
};

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

enum opcode {
	ADVANCE_LOC = 1, /* these three have their first operand in the opcode */
	OFFSET = 2,
	RESTORE = 3,
	NOP = 0,
	ADVANCE_LOC1 = 2,
	ADVANCE_LOC2 = 3,
	ADVANCE_LOC4 = 4,
	OFFSET_EXTENDED = 5,
	RESTORE_EXTENDED = 6,
	UNDEFINED = 7,
	SAME_VALUE = 8,
	REGISTER = 9,
	REMEMBER_STATE = 0xa,
	RESTORE_STATE = 0xb,
	DEF_CFA = 0xc,
	DEF_CFA_REGISTER = 0xd,
	DEF_CFA_OFFSET = 0xe,
	DEF_CFA_EXPRESSION = 0xf,
	EXPRESSION = 0x10,
	OFFSET_EXTENDED_SF = 0x11,
	DEF_CFA_SF = 0x12,
	DEF_CFA_OFFSET_SF = 0x13,
	VAL_OFFSET = 0x14,
	VAL_OFFSET_SF = 0x15,
	VAL_EXPRESSION = 0x16,
	GNU_ARGS_SIZE = 0x2e,
};

/* Bytes not read yet; `bad` once there were too few, or what nobody here understands. */
struct bytes {
	const uint8_t *p, *end;
	bool bad;
};

enum where { AS_IT_WAS, AT_OFFSET, GONE, ELSEWHERE };

struct row {
	uint64_t cfa_register;
	int64_t cfa_offset;
	bool cfa_known;
	struct {
		enum where where;
		int64_t offset;
	} frame, back; /* RBP and the return address */
};

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;
	bool augmented;
	struct bytes program;
};

static uint64_t fixed(struct bytes *bytes, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(bytes->end - bytes->p) < size) {
		bytes->bad = true;
		return 0;
	}
	memcpy(&value, bytes->p, size);
	bytes->p += size;
	return value;
}

static uint64_t uleb(struct bytes *bytes)
{
	uint64_t value = 0;
	uint64_t byte = 0x80;

	for (unsigned shift = 0; byte & 0x80 && !bytes->bad; shift += 7) {
		byte = fixed(bytes, 1);
		if (shift >= 63)
			bytes->bad = true;
		else
			value |= (byte & 0x7f) << shift;
	}
	return value;
}

static int64_t sleb(struct bytes *bytes)
{
	uint64_t value = 0;
	uint64_t byte = 0x80;
	unsigned shift = 0;

	while (byte & 0x80 && !bytes->bad) {
		byte = fixed(bytes, 1);
		if (shift >= 63)
			bytes->bad = true;
		else
			value |= (byte & 0x7f) << shift;
		shift += 7;
	}
	if (byte & 0x40 && shift < 64)
		value |= ~0ull << shift;
	return (int64_t)value;
}

static void skip(struct bytes *bytes, uint64_t size)
{
	if ((uint64_t)(bytes->end - bytes->p) < size)
		bytes->bad = true;
	else
		bytes->p += size;
}

static uint64_t encoded(struct bytes *bytes, uint8_t encoding)
{
	uint64_t at = (uint64_t)(uintptr_t)bytes->p;
	uint64_t value = 0;

	switch (encoding & PE_FORMAT) {
	case PE_UDATA4:
		value = fixed(bytes, 4);
		break;
	case PE_SDATA4:
		value = (uint64_t)(int64_t)(int32_t)fixed(bytes, 4);
		break;
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		value = fixed(bytes, 8);
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
static struct bytes entry_at(const uint8_t *p)
{
	uint32_t length;

	memcpy(&length, p, sizeof(length));
	if (length >= 0xfffffff0u || !length)
		return (struct bytes){ NULL, NULL, true };
	return (struct bytes){ p + 4, p + 4 + length, false };
}

static void read_augmentation(struct bytes *bytes, const char *text, struct cie *cie)
{
	uint64_t size = uleb(bytes);
	const uint8_t *end = bytes->p + size;

	if ((uint64_t)(bytes->end - bytes->p) < size) {
		bytes->bad = true;
		return;
	}
	cie->augmented = true;
	for (; *text && !bytes->bad; text++) {
		if (*text == 'R')
			cie->encoding = (uint8_t)fixed(bytes, 1);
		else if (*text == 'L')
			fixed(bytes, 1);
		else if (*text == 'P')
			encoded(bytes, (uint8_t)(fixed(bytes, 1) & PE_FORMAT));
		else
			bytes->bad = true; /* 'S', a signal's frame, among them */
	}
	bytes->p = end;
}

static bool read_cie(const uint8_t *p, struct cie *cie)
{
	struct bytes bytes = entry_at(p);
	uint64_t version;
	const char *text;

	*cie = (struct cie){ .encoding = PE_ABSPTR };
	if (bytes.bad || fixed(&bytes, 4))
		return false;
	version = fixed(&bytes, 1);
	text = (const char *)bytes.p;
	while (!bytes.bad && fixed(&bytes, 1))
		;
	cie->code_align = uleb(&bytes);
	cie->data_align = sleb(&bytes);
	if ((version == 1 ? fixed(&bytes, 1) : uleb(&bytes)) != RETURN ||
	    (version != 1 && version != 3))
		return false;
	if (*text == 'z')
		read_augmentation(&bytes, text + 1, cie);
	else if (*text)
		return false;
	cie->program = bytes;
	return !bytes.bad;
}

static void put(struct row *row, uint64_t number, enum where where, int64_t offset)
{
	if (number == RBP) {
		row->frame.where = where;
		row->frame.offset = offset;
	} else if (number == RETURN) {
		row->back.where = where;
		row->back.offset = offset;
	} else if (number == RSP) {
		/* It is the canonical frame address in the caller; nobody writes otherwise. */
		row->cfa_known = row->cfa_known && where == AS_IT_WAS;
	}
}

static void restore(struct row *row, uint64_t number, const struct row *first)
{
	if (number == RBP)
		row->frame = first->frame;
	else if (number == RETURN)
		row->back = first->back;
}

struct machine {
	const struct cie *cie;
	struct row row, first, states[STATES];
	unsigned remembered;
	uint64_t at; /* where the row begins to hold */
};

static void set_cfa(struct machine *machine, uint64_t number, int64_t offset)
{
	machine->row.cfa_register = number;
	machine->row.cfa_offset = offset;
	machine->row.cfa_known = true;
}

static void change_state(struct machine *machine, struct bytes *bytes, bool remember)
{
	if (remember && machine->remembered < STATES)
		machine->states[machine->remembered++] = machine->row;
	else if (!remember && machine->remembered)
		machine->row = machine->states[--machine->remembered];
	else
		bytes->bad = true;
}

/* What moves the canonical frame address; false if it is none of these. */
static bool run_cfa(struct machine *machine, struct bytes *bytes, unsigned opcode)
{
	int64_t align = machine->cie->data_align;
	uint64_t number;

	switch (opcode) {
	case DEF_CFA:
		number = uleb(bytes);
		set_cfa(machine, number, (int64_t)uleb(bytes));
		return true;
	case DEF_CFA_SF:
		number = uleb(bytes);
		set_cfa(machine, number, sleb(bytes) * align);
		return true;
	case DEF_CFA_REGISTER:
		machine->row.cfa_register = uleb(bytes);
		return true;
	case DEF_CFA_OFFSET:
		machine->row.cfa_offset = (int64_t)uleb(bytes);
		return true;
	case DEF_CFA_OFFSET_SF:
		machine->row.cfa_offset = sleb(bytes) * align;
		return true;
	case DEF_CFA_EXPRESSION:
		skip(bytes, uleb(bytes));
		machine->row.cfa_known = false;
		return true;
	}
	return false;
}

/* What tells where a register is kept; false if it is none of these. */
static bool run_register(struct machine *machine, struct bytes *bytes, unsigned opcode)
{
	int64_t align = machine->cie->data_align;
	uint64_t number;

	if (opcode < OFFSET_EXTENDED || opcode > VAL_EXPRESSION || opcode == REMEMBER_STATE ||
	    opcode == RESTORE_STATE)
		return false;
	number = uleb(bytes);
	switch (opcode) {
	case OFFSET_EXTENDED:
		put(&machine->row, number, AT_OFFSET, (int64_t)uleb(bytes) * align);
		return true;
	case OFFSET_EXTENDED_SF:
		put(&machine->row, number, AT_OFFSET, sleb(bytes) * align);
		return true;
	case RESTORE_EXTENDED:
		restore(&machine->row, number, &machine->first);
		return true;
	case SAME_VALUE:
		put(&machine->row, number, AS_IT_WAS, 0);
		return true;
	case UNDEFINED:
		put(&machine->row, number, GONE, 0);
		return true;
	case EXPRESSION:
	case VAL_EXPRESSION:
		skip(bytes, uleb(bytes));
		break;
	case REGISTER:
	case VAL_OFFSET:
	case VAL_OFFSET_SF:
		uleb(bytes);
		break;
	}
	put(&machine->row, number, ELSEWHERE, 0);
	return true;
}

static void run_other(struct machine *machine, struct bytes *bytes, unsigned opcode)
{
	uint64_t align = machine->cie->code_align;

	switch (opcode) {
	case NOP:
		break;
	case ADVANCE_LOC1:
		machine->at += fixed(bytes, 1) * align;
		break;
	case ADVANCE_LOC2:
		machine->at += fixed(bytes, 2) * align;
		break;
	case ADVANCE_LOC4:
		machine->at += fixed(bytes, 4) * align;
		break;
	case REMEMBER_STATE:
	case RESTORE_STATE:
		change_state(machine, bytes, opcode == REMEMBER_STATE);
		break;
	case GNU_ARGS_SIZE:
		uleb(bytes);
		break;
	default:
		bytes->bad = true;
	}
}

/* Up to the row that holds at the address. False if something is not understood. */
static bool run(struct machine *machine, struct bytes bytes, uint64_t address)
{
	while (bytes.p < bytes.end && !bytes.bad) {
		struct row row = machine->row;
		unsigned byte = (unsigned)fixed(&bytes, 1);
		unsigned low = byte & 0x3f;

		if (byte >> 6 == ADVANCE_LOC)
			machine->at += low * machine->cie->code_align;
		else if (byte >> 6 == OFFSET)
			put(&machine->row, low, AT_OFFSET,
			    (int64_t)uleb(&bytes) * machine->cie->data_align);
		else if (byte >> 6 == RESTORE)
			restore(&machine->row, low, &machine->first);
		else if (!run_cfa(machine, &bytes, byte) && !run_register(machine, &bytes, byte))
			run_other(machine, &bytes, byte);
		if (machine->at > address) {
			machine->row = row;
			break;
		}
	}
	return !bytes.bad;
}

static struct cfi_rule rule_of(const struct row *row)
{
	struct cfi_rule other = { CFI_OTHER, 0, 0 };
	struct cfi_rule rule = { row->cfa_register == RBP ? CFI_FRAME : CFI_STACK, 0, 0 };

	if (row->back.where == GONE)
		return (struct cfi_rule){ CFI_END, 0, 0 };
	if (!row->cfa_known || (row->cfa_register != RBP && row->cfa_register != RSP) ||
	    row->cfa_offset < 8 || row->cfa_offset >= OFFSET_MOST || row->cfa_offset % 8 ||
	    row->back.where != AT_OFFSET || row->back.offset != -8)
		return other;
	rule.offset = (uint32_t)row->cfa_offset;
	if (row->frame.where == AS_IT_WAS)
		return rule;
	if (row->frame.where != AT_OFFSET || row->frame.offset > -16 ||
	    row->frame.offset <= -SAVED_MOST || row->frame.offset % 8)
		return other;
	rule.saved = (uint32_t)-row->frame.offset;
	return rule;
}

/* The table's entry for the address: the last that does not begin beyond it. */
static const uint8_t *entry_for(const uint8_t *header, uint64_t address)
{
	struct bytes bytes = { header, header + 12, false };
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
	high = (uint32_t)fixed(&bytes, 4);
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
	struct machine machine = { .row = { .frame = { AS_IT_WAS, 0 }, .back = { ELSEWHERE, 0 } } };
	struct cfi_rule other = { CFI_OTHER, 0, 0 };
	uint64_t place = address - 1; /* of the call: what follows may be another function */
	const uint8_t *entry = entry_for(header, place);
	struct bytes bytes;
	struct cie cie;
	uint64_t back;
	uint64_t size;

	if (!entry)
		return other;
	bytes = entry_at(entry);
	back = fixed(&bytes, 4);
	if (bytes.bad || !back || !read_cie(entry + 4 - back, &cie))
		return other;
	machine.at = encoded(&bytes, cie.encoding);
	size = encoded(&bytes, cie.encoding & PE_FORMAT);
	if (place < machine.at || place - machine.at >= size)
		return other;
	if (cie.augmented)
		skip(&bytes, uleb(&bytes));
	machine.cie = &cie;
	if (bytes.bad || !run(&machine, cie.program, place))
		return other;
	machine.first = machine.row;
	if (!run(&machine, bytes, place))
		return other;
	return rule_of(&machine.row);
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
