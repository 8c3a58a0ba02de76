/*
 * The commands, and what they share: exit statuses, options by rows, standard output.
 *
 * A command is `int cmd_x(int argc, char **argv)`, argv[0] being its name; it gives the exit
 * status.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings/opt.h"
#include "render/emit/term.h"

enum cli_status {
#define STATUS(name, value, what) STATUS_##name = (value),
#include "cli/statuses.def"
#undef STATUS
};

typedef int command_fn(int argc, char **argv);

#define COMMAND(name, help) command_fn cmd_##name;
#include "cli/commands.def"
#undef COMMAND

struct command {
	const char *name, *help;
	command_fn *run;
};

/* The rows of commands.def, ended by one without a name: help.c. */
extern const struct command commands[];

/* `memtrace help ...` and `memtrace --help`, argv[0] being that word: help.c. */
int cli_help(int argc, char **argv);

/* --- options: args.c --- */

enum arg_kind {
	ARG_FLAG,   /* --full: bool */
	ARG_SWITCH, /* --cpu, --cpu=0, --no-cpu: const char *, "1", "0" or what was given */
	ARG_MAYBE,  /* --oom, --oom=2: const char *, "" or what was given */
	ARG_TEXT,   /* --pool NAME, --pool=NAME, -p NAME: const char * */
	ARG_TIME,   /* --from WHEN: the same, a time or phase:NAME */
	ARG_WHEN,   /* --at WHEN: the same, whatever timepoint_find() may understand */
	ARG_NUMBER, /* --limit N: uint64_t, from `least` to `most` */
	ARG_DEVICE, /* --device N: int */
	ARG_WORD,   /* --stacks native: int, the position among the words of `value` */
	ARG_FORMAT, /* --format json: const void *, the row of that name among `formats` */
	ARG_LIST,   /* as TEXT, again and again: array of ARG_MOST + 1 texts, ended by NULL */
	ARG_WORDS,  /* the same with all words up to the next option: --base a b c */
};

enum { ARG_MOST = 64 }; /* values of a LIST */

struct arg {
	const char *name; /* without the dashes */
	char letter;      /* 0 for none */
	enum arg_kind kind;
	const char *value;    /* the value's name in help; "a|b|c" when it is one of these words */
	const char *help;     /* one line, however long */
	void *to;             /* stays as it is when the option is not given */
	uint64_t least, most; /* of NUMBER; most 0: UINT32_MAX */
	const void *formats;  /* of FORMAT: rows of `format_size` bytes for args_choose() */
	size_t format_size;
};

#define ARG(name_, letter_, kind_, value_, help_, to_)                                        \
	{                                                                                     \
		.name = (name_), .letter = (letter_), .kind = ARG_##kind_, .value = (value_), \
		.help = (help_), .to = (to_)                                                  \
	}
#define ARG_BOUNDED(name_, letter_, value_, help_, to_, least_, most_)                       \
	{                                                                                    \
		.name = (name_), .letter = (letter_), .kind = ARG_NUMBER, .value = (value_), \
		.help = (help_), .to = (to_), .least = (least_), .most = (most_)             \
	}

/* Options that several commands have. */
#define ARG_ONE_FORMAT(name_, letter_, formats_, to_)                                          \
	{                                                                                      \
		.name = (name_), .letter = (letter_), .kind = ARG_FORMAT, .value = "FORMAT",   \
		.help = "the format, from the list above", .to = (to_), .formats = (formats_), \
		.format_size = sizeof((formats_)[0])                                           \
	}
#define ARG_OUTPUT_TO(path) \
	ARG("output", 'o', TEXT, "FILE", "write there instead of standard output", path)
#define ARG_RULES_FROM(path) \
	ARG("rules", 0, TEXT, "FILE", "rules for categories (memtrace help --rules)", path)
#define ARG_ONE_DEVICE(device) ARG("device", 'd', DEVICE, "N", "this device only", device)
#define ARG_ONE_POOL(pool) ARG("pool", 'p', TEXT, "NAME", "this pool only", pool)

