/*
 * The one emitter: tables and documents from rows.
 *
 * A row is a struct. A table of columns gives for each of its fields the key in JSON, the heading
 * and the width on a screen, and the kind. The emitter writes JSON, text and Markdown from it.
 * Commas, nulls, limits, "... and 3 more", sums over the rows left out and totals are written here
 * and nowhere else.
 *
 *	static const struct emit_column columns[] = {
 *		EMIT_COLUMN("api", "call", -32, TEXT, struct trace_call, api),
 *		EMIT_COLUMN("calls", "calls", 12, COUNT, struct trace_call, calls),
 *		EMIT_MEMBER("max_ns", TIME, struct trace_call, max_ns),
 *		EMIT_END,
 *	};
 *	struct emit_rows rows = EMIT_ROWS_OF(trace->calls, trace->calls_n);
 *
 *	emit_table(&show, &(struct emit_table){ .columns = columns, .rows = &rows, .indent = 2 });
 *	emit_json(out, columns, row);
 *
 * A column with a key is a member in JSON; a column with a heading is a cell in text and Markdown,
 * even if the heading is "". A document is a row as well: its lists are fields of the type struct
 * emit_rows, its objects are structs in the row.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/sort.h"

struct arena;
struct out;
struct show;

/* The type of a field, the value that JSON gets of it, and the text that a screen gets. */
enum emit_kind {
	EMIT_NOTHING,  /* ends a table */
	EMIT_BYTES,    /* uint64_t: digits, "1.00 MiB"; TRACE_NONE is null, "-" */
	EMIT_COUNT,    /* uint64_t: digits, "1,234"; TRACE_NONE is null, "-" */
	EMIT_TIME,     /* uint64_t, ns: digits, "1.2 s"; TRACE_NONE is null, "-" */
	EMIT_NUMBER,   /* uint64_t: digits in both; TRACE_NONE is null, "-" */
	EMIT_CHANGE,   /* int64_t, bytes: digits with "-", "+1.00 MiB"; INT64_MIN is null, "-" */
	EMIT_AMOUNT,   /* the same as a screen's "-1.00 MiB" or "1.00 MiB" */
	EMIT_DELTA,    /* the same of a count: "+1,234" */
	EMIT_INTEGER,  /* int: digits with "-" in both */
	EMIT_POSITION, /* uint32_t: digits; UINT32_MAX is null, "-" */
	EMIT_MICROS,   /* uint64_t, ns: microseconds with three decimals */
	EMIT_DEVICE,   /* int: digits; less than 0 (NO_DEVICE) is null, "-" */
	EMIT_REAL,     /* double: six significant digits; NAN is null, "-" */
	EMIT_RATE,     /* double: three decimals; NAN is null, "-" */
	EMIT_RATIO,    /* double: six decimals; likewise */
	EMIT_TRUTH,    /* bool: true, "yes" */
	EMIT_ADDRESS,  /* uint64_t: "0x7f00" in both */
	EMIT_TEXT,     /* const char *: NULL is null, "?" */
	EMIT_CODE,     /* the same; in Markdown it is code */
	EMIT_SHARE,    /* struct emit_part: text alone, "12.3%" */

	/* In JSON alone, with the columns in `of`: */
	EMIT_OBJECT,  /* a struct in the row */
	EMIT_KNOWN,   /* the same; null where its first column is */
	EMIT_POINTED, /* a pointer to one; NULL is null. Without a key: as INLINED, or nothing */
	EMIT_INLINED, /* the members of such a struct become the row's; it has no key */
	EMIT_ROWS, /* struct emit_rows: an array, a row each; by columns without a key, of values */
	EMIT_ITEMS,  /* the same of a pointer, and a size_t elsewhere in the row: their number;
			optional: none at all */
	EMIT_NAMED,  /* struct emit_rows of struct emit_named: an object, a list for each name */
	EMIT_HIDDEN, /* struct emit_rows: the number of rows left out */
	EMIT_OTHER,  /* struct emit_rows: an object with the sums over the rows left out */
	EMIT_REST,   /* struct emit_rows: the sum over these of the one column in `of` */
};

