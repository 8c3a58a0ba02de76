/* Reads, prints and sums the fields of rows, which struct emit_column describes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/trace/trace.h"
#include "base/text/text.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"
#include "render/values/values.h"

enum { ROWS_FIRST = 8 };

void emit_add(struct arena *arena, struct emit_rows *rows, const void *row)
{
	size_t count = rows->count;

	/* A list has memory for ROWS_FIRST rows, then for twice as many each time it is full. */
	if (!count || (count >= ROWS_FIRST && !(count & (count - 1)))) {
		size_t room = count ? 2 * count : ROWS_FIRST;
		void *list = need(arena, room * rows->size);

		if (count)
			memcpy(list, rows->rows, count * rows->size);
		rows->rows = list;
	}
	memcpy((char *)rows->rows + count * rows->size, row, rows->size);
	rows->count++;
}

size_t emit_limit(size_t count, size_t limit)
{
	return !limit || count <= limit + 1 ? count : limit;
}

void emit_sort(const struct emit_rows *rows, const struct sort_key *keys)
{
	sort_rows((void *)rows->rows, rows->count, rows->size, keys);
}

static uint64_t number_at(const void *field)
{
	return *(const uint64_t *)field;
}

/* NOLINTNEXTLINE(misc-no-recursion): tables of columns are nested only a few levels deep */
bool emit_is_null(const struct emit_column *column, const void *row)
{
	const void *field = (const char *)row + column->at;

	switch ((enum emit_kind)column->kind) {
	case EMIT_BYTES:
	case EMIT_COUNT:
	case EMIT_TIME:
	case EMIT_NUMBER:
		return number_at(field) == TRACE_NONE;
	case EMIT_CHANGE:
	case EMIT_AMOUNT:
	case EMIT_DELTA:
		return *(const int64_t *)field == INT64_MIN;
	case EMIT_MICROS:
		return (column->flags & EMIT_OPTIONAL) && number_at(field) == TRACE_NONE;
	case EMIT_DEVICE:
		return *(const int *)field < 0;
	case EMIT_POSITION:
		return *(const uint32_t *)field == UINT32_MAX;
	case EMIT_REAL:
	case EMIT_RATE:
	case EMIT_RATIO:
		return isnan(*(const double *)field);
	case EMIT_TEXT:
	case EMIT_CODE:
	case EMIT_POINTED:
		return !*(const char *const *)field;
	case EMIT_KNOWN:
		return emit_is_null(column->of, field);
	case EMIT_ITEMS:
		return (column->flags & EMIT_OPTIONAL) &&
		       !*(const size_t *)((const char *)row + column->count_at);
	case EMIT_ROWS:
		return !((const struct emit_rows *)field)->size;
	default:
		return false;
	}
}

static const char *show_format(char *to, const char *format, double value)
{
	snprintf(to, EMIT_CELL_MOST, format, value);
	return to;
}

const char *emit_cell(char *to, const struct emit_column *column, const void *row)
{
	const void *field = (const char *)row + column->at;
	const struct emit_part *part = field;

	if (column->show)
		return column->show(to, row);
	if (emit_is_null(column, row))
		return column->kind == EMIT_TEXT || column->kind == EMIT_CODE ? "?" : "-";
	switch ((enum emit_kind)column->kind) {
	case EMIT_BYTES:
		return show_bytes(to, number_at(field));
	case EMIT_COUNT:
		return show_count(to, number_at(field));
	case EMIT_TIME:
		return show_time(to, number_at(field));
	case EMIT_NUMBER:
		to[text_u64(to, number_at(field))] = '\0';
		return to;
	case EMIT_CHANGE:
	case EMIT_AMOUNT:
	case EMIT_DELTA:
		return show_amount(to, *(const int64_t *)field, column->kind != EMIT_DELTA,
				   column->kind != EMIT_AMOUNT);
	case EMIT_INTEGER:
	case EMIT_DEVICE:
		snprintf(to, EMIT_CELL_MOST, "%d", *(const int *)field);
		return to;
	case EMIT_POSITION:
		snprintf(to, EMIT_CELL_MOST, "%u", *(const uint32_t *)field);
		return to;
	case EMIT_MICROS:
		snprintf(to, EMIT_CELL_MOST, "%llu.%03u",
			 (unsigned long long)number_at(field) / 1000,
			 (unsigned)(number_at(field) % 1000));
		return to;
	case EMIT_REAL:
		return show_format(to, "%.6g", *(const double *)field);
	case EMIT_RATE:
		return show_format(to, "%.3f", *(const double *)field);
	case EMIT_RATIO:
		return show_format(to, "%.6f", *(const double *)field);
	case EMIT_TRUTH:
		return *(const bool *)field ? "yes" : "no";
	case EMIT_ADDRESS:
		text_hex(to, number_at(field));
		return to;
	case EMIT_TEXT:
	case EMIT_CODE:
		return *(const char *const *)field;
	case EMIT_SHARE:
		return show_share(to, part->bytes, part->of);
	default:
		return "";
	}
}

static bool any_row_has(const struct emit_column *column, const struct emit_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (!emit_is_null(column, (const char *)rows->rows + i * rows->size))
			return true;
	}
	return false;
}

uint64_t emit_shown_columns(const struct emit_column *columns, const struct emit_rows *rows)
{
	uint64_t shown = 0;

	for (unsigned i = 0; columns[i].kind; i++) {
		if (columns[i].heading &&
		    (!(columns[i].flags & EMIT_OPTIONAL) || any_row_has(&columns[i], rows)))
			shown |= 1ull << i;
	}
	return shown;
}

static bool is_summed(const struct emit_column *column)
{
	return column->kind >= EMIT_BYTES && column->kind <= EMIT_DELTA;
}

static bool is_first(const struct emit_column *columns, const struct emit_column *column)
{
	for (; columns < column; columns++) {
		if (is_summed(columns) && columns->at == column->at)
			return false;
	}
	return true;
}

void emit_sum(const struct emit_column *columns, const struct emit_rows *rows, size_t from,
	      void *sum)
{
	for (const struct emit_column *column = columns; column->kind; column++) {
		uint64_t *to = (uint64_t *)((char *)sum + column->at);

		if (!is_summed(column) || !is_first(columns, column))
			continue;
		for (size_t i = from; i < rows->count; i++)
			*to += number_at((const char *)rows->rows + i * rows->size + column->at);
	}
}
