// Lanes below the curves: the kernels and copies on each stream of the device, and long calls.
//
// The height of a bar is the part of its pixel's time in which something ran; a span that is wide enough is a
// box with its name. A click moves the cursor to that time, a double click zooms to the spans there.

import type { App } from "./app";
import { cut, h, sized, type Child } from "./dom";
import * as format from "./format";
import { kernelName } from "../model/kernels";
import type { Spans } from "../model/model";
import { colour, COLOURS, type Theme } from "./palette";
import { positionAt, positionOf, timeAt } from "../model/axis";
import { sumsOf } from "../model/scope";
import { kindOf, KINDS, kindWords, lackText, placedOf, rowsOf, trackText, type Row, type SpanKind } from "./spans";
import { tooltip } from "./tooltip";

const ROW = 18; // pixels
const GAP = 3;
const WIDE = 3; // least width in pixels of a span that is drawn by itself
const NAMED = 30;
const INK = "#0b0f14"; // colour of text, readable on the colours of all kinds
const ranks: Record<SpanKind, number> = { kernel: 2, copy: 1, fill: 3, migration: 7, call: COLOURS };

function kindColour(kind: SpanKind, theme: Theme): string {
	return colour(ranks[kind], theme.dark);
}

interface Wide { span: number; x: number; width: number }

export class Lanes {
	readonly element: HTMLElement;
	private readonly canvas = h("canvas", { role: "img", "aria-label": "Kernels, copies and calls" });
	private readonly words = h("div", { class: "legend" });
	private readonly lack = h("p", { class: "more" });

	// `left` and `right`: pixels on each side of the axis, equal to those of the curves above.
	constructor(private readonly app: App, private readonly left: number, private readonly right: number) {
		this.element = h("div", { class: "lanes", hidden: true }, this.canvas, this.words, this.lack);
		this.listen();
	}

	update(): void {
		const { trace } = this.app;
		const rows = rowsOf(this.app);

		this.element.hidden = !rows.length;
		if (!trace.spans || !rows.length)
			return;
		this.draw(trace.spans, rows);
		this.tell(trace.spans, rows);
	}

	private get width(): number {
		return Math.max(this.element.clientWidth - this.left - this.right, 10);
	}

	private kindOfSpan(spans: Spans, span: number): SpanKind {
		return kindOf(this.app.trace.facts.actions[spans.action[span]]?.kind ?? "");
	}

	private nameOf(spans: Spans, span: number): string {
		return kernelName(this.app.trace.facts.actions[spans.action[span]]?.name ?? "?");
	}

	// Returns for each track its row, -1 if it is not shown for the scope.
	private rowOfTrack(spans: Spans, rows: Row[]): Int32Array {
		const of = new Int32Array(spans.tracks.length).fill(-1);

		rows.forEach((row, i) => row.of.forEach((track) => { of[track] = i; }));
		return of;
	}

	// Returns a function that gives a span's start and end in pixels of the axis, null if it is out of view.
	private placer(spans: Spans): (span: number) => [number, number] | null {
		const { axis, from, to } = this.app.store.state;
		const all = placedOf(this.app.trace, spans, axis);
		const scale = this.width / (to - from);

		return (span) => (all.to[span] < from || all.from[span] > to ? null : [(all.from[span] - from) * scale, (all.to[span] - from) * scale]);
	}

	// --- drawing ---

	private draw(spans: Spans, rows: Row[]): void {
		const { theme } = this.app;
		const height = rows.length * ROW;
		const context = sized(this.canvas, this.element.clientWidth, height);
		const width = Math.ceil(this.width);
		const of = this.rowOfTrack(spans, rows);
		const cover = rows.map(() => KINDS.map(() => new Float64Array(width)));
		const wide: Wide[][] = rows.map(() => []);
		const place = this.placer(spans);

		for (let i = 0; i < spans.count; i++) {
			const row = of[spans.track[i]];
			const at = row < 0 ? null : place(i);

			if (!at)
				continue;
			if (at[1] - at[0] >= WIDE)
				wide[row].push({ span: i, x: at[0], width: at[1] - at[0] });
			else
				this.addCover(cover[row][KINDS.indexOf(this.kindOfSpan(spans, i))], at[0], at[1]);
		}
		context.font = "11px system-ui, sans-serif";
		context.textBaseline = "middle";
		rows.forEach((row, i) => {
			context.textAlign = "right";
			context.fillStyle = theme.dim;
			context.fillText(cut(row.label, 14), this.left - 6, i * ROW + (ROW - GAP) / 2 + 1);
			context.fillStyle = theme.panel;
			context.fillRect(this.left, i * ROW, this.width, ROW - GAP);
			this.drawCover(context, cover[i], i * ROW);
			context.textAlign = "left";
			wide[i].forEach((one) => this.drawWide(context, spans, one, i * ROW));
		});
		this.drawCursors(context, height);
		this.canvas.setAttribute("aria-label", `Kernels, copies and calls: ${rows.map((row) => row.label).join(", ")}`);
	}

