// Marks above the curves: phases as bands; failures, peaks and named marks as flags.

import type { App } from "./app";
import { cut, h, type Child } from "./dom";
import type { Phase } from "../model/facts";
import * as format from "./format";
import type { Trace } from "../model/model";
import type { Axis } from "../model/state";

export const LANE = 15; // pixels
const MOST_LANES = 4;
const COLOR = /^#[0-9a-f]{6}$/;

export interface Band { phase: Phase; from: number; to: number; lane: number }
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
		if (axis === "time")
			return { phase, from: phase.start, to: end, lane };
		return { phase, from: trace.eventAt(phase.start - 1) + 1, to: trace.eventAt(end), lane };
	});

	return { bands, lanes };
}

export function flagsOf(app: App): Flag[] {
	const { trace, scope } = app;
	const flags: Flag[] = [];

	for (const metric of ["allocated", "reserved"] as const) {
		const sums = app.sumsOf(trace, scope);
		const curve = metric === "allocated" ? sums.allocated : sums.reserved;
		const told = trace.facts.peaks.find((peak) => peak.metric === metric && peak.device === scope.device && peak.pool === scope.pool);

		// If events are missing, the highest sum of the others is not the peak: the recorder's is used.
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
		context.fillText(band.phase.name, x + 4 * ratio, y + (LANE - 2) * ratio / 2);
		context.restore();
	}
	context.restore();
}

// The text of a phase's tooltip: its time, and its memory at the start, peak and end.
export function phaseCard(phase: Phase): Child[] {
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
	const { allocated } = app.sumsOf(app.trace, app.scope);

	return [h("b", {}, cut(flag.label, 300)), h("div", {}, `at ${format.moment(flag.t)}, ${format.bytes(allocated[flag.event])} allocated`)];
}

export function flagPosition(app: App, flag: Flag): number {
	return app.store.get("axis") === "time" ? flag.t : flag.event;
}
