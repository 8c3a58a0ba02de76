/* Which rank of a distributed job this process is. */
#include "base/settings/rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/guest/table_rows.h"

static const char launchers[][RANK_FACTS][32] = {
#define LAUNCHER(name, rank, size, local) { WHOLE(rank), WHOLE(size), WHOLE(local) },
#include "base/settings/launchers.def"
#undef LAUNCHER
};

/* The value goes into names of files: digits, no more of them than a number of a rank has. */
static const char *number(const char *name)
{
	const char *value = name[0] ? getenv(name) : NULL;
	size_t length = value ? strlen(value) : 0;

	return length && length < 20 && strspn(value, "0123456789") == length ? value : NULL;
}

const char *rank_fact(enum rank_fact fact)
{
	const char *rank = NULL;

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		const char *own = number(launchers[i][RANK_NUMBER]);
		const char *value = number(launchers[i][fact]);

		if (!own || (rank && strcmp(own, rank) != 0))
			continue;
		if (value)
			return value;
		rank = own;
	}
	return NULL;
}
