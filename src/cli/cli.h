/*
 * Shared by all commands of the tool: exit statuses, parsing of options, output and messages.
 *
 * A command is `int cmd_x(int argc, char **argv)`, where argv[0] is its name; it returns the exit
 * status.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/each.h"
#include "base/settings/opt.h"
#include "render/emit/term.h"

enum cli_status {
#define STATUS(name, value, what) STATUS_##name = (value),
#include "cli/statuses.def"
};

typedef int command_fn(int argc, char **argv);

#define COMMAND(name, help) command_fn cmd_##name;
#include "cli/commands.def"

struct command {
	const char *name, *help;
	command_fn *run;
};

/* The commands of commands.def, ended by an entry without a name (defined in help.c). */
extern const struct command commands[];

/* help.c: runs `memtrace help ...` (argv[0]: "help", "--help", "-h"); argc 0 lists the commands. */
int cli_help(int argc, char **argv);

/* --- options: args.c --- */

/* The kinds of options, each with an example and the type of *to in struct arg. */
enum arg_kind {
	ARG_FLAG,   /* --full: *to is a bool */
	ARG_SWITCH, /* --cpu, --cpu=0, --no-cpu: *to is a text: "1", "0" or what follows the "=" */
	ARG_MAYBE,  /* --oom, --oom=2: *to is a text: "" or what follows the "=" */
	ARG_TEXT,   /* --pool NAME, --pool=NAME, -p NAME: *to is a text */
	ARG_TIME,   /* --from WHEN: *to is a text, a time, phase:NAME or mark:NAME */
	ARG_WHEN,   /* --at WHEN: *to is a text that timepoint_makes_sense() accepts */
	ARG_NUMBER, /* --limit N: *to is a uint64_t between `least` and `most` */
	ARG_DEVICE, /* --device N: *to is an int */
	ARG_WORD,   /* --stacks native: *to is an int, the word's index in value "merged|native" */
	ARG_FORMAT, /* --format json: *to points to the row of `formats` with that name */
	ARG_LIST,   /* --fail-on A --fail-on B: `to` is an array of texts, ended by NULL */
	ARG_WORDS,  /* --base A B C: as ARG_LIST, but takes all words up to the next option */
};

enum { ARG_MOST = 64 }; /* maximum number of values of an ARG_LIST or ARG_WORDS */

