/* The report on allocations that failed: what the trace explains, and who held what then. */
#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_analysis.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"

enum { SENTENCE = 1024 };

/* The failures that are asked for: those in [from, to). 0, or -errno for a number too large. */
static int range_of(const struct report *report, size_t *from, size_t *to)
{
	const struct trace *trace = report->trace;
	uint64_t wanted = report->options->oom;

	*from = 0;
	*to = trace->ooms_n;
	if (wanted == REPORT_OOM_LAST)
		*from = trace->ooms_n ? trace->ooms_n - 1 : 0;
	else if (wanted > trace->ooms_n)
		return err("%s: has no out of memory number %llu; it tells of %zu", trace->path,
			   (unsigned long long)wanted, trace->ooms_n);
	else if (wanted) {
		*from = wanted - 1;
		*to = wanted;
	}
	return 0;
}

int report_oom_check(const struct report *report)
{
	size_t from, to;

	return range_of(report, &from, &to);
}

/* Who held what, as a peak's composition is told. */
static struct trace_peak then_of(const struct trace_oom *oom)
{
	return (struct trace_peak){
		.device = oom->device,
		.t = oom->t,
		.bytes = oom->allocated == TRACE_NONE ? 0 : oom->allocated,
		.stacks = oom->stacks,
		.stacks_n = oom->stacks_n,
	};
}

/* --- for people --- */

static const struct report_column pool_columns[] = {
	{ "pool", 15 },          { "reserved", 12 },     { "allocated", 12 }, { "in gaps", 12 },
	{ "free segments", 14 }, { "largest free", 13 }, { NULL, 0 },
};

static void pool_rows(const struct report *report, const struct trace_oom *oom)
{
	char text[SHOW_NUMBER];

	if (!oom->pools_n)
		return;
	out_char(report->show.out, '\n');
	report_header(report, pool_columns);
	for (size_t i = 0; i < oom->pools_n; i++) {
		const struct trace_oom_pool *pool = &oom->pools[i];

		report_first_cell(report, &pool_columns[0], pool->pool ? pool->pool : "?");
		report_cell(report, &pool_columns[1], show_bytes(text, pool->reserved_bytes));
		report_cell(report, &pool_columns[2], show_bytes(text, pool->allocated_bytes));
		report_cell(report, &pool_columns[3], show_bytes(text, pool->gaps_bytes));
		report_cell(report, &pool_columns[4], show_bytes(text, pool->free_segments_bytes));
		report_cell(report, &pool_columns[5], show_bytes(text, pool->largest_free_bytes));
		out_char(report->show.out, '\n');
	}
}

static void holder_rows(const struct report *report, const struct trace_oom *oom)
{
	if (!oom->holders_n)
		return;
	show_heading(&report->show, "Who held memory of the driver");
	for (size_t i = 0; i < oom->holders_n; i++) {
		const struct trace_oom_holder *holder = &oom->holders[i];
		char name[200];

		text_join(name, sizeof(name), holder->pool ? "pool " : "",
			  holder->holder ? holder->holder : "[not known]");
		report_site_row(report, name, holder->bytes, oom->reserved, NULL);
	}
}

/* What would make the category smaller that holds most; NULL for none. */
static const char *category_help(const struct category_sum *sums, uint64_t whole, size_t *most)
{
	static const char *const helps[CATEGORIES_MOST] = {
#define HELPS(category, text) [CATEGORY_##category] = text,
#include "facts/oom/oom_categories.def"
#undef HELPS
	};

	*most = 0;
	for (size_t i = 0; i < CATEGORIES_MOST; i++) {
		if (sums[i].bytes > sums[*most].bytes)
			*most = i;
	}
	return sums[*most].bytes > whole / 3 ? helps[*most] : NULL;
}

