/*
 * The terminal of `memtrace top`: the alternate screen and keys without Enter, given back however
 * the program ends (but for SIGKILL).
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

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
