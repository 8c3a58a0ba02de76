/*
 * Makes a rule (how to walk from a code address to the caller, cfi_walk.h) from the module's DWARF
 * call frame information.
 * The format is DWARF 5, section 6.4, with the changes that the Linux Standard Base makes for
 * .eh_frame and .eh_frame_hdr. Only the forms that compilers write for nearly all code are
 * understood; for all others the rule is CFI_OTHER.
 */
#include "capture/stack/cfi_walk.h"

#include <link.h>
#include <string.h>

#include "codec/varint.h"

enum { OFFSET_MOST = 1 << 18, SAVED_MOST = 1 << 12, STATES = 8 /* depth of REMEMBER's stack */ };

/* DWARF's register numbers on x86-64 (System V ABI, figure 3.36) */
enum { RBP = 6, RSP = 7, RETURN = 16 };

/* DW_EH_PE_*, how a pointer is encoded in .eh_frame (LSB 5.0, 10.5.1): the encodings that all
 * assemblers and linkers use. PE_FORMAT is the mask of the bits that give a pointer's size. */
enum { PE_UDATA4 = 3, PE_FORMAT = 7, PE_PCREL_SDATA4 = 0x1b, PE_DATAREL_SDATA4 = 0x3b };

static const union cfi_rule other = { .kind = CFI_OTHER };

/* --- reading bytes --- */

/* The bytes still to be read; `bad` is true if there were too few or some were not understood. */
struct bytes {
	const uint8_t *p, *end;
	bool bad;
};

static const uint8_t *skip(struct bytes *bytes, uint64_t size)
{
	const uint8_t *p = bytes->p;

	bytes->bad |= (uint64_t)(bytes->end - p) < size;
	if (!bytes->bad)
		bytes->p += size;
	return p;
}

static uint64_t fixed(struct bytes *bytes, unsigned size)
{
	const uint8_t *p = skip(bytes, size);
	uint64_t value = 0;

	if (!bytes->bad)
		memcpy(&value, p, size);
	return value;
}

static uint64_t uleb(struct bytes *bytes)
{
	uint64_t value = 0;

	if (!varint_get(&bytes->p, bytes->end, &value))
		bytes->bad = true;
	return value;
}

/* --- running the call frame instructions of an entry --- */

enum { FRAME, STACK, BACK, OTHERS, PLACES }; /* RBP, RSP, return address, all other registers */

/* Special values in cfi_rules.where, whose offsets are multiples of 8: the register is unchanged,
 * its value in the caller is lost, or no offset leads to the saved value. As cfa_register,
 * ELSEWHERE means that an expression gives the CFA (canonical frame address). */
enum { AS_IT_WAS = 1, GONE, ELSEWHERE };

struct cfi_rules {
	uint64_t cfa_register;
	int64_t cfa_offset;
	int64_t where[PLACES]; /* offset from the CFA at which a register is saved */
};

struct machine {
	struct cfi_rules row, first, states[STATES];
	unsigned remembered;
	uint64_t at; /* first code address for which `row` is valid */
};

/* Call frame instructions that compilers use: DWARF 5, 6.4.2; for GNU_args_size LSB 5.0, 10.5. */
enum {
	NOP = 0x00,
	ADVANCE1 = 0x02,
	ADVANCE2 = 0x03,
	ADVANCE4 = 0x04,
	OFFSET = 0x05,
	RESTORE = 0x06,
	UNDEFINED = 0x07,
	SAME_VALUE = 0x08,
	REMEMBER = 0x0a,
	RECALL = 0x0b,
	SET_CFA = 0x0c,
	SET_CFA_REGISTER = 0x0d,
	SET_CFA_OFFSET = 0x0e,
	SET_CFA_EXPRESSION = 0x0f,
	EXPRESSION = 0x10,
	ARGS_SIZE = 0x2e,
	ADVANCE_LOW = 0x40, /* from here on the lowest six bits are an operand */
	OFFSET_LOW = 0x80,
	RESTORE_LOW = 0xc0,
};

static int64_t *place_of(struct cfi_rules *row, uint64_t number)
{
	return &row->where[number == RBP      ? FRAME
			   : number == RSP    ? STACK
			   : number == RETURN ? BACK
					      : OTHERS];
}

