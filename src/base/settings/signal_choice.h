/* The signal that the user chose, and what it does: the value of MEMTRACE_SIGNAL. */
#ifndef BASE_SETTINGS_SIGNAL_CHOICE_H
#define BASE_SETTINGS_SIGNAL_CHOICE_H

#include <stdbool.h>

enum signal_does {
	SIGNAL_TOGGLES, /* recording on or off */
	SIGNAL_MARKS,
	SIGNAL_DUMPS, /* the trace of what was recorded so far */
};

struct signal_choice {
	int signal; /* 0: none */
	enum signal_does does;
};

/*
 * "USR2", "SIGUSR2:toggle", "HUP:mark", "USR1:dump", "" for none. False when it makes no sense;
 * *choice is none then.
 */
bool signal_choice_parse(const char *text, struct signal_choice *choice);

#endif
