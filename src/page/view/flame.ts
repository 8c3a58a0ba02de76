// A flame graph of bytes by stack: a caller is above the frames that it calls, its width is its bytes.
//
// It is drawn on a canvas, as a stack of PyTorch has forty frames. The tree sums exactly: the bytes of
// a frame that is too narrow to be drawn are part of its caller's width.

import type { App } from "./app";
import { cut, fit, h, sized } from "./dom";
import type { FrameRow } from "../model/facts";
import * as format from "./format";
import { partTitles, type Part, type Weights } from "../model/live";
import { tooltip } from "./tooltip";

const ROW = 20;
const INSIDE = 4; // rank of KIN_INSIDE (enum kin, src/analyse/trace/trace_frames.c): from here on code inside libraries

interface Node { name: string; frame: number; bytes: number; blocks: number; depth: number; parent: Node | null; children: Node[]; byName: Map<string, Node> }
interface Box { node: Node; x: number; width: number }

function newNode(name: string, frame: number, parent: Node | null): Node {
	return { name, frame, bytes: 0, blocks: 0, depth: parent ? parent.depth + 1 : 0, parent, children: [], byName: new Map() };
}

function isShown(frame: FrameRow, stacks: string, machinery: boolean): boolean {
	if (frame[6])
		return true;
	if ((stacks === "python" && !frame[4]) || (stacks === "native" && frame[4]))
		return false;
	return machinery || frame[5] < INSIDE;
}

function buildTree(app: App, weights: Weights): Node {
	const { stacks, machinery } = app.store.state;
	const { trace } = app;
	const root = newNode("all", -1, null);
	const shown = trace.facts.frames.map((frame) => isShown(frame, stacks, machinery));

	for (let stack = 0; stack < weights.bytes.length; stack++) {
		if (!weights.blocks[stack])
			continue;
		let node = root;
		const step = (name: string, frame: number) => {
			let next = node.byName.get(name);

			if (!next) {
				next = newNode(name, frame, node);
				node.byName.set(name, next);
				node.children.push(next);
			}
			node = next;
			node.bytes += weights.bytes[stack];
			node.blocks += weights.blocks[stack];
		};

		root.bytes += weights.bytes[stack];
		root.blocks += weights.blocks[stack];
		for (let i = trace.depth(stack < trace.facts.stacks ? stack : -1); i-- > 0;) {
			const frame = trace.frameOfStack(stack, i);

			if (shown[frame])
				step(trace.facts.frames[frame][0], frame);
		}
		if (node === root)
			step(stacks === "python" ? "[no Python frames]" : stacks === "native" ? "[no native frames]" : "[no frames]", -1);
	}
	sort(root);
	return root;
}

function sort(root: Node): void {
	const waiting = [root];

	for (let node = waiting.pop(); node; node = waiting.pop()) {
		node.children.sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
		waiting.push(...node.children);
	}
}

export class Flame {
	readonly element: HTMLElement;
	private readonly canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": "Flame graph" });
	private readonly caption = h("p", { class: "caption", role: "status" });
	private root: Node | null = null;
	private top: Node | null = null; // the frame that the user zoomed to
	private focus: Node | null = null;
	private boxes: Box[] = [];
	private part: Part = "live";

	constructor(private readonly app: App) {
		this.element = h("div", { class: "flame" }, this.caption, this.canvas);
		this.listen();
	}

	update(part: Part): void {
		const weights = this.app.weights(part);
		const path = this.pathOf(this.top);

		this.root = buildTree(this.app, weights);
		this.top = this.find(path);
		this.focus = this.top;
		this.element.setAttribute("data-total", String(weights.total));
		this.part = part;
		this.tell();
		this.draw();
	}

	private pathOf(node: Node | null): string[] {
		const path: string[] = [];

		for (let at = node; at?.parent; at = at.parent)
			path.unshift(at.name);
		return path;
	}

	// Finds the frame with the path in another moment's tree, or its last caller that is there.
	private find(path: string[]): Node {
		let node = this.root as Node;

		for (const name of path) {
			const next = node.byName.get(name);

			if (!next)
				break;
			node = next;
		}
		return node;
	}

	private tell(): void {
		const node = this.focus ?? this.root;

		if (!node || !this.root)
			return;
		const whole = node === this.root ? "" : `, ${format.share(node.bytes, this.root.bytes)} of ${format.bytes(this.root.bytes)}`;

		this.caption.textContent = this.root.blocks
			? `${node === this.root ? `All that was ${partTitles[this.part]}` : node.name}: ${format.bytes(node.bytes)} in ${format.plural(node.blocks, "block")}${whole}`
			: `Nothing was ${partTitles[this.part]}.`;
		this.canvas.setAttribute("aria-label", `Flame graph. ${this.caption.textContent} Arrow keys walk, Enter zooms, Escape shows all.`);
	}

