/* memtrace top: the processes that are traced right now, live. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyse/error.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/top_screen.h"
#include "cli/top_server.h"
#include "cli/top_targets.h"
#include "render/top.h"

static const char about_head[] =
	"Looks at processes that are being traced, without touching them: what they have\n"
	"allocated and reserved, what the driver says is used (the last sample), the lines of\n"
	"source that hold most, the ranges that are open. PID is a process, or the spool of one;\n"
	"without it, all of this user's are shown. Figures come from the spool, which is only\n"
	"read.\n"
	"\n"
	"On a terminal the page is redrawn; elsewhere it is printed again and again. It ends\n"
	"when the processes that were named have ended. Rates are of the time between two looks:\n"
	"--once has none unless --interval is given too, and then looks twice.\n"
	"\n"
	"--prometheus FILE writes a file for node_exporter's textfile collector at each look,\n"
	"complete at any moment. --prometheus :PORT serves http://127.0.0.1:PORT/metrics and\n"
	"looks when it is asked; ADDRESS:PORT serves to whoever reaches that address.\n"
	"\n"
	"It ends with 0 also when a process ends while it is looked at; with 1 when --once finds\n"
	"no process that is traced; with 3 when one that was named is not there, is not traced,\n"
	"or has a spool that cannot be read.\n"
	"\n"
	"Keys: q ends, + and - show more and fewer lines of source, and for the order of these:\n";

enum {
	DEFAULT_LINES = 20,
	MOST_LINES = 10000,
	SERVED_MS = 100, /* a page that is younger is served again */
	LONGEST_INTERVAL = 86400,
};

struct options {
	bool once, json;
	const char *prometheus;
	uint64_t interval; /* ns */
	bool paced;        /* an interval was given */
	unsigned lines;
	enum look_order order;
};

struct session {
	struct top_targets targets;
	struct options options;
	uint64_t served_at;
};

static struct top top_of(const struct session *session)
{
	return (struct top){ session->targets.looks, session->targets.count,
			     session->options.lines };
}

static void look(struct session *session)
{
	top_targets_look(&session->targets);
	top_targets_sort(&session->targets, session->options.order);
}

/* Have the processes that were named all ended? Without names others may begin at any time. */
static bool is_over(const struct session *session)
{
	return !session->targets.count && session->targets.words[0];
}

/* What was said of the last one, when it is all over: that it has ended is no trouble. */
static int end(const struct session *session)
{
	if (!is_over(session))
		return STATUS_DONE;
	err("%s", session->targets.said);
	return cli_fail("top", session->targets.failed ? STATUS_UNREADABLE : STATUS_DONE);
}

static void wait_for(uint64_t ns)
{
	struct timespec wait = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&wait, NULL);
}

/* --- Prometheus --- */

/* The page in memory from malloc(), NULL without. */
static char *page_in_memory(const struct session *session, size_t *length)
{
	char buffer[4096];
	struct top top = top_of(session);
	int fd = memfd_create("top", MFD_CLOEXEC);
	struct out out;
	char *page = NULL;

	if (fd < 0)
		return NULL;
	out_init(&out, fd, buffer, sizeof(buffer));
	top_prometheus(&top, &out);
	if (!out_flush(&out) && !lseek(fd, 0, SEEK_SET))
		page = malloc(out.written + 1);
	if (page)
		*length = (size_t)fd_read_all(fd, page, out.written);
	close(fd);
	return page;
}

static char *serve_page(void *context, size_t *length)
{
	struct session *session = context;
	uint64_t now = clock_now();

	if (now - session->served_at > SERVED_MS * 1000000ull) {
		look(session);
		session->served_at = now;
	}
	return page_in_memory(session, length);
}

/* The file is complete at any moment: its collector may read it now. */
static int write_file(const struct session *session, const char *path)
{
	char partial[4096];
	size_t length = 0;
	char *page = page_in_memory(session, &length);
	int fd = -1;
	int error = page ? 0 : -ENOMEM;

	if (!error && text_join(partial, sizeof(partial), path, ".XXXXXX") + 1 >= sizeof(partial))
		error = -ENAMETOOLONG;
	if (!error) {
		fd = mkostemp(partial, O_CLOEXEC);
		error = fd < 0 ? -errno : fd_write_all(fd, page, length);
	}
	if (!error && (fchmod(fd, 0644) || rename(partial, path)))
		error = -errno;
	if (fd >= 0 && error)
		unlink(partial);
	if (fd >= 0)
		close(fd);
	free(page);
	return error ? err("%s: cannot be written: %s", path, strerror(-error)) : 0;
}

