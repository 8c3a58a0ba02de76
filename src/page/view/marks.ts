// Marks above the curves: phases as bands; failures, peaks and named marks as flags.

import type { App } from "./app";
import { cut, h, type Child } from "./dom";
import type { Phase } from "../model/facts";
import * as format from "./format";
import type { Trace } from "../model/model";
import { positionAt, positionOf, type Axis, type Cut } from "../model/axis";
import { phaseFamily } from "../model/groupings";
import type { MissingPart } from "../model/missing";
import { sumsOf } from "../model/scope";
import type { Theme } from "./palette";

export const LANE = 15; // pixels
const MOST_LANES = 4;
const COLOR = /^#[0-9a-f]{6}$/;

// `until`: the last of the `count` phases, with these names, that are drawn as one band; null for a band of one
// phase.
export interface Band { phase: Phase; from: number; to: number; lane: number; until: Phase | null; count: number; names: Set<string> }
export interface Flag { event: number; t: number; kind: "oom" | "peak" | "mark"; label: string }

// Nested phases get lanes below one another; phases nested more deeply than MOST_LANES share the last lane.
export function bandsOf(trace: Trace, axis: Axis): { bands: Band[]; lanes: number } {
	const ends: number[] = [];
	const last = trace.events.t[trace.events.count - 1] ?? 0;
	let lanes = 0;
	const bands = trace.facts.phases.map((phase) => {
		const end = phase.end ?? last;

		while (ends.length && ends[ends.length - 1] <= phase.start)
			ends.pop();
		const lane = Math.min(ends.length, MOST_LANES - 1);

		ends.push(end);
		lanes = Math.max(lanes, lane + 1);
		if (axis === "time" || axis === "busy")
			return { phase, from: positionAt(trace, axis, phase.start), to: positionAt(trace, axis, end), lane, until: null, count: 1, names: new Set<string>() };
		return { phase, from: positionOf(trace, axis, trace.eventAt(phase.start - 1) + 1), to: positionOf(trace, axis, trace.eventAt(end)), lane, until: null, count: 1, names: new Set<string>() };
	});

	return { bands, lanes };
}

const NARROW = 24; // pixels

// Joins neighbours that are too narrow to be read: "step 0 ... step 9000", or "forward, backward, 18,000 phases".
export function mergedBands(bands: Band[], from: number, to: number, width: number): Band[] {
	const scale = width / (to - from);
	const open: (Band | undefined)[] = [];
	const merged: Band[] = [];

	for (const band of bands) {
		if (band.to < from || band.from > to)
			continue;
		const last = open[band.lane];

		if (last && (band.to - band.from) * scale < NARROW && (last.until || (last.to - last.from) * scale < NARROW) && (band.from - last.to) * scale < NARROW) {
			last.to = Math.max(band.to, last.to);
			last.until = band.phase;
			last.count++;
			last.names.add(phaseFamily(band.phase.name));
			continue;
		}
		open[band.lane] = { ...band, names: new Set([phaseFamily(band.phase.name)]) };
		merged.push(open[band.lane] as Band);
	}
	return merged;
}

const MOST_NAMES = 4;

export function bandName(band: Band): string {
	if (band.until === null)
		return band.phase.name;
	if (band.names.size === 1)
		return band.until.name === band.phase.name ? `${band.phase.name}, ${format.count(band.count)} times` : `${band.phase.name} ... ${band.until.name}`;
	const names = [...band.names].slice(0, MOST_NAMES).join(", ");

	return `${names}${band.names.size > MOST_NAMES ? " ..." : ""}: ${format.plural(band.count, "phase")}`;
}

export function flagsOf(app: App): Flag[] {
	const { trace, scope } = app;
	const flags: Flag[] = [];

	for (const metric of ["allocated", "reserved"] as const) {
		const sums = sumsOf(trace, scope);
		const curve = metric === "allocated" ? sums.allocated : sums.reserved;
		const told = trace.facts.peaks.find((peak) => peak.metric === metric && peak.device === scope.device && peak.pool === scope.pool);

		// If events are missing, the peak may be at one of them: the peak that the recorder stored is used.
		if (!app.peakIsSeen && told)
			flags.push({ event: Math.max(trace.eventAt(told.t), 0), t: told.t, kind: "peak", label: `peak ${metric}` });
		else if (curve && curve.length)
			flags.push({ event: app.peakEvent(curve), t: trace.events.t[app.peakEvent(curve)], kind: "peak", label: `peak ${metric}` });
	}
	const oom = trace.facts.ops.indexOf("oom");
	const mark = trace.facts.ops.indexOf("mark");

	for (let i = 0; i < trace.events.count; i++) {
		if (trace.events.op[i] === oom)
			flags.push({ event: i, t: trace.events.t[i], kind: "oom", label: "out of memory" });
		else if (trace.events.op[i] === mark)
			flags.push({ event: i, t: trace.events.t[i], kind: "mark", label: trace.facts.texts[trace.events.text[i]] ?? "mark" });
	}
	return flags;
}

