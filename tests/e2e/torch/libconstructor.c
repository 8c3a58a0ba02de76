/*
 * A library whose constructor waits for PyTorch's allocator, and which calls for blocks; for
 * constructor.c, where the allocator's lock is.
 */
#include <stdint.h>

void constructor_waits(void);
void call_block(void (*block)(int64_t), int64_t size);

__attribute__((constructor)) static void begin(void)
{
	constructor_waits();
}

void call_block(void (*block)(int64_t), int64_t size)
{
	block(size);
	__asm__(""); /* so that this frame stays on the stack */
}
