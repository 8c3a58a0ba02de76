// The axis of the pictures, and where events and times are on it.
//
//   event  events, one after another
//   time   ns
//   busy   ns, with stretches cut in which nothing happened
//   step   repetitions of a phase ("step 0", "step 1" ...): events, scaled so that each repetition is as wide

import type { Trace } from "./model";

export const AXES = ["event", "time", "busy", "step"] as const;
export type Axis = (typeof AXES)[number];

export const axisTitles: Record<Axis, string> = { event: "events", time: "time", busy: "busy time", step: "steps" };

// A piecewise linear scale: x is a time or an event, y the position on the axis; both increase.
interface Scale { x: number[]; y: number[] }
export interface Cut { from: number; to: number; ns: number } // positions of a cut on the axis "busy", and its length

const LEAST_CUT = 0.03; // an idle stretch is cut if it is at least this part of the remaining time
const CUT_WIDTH = 0.012; // width of a cut, as a part of the remaining time
const MOST_CUTS = 12;
const FEW_CUTS = 4; // with more cuts, the axis of events is the default
const COLUMNS = 300;
const FULL = 0.6; // the axis of time is the default if at least this part of the columns has events

function interpolate(at: number, from: number[], to: number[]): number {
	let low = 0;
	let high = from.length - 1;

	while (high - low > 1) {
		const middle = (low + high) >> 1;

		if (from[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	const wide = from[high] - from[low];

	return wide > 0 ? to[low] + ((at - from[low]) / wide) * (to[high] - to[low]) : to[low];
}

function cached<T>(make: (trace: Trace) => T): (trace: Trace) => T {
	const known = new WeakMap<Trace, { value: T }>();

	return (trace) => {
		const entry = known.get(trace) ?? { value: make(trace) };

		known.set(trace, entry);
		return entry.value;
	};
}

// Returns where the axis begins: at 0, or just before `first` if most of the time was spent before it, on imports.
function startOf(first: number, last: number): number {
	return first > last / 10 ? first - (last - first) / 50 : 0;
}

const timesOf = cached((trace): [number, number] => {
	const { timeline, phases, report } = trace.facts;
	const last = Math.max(trace.events.count - 1, 0);
	const ends = timeline.map((curve) => curve.t[curve.t.length - 1] ?? 0);
	const most = Math.max(report.process.duration_ns || 0, trace.events.t[last] ?? 0, ...ends, 1);
	// If the first events are missing, the recorder's own curve begins earlier than the events.
	const begins = trace.events.count && trace.facts.gaps[0]?.event !== 0 ? [trace.events.t[0]]
		: timeline.map((curve) => curve.t[curve.allocated.findIndex((bytes) => bytes)] ?? most);

	return [startOf(Math.min(most, ...begins, phases[0]?.start ?? most, trace.spans?.t[0] ?? most), most), most];
});

// The longest stretches without an event, [start, end] in ns, in the order of time.
function idleOf(trace: Trace): [number, number][] {
	const [start, end] = timesOf(trace);
	const { t, count } = trace.events;
	const missing = new Set(trace.facts.gaps.map((gap) => gap.event)); // events before these were dropped, so the time before them was not idle
	const found: [number, number][] = [];
	let remaining = end - start;
	const least = remaining / 5000;
	let last = start;

	for (let i = 0; i < count; i++) {
		if (t[i] - last > least && !missing.has(i))
			found.push([last, t[i]]);
		last = Math.max(last, t[i]);
	}
	if (count && end - last > least)
		found.push([last, end]);
	found.sort((a, b) => b[1] - b[0] - (a[1] - a[0]));
	const cut: [number, number][] = [];

	for (const idle of found.slice(0, MOST_CUTS)) {
		if (idle[1] - idle[0] < LEAST_CUT * remaining)
			break;
		remaining -= idle[1] - idle[0];
		cut.push(idle);
	}
	return cut.sort((a, b) => a[0] - b[0]);
}

const busyOf = cached((trace): { scale: Scale; cuts: Cut[] } => {
	const [start, end] = timesOf(trace);
	const idle = idleOf(trace);
	const width = Math.max((end - start - idle.reduce((sum, [from, to]) => sum + to - from, 0)) * CUT_WIDTH, 1);
	const scale: Scale = { x: [start], y: [0] };
	const cuts: Cut[] = [];
	let [t, y] = [start, 0];
	const add = (to: number, wide: number) => {
		y += wide;
		t = to;
		if (to > scale.x[scale.x.length - 1]) {
			scale.x.push(to);
			scale.y.push(y);
		}
	};

	for (const [from, to] of idle) {
		add(from, from - t);
		cuts.push({ from: y, to: y + width, ns: to - from });
		add(to, width);
	}
	add(end, end - t);
	return { scale, cuts };
});

const family = (name: string) => name.replace(/[0-9]+/g, "#");

// The phases that the trace repeats, by their names without numbers: those named "step" or "iteration", else those
// with a number, else those that cover most events.
const stepsOf = cached((trace): [number, number][] => {
	const families = new Map<string, [number, number][]>();
	const last = trace.events.t[trace.events.count - 1] ?? 0;

	for (const phase of trace.facts.phases) {
		const name = family(phase.name);
		const list = families.get(name) ?? [];

		list.push([trace.eventAt(phase.start - 1) + 1, trace.eventAt(phase.end ?? last)]);
		families.set(name, list);
	}
	const score = ([name, list]: [string, [number, number][]]) => (/^(step|iter)/i.test(name) ? 2e15 : name.includes("#") ? 1e15 : 0) + list.reduce((sum, [from, to]) => sum + to - from, 0);
	const best = [...families].filter(([, list]) => list.length > 1).sort((a, b) => score(b) - score(a))[0];
	const steps: [number, number][] = [];

	for (const step of best?.[1] ?? []) {
		if (step[1] > step[0] && step[0] >= (steps[steps.length - 1]?.[1] ?? 0))
			steps.push(step);
	}
	return steps.length > 1 ? steps : [];
});

const stepScaleOf = cached((trace): Scale => {
	const steps = stepsOf(trace);
	const most = Math.max(trace.events.count - 1, 1);
	const scale: Scale = { x: [], y: [] };
	const usual = [...steps].map(([from, to]) => to - from).sort((a, b) => a - b)[steps.length >> 1] || 1;

	if (steps[0]?.[0] > 0) {
		scale.x.push(0);
		scale.y.push(-Math.min(steps[0][0] / usual, 1));
	}
	steps.forEach(([from], i) => { scale.x.push(from); scale.y.push(i); });
	const end = steps[steps.length - 1]?.[1] ?? most;

	scale.x.push(end);
	scale.y.push(steps.length);
	if (end < most) {
		scale.x.push(most);
		scale.y.push(steps.length + Math.min((most - end) / usual, 1));
	}
	return scale;
});

// Returns the axes that all traces have.
export function axesOf(traces: Trace[]): Axis[] {
	return AXES.filter((axis) => axis === "step" ? traces.every((trace) => stepsOf(trace).length)
		: axis === "busy" ? traces.length === 1 && busyOf(traces[0]).cuts.length > 0 : true);
}

// Returns the default axis: busy time if enough of its columns have events, else events.
export function bestAxis(traces: Trace[]): Axis {
	const axes = axesOf(traces);
	const [trace] = traces;

	if (traces.length > 1)
		return axes.includes("step") ? "step" : "event";
	if (!trace.events.count)
		return "time";
	const axis = axes.includes("busy") ? "busy" : "time";
	const [low, high] = extent(trace, axis);
	let filled = 0;
	let last = -1;

	for (let column = 1; column <= COLUMNS; column++) {
		const at = eventAt(trace, axis, low + ((high - low) * column) / COLUMNS);

		filled += at > last ? 1 : 0;
		last = at;
	}
	if (!trace.facts.gaps.length && cutsOf(trace, axis).length > FEW_CUTS)
		return "event";
	return trace.facts.gaps.length || filled >= FULL * Math.min(COLUMNS, trace.events.count) ? axis : "event";
}

export function cutsOf(trace: Trace, axis: Axis): Cut[] {
	return axis === "busy" ? busyOf(trace).cuts : [];
}

export function extent(trace: Trace, axis: Axis): [number, number] {
	const ends = (scale: Scale): [number, number] => [scale.y[0], scale.y[scale.y.length - 1]];

	switch (axis) {
	case "event": return [0, Math.max(trace.events.count - 1, 1)];
	case "time": return timesOf(trace);
	case "busy": return ends(busyOf(trace).scale);
	case "step": return ends(stepScaleOf(trace));
	}
}

export function positionOf(trace: Trace, axis: Axis, event: number): number {
	switch (axis) {
	case "event": return event;
	case "time": return trace.events.t[Math.max(event, 0)] ?? 0;
	case "busy": return interpolate(trace.events.t[Math.max(event, 0)] ?? 0, busyOf(trace).scale.x, busyOf(trace).scale.y);
	case "step": return interpolate(event, stepScaleOf(trace).x, stepScaleOf(trace).y);
	}
}

// The position of a time on the axis; between two events it is interpolated.
export function positionAt(trace: Trace, axis: Axis, t: number): number {
	if (axis === "time")
		return t;
	if (axis === "busy")
		return interpolate(t, busyOf(trace).scale.x, busyOf(trace).scale.y);
	const { events } = trace;
	const at = trace.eventAt(t);

	if (at < 0 || at + 1 >= events.count)
		return positionOf(trace, axis, Math.min(Math.max(at, 0), Math.max(events.count - 1, 0)));
	return positionOf(trace, axis, at + (t - events.t[at]) / Math.max(events.t[at + 1] - events.t[at], 1));
}

// Returns the time of a position on the axis, in ns.
export function timeAt(trace: Trace, axis: Axis, position: number): number {
	if (axis === "time")
		return position;
	if (axis === "busy")
		return interpolate(position, busyOf(trace).scale.y, busyOf(trace).scale.x);
	const { t, count } = trace.events;
	const event = Math.min(Math.max(axis === "step" ? interpolate(position, stepScaleOf(trace).y, stepScaleOf(trace).x) : position, 0), Math.max(count - 1, 0));
	const at = Math.floor(event);

	return (t[at] ?? 0) + (event - at) * ((t[at + 1] ?? t[at] ?? 0) - (t[at] ?? 0));
}

// The last event at or before a position on the axis, -1 if there is none.
export function eventAt(trace: Trace, axis: Axis, position: number): number {
	switch (axis) {
	case "event": return Math.min(Math.floor(position), trace.events.count - 1);
	case "time": return trace.eventAt(position);
	// A rounding error must not leave out an event at this very position.
	case "busy": return trace.eventAt(timeAt(trace, axis, position) + 1e-3);
	case "step": return Math.min(Math.max(Math.floor(interpolate(position, stepScaleOf(trace).y, stepScaleOf(trace).x) + 1e-6), -1), trace.events.count - 1);
	}
}
