/* Completion for bash and zsh, from the tables that --help is printed from. */
#include <string.h>

#include "base/text/text.h"
#include "cli/cli.h"

/* The kind of word that an option or an operand takes. */
enum expects {
	EXPECTS_ANY,   /* a number, a text */
	EXPECTS_FILE,  /* FILE, DIR, or TEXT of a setting, which is nearly always a name */
	EXPECTS_TRACE, /* a trace or a spool */
	EXPECTS_WORDS,
};

/* The kind of the option's value, and the words that it can be, with blanks between. */
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

/* The text before and after the branches of the commands; $kind is the kind of the word under the
 * cursor. */
static const char bash_head[] =
	"# Completion of memtrace for bash, printed by `memtrace help --completion bash`.\n"
	"_memtrace() {\n"
	"	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"	local verb=${COMP_WORDS[1]} options= kind=trace words= i\n"
	"	COMPREPLY=()\n"
	"	# --option=value comes as three words.\n"
	"	if [[ $cur == = ]]; then\n"
	"		cur=\n"
	"	elif [[ $prev == = && COMP_CWORD -gt 2 ]]; then\n"
	"		prev=${COMP_WORDS[COMP_CWORD-2]}\n"
	"	fi\n"
	"	if ((COMP_CWORD == 1)); then\n"
	"		COMPREPLY=($(compgen -W '";

static const char bash_verbs[] = " help --help --version' -- \"$cur\"))\n"
				 "		return\n"
				 "	fi\n"
				 "	case $verb in\n";

static const char bash_tail[] =
	"	*) return ;;\n"
	"	esac\n"
	"	if [[ $kind == program ]]; then\n"
	"		# Behind -- it is the program's own words.\n"
	"		for ((i = 2; i < COMP_CWORD; i++)); do\n"
	"			if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	"				if ((i + 1 == COMP_CWORD)); then\n"
	"					COMPREPLY=($(compgen -A command -A file -- "
	"\"$cur\"))\n"
	"				elif declare -F _command_offset >/dev/null; then\n"
	"					_command_offset $((i + 1))\n"
	"				else\n"
	"					compopt -o filenames 2>/dev/null\n"
	"					COMPREPLY=($(compgen -f -- \"$cur\"))\n"
	"				fi\n"
	"				return\n"
	"			fi\n"
	"		done\n"
	"	fi\n"
	"	if [[ $kind != value && $cur == -* ]]; then\n"
	"		COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
	"		return\n"
	"	fi\n"
	"	local IFS=$'\\n'\n"
	"	case $kind in\n"
	"	words) COMPREPLY=($(IFS=' ' compgen -W \"$words\" -- \"$cur\")) ;;\n"
	"	file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
	"	program) COMPREPLY=($(compgen -A command -- \"$cur\")) ;;\n"
	"	trace)\n"
	"		compopt -o filenames 2>/dev/null\n"
	"		COMPREPLY=($(compgen -d -- \"$cur\"\n"
	"			compgen -f -X '!*.json' -- \"$cur\"\n"
	"			compgen -f -X '!*.json.gz' -- \"$cur\"\n"
	"			compgen -f -X '!*.json.zst' -- \"$cur\"\n"
	"			compgen -f -X '!*.spool' -- \"$cur\"))\n"
	"		;;\n"
	"	esac\n"
	"}\n"
	"complete -F _memtrace memtrace\n";

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
		for (size_t i = 0; i < usage->args_n; i++)
			bash_value(out, &usage->args[i]);
		out_text(out, "\t\tesac\n");
	}
	out_text(out, "\t\t;;\n");
}

static void print_bash(struct out *out)
{
	out_text(out, bash_head);
	for (const struct command *row = commands; row->name; row++)
		out_format(out, "%s%s", row == commands ? "" : " ", row->name);
	out_text(out, bash_verbs);
	for (const struct command *row = commands; row->name; row++)
		args_with_usage(row, bash_command);
	out_text(out, bash_tail);
}

/* --- zsh --- */

/* Quotes text within single quotes, inside the brackets or between the colons of a specification.
 */
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
		out_char(out, ' '); /* any value */
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
	out_text(out, "\t\t\t'(- *)'{-h,--help}'[this text]'");
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

static void print_zsh(struct out *out)
{
	out_text(out, "#compdef memtrace\n"
		      "# Completion of memtrace for zsh, printed by `memtrace help --completion "
		      "zsh`.\n"
		      "_memtrace() {\n"
		      "	local -a verbs\n"
		      "	verbs=(\n");
	for (const struct command *row = commands; row->name; row++) {
		out_format(out, "\t\t'%s:", row->name);
		zsh_put(out, row->help);
		out_text(out, "'\n");
	}
	out_text(out, "\t)\n"
		      "	if ((CURRENT == 2)); then\n"
		      "		_describe -t commands command verbs\n"
		      "		return\n"
		      "	fi\n"
		      "	shift words\n"
		      "	((CURRENT--))\n"
		      "	case $words[1] in\n");
	for (const struct command *row = commands; row->name; row++)
		args_with_usage(row, zsh_command);
	/* Found in fpath the file is the function itself; sourced, it defines and registers it. */
	out_text(out, "\tesac\n"
		      "}\n"
		      "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
		      "	_memtrace \"$@\"\n"
		      "else\n"
		      "	compdef _memtrace memtrace\n"
		      "fi\n");
}

bool completion_print(const char *shell)
{
	if (!strcmp(shell, "bash"))
		print_bash(cli_out());
	else if (!strcmp(shell, "zsh"))
		print_zsh(cli_out());
	else
		return false;
	return true;
}
