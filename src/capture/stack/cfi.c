/* Call frame information: the entry for an address is found, and what it says is told. */
#include "capture/stack/cfi.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "codec/varint.h"

enum { OFFSET_MOST = 1 << 18, SAVED_MOST = 1 << 12, STATES = 8 /* remembered at the same time */ };

/* DWARF's numbers of registers on x86-64 (System V ABI, figure 3.36) */
enum { RBP = 6, RSP = 7, RETURN = 16 };

/* How pointers are written (LSB 5.0, 10.5.1), by all assemblers and linkers but for PE_FORMAT of a
 * personality's. */
enum { PE_UDATA4 = 3, PE_FORMAT = 7, PE_PCREL_SDATA4 = 0x1b, PE_DATAREL_SDATA4 = 0x3b };

static const struct cfi_rule other = { CFI_OTHER, 0, 0 };

/* --- reading -----------------------------------------------------------------------------------
 */

/* Bytes not read yet; `bad` once there were too few, or what nobody here understands. */
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

/* As unsigned, and the highest bit that is written is the sign. */
static int64_t sleb(struct bytes *bytes)
{
	const uint8_t *p = bytes->p;
	uint64_t value = uleb(bytes);
	unsigned bits = 7 * (unsigned)(bytes->p - p);

	if (!bits || bits > 63) {
		bytes->bad = true;
		return 0;
	}
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* --- an entry's programs -----------------------------------------------------------------------
 */

enum { FRAME, STACK, BACK, OTHERS, PLACES }; /* RBP, RSP, the return address */

/* Instead of an offset, which is a multiple of 8: a register has its value still, its value is not
 * in the caller, or it lies where no offset tells. No number of a register that is asked for. */
enum { AS_IT_WAS = 1, GONE, ELSEWHERE };

struct cfi_rules {
	uint64_t cfa_register;
	int64_t cfa_offset;
	int64_t where[PLACES]; /* the registers' values lie */
};

/* What entries have in common. */
struct cie {
	uint64_t code_align;
	int64_t data_align;
	struct bytes program;
};

struct machine {
	const struct cie *cie;
	struct cfi_rules row, first, states[STATES];
	unsigned remembered;
	uint64_t at; /* where the row begins to hold */
};

/* What an operand is beside one of the three above. */
enum operand {
	NONE,
	LOW = ELSEWHERE + 1, /* in the opcode */
	BYTES1,
	BYTES2,
	BYTES4,
	ULEB,
	ULEB_ALIGNED,
	SLEB_ALIGNED,
	ULEB_ELSEWHERE, /* tells of no offset */
	BLOCK_ELSEWHERE,
};

enum action {
	UNKNOWN,
	PASS,
	ADVANCE,
	SAVE,
	RESTORE,
	REMEMBER,
	RECALL,
	SET_CFA,
	SET_CFA_REGISTER,
	SET_CFA_OFFSET
};

struct instruction {
	uint8_t action, first, second; /* enum action, enum operand */
};

/* DWARF 5, section 6.4.2, by opcode; 0x2e is GNU_args_size (LSB 5.0, 10.5). */
static const struct instruction instructions[64] = {
	[0x00] = { PASS, NONE, NONE },
	[0x02] = { ADVANCE, BYTES1, NONE },
	[0x03] = { ADVANCE, BYTES2, NONE },
	[0x04] = { ADVANCE, BYTES4, NONE },
	[0x05] = { SAVE, ULEB, ULEB_ALIGNED },
	[0x06] = { RESTORE, ULEB, NONE },
	[0x07] = { SAVE, ULEB, GONE },
	[0x08] = { SAVE, ULEB, AS_IT_WAS },
	[0x09] = { SAVE, ULEB, ULEB_ELSEWHERE },
	[0x0a] = { REMEMBER, NONE, NONE },
	[0x0b] = { RECALL, NONE, NONE },
	[0x0c] = { SET_CFA, ULEB, ULEB },
	[0x0d] = { SET_CFA_REGISTER, ULEB, NONE },
	[0x0e] = { SET_CFA_OFFSET, NONE, ULEB },
	[0x0f] = { SET_CFA_REGISTER, BLOCK_ELSEWHERE, NONE },
	[0x10] = { SAVE, ULEB, BLOCK_ELSEWHERE },
	[0x11] = { SAVE, ULEB, SLEB_ALIGNED },
	[0x12] = { SET_CFA, ULEB, SLEB_ALIGNED },
	[0x13] = { SET_CFA_OFFSET, NONE, SLEB_ALIGNED },
	[0x14] = { SAVE, ULEB, ULEB_ELSEWHERE },
	[0x15] = { SAVE, ULEB, ULEB_ELSEWHERE },
	[0x16] = { SAVE, ULEB, BLOCK_ELSEWHERE },
	[0x2e] = { PASS, ULEB, NONE },
};

/* Those that have an operand in the opcode, by its two highest bits. */
static const struct instruction with_operand[4] = {
	[1] = { ADVANCE, LOW, NONE },
	[2] = { SAVE, LOW, ULEB_ALIGNED },
	[3] = { RESTORE, LOW, NONE },
};

static uint64_t read_operand(const struct machine *machine, struct bytes *bytes, uint8_t operand,
			     unsigned opcode)
{
	switch (operand) {
	case LOW:
		return opcode & 0x3f;
	case BYTES1:
	case BYTES2:
	case BYTES4:
		return fixed(bytes, 1u << (operand - BYTES1));
	case ULEB:
		return uleb(bytes);
	case ULEB_ALIGNED:
		return uleb(bytes) * (uint64_t)machine->cie->data_align;
	case SLEB_ALIGNED:
		return (uint64_t)sleb(bytes) * (uint64_t)machine->cie->data_align;
	case ULEB_ELSEWHERE:
		uleb(bytes);
		return ELSEWHERE;
	case BLOCK_ELSEWHERE:
		skip(bytes, uleb(bytes));
		return ELSEWHERE;
	}
	return operand;
}

static unsigned place_of(uint64_t number)
{
	return number == RBP ? FRAME : number == RSP ? STACK : number == RETURN ? BACK : OTHERS;
}

static bool run_one(struct machine *machine, uint8_t action, uint64_t first, uint64_t second)
{
	struct cfi_rules *row = &machine->row;
	int64_t *where = &row->where[place_of(first)];

	switch (action) {
	case PASS:
		return true;
	case ADVANCE:
		machine->at += first * machine->cie->code_align;
		return true;
	case SAVE:
		*where = (int64_t)second;
		return true;
	case RESTORE:
		*where = machine->first.where[place_of(first)];
		return true;
	case SET_CFA:
		row->cfa_register = first;
		row->cfa_offset = (int64_t)second;
		return true;
	case SET_CFA_REGISTER:
		row->cfa_register = first;
		return true;
	case SET_CFA_OFFSET:
		row->cfa_offset = (int64_t)second;
		return true;
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
	}
	return false;
}

/* Up to the row that holds at the address. False if something is not understood. */
static bool run(struct machine *machine, struct bytes bytes, uint64_t address)
{
	while (bytes.p < bytes.end && !bytes.bad && machine->at <= address) {
		unsigned opcode = (unsigned)fixed(&bytes, 1);
		const struct instruction *it =
			opcode >> 6 ? &with_operand[opcode >> 6] : &instructions[opcode];
		uint64_t first = read_operand(machine, &bytes, it->first, opcode);
		uint64_t second = read_operand(machine, &bytes, it->second, opcode);

		bytes.bad |= !run_one(machine, it->action, first, second);
	}
	return !bytes.bad;
}

/* --- entries -----------------------------------------------------------------------------------
 */

/* An entry's bytes behind its length; the 64-bit form is not written by anybody. */
static struct bytes entry_at(const uint8_t *p)
{
	uint32_t length;

	memcpy(&length, p, sizeof(length));
	if (length >= 0xfffffff0u || !length)
		return (struct bytes){ NULL, NULL, true };
	return (struct bytes){ p + 4, p + 4 + length, false };
}

/* False unless it says how its entries' addresses are written, and nothing unknown. */
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
			return false; /* 'S', a signal's frame, among them */
	}
	return known && !own.bad;
}

