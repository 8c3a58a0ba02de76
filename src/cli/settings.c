/* The library's settings: their help texts, and the check of variables in the environment. */
#include <string.h>

#include "base/text/text.h"
#include "cli/cli.h"

const char *setting_help(enum opt_id id)
{
	static const char *const helps[] = {
#define OPTION(name, env, kind, value, help) help,
#include "base/settings/opt.def"
	};

	return helps[id];
}

const char *setting_wants(enum opt_id id)
{
	static const char *const wants[] = {
		[OPT_TEXT] = "a text",
		[OPT_FLAG] = "0 or 1",
		[OPT_COUNT] = "a number",
		[OPT_STACKS] = "python,native (both), python, native or none",
		[OPT_DEPTH] = "a number from 1 to 256",
		[OPT_KEEP] = "a time, a size or both with a comma (10min,1GiB)",
		[OPT_SIGNAL] =
			"USR1, USR2, HUP, URG, WINCH or PWR, alone or with :toggle, :mark or :dump",
		[OPT_FILTER] = "a filter like size>=1MiB,device=0,pool=torch,owner=libnccl.so.2",
	};

	return wants[opt_rows[id].kind];
}

bool setting_variable(const char *text, struct setting_variable *setting)
{
	struct {
		const char *env;
	} rows[OPT_IDS + 1] = { { NULL } };
	size_t length = strcspn(text, "=");

	if (strncmp(text, "MEMTRACE_", 9) != 0 || text_value(text, "MEMTRACE_LIBRARY"))
		return false;
	*setting = (struct setting_variable){ .value = text + length + (text[length] == '=') };
	text_copy_n(setting->name, sizeof(setting->name), text + 9, length - 9);
	while (setting->id < OPT_IDS && strcmp(opt_rows[setting->id].env, setting->name) != 0) {
		rows[setting->id].env = opt_rows[setting->id].env;
		setting->id++;
	}
	if (setting->id == OPT_IDS)
		setting->meant = args_suggestion(setting->name, rows, sizeof(rows[0]));
	return true;
}
