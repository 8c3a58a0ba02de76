/*
 * Shared by the parts of the report: the findings about the trace, and functions that write rows.
 */
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
	int *error;  /* of the first section that failed, 0 if none did */
	bool json;   /* true for the document, false for the text for people */
	bool screen; /* text for people who named no section: only what matters most, in short */
};

/*
 * --- findings of a report beyond the sums of the trace: report_analysis.c ---
 *
 * The events are read for them when a section is asked for that needs events, and in any case when
 * there are few events. So the screen for an ordinary trace shows growth, and the screen for ten
 * million events appears at once.
 */

struct report_study {
	bool surveyed; /* the events were read: `survey` holds the findings */
	struct event_scan survey;
	struct suppressions suppressions;
	struct leaks leaks;
	struct facts facts;
	struct rules builtin; /* used when the options have no rules */
	struct categories categories;
	bool categorised;   /* `categories` holds results, from the events or from the stacks */
	struct trace again; /* the trace opened once more, where categories need a first pass over
			       the events */
};

/* The first is called before report_select(), which changes what stacks stand for. The second is
 * called after it and reads the events if need be. Both return 0, or -errno with err_text(). */
int report_study_start(struct report_study *study, const struct report *report);
int report_study(struct report_study *study, const struct report *report);
void report_study_clear(struct report_study *study);

/* A sentence on growth or unused reserved memory, before the peak. NULL for none. */
const char *report_study_story(const struct report *report);

/* --- the facts and sentences of a report, before they are written: report_facts.c --- */

/* The bytes and blocks that a stack holds, to be grouped with others of the same key. */
struct report_share {
	uint64_t key, bytes, count, stack;
};

/* The shares of one key. */
struct report_group {
	uint64_t key, bytes, count;
	const char *name;                  /* of a call site, NULL if it has none */
	const struct report_share *shares; /* largest first */
	size_t shares_n;
};

/* Groups the shares (which it sorts) by key; rows of struct report_group, the largest first. The
 * second groups the shares of a peak by call site; no rows if the peak is NULL. */
struct emit_rows report_group(const struct report *report, const struct emit_rows *shares);
struct emit_rows report_group_peak(const struct report *report, const struct trace_peak *peak);

/* True if the options select the device, or no device in particular. */
bool report_is_wanted(const struct report *report, int device);

/* The device whose allocated peak is the highest, among those wanted; NULL when there is none. */
const struct trace_device *report_worst(const struct report *report);

/* Bytes reserved when allocated was at its peak; TRACE_NONE if that is unknown. */
uint64_t report_reserved_at_peak(const struct trace *trace, const struct trace_device *device);

/* "Peak 1.23 GiB allocated of ..., at 12.3 s; most of it 812.00 MiB from Net.forward
 * (train.py:12)." */
const char *report_answer(const struct report *report);

/* The number of allocations that failed for want of memory, on a device or (NO_DEVICE) on all. */
uint64_t report_ooms(const struct trace *trace, int device);

/* " on device 0"; "" for NO_DEVICE. */
const char *report_place(const struct report *report, int device);

/* The explained failure that ended the program, if it was on a wanted device; the same as a
 * sentence, with its reason. NULL when there is none. */
const struct trace_oom *report_fatal(const struct report *report);
const char *report_fatal_text(const struct report *report);

/* A stack's most relevant frame; without one, its site's name, or "an unknown place". */
const char *report_line(const struct report *report, uint64_t stack);

/* --- functions that write: report_table.c --- */

/* Keeps the error unless an earlier one is kept already. */
void report_fail(const struct report *report, int error);

/* Rows and texts live in the trace's arena, until the trace is closed. */
void report_add(const struct report *report, struct emit_rows *rows, const void *row);
void *report_room(const struct report *report, size_t size);
const char *report_format(const struct report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* An empty list of rows, of which as many will be shown as the options allow. */
#define report_rows(report, type) EMIT_NONE_OF(type, report_limit(report))

/*
 * report_list() and report_member(s)() write to the document alone, the other functions for people
 * alone: so a section may call both.
 *
 * Write a table, indented as in all sections: the report is `with` of its `below`.
 */
void report_put(const struct report *report, struct emit_table table);
void report_table(const struct report *report, const struct emit_column *columns,
		  const struct emit_rows *rows, const char *heading);

/* Writes rows: in the document as a list, for people as a table unless there are no rows. */
void report_tell_rows(const struct report *report, const char *key,
		      const struct emit_column *columns, struct emit_rows rows,
		      const char *heading);

/* Write members of the document: by columns; one object (null without `row`); a list. */
void report_members(const struct report *report, const struct emit_column *columns,
		    const void *row);
void report_member(const struct report *report, const char *key, const struct emit_column *columns,
		   const void *row);
void report_list(const struct report *report, const char *key, const struct emit_column *columns,
		 const struct emit_rows *rows);

/* True if sections show the device's details: a screen does for the highest peak only. */
bool report_wants(const struct report *report, int device);
/* Writes " estimated from samples of 1.00 MiB" if the figures that follow are estimates. */
void report_say_estimated(const struct report *report);

/* The number of rows that a list shows, SIZE_MAX for all. */
size_t report_limit(const struct report *report);

/* Writes a line, a heading, or (how >= 0) a sentence indented by `how` columns. */
enum { SAID_LINE = -1, SAID_HEADING = -2 };

void report_say(const struct report *report, int how, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A row of bytes, their share of the whole, and a name. */
struct report_site {
	struct emit_part part;
	const char *name;
	const char *count; /* at the end of the line, "" for none */
};

/* Its columns (share, name and count), for any struct that begins with struct report_site. */
extern const struct emit_column report_site_cells[];

void report_site_row(const struct report *report, const char *name, uint64_t bytes, uint64_t whole);

/* Writes a remark below a row of a site, after its bytes unless these are TRACE_NONE. */
void report_note(const struct report *report, uint64_t bytes, const char *text);

/* Writes rows of struct report_site, and a row that sums those left out. */
void report_site_rows(const struct report *report, const struct emit_rows *rows);

/* report_oom.c: 0, or -errno with err_text() if the trace lacks options->oom's failure. */
int report_oom_check(const struct report *report);

/* report_peaks.c: a peak's holders by site; `others` is the label of bytes without a stack. */
void report_composition(const struct report *report, const struct trace_peak *peak,
			const char *others);

/*
 * report_categories.c: a composition of allocated memory by category, as CATEGORIES_MOST sums;
 * false when it is not known. The same as a table, and as rows of the document (null when not
 * known).
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

/* The sections, one function each. For people it writes a heading and rows, or nothing when there
 * is nothing to show; in the document it appends whole members. */
typedef void report_section(const struct report *report);

#define SECTION(name, when, what) report_section report_tell_##name;
#include "render/report/report_sections.def"
#undef SECTION

enum report_when {
	REPORT_SCREEN, /* always: it reads stacks, sites and peaks, which follow a selection */
	REPORT_WHOLE,  /* always, except for a selection: it describes the whole run */
	REPORT_DETAIL, /* as REPORT_MORE; also when no device has a peak to show */
	REPORT_ASIDE,  /* as REPORT_MORE, except for a selection */
	REPORT_MORE,   /* with --full, in the document, and when asked for by name */
	REPORT_ASKED,  /* with --full and when asked for by name */
	REPORT_EVENTS, /* likewise; it needs the events, and describes the whole run only */
	REPORT_OOM,    /* likewise, and in the document; with --oom it is the only section */
	REPORT_MOMENT, /* only with --at, and then it is the only kind of section */
};