static bool read_cie(const uint8_t *p, struct cie *cie)
{
	struct bytes bytes = entry_at(p);
	uint64_t version;
	const char *text;

	if (bytes.bad || fixed(&bytes, 4))
		return false;
	version = fixed(&bytes, 1);
	text = (const char *)bytes.p;
	while (!bytes.bad && fixed(&bytes, 1))
		;
	cie->code_align = uleb(&bytes);
	cie->data_align = sleb(&bytes);
	if ((version == 1 ? fixed(&bytes, 1) : uleb(&bytes)) != RETURN ||
	    (version != 1 && version != 3) || *text != 'z' || !read_augmentation(&bytes, text + 1))
		return false;
	cie->program = bytes;
	return !bytes.bad;
}

static struct cfi_rule rule_of(const struct cfi_rules *row)
{
	struct cfi_rule rule = { row->cfa_register == RBP ? CFI_FRAME : CFI_STACK, 0, 0 };

	int64_t frame = row->where[FRAME];

	if (row->where[BACK] == GONE)
		return (struct cfi_rule){ CFI_END, 0, 0 };
	if ((row->cfa_register != RBP && row->cfa_register != RSP) || row->cfa_offset < 8 ||
	    row->cfa_offset >= OFFSET_MOST || row->cfa_offset % 8 || row->where[BACK] != -8 ||
	    row->where[STACK] != AS_IT_WAS)
		return other;
	rule.offset = (uint32_t)row->cfa_offset;
	if (frame == AS_IT_WAS)
		return rule;
	if (frame > -16 || frame <= -SAVED_MOST || frame % 8)
		return other;
	rule.saved = (uint32_t)-frame;
	return rule;
}

