/* For stacks of a backward pass: finds the node of autograd's graph that runs in a stack, and the
 * Python code that the node comes from. */
#include "facts/spool_model.h"

#include <string.h>

#include "base/text/text.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Finds word n (0: the first) of a mangled C++ name, such as "mm" in at::_ops::mm for n = 2. Sets
 * *text to it and returns its length, 0 if there is no such word. The syntax is <nested-name> of
 * the Itanium C++ ABI: _ZN, cv-qualifiers, then each word preceded by its length.
 */
static size_t find_word(const char *symbol, unsigned n, const char **text)
{
	size_t length;

	if (strncmp(symbol, "_ZN", 3) != 0)
		return 0;
	symbol += 3 + strspn(symbol + 3, "KVr");
	for (; is_digit(*symbol); symbol += length) {
		for (length = 0; is_digit(*symbol) && length < 4096; symbol++)
			length = length * 10 + (size_t)(*symbol - '0');
		if (length > strlen(symbol))
			return 0;
		*text = symbol;
		if (!n--)
			return length;
	}
	return 0;
}

static bool is_word(const char *symbol, unsigned n, const char *wanted)
{
	const char *text = "";
	size_t length = find_word(symbol, n, &text);

	return length == strlen(wanted) && !memcmp(wanted, text, length);
}

static const char *symbol_at(const struct spool_model *recording, const struct spool_stack *stack,
			     uint32_t i)
{
	uint32_t frame = spool_model_step(recording, stack, i);
	const char *symbol = frame < recording->frames ? recording->names[frame].symbol : NULL;

	return symbol ? symbol : "";
}

/* Copies the node's name from a symbol like torch::autograd::generated::MmBackward0::apply or
 * torch::autograd::AccumulateGrad::apply. False for other symbols. */
static bool node_of(const char *symbol, char *node, size_t size)
{
	unsigned at = is_word(symbol, 2, "generated") ? 3 : 2;
	const char *text = "";
	size_t length;

	if (!is_word(symbol, 0, "torch") || !is_word(symbol, 1, "autograd") ||
	    !is_word(symbol, at + 1, "apply"))
		return false;
	length = find_word(symbol, at, &text);
	text_copy_n(node, size, text, length);
	return true;
}

/* Copies the letters and digits in lower case, so that "_softmax" and "Softmax" become equal. */
static void plain(char *to, size_t size, const char *from, size_t length)
{
	size_t used = 0;

	for (size_t i = 0; i < length && used + 1 < size; i++) {
		char c = from[i];

		if (c >= 'A' && c <= 'Z')
			to[used++] = (char)(c | 0x20);
		else if ((c >= 'a' && c <= 'z') || is_digit(c))
			to[used++] = c;
	}
	to[used] = '\0';
}

/* Writes the name of the operator whose derivative the node computes: "mm" for "MmBackward0". */
static bool operator_of(const char *node, char *to, size_t size)
{
	const char *end = NULL;

	for (const char *at = node; (at = strstr(at, "Backward")) != NULL; at++)
		end = at;
	if (!end || end == node)
		return false;
	plain(to, size, node, (size_t)(end - node));
	return true;
}

/* True if the symbol calls the operator `wanted`: at::_ops::mm::call for "mm". The name of an
 * overload begins with the operator's: mul_Tensor, sum_dim_IntList. */
static bool is_operator(const char *symbol, const char *wanted)
{
	const char *text = "";
	size_t length = find_word(symbol, 2, &text);
	char name[96];

	if (!is_word(symbol, 0, "at") || !is_word(symbol, 1, "_ops"))
		return false;
	for (size_t i = 1; i <= length; i++) {
		if (i < length && text[i] != '_')
			continue;
		plain(name, sizeof(name), text, i);
		if (!strcmp(name, wanted))
			return true;
	}
	return false;
}

static bool fits_node(const struct spool_model *recording, uint32_t forward, const char *node)
{
	const struct spool_stack *stack = spool_model_stack(recording, forward);
	uint32_t depth = stack ? spool_model_depth(recording, stack) : 0;
	char wanted[96];

	if (!depth || !operator_of(node, wanted, sizeof(wanted)))
		return false;
	for (uint32_t i = 0; i < stack->native && i < depth; i++) {
		if (is_operator(symbol_at(recording, stack, i), wanted))
			return true;
	}
	return false;
}

void backward_read(const struct spool_model *recording, const struct spool_stack *stack,
		   struct backward *backward)
{
	uint32_t depth = spool_model_depth(recording, stack);

	backward->node[0] = '\0';
	backward->via = BACKWARD_NOT;
	backward->stack = 0;
	if (!stack->via_forward && !stack->via_backward)
		return;
	for (uint32_t i = 0; i < depth; i++) {
		if (node_of(symbol_at(recording, stack, i), backward->node, sizeof(backward->node)))
			break;
	}
	if (stack->via_forward < recording->stacks && stack->via_forward &&
	    fits_node(recording, stack->via_forward, backward->node)) {
		backward->via = BACKWARD_FORWARD;
		backward->stack = stack->via_forward;
	} else if (stack->via_backward && stack->via_backward < recording->stacks) {
		backward->via = BACKWARD_CALL;
		backward->stack = stack->via_backward;
	}
}
