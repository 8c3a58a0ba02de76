/*
 * Rules for the categories of memory: a text, one rule per line; the first rule that fits decides.
 *
 *	CATEGORY: CONDITION CONDITION ...         all conditions hold for the block
 *	stage STAGE: CONDITION CONDITION ...      all conditions hold for one frame
 *
 * A condition is KEY=VALUE or KEY!=VALUE; numbers can also be compared with < <= >= >. rules.def
 * lists the keys. A block meets KEY=VALUE about frames if some frame of its stack fits, and
 * KEY!=VALUE if none fits. A value is a pattern that must fit the whole text (* is any text, ? any
 * one character), or several patterns separated by |; a value with blanks is written in quotes (").
 * A # at the beginning of a line or after a blank begins a comment.
 *
 * A block's stage is that of the innermost frame of its stack that a stage rule fits; `forward`
 * inside of a backward pass becomes `recompute`. If no frame fits, the stage is `backward` inside
 * of a backward pass, else `forward`.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/mem/arena.h"

enum category {
#define CATEGORY(id, name, what) CATEGORY_##id,
#include "analyse/categories/categories.def"
	CATEGORIES, /* the number of the first category that a file of rules may add */
	CATEGORIES_MOST = 64,
};

enum rule_key {
#define KEY(id, key, kind, what) RULE_##id,
#include "analyse/categories/rules.def"
	RULE_KEYS
};

enum rule_kind {
	RULE_KIND_FRAME,
	RULE_KIND_STACK,
	RULE_KIND_BLOCK,
	RULE_KIND_WORD,
	RULE_KIND_NUMBER
};

enum stage {
#define STAGE(id, name) STAGE_##id,
#include "analyse/categories/rules.def"
	STAGES
};

/* Values of the key `freed` that are not stages. */
enum { FREED_SOON = STAGES, FREED_NEVER };

enum rule_test { TEST_IS, TEST_IS_NOT, TEST_LESS, TEST_MOST, TEST_LEAST, TEST_MORE };

struct rule_condition {
	uint8_t key;    /* enum rule_key */
	uint8_t test;   /* enum rule_test */
	uint16_t bit;   /* for keys about frames: number of the condition's bit in stack_matcher */
	uint32_t words; /* for keys with words: bit i is set if the value has the key's word i */
	const char *patterns; /* patterns for texts, separated by | */
	uint64_t number;
};

struct rule {
	uint8_t category; /* the category that a rule about blocks gives */
	uint8_t stage;    /* enum stage of a rule about frames; STAGES in a rule about blocks */
	uint16_t conditions_n;
	struct rule_condition *conditions;
};

struct rules {
	struct rule *list;
	size_t count, size;
	const char *names[CATEGORIES_MOST]; /* by the category's number */
	size_t categories;
	uint16_t frame_conditions; /* number of conditions about frames in all rules */
	struct arena arena;
};

struct rule_key_row {
	const char *key, *what;
	uint8_t kind; /* enum rule_kind */
};

extern const struct rule_key_row rule_keys[RULE_KEYS];
extern const char *const category_names[CATEGORIES];
extern const char *const category_whats[CATEGORIES];
extern const char rules_builtin[], rules_help[]; /* rules_help: how rules are written */

/* Reads the rules in the file (none if `path` is NULL); the built-in rules follow them. Returns 0,
 * or -errno with err_text(), which names the line of a mistake (-EINVAL). */
int rules_read(struct rules *rules, const char *path);
/* Like rules_read(), but reads the rules in `text`. Error messages call the text `name`. */
int rules_read_text(struct rules *rules, const char *text, const char *name);
void rules_clear(struct rules *rules);

/* Returns the number of the category with this name, or -1 if there is none. */
int rules_category(const struct rules *rules, const char *name);
