/*
 * What a function's call frame information says of one address: where its caller goes on.
 *
 * DWARF 5, section 6.4, as the Linux Standard Base's .eh_frame and .eh_frame_hdr change it. Only
 * what compilers write for nearly all code is understood; of the rest is said that it is not.
 */
#ifndef CAPTURE_STACK_CFI_H
#define CAPTURE_STACK_CFI_H

#include <stdbool.h>
#include <stdint.h>

enum cfi_kind {
	CFI_STACK, /* the canonical frame address is the stack pointer and an offset */
	CFI_FRAME, /* it is the frame pointer and an offset */
	CFI_END,   /* nobody called: a program's or a thread's first function */
	CFI_OTHER, /* not to be told by two registers: ask somebody else */
};

/* x86-64. The return address is the word below the canonical frame address in all of them. */
struct cfi_rule {
	enum cfi_kind kind;
	uint32_t offset; /* bytes */
	uint32_t saved;  /* the frame pointer's old value is so many bytes below; 0: it is as it was
			  */
};

/*
 * The rule at a return address, CFI_OTHER also if no table has an entry for it. The loader's lock
 * is taken.
 */
struct cfi_rule cfi_find(uint64_t address);

#endif
