/* Gates and budgets: the parser and the verdict. */
#include "analyse/gate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyse/error.h"
#include "base/text.h"

/* --- amounts --- */

static const struct {
	const char *name;
	double factor;
} units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "KiB", 1024.0 },
	{ "MiB", 1048576.0 },
	{ "GiB", 1073741824.0 },
	{ "TiB", 1099511627776.0 },
	{ "KB", 1e3 },
	{ "MB", 1e6 },
	{ "GB", 1e9 },
	{ "TB", 1e12 },
};

/* A number without sign or exponent, which strtod would take; NULL when there is none. */
static const char *read_number(const char *text, double *value)
{
	size_t whole = strspn(text, "0123456789");
	size_t length = whole;

	if (text[length] == '.')
		length += 1 + strspn(text + length + 1, "0123456789");
	if (!whole || length > 30)
		return NULL;
	*value = strtod(text, NULL);
	return text + length;
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* An amount at the text's beginning; what follows it, NULL when there is none. */
static const char *read_amount(const char *text, bool bytes, uint64_t *amount)
{
	double value;
	const char *unit = read_number(text, &value);
	size_t length;

	if (!unit)
		return NULL;
	unit = skip_blanks(unit);
	length = strcspn(unit, " \t+");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) != length || strncasecmp(unit, units[i].name, length) ||
		    (length && !bytes))
			continue;
		value *= units[i].factor;
		if (value >= 9.2e18)
			return NULL;
		*amount = (uint64_t)value;
		return skip_blanks(unit + length);
	}
	return NULL;
}

bool gate_amount(const char *text, uint64_t *bytes)
{
	const char *end = read_amount(skip_blanks(text), true, bytes);

	return end && !*end;
}

/* --- the parser --- */

static int wrong(const struct gate *gate, const char *what, const char *where)
{
	char metrics[300] = "";
	const char *const samples[] = {
		[GATE_GROWTH] = "METRIC[KEY=VALUE]>LIMIT with a limit like 2%, 64MiB or 2%+1MiB",
		[GATE_MOST] = "METRIC[KEY=VALUE]<=LIMIT with a limit like 30GiB or 0",
	};

	for (size_t i = 0; i < METRIC_IDS; i++) {
		text_append(metrics, sizeof(metrics), i ? ", " : "");
		text_append(metrics, sizeof(metrics), metric_rows[i].name);
	}
	return err("%s: %s%.60s; wanted is %s, METRIC being one of %s, and [KEY=VALUE], which may "
		   "be left out, one of device, pool, owner, phase, site, space, category",
		   gate->text, what, where, samples[gate->kind], metrics);
}

static int read_metric(struct gate *gate, const char *name)
{
	for (size_t i = 0; i < METRIC_IDS; i++) {
		if (!strcmp(metric_rows[i].name, name)) {
			gate->query.metric = (enum metric_id)i;
			return 0;
		}
	}
	return wrong(gate, "there is no metric ", name[0] ? name : "\"\"");
}

/* One KEY=VALUE, whose text ends where it does. */
static int read_narrowing(struct gate *gate, char *pair)
{
	char *value = strchr(pair, '=');

	if (!value)
		return wrong(gate, "no KEY=VALUE in the brackets: ", pair);
	*value++ = '\0';
	for (size_t i = 0; i < NARROWINGS; i++) {
		if (strcmp(narrowing_rows[i].key, pair) != 0)
			continue;
		if (!*value)
			return wrong(gate, "no value for ", pair);
		if (gate->query.by[i])
			return wrong(gate, "given twice: ", pair);
		gate->query.by[i] = value;
		return 0;
	}
	return wrong(gate, "nothing is narrowed by ", pair);
}

static bool is_key(const char *text)
{
	for (size_t i = 0; i < NARROWINGS; i++) {
		size_t length = strlen(narrowing_rows[i].key);

		if (!strncmp(text, narrowing_rows[i].key, length) && text[length] == '=')
			return true;
	}
	return false;
}

