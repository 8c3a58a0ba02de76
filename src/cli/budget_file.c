#include "cli/budget_file.h"

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

int gates_add(struct gates *gates, enum gate_kind kind, const char *text)
{
	struct gate **grown = realloc(gates->list, (gates->count + 1) * sizeof(void *));
	struct gate *gate = calloc(1, sizeof(*gate));

	NEED(grown && gate);
	gates->list = grown;
	if (gate_parse(gate, kind, text)) {
		free(gate);
		return -EINVAL;
	}
	gates->list[gates->count++] = gate;
	return 0;
}

void gates_clear(struct gates *gates)
{
	foreach (gate, gates->list, gates->count)
		free(*gate);
	free(gates->list);
	*gates = (struct gates){ NULL, 0 };
}

/* --- budgets --- */

/* Adds a gate, such as allocated.peak<=30 GiB for "allocated.peak": "30 GiB" in the file. */
static int add_limit(struct gates *gates, const char *path, const cJSON *limit)
{
	char text[400];
	char why[1000];

	if (cJSON_IsString(limit)) {
		snprintf(text, sizeof(text), "%s<=%s", limit->string, limit->valuestring);
	} else if (cJSON_IsNumber(limit) && limit->valuedouble >= 0) {
		snprintf(text, sizeof(text), "%s<=%.0f", limit->string, limit->valuedouble);
	} else {
		return err("%s: the limit of \"%.80s\" must be a number, or text like \"30 GiB\"",
			   path, limit->string);
	}
	if (!gates_add(gates, GATE_MOST, text))
		return 0;
	text_copy(why, sizeof(why), err_text());
	return err("%s: %s", path, why);
}

static int read_limits(struct gates *gates, const char *path, const cJSON *budget)
{
	const cJSON *schema = cJSON_GetObjectItemCaseSensitive(budget, "schema");
	const cJSON *max = cJSON_GetObjectItemCaseSensitive(budget, "max");
	int error = 0;

	if (!cJSON_IsString(schema) || strcmp(schema->valuestring, BUDGET_SCHEMA) != 0)
		return err("%s: not a budget; write it like {\"schema\":\"" BUDGET_SCHEMA
			   "\",\"max\":{\"allocated.peak\":\"30 GiB\"}}",
			   path);
	if (!cJSON_IsObject(max) || !max->child)
		return err("%s: the budget has no limits; add one, such as "
			   "\"max\":{\"allocated.peak\":\"30 GiB\"}",
			   path);
	for (const cJSON *limit = max->child; !error && limit; limit = limit->next)
		error = add_limit(gates, path, limit);
	return error;
}

int gates_read(struct gates *gates, const char *path)
{
	static char text[BUDGET_LARGEST + 2];
	ssize_t length = fd_read_file(path, text, sizeof(text));
	cJSON *budget;
	int error;

	if (length < 0 || length > BUDGET_LARGEST)
		return err("%s: %s", path,
			   length < 0 ? strerror((int)-length)
				      : "not a budget: the file is larger than 1 MiB");
	budget = cJSON_Parse(text);
	error = budget ? read_limits(gates, path, budget)
		       : err("%s: not valid JSON (error at byte %zu)", path,
			     (size_t)(cJSON_GetErrorPtr() - text));
	cJSON_Delete(budget);
	return error;
}
