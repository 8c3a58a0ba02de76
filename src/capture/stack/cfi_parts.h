/*
 * What the readers of call frame information share: cfi.c (where it lies) and cfi_program.c (what
 * its instructions do). For them alone.
 */
#ifndef CAPTURE_STACK_CFI_PARTS_H
#define CAPTURE_STACK_CFI_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "codec/varint.h"

/* DWARF's numbers of registers on x86-64 (System V ABI, figure 3.36) */
enum { CFI_RBP = 6, CFI_RSP = 7, CFI_RETURN = 16 };

/* Bytes not read yet; `bad` once there were too few, or what nobody here understands. */
struct cfi_bytes {
	const uint8_t *p, *end;
	bool bad;
};

enum cfi_where { CFI_AS_IT_WAS, CFI_AT_OFFSET, CFI_GONE, CFI_ELSEWHERE };

struct cfi_row {
	uint64_t cfa_register;
	int64_t cfa_offset;
	bool cfa_known;
	struct {
		enum cfi_where where;
		int64_t offset;
	} frame, back; /* CFI_RBP and the return address */
};

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;
	bool augmented;
	struct cfi_bytes program;
};

static inline uint64_t cfi_fixed(struct cfi_bytes *bytes, unsigned size)
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

static inline uint64_t cfi_uleb(struct cfi_bytes *bytes)
{
	uint64_t value = 0;

	if (!varint_get(&bytes->p, bytes->end, &value))
		bytes->bad = true;
	return value;
}

static inline int64_t cfi_sleb(struct cfi_bytes *bytes)
{
	uint64_t value = 0;
	uint64_t byte = 0x80;
	unsigned shift = 0;

	while (byte & 0x80 && !bytes->bad) {
		byte = cfi_fixed(bytes, 1);
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

static inline void cfi_skip(struct cfi_bytes *bytes, uint64_t size)
{
	if ((uint64_t)(bytes->end - bytes->p) < size)
		bytes->bad = true;
	else
		bytes->p += size;
}

/*
 * Runs the program of the common entry and that of the function's own, which begins at `begin`, up
 * to the row that holds at the address. False if something is not understood.
 */
bool cfi_run(const struct cfi_cie *cie, struct cfi_bytes program, uint64_t begin, uint64_t address,
	     struct cfi_row *row);

#endif
