/*
 * The one emitter: tables and documents from rows.
 *
 * A row is a struct. A table of columns says of each of its fields what it is called in JSON, what
 * stands above it on a screen, how wide it is there and of which kind it is. JSON, text and
 * Markdown come out of it; commas, nulls, limits, "... and 3 more", sums over what is left out and
 * totals are written here and nowhere else.
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
 * "" is a heading, too. What a document consists of is a row as well: its lists are fields of the
 * type struct emit_rows, its objects are structs in the row.
 */
#ifndef RENDER_EMIT_EMIT_H
#define RENDER_EMIT_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct out;
struct show;

/* The type of a field, what is written of it in JSON, and on a screen. */
enum emit_kind {
	EMIT_NOTHING,  /* ends a table */
	EMIT_BYTES,    /* uint64_t: digits, "1.00 MiB"; TRACE_NONE is null, "-" */
	EMIT_COUNT,    /* uint64_t: digits, "1,234"; TRACE_NONE is null, "-" */
	EMIT_TIME,     /* uint64_t, ns: digits, "1.2 s"; TRACE_NONE is null, "-" */
	EMIT_NUMBER,   /* uint64_t: digits in both; TRACE_NONE is null, "-" */
	EMIT_CHANGE,   /* int64_t, bytes: digits with "-", "+1.00 MiB" */
	EMIT_INTEGER,  /* int: digits with "-" in both */
	EMIT_POSITION, /* uint32_t: digits; UINT32_MAX is null, "-" */
	EMIT_MICROS,   /* uint64_t, ns: microseconds with three digits behind the point */
	EMIT_DEVICE,   /* int: digits; less than 0 (NO_DEVICE) is null, "-" */
	EMIT_REAL,     /* double: six digits that count; NAN is null, "-" */
	EMIT_RATE,     /* double: three digits behind the point; NAN is null, "-" */
	EMIT_RATIO,    /* double: six of them */
	EMIT_TRUTH,    /* bool: true, "yes" */
	EMIT_ADDRESS,  /* uint64_t: "0x7f00" in both */
	EMIT_TEXT,     /* const char *: NULL is null, "?" */
	EMIT_CODE,     /* the same; in Markdown it is code */
	EMIT_SHARE,    /* struct emit_part: text alone, "12.3%" */

	/* In JSON alone, by the columns `of`: */
	EMIT_OBJECT,  /* a struct in the row */
	EMIT_KNOWN,   /* the same; null where its first column is */
	EMIT_POINTED, /* a pointer to one; NULL is null. Without a key: as INLINED, or nothing */
	EMIT_INLINED, /* a struct in the row, whose members are the row's; it has no key */
	EMIT_ROWS, /* struct emit_rows: an array, a row each; by columns without a key, of values */
	EMIT_NAMED,  /* struct emit_rows of struct emit_named: an object, a list for each name */
	EMIT_HIDDEN, /* struct emit_rows: how many of them are left out */
	EMIT_OTHER,  /* struct emit_rows: an object with the sums over those that are left out */
	EMIT_REST,   /* struct emit_rows: the sum over them of the one column in `of` */
};

enum emit_flag {
	EMIT_OPTIONAL =
		1,      /* JSON: no member where it would be null; text: no column where all are */
	EMIT_DIM = 2,   /* text: not as bright as the rest */
	EMIT_WHOLE = 4, /* text, of width 0: not cut to the line */
};

/* A part of a whole. */
struct emit_part {
	uint64_t bytes, of;
};

/* Rows one behind the other, the first `shown` of which are written; the rest is summed. */
struct emit_rows {
	const void *rows;
	size_t count, shown;
	size_t size; /* of a row, EMIT_LARGEST at most where sums are wanted; 0: null in JSON */
};

/* Rows under a name that is data, no column's key. */
struct emit_named {
	const char *name;
	struct emit_rows rows;
};

enum { EMIT_LARGEST = 512, EMIT_CELL_MOST = 512 };

/* All of them are shown. */
#define EMIT_ROWS_OF(list, n) ((struct emit_rows){ (list), (n), SIZE_MAX, sizeof(*(list)) })
/* The first of them. */
#define EMIT_SOME_OF(list, n, some) ((struct emit_rows){ (list), (n), (some), sizeof(*(list)) })

/* None yet: emit_add() adds them. */
#define EMIT_NONE_OF(type, some) ((struct emit_rows){ NULL, 0, (some), sizeof(type) })

/* Adds a copy of the row to a list that began with EMIT_NONE_OF(): false without memory. */
bool emit_add(struct arena *arena, struct emit_rows *rows, const void *row);

/* A cell's text where the kind's would not do, in `to` (EMIT_CELL_MOST bytes) or elsewhere. */
typedef const char *emit_show(char *to, const void *row);

struct emit_column {
	const char *key;     /* JSON, NULL: not there. Line breaks and blanks before it are kept */
	const char *heading; /* text, NULL: not there */
	const char *title;   /* the heading in Markdown, where it is another */
	short width;         /* right-aligned in so many columns; below 0 at the left; */
			     /* 0: in what the columns after it leave of the line */
	unsigned char gap;   /* blanks before it */
	unsigned char kind, flags;
	unsigned short at; /* where the field is in the row */
	const struct emit_column *of;
	const char *between; /* EMIT_ROWS: before each row, after the comma: "\n", "" */
	emit_show *show;
};

