// The curves: allocated, reserved and used bytes of a scope over time or events, with marks.
//
// Drag to zoom, click for the cursor, shift-click for the second cursor, wheel to zoom at the pointer,
// double click to see everything again.

import uPlot from "uplot";
import type { App, View } from "./app";
import { button, h } from "./dom";
import * as format from "./format";
import { Lanes } from "./lanes";
import { swatch } from "./legend";
import { bandsOf, drawBands, flagCard, flagPosition, flagsOf, LANE, phaseCard, type Band, type Flag } from "./marks";
import { Minimap } from "./minimap";
import { bridge, follow, type Column, type Table } from "../model/curves";
import { Kind, NEVER, type Trace } from "../model/model";
import { eventAt, positionOf, sampleEvents } from "../model/sample";
import type { Axis, Key } from "../model/state";
import { tooltip } from "./tooltip";

const HEIGHT = 240;
const AXIS = 84;
const RIGHT = 12;
const byteSteps = Array.from({ length: 50 }, (_, i) => 2 ** i);

export class Overview implements View {
	readonly id = "overview";
	readonly title = "Curves";
	readonly element: HTMLElement;
	private readonly chart = h("div", { class: "chart", role: "img", tabindex: 0, "aria-label": "Memory over time" });
	private readonly small: Minimap;
	private readonly legend = h("div", { class: "legend" });
	private readonly lower: Lanes;
	private plot: uPlot | null = null;
	private bands: Band[] = [];
	private lanes = 0;
	private flags: Flag[] = [];
	private matched: Float64Array | null = null;
	private withUsed = false;
	private usedIsAbove = false;

	constructor(private readonly app: App) {
		this.lower = new Lanes(app, AXIS, RIGHT);
		this.small = new Minimap(app, AXIS, RIGHT);
		this.element = h("section", { class: "overview", "aria-label": "Curves" }, this.legend, this.chart, this.lower.element, this.small.element);
		this.listen();
	}

	update(changed: Set<Key>): void {
		const whole = ["trace", "scope", "axis", "theme"].some((key) => changed.has(key as Key)) || !this.plot;

		if (whole)
			this.rebuild();
		if (changed.has("query") || whole)
			this.matched = this.matchedCurve();
		if (whole || changed.has("from") || changed.has("to") || changed.has("query"))
			this.show();
		else
			this.plot?.redraw(false, false);
		this.tellLegend();
		this.lower.update();
		this.small.draw(this.chart.clientWidth);
	}

	resize(): void {
		this.plot?.setSize({ width: this.chart.clientWidth, height: this.height });
		this.show();
		this.lower.update();
		this.small.draw(this.chart.clientWidth);
	}

	private get height(): number {
		return HEIGHT + this.lanes * LANE;
	}

	// --- data ---

	// The bytes of the blocks that match the search, after each event.
	private matchedCurve(): Float64Array | null {
		const query = this.app.query;
		const { blocks, events } = this.app.trace;
		const places = this.app.places;

		if (!query || query.wrong)
			return null;
		const sums = new Float64Array(events.count);

		for (let i = 0; i < blocks.count; i++) {
			if (!query.matches[i] || blocks.kind[i] !== Kind.Block || !places[blocks.place[i]])
				continue;
			sums[blocks.born[i]] += blocks.size[i];
			if (blocks.died[i] !== NEVER)
				sums[blocks.died[i]] -= blocks.size[i];
		}
		for (let i = 1; i < sums.length; i++)
			sums[i] += sums[i - 1];
		return sums;
	}

	private columns(trace: Trace, axis: Axis, extra: Float64Array | null): Table {
		const { from, to } = this.app.store.state;
		const scope = this.app.scope;
		const sums = this.app.sumsOf(trace, scope);
		const curves = [sums.allocated, sums.reserved, extra].filter((curve): curve is Float64Array => curve !== null);
		const events = sampleEvents(trace, axis, from, to, Math.max(this.chart.clientWidth - AXIS, 200), curves);
		const column = (curve: Float64Array | null): Column => events.map((i) => (curve && !Number.isNaN(curve[i]) ? curve[i] : null));
		const timeline = scope.space === null ? trace.facts.timeline.find((curve) => curve.device === scope.device && curve.pool === scope.pool) : undefined;
		const times = events.map((i) => trace.events.t[i]);
		const result: Table = {
			x: events.map((i) => positionOf(trace, axis, i)),
			columns: [column(sums.reserved), column(sums.allocated), timeline ? follow(timeline.t, timeline.used, times) : column(null), column(extra)],
		};

		if (axis === "time" && timeline)
			bridge(result, trace, timeline);
		if (axis === "time")
			this.extend(result, trace);
		return result;
	}

