/* The report: advice, each line with its numbers. */
#include <stdio.h>
#include <string.h>

#include "analyse/advice.h"
#include "base/out.h"
#include "base/text.h"
#include "render/report_parts.h"
#include "render/report_study.h"

enum { LINE = 1024 };

/* The fact as people read it; false when there is none of the name. */
static bool fact_text(const struct facts *facts, const char *name, size_t length, char *to,
		      size_t size)
{
	const struct {
		const char *name;
		const char *(*show)(char *, uint64_t);
		uint64_t value;
	} numbers[] = {
#define BYTES show_bytes
#define COUNT show_count
#define TIME show_time
#define NUMBER(name, unit, what) { #name, unit, facts->name },
#include "analyse/facts.def"
#undef NUMBER
#undef BYTES
#undef COUNT
#undef TIME
	};
	const struct {
		const char *name, *value;
	} words[] = {
#define WORDS(name, what) { #name, facts->name },
#include "analyse/facts.def"
#undef WORDS
	};
	char number[SHOW_NUMBER];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strlen(numbers[i].name) != length || strncmp(numbers[i].name, name, length))
			continue;
		text_copy(to, size, numbers[i].show(number, numbers[i].value));
		return true;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].name) != length || strncmp(words[i].name, name, length))
			continue;
		text_copy(to, size, words[i].value);
		return true;
	}
	return false;
}

/* Puts the facts in the places of their names. */
static void advice_line(const struct facts *facts, enum advice advice, char *to, size_t size)
{
	const char *from = advice_text(advice);
	char fact[300];
	size_t used = 0;

	to[0] = '\0';
	while (*from) {
		size_t plain = strcspn(from, "{");
		size_t name;

		used += text_copy_n(to + used, size - used, from, plain);
		from += plain;
		if (!*from)
			break;
		name = strcspn(from, "}") - 1;
		if (!fact_text(facts, from + 1, name, fact, sizeof(fact)))
			fact[0] = '\0';
		used += text_copy(to + used, size - used, fact);
		from += name + 2;
	}
}

int report_text_advice(const struct report *report)
{
	const struct facts *facts = &report->study->facts;
	char text[LINE] = "- ";
	bool any = false;

	for (unsigned i = 0; i < ADVICES; i++) {
		if (!advice_applies((enum advice)i, facts))
			continue;
		if (!any)
			show_heading(&report->show, "What to do");
		any = true;
		advice_line(facts, (enum advice)i, text + 2, sizeof(text) - 2);
		show_wrapped(&report->show, text, 2, false);
	}
	if (!any && report->options->show)
		report_say(report, "No advice: nothing stands out.");
	return 0;
}

int report_json_advice(const struct report *report)
{
	const struct facts *facts = &report->study->facts;
	const char *comma = "\n";
	char text[LINE];

	out_text(report->show.out, ",\n\"advice\":[");
	for (unsigned i = 0; i < ADVICES; i++) {
		if (!advice_applies((enum advice)i, facts))
			continue;
		out_text(report->show.out, comma);
		comma = ",\n";
		report_json_text(report, "{\"rule\":", advice_name((enum advice)i));
		advice_line(facts, (enum advice)i, text, sizeof(text));
		report_json_text(report, ",\"text\":", text);
		out_char(report->show.out, '}');
	}
	out_char(report->show.out, ']');
	return 0;
}
