/*
 * The emitter: writes JSON documents, and tables in text and Markdown, from rows.
 *
 * A row is a struct. An array of columns gives, for each field of the row, its key in JSON, its
 * heading and width in a table, and its kind. The emitter adds commas, nulls, "... and 3 more",
 * totals, and sums of the rows that are not shown.
 *
 *	static const struct emit_column columns[] = {
 *		EMIT_COLUMN("api", "call", -32, TEXT, struct trace_call, api),
 *		EMIT_COLUMN("calls", "calls", 12, COUNT, struct trace_call, calls),
 *		EMIT_FIELD(TIME, struct trace_call, max_ns),
 *		EMIT_END,
 *	};
 *	struct emit_rows rows = EMIT_ROWS_OF(trace->calls, trace->calls_n);
 *
 *	emit_table(&show, &(struct emit_table){ .columns = columns, .rows = &rows, .indent = 2 });
 *	emit_json(out, columns, row);
 *
 * A column with a key is a member in JSON; a column with a heading is a cell in text and Markdown,
 * even if the heading is "". A JSON document is a row as well: its lists are fields of the type
 * struct emit_rows, its objects are structs in the row.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/each.h"
#include "base/mem/sort.h"

struct arena;
struct out;
struct show;

/* The type of a field, its form in JSON, and its form in text. */
enum emit_kind {
	EMIT_NOTHING,  /* ends an array of columns */
	EMIT_BYTES,    /* uint64_t: JSON digits, text "1.00 MiB"; TRACE_NONE: null, "-" */
	EMIT_COUNT,    /* uint64_t: JSON digits, text "1,234"; TRACE_NONE: null, "-" */
	EMIT_TIME,     /* uint64_t, ns: JSON digits, text "1.2 s"; TRACE_NONE: null, "-" */
	EMIT_NUMBER,   /* uint64_t: JSON and text digits; TRACE_NONE: null, "-" */
	EMIT_CHANGE,   /* int64_t, bytes: JSON digits, text "+1.00 MiB"; INT64_MIN: null, "-" */
	EMIT_AMOUNT,   /* as EMIT_CHANGE, but text without "+": "-1.00 MiB", "1.00 MiB" */
	EMIT_DELTA,    /* int64_t, a count: JSON digits, text "+1,234"; INT64_MIN: null, "-" */
	EMIT_INTEGER,  /* int: JSON and text digits */
	EMIT_POSITION, /* uint32_t: JSON and text digits; UINT32_MAX: null, "-" */
	EMIT_MICROS,   /* uint64_t, ns: in us, "1.234"; EMIT_OPTIONAL: null if TRACE_NONE */
	EMIT_DEVICE,   /* int: JSON and text digits; less than 0 (NO_DEVICE): null, "-" */
	EMIT_REAL,     /* double: JSON and text have six significant digits; NAN: null, "-" */
	EMIT_RATE,     /* double: JSON and text have three decimals; NAN: null, "-" */
	EMIT_RATIO,    /* double: JSON and text have six decimals; NAN: null, "-" */
	EMIT_TRUTH,    /* bool: JSON true, text "yes" */
	EMIT_ADDRESS,  /* uint64_t: JSON and text "0x7f00" */
	EMIT_TEXT,     /* const char *; NULL: JSON null, text "?" */
	EMIT_CODE,     /* const char *, code in Markdown; NULL: JSON null, text "?" */
	EMIT_SHARE,    /* struct emit_part: text "12.3%", not in JSON */

	/* Kinds only for JSON. The column's `of`: columns of the object or of the array's items. */
	EMIT_OBJECT,  /* a struct inside the row */
	EMIT_KNOWN,   /* a struct inside the row; null if its first column is null */
	EMIT_POINTED, /* a pointer to a struct; NULL: null. Without a key: as EMIT_INLINED */
	EMIT_INLINED, /* a struct inside the row: its members are written as those of the row */
	EMIT_ROWS,  /* struct emit_rows: an array of objects; of texts if `of` is emit_texts ... */
	EMIT_ITEMS, /* a pointer and a size_t at `count_at`: an array; null if empty and optional */
	EMIT_NAMED, /* struct emit_rows of struct emit_named: an object with an array for each */
	EMIT_HIDDEN, /* struct emit_rows: the number of rows that are not shown */
	EMIT_OTHER,  /* struct emit_rows: an object with the sums of the rows not shown */
	EMIT_REST,   /* struct emit_rows: only the first sum of EMIT_OTHER, as a number */
};

