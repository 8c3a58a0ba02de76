/*
 * The report on a trace: what filled the memory, and which lines of code allocated it.
 *
 * report_write() writes text for people, in 80 columns, or JSON of the stable schema
 * memtrace-report/1; report_brief() writes the lines that `memtrace run` prints on stderr.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/selection/selection_options.h"

struct out;
struct rules;
struct trace;

struct report_options {
	struct selection_options select;
	/* The number, from 1, of a failed allocation to explain in place of the report, or
	 * REPORT_OOM_LAST for the last one; 0 to write the report. */
	uint64_t oom;
	size_t limit; /* maximum number of rows of a list, 0 for all */
	bool full;    /* shows all sections and rows, whole stacks, and every stack of a site */
	bool colour;
	unsigned columns;          /* width of the terminal, 0 if the output is not a terminal */
	const struct rules *rules; /* rules for categories, NULL for the built-in ones */
	const char *suppressions;  /* path of a file of suppressions (findings/leaks.h), or NULL */
	const char *name;          /* the trace's name in JSON, NULL for its path */
	uint32_t show;             /* one report_section_bit() per section; 0: the default ones */
};

#define REPORT_OOM_LAST UINT64_MAX

/* report_section_bit() returns the bit of the section in report_sections.def with this name, or 0
 * if there is none. report_section_names() returns a text with all names, a blank after each. */
uint32_t report_section_bit(const char *name, size_t length);
const char *report_section_names(void);

/* Returns the bits of the sections that are made from the trace's events. */
uint32_t report_section_bits_of_events(void);

/* Writes the whole report to `out`. Returns 0, or -errno with a sentence in err_text(). */
int report_write(struct trace *trace, struct out *out, const struct report_options *options,
		 bool json);

/* Writes a summary of at most seven short lines, each after `prefix`. Returns 0 or -errno. */
int report_brief(struct trace *trace, struct out *out, const char *prefix);

/* Writes the explanation of the failed allocation that ended the program, if the process was killed
 * or called _exit(), and so could not print it. Else, or without such a failure, writes nothing. */
void report_last_words(const struct trace *trace, struct out *out, const char *prefix);
