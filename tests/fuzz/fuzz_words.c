/*
 * Any text as what is said on a command line or by a client: gates, moments, patterns, filters,
 * rules, settings, an address, a request. The first byte picks which.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/categories/glob.h"
#include "analyse/categories/rules.h"
#include "analyse/compare/gate.h"
#include "analyse/lifetimes/timepoint.h"
#include "base/settings/filter.h"
#include "base/settings/opt.h"
#include "base/settings/quantity.h"
#include "cli/top/top_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_gate(char *text, size_t length)
{
	struct gate gate;
	(void)length;
	if (!gate_parse(&gate, GATE_GROWTH, text) && strlen(gate.text) >= sizeof(gate.text))
		abort();
	if (!gate_parse(&gate, GATE_MOST, text) && strlen(gate.text) >= sizeof(gate.text))
		abort();
}

static void try_moment(char *text, size_t length)
{
	uint64_t ns;

	(void)length;
	timepoint_makes_sense(text);
	timepoint_time(text, &ns);
}

/* The pattern is the first line. What fits all must fit. */
static void try_pattern(char *text, size_t length)
{
	char *line = strchr(text, '\n');

	(void)length;
	if (!pattern_fits("*", text))
		abort();
	if (!line)
		return;
	*line = '\0';
	pattern_fits(text, line + 1);
	pattern_any_fits(text, line + 1);
}

static void try_filter(char *text, size_t length)
{
	const struct filter_facts facts = { .known = 1, .number = { length } };
	struct filter filter;

	if (filter_parse(text, &filter)) {
		if (filter.count > FILTER_TERMS)
			abort();
		filter_ask(&filter, &facts);
	}
}

static void try_rules(char *text, size_t length)
{
	struct rules rules;

	(void)length;
	if (!rules_read_text(&rules, text, "rules"))
		rules_clear(&rules);
}

static void try_settings(char *text, size_t length)
{
	struct signal_choice choice;
	uint64_t ns, bytes;

	(void)length;
	for (int kind = QUANTITY_NUMBER; kind <= QUANTITY_AGE; kind *= 2)
		quantity_parse(text, (enum quantity_kind)kind, &bytes);
	for (enum opt_id id = 0; id < OPT_IDS; id++)
		opt_parse(id, text, &bytes);
	opt_parse_keep(text, &ns, &bytes);
	signal_choice_parse(text, &choice);
}

/* Who is given the page names this host, an address, or none. */
static void try_request(char *text, size_t length)
{
	static const char *const names[] = { "localhost", "node7", NULL };
	char *copy = strdup(text);
	char *body = copy ? strstr(copy, "\n\n") : NULL;
	bool head;

	if (!copy)
		abort();
	if (body)
		*body = '\0';
	body = strstr(copy, "\n\r\n");
	if (body)
		*body = '\0';
	if (!top_request_read(text, length, names, &head) && strcasestr(copy, "\nhost: evil\n"))
		abort();
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const tries[])(char *, size_t) = {
		try_gate, try_moment, try_pattern, try_filter, try_rules, try_settings, try_request,
	};
	char *text = malloc(size + 1);

	if (size && text) {
		memcpy(text, data + 1, size - 1);
		text[size - 1] = '\0';
		tries[data[0] % (sizeof(tries) / sizeof(tries[0]))](text, size - 1);
	}
	free(text);
	return 0;
}
