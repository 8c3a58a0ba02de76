/* Shared by the report's source files: findings about the trace, and functions that write rows. */
#pragma once

#include "analyse/categories/categories.h"
#include "analyse/findings/advice.h"
#include "analyse/findings/event_scan.h"
#include "analyse/findings/leaks.h"
#include "analyse/trace/trace.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"
#include "render/report/report.h"
#include "render/selection/select.h"

struct report_study;

struct report {
	struct trace *trace;
	struct show show;
	const struct report_options *options;
	const struct report_selection *selection;
	const struct report_study *study;
	int *error;  /* the error of the first section that failed, 0 if none did */
	bool json;   /* true: writes JSON; false: writes text for people */
	bool screen; /* true: writes the short report that is the default for people */
};

/*
 * --- findings that need more than the trace's sums: report_analysis.c ---
 *
 * The events are read if a section needs them, and always if they are few. So the short report has
 * the growth of call sites for an ordinary trace, and is instant for a trace of ten million events.
 */

struct report_study {
	bool surveyed; /* true: the events were read and `survey` is filled */
	struct event_scan survey;
	struct suppressions suppressions;
	struct leaks leaks;
	struct facts facts;
	struct rules builtin; /* used when the options have no rules */
	struct categories categories;
	bool categorised;   /* true: `categories` is filled, from the events or from the stacks */
	struct trace again; /* the trace opened a second time, if categories must be found before
			       the events are selected */
};

/* Fill the study. report_study_start() needs the stacks as in the trace, so it is called before
 * report_select(), which changes them, and report_study() after that. Both return 0, or -errno with
 * err_text(). */
int report_study_start(struct report_study *study, const struct report *report);
int report_study(struct report_study *study, const struct report *report);
void report_study_clear(struct report_study *study);

/* Returns a sentence on growth or on unused reserved memory, to begin the report with, or NULL. */
const char *report_study_story(const struct report *report);

/* --- stacks in groups: report_groups.c --- */

/* The bytes and number of blocks that a stack holds; stacks with equal keys form a group. */
struct report_share {
	uint64_t key, bytes, count, stack; /* stack: index into trace->stacks */
};

/* A group: all shares that have the same key. */
struct report_group {
	uint64_t key, bytes, count;
	const char *name;                  /* name of the call site, NULL if there is none */
	const struct report_share *shares; /* the group's shares, the largest first */
	size_t shares_n;
};

/* report_group() groups the shares, which it sorts, by key. report_group_peak() groups the stacks
 * of a peak by call site; it returns no rows if the peak is NULL. Both return rows of struct
 * report_group, the largest first. */
struct emit_rows report_group(const struct report *report, const struct emit_rows *shares);
struct emit_rows report_group_peak(const struct report *report, const struct trace_peak *peak);

/* --- the first sentences: report_first_sentences.c --- */

/* True if the user selected the device with --device, or named no device. */
bool report_is_wanted(const struct report *report, int device);

/* The selected device with the highest peak of allocated memory; NULL if there is none. */
const struct trace_device *report_worst(const struct report *report);

/* Bytes that the device had reserved at its peak of allocated memory; TRACE_NONE if not known. */
uint64_t report_reserved_at_peak(const struct trace *trace, const struct trace_device *device);

/* Returns the main sentence, on the selection or on the whole run: "Peak 1.23 GiB allocated of ...,
 * at 12.3 s; ...". report_run_answer() returns that on the whole run. */
const char *report_answer(const struct report *report);
const char *report_run_answer(const struct report *report);

/* Returns the sentence before it, on a failure, growth or unused memory; NULL if there is none. */
const char *report_story(const struct report *report);

/* Returns a sentence on what is unknown because events are missing; NULL if none are missing. */
const char *report_doubt(const struct report *report);

/* Returns " on device 0", or "" for NO_DEVICE. */
const char *report_place(const struct report *report, int device);

/* report_fatal() returns the failed allocation that ended the program, if it was on a selected
 * device; report_fatal_text() describes it in a sentence with the reason. NULL if there is none. */
const struct trace_oom *report_fatal(const struct report *report);
const char *report_fatal_text(const struct report *report);

/* Returns the stack's most relevant frame, else its call site, else "an unknown place". */
const char *report_line(const struct report *report, uint64_t stack);

/* report_leaks.c: returns the name with its kind of memory, "take (leak.py:3) [pinned]", or just
 * the name if it is device memory. */
const char *report_in_space(const struct report *report, const char *name, const char *space);

/* --- functions that write: report_output.c --- */

/* Sets *report->error, unless an earlier error is in it. */
void report_fail(const struct report *report, int error);

