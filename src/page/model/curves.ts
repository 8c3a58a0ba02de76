// The columns of the chart: values of curves at the times of its points.

import type { Curve } from "./facts";
import type { Trace } from "./model";

export type Column = (number | null)[];

// For each of `times`, the last of the sampled values until then.
export function follow(t: number[], values: (number | null)[], times: number[]): Column {
	let at = -1;
	let last: number | null = null;

	return times.map((time) => {
		for (; at + 1 < t.length && t[at + 1] <= time; at++)
			last = values[at + 1] ?? last;
		return last;
	});
}

export interface Table { x: number[]; columns: Column[] }

// Where events are missing, adds the points of the recorder's own curve, which has at most 10,000.
export function bridge(table: Table, trace: Trace, timeline: Curve): void {
	const { events, facts } = trace;
	const rows = table.x.map((x, i) => ({ x, values: table.columns.map((column) => column[i]) }));
	const missing = facts.gaps.map((gap) => [gap.event ? events.t[gap.event - 1] : 0, events.t[gap.event]]);

	if (!events.count)
		missing.push([-1, Infinity]);
	for (const [from, to] of missing) {
		timeline.t.forEach((t, i) => {
			if (t > from && t < to)
				rows.push({ x: t, values: [timeline.reserved[i] ?? null, timeline.allocated[i] ?? null, timeline.used[i] ?? null, null] });
		});
	}
	if (!missing.length)
		return;
	rows.sort((a, b) => a.x - b.x);
	table.x = rows.map((row) => row.x);
	table.columns = table.columns.map((_, k) => rows.map((row) => row.values[k]));
}
