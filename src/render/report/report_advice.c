/* The report: advice, each piece with its numbers. */
#include <inttypes.h>
#include <stdio.h>

#include "render/report/report_parts.h"

enum { LINE = 1024 };

/* A number without separators or unit, to be copied into a setting. */
static const char *show_plain(char *to, uint64_t number)
{
	snprintf(to, SHOW_NUMBER, "%" PRIu64, number);
	return to;
}

#define SAY_PLAIN(number) show_plain((char[SHOW_NUMBER]){ 0 }, number)
#define SAY_BLOCKS(blocks) SAY_MANY(blocks, "block")

static size_t put_fact(char *to, size_t size, const char *name, const void *from)
{
	const struct facts *facts = from;

#define NUMBER(fact, unit, what) FILL_FACT(fact, SAY_##unit(facts->fact))
#define WORDS(fact, what) FILL_FACT(fact, facts->fact)
#include "analyse/findings/report_facts.def"
#undef NUMBER
#undef WORDS
	return 0;
}

/* Advice for an allocation that failed and ended the program; it comes before all other advice. */
static void tell_fatal(const struct report *report, const struct trace_oom *oom)
{
	for (size_t i = 0; i < oom->advice_n; i++) {
		if (oom->advice[i].text)
			report_say(report, 2, "- %s", oom->advice[i].text);
	}
	report_say(report, 2, "- %s",
		   "`memtrace report --oom` tells who held what when memory ran out");
}

struct advised {
	const char *rule, *text;
};

static const struct emit_column advised_members[] = {
	EMIT_MEMBER("rule", TEXT, struct advised, rule),
	EMIT_MEMBER("text", TEXT, struct advised, text),
	EMIT_END,
};

void report_tell_advice(const struct report *report)
{
	const struct facts *facts = &report->study->facts;
	const struct trace_oom *oom = report_fatal(report);
	struct emit_rows rows = EMIT_NONE_OF(struct advised, SIZE_MAX);
	const struct advised *list;
	char text[LINE];

	for (unsigned i = 0; i < ADVICES; i++) {
		if (!advice_applies((enum advice)i, facts))
			continue;
		fill_text(text, sizeof(text), advice_text((enum advice)i), put_fact, facts);
		report_add(report, &rows,
			   &(struct advised){ advice_name((enum advice)i),
					      report_format(report, "%s", text) });
	}
	if (report->json) {
		report_list(report, "\nadvice", advised_members, &rows);
		return;
	}
	if (oom || rows.count)
		report_say(report, SAID_HEADING, "What to do");
	else if (report->options->show)
		report_say(report, SAID_LINE, "No advice: nothing stands out.");
	if (oom)
		tell_fatal(report, oom);
	list = rows.rows;
	for (size_t i = 0; i < rows.count; i++)
		report_say(report, 2, "- %s", list[i].text);
}