/* The table's entry for the address: the last that does not begin beyond it. */
static const uint8_t *entry_for(const uint8_t *header, uint64_t address)
{
	/* As every linker writes it: its version, how the places are written. */
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

/* By the table that lies at `header` (PT_GNU_EH_FRAME of the module that holds the address). */
static struct cfi_rule rule_at(const void *header, uint64_t address)
{
	const uint8_t *entry = entry_for(header, address);
	struct cie cie;
	struct machine machine = {
		.cie = &cie,
		.row.where = { [FRAME] = AS_IT_WAS, [STACK] = AS_IT_WAS, [BACK] = ELSEWHERE },
	};
	struct bytes bytes;
	uint64_t back, size;

	if (!entry)
		return other;
	bytes = entry_at(entry);
	back = fixed(&bytes, 4);
	if (bytes.bad || !back || !read_cie(entry + 4 - back, &cie))
		return other;
	machine.at = (uint64_t)(uintptr_t)bytes.p;
	machine.at += (uint64_t)(int64_t)(int32_t)fixed(&bytes, 4);
	size = fixed(&bytes, 4);
	skip(&bytes, uleb(&bytes));
	if (bytes.bad || address - machine.at >= size || !run(&machine, cie.program, address))
		return other;
	machine.first = machine.row;
	return run(&machine, bytes, address) ? rule_of(&machine.row) : other;
}

struct cfi_search {
	uint64_t address;
	struct cfi_rule rule;
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

struct cfi_rule cfi_find(uint64_t address)
{
	/* The call's: what follows may be another function. */
	struct cfi_search search = { address - 1, other };

	dl_iterate_phdr(look_at_module, &search);
	return search.rule;
}
