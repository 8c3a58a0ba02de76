/* The section on failed allocations: why each failed, and the memory then in use, by call site. */
#include <sys/param.h>

#include "analyse/input/error.h"
#include "base/text/out.h"
#include "render/report/report_parts.h"

int report_oom_check(const struct report *report)
{
	const struct trace *trace = report->trace;
	uint64_t wanted = report->options->oom;

	return wanted == REPORT_OOM_LAST || wanted <= trace->ooms_n
		       ? 0
		       : err("%s: there is no failed allocation number %llu; the trace explains "
			     "%zu, numbered from 1",
			     trace->path, (unsigned long long)wanted, trace->ooms_n);
}

/* The memory that was allocated at the failure, in the form of a peak. */
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

/* A failure; failures are numbered from 1. */
struct oom_told {
	uint64_t number;
	struct trace_oom of;
	const char *line;
	struct report_composed live;
};

/* --- for people --- */

static const struct emit_column oom_pool_columns[] = {
	EMIT_COLUMN("pool", "pool", -15, TEXT, struct trace_oom_pool, pool),
	EMIT_COLUMN("reserved_bytes", "reserved", 12, BYTES, struct trace_oom_pool, reserved_bytes),
	EMIT_COLUMN("allocated_bytes", "allocated", 12, BYTES, struct trace_oom_pool,
		    allocated_bytes),
	EMIT_FIELD(BYTES, struct trace_oom_pool, largest_free_bytes),
	EMIT_FIELD(BYTES, struct trace_oom_pool, free_segments_bytes),
	EMIT_COLUMN("gaps_bytes", "in gaps", 12, BYTES, struct trace_oom_pool, gaps_bytes),
	EMIT_FIELD(COUNT, struct trace_oom_pool, gaps),
	EMIT_CELL("free segments", 14, BYTES, struct trace_oom_pool, free_segments_bytes),
	EMIT_CELL("largest free", 13, BYTES, struct trace_oom_pool, largest_free_bytes),
	EMIT_END,
};

static void holder_rows(const struct report *report, const struct trace_oom *oom)
{
	struct emit_rows rows = EMIT_NONE_OF(struct report_site, SIZE_MAX);

	foreach (holder, oom->holders) {
		report_add(report, &rows,
			   &(struct report_site){
				   { holder->bytes, oom->reserved },
				   report_format(report, "%s%s", holder->pool ? "pool " : "",
						 holder->holder ? holder->holder : "[not known]"),
				   "",
			   });
	}
	if (rows.count)
		report_say(report, SAID_HEADING, "Memory reserved from the driver, by holder");
	report_site_rows(report, &rows);
}

/* Writes the memory at the failure by category, and advice on the largest category if it held more
 * than a third of the bytes. */
static void tell_category(const struct report *report, const struct trace_peak *then)
{
	static const char *const helps[CATEGORIES_MOST] = {
#define HELPS(category, text) [CATEGORY_##category] = text,
#include "facts/oom/oom_categories.def"
#undef HELPS
	};
	struct category_sum sums[CATEGORIES_MOST];
	size_t most = 0;

	if (!report_category_sums(report, then, sums))
		return;
	report_category_table(report, then);
	for (size_t i = 0; i < CATEGORIES_MOST; i++) {
		if (sums[i].bytes > sums[most].bytes)
			most = i;
	}
	if (helps[most] && sums[most].bytes > then->bytes / 3)
		report_say(report, 2, "- %s of %.40s: %s", SAY_BYTES(sums[most].bytes),
			   categories_name(&report->study->categories, most), helps[most]);
}

static void tell_one(const struct report *report, const struct trace_oom *oom)
{
	struct trace_peak then = then_of(oom);

	for (size_t i = 0; i < oom->text_n; i++) {
		char safe[500];

		show_safe(safe, sizeof(safe), oom->text[i], 120);
		if (i)
			out_text(report->show.out, safe);
		else
			show_bold(&report->show, safe);
		out_char(report->show.out, '\n');
	}
	if (oom->pools_n) {
		out_char(report->show.out, '\n');
		report_table(report, oom_pool_columns, &EMIT_ROWS_OF(oom->pools, oom->pools_n),
			     NULL);
	}
	holder_rows(report, oom);
	if (!then.bytes)
		return;
	tell_category(report, &then);
	report_say(report, SAID_HEADING, "Allocated at the failure, by %s",
		   trace_by_title((enum trace_by)report->trace->by));
	report_composition(report, &then, "[not known: allocated before or in missing events]");
}

/* The cells of a failure: "2 1.2 s 64.00 MiB fragmentation step (train.py:12); the program ...". */
static const struct emit_column oom_cells[] = {
	EMIT_CELL("", 3, NUMBER, struct oom_told, number),
	EMIT_CELL("", 10, TIME, struct oom_told, of.t),
	EMIT_CELL("", 13, BYTES, struct oom_told, of.size),
	EMIT_CELL("", -15, TEXT, struct oom_told, of.reason, .gap = 2),
	EMIT_CELL("", 0, TEXT, struct oom_told, line, .flags = EMIT_WHOLE),
	EMIT_END,
};

