// The picture: the map of allocations, over it the curves of allocated, reserved and used bytes, and phases on top.
//
// Dragging zooms, a click sets the cursor and shows an allocation, a shift-click sets the second cursor, the wheel
// zooms at the pointer, a double click shows everything again; two fingers zoom, one finger moves the view.

import uPlot from "uplot";
import type { App, View } from "./app";
import { blockCard } from "./block";
import { DiffCurve } from "./diffcurve";
import { h } from "./dom";
import * as format from "./format";
import { listenTouch } from "./gestures";
import { Lanes } from "./lanes";
import { MapImage } from "./mapimage";
import { bandsOf, drawBands, drawCursors, drawCuts, drawFlag, flagCard, flagPosition, flagsOf, LANE, mergedBands, phaseCard, type Band, type Flag } from "./marks";
import { Minimap } from "./minimap";
import { Readout } from "./readout";
import { bridge, sampled, samplesOf, type Table } from "../model/curves";
import type { Trace } from "../model/model";
import { cutsOf, eventAt, positionAt, positionOf, timeAt } from "../model/axis";
import { missingParts, timelineOf } from "../model/missing";
import { sumsOf, sumsOfBlocks } from "../model/scope";
import type { Key } from "../model/state";
import { tooltip } from "./tooltip";

const AXIS = innerWidth < 700 ? 62 : 84; // width of the axis in pixels; less on a phone
const RIGHT = 12;
const PART = 0.6; // part of the window's height that the picture takes
const LEAST = 260; // least height of the picture in pixels
const byteSteps = Array.from({ length: 50 }, (_, i) => 2 ** i);

export class Overview implements View {
	readonly id = "overview";
	readonly title = "Allocations over time";
	readonly element: HTMLElement;
	private readonly chart = h("div", { class: "chart", role: "group", tabindex: 0, "aria-label": "Allocations over time" });
	private readonly small: Minimap;
	private readonly lower: Lanes;
	private readonly difference: DiffCurve;
	private readonly map: MapImage;
	private readonly readout: Readout;
	private plot: uPlot | null = null;
	private bands: Band[] = [];
	private lanes = 0;
	private flags: Flag[] = [];
	private matched: Float64Array | null = null;
	private hovered = -1; // the block under the pointer

	constructor(private readonly app: App) {
		this.lower = new Lanes(app, AXIS, RIGHT);
		this.small = new Minimap(app, AXIS, RIGHT);
		this.map = new MapImage(app, () => this.renewed());
		this.difference = new DiffCurve(app, AXIS, RIGHT);
		this.readout = new Readout(app, this.map, () => this.show());
		this.element = h("section", { class: "overview", "aria-label": "Allocations over time" }, this.readout.curves, this.readout.groups, this.chart, this.readout.caption, this.difference.element, this.lower.element, this.small.element);
		this.listen();
	}

	private matchedSums(): Float64Array | null {
		const { trace, places, query } = this.app;

		return query && !query.wrong ? sumsOfBlocks(trace, places, query.matches) : null;
	}

	update(changed: Set<Key>): void {
		const whole = ["trace", "scope", "axis", "theme"].some((key) => changed.has(key as Key)) || !this.plot;

		if (whole)
			this.rebuild();
		if (changed.has("query") || whole)
			this.matched = this.matchedSums();
		const shown = whole || ["from", "to", "query", "by"].some((key) => changed.has(key as Key));

		if (shown)
			this.show();
		else
			this.plot?.redraw(false, false);
		if (!shown) {
			this.readout.update(this.matched);
			this.tell();
		}
		this.below();
	}

	resize(): void {
		this.plot?.setSize({ width: this.chart.clientWidth, height: this.height });
		this.show();
		this.below();
	}

	// Draws what is below the picture, on the same axis.
	private below(): void {
		this.lower.update();
		this.difference.draw(this.chart.clientWidth);
		this.small.draw(this.chart.clientWidth);
	}

	private get height(): number {
		return Math.max(Math.round(innerHeight * PART), LEAST) + this.lanes * LANE;
	}

	// --- data ---