enum emit_flag {
	EMIT_OPTIONAL = 1, /* JSON: no member if null; text: no column if all its cells are null */
	EMIT_DIM = 2,      /* text: printed dim on a terminal */
	EMIT_WHOLE = 4,    /* text: in a column of width 0, not cut even if the line is too long */
};

/* `bytes` as a percentage of `of`. */
struct emit_part {
	uint64_t bytes, of;
};

/* An array of rows, of which the first `shown` are written one by one. */
struct emit_rows {
	const void *rows;
	size_t count, shown;
	size_t size; /* bytes of a row, at most EMIT_LARGEST if rows are summed; 0: null in JSON */
};

/* Rows under a name that comes from data: in JSON, the name becomes the key. */
struct emit_named {
	const char *name;
	struct emit_rows rows;
};

enum { EMIT_LARGEST = 512, EMIT_CELL_MOST = 512 };

/* A struct emit_rows for an array of n rows, all shown. */
#define EMIT_ROWS_OF(list, n) ((struct emit_rows){ (list), (n), SIZE_MAX, sizeof(*(list)) })
/* A struct emit_rows for an array of n rows, the first `some` of them shown. */
#define EMIT_SOME_OF(list, n, some) ((struct emit_rows){ (list), (n), (some), sizeof(*(list)) })

/* An empty list for emit_add(); the first `some` of its rows will be shown. */
#define EMIT_NONE_OF(type, some) ((struct emit_rows){ NULL, 0, (some), sizeof(type) })

/* The second and third argument of foreach() for all rows of a list, each of type `type`. */
#define ROWS_IN(type, list) (type *)(list).rows, (list).count

/* Appends a copy of the row to a list that was made by EMIT_NONE_OF(). */
void emit_add(struct arena *arena, struct emit_rows *rows, const void *row);

/* Returns a cell's text, in `to` (EMIT_CELL_MOST bytes) or elsewhere, in place of the text that
 * enum emit_kind describes. */
typedef const char *emit_show(char *to, const void *row);

struct emit_column {
	const char *key; /* key in JSON, or NULL; blanks and "\n" at its start precede its quotes */
	const char *heading; /* heading in text, NULL if not in text */
	const char *title;   /* heading in Markdown, or NULL for `heading`; with a title, the column
			      * is in Markdown even if it is not in text */
	short width;       /* above 0: right-aligned in that many columns; below 0: left-aligned in
			    * -width columns; 0: left-aligned in the rest of the line */
	unsigned char gap; /* number of blanks before the column */
	unsigned char kind, flags;
	unsigned short at;             /* offset of the field in the struct of a row */
	unsigned short count_at, size; /* EMIT_ITEMS: offset of the item count, size of an item */
	const struct emit_column *of;  /* columns of the object or of the array's items */
	const char *between; /* text before each item of an array, after any comma, such as "\n" */
	emit_show *show;
};

#define EMIT_KEYED(name, sort, type, field) \
	.key = (name), .kind = EMIT_##sort, .at = offsetof(type, field)
#define EMIT_HEADED(text, columns) .heading = (text), .width = (columns)

/* In JSON and text: EMIT_COLUMN(). Only in JSON: EMIT_MEMBER(); EMIT_FIELD(), whose key is the name
 * of the field; EMIT_OF(), a field of the struct `of` in the row; EMIT_IF_KNOWN(), left out if
 * null; EMIT_NESTED(), an object with columns of its own; EMIT_LIST(), rows; EMIT_ITEMS(), an array
 * and a field with its count. Only in text: EMIT_CELL(); EMIT_SHOWN(), whose text a function makes.
 * Macros with "..." take more members: EMIT_CELL("", 0, TEXT, struct row, name, .gap = 3). */
