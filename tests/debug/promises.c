/*
 * Breaks promises to order (base/guest/debug_checks.h): each letter of the argument is a step. o r
 * n take the locks of locks.def by their initials, the same in capitals drop them, u takes one
 * without a rank; p enters the path of a hook and P leaves it; h calls something of the host's, m
 * allocates.
 */
#include <stdio.h>
#include <string.h>

#include "base/guest/lock.h"
#include "base/text/log.h"

static struct lock locks[] = { LOCK_INIT(OPEN), LOCK_INIT(RECORD), LOCK_INIT(NAMES),
			       LOCK_INIT(UNRANKED) };

static int step(char letter)
{
	static const char letters[] = "ornu";
	const char *which = strchr(letters, letter | 0x20);

	if (which && letter & 0x20)
		lock_take(&locks[which - letters]);
	else if (which)
		lock_drop(&locks[which - letters]);
	else if (letter == 'p' || letter == 'P')
		watch_path(letter == 'p' ? "cuMemAlloc_v2" : NULL);
	else if (letter == 'h')
		watch_host("dlopen");
	else if (letter == 'm')
		watch_malloc("malloc");
	else
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	int status = argc == 2 ? 0 : 2;

	log_init(false);
	for (const char *at = argc == 2 ? argv[1] : ""; *at && !status; at++)
		status = step(*at);
	if (!status)
		puts("kept");
	return status;
}
