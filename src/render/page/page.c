/* Writes one self-contained HTML page for a trace, for two traces, or for the ranks of a job. */
#include "render/page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/anonymize/anonymize.h"
#include "analyse/findings/steps.h"
#include "analyse/input/error.h"
#include "render/compare/diff.h"
#include "render/emit/term.h"
#include "render/page/page_parts.h"
#include "render/ranks/ranks.h"
#include "render/report/report_parts.h"

enum {
	BUFFER = 65536,
	ROWS = 200,        /* maximum of rows in a list of the report, and of call sites of ranks */
	PHASE_EVENTS = 20, /* a phase takes as many bytes of the page as 20 events */
};

/* The text in page.html (the page's program) in place of which the data are written. */
#define MARK "<!--data-->"

/* The bytes of page.html, from page_bundle.S. */
extern const char page_bundle[];
extern const uint64_t page_bundle_size;

bool page_is_built(void)
{
	if (page_bundle_size)
		return true;
	err("this memtrace was built without the page: install npm (scripts/setup.sh does) and run "
	    "make again");
	return false;
}

/* --- JSON inside an HTML element --- */

/* Writes JSON with each '<' as an escape sequence: JSON can have a '<' only inside a string. */
static int write_escaped(void *page, const char *text, size_t length)
{
	struct out *out = page;
	const char *at;

	while ((at = memchr(text, '<', length))) {
		out_bytes(out, text, (size_t)(at - text));
		out_text(out, "\\u003c");
		length -= (size_t)(at + 1 - text);
		text = at + 1;
	}
	out_bytes(out, text, length);
	return out->error;
}

typedef int json_writer(struct out *json, void *what);

/* Writes an HTML element with the id `name`, whose content is the JSON that writer() writes. */
static int write_json(const char *name, struct out *out, json_writer *writer, void *what)
{
	char buffer[BUFFER];
	struct out json;
	int error;

	out_init(&json, -1, buffer, sizeof(buffer));
	json.sink = write_escaped;
	json.sink_to = out;
	out_format(out, "<script type=\"application/json\" id=\"%s\">", name);
	error = writer(&json, what);
	out_flush(&json);
	out_text(out, "</script>\n");
	return error;
}

/* --- one trace --- */

struct page_part {
	struct anonymizer *anonymizer; /* NULL: names are not hidden */
	const struct page_input *input;
	const struct page_options *options;
	struct trace trace;
	struct history history;
	struct history_folded folded;
	struct page_spans spans;
	struct page_phases phases;
	struct rules rules;
	struct categories categories;
};

static const char *part_name(const struct page_part *part)
{
	return part->anonymizer ? "trace.json" : part->input->name;
}

