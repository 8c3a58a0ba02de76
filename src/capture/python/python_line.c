/*
 * From an instruction to its line: the three line tables that CPython has had since 3.8.
 *
 * All three run from the first instruction on, and none can be entered in the middle. The length
 * ends them: a zero byte is data. An entry covers the instructions up to its end, which it does not
 * hold.
 */
#include "capture/python/python_line.h"

struct table {
	const uint8_t *at;
	const uint8_t *end;
};

/* Past the end of a damaged table there are only zeroes, so that every loop below comes to its end.
 */
static unsigned take(struct table *table)
{
	return table->at < table->end ? *table->at++ : 0;
}

/* Six bits a byte, lowest first; bit 6 says that more follow. */
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

/* The sign is the lowest bit. */
static int32_t take_signed(struct table *table)
{
	uint32_t value = take_number(table);

	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

/* Pairs: so many bytes of code on, so many lines on. */
static int32_t lnotab_line(struct table table, int32_t line, int64_t position)
{
	int64_t address = 0;

	while (table.end - table.at >= 2) {
		address += take(&table);
		if (address > position)
			break;
		line += (int8_t)take(&table);
	}
	return line;
}

/* Pairs: so many bytes of code are so many lines on, or have no line (-128). */
static int32_t deltas_line(struct table table, int32_t line, int64_t position)
{
	int64_t end = 0;

	while (table.end - table.at >= 2) {
		int delta;

		end += take(&table);
		delta = (int)take(&table);
		if (delta > INT8_MAX)
			delta -= 1 << 8;
		if (delta != -128)
			line += delta;
		if (end > position)
			return delta == -128 ? 0 : line;
	}
	return line;
}

/*
 * One entry:  1 c c c c n n n  then what code c asks for; it covers n + 1 code units of two bytes.
 *
 *   c  0..9   one byte of columns            13  a signed line delta
 *     10..12  line delta 0..2, two bytes     14  a signed line delta, three numbers of columns
 *                                            15  no location
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

int32_t python_line(enum python_table kind, const uint8_t *table, size_t size, int32_t first_line,
		    int32_t position)
{
	struct table at = { table, table + size };
	int32_t line;

	if (position < 0)
		return first_line;
	if (kind == PYTHON_LNOTAB)
		line = lnotab_line(at, first_line, position);
	else if (kind == PYTHON_DELTAS)
		line = deltas_line(at, first_line, position);
	else
		line = locations_line(at, first_line, position);
	return line > 0 ? line : 0;
}