static void list_all(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct emit_rows rows = EMIT_NONE_OF(struct oom_told, SIZE_MAX);
	/* The counts of devices lack failures to allocate host memory, so ooms_n may be larger. */
	uint64_t failed = MAX(trace_ooms(trace, NO_DEVICE), trace->ooms_n);

	if (trace->ooms_n < 2)
		return;
	report_say(report, SAID_LINE,
		   "Out of memory %llu times; --oom=N explains one of those listed:",
		   (unsigned long long)failed);
	for (size_t i = 0; i < trace->ooms_n; i++) {
		const struct trace_oom *oom = &trace->ooms[i];

		report_add(report, &rows,
			   &(struct oom_told){
				   .number = i + 1,
				   .of = *oom,
				   .line = report_format(
					   report, "%s%s", report_line(report, oom->stack),
					   oom->survived ? "; the program continued" : ""),
			   });
	}
	report_put(report,
		   (struct emit_table){ .columns = oom_cells,
					.rows = &rows,
					.headless = true,
					.more = "more failed earlier; no details of them were kept",
					.unlisted = failed - trace->ooms_n });
	out_char(report->show.out, '\n');
}

static void say_all(const struct report *report, size_t from, size_t to)
{
	const struct trace *trace = report->trace;

	if (!trace->ooms_n && trace_ooms(trace, NO_DEVICE))
		report_say(report, SAID_LINE,
			   "Allocations failed because memory ran out, but this trace does not "
			   "explain them (see --show failures).");
	else if (!trace->ooms_n && (report->options->oom || report->options->show))
		report_say(report, SAID_LINE, "No allocation failed.");
	if (report->options->oom == REPORT_OOM_LAST)
		list_all(report);
	for (size_t i = from; i < to; i++) {
		if (i > from || !report->options->oom)
			out_char(report->show.out, '\n');
		tell_one(report, &trace->ooms[i]);
	}
}

/* --- for programs --- */

static const struct emit_column oom_holder_members[] = {
	EMIT_FIELD(TEXT, struct trace_oom_holder, holder),
	EMIT_FIELD(TRUTH, struct trace_oom_holder, pool),
	EMIT_FIELD(BYTES, struct trace_oom_holder, bytes),
	EMIT_END,
};

static const struct emit_column oom_advice_members[] = {
	EMIT_FIELD(TEXT, struct trace_oom_advice, rule),
	EMIT_FIELD(BYTES, struct trace_oom_advice, bytes),
	EMIT_FIELD(TEXT, struct trace_oom_advice, text),
	EMIT_END,
};

static const struct emit_column oom_members[] = {
	EMIT_FIELD(NUMBER, struct oom_told, number),
	EMIT_OF(NUMBER, struct oom_told, seq),
	EMIT_OF(TIME, struct oom_told, t),
	EMIT_OF(DEVICE, struct oom_told, device),
	EMIT_OF(TEXT, struct oom_told, pool),
	EMIT_OF(TEXT, struct oom_told, api),
	EMIT_OF(BYTES, struct oom_told, size),
	EMIT_FIELD(TEXT, struct oom_told, line),
	EMIT_MEMBER("\n reason", TEXT, struct oom_told, of.reason),
	EMIT_OF(TRUTH, struct oom_told, survived),
	EMIT_OF(COUNT, struct oom_told, allocations_after),
	EMIT_OF(BYTES, struct oom_told, refused_bytes),
	EMIT_OF(BYTES, struct oom_told, free_bytes),
	EMIT_OF(BYTES, struct oom_told, total_bytes),
	EMIT_OF(BYTES, struct oom_told, others_bytes),
	EMIT_OF(BYTES, struct oom_told, limit_min_bytes),
	EMIT_OF(BYTES, struct oom_told, limit_max_bytes),
	EMIT_MEMBER("allocated_bytes", BYTES, struct oom_told, of.allocated),
	EMIT_MEMBER("reserved_bytes", BYTES, struct oom_told, of.reserved),
	EMIT_MEMBER("cached_bytes", BYTES, struct oom_told, of.cached),
	EMIT_ITEMS("\n pools", "", struct oom_told, of.pools, of.pools_n, oom_pool_columns),
	EMIT_ITEMS("\n holders", "", struct oom_told, of.holders, of.holders_n, oom_holder_members),
	EMIT_ITEMS("\n advice", "", struct oom_told, of.advice, of.advice_n, oom_advice_members),
	EMIT_ITEMS("\n text", "\n  ", struct oom_told, of.text, of.text_n, emit_texts),
	EMIT_NESTED("\n live", OBJECT, struct oom_told, live, report_composed_members),
	EMIT_END,
};

void report_tell_ooms(const struct report *report)
{
	struct emit_rows rows = EMIT_NONE_OF(struct oom_told, SIZE_MAX);
	uint64_t wanted = report->options->oom;
	size_t to = wanted && wanted != REPORT_OOM_LAST ? wanted : report->trace->ooms_n;
	size_t from = wanted && to ? to - 1 : 0;

	if (!report->json) {
		say_all(report, from, to);
		return;
	}
	for (size_t i = from; i < to; i++) {
		const struct trace_oom *oom = &report->trace->ooms[i];
		const struct trace_peak then = then_of(oom);

		report_add(report, &rows,
			   &(struct oom_told){ i + 1, *oom, report_line(report, oom->stack),
					       report_compose(report, &then) });
	}
	report_list(report, "\nooms", oom_members, &rows);
}