enum emit_flag {
	EMIT_OPTIONAL = 1, /* JSON: no member where it would be null; text: no column where all rows
			      are null */
	EMIT_DIM = 2,      /* text: not as bright as the rest */
	EMIT_WHOLE = 4,    /* text, of width 0: not cut to the line */
};

/* Bytes that are a part of the bytes `of`. */
struct emit_part {
	uint64_t bytes, of;
};

/* An array of rows, the first `shown` of which are written; the others are summed. */
struct emit_rows {
	const void *rows;
	size_t count, shown;
	size_t size; /* bytes of a row, at most EMIT_LARGEST if it is summed; 0: null in JSON */
};

/* Rows whose key in JSON is data, not a column's key. */
struct emit_named {
	const char *name;
	struct emit_rows rows;
};

enum { EMIT_LARGEST = 512, EMIT_CELL_MOST = 512 };

/* An array of n rows, all shown. */
#define EMIT_ROWS_OF(list, n) ((struct emit_rows){ (list), (n), SIZE_MAX, sizeof(*(list)) })
/* An array of n rows, the first `some` of them shown. */
#define EMIT_SOME_OF(list, n, some) ((struct emit_rows){ (list), (n), (some), sizeof(*(list)) })

/* An empty list for emit_add(), of which the first `some` rows will be shown. */
#define EMIT_NONE_OF(type, some) ((struct emit_rows){ NULL, 0, (some), sizeof(type) })

/* Adds a copy of the row to a list that began with EMIT_NONE_OF(). */
void emit_add(struct arena *arena, struct emit_rows *rows, const void *row);

/* The text of a cell that is not its kind's, in `to` (EMIT_CELL_MOST bytes) or elsewhere. */
typedef const char *emit_show(char *to, const void *row);

struct emit_column {
	const char *key;     /* JSON, NULL: no member. Line breaks and blanks before it are kept */
	const char *heading; /* text, NULL: no cell */
	const char *title;   /* Markdown, NULL: the heading */
	short width; /* right-aligned in this many columns; below 0: left-aligned in -width; */
		     /* 0: in the rest of the line that the columns after it leave */
	unsigned char gap; /* blanks before it */
	unsigned char kind, flags;
	unsigned short at;             /* offset of the field in the row */
	unsigned short count_at, size; /* EMIT_ITEMS: offset of the number of items, bytes of one */
	const struct emit_column *of;
	const char *between; /* of an array: text before each row, after the comma: "\n", "" */
	emit_show *show;
};

#define EMIT_KEYED(name, sort, type, field) \
	.key = (name), .kind = EMIT_##sort, .at = offsetof(type, field)
#define EMIT_HEADED(text, columns) .heading = (text), .width = (columns)

/* COLUMN: in JSON and text. MEMBER: in JSON alone. FIELD: the same, the key is the field's name.
 * IF_KNOWN: in JSON unless it is null. CELL: in text alone. SHOWN: in text alone, with a function
 * for its text. NESTED: in JSON, with columns of its own. LIST: rows, in JSON. ITEMS: an array and
 * its count, in JSON. More fields of the column may follow: EMIT_CELL("", 0, TEXT, struct row,
 * name, .gap = 3). */
#define EMIT_COLUMN(key_, heading_, width_, kind_, type, field, ...)                             \
	{                                                                                        \
		EMIT_KEYED(key_, kind_, type, field), EMIT_HEADED(heading_, width_), __VA_ARGS__ \
	}
#define EMIT_MEMBER(key_, kind_, type, field, ...)                \
	{                                                         \
		EMIT_KEYED(key_, kind_, type, field), __VA_ARGS__ \
	}
#define EMIT_FIELD(kind_, type, field) EMIT_MEMBER(#field, kind_, type, field)
#define EMIT_IF_KNOWN(key_, kind_, type, field, ...) \
	EMIT_MEMBER(key_, kind_, type, field, .flags = EMIT_OPTIONAL, __VA_ARGS__)
#define EMIT_CELL(heading_, width_, kind_, type, field, ...) \
	EMIT_COLUMN(NULL, heading_, width_, kind_, type, field, __VA_ARGS__)
