/* The report: what was never given back, and suppressions. */
#include <stdio.h>
#include <string.h>

#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_analysis.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"

static void leak_row(const struct report *report, const struct leak *leak, uint64_t whole)
{
	const struct trace_site *site = &report->trace->sites[leak->site];
	bool device = !strcmp(site->space, "device");
	char number[SHOW_NUMBER];
	char of[SHOW_NUMBER];
	char count[80];
	char name[300];

	if (leak->allocations)
		snprintf(count, sizeof(count), "%s of %s", show_count(number, leak->count),
			 show_count(of, leak->allocations));
	else
		show_count(count, leak->count);
	if (leak->stack == UINT32_MAX)
		text_copy(name, sizeof(name), site->site);
	else
		report_line_text(report->trace, leak->stack, name, sizeof(name));
	if (!device && strlen(name) + strlen(site->space) + 4 < sizeof(name))
		snprintf(name + strlen(name), sizeof(name) - strlen(name), " [%s]", site->space);
	report_site_row(report, name, leak->bytes, whole, count);
}

static void left_out(const struct report *report, uint64_t bytes, const char *what)
{
	char number[SHOW_NUMBER];
	char text[200];

	if (!bytes)
		return;
	snprintf(text, sizeof(text), "  %11s           %s", show_bytes(number, bytes), what);
	show_dim(&report->show, text);
	out_char(report->show.out, '\n');
}

/* One that fits nothing hides nothing: it is out of date, or has a slip. */
static void unused_rows(const struct report *report)
{
	const struct suppressions *all = &report->study->suppressions;
	char text[400];

	for (size_t i = 0; i < all->count; i++) {
		if (all->list[i].used)
			continue;
		snprintf(text, sizeof(text), "%.150s:%u: this suppression fits nothing: %.150s",
			 report->options->suppressions, all->list[i].line, all->list[i].pattern);
		show_wrapped(&report->show, text, 2, false);
	}
}

int report_text_leaks(const struct report *report)
{
	const struct leaks *leaks = &report->study->leaks;
	size_t shown = report_limit(report, leaks->count);
	char bytes[SHOW_NUMBER];
	char blocks[SHOW_NUMBER];
	char text[200];
	uint64_t rest = 0;

	if (leaks->count || report->options->show) {
		snprintf(text, sizeof(text),
			 "Never freed: %s in %s %s, with how many of the site's",
			 show_bytes(bytes, leaks->bytes), show_count(blocks, leaks->blocks),
			 leaks->blocks == 1 ? "block" : "blocks");
		if (!leaks->count)
			text_copy(text, sizeof(text), "Never freed: nothing");
		show_heading(&report->show, text);
	}
	for (size_t i = 0; i < leaks->count; i++) {
		if (i < shown)
			leak_row(report, &leaks->list[i], leaks->bytes);
		else
			rest += leaks->list[i].bytes;
	}
	if (shown < leaks->count)
		report_rest_row(report, leaks->count - shown, rest, leaks->bytes);
	left_out(report, leaks->held, "left out: libraries hold it on purpose");
	left_out(report, leaks->suppressed, "left out: suppressed");
	unused_rows(report);
	return 0;
}

static void unused_json(const struct report *report)
{
	const struct suppressions *all = &report->study->suppressions;
	const char *comma = "";

	out_text(report->show.out, ",\"unused_suppressions\":[");
	for (size_t i = 0; i < all->count; i++) {
		if (all->list[i].used)
			continue;
		out_text(report->show.out, comma);
		comma = ",";
		report_json_number(report, "{\"line\":", all->list[i].line);
		report_json_text(report, ",\"pattern\":", all->list[i].pattern);
		out_char(report->show.out, '}');
	}
	out_char(report->show.out, ']');
}

int report_json_leaks(const struct report *report)
{
	const struct leaks *leaks = &report->study->leaks;
	size_t shown = report_limit(report, leaks->count);
	uint64_t rest = 0;
	char line[300];

	report_json_number(report, ",\n\"leaks\":{\"bytes\":", leaks->bytes);
	report_json_number(report, ",\"count\":", leaks->blocks);
	report_json_number(report, ",\"held_bytes\":", leaks->held);
	report_json_number(report, ",\"suppressed_bytes\":", leaks->suppressed);
	out_text(report->show.out, ",\"sites\":[");
	for (size_t i = 0; i < leaks->count; i++) {
		const struct leak *leak = &leaks->list[i];
		const struct trace_site *site = &report->trace->sites[leak->site];

		if (i >= shown) {
			rest += leak->bytes;
			continue;
		}
		report_line_text(report->trace, leak->stack, line, sizeof(line));
		report_json_text(report, i ? ",\n{\"site\":" : "\n{\"site\":", site->site);
		report_json_text(report, ",\"space\":", site->space);
		report_json_text(report, ",\"line\":", line);
		report_json_number(report, ",\"bytes\":", leak->bytes);
		report_json_number(report, ",\"count\":", leak->count);
		report_json_number(report, ",\"allocations\":", leak->allocations);
		report_json_number(report, ",\"frees\":", leak->frees);
		out_char(report->show.out, '}');
	}
	report_json_number(report, "],\"other_sites\":", leaks->count - shown);
	report_json_number(report, ",\"other_sites_bytes\":", rest);
	unused_json(report);
	out_char(report->show.out, '}');
	return 0;
}
