/*
 * Reads a JSON value into a struct whose members the rows of facts/trace.def describe.
 *
 * A list grows in a buffer of its own and is copied into the arena when its length is known. The
 * recursion is as deep as the rows are nested; members that have no row are skipped with
 * json_skip(), which does not recurse.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/trace/trace_parts.h"

enum { ARENA_OVERHEAD = 16 }; /* approximate bytes that the arena adds to each text */

struct reader {
	struct json *json;
	struct arena *arena;
	const char *key; /* key of the member being read, for messages */
};

struct list {
	char *items;
	size_t used, size, item;
};

static int read_row(struct reader *reader, const struct row *row, void *to);

static int refuse_value(struct reader *reader, const char *wanted)
{
	return json_fail(reader->json, "\"%s\" must be %s", reader->key, wanted);
}

static void *member(void *to, size_t at)
{
	return (char *)to + at;
}

/* Counts memory for the data before the events. Returns 0, or -EINVAL if it is more than
 * LIMITS_FACTS and --no-limits is not given. */
static int keep_bytes(const struct reader *reader, size_t bytes)
{
	struct json *json = reader->json;

	json->kept += bytes;
	if (json->kept <= LIMITS_FACTS || !limits_hold())
		return 0;
	return json_fail(
		json, "the data before the events takes over %u MiB, which no recording does; %s",
		LIMITS_FACTS >> 20, LIMITS_LIFT);
}

/* Adds a zeroed item and returns it; NULL if the trace's facts take too much memory. */
static void *list_add(const struct reader *reader, struct list *list)
{
	if (keep_bytes(reader, list->item))
		return NULL;
	NEED(grow_list(&list->items, list->used, &list->size, list->item, 16));
	return memset(list->items + list->used++ * list->item, 0, list->item);
}

static void list_end(struct reader *reader, struct list *list, const struct row *row, void *to)
{
	void *items = list->used ? need(reader->arena, list->used * list->item) : NULL;

	if (items)
		memcpy(items, list->items, list->used * list->item);
	memcpy(member(to, row->at), &items, sizeof(items));
	memcpy(member(to, row->count_at), &list->used, sizeof(list->used));
}

static int keep_text(struct reader *reader, const char **to)
{
	const struct json *json = reader->json;

	if (keep_bytes(reader, json->length + ARENA_OVERHEAD))
		return -EINVAL;
	*to = arena_text(reader->arena, json->text, json->length);
	NEED(*to);
	return 0;
}

static int read_text(struct reader *reader, enum json_token token, const char **to)
{
	if (token != JSON_STRING)
		return refuse_value(reader, "a string");
	return keep_text(reader, to);
}

static int refuse_number(struct reader *reader, int64_t least, uint64_t most)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "an integer from %lld to %llu", (long long)least,
		 (unsigned long long)most);
	return refuse_value(reader, wanted);
}

/* Stores the low `size` bytes (8 or 4). memcpy() of a constant size is faster than of `size`. */
static void store(void *to, uint64_t number, size_t size)
{
	if (size == sizeof(number))
		memcpy(to, &number, sizeof(number));
	else
		memcpy(to, &number, sizeof(uint32_t)); /* little-endian: the low bytes come first */
}

static int read_unsigned(struct reader *reader, enum json_token token, uint64_t most, void *to,
			 size_t size)
{
	const struct json *json = reader->json;

	if (token != JSON_NUMBER || !json->exact || (json->negative && json->magnitude) ||
	    json->magnitude > most)
		return refuse_number(reader, 0, most);
	store(to, json->magnitude, size);
	return 0;
}

static int read_signed(struct reader *reader, enum json_token token, uint64_t most, void *to,
		       size_t size)
{
	const struct json *json = reader->json;
	int64_t number = (int64_t)json->magnitude;

	if (token != JSON_NUMBER || !json->exact || json->magnitude > most)
		return refuse_number(reader, -(int64_t)most, most);
	store(to, (uint64_t)(json->negative ? -number : number), size);
	return 0;
}

static int read_hex(struct reader *reader, enum json_token token, uint64_t *to)
{
	const struct json *json = reader->json;
	char *end;

	if (token != JSON_STRING || json->length < 3 || json->length > 18 ||
	    memcmp(json->text, "0x", 2) != 0)
		return refuse_value(reader, "a string \"0x...\" of at most 64 bits");
	*to = strtoull(json->text + 2, &end, 16);
	return *end || json->text[2] == '-'
		       ? refuse_value(reader, "a string \"0x...\" of at most 64 bits")
		       : 0;
}

static int read_bool(struct reader *reader, enum json_token token, bool *to)
{
	if (token != JSON_TRUE && token != JSON_FALSE)
		return refuse_value(reader, "true or false");
	*to = token == JSON_TRUE;
	return 0;
}

/* Sets `to` to the word's position in its list; an unknown word gets the last position. */
static int read_word(struct reader *reader, enum json_token token, enum row_words words, int *to)
{
	if (token != JSON_STRING)
		return refuse_value(reader, "a string");
	for (*to = 0; rows_word(words, *to); ++*to) {
		if (!strcmp(rows_word(words, *to), reader->json->text))
			return 0;
	}
	--*to;
	return 0;
}

/* Stores a number, string or boolean as text, and skips any other value. */
static int read_value(struct reader *reader, enum json_token token, const char **to)
{
	switch (token) {
	case JSON_STRING:
	case JSON_NUMBER:
		return keep_text(reader, to);
	case JSON_TRUE:
	case JSON_FALSE:
		*to = token == JSON_TRUE ? "true" : "false";
		return 0;
	default:
		return json_skip(reader->json, token);
	}
}

