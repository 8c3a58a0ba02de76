// The map of allocations over time: each is a band as long as it lives and as high as its size.

import type { App } from "./app";
import { h } from "./dom";
import * as format from "./format";
import { EMPTY, layOut, MISSING, REST, type Layout } from "../model/layout";
import { missingSums } from "../model/missing";
import { sumsOf } from "../model/scope";
import { colour, COLOURS, packed } from "./palette";
import type { Key } from "../model/state";

const drawn: Key[] = ["trace", "scope", "axis", "by", "query", "theme"];
const PAUSE = 80; // ms without a zoom after which the map is laid out again

// The part of the axis and the bytes that a picture shows.
interface Range { from: number; to: number; top: number }

export class MapImage {
	private readonly image = document.createElement("canvas");
	private laidOut: Layout | null = null;
	private made = ""; // all that the layout depends on, except the range
	private shown: Range = { from: 0, to: 1, top: 1 }; // that of the layout
	private wanted: Range = this.shown;
	private timer = 0; // not 0 while the layout is that of an earlier range
	onlyMatches = false;

	constructor(private readonly app: App, private readonly renewed: () => void) {}

	// Lays out the map for a picture of `width` times `height` pixels whose top edge is at `top` bytes. If only the
	// range has changed, the earlier picture is stretched instead, and the layout follows when zooming pauses.
	prepare(width: number, height: number, top: number): void {
		const { state } = this.app.store;
		const made = JSON.stringify([width, height, this.onlyMatches, this.app.theme.dark, ...drawn.map((key) => state[key])]);
		const { from, to } = state;
		const changed = from !== this.wanted.from || to !== this.wanted.to || top !== this.wanted.top;

		if (width < 1 || height < 1 || (made === this.made && !changed))
			return;
		this.wanted = { from, to, top };
		clearTimeout(this.timer);
		this.timer = 0;
		if (made === this.made) {
			this.timer = window.setTimeout(() => this.catchUp(), PAUSE);
			return;
		}
		this.made = made;
		this.image.width = width;
		this.image.height = height;
		this.draw();
	}

	// True while the picture is an earlier one, stretched.
	get isStretched(): boolean {
		return this.timer !== 0;
	}

	private catchUp(): void {
		if (!this.timer)
			return;
		clearTimeout(this.timer);
		this.timer = 0;
		this.draw();
		this.renewed();
	}

	// The layout of the range that is shown; a stretched picture is laid out first.
	private get layout(): Layout | null {
		this.catchUp();
		return this.laidOut;
	}

	private draw(): void {
		const { app, wanted } = this;
		const { width, height } = this.image;
		const { from, to, top } = wanted;
		const { trace, theme, query, scope } = app;
		const { axis } = app.store.state;
		const rankOf = app.rankOfBlock;
		const only = this.onlyMatches && query && !query.wrong ? query.matches : null;
		const dim = !only && query && !query.wrong ? query.matches : null;

		this.shown = wanted;
		this.laidOut = layOut(trace, {
			axis, from, to, places: app.places, sums: sumsOf(trace, scope).allocated, only, width, height, top,
			missing: missingSums(trace, axis, scope, from, to, width),
			rank: (block) => (dim && !dim[block] ? COLOURS : rankOf(block)),
			stripes: this.stripes(), hatch: [packed(theme.back), packed(theme.rest)],
			colour: (block) => {
				const shade = ((block * 7919) % 5) * 5 - 10;

				if (dim && !dim[block])
					return packed(theme.grid, shade / 3);
				return packed(colour(rankOf(block), theme.dark), shade);
			},
		});
		this.image.getContext("2d")?.putImageData(new ImageData(new Uint8ClampedArray(this.laidOut.pixels.buffer as ArrayBuffer), width, height), 0, 0);
	}

	paint(context: CanvasRenderingContext2D, left: number, top: number): void {
		const { shown, wanted, image } = this;

		if (!this.laidOut)
			return;
		if (!this.isStretched) {
			context.drawImage(image, left, top);
			return;
		}
		const across = (shown.to - shown.from) / (wanted.to - wanted.from);
		const up = shown.top / wanted.top;

		context.save();
		context.beginPath();
		context.rect(left, top, image.width, image.height);
		context.clip();
		context.imageSmoothingEnabled = false;
		context.drawImage(image, left + ((shown.from - wanted.from) / (wanted.to - wanted.from)) * image.width,
			top + image.height * (1 - up), image.width * across, image.height * up);
		context.restore();
	}