// Draws phases in their lanes. `left`, `top`: of the first lane; `width`: of the axis; all in pixels.
export function drawBands(context: CanvasRenderingContext2D, app: App, bands: Band[], left: number, top: number, width: number, ratio: number): void {
	const { from, to } = app.store.state;
	const scale = width / (to - from);
	const { text, grid, panel, dim } = app.theme;

	context.save();
	context.beginPath();
	context.rect(left, top, width, LANE * MOST_LANES * ratio);
	context.clip();
	context.font = `${11 * ratio}px system-ui, sans-serif`;
	context.textBaseline = "middle";
	let drawnTo = new Float64Array(MOST_LANES).fill(-Infinity);

	for (const band of bands) {
		if (band.to < from || band.from > to)
			continue;
		const x = Math.max(left + (band.from - from) * scale, left - 2);
		const end = Math.min(left + (band.to - from) * scale, left + width + 2);
		const y = top + band.lane * LANE * ratio;

		if (end < drawnTo[band.lane] + ratio / 2) // skip a phase that ends in a pixel already drawn
			continue;
		drawnTo[band.lane] = end;
		context.fillStyle = panel;
		context.strokeStyle = end - x > 3 * ratio ? dim : grid;
		context.lineWidth = ratio;
		context.fillRect(x, y, Math.max(end - x, ratio), (LANE - 2) * ratio);
		if (band.phase.color && COLOR.test(band.phase.color)) { // only a stripe, so that the text stays readable
			context.fillStyle = band.phase.color;
			context.fillRect(x, y + (LANE - 5) * ratio, Math.max(end - x, ratio), 3 * ratio);
		}
		context.strokeRect(x + ratio / 2, y + ratio / 2, Math.max(end - x - ratio, ratio / 2), (LANE - 3) * ratio);
		if (end - x < 24 * ratio)
			continue;
		context.fillStyle = text;
		context.save();
		context.beginPath();
		context.rect(x, y, end - x - 2 * ratio, LANE * ratio);
		context.clip();
		context.fillText(bandName(band), x + 4 * ratio, y + (LANE - 2) * ratio / 2);
		context.restore();
	}
	context.restore();
}

// The text of a phase's tooltip: its time, and its memory at the start, peak and end.
export function phaseCard(band: Band): Child[] {
	const { phase } = band;

	if (band.until)
		return [h("b", {}, cut(bandName(band), 300)), h("div", {}, "These phases are too narrow to be drawn one by one: click to zoom in.")];
	const { start_bytes: start, end_bytes: end, peak_bytes: peak } = phase.allocated;
	const growth = start !== null && end !== null ? `, ${format.signedBytes(end - start)} at its end` : "";
	const said = [["category", phase.category], ["payload", phase.payload]].filter(([, value]) => value !== undefined);
	const lived = [["allocated", phase.allocations], ["freed", phase.freed], ["kept", phase.kept]] as const;

	return [
		h("b", {}, cut(phase.name, 300)),
		h("div", {}, `${phase.end === null ? "never ended" : format.time(phase.end - phase.start)}, from ${format.moment(phase.start)}${phase.domain ? `, domain ${cut(phase.domain, 60)}` : ""}`),
		said.length ? h("div", {}, said.map(([word, value]) => `${word} ${cut(String(value), 60)}`).join(", ")) : null,
		h("div", {}, `allocated: ${format.bytes(start)} at its start, highest ${format.bytes(peak)}${growth}`),
		h("div", {}, `reserved: ${format.bytes(phase.reserved.start_bytes)} at its start, highest ${format.bytes(phase.reserved.peak_bytes)}`),
		phase.allocations === null ? null : h("div", {}, lived.map(([word, sum]) => `${word} ${format.bytes(sum?.bytes ?? null)}`).join(", ")),
		...(phase.devices ?? []).map((one) => h("div", { class: "dim" },
			`device ${one.device}: highest ${format.bytes(one.allocated.peak_bytes)}${one.allocations?.bytes == null ? "" : `, allocated ${format.bytes(one.allocations.bytes)}, kept ${format.bytes(one.kept?.bytes ?? null)}`}`)),
	];
}

export function flagCard(app: App, flag: Flag): Child[] {
	const { allocated } = sumsOf(app.trace, app.scope);

	return [h("b", {}, cut(flag.label, 300)), h("div", {}, `at ${format.moment(flag.t)}, ${format.bytes(allocated[flag.event])} allocated`)];
}

export function flagPosition(app: App, flag: Flag): number {
	const axis = app.store.get("axis");

	return axis === "time" || axis === "busy" ? positionAt(app.trace, axis, flag.t) : positionOf(app.trace, axis, flag.event);
}

// --- drawing ---

interface Place { left: number; top: number; width: number; height: number }

