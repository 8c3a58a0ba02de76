/* Entry point of the tool: finds the command, runs it, and checks that the output was written. */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "base/settings/version.h"
#include "cli/cli.h"
#include "cli/packed.h"
#include "cli/preload_refusals.h"
#include "render/values/values.h"

static struct {
	struct out out;
	char buffer[1 << 16];
	const char *command; /* name of the running command, NULL if none */
	const char *path;    /* value of -o; NULL for standard output */
	struct pack *pack;   /* compressor of the output, NULL if none */
} output;

struct out *cli_out(void)
{
	return &output.out;
}

const char *cli_command(void)
{
	return output.command;
}

bool cli_colour(int fd)
{
	const char *no = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return isatty(fd) && !(no && no[0]) && terminal && strcmp(terminal, "dumb") != 0;
}

unsigned cli_columns(int fd)
{
	struct winsize size;

	return isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

bool cli_unicode(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", NULL);
	bool is = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

	if (locale)
		freelocale(locale);
	return is;
}

static int open_output(const char *path)
{
	int fd;

	if (!path || !strcmp(path, "-"))
		return 0;
	if (args_reads(path))
		return err("%s: is also an input, and would be lost: choose another output", path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return err("%s: %s", path, strerror(errno));
	output.path = path;
	output.out.fd = fd;
	return 0;
}

static int redirect(const char *path, enum pack_kind kind)
{
	int error = open_output(path);

	if (!error)
		error = packed_start(&output.pack, kind, path, output.out.fd);
	output.out.sink = output.pack ? pack_write : NULL;
	output.out.sink_to = output.pack;
	return error;
}

int cli_redirect(const char *path)
{
	return redirect(path, path ? pack_named(path) : PACK_NONE);
}

int cli_redirect_gzipped(const char *path)
{
	return redirect(path, PACK_GZIP);
}

/* Prints a message with control characters escaped, since it may quote names from a trace. */
static void print_message(const char *command, const char *text)
{
	char safe[2000];

	show_safe(safe, sizeof(safe), text, sizeof(safe));
	if (command)
		fprintf(stderr, "memtrace: %s: %s\n", command, safe);
	else
		fprintf(stderr, "memtrace: %s\n", safe);
}

int cli_say(int status, const char *format, ...)
{
	char text[1000];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	/* stdout and stderr may be one file, so earlier output is written before the message. */
	out_flush(&output.out);
	print_message(output.command, text);
	return status;
}

int cli_fail(int status)
{
	return cli_say(status, "%s", err_text());
}

static int dispatch(int argc, char **argv)
{
	static char help[] = "--help";
	char libraries[PACKED_LIBRARIES], own[PATH_MAX], library[PATH_MAX];
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct command *command;

	if (!word) {
		cli_help(0, NULL);
		return STATUS_USAGE;
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version")) {
		packed_libraries(libraries);
		out_format(cli_out(), "memtrace " MEMTRACE_VERSION "\n%s\n%s\n%s\n",
			   realpath("/proc/self/exe", own) ? own : "no /proc/self/exe",
			   library_find(library) ? err_text() : library, libraries);
		return STATUS_DONE;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h") ||
	    (!strcmp(word, "help") && (argc < 3 || argv[2][0] == '-'))) {
		output.command = "help";
		return cli_help(argc - 1, argv + 1);
	}
	if (!strcmp(word, "help")) { /* "memtrace help run" becomes "memtrace run --help" */
		argv[1] = argv[2];
		argv[2] = help;
		word = argv[1];
		argc = 3;
	}
	if (word[0] == '-')
		return cli_usage("there is no option %s; see memtrace --help", word);
	command = args_choose("command", word, commands, sizeof(commands[0]));
	if (!command)
		return STATUS_USAGE;
	output.command = command->name;
	return command->run(argc - 1, argv + 1);
}

/* Flushes and closes the output. Returns `status`, or STATUS_UNREADABLE if that fails. */
static int close_output(int status)
{
	int error = out_flush(&output.out);
	int ended = output.pack ? pack_end(output.pack) : 0;

	if (!error)
		error = ended;
	if (close(output.out.fd) && !error && (errno != EBADF || output.out.written))
		error = -errno;
	if (!error)
		return status;
	err("%s could not be written: %s", output.path ? output.path : "standard output",
	    strerror(-error));
	print_message(NULL, err_text());
	return status == STATUS_DONE || status == STATUS_NO ? STATUS_UNREADABLE : status;
}

static __attribute__((noreturn)) void end_out_of_memory(void)
{
	err("no memory left");
	exit(close_output(cli_fail(STATUS_UNREADABLE)));
}

int main(int argc, char **argv)
{
	err_out_of_memory = end_out_of_memory;
	out_init(&output.out, STDOUT_FILENO, output.buffer, sizeof(output.buffer));
	return close_output(dispatch(argc, argv));
}
