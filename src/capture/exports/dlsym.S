/*
 * The exported dlsym: calls interpose_dlsym(), and jumps to the real dlsym if that returns NULL. If
 * it returns -1 (ANSWER_NULL), the answer is NULL.
 *
 * It must jump: glibc resolves RTLD_NEXT from the return address. If dlsym were called from here,
 * another preloaded library that looks up the next definition of its own function would get itself,
 * and recurse for ever. Compilers turn a tail call in C into a jump only at -O2, if at all.
 */
	.text
	.globl	dlsym
	.type	dlsym, @function
	.p2align 4
dlsym:
	.cfi_startproc
#if defined(__x86_64__)
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movq	24(%rsp), %rdx		/* third argument: the return address */
	call	interpose_dlsym
	testq	%rax, %rax
	jnz	1f
	call	interpose_real_dlsym
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
1:
	.cfi_adjust_cfa_offset 24
	addq	$24, %rsp
	.cfi_adjust_cfa_offset -24
	cmpq	$-1, %rax
	jne	2f
	xorl	%eax, %eax
2:
	ret
#elif defined(__aarch64__)
	bti	c
	stp	x29, x30, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	mov	x2, x30			/* third argument: the return address */
	bl	interpose_dlsym
	cbnz	x0, 1f
	bl	interpose_real_dlsym
	mov	x16, x0
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_remember_state
	.cfi_restore x29
	.cfi_restore x30
	.cfi_adjust_cfa_offset -32
	br	x16
1:
	.cfi_restore_state
	ldp	x29, x30, [sp], #32
	.cfi_restore x29
	.cfi_restore x30
	.cfi_adjust_cfa_offset -32
	cmn	x0, #1
	csel	x0, xzr, x0, eq
	ret
#else
#error "dlsym.S: dlsym is not written for this processor yet"
#endif
	.cfi_endproc
	.size	dlsym, .-dlsym
	.section .note.GNU-stack, "", @progbits