/*
 * The narrowings from `at`, "[a=b][c=d]" or "[a=b,c=d]". A name may hold brackets and commas: a
 * bracket closes only in front of what may follow it, a comma parts only in front of a key.
 */
static int read_narrowings(struct gate *gate, char *at)
{
	while (*at == '[') {
		char *pair = ++at;
		int error;

		while (*at && !(*at == ']' && (at[1] == '[' || !at[1])) &&
		       !(*at == ',' && is_key(skip_blanks(at + 1))))
			at++;
		if (!*at)
			return wrong(gate, "a bracket is not closed: [", pair);
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
	return *at ? wrong(gate, "what is this: ", at) : 0;
}

static int check_narrowings(const struct gate *gate)
{
	const struct metric_row *metric = &metric_rows[gate->query.metric];
	unsigned by = 0;
	unsigned others;

	for (size_t i = 0; i < NARROWINGS; i++)
		by |= gate->query.by[i] ? 1u << i : 0;
	if (by & ~metric->by)
		return wrong(gate, metric->name, " is not known of that");
	others = by & ~(1u << NARROWING_DEVICE);
	if (others & (others - 1))
		return wrong(gate, "one narrowing beside the device is all that is known", "");
	if (by & 1u << NARROWING_DEVICE &&
	    others & (1u << NARROWING_PHASE | 1u << NARROWING_SPACE | 1u << NARROWING_CATEGORY))
		return wrong(gate, "that is not known of one device", "");
	if (by == (1u << NARROWING_DEVICE | 1u << NARROWING_SITE) &&
	    (gate->query.metric == METRIC_COUNT || gate->query.metric == METRIC_ALLOCATED_EXIT))
		return wrong(gate, "of a site only peaks are known by device", "");
	if (gate->query.metric == METRIC_ALLOCATED_ADDED && !gate->query.by[NARROWING_PHASE])
		return wrong(gate, "allocated.added wants a phase: allocated.added[phase=NAME]",
			     "");
	return 0;
}

static int read_limit(struct gate *gate, const char *at)
{
	bool bytes = metric_rows[gate->query.metric].bytes;
	const char *const whole = at;

	gate->percent = -1;
	gate->amount = TRACE_NONE;
	for (;; at = skip_blanks(at + 1)) {
		double value;
		const char *end = read_number(at, &value);

		if (end && *skip_blanks(end) == '%') {
			if (gate->kind == GATE_MOST || gate->percent >= 0)
				break;
			gate->percent = value;
			end = skip_blanks(skip_blanks(end) + 1);
		} else {
			if (gate->amount != TRACE_NONE)
				break;
			end = read_amount(at, bytes, &gate->amount);
		}
		if (!end)
			break;
		if (!*end)
			return 0;
		if (*end != '+' || gate->kind == GATE_MOST)
			break;
		at = end;
	}
	return wrong(gate, "no limit: ", *whole ? whole : "\"\"");
}

/* Where the comparison stands: behind the brackets, whose values may hold one. */
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
		return wrong(gate, "it is too long", "");
	text_copy(gate->words, sizeof(gate->words), text);
	limit = find_operator(gate->words, kind == GATE_GROWTH ? '>' : '<');
	if (!limit)
		return wrong(gate, "there is no ", kind == GATE_GROWTH ? ">" : "<=");
	for (end = limit; end > gate->words && (end[-1] == ' ' || end[-1] == '\t'); end--)
		;
	if (kind == GATE_MOST && limit[1] != '=')
		return wrong(gate, "there is no ", "<=");
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

/* --- the verdict --- */

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int64_t gate_median(int64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return count ? values[(count - 1) / 2] : 0;
}

struct side {
	struct figures *figures; /* by run */
	size_t count;
	int64_t *values; /* room for one of each run */
};

static void side_clear(struct side *side)
{
	for (size_t i = 0; i < side->count; i++)
		figures_clear(&side->figures[i]);
	free(side->figures);
	free(side->values);
}

/* A run without the place counts as nothing there. */
static int64_t side_median(struct side *side, const char *place, int64_t *spread)
{
	int64_t median;

	for (size_t i = 0; i < side->count; i++) {
		const struct figure *figure = figures_find(&side->figures[i], place);

		side->values[i] = figure ? figure->value : 0;
	}
	median = gate_median(side->values, side->count);
	if (side->count && side->values[side->count - 1] - side->values[0] > *spread)
		*spread = side->values[side->count - 1] - side->values[0];
	return median;
}

static int side_read(struct side *side, const struct run *runs, size_t count,
		     const struct metric_query *query)
{
	side->figures = calloc(count + 1, sizeof(*side->figures));
	side->values = calloc(count + 1, sizeof(*side->values));
	if (!side->figures || !side->values)
		return err("no memory left");
	side->count = count;
	for (size_t i = 0; i < count; i++) {
		if (figures_read(&side->figures[i], &runs[i], query))
			return -EINVAL;
	}
	return 0;
}

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

/* What broke comes before what did not, and more growth before less. */
static bool worse(const struct gate_result *a, const struct gate_result *b)
{
	if (!b->gate || a->broken != b->broken)
		return !b->gate || a->broken;
	return a->head - a->base > b->head - b->base;
}

static void judge_places(const struct gate *gate, struct side *base, struct side *head,
			 const struct figures *places, struct gate_result *result)
{
	for (size_t i = 0; i < places->count; i++) {
		struct gate_result one = { .gate = gate };

		text_copy(one.place, sizeof(one.place), places->list[i].place);
		one.base = side_median(base, one.place, &one.noise);
		one.head = side_median(head, one.place, &one.noise);
		one.broken = breaks(gate, &one);
		if (worse(&one, result))
			*result = one;
	}
}

/* Of a figure that one side does not tell at all nobody knows how it changed. */
static int told_by_both(const struct gate *gate, const struct side *base, const struct side *head,
			const struct run *of_base, const struct run *of_head)
{
	const struct side *const sides[] = { base, head };

	for (size_t i = 0; i < NARROWINGS; i++) {
		if (gate->query.by[i])
			return 0; /* what is named may be new, or gone */
	}
	for (size_t i = 0; i < 2; i++) {
		size_t told = 0;

		for (size_t k = 0; k < sides[i]->count; k++)
			told += sides[i]->figures[k].count;
		if (sides[i]->count && !told && sides[1 - i]->count)
			return err("%s: the gate %s cannot be judged: the trace does not tell it",
				   (i ? of_head : of_base)->trace.path, gate->text);
	}
	return 0;
}

static int matches_nothing(const struct gate *gate, const struct run *run)
{
	if (gate->query.by[NARROWING_CATEGORY])
		return err("%s: the gate %s matches nothing: the trace tells no categories",
			   run->trace.path, gate->text);
	for (size_t i = 0; i < NARROWINGS; i++) {
		if (gate->query.by[i])
			return err("%s: the gate %s matches nothing: there is no such %s",
				   run->trace.path, gate->text, narrowing_rows[i].key);
	}
	if (!run->trace.summary.devices_n)
		return err("%s: the gate %s matches nothing: the trace has no device",
			   run->trace.path, gate->text);
	return err("%s: the gate %s matches nothing: the trace does not tell it", run->trace.path,
		   gate->text);
}

int gate_judge(const struct gate *gate, const struct run *base, size_t base_n,
	       const struct run *head, size_t head_n, struct gate_result *result)
{
	struct side sides[2] = { { NULL, 0, NULL }, { NULL, 0, NULL } };
	int error = side_read(&sides[0], base, base_n, &gate->query);

	*result = (struct gate_result){ .gate = NULL };
	if (!error)
		error = side_read(&sides[1], head, head_n, &gate->query);
	if (!error)
		error = told_by_both(gate, &sides[0], &sides[1], base, head);
	for (size_t i = 0; !error && i < 2; i++) {
		for (size_t k = 0; k < sides[i].count; k++)
			judge_places(gate, &sides[0], &sides[1], &sides[i].figures[k], result);
	}
	side_clear(&sides[0]);
	side_clear(&sides[1]);
	if (!error && !result->gate)
		error = matches_nothing(gate, head);
	return error;
}
