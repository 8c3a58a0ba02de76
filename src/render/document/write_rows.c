/* Writes objects of a trace (memtrace/1) as JSON, as the rows of facts/trace.def describe them. */
#include <string.h>

#include "render/document/document.h"

struct row_writer {
	struct out *out;
	bool baseline;
};

static inline const void *member(const void *object, size_t at)
{
	return (const char *)object + at;
}

static size_t count_of(const struct row *row, const void *object)
{
	return *(const size_t *)member(object, row->count_at);
}

static const void *items_of(const struct row *row, const void *object)
{
	return *(const void *const *)member(object, row->at);
}

static bool is_nothing(enum rows_of of, const void *object, bool empty);

/* True if a plain value (of a kind before ROW_OBJECT) is null or, with `empty`, if it is 0. */
static inline bool is_plain_nothing(const struct row *row, uint64_t number, bool empty)
{
	switch (row->kind) {
	case ROW_TEXT:
	case ROW_VALUE:
		return !number;
	case ROW_OPTIONAL:
		return number == TRACE_NONE;
	case ROW_POSITION:
		return number == UINT32_MAX;
	case ROW_INT:
		return (int)number < 0;
	case ROW_WORD:
		return false;
	default:
		return empty && !number;
	}
}

/* As is_plain_nothing(), for values of every kind. An empty list counts as 0. */
/* NOLINTNEXTLINE(misc-no-recursion): rows nest at most four levels deep */
static inline bool says_nothing(const struct row *row, const void *object, bool empty)
{
	if (row->kind < ROW_OBJECT)
		return is_plain_nothing(row, rows_number(row, object), empty);
	if (row->kind == ROW_OBJECT)
		return is_nothing(row->of, member(object, row->at), empty);
	return empty && !(row->count_at && count_of(row, object));
}

/* True if all WHEN_ALWAYS members are null or, with `empty`, if all members are null or 0. */
/* NOLINTNEXTLINE(misc-no-recursion): rows nest at most four levels deep */
static bool is_nothing(enum rows_of of, const void *object, bool empty)
{
	struct rows rows = rows_of(of);
	bool nothing = empty;

	for (size_t i = 0; i < rows.rows_n; i++) {
		const struct row *row = &rows.rows[i];

		if (!empty && row->when != WHEN_ALWAYS)
			continue;
		if (!says_nothing(row, object, empty))
			return false;
		nothing = true;
	}
	return nothing;
}

/* True if row i is written: a row and its WHEN_WITH rows are written if one of them has a value. */
/* NOLINTNEXTLINE(misc-no-recursion): rows nest at most four levels deep */
static bool is_group(struct rows rows, size_t i, const void *object)
{
	while (rows.rows[i].when == WHEN_WITH)
		i--;
	do {
		if (!says_nothing(&rows.rows[i++], object, true))
			return true;
	} while (i < rows.rows_n && rows.rows[i].when == WHEN_WITH);
	return false;
}

static bool is_written(const struct row_writer *writer, const struct row *row, struct rows rows,
		       const struct row *list, const void *object)
{
	switch (row->when) {
	case WHEN_SOME:
	case WHEN_WITH:
		return is_group(rows, (size_t)(row - rows.rows), object);
	case WHEN_OTHERWISE:
		return !is_group(rows, (size_t)(row - rows.rows) - 1, object);
	case WHEN_FULL:
		return !writer->baseline || !says_nothing(row, object, true);
	case WHEN_IN_LIST:
		return list && !strncmp(list->key, row->key, strlen(row->key));
	case WHEN_NATIVE:
		return *(const int *)member(object, rows.rows[0].at) == TRACE_NATIVE;
	default:
		return true;
	}
}

static void write_separator(const struct row_writer *writer, const struct row *list, bool first)
{
	static const char separators[][6] = {
		[LAYOUT_NONE] = ",",     [LAYOUT_TIGHT] = ",",        [LAYOUT_LINES] = ",\n",
		[LAYOUT_BROKEN] = ",\n", [LAYOUT_INDENTED] = ",\n  ", [LAYOUT_APART] = ",\n  ",
	};
	bool apart = list->layout == LAYOUT_LINES || list->layout == LAYOUT_APART;

	if (!first || apart)
		out_text(writer->out, separators[list->layout] + (first ? 1 : 0));
}

static void write_object(const struct row_writer *writer, const struct row *of, const void *object);

static void write_pair(struct out *out, const struct trace_pair *pair, bool number)
{
	out_json(out, pair->name ? pair->name : "");
	out_char(out, ':');
	if (number)
		out_text(out, pair->value);
	else
		out_json(out, pair->value);
}

static void write_number(struct out *out, uint64_t number)
{
	if (number == TRACE_NONE)
		out_text(out, "null");
	else
		out_u64(out, number);
}