#define EMIT_KEYED(name, sort, type, field) \
	.key = (name), .kind = EMIT_##sort, .at = offsetof(type, field)
#define EMIT_HEADED(text, columns) .heading = (text), .width = (columns)

/* In both; in JSON alone; there where it is not null; in text alone, with a text of its own; in
 * JSON, with columns of its own.
 */
#define EMIT_COLUMN(key_, heading_, width_, kind_, type, field)                     \
	{                                                                           \
		EMIT_KEYED(key_, kind_, type, field), EMIT_HEADED(heading_, width_) \
	}
#define EMIT_MEMBER(key_, kind_, type, field)        \
	{                                            \
		EMIT_KEYED(key_, kind_, type, field) \
	}
#define EMIT_IF_KNOWN(key_, kind_, type, field)                              \
	{                                                                    \
		EMIT_KEYED(key_, kind_, type, field), .flags = EMIT_OPTIONAL \
	}
#define EMIT_CELL(heading_, width_, kind_, type, field)                             \
	{                                                                           \
		EMIT_KEYED(NULL, kind_, type, field), EMIT_HEADED(heading_, width_) \
	}
#define EMIT_SHOWN(heading_, width_, kind_, type, field, show_)                      \
	{                                                                            \
		EMIT_KEYED(NULL, kind_, type, field), EMIT_HEADED(heading_, width_), \
			.show = (show_)                                              \
	}
#define EMIT_NESTED(key_, kind_, type, field, of_)                \
	{                                                         \
		EMIT_KEYED(key_, kind_, type, field), .of = (of_) \
	}
#define EMIT_LIST(key_, between_, type, field, of_)                                     \
	{                                                                               \
		EMIT_KEYED(key_, ROWS, type, field), .of = (of_), .between = (between_) \
	}
#define EMIT_END                     \
	{                            \
		.kind = EMIT_NOTHING \
	}

/*
 * Sorts by the columns `keys`, the first of which counts most: BYTES, COUNT, TIME and CHANGE from
 * the largest down, NUMBER and TEXT up.
 */
void emit_sort(const struct emit_rows *rows, const struct emit_column *keys);

/* --- JSON --- */

/* Rows that are values: of the type const char *, uint64_t, and uint32_t. */
extern const struct emit_column emit_texts[], emit_numbers[], emit_positions[];

/* {"a":1,"b":2}. */
void emit_json(struct out *out, const struct emit_column *columns, const void *row);

/* The beginning of an object, which members and '}' are to follow: {"a":1. */
void emit_begin(struct out *out, const struct emit_column *columns, const void *row);

/* Members behind others of one object: ,"a":1,"b":2. */
void emit_members(struct out *out, const struct emit_column *columns, const void *row);

/* One by one: `key` is what stands in front of the value, {"key": or ,"key":. NULL and TRACE_NONE
 * are null. */
void member_text(struct out *out, const char *key, const char *value);
void member_number(struct out *out, const char *key, uint64_t value);

/* --- text --- */

struct emit_table {
	const struct emit_column *columns;
	const struct emit_rows *rows;
	const char *heading; /* a line of space and a heading before it; NULL: none */
	bool headless;       /* no row of headings */
	bool summed;         /* what is left out is a row of sums, not a line that counts it */
	bool totalled;       /* a last row "all", when there are several */
	unsigned char indent;
	const char *more; /* what is left out, in place of "more" */
	/* Lines below a row, NULL for none. */
	void (*below)(const struct show *show, const void *row, const void *with);
	const void *with;
};

void emit_table(const struct show *show, const struct emit_table *table);

/* A line of it, for a table that is written row by row; the headings where the row is NULL. */
void emit_row(const struct show *show, const struct emit_column *columns, const void *row,
	      unsigned indent);

/*
 * Adds the fields of kinds BYTES, COUNT, TIME, NUMBER and CHANGE of all rows from `from` on to
 * those of `sum`. Those that more than one column is made of are added once.
 */
void emit_sum(const struct emit_column *columns, const struct emit_rows *rows, size_t from,
	      void *sum);

/* What the writers of rows share: is the field null in JSON? The cell as people read it, in `to`
 * (EMIT_CELL_MOST bytes) or elsewhere. */
bool emit_is_null(const struct emit_column *column, const void *row);
const char *emit_cell(char *to, const struct emit_column *column, const void *row);

/* The columns of a table with headings, less optional ones that no row has: a bit each. */
uint64_t emit_shown_columns(const struct emit_column *columns, const struct emit_rows *rows);

/* --- Markdown --- */

/* Text of traced programs made safe, with entities for all that could be markup, a mention or a
 * link, and cut to 240 columns. */
void markdown_text(struct out *out, const char *text);

/*
 * A table of the columns with a heading. Rows end where `out` holds so many bytes: gives how many
 * there are.
 */
size_t emit_markdown(struct out *out, const struct emit_column *columns,
		     const struct emit_rows *rows, uint64_t most);

#endif
