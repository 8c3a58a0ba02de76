/*
 * Where a block that PyTorch makes in a backward pass comes from: autograd's threads run no Python.
 *
 * Two answers, both kept, neither ever passed off as the thread's own frames. The line that called
 * backward(): libtorch_python.so calls torch::autograd::Engine::execute through the PLT, so our
 * definition of that name sees each backward pass begin and end on the thread that asked for it.
 * And the forward line: a node of the graph has a number, which at::sequence_number::peek() of the
 * forward thread is just above while the node's operator allocates.
 *
 * The latter is a guess where an operator allocates nothing (a view): whoever allocates next on
 * that thread is taken for it. So a reader believes it only when the operator's name fits the
 * node's.
 */
#ifndef CAPTURE_STACK_AUTOGRAD_H
#define CAPTURE_STACK_AUTOGRAD_H

#include <stdint.h>

/* Stacks, 0 for none. */
struct autograd_via {
	uint32_t forward;  /* of the operator whose node runs on this thread, as far as is known */
	uint32_t backward; /* of who called backward() */
};

/* Looks for what PyTorch offers; like torch_prepare(), never inside PyTorch's report. */
void autograd_prepare(void);

/* This thread allocates with this stack, which has Python frames. */
void autograd_forward(uint32_t stack);

/* For a thread without Python frames. */
struct autograd_via autograd_via(void);

/* The recording is another: stacks of the last one mean nothing. */
void autograd_clear(void);

#endif
