#include "analyse/compare/gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/settings/quantity.h"
#include "base/text/text.h"

/* --- expressions --- */

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* Reads a number with a % after it. Returns the text after the %, or NULL if there is none. */
static const char *read_percent(const char *text, double *percent)
{
	size_t length = strspn(text, "0123456789");
	const char *end;

	if (length && text[length] == '.')
		length += 1 + strspn(text + length + 1, "0123456789");
	end = skip_blanks(text + length);
	if (!length || length > 30 || *end != '%')
		return NULL;
	*percent = strtod(text, NULL);
	return end + 1;
}

static int wrong(const struct gate *gate, const char *what, const char *where)
{
	static const char *const samples[] = {
		[GATE_GROWTH] = "METRIC[KEY=VALUE]>LIMIT, as in allocated.peak>2% or "
				"allocated.peak[phase=step]>2%+64MiB",
		[GATE_MOST] = "METRIC[KEY=VALUE]<=LIMIT, as in ooms<=0 or "
			      "allocated.peak[phase=step]<=30GiB",
	};

	return err("%s: %s%.60s; expected %s", gate->text, what, where, samples[gate->kind]);
}

static int wrong_word(const struct gate *gate, const char *what, const char *word,
		      const char *names)
{
	char text[400];

	snprintf(text, sizeof(text), "%s%.60s (known:%s)", what, word[0] ? word : "\"\"", names);
	return wrong(gate, text, "");
}

static int read_metric(struct gate *gate, const char *name)
{
	for (size_t i = 0; i < METRIC_IDS; i++) {
		if (!strcmp(metric_rows[i].name, name)) {
			gate->query.metric = (enum metric_id)i;
			return 0;
		}
	}
	return wrong_word(gate, "unknown metric ", name,
#define METRIC(id, name, what, bytes, column, by) " " name
#include "analyse/compare/metrics.def"
	);
}

/* Returns the filter whose key is the text up to the first = or its end, or NARROWINGS if none. */
static size_t find_key(const char *text)
{
	size_t length = strcspn(text, "=");
	size_t i = 0;

	while (i < NARROWINGS &&
	       (strncmp(text, narrowing_rows[i].key, length) != 0 || narrowing_rows[i].key[length]))
		i++;
	return i;
}

static int read_narrowing(struct gate *gate, char *pair)
{
	char *value = strchr(pair, '=');
	size_t by;

	if (!value)
		return wrong(gate, "not KEY=VALUE in the brackets: ", pair);
	*value++ = '\0';
	by = find_key(pair);
	if (by == NARROWINGS)
		return wrong_word(gate, "unknown filter ", pair,
#define NARROWING(id, key, what) " " key
#include "analyse/compare/metric_filters.def"
		);
	if (!*value)
		return wrong(gate, "missing value for ", pair);
	if (gate->query.by[by])
		return wrong(gate, "filter given twice: ", pair);
	gate->query.by[by] = value;
	return 0;
}

/* Reads the filters at `at`: "[a=b][c=d]" or "[a=b,c=d]". Values may contain brackets and commas: a
 * ] ends a filter only before a [ or at the end of the text, a comma only before a key. */
static int read_narrowings(struct gate *gate, char *at)
{
	while (*at == '[') {
		char *pair = ++at;
		int error;

		while (*at && !(*at == ']' && (at[1] == '[' || !at[1])) &&
		       !(*at == ',' && strchr(at, '=') &&
			 find_key(skip_blanks(at + 1)) < NARROWINGS))
			at++;
		if (!*at)
			return wrong(gate, "unclosed bracket: [", pair);
		if (*at == ',') {
			*at = '\0';
			at = (char *)skip_blanks(at + 1) - 1;
			*at = '[';
		} else {
			*at++ = '\0';
		}
		error = read_narrowing(gate, pair);
		if (error)
			return error;
	}
	return *at ? wrong(gate, "unexpected text after the brackets: ", at) : 0;
}

static int check_narrowings(const struct gate *gate)
{
	const struct metric_row *metric = &metric_rows[gate->query.metric];
	unsigned by = 0;
	unsigned others;

	for (size_t i = 0; i < NARROWINGS; i++)
		by |= gate->query.by[i] ? 1u << i : 0;
	for (size_t i = 0; i < NARROWINGS; i++) {
		if (by & ~metric->by & 1u << i)
			return wrong(gate, "the metric cannot be filtered by ",
				     narrowing_rows[i].key);
	}
	others = by & ~(1u << NARROWING_DEVICE);
	if (others & (others - 1))
		return wrong(gate, "at most one filter besides [device=...] can be given", "");
	if (by & 1u << NARROWING_DEVICE && others & (1u << NARROWING_PHASE | 1u << NARROWING_SPACE))
		return wrong(gate, "phases and memory kinds cannot be filtered by device", "");
	if (by == (1u << NARROWING_DEVICE | 1u << NARROWING_SITE) &&
	    (gate->query.metric == METRIC_COUNT || gate->query.metric == METRIC_ALLOCATED_EXIT))
		return wrong(gate, "only peaks can be filtered by both site and device", "");
	if (gate->query.metric == METRIC_ALLOCATED_ADDED && !gate->query.by[NARROWING_PHASE])
		return wrong(gate, "allocated.added needs a phase: allocated.added[phase=NAME]",
			     "");
	return 0;
}