#define EMIT_SHOWN(heading_, width_, kind_, type, field, show_) \
	EMIT_CELL(heading_, width_, kind_, type, field, .show = (show_))
#define EMIT_NESTED(key_, kind_, type, field, of_)                \
	{                                                         \
		EMIT_KEYED(key_, kind_, type, field), .of = (of_) \
	}
#define EMIT_LIST(key_, between_, type, field, of_)                                     \
	{                                                                               \
		EMIT_KEYED(key_, ROWS, type, field), .of = (of_), .between = (between_) \
	}
#define EMIT_ITEMS(key_, between_, type, field, count_, of_, ...)                             \
	{                                                                                     \
		EMIT_KEYED(key_, ITEMS, type, field), .count_at = offsetof(type, count_),     \
						      .size = sizeof(*((type *)NULL)->field), \
						      .of = (of_), .between = (between_),     \
						      __VA_ARGS__                             \
	}
#define EMIT_END                     \
	{                            \
		.kind = EMIT_NOTHING \
	}

/* Sorts the rows; rows with equal keys keep their order. */
void emit_sort(const struct emit_rows *rows, const struct sort_key *keys);

/* --- JSON --- */

/* Columns for rows that are plain values: of const char *, of uint64_t, and of uint32_t. */
extern const struct emit_column emit_texts[], emit_numbers[], emit_positions[];

/* Writes an object: {"a":1,"b":2} */
void emit_json(struct out *out, const struct emit_column *columns, const void *row);

/* Writes the beginning of an object, without the closing brace: {"a":1 */
void emit_begin(struct out *out, const struct emit_column *columns, const void *row);

/* Writes more members of an object that has some already: ,"a":1,"b":2 */
void emit_members(struct out *out, const struct emit_column *columns, const void *row);

/* --- text --- */

struct emit_table {
	const struct emit_column *columns;
	const struct emit_rows *rows;
	const struct emit_rows *after; /* rows below all others, NULL for none */
	const char *heading;           /* after an empty line; NULL: none */
	bool headless;                 /* no row of headings */
	bool summed;   /* the rows left out become a row of sums, not a line with their number */
	bool totalled; /* a last row "all", when there are several rows */
	unsigned char indent;
	const char *more; /* a word for the rows left out, in place of "more" */
	size_t unlisted;  /* rows left out that `rows` does not have */
	/* Writes lines below a row, NULL for none. */
	void (*below)(const struct show *show, const void *row, const void *with);
	const void *with;
};

void emit_table(const struct show *show, const struct emit_table *table);

/* The number of rows to show of `count`, by a limit given by the user (0: none). It is one more
 * than the limit if a line "... and 1 more" would take that row's place. */
size_t emit_limit(size_t count, size_t limit);

/* Writes "... and 3 more", the last line of a list of `left` rows that are not shown; "more" may be
 * another word. Writes nothing for 0. */
void emit_more(const struct show *show, unsigned indent, uint64_t left, const char *more);

/* Writes a line of a table that is written row by row; the headings if the row is NULL. */
void emit_row(const struct show *show, const struct emit_column *columns, const void *row,
	      unsigned indent);

/* Adds the fields of kinds BYTES to DELTA of all rows from `from` on to
 * those of `sum`. A field with several columns is added once. */
void emit_sum(const struct emit_column *columns, const struct emit_rows *rows, size_t from,
	      void *sum);

/* For the writers of rows: true if the field is null in JSON; and the cell's text for people, in
 * `to` (EMIT_CELL_MOST bytes) or elsewhere. */
bool emit_is_null(const struct emit_column *column, const void *row);
const char *emit_cell(char *to, const struct emit_column *column, const void *row);

/* The columns with a heading as bits (at most 64), without optional ones that are all null. */
uint64_t emit_shown_columns(const struct emit_column *columns, const struct emit_rows *rows);

/* --- Markdown --- */

/* Writes text of a traced program: made safe, with entities for all that could be markup, a mention
 * or a link, and cut to 240 columns. */
void markdown_text(struct out *out, const char *text);

/* Writes the table without its heading, and leaves out the rows that come after `most` bytes of
 * output. */
void emit_markdown(struct out *out, const struct emit_table *table, uint64_t most);
