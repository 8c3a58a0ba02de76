/*
 * Makes a trace, the JSON document memtrace/1 (include/memtrace/trace.schema.json), from a spool,
 * both at the end of the traced program and in the tool.
 */
#pragma once

#include <stdbool.h>

#include "base/text/out.h"
#include "codec/event.h"
#include "facts/spool_model.h"

enum {
	OOM_TEXT_LINES = 23, /* maximum; on stderr, a further line gives the trace's path */
	OOM_TEXT_COLUMNS = 80,
	OOM_TEXT_BYTES = 4 * OOM_TEXT_COLUMNS + 1, /* maximum size of a UTF-8 line with its NUL */
};

struct oom_text { /* the explanation of a failed allocation */
	char lines[OOM_TEXT_LINES][OOM_TEXT_BYTES];
	unsigned count;
};

/* Facts about the trace that the caller of document_write() may print. */
struct document_told {
	uint64_t ooms;       /* number of failed allocations */
	bool survived;       /* the program continued after the last failure; true if none failed */
	struct oom_text oom; /* the explanation of the last failure; no lines if none failed */
};

/* The destination of a trace: the function `sink` or, if that is NULL, the file descriptor. */
struct document_to {
	int fd;
	out_sink *sink;
	void *sink_to; /* first argument of `sink` */
};

/* Writes the trace. Returns 0 or -errno. *told, unless `told` is NULL, is filled before any write,
 * so only -ENOMEM can leave it unfilled. Calls malloc() only to demangle names. */
int document_write(const struct spool *spool, const struct document_to *to,
		   enum symbols_names names, enum trace_exit exit, struct document_told *told);

/* Fills *trace, which the caller has initialised by rows_clear(), without writing it. The trace
 * points into *recording, which the caller must have set to all 0. Returns 0 or -ENOMEM. */
int document_fill(struct trace *trace, struct spool_model *recording, const struct spool *spool,
		  enum symbols_names names, enum trace_exit exit, struct document_told *told);

/* write_rows.c: writes all members of the trace but its events, each followed by a comma. With
 * `baseline`, leaves out members marked FULL in facts/trace.def that are 0, null or empty. */
void document_facts(struct out *out, const struct trace *trace, bool baseline);

/* Writes one member, "key":value. facts/trace.def must have a row with that key. */
void document_member(struct out *out, const struct trace *trace, const char *key);

/* Writes a struct as a JSON object with the members that facts/trace.def lists under BEGIN(of). */
void document_object(struct out *out, enum rows_of of, const void *object);

void document_event(struct out *out, const struct spool *spool, const struct event *event);

/* --- document_*.c: each fills some of the trace's members --- */

/* fills schema, process, environment, capture */
void document_head(struct spool_model *recording, enum trace_exit exit);
void document_calls(struct spool_model *recording);
/* fills cupti_check, actions, spans, if CUPTI was used */
void document_cupti(struct spool_model *recording);
void document_used(struct spool_model *recording);
void document_summary(struct spool_model *recording);
/* fills peaks, and the bytes of stacks at peaks and at the end */
void document_peaks(struct spool_model *recording);
void document_ooms(struct spool_model *recording, struct document_told *told);
/* fills modules, frames, stacks, threads */
void document_names(struct spool_model *recording);
void document_timeline(struct spool_model *recording);

/* Returns a sentence on why recording stopped early (enum spool_stop); NULL if it did not. */
const char *document_stop_text(unsigned stop);