struct arg {
	const char *name; /* the option's name without "--" */
	char letter;      /* the short form -LETTER, 0 if there is none */
	enum arg_kind kind;
	const char *value;    /* the value's name in --help; "a|b|c" if it must be one of these */
	const char *help;     /* the text of --help, without a line break */
	void *to;             /* receives the value; unchanged if the option is not given */
	uint64_t least, most; /* bounds of an ARG_NUMBER; most 0 means UINT32_MAX */
	const void *formats;  /* ARG_FORMAT: the table of names for args_choose() */
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

#define ARG_ONE_FORMAT(name_, letter_, formats_, to_)                                          \
	{                                                                                      \
		.name = (name_), .letter = (letter_), .kind = ARG_FORMAT, .value = "FORMAT",   \
		.help = "one of the formats listed above", .to = (to_), .formats = (formats_), \
		.format_size = sizeof((formats_)[0])                                           \
	}
#define ARG_ONE_JSON(json) ARG("json", 0, FLAG, NULL, "the same as --format json", json)
#define ARG_OUTPUT_TO(path) \
	ARG("output", 'o', TEXT, "FILE", "write to FILE instead of standard output", path)
#define ARG_RULES_FROM(path) \
	ARG("rules", 0, TEXT, "FILE", "read category rules from FILE (memtrace help --rules)", path)
#define ARG_ONE_DEVICE(device) ARG("device", 'd', DEVICE, "N", "show only device N", device)
#define ARG_ONE_POOL(pool) ARG("pool", 'p', TEXT, "NAME", "show only the pool NAME", pool)

struct usage {
	const char *command;
	const char *operands; /* operands as shown by --help, such as "TRACE"; NULL for none */
	const char *about;    /* for --help: each line is a paragraph; indented lines are a table */
	const struct arg *args;
	size_t args_n;
	size_t least, most; /* bounds of the number of operands; 1 and 0 mean one or more */
	bool program;       /* true if the first operand begins the command line of a program */
};

#define USAGE(command, operands, about, args, least, most)                         \
	{                                                                          \
		command, operands, about, args, COUNT_OF(args), least, most, false \
	}

/* Returns option i; after the last, --no-limits if the command reads traces; then NULL. */
const struct arg *args_row(const struct usage *usage, size_t i);

typedef void usage_printer(struct out *out, const struct usage *usage);

usage_printer cli_print_usage;

/* Runs the command with --help, but calls `printer` in place of cli_print_usage(). */
void args_with_usage(const struct command *command, usage_printer *printer);

enum { ARGS_GO = -1 };

/* Parses options and removes them from argv, so that only operands follow argv[0]. Returns ARGS_GO,
 * or an exit status if --help or an error message was printed. */
int args_parse(const struct usage *usage, int *argc, char **argv);

/* True for a regular file that is an operand of the latest args_parse(), or a word of an ARG_WORDS
 * option, under this or another name. The usage passed to args_parse() must still exist. */
bool args_reads(const char *path);

/* Parses a number from 0 to `most` for an option; prints why and returns false if it is not one. */
bool args_count(const char *option, const char *text, uint64_t most, uint64_t *count);

/*
 * Tables of names: arrays of elements of `size` bytes that begin with a name and a help text; a
 * NULL name ends the table. args_choose() returns the element with the name, or prints that there
 * is no such `kind` and returns NULL. args_suggestion() returns the most similar name, NULL if none
 * is similar. args_list() appends a line with name and help text to `to` for each element.
 */
const void *args_choose(const char *kind, const char *name, const void *rows, size_t size);
const char *args_suggestion(const char *name, const void *rows, size_t size);
void args_list(char *to, size_t to_size, int width, const void *rows, size_t size);

/* True if the value may be a separate word; an ARG_SWITCH or ARG_MAYBE takes it after "=" only. */
static inline bool args_wants_word(const struct arg *arg)
{
	return arg->kind != ARG_FLAG && arg->kind != ARG_SWITCH && arg->kind != ARG_MAYBE;
}

/* --- messages and standard output: main.c --- */

/* The name of the running command, NULL until main() has found the command. */
const char *cli_command(void);

/* Print "memtrace: COMMAND: MESSAGE" to stderr, return `status`. cli_fail() prints err_text(). */
int cli_say(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_fail(int status);
#define cli_usage(...) cli_say(STATUS_USAGE, __VA_ARGS__)

/* The buffered output, to standard output or the file of -o; main() flushes it at the end. */
struct out *cli_out(void);

/* True if the descriptor is a terminal that shows colours and NO_COLOR is not set. */
bool cli_colour(int fd);

/* The width of a terminal in columns, 0 for any other descriptor. */
unsigned cli_columns(int fd);

/* True if the user's locale uses UTF-8. Does not change the locale of the tool. */
bool cli_unicode(void);

/* Implements -o FILE: cli_out() writes to the file, compressed if its name ends in .gz or .zst.
 * NULL and "-" mean standard output. Returns 0, or -errno with err_text(); also fails if the file
 * is an input of the command (args_reads()), which it would overwrite. */
int cli_redirect(const char *path);

/* cli_redirect() for output that is always compressed by gzip, whatever the name. */
int cli_redirect_gzipped(const char *path);

/* --- completion and settings --- */

/* completion.c: prints the script for "bash" or "zsh"; false for any other shell. The user runs
 * `source <(memtrace help --completion bash)` or installs the script. */
bool completion_print(const char *shell);

/* settings.c: the help text of a setting, and the values that it accepts ("a number"). */
const char *setting_help(enum opt_id id);
const char *setting_wants(enum opt_id id);

/* A variable of the environment that begins with MEMTRACE_. */
struct setting_variable {
	enum opt_id id;    /* OPT_IDS if there is no setting of that name */
	char name[128];    /* without the prefix MEMTRACE_ */
	const char *value; /* "" if there is none */
	const char *meant; /* if `id` is OPT_IDS: the setting with a similar name, or NULL */
};

/* Parses "MEMTRACE_NAME=value"; false for other variables, and for the tool's MEMTRACE_LIBRARY. */
bool setting_variable(const char *text, struct setting_variable *setting);
