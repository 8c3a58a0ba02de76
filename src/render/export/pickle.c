#include "render/export/pickle.h"

#include <string.h>

#include "analyse/input/grow.h"
#include "base/mem/hash.h"
#include "base/text/utf8.h"

enum {
	PROTO = 0x80,
	STOP = '.',
	MARK = '(',
	EMPTY_DICT = '}',
	SETITEMS = 'u',
	EMPTY_LIST = ']',
	APPENDS = 'e',
	BININT = 'J',
	BININT1 = 'K',
	BININT2 = 'M',
	LONG1 = 0x8a,
	NEWTRUE = 0x88,
	NEWFALSE = 0x89,
	TUPLE2 = 0x86,
	SHORT_BINUNICODE = 0x8c,
	BINUNICODE = 'X',
	MEMOIZE = 0x94,
	BINGET = 'h',
	LONG_BINGET = 'j',

	/* Maximum number of items appended at once: the viewer passes them all to one call. */
	BATCH = 1000,
};

static void put_opcode(struct pickle *pickle, int opcode)
{
	out_char(pickle->out, (char)opcode);
}

static void put_number(struct pickle *pickle, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		put_opcode(pickle, (int)(value >> (8 * i) & 0xff));
}

void pickle_start(struct pickle *pickle, struct out *out)
{
	*pickle = (struct pickle){ .out = out };
	put_opcode(pickle, PROTO);
	put_opcode(pickle, 4);
}

void pickle_end(struct pickle *pickle)
{
	put_opcode(pickle, STOP);
	map_clear(&pickle->texts);
}

void pickle_dict(struct pickle *pickle)
{
	put_opcode(pickle, EMPTY_DICT);
	put_opcode(pickle, MARK);
}

void pickle_dict_end(struct pickle *pickle)
{
	put_opcode(pickle, SETITEMS);
}

void pickle_list(struct pickle *pickle)
{
	put_opcode(pickle, EMPTY_LIST);
	pickle->items[pickle->depth++] = 0;
}

void pickle_item(struct pickle *pickle)
{
	size_t number = pickle->items[pickle->depth - 1]++;

	if (number && number % BATCH == 0)
		put_opcode(pickle, APPENDS);
	if (number % BATCH == 0)
		put_opcode(pickle, MARK);
}

void pickle_list_end(struct pickle *pickle)
{
	if (pickle->items[--pickle->depth])
		put_opcode(pickle, APPENDS);
}

void pickle_u64(struct pickle *pickle, uint64_t value)
{
	unsigned bytes = 1;

	if (value <= UINT8_MAX) {
		put_opcode(pickle, BININT1);
		put_number(pickle, value, 1);
	} else if (value <= UINT16_MAX) {
		put_opcode(pickle, BININT2);
		put_number(pickle, value, 2);
	} else if (value <= INT32_MAX) {
		put_opcode(pickle, BININT);
		put_number(pickle, value, 4);
	} else {
		/* LONG1 is signed: with its highest bit set, the number would be negative. */
		while (bytes < 9 && value >> (8 * bytes - 1))
			bytes++;
		put_opcode(pickle, LONG1);
		put_opcode(pickle, (int)bytes);
		put_number(pickle, value, bytes < 8 ? bytes : 8);
		if (bytes == 9)
			put_opcode(pickle, 0);
	}
}

void pickle_bool(struct pickle *pickle, bool value)
{
	put_opcode(pickle, value ? NEWTRUE : NEWFALSE);
}

uint32_t pickle_remember(struct pickle *pickle)
{
	put_opcode(pickle, MEMOIZE);
	return pickle->memo++;
}

void pickle_again(struct pickle *pickle, uint32_t number)
{
	put_opcode(pickle, number <= UINT8_MAX ? BINGET : LONG_BINGET);
	put_number(pickle, number, number <= UINT8_MAX ? 1 : 4);
}

/* Replaces invalid UTF-8 by U+FFFD. Returns the new length; writes the text unless `to` is NULL. */
static size_t clean(const char *text, struct out *to)
{
	static const char replacement[] = "\357\277\275"; /* U+FFFD in UTF-8 */
	size_t size = 0;

	while (*text) {
		uint32_t c;
		size_t length = utf8_decode(text, 4, &c);
		const char *bytes = length ? text : replacement;
		size_t count = length ? length : sizeof(replacement) - 1;

		if (to)
			out_bytes(to, bytes, count);
		size += count;
		text += length ? length : 1;
	}
	return size;
}

void pickle_text(struct pickle *pickle, const char *text)
{
	uint64_t key = hash_bytes(text, strlen(text));
	uint32_t known = map_get(&pickle->texts, key);
	size_t length;

	if (known) {
		pickle_again(pickle, known - 1);
		return;
	}
	length = clean(text, NULL);
	put_opcode(pickle, length <= UINT8_MAX ? SHORT_BINUNICODE : BINUNICODE);
	put_number(pickle, length, length <= UINT8_MAX ? 1 : 4);
	clean(text, pickle->out);
	NEED(map_put(&pickle->texts, key, pickle_remember(pickle) + 1));
}

void pickle_pair_of_zeros(struct pickle *pickle)
{
	pickle_u64(pickle, 0);
	pickle_u64(pickle, 0);
	put_opcode(pickle, TUPLE2);
}