static bool run_saved(struct machine *machine, struct bytes *bytes, unsigned opcode,
		      uint64_t number)
{
	int64_t *where = place_of(&machine->row, number);

	switch (opcode) {
	case OFFSET:
		*where = (int64_t)(uleb(bytes) * (uint64_t)-8);
		return true;
	case RESTORE:
		*where = *place_of(&machine->first, number);
		return true;
	case UNDEFINED:
		*where = GONE;
		return true;
	case SAME_VALUE:
		*where = AS_IT_WAS;
		return true;
	case EXPRESSION:
		skip(bytes, uleb(bytes));
		*where = ELSEWHERE;
		return true;
	}
	return false;
}

static bool run_one(struct machine *machine, struct bytes *bytes)
{
	struct cfi_rules *row = &machine->row;
	unsigned opcode = (unsigned)fixed(bytes, 1);
	unsigned low = opcode % ADVANCE_LOW;

	switch (opcode < ADVANCE_LOW ? opcode : opcode - low) {
	case NOP:
		return true;
	case ADVANCE_LOW:
		machine->at += low;
		return true;
	case ADVANCE1:
	case ADVANCE2:
	case ADVANCE4:
		machine->at += fixed(bytes, 1u << (opcode - ADVANCE1));
		return true;
	case OFFSET_LOW:
		return run_saved(machine, bytes, OFFSET, low);
	case RESTORE_LOW:
		return run_saved(machine, bytes, RESTORE, low);
	case REMEMBER:
		if (machine->remembered == STATES)
			return false;
		machine->states[machine->remembered++] = *row;
		return true;
	case RECALL:
		if (!machine->remembered)
			return false;
		*row = machine->states[--machine->remembered];
		return true;
	case SET_CFA:
		row->cfa_register = uleb(bytes);
		row->cfa_offset = (int64_t)uleb(bytes);
		return true;
	case SET_CFA_REGISTER:
		row->cfa_register = uleb(bytes);
		return true;
	case SET_CFA_OFFSET:
		row->cfa_offset = (int64_t)uleb(bytes);
		return true;
	case SET_CFA_EXPRESSION:
		row->cfa_register = ELSEWHERE;
		skip(bytes, uleb(bytes));
		return true;
	case ARGS_SIZE:
		uleb(bytes);
		return true;
	}
	return run_saved(machine, bytes, opcode, uleb(bytes));
}

/* Advances machine->row to the rules for the address. False if an instruction is not understood. */
static bool run(struct machine *machine, struct bytes bytes, uint64_t address)
{
	while (bytes.p < bytes.end && machine->at <= address) {
		if (!run_one(machine, &bytes) || bytes.bad)
			return false;
	}
	return true;
}

/* --- entries of .eh_frame --- */

/* The bytes of the entry at `p`, without its length. `bad` is set for the 64-bit form, which no
 * compiler writes, and for a terminator. */
static struct bytes entry_at(const uint8_t *p)
{
	uint32_t length;

	memcpy(&length, p, sizeof(length));
	if (length >= 0xfffffff0u || !length)
		return (struct bytes){ NULL, NULL, true };
	return (struct bytes){ p + 4, p + 4 + length, false };
}

/* Skips a CIE's augmentation data, as the letters of `text` describe it. False for an unknown
 * letter, or if 'R' (the encoding of addresses) is missing or unusual. */
static bool read_augmentation(struct bytes *bytes, const char *text)
{
	uint64_t size = uleb(bytes);
	struct bytes own = *bytes;
	bool known = false;

	skip(bytes, size);
	own.end = bytes->p;
	for (; *text; text++) {
		uint64_t encoding = fixed(&own, 1);

		if (*text == 'R')
			known = encoding == PE_PCREL_SDATA4;
		else if (*text == 'P')
			skip(&own, (encoding & PE_FORMAT) == PE_UDATA4 ? 4 : 8);
		else if (*text != 'L')
			return false; /* unknown letters, and 'S': the frame of a signal handler */
	}
	return known && !own.bad;
}

/* Reads a common information entry (CIE); *program gets the instructions that its entries share.
 * False for forms that compilers do not write for x86-64 (other alignment factors, another register
 * for the return address), and so for all entries on other processors. */
