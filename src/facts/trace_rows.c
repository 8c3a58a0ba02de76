/* Makes tables of the rows of facts/trace.def, which define the format of JSON traces. */

#include <string.h>

#include "base/mem/each.h"
#include "facts/trace_model.h"

#define trace_trace trace
struct rows rows_of(enum rows_of of)
{
	switch (of) {
#define BEGIN(name)                              \
	case ROWS_##name: {                      \
		typedef struct trace_##name own; \
		static const struct row rows[] = {
#define END(name)                                                  \
	}                                                          \
	;                                                          \
	return (struct rows){ rows, COUNT_OF(rows), sizeof(own) }; \
	}
#define SIZE(member) (sizeof(((own *)NULL)->member) > 8 ? 0 : sizeof(((own *)NULL)->member))
#define CELL(key, kind, member, count, when, of, layout)                                        \
	{ key, ",\"" key "\":", offsetof(own, member), count,          ROW_##kind, WHEN_##when, \
	  of,  LAYOUT_##layout, SIZE(member),          sizeof(key) + 3 },
#define ROW(kind, member, when) CELL(#member, kind, member, 0, when, 0, NONE)
#define ALSO(kind, key, member, when) CELL(key, kind, member, 0, when, 0, NONE)
#define WORD(words, member, when) CELL(#member, WORD, member, 0, when, WORDS_##words, NONE)
#define OBJECT(of, member, when) CELL(#member, OBJECT, member, 0, when, ROWS_##of, NONE)
#define LIST(of, member, layout, when) \
	CELL(#member, LIST, member, offsetof(own, member##_n), when, ROWS_##of, layout)
#define MANY(kind, member, layout, when) \
	CELL(#member, kind, member, offsetof(own, member##_n), when, 0, layout)
#define BREAK(spaces) { .kind = ROW_BREAK, .when = WHEN_WITH, .of = spaces },
#include "facts/trace.def"
#undef SIZE
#undef CELL
	default:
		return (struct rows){ NULL, 0, 0 };
	}
}

const struct row *rows_find(struct rows rows, const char *key)
{
	for (size_t i = 0; i < rows.rows_n; i++) {
		if (rows.rows[i].kind != ROW_BREAK && !strcmp(rows.rows[i].key, key))
			return &rows.rows[i];
	}
	return NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): rows are nested at most four deep */
void rows_clear(enum rows_of of, void *object)
{
	struct rows rows = rows_of(of);

	for (size_t i = 0; i < rows.rows_n; i++) {
		const struct row *row = &rows.rows[i];
		void *value = (char *)object + row->at;

		/* Null is stored as all zero bits, which the member has already, or as all ones. */
		if (row->kind == ROW_OBJECT)
			rows_clear(row->of, value);
		else if (row->kind == ROW_OPTIONAL || row->kind == ROW_POSITION ||
			 row->kind == ROW_INT)
			memset(value, 0xff, row->size);
	}
}

void *rows_make(struct arena *arena, enum rows_of of, size_t count)
{
	size_t size = rows_of(of).size;
	char *items = arena_alloc(arena, count * size + 1);

	for (size_t i = 0; items && i < count; i++)
		rows_clear(of, items + i * size);
	return items;
}

const char *rows_word(enum row_words words, int position)
{
	static const char lists[WORDS_NONE][3][16] = {
		[WORDS_EXITS] = { "exit", "running", "unfinished" },
		[WORDS_METRICS] = { "allocated", "reserved", "used" },
		[WORDS_LANGUAGES] = { "native", "python" },
	};
	const char *word = position >= 0 && position < 3 ? lists[words][position] : "";

	return word[0] ? word : NULL;
}
