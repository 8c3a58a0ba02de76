/*
 * The report on a trace: what filled the memory, which line put it there.
 *
 * report_text() is for people, in 80 columns; report_json() is the stable document
 * memtrace-report/1; report_brief() is what `memtrace run` says on stderr.
 */
#ifndef RENDER_REPORT_REPORT_H
#define RENDER_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/selection/options.h"

struct out;
struct rules;
struct trace;

struct report_options {
	struct selection_options select;
	uint64_t oom; /* explained in the place of the report: its number, REPORT_OOM_LAST, or 0 */

	size_t limit; /* rows of a list, 0 for all */
	bool full;    /* whole stacks, and every stack of a site */
	bool colour;
	const struct rules *rules; /* NULL: the built-in ones */
	const char *suppressions;  /* a file, analyse/findings/leaks.h; NULL for none */
	const char *name;          /* of the trace in the document, NULL: its path */
	uint32_t show; /* a bit a section (report_section_bit), 0 for those of the first screen */
};

#define REPORT_OOM_LAST UINT64_MAX

/* The bit of a row of report_sections.def, 0 for none; all names, a blank behind each. */
uint32_t report_section_bit(const char *name, size_t length);
const char *report_section_names(void);

/* The bits of those that cannot be told without the events. */
uint32_t report_section_bits_of_events(void);

/* 0 or -errno with a sentence in err_text(). */
int report_text(struct trace *trace, struct out *out, const struct report_options *options);
int report_json(struct trace *trace, struct out *out, const struct report_options *options);

/* Six lines at most, each behind `prefix`. */
int report_brief(struct trace *trace, struct out *out, const char *prefix);

/* The failure that a process ended by which could not say so itself (killed, _exit), explained. */
void report_last_words(const struct trace *trace, struct out *out, const char *prefix);

#endif
