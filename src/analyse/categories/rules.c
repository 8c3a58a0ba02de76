/* Reads rules for the categories of memory: single conditions, lines, and whole files. */
#include "analyse/categories/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "base/mem/each.h"
#include "base/settings/quantity.h"
#include "base/text/text.h"

enum {
	LONGEST_NAME = 40,      /* maximum length of a category's name, without the NUL */
	MOST_RULES = 10000,     /* the user's and the built-in rules together */
	MOST_CONDITIONS = 4096, /* conditions about frames, in all rules together */
};

const struct rule_key_row rule_keys[RULE_KEYS] = {
#define KEY(id, key, kind, what) { key, what, RULE_KIND_##kind },
#include "analyse/categories/rules.def"
};

TEXT_OF_FILE(rules_builtin, "src/analyse/categories/builtin_categories.rules");
TEXT_OF_FILE(rules_help, "src/analyse/categories/rules.help");

const char *const category_whats[CATEGORIES] = {
#define CATEGORY(id, name, what) what,
#include "analyse/categories/categories.def"
};

const char *const category_names[CATEGORIES] = {
#define CATEGORY(id, name, what) name,
#include "analyse/categories/categories.def"
};

struct rules_source {
	struct rules *rules;
	const char *name;
	unsigned line;
};

/* --- one condition --- */

static const char *const words_freed[] = {
#define STAGE(id, name) name,
#include "analyse/categories/rules.def"
	"soon", "never", NULL
};

static const char *const words_yes[] = { "no", "yes", NULL };

/* Sets err_text() to "NAME: line N: WHAT WHERE", with WHERE cut short. Returns -EINVAL. */
static int rules_wrong(const struct rules_source *source, const char *what, const char *where)
{
	return err("%s: line %u: %s%.80s", source->name, source->line, what, where);
}

/* Returns the bit for a word in the key's list of words; 0 if the word is not in the list. */
static uint32_t word_bit(enum rule_key key, const char *text, size_t length)
{
	const char *const *words =
		key == RULE_GRADIENT || key == RULE_CALLED ? words_yes : words_freed;
	size_t most = key == RULE_STAGE ? STAGES : SIZE_MAX;

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
			snprintf(text, sizeof(text), "%.60s; expected %s", value,
				 rule_keys[condition->key].what);
			return rules_wrong(source, "unknown value ", text);
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
	const char *what = "not a number: ";
	bool good;

	if (condition->key == RULE_SIZE) {
		what = "not a size such as 4096 or 1MiB: ";
		good = quantity_parse(value, QUANTITY_SIZE, &condition->number);
	} else if (condition->key == RULE_LIFETIME) {
		what = "not a time such as 20ms or 1.5s: ";
		good = quantity_parse(value, QUANTITY_TIME, &condition->number);
	} else {
		good = quantity_digits(value, &condition->number);
	}
	return good ? 0 : rules_wrong(source, what, value);
}

/* Reads the comparison after a key, such as "<=". Returns its length, or 0 if there is none. */
static size_t read_test(const char *text, uint8_t *test)
{
	static const char tests[][3] = {
		[TEST_IS_NOT] = "!=", [TEST_MOST] = "<=", [TEST_LEAST] = ">=",
		[TEST_IS] = "=",      [TEST_LESS] = "<",  [TEST_MORE] = ">"
	};
	size_t longest = 0;

	for (size_t i = 0; i < COUNT_OF(tests); i++) {
		size_t length = strlen(tests[i]);

		if (length > longest && !strncmp(text, tests[i], length)) {
			*test = (uint8_t)i;
			longest = length;
		}
	}
	return longest;
}

static int no_key(const struct rules_source *source, const char *text)
{
	char keys[300] = "";

	for (size_t i = 0; i < RULE_KEYS; i++) {
		text_append(keys, sizeof(keys), i ? ", " : "");
		text_append(keys, sizeof(keys), rule_keys[i].key);
	}
	return err("%s: line %u: %.60s: a condition is KEY=VALUE, where KEY is one of %s",
		   source->name, source->line, text, keys);
}

