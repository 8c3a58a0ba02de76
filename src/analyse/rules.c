/* Rules that tell what memory is for: the text of a file becomes conditions. */
#include "analyse/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/error.h"
#include "analyse/gate.h"
#include "analyse/moment.h"
#include "base/text.h"

enum {
	LONGEST_NAME = 40,      /* of a category */
	MOST_RULES = 10000,     /* a file with more is none of rules */
	MOST_CONDITIONS = 4096, /* about frames, in all */
};

const struct rule_key_row rule_keys[RULE_KEYS] = {
#define KEY(id, key, kind, what) { key, what, RULE_KIND_##kind },
#include "analyse/rules.def"
#undef KEY
};

const char *const category_whats[CATEGORIES] = {
#define CATEGORY(id, name, what) what,
#include "analyse/categories.def"
#undef CATEGORY
};

const char *const category_names[CATEGORIES] = {
#define CATEGORY(id, name, what) name,
#include "analyse/categories.def"
#undef CATEGORY
};

static const char *const words_freed[] = {
#define STAGE(id, name) name,
#include "analyse/rules.def"
#undef STAGE
	"soon", "never", NULL
};

static const char *const words_yes[] = { "no", "yes", NULL };

/* The pattern from `pattern` to `end`, as metric_matches() would, without a copy of it. */
static bool pattern_fits(const char *pattern, const char *end, const char *text)
{
	const char *star = NULL;
	const char *again = NULL;

	while (*text) {
		if (pattern < end && *pattern == '*') {
			star = pattern++;
			again = text;
		} else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++again;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

bool rule_fits(const char *patterns, const char *text)
{
	while (text && patterns) {
		const char *end = strchr(patterns, '|');

		if (pattern_fits(patterns, end ? end : patterns + strlen(patterns), text))
			return true;
		patterns = end ? end + 1 : NULL;
	}
	return false;
}

/* --- one condition --- */

/* Where the text comes from. */
struct rules_source {
	struct rules *rules;
	const char *name;
	unsigned line;
	bool builtin;
};

static int wrong(const struct rules_source *source, const char *what, const char *where)
{
	return err("%s: line %u: %s%.80s", source->name, source->line, what, where);
}

static int no_memory(const struct rules_source *source)
{
	return err("%s: no memory left", source->name);
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

static int read_words(const struct rules_source *source, struct rule_condition *condition,
		      const char *value)
{
	for (;;) {
		size_t length = strcspn(value, "|");
		uint32_t bit = word_bit(condition->key, value, length);
		char text[300];

		if (!bit) {
			snprintf(text, sizeof(text), "%.60s: %s", value,
				 rule_keys[condition->key].what);
			return wrong(source, "there is no ", text);
		}
		condition->words |= bit;
		value += length;
		if (!*value++)
			return 0;
	}
}

static int read_number(const struct rules_source *source, struct rule_condition *condition,
		       const char *value)
{
	char *end;

	switch (condition->key) {
	case RULE_SIZE:
		return gate_amount(value, &condition->number)
			       ? 0
			       : wrong(source, "no size like 4096 or 1MiB: ", value);
	case RULE_LIFETIME:
		return moment_time(value, &condition->number)
			       ? wrong(source, "no time like 20ms or 1.5s: ", value)
			       : 0;
	default:
		errno = 0;
		condition->number = strtoull(value, &end, 10);
		return *value < '0' || *value > '9' || *end || errno
			       ? wrong(source, "no number: ", value)
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
static int read_condition(const struct rules_source *source, struct rule_condition *condition,
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
		return wrong(source, "no value: ", text);
	condition->key = (uint8_t)key;
	if (rule_keys[key].kind == RULE_KIND_NUMBER)
		return read_number(source, condition, value);
	if (condition->test != TEST_IS && condition->test != TEST_IS_NOT)
		return wrong(source, "only numbers are more or less: ", text);
	if (rule_keys[key].kind == RULE_KIND_WORD)
		return read_words(source, condition, value);
	condition->patterns = value;
	if (rule_keys[key].kind != RULE_KIND_FRAME)
		return 0;
	if (source->rules->frame_conditions == MOST_CONDITIONS)
		return wrong(source, "too many conditions about frames: ", text);
	condition->bit = source->rules->frame_conditions++;
	return 0;
}

/* --- one line --- */

/* Cuts the next word off, which may have blanks inside of quotes; NULL at the end. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " \t\r");
	char *to = word;
	char *from = word;
	bool quoted = false;

	if (!*word || *word == '#')
		return NULL;
	for (; *from && (quoted || !strchr(" \t\r", *from)); from++) {
		if (*from == '"')
			quoted = !quoted;
		else
			*to++ = *from;
	}
	*at = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

static struct rule *add_rule(const struct rules_source *source)
{
	struct rules *rules = source->rules;
	struct rule *list;

	if (rules->count % 64 == 0) {
		list = reallocarray(rules->list, rules->count + 64, sizeof(*list));
		if (!list)
			return NULL;
		rules->list = list;
	}
	rules->list[rules->count] = (struct rule){
		.stage = STAGES,
		.line = source->line,
		.builtin = source->builtin,
	};
	return &rules->list[rules->count++];
}

static int read_conditions(const struct rules_source *source, struct rule *rule, char *text)
{
	struct rule_condition conditions[32] = { 0 };
	struct rule_condition *kept;
	size_t count = 0;
	char *word;

	while ((word = next_word(&text)) != NULL) {
		if (count == sizeof(conditions) / sizeof(conditions[0]))
			return wrong(source, "too many conditions: ", word);
		if (read_condition(source, &conditions[count], word))
			return -EINVAL;
		if (rule->stage != STAGES &&
		    rule_keys[conditions[count].key].kind != RULE_KIND_FRAME)
			return wrong(source, "a stage is told by frames alone, not by ", word);
		count++;
	}
	if (!count)
		return wrong(source, "a rule without a condition", "");
	kept = arena_alloc(&source->rules->arena, count * sizeof(*kept));
	if (!kept)
		return no_memory(source);
	memcpy(kept, conditions, count * sizeof(*kept));
	rule->conditions = kept;
	rule->conditions_n = (uint16_t)count;
	return 0;
}

static int read_stage(const struct rules_source *source, struct rule *rule, const char *name)
{
	uint32_t bit = word_bit(RULE_BORN, name, strlen(name));

	if (!bit || bit == 1u << STAGE_RECOMPUTE)
		return wrong(source, "a stage is forward, backward or optimizer, not ", name);
	rule->stage = (uint8_t)__builtin_ctz(bit);
	return 0;
}

static int read_category(const struct rules_source *source, struct rule *rule, const char *name)
{
	struct rules *rules = source->rules;
	int number = rules_category(rules, name);
	size_t length = strlen(name);

	if (!length || length > LONGEST_NAME ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") !=
		    length)
		return wrong(source, "no name for a category (letters, digits, - _ .): ", name);
	if (number < 0) {
		if (rules->categories == CATEGORIES_MOST)
			return wrong(source, "one category too many: ", name);
		number = (int)rules->categories++;
		rules->names[number] = arena_text(&rules->arena, name, length);
		if (!rules->names[number])
			return no_memory(source);
	}
	rule->category = (uint8_t)number;
	return 0;
}

/* The line is changed. */
static int read_line(const struct rules_source *source, char *line)
{
	char *at = line + strspn(line, " \t\r");
	char *colon;
	char *head;
	char *name;
	struct rule *rule;
	int error;

	if (!*at || *at == '#')
		return 0;
	colon = strchr(at, ':');
	if (!colon)
		return wrong(source, "no colon: a rule is CATEGORY: KEY=VALUE ...: ", at);
	if (source->rules->count == MOST_RULES)
		return wrong(source, "one rule too many: ", at);
	*colon = '\0';
	rule = add_rule(source);
	head = next_word(&at);
	name = head ? next_word(&at) : NULL;
	if (!rule)
		return no_memory(source);
	if (name && !strcmp(head, "stage"))
		error = read_stage(source, rule, name);
	else if (name)
		error = wrong(source, "no name for a category (letters, digits, - _ .): ", line);
	else
		error = read_category(source, rule, head ? head : "");
	return error ? error : read_conditions(source, rule, colon + 1);
}

/* --- texts and files --- */

static int read_text(struct rules_source *source, const char *text)
{
	char *line = arena_text(&source->rules->arena, text, strlen(text));
	int error = line ? 0 : no_memory(source);

	while (!error && line && *line) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		source->line++;
		error = read_line(source, line);
		line = end ? end + 1 : NULL;
	}
	return error;
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	/* A NUL in it ends it, as it would end each line. */
	if (getdelim(&text, &size, '\0', file) < 0 && !ferror(file)) {
		free(text);
		text = strdup("");
	} else if (ferror(file)) {
		int number = errno;

		free(text);
		text = NULL;
		errno = number;
	}
	fclose(file);
	return text;
}

static int start(struct rules *rules)
{
	*rules = (struct rules){ .categories = CATEGORIES };
	for (size_t i = 0; i < CATEGORIES; i++)
		rules->names[i] = category_names[i];
	return 0;
}

static int read_builtin(struct rules *rules)
{
	struct rules_source source = { rules, "the built-in rules", 0, true };

	return read_text(&source, rules_builtin);
}

int rules_read_text(struct rules *rules, const char *text, const char *name)
{
	struct rules_source source = { rules, name, 0, false };
	int error = start(rules);

	if (!error && text)
		error = read_text(&source, text);
	if (!error)
		error = read_builtin(rules);
	if (error)
		rules_clear(rules);
	return error;
}

int rules_read(struct rules *rules, const char *path)
{
	char *text = path ? read_file(path) : NULL;
	int error;

	*rules = (struct rules){ 0 };
	if (path && !text)
		return err("%s: %s", path, strerror(errno));
	error = rules_read_text(rules, text, path);
	free(text);
	return error;
}

void rules_clear(struct rules *rules)
{
	arena_clear(&rules->arena);
	free(rules->list);
	*rules = (struct rules){ 0 };
}

int rules_category(const struct rules *rules, const char *name)
{
	for (size_t i = 0; i < rules->categories; i++) {
		if (!strcmp(rules->names[i], name))
			return (int)i;
	}
	return -1;
}