	// Continues the curves from the last event to the edge of the view with the last values.
	private extend(data: Table, trace: Trace): void {
		const { to } = this.app.store.state;
		const last = data.x.length - 1;

		if (last < 0)
			return;
		if (data.x[last] >= trace.events.t[trace.events.count - 1] && to > data.x[last]) {
			data.x.push(to);
			for (const column of data.columns)
				column.push(column[last]);
		}
	}

	private show(): void {
		const { axis, from, to } = this.app.store.state;
		const other = this.app.traces.find((trace) => trace !== this.app.trace);
		const own = this.columns(this.app.trace, axis, this.matched);
		let data: uPlot.AlignedData = [own.x, ...own.columns, own.x.map(() => null)] as uPlot.AlignedData;

		if (!this.plot)
			return;
		if (other && other.facts.events) {
			const second = this.columns(other, axis, null);

			data = uPlot.join([[own.x, ...own.columns] as uPlot.AlignedData, [second.x, second.columns[1]] as uPlot.AlignedData]);
		}
		this.chart.dataset["allocated"] = String((data[2] as Column).reduce((most: number, value) => Math.max(most, value ?? 0), 0));
		this.chart.dataset["from"] = String(from);
		this.chart.dataset["to"] = String(to);
		this.plot.batch(() => {
			this.plot?.setData(data, false);
			this.plot?.setScale("x", { min: from, max: to });
			this.plot?.setScale("y", { min: 0, max: this.highest(data) * 1.06 || 1 });
		});
	}

	// The top of the scale; the used bytes of the device, often far higher, count only if the user chose so.
	private highest(data: uPlot.AlignedData): number {
		const most = (series: number[]) => series.reduce((all, one) => ((data[one] ?? []) as Column).reduce((high: number, value) => Math.max(high, value ?? 0), all), 0);
		const held = most([1, 2, 5]);
		const used = most([3]);

		this.usedIsAbove = used > held * 1.06;
		return this.withUsed ? Math.max(held, used) : held;
	}

	// The button that includes the bytes used on the device in the scale, if they are above it.
	private usedButton(): HTMLElement | string {
		if (!this.usedIsAbove && !this.withUsed)
			return "";
		return button(this.withUsed ? "leave out" : "above the curves: show", "Bytes used on the device, including the CUDA context and other processes",
			() => { this.withUsed = !this.withUsed; this.show(); this.tellLegend(); }, { class: "small", "data-used": this.withUsed ? "shown" : "above" });
	}

	// --- the plot ---