#define EMIT_COLUMN(key_, heading_, width_, kind_, type, field, ...)                             \
	{                                                                                        \
		EMIT_KEYED(key_, kind_, type, field), EMIT_HEADED(heading_, width_), __VA_ARGS__ \
	}
#define EMIT_MEMBER(key_, kind_, type, field, ...)                \
	{                                                         \
		EMIT_KEYED(key_, kind_, type, field), __VA_ARGS__ \
	}
#define EMIT_FIELD(kind_, type, field) EMIT_MEMBER(#field, kind_, type, field)
#define EMIT_OF(kind_, type, field) EMIT_MEMBER(#field, kind_, type, of.field)
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

/* Columns for rows that are plain values: const char *, uint64_t, and uint32_t. */
extern const struct emit_column emit_texts[], emit_numbers[], emit_positions[];

/* Writes an object: {"a":1,"b":2} */
void emit_json(struct out *out, const struct emit_column *columns, const void *row);

/* Writes the beginning of an object, without the closing brace: {"a":1 */
void emit_begin(struct out *out, const struct emit_column *columns, const void *row);

/* Writes more members of an object that has some: ,"a":1,"b":2 */
void emit_members(struct out *out, const struct emit_column *columns, const void *row);

/* --- text --- */

struct emit_table {
	const struct emit_column *columns;
	const struct emit_rows *rows;
	const struct emit_rows *after; /* rows to write after all others, NULL for none */
	const char *heading;           /* written after an empty line; NULL: none */
	bool headless;                 /* no line of column headings */
	bool summed;   /* the line "... and 3 more" has the sums of the rows that are not shown */
	bool totalled; /* text: below several rows, a row "all" with the sums */
	unsigned char indent;
	const char *more; /* the words after the number of rows not shown; NULL: "more" */
	size_t unlisted;  /* number of further rows not shown, which are not in `rows` */
	/* Writes further lines below each row; NULL for none. */
	void (*below)(const struct show *show, const void *row, const void *with);
	const void *with;
};

void emit_table(const struct show *show, const struct emit_table *table);

/* Returns how many of `count` rows to show under a user's limit (0: no limit). A single row above
 * the limit is shown, too, since a line "... and 1 more" would not be shorter. */
size_t emit_limit(size_t count, size_t limit);

/* Writes "... and 3 more" for `left` rows of a list that are not shown, and nothing for 0. The
 * argument `more`, unless NULL, replaces the word "more". */
void emit_more(const struct show *show, unsigned indent, uint64_t left, const char *more);

/* Writes one line of a table: the row or, if it is NULL, the headings. */
void emit_row(const struct show *show, const struct emit_column *columns, const void *row,
	      unsigned indent);

/* Sums up the rows from index `from` on: adds each field of a kind in EMIT_BYTES ... EMIT_DELTA to
 * the same field of `sum`. A field that has several columns is added only once. */
void emit_sum(const struct emit_column *columns, const struct emit_rows *rows, size_t from,
	      void *sum);

/* For formats other than JSON and tables: emit_is_null() is true if the field is null in JSON;
 * emit_cell() returns the cell's text, in `to` (EMIT_CELL_MOST bytes) or elsewhere. */
bool emit_is_null(const struct emit_column *column, const void *row);
const char *emit_cell(char *to, const struct emit_column *column, const void *row);

/* Bit i of the result: columns[i] has a heading, and is not both optional and null in all rows. */
uint64_t emit_shown_columns(const struct emit_column *columns, const struct emit_rows *rows);

/* --- Markdown --- */

/* Writes text of the traced program, cut to 240 columns. Control characters become '?'; characters
 * that could make markup, a mention or a link become HTML entities. */
void markdown_text(struct out *out, const char *text);

/* Writes the table, without its heading, then an empty line. Rows are left out before the output
 * reaches the 65,536 characters that a comment on GitHub may have. */
void emit_markdown(struct out *out, const struct emit_table *table);

/* Writes a table of sites, folded: a click on "HEADING: 3 sites" opens it. Writes nothing if it has
 * no rows, or if the output is already near GitHub's limit. */
void emit_markdown_folded(struct out *out, const struct emit_table *table);