	// Adds a span to the time covered in each pixel; 1e-9 at least, so that the shortest is drawn, too.
	private addCover(cover: Float64Array, from: number, to: number): void {
		for (let x = Math.max(Math.floor(from), 0); x < cover.length && x <= to; x++)
			cover[x] += Math.max(Math.min(to, x + 1) - Math.max(from, x), 1e-9);
	}

	private drawCover(context: CanvasRenderingContext2D, cover: Float64Array[], top: number): void {
		const most = ROW - GAP;

		for (let x = 0; x < cover[0].length; x++) {
			const whole = Math.max(cover.reduce((sum, kind) => sum + kind[x], 0), 1); // kinds that run at once sum to more than 1
			let bottom = top + most;

			cover.forEach((kind, i) => {
				if (!kind[x])
					return;
				const high = Math.min(Math.max((kind[x] / whole) * most, 2), bottom - top);

				context.fillStyle = kindColour(KINDS[i], this.app.theme);
				context.fillRect(this.left + x, bottom - high, 1, high);
				bottom -= high;
			});
		}
	}

	private drawWide(context: CanvasRenderingContext2D, spans: Spans, one: Wide, top: number): void {
		const x = Math.max(one.x, 0);
		const width = Math.min(one.x + one.width, this.width) - x;

		context.fillStyle = kindColour(this.kindOfSpan(spans, one.span), this.app.theme);
		context.fillRect(this.left + x, top, Math.max(width - 1, 1), ROW - GAP);
		if (width < NAMED)
			return;
		context.save();
		context.beginPath();
		context.rect(this.left + x, top, width - 3, ROW);
		context.clip();
		context.fillStyle = INK;
		context.fillText(this.nameOf(spans, one.span), this.left + x + 4, top + (ROW - GAP) / 2 + 1);
		context.restore();
	}

	private drawCursors(context: CanvasRenderingContext2D, height: number): void {
		const { theme, trace, store } = this.app;
		const { axis, from, to, pin } = store.state;

		for (const [position, stroke] of [[pin < 0 ? NaN : positionOf(trace, axis, pin), theme.pin], [this.app.cursorAt, theme.accent]] as const) {
			if (!(position >= from && position <= to))
				continue;
			context.fillStyle = stroke;
			context.fillRect(this.left + ((position - from) / (to - from)) * this.width - 0.75, 0, 1.5, height);
		}
	}

	// --- legend and texts ---

	// Shows the number and total time of the spans in view, by kind.
	private tell(spans: Spans, rows: Row[]): void {
		const of = this.rowOfTrack(spans, rows);
		const [from, to] = this.times;
		const sums = KINDS.map(() => ({ count: 0, ns: 0 }));

		for (let i = 0; i < spans.count; i++) {
			const end = spans.t[i] + spans.ns[i];

			if (of[spans.track[i]] < 0 || end < from || spans.t[i] > to)
				continue;
			const sum = sums[KINDS.indexOf(this.kindOfSpan(spans, i))];

			sum.count++;
			sum.ns += Math.min(end, to) - Math.max(spans.t[i], from);
		}
		this.words.replaceChildren(...KINDS.map((kind, i) => {
			const element = h("span", { class: "key", "data-kind": kind, "data-count": sums[i].count, "data-ns": sums[i].ns }, this.swatch(kind),
				`${kindWords[kind]} `, h("b", {}, `${format.count(sums[i].count)}, ${format.time(sums[i].ns)}`));

			element.hidden = !sums[i].count;
			return element;
		}));
		this.element.dataset["count"] = String(sums.reduce((sum, kind) => sum + kind.count, 0));
		const lack = lackText(this.app.trace);

		this.lack.replaceChildren(lack);
		this.lack.hidden = !lack;
	}

