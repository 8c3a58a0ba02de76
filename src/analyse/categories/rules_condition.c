/* One condition of a rule: what its key, its test and its value are. */
#include "analyse/categories/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/settings/quantity.h"
#include "base/text/text.h"

enum { MOST_CONDITIONS = 4096 }; /* about frames, in all */

static const char *const words_freed[] = {
#define STAGE(id, name) name,
#include "analyse/categories/rules.def"
#undef STAGE
	"soon", "never", NULL
};

static const char *const words_yes[] = { "no", "yes", NULL };

int rules_wrong(const struct rules_source *source, const char *what, const char *where)
{
	return err("%s: line %u: %s%.80s", source->name, source->line, what, where);
}

static const char *const *words_of(enum rule_key key)
{
	return key == RULE_GRADIENT || key == RULE_CALLED ? words_yes : words_freed;
}

/* One word of a list between |, as its bit; 0 when there is no such word. */
static uint32_t word_bit(enum rule_key key, const char *text, size_t length)
{
	const char *const *words = words_of(key);
	size_t most = key == RULE_BORN ? STAGES : SIZE_MAX;

	for (size_t i = 0; words[i] && i < most; i++) {
		if (strlen(words[i]) == length && !memcmp(words[i], text, length))
			return 1u << i;
	}
	return 0;
}

static int condition_words(const struct rules_source *source, struct rule_condition *condition,
			   const char *value)
{
	for (;;) {
		size_t length = strcspn(value, "|");
		uint32_t bit = word_bit(condition->key, value, length);
		char text[300];

		if (!bit) {
			snprintf(text, sizeof(text), "%.60s: %s", value,
				 rule_keys[condition->key].what);
			return rules_wrong(source, "there is no ", text);
		}
		condition->words |= bit;
		value += length;
		if (!*value++)
			return 0;
	}
}

static int condition_number(const struct rules_source *source, struct rule_condition *condition,
			    const char *value)
{
	char *end;

	switch (condition->key) {
	case RULE_SIZE:
		return quantity_parse(value, QUANTITY_SIZE, &condition->number)
			       ? 0
			       : rules_wrong(source, "no size like 4096 or 1MiB: ", value);
	case RULE_LIFETIME:
		return quantity_parse(value, QUANTITY_TIME, &condition->number)
			       ? 0
			       : rules_wrong(source, "no time like 20ms or 1.5s: ", value);
	default:
		errno = 0;
		condition->number = strtoull(value, &end, 10);
		return *value < '0' || *value > '9' || *end || errno
			       ? rules_wrong(source, "no number: ", value)
			       : 0;
	}
}

/* "<=" and what else stands behind a key: its length, 0 for none. */
static size_t read_test(const char *text, uint8_t *test)
{
	static const struct {
		const char *text;
		uint8_t test;
	} tests[] = {
		{ "!=", TEST_IS_NOT }, { "<=", TEST_MOST }, { ">=", TEST_LEAST },
		{ "=", TEST_IS },      { "<", TEST_LESS },  { ">", TEST_MORE },
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (!strncmp(text, tests[i].text, strlen(tests[i].text))) {
			*test = tests[i].test;
			return strlen(tests[i].text);
		}
	}
	return 0;
}

static int no_key(const struct rules_source *source, const char *text)
{
	char message[400];

	snprintf(message, sizeof(message), "%.60s: %s", text,
		 "a condition is KEY=VALUE, KEY one of");
	for (size_t i = 0; i < RULE_KEYS; i++) {
		text_append(message, sizeof(message), i ? ", " : " ");
		text_append(message, sizeof(message), rule_keys[i].key);
	}
	return err("%s: line %u: %s", source->name, source->line, message);
}

/* "key=value", whose text is the condition's from here on. */
int rules_read_condition(const struct rules_source *source, struct rule_condition *condition,
			 char *text)
{
	size_t length = strcspn(text, "!<>=");
	size_t behind = read_test(text + length, &condition->test);
	const char *value = text + length + behind;
	enum rule_key key = 0;

	while (key < RULE_KEYS && (strlen(rule_keys[key].key) != length ||
				   memcmp(rule_keys[key].key, text, length) != 0))
		key++;
	if (key == RULE_KEYS || !behind)
		return no_key(source, text);
	if (!*value)
		return rules_wrong(source, "no value: ", text);
	condition->key = (uint8_t)key;
	if (rule_keys[key].kind == RULE_KIND_NUMBER)
		return condition_number(source, condition, value);
	if (condition->test != TEST_IS && condition->test != TEST_IS_NOT)
		return rules_wrong(source, "only numbers are more or less: ", text);
	if (rule_keys[key].kind == RULE_KIND_WORD)
		return condition_words(source, condition, value);
	condition->patterns = value;
	if (rule_keys[key].kind != RULE_KIND_FRAME)
		return 0;
	if (source->rules->frame_conditions == MOST_CONDITIONS)
		return rules_wrong(source, "too many conditions about frames: ", text);
	condition->bit = source->rules->frame_conditions++;
	return 0;
}

bool rules_read_stage(const char *name, uint8_t *stage)
{
	uint32_t bit = word_bit(RULE_BORN, name, strlen(name));

	if (!bit)
		return false;
	*stage = (uint8_t)__builtin_ctz(bit);
	return true;
}
