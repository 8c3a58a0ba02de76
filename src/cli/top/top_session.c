/* The session of memtrace top: reads the processes' spools again and again, and shows them on a
 * terminal, as text, as JSON or for Prometheus. */
#include "cli/top/top_parts.h"

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

#include "analyse/input/error.h"
#include "base/guest/clock.h"
#include "base/text/fd.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "render/live/top.h"

enum { SERVED_MS = 100 }; /* ms for which a reading is served before the spools are read again */

struct session {
	struct top_targets targets;
	struct top_options options;
	uint64_t served_at;
};

static struct top top_of(const struct session *session)
{
	return (struct top){ session->targets.looks, session->targets.count,
			     session->options.lines };
}

static void look_at_processes(struct session *session)
{
	top_targets_look(&session->targets);
	top_targets_sort(&session->targets, session->options.order);
}

/* True if all named processes have ended; never without names, as new processes can begin. */
static bool is_over(const struct session *session)
{
	return !session->targets.count && session->targets.words[0];
}

static int end_session(const struct session *session)
{
	if (!is_over(session))
		return STATUS_DONE;
	return cli_say(session->targets.failed ? STATUS_UNREADABLE : STATUS_DONE, "%s",
		       session->targets.said);
}

static void wait_for_time(uint64_t ns)
{
	struct timespec wait = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&wait, NULL);
}

/* --- Prometheus --- */

/* Returns the page for Prometheus and its length; NULL if memory runs out. The caller frees it. */
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
		look_at_processes(session);
		session->served_at = now;
	}
	return page_in_memory(session, length);
}

/* Writes the page to the file by a rename, because a collector may read the file at any time. */
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
	const struct top_options *options = &session->options;

	if (top_server_is_address(options->prometheus)) {
		if (top_server_run(options->prometheus, options->hosts, serve_page, session))
			return cli_fail(STATUS_UNREADABLE);
		return STATUS_DONE;
	}
	for (;;) {
		if (write_file(session, options->prometheus))
			return cli_fail(STATUS_UNREADABLE);
		if (options->once || is_over(session))
			return options->once ? STATUS_DONE : end_session(session);
		wait_for_time(options->interval);
		look_at_processes(session);
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
	const struct top_options *options = &session->options;

	if (options->once && options->paced) {
		wait_for_time(options->interval);
		look_at_processes(session);
	}
	for (;;) {
		if (is_over(session))
			return end_session(session);
		print(session);
		if (out_flush(cli_out()) || options->once)
			return STATUS_DONE;
		wait_for_time(options->interval);
		look_at_processes(session);
		if (!options->json)
			out_char(cli_out(), '\n');
	}
}

/* --- the terminal --- */

static void draw_screen(const struct session *session, const struct top_screen *screen)
{
	char note[1200];
	struct top_page page = { .colour = cli_colour(screen->fd), .note = note, .erase = true };
	struct top top = top_of(session);

	snprintf(note, sizeof(note), "memtrace top, read every %.3g s; q quits%s%s%s",
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

static bool take_key(struct session *session, int key)
{
	struct top_options *options = &session->options;

	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case '+':
		options->lines =
			options->lines < TOP_LINES_MOST / 2 ? options->lines * 2 : TOP_LINES_MOST;
		break;
	case '-':
		options->lines = options->lines > 1 ? options->lines / 2 : 1;
		break;
#define ORDER(name, letter, by, what)               \
	case letter:                                \
		options->order = LOOK_ORDER_##name; \
		break;
#include "analyse/live/live_view_orders.def"
	default:
		break;
	}
	top_targets_sort(&session->targets, options->order);
	return true;
}

/* Redraws the screen until the session ends. Returns the signal that ended it, 0 if none did. */
static int follow(struct session *session, struct top_screen *screen)
{
	uint64_t next = clock_now() + session->options.interval;

	draw_screen(session, screen);
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
			look_at_processes(session);
			next = clock_now() + session->options.interval;
		}
		draw_screen(session, screen);
	}
	return 0;
}

static int run_screen(struct session *session)
{
	struct top_screen screen;
	int error = top_screen_open(&screen, STDOUT_FILENO, STDIN_FILENO);
	int number;

	if (error)
		return cli_say(STATUS_UNREADABLE, "the terminal cannot be used: %s",
			       strerror(-error));
	number = follow(session, &screen);
	top_screen_close(&screen);
	if (number) {
		signal(number, SIG_DFL);
		raise(number);
	}
	return end_session(session);
}

int top_session(const struct top_options *options, char **operands)
{
	struct session session = { .options = *options };
	bool terminal = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
	bool waits = !options->once;
	int status = top_targets_open(&session.targets, operands);

	/* No traced process was found; without --once, wait for the first to begin. */
	if (status == STATUS_NO && waits)
		status = STATUS_DONE;
	if (status != STATUS_DONE) {
		cli_fail(status);
	} else {
		top_targets_sort(&session.targets, options->order);
		if (options->prometheus)
			status = run_prometheus(&session);
		else if (options->once || options->json || !terminal)
			status = run_plain(&session);
		else
			status = run_screen(&session);
	}
	top_targets_close(&session.targets);
	return status;
}
