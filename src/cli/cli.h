/*
 * The commands, and what they share: exit statuses, options by rows, standard output.
 *
 * A command is `int cmd_x(int argc, char **argv)`, argv[0] being its name; it gives the exit
 * status.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/out.h"

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
	const char *name;
	command_fn *run;
	const char *help;
};

/* The rows of commands.def, ended by one without a name: help.c. */
extern const struct command commands[];

/* `memtrace help ...` and `memtrace --help`, argv[0] being that word: help.c. */
int cli_help(int argc, char **argv);

/* --- options: args.c --- */

enum arg_kind {
	ARG_FLAG,   /* --full */
	ARG_TEXT,   /* --limit N, --limit=N, -n N */
	ARG_SWITCH, /* --cpu, --cpu=0, --no-cpu: the text is "1" or "0" or what was given */
	ARG_MAYBE,  /* --oom, --oom=2: the text is "" or what was given */
	ARG_LIST,   /* as TEXT, again and again */
	ARG_WORDS,  /* the same with all words up to the next option: --base a b c */
};

enum { ARG_MOST = 64 }; /* values of a LIST */

struct arg {
	const char *name; /* without the dashes */
	char letter;      /* 0 for none */
	enum arg_kind kind;
	const char *value; /* what help calls the value; "a|b|c" when it is one of these words */
	const char *help;
	bool *flag; /* FLAG */
	/* TEXT, SWITCH and MAYBE: stays as it is when the option is not given. LIST and WORDS: an
	 * array of ARG_MOST + 1, ended by NULL. */
	const char **text;
};

struct usage {
	const char *command;
	const char *operands; /* "TRACE" */
	const char *about;    /* sentences for --help, with their line breaks */
	const struct arg *args;
	size_t args_n;
	size_t least, most; /* operands; most 0: none with least 0, else any number */
	bool program;       /* the first operand ends the options: what follows is a command line */
};

enum args_result {
	ARGS_GO,   /* argv[1..argc) are the operands */
	ARGS_HELP, /* help was asked for and printed */
	ARGS_WRONG /* said on stderr */
};

/* The i-th option of the command; after its own comes the one that every reader of traces has,
 * then NULL. */
const struct arg *args_row(const struct usage *usage, size_t i);

typedef void usage_printer(struct out *out, const struct usage *usage);

/* Calls the printer with the usage of the command, on cli_out(), in the place of its --help. */
void args_with_usage(const struct command *command, usage_printer *printer);

enum args_result args_parse(const struct usage *usage, int *argc, char **argv);

/* Is the file there, and one of the operands that args_parse() found (or a word of WORDS), under
 * whatever name? To be asked while the usage and its values live. */
bool args_reads(const char *path);

/* The help of an option as one line: lines after the first are indented in the table. */
void args_help_line(char *to, size_t size, const char *help);

/* A whole number for an option; says what is wrong and gives false otherwise. */
bool args_count(const char *command, const char *option, const char *text, uint64_t most,
		uint64_t *count);

/* The one of the words (ended by NULL) that was probably meant; NULL when none is near. */
const char *args_suggestion(const char *word, const char *const *words);

/* Does the value follow as a word of its own? (Behind a = it may stand in any case.) */
static inline bool args_wants_word(const struct arg *arg)
{
	return arg->kind != ARG_FLAG && arg->kind != ARG_SWITCH && arg->kind != ARG_MAYBE;
}

/* --- words: main.c --- */

/* Prints "memtrace: COMMAND: TEXT" on stderr, TEXT being err_text() or a sentence, and gives
 * status. */
int cli_fail(const char *command, int status);
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Standard output, written at the end at the latest. */
struct out *cli_out(void);

/* Is standard output a terminal that wants colours? */
bool cli_colour(int fd);

/* -o FILE: makes cli_out() write there, packed if the name asks for it. 0 or -errno, err_text(): a
 * file that is an operand, too, is not written over (args_reads). */
int cli_redirect(const char *path);

/* The same for what is packed already, whatever the name says. */
int cli_redirect_as_is(const char *path);

#endif
