// The memory timeline: each block is a band over its lifetime, whose height is its size.

import type { App, View } from "./app";
import { blockCard } from "./block";
import { h, select } from "./dom";
import * as format from "./format";
import { groupKeys } from "./legend";
import { EMPTY, layOut, REST, type Layout } from "../model/layout";
import { colour, COLOURS, packed } from "./palette";
import { positionOf } from "../model/sample";
import type { Key } from "../model/state";
import { tooltip } from "./tooltip";

const HEIGHT = 420;
const AXIS = 84;

export class BlockMap implements View {
	readonly id = "map";
	readonly title = "Memory timeline";
	readonly element: HTMLElement;
	private readonly canvas = h("canvas", { role: "img", tabindex: 0, "aria-label": "Memory timeline" });
	private readonly over = h("canvas", { class: "over", "aria-hidden": "true" });
	private readonly caption = h("p", { class: "caption", role: "status" });
	private readonly tools = h("div", { class: "tools" });
	private readonly legend = h("div", { class: "legend" });
	private readonly axis = h("div", { class: "yaxis", "aria-hidden": "true" });
	private readonly stage: HTMLElement;
	private layout: Layout | null = null;
	private onlyMatches = false;
	private chosen = EMPTY;
	private drag: { from: number; to: number } | null = null;

	constructor(private readonly app: App) {
		this.stage = h("div", { class: "stage" }, this.axis, this.canvas, this.over);
		this.element = h("div", { class: "blockmap" }, this.tools, this.caption, this.legend, this.stage);
		this.listen();
	}

	private get width(): number {
		return Math.max(this.element.clientWidth - AXIS - 12, 200);
	}

	private get ratio(): number {
		return Math.min(devicePixelRatio || 1, 2);
	}

	update(changed: Set<Key>): void {
		const drawn: Key[] = ["trace", "scope", "axis", "from", "to", "by", "query", "theme", "view"];

		if (!this.layout || drawn.some((key) => changed.has(key)))
			this.draw();
		this.drawOver();
	}

	private draw(): void {
		const { app, ratio } = this;
		const { trace, theme, query } = app;
		const { axis, from, to } = app.store.state;
		const width = Math.round(this.width * ratio);
		const height = HEIGHT * ratio;
		const rankOf = app.rankOfBlock;
		const only = this.onlyMatches && query && !query.wrong ? query.matches : null;
		const dim = !only && query && !query.wrong ? query.matches : null;

		this.layout = layOut(trace, {
			axis, from, to, places: app.places, sums: app.sumsOf(trace, app.scope).allocated, only, width, height,
			rank: (block) => (dim && !dim[block] ? COLOURS : rankOf(block)),
			stripes: this.stripes(),
			colour: (block) => {
				const shade = ((block * 7919) % 5) * 5 - 10;

				if (dim && !dim[block])
					return packed(theme.grid, shade / 3);
				return packed(colour(rankOf(block), theme.dark), shade);
			},
		});
		this.canvas.width = width;
		this.canvas.height = height;
		this.canvas.style.width = `${width / ratio}px`;
		this.canvas.style.height = `${HEIGHT}px`;
		this.canvas.getContext("2d")?.putImageData(new ImageData(new Uint8ClampedArray(this.layout.pixels.buffer as ArrayBuffer), width, height), 0, 0);
		this.tell();
	}

	// The colours of striped bands: one for each colour of groups, one for other groups, one for unknown bytes.
	private stripes(): [number, number][] {
		const { theme } = this.app;
		const pair = (hex: string): [number, number] => [packed(hex, theme.dark ? -14 : 22), packed(hex, theme.dark ? 8 : 44)];

		return [...Array.from({ length: COLOURS }, (_, rank) => pair(colour(rank, theme.dark))), pair(theme.other), [packed(theme.back), packed(theme.rest)]];
	}

	private tell(): void {
		const { layout, app } = this;
		const { grouping, store } = app;

		if (!layout)
			return;
		const matches = h("input", { type: "checkbox", change: () => { this.onlyMatches = matches.checked; this.draw(); this.drawOver(); } });
		const thin = layout.hidden
			? `; ${format.plural(layout.hidden, "block")} thinner than a pixel (at most ${format.bytes(layout.hiddenMost)} each) are summed in the striped bands above them, by colour: zoom in to see them one by one`
			: "";
		const unknown = layout.bands[layout.bands.length - 1].reduce((most, bytes) => Math.max(most, bytes), 0);
		const rest = thin + (unknown ? `; up to ${format.bytes(unknown)} ${this.unknownWords()} are the palest band` : "");

		matches.checked = this.onlyMatches;
		this.tools.replaceChildren(
			select("Colour by", app.trace.facts.groupings.map((one) => ({ value: one.by, label: one.title })), grouping.by, (by) => store.set({ by })),
			h("label", { class: "choice" }, matches, h("span", {}, "only what the search matches")),
		);
		this.caption.textContent = `${format.plural(layout.drawn, "block")} drawn${rest}.`;
		this.element.dataset["drawn"] = String(layout.drawn);
		this.element.dataset["hidden"] = String(layout.hidden);
		this.element.dataset["rest"] = String(layout.restMost);
		this.element.dataset["highest"] = String(layout.highest);
		this.canvas.setAttribute("aria-label", `Memory timeline of ${app.scope.title}: ${this.caption.textContent} The table and the list of blocks have the same data as text.`);
		this.tellAxis(layout.highest);
		this.legend.replaceChildren(...groupKeys(app));
	}