/* Reads "key=value". The condition points into `text`. Returns 0, or -EINVAL with err_text(). */
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
		return rules_wrong(source, "missing value: ", text);
	condition->key = (uint8_t)key;
	if (rule_keys[key].kind == RULE_KIND_NUMBER)
		return condition_number(source, condition, value);
	if (condition->test != TEST_IS && condition->test != TEST_IS_NOT)
		return rules_wrong(source, "only numbers can be compared with < or >: ", text);
	if (rule_keys[key].kind == RULE_KIND_WORD)
		return condition_words(source, condition, value);
	condition->patterns = value;
	if (rule_keys[key].kind != RULE_KIND_FRAME)
		return 0;
	if (source->rules->frame_conditions == MOST_CONDITIONS)
		return rules_wrong(source, "more than 4096 conditions on frames: ", text);
	condition->bit = source->rules->frame_conditions++;
	return 0;
}

/* --- one line --- */

/* Returns the next word, in which quoted parts may have blanks; NULL at a comment or the end. */
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

	NEED(GROW(rules->list, rules->count, rules->size, 64));
	rules->list[rules->count] = (struct rule){ .stage = STAGES };
	return &rules->list[rules->count++];
}

static int read_conditions(const struct rules_source *source, struct rule *rule, char *text)
{
	struct rule_condition conditions[32] = { 0 };
	size_t count = 0;
	char *word;

	while ((word = next_word(&text)) != NULL) {
		if (count == COUNT_OF(conditions))
			return rules_wrong(source, "more than 32 conditions in a rule: ", word);
		if (read_condition(source, &conditions[count], word))
			return -EINVAL;
		if (rule->stage != STAGES &&
		    rule_keys[conditions[count].key].kind != RULE_KIND_FRAME)
			return rules_wrong(
				source, "a stage rule takes only conditions on frames, not ", word);
		count++;
	}
	if (!count)
		return rules_wrong(source, "a rule needs at least one condition", "");
	rule->conditions = need(&source->rules->arena, count * sizeof(*rule->conditions));
	memcpy(rule->conditions, conditions, count * sizeof(*rule->conditions));
	rule->conditions_n = (uint16_t)count;
	return 0;
}

static int read_stage(const struct rules_source *source, struct rule *rule, const char *name)
{
	uint32_t bit = word_bit(RULE_STAGE, name, strlen(name));

	if (!bit || bit == 1u << STAGE_RECOMPUTE)
		return rules_wrong(source, "a stage is forward, backward or optimizer, not ", name);
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
		return rules_wrong(source, "not a category name (letters, digits, - _ .): ", name);
	if (number < 0) {
		if (rules->categories == CATEGORIES_MOST)
			return rules_wrong(source, "more than 64 categories: ", name);
		number = (int)rules->categories++;
		rules->names[number] = need_text(&rules->arena, name);
	}
	rule->category = (uint8_t)number;
	return 0;
}

/* Reads a line, and changes it. Returns 0 (also without a rule), or -EINVAL with err_text(). */
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
		return rules_wrong(source, "no colon (a rule is CATEGORY: KEY=VALUE ...): ", at);
	if (source->rules->count == MOST_RULES)
		return rules_wrong(source, "more than 10000 rules: ", at);
	*colon = '\0';
	rule = add_rule(source);
	head = next_word(&at);
	name = head ? next_word(&at) : NULL;
	if (name && !strcmp(head, "stage"))
		error = read_stage(source, rule, name);
	else if (name)
		error = rules_wrong(source, "not a category name (letters, digits, - _ .): ", line);
	else
		error = read_category(source, rule, head ? head : "");
	return error ? error : read_conditions(source, rule, colon + 1);
}

/* --- texts and files --- */

static int read_text(struct rules_source *source, const char *text)
{
	char *line = arena_text(&source->rules->arena, text, strlen(text));
	int error = 0;

	NEED(line);
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
	int number;

	if (!file)
		return NULL;
	/* getdelim() reads up to a NUL, which ends the text. It fails for an empty file. */
	if (getdelim(&text, &size, '\0', file) < 0 || ferror(file)) {
		number = errno;
		free(text);
		text = ferror(file) ? NULL : strdup("");
		errno = number;
	}
	fclose(file);
	return text;
}

int rules_read_text(struct rules *rules, const char *text, const char *name)
{
	struct rules_source source = { rules, name, 0 };
	struct rules_source builtin = { rules, "the built-in rules", 0 };
	int error = 0;

	*rules = (struct rules){ .categories = CATEGORIES };
	memcpy(rules->names, category_names, sizeof(category_names));
	if (text)
		error = read_text(&source, text);
	if (!error)
		error = read_text(&builtin, rules_builtin);
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
