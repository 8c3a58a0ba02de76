// A trace for the page: its events in typed arrays, and the blocks that they begin and end.

import { readColumn, undoDelta } from "./columns";
import { readFacts, type Facts, type Track } from "./facts";

export const NEVER = 0xffffffff;
export const NONE = -1;

export const enum Kind { Block, Segment, Mapping, Other }

export interface Blocks {
	count: number;
	born: Uint32Array; // position of the event that began the block
	died: Uint32Array; // position of the event that ended it, NEVER if none did
	size: Float64Array;
	stack: Int32Array; // position of the call stack, NONE if unknown
	place: Uint32Array;
	ptr: Float64Array;
	kind: Uint8Array; // a value of Kind
	category: Uint8Array; // 1 + position in the names of the grouping "category", 0 for none
	many: Uint32Array; // number of blocks that it stands for: above 1 for folds of a long trace
}

export interface Events {
	count: number;
	t: Float64Array; // ns
	op: Uint8Array; // position in facts.ops
	place: Int32Array; // position in facts.places, NONE for marks
	size: Float64Array;
	stack: Int32Array; // position of the call stack, NONE if unknown
	thread: Uint32Array;
	api: Int32Array; // position in facts.apis, NONE for marks
	text: Int32Array; // position in facts.texts for marks and failed allocations, else NONE
	block: Int32Array; // the block that the event begins, else the one that it ends, else NONE
	sums: Record<"device" | "pool", { allocated: Float64Array; reserved: Float64Array }> | null; // bytes after each event, in a long trace; else null
}

// The kernels, copies and long calls that CUPTI recorded, in the order of time.
export interface Spans {
	count: number;
	t: Float64Array; // ns
	ns: Float64Array;
	action: Uint32Array; // position in facts.spans.actions
	track: Uint32Array;
	bytes: Float64Array;
	tracks: Track[];
}

export class Trace {
	readonly gapEvents: Set<number>;
	private readonly kinds: Kind[];

	constructor(
		readonly number: number,
		readonly facts: Facts,
		readonly events: Events,
		readonly blocks: Blocks,
		readonly stackStart: Uint32Array, // for each stack, the index of its first frame in stackFrames; the last element is the end
		readonly stackFrames: Uint32Array,
		readonly spans: Spans | null, // null unless CUPTI was used
	) {
		this.gapEvents = new Set(facts.gaps.map((gap) => gap.event));
		this.kinds = facts.ops.map(kindOf);
	}

	opName(event: number): string {
		return this.facts.ops[this.events.op[event]] ?? "unknown";
	}

	kindOfEvent(event: number): Kind {
		return this.kinds[this.events.op[event]] ?? Kind.Other;
	}

	lifetime(block: number): number | null {
		const died = this.blocks.died[block];

		return died === NEVER ? null : Math.max(this.events.t[died] - this.events.t[this.blocks.born[block]], 0);
	}

	// True for a fold, which stands for many blocks of a long trace.
	isFold(block: number): boolean {
		return this.facts.folded !== undefined && this.opName(this.blocks.born[block]) === "fold";
	}

	// True if the event that ended the block is missing.
	isLost(block: number): boolean {
		return this.gapEvents.has(this.blocks.died[block]);
	}

	// Returns the last event that is not later than t (ns), NONE if t is before the first.
	eventAt(t: number): number {
		let low = 0;
		let high = this.events.count;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (this.events.t[middle] <= t)
				low = middle + 1;
			else
				high = middle;
		}
		return low - 1;
	}

	frameOfStack(stack: number, index: number): number {
		return this.stackFrames[this.stackStart[stack] + index];
	}

	depth(stack: number): number {
		return stack < 0 ? 0 : this.stackStart[stack + 1] - this.stackStart[stack];
	}

	// Returns the frame by which a stack is named, by the rules of trace_line() (src/analyse/trace/trace_frames.c).
	lineFrame(stack: number): number {
		let best = NONE;

		for (let i = 0; i < this.depth(stack); i++) {
			const frame = this.frameOfStack(stack, i);

			if (best === NONE || this.facts.frames[frame][5] < this.facts.frames[best][5])
				best = frame;
		}
		return best;
	}

	lineText(stack: number): string {
		const frame = this.lineFrame(stack);

		return frame === NONE ? "[no stack]" : this.facts.frames[frame][0];
	}
}

function kindOf(op: string): Kind {
	switch (op) {
	case "alloc":
	case "free":
	case "fold":
		return Kind.Block;
	case "reserve":
	case "release":
		return Kind.Segment;
	case "map":
	case "unmap":
		return Kind.Mapping;
	default:
		return Kind.Other;
	}
}

