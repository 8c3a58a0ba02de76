/* Functions that write a report's lines, rows and tables, as text or as JSON. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "render/report/report_parts.h"

enum { SENTENCE = 4096 };

bool report_wants(const struct report *report, int device)
{
	const struct trace_device *worst;

	if (report->options->select.device != NO_DEVICE || !report->screen)
		return report_is_wanted(report, device);
	worst = report_worst(report);
	return worst && worst->device == device;
}

void report_say_estimated(const struct report *report)
{
	uint64_t interval = report->trace->capture.sample_bytes;

	if (!interval || report->selection->replayed)
		return;
	report_say(report, SAID_LINE, "  bytes estimated from one sample for every %s allocated",
		   SAY_BYTES(interval));
}

size_t report_limit(const struct report *report)
{
	return report->options->full || !report->options->limit ? SIZE_MAX : report->options->limit;
}

void report_fail(const struct report *report, int error)
{
	if (!*report->error)
		*report->error = error;
}

void report_add(const struct report *report, struct emit_rows *rows, const void *row)
{
	emit_add(&report->trace->arena, rows, row);
}

void *report_room(const struct report *report, size_t size)
{
	return need(&report->trace->arena, size);
}

const char *report_format(const struct report *report, const char *format, ...)
{
	const char *kept;
	va_list arguments;

	va_start(arguments, format);
	kept = show_vkept(&report->trace->arena, format, arguments);
	va_end(arguments);
	return kept;
}

void report_put(const struct report *report, struct emit_table table)
{
	table.indent = 2;
	table.with = report;
	if (!report->json)
		emit_table(&report->show, &table);
}

void report_table(const struct report *report, const struct emit_column *columns,
		  const struct emit_rows *rows, const char *heading)
{
	report_put(report,
		   (struct emit_table){ .columns = columns, .rows = rows, .heading = heading });
}

void report_tell_rows(const struct report *report, const char *key,
		      const struct emit_column *columns, struct emit_rows rows, const char *heading)
{
	report_list(report, key, columns, &rows);
	if (rows.count)
		report_table(report, columns, &rows, heading);
}

void report_members(const struct report *report, const struct emit_column *columns, const void *row)
{
	if (report->json)
		emit_members(report->show.out, columns, row);
}

void report_member(const struct report *report, const char *key, const struct emit_column *columns,
		   const void *row)
{
	const struct emit_column member[] = { { .key = key, .kind = EMIT_POINTED, .of = columns },
					      EMIT_END };

	report_members(report, member, &row);
}

void report_list(const struct report *report, const char *key, const struct emit_column *columns,
		 const struct emit_rows *rows)
{
	const struct emit_column member[] = {
		{ .key = key, .kind = EMIT_ROWS, .of = columns, .between = "\n" }, EMIT_END
	};

	report_members(report, member, rows);
}

void report_say(const struct report *report, int how, const char *format, ...)
{
	char text[SENTENCE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (report->json)
		return;
	if (how == SAID_HEADING)
		show_heading(&report->show, text);
	else if (how == SAID_LINE)
		out_format(report->show.out, "%s\n", text);
	else
		show_wrapped(&report->show, text, (unsigned)how, false);
}

struct note {
	uint64_t bytes;
	const char *text;
};

static const char *show_noted(char *to, const void *row)
{
	const struct note *note = row;

	return note->bytes == TRACE_NONE ? "" : show_bytes(to, note->bytes);
}

static const struct emit_column note_cells[] = {
	EMIT_SHOWN("", 11, BYTES, struct note, bytes, show_noted),
	EMIT_CELL("", 0, TEXT, struct note, text, .gap = 11, .flags = EMIT_DIM),
	EMIT_END,
};

void report_note(const struct report *report, uint64_t bytes, const char *text)
{
	if (!report->json)
		emit_row(&report->show, note_cells, &(struct note){ bytes, text }, 2);
}
