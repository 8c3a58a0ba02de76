// Where events are missing: the parts of the axis, and the sums there, which the recorder stored.

import { positionAt, positionOf, type Axis } from "./axis";
import type { Curve, Gap } from "./facts";
import type { Trace } from "./model";
import type { Scope } from "./scope";

export interface MissingPart { from: number; to: number; dropped: number } // positions on the axis; from = to on axes of events

// The parts of the axis in which events are missing; a gap between two events has no width on an axis of events.
export function missingParts(trace: Trace, axis: Axis): MissingPart[] {
	const { events, facts } = trace;
	const gaps = facts.gaps.filter((gap: Gap) => gap.dropped);

	if (!events.count && facts.report.events_dropped)
		return [{ from: -Infinity, to: Infinity, dropped: facts.report.events_dropped }];
	return gaps.map((gap) => {
		const to = positionOf(trace, axis, Math.min(gap.event, events.count - 1));
		const wide = axis === "time" || axis === "busy";

		return { from: wide ? gap.event ? positionOf(trace, axis, gap.event - 1) : -Infinity : to, to, dropped: gap.dropped };
	});
}

export function timelineOf(trace: Trace, scope: Scope): Curve | undefined {
	return scope.space === null ? trace.facts.timeline.find((curve) => curve.device === scope.device && curve.pool === scope.pool) : undefined;
}

// Returns for each column the highest sum that the recorder stored, if events are missing there, else NaN.
export function missingSums(trace: Trace, axis: Axis, scope: Scope, from: number, to: number, columns: number): Float64Array | null {
	const parts = missingParts(trace, axis).filter((part) => part.to > part.from && part.to > from && part.from < to);
	const timeline = timelineOf(trace, scope);

	if (!timeline || (!parts.length && trace.events.count))
		return null;
	const sums = new Float64Array(columns).fill(NaN);
	const whole = trace.events.count ? parts : [{ from, to, dropped: 0 }];
	const columnOf = (position: number) => Math.min(Math.max(Math.floor(((position - from) / (to - from)) * columns), 0), columns);

	for (const part of whole) {
		const end = columnOf(part.to);

		for (let x = columnOf(part.from); x < end; x++)
			sums[x] = 0;
		timeline.t.forEach((t, i) => {
			const starts = positionAt(trace, axis, t);
			const ends = i + 1 < timeline.t.length ? positionAt(trace, axis, timeline.t[i + 1]) : Infinity;

			if (ends < part.from || starts > part.to)
				return;
			const until = Math.min(columnOf(ends), end);

			for (let x = columnOf(Math.max(starts, part.from)); x < Math.max(until, Math.min(columnOf(starts) + 1, end)); x++)
				sums[x] = Math.max(sums[x] || 0, timeline.allocated[i] ?? 0);
		});
	}
	return sums;
}
