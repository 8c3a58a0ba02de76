/* memtrace hooks: what the library intercepts and exports, from the very tables it is built from.
 */
#include <string.h>

#include "cli/cli.h"

static const char about[] =
	"Lists the calls that the library intercepts, and what else it exports. Each call is seen\n"
	"however it is reached: linked, by dlsym, by cuGetProcAddress.\n";

#define HOOK(api, name, result, parameters, ...) { #api, #name, #result, #parameters, false },
#define BOTH(api, name, result, parameters, ...) { #api, #name, #result, #parameters, true },
#define OLD(since, api, name, result, parameters, ...) HOOK(api, name, result, parameters)

static const struct {
	const char *api, *name, *result, *parameters;
	bool both; /* name_ptsz too: the twin for per-thread default streams */
} hooks[] = {
#include "capture/hooks.def"
};
#undef HOOK
#undef BOTH
#undef OLD

static const struct {
	const char *name, *what;
} doors[] = {
#define DOOR(name, what) { #name, what },
#include "capture/doors.def"
#undef DOOR
};

static void print_names(struct out *out)
{
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		out_format(out, "%s\n", hooks[i].name);
		if (hooks[i].both)
			out_format(out, "%s_ptsz\n", hooks[i].name);
	}
	for (size_t i = 0; i < sizeof(doors) / sizeof(doors[0]); i++)
		out_format(out, "%s\n", doors[i].name);
}

static void print_api(struct out *out, const char *api, const char *heading)
{
	out_text(out, heading);
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		if (strcmp(hooks[i].api, api) != 0)
			continue;
		out_format(out, "  %s %s%s%s\n", hooks[i].result, hooks[i].name,
			   hooks[i].parameters, hooks[i].both ? ", and its _ptsz twin" : "");
	}
}

static void print_table(struct out *out)
{
	print_api(out, "RT", "CUDA runtime (libcudart):\n");
	print_api(out, "DRV", "\nCUDA driver (libcuda):\n");
	out_text(out, "\nDoors, PyTorch's report, injection points and the C API:\n");
	for (size_t i = 0; i < sizeof(doors) / sizeof(doors[0]); i++)
		out_format(out, "  %s\n      %s\n", doors[i].name, doors[i].what);
}

int cmd_hooks(int argc, char **argv)
{
	bool names = false;
	const struct arg args[] = {
		{ "names", 0, ARG_FLAG, NULL, "the exported names only, one a line", &names, NULL },
	};
	const struct usage usage = { "hooks", NULL, about, args, 1, 0, 0, false };
	enum args_result parsed = args_parse(&usage, &argc, argv);

	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (names)
		print_names(cli_out());
	else
		print_table(cli_out());
	return STATUS_DONE;
}