struct usage {
	const char *command;
	const char *operands; /* "TRACE" */
	const char *about;    /* for --help: a line a paragraph; indented lines are a table */
	const struct arg *args;
	size_t args_n;
	size_t least, most; /* operands; most 0: none with least 0, else any number */
	bool program;       /* the first operand ends the options: what follows is a command line */
};

/* One, of a command with options. */
#define USAGE(command, operands, about, args, least, most)                                     \
	{                                                                                      \
		command, operands, about, args, sizeof(args) / sizeof((args)[0]), least, most, \
			false                                                                  \
	}

/* The i-th option of the command; after its own comes the one that every reader of traces has,
 * then NULL. */
const struct arg *args_row(const struct usage *usage, size_t i);

typedef void usage_printer(struct out *out, const struct usage *usage);

/* What --help prints: help.c. */
usage_printer cli_print_usage;

/* Calls the printer with the usage of the command, on cli_out(), in the place of its --help. */
void args_with_usage(const struct command *command, usage_printer *printer);

enum { ARGS_GO = -1 };

/*
 * Takes the options out of argv: ARGS_GO, the operands are argv[1..argc) then; or the exit status,
 * when help was asked for and printed, or something is wrong and was said.
 */
int args_parse(const struct usage *usage, int *argc, char **argv);

/* Is the file there, and one of the operands that args_parse() found (or a word of WORDS), under
 * whatever name? To be asked while the usage and its values live. */
bool args_reads(const char *path);

/* A whole number for an option; says what is wrong and gives false otherwise. */
bool args_count(const char *option, const char *text, uint64_t most, uint64_t *count);

/*
 * Tables of what can be named: rows of `size` bytes that begin with the name, ended by one without.
 * The row of the name, NULL after complaint that there is no such `kind`; the name that was
 * probably meant, NULL when none is near; and, of rows whose second member is their help, a line
 * each behind what `to` holds.
 */
const void *args_choose(const char *kind, const char *name, const void *rows, size_t size);
const char *args_suggestion(const char *name, const void *rows, size_t size);
void args_list(char *to, size_t to_size, int width, const void *rows, size_t size);

/* Does the value follow as a word of its own? (Behind a = it may stand in any case.) */
static inline bool args_wants_word(const struct arg *arg)
{
	return arg->kind != ARG_FLAG && arg->kind != ARG_SWITCH && arg->kind != ARG_MAYBE;
}

/* --- words: main.c --- */

/* The command that runs, NULL while it is being looked for. */
const char *cli_command(void);

/* Prints "memtrace: COMMAND: TEXT" on stderr, TEXT being err_text() or a sentence, and gives
 * status. */
int cli_fail(int status);
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Standard output, written at the end at the latest. */
struct out *cli_out(void);

/* Is standard output a terminal that wants colours? */
bool cli_colour(int fd);

/* True if the user's locale shows UTF-8. The locale of the tool stays as it is. */
bool cli_unicode(void);

/* -o FILE: makes cli_out() write there, packed if the name asks for it; NULL and "-" are standard
 * output. 0 or -errno, err_text(): a file that is an operand, too, is not written over
 * (args_reads). */
int cli_redirect(const char *path);

/* The same for what is packed already, whatever the name says. */
int cli_redirect_as_is(const char *path);

/* --- what `memtrace help` prints from the tables that --help is printed from --- */

/* completion.c: the script for bash or zsh, to cli_out(); false when the shell is neither.
 * `source <(memtrace help --completion bash)`, or installed where shells look for them. */
bool completion_print(const char *shell);

/*
 * manual.c: pages in roff (man(7)): memtrace.1, one memtrace-COMMAND.1 a command, libmemtrace.7 for
 * the settings. libmemtrace.3 comes from the public header: scripts/manual-api.sh.
 *
 * The names of the pages, one a line; a page to cli_out(), false when there is none of that name.
 */
void manual_list(struct out *out);
bool manual_page(const char *name);

/* The help of a setting's row in opt.def, and the values that it takes, in words that end
 * "... is not ": manual.c. */
const char *setting_help(enum opt_id id);
const char *setting_wants(enum opt_id id);
