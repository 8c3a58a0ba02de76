/*
 * memtrace: dispatch, help, version, and whether what was printed really arrived.
 *
 * Only this file ends the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/error.h"
#include "analyse/trace.h"
#include "base/version.h"
#include "cli/cli.h"
#include "render/document.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
#define COMMAND(name, help) { #name, cmd_##name, help },
#include "cli/commands.def"
#undef COMMAND
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static struct {
	struct out out;
	char buffer[1 << 16];
	const char *path; /* of -o, NULL for standard output */
} output;

struct out *cli_out(void)
{
	return &output.out;
}

bool cli_colour(int fd)
{
	const char *no = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return isatty(fd) && !(no && no[0]) && terminal && strcmp(terminal, "dumb") != 0;
}

int cli_redirect(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		return err("%s: %s", path, strerror(errno));
	output.path = path;
	output.out.fd = fd;
	return 0;
}

int cli_fail(const char *command, int status)
{
	/* What was printed so far comes first, also when both go to one place. */
	out_flush(&output.out);
	fprintf(stderr, "memtrace: %s: %s\n", command, err_text());
	return status;
}

int cli_usage(const char *command, const char *format, ...)
{
	char text[1000];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (command)
		fprintf(stderr, "memtrace: %s: %s\n", command, text);
	else
		fprintf(stderr, "memtrace: %s\n", text);
	return STATUS_USAGE;
}

static int print_help(void)
{
	struct out *out = cli_out();

	out_text(out, "memtrace: what fills the GPU's memory, and which line put it there.\n\n"
		      "usage: memtrace COMMAND [options]\n"
		      "       memtrace run -- python train.py\n"
		      "       memtrace report memtrace.4242.json\n\n"
		      "Commands:\n");
	for (size_t i = 0; i < COMMANDS; i++)
		out_format(out, "  %-9s %s\n", commands[i].name, commands[i].help);
	out_text(out,
		 "\n`memtrace COMMAND --help` tells the options of each. A spool (what a killed "
		 "process\n"
		 "leaves) is taken wherever a trace is; `-` is standard input.\n\n"
		 "Exit status:\n"
		 "  0  done\n"
		 "  1  the answer to what was asked is no\n"
		 "  2  wrong usage\n"
		 "  3  a trace cannot be read, or the output cannot be written\n"
		 "`memtrace run` ends as the program does: its status, or 128 and its signal.\n");
	return STATUS_DONE;
}

static int no_command(const char *word)
{
	const char *words[COMMANDS + 1] = { NULL };
	const char *meant;

	for (size_t i = 0; i < COMMANDS; i++)
		words[i] = commands[i].name;
	if (word[0] == '-')
		return cli_usage(NULL, "there is no option %s (memtrace --help)", word);
	meant = args_suggestion(word, words);
	if (meant)
		return cli_usage(NULL, "there is no command %s; did you mean %s?", word, meant);
	return cli_usage(NULL, "there is no command %s (memtrace --help)", word);
}

static int dispatch(int argc, char **argv)
{
	static char help[] = "--help";
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word) {
		print_help();
		return STATUS_USAGE;
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version")) {
		out_text(cli_out(), "memtrace " MEMTRACE_VERSION "\n");
		return STATUS_DONE;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || (!strcmp(word, "help") && argc < 3))
		return print_help();
	if (!strcmp(word, "help")) { /* memtrace help run */
		argv[1] = argv[2];
		argv[2] = help;
		word = argv[1];
		argc = 3;
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		if (!strcmp(word, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	}
	return no_command(word);
}

/* A full disk behind standard output is found here or never. */
static int close_output(int status)
{
	int error = out_flush(&output.out);

	if (close(output.out.fd) && !error && (errno != EBADF || output.out.written))
		error = -errno;
	if (!error)
		return status;
	fprintf(stderr, "memtrace: %s could not be written: %s\n",
		output.path ? output.path : "standard output", strerror(-error));
	return status == STATUS_DONE || status == STATUS_NO ? STATUS_UNREADABLE : status;
}

static int convert(const char *spool, int fd, bool events)
{
	char why[1000];
	int error = document_from_spool(spool, fd, DOCUMENT_LOAD | (events ? DOCUMENT_EVENTS : 0),
					why, sizeof(why));

	return error ? err("%s", why) : 0;
}

int main(int argc, char **argv)
{
	out_init(&output.out, STDOUT_FILENO, output.buffer, sizeof(output.buffer));
	trace_set_converter(convert);
	return close_output(dispatch(argc, argv));
}
