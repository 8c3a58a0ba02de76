/*
 * A stack of one of autograd's threads, which run no Python: which node of the graph it is in, and
 * which line of Python that comes from.
 *
 * Also used at the end of the traced program.
 */
#ifndef FACTS_BACKWARD_H
#define FACTS_BACKWARD_H

#include "facts/spool_model.h"

enum backward_via {
	BACKWARD_NOT,     /* no backward pass, or nobody knows whose */
	BACKWARD_FORWARD, /* the stack of the operator that the node is the derivative of */
	BACKWARD_CALL,    /* the stack that called backward() */
};

struct backward {
	char node[96]; /* "MmBackward0", "" when unknown */
	enum backward_via via;
	uint32_t stack; /* of `via` */
};

/*
 * The forward stack is believed only when an operator in it has the node's name (mm for
 * MmBackward0): capture takes whoever allocated first under the node's number, see
 * capture/stack/autograd.c.
 */
void backward_read(const struct spool_model *recording, const struct spool_stack *stack,
		   struct backward *backward);

#endif