static int read_limit(struct gate *gate, const char *at)
{
	enum quantity_kind kind =
		metric_rows[gate->query.metric].bytes ? QUANTITY_SIZE : QUANTITY_NUMBER;
	const char *const whole = at;

	gate->percent = -1;
	gate->amount = TRACE_NONE;
	for (;; at = skip_blanks(at + 1)) {
		double percent;
		const char *end = read_percent(at, &percent);

		if (end) {
			if (gate->kind == GATE_MOST || gate->percent >= 0)
				break;
			gate->percent = percent;
		} else {
			if (gate->amount != TRACE_NONE)
				break;
			end = quantity_read(at, kind, &gate->amount);
			if (!end || gate->amount > INT64_MAX)
				break;
		}
		end = skip_blanks(end);
		if (!*end)
			return 0;
		if (*end != '+' || gate->kind == GATE_MOST)
			break;
		at = end;
	}
	return wrong(gate, "not a valid limit: ", *whole ? whole : "\"\"");
}

/* Finds the comparison sign after the brackets, because values in brackets may contain the sign. */
static char *find_operator(char *text, char sign)
{
	char *close = strrchr(text, ']');
	char *open = strchr(text, '[');

	return strchr(open && close > open ? close : text, sign);
}

int gate_parse(struct gate *gate, enum gate_kind kind, const char *text)
{
	char *limit;
	char *end;
	char *brackets;
	int error;

	*gate = (struct gate){ .kind = kind };
	text = skip_blanks(text);
	if (text_copy(gate->text, sizeof(gate->text), text) < strlen(text))
		return wrong(gate, "longer than 199 bytes", "");
	text_copy(gate->words, sizeof(gate->words), text);
	limit = find_operator(gate->words, kind == GATE_GROWTH ? '>' : '<');
	if (!limit)
		return wrong(gate, "missing ", kind == GATE_GROWTH ? ">" : "<=");
	for (end = limit; end > gate->words && (end[-1] == ' ' || end[-1] == '\t'); end--)
		;
	if (kind == GATE_MOST && limit[1] != '=')
		return wrong(gate, "missing ", "<=");
	limit += kind == GATE_MOST ? 2 : 1;
	*end = '\0';
	brackets = strchr(gate->words, '[');
	if (brackets) {
		error = read_narrowings(gate, brackets);
		*brackets = '\0';
		if (error)
			return error;
	}
	error = read_metric(gate, gate->words);
	if (!error)
		error = check_narrowings(gate);
	return error ? error : read_limit(gate, skip_blanks(limit));
}

/* --- the check of runs --- */

static bool breaks(const struct gate *gate, const struct gate_result *result)
{
	int64_t growth = result->head - result->base;

	if (gate->kind == GATE_MOST)
		return result->head > (int64_t)gate->amount;
	if (growth <= 0 || growth <= result->noise)
		return false;
	if (gate->amount != TRACE_NONE && growth <= (int64_t)gate->amount)
		return false;
	return gate->percent < 0 || (double)growth * 100 > gate->percent * (double)result->base;
}

bool gate_worse(const struct gate_result *a, const struct gate_result *b)
{
	if (!b->gate || a->broken != b->broken)
		return !b->gate || a->broken;
	return a->head - a->base > b->head - b->base;
}

/* Returns the median of the values. Raises *spread to at least their range (highest - lowest). */
static int64_t middle_of(int64_t *values, size_t count, int64_t *spread)
{
	int64_t median = median_of(values, count);

	if (count && values[count - 1] - values[0] > *spread)
		*spread = values[count - 1] - values[0];
	return median;
}

/* Returns an error if one side has no run that recorded the metric. */
static int told_by_both(const struct gate *gate, const struct run *base, const struct run *head,
			size_t told_by_base, size_t told_by_head)
{
	/* With a filter, a name that only one side has counts as 0 on the other side. */
	if (metric_narrowing(&gate->query) || (told_by_base && told_by_head))
		return 0;
	return err("%s: the gate %s cannot be checked: the trace does not record the metric",
		   (told_by_base ? head : base)->trace.path, gate->text);
}

static int matches_nothing(const struct gate *gate, const struct run *run)
{
	const char *key = metric_narrowing(&gate->query);
	const char *why = "the trace does not record the metric";

	if (gate->query.by[NARROWING_CATEGORY] && run->categories_from == RUN_UNTOLD) {
		why = "the trace has no categories, because it lacks the events that determine "
		      "them";
		key = NULL;
	} else if (key) {
		why = "there is no such ";
	} else if (!run->trace.summary.devices_n) {
		why = "the trace has no device";
	}
	return err("%s: the gate %s matches nothing: %s%s", run->trace.path, gate->text, why,
		   key ? key : "");
}

int gate_judge(const struct gate *gate, const struct run *base, size_t base_n,
	       const struct run *head, size_t head_n, struct gate_result *result)
{
	struct figures figures = { .runs = base_n + head_n };
	size_t told_by_base;
	int error = 0;

	*result = (struct gate_result){ .gate = NULL };
	foreach (run, base)
		figures_add(&figures, run, &gate->query);
	told_by_base = figures.told;
	for (size_t i = 0; i < head_n; i++)
		figures_add(&figures, &head[i], &gate->query);
	if (base_n)
		error = told_by_both(gate, base, head, told_by_base, figures.told - told_by_base);
	for (size_t i = 0; !error && i < figures.count; i++) {
		struct gate_result one = { .gate = gate, .run = head };
		int64_t *values = figures.list[i].values;

		text_copy(one.place, sizeof(one.place), figures.list[i].place);
		one.base = middle_of(values, base_n, &one.noise);
		one.head = middle_of(values + base_n, head_n, &one.noise);
		one.broken = breaks(gate, &one);
		if (gate_worse(&one, result))
			*result = one;
	}
	figures_clear(&figures);
	if (!error && !result->gate)
		error = matches_nothing(gate, head);
	return error;
}
