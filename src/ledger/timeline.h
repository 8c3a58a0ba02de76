/*
 * The curve of a scope (totals.h): allocated, reserved and used bytes over time, in at most
 * CURVE_POINTS stretches of equal length, which doubles when the curve is full. A stretch has the
 * highest allocated and reserved bytes in it, so no peak of these two is lost.
 */
#pragma once

#include "spool/spool.h"

enum {
	CURVES_MAX = 64,        /* maximum number of curves, of 512 KiB each */
	CURVE_FIRST_SHIFT = 10, /* the first stretches last 1,024 ns */
};

/* Gives the scope a curve, unless CURVES_MAX are in use. Returns 0, or an error of spool_need(). */
int timeline_open(struct spool *spool, struct spool_scope *scope);

/* Caches the point of a scope's curve that was changed last, which most events change again. */
struct timeline_pen {
	const struct spool_scope *scope; /* NULL if no point is cached */
	struct spool_point *point;
	uint64_t state; /* scope->curve_state when cached; if it differs now, the cache is stale */
	uint64_t until; /* end of the time that the point covers, ns */
};

/* Adds the scope's current sums to its curve at time t (ns), and caches the point in `pen`. */
void timeline_draw_anew(struct spool *spool, struct spool_scope *scope, struct timeline_pen *pen,
			uint64_t t);

/* Returns the scope's current sums as a point of its curve at time t (ns). */
static inline struct spool_point timeline_now(const struct spool_scope *scope, uint64_t t)
{
	struct spool_point now = {
		.top = { t, scope->sums[METRIC_ALLOCATED].now, scope->sums[METRIC_RESERVED].now },
	};

	now.high = now.last = now.top;
	if (scope->sums[METRIC_USED].now) {
		now.used = scope->sums[METRIC_USED].now;
		now.used_t = t;
	}
	return now;
}

/* Merges `later` into a point. If the process is killed here, the point is half written; the member
 * that decides about a merge is stored last, so that timeline_settle() can repeat the merge. */
static inline void timeline_merge(struct spool_point *into, const struct spool_point *later)
{
	if (later->top.allocated > into->top.allocated) {
		into->top.t = later->top.t;
		into->top.reserved = later->top.reserved;
		__atomic_store_n(&into->top.allocated, later->top.allocated, __ATOMIC_RELEASE);
	}
	if (later->high.reserved > into->high.reserved) {
		into->high.t = later->high.t;
		into->high.allocated = later->high.allocated;
		__atomic_store_n(&into->high.reserved, later->high.reserved, __ATOMIC_RELEASE);
	}
	into->last = later->last;
	if (later->used_t) {
		into->used = later->used;
		into->used_t = later->used_t;
	}
}

static inline void timeline_update(struct spool_point *point, const struct spool_scope *scope,
				   uint64_t t)
{
	const struct spool_point now = timeline_now(scope, t);

	timeline_merge(point, &now);
}

static inline void timeline_draw(struct spool *spool, struct spool_scope *scope,
				 struct timeline_pen *pen, uint64_t t)
{
	if (pen->scope == scope && pen->state == scope->curve_state && t < pen->until)
		timeline_update(pen->point, scope, t);
	else
		timeline_draw_anew(spool, scope, pen, t);
}

/* Completes the points that a killed process was writing, in a copy of its spool. Only a curve's
 * last point can be half written, and the spool still has the sums that belong into this point. */
void timeline_settle(struct spool *spool);

/* Returns the number of points of the scope's curve, 0 if it has no curve or a damaged one. */
unsigned timeline_points(const struct spool *spool, const struct spool_scope *scope);
const struct spool_point *timeline_point(const struct spool *spool, const struct spool_scope *scope,
					 unsigned index);
