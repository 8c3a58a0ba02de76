/*
 * The paths of a trace and its spool, computed alike by the library, which writes them, and by the
 * tool, which finds them.
 *
 * No allocation. Each returns 0, or -ENAMETOOLONG when the result does not fit into `size` bytes.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* The words for a pattern's letters. NULL: this process's own word, but %e stays. */
struct path_words {
	const char *pid;     /* %p */
	const char *host;    /* %h */
	const char *rank;    /* %r */
	const char *program; /* %e */
};

/*
 * Expands %p (pid), %h (host), %r (rank), %e (the program's base name) and %% in a pattern. Words
 * that are NULL become this process's pid and host, and the rank of rank_fact(), else 0; %e stays.
 * A relative result is taken from the working directory. A % before any other character stays as it
 * is.
 */
int path_expand(char *to, size_t size, const char *pattern, const struct path_words *words);

/* The spool of an output: beside it, or in spool_dir unless that is NULL or "". */
int path_spool(char *to, size_t size, const char *output, const char *spool_dir);

/* The extension of an output: ".json", or that of a compressed one; else "". */
const char *path_extension(const char *output);

/* The n-th name for the same output: memtrace.5.json, memtrace.5.1.json, memtrace.5.2.json ... */
int path_numbered(char *to, size_t size, const char *output, unsigned n);

/*
 * Facts about this process in a distributed job, from the variables of its launcher
 * (base/text/launchers.def). The texts are the environment's own: decimal digits, not to be kept
 * across setenv().
 */
enum rank_fact {
	RANK_NUMBER, /* from 0 */
	RANK_WORLD,  /* the number of ranks in the job */
	RANK_LOCAL,  /* from 0 on this host */
	RANK_FACTS
};

/* NULL when no launcher gives it. All facts come from launchers that give the same RANK_NUMBER. */
const char *rank_fact(enum rank_fact fact);