	private rebuild(): void {
		const { theme, store } = this.app;
		const line = (label: string, stroke: string, fill: string | null, more: Partial<uPlot.Series> = {}): uPlot.Series => ({
			label, stroke, width: 1.5, points: { show: false }, spanGaps: true,
			paths: (uPlot.paths.stepped as (options: object) => uPlot.Series.PathBuilder)({ align: 1 }), ...(fill ? { fill } : {}), ...more,
		});
		const axis = { stroke: theme.dim, grid: { stroke: theme.grid, width: 1 }, ticks: { stroke: theme.grid, width: 1 }, font: "11px system-ui, sans-serif" };

		({ bands: this.bands, lanes: this.lanes } = bandsOf(this.app.trace, store.get("axis")));
		this.flags = flagsOf(this.app);
		this.plot?.destroy();
		this.chart.replaceChildren();
		this.plot = new uPlot({
			width: Math.max(this.chart.clientWidth, 300), height: this.height, padding: [this.lanes * LANE + 14, RIGHT, 0, 0],
			legend: { show: false }, scales: { x: { time: false, auto: false }, y: { auto: false } },
			cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false },
			axes: [
				{ ...axis, values: (_, splits) => splits.map((value) => this.axisText(value, splits)), space: 90 },
				{ ...axis, size: AXIS, incrs: byteSteps, space: 34, values: (_, splits) => splits.map((value) => format.bytes(value)) },
			],
			series: [
				{}, line("reserved", theme.reserved, theme.dark ? "#8b96a222" : "#7f8a9622"), line("allocated", theme.allocated, theme.dark ? "#5fb4ee33" : "#0072b233"),
				line("used", theme.used, null, { dash: [2, 3] }), line("matches", theme.accent, theme.dark ? "#ff945755" : "#c2410c44"), line("other trace", theme.second, null, { dash: [6, 3] }),
			],
			hooks: { draw: [(plot) => this.drawMarks(plot)], setSelect: [(plot) => this.selected(plot)] },
		}, [[], [], [], [], [], []], this.chart);
	}

	private axisText(value: number, splits: number[]): string {
		if (this.app.store.get("axis") === "event")
			return Number.isInteger(value) ? format.count(value) : "";
		return format.moment(value, ((splits[1] ?? 1e9) - splits[0]) * 100);
	}

	private selected(plot: uPlot): void {
		const { left, width } = plot.select;

		if (width < 4)
			return;
		const from = plot.posToVal(left, "x");
		const to = plot.posToVal(left + width, "x");

		plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
		this.app.zoom(from, to);
	}

	private drawMarks(plot: uPlot): void {
		const { ctx, bbox } = plot;
		const ratio = devicePixelRatio || 1;
		const { theme, store, trace } = this.app;
		const { cursor, pin, axis, from, to } = store.state;
		const inView = (x: number) => x >= from && x <= to;

		ctx.save(); // uPlot expects the context unchanged
		ctx.setLineDash([]);
		ctx.textAlign = "left";
		drawBands(ctx, this.app, this.bands, bbox.left, 2 * ratio, bbox.width, ratio);
		for (const flag of this.flags) {
			const position = flagPosition(this.app, flag);

			if (inView(position))
				this.drawFlag(ctx, plot, flag, plot.valToPos(position, "x", true), ratio);
		}
		for (const [event, colour, label] of [[pin, theme.pin, "2"], [cursor, theme.accent, "1"]] as const) {
			const position = positionOf(trace, axis, event);

			if (event < 0 || !inView(position))
				continue;
			const x = plot.valToPos(position, "x", true);

			ctx.fillStyle = colour;
			ctx.fillRect(Math.round(x) - ratio / 2, bbox.top, 1.5 * ratio, bbox.height);
			ctx.fillRect(x - 6 * ratio, bbox.top + bbox.height - 13 * ratio, 12 * ratio, 13 * ratio);
			ctx.fillStyle = theme.back;
			ctx.font = `bold ${10 * ratio}px system-ui, sans-serif`;
			ctx.textAlign = "center";
			ctx.textBaseline = "middle";
			ctx.fillText(label, x, bbox.top + bbox.height - 6 * ratio);
		}
		ctx.restore();
	}

	private drawFlag(ctx: CanvasRenderingContext2D, plot: uPlot, flag: Flag, x: number, ratio: number): void {
		const { theme } = this.app;
		const top = plot.bbox.top;
		const size = 5 * ratio;

		ctx.fillStyle = flag.kind === "oom" ? theme.bad : flag.kind === "peak" ? (flag.label.endsWith("reserved") ? theme.reserved : theme.allocated) : theme.dim;
		ctx.beginPath();
		ctx.moveTo(x, top);
		ctx.lineTo(x - size, top - 1.6 * size);
		ctx.lineTo(x + size, top - 1.6 * size);
		ctx.fill();
		if (flag.kind === "oom")
			ctx.fillRect(x - ratio / 2, top, ratio, plot.bbox.height);
	}

	// --- legend and texts ---

	private tellLegend(): void {
		const { app } = this;
		const { cursor, axis } = app.store.state;
		const sums = app.sumsOf(app.trace, app.scope);
		const row = (id: string, name: string, colour: string, value: number | null, dash = false) =>
			h("span", { class: "key", "data-series": id, "data-bytes": value ?? "" },
				swatch(colour, dash), `${name} `, h("b", {}, format.bytes(value)));
		const at = (curve: Float64Array | null) => (curve && curve.length ? curve[cursor] : null);
		const position = positionOf(app.trace, axis, cursor);
		const used = app.scope.pool === null && app.scope.space === null
			? app.trace.facts.timeline.find((curve) => curve.device === app.scope.device && curve.pool === null) : undefined;
		const other = app.traces.find((trace) => trace !== app.trace);
		const second = other && other.facts.events ? app.sumsOf(other, app.scope).allocated[Math.max(eventAt(other, axis, position), 0)] : null;

		this.legend.replaceChildren(
			row("allocated", "allocated", app.theme.allocated, at(sums.allocated)),
			sums.reserved ? row("reserved", "reserved", app.theme.reserved, at(sums.reserved)) : "",
			used?.used.some((value) => value !== null) ? row("used", "used on the device", app.theme.used, follow(used.t, used.used, [app.trace.events.t[cursor] ?? 0])[0], true) : "", used ? this.usedButton() : "",
			this.matched ? row("matches", "matches", app.theme.accent, at(this.matched)) : "",
			other ? row("other", `${other.number ? "head" : "base"} (${other.facts.name})`, app.theme.second, second, true) : "",
		);
		this.chart.setAttribute("aria-label",
			`${app.scope.title}: allocated and reserved bytes over ${axis === "time" ? "time" : "events"}; at the cursor ${format.bytes(at(sums.allocated))} allocated`);
	}

	// --- the pointer ---

	private listen(): void {
		let pressed: { x: number; y: number } | null = null;

		this.chart.addEventListener("mousedown", (event) => { pressed = { x: event.clientX, y: event.clientY }; });
		this.chart.addEventListener("mouseup", (event) => {
			if (pressed && Math.abs(event.clientX - pressed.x) < 4)
				this.clicked(event);
			pressed = null;
		});
		this.chart.addEventListener("dblclick", () => this.app.zoom(...this.app.full));
		this.chart.addEventListener("mousemove", (event) => {
			const band = this.bandAt(event, this.valueAt(event.clientX));

			const flag = band ? undefined : this.flagAt(event);

			tooltip.show(event, band ? phaseCard(band.phase) : flag ? flagCard(this.app, flag) : null);
		});
		this.chart.addEventListener("mouseleave", () => tooltip.hide());
		for (const element of [this.chart, this.lower.element])
			element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
		new ResizeObserver(() => this.plot && Math.abs(this.plot.width - this.chart.clientWidth) > 1 && this.resize()).observe(this.chart);
	}

	private wheel(event: WheelEvent): void {
		const { from, to } = this.app.store.state;
		const centre = this.valueAt(event.clientX);

		event.preventDefault();
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			const shift = ((event.deltaX || event.deltaY) / 800) * (to - from);

			this.app.zoom(from + shift, to + shift);
		} else {
			this.app.zoomBy(event.deltaY > 0 ? 1.25 : 0.8, centre);
		}
	}

	private valueAt(clientX: number): number {
		const box = this.plot?.over.getBoundingClientRect();

		return this.plot && box ? this.plot.posToVal(clientX - box.left, "x") : 0;
	}

	private bandAt(event: MouseEvent, value: number): Band | undefined {
		const box = this.chart.getBoundingClientRect();
		const lane = Math.floor((event.clientY - box.top - 2) / LANE);

		return lane >= 0 && lane < this.lanes ? this.bands.find((one) => one.lane === lane && one.from <= value && one.to >= value) : undefined;
	}

	// The flag at the pointer; flags are drawn between the phases and the curves.
	private flagAt(event: MouseEvent): Flag | undefined {
		const box = this.plot?.over.getBoundingClientRect();
		const above = box ? box.top - event.clientY : -1;

		return above >= 0 && above <= 12 ? this.nearFlag(event.clientX - (box?.left ?? 0)) : undefined;
	}

	private nearFlag(x: number): Flag | undefined {
		return this.flags.find((flag) => Math.abs((this.plot?.valToPos(flagPosition(this.app, flag), "x") ?? 1e9) - x) < 6);
	}

	private clicked(event: MouseEvent): void {
		const value = this.valueAt(event.clientX);
		const band = this.bandAt(event, value);

		if (band) {
			this.app.zoom(band.from, band.to);
			return;
		}
		const near = this.nearFlag(this.plot?.valToPos(value, "x") ?? 0);
		const at = near ? near.event : Math.max(eventAt(this.app.trace, this.app.store.get("axis"), value), 0);

		if (event.shiftKey)
			this.app.store.set({ pin: at });
		else
			this.app.moveCursor(at);
	}
}
