/*
 * The sections of the document before the events, one function each, in the order in which they are
 * written: each fills structs from a recording. They are written one by one, or kept.
 */
#ifndef RENDER_DOCUMENT_DOCUMENT_SECTIONS_H
#define RENDER_DOCUMENT_DOCUMENT_SECTIONS_H

#include "codec/event.h"
#include "facts/oom/oom.h"
#include "facts/phases.h"
#include "facts/spool_model.h"
#include "facts/trace_model.h"
#include "facts/trace_rows.h"
#include "render/document/write_rows.h"

/* Members of a trace on their way from a recording to JSON, or into a struct trace. */
struct filler {
	const struct recording *recording;
	const struct spool *spool;
	struct arena *arena; /* of what is filled; given back after each item that is written */
	struct row_writer writer; /* without `out`: */
	struct trace *to;
	int error;        /* 0, or -ENOMEM: the first one, everything after it is dropped */
	const void *from; /* of the list that is being filled: what its items come from */
};

/* Fills item number i of a list, which is cleared: false when there is none at that number. */
typedef bool fill_item(struct filler *filler, uint64_t i, void *item);

/* A list of the document: those of `count` items that there are. */
void document_list(struct filler *filler, const char *key, uint64_t count, fill_item *fill,
		   const void *from);

/* An object of the document, and a number. */
void document_member(struct filler *filler, const char *key, fill_item *fill, const void *from);
void document_number(struct filler *filler, const char *key, uint64_t number);

/* Zeroed room for so many values, cleared when they are objects; NULL without memory. */
void *filler_room(struct filler *filler, size_t count, size_t size);
void *filler_items(struct filler *filler, size_t count, enum rows_of of);
const char *filler_text(struct filler *filler, const char *text);

/* NULL for a text that there is not. */
static inline const char *filler_name(const struct filler *filler, uint32_t text)
{
	return text ? spool_text(filler->spool, text) : NULL;
}

/* schema, process, environment, capture */
void document_head(struct filler *filler, enum trace_exit exit);
void document_calls(struct filler *filler);
/* witness, actions, spans: only when CUPTI was asked for. */
void document_cupti(struct filler *filler);
void document_used(struct filler *filler);
void document_summary(struct filler *filler);
void document_peaks(struct filler *filler);
void document_ooms(struct filler *filler, const struct ooms *ooms);
/* modules, frames, stacks, threads */
void document_names(struct filler *filler);
void document_sites(struct filler *filler);
void document_phases(struct filler *filler, const struct phases *phases);
void document_timeline(struct filler *filler);

/* What a range or mark says beside its name and category; "" for nothing. */
enum { DETAIL_COLOR = 8, DETAIL_PAYLOAD = 40 };
struct detail_text {
	char color[DETAIL_COLOR], payload[DETAIL_PAYLOAD];
};
void document_detail(const struct event_detail *detail, struct detail_text *text);

#endif
