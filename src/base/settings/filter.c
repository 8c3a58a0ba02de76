/* Parses filters that select the memory events to record, and applies them to events. */
#include "base/settings/filter.h"

#include <string.h>

#include "base/guest/table_rows.h"
#include "base/mem/each.h"
#include "base/settings/quantity.h"
#include "base/text/text.h"

enum { NUMBER, NAME, VALUE = 64, OTHER = FILTER_LESS | FILTER_MORE };

static const struct {
	char name[8];
	int kind;
} keys[] = {
#define FILTER_KEY(name, kind, what) { WHOLE(#name), kind },
#include "base/settings/filter_keys.def"
};

/* Longer relations come before their prefixes: ">=" must not be read as ">". */
static const struct {
	char text[4];
	unsigned relation;
} relations[] = {
	{ ">=", FILTER_MORE | FILTER_EQUAL },
	{ "<=", FILTER_LESS | FILTER_EQUAL },
	{ "!=", OTHER },
	{ "=", FILTER_EQUAL },
	{ ">", FILTER_MORE },
	{ "<", FILTER_LESS },
};

static bool parse_key(const char **text, struct filter_term *term)
{
	size_t length = strcspn(*text, "=<>!");

	for (size_t i = 0; i < FILTER_KEYS; i++) {
		if (strlen(keys[i].name) != length || strncmp(keys[i].name, *text, length) != 0)
			continue;
		term->key = (enum filter_key)i;
		*text += length;
		return true;
	}
	return false;
}

static bool parse_relation(const char **text, struct filter_term *term)
{
	for (size_t i = 0; i < COUNT_OF(relations); i++) {
		size_t length = strlen(relations[i].text);

		if (strncmp(*text, relations[i].text, length) != 0)
			continue;
		term->relation = relations[i].relation;
		*text += length;
		return keys[term->key].kind == NUMBER || term->relation == FILTER_EQUAL ||
		       term->relation == OTHER;
	}
	return false;
}

static bool parse_value(const char *text, size_t length, struct filter_term *term)
{
	char value[VALUE];

	if (!length)
		return false;
	if (keys[term->key].kind == NAME) {
		bool none = length == 4 && !strncmp(text, "none", 4);

		term->name = text;
		term->length = none ? 0 : length;
		return true;
	}
	if (text_copy_n(value, sizeof(value), text, length) != length)
		return false;
	return quantity_parse(value, QUANTITY_SETTING, &term->number);
}

bool filter_parse(const char *text, struct filter *filter)
{
	*filter = (struct filter){ .count = 0 };
	while (*text) {
		struct filter_term *term = &filter->terms[filter->count];
		size_t length;

		if (filter->count == FILTER_TERMS || !parse_key(&text, term) ||
		    !parse_relation(&text, term))
			goto wrong;
		length = strcspn(text, ",");
		if (!parse_value(text, length, term) || (text[length] && !text[length + 1]))
			goto wrong;
		filter->count++;
		text += length + (text[length] == ',');
	}
	return true;
wrong:
	filter->count = 0;
	return false;
}

static bool term_holds(const struct filter_term *term, const struct filter_facts *facts)
{
	const char *name = facts->name[term->key] ? facts->name[term->key] : "";
	uint64_t number = facts->number[term->key];

	if (keys[term->key].kind == NAME) {
		bool same = strlen(name) == term->length && !memcmp(name, term->name, term->length);

		return same == (term->relation == FILTER_EQUAL);
	}
	return term->relation & (number < term->number    ? FILTER_LESS
				 : number == term->number ? FILTER_EQUAL
							  : FILTER_MORE);
}

enum filter_answer filter_ask(const struct filter *filter, const struct filter_facts *facts)
{
	enum filter_answer answer = FILTER_YES;

	for (unsigned i = 0; i < filter->count; i++) {
		const struct filter_term *term = &filter->terms[i];

		if (!(facts->known >> term->key & 1))
			answer = FILTER_MAYBE;
		else if (!term_holds(term, facts))
			return FILTER_NO;
	}
	return answer;
}
