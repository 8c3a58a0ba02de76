/* memtrace help and --help: the list of commands, a command's options, the rules for categories. */
#include <stdio.h>
#include <string.h>

#include "analyse/categories/rules.h"
#include "base/text/text.h"
#include "cli/cli.h"

enum { HELP_COLUMN = 26 };

const struct command commands[] = {
#define COMMAND(name, help) { #name, help, cmd_##name },
#include "cli/commands.def"
	{ NULL, NULL, NULL },
};

/* --- a command's --help --- */

static void print_row(const struct show *show, const struct arg *arg)
{
	char left[200];
	const char *value = arg->value ? arg->value : "";

	if (arg->letter)
		snprintf(left, sizeof(left), "  -%c, --%s%s%s", arg->letter, arg->name,
			 args_wants_word(arg) ? " " : "", value);
	else
		snprintf(left, sizeof(left), "      --%s%s%s", arg->name,
			 args_wants_word(arg) ? " " : "", value);
	if (strlen(left) + 2 > HELP_COLUMN)
		out_format(show->out, "%s\n%*s", left, HELP_COLUMN, "");
	else
		out_format(show->out, "%-*s", HELP_COLUMN, left);
	show_words(show, arg->help, HELP_COLUMN, HELP_COLUMN);
}

/* The column of the row's second cell, after two or more blanks; 0 if there is no such cell. */
static unsigned text_column(const char *row)
{
	const char *gap = strstr(row + strspn(row, " "), "  ");

	return gap ? (unsigned)(gap + strspn(gap, " ") - row) : 0;
}

/* Prints the text of --help: an indented line is a row of a table, any other a paragraph. */
static void print_about(const struct show *show, const char *text)
{
	while (*text) {
		char line[2000];
		size_t length = strcspn(text, "\n");
		unsigned column;

		text_copy_n(line, sizeof(line), text, length);
		text += length + (text[length] == '\n');
		column = *line == ' ' ? text_column(line) : 0;
		out_format(show->out, "%.*s", (int)column, line);
		if (column || *line != ' ')
			show_words(show, line + column, column, column);
		else
			out_format(show->out, "%s\n", line);
	}
}

void cli_print_usage(struct out *out, const struct usage *usage)
{
	static const struct arg help = ARG("help", 'h', FLAG, NULL, "show this help", NULL);
	const struct show show = { .out = out };

	out_format(out, "usage: memtrace %s [options]%s%s\n\n", usage->command,
		   usage->operands ? " " : "", usage->operands ? usage->operands : "");
	print_about(&show, usage->about);
	out_text(out, "\nOptions:\n");
	for (size_t i = 0; args_row(usage, i); i++)
		print_row(&show, args_row(usage, i));
	print_row(&show, &help);
}

/* --- memtrace help --- */

static void print_commands(struct out *out)
{
	out_text(out, "memtrace: what fills the GPU's memory, and which line allocated it.\n\n"
		      "usage: memtrace COMMAND [options]\n"
		      "       memtrace run -- python train.py\n"
		      "       memtrace report memtrace.4242.json\n\n"
		      "Commands:\n");
	for (const struct command *row = commands; row->name; row++)
		out_format(out, "  %-9s %s\n", row->name, row->help);
	out_text(out,
		 "\n`memtrace COMMAND --help` lists the options of COMMAND. A spool (left by a\n"
		 "killed process) or a trace compressed by gzip or zstd is accepted wherever a\n"
		 "trace is; `-` is standard input. Output (-o) to *.gz or *.zst is compressed.\n"
		 "Completion: `memtrace help --completion bash` (or zsh).\n"
		 "Rules for categories: `memtrace help --rules`.\n\n"
		 "Exit status:\n");
#define STATUS(name, value, what) out_format(out, "  %d  %s\n", value, what);
#include "cli/statuses.def"
	out_text(out, "`memtrace run` ends with the program's status, or 128 plus its signal "
		      "number.\n");
}

static void print_keys(struct out *out)
{
	static const char *const kinds[] = {
		[RULE_KIND_FRAME] = "Conditions on the frames of the stack",
		[RULE_KIND_STACK] = "Conditions on the stack",
		[RULE_KIND_BLOCK] = "Conditions on the block",
		[RULE_KIND_WORD] =
			"Conditions on the life of the block (one word, or several joined by |)",
		[RULE_KIND_NUMBER] = "Conditions on numbers, also with < <= >= >",
	};

	for (size_t i = 0; i < RULE_KEYS; i++) {
		if (!i || rule_keys[i].kind != rule_keys[i - 1].kind)
			out_format(out, "# %s:\n", kinds[rule_keys[i].kind]);
		out_format(out, "#   %-12s %s\n", rule_keys[i].key, rule_keys[i].what);
	}
}

/* Prints a valid file for --rules: comments on how rules are written, then the built-in rules. */
static void print_rules(struct out *out)
{
	out_text(out, rules_help);
	print_keys(out);
	out_text(out, "#\n# Categories:\n");
	for (size_t i = 0; i < CATEGORIES; i++)
		out_format(out, "#   %-15s %s\n", category_names[i], category_whats[i]);
	out_text(out, "\n");
	out_text(out, rules_builtin);
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
	if (!strcmp(option, "--rules")) {
		print_rules(cli_out());
		return STATUS_DONE;
	}
	if (!strcmp(option, "--completion")) {
		return completion_print(name) ? STATUS_DONE
					      : cli_usage("--completion is for bash or zsh, not %s",
							  name[0] ? name : "nothing");
	}
	return cli_usage("there is no option %s; see memtrace --help", option);
}
