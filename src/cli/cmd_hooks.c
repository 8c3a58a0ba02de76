/* memtrace hooks: lists the calls that the library intercepts, from the tables it is built from. */
#include <string.h>

#include "cli/cli.h"

static const char about[] =
	"Lists the calls that the library intercepts, and what else it exports. Each call is "
	"seen however the program reaches it: by linking, dlsym or cuGetProcAddress.\n";

#define HOOK(api, name, parameters, ...) { #api, #name, #parameters, "" },
#define BOTH(api, name, parameters, ...) { #api, #name, #parameters, "_ptsz" },
#define CALLS(twin, api, name, parameters, ...) { #api, #name, #parameters, #twin },

struct hook_row {
	const char *api, *name, *parameters;
	const char *twin; /* ending of the call's variant for per-thread default streams */
};

static const struct hook_row hooks[] = {
#include "capture/loader/hooks.def"
};

static const struct hook_row calls[] = {
#include "capture/loader/counted_calls.def"
};
#undef HOOK

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static const struct {
	const char *name, *what;
} doors[] = {
#define DOOR(name, what) { #name, what },
#include "capture/exports/exports.def"
#undef DOOR
};

static void print_row_names(struct out *out, const struct hook_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		out_format(out, "%s\n", rows[i].name);
		if (rows[i].twin[0])
			out_format(out, "%s%s\n", rows[i].name, rows[i].twin);
	}
}

static void print_names(struct out *out)
{
	print_row_names(out, hooks, COUNT(hooks));
	print_row_names(out, calls, COUNT(calls));
	for (size_t i = 0; i < COUNT(doors); i++)
		out_format(out, "%s\n", doors[i].name);
}

static void print_rows(struct out *out, const struct hook_row *rows, size_t count, const char *api)
{
	const char *result = strcmp(api, "RT") ? "CUresult" : "cudaError_t";

	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i].api, api) != 0)
			continue;
		out_format(out, "  %s %s%s", result, rows[i].name, rows[i].parameters);
		if (rows[i].twin[0])
			out_format(out, ", and its %s variant", rows[i].twin);
		out_char(out, '\n');
	}
}

static void print_table(struct out *out)
{
	out_text(out, "CUDA runtime (libcudart):\n");
	print_rows(out, hooks, COUNT(hooks), "RT");
	out_text(out, "\nCUDA driver (libcuda):\n");
	print_rows(out, hooks, COUNT(hooks), "DRV");
	out_text(out, "\nAlso counted and timed:\n");
	print_rows(out, calls, COUNT(calls), "RT");
	print_rows(out, calls, COUNT(calls), "DRV");
	out_text(out, "\nOther entry points (symbol look-up, PyTorch's reports, injection, C "
		      "API):\n");
	for (size_t i = 0; i < COUNT(doors); i++)
		out_format(out, "  %s\n      %s\n", doors[i].name, doors[i].what);
}

int cmd_hooks(int argc, char **argv)
{
	bool names = false;
	const struct arg args[] = {
		ARG("names", 0, FLAG, NULL, "only the exported names, one per line", &names),
	};
	const struct usage usage = USAGE("hooks", NULL, about, args, 0, 0);
	int parsed = args_parse(&usage, &argc, argv);

	if (parsed != ARGS_GO)
		return parsed;
	if (names)
		print_names(cli_out());
	else
		print_table(cli_out());
	return STATUS_DONE;
}
