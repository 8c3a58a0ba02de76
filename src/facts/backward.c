/* Which node of autograd's graph a stack is in, and which line of Python that comes from. */
#include "facts/spool_model.h"

#include <string.h>

#include "base/text/text.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A qualified name out of a mangled one: what stands between the ::, as far as it is plain words.
 */
struct symbol_words {
	struct {
		const char *text;
		size_t length;
	} list[8];
	size_t count;
};

/* <nested-name> of the Itanium C++ ABI: _ZN, cv-qualifiers, then each word behind its length. */
static void read_symbol(const char *symbol, struct symbol_words *words)
{
	const char *at = symbol + 3;
	const char *end;

	words->count = 0;
	if (strncmp(symbol, "_ZN", 3) != 0)
		return;
	end = symbol + strlen(symbol);
	while (*at == 'K' || *at == 'V' || *at == 'r')
		at++;
	while (words->count < 8 && is_digit(*at)) {
		size_t length = 0;

		while (is_digit(*at) && length < 4096)
			length = length * 10 + (size_t)(*at++ - '0');
		if (length > (size_t)(end - at))
			return;
		words->list[words->count].text = at;
		words->list[words->count++].length = length;
		at += length;
	}
}

static bool is_word(const struct symbol_words *words, size_t i, const char *wanted)
{
	return i < words->count && strlen(wanted) == words->list[i].length &&
	       !memcmp(wanted, words->list[i].text, words->list[i].length);
}

static bool words_at(const struct spool_model *recording, const struct spool_stack *stack,
		     uint32_t i, struct symbol_words *words)
{
	uint32_t frame = spool_model_step(recording, stack, i);
	const char *symbol = frame < recording->frames ? recording->names[frame].symbol : NULL;

	words->count = 0;
	if (symbol)
		read_symbol(symbol, words);
	return words->count > 0;
}

/* torch::autograd::generated::MmBackward0::apply, torch::autograd::AccumulateGrad::apply */
static bool node_of(const struct symbol_words *words, char *node, size_t size)
{
	size_t at = is_word(words, 2, "generated") ? 3 : 2;

	if (!is_word(words, 0, "torch") || !is_word(words, 1, "autograd") ||
	    !is_word(words, at + 1, "apply"))
		return false;
	text_copy_n(node, size, words->list[at].text, words->list[at].length);
	return true;
}

/* Letters and digits alone, small: "_softmax" and "Softmax" are one. */
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

/* What a node is the derivative of: "MmBackward0" is mm's. */
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

/* at::_ops::mm::call; an overload's name comes behind the operator's: mul_Tensor, sum_dim_IntList.
 */
static bool is_operator(const struct symbol_words *words, const char *wanted)
{
	const char *text;
	char name[96];

	if (!is_word(words, 0, "at") || !is_word(words, 1, "_ops") || words->count < 3)
		return false;
	text = words->list[2].text;
	for (size_t i = 1; i <= words->list[2].length; i++) {
		if (i < words->list[2].length && text[i] != '_')
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
	struct symbol_words words;
	char wanted[96];

	if (!depth || !operator_of(node, wanted, sizeof(wanted)))
		return false;
	for (uint32_t i = 0; i < stack->native && i < depth; i++) {
		if (words_at(recording, stack, i, &words) && is_operator(&words, wanted))
			return true;
	}
	return false;
}

void backward_read(const struct spool_model *recording, const struct spool_stack *stack,
		   struct backward *backward)
{
	uint32_t depth = spool_model_depth(recording, stack);
	struct symbol_words words;

	backward->node[0] = '\0';
	backward->via = BACKWARD_NOT;
	backward->stack = 0;
	if (!stack->via_forward && !stack->via_backward)
		return;
	for (uint32_t i = 0; i < depth; i++) {
		if (words_at(recording, stack, i, &words) &&
		    node_of(&words, backward->node, sizeof(backward->node)))
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
