// Finds the free memory inside the segments of pools at one time, by the rules of src/facts/gaps.c.

import { Kind, type Trace } from "./model";

export interface Segment {
	ptr: number; size: number; used: number; largest: number; // bytes of the largest gap
	gaps: number;
	mapped: boolean;
	blocks: number[]; // the blocks in the segment, by address
	pieces: number[]; // indices into trace.blocks: the segment, or the adjacent mappings that form it
}

export interface PoolGaps {
	device: number | null; pool: string;
	reserved: number; used: number;
	whole: number; wholeCount: number; // bytes and number of segments without a block
	gaps: number; gapsCount: number; largest: number; // bytes, number and largest of the free pieces in segments with blocks
	elsewhere: number; elsewhereCount: number; // bytes and number of blocks in no known segment
	segments: Segment[]; // segments with most free bytes first; those without blocks last
}

interface Found { ranges: number[]; blocks: number[] }

function collect(trace: Trace, moment: number, device: number | null, pool: string | null): Map<string, Found> {
	const { blocks, facts } = trace;
	const found = new Map<string, Found>();

	for (let i = 0; i < blocks.count && blocks.born[i] <= moment; i++) {
		const place = facts.places[blocks.place[i]];

		if (blocks.died[i] <= moment || place.pool === null || !blocks.size[i] || place.device !== device || (pool !== null && place.pool !== pool))
			continue;
		const handed = blocks.kind[i] === Kind.Block;

		if (!handed && place.handle)
			continue;
		const entry = found.get(place.pool) ?? { ranges: [], blocks: [] };

		(handed ? entry.blocks : entry.ranges).push(i);
		found.set(place.pool, entry);
	}
	return found;
}

// Makes segments; adjacent mappings become one segment.
function join(trace: Trace, ranges: number[]): Segment[] {
	const { ptr, size, kind } = trace.blocks;
	const segments: Segment[] = [];

	for (const range of ranges) {
		const last = segments[segments.length - 1];
		const mapped = kind[range] === Kind.Mapping;

		if (last && mapped && last.mapped && last.ptr + last.size === ptr[range]) {
			last.size += size[range];
			last.pieces.push(range);
			continue;
		}
		segments.push({ ptr: ptr[range], size: size[range], used: 0, largest: 0, gaps: 0, mapped, blocks: [], pieces: [range] });
	}
	return segments;
}

function addGap(pool: PoolGaps, segment: Segment, size: number): void {
	if (size <= 0)
		return;
	segment.gaps++;
	segment.largest = Math.max(segment.largest, size);
	if (!segment.blocks.length)
		return;
	pool.gaps += size;
	pool.gapsCount++;
	pool.largest = Math.max(pool.largest, size);
}

function fill(trace: Trace, pool: PoolGaps, segment: Segment): void {
	const { ptr, size } = trace.blocks;
	const limit = segment.ptr + segment.size;
	let free = segment.ptr;

	for (const block of segment.blocks) {
		const end = Math.min(ptr[block] + size[block], limit);

		addGap(pool, segment, ptr[block] - free);
		if (end <= free)
			continue;
		segment.used += end - Math.max(ptr[block], free);
		free = end;
	}
	addGap(pool, segment, limit - free);
	pool.used += segment.used;
	if (!segment.blocks.length) {
		pool.whole += segment.size;
		pool.wholeCount++;
	}
}

export function findGaps(trace: Trace, moment: number, device: number | null, only: string | null): PoolGaps[] {
	const { ptr, size } = trace.blocks;
	const byAddress = (a: number, b: number) => ptr[a] - ptr[b] || size[a] - size[b];
	const pools: PoolGaps[] = [];

	for (const [name, found] of collect(trace, moment, device, only)) {
		const pool: PoolGaps = {
			device, pool: name, reserved: 0, used: 0, whole: 0, wholeCount: 0, gaps: 0, gapsCount: 0, largest: 0,
			elsewhere: 0, elsewhereCount: 0, segments: join(trace, found.ranges.sort(byAddress)),
		};
		let at = 0;

		for (const block of found.blocks.sort(byAddress)) {
			while (at < pool.segments.length && pool.segments[at].ptr + pool.segments[at].size <= ptr[block])
				at++;
			if (at < pool.segments.length && ptr[block] >= pool.segments[at].ptr) {
				pool.segments[at].blocks.push(block);
			} else {
				pool.elsewhere += size[block];
				pool.elsewhereCount++;
			}
		}
		for (const segment of pool.segments) {
			pool.reserved += segment.size;
			fill(trace, pool, segment);
		}
		const held = (segment: Segment) => (segment.blocks.length ? segment.size - segment.used : 0);

		pool.segments.sort((a, b) => held(b) - held(a) || a.ptr - b.ptr);
		pools.push(pool);
	}
	return pools;
}
