/*
 * The settings, which opt.def lists: their ids, and their values from the environment.
 *
 * `memtrace run` passes a setting to the library as MEMTRACE_<NAME>; both parse it by this code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum opt_kind {
	OPT_TEXT,
	OPT_FLAG,
	OPT_COUNT,
	OPT_STACKS, /* kinds of frames: the bits STACKS_NATIVE and STACKS_PYTHON */
	OPT_DEPTH,  /* the maximum number of native frames in a stack, 1 to OPT_DEPTH_MAX */
	OPT_KEEP,   /* a time, a size or both: opt_parse_keep() */
	OPT_SIGNAL, /* a signal and its effect: signal_choice_parse() */
	OPT_FILTER, /* a filter of events: filter.h */
};

enum { OPT_DEPTH_MAX = 256, STACKS_NATIVE = 1, STACKS_PYTHON = 2 };

enum opt_id {
#define OPTION(name, env, kind, value, help) OPT_ID_##name,
#include "base/settings/opt.def"
	OPT_IDS
};

struct opt_row {
	char name[14];  /* stack_depth for the option --stack-depth */
	char env[14];   /* the environment variable without MEMTRACE_ */
	char value[20]; /* the default, as text */
	enum opt_kind kind;
};

extern const struct opt_row opt_rows[OPT_IDS];

/* Reads all MEMTRACE_* variables and copies their values; called once in a process. A value that
 * is invalid, or has no room, is replaced by the default; see opt_trouble(). */
void opt_read(void);

/* Return a setting's value: as text (valid until the process ends), as a flag, as a number. */
const char *opt_text(enum opt_id id);
bool opt_flag(enum opt_id id);
uint64_t opt_count(enum opt_id id);

/* Parses "10min", "1GiB" or both with a comma between: a time (s, min, h, d) into ns and a size
 * into bytes; the one that is not given becomes 0. Returns 0, or -EINVAL. */
int opt_parse_keep(const char *text, uint64_t *ns, uint64_t *bytes);

enum signal_does {
	SIGNAL_TOGGLES, /* stops recording if it is on, else starts it */
	SIGNAL_MARKS,
	SIGNAL_DUMPS, /* writes the trace of everything recorded so far */
};

struct signal_choice {
	int signal; /* 0: no signal was chosen */
	enum signal_does does;
};

/* Parses a signal and perhaps an effect ("USR2", "SIGHUP:mark"), or "" for no signal. False if the
 * text is invalid; choice->signal is 0 then. */
bool signal_choice_parse(const char *text, struct signal_choice *choice);

/* True if the setting's text differs from its default. */
bool opt_given(enum opt_id id);

/* True if `value` is valid. Sets *count: to a number, to 0 or 1 for a flag, to the bits of
 * OPT_STACKS, or to 0 for settings of other kinds. */
bool opt_parse(enum opt_id id, const char *value, uint64_t *count);

/* Returns the variable (without MEMTRACE_) whose value opt_read() refused first, or NULL. */
const char *opt_trouble(void);
