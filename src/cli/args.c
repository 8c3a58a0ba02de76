/* Options by rows: parsing, help, and what was probably meant. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>

#include "analyse/input/limits.h"
#include "base/settings/quantity.h"
#include "base/text/text.h"
#include "cli/cli.h"

enum {
	LONGEST_WORD = 40,
	HELP_COLUMN = 26,
};

/* Edits from one word to the other: insert, delete, change, swap of neighbours (Damerau). */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][LONGEST_WORD + 1];
	size_t n = strlen(b);

	if (strlen(a) > LONGEST_WORD || n > LONGEST_WORD)
		return LONGEST_WORD;
	for (unsigned k = 0; k <= n; k++)
		rows[0][k] = k;
	for (unsigned i = 1; a[i - 1]; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *above = rows[(i + 2) % 3];
		const unsigned *top = rows[(i + 1) % 3];

		row[0] = i;
		for (unsigned k = 1; k <= n; k++) {
			bool same = a[i - 1] == b[k - 1];

			row[k] = MIN(MIN(row[k - 1], above[k]) + 1, above[k - 1] + !same);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				row[k] = MIN(row[k], top[k - 2] + 1);
		}
	}
	return rows[strlen(a) % 3][n];
}

const char *args_suggestion(const char *word, const char *const *words)
{
	const char *best = NULL;
	unsigned least = 3;

	for (; *words; words++) {
		unsigned edits = distance(word, *words);

		if (strlen(word) >= 3 && !strncmp(*words, word, strlen(word)))
			edits = 1; /* its beginning */
		if (edits < least && edits < strlen(*words)) {
			least = edits;
			best = *words;
		}
	}
	return best;
}

/* --- rows --- */

static bool no_limits;

const struct arg *args_row(const struct usage *usage, size_t i)
{
	static const struct arg limits = {
		"no-limits", 0,   ARG_FLAG, NULL, "read also what is larger than any recording",
		&no_limits,  NULL
	};

	if (i < usage->args_n)
		return &usage->args[i];
	/* Whatever is run or looked at while it runs is no trace yet. */
	return i == usage->args_n && usage->operands && !usage->program &&
			       !strstr(usage->operands, "PID")
		       ? &limits
		       : NULL;
}

/* --- help --- */

static void print_row(struct out *out, const struct arg *arg)
{
	char left[80];
	const char *value = arg->value ? arg->value : "";

	if (arg->letter)
		snprintf(left, sizeof(left), "  -%c, --%s%s%s", arg->letter, arg->name,
			 args_wants_word(arg) ? " " : "", value);
	else
		snprintf(left, sizeof(left), "      --%s%s%s", arg->name,
			 args_wants_word(arg) ? " " : "", value);
	if (strlen(left) + 2 > HELP_COLUMN)
		out_format(out, "%s\n%*s%s\n", left, HELP_COLUMN, "", arg->help);
	else
		out_format(out, "%-*s%s\n", HELP_COLUMN, left, arg->help);
}

static void print_help(struct out *out, const struct usage *usage)
{
	static const struct arg help = { "help", 'h', ARG_FLAG, NULL, "this text", NULL, NULL };

	out_format(out, "usage: memtrace %s [options]%s%s\n\n", usage->command,
		   usage->operands ? " " : "", usage->operands ? usage->operands : "");
	out_text(out, usage->about);
	out_text(out, "\nOptions:\n");
	for (size_t i = 0; args_row(usage, i); i++)
		print_row(out, args_row(usage, i));
	print_row(out, &help);
}

void args_help_line(char *to, size_t size, const char *help)
{
	to[0] = '\0';
	while (*help) {
		size_t length = strcspn(help, "\n");
		char line[500];

		text_copy_n(line, sizeof(line), help, length);
		text_append(to, size, line);
		help += length;
		if (*help) {
			text_append(to, size, " ");
			help += strspn(help, "\n ");
		}
	}
}

static struct {
	usage_printer *print;
	const struct usage *usage; /* what was parsed last */
	char **operands;           /* ended by NULL */
} state = { .print = print_help };

void args_with_usage(const struct command *command, usage_printer *printer)
{
	char name[64];
	char option[] = "--help";
	char *argv[] = { name, option, NULL };

	text_copy(name, sizeof(name), command->name);
	state.print = printer;
	command->run(2, argv);
	state.print = print_help;
}

/* --- parsing --- */

static int unknown(const struct usage *usage, const char *option)
{
	const char *words[64] = { "help" };
	const char *meant;

	for (size_t i = 0; args_row(usage, i) && i < 62; i++)
		words[i + 1] = args_row(usage, i)->name;
	meant = args_suggestion(option + strspn(option, "-"), words);
	if (meant)
		return cli_usage(usage->command, "there is no option %s; did you mean --%s?",
				 option, meant);
	return cli_usage(usage->command, "there is no option %s (memtrace %s --help)", option,
			 usage->command);
}

/* `length` bytes of the option's name; "stack_depth" and "stack-depth" are one. */
static bool same_name(const char *name, const char *option, size_t length)
{
	if (strlen(name) != length)
		return false;
	for (size_t i = 0; i < length; i++) {
		if ((name[i] == '_' ? '-' : name[i]) != (option[i] == '_' ? '-' : option[i]))
			return false;
	}
	return true;
}

