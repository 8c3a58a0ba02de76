// The sums for flame graphs, tables and maps: of the blocks that are live at a moment, or that were
// allocated and freed between two moments.

import type { Trace_peak } from "./rows";
import { Kind, NEVER, type Trace } from "./model";

export type Part = "live" | "kept" | "freed" | "passed" | "peak";

export const partTitles: Record<Part, string> = {
	live: "live at the cursor",
	kept: "allocated between A and B, and kept",
	freed: "freed between A and B (allocated before A)",
	passed: "allocated and freed between A and B",
	peak: "live at the peak of allocated memory",
};

export interface Weights {
	part: Part;
	bytes: Float64Array; // by stack; the last element: blocks without a stack
	blocks: Float64Array;
	categories: { bytes: Float64Array; blocks: Float64Array }; // indexed by block.category
	total: number;
	count: number;
}

// True if the block is in the part, for the moments after the events `from` and `to`, from < to.
function chooses(part: Part, born: number, died: number, from: number, to: number): boolean {
	switch (part) {
	case "live": return born <= to && died > to;
	case "kept": return born > from && born <= to && died > to;
	case "freed": return born <= from && died > from && died <= to;
	case "passed": return born > from && died <= to;
	case "peak": return false; // such blocks are summed by compose()
	}
}

function noWeights(part: Part, stacks: number): Weights {
	return {
		part, bytes: new Float64Array(stacks + 1), blocks: new Float64Array(stacks + 1),
		categories: { bytes: new Float64Array(257), blocks: new Float64Array(257) }, total: 0, count: 0,
	};
}

// The stacks of a peak as the recorder summed them: it is exact even if events are missing.
export function compose(trace: Trace, peak: Trace_peak | undefined): Weights {
	const none = trace.facts.stacks;
	const weights = noWeights("peak", none);
	const of = trace.facts.groupings.find((grouping) => grouping.by === "category")?.of;

	for (const { stack: number, bytes, count } of peak?.stacks ?? []) {
		const stack = number ?? none;

		weights.bytes[stack] += bytes;
		weights.blocks[stack] += count;
		weights.categories.bytes[(of?.[stack] ?? -1) + 1] += bytes;
		weights.categories.blocks[(of?.[stack] ?? -1) + 1] += count;
		weights.total += bytes;
		weights.count += count;
	}
	return weights;
}

export function weigh(trace: Trace, places: boolean[], part: Part, from: number, to: number): Weights {
	const { blocks } = trace;
	const none = trace.facts.stacks;
	const weights = noWeights(part, none);

	for (let i = 0; i < blocks.count && blocks.born[i] <= to; i++) {
		const died = blocks.died[i];

		if (blocks.kind[i] !== Kind.Block || !places[blocks.place[i]] || !chooses(part, blocks.born[i], died === NEVER ? Infinity : died, from, to))
			continue;
		const stack = blocks.stack[i] < 0 ? none : blocks.stack[i];

		weights.bytes[stack] += blocks.size[i];
		weights.blocks[stack] += blocks.many[i];
		weights.categories.bytes[blocks.category[i]] += blocks.size[i];
		weights.categories.blocks[blocks.category[i]] += blocks.many[i];
		weights.total += blocks.size[i];
		weights.count += blocks.many[i];
	}
	return weights;
}
