/* The built-in rules as one text. */
#include "analyse/rules.h"

const char rules_builtin[] =
#include "analyse/rules_builtin.def"
	;
