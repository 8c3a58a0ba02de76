/*
 * The report on a trace: what filled the memory, and which lines of code allocated it.
 *
 * report_write() writes text for people, in 80 columns, or the stable document memtrace-report/1;
 * report_brief() writes the lines that `memtrace run` prints on stderr.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/selection/options.h"

struct out;
struct rules;
struct trace;

struct report_options {
	struct selection_options select;
	uint64_t oom; /* the failure to be explained instead of a report: its number,
			 REPORT_OOM_LAST, or 0 */

	size_t limit; /* rows of a list at most, 0 for all */
	bool full;    /* whole stacks, and every stack of a site */
	bool colour;
	const struct rules *rules; /* NULL: the built-in ones */
	const char *suppressions;  /* a file (analyse/findings/leaks.h), NULL for none */
	const char *name;          /* of the trace in the document, NULL: its path */
	uint32_t show; /* one bit per section (report_section_bit); 0 for the sections of the first
			  screen */
};

#define REPORT_OOM_LAST UINT64_MAX

/* The bit of the section with that name in report_sections.def, 0 if there is none; and all names
 * in one static text, each followed by a blank. */
uint32_t report_section_bit(const char *name, size_t length);
const char *report_section_names(void);

/* The bits of the sections that can only be written after the events have been read. */
uint32_t report_section_bits_of_events(void);

/* Writes the whole report to `out`. Returns 0, or -errno with a sentence in err_text(). */
int report_write(struct trace *trace, struct out *out, const struct report_options *options,
		 bool json);

/* Writes the summary, seven short lines at most, each after `prefix`. Returns 0 or -errno. */
int report_brief(struct trace *trace, struct out *out, const char *prefix);

/* For a process that was killed or called _exit() and so printed nothing itself: writes the
 * explanation of the out of memory that ended it, if the trace has one. */
void report_last_words(const struct trace *trace, struct out *out, const char *prefix);
