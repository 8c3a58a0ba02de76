/* Parses the options and operands of a command, and suggests names for misspelt ones. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>

#include "analyse/input/decompress.h"
#include "analyse/input/error.h"
#include "analyse/lifetimes/timepoint.h"
#include "base/settings/quantity.h"
#include "base/text/text.h"
#include "cli/cli.h"

enum { LONGEST_WORD = 40 };

/* The Damerau-Levenshtein distance of two words; LONGEST_WORD if either is longer than that. */
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

/* Every element of a table of names (see cli.h) begins with these two members. */
struct named {
	const char *name, *help;
};

static const struct named *next_row(const void *row, size_t size)
{
	return (const void *)((const char *)row + size);
}

const char *args_suggestion(const char *name, const void *rows, size_t size)
{
	const char *best = NULL;
	unsigned least = 3;

	for (const struct named *row = rows; row->name; row = next_row(row, size)) {
		unsigned edits = distance(name, row->name);

		if (strlen(name) >= 3 && !strncmp(row->name, name, strlen(name)))
			edits = 1; /* `name` is an abbreviation, which counts as one edit */
		if (edits < least && edits < strlen(row->name)) {
			least = edits;
			best = row->name;
		}
	}
	return best;
}

const void *args_choose(const char *kind, const char *name, const void *rows, size_t size)
{
	const char *meant = args_suggestion(name, rows, size);

	for (const struct named *row = rows; row->name; row = next_row(row, size)) {
		if (!strcmp(name, row->name))
			return row;
	}
	if (meant)
		cli_usage("there is no %s %s; did you mean %s?", kind, name, meant);
	else
		cli_usage("there is no %s %s; see memtrace %s%s--help", kind, name,
			  cli_command() ? cli_command() : "", cli_command() ? " " : "");
	return NULL;
}

void args_list(char *to, size_t to_size, int width, const void *rows, size_t size)
{
	for (const struct named *row = rows; row->name; row = next_row(row, size)) {
		char line[200];

		snprintf(line, sizeof(line), "  %-*s %s\n", width, row->name, row->help);
		text_append(to, to_size, line);
	}
}

/* --- the options of a command --- */

static bool no_limits;

const struct arg *args_row(const struct usage *usage, size_t i)
{
	static const struct arg limits =
		ARG("no-limits", 0, FLAG, NULL,
		    "lift the limits that protect against hostile input", &no_limits);

	if (i < usage->args_n)
		return &usage->args[i];
	/* Commands that run or inspect a program read no trace, so they do not have --no-limits. */
	return i == usage->args_n && usage->operands && !usage->program &&
			       !strstr(usage->operands, "PID")
		       ? &limits
		       : NULL;
}

static struct {
	usage_printer *print;
	const struct usage *usage; /* as passed to the latest args_parse() */
	char **operands;           /* the operands that args_parse() found, ended by NULL */
} state = { .print = cli_print_usage };

void args_with_usage(const struct command *command, usage_printer *printer)
{
	char name[64], option[] = "--help", *argv[] = { name, option, NULL };

	text_copy(name, sizeof(name), command->name);
	state.print = printer;
	command->run(2, argv);
	state.print = cli_print_usage;
}

/* --- parsing --- */

static int unknown(const struct usage *usage, const char *option)
{
	struct named names[64] = { { "help", NULL } };
	const char *meant;

	for (size_t i = 0; args_row(usage, i) && i < 62; i++)
		names[i + 1].name = args_row(usage, i)->name;
	meant = args_suggestion(option + strspn(option, "-"), names, sizeof(names[0]));
	if (meant)
		cli_usage("there is no option %s; did you mean --%s?", option, meant);
	else
		cli_usage("there is no option %s; see memtrace %s --help", option, usage->command);
	return -EINVAL;
}

/* True if the first `length` bytes of `option` are `name`; "_" and "-" count as equal. */
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

static const struct arg *find_arg(const struct usage *usage, const char *word, size_t length)
{
	for (size_t i = 0; args_row(usage, i); i++) {
		const struct arg *arg = args_row(usage, i);

		if (word[1] == '-' ? same_name(arg->name, word + 2, length - 2)
				   : arg->letter && arg->letter == word[1])
			return arg;
	}
	return NULL;
}

static bool add_value(const struct arg *arg, const char *value)
{
	const char **list = arg->to;
	size_t count = 0;

	while (list[count])
		count++;
	if (count == ARG_MOST)
		return cli_usage("--%s is given more than %d times", arg->name, ARG_MOST) < 0;
	list[count] = value;
	return true;
}

static bool take_number(const struct arg *arg, const char *value, uint64_t most)
{
	uint64_t number;

	if (!args_count(arg->name, value, most, &number))
		return false;
	if (number < arg->least)
		return cli_usage("--%s: %s is less than %llu, the minimum", arg->name, value,
				 (unsigned long long)arg->least) < 0;
	if (arg->kind == ARG_DEVICE)
		*(int *)arg->to = (int)number;
	else
		*(uint64_t *)arg->to = number;
	return true;
}