static int run_prometheus(struct session *session)
{
	const struct options *options = &session->options;

	if (top_server_is_address(options->prometheus)) {
		if (top_server_run(options->prometheus, serve_page, session))
			return cli_fail("top", STATUS_UNREADABLE);
		return STATUS_DONE;
	}
	for (;;) {
		if (write_file(session, options->prometheus))
			return cli_fail("top", STATUS_UNREADABLE);
		if (options->once || is_over(session))
			return options->once ? STATUS_DONE : end(session);
		wait_for(options->interval);
		look(session);
	}
}

/* --- text --- */

static void print(const struct session *session)
{
	struct top_page page = { .columns = 160, .colour = cli_colour(cli_out()->fd) };
	struct top top = top_of(session);

	if (session->options.json)
		top_json(&top, cli_out());
	else
		top_text(&top, cli_out(), &page);
}

static int run_plain(struct session *session)
{
	const struct options *options = &session->options;

	if (options->once && options->paced) {
		wait_for(options->interval);
		look(session);
	}
	for (;;) {
		if (is_over(session))
			return end(session);
		print(session);
		if (out_flush(cli_out()) || options->once)
			return STATUS_DONE;
		wait_for(options->interval);
		look(session);
		if (!options->json)
			out_char(cli_out(), '\n');
	}
}

/* --- the terminal --- */

static void draw(const struct session *session, const struct top_screen *screen)
{
	char note[1200];
	struct top_page page = { .colour = cli_colour(screen->fd), .note = note, .erase = true };
	struct top top = top_of(session);

	snprintf(note, sizeof(note), "memtrace top, every %.3g s; q ends%s%s%s",
		 (double)session->options.interval / 1e9,
		 session->targets.count ? "" : "; no process is traced",
		 session->targets.said[0] ? "; " : "", session->targets.said);
	top_screen_size(screen, &page.columns, &page.rows);
	page.rows = page.rows > 1 ? page.rows - 1 : 1;
	out_text(cli_out(), "\033[H");
	top_text(&top, cli_out(), &page);
	out_text(cli_out(), "\033[J");
	out_flush(cli_out());
}

/* False when it is the one that ends. */
static bool take_key(struct session *session, int key)
{
	struct options *options = &session->options;

	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case '+':
		options->lines = options->lines < MOST_LINES / 2 ? options->lines * 2 : MOST_LINES;
		break;
	case '-':
		options->lines = options->lines > 1 ? options->lines / 2 : 1;
		break;
#define ORDER(name, letter, what)                   \
	case letter:                                \
		options->order = LOOK_ORDER_##name; \
		break;
#include "analyse/look_orders.def"
#undef ORDER
	default:
		break;
	}
	top_targets_sort(&session->targets, options->order);
	return true;
}

/* Redraws until a key or signal ends it, or it is over. The signal, 0 for none. */
static int follow(struct session *session, struct top_screen *screen)
{
	uint64_t next = clock_now() + session->options.interval;

	draw(session, screen);
	while (!is_over(session) && !cli_out()->error) {
		uint64_t now = clock_now();
		int what = 0;

		switch (top_screen_wait(screen, next > now ? next - now : 0, &what)) {
		case TOP_SIGNAL:
			return what;
		case TOP_GONE:
			return 0;
		case TOP_KEY:
			if (!take_key(session, what))
				return 0;
			break;
		case TOP_TIME:
		case TOP_RESIZED:
			break;
		}
		if (clock_now() >= next) {
			look(session);
			next = clock_now() + session->options.interval;
		}
		draw(session, screen);
	}
	return 0;
}

static int run_screen(struct session *session)
{
	struct top_screen screen;
	int error = top_screen_open(&screen, STDOUT_FILENO, STDIN_FILENO);
	int number;

	if (error) {
		err("the terminal cannot be used: %s", strerror(-error));
		return cli_fail("top", STATUS_UNREADABLE);
	}
	number = follow(session, &screen);
	top_screen_close(&screen);
	if (number) {
		signal(number, SIG_DFL);
		raise(number);
	}
	return end(session);
}