static void tell_category(const struct report *report, const struct trace_peak *then)
{
	struct category_sum sums[CATEGORIES_MOST];
	char bytes[SHOW_NUMBER];
	char text[SENTENCE];
	const char *help;
	size_t most;

	if (!report_category_sums(report, then, sums))
		return;
	report_category_table(report, then);
	help = category_help(sums, then->bytes, &most);
	if (!help)
		return;
	snprintf(text, sizeof(text), "- %s of %.40s: %s", show_bytes(bytes, sums[most].bytes),
		 categories_name(&report->study->categories, most), help);
	show_wrapped(&report->show, text, 2, false);
}

static int tell_one(const struct report *report, const struct trace_oom *oom)
{
	struct trace_peak then = then_of(oom);
	char text[200];

	for (size_t i = 0; i < oom->text_n; i++) {
		char safe[500];

		show_safe(safe, sizeof(safe), oom->text[i], 120);
		if (i)
			out_text(report->show.out, safe);
		else
			show_bold(&report->show, safe);
		out_char(report->show.out, '\n');
	}
	pool_rows(report, oom);
	holder_rows(report, oom);
	if (!then.bytes)
		return 0;
	tell_category(report, &then);
	snprintf(text, sizeof(text), "Allocated then, by %s",
		 trace_by_title((enum trace_by)report->trace->by));
	show_heading(&report->show, text);
	return report_composition(report, &then, "[not known: born before events were dropped]");
}

/* "2  1.2 s  64.00 MiB on device 0, fragmentation: step (train.py:12); the program went on" */
static void list_row(const struct report *report, size_t i)
{
	const struct trace_oom *oom = &report->trace->ooms[i];
	char size[SHOW_NUMBER];
	char when[SHOW_NUMBER];
	char line[300];
	char text[SENTENCE];

	report_line_text(report->trace, oom->stack, line, sizeof(line));
	snprintf(text, sizeof(text), "%5zu %9s %12s  %-13s %s%s", i + 1, show_time(when, oom->t),
		 show_bytes(size, oom->size), oom->reason ? oom->reason : "?", line,
		 oom->survived ? "; the program went on" : "");
	report_say(report, text);
}

static void list_all(const struct report *report)
{
	const struct trace *trace = report->trace;
	uint64_t ooms = report_ooms(trace, NO_DEVICE);
	char text[200];

	if (trace->ooms_n < 2)
		return;
	snprintf(text, sizeof(text),
		 "Out of memory %zu times; --oom=N explains one of them:", trace->ooms_n);
	report_say(report, text);
	for (size_t i = 0; i < trace->ooms_n; i++)
		list_row(report, i);
	if (ooms > trace->ooms_n) {
		snprintf(text, sizeof(text), "      and %llu more in between, not kept",
			 (unsigned long long)(ooms - trace->ooms_n));
		report_say(report, text);
	}
	out_char(report->show.out, '\n');
}

int report_text_ooms(const struct report *report)
{
	const struct trace *trace = report->trace;
	size_t from, to;
	int error = range_of(report, &from, &to);

	if (error)
		return error;
	if (!trace->ooms_n && report_ooms(trace, NO_DEVICE))
		report_say(report, "Allocations failed for want of memory, but this trace does not "
				   "explain them (--show failures).");
	else if (!trace->ooms_n && (report->options->oom || report->options->show))
		report_say(report, "No allocation failed for want of memory.");
	if (report->options->oom == REPORT_OOM_LAST)
		list_all(report);
	for (size_t i = from; !error && i < to; i++) {
		if (i > from || !report->options->oom)
			out_char(report->show.out, '\n');
		error = tell_one(report, &trace->ooms[i]);
	}
	return error;
}

/* --- for programs --- */

