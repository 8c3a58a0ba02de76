/* Reads CPython's code objects, strings and line tables, after a check of their types. */
#include "capture/python/python_parts.h"

#include "base/guest/safe_read.h"
#include "base/text/utf8.h"

enum { TRIED_FRAMES = 32, TRIED_STEPS = 64, LENGTH_AT_MOST = 1 << 24, REPLACEMENT = 0xfffd };

static uint32_t character(const void *text, unsigned width, uint64_t index)
{
	uint32_t c = width == 1   ? ((const uint8_t *)text)[index]
		     : width == 2 ? ((const uint16_t *)text)[index]
				  : ((const uint32_t *)text)[index];

	return c ? c : REPLACEMENT;
}

bool python_text(const void *text, char *to, size_t size)
{
	const struct python_layout *at = &python_process.layout;
	uint32_t state = (uint32_t)python_int(text, at->text_state) >> at->text_shift;
	uint64_t length = python_word(text, at->text_length);
	unsigned width = state & 7;
	bool compact = state & 8;
	bool ascii = state & 16;
	const void *data = (const char *)text + (ascii ? at->text_ascii : at->text_compact);
	size_t used = 0;

	to[0] = '\0';
	if (length >= LENGTH_AT_MOST || (width != 1 && width != 2 && width != 4))
		return false;
	if (!compact) /* a subclass of str: its characters are not inside the object */
		data = python_pointer(text, at->text_compact);
	for (uint64_t i = 0; data && i < length; i++) {
		size_t more = utf8_encode(to + used, size - 1 - used, character(data, width, i));

		if (!more)
			break;
		used += more;
	}
	to[used] = '\0';
	return data != NULL;
}

/* A series of reads. If `careful` (the layout is unverified), reads fail instead of faulting. */
struct trial {
	bool careful;
	bool failed;
	bool barred; /* the kernel forbids peek(), by which careful reads are made */
};

static void look(struct trial *trial, void *to, const void *base, int32_t offset, size_t size)
{
	const char *from = (const char *)base + offset;
	char byte;

	memset(to, 0, size);
	trial->failed |= !base;
	if (trial->failed)
		return;
	if (!trial->careful) {
		memcpy(to, from, size);
	} else if (!peek(to, from, size)) {
		trial->failed = true;
		trial->barred = !peek(&byte, trial, sizeof(byte));
	}
}

static const void *follow(struct trial *trial, const void *base, int32_t offset)
{
	const void *value;

	look(trial, &value, base, offset, sizeof(value));
	return value;
}

/* Fails the trial unless the pointer at base + offset is to an object of str or bytes (by `flag`)
 * or of a subclass, which is allowed because compile() stores such a file name unchanged. */
static void expect_kind(struct trial *trial, const void *base, int32_t offset, uint64_t flag)
{
	const struct python_layout *at = &python_process.layout;
	const void *type = follow(trial, follow(trial, base, offset), at->object_type);
	uint64_t flags;

	look(trial, &flags, type, at->object_type + PYTHON_TYPE_FLAGS, sizeof(flags));
	trial->failed |= (flags & (PYTHON_IS_TEXT | PYTHON_IS_BYTES)) != flag;
}

static void try_code(struct trial *trial, const void *code)
{
	const struct python_layout *at = &python_process.layout;

	trial->failed |= follow(trial, code, at->object_type) != python_process.code_type;
	expect_kind(trial, code, at->code_file, PYTHON_IS_TEXT);
	expect_kind(trial, code, at->code_name, PYTHON_IS_TEXT);
	if (at->code_qualname != PYTHON_NONE)
		expect_kind(trial, code, at->code_qualname, PYTHON_IS_TEXT);
	expect_kind(trial, code, at->code_table, PYTHON_IS_BYTES);
}

bool python_is_code(const void *code)
{
	struct trial trial = { .careful = false };

	try_code(&trial, code);
	return !trial.failed;
}

enum python_verdict python_try(const void *thread)
{
	const struct python_layout *at = &python_process.layout;
	struct trial trial = { .careful = true };
	unsigned frames = 0;
	const void *frame = follow(&trial, thread, at->thread_frame);

