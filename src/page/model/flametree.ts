// The tree of a flame graph: bytes by call stack, with callers above the frames that they call, or inverted.
//
// Allocations of a backward pass are below the line that called backward(), and there below the line of the forward
// pass whose gradient they compute, so that the total of a forward function is in one place.

import type { FrameRow, Grouping } from "./facts";
import { codeOf, isForwardLine, plainText, shownOf, type Code } from "./frames";
import { groupOfBlock } from "./groupings";
import { eachBlock, type Part, type Weights } from "./live";
import type { Trace } from "./model";
import type { Query } from "./query";

export const BACKWARD = "backward pass";

export interface Node {
	name: string; frame: number; code: Code | "none" | "backward";
	bytes: number; blocks: number; matched: number; // `matched`: bytes that match the search
	base: number | null; // bytes in the other run, in a tree of the difference
	weight: number; // gives the width: the bytes or, in a tree of the difference, those of the run that has more
	depth: number; parent: Node | null; children: Node[]; byName: Map<string, Node>;
}

export interface TreeWish {
	part: Part; from: number; to: number; places: boolean[]; weights: Weights;
	stacks: "merged" | "python" | "native"; machinery: boolean;
	inverted: boolean; merge: "line" | "function";
	split: Grouping | null; // groups that are the first frames of the tree
	query: Query | null;
}

interface Row { stack: number; group: number; bytes: number; blocks: number; matched: number }

export function newNode(name: string, frame: number, code: Node["code"], parent: Node | null): Node {
	return { name, frame, code, bytes: 0, blocks: 0, matched: 0, base: null, weight: 0, depth: parent ? parent.depth + 1 : 0, parent, children: [], byName: new Map() };
}

// Returns the sums by stack and group. At the peak that the recorder stored, groups are not known, only stacks.
function rowsOf(trace: Trace, wish: TreeWish): Row[] {
	const { split, query, weights } = wish;
	const rows = new Map<number, Row>();
	const groups = (split?.names.length ?? 0) + 1;
	const none = trace.facts.stacks;
	const rowOf = (stack: number, group: number) => {
		const key = stack * groups + group + 1;
		let row = rows.get(key);

		if (!row) {
			row = { stack, group, bytes: 0, blocks: 0, matched: 0 };
			rows.set(key, row);
		}
		return row;
	};

	if (wish.part === "peak") {
		for (let stack = 0; stack < weights.bytes.length; stack++) {
			if (!weights.blocks[stack])
				continue;
			const row = rowOf(stack, split?.of[stack] ?? -1);

			row.bytes += weights.bytes[stack];
			row.blocks += weights.blocks[stack];
			row.matched += query && query.hasText && stack < none && query.stacks[stack] ? weights.bytes[stack] : 0;
		}
		return [...rows.values()];
	}
	const { blocks } = trace;

	if (!split && !query) { // the sums are known already
		for (let stack = 0; stack < weights.bytes.length; stack++) {
			if (weights.blocks[stack])
				rows.set(stack, { stack, group: -1, bytes: weights.bytes[stack], blocks: weights.blocks[stack], matched: 0 });
		}
		return [...rows.values()];
	}
	eachBlock(trace, wish.places, wish.part, wish.from, wish.to, (block) => {
		const row = rowOf(blocks.stack[block] < 0 ? none : blocks.stack[block], split ? groupOfBlock(trace, split, block) : -1);

		row.bytes += blocks.size[block];
		row.blocks += blocks.many[block];
		row.matched += query?.matches[block] ? blocks.size[block] : 0;
	});
	return [...rows.values()];
}

interface Step { name: string; frame: number; code: Node["code"] }

function isWanted(frame: FrameRow, stacks: TreeWish["stacks"]): boolean {
	return frame[6] === 1 || stacks === "merged" || (stacks === "python") === (frame[4] === 1);
}

// Returns the frames of a stack that the tree shows, outermost first.
export function pathOf(trace: Trace, stack: number, wish: Pick<TreeWish, "stacks" | "machinery" | "merge">): Step[] {
	const steps: Step[] = [];
	const shown = shownOf(trace);
	let forward = false; // the last Python frame was of the forward pass

	for (let i = trace.depth(stack); i-- > 0;) {
		const number = trace.frameOfStack(stack, i);
		const frame = trace.facts.frames[number];

		if (!isWanted(frame, wish.stacks) || !(wish.machinery || shown[trace.stackStart[stack] + i]))
			continue;
		if (forward && !isForwardLine(frame))
			steps.push({ name: BACKWARD, frame: -1, code: "backward" });
		forward = isForwardLine(frame);
		steps.push({ name: plainText(wish.merge === "function" && frame[1] ? frame[4] ? frame[1] : frame[0] : frame[0]), frame: number, code: frame[6] ? "none" : codeOf(frame) });
	}
	if (forward)
		steps.push({ name: BACKWARD, frame: -1, code: "backward" });
	if (!steps.length)
		steps.push({ name: wish.stacks === "python" ? "[no Python frames]" : wish.stacks === "native" ? "[no native frames]" : "[no frames]", frame: -1, code: "none" });
	return steps;
}

export function buildTree(trace: Trace, wish: TreeWish): Node {
	const root = newNode("all", -1, "none", null);
	const none = trace.facts.stacks;
	const paths = new Map<number, Step[]>();

	for (const row of rowsOf(trace, wish)) {
		let path = paths.get(row.stack);

		if (!path) {
			path = pathOf(trace, row.stack < none ? row.stack : -1, wish);
			if (wish.inverted)
				path.reverse();
			paths.set(row.stack, path);
		}
		const group: Step[] = wish.split ? [{ name: wish.split.names[row.group] ?? "[unknown]", frame: -1, code: "none" }] : [];
		let node = root;

		for (const step of [null, ...group, ...path]) {
			if (step) {
				let next = node.byName.get(step.name);

				if (!next) {
					next = newNode(step.name, step.frame, step.code, node);
					node.byName.set(step.name, next);
					node.children.push(next);
				}
				node = next;
			}
			node.bytes += row.bytes;
			node.blocks += row.blocks;
			node.matched += row.matched;
			node.weight = node.bytes;
		}
	}
	sort(root);
	return root;
}

// Merges the trees of two runs: each node has the bytes of both.
export function joinTrees(head: Node, base: Node): Node {
	join(head, base);
	sort(head);
	return head;
}

function join(head: Node, base: Node | null): void {
	head.base = base?.bytes ?? 0;
	for (const other of base?.children ?? []) {
		if (head.byName.has(other.name))
			continue;
		const added = newNode(other.name, -1, other.code, head); // -1: this run does not have the frame

		head.byName.set(other.name, added);
		head.children.push(added);
	}
	for (const child of head.children)
		join(child, base?.byName.get(child.name) ?? null);
	head.weight = Math.max(head.bytes, head.base, head.children.reduce((sum, child) => sum + child.weight, 0));
}

function sort(root: Node): void {
	const waiting = [root];

	for (let node = waiting.pop(); node; node = waiting.pop()) {
		node.children.sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1));
		waiting.push(...node.children);
	}
}

export function chainOf(node: Node): Node[] {
	const chain: Node[] = [];

	for (let at: Node | null = node; at; at = at.parent)
		chain.unshift(at);
	return chain;
}
