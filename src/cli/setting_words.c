/* Settings in words. */
#include "cli/setting_words.h"

const char *setting_help(enum opt_id id)
{
	static const char *const helps[] = {
#define OPTION(name, env, kind, value, help) help,
#include "base/settings/opt.def"
#undef OPTION
	};

	return helps[id];
}

const char *setting_wants(enum opt_id id)
{
	static const char *const wants[] = {
		[OPT_TEXT] = "a text",
		[OPT_FLAG] = "0 or 1",
		[OPT_COUNT] = "a number",
		[OPT_DEPTH] = "a number from 1 to 256",
		[OPT_KEEP] = "a time, a size or both with a comma (10min,1GiB)",
		[OPT_SIGNAL] = "USR1, USR2, HUP, URG, WINCH or PWR, perhaps with :toggle or :mark",
		[OPT_FILTER] = "a filter like size>=1MiB,device=0,pool=torch,owner=libnccl.so.2",
	};

	return wants[opt_rows[id].kind];
}