	if (at->thread_cframe != PYTHON_NONE && frame)
		frame = follow(&trial, frame, at->thread_cframe);
	for (unsigned step = 0; frame && frames < TRIED_FRAMES && step < TRIED_STEPS; step++) {
		uint8_t owner = 0;

		if (at->frame_owner != PYTHON_NONE)
			look(&trial, &owner, frame, at->frame_owner, sizeof(owner));
		if (!python_owned_by_interpreter(owner)) {
			try_code(&trial, python_untagged(follow(&trial, frame, at->frame_code)));
			frames++;
		}
		frame = follow(&trial, frame, at->frame_previous);
	}
	if (trial.barred)
		return python_process.guessed ? PYTHON_WRONG : PYTHON_RIGHT;
	if (trial.failed)
		return PYTHON_WRONG;
	return frames ? PYTHON_RIGHT : PYTHON_EMPTY;
}

/*
 * --- the line of an instruction, from the three kinds of line table in CPython 3.8 to 3.15 ---
 *
 * Each kind of table must be read from its first entry on. Only the length ends a table: a zero
 * byte is data. An entry covers the instructions before its end, not the instruction at its end.
 */

struct table {
	const uint8_t *at, *end;
};

/* The next byte. Zero after the end of a damaged table, so that the loops that call it end. */
static unsigned take(struct table *table)
{
	return table->at < table->end ? *table->at++ : 0;
}

/* Reads a number, six bits per byte, lowest bits first; bit 6 is set if another byte follows. */
static uint32_t take_number(struct table *table)
{
	uint32_t value = 0;
	unsigned shift = 0;
	unsigned byte;

	do {
		byte = take(table);
		if (shift < 32)
			value |= (uint32_t)(byte & 63) << shift;
		shift += 6;
	} while (byte & 64);
	return value;
}

static int32_t take_signed(struct table *table)
{
	uint32_t value = take_number(table);

	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

/* Reads pairs: a number of code bytes, a number of lines to add. In co_lnotab the lines are added
 * for the code after these bytes; in 3.10's table (`deltas`) for these bytes themselves, where -128
 * means that they have no line. */
static int32_t pairs_line(struct table table, int32_t line, int64_t position, bool deltas)
{
	int64_t end = 0;

	while (table.end - table.at >= 2) {
		bool behind;
		int8_t delta;

		end += take(&table);
		delta = (int8_t)take(&table);
		behind = end > position;
		if (behind && !deltas)
			break;
		if (delta != -128 || !deltas)
			line += delta;
		if (behind)
			return delta == -128 ? 0 : line;
	}
	return line;
}

/*
 * Reads co_linetable of CPython 3.11 on. An entry begins with a byte of the bits 1 c c c c n n n
 * and covers n + 1 code units of two bytes. The byte is followed, according to its code c, by:
 *
 *   c  0..9   one byte of columns            13  a signed line delta
 *     10..12  two bytes of columns; the      14  a signed line delta, three other numbers
 *             line delta is 0..2             15  nothing: no location
 */
static int32_t locations_line(struct table table, int32_t line, int64_t position)
{
	int64_t end = 0;

	while (table.at < table.end) {
		unsigned byte = take(&table);
		unsigned code = byte >> 3 & 15;

		end += 2 * ((int64_t)(byte & 7) + 1);
		if (code == 13 || code == 14)
			line += take_signed(&table);
		if (code == 14) {
			take_number(&table);
			take_number(&table);
			take_number(&table);
		} else if (code >= 10 && code <= 12) {
			line += (int32_t)code - 10;
			take(&table);
			take(&table);
		} else if (code < 10) {
			take(&table);
		}
		if (end > position)
			return code == 15 ? 0 : line;
	}
	return line;
}

int32_t python_line(const void *code, int32_t position)
{
	const struct python_layout *at = &python_process.layout;
	const void *object = python_pointer(code, at->code_table);
	const uint8_t *data = (const uint8_t *)object + at->bytes_data;
	struct table table = { data, data + python_word(object, at->bytes_size) };
	int32_t line = python_int(code, at->code_first_line);

	if (position < 0)
		return line;
	if (at->table == PYTHON_LOCATIONS)
		line = locations_line(table, line, position);
	else
		line = pairs_line(table, line, position, at->table == PYTHON_DELTAS);
	return line > 0 ? line : 0;
}