static bool take_word(const struct arg *arg, const char *value)
{
	char list[300] = "";
	const char *word = arg->value;

	for (int i = 0; *word; i++) {
		size_t length = strcspn(word, "|");

		if (strlen(value) == length && !memcmp(value, word, length)) {
			*(int *)arg->to = i;
			return true;
		}
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%.*s", i ? ", " : "",
			 (int)length, word);
		word += length + (word[length] == '|');
	}
	return cli_usage("--%s: %s is not one of %s", arg->name, value, list) < 0;
}

static bool take_value(const struct arg *arg, const char *value)
{
	const void *row;
	uint64_t ns;

	switch (arg->kind) {
	case ARG_LIST:
	case ARG_WORDS:
		return add_value(arg, value);
	case ARG_NUMBER:
		return take_number(arg, value, arg->most ? arg->most : UINT32_MAX);
	case ARG_DEVICE:
		return take_number(arg, value, INT16_MAX);
	case ARG_WORD:
		return take_word(arg, value);
	case ARG_FORMAT:
		row = args_choose("format", value, arg->formats, arg->format_size);
		if (row)
			memcpy(arg->to, &row, sizeof(row));
		return row != NULL;
	case ARG_TIME:
		if (!timepoint_is_named(value) && timepoint_time(value, &ns))
			return cli_usage("%s", err_text()) < 0;
		break;
	case ARG_WHEN:
		if (!timepoint_makes_sense(value))
			return cli_usage("%s", err_text()) < 0;
		break;
	default:
		break;
	}
	*(const char **)arg->to = value;
	return true;
}

/* Stores an option's values. Returns how many of `words` the option takes up, or -EINVAL. */
static int take_words(const struct arg *arg, const char *value, char **words, int left)
{
	int taken = 1;

	if (!value && left < 2) {
		cli_usage("--%s needs a value: %s", arg->name, arg->value);
		return -EINVAL;
	}
	if (!take_value(arg, value ? value : words[taken++]))
		return -EINVAL;
	while (arg->kind == ARG_WORDS && taken < left &&
	       (words[taken][0] != '-' || !words[taken][1])) {
		if (!add_value(arg, words[taken++]))
			return -EINVAL;
	}
	return taken;
}

/* Returns the ARG_SWITCH option that the word turns off ("cpu" for --no-cpu), or NULL. */
static const struct arg *find_switch(const struct usage *usage, const char *word)
{
	for (size_t i = 0; !strncmp(word, "--no-", 5) && i < usage->args_n; i++) {
		if (usage->args[i].kind == ARG_SWITCH &&
		    same_name(usage->args[i].name, word + 5, strlen(word + 5)))
			return &usage->args[i];
	}
	return NULL;
}

/* Parses the option words[0] and its values. Returns how many words that was, or -EINVAL. */
static int take_option(const struct usage *usage, char **words, int left)
{
	const char *word = words[0];
	bool is_long = word[1] == '-';
	size_t length = is_long ? strcspn(word, "=") : 2;
	const char *value =
		is_long ? (word[length] ? word + length + 1 : NULL) : (word[2] ? word + 2 : NULL);
	const struct arg *arg = find_arg(usage, word, length);
	const struct arg *off = arg ? NULL : find_switch(usage, word);

	if (off)
		*(const char **)off->to = "0";
	else if (!arg)
		return unknown(usage, word);
	else if (args_wants_word(arg))
		return take_words(arg, value, words, left);
	else if (arg->kind != ARG_FLAG)
		*(const char **)arg->to = value ? value : arg->kind == ARG_SWITCH ? "1" : "";
	else if (!value)
		*(bool *)arg->to = true;
	else
		return -cli_usage("--%s takes no value", arg->name);
	return 1;
}

static int check_operands(const struct usage *usage, size_t count)
{
	if (count < usage->least)
		return cli_usage("the operand %s is missing; see memtrace %s --help",
				 usage->operands, usage->command);
	if (count <= usage->most || usage->program || (!usage->most && usage->least))
		return ARGS_GO;
	return usage->most ? cli_usage("too many operands; expected: %s", usage->operands)
			   : cli_usage("this command takes no operands");
}

int args_parse(const struct usage *usage, int *argc, char **argv)
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
			return STATUS_DONE;
		}
		words = take_option(usage, argv + i, *argc - i);
		if (words < 0)
			return STATUS_USAGE;
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
	foreach (arg, usage->args) {
		const char **list = arg->to;

		for (size_t k = 0; arg->kind == ARG_WORDS && list[k]; k++) {
			if (is_file(&file, list[k]))
				return true;
		}
	}
	return false;
}

bool args_count(const char *option, const char *text, uint64_t most, uint64_t *count)
{
	if (quantity_parse(text, QUANTITY_SETTING, count) && *count <= most)
		return true;
	cli_usage("--%s: %s is not a number from 0 to %llu", option, text,
		  (unsigned long long)most);
	return false;
}
