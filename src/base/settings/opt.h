/*
 * The settings: the rows of opt.def as an enum, read from the environment.
 *
 * The tool passes a setting to the library only as MEMTRACE_<NAME>; both read it by the same rows.
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

/* Reads every MEMTRACE_* variable and keeps the values; called once in a process. A value that
 * cannot be parsed leaves the default, and opt_trouble() names its variable. */
void opt_read(void);

/* The value of a TEXT row (valid as long as the process), of a FLAG row, of a COUNT row. */
const char *opt_text(enum opt_id id);
bool opt_flag(enum opt_id id);
uint64_t opt_count(enum opt_id id);

/* Parses "10min", "1GiB" or both with a comma between: a time in ns (s, min, h, d) and a number of
 * bytes; 0 for the one that is missing. Returns 0, or -EINVAL. */
int opt_parse_keep(const char *text, uint64_t *ns, uint64_t *bytes);

/* The signal that the user chose, and its effect. */
enum signal_does {
	SIGNAL_TOGGLES, /* stops or starts recording */
	SIGNAL_MARKS,
	SIGNAL_DUMPS, /* writes the trace of everything recorded so far */
};

struct signal_choice {
	int signal; /* 0: none */
	enum signal_does does;
};

/* Parses "USR2", "SIGUSR2:toggle", "HUP:mark", "USR1:dump", or "" for none. False for any other
 * text; *choice is none then. */
bool signal_choice_parse(const char *text, struct signal_choice *choice);

/* True if the row's text is not its default. */
bool opt_given(enum opt_id id);

/* True if the row can have the value. `count` becomes that of a FLAG or COUNT row, else 0. */
bool opt_parse(enum opt_id id, const char *value, uint64_t *count);

/* The name of the first variable whose value was refused by opt_read(), or NULL. */
const char *opt_trouble(void);