	private table(trace: Trace, extra: Float64Array | null): Table {
		const { from, to, axis } = this.app.store.state;
		const sums = sumsOf(trace, this.app.scope);
		const result = sampled(trace, axis, from, to, Math.max(this.chart.clientWidth - AXIS - RIGHT, 200), [sums.allocated, sums.reserved, extra]);
		const timeline = timelineOf(trace, this.app.scope);

		if (axis === "time" || axis === "busy") {
			if (timeline)
				bridge(result, trace, timeline, axis);
			this.extend(result, trace);
		}
		return result;
	}

	// Extends the curves with their last values, from the last event to the edge of the view.
	private extend(data: Table, trace: Trace): void {
		const { to, axis } = this.app.store.state;
		const last = data.x.length - 1;

		if (last < 0 || !trace.events.count || to < positionOf(trace, axis, trace.events.count - 1) || to <= data.x[last])
			return;
		data.x.push(to);
		data.lows.push(null);
		for (const column of data.columns)
			column.push(column[last]);
	}

	private show(): void {
		const { axis, from, to } = this.app.store.state;
		const { trace, scope } = this.app;
		const other = this.app.traces.find((one) => one !== trace);
		const own = this.table(trace, this.matched);
		const samples = samplesOf(trace, scope.device, timelineOf(trace, scope));
		const at = samples.t.map((t) => positionAt(trace, axis, t));
		const second = other?.facts.events ? this.table(other, null) : { x: [], columns: [[]] };
		const [allocated, reserved, matches] = own.columns;
		const kept = [...at.keys()].filter((i) => !i || at[i] > at[i - 1]); // uPlot requires rising positions

		if (!this.plot)
			return;
		const data = uPlot.join([[own.x, reserved, allocated, matches, own.lows] as uPlot.AlignedData,
			[kept.map((i) => at[i]), kept.map((i) => samples.bytes[i])], [second.x, second.columns[0]] as uPlot.AlignedData]);

		this.chart.dataset["allocated"] = String(allocated.reduce((most: number, value) => Math.max(most, value ?? 0), 0));
		this.chart.dataset["from"] = String(from);
		this.chart.dataset["to"] = String(to);
		const top = this.readout.top([reserved, allocated, second.columns[0]], samples.bytes) * 1.05 || 1;

		this.plot.batch(() => {
			this.plot?.setData(data, false);
			this.plot?.setScale("x", { min: from, max: to });
			this.plot?.setScale("y", { min: 0, max: top });
		});
		this.readout.update(this.matched);
		this.tell();
	}

	// The map was laid out for the range to which it had been stretched.
	private renewed(): void {
		this.plot?.redraw(false, false);
		this.tell();
	}

	private tell(): void {
		const { app } = this;

		this.chart.toggleAttribute("data-stretched", this.map.isStretched);
		if (this.map.isStretched)
			return;
		for (const [key, value] of Object.entries(this.map.facts))
			this.chart.dataset[key] = value;
		this.readout.tellMap();
		this.chart.setAttribute("aria-label", `Allocations over time of ${app.scope.title}. ${this.readout.spoken} ${this.map.words} Left and right arrows move the cursor, up and down choose an allocation there, Enter goes to its details. The tables below have the same data as text.`);
	}

	// --- the plot ---

