// Groups of blocks, which are the colours of pictures and the rows of tables: groups of stacks, which the page's data
// have, and groups of blocks, which are found here.

import type { Grouping } from "./facts";
import { Kind, NEVER, type Trace } from "./model";

const SHADES = 60; // number of groups of "each allocation", enough that neighbours differ

// Gives names the numbers 0, 1, 2 ... in the order in which they first occur.
class Names {
	readonly names: string[] = [];
	private readonly numbers = new Map<string, number>();

	numberOf(name: string): number {
		let number = this.numbers.get(name);

		if (number === undefined) {
			number = this.names.push(name) - 1;
			this.numbers.set(name, number);
		}
		return number;
	}
}

export function threadName(trace: Trace, thread: number): string {
	const known = trace.facts.threads[thread];

	return known ? known.name ?? `thread ${known.thread}` : "unknown";
}

function byThread(trace: Trace): Grouping {
	const names = new Names();
	const { blocks, events } = trace;
	const ofBlock = blocks.born.length ? Int32Array.from(blocks.born, (event) => names.numberOf(threadName(trace, events.thread[event]))) : new Int32Array(0);

	return { by: "thread", title: "thread", names: names.names, of: [], ofBlock };
}

// Returns a phase's name without its number, so that "step 1" and "step 2" are one group.
export function phaseFamily(name: string): string {
	return name.replace(/[0-9]+/g, "#");
}

// Groups blocks by the name of the innermost phase in which they were allocated.
function byPhase(trace: Trace): Grouping {
	const names = new Names();
	const { blocks, events, facts } = trace;
	const ofBlock = new Int32Array(blocks.count).fill(-1);
	const open: { end: number; number: number }[] = [];
	let next = 0;

	for (let i = 0; i < blocks.count; i++) {
		const t = events.t[blocks.born[i]];

		for (; next < facts.phases.length && facts.phases[next].start <= t; next++) {
			const phase = facts.phases[next];

			while (open.length && open[open.length - 1].end <= phase.start)
				open.pop();
			open.push({ end: phase.end ?? Infinity, number: names.numberOf(phaseFamily(phase.name)) });
		}
		while (open.length && open[open.length - 1].end < t)
			open.pop();
		if (open.length)
			ofBlock[i] = open[open.length - 1].number;
	}
	return { by: "phase", title: "phase", names: names.names, of: [], ofBlock };
}

function byStack(trace: Trace): Grouping {
	const of = [...Array(trace.facts.stacks).keys()];

	return { by: "stack", title: "call stack", names: of.map((stack) => `${trace.lineText(stack)}, stack ${stack}`), of };
}

function byAllocation(trace: Trace): Grouping {
	return { by: "block", title: "each allocation", names: Array.from({ length: SHADES }, () => ""), of: [], ofBlock: Int32Array.from(trace.blocks.born, (_, block) => block % SHADES) };
}

function categories(trace: Trace): Int32Array {
	const ofBlock = new Int32Array(trace.blocks.count);

	for (let i = 0; i < ofBlock.length; i++)
		ofBlock[i] = trace.blocks.category[i] - 1;
	return ofBlock;
}

const known = new WeakMap<Trace, Map<string, Grouping>>();
const makers: Record<string, (trace: Trace) => Grouping> = { thread: byThread, phase: byPhase, stack: byStack, block: byAllocation };

// Returns all groupings of blocks: a word for links, and a label.
export function groupingChoices(trace: Trace): { value: string; label: string }[] {
	const given = trace.facts.groupings.map((one) => ({ value: one.by, label: one.title }));
	const category = given.filter((one) => one.value === "category");
	const own = [
		...(trace.facts.phases.length ? [{ value: "phase", label: "phase" }] : []), ...(trace.facts.threads.length > 1 ? [{ value: "thread", label: "thread" }] : []),
		{ value: "stack", label: "call stack" }, { value: "block", label: "each allocation" },
	];

	return [...category, ...given.filter((one) => one.value !== "category"), ...own];
}

export function groupingBy(trace: Trace, by: string): Grouping | undefined {
	const given = trace.facts.groupings.find((one) => one.by === by);
	const made = known.get(trace) ?? new Map<string, Grouping>();
	let grouping = made.get(by);

	known.set(trace, made);
	if (grouping)
		return grouping;
	if (given)
		grouping = by === "category" ? { ...given, ofBlock: categories(trace) } : given;
	else if (groupingChoices(trace).some((one) => one.value === by))
		grouping = makers[by]?.(trace);
	if (grouping)
		made.set(by, grouping);
	return grouping;
}

// Returns the index of a block's group in grouping.names, -1 if it has none.
export function groupOfBlock(trace: Trace, grouping: Grouping, block: number): number {
	const stack = trace.blocks.stack[block];

	return grouping.ofBlock ? grouping.ofBlock[block] : stack < 0 ? -1 : grouping.of[stack] ?? -1;
}

// Returns for each group its bytes after the event, and the sum of bytes times events lived over all its blocks.
export function weighGroups(trace: Trace, grouping: Grouping, places: boolean[], event: number): { live: Float64Array; area: Float64Array } {
	const { blocks, events } = trace;
	const live = new Float64Array(grouping.names.length);
	const area = new Float64Array(grouping.names.length);

	for (let i = 0; i < blocks.count; i++) {
		const group = blocks.kind[i] === Kind.Block && places[blocks.place[i]] ? groupOfBlock(trace, grouping, i) : -1;

		if (group < 0)
			continue;
		area[group] += blocks.size[i] * ((blocks.died[i] === NEVER ? events.count : blocks.died[i]) - blocks.born[i]);
		if (blocks.born[i] <= event && blocks.died[i] > event)
			live[group] += blocks.size[i];
	}
	return { live, area };
}

// Returns the default grouping: the category if it is known for half of the peak, else the call site.
export function bestGrouping(trace: Trace, places: boolean[], peak: number): string {
	const category = groupingBy(trace, "category");

	if (!category)
		return "site";
	const live = new Float64Array(category.names.length);
	const { blocks } = trace;
	let all = 0;

	for (let i = 0; i < blocks.count && blocks.born[i] <= peak; i++) {
		if (blocks.kind[i] !== Kind.Block || !places[blocks.place[i]] || blocks.died[i] <= peak)
			continue;
		all += blocks.size[i];
		if (blocks.category[i])
			live[blocks.category[i] - 1] += blocks.size[i];
	}
	const known = live.reduce((sum, bytes, i) => sum + (category.names[i] === "other" ? 0 : bytes), 0);

	return known > all / 2 && live.filter((bytes) => bytes > all / 50).length > 1 ? "category" : "site";
}
