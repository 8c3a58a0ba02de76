// Lays out a map of blocks over time as a picture in pixels, column by column.
//
// A column shows the moment at which the sum is highest within it, so no peak is lost. Blocks that live
// through half of the view lie at the bottom, by colour; the others are stacked on them in the order of
// their allocation. Blocks thinner than a pixel are summed in striped bands on top of either, one band for
// each colour; the last band is for bytes that no recorded block holds. So the height of a column is
// always the complete sum. Where events are missing, the column is hatched up to the recorder's sum.

import { Kind, type Trace } from "./model";
import { eventAt, type Axis } from "./axis";
import { sumsOfBlocks } from "./scope";

export const EMPTY = -1;
export const MISSING = -2; // where events are missing
export const REST = -3; // REST - i: band i of blocks thinner than a pixel; for each pair of stripes there are two bands

export interface Wish {
	axis: Axis; from: number; to: number;
	places: boolean[];
	sums: Float64Array;
	only: Uint8Array | null; // for each block 1 if it is shown; null if all are
	missing: Float64Array | null; // for each column, the sum if events are missing there, else NaN
	width: number; height: number; // pixels
	top: number; // bytes at the top edge
	colour: (block: number) => number; // as a pixel of ImageData
	rank: (block: number) => number; // index into `stripes` for a block that is too thin to be drawn
	hatch: [number, number]; // two colours for where events are missing
	stripes: [number, number][]; // two colours for each band; the last band: bytes that no recorded block holds
}

export interface Layout {
	ids: Int32Array; // for each pixel, column after column: the block, EMPTY, MISSING, or REST - band
	pixels: Uint32Array; // row after row, as ImageData has them
	highest: number; // bytes of the highest column
	drawn: number; // number of blocks drawn one by one
	hidden: number; // number of blocks summed in bands
	hiddenMost: number; // bytes of the largest block in bands
	restMost: number; // most bytes that all bands have in a column
	bands: Float64Array[]; // for each band, the bytes in each column; bands of long-lived blocks are first
	moments: Int32Array; // for each column, the event after which it shows the memory
}

// Finds the event with the highest sum in each column; a column without events has the last event before it.
function findMoments(trace: Trace, wish: Wish, sums: Float64Array): Int32Array {
	const moments = new Int32Array(wish.width);
	let at = Math.max(eventAt(trace, wish.axis, wish.from), -1);

	for (let x = 0; x < wish.width; x++) {
		const end = eventAt(trace, wish.axis, wish.from + ((wish.to - wish.from) * (x + 1)) / wish.width);
		let best = at;

		if (end > at) {
			best = at + 1;
			for (let i = at + 1; i <= end; i++) {
				if (sums[i] > sums[best])
					best = i;
			}
			at = end;
		}
		moments[x] = best;
	}
	return moments;
}

// For each event from `first` to `last`, the first column whose moment is not before the event.
function columnOfEvent(moments: Int32Array, first: number, last: number): Uint16Array {
	const columns = new Uint16Array(Math.max(last - first + 1, 1));
	let column = 0;

	for (let event = first; event <= last; event++) {
		while (moments[column] < event)
			column++;
		columns[event - first] = column;
	}
	return columns;
}

// A block that lives at least this part of the view lies at the bottom.
const LONG = 0.5;

export function layOut(trace: Trace, wish: Wish): Layout {
	const { width, height, stripes } = wish;
	const { blocks } = trace;
	const sums = wish.only ? sumsOfBlocks(trace, wish.places, wish.only) : wish.sums;
	const moments = findMoments(trace, wish, sums);
	const layout: Layout = {
		ids: new Int32Array(width * height).fill(EMPTY), pixels: new Uint32Array(width * height),
		highest: 1, drawn: 0, hidden: 0, hiddenMost: 0, restMost: 0, moments,
		bands: [...stripes, ...stripes].map(() => new Float64Array(width + 1)),
	};

	moments.forEach((moment, x) => { layout.highest = Math.max(layout.highest, (moment >= 0 && sums[moment]) || 0, wish.missing?.[x] || 0); });
	const first = moments[0];
	const last = moments[width - 1];
	const least = wish.top / height; // bytes in the height of one pixel
	const columnOf = columnOfEvent(moments, first, last);
	const low: number[] = [];
	const high: number[] = [];

	for (let i = 0; i < blocks.count && blocks.born[i] <= last; i++) {
		if (blocks.kind[i] !== Kind.Block || blocks.died[i] <= first || !wish.places[blocks.place[i]] || (wish.only && !wish.only[i]))
			continue;
		const from = blocks.born[i] <= first ? 0 : columnOf[blocks.born[i] - first];
		const to = blocks.died[i] > last ? width : columnOf[blocks.died[i] - first];
		const long = to - from >= LONG * width;

		if (blocks.size[i] >= least) {
			(long ? low : high).push(i);
			continue;
		}
		const band = layout.bands[wish.rank(i) + (long ? 0 : stripes.length)];

		layout.hidden++;
		layout.hiddenMost = Math.max(layout.hiddenMost, blocks.size[i]);
		band[from] += blocks.size[i];
		band[to] -= blocks.size[i];
	}
	for (const band of layout.bands) {
		for (let x = 1; x < band.length; x++)
			band[x] += band[x - 1];
	}
	low.sort((a, b) => wish.rank(a) - wish.rank(b) || a - b);
	layout.drawn = low.length + high.length;
	new Painter(trace, wish, layout, sums).fill(low, high);
	layout.pixels = turned(layout.pixels, width, height);
	return layout;
}