export function drawFlag(ctx: CanvasRenderingContext2D, theme: Theme, flag: Flag, x: number, box: Place, ratio: number): void {
	const size = 5 * ratio;

	ctx.fillStyle = flag.kind === "oom" ? theme.bad : flag.kind === "peak" ? (flag.label.endsWith("reserved") ? theme.reserved : theme.text) : theme.dim;
	ctx.beginPath();
	ctx.moveTo(x, box.top);
	ctx.lineTo(x - size, box.top - 1.6 * size);
	ctx.lineTo(x + size, box.top - 1.6 * size);
	ctx.fill();
	if (flag.kind === "oom")
		ctx.fillRect(x - ratio / 2, box.top, ratio, box.height);
}

// Draws the cuts of idle time as pale bands with dotted edges, and hatches where events are missing.
export function drawCuts(ctx: CanvasRenderingContext2D, app: App, cuts: Cut[], missing: MissingPart[], box: Place, place: (position: number) => number): void {
	const { theme } = app;
	const ratio = devicePixelRatio || 1;
	const { from, to } = app.store.state;

	ctx.save();
	ctx.beginPath();
	ctx.rect(box.left, box.top, box.width, box.height);
	ctx.clip();
	for (const cut of cuts) {
		if (cut.to < from || cut.from > to)
			continue;
		const [x, end] = [place(cut.from), place(cut.to)];

		ctx.fillStyle = theme.back;
		ctx.globalAlpha = 0.55;
		ctx.fillRect(x, box.top, Math.max(end - x, 3 * ratio), box.height);
		ctx.globalAlpha = 1;
		ctx.strokeStyle = theme.dim;
		ctx.lineWidth = ratio;
		ctx.setLineDash([2 * ratio, 3 * ratio]);
		for (const edge of [x, Math.max(end, x + 3 * ratio)]) {
			ctx.beginPath();
			ctx.moveTo(edge, box.top);
			ctx.lineTo(edge, box.top + box.height);
			ctx.stroke();
		}
		ctx.setLineDash([]);
		ctx.save();
		ctx.translate((x + end) / 2, box.top + 8 * ratio);
		ctx.rotate(Math.PI / 2);
		ctx.fillStyle = theme.dim;
		ctx.font = `${10 * ratio}px system-ui, sans-serif`;
		ctx.textBaseline = "middle";
		if (end - x > 9 * ratio)
			ctx.fillText(`${format.time(cut.ns)} without an event`, 0, 0);
		ctx.restore();
	}
	for (const part of missing) {
		const x = Math.max(Number.isFinite(part.from) ? place(part.from) : box.left, box.left);
		const end = Math.max(Math.min(Number.isFinite(part.to) ? place(part.to) : box.left + box.width, box.left + box.width), x + 6 * ratio);

		if (part.to < from || part.from > to)
			continue;
		ctx.save();
		ctx.beginPath();
		ctx.rect(x, box.top, end - x, box.height);
		ctx.clip();
		ctx.strokeStyle = theme.bad;
		ctx.globalAlpha = 0.35;
		ctx.lineWidth = ratio;
		for (let at = x - box.height; at < end; at += 10 * ratio) {
			ctx.beginPath();
			ctx.moveTo(at, box.top + box.height);
			ctx.lineTo(at + box.height, box.top);
			ctx.stroke();
		}
		ctx.restore();
		ctx.fillStyle = theme.bad;
		ctx.font = `${11 * ratio}px system-ui, sans-serif`;
		ctx.textBaseline = "top";
		ctx.fillText(`${format.count(part.dropped)} events missing`, Math.min(Math.max(x, box.left) + 4 * ratio, box.left + box.width - 130 * ratio), box.top + 4 * ratio);
	}
	ctx.restore();
}

// Draws the cursors A and B.
export function drawCursors(ctx: CanvasRenderingContext2D, app: App, box: Place, place: (position: number) => number, ratio: number): void {
	const { theme, store, trace } = app;
	const { pin, axis, from, to } = store.state;
	const cursors: [number, string, string][] = [[app.cursorAt, theme.accent, "A"]];

	if (pin >= 0)
		cursors.unshift([positionOf(trace, axis, pin), theme.pin, "B"]);
	for (const [position, colour, label] of cursors) {
		if (position < from || position > to)
			continue;
		const x = place(position);

		ctx.fillStyle = theme.back;
		ctx.fillRect(Math.round(x) - 1.5 * ratio, box.top, 3.5 * ratio, box.height);
		ctx.fillStyle = colour;
		ctx.fillRect(Math.round(x) - ratio / 2, box.top, 1.5 * ratio, box.height);
		ctx.fillRect(x - 6 * ratio, box.top + box.height - 13 * ratio, 12 * ratio, 13 * ratio);
		ctx.fillStyle = theme.back;
		ctx.font = `bold ${10 * ratio}px system-ui, sans-serif`;
		ctx.textAlign = "center";
		ctx.textBaseline = "middle";
		ctx.fillText(label, x, box.top + box.height - 6 * ratio);
	}
}
