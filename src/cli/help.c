/* memtrace help: the commands, and what else is printed from their tables. */
#include <string.h>

#include "cli/cli.h"
#include "cli/completion.h"
#include "cli/manual.h"

const struct command commands[] = {
#define COMMAND(name, help) { #name, cmd_##name, help },
#include "cli/commands.def"
#undef COMMAND
	{ NULL, NULL, NULL },
};

static void print_commands(struct out *out)
{
	out_text(out, "memtrace: what fills the GPU's memory, and which line put it there.\n\n"
		      "usage: memtrace COMMAND [options]\n"
		      "       memtrace run -- python train.py\n"
		      "       memtrace report memtrace.4242.json\n\n"
		      "Commands:\n");
	for (const struct command *row = commands; row->name; row++)
		out_format(out, "  %-9s %s\n", row->name, row->help);
	out_text(out,
		 "\n`memtrace COMMAND --help` tells the options of each. A spool (what a killed "
		 "process\n"
		 "leaves) is taken wherever a trace is; `-` is standard input. Completion:\n"
		 "`memtrace help --completion bash` (or zsh).\n\n"
		 "Exit status:\n");
#define STATUS(name, value, what) out_format(out, "  %d  %s\n", value, what);
#include "cli/statuses.def"
#undef STATUS
	out_text(out, "`memtrace run` ends as the program does: its status, or 128 and its "
		      "signal.\n");
}

int cli_help(int argc, char **argv)
{
	const char *option = argc > 1 ? argv[1] : NULL;
	const char *name = argc > 2 ? argv[2] : "";

	if (!option || strcmp(argv[0], "help") != 0 || !strcmp(option, "--help") ||
	    !strcmp(option, "-h")) {
		print_commands(cli_out());
		return STATUS_DONE;
	}
	if (!strcmp(option, "--pages")) {
		manual_list(cli_out());
		return STATUS_DONE;
	}
	if (!strcmp(option, "--page")) {
		return manual_page(name) ? STATUS_DONE
					 : cli_usage("help", "there is no page %s (--pages)", name);
	}
	if (!strcmp(option, "--completion")) {
		return completion_print(name)
			       ? STATUS_DONE
			       : cli_usage("help", "--completion is for bash or zsh, not %s",
					   name[0] ? name : "nothing");
	}
	return cli_usage("help", "there is no option %s (memtrace --help)", option);
}