const TILE = 32; // pixels: a square that fits in the processor's cache

// Transposes pixels from the order of columns to the order of rows.
function turned(columns: Uint32Array, width: number, height: number): Uint32Array {
	const rows = new Uint32Array(columns.length);

	for (let left = 0; left < width; left += TILE) {
		const right = Math.min(left + TILE, width);

		for (let top = 0; top < height; top += TILE) {
			const bottom = Math.min(top + TILE, height);

			for (let y = top; y < bottom; y++) {
				for (let x = left; x < right; x++)
					rows[y * width + x] = columns[x * height + y];
			}
		}
	}
	return rows;
}

class Painter {
	private readonly colours = new Map<number, number>();
	private held = 0; // bytes that are painted in the current column
	private y = 0; // the highest row that is painted in the column
	private x = 0;

	constructor(private readonly trace: Trace, private readonly wish: Wish, private readonly layout: Layout, private readonly sums: Float64Array) {}

	fill(low: number[], high: number[]): void {
		const { wish, layout } = this;
		const { born, died } = this.trace.blocks;
		const { moments } = layout;
		const half = wish.stripes.length;
		let alive: number[] = [];
		let next = 0;

		for (this.x = 0; this.x < wish.width; this.x++) {
			const { x } = this;
			const moment = moments[x];
			const missing = wish.missing?.[x] ?? NaN;

			this.held = 0;
			this.y = wish.height;
			if (!Number.isNaN(missing)) {
				this.raise(missing, MISSING, wish.hatch);
				continue;
			}
			if (x && moment === moments[x - 1] && Number.isNaN(wish.missing?.[x - 1] ?? NaN)) {
				this.copyColumn();
				continue;
			}
			alive = alive.filter((block) => died[block] > moment);
			for (; next < high.length && born[high[next]] <= moment; next++) {
				if (died[high[next]] > moment)
					alive.push(high[next]);
			}
			for (const block of low) {
				if (born[block] <= moment && died[block] > moment)
					this.stack(block);
			}
			let rest = this.bandsOf(0, half);

			for (const block of alive)
				this.stack(block);
			const sum = (moment >= 0 && this.sums[moment]) || 0;
			const unknown = layout.bands[2 * half - 1];

			unknown[x] = 0;
			for (let i = half; i < 2 * half - 1; i++)
				unknown[x] += layout.bands[i][x];
			unknown[x] = Math.max(sum - this.held - unknown[x], 0) || 0;
			rest += this.bandsOf(half, 2 * half);
			layout.restMost = Math.max(layout.restMost, rest);
		}
	}

	// Returns the row of a block's or band's upper edge, which is at `to` bytes.
	private row(to: number): number {
		return Math.min(Math.max(Math.round(this.wish.height - (to / this.wish.top) * this.wish.height), 0), this.y);
	}

	private stack(block: number): void {
		const { ids, pixels } = this.layout;
		const start = this.x * this.wish.height;
		let colour = this.colours.get(block);

		if (colour === undefined) {
			colour = this.wish.colour(block);
			this.colours.set(block, colour);
		}
		this.held += this.trace.blocks.size[block];
		const top = this.row(this.held);
		// Leaves one row of background between neighbours, if the block is high enough.
		const edge = this.y - top > 3 ? top + 1 : top;

		for (let at = start + edge; at < start + this.y; at++)
			pixels[at] = colour;
		for (let at = start + top; at < start + this.y; at++)
			ids[at] = block;
		this.y = top;
	}

	private bandsOf(from: number, to: number): number {
		let sum = 0;

		for (let i = from; i < to; i++) {
			const bytes = this.layout.bands[i][this.x];

			if (bytes > 0)
				this.raise(bytes, REST - i, this.wish.stripes[i % this.wish.stripes.length]);
			sum += Math.max(bytes, 0);
		}
		return sum;
	}

	private raise(bytes: number, id: number, colours: [number, number]): void {
		const { ids, pixels } = this.layout;
		const start = this.x * this.wish.height;

		this.held += bytes;
		const top = this.row(this.held);

		for (let row = top; row < this.y; row++) {
			pixels[start + row] = colours[((this.x + row) >> 2) & 1];
			ids[start + row] = id;
		}
		this.y = top;
	}

	private copyColumn(): void {
		const { ids, pixels, bands } = this.layout;
		const { height } = this.wish;
		const unknown = bands[bands.length - 1];
		const start = this.x * height;

		pixels.copyWithin(start, start - height, start);
		ids.copyWithin(start, start - height, start);
		unknown[this.x] = unknown[this.x - 1];
	}
}