static int read_pairs(struct reader *reader, enum json_token token, struct list *list)
{
	if (token != JSON_OBJECT)
		return refuse_value(reader, "an object");
	while ((token = json_next(reader->json)) == JSON_KEY) {
		struct trace_pair *pair = list_add(reader, list);
		int error = pair ? read_text(reader, JSON_STRING, &pair->name) : -EINVAL;

		if (!error)
			error = read_value(reader, json_next(reader->json), &pair->value);
		if (error)
			return error;
	}
	return token == JSON_OBJECT_END ? 0 : -EINVAL;
}

/* NOLINTNEXTLINE(misc-no-recursion): recurses only as deep as rows of facts/trace.def nest */
static int read_object(struct reader *reader, enum json_token token, struct rows rows, void *to)
{
	const char *outer = reader->key;
	size_t next = 0; /* the row whose key is expected next: writers keep the rows' order */

	if (token != JSON_OBJECT)
		return refuse_value(reader, "an object");
	for (;;) {
		const struct row *row = next < rows.rows_n ? &rows.rows[next] : NULL;
		int error;

		if (!row || row->kind == ROW_BREAK ||
		    !json_take_key(reader->json, row->text, row->length)) {
			token = json_next(reader->json);
			if (token != JSON_KEY)
				return token == JSON_OBJECT_END ? 0 : -EINVAL;
			row = rows_find(rows, reader->json->text);
		}
		next = row ? (size_t)(row - rows.rows) + 1 : rows.rows_n;
		error = row ? read_row(reader, row, to)
			    : json_skip(reader->json, json_next(reader->json));
		if (error)
			return error;
		reader->key = outer;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): recurses only as deep as rows of facts/trace.def nest */
static int read_item(struct reader *reader, enum json_token token, const struct row *row,
		     void *item)
{
	switch (row->kind) {
	case ROW_TEXTS:
		return read_text(reader, token, item);
	case ROW_U32S:
		return read_unsigned(reader, token, UINT32_MAX - 1, item, sizeof(uint32_t));
	case ROW_U64S:
		*(uint64_t *)item = TRACE_NONE;
		return token == JSON_NULL
			       ? 0
			       : read_unsigned(reader, token, UINT64_MAX, item, sizeof(uint64_t));
	default:
		rows_clear(row->of, item);
		return read_object(reader, token, rows_of(row->of), item);
	}
}

static size_t item_size(const struct row *row)
{
	switch (row->kind) {
	case ROW_TEXTS:
		return sizeof(const char *);
	case ROW_U32S:
		return sizeof(uint32_t);
	case ROW_U64S:
		return sizeof(uint64_t);
	case ROW_PAIRS:
	case ROW_COUNTS:
		return sizeof(struct trace_pair);
	default:
		return rows_of(row->of).size;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): recurses only as deep as rows of facts/trace.def nest */
static int read_items(struct reader *reader, enum json_token token, const struct row *row,
		      struct list *list)
{
	if (token != JSON_ARRAY)
		return refuse_value(reader, "an array");
	while ((token = json_next(reader->json)) != JSON_ARRAY_END) {
		void *item;
		int error;

		if (token == JSON_ERROR)
			return -EINVAL;
		item = list_add(reader, list);
		error = item ? read_item(reader, token, row, item) : -EINVAL;
		if (error)
			return error;
	}
	return 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): recurses only as deep as rows of facts/trace.def nest */
static int read_list(struct reader *reader, enum json_token token, const struct row *row, void *to)
{
	struct list list = { .item = item_size(row) };
	int error = row->kind == ROW_PAIRS || row->kind == ROW_COUNTS
			    ? read_pairs(reader, token, &list)
			    : read_items(reader, token, row, &list);

	if (!error)
		list_end(reader, &list, row, to);
	free(list.items);
	return error;
}

/* NOLINTNEXTLINE(misc-no-recursion): recurses only as deep as rows of facts/trace.def nest */
static int read_row(struct reader *reader, const struct row *row, void *to)
{
	enum json_token token = json_next(reader->json);
	void *value = member(to, row->at);

	reader->key = row->key;
	if (token == JSON_ERROR)
		return -EINVAL;
	if (token == JSON_NULL)
		return 0;
	switch (row->kind) {
	case ROW_TEXT:
		return read_text(reader, token, value);
	case ROW_VALUE:
		return read_value(reader, token, value);
	case ROW_U64:
	case ROW_OPTIONAL:
		return read_unsigned(reader, token, UINT64_MAX, value, row->size);
	case ROW_U32:
	case ROW_POSITION:
		return read_unsigned(reader, token, UINT32_MAX - 1, value, row->size);
	case ROW_I64:
		return read_signed(reader, token, INT64_MAX, value, row->size);
	case ROW_INT:
		return read_signed(reader, token, INT16_MAX, value, row->size);
	case ROW_BOOL:
		return read_bool(reader, token, value);
	case ROW_HEX:
		return read_hex(reader, token, value);
	case ROW_WORD:
		return read_word(reader, token, row->of, value);
	case ROW_OBJECT:
		return read_object(reader, token, rows_of(row->of), value);
	default:
		return read_list(reader, token, row, to);
	}
}

int trace_read(struct trace *trace, const struct row *row)
{
	struct reader reader = { &trace->reader->json, &trace->arena, row->key };

	return read_row(&reader, row, trace);
}
