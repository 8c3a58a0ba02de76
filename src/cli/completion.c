/* Prints completion scripts for bash and zsh, from the tables that --help is printed from. */
#include <string.h>

#include "base/mem/each.h"
#include "base/text/text.h"
#include "cli/cli.h"

TEXT_OF_FILE(completion_bash, "src/cli/completion.bash");
TEXT_OF_FILE(completion_zsh, "src/cli/completion.zsh");

enum expects {
	EXPECTS_ANY,   /* a number or a free text: nothing can be completed */
	EXPECTS_FILE,  /* a file name; also for a value called TEXT, as it can be one */
	EXPECTS_TRACE, /* the name of a trace or a spool */
	EXPECTS_WORDS,
};

/* Classifies the option's value. For EXPECTS_WORDS, writes the words, separated by blanks. */
static enum expects expected_value(const struct arg *arg, char *words, size_t size)
{
	const char *value = arg->value ? arg->value : "";

	words[0] = '\0';
	if (arg->kind == ARG_FORMAT) {
		const char *row = arg->formats, *name;

		for (; memcpy(&name, row, sizeof(name)), name; row += arg->format_size) {
			text_append(words, size, words[0] ? " " : "");
			text_append(words, size, name);
		}
		return EXPECTS_WORDS;
	}
	if (strchr(value, '|')) {
		text_copy(words, size, value);
		for (char *p = strchr(words, '|'); p; p = strchr(p, '|'))
			*p = ' ';
		return EXPECTS_WORDS;
	}
	if (!strncmp(value, "TRACE", 5))
		return EXPECTS_TRACE;
	if (!strcmp(value, "FILE") || !strcmp(value, "DIR") || !strcmp(value, "TEXT"))
		return EXPECTS_FILE;
	return EXPECTS_ANY;
}

/* --- bash --- */

static void bash_value(struct out *out, const struct arg *arg)
{
	char words[1000];
	enum expects expects = expected_value(arg, words, sizeof(words));

	static const char *const kinds[] = {
		[EXPECTS_ANY] = "value", [EXPECTS_FILE] = "file", [EXPECTS_TRACE] = "trace"
	};

	if (!args_wants_word(arg))
		return;
	out_format(out, "\t\t--%s", arg->name);
	if (arg->letter)
		out_format(out, " | -%c", arg->letter);
	if (expects == EXPECTS_WORDS)
		out_format(out, ") kind=words words='%s' ;;\n", words);
	else
		out_format(out, ") kind=%s ;;\n", kinds[expects]);
}

static void bash_command(struct out *out, const struct usage *usage)
{
	out_format(out, "\t%s)\n\t\toptions='", usage->command);
	for (size_t i = 0; args_row(usage, i); i++)
		out_format(out, "--%s ", args_row(usage, i)->name);
	out_format(out, "--help' kind=%s\n",
		   usage->program    ? "program"
		   : usage->operands ? "trace"
				     : "value");
	if (usage->args_n) {
		out_text(out, "\t\tcase $prev in\n");
		foreach (arg, usage->args)
			bash_value(out, arg);
		out_text(out, "\t\tesac\n");
	}
	out_text(out, "\t\t;;\n");
}

static void bash_commands(struct out *out)
{
	for (const struct command *row = commands; row->name; row++)
		out_format(out, "%s%s", row == commands ? "" : " ", row->name);
}

/* --- zsh --- */

/* Escapes a text for an _arguments specification that stands in single quotes. */
static void zsh_put(struct out *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			out_text(out, "'\\''");
		else if (strchr("[]:\\", *text))
			out_format(out, "\\%c", *text);
		else
			out_char(out, *text);
	}
}

static void zsh_action(struct out *out, enum expects expects, const char *words)
{
	switch (expects) {
	case EXPECTS_FILE:
		out_text(out, "_files");
		break;
	case EXPECTS_TRACE:
		out_text(out, "_files -g \"*.(json|json.gz|json.zst|spool)\"");
		break;
	case EXPECTS_WORDS:
		out_format(out, "(%s)", words);
		break;
	case EXPECTS_ANY:
		out_char(out, ' '); /* completes nothing, but accepts a value */
	}
}

static void zsh_arg(struct out *out, const struct arg *arg)
{
	char words[1000];
	enum expects expects = expected_value(arg, words, sizeof(words));
	bool value = args_wants_word(arg);
	bool again = arg->kind == ARG_LIST || arg->kind == ARG_WORDS;

	out_text(out, "\t\t\t");
	if (arg->letter && again)
		out_format(out, "'*'{-%c+,--%s=}'[", arg->letter, arg->name);
	else if (arg->letter)
		out_format(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", arg->letter, arg->name, arg->letter,
			   value ? "+" : "", arg->name, value ? "=" : "");
	else
		out_format(out, "'%s--%s%s[", again ? "*" : "", arg->name, value ? "=" : "");
	zsh_put(out, arg->help);
	out_char(out, ']');
	if (value) {
		out_char(out, ':');
		zsh_put(out, arg->value);
		out_char(out, ':');
		zsh_action(out, expects, words);
	}
	out_text(out, "' \\\n");
}

static void zsh_command(struct out *out, const struct usage *usage)
{
	out_format(out, "\t%s)\n\t\t_arguments -S \\\n", usage->command);
	for (size_t i = 0; args_row(usage, i); i++)
		zsh_arg(out, args_row(usage, i));
	out_text(out, "\t\t\t'(- *)'{-h,--help}'[show this help]'");
	if (usage->program) {
		out_text(out, " \\\n\t\t\t'*::: :_normal'");
	} else if (usage->operands) {
		out_text(out, " \\\n\t\t\t'*:");
		zsh_put(out, usage->operands);
		out_char(out, ':');
		zsh_action(out, EXPECTS_TRACE, "");
		out_char(out, '\'');
	}
	out_text(out, "\n\t\t;;\n");
}

static void zsh_commands(struct out *out)
{
	for (const struct command *row = commands; row->name; row++) {
		out_format(out, "\t\t'%s:", row->name);
		zsh_put(out, row->help);
		out_text(out, "'\n");
	}
}

/* Prints the text before the next @@, and returns the text after it. */
static const char *put_until_gap(struct out *out, const char *text)
{
	const char *gap = strstr(text, "@@");

	out_bytes(out, text, (size_t)(gap - text));
	return gap + strlen("@@");
}

/* Prints the script; the first "@@" is replaced by the commands, the second by their options. */
static void print_script(const char *script, void (*print_commands)(struct out *),
			 usage_printer *print_branch)
{
	struct out *out = cli_out();

	script = put_until_gap(out, script);
	print_commands(out);
	script = put_until_gap(out, script);
	for (const struct command *row = commands; row->name; row++)
		args_with_usage(row, print_branch);
	out_text(out, script);
}

bool completion_print(const char *shell)
{
	if (!strcmp(shell, "bash"))
		print_script(completion_bash, bash_commands, bash_command);
	else if (!strcmp(shell, "zsh"))
		print_script(completion_zsh, zsh_commands, zsh_command);
	else
		return false;
	return true;
}
