/*
 * Call frame information: the programs of an entry, run up to the row for one address.
 *
 * Instructions: DWARF 5, section 6.4.2, and GNU_args_size of the Linux Standard Base 5.0, 10.5.
 */
#include "capture/stack/cfi_parts.h"

enum { STATES = 8 }; /* remembered at the same time */

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

static void put(struct cfi_row *row, uint64_t number, enum cfi_where where, int64_t offset)
{
	if (number == CFI_RBP) {
		row->frame.where = where;
		row->frame.offset = offset;
	} else if (number == CFI_RETURN) {
		row->back.where = where;
		row->back.offset = offset;
	} else if (number == CFI_RSP) {
		/* It is the canonical frame address in the caller; nobody writes otherwise. */
		row->cfa_known = row->cfa_known && where == CFI_AS_IT_WAS;
	}
}

static void restore(struct cfi_row *row, uint64_t number, const struct cfi_row *first)
{
	if (number == CFI_RBP)
		row->frame = first->frame;
	else if (number == CFI_RETURN)
		row->back = first->back;
}

struct machine {
	const struct cfi_cie *cie;
	struct cfi_row row, first, states[STATES];
	unsigned remembered;
	uint64_t at; /* where the row begins to hold */
};

static void set_cfa(struct machine *machine, uint64_t number, int64_t offset)
{
	machine->row.cfa_register = number;
	machine->row.cfa_offset = offset;
	machine->row.cfa_known = true;
}

static void change_state(struct machine *machine, struct cfi_bytes *bytes, bool remember)
{
	if (remember && machine->remembered < STATES)
		machine->states[machine->remembered++] = machine->row;
	else if (!remember && machine->remembered)
		machine->row = machine->states[--machine->remembered];
	else
		bytes->bad = true;
}

/* What moves the canonical frame address; false if it is none of these. */
static bool run_cfa(struct machine *machine, struct cfi_bytes *bytes, unsigned opcode)
{
	int64_t align = machine->cie->data_align;
	uint64_t number;

	switch (opcode) {
	case DEF_CFA:
		number = cfi_uleb(bytes);
		set_cfa(machine, number, (int64_t)cfi_uleb(bytes));
		return true;
	case DEF_CFA_SF:
		number = cfi_uleb(bytes);
		set_cfa(machine, number, cfi_sleb(bytes) * align);
		return true;
	case DEF_CFA_REGISTER:
		machine->row.cfa_register = cfi_uleb(bytes);
		return true;
	case DEF_CFA_OFFSET:
		machine->row.cfa_offset = (int64_t)cfi_uleb(bytes);
		return true;
	case DEF_CFA_OFFSET_SF:
		machine->row.cfa_offset = cfi_sleb(bytes) * align;
		return true;
	case DEF_CFA_EXPRESSION:
		cfi_skip(bytes, cfi_uleb(bytes));
		machine->row.cfa_known = false;
		return true;
	}
	return false;
}

/* What tells where a register is kept; false if it is none of these. */
static bool run_register(struct machine *machine, struct cfi_bytes *bytes, unsigned opcode)
{
	int64_t align = machine->cie->data_align;
	uint64_t number;

	if (opcode < OFFSET_EXTENDED || opcode > VAL_EXPRESSION || opcode == REMEMBER_STATE ||
	    opcode == RESTORE_STATE)
		return false;
	number = cfi_uleb(bytes);
	switch (opcode) {
	case OFFSET_EXTENDED:
		put(&machine->row, number, CFI_AT_OFFSET, (int64_t)cfi_uleb(bytes) * align);
		return true;
	case OFFSET_EXTENDED_SF:
		put(&machine->row, number, CFI_AT_OFFSET, cfi_sleb(bytes) * align);
		return true;
	case RESTORE_EXTENDED:
		restore(&machine->row, number, &machine->first);
		return true;
	case SAME_VALUE:
		put(&machine->row, number, CFI_AS_IT_WAS, 0);
		return true;
	case UNDEFINED:
		put(&machine->row, number, CFI_GONE, 0);
		return true;
	case EXPRESSION:
	case VAL_EXPRESSION:
		cfi_skip(bytes, cfi_uleb(bytes));
		break;
	case REGISTER:
	case VAL_OFFSET:
	case VAL_OFFSET_SF:
		cfi_uleb(bytes);
		break;
	}
	put(&machine->row, number, CFI_ELSEWHERE, 0);
	return true;
}

static void run_other(struct machine *machine, struct cfi_bytes *bytes, unsigned opcode)
{
	uint64_t align = machine->cie->code_align;

	switch (opcode) {
	case NOP:
		break;
	case ADVANCE_LOC1:
		machine->at += cfi_fixed(bytes, 1) * align;
		break;
	case ADVANCE_LOC2:
		machine->at += cfi_fixed(bytes, 2) * align;
		break;
	case ADVANCE_LOC4:
		machine->at += cfi_fixed(bytes, 4) * align;
		break;
	case REMEMBER_STATE:
	case RESTORE_STATE:
		change_state(machine, bytes, opcode == REMEMBER_STATE);
		break;
	case GNU_ARGS_SIZE:
		cfi_uleb(bytes);
		break;
	default:
		bytes->bad = true;
	}
}

/* Up to the row that holds at the address. False if something is not understood. */
static bool run(struct machine *machine, struct cfi_bytes bytes, uint64_t address)
{
	while (bytes.p < bytes.end && !bytes.bad) {
		struct cfi_row row = machine->row;
		unsigned byte = (unsigned)cfi_fixed(&bytes, 1);
		unsigned low = byte & 0x3f;

		if (byte >> 6 == ADVANCE_LOC)
			machine->at += low * machine->cie->code_align;
		else if (byte >> 6 == OFFSET)
			put(&machine->row, low, CFI_AT_OFFSET,
			    (int64_t)cfi_uleb(&bytes) * machine->cie->data_align);
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

bool cfi_run(const struct cfi_cie *cie, struct cfi_bytes program, uint64_t begin, uint64_t address,
	     struct cfi_row *row)
{
	struct machine machine = {
		.cie = cie,
		.row = { .frame = { CFI_AS_IT_WAS, 0 }, .back = { CFI_ELSEWHERE, 0 } },
		.at = begin,
	};

	if (!run(&machine, cie->program, address))
		return false;
	machine.first = machine.row;
	if (!run(&machine, program, address))
		return false;
	*row = machine.row;
	return true;
}
