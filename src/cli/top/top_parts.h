/* The parts of `memtrace top`: session, shown processes, terminal, server for Prometheus. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#include "analyse/live/live_view.h"

/* --- the session: reads the processes' spools and shows a page, again and again --- */

enum { TOP_LINES_MOST = 10000 };

struct top_options {
	bool once, json;
	const char *hosts[65];  /* values of --host, ended by NULL */
	const char *prometheus; /* value of --prometheus, a file or an address; NULL if not given */
	uint64_t interval;      /* ns between two readings */
	bool paced;             /* --interval was given */
	unsigned lines;         /* at most this many source lines are shown per process */
	enum live_view_order order;
};

/*
 * Shows pages until all processes of the operands have ended, or a key or signal ends the session;
 * with `once`, one page. `operands` are pids and paths of spools, ended by NULL; without any, all
 * processes of the user are shown. Returns an exit status, and prints why it is not STATUS_DONE.
 */
int top_session(const struct top_options *options, char **operands);

/* --- the processes that are shown --- */

struct top_targets {
	/* the operands (pids, paths of spools), ended by NULL; if none, all processes are shown */
	char **words;
	struct look **looks; /* the processes, sorted by pid */
	size_t count, size;
	uint64_t searched_at; /* time of the last search for processes: ns, CLOCK_MONOTONIC */
	char said[1000];      /* last message: an error or "process 5 has ended"; "" if none */
	bool failed;          /* a spool could not be read */
};

/* Finds the processes and opens their spools. Returns an exit status, with err_text() unless it is
 * STATUS_DONE; STATUS_NO means that no process was named and none was found. */
int top_targets_open(struct top_targets *targets, char **words);

/* Reads all spools again. A process that has ended is shown once more and then removed; a process
 * whose spool cannot be read is removed at once. Searches for new processes every few seconds. */
void top_targets_look(struct top_targets *targets);

void top_targets_sort(struct top_targets *targets, enum live_view_order order);
void top_targets_close(struct top_targets *targets);

/* --- the terminal: the alternate screen, and keys without Enter --- */

struct top_screen {
	int fd, keys;  /* terminals to write to and to read from */
	int signals;   /* a signalfd for the blocked signals */
	sigset_t mask; /* signal mask to restore */
	struct termios before;
	bool shown;
};

enum top_event {
	TOP_TIME, /* the time has passed without a key or signal */
	TOP_KEY,
	TOP_RESIZED,
	TOP_SIGNAL, /* memtrace must end: close the screen, then raise the signal again */
	TOP_GONE,   /* reading from the terminal failed */
};

/* Prepares the terminal. Blocks the signals that end or stop a program or announce a new size, for
 * top_screen_wait() to report them. Returns 0 or -errno. */
int top_screen_open(struct top_screen *screen, int fd, int keys);
void top_screen_close(struct top_screen *screen);

void top_screen_size(const struct top_screen *screen, unsigned *columns, unsigned *rows);

/* Waits at most `ns` nanoseconds for a key or a signal, which is stored in *what. */
enum top_event top_screen_wait(struct top_screen *screen, uint64_t ns, int *what);

/*
 * --- the server for Prometheus: answers GET /metrics over HTTP/1.1 to a few clients at a time ---
 *
 * Everybody who can reach the address can read the page, but nothing else: the bytes and the time
 * of a request are limited, and every request that is not well-formed is answered with 400.
 */

/* Returns the page, which the server frees with free(), or NULL if memory runs out. */
typedef char *top_page_fn(void *context, size_t *length);

/* True if the text is an address like ":9400", "0.0.0.0:9400", "[::1]:9400", "localhost:9400". */
bool top_server_is_address(const char *text);

/*
 * Serves the page until a signal ends the process; returns only after an error: -EINVAL with
 * err_text(). An address without a host means 127.0.0.1, port 0 a free port; the address is printed
 * on stderr. `hosts`, ended by NULL, are further names of this machine (top_request.h).
 */
int top_server_run(const char *address, const char *const *hosts, top_page_fn *page, void *context);
