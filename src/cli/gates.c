/* What `diff` and `check` share. */
#include "cli/gates.h"

#include <cjson/cJSON.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "base/text/fd.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/traces.h"

#define BUDGET_SCHEMA "memtrace-budget/1"

enum { BUDGET_LARGEST = 1 << 20 };

/* Opens the runs of one side, which refer to the paths. A folder names all that is in it. */
static int open_side(struct diff_side *side, struct traces *traces, const char *const *operands,
		     int device)
{
	int error = traces_add(traces, operands);

	if (error)
		return error;
	side->runs = calloc(traces->count + 1, sizeof(*side->runs));
	if (!side->runs)
		return err("no memory left");
	for (; !error && side->count < traces->count; side->count += !error)
		error = run_open(&side->runs[side->count], traces->paths[side->count], device);
	return error;
}

/* The first run whose categories are told otherwise than those of `like`; NULL for none. */
static const struct run *unlike(struct diff_side *const *sides, const struct run *like)
{
	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; i < sides[s]->count; i++) {
			if (sides[s]->runs[i].categories_from != like->categories_from)
				return &sides[s]->runs[i];
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

/*
 * The categories of all runs: rows where all tell them alike, block by block; when a gate asks for
 * them, whatever it takes.
 */
static int categorise(struct diff_side *const *sides, const struct gates *gates,
		      const struct rules *rules, int device)
{
	bool asked = asks_categories(gates);
	const struct run *first = sides[0]->count ? sides[0]->runs : sides[1]->runs;
	const struct run *other;
	int error = 0;

	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; !error && i < sides[s]->count; i++)
			error = run_find_categories(&sides[s]->runs[i], rules, asked);
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
		for (size_t i = 0; i < sides[s]->count; i++)
			run_add_categories(&sides[s]->runs[i], device);
	}
	return 0;
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
	static char text[BUDGET_LARGEST + 2];
	ssize_t length = fd_read_file(path, text, sizeof(text));
	cJSON *budget;
	bool read = false;

	if (length < 0 || length > BUDGET_LARGEST) {
		err("%s: %s", path,
		    length < 0 ? strerror((int)-length) : "is larger than any budget");
		return false;
	}
	budget = cJSON_Parse(text);
	if (budget)
		read = read_limits(gates, path, budget);
	else
		err("%s: is no JSON, from byte %zu on", path, (size_t)(cJSON_GetErrorPtr() - text));
	cJSON_Delete(budget);
	return read;
}

/* --- the comparison --- */

/* Letters beyond ASCII are for a terminal that says it has them, and for files. */
static bool is_ascii(int fd)
{
	setlocale(LC_CTYPE, "");
	return isatty(fd) && strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

static int write_comparison(struct diff *diff, const struct comparison *asked)
{
	struct diff_options told = asked->options;
	int error = cli_redirect(asked->output);

	told.colour = cli_colour(cli_out()->fd);
	told.ascii = is_ascii(cli_out()->fd);
	return error ? error : asked->format->write(diff, cli_out(), &told);
}

static int refuse_unlike(const struct diff *diff)
{
	char keys[800] = "";

	for (size_t i = 0; i < diff->unlike_n; i++) {
		const struct diff_key *key = &diff->unlike[i];
		size_t used = strlen(keys);

		snprintf(keys + used, sizeof(keys) - used, "%s%.60s (%.100s, %.100s)",
			 i ? ", " : "", key->key, key->base, key->head);
	}
	return err("the runs are too unlike to be compared: %s %s; --force compares them all the "
		   "same",
		   keys, diff->unlike_n == 1 ? "differs" : "differ");
}

int gates_compare(const struct comparison *asked)
{
	struct traces traces[2] = { { NULL, 0 }, { NULL, 0 } };
	struct diff diff = { .device = asked->device };
	struct diff_side *const sides[] = { &diff.base, &diff.head };
	struct rules rules;
	int error = 0;
	int status;

	if (rules_read(&rules, asked->rules))
		return cli_fail(STATUS_USAGE);
	for (size_t s = 0; s < 2 && !error; s++)
		error = open_side(sides[s], &traces[s], asked->sides[s], asked->device);
	if (!error)
		error = categorise(sides, &asked->gates, &rules, asked->device);
	if (!error)
		error = diff_make(&diff, &diff.base, &diff.head, asked->device);
	if (!error && diff.unlike_n && !asked->force)
		error = refuse_unlike(&diff);
	if (!error)
		error = diff_judge(&diff, asked->gates.list, asked->gates.count);
	if (!error)
		error = write_comparison(&diff, asked);
	status = error ? cli_fail(STATUS_UNREADABLE) : diff_broken(&diff) ? STATUS_NO : STATUS_DONE;
	diff_clear(&diff);
	traces_clear(&traces[0]);
	traces_clear(&traces[1]);
	rules_clear(&rules);
	return status;
}
