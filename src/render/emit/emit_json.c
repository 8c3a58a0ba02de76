/* Writes rows as JSON. */
#include <string.h>

#include "base/text/out.h"
#include "render/emit/emit.h"

const struct emit_column emit_texts[] = { { .kind = EMIT_TEXT }, EMIT_END };
const struct emit_column emit_numbers[] = { { .kind = EMIT_NUMBER }, EMIT_END };
const struct emit_column emit_positions[] = { { .kind = EMIT_POSITION }, EMIT_END };

/* NOLINTBEGIN(misc-no-recursion): tables of columns are nested only a few levels deep */

static void write_rows(struct out *out, const struct emit_column *column,
		       const struct emit_rows *rows)
{
	out_char(out, '[');
	for (size_t i = 0; i < rows->count && i < rows->shown; i++) {
		out_text(out, i ? "," : "");
		out_text(out, column->between);
		emit_json(out, column->of, (const char *)rows->rows + i * rows->size);
	}
	out_char(out, ']');
}

static void write_named(struct out *out, const struct emit_column *column,
			const struct emit_rows *rows)
{
	const struct emit_named *named = rows->rows;
	const struct emit_column list = { .of = column->of, .between = "" };

	out_char(out, '{');
	for (size_t i = 0; i < rows->count; i++) {
		out_text(out, i ? "," : "");
		out_text(out, column->between);
		out_json(out, named[i].name);
		out_char(out, ':');
		write_rows(out, &list, &named[i].rows);
	}
	out_char(out, '}');
}

static void write_sums(struct out *out, const struct emit_column *column,
		       const struct emit_rows *rows)
{
	uint64_t sum[EMIT_LARGEST / sizeof(uint64_t)] = { 0 };

	emit_sum(column->of, rows, rows->shown, sum);
	if (column->kind == EMIT_OTHER)
		emit_json(out, column->of, sum);
	else
		out_u64(out, sum[column->of->at / sizeof(uint64_t)]);
}

static void write_value(struct out *out, const struct emit_column *column, const void *row)
{
	const void *field = (const char *)row + column->at;
	const struct emit_rows *rows = field;
	const struct emit_column plain = { .kind = column->kind <= EMIT_TIME ? EMIT_NUMBER
									     : column->kind };
	struct emit_rows items = { .shown = SIZE_MAX, .size = column->size };
	char text[EMIT_CELL_MOST];

	if (emit_is_null(column, row)) {
		out_text(out, "null");
		return;
	}
	switch ((enum emit_kind)column->kind) {
	case EMIT_CHANGE:
	case EMIT_AMOUNT:
	case EMIT_DELTA:
		out_i64(out, *(const int64_t *)field);
		break;
	case EMIT_TRUTH:
		out_text(out, *(const bool *)field ? "true" : "false");
		break;
	case EMIT_ADDRESS:
	case EMIT_TEXT:
	case EMIT_CODE:
		out_json(out, emit_cell(text, &plain, field));
		break;
	case EMIT_OBJECT:
	case EMIT_KNOWN:
		emit_json(out, column->of, field);
		break;
	case EMIT_POINTED:
		emit_json(out, column->of, *(const void *const *)field);
		break;
	case EMIT_ROWS:
		write_rows(out, column, rows);
		break;
	case EMIT_ITEMS:
		items.rows = *(const void *const *)field;
		items.count = *(const size_t *)((const char *)row + column->count_at);
		write_rows(out, column, &items);
		break;
	case EMIT_NAMED:
		write_named(out, column, rows);
		break;
	case EMIT_HIDDEN:
		out_u64(out, rows->count > rows->shown ? rows->count - rows->shown : 0);
		break;
	case EMIT_OTHER:
	case EMIT_REST:
		write_sums(out, column, rows);
		break;
	default:
		out_text(out, emit_cell(text, &plain, field));
		break;
	}
}

static void write_key(struct out *out, const char *key)
{
	size_t lead = strspn(key, "\n ");

	out_bytes(out, key, lead);
	out_json(out, key + lead);
	out_char(out, ':');
}

static void write_members(struct out *out, const struct emit_column *columns, const void *row,
			  bool first)
{
	for (const struct emit_column *column = columns; column->kind; column++) {
		bool pointed = column->kind == EMIT_POINTED && !column->key;
		const void *field = (const char *)row + column->at;

		if (pointed)
			field = *(const void *const *)field;
		if (column->kind == EMIT_INLINED || (pointed && field)) {
			write_members(out, column->of, field, first);
			first = false;
		}
		if (!column->key || ((column->flags & EMIT_OPTIONAL) && emit_is_null(column, row)))
			continue;
		if (!first)
			out_char(out, ',');
		first = false;
		write_key(out, column->key);
		write_value(out, column, row);
	}
}

void emit_begin(struct out *out, const struct emit_column *columns, const void *row)
{
	out_char(out, '{');
	write_members(out, columns, row, true);
}

/* If the first column has neither key nor heading, the row is a plain value, not an object. */
void emit_json(struct out *out, const struct emit_column *columns, const void *row)
{
	if (columns->kind && !columns->key && !columns->heading && columns->kind != EMIT_INLINED) {
		write_value(out, columns, row);
		return;
	}
	emit_begin(out, columns, row);
	out_char(out, '}');
}

/* NOLINTEND(misc-no-recursion) */

void emit_members(struct out *out, const struct emit_column *columns, const void *row)
{
	write_members(out, columns, row, false);
}
