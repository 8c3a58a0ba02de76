/* How the sections of the document come to be: each item is written and forgotten, or kept. */
#include <errno.h>
#include <string.h>

#include "render/document/document_sections.h"

void *filler_room(struct filler *filler, size_t count, size_t size)
{
	void *room = arena_alloc(filler->arena, count * size + 1);

	if (!room)
		filler->error = -ENOMEM;
	return room;
}

void *filler_items(struct filler *filler, size_t count, enum rows_of of)
{
	void *items = rows_make(filler->arena, of, count);

	if (!items)
		filler->error = -ENOMEM;
	return items;
}

const char *filler_text(struct filler *filler, const char *text)
{
	char *copy = arena_text(filler->arena, text, strlen(text));

	if (!copy)
		filler->error = -ENOMEM;
	return copy;
}

static void begin_member(struct filler *filler, const struct row *row)
{
	out_char(filler->writer.out, '"');
	out_text(filler->writer.out, row->key);
	out_text(filler->writer.out, "\":");
}

void document_member(struct filler *filler, const char *key, fill_item *fill, const void *from)
{
	const struct row *row = rows_find(rows_of(ROWS_trace), key);
	void *item;

	if (filler->error)
		return;
	filler->from = from;
	if (filler->to) {
		fill(filler, 0, (char *)filler->to + row->at);
		return;
	}
	item = filler_items(filler, 1, row->of);
	if (!item || !fill(filler, 0, item) || filler->error)
		return;
	begin_member(filler, row);
	write_object(&filler->writer, row, item);
	out_text(filler->writer.out, ",\n");
	arena_reset(filler->arena);
}

void document_number(struct filler *filler, const char *key, uint64_t number)
{
	const struct row *row = rows_find(rows_of(ROWS_trace), key);

	if (filler->error)
		return;
	if (filler->to) {
		memcpy((char *)filler->to + row->at, &number, sizeof(number));
		return;
	}
	begin_member(filler, row);
	out_u64(filler->writer.out, number);
	out_text(filler->writer.out, ",\n");
}

static void write_list(struct filler *filler, const struct row *row, uint64_t count,
		       fill_item *fill)
{
	bool first = true;

	begin_member(filler, row);
	out_char(filler->writer.out, '[');
	for (uint64_t i = 0; i < count && !filler->writer.out->error; i++) {
		void *item = filler_items(filler, 1, row->of);
		bool there = item && fill(filler, i, item);

		if (filler->error)
			return;
		if (there) {
			write_separator(&filler->writer, row, first);
			write_object(&filler->writer, row, item);
			first = false;
		}
		arena_reset(filler->arena);
	}
	out_text(filler->writer.out, "],\n");
}

static void keep_list(struct filler *filler, const struct row *row, uint64_t count, fill_item *fill)
{
	char *items = filler_items(filler, count, row->of);
	size_t size = rows_of(row->of).size;
	size_t kept = 0;

	for (uint64_t i = 0; i < count && !filler->error; i++) {
		/* One that is not there has left its place as it was. */
		if (fill(filler, i, items + kept * size))
			kept++;
	}
	memcpy((char *)filler->to + row->at, &items, sizeof(items));
	memcpy((char *)filler->to + row->count_at, &kept, sizeof(kept));
}

void document_list(struct filler *filler, const char *key, uint64_t count, fill_item *fill,
		   const void *from)
{
	const struct row *row = rows_find(rows_of(ROWS_trace), key);

	if (filler->error)
		return;
	filler->from = from;
	if (filler->to)
		keep_list(filler, row, count, fill);
	else
		write_list(filler, row, count, fill);
}
