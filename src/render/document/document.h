/*
 * The JSON document memtrace/1 from a spool,
 * include/memtrace/trace.schema.json.
 *
 * The same function at the end of the traced program and in the tool.
 */
#ifndef RENDER_DOCUMENT_DOCUMENT_H
#define RENDER_DOCUMENT_DOCUMENT_H

#include <stdbool.h>

#include "base/text/out.h"
#include "codec/event.h"
#include "facts/trace_model.h"
#include "render/document/oom_text.h"
#include "spool/spool.h"

enum document_flags {
	DOCUMENT_EVENTS = 1,  /* `events` is filled; without it it is there, and empty */
	DOCUMENT_LOAD = 2,    /* libraries may be loaded, to demangle names (the tool) */
	DOCUMENT_MANGLED = 4, /* no name is demangled: malloc is not to be called */
};

/* What a document tells that its writer may want to say at once. */
struct document_told {
	uint64_t ooms;       /* allocations that failed for want of memory, not caught */
	bool survived;       /* the program went on behind the last of them */
	struct oom_text oom; /* that one, explained */
};

/* Where a document goes: to the descriptor, or through the sink where there is one. */
struct document_to {
	int fd;
	out_sink *sink;
	void *sink_to;
};

/*
 * Streams the document to the descriptor: 0 or -errno. `exit` is the value of process.exit. What is
 * told is told although the descriptor takes nothing.
 */
int document_write(const struct spool *spool, int fd, unsigned flags, const char *exit);
int document_write_told(const struct spool *spool, const struct document_to *to, unsigned flags,
			const char *exit, struct document_told *told);

/*
 * Opens a spool file and writes its document: 0, or -errno and a sentence in `why` (of `size`
 * bytes). process.exit is "running" while its process lives, "exit" if that closed it, else
 * "unfinished".
 */
int document_from_spool(const char *path, const struct document_to *to, unsigned flags, char *why,
			size_t size);

/* The same without JSON: fills a trace, which points into the recording from then on. 0 or -ENOMEM.
 */
struct recording;
struct trace;
int document_fill(struct trace *trace, struct recording *recording, enum trace_exit exit);

/* An event as the document has it. */
void document_event(struct out *out, const struct spool *spool, const struct event *event);

/* How the process of an opened spool ended, as far as the spool tells. */
enum trace_exit document_exit(const struct spool *spool);

/* Why recording stopped before its process ended (enum spool_stop); NULL when it did not. */
const char *document_stop_text(unsigned stop);

#endif