/* NOLINTNEXTLINE(misc-no-recursion): rows nest at most four levels deep */
static void write_item(const struct row_writer *writer, const struct row *row, const void *items,
		       size_t i)
{
	switch (row->kind) {
	case ROW_PAIRS:
	case ROW_COUNTS:
		write_pair(writer->out, (const struct trace_pair *)items + i,
			   row->kind == ROW_COUNTS);
		break;
	case ROW_TEXTS:
		out_json(writer->out, ((const char *const *)items)[i]);
		break;
	case ROW_U64S:
		write_number(writer->out, ((const uint64_t *)items)[i]);
		break;
	case ROW_U32S:
		out_u64(writer->out, ((const uint32_t *)items)[i]);
		break;
	default:
		write_object(writer, row, member(items, i * rows_of(row->of).size));
		break;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): rows nest at most four levels deep */
static void write_items(const struct row_writer *writer, const struct row *row, const void *object)
{
	bool pairs = row->kind == ROW_PAIRS || row->kind == ROW_COUNTS;
	const void *items = items_of(row, object);
	size_t count = count_of(row, object);

	out_char(writer->out, pairs ? '{' : '[');
	for (size_t i = 0; i < count; i++) {
		write_separator(writer, row, !i);
		write_item(writer, row, items, i);
	}
	out_char(writer->out, pairs ? '}' : ']');
}

/* True if an empty value of the row is written as null. */
static bool empty_is_null(const struct row *row)
{
	return row->when == WHEN_OR_NULL || row->when == WHEN_NATIVE;
}

/* Writes a plain value: of a kind before ROW_OBJECT. */
static void write_plain(struct out *out, const struct row *row, const void *object)
{
	uint64_t number = rows_number(row, object);

	if (row->kind == ROW_TEXT) {
		out_json(out, items_of(row, object)); /* NULL becomes null */
		return;
	}
	if (is_plain_nothing(row, number, empty_is_null(row))) {
		out_text(out, "null");
		return;
	}
	switch (row->kind) {
	case ROW_VALUE:
		out_text(out, items_of(row, object));
		break;
	case ROW_I64:
		out_i64(out, (int64_t)number);
		break;
	case ROW_BOOL:
		out_text(out, number ? "true" : "false");
		break;
	case ROW_HEX:
		out_char(out, '"');
		out_hex(out, number);
		out_char(out, '"');
		break;
	case ROW_WORD:
		out_json(out, rows_word(row->of, (int)number));
		break;
	default:
		out_u64(out, number);
		break;
	}
}

/* Writes an object or a list. */
/* NOLINTNEXTLINE(misc-no-recursion): rows nest at most four levels deep */
static void write_nested(const struct row_writer *writer, const struct row *row, const void *object)
{
	bool null = row->kind == ROW_OBJECT ? says_nothing(row, object, empty_is_null(row))
					    : row->kind == ROW_LIST && row->when == WHEN_OR_NULL &&
						      !items_of(row, object);

	if (null)
		out_text(writer->out, "null");
	else if (row->kind == ROW_OBJECT)
		write_object(writer, row, member(object, row->at));
	else
		write_items(writer, row, object);
}

/* NOLINTNEXTLINE(misc-no-recursion): rows nest at most four levels deep */
static inline void write_member(const struct row_writer *writer, const struct row *row,
				const void *object, bool comma)
{
	/* Copies the whole array, not only `length` bytes of it: a constant size is faster. */
	memcpy(out_room(writer->out, sizeof(row->text)), row->text + !comma, sizeof(row->text) - 1);
	writer->out->used += row->length - !comma;
	if (row->kind < ROW_OBJECT)
		write_plain(writer->out, row, object);
	else
		write_nested(writer, row, object);
}

/* Writes an object: the value of the row `of` or, if that row is a list, one item of it. */
/* NOLINTNEXTLINE(misc-no-recursion): rows nest at most four levels deep */
static void write_object(const struct row_writer *writer, const struct row *of, const void *object)
{
	struct rows rows = rows_of(of->of);
	unsigned indent = 0;
	bool comma = false;

	out_char(writer->out, '{');
	for (size_t i = 0; i < rows.rows_n; i++) {
		const struct row *row = &rows.rows[i];

		if (row->kind == ROW_BREAK) {
			indent = row->of;
			continue;
		}
		if (row->when == WHEN_ALWAYS || is_written(writer, row, rows, of, object)) {
			if (indent) {
				out_text(writer->out, comma ? "," : "");
				out_text(writer->out, indent == 2 ? "\n  " : "\n ");
				comma = false;
			}
			write_member(writer, row, object, comma);
			comma = true;
		}
		indent = 0;
	}
	out_char(writer->out, '}');
}

void document_member(struct out *out, const struct trace *trace, const char *key)
{
	const struct row_writer writer = { out, false };

	write_member(&writer, rows_find(rows_of(ROWS_trace), key), trace, false);
}

void document_object(struct out *out, enum rows_of of, const void *object)
{
	const struct row_writer writer = { out, false };
	const struct row row = { .of = (uint8_t)of };

	write_object(&writer, &row, object);
}

void document_facts(struct out *out, const struct trace *trace, bool baseline)
{
	const struct row_writer writer = { out, baseline };
	struct rows rows = rows_of(ROWS_trace);

	for (size_t i = 0; i < rows.rows_n; i++) {
		if (!is_written(&writer, &rows.rows[i], rows, NULL, trace))
			continue;
		write_member(&writer, &rows.rows[i], trace, false);
		out_text(out, ",\n");
	}
}
