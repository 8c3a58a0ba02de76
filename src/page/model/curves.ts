// The columns of the chart: values of curves at positions on the axis.

import { eventAt, positionAt, positionOf, type Axis } from "./axis";
import type { Curve } from "./facts";
import type { Trace } from "./model";
import { sampleEvents } from "./sample";

export type Column = (number | null)[];

const DENSE = 4; // with more events per column of the picture, a column has only the highest and lowest sum

// `lows`: the lowest value of the first curve in each column; empty unless the curve is dense.
export interface Table { x: number[]; columns: Column[]; lows: Column }

const known = (value: number | undefined): number | null => (value === undefined || Number.isNaN(value) ? null : value);

const CALM = 12; // a dense curve shows the highest and lowest sum of this many columns on each side

function widest(column: Column, better: (a: number, b: number) => number): Column {
	return column.map((value, x) => {
		let best = value;

		for (let i = Math.max(x - CALM, 0); best !== null && i <= Math.min(x + CALM, column.length - 1); i++)
			best = better(best, column[i] ?? best);
		return best;
	});
}

// Returns the highest sums in each column, and the lowest of the first curve, smoothed so that they can be read.
function envelope(trace: Trace, axis: Axis, from: number, to: number, width: number, curves: (Float64Array | null)[]): Table {
	const table: Table = { x: [], columns: curves.map(() => []), lows: [] };
	let at = Math.max(eventAt(trace, axis, from), 0);

	for (let column = 0; column < width; column++) {
		const end = eventAt(trace, axis, from + ((to - from) * (column + 1)) / width);

		if (end < at && column)
			continue;
		table.x.push(from + ((to - from) * column) / width);
		let low = Infinity;

		curves.forEach((curve, k) => {
			let high = -Infinity;

			for (let i = at; curve && i <= end; i++) {
				if (curve[i] > high)
					high = curve[i];
				if (!k && curve[i] < low)
					low = curve[i];
			}
			table.columns[k].push(Number.isFinite(high) ? high : null);
		});
		table.lows.push(Number.isFinite(low) ? low : null);
		at = end + 1;
	}
	if (isJagged(table.columns[0])) {
		table.lows = widest(table.lows, Math.min);
		table.columns[0] = widest(table.columns[0], Math.max);
	} else {
		table.lows = table.lows.map(() => null);
	}
	return table;
}

const JAGGED = 0.08; // a curve is smoothed if its mean change per column is above this part of its highest sum

function isJagged(column: Column): boolean {
	let change = 0;
	let most = 1;

	column.forEach((value, x) => {
		most = Math.max(most, value ?? 0);
		change += Math.abs((value ?? 0) - (column[x - 1] ?? value ?? 0));
	});
	return change > JAGGED * most * column.length;
}

// The curves in a part of the axis, for a picture of `width` columns.
export function sampled(trace: Trace, axis: Axis, from: number, to: number, width: number, curves: (Float64Array | null)[]): Table {
	const first = Math.max(eventAt(trace, axis, from), 0);
	const last = eventAt(trace, axis, to);

	if (last - first > width * DENSE)
		return envelope(trace, axis, from, to, width, curves);
	const events = sampleEvents(trace, axis, from, to, width, curves.filter((curve): curve is Float64Array => curve !== null));

	return {
		x: events.map((i) => positionOf(trace, axis, i)), columns: curves.map((curve) => events.map((i) => known(curve?.[i]))), lows: events.map(() => null),
	};
}

// Where events are missing, adds points of the recorder's own curve, which has at most 10,000 of them.
export function bridge(table: Table, trace: Trace, timeline: Curve, axis: Axis): void {
	const { events, facts } = trace;
	const rows = table.x.map((x, i) => ({ x, low: table.lows[i], values: table.columns.map((column) => column[i]) }));
	const missing = facts.gaps.map((gap) => [gap.event ? events.t[gap.event - 1] : 0, events.t[gap.event]]);

	if (!events.count)
		missing.push([-1, Infinity]);
	for (const [from, to] of missing) {
		timeline.t.forEach((t, i) => {
			if (t > from && t < to)
				rows.push({ x: positionAt(trace, axis, t), low: null, values: [timeline.allocated[i] ?? null, timeline.reserved[i] ?? null, ...table.columns.slice(2).map(() => null)] });
		});
	}
	if (!missing.length)
		return;
	rows.sort((a, b) => a.x - b.x);
	table.x = rows.map((row) => row.x);
	table.lows = rows.map((row) => row.low);
	table.columns = table.columns.map((_, k) => rows.map((row) => row.values[k]));
}

export interface Samples { t: number[]; bytes: number[] }

// Returns the samples of the bytes used on the device: those of the recorder's curve, in which each is repeated until
// the next, and those of failed allocations, which have the free bytes of the device.
export function samplesOf(trace: Trace, device: number | null, timeline: Curve | undefined): Samples {
	const found: [number, number][] = [];
	let last: number | null = null;

	timeline?.used.forEach((bytes, i) => {
		if (bytes !== null && bytes !== undefined && bytes !== last) {
			found.push([timeline.t[i], bytes]);
			last = bytes;
		}
	});
	for (const oom of trace.facts.report.ooms) {
		if (timeline && oom.device === device && oom.free_bytes !== null && oom.total_bytes !== null && oom.free_bytes !== undefined && oom.total_bytes)
			found.push([oom.t, oom.total_bytes - oom.free_bytes]);
	}
	found.sort((a, b) => a[0] - b[0]);
	return { t: found.map(([t]) => t), bytes: found.map(([, bytes]) => bytes) };
}

// The last value of the recorder's curve that is not later than t.
export function valueAt(timeline: Curve | undefined, metric: "allocated" | "reserved", t: number): number | null {
	let found: number | null = null;

	for (let i = 0; timeline && i < timeline.t.length && timeline.t[i] <= t; i++)
		found = timeline[metric][i] ?? found;
	return found;
}