static void json_parts(const struct report *report, const struct trace_oom *oom)
{
	out_text(report->show.out, ",\n \"pools\":[");
	for (size_t i = 0; i < oom->pools_n; i++) {
		const struct trace_oom_pool *pool = &oom->pools[i];

		report_json_text(report, i ? ",{\"pool\":" : "{\"pool\":", pool->pool);
		report_json_number(report, ",\"reserved_bytes\":", pool->reserved_bytes);
		report_json_number(report, ",\"allocated_bytes\":", pool->allocated_bytes);
		report_json_number(report, ",\"largest_free_bytes\":", pool->largest_free_bytes);
		report_json_number(report, ",\"free_segments_bytes\":", pool->free_segments_bytes);
		report_json_number(report, ",\"gaps_bytes\":", pool->gaps_bytes);
		report_json_number(report, ",\"gaps\":", pool->gaps);
		out_char(report->show.out, '}');
	}
	out_text(report->show.out, "],\n \"holders\":[");
	for (size_t i = 0; i < oom->holders_n; i++) {
		const struct trace_oom_holder *holder = &oom->holders[i];

		report_json_text(report, i ? ",{\"holder\":" : "{\"holder\":", holder->holder);
		out_text(report->show.out, holder->pool ? ",\"pool\":true" : ",\"pool\":false");
		report_json_number(report, ",\"bytes\":", holder->bytes);
		out_char(report->show.out, '}');
	}
	out_text(report->show.out, "],\n \"advice\":[");
	for (size_t i = 0; i < oom->advice_n; i++) {
		report_json_text(report, i ? ",{\"rule\":" : "{\"rule\":", oom->advice[i].rule);
		report_json_number(report, ",\"bytes\":", oom->advice[i].bytes);
		report_json_text(report, ",\"text\":", oom->advice[i].text);
		out_char(report->show.out, '}');
	}
	out_text(report->show.out, "],\n \"text\":[");
	for (size_t i = 0; i < oom->text_n; i++)
		report_json_text(report, i ? ",\n  " : "\n  ", oom->text[i]);
	out_char(report->show.out, ']');
}

static int json_one(const struct report *report, size_t number)
{
	const struct trace_oom *oom = &report->trace->ooms[number];
	struct trace_peak then = then_of(oom);
	char line[300];
	int error;

	report_line_text(report->trace, oom->stack, line, sizeof(line));
	report_json_number(report, "{\"number\":", number + 1);
	report_json_number(report, ",\"seq\":", oom->seq);
	report_json_number(report, ",\"t\":", oom->t);
	report_json_number(report,
			   ",\"device\":", oom->device < 0 ? TRACE_NONE : (uint64_t)oom->device);
	report_json_text(report, ",\"pool\":", oom->pool);
	report_json_text(report, ",\"api\":", oom->api);
	report_json_number(report, ",\"size\":", oom->size);
	report_json_text(report, ",\"line\":", line);
	report_json_text(report, ",\n \"reason\":", oom->reason);
	out_text(report->show.out, oom->survived ? ",\"survived\":true" : ",\"survived\":false");
	report_json_number(report, ",\"allocations_after\":", oom->allocations_after);
	report_json_number(report, ",\"refused_bytes\":", oom->refused_bytes);
	report_json_number(report, ",\"free_bytes\":", oom->free_bytes);
	report_json_number(report, ",\"total_bytes\":", oom->total_bytes);
	report_json_number(report, ",\"others_bytes\":", oom->others_bytes);
	report_json_number(report, ",\"limit_min_bytes\":", oom->limit_min_bytes);
	report_json_number(report, ",\"limit_max_bytes\":", oom->limit_max_bytes);
	report_json_number(report, ",\"allocated_bytes\":", oom->allocated);
	report_json_number(report, ",\"reserved_bytes\":", oom->reserved);
	report_json_number(report, ",\"cached_bytes\":", oom->cached);
	json_parts(report, oom);
	out_text(report->show.out, ",\n \"live\":");
	error = report_json_composition(report, &then);
	out_char(report->show.out, '}');
	return error;
}

int report_json_ooms(const struct report *report)
{
	size_t from, to;
	int error = range_of(report, &from, &to);

	if (error)
		return error;
	out_text(report->show.out, ",\n\"ooms\":[");
	for (size_t i = from; !error && i < to; i++) {
		out_text(report->show.out, i > from ? ",\n" : "\n");
		error = json_one(report, i);
	}
	out_char(report->show.out, ']');
	return error;
}
