/* memtrace hooks: lists the calls that the library intercepts, from the library's own tables. */
#include <string.h>

#include "base/mem/each.h"
#include "cli/cli.h"

static const char about[] =
	"Lists the CUDA calls that libmemtrace.so intercepts, and what else it exports. A call is "
	"intercepted whether the program links it or uses dlsym or cuGetProcAddress.\n";

#define HOOK(api, name, parameters, ...) { #api, #name, #parameters, "" },
#define BOTH(api, name, parameters, ...) { #api, #name, #parameters, "_ptsz" },
#define CALLS(twin, api, name, parameters, ...) { #api, #name, #parameters, #twin },

struct hook_row {
	const char *api, *name, *parameters;
	const char *twin; /* suffix of the per-thread default stream variant, "_ptsz"; or "" */
};

static const struct hook_row hooks[] = {
#include "capture/loader/hooks.def"
};

static const struct hook_row calls[] = {
#include "capture/loader/counted_calls.def"
};
#undef HOOK

static const struct {
	const char *name, *what;
} doors[] = {
#define DOOR(name, what) { #name, what },
#include "capture/exports/exports.def"
#undef DOOR
};

static void print_row_names(struct out *out, const struct hook_row *rows, size_t count)
{
	foreach (row, rows, count) {
		out_format(out, "%s\n", row->name);
		if (row->twin[0])
			out_format(out, "%s%s\n", row->name, row->twin);
	}
}

static void print_names(struct out *out)
{
	print_row_names(out, hooks, COUNT_OF(hooks));
	print_row_names(out, calls, COUNT_OF(calls));
	foreach (door, doors, COUNT_OF(doors))
		out_format(out, "%s\n", door->name);
}

static void print_rows(struct out *out, const struct hook_row *rows, size_t count, const char *api)
{
	const char *result = strcmp(api, "RT") ? "CUresult" : "cudaError_t";

	foreach (row, rows, count) {
		if (strcmp(row->api, api) != 0)
			continue;
		out_format(out, "  %s %s%s", result, row->name, row->parameters);
		if (row->twin[0])
			out_format(out, ", and its %s variant", row->twin);
		out_char(out, '\n');
	}
}

static void print_table(struct out *out)
{
	out_text(out, "CUDA runtime (libcudart):\n");
	print_rows(out, hooks, COUNT_OF(hooks), "RT");
	out_text(out, "\nCUDA driver (libcuda):\n");
	print_rows(out, hooks, COUNT_OF(hooks), "DRV");
	out_text(out, "\nCalls that are only counted and timed:\n");
	print_rows(out, calls, COUNT_OF(calls), "RT");
	print_rows(out, calls, COUNT_OF(calls), "DRV");
	out_text(out, "\nOther entry points (symbol look-up, PyTorch's reports, injection, C "
		      "API):\n");
	foreach (door, doors, COUNT_OF(doors))
		out_format(out, "  %s\n      %s\n", door->name, door->what);
}

int cmd_hooks(int argc, char **argv)
{
	bool names = false;
	const struct arg args[] = {
		ARG("names", 0, FLAG, NULL, "print only the exported names, one per line", &names),
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
