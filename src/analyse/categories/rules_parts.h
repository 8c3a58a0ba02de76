/* What the files that read rules share: rules.c (lines) and rules_condition.c. For them alone. */
#ifndef ANALYSE_CATEGORIES_RULES_PARTS_H
#define ANALYSE_CATEGORIES_RULES_PARTS_H

#include "analyse/categories/rules.h"

/* Where the text comes from. */
struct rules_source {
	struct rules *rules;
	const char *name;
	unsigned line;
	bool builtin;
};

/* "NAME: line N: WHAT WHERE", in err_text(), of `where` the beginning: always -EINVAL. */
int rules_wrong(const struct rules_source *source, const char *what, const char *where);

/* "key=value", whose text is the condition's from here on: 0, or -EINVAL with err_text(). */
int rules_read_condition(const struct rules_source *source, struct rule_condition *condition,
			 char *text);

/* The stage of that name; false if there is none. */
bool rules_read_stage(const char *name, uint8_t *stage);

#endif
