/* Writes the manual pages, from the tables that --help is printed from. */
#include <stdio.h>
#include <string.h>

#include "base/mem/each.h"
#include "base/settings/version.h"
#include "base/text/text.h"
#include "cli/cli.h"

TEXT_OF_FILE(page_memtrace, "src/cli/memtrace.roff");
TEXT_OF_FILE(page_libmemtrace, "src/cli/libmemtrace.roff");

/* --- help texts of the settings --- */

const char *setting_help(enum opt_id id)
{
	static const char *const helps[] = {
#define OPTION(name, env, kind, value, help) help,
#include "base/settings/opt.def"
#undef OPTION
	};

	return helps[id];
}

const char *setting_wants(enum opt_id id)
{
	static const char *const wants[] = {
		[OPT_TEXT] = "a text",
		[OPT_FLAG] = "0 or 1",
		[OPT_COUNT] = "a number",
		[OPT_STACKS] = "python,native, one of the two, or none",
		[OPT_DEPTH] = "a number from 1 to 256",
		[OPT_KEEP] = "a time, a size or both with a comma (10min,1GiB)",
		[OPT_SIGNAL] = "USR1, USR2, HUP, URG, WINCH or PWR[:toggle|:mark|:dump]",
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

/* --- roff --- */

/* Escapes text for roff. Hyphens become minus signs, so that copied options work in a shell. */
static void put_roff(struct out *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\')
			out_text(out, "\\e");
		else if (*text == '-')
			out_text(out, "\\-");
		else
			out_char(out, *text);
	}
}

/* Writes a line of text; a dot or quote at its start, which begins a roff command, is escaped. */
static void put_line(struct out *out, const char *line)
{
	if (*line == '.' || *line == '\'')
		out_text(out, "\\&");
	put_roff(out, line);
	out_char(out, '\n');
}

static void bold(struct out *out, const char *a, const char *b)
{
	out_text(out, "\\fB");
	put_roff(out, a);
	put_roff(out, b);
	out_text(out, "\\fR");
}

/* Writes a text of --help: an empty line ends a paragraph, indented lines are a table. */
static void put_text(struct out *out, const char *text)
{
	bool table = false;

	while (*text) {
		char line[2000];
		size_t length = strcspn(text, "\n");
		bool indented = *text == ' ';

		text_copy_n(line, sizeof(line), text, length);
		text += length + (text[length] == '\n');
		if (indented != table && length)
			out_text(out, indented ? ".PP\n.nf\n" : ".fi\n.PP\n");
		table = length ? indented : table;
		if (length)
			put_line(out, line);
		else if (!table)
			out_text(out, ".PP\n");
	}
	if (table)
		out_text(out, ".fi\n");
}

static void begin_page(struct out *out, const char *title, const char *section)
{
	char upper[100];

	text_copy(upper, sizeof(upper), title);
	for (char *p = upper; *p; p++) {
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	}
	out_text(out, ".TH ");
	put_roff(out, upper);
	out_format(out, " %s \"\" \"memtrace " MEMTRACE_VERSION "\" \"memtrace\"\n", section);
}

static void put_statuses(struct out *out)
{
	out_text(out, ".SH EXIT STATUS\n");
#define STATUS(name, value, what)               \
	out_format(out, ".TP\n.B %d\n", value); \
	put_line(out, what);
#include "cli/statuses.def"
#undef STATUS
}

/* --- the page of a command --- */

static void put_arg(struct out *out, const struct arg *arg)
{
	out_text(out, ".TP\n");
	if (arg->letter) {
		char letter[3] = { '-', arg->letter, '\0' };

		bold(out, letter, "");
		out_text(out, ", ");
	}
	bold(out, "--", arg->name);
	if (arg->value) {
		out_text(out, args_wants_word(arg) ? " \\fI" : "\\fI");
		put_roff(out, arg->value);
		out_text(out, "\\fR");
	}
	out_char(out, '\n');
	put_line(out, arg->help);
}

static void print_command(struct out *out, const struct usage *usage)
{
	const struct command *command =
		args_choose("command", usage->command, commands, sizeof(commands[0]));
	char title[100];

	text_join(title, sizeof(title), "memtrace-", usage->command);
	begin_page(out, title, "1");
	out_text(out, ".SH NAME\n");
	put_roff(out, title);
	out_text(out, " \\- ");
	put_line(out, command->help);
	out_text(out, ".SH SYNOPSIS\n");
	bold(out, "memtrace ", usage->command);
	out_text(out, " [\\fIoptions\\fR] ");
	put_line(out, usage->operands ? usage->operands : "");
	out_text(out, ".SH DESCRIPTION\n");
	put_text(out, usage->about);
	out_text(out, ".SH OPTIONS\n");
	for (size_t i = 0; args_row(usage, i); i++)
		put_arg(out, args_row(usage, i));
	out_text(out, ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow this help on the terminal\n");
	if (!usage->program || !usage->least) /* memtrace run returns the program's status */
		put_statuses(out);
	out_text(out, ".SH SEE ALSO\n.BR memtrace (1),\n.BR libmemtrace (7)\n");
}

/* --- the pages memtrace.1 and libmemtrace.7, and the list of all pages --- */

static void print_memtrace(struct out *out)
{
	const char *rest;

	begin_page(out, "memtrace", "1");
	rest = cli_put_until_gap(out, page_memtrace);
	for (const struct command *row = commands; row->name; row++) {
		out_text(out, ".TP\n.BR ");
		put_roff(out, "memtrace-");
		put_roff(out, row->name);
		out_text(out, " (1)\n");
		put_line(out, row->help);
	}
	put_statuses(out);
	out_text(out, rest);
}

static void print_settings(struct out *out)
{
	const char *rest;

	begin_page(out, "libmemtrace", "7");
	rest = cli_put_until_gap(out, page_libmemtrace);
	for (enum opt_id id = 0; id < OPT_IDS; id++) {
		out_text(out, ".TP\n");
		bold(out, "MEMTRACE_", opt_rows[id].env);
		if (opt_rows[id].value[0]) {
			out_char(out, '=');
			put_roff(out, opt_rows[id].value);
		}
		out_char(out, '\n');
		put_line(out, setting_help(id));
	}
	out_text(out, rest);
}

static const struct {
	const char *name;
	void (*print)(struct out *out);
} pages[] = {
	{ "memtrace.1", print_memtrace },
	{ "libmemtrace.7", print_settings },
};

static void page_name(char *to, size_t size, const struct command *command)
{
	snprintf(to, size, "memtrace-%s.1", command->name);
}

void manual_list(struct out *out)
{
	foreach (page, pages, COUNT_OF(pages))
		out_format(out, "%s\n", page->name);
	for (const struct command *row = commands; row->name; row++) {
		char name[100];

		page_name(name, sizeof(name), row);
		out_format(out, "%s\n", name);
	}
}

bool manual_page(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(pages); i++) {
		if (!strcmp(name, pages[i].name)) {
			pages[i].print(cli_out());
			return true;
		}
	}
	for (const struct command *row = commands; row->name; row++) {
		char page[100];

		page_name(page, sizeof(page), row);
		if (!strcmp(name, page)) {
			args_with_usage(row, print_command);
			return true;
		}
	}
	return false;
}
