/*
 * Which rank of a distributed job this process is, as its launcher tells it
 * (base/settings/launchers.def).
 *
 * Texts are the environment's own: decimal digits, not to be kept across setenv(). No allocation.
 */
#ifndef BASE_SETTINGS_RANK_H
#define BASE_SETTINGS_RANK_H

enum rank_fact {
	RANK_NUMBER, /* from 0 */
	RANK_WORLD,  /* how many the job has */
	RANK_LOCAL,  /* from 0 on this host */
	RANK_FACTS
};

/* NULL when no launcher tells it; all facts are told by one that tells the same RANK_NUMBER. */
const char *rank_fact(enum rank_fact fact);

#endif