	private swatch(kind: SpanKind): HTMLElement {
		const element = h("i", { class: "swatch", "aria-hidden": "true" });

		element.style.background = kindColour(kind, this.app.theme);
		return element;
	}

	// The times in view; infinite if the whole axis is, so that spans before and after all events count.
	private get times(): [number, number] {
		const { trace } = this.app;
		const { axis, from, to } = this.app.store.state;
		const [low, high] = this.app.full;

		return [from <= low ? -Infinity : timeAt(trace, axis, from), to >= high ? Infinity : timeAt(trace, axis, to)];
	}

	// --- the pointer ---

	// Returns the spans at the pointer, or up to one pixel from it.
	private hits(event: MouseEvent): number[] {
		const { trace } = this.app;
		const rows = rowsOf(this.app);
		const row = Math.floor(event.offsetY / ROW);
		const x = event.offsetX - this.left;
		const hit: number[] = [];

		if (!trace.spans || !rows[row])
			return hit;
		const tracks = new Set(rows[row].of);
		const place = this.placer(trace.spans);

		for (let i = 0; i < trace.spans.count; i++) {
			const at = tracks.has(trace.spans.track[i]) ? place(i) : null;

			if (at && at[0] <= x + 1 && at[1] >= x - 1)
				hit.push(i);
		}
		return hit;
	}

	private card(hit: number[]): Child[] | null {
		const { trace } = this.app;
		const { spans } = trace;

		if (!spans || !hit.length)
			return null;
		if (hit.length === 1)
			return this.spanCard(spans, hit[0]);
		const names = new Map<string, { count: number; ns: number }>();

		for (const span of hit) {
			const name = this.nameOf(spans, span);
			const sum = names.get(name) ?? { count: 0, ns: 0 };

			names.set(name, { count: sum.count + 1, ns: sum.ns + spans.ns[span] });
		}
		const first = [...names].sort((a, b) => b[1].ns - a[1].ns);

		return [
			h("b", {}, `${format.count(hit.length)} here`),
			...first.slice(0, 5).map(([name, sum]) => h("div", {}, `${format.count(sum.count)} x ${cut(name, 100)}, ${format.time(sum.ns)}`)),
			first.length > 5 ? h("div", { class: "dim" }, `${format.plural(first.length - 5, "more name")}`) : null,
		];
	}

	private spanCard(spans: Spans, span: number): Child[] {
		const { trace, scope } = this.app;
		const kind = this.kindOfSpan(spans, span);
		const held = sumsOf(trace, scope).allocated[Math.max(trace.eventAt(spans.t[span]), 0)];

		return [
			h("b", {}, cut(this.nameOf(spans, span), 300)),
			h("div", {}, `${kind === "call" ? "call" : kind}, ${format.time(spans.ns[span])} from ${format.moment(spans.t[span])}${spans.bytes[span] ? `, ${format.bytes(spans.bytes[span])}` : ""}`),
			h("div", { class: "dim" }, `${trackText(trace, spans.tracks[spans.track[span]])}; ${format.bytes(held)} allocated then`),
		];
	}

	private listen(): void {
		this.canvas.addEventListener("mousemove", (event) => tooltip.show(event, this.card(this.hits(event))));
		this.canvas.addEventListener("mouseleave", () => tooltip.hide());
		this.canvas.addEventListener("click", (event) => {
			const [span] = this.hits(event);
			const { trace } = this.app;

			if (span !== undefined && trace.spans)
				this.app.moveCursor(trace.eventAt(trace.spans.t[span]));
		});
		this.canvas.addEventListener("dblclick", (event) => {
			const { spans } = this.app.trace;
			const hit = this.hits(event);

			if (spans && hit.length)
				zoomTo(this.app, Math.min(...hit.map((i) => spans.t[i])), Math.max(...hit.map((i) => spans.t[i] + spans.ns[i])));
		});
	}
}

// Zooms to a stretch of time, with as much time again on each side.
export function zoomTo(app: App, from: number, to: number): void {
	const axis = app.store.get("axis");
	const margin = Math.max(to - from, 1);

	app.zoom(positionAt(app.trace, axis, from - margin), positionAt(app.trace, axis, to + margin));
}
