#include "ledger/timeline.h"

#include "base/guest/hot.h"

/* Number of points of a curve: two halves, one with the curve and one to merge its points into. */
static const uint64_t PER_CURVE = 2ull * CURVE_POINTS;

struct state {
	unsigned points, shift, half;
};

static struct state state_of(const struct spool_scope *scope)
{
	uint64_t word = scope->curve_state;

	return (struct state){ (unsigned)(word >> 16), word >> 8 & 255, word & 255 };
}

/* A single store: a process killed here leaves the old curve or the new one. */
static void set_state(struct spool_scope *scope, struct state state)
{
	__atomic_store_n(&scope->curve_state,
			 (uint64_t)state.points << 16 | state.shift << 8 | state.half,
			 __ATOMIC_RELEASE);
}

static struct spool_point *point_at(const struct spool *spool, const struct spool_scope *scope,
				    unsigned half, unsigned index)
{
	uint64_t first = (scope->curve - 1) * PER_CURVE;

	return spool_at(spool, SPOOL_CURVE, first + (uint64_t)half * CURVE_POINTS + index);
}

int timeline_open(struct spool *spool, struct spool_scope *scope)
{
	uint64_t first = spool_count(spool, SPOOL_CURVE);
	int error;

	if (first >= CURVES_MAX * PER_CURVE)
		return 0;
	error = spool_need(spool, SPOOL_CURVE, first + PER_CURVE - 1);
	if (error)
		return error;
	set_state(scope, (struct state){ 0, CURVE_FIRST_SHIFT, 0 });
	scope->curve = (uint32_t)(first / PER_CURVE) + 1;
	spool_add_rows(spool, SPOOL_CURVE, PER_CURVE);
	return 0;
}

/* Doubles the time that a point covers until at most three quarters of the points are used. */
static struct state halve(struct spool *spool, struct spool_scope *scope, struct state state)
{
	while (state.points > CURVE_POINTS * 3 / 4) {
		struct state next = { 0, state.shift + 1, !state.half };
		struct spool_point *into = NULL;

		for (unsigned i = 0; i < state.points; i++) {
			const struct spool_point *from = point_at(spool, scope, state.half, i);

			if (into && into->stretch == from->stretch >> 1) {
				timeline_merge(into, from);
				continue;
			}
			into = point_at(spool, scope, next.half, next.points++);
			*into = *from;
			into->stretch >>= 1;
		}
		set_state(scope, next);
		state = next;
	}
	return state;
}

/* Merges the sums at t into the newest point. False if there is none, or it ended before t. */
static HOT_CODE bool prolong(struct spool *spool, const struct spool_scope *scope,
			     struct state state, uint64_t t)
{
	struct spool_point *point;

	if (!state.points)
		return false;
	point = point_at(spool, scope, state.half, state.points - 1);
	if (point->stretch < t >> state.shift)
		return false;
	timeline_update(point, scope, t);
	return true;
}

static struct state begin_curve(struct spool *spool, struct spool_scope *scope, struct state state,
				uint64_t t)
{
	struct spool_point *point = point_at(spool, scope, state.half, state.points);

	*point = timeline_now(scope, t);
	point->stretch = t >> state.shift;
	state.points++;
	set_state(scope, state);
	return state;
}

void timeline_draw_anew(struct spool *spool, struct spool_scope *scope, struct timeline_pen *pen,
			uint64_t t)
{
	struct state state = state_of(scope);

	*pen = (struct timeline_pen){ .scope = NULL };
	if (!scope->curve)
		return;
	if (state.points == CURVE_POINTS && !prolong(spool, scope, state, t))
		state = halve(spool, scope, state);
	if (!prolong(spool, scope, state, t))
		state = begin_curve(spool, scope, state, t);
	pen->scope = scope;
	pen->point = point_at(spool, scope, state.half, state.points - 1);
	pen->state = scope->curve_state;
	pen->until = (pen->point->stretch + 1) << state.shift;
}

unsigned timeline_points(const struct spool *spool, const struct spool_scope *scope)
{
	unsigned points = state_of(scope).points;
	uint64_t end = scope->curve * PER_CURVE;

	if (!scope->curve || end > spool_count(spool, SPOOL_CURVE) || points > CURVE_POINTS)
		return 0;
	return points;
}

const struct spool_point *timeline_point(const struct spool *spool, const struct spool_scope *scope,
					 unsigned index)
{
	return point_at(spool, scope, state_of(scope).half & 1, index);
}

void timeline_settle(struct spool *spool)
{
	for (uint32_t i = 0; i < spool_count(spool, SPOOL_SCOPE); i++) {
		struct spool_scope *scope = spool_at(spool, SPOOL_SCOPE, i);
		struct state state = state_of(scope);

		if (timeline_points(spool, scope) && state.half <= 1 && state.shift <= 63)
			prolong(spool, scope, state, spool->header->t);
	}
}