	private rebuild(): void {
		const { theme, store } = this.app;
		const stepped = (uPlot.paths.stepped as (options: object) => uPlot.Series.PathBuilder)({ align: 1 });
		const line = (label: string, stroke: string, more: Partial<uPlot.Series> = {}): uPlot.Series => ({ label, stroke, width: 1.5, points: { show: false }, spanGaps: true, paths: stepped, ...more });
		const axis = { stroke: theme.dim, grid: { stroke: theme.grid, width: 1 }, ticks: { stroke: theme.grid, width: 1 }, font: "11px system-ui, sans-serif" };

		({ bands: this.bands, lanes: this.lanes } = bandsOf(this.app.trace, store.get("axis")));
		this.flags = flagsOf(this.app);
		this.plot?.destroy();
		this.chart.replaceChildren();
		this.plot = new uPlot({
			width: Math.max(this.chart.clientWidth, 200), height: this.height, padding: [this.lanes * LANE + 14, RIGHT, 0, 0],
			legend: { show: false }, scales: { x: { time: false, auto: false }, y: { auto: false } },
			cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false },
			axes: [
				{ ...axis, values: (_, splits) => splits.map((value) => this.axisText(value, splits)), space: 90, size: 30 },
				{ ...axis, size: AXIS, incrs: byteSteps, space: 44, values: (_, splits) => splits.map((value) => format.roundBytes(value)) },
			],
			series: [
				{}, line("reserved", theme.reserved, { fill: theme.dark ? "#8b96a222" : "#7f8a9622" }), line("allocated", theme.text, { width: 1 }),
				line("matches", theme.match), line("lowest", theme.dim, { width: 1 }),
				line("used", theme.used, { paths: () => null, points: { show: true, size: 7, fill: theme.used, stroke: theme.back } }), line("other run", theme.second, { dash: [6, 3], width: 2 }),
			],
			hooks: { drawAxes: [(plot) => this.drawMap(plot)], draw: [(plot) => this.drawMarks(plot)], setSelect: [(plot) => this.selected(plot)] },
		}, [[], [], [], [], [], [], []], this.chart);
	}

	private axisText(value: number, splits: number[]): string {
		const { axis } = this.app.store.state;
		const { trace } = this.app;
		const step = (splits[1] ?? 1e9) - splits[0];

		if (axis === "event")
			return Number.isInteger(value) ? format.count(value) : "";
		if (axis === "step")
			return Number.isInteger(value) ? `step ${value}` : "";
		return format.moment(timeAt(trace, axis, value), step * 100);
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

	private drawMap(plot: uPlot): void {
		const { ctx, bbox } = plot;

		this.map.prepare(Math.round(bbox.width), Math.round(bbox.height), plot.scales["y"].max ?? 1);
		this.map.paint(ctx, bbox.left, bbox.top);
	}

	private drawMarks(plot: uPlot): void {
		const { ctx, bbox } = plot;
		const { app } = this;
		const ratio = devicePixelRatio || 1;
		const { axis, from, to, block } = app.store.state;
		const place = (position: number) => plot.valToPos(position, "x", true);

		ctx.save(); // uPlot requires that the context is unchanged
		ctx.setLineDash([]);
		ctx.textAlign = "left";
		drawBands(ctx, app, mergedBands(this.bands, from, to, bbox.width / ratio), bbox.left, 2 * ratio, bbox.width, ratio);
		drawCuts(ctx, app, cutsOf(app.trace, axis), missingParts(app.trace, axis), bbox, place);
		for (const flag of this.flags) {
			const position = flagPosition(app, flag);

			if (position >= from && position <= to)
				drawFlag(ctx, app.theme, flag, place(position), bbox, ratio);
		}
		for (const chosen of new Set([this.hovered, block])) {
			if (chosen < 0)
				continue;
			ctx.save();
			ctx.translate(bbox.left, bbox.top);
			this.map.outline(ctx, chosen, ratio);
			ctx.restore();
		}
		drawCursors(ctx, app, bbox, place, ratio);
		ctx.restore();
	}

	// --- the pointer and keys ---

	private listen(): void {
		let pressed: { x: number; y: number } | null = null;

		this.chart.addEventListener("mousedown", (event) => { pressed = { x: event.clientX, y: event.clientY }; });
		this.chart.addEventListener("mouseup", (event) => {
			if (pressed && Math.abs(event.clientX - pressed.x) < 4)
				this.clicked(event);
			pressed = null;
		});
		this.chart.addEventListener("dblclick", () => {
			this.app.zoom(...this.app.full);
			this.app.showBlock(-1);
		});
		this.chart.addEventListener("mousemove", (event) => this.pointed(event));
		this.chart.addEventListener("mouseleave", () => {
			tooltip.hide();
			this.hover(-1);
			this.readout.point(null);
		});
		this.chart.addEventListener("keydown", (event) => this.key(event));
		for (const element of [this.chart, this.lower.element])
			element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
		listenTouch(this.app, this.chart, (clientX) => this.valueAt(clientX));
		new ResizeObserver(() => this.plot && Math.abs(this.plot.width - this.chart.clientWidth) > 1 && this.resize()).observe(this.chart);
	}

	private hover(block: number): void {
		if (block === this.hovered)
			return;
		this.hovered = block;
		this.plot?.redraw(false, false);
	}

	// Returns the pixel of the map at the pointer, null if the pointer is outside of the map.
	private pixelAt(event: MouseEvent): { x: number; y: number } | null {
		const box = this.plot?.over.getBoundingClientRect();
		const ratio = devicePixelRatio || 1;
		const inside = box && event.clientX >= box.left && event.clientX < box.right && event.clientY >= box.top && event.clientY < box.bottom;

		return inside ? { x: (event.clientX - box.left) * ratio, y: (event.clientY - box.top) * ratio } : null;
	}

	private pointed(event: MouseEvent): void {
		const value = this.valueAt(event.clientX);
		const phase = this.bandAt(event, value);
		const flag = phase ? undefined : this.flagAt(event);
		const pixel = phase || flag ? null : this.pixelAt(event);

		if (!pixel) {
			this.hover(-1);
			this.readout.point(null);
			tooltip.show(event, phase ? phaseCard(phase) : flag ? flagCard(this.app, flag) : null);
			return;
		}
		const id = this.map.isStretched ? -1 : this.map.idAt(pixel.x, pixel.y);
		const band = id >= 0 || this.map.isStretched ? null : this.map.bandCard(pixel.x, pixel.y);

		this.hover(Math.max(id, -1));
		this.readout.point(value);
		tooltip.show(event, [h("div", { class: "reading" }, this.readout.words(value)), ...(id >= 0 ? blockCard(this.app, id) : band ?? [])]);
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
		const { from, to } = this.app.store.state;

		return lane >= 0 && lane < this.lanes ? mergedBands(this.bands, from, to, this.chart.clientWidth - AXIS - RIGHT).find((one) => one.lane === lane && one.from <= value && one.to >= value) : undefined;
	}

	// Returns the flag at the pointer. Flags are drawn between the phases and the map.
	private flagAt(event: MouseEvent): Flag | undefined {
		const box = this.plot?.over.getBoundingClientRect();
		const above = box ? box.top - event.clientY : -1;

		return above >= 0 && above <= 12 ? this.flags.find((flag) => Math.abs((this.plot?.valToPos(flagPosition(this.app, flag), "x") ?? 1e9) - (event.clientX - (box?.left ?? 0))) < 6) : undefined;
	}

	private clicked(event: MouseEvent): void {
		const { app } = this;
		const value = this.valueAt(event.clientX);
		const band = this.bandAt(event, value);
		const flag = this.flagAt(event);
		const pixel = this.pixelAt(event);

		tooltip.hide();
		if (band) {
			app.zoom(band.from, band.to);
		} else if (flag) {
			flag.kind === "peak" && flag.label.endsWith("allocated") ? app.moveToPeak() : app.moveCursor(flag.event);
		} else if (event.shiftKey) {
			app.store.set({ pin: Math.max(eventAt(app.trace, app.store.get("axis"), value), 0) });
		} else {
			const id = pixel ? this.map.idAt(pixel.x, pixel.y) : -1;

			app.moveTo(value);
			if (id >= 0 && pixel)
				app.moveCursor(this.map.momentAt(pixel.x));
			app.showBlock(id >= 0 ? id : -1, event.clientX > innerWidth / 2 ? "left" : "right");
		}
	}

	// The keys up and down choose an allocation at the cursor; Enter moves the focus to its details.
	private key(event: KeyboardEvent): void {
		const { app } = this;
		const step = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;

		if (event.key === "Enter" && app.store.get("block") >= 0) {
			app.focusDetails();
			event.preventDefault();
		}
		if (!step || !this.plot)
			return;
		const x = this.plot.valToPos(app.cursorAt, "x") * (devicePixelRatio || 1);
		const blocks = this.map.blocksAt(x);
		const at = blocks.indexOf(app.store.get("block"));

		event.preventDefault();
		if (blocks.length)
			app.showBlock(blocks[at < 0 ? (step > 0 ? 0 : blocks.length - 1) : (at + step + blocks.length) % blocks.length], x > this.chart.clientWidth / 2 ? "left" : "right");
	}
}
