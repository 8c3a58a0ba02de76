// The spans that CUPTI recorded (MEMTRACE_CUPTI=1): kernels, copies and long calls, and the rows they are in.

import { Memo, type App } from "./app";
import type { Track } from "../model/facts";
import * as format from "./format";
import type { Spans, Trace } from "../model/model";
import { positionAt, type Axis } from "../model/axis";

// The kinds of spans, in the order of rows and legends.
export const KINDS = ["kernel", "copy", "fill", "migration", "call"] as const;
export type SpanKind = (typeof KINDS)[number];

const MOST_ROWS = 5; // most rows of streams; if there are more streams, the last row is for all others

export interface Row { label: string; of: number[] } // `of`: indices of the tracks that it shows

export const kindWords: Record<SpanKind, string> = { kernel: "kernels", copy: "copies", fill: "fills", migration: "migrations", call: "long calls" };

export function kindOf(word: string): SpanKind {
	return word === "runtime" || word === "driver" ? "call" : (KINDS as readonly string[]).includes(word) ? (word as SpanKind) : "kernel";
}

export function trackText(trace: Trace, track: Track): string {
	if (track.device !== null)
		return `stream ${track.stream}`;
	const thread = trace.facts.threads.find((one) => one.thread === track.thread);

	return `thread ${track.thread}${thread?.name ? ` (${thread.name})` : ""}`;
}

interface Placed { from: Float64Array; to: Float64Array } // start and end of each span on the axis
const placed = new Memo<Placed>();

export function placedOf(trace: Trace, spans: Spans, axis: Axis): Placed {
	return placed.get(`${trace.number} ${axis}`, () => ({
		from: spans.t.map((t) => positionAt(trace, axis, t)), to: spans.t.map((t, i) => positionAt(trace, axis, t + spans.ns[i])),
	}));
}

function busy(spans: Spans): Float64Array {
	const sums = new Float64Array(spans.tracks.length);

	for (let i = 0; i < spans.count; i++)
		sums[spans.track[i]] += spans.ns[i];
	return sums;
}

// Returns a row for each of the busiest streams of the device, one for all other streams, and one for long calls.
function findRows(trace: Trace, device: number | null): Row[] {
	const spans = trace.spans;

	if (!spans)
		return [];
	const sums = busy(spans);
	const streams = [...spans.tracks.keys()].filter((i) => spans.tracks[i].device !== null && (device === null || spans.tracks[i].device === device))
		.sort((a, b) => sums[b] - sums[a]);
	const calls = [...spans.tracks.keys()].filter((i) => spans.tracks[i].device === null);
	const apart = streams.length > MOST_ROWS ? streams.slice(0, MOST_ROWS - 1) : streams;
	const rows: Row[] = apart.sort((a, b) => a - b)
		.map((i) => ({ label: device === null ? `${spans.tracks[i].device}: stream ${spans.tracks[i].stream}` : `stream ${spans.tracks[i].stream}`, of: [i] }));

	if (streams.length > apart.length)
		rows.push({ label: `${streams.length - apart.length} streams`, of: streams.slice(MOST_ROWS - 1) });
	if (calls.length)
		rows.push({ label: "long calls", of: calls });
	return rows;
}

const found = new Memo<Row[]>();

export function rowsOf(app: App): Row[] {
	return found.get(`${app.trace.number} ${app.scope.device}`, () => findRows(app.trace, app.scope.device));
}

// Returns a text on the spans that are not in the lanes, "" if all are.
export function lackText(trace: Trace): string {
	const facts = trace.facts.spans;
	const words: string[] = [];

	if (facts?.dropped)
		words.push(`The timeline has the last ${format.count(facts.count + facts.left_out)} kernels, copies and calls: ${format.count(facts.dropped)} earlier ones were dropped to save space. The sums count all of them.`);
	if (facts?.left_out)
		words.push(`${format.count(facts.left_out)} that took ${format.time(facts.left_out_ns)} or less are not in this page; to include them, run memtrace html --max-events 0.`);
	return words.join(" ");
}
