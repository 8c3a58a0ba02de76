/*
 * Where a trace and its spool lie: one computation for the library that writes and the tool that
 * finds.
 *
 * No allocation. Each returns 0, or -ENAMETOOLONG when the result does not fit into `size` bytes.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* What the letters of a pattern stand for; NULL stands for this process's own, but %e stays then.
 */
struct path_words {
	const char *pid;     /* %p */
	const char *host;    /* %h */
	const char *rank;    /* %r */
	const char *program; /* %e */
};

/*
 * Expands %p (pid), %h (host), %r (rank) and %e (the program's base name) by the words, and %% in a
 * pattern. Of words that are NULL the pid and the host are this process's, the rank is that of
 * rank_fact(), else 0, and %e stays. A relative result is resolved against the working
 * directory; what else follows a % stays as it is.
 */
int path_expand(char *to, size_t size, const char *pattern, const struct path_words *words);

/* The spool of an output: beside it, or in spool_dir unless that is NULL or "". */
int path_spool(char *to, size_t size, const char *output, const char *spool_dir);

/* Where the extension of an output begins: ".json", or that of a compressed one; else "". */
const char *path_extension(const char *output);

/* The n-th name for the same output: memtrace.5.json, memtrace.5.1.json, memtrace.5.2.json ... */
int path_numbered(char *to, size_t size, const char *output, unsigned n);

/*
 * Which rank of a distributed job this process is, as its launcher tells it
 * (base/text/launchers.def). Texts are the environment's own: decimal digits, not to be kept
 * across setenv().
 */
enum rank_fact {
	RANK_NUMBER, /* from 0 */
	RANK_WORLD,  /* how many the job has */
	RANK_LOCAL,  /* from 0 on this host */
	RANK_FACTS
};

/* NULL when no launcher tells it; all facts are told by one that tells the same RANK_NUMBER. */
const char *rank_fact(enum rank_fact fact);