static bool read_cie(const uint8_t *p, struct bytes *program)
{
	static const uint8_t usual[] = { 1, 0x78 /* -8 */, RETURN };
	struct bytes bytes = entry_at(p);
	uint64_t version;
	const char *text;
	const uint8_t *factors;

	if (bytes.bad || fixed(&bytes, 4))
		return false;
	version = fixed(&bytes, 1);
	text = (const char *)bytes.p;
	while (fixed(&bytes, 1))
		;
	factors = skip(&bytes, sizeof(usual));
	if (bytes.bad || (version != 1 && version != 3) ||
	    memcmp(factors, usual, sizeof(usual)) != 0 || *text != 'z' ||
	    !read_augmentation(&bytes, text + 1))
		return false;
	*program = bytes;
	return !bytes.bad;
}

static union cfi_rule rule_of(const struct cfi_rules *row)
{
	union cfi_rule rule = { .kind = row->cfa_register == RBP ? CFI_FRAME : CFI_STACK };
	int64_t frame = row->where[FRAME];

	if (row->where[BACK] == GONE)
		return (union cfi_rule){ .kind = CFI_END };
	if ((row->cfa_register != RBP && row->cfa_register != RSP) || row->cfa_offset < 8 ||
	    row->cfa_offset >= OFFSET_MOST || row->cfa_offset % 8 || row->where[BACK] != -8 ||
	    row->where[STACK] != AS_IT_WAS)
		return other;
	rule.offset = (uint64_t)row->cfa_offset / 8;
	if (frame == AS_IT_WAS)
		return rule;
	if (frame > -16 || frame <= -SAVED_MOST || frame % 8)
		return other;
	rule.saved = (uint64_t)-frame / 8;
	return rule;
}

/* Finds in .eh_frame_hdr the last entry that does not begin after the address; NULL for none. */
static const uint8_t *entry_for(const uint8_t *header, uint64_t address)
{
	/* The header's version and encodings, as every linker writes them. */
	static const uint8_t kind[] = { 1, PE_PCREL_SDATA4, PE_UDATA4, PE_DATAREL_SDATA4 };
	int64_t offset = (int64_t)(address - (uint64_t)(uintptr_t)header);
	uint32_t count[3];
	uint32_t low = 0;
	const int32_t(*table)[2] = (const void *)(header + sizeof(count));

	memcpy(count, header, sizeof(count));
	if (memcmp(header, kind, sizeof(kind)) != 0)
		return NULL;
	for (uint32_t high = count[2]; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (table[middle][0] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? header + table[low - 1][1] : NULL;
}

/* The rule for the address. `header`: the .eh_frame_hdr (PT_GNU_EH_FRAME segment) of its module. */
static union cfi_rule rule_at(const void *header, uint64_t address)
{
	const uint8_t *entry = entry_for(header, address);
	struct bytes program;
	struct machine machine = {
		.row.where = { [FRAME] = AS_IT_WAS, [STACK] = AS_IT_WAS, [BACK] = ELSEWHERE },
	};
	struct bytes bytes;
	uint64_t back, size;

	if (!entry)
		return other;
	bytes = entry_at(entry);
	back = fixed(&bytes, 4);
	if (bytes.bad || !back || !read_cie(entry + 4 - back, &program))
		return other;
	machine.at = (uint64_t)(uintptr_t)bytes.p;
	machine.at += (uint64_t)(int64_t)(int32_t)fixed(&bytes, 4);
	size = fixed(&bytes, 4);
	skip(&bytes, uleb(&bytes));
	if (bytes.bad || address - machine.at >= size || !run(&machine, program, address))
		return other;
	machine.first = machine.row;
	return run(&machine, bytes, address) ? rule_of(&machine.row) : other;
}

struct cfi_search {
	uint64_t address;
	union cfi_rule rule;
};

static int look_at_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct cfi_search *search = data;
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
	if (here && header)
		search->rule = rule_at(header, search->address);
	return here;
}

union cfi_rule cfi_find(uint64_t address)
{
	/* address - 1 lies in the call; the next instruction may belong to another function. */
	struct cfi_search search = { address - 1, other };

	dl_iterate_phdr(look_at_module, &search);
	return search.rule;
}
