/*
 * Paths of a trace and of its spool (the mapped file of a recording), and the rank of this process.
 * libmemtrace.so writes these files and the tool finds them by the same functions.
 *
 * Nothing is allocated. A function that returns int returns 0 or -errno: -ENAMETOOLONG or -ERANGE
 * if the result does not fit into `size` bytes.
 */
#pragma once

#include <stddef.h>

/* The texts that path_expand() inserts for %p, %h, %r and %e; see there for members that are
 * NULL. */
struct path_words {
	const char *pid, *host, *rank, *program;
};

/*
 * Expands %p (pid), %h (host), %r (rank), %e (the program's base name) and %% in a pattern. A NULL
 * in `words` stands for this process's pid, host name or rank (0 without a launcher), but leaves %e
 * unchanged. A relative pattern gets the working directory before it. A % before any other
 * character is unchanged.
 */
int path_expand(char *to, size_t size, const char *pattern, const struct path_words *words);

/* Writes the path of an output's spool: next to the output, or in spool_dir if not NULL or "". */
int path_spool(char *to, size_t size, const char *output, const char *spool_dir);

/* Returns the end of `output` from ".json" on (".json", ".json.gz", ".json.zst"), or "". */
const char *path_extension(const char *output);

/* Writes `output`, with n before the extension if n > 0, as in memtrace.5.1.json for n = 1. */
int path_numbered(char *to, size_t size, const char *output, unsigned n);

/* Numbers of this process in a distributed job, from its launcher's variables (launchers.def). */
enum rank_fact {
	RANK_NUMBER, /* the rank of this process in the job, from 0 */
	RANK_WORLD,  /* the number of ranks in the job */
	RANK_LOCAL,  /* the rank among the job's processes on this host, from 0 */
	RANK_FACTS
};

/* Returns the number as decimal digits (a pointer into the environment, valid until setenv()); NULL
 * if no launcher sets it. If the first launcher's variables lack the number, those of other
 * launchers with the same RANK_NUMBER are read. */
const char *rank_fact(enum rank_fact fact);