	private layout(width: number): void {
		const top = this.top as Node;
		const chain: Node[] = [];

		for (let at: Node | null = top; at; at = at.parent)
			chain.unshift(at);
		this.boxes = chain.map((node) => ({ node, x: 0, width }));
		const waiting: Box[] = [{ node: top, x: 0, width }];

		for (let box = waiting.pop(); box; box = waiting.pop()) {
			let x = box.x;

			for (const child of box.node.children) {
				const wide = box.node.bytes ? (child.bytes / box.node.bytes) * box.width : 0;

				if (wide >= 0.5) {
					const next = { node: child, x, width: wide };

					this.boxes.push(next);
					waiting.push(next);
				}
				x += wide;
			}
		}
	}

	private colourOf(node: Node): string {
		const { theme, trace } = this.app;
		const frame = node.frame >= 0 ? trace.facts.frames[node.frame] : null;
		let hash = 0;

		if (!frame || frame[6])
			return theme.rest;
		for (const letter of frame[2] ?? frame[0])
			hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
		return (frame[4] ? theme.python : theme.native)[hash % theme.python.length];
	}

	draw(): void {
		if (!this.root || !this.top)
			return;
		const width = Math.max(this.element.clientWidth, 300);

		this.layout(width);
		const rows = this.boxes.reduce((most, box) => Math.max(most, box.node.depth + 1), 1);
		const context = sized(this.canvas, width, rows * ROW + 1);
		const { theme, query } = this.app;

		context.font = "12px system-ui, sans-serif";
		context.textBaseline = "middle";
		for (const { node, x, width: wide } of this.boxes) {
			const y = node.depth * ROW;
			const matches = query && !query.wrong && query.hasText && node.frame >= 0 && query.frames[node.frame];

			context.globalAlpha = node.depth < (this.top as Node).depth ? 0.55 : 1;
			context.fillStyle = matches ? theme.accent : this.colourOf(node);
			context.fillRect(x, y, Math.max(wide - 1, 0.5), ROW - 1);
			if (wide > 26) {
				context.fillStyle = matches ? theme.back : theme.text;
				// Longer names are cut first: measuring them would take time, and no screen can show them.
				context.fillText(fit(context, cut(node.parent ? node.name : `all: ${format.bytes(node.bytes)}`, 400), wide - 8), x + 4, y + ROW / 2);
			}
			if (node === this.focus && document.activeElement === this.canvas) {
				context.strokeStyle = theme.text;
				context.lineWidth = 2;
				context.strokeRect(x + 1, y + 1, Math.max(wide - 3, 1), ROW - 3);
			}
		}
		context.globalAlpha = 1;
	}

	// --- pointer and keys ---

	private boxAt(event: MouseEvent): Box | undefined {
		const depth = Math.floor(event.offsetY / ROW);

		return this.boxes.find((box) => box.node.depth === depth && event.offsetX >= box.x && event.offsetX < box.x + box.width);
	}

	private zoomTo(node: Node): void {
		this.top = node;
		this.focus = node;
		this.draw();
		this.tell();
	}

	private listen(): void {
		this.canvas.addEventListener("click", (event) => {
			const box = this.boxAt(event);

			if (box)
				this.zoomTo(box.node);
		});
		this.canvas.addEventListener("mousemove", (event) => {
			const box = this.boxAt(event);
			const frame = box && box.node.frame >= 0 ? this.app.trace.facts.frames[box.node.frame] : null;

			tooltip.show(event, box && this.root ? [
				h("b", {}, box.node.name),
				h("div", {}, `${format.bytes(box.node.bytes)} (${format.share(box.node.bytes, this.root.bytes)}) in ${format.plural(box.node.blocks, "block")}`),
				frame && frame[1] && frame[1] !== box.node.name ? h("div", { class: "dim" }, cut(frame[1], 400)) : null,
				frame && frame[2] ? h("div", { class: "dim" }, cut(`${frame[2]}${frame[3] ? `:${frame[3]}` : ""}`, 400)) : null,
			] : null);
		});
		this.canvas.addEventListener("mouseleave", () => tooltip.hide());
		this.canvas.addEventListener("focus", () => this.draw());
		this.canvas.addEventListener("blur", () => this.draw());
		this.canvas.addEventListener("keydown", (event) => this.key(event));
	}

	private key(event: KeyboardEvent): void {
		const node = this.focus ?? this.root;

		if (!node)
			return;
		const siblings = node.parent?.children ?? [node];
		const at = siblings.indexOf(node);
		const next: Record<string, Node | null | undefined> = {
			ArrowUp: node.parent, ArrowDown: node.children[0], ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1],
		};

		if (event.key === "Enter" || event.key === " ")
			this.zoomTo(node);
		else if (event.key === "Escape" && this.root)
			this.zoomTo(this.root);
		else if (event.key in next && next[event.key])
			this.focus = next[event.key] as Node;
		else if (!(event.key in next))
			return;
		event.preventDefault();
		event.stopPropagation();
		this.draw();
		this.tell();
	}
}
