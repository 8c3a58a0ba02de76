/*
 * The JSON document memtrace/1 from a spool,
 * include/memtrace/trace.schema.json.
 *
 * The same function at the end of the traced program and in the tool.
 */
#pragma once

#include <stdbool.h>

#include "base/text/out.h"
#include "codec/event.h"
#include "facts/spool_model.h"

enum {
	OOM_TEXT_LINES = 23, /* one more names the trace */
	OOM_TEXT_COLUMNS = 80,
	OOM_TEXT_BYTES = 4 * OOM_TEXT_COLUMNS + 1, /* of a line, in UTF-8 */
};

struct oom_text {
	char lines[OOM_TEXT_LINES][OOM_TEXT_BYTES];
	unsigned count;
};

/* The part of a document that its writer may want to report at once. */
struct document_told {
	uint64_t ooms;       /* allocations that failed because memory ran out */
	bool survived;       /* the program went on after the last of them */
	struct oom_text oom; /* that one, explained */
};

/* The destination of a document: the descriptor, or the sink where there is one. */
struct document_to {
	int fd;
	out_sink *sink;
	void *sink_to;
};

/* Writes the document: 0 or -errno. `told`, which may be NULL, is filled even if nothing can be
 * written. Memory is taken from malloc only where names are demangled. */
int document_write(const struct spool *spool, const struct document_to *to,
		   enum symbols_names names, enum trace_exit exit, struct document_told *told);

/* The same without JSON: fills the trace, which is cleared (rows_clear) and points into the
 * recording, an empty one, from then on. 0 or -ENOMEM. */
int document_fill(struct trace *trace, struct spool_model *recording, const struct spool *spool,
		  enum symbols_names names, enum trace_exit exit, struct document_told *told);

/* write_rows.c: writes the trace's members up to its events, with a comma after each. In a
 * baseline, FULL rows are left out where they are 0, null or empty. */
void document_facts(struct out *out, const struct trace *trace, bool baseline);

/* Writes one member, which must exist: "key":value. */
void document_member(struct out *out, const struct trace *trace, const char *key);

/* Writes an object of these rows. */
void document_object(struct out *out, enum rows_of of, const void *object);

/* Writes an event. */
void document_event(struct out *out, const struct spool *spool, const struct event *event);

/* --- document_*.c: each fills some of the members that stand before the events --- */

/* schema, process, environment, capture */
void document_head(struct spool_model *recording, enum trace_exit exit);
void document_calls(struct spool_model *recording);
/* cupti_check, actions, spans: only when CUPTI was asked for. */
void document_cupti(struct spool_model *recording);
/* samples of `used` that showed a change, in their order */
void document_used(struct spool_model *recording);
void document_summary(struct spool_model *recording);
/* peaks, and what stacks held in them and at the end */
void document_peaks(struct spool_model *recording);
void document_ooms(struct spool_model *recording, struct document_told *told);
/* modules, frames, stacks, threads */
void document_names(struct spool_model *recording);
void document_timeline(struct spool_model *recording);

/* Why recording stopped early (enum spool_stop), as a sentence; NULL if it did not. */
const char *document_stop_text(unsigned stop);
