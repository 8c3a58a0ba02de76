/*
 * What the parts of the report share: what is known of the trace, and how it is told.
 */
#ifndef RENDER_REPORT_REPORT_PARTS_H
#define RENDER_REPORT_REPORT_PARTS_H

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
	int *error;  /* of the first section that failed, 0: none did */
	bool json;   /* the document; else the text for people */
	bool screen; /* for people, who asked for nothing by name: what matters most, in short */
};

/*
 * --- what a report knows beyond the sums of the trace: report_analysis.c ---
 *
 * The events are read for it when a section that tells of them is asked for, and in any case when
 * they are few: so the screen of an ordinary trace knows of growth, and that of ten million events
 * comes at once.
 */

struct report_study {
	bool surveyed; /* `survey` holds what the events say */
	struct event_scan survey;
	struct suppressions suppressions;
	struct leaks leaks;
	struct facts facts;
	struct rules builtin; /* where the options have none */
	struct categories categories;
	bool categorised; /* `categories` holds what the events, or stacks, say */
	bool again_open;
	struct trace again; /* whose events they were found in, if those are read twice */
};

/* In front of report_select(), which changes what stacks are, and behind it, where the events are
 * read if need be: 0, or -errno with err_text(). */
int report_study_start(struct report_study *study, const struct report *report);
int report_study(struct report_study *study, const struct report *report);
void report_study_clear(struct report_study *study);

/* The bigger story than the peak, in a sentence: growth, or memory that nobody can use. NULL for
 * none. */
const char *report_study_story(const struct report *report);

/* --- what a report says, before it is said: report_facts.c --- */

/* What a stack holds, to be put together with others of the same key. */
struct report_share {
	uint64_t key, bytes, count, stack;
};

/* Shares of one key. */
struct report_group {
	uint64_t key, bytes, count;
	const char *name;                  /* of a call site; NULL: it has none */
	const struct report_share *shares; /* largest first */
	size_t shares_n;
};

/* Groups of shares, which are sorted for it, the largest first; those of a peak, NULL for none, by
 * call site. */
struct emit_rows report_group(const struct report *report, const struct emit_rows *shares);
struct emit_rows report_group_peak(const struct report *report, const struct trace_peak *peak);

/* Is the device one of those that the options say? */
bool report_is_wanted(const struct report *report, int device);

/* The device whose allocated peak is the highest, among those wanted; NULL when there is none. */
const struct trace_device *report_worst(const struct report *report);

/* Reserved when allocated was at its peak; TRACE_NONE when the timeline does not tell. */
uint64_t report_reserved_at_peak(const struct trace *trace, const struct trace_device *device);

/* "Peak 1.23 GiB allocated of ..., at 12.3 s; most of it 812.00 MiB from Net.forward
 * (train.py:12)." */
const char *report_answer(const struct report *report);

/* How many allocations failed for want of memory on the devices wanted. */
uint64_t report_ooms(const struct report *report);

/* One of them as a sentence. */
const char *report_failure_text(const struct report *report, const struct event *event);

/* The explained failure that ended the program, on the devices wanted; it in a sentence, and why.
 * NULL when there is none. */
const struct trace_oom *report_fatal(const struct report *report);
const char *report_fatal_text(const struct report *report);

/* The line of a stack that matters, or its site, or what else is known. */
const char *report_line(const struct report *report, uint64_t stack);

/* --- how it is told: report_table.c --- */

/* Remembers the first error that there was. */
void report_fail(const struct report *report, int error);

/*
 * Rows and texts live as long as the trace does. Without memory the report fails: a list lacks a
 * row then, a text is "", and report_room() gives NULL.
 */
