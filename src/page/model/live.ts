// The sums for flame graphs, tables and maps: of the blocks that are live at a moment, or that were
// allocated and freed between two moments.

import type { Trace_peak } from "./rows";
import type { Grouping } from "./facts";
import { groupOfBlock } from "./groupings";
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
	bytes: Float64Array; // for each stack; the last element is for blocks without a stack
	blocks: Float64Array;
	groups: { bytes: Float64Array; blocks: Float64Array }; // for each group at 1 + its index; 0 is for blocks without a group
	total: number;
	count: number;
}

// True if the part has a block with these events. It compares the times after the events `from` and `to`, from < to.
function chooses(part: Part, born: number, died: number, from: number, to: number): boolean {
	switch (part) {
	case "live": return born <= to && died > to;
	case "kept": return born > from && born <= to && died > to;
	case "freed": return born <= from && died > from && died <= to;
	case "passed": return born > from && died <= to;
	case "peak": return false; // compose() sums this part, from stacks
	}
}

function noWeights(part: Part, stacks: number, groups: number): Weights {
	return {
		part, bytes: new Float64Array(stacks + 1), blocks: new Float64Array(stacks + 1),
		groups: { bytes: new Float64Array(groups + 1), blocks: new Float64Array(groups + 1) }, total: 0, count: 0,
	};
}

// Returns the stacks of a peak as the recorder summed them, which is exact even if events are missing.
export function compose(trace: Trace, peak: Trace_peak | undefined, grouping: Grouping): Weights {
	const none = trace.facts.stacks;
	const weights = noWeights("peak", none, grouping.names.length);
	const { of } = grouping;

	for (const { stack: number, bytes, count } of peak?.stacks ?? []) {
		const stack = number ?? none;

		weights.bytes[stack] += bytes;
		weights.blocks[stack] += count;
		weights.groups.bytes[(of[stack] ?? -1) + 1] += bytes;
		weights.groups.blocks[(of[stack] ?? -1) + 1] += count;
		weights.total += bytes;
		weights.count += count;
	}
	return weights;
}

export function weigh(trace: Trace, places: boolean[], part: Part, from: number, to: number, grouping: Grouping): Weights {
	const { blocks } = trace;
	const none = trace.facts.stacks;
	const weights = noWeights(part, none, grouping.names.length);

	eachBlock(trace, places, part, from, to, (i) => {
		const stack = blocks.stack[i] < 0 ? none : blocks.stack[i];
		const group = 1 + groupOfBlock(trace, grouping, i);

		weights.bytes[stack] += blocks.size[i];
		weights.blocks[stack] += blocks.many[i];
		weights.groups.bytes[group] += blocks.size[i];
		weights.groups.blocks[group] += blocks.many[i];
		weights.total += blocks.size[i];
		weights.count += blocks.many[i];
	});
	return weights;
}

// Calls `each` for every block of the part.
export function eachBlock(trace: Trace, places: boolean[], part: Part, from: number, to: number, each: (block: number) => void): void {
	const { blocks } = trace;

	for (let i = 0; i < blocks.count && blocks.born[i] <= to; i++) {
		const died = blocks.died[i];

		if (blocks.kind[i] !== Kind.Block || !places[blocks.place[i]] || !chooses(part, blocks.born[i], died === NEVER ? Infinity : died, from, to))
			continue;
		each(i);
	}
}
