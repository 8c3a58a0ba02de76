/*
 * The commands, and the parts that they share: exit statuses, options by rows, standard output.
 *
 * A command is `int cmd_x(int argc, char **argv)`, where argv[0] is its name; it returns the exit
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

/* The rows of commands.def, followed by one without a name: help.c. */
extern const struct command commands[];

/* `memtrace help ...` and `memtrace --help`, where argv[0] is "help" or "--help": help.c. */
int cli_help(int argc, char **argv);

/* --- options: args.c --- */

enum arg_kind {
	ARG_FLAG,   /* --full: bool */
	ARG_SWITCH, /* --cpu, --cpu=0, --no-cpu: const char *, "1", "0" or what was given */
	ARG_MAYBE,  /* --oom, --oom=2: const char *, "" or what was given */
	ARG_TEXT,   /* --pool NAME, --pool=NAME, -p NAME: const char * */
	ARG_TIME,   /* --from WHEN: the same, a time or phase:NAME */
	ARG_WHEN,   /* --at WHEN: the same, any text that timepoint_find() understands */
	ARG_NUMBER, /* --limit N: uint64_t, from `least` to `most` */
	ARG_DEVICE, /* --device N: int */
	ARG_WORD,   /* --stacks native: int, the position among the words of `value` */
	ARG_FORMAT, /* --format json: const void *, the row of that name among `formats` */
	ARG_LIST,   /* like TEXT, any number of times: array of ARG_MOST + 1 texts, ended by NULL */
	ARG_WORDS,  /* the same with all words up to the next option: --base a b c */
};

enum { ARG_MOST = 64 }; /* values of a LIST */

struct arg {
	const char *name; /* without the dashes */
	char letter;      /* 0 for none */
	enum arg_kind kind;
	const char *value;    /* the value's name in help; "a|b|c" when it is one of these words */
	const char *help;     /* one line of any length */
	void *to;             /* unchanged when the option is not given */
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
	const char *about;    /* for --help: each line is a paragraph; indented lines are a table */
	const struct arg *args;
	size_t args_n;
	size_t least, most; /* number of operands; most 0: none when least is 0, else any number */
	bool program;       /* the first operand ends the options: the rest is a command line */
};

/* The usage of a command with options. */
#define USAGE(command, operands, about, args, least, most)                                     \
	{                                                                                      \
		command, operands, about, args, sizeof(args) / sizeof((args)[0]), least, most, \
			false                                                                  \
	}

/* The i-th option of the command; then the one that every reader of traces has, then NULL. */
const struct arg *args_row(const struct usage *usage, size_t i);

typedef void usage_printer(struct out *out, const struct usage *usage);

usage_printer cli_print_usage;

/* Calls the printer with the usage of the command, on cli_out(), instead of printing its --help. */
void args_with_usage(const struct command *command, usage_printer *printer);

enum { ARGS_GO = -1 };

/* Takes the options out of argv. Returns ARGS_GO, and the operands are argv[1..argc); or the exit
 * status, when it has printed help or the message about a mistake. */
int args_parse(const struct usage *usage, int *argc, char **argv);

/* True if the file exists and is one of the operands of the latest args_parse() (or a word of
 * WORDS), by this or another name. The usage and its values must still be valid. */
bool args_reads(const char *path);

/* Parses a whole number for an option; false, with a message, when it is none. */
bool args_count(const char *option, const char *text, uint64_t most, uint64_t *count);

/*
 * Tables of names: rows of `size` bytes that begin with the name, followed by one without.
 * args_choose() returns the row of the name, or NULL with the message that there is no such `kind`;
 * args_suggestion() the name that was probably meant, NULL when none is similar; args_list()
 * appends a line for each row to the text in `to`, of its name and its second member, the help.
 */
const void *args_choose(const char *kind, const char *name, const void *rows, size_t size);
const char *args_suggestion(const char *name, const void *rows, size_t size);
void args_list(char *to, size_t to_size, int width, const void *rows, size_t size);

/* True if the value may be the next word. (A SWITCH or a MAYBE has it after a "=" only.) */
static inline bool args_wants_word(const struct arg *arg)
{
	return arg->kind != ARG_FLAG && arg->kind != ARG_SWITCH && arg->kind != ARG_MAYBE;
}

/* --- words: main.c --- */

/* The name of the command that runs, NULL before it is found. */
const char *cli_command(void);

/* Prints "memtrace: COMMAND: TEXT" (err_text() or a sentence), and returns the status. */
int cli_fail(int status);
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Standard output, buffered; main() writes the rest at the end. */
struct out *cli_out(void);

/* True if the descriptor is a terminal that shows colours. */
bool cli_colour(int fd);

/* True if the user's locale shows UTF-8. The locale of the tool stays as it is. */
bool cli_unicode(void);

/* -o FILE: makes cli_out() write to the file, compressed if the name ends so; NULL and "-" are
 * standard output. 0, or -errno with err_text(), also for a file that is an operand as well: it is
 * not written over (args_reads). */
int cli_redirect(const char *path);

/* The same for output that is compressed already: the name has no effect. */
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

/* The help of a setting's row, and the values that it takes ("... is not "): manual.c. */
const char *setting_help(enum opt_id id);
const char *setting_wants(enum opt_id id);
