/* What `diff` and `check` share. */
#include "cli/gates.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/traces.h"

#define BUDGET_SCHEMA "memtrace-budget/1"

enum { BUDGET_LARGEST = 1 << 20 };

int gates_open(struct diff_side *side, const struct traces *traces, int device)
{
	*side = (struct diff_side){ .runs = calloc(traces->count + 1, sizeof(*side->runs)) };
	if (!side->runs)
		return err("no memory left");
	for (size_t i = 0; i < traces->count; i++) {
		int error = run_open(&side->runs[i], traces->paths[i], device);

		if (error)
			return error;
		side->count++;
	}
	return 0;
}

/* The first run whose categories are told otherwise than those of `like`; NULL for none. */
static const struct run *unlike(const struct diff_side *sides, const struct run *like)
{
	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; i < sides[s].count; i++) {
			if (sides[s].runs[i].categories_from != like->categories_from)
				return &sides[s].runs[i];
		}
	}
	return NULL;
}

static bool asks_categories(const struct gates *gates)
{
	for (size_t i = 0; i < gates->count; i++) {
		if (gates->list[i]->query.by[NARROWING_CATEGORY])
			return true;
	}
	return false;
}

int gates_categorise(struct diff_side *sides, const struct gates *gates, const struct rules *rules,
		     int device)
{
	bool asked = asks_categories(gates);
	const struct run *first = sides[0].count ? sides[0].runs : sides[1].runs;
	const struct run *other;
	int error = 0;

	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; !error && i < sides[s].count; i++)
			error = run_find_categories(&sides[s].runs[i], rules, asked);
	}
	if (error)
		return error;
	other = unlike(sides, first);
	if (other && asked)
		return err("%s and %s cannot be compared by category: one tells it block by block, "
			   "the other has too few events or none for that "
			   "(MEMTRACE_MAX_EVENTS; memtrace baseline keeps categories)",
			   first->trace.path, other->trace.path);
	if (other || (first->categories_from != RUN_BLOCKS && !asked))
		return 0;
	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; !error && i < sides[s].count; i++)
			error = run_add_categories(&sides[s].runs[i], device);
	}
	return error;
}

/* --- gates --- */

bool gates_add(struct gates *gates, enum gate_kind kind, const char *text)
{
	struct gate **grown = realloc(gates->list, (gates->count + 1) * sizeof(void *));
	struct gate *gate = calloc(1, sizeof(*gate));

	if (grown)
		gates->list = grown;
	if (!grown || !gate) {
		free(gate);
		err("no memory left");
		return false;
	}
	if (gate_parse(gate, kind, text)) {
		free(gate);
		return false;
	}
	gates->list[gates->count++] = gate;
	return true;
}

void gates_clear(struct gates *gates)
{
	for (size_t i = 0; i < gates->count; i++)
		free(gates->list[i]);
	free(gates->list);
	*gates = (struct gates){ NULL, 0 };
}

/* --- budgets --- */

static char *read_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = malloc(BUDGET_LARGEST + 1);
	size_t used = 0;
	ssize_t n = -1;

	if (fd < 0 || !text) {
		err("%s: %s", path, strerror(errno));
	} else {
		while (used <= BUDGET_LARGEST &&
		       (n = read(fd, text + used, BUDGET_LARGEST + 1 - used)) > 0)
			used += (size_t)n;
		if (n < 0)
			err("%s: %s", path, strerror(errno));
		else if (used > BUDGET_LARGEST)
			err("%s: is larger than any budget", path);
	}
	if (fd >= 0)
		close(fd);
	if (n || used > BUDGET_LARGEST) {
		free(text);
		return NULL;
	}
	text[used] = '\0';
	return text;
}

/* "allocated.peak": "30 GiB" is the expression allocated.peak<=30 GiB. */
static bool add_limit(struct gates *gates, const char *path, const cJSON *limit)
{
	char text[400];
	char why[1000];

	if (cJSON_IsString(limit)) {
		snprintf(text, sizeof(text), "%s<=%s", limit->string, limit->valuestring);
	} else if (cJSON_IsNumber(limit) && limit->valuedouble >= 0) {
		snprintf(text, sizeof(text), "%s<=%.0f", limit->string, limit->valuedouble);
	} else {
		err("%s: \"max\": \"%.80s\" must be a text like \"30 GiB\" or a number", path,
		    limit->string);
		return false;
	}
	if (gates_add(gates, GATE_MOST, text))
		return true;
	text_copy(why, sizeof(why), err_text());
	err("%s: %s", path, why);
	return false;
}

static bool read_limits(struct gates *gates, const char *path, const cJSON *budget)
{
	const cJSON *schema = cJSON_GetObjectItemCaseSensitive(budget, "schema");
	const cJSON *max = cJSON_GetObjectItemCaseSensitive(budget, "max");
	const cJSON *limit;

	if (!cJSON_IsString(schema) || strcmp(schema->valuestring, BUDGET_SCHEMA) != 0) {
		err("%s: is no budget: {\"schema\":\"" BUDGET_SCHEMA
		    "\",\"max\":{\"allocated.peak\":\"30 GiB\"}}",
		    path);
		return false;
	}
	if (!cJSON_IsObject(max) || !max->child) {
		err("%s: the budget has no limits: \"max\":{\"allocated.peak\":\"30 GiB\"}", path);
		return false;
	}
	cJSON_ArrayForEach(limit, max)
	{
		if (!add_limit(gates, path, limit))
			return false;
	}
	return true;
}

bool gates_read(struct gates *gates, const char *path)
{
	char *text = read_all(path);
	cJSON *budget;
	bool read;

	if (!text)
		return false;
	budget = cJSON_Parse(text);
	if (budget) {
		read = read_limits(gates, path, budget);
	} else {
		const char *at = cJSON_GetErrorPtr();

		err("%s: is no JSON, from byte %zu on", path, at ? (size_t)(at - text) : 0);
		read = false;
	}
	cJSON_Delete(budget);
	free(text);
	return read;
}

/* --- output --- */

/* Letters beyond ASCII are for a terminal that says it has them, and for files. */
static bool is_ascii(int fd)
{
	setlocale(LC_CTYPE, "");
	return isatty(fd) && strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

int gates_tell(const char *command, struct diff *diff, const struct diff_format *format,
	       const struct diff_options *options, const char *output)
{
	struct diff_options told = *options;
	int error = output ? cli_redirect(output) : 0;

	told.colour = cli_colour(cli_out()->fd);
	told.ascii = is_ascii(cli_out()->fd);
	if (!error)
		error = format->write(diff, cli_out(), &told);
	if (error)
		return cli_fail(command, STATUS_UNREADABLE);
	return diff_broken(diff) ? STATUS_NO : STATUS_DONE;
}