/* --- the command --- */

struct words {
	const char *interval, *lines, *sort;
};

/* "0.5", "2", "2s", "500ms": ns. False after complaint. */
static bool read_interval(const char *text, uint64_t *ns)
{
	char *rest;
	double seconds = strtod(text, &rest);

	if (!strcmp(rest, "ms"))
		seconds /= 1000;
	if (rest == text || (*rest && strcmp(rest, "s") != 0 && strcmp(rest, "ms") != 0) ||
	    !(seconds >= 0.01 && seconds <= LONGEST_INTERVAL)) {
		cli_usage("top", "--interval: %s is no time from 10ms to %ds", text,
			  LONGEST_INTERVAL);
		return false;
	}
	*ns = (uint64_t)(seconds * 1e9);
	return true;
}

static bool read_order(const char *text, enum look_order *order)
{
	static const char *const names[] = {
#define ORDER(name, key, what) #name,
#include "analyse/look_orders.def"
#undef ORDER
	};

	for (enum look_order i = 0; i < LOOK_ORDERS; i++) {
		if (!strcmp(text, names[i])) {
			*order = i;
			return true;
		}
	}
	cli_usage("top", "--sort: %s is not one of bytes, count, rate", text);
	return false;
}

/* False after complaint. */
static bool read_words(struct options *options, const struct words *words)
{
	uint64_t lines = DEFAULT_LINES;

	options->interval = 1000000000;
	options->paced = words->interval != NULL;
	if (words->interval && !read_interval(words->interval, &options->interval))
		return false;
	if (words->lines && !args_count("top", "lines", words->lines, MOST_LINES, &lines))
		return false;
	options->lines = (unsigned)lines;
	if (options->json && options->prometheus) {
		cli_usage("top", "--json and --prometheus are two outputs: one at a time");
		return false;
	}
	return !words->sort || read_order(words->sort, &options->order);
}

static int run(struct session *session, char **operands)
{
	const struct options *options = &session->options;
	bool terminal = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
	bool waits = !options->once;
	int status = top_targets_open(&session->targets, operands);

	/* Processes may still begin, where the user waits for them. */
	if (status == STATUS_NO && waits)
		status = STATUS_DONE;
	if (status != STATUS_DONE) {
		cli_fail("top", status);
	} else {
		top_targets_sort(&session->targets, options->order);
		if (options->prometheus)
			status = run_prometheus(session);
		else if (options->once || options->json || !terminal)
			status = run_plain(session);
		else
			status = run_screen(session);
	}
	top_targets_close(&session->targets);
	return status;
}

static void write_about(char *about, size_t size)
{
	text_copy(about, size, about_head);
#define ORDER(name, key, what) \
	snprintf(about + strlen(about), size - strlen(about), "  %c  %-6s %s\n", key, #name, what);
#include "analyse/look_orders.def"
#undef ORDER
}

int cmd_top(int argc, char **argv)
{
	static struct session session;
	struct options *options = &session.options;
	struct words words = { .interval = NULL };
	char about[3000];
	const struct arg args[] = {
		{ "interval", 'i', ARG_TEXT, "TIME",
		  "between two looks: 0.5, 2s, 500ms (default 1s)", NULL, &words.interval },
		{ "once", '1', ARG_FLAG, NULL, "one page, as it is now", &options->once, NULL },
		{ "json", 'j', ARG_FLAG, NULL,
		  "a document a look, as share/memtrace/top.schema.json says", &options->json,
		  NULL },
		{ "prometheus", 'p', ARG_TEXT, "FILE|[ADDRESS]:PORT", "for Prometheus, see above",
		  NULL, &options->prometheus },
		{ "lines", 'n', ARG_TEXT, "N", "lines of source of each process (default 20)", NULL,
		  &words.lines },
		{ "sort", 's', ARG_TEXT, "bytes|count|rate", "what the first lines are, see above",
		  NULL, &words.sort },
	};
	const struct usage usage = { "top", "[PID...]", about, args, sizeof(args) / sizeof(args[0]),
				     0,     1000,       false };
	enum args_result parsed;

	write_about(about, sizeof(about));
	parsed = args_parse(&usage, &argc, argv);
	if (parsed != ARGS_GO)
		return parsed == ARGS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (!read_words(options, &words))
		return STATUS_USAGE;
	return run(&session, argv + 1);
}
