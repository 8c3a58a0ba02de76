/*
 * The curve of a scope: allocated, reserved and used over time in at most CURVE_POINTS stretches of
 * equal length that double when they no longer fit. Each keeps both maxima, so no peak is ever
 * lost.
 */
#ifndef LEDGER_CURVE_H
#define LEDGER_CURVE_H

#include "spool/spool.h"

enum {
	CURVES_MAX = 64,        /* scopes that get one: half a MiB each */
	CURVE_FIRST_SHIFT = 10, /* stretches begin as 1,024 ns */
};

/* Gives the scope a curve, if one is left. 0, or an error of spool_need(). */
int curve_open(struct spool *spool, struct spool_scope *scope);

/* Enters the scope's sums as they are now, at time t (ns). */
void curve_add(struct spool *spool, struct spool_scope *scope, uint64_t t);

/*
 * In a copy of a dead process's spool: finishes what it was drawing. Only the last point of a curve
 * can be half written, and only with the sums as they still are.
 */
void curve_settle(struct spool *spool);

/* The points of the scope's curve, and how many. */
unsigned curve_points(const struct spool *spool, const struct spool_scope *scope);
const struct spool_point *curve_point(const struct spool *spool, const struct spool_scope *scope,
				      unsigned index);

#endif