static const struct arg *find(const struct usage *usage, const char *word, size_t length)
{
	for (size_t i = 0; args_row(usage, i); i++) {
		const struct arg *arg = args_row(usage, i);

		if (word[1] == '-' ? same_name(arg->name, word + 2, length - 2)
				   : arg->letter && arg->letter == word[1])
			return arg;
	}
	return NULL;
}

static int add_value(const struct usage *usage, const struct arg *arg, const char *value)
{
	size_t count = 0;

	while (arg->text[count])
		count++;
	if (count == ARG_MOST) {
		cli_usage(usage->command, "--%s is given more than %d times", arg->name, ARG_MOST);
		return -EINVAL;
	}
	arg->text[count] = value;
	return 0;
}

/* The value of an option that wants one; of WORDS, how many of the words are its. */
static int take_value(const struct usage *usage, const struct arg *arg, const char *value,
		      char **words, int left)
{
	int taken = 1;

	if (!value && left < 2) {
		cli_usage(usage->command, "--%s wants a value: %s", arg->name, arg->value);
		return -EINVAL;
	}
	if (!value)
		value = words[taken++];
	if (arg->kind == ARG_TEXT) {
		*arg->text = value;
		return taken;
	}
	if (add_value(usage, arg, value))
		return -EINVAL;
	while (arg->kind == ARG_WORDS && taken < left &&
	       (words[taken][0] != '-' || !words[taken][1])) {
		if (add_value(usage, arg, words[taken++]))
			return -EINVAL;
	}
	return taken;
}

/* Takes one option, and the word behind it when that is its value: how many words, or -EINVAL. */
static int take(const struct usage *usage, char **words, int left)
{
	const char *word = words[0];
	bool is_long = word[1] == '-';
	size_t length = is_long ? strcspn(word, "=") : 2;
	const char *value =
		is_long ? (word[length] ? word + length + 1 : NULL) : (word[2] ? word + 2 : NULL);
	const struct arg *arg = find(usage, word, length);

	if (!arg && is_long && !strncmp(word, "--no-", 5) && !value) {
		for (size_t i = 0; i < usage->args_n; i++) {
			if (usage->args[i].kind != ARG_SWITCH ||
			    !same_name(usage->args[i].name, word + 5, strlen(word + 5)))
				continue;
			*usage->args[i].text = "0";
			return 1;
		}
	}
	if (!arg) {
		unknown(usage, word);
		return -EINVAL;
	}
	if (arg->kind == ARG_FLAG && value) {
		cli_usage(usage->command, "--%s takes no value", arg->name);
		return -EINVAL;
	}
	if (arg->kind == ARG_FLAG) {
		*arg->flag = true;
		return 1;
	}
	if (arg->kind == ARG_SWITCH || arg->kind == ARG_MAYBE) {
		*arg->text = value ? value : arg->kind == ARG_SWITCH ? "1" : "";
		return 1;
	}
	return take_value(usage, arg, value, words, left);
}

static enum args_result check_operands(const struct usage *usage, size_t count)
{
	if (count < usage->least) {
		cli_usage(usage->command, "%s is missing (memtrace %s --help)", usage->operands,
			  usage->command);
		return ARGS_WRONG;
	}
	if (count > usage->most && !usage->program && (usage->most || !usage->least)) {
		if (usage->most)
			cli_usage(usage->command, "too many operands: only %s is wanted",
				  usage->operands);
		else
			cli_usage(usage->command, "takes no operands");
		return ARGS_WRONG;
	}
	return ARGS_GO;
}

enum args_result args_parse(const struct usage *usage, int *argc, char **argv)
{
	bool options = true;
	int kept = 1;

	for (int i = 1; i < *argc;) {
		char *word = argv[i];
		int words;

		if (!options || word[0] != '-' || !word[1]) {
			argv[kept++] = word;
			options = options && !usage->program;
			i++;
			continue;
		}
		if (!strcmp(word, "--")) {
			options = false;
			i++;
			continue;
		}
		if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
			state.print(cli_out(), usage);
			return ARGS_HELP;
		}
		words = take(usage, argv + i, *argc - i);
		if (words < 0)
			return ARGS_WRONG;
		i += words;
	}
	argv[kept] = NULL;
	*argc = kept;
	if (no_limits)
		limits_lift();
	state.usage = usage;
	state.operands = argv + 1;
	return check_operands(usage, (size_t)kept - 1);
}

static bool is_file(const struct stat *file, const char *path)
{
	struct stat other;

	return !stat(path, &other) && file->st_dev == other.st_dev && file->st_ino == other.st_ino;
}

bool args_reads(const char *path)
{
	const struct usage *usage = state.usage;
	struct stat file;

	if (!usage || stat(path, &file) || !S_ISREG(file.st_mode))
		return false;
	for (char **word = state.operands; *word; word++) {
		if (is_file(&file, *word))
			return true;
	}
	for (size_t i = 0; i < usage->args_n; i++) {
		const struct arg *arg = &usage->args[i];

		for (size_t k = 0; arg->kind == ARG_WORDS && arg->text[k]; k++) {
			if (is_file(&file, arg->text[k]))
				return true;
		}
	}
	return false;
}

bool args_count(const char *command, const char *option, const char *text, uint64_t most,
		uint64_t *count)
{
	if (quantity_parse(text, QUANTITY_SETTING, count) && *count <= most)
		return true;
	cli_usage(command, "--%s: %s is not a number from 0 to %llu", option, text,
		  (unsigned long long)most);
	return false;
}
