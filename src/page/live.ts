// Which blocks live at a moment, or were born and died between two: the sums that flames, tables and
// maps show.

import type { Composition } from "./facts";
import { Kind, NEVER, type Trace } from "./model";

export type Part = "live" | "kept" | "freed" | "passed" | "peak";

export const partTitles: Record<Part, string> = {
	live: "live at the cursor",
	kept: "born between the cursors, and still there",
	freed: "gone between the cursors, from before them",
	passed: "born and gone between the cursors",
	peak: "live at the peak of allocated memory",
};

export interface Weights {
	part: Part;
	bytes: Float64Array; // by stack; the last: without a stack
	blocks: Float64Array;
	total: number;
	count: number;
}

// from < to are events: the moments behind them.
function chooses(part: Part, born: number, died: number, from: number, to: number): boolean {
	switch (part) {
	case "live": return born <= to && died > to;
	case "kept": return born > from && born <= to && died > to;
	case "freed": return born <= from && died > from && died <= to;
	case "passed": return born > from && died <= to;
	case "peak": return false; // compose()
	}
}

// As the ledger of the recorder knew it, which needs no events.
export function compose(trace: Trace, peak: Composition | undefined): Weights {
	const none = trace.facts.stacks;
	const weights: Weights = { part: "peak", bytes: new Float64Array(none + 1), blocks: new Float64Array(none + 1), total: 0, count: 0 };

	for (const [stack, bytes, count] of peak?.stacks ?? []) {
		weights.bytes[stack] += bytes;
		weights.blocks[stack] += count;
		weights.total += bytes;
		weights.count += count;
	}
	return weights;
}

export function weigh(trace: Trace, places: boolean[], part: Part, from: number, to: number): Weights {
	const { blocks } = trace;
	const none = trace.facts.stacks;
	const weights: Weights = { part, bytes: new Float64Array(none + 1), blocks: new Float64Array(none + 1), total: 0, count: 0 };

	for (let i = 0; i < blocks.count && blocks.born[i] <= to; i++) {
		const died = blocks.died[i];

		if (blocks.kind[i] !== Kind.Block || !places[blocks.place[i]] || !chooses(part, blocks.born[i], died === NEVER ? Infinity : died, from, to))
			continue;
		const stack = blocks.stack[i] < 0 ? none : blocks.stack[i];

		weights.bytes[stack] += blocks.size[i];
		weights.blocks[stack] += blocks.many[i];
		weights.total += blocks.size[i];
		weights.count += blocks.many[i];
	}
	return weights;
}