void report_add(const struct report *report, struct emit_rows *rows, const void *row);
void *report_room(const struct report *report, size_t size);
const char *report_format(const struct report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Rows to be added, of which as many are shown as the options say. */
#define report_rows(report, type) EMIT_NONE_OF(type, report_limit(report))

/* A table with a heading, as the sections have it. */
void report_table(const struct report *report, const struct emit_column *columns,
		  const struct emit_rows *rows, const char *heading);

/* Rows as a list of the document; for people as a table, where there are any. */
void report_tell_rows(const struct report *report, const char *key,
		      const struct emit_column *columns, struct emit_rows rows,
		      const char *heading);

/* A member of the document: an object, null for NULL; a list. */
void report_member(const struct report *report, const char *key, const struct emit_column *columns,
		   const void *row);
void report_list(const struct report *report, const char *key, const struct emit_column *columns,
		 const struct emit_rows *rows);

/* Is it told of the device? The screen has details of the one that peaks highest. */
bool report_wants(const struct report *report, int device);
/* "  estimated from samples of 1.00 MiB", where what follows is. */
void report_say_estimated(const struct report *report);

/* How many rows of a list are shown. */
size_t report_limit(const struct report *report);

/* A line, a heading, or a sentence whose lines after the first are indented by so much. */
enum { SAID_LINE = -1, SAID_HEADING = -2 };

void report_say(const struct report *report, int how, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Bytes, their share of the whole, a name. */
struct report_site {
	struct emit_part part;
	const char *name;
	const char *count; /* at the end of the line, "" for none */
};

/* Its columns, of a struct that begins with one: share, name and count. */
extern const struct emit_column report_site_cells[];

void report_site_row(const struct report *report, const char *name, uint64_t bytes, uint64_t whole);

/* Bytes, but for TRACE_NONE, and a remark under the names of sites. */
void report_note(const struct report *report, uint64_t bytes, const char *text);

/* Rows of them, and one of what is left out. */
void report_site_rows(const struct report *report, const struct emit_rows *rows);

/* report_oom.c: has the trace the failure that options->oom asks for? 0, or -errno. */
int report_oom_check(const struct report *report);

/* report_peaks.c: who held it, by site; what peak->bytes has beyond them is `others`. */
void report_composition(const struct report *report, const struct trace_peak *peak,
			const char *others);

/*
 * report_categories.c: a composition of allocated memory by category, CATEGORIES_MOST sums; false
 * when it is not known. The same as a table, and as rows of the document, null when not known.
 */
bool report_category_sums(const struct report *report, const struct trace_peak *peak,
			  struct category_sum *sums);
void report_category_table(const struct report *report, const struct trace_peak *peak);
extern const struct emit_column report_category_columns[];
struct emit_rows report_category_rows(const struct report *report, const struct trace_peak *peak);

/* report_peaks.c: a peak's composition in the document. */
struct report_composed {
	int device;
	const char *pool, *metric;
	uint64_t t, bytes, unknown;
	struct emit_rows categories, sites, stacks;
};

extern const struct emit_column report_composed_members[];

struct report_composed report_compose(const struct report *report, const struct trace_peak *peak);

/*
 * The sections, a function each. For people it writes a heading and rows, nothing when there is
 * nothing to tell; in the document whole members, after others.
 */
typedef void report_section(const struct report *report);

#define SECTION(name, when, what) report_section report_tell_##name;
#include "render/report/report_sections.def"
#undef SECTION

enum report_when {
	REPORT_SCREEN, /* always: it reads stacks, sites and peaks, which follow selections */
	REPORT_WHOLE,  /* always, but not of a selection: it tells of the whole run */
	REPORT_DETAIL, /* as REPORT_MORE; also when no device has a peak to tell of */
	REPORT_ASIDE,  /* as REPORT_MORE, but not of a selection */
	REPORT_MORE,   /* with --full, in the report for programs, and when asked for by name */
	REPORT_ASKED,  /* with --full and when asked for by name */
	REPORT_EVENTS, /* likewise, and it reads the events: of the whole run only */
	REPORT_OOM,    /* likewise, in the report for programs, and with --oom, then no other */
	REPORT_MOMENT, /* with --at, and then no other */
};

#endif
