/* Parses the gates of `memtrace diff` and `check`: limits from options and from budget files. */
#include "cli/gate_options.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "base/text/fd.h"
#include "base/text/text.h"

#define BUDGET_SCHEMA "memtrace-budget/1"

enum { BUDGET_LARGEST = 1 << 20 };

bool gates_add(struct gates *gates, enum gate_kind kind, const char *text)
{
	struct gate **grown = realloc(gates->list, (gates->count + 1) * sizeof(void *));
	struct gate *gate = calloc(1, sizeof(*gate));

	NEED(grown && gate);
	gates->list = grown;
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

/* Adds a member of "max" as a gate: "allocated.peak": "30 GiB" means allocated.peak<=30 GiB. */
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
		err("%s: is not a budget, which begins like this: {\"schema\":\"" BUDGET_SCHEMA
		    "\",\"max\":{\"allocated.peak\":\"30 GiB\"}}",
		    path);
		return false;
	}
	if (!cJSON_IsObject(max) || !max->child) {
		err("%s: the budget has no limits: \"max\":{\"allocated.peak\":\"30 "
		    "GiB\"}",
		    path);
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
		err("%s: is not JSON from byte %zu on", path, (size_t)(cJSON_GetErrorPtr() - text));
	cJSON_Delete(budget);
	return read;
}
