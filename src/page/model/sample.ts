// Reduces a curve of any length to about as many points as a screen has columns, without losing a peak:
// for each column the first and last event, and those at which each sum is highest and lowest.

import type { Trace } from "./model";
import type { Axis } from "./state";

export function positionOf(trace: Trace, axis: Axis, event: number): number {
	return axis === "event" ? event : trace.events.t[Math.max(event, 0)] ?? 0;
}

// The last event at or before a position on the axis, -1 if there is none.
export function eventAt(trace: Trace, axis: Axis, position: number): number {
	return axis === "event" ? Math.min(Math.floor(position), trace.events.count - 1) : trace.eventAt(position);
}

export function extent(trace: Trace, axis: Axis): [number, number] {
	const last = Math.max(trace.events.count - 1, 0);

	if (axis === "event")
		return [0, Math.max(last, 1)];
	const { timeline, phases, report } = trace.facts;
	const ends = timeline.map((curve) => curve.t[curve.t.length - 1] ?? 0);
	const most = Math.max(report.process.duration_ns || 0, trace.events.t[last] ?? 0, ...ends, 1);

	// If the first events are missing, the recorder's own curve begins earlier than the events.
	const begins = trace.events.count && trace.facts.gaps[0]?.event !== 0 ? [trace.events.t[0]] : timeline.map((curve) => curve.t[curve.allocated.findIndex((bytes) => bytes)] ?? most);

	return [startOf(Math.min(most, ...begins, phases[0]?.start ?? most, trace.spans?.t[0] ?? most), most), most];
}

// Where the axis begins: at 0, or just before `first` if importing modules took most of the time until then.
function startOf(first: number, last: number): number {
	return first > last / 10 ? first - (last - first) / 50 : 0;
}

// Chooses events, in order: for each column about 2 + 2 for each curve, and one on each side of the view.
export function sampleEvents(trace: Trace, axis: Axis, from: number, to: number, columns: number, curves: Float64Array[]): number[] {
	const first = Math.max(eventAt(trace, axis, from), 0);
	const last = Math.min(eventAt(trace, axis, to) + 1, trace.events.count - 1);
	const chosen: number[] = [];

	if (last - first <= columns * 4) {
		for (let i = first; i <= last; i++)
			chosen.push(i);
		return chosen;
	}
	let at = first;

	for (let column = 1; column <= columns && at <= last; column++) {
		const edge = from + ((to - from) * column) / columns;
		const end = column === columns ? last : Math.min(eventAt(trace, axis, edge), last);

		if (end < at)
			continue;
		const points = new Set([at, end]);

		for (const curve of curves) {
			let low = at;
			let high = at;

			for (let i = at; i <= end; i++) {
				if (curve[i] > curve[high])
					high = i;
				if (curve[i] < curve[low])
					low = i;
			}
			points.add(low).add(high);
		}
		chosen.push(...[...points].sort((a, b) => a - b));
		at = end + 1;
	}
	return chosen;
}