	// The colours of striped bands: one for each colour of groups, one for other groups, one for unknown bytes.
	private stripes(): [number, number][] {
		const { theme } = this.app;
		const pair = (hex: string): [number, number] => [packed(hex, theme.dark ? -14 : 22), packed(hex, theme.dark ? 8 : 44)];

		return [...Array.from({ length: COLOURS }, (_, rank) => pair(colour(rank, theme.dark))), pair(theme.other), [packed(theme.back), packed(theme.rest)]];
	}

	get facts(): Record<string, string> {
		const { layout } = this;

		return layout ? { drawn: String(layout.drawn), hidden: String(layout.hidden), rest: String(layout.restMost), highest: String(layout.highest) } : {};
	}

	// A sentence on how many allocations the map shows one by one, and which it does not.
	get words(): string {
		const { layout } = this;

		if (!layout || !this.app.trace.events.count)
			return "";
		const { bands } = layout;
		const thin = layout.hidden
			? `; ${format.plural(layout.hidden, "allocation")} thinner than a pixel (${format.bytes(layout.hiddenMost)} or less each) in striped bands: zoom in to see each` : "";
		const unknown = bands[bands.length - 1].reduce((most, bytes) => Math.max(most, bytes), 0);
		const rest = unknown ? `; up to ${format.bytes(unknown)} ${this.unknownWords()} in the palest band` : "";

		return `${format.plural(layout.drawn, "allocation")} drawn${thin}${rest}.`;
	}

	private unknownWords(): string {
		return this.app.trace.facts.folded ? "in allocations that the page has only in sums" : "whose allocation was not recorded";
	}

	// --- what is where ---

	// Returns what is drawn at the pixel: a block, EMPTY, MISSING, or a band.
	idAt(x: number, y: number): number {
		return this.layout?.ids[Math.floor(x) * this.image.height + Math.floor(y)] ?? EMPTY;
	}

	// Returns the event after which the column shows the memory.
	momentAt(x: number): number {
		return Math.max(this.layout?.moments[Math.min(Math.max(Math.floor(x), 0), this.image.width - 1)] ?? 0, 0);
	}

	// Returns the blocks drawn in a column, from the bottom to the top.
	blocksAt(x: number): number[] {
		const found: number[] = [];

		for (let y = this.image.height - 1; y >= 0; y--) {
			const id = this.idAt(x, y);

			if (id >= 0 && id !== found[found.length - 1])
				found.push(id);
		}
		return found;
	}

	bandCard(x: number, y: number): Node[] | null {
		const { app, layout } = this;
		const id = this.idAt(x, y);

		if (id === MISSING)
			return [h("div", {}, "Events are missing here: only the sum is known.")];
		if (!layout || id > REST)
			return null;
		const half = layout.bands.length / 2;
		const band = REST - id;
		const bytes = layout.bands[band]?.[Math.floor(x)] ?? 0;
		const unknown = band === layout.bands.length - 1;
		const group = app.rankOfGroup.indexOf(band % half);

		return [
			h("b", {}, `${format.bytes(bytes)} ${unknown ? this.unknownWords() : "in allocations thinner than a pixel"}`),
			h("div", {}, unknown ? "blocks that are not known one by one" : band % half < COLOURS && group >= 0 ? app.grouping.names[group] : "blocks of all other groups"),
		];
	}

	// Outlines a block in a context whose origin is the map's corner.
	outline(context: CanvasRenderingContext2D, block: number, ratio: number): void {
		if (!this.laidOut || this.isStretched)
			return;
		const { ids, moments } = this.laidOut;
		const { width, height } = this.image;
		const { born, died } = this.app.trace.blocks;

		context.fillStyle = this.app.theme.text;
		for (let x = 0; x < width; x++) {
			if (moments[x] < born[block] || moments[x] >= died[block])
				continue;
			for (let y = 0, at = x * height; y < height; y++, at++) {
				if (ids[at] === block && (!y || ids[at - 1] !== block || ids[at + 1] !== block || ids[at - height] !== block || ids[at + height] !== block))
					context.fillRect(x, y, 1, ratio);
			}
		}
	}
}
