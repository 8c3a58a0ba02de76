/* A stack of ours for work that is done once. */
#include "base/guest/own_stack.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/guest/signals.h"

enum { STACKS = 16, GUARD = 64 << 10 }; /* a page, on every machine */

/* Kept once they are mapped: most processes need one. */
static struct {
	atomic_bool taken;
	char *stack;
} stacks[STACKS];

static _Thread_local bool inside;

/*
 * void own_stack_switch(void *argument, void (*work)(void *), void *top): the frame pointer leads
 * from one stack to the other, for the return and for unwinders.
 */
void own_stack_switch(void *argument, void (*work)(void *), void *top);

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".hidden own_stack_switch\n"
	".globl own_stack_switch\n"
	".type own_stack_switch, @function\n"
	"own_stack_switch:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	mov %rdx, %rsp\n"
	"	call *%rsi\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size own_stack_switch, .-own_stack_switch\n"
	".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	".hidden own_stack_switch\n"
	".globl own_stack_switch\n"
	".type own_stack_switch, %function\n"
	"own_stack_switch:\n"
	"	.cfi_startproc\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset x29, -16\n"
	"	.cfi_offset x30, -8\n"
	"	mov x29, sp\n"
	"	.cfi_def_cfa_register x29\n"
	"	mov sp, x2\n"
	"	blr x1\n"
	"	mov sp, x29\n"
	"	.cfi_def_cfa_register sp\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	.cfi_def_cfa_offset 0\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size own_stack_switch, .-own_stack_switch\n"
	".popsection\n");
#endif

/* Asked of the environment once: other threads of the host may change it later. */
bool own_stack_watched(void)
{
#ifdef __SANITIZE_THREAD__ /* make check-tsan: one thread's accesses are another's there */
	return true;
#endif
	enum { NOT_ASKED, NO, YES };
	static atomic_int answer;

	if (atomic_load_explicit(&answer, memory_order_relaxed) == NOT_ASKED) {
		const char *preloads = getenv("LD_PRELOAD");

		atomic_store(&answer, preloads && strstr(preloads, "/vgpreload_") ? YES : NO);
	}
	return atomic_load_explicit(&answer, memory_order_relaxed) == YES;
}

char *own_stack_map(void)
{
	char *stack = mmap(NULL, OWN_STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED)
		return NULL;
	mprotect(stack, GUARD, PROT_NONE);
	return stack;
}

static int take_stack(void)
{
	for (int i = 0; i < STACKS; i++) {
		if (atomic_exchange_explicit(&stacks[i].taken, true, memory_order_acquire))
			continue;
		if (!stacks[i].stack)
			stacks[i].stack = own_stack_map();
		if (stacks[i].stack)
			return i;
		atomic_store(&stacks[i].taken, false);
		break;
	}
	return -1;
}

void own_stack_call(void (*work)(void *), void *argument)
{
	struct signals_deferred deferred;
	int at;

	if (inside) {
		work(argument);
		return;
	}
	signals_defer(&deferred);
	inside = true;
	at = own_stack_watched() ? -1 : take_stack();
	if (at < 0) {
		work(argument);
	} else {
		own_stack_switch(argument, work, stacks[at].stack + OWN_STACK_BYTES);
		atomic_store_explicit(&stacks[at].taken, false, memory_order_release);
	}
	inside = false;
	signals_deliver(&deferred);
}

void own_stack_forked(void)
{
	for (int i = 0; i < STACKS; i++) {
		if (atomic_load(&stacks[i].taken)) /* who only reads keeps the parent's page */
			atomic_store(&stacks[i].taken, false);
	}
}