/* Rows and texts are allocated from the trace's arena; they are valid until the trace is closed. */
void report_add(const struct report *report, struct emit_rows *rows, const void *row);
void *report_room(const struct report *report, size_t size);
const char *report_format(const struct report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define report_rows(report, type) EMIT_NONE_OF(type, report_limit(report))

/*
 * report_list(), report_member() and report_members() write only if the report is JSON,
 * report_tell_rows() in both forms, and all other functions below only if it is text. So a section
 * calls all of them unconditionally.
 *
 * report_put() writes a table, indented by two columns; the report is passed to the table's
 * function `below` as the argument `with`.
 */
void report_put(const struct report *report, struct emit_table table);
void report_table(const struct report *report, const struct emit_column *columns,
		  const struct emit_rows *rows, const char *heading);

/* Writes rows as a list in JSON, or in the text as a table if there are any. */
void report_tell_rows(const struct report *report, const char *key,
		      const struct emit_column *columns, struct emit_rows rows,
		      const char *heading);

/* Write to a JSON report: members, one member that is an object (null if `row` is NULL), a list. */
void report_members(const struct report *report, const struct emit_column *columns,
		    const void *row);
void report_member(const struct report *report, const char *key, const struct emit_column *columns,
		   const void *row);
void report_list(const struct report *report, const char *key, const struct emit_column *columns,
		 const struct emit_rows *rows);

/* True if the report shows details of the device: by default, of the one with the highest peak. */
bool report_wants(const struct report *report, int device);
/* If the bytes that follow are estimated from samples, writes a line that says so. */
void report_say_estimated(const struct report *report);

/* Returns the maximum number of rows that a list shows, SIZE_MAX for all. */
size_t report_limit(const struct report *report);

/* Writes a line as it is if `how` is SAID_LINE, a heading if it is SAID_HEADING, else a sentence
 * that is wrapped, with `how` columns of indentation after its first line. */
enum { SAID_LINE = -1, SAID_HEADING = -2 };

void report_say(const struct report *report, int how, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A table row: a number of bytes, its share of the total, and a name. */
struct report_site {
	struct emit_part part;
	const char *name;
	const char *count; /* the number of blocks as text, at the end of the line; "" shows none */
};

/* The columns bytes, share, name and count, for any struct that begins with struct report_site. */
extern const struct emit_column report_site_cells[];

void report_site_row(const struct report *report, const char *name, uint64_t bytes, uint64_t whole);

/* Writes a remark below the row of a site, after the number of bytes unless this is TRACE_NONE. */
void report_note(const struct report *report, uint64_t bytes, const char *text);

/* Writes rows of struct report_site up to the limit, and one row with the sum of all others. */
void report_site_rows(const struct report *report, const struct emit_rows *rows);

/* report_oom.c: returns -errno with err_text() if failure options->oom is not in the trace. */
int report_oom_check(const struct report *report);

/* report_sites.c: writes the sites of a peak; `others` names the bytes without a stack. */
void report_composition(const struct report *report, const struct trace_peak *peak,
			const char *others);

/*
 * report_categories.c: return or write the bytes of a peak by category: as an array of
 * CATEGORIES_MOST sums (false: not known), a table for people, or rows for JSON (null: not known).
 */
bool report_category_sums(const struct report *report, const struct trace_peak *peak,
			  struct category_sum *sums);
void report_category_table(const struct report *report, const struct trace_peak *peak);
extern const struct emit_column report_category_columns[];
struct emit_rows report_category_rows(const struct report *report, const struct trace_peak *peak);

/* report_sites.c: the members of a peak in JSON. `unknown`: bytes that no recorded stack holds. */
struct report_composed {
	int device;
	const char *pool, *metric;
	uint64_t t, bytes, unknown;
	struct emit_rows categories, sites, stacks;
};

extern const struct emit_column report_composed_members[];

struct report_composed report_compose(const struct report *report, const struct trace_peak *peak);

/* A section: in the text it writes a heading and rows, or nothing if there is nothing to show; in
 * JSON it writes whole members. */
typedef void report_section(const struct report *report);

#define SECTION(name, when, what) report_section report_tell_##name;
#include "render/report/report_sections.def"

/* When a section is shown, unless --show names the sections. */
enum report_when {
	REPORT_SCREEN, /* always, except with --oom or --at */
	REPORT_WHOLE,  /* as REPORT_SCREEN, but not for a selection such as --pool */
	REPORT_DETAIL, /* as REPORT_MORE, and also if no device has a peak to show */
	REPORT_ASIDE,  /* as REPORT_MORE, but not for a selection */
	REPORT_MORE,   /* with --full, and in JSON */
	REPORT_ASKED,  /* with --full */
	REPORT_EVENTS, /* as REPORT_ASKED, but not for a selection: needs the trace's events */
	REPORT_OOM,    /* with --full, and in JSON; with --oom it is the only section */
	REPORT_MOMENT, /* with --at, when sections of other kinds are left out */
};
