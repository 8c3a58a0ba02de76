// Reduces a curve of any length to about as many points as a screen has columns, without losing a peak:
// for each column the first and last event, and those at which each sum is highest and lowest.

import type { Trace } from "./model";
import { eventAt, type Axis } from "./axis";

// Returns events in order of time: for each column about 2 + 2 for each curve, and one on each side of the view.
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