	// Labels the axis with powers of two, as the curves' axis, and at the top with the highest sum.
	private tellAxis(highest: number): void {
		const step = 2 ** Math.max(Math.ceil(Math.log2(Math.max(highest, 1) / 5)), 0);
		const ticks = [highest];

		for (let bytes = 0; bytes < highest - step / 4; bytes += step)
			ticks.push(bytes);
		this.axis.replaceChildren(...ticks.map((bytes) => {
			const label = h("span", {}, format.bytes(bytes));

			label.style.top = `${(1 - bytes / Math.max(highest, 1)) * 100}%`;
			return label;
		}));
	}

	// Draws the cursors, the range that is being dragged, and the outline of the chosen block.
	private drawOver(): void {
		const { ratio, app } = this;
		const context = this.over.getContext("2d");
		const width = this.canvas.width;
		const { from, to, axis, cursor, pin } = app.store.state;

		this.over.width = width;
		this.over.height = this.canvas.height;
		this.over.style.width = this.canvas.style.width;
		this.over.style.height = this.canvas.style.height;
		if (!context)
			return;
		for (const [event, stroke] of [[pin, app.theme.pin], [cursor, app.theme.accent]] as const) {
			if (event < 0)
				continue;
			const x = ((positionOf(app.trace, axis, event) - from) / (to - from)) * width;

			context.fillStyle = stroke;
			context.fillRect(x - ratio / 2, 0, 1.5 * ratio, this.canvas.height);
		}
		if (this.drag) {
			context.fillStyle = app.theme.dark ? "#ffffff22" : "#00000018";
			context.fillRect(this.drag.from * ratio, 0, (this.drag.to - this.drag.from) * ratio, this.canvas.height);
		}
		if (this.chosen >= 0)
			this.outline(context, this.chosen);
	}

	private outline(context: CanvasRenderingContext2D, block: number): void {
		const { ids } = this.layout as Layout;
		const width = this.canvas.width;
		const { born, died } = this.app.trace.blocks;
		const moments = (this.layout as Layout).moments;

		context.fillStyle = this.app.theme.text;
		for (let x = 0; x < width; x++) {
			if (moments[x] < born[block] || moments[x] >= died[block])
				continue;
			for (let at = x, y = 0; at < ids.length; at += width, y++) {
				if (ids[at] === block && (ids[at - width] !== block || ids[at + width] !== block))
					context.fillRect(x, y, 1, this.ratio);
			}
		}
	}

	// --- the pointer ---

	private idAt(event: MouseEvent): number {
		const x = Math.floor(event.offsetX * this.ratio);
		const y = Math.floor(event.offsetY * this.ratio);

		return this.layout?.ids[y * this.canvas.width + x] ?? EMPTY;
	}

	private valueAt(x: number): number {
		const { from, to } = this.app.store.state;

		return from + (x / this.width) * (to - from);
	}

	private momentAt(event: MouseEvent): number {
		const x = Math.min(Math.max(Math.floor(event.offsetX * this.ratio), 0), this.canvas.width - 1);

		return Math.max(this.layout?.moments[x] ?? 0, 0);
	}

	private listen(): void {
		let pressed = -1;

		this.over.addEventListener("mousedown", (event) => { pressed = event.offsetX; });
		this.over.addEventListener("mousemove", (event) => {
			if (pressed >= 0 && Math.abs(event.offsetX - pressed) > 4) {
				this.drag = { from: Math.min(pressed, event.offsetX), to: Math.max(pressed, event.offsetX) };
				this.drawOver();
				return;
			}
			this.point(event);
		});
		this.over.addEventListener("mouseup", (event) => {
			if (this.drag)
				this.app.zoom(this.valueAt(this.drag.from), this.valueAt(this.drag.to));
			else
				this.click(event);
			this.drag = null;
			pressed = -1;
		});
		this.over.addEventListener("mouseleave", () => {
			tooltip.hide();
			this.drag = null;
			pressed = -1;
		});
		this.over.addEventListener("dblclick", () => this.app.zoom(...this.app.full));
		this.over.addEventListener("wheel", (event) => {
			event.preventDefault();
			this.app.zoomBy(event.deltaY > 0 ? 1.25 : 0.8, this.valueAt(event.offsetX));
		}, { passive: false });
	}

	private point(event: MouseEvent): void {
		const id = this.idAt(event);

		if (id <= REST)
			tooltip.show(event, this.bandCard(REST - id, event));
		else
			tooltip.show(event, id >= 0 ? blockCard(this.app, id) : null);
		if (id !== this.chosen) {
			this.chosen = id;
			this.drawOver();
		}
	}

	private unknownWords(): string {
		return this.app.trace.facts.folded ? "in blocks whose lifetime is inside one slice" : "that no recorded block holds";
	}

	private bandCard(band: number, event: MouseEvent): Node[] {
		const { layout, app } = this;
		const group = app.rankOfGroup.indexOf(band);
		const bytes = layout?.bands[band]?.[Math.floor(event.offsetX * this.ratio)] ?? 0;
		const unknown = band === (layout?.bands.length ?? 0) - 1;

		return [
			h("b", {}, `${format.bytes(bytes)} ${unknown ? this.unknownWords() : "in blocks thinner than a pixel"}`),
			h("div", {}, unknown ? "these blocks are not known one by one" : band < COLOURS && group >= 0 ? app.grouping.names[group] : "of all other groups"),
		];
	}

	private click(event: MouseEvent): void {
		if (event.shiftKey)
			this.app.store.set({ pin: this.momentAt(event) });
		else
			this.app.moveCursor(this.momentAt(event));
	}
}