// The columns that src/render/page/page_columns.def describes.
const columnNames = ["t", "op", "place", "size", "stack", "thread", "api", "text", "death", "ptr", "category", "depth", "frame",
	"blocks", "device_allocated", "device_reserved", "pool_allocated", "pool_reserved",
	"span_t", "span_ns", "span_action", "span_track", "span_bytes"] as const;
type Columns = Record<(typeof columnNames)[number], Float64Array>;

async function readColumns(number: number): Promise<Columns> {
	const columns = await Promise.all(columnNames.map((name) => readColumn(name + number)));

	return Object.fromEntries(columnNames.map((name, i) => [name, columns[i]])) as Columns;
}

function isMemory(op: string): boolean {
	return op === "oom" || kindOf(op) !== Kind.Other;
}

function takeEvents(facts: Facts, columns: Columns): { events: Events; blocks: Blocks } {
	const n = facts.events;
	const births = columns.death.length;
	const events: Events = {
		count: n, t: undoDelta(columns.t), op: new Uint8Array(n), place: new Int32Array(n).fill(NONE),
		size: new Float64Array(n), stack: new Int32Array(n).fill(NONE), thread: Uint32Array.from(columns.thread),
		api: new Int32Array(n).fill(NONE), text: new Int32Array(n).fill(NONE), block: new Int32Array(n).fill(NONE), sums: takeSums(facts, columns),
	};
	const blocks: Blocks = {
		count: births, born: new Uint32Array(births), died: new Uint32Array(births), size: new Float64Array(births),
		stack: new Int32Array(births), place: new Uint32Array(births), ptr: undoDelta(columns.ptr), kind: new Uint8Array(births), category: Uint8Array.from(columns.category), many: new Uint32Array(births).fill(1),
	};
	const memory = facts.ops.map(isMemory);
	const kinds = facts.ops.map(kindOf);
	const oom = facts.ops.indexOf("oom");
	const gaps = new Set(facts.gaps.map((gap) => gap.event)); // events after a gap, which end no blocks themselves
	let row = 0; // number of memory events read so far
	let named = 0;
	let block = 0;
	const fold = facts.ops.indexOf("fold");
	let folds = 0;

	for (let i = 0; i < n; i++) {
		const op = columns.op[i] >>> 1;
		const born = columns.op[i] & 1;

		events.op[i] = op;
		if (!memory[op] || op === oom)
			events.text[i] = columns.text[named++];
		if (!memory[op])
			continue;
		events.place[i] = columns.place[row];
		events.size[i] = columns.size[row];
		events.stack[i] = columns.stack[row] - 1;
		events.api[i] = columns.api[row];
		if (!born && op !== fold && events.block[i] !== NONE)
			events.size[i] = blocks.size[events.block[i]];
		if (born) {
			const later = columns.death[block];

			blocks.born[block] = i;
			blocks.died[block] = later ? i + later : NEVER;
			blocks.size[block] = columns.size[row];
			blocks.stack[block] = columns.stack[row] - 1;
			blocks.place[block] = columns.place[row];
			blocks.kind[block] = kinds[op];
			if (op === fold)
				blocks.many[block] = columns.blocks[folds];
			if (later && !gaps.has(i + later))
				events.block[i + later] = block;
			events.block[i] = block;
			block++;
		}
		folds += op === fold ? 1 : 0;
		row++;
	}
	return { events, blocks };
}

function takeSums(facts: Facts, columns: Columns): Events["sums"] {
	if (!facts.folded)
		return null;
	return {
		device: { allocated: undoDelta(columns.device_allocated), reserved: undoDelta(columns.device_reserved) },
		pool: { allocated: undoDelta(columns.pool_allocated), reserved: undoDelta(columns.pool_reserved) },
	};
}

function takeSpans(facts: Facts, columns: Columns): Spans | null {
	return facts.spans ? {
		count: columns.span_ns.length, t: undoDelta(columns.span_t), ns: columns.span_ns, action: Uint32Array.from(columns.span_action),
		track: Uint32Array.from(columns.span_track), bytes: columns.span_bytes, tracks: facts.spans.tracks,
	} : null;
}

function takeStacks(depths: Float64Array, frames: Float64Array): { start: Uint32Array; frames: Uint32Array } {
	const start = new Uint32Array(depths.length + 1);

	for (let i = 0; i < depths.length; i++)
		start[i + 1] = start[i] + depths[i];
	return { start, frames: Uint32Array.from(undoDelta(frames)) };
}

// Reads trace 0 or 1 of the page; null if the page does not have it.
export async function readTrace(number: number): Promise<Trace | null> {
	const facts = readFacts<Facts>(`facts${number}`);

	if (!facts)
		return null;
	const columns = await readColumns(number);
	const { events, blocks } = takeEvents(facts, columns);
	const stacks = takeStacks(columns.depth, columns.frame);

	return new Trace(number, facts, events, blocks, stacks.start, stacks.frames, takeSpans(facts, columns));
}
