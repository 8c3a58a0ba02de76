/*
 * The parts of `memtrace top`: the session, the processes that it looks at, the terminal, and the
 * server for Prometheus.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#include "analyse/live/live_view.h"

/* --- the session: looks, and shows a page, on a terminal, as JSON or for Prometheus --- */

enum { TOP_LINES_MOST = 10000 };

struct top_options {
	bool once, json;
	const char *hosts[65];  /* names of this host beside its own; ended by NULL */
	const char *prometheus; /* a file or an address (top_server_is_address()), or NULL */
	uint64_t interval;      /* ns */
	bool paced;             /* an interval was given */
	unsigned lines;         /* of source of each process */
	enum live_view_order order;
};

/*
 * Looks until all processes have ended, or a key or signal ends it. Returns a status of
 * statuses.def after a message on stderr. `operands` are pids and spools, ended by NULL; none:
 * every process of this user.
 */
int top_session(const struct top_options *options, char **operands);

/* --- the processes: found, opened, looked at, and left when they end --- */

struct top_targets {
	char **words; /* pids and spools, NULL at the end; none: every process of this user */
	struct look **looks; /* by pid */
	size_t count, size;
	uint64_t searched_at; /* ns, CLOCK_MONOTONIC */
	char said[1000];      /* the last error, or the end of a process; "" for none */
	bool failed;          /* an error occurred */
};

/* Finds and opens them. Returns a status of statuses.def, with err_text() unless it is STATUS_DONE.
 * STATUS_NO: no process was named, and none was found. */
int top_targets_open(struct top_targets *targets, char **words);

/* Looks at all of them. A process that ended is removed at the next look, a spool that can no
 * longer be read at once. Every few seconds it searches for processes that began meanwhile. */
void top_targets_look(struct top_targets *targets);

void top_targets_sort(struct top_targets *targets, enum live_view_order order);
void top_targets_close(struct top_targets *targets);

/* --- the terminal: the alternate screen and keys without Enter; both are given back however the
 * program ends (but for SIGKILL) --- */

struct top_screen {
	int fd, keys;  /* terminals: written to, read from */
	int signals;   /* a signalfd */
	sigset_t mask; /* as it was */
	struct termios before;
	bool shown;
};

enum top_event {
	TOP_TIME, /* the time is over */
	TOP_KEY,
	TOP_RESIZED,
	TOP_SIGNAL, /* that ends the program: call top_screen_close(), then raise it */
	TOP_GONE,   /* the terminal was closed */
};

/* 0 or -errno. From here on top_screen_wait() returns the signals that end, stop or resize. */
int top_screen_open(struct top_screen *screen, int fd, int keys);
void top_screen_close(struct top_screen *screen);

void top_screen_size(const struct top_screen *screen, unsigned *columns, unsigned *rows);

/* Waits for at most `ns`; *what is the key or the signal. */
enum top_event top_screen_wait(struct top_screen *screen, uint64_t ns, int *what);

/*
 * --- a server of one page: GET /metrics over HTTP/1.1, for Prometheus, to few clients at a time
 * ---
 *
 * Everybody who can reach the address may read the page, and can do no more: requests are bounded
 * in bytes and time, and everything but a plain request is answered with 400 and closed.
 */

/* Returns the page in memory from malloc(), which the server frees; NULL without memory. */
typedef char *top_page_fn(void *context, size_t *length);

/* True for an address: ":9400", "0.0.0.0:9400", "[::1]:9400", "localhost:9400". */
bool top_server_is_address(const char *text);

/*
 * Serves until a signal ends the process. Returns only on an error: -EINVAL with err_text().
 * Without a host the address is 127.0.0.1; with port 0 a free port is taken; the address is printed
 * on stderr. `hosts`, ended by NULL, are names of this host besides its own (top_request.h).
 */
int top_server_run(const char *address, const char *const *hosts, top_page_fn *page, void *context);
