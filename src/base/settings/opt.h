/*
 * The settings: the rows of opt.def as an enum, read from the environment.
 *
 * The tool hands a setting to the library only as MEMTRACE_<NAME>; both sides read the same rows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_kind {
	OPT_TEXT,
	OPT_FLAG,
	OPT_COUNT,
	OPT_DEPTH,  /* of stacks, 1 to OPT_DEPTH_MAX */
	OPT_KEEP,   /* opt_parse_keep() */
	OPT_SIGNAL, /* signal_choice_parse() */
	OPT_FILTER, /* filter.h */
};

enum { OPT_DEPTH_MAX = 256 };

enum opt_id {
#define OPTION(name, env, kind, value, help) OPT_ID_##name,
#include "base/settings/opt.def"
#undef OPTION
	OPT_IDS
};

struct opt_row {
	char name[14];  /* as the program spells it: stack_depth */
	char env[14];   /* what follows MEMTRACE_ in the environment */
	char value[20]; /* the default, as text */
	enum opt_kind kind;
};

extern const struct opt_row opt_rows[OPT_IDS];

/* Reads every MEMTRACE_* variable, and keeps what it read: once in a process. A bad value keeps
 * the default and is kept for opt_trouble(). */
void opt_read(void);

/* The value of a TEXT row (lives as long as the process), of a FLAG row, of a COUNT row. */
const char *opt_text(enum opt_id id);
bool opt_flag(enum opt_id id);
uint64_t opt_count(enum opt_id id);

/*
 * Parses "10min", "1GiB" or both with a comma between: how long, in ns (s, min, h, d), and how many
 * bytes; 0 for what is not said. 0, or -EINVAL.
 */
int opt_parse_keep(const char *text, uint64_t *ns, uint64_t *bytes);

/* The signal that the user chose, and what it does. */
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

/* Was the row set to other than its default, by its text? */
bool opt_given(enum opt_id id);

/* Is the value one for the row? `count` becomes that of a FLAG or COUNT row, else 0. */
bool opt_parse(enum opt_id id, const char *value, uint64_t *count);

/* The name of the first variable whose value was refused by opt_read(), or NULL. */
const char *opt_trouble(void);
