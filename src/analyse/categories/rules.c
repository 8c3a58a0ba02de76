/* Rules that tell what memory is for: the lines of a file become rules. */
#include "analyse/categories/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"

enum {
	LONGEST_NAME = 40,  /* of a category */
	MOST_RULES = 10000, /* a file with more is none of rules */
};

const struct rule_key_row rule_keys[RULE_KEYS] = {
#define KEY(id, key, kind, what) { key, what, RULE_KIND_##kind },
#include "analyse/categories/rules.def"
#undef KEY
};

const char rules_builtin[] =
#include "analyse/categories/rules_builtin.def"
	;

const char *const category_whats[CATEGORIES] = {
#define CATEGORY(id, name, what) what,
#include "analyse/categories/categories.def"
#undef CATEGORY
};

const char *const category_names[CATEGORIES] = {
#define CATEGORY(id, name, what) name,
#include "analyse/categories/categories.def"
#undef CATEGORY
};

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

	if (!GROW(rules->list, rules->count, rules->size, 64))
		return NULL;
	rules->list[rules->count] = (struct rule){ .stage = STAGES };
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
			return rules_wrong(source, "too many conditions: ", word);
		if (rules_read_condition(source, &conditions[count], word))
			return -EINVAL;
		if (rule->stage != STAGES &&
		    rule_keys[conditions[count].key].kind != RULE_KIND_FRAME)
			return rules_wrong(source, "a stage is told by frames alone, not by ",
					   word);
		count++;
	}
	if (!count)
		return rules_wrong(source, "a rule without a condition", "");
	kept = arena_alloc(&source->rules->arena, count * sizeof(*kept));
	if (!kept)
		return err_no_memory(source->name);
	memcpy(kept, conditions, count * sizeof(*kept));
	rule->conditions = kept;
	rule->conditions_n = (uint16_t)count;
	return 0;
}

static int read_stage(const struct rules_source *source, struct rule *rule, const char *name)
{
	if (!rules_read_stage(name, &rule->stage) || rule->stage == STAGE_RECOMPUTE)
		return rules_wrong(source, "a stage is forward, backward or optimizer, not ", name);
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
		return rules_wrong(source,
				   "no name for a category (letters, digits, - _ .): ", name);
	if (number < 0) {
		if (rules->categories == CATEGORIES_MOST)
			return rules_wrong(source, "one category too many: ", name);
		number = (int)rules->categories++;
		rules->names[number] = arena_text(&rules->arena, name, length);
		if (!rules->names[number])
			return err_no_memory(source->name);
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
		return rules_wrong(source, "no colon: a rule is CATEGORY: KEY=VALUE ...: ", at);
	if (source->rules->count == MOST_RULES)
		return rules_wrong(source, "one rule too many: ", at);
	*colon = '\0';
	rule = add_rule(source);
	head = next_word(&at);
	name = head ? next_word(&at) : NULL;
	if (!rule)
		return err_no_memory(source->name);
	if (name && !strcmp(head, "stage"))
		error = read_stage(source, rule, name);
	else if (name)
		error = rules_wrong(source,
				    "no name for a category (letters, digits, - _ .): ", line);
	else
		error = read_category(source, rule, head ? head : "");
	return error ? error : read_conditions(source, rule, colon + 1);
}

/* --- texts and files --- */

static int read_text(struct rules_source *source, const char *text)
{
	char *line = arena_text(&source->rules->arena, text, strlen(text));
	int error = line ? 0 : err_no_memory(source->name);

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