/* Writes the report without the sections of --at and call trees, which the page itself computes. */
static int write_report(const struct page_part *part, struct out *json)
{
	struct report_options options = {
		.select = { .device = NO_DEVICE, .space = SPACES },
		.limit = ROWS,
		.rules = &part->rules,
		.name = part_name(part),
	};
	struct trace trace;
	int error;

#define SECTION(name, when, what)                                            \
	if (REPORT_##when != REPORT_ASKED && REPORT_##when != REPORT_MOMENT) \
		options.show |= report_section_bit(#name, strlen(#name));
#include "render/report/report_sections.def"
	error = trace_open(&trace, part->input->path);
	if (error)
		return error;
	trace_find_lines(&trace);
	if (part->anonymizer)
		anonymize_trace(part->anonymizer, &trace);
	error = report_write(&trace, json, &options, true);
	trace_close(&trace);
	return error;
}

static int write_facts(struct out *json, void *what)
{
	struct page_part *part = what;
	int error;

	out_text(json, "{\"report\":");
	error = write_report(part, json);
	if (error)
		return error;
	page_facts(part_name(part), &part->trace, &part->history, &part->folded, &part->categories,
		   json);
	page_phases_facts(&part->phases, json);
	page_spans_facts(&part->spans, &part->trace, json);
	out_text(json, "}");
	return 0;
}

static int read_events(struct page_part *part)
{
	if (part->trace.capture.baseline)
		return err("%s is a baseline, which has neither events nor complete stacks; "
			   "give the trace that it was made from",
			   part->input->path);
	categories_start(&part->categories, &part->trace, &part->rules);
	part->categories.keep_allocs = true;
	return history_read(&part->history, &part->trace, &part->categories);
}

static int write_parts(struct page_part *part, unsigned number, struct out *out)
{
	char name[PAGE_NAME];
	int error;

	if (part->anonymizer) {
		anonymize_trace(part->anonymizer, &part->trace);
		anonymize_history(part->anonymizer, &part->trace, &part->history);
	}
	error = steps_infer_if_few(&part->trace);
	if (part->options->max_events)
		history_fold(&part->history, part->options->max_events, &part->folded);
	page_spans_find(&part->spans, &part->trace, part->options->max_events);
	page_phases_find(&part->phases, &part->trace,
			 (part->options->max_events + PHASE_EVENTS - 1) / PHASE_EVENTS);
	snprintf(name, sizeof(name), "facts%u", number);
	if (!error)
		error = write_json(name, out, write_facts, part);
	if (!error)
		page_events(&part->trace, &part->history, &part->spans, number, out);
	return error;
}

/* Writes the data of trace `number`. For trace 0, first writes the `head` bytes of page.html
 * that precede all data, once the trace has been read without an error. */
static int write_part(struct page_part *part, unsigned number, size_t head, struct out *out)
{
	int error = rules_read(&part->rules, part->options->rules);

	if (!error)
		error = trace_open(&part->trace, part->input->path);
	if (!error) {
		trace_find_lines(&part->trace);
		error = read_events(part);
		if (!error) {
			out_bytes(out, page_bundle, number ? 0 : head);
			error = write_parts(part, number, out);
		}
		history_clear(&part->history);
		categories_clear(&part->categories);
		trace_close(&part->trace);
	}
	rules_clear(&part->rules);
	return error;
}

/* --- two traces --- */

static int open_side(struct diff_side *side, const char *path)
{
	int error;

	side->runs = calloc(1, sizeof(*side->runs));
	error = side->runs ? run_open(side->runs, path, NO_DEVICE) : err("not enough memory");
	side->count = !error;
	return error;
}

/* The input of the parts of a page that describe several traces: the comparison and the ranks. */
struct page_aside {
	struct anonymizer *anonymizer;
	const struct page_input *inputs; /* the two traces that are compared */
	struct merge *ranks;
};

static int write_diff(struct out *json, void *what)
{
	const struct diff_options options = { .limit = ROWS };
	const struct page_aside *aside = what;
	struct diff diff = { .rows = NULL };
	int error = open_side(&diff.base, aside->inputs[0].path);

	if (!error)
		error = open_side(&diff.head, aside->inputs[1].path);
	if (!error)
		error = diff_make(&diff, &diff.base, &diff.head, NO_DEVICE);
	if (!error && aside->anonymizer)
		anonymize_diff(aside->anonymizer, &diff);
	if (!error)
		diff_json(&diff, json, &options);
	diff_clear(&diff);
	return error;
}

/* --- ranks --- */

static int write_ranks(struct out *json, void *what)
{
	const struct merge_options options = { .sites = ROWS };
	const struct page_aside *aside = what;

	if (aside->anonymizer)
		anonymize_merge(aside->anonymizer, aside->ranks);
	merge_json(aside->ranks, json, &options);
	return 0;
}

/* --- the complete page --- */

int page_write(const struct page_input *inputs, size_t count, struct out *out,
	       const struct page_options *options)
{
	const char *mark = memmem(page_bundle, page_bundle_size, MARK, strlen(MARK));
	struct anonymizer anonymizer = { 0 };
	struct page_aside aside = { options->anonymize ? &anonymizer : NULL, inputs,
				    options->ranks };
	size_t head;
	int error = 0;

	if (!mark)
		return page_is_built() ? err("page.html lacks " MARK ": run `make page`") : -EINVAL;
	head = (size_t)(mark - page_bundle);
	if (!count) /* only ranks, no trace */
		out_bytes(out, page_bundle, head);
	for (size_t i = 0; !error && i < count; i++) {
		struct page_part part = { .anonymizer = aside.anonymizer,
					  .input = &inputs[i],
					  .options = options };

		error = write_part(&part, (unsigned)i, head, out);
	}
	if (!error && count == 2)
		error = write_json("diff", out, write_diff, &aside);
	if (!error && aside.ranks)
		error = write_json("ranks", out, write_ranks, &aside);
	anonymizer_clear(&anonymizer);
	if (error)
		return error;
	mark += strlen(MARK);
	out_bytes(out, mark, page_bundle_size - (size_t)(mark - page_bundle));
	return 0;
}
