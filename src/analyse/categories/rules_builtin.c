/* The built-in rules as one text. */
#include "analyse/categories/rules.h"

const char rules_builtin[] =
#include "analyse/categories/rules_builtin.def"
	;
