/*
 * The curve of a scope: allocated, reserved and used over time in at most CURVE_POINTS stretches of
 * equal length that double when they no longer fit. Each keeps both maxima, so no peak is ever
 * lost.
 */
#pragma once

#include "spool/spool.h"

enum {
	CURVES_MAX = 64,        /* scopes that get one: half a MiB each */
	CURVE_FIRST_SHIFT = 10, /* stretches begin as 1,024 ns */
};

/* Gives the scope a curve, if one is left. 0, or an error of spool_need(). */
int timeline_open(struct spool *spool, struct spool_scope *scope);

/* The point that a scope was drawn at last: most events are drawn there, too. */
struct timeline_pen {
	const struct spool_scope *scope; /* NULL: not drawn yet */
	struct spool_point *point;
	uint64_t state; /* of the curve; if it has changed, the point is not the newest any more */
	uint64_t until; /* where the point's stretch ends */
};

/* Enters the scope's sums as they are now, at time t (ns). The pen may be another scope's. */
void timeline_draw_anew(struct spool *spool, struct spool_scope *scope, struct timeline_pen *pen,
			uint64_t t);

/* The scope's sums as they are now. */
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

/* A process that is killed in here leaves a point half written. The deciding member is stored last,
 * so the same merge once more (timeline_settle) completes it. */
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

/* Brings the newest point up to date. */
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

/* Finishes a drawing that was interrupted, in a copy of a dead process's spool. Only the last point
 * of a curve can be half written, and only with the sums as they still are. */
void timeline_settle(struct spool *spool);

/* The number of points of the scope's curve, and one of them. */
unsigned timeline_points(const struct spool *spool, const struct spool_scope *scope);
const struct spool_point *timeline_point(const struct spool *spool, const struct spool_scope *scope,
					 unsigned index);
