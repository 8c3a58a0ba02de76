// Lays out a map of blocks over time as a picture in pixels, column by column.
//
// A column shows the moment at which the sum is highest within it, so no peak is lost. Blocks are
// stacked in the order of their allocation. Blocks thinner than a pixel are summed in striped bands on
// top of them, one band for each colour; the last band is for bytes that no recorded block holds.
// So the height of a column is always the complete sum.

import { Kind, NEVER, type Trace } from "./model";
import { eventAt } from "./sample";
import type { Axis } from "./state";

export const EMPTY = -1;
export const REST = -2; // REST - i is the id of band i, of blocks thinner than a pixel

export interface Wish {
	axis: Axis; from: number; to: number;
	places: boolean[];
	sums: Float64Array;
	only: Uint8Array | null; // by block: 1 if it is shown; null: all are
	width: number; height: number; // pixels
	colour: (block: number) => number; // as a pixel of ImageData
	rank: (block: number) => number; // index in `stripes` of the band for a block too thin to draw
	stripes: [number, number][]; // two colours for each band; the last band: bytes that no recorded block holds
}

export interface Layout {
	ids: Int32Array; // by pixel: the block, EMPTY, or REST - band
	pixels: Uint32Array;
	highest: number; // bytes at the top edge
	drawn: number; // number of blocks drawn one by one
	hidden: number; // number of blocks summed in bands
	hiddenMost: number; // bytes of the largest block in bands
	restMost: number; // most bytes that all bands have in a column
	bands: Float64Array[]; // by band, then by column: bytes
	moments: Int32Array; // by column: an event; the column shows the memory after it
}

// The event with the highest sum in each column; a column without events repeats the last event before it.
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

// The bytes of the chosen blocks after each event: the height of a map of these blocks alone.
function sumOf(trace: Trace, wish: Wish, only: Uint8Array): Float64Array {
	const { blocks, events } = trace;
	const sums = new Float64Array(events.count);

	for (let i = 0; i < blocks.count; i++) {
		if (!only[i] || !wish.places[blocks.place[i]])
			continue;
		sums[blocks.born[i]] += blocks.size[i];
		if (blocks.died[i] !== NEVER)
			sums[blocks.died[i]] -= blocks.size[i];
	}
	for (let i = 1; i < sums.length; i++)
		sums[i] += sums[i - 1];
	return sums;
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

export function layOut(trace: Trace, wish: Wish): Layout {
	const { width, height } = wish;
	const { blocks } = trace;
	const sums = wish.only ? sumOf(trace, wish, wish.only) : wish.sums;
	const moments = findMoments(trace, wish, sums);
	const layout: Layout = {
		ids: new Int32Array(width * height).fill(EMPTY), pixels: new Uint32Array(width * height),
		highest: 1, drawn: 0, hidden: 0, hiddenMost: 0, restMost: 0, moments,
		bands: wish.stripes.map(() => new Float64Array(width + 1)),
	};

	for (const moment of moments)
		layout.highest = Math.max(layout.highest, (moment >= 0 && sums[moment]) || 0);
	const first = moments[0];
	const last = moments[width - 1];
	const least = layout.highest / height; // bytes in the height of one pixel
	const columnOf = columnOfEvent(moments, first, last);
	const chosen: number[] = [];

	for (let i = 0; i < blocks.count && blocks.born[i] <= last; i++) {
		if (blocks.kind[i] !== Kind.Block || blocks.died[i] <= first || !wish.places[blocks.place[i]] || (wish.only && !wish.only[i]))
			continue;
		if (blocks.size[i] >= least) {
			chosen.push(i);
			continue;
		}
		const from = blocks.born[i] <= first ? 0 : columnOf[blocks.born[i] - first];
		const to = blocks.died[i] > last ? width : columnOf[blocks.died[i] - first];
		const band = layout.bands[wish.rank(i)];

		layout.hidden++;
		layout.hiddenMost = Math.max(layout.hiddenMost, blocks.size[i]);
		band[from] += blocks.size[i];
		band[to] -= blocks.size[i];
	}
	for (const band of layout.bands) {
		for (let x = 1; x < band.length; x++)
			band[x] += band[x - 1];
	}
	layout.drawn = chosen.length;
	fillColumns(trace, wish, layout, sums, chosen);
	return layout;
}

// The upper edge of a block that ends at `to` bytes, if its lower edge is row y.
function rows(layout: Layout, height: number, to: number, y: number): number {
	return Math.min(Math.max(Math.round(height - (to / layout.highest) * height), 0), y);
}

function fillBands(wish: Wish, layout: Layout, x: number, sum: number, held: number, y: number): void {
	const { width, height } = wish;
	const { ids, pixels, bands } = layout;
	const unknown = bands.length - 1;
	let below = held;
	let bottom = y;
	let rest = 0;

	bands[unknown][x] = Math.max(sum - held - bands.reduce((all, band, i) => all + (i < unknown ? band[x] : 0), 0), 0) || 0;
	for (let i = 0; i < bands.length; i++) {
		below += bands[i][x];
		rest += bands[i][x];
		const top = bands[i][x] > 0 ? rows(layout, height, below, bottom) : bottom;

		for (let row = top; row < bottom; row++) {
			pixels[row * width + x] = wish.stripes[i][((x + row) >> 2) & 1];
			ids[row * width + x] = REST - i;
		}
		bottom = top;
	}
	layout.restMost = Math.max(layout.restMost, rest);
}

function fillColumns(trace: Trace, wish: Wish, layout: Layout, sums: Float64Array, chosen: number[]): void {
	const { width, height } = wish;
	const { born, died, size } = trace.blocks;
	const { ids, pixels, moments } = layout;
	const colours = new Map<number, number>();
	let alive: number[] = [];
	let next = 0;

	for (let x = 0; x < width; x++) {
		const moment = moments[x];

		if (x && moment === moments[x - 1]) {
			copyColumn(layout, width, height, x);
			continue;
		}
		alive = alive.filter((block) => died[block] > moment);
		for (; next < chosen.length && born[chosen[next]] <= moment; next++) {
			if (died[chosen[next]] > moment)
				alive.push(chosen[next]);
		}
		let held = 0;
		let y = height;

		for (const block of alive) {
			held += size[block];
			const top = rows(layout, height, held, y);
			let colour = colours.get(block);

			if (colour === undefined) {
				colour = wish.colour(block);
				colours.set(block, colour);
			}
			// One row of background between neighbours, if the block is high enough.
			const edge = y - top > 3 ? top + 1 : top;

			for (let row = edge; row < y; row++)
				pixels[row * width + x] = colour;
			for (let row = top; row < y; row++)
				ids[row * width + x] = block;
			y = top;
		}
		fillBands(wish, layout, x, (moment >= 0 && sums[moment]) || 0, held, y);
	}
}

function copyColumn(layout: Layout, width: number, height: number, x: number): void {
	for (let row = 0, at = x; row < height; row++, at += width) {
		layout.pixels[at] = layout.pixels[at - 1];
		layout.ids[at] = layout.ids[at - 1];
	}
	layout.bands[layout.bands.length - 1][x] = layout.bands[layout.bands.length - 1][x - 1];
}
