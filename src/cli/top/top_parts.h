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
	const char *prometheus; /* a file, or an address as top_server_is_address() says; NULL */
	uint64_t interval;      /* ns */
	bool paced;             /* an interval was given */
	unsigned lines;         /* of source of each process */
	enum live_view_order order;
};

/*
 * Looks until it is over, or a key or signal ends it: a status of statuses.def, having said on
 * stderr what was wrong. `operands` are pids and spools, ended by NULL; none: every process of this
 * user.
 */
int top_session(const struct top_options *options, char **operands);

/* --- the processes: found, opened, looked at, and left when they end --- */

struct top_targets {
	char **words; /* pids and spools, NULL at the end; none: every process of this user */
	struct look **looks; /* by pid */
	size_t count, size;
	uint64_t searched_at; /* ns, CLOCK_MONOTONIC */
	char said[1000];      /* the last trouble, or end of a process; "" for none */
	bool failed;          /* it was trouble */
};

/*
 * Finds and opens them: a status of statuses.def, with err_text() unless it is STATUS_DONE. Having
 * found none is STATUS_NO where none was named.
 */
int top_targets_open(struct top_targets *targets, char **words);

/*
 * Looks at all of them. Those that ended are left a look later, and what can no longer be read at
 * once; every few seconds processes that began meanwhile are looked for.
 */
void top_targets_look(struct top_targets *targets);

void top_targets_sort(struct top_targets *targets, enum live_view_order order);
void top_targets_close(struct top_targets *targets);

/*
 * --- the terminal: the alternate screen and keys without Enter; both are given back however the
 * program ends (but for SIGKILL) ---
 */

struct top_screen {
	int fd, keys;  /* terminals: written to, read from */
	int signals;   /* a signalfd */
	sigset_t mask; /* as it was */
	struct termios before;
	bool shown;
};

/* What top_screen_wait() came back for. */
enum top_event {
	TOP_TIME, /* it is over */
	TOP_KEY,
	TOP_RESIZED,
	TOP_SIGNAL, /* one that ends: top_screen_close(), then raise it */
	TOP_GONE,   /* nobody is at the terminal any more */
};

/* 0 or -errno. From here on the signals that end, stop or resize come through
 * top_screen_wait(). */
int top_screen_open(struct top_screen *screen, int fd, int keys);
void top_screen_close(struct top_screen *screen);

void top_screen_size(const struct top_screen *screen, unsigned *columns, unsigned *rows);

/* Waits for so many ns; *what is the key or the signal. */
enum top_event top_screen_wait(struct top_screen *screen, uint64_t ns, int *what);

/*
 * --- a server of one page: GET /metrics over HTTP/1.1, for Prometheus, to few clients at a time
 * ---
 *
 * Everybody who can reach the address may read the page, and can do no more: requests are bounded
 * in bytes and time, and everything but a plain request is answered with 400 and closed.
 */

/* The page, in memory from malloc() that the server frees; NULL without memory. */
typedef char *top_page_fn(void *context, size_t *length);

/* Is it an address: ":9400", "0.0.0.0:9400", "[::1]:9400", "localhost:9400"? */
bool top_server_is_address(const char *text);

/*
 * Serves until a signal ends the process: only fails, with -EINVAL and err_text(). Without a host
 * the address is 127.0.0.1, and with port 0 one that is free; what it is is said on stderr.
 * `hosts`, ended by NULL, are names that clients may know this host by beside its own
 * (top_request.h).
 */
int top_server_run(const char *address, const char *const *hosts, top_page_fn *page, void *context);
