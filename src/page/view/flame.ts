// A flame graph of bytes by stack: a caller is above the frames that it calls, and its width is its bytes.
//
// It is drawn on a canvas, because stacks of PyTorch have about forty frames. Sums are exact: the bytes of
// a frame that is too narrow to be drawn are part of its caller's width.

import type { App } from "./app";
import { button, cut, fit, h, sized, type Child } from "./dom";
import * as format from "./format";
import { swatch } from "./legend";
import { mixed } from "./palette";
import { differenceTree, treeOf } from "./trees";
import { chainOf, pathOf, type Node } from "../model/flametree";
import { codeTitles, type Code } from "../model/frames";
import { partTitles, type Part } from "../model/live";
import { copyButton } from "./stackview";
import { tooltip } from "./tooltip";

const ROW = 20;

interface Box { node: Node; x: number; width: number }

export class Flame {
	readonly element: HTMLElement;
	private readonly canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": "Flame graph" });
	private readonly caption = h("p", { class: "caption", role: "status" });
	private readonly legend = h("div", { class: "legend" });
	private root: Node | null = null;
	private top: Node | null = null; // the frame that the user zoomed to
	private focus: Node | null = null;
	private boxes: Box[] = [];
	private part: Part = "live";

	constructor(private readonly app: App) {
		this.element = h("div", { class: "flame" }, this.caption, this.legend, this.canvas);
		this.listen();
	}

	update(part: Part): void {
		const { app } = this;
		const weights = app.weights(part);
		const path = this.pathOf(this.top);

		this.root = app.store.get("compare") && app.traces.length > 1 ? differenceTree(app) : treeOf(app, part);
		this.top = this.find(path);
		this.focus = this.top;
		this.element.setAttribute("data-total", String(weights.total));
		this.part = part;
		this.tell();
		this.draw();
	}

	// Zooms to the frame of the stack that allocated.
	reveal(stack: number): void {
		const { stacks, machinery, merge, tree } = this.app.store.state;
		const path = pathOf(this.app.trace, stack, { stacks, machinery, merge }).map((step) => step.name);

		if (!this.root)
			return;
		this.top = this.find(tree === "inverted" ? path.reverse() : path);
		this.focus = this.top;
		this.draw();
		this.tell();
		this.canvas.focus();
	}

	private pathOf(node: Node | null): string[] {
		const path: string[] = [];

		for (let at = node; at?.parent; at = at.parent)
			path.unshift(at.name);
		return path;
	}

	// Finds the frame with this path in the tree of another time or, if there is none, its nearest caller.
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
		const { query } = this.app;

		if (!node || !this.root)
			return;
		const whole = node === this.root ? "" : `, ${format.share(node.bytes, this.root.bytes)} of ${format.bytes(this.root.bytes)}`;
		const change = node.base === null ? "" : `; ${format.signedBytes(node.bytes - node.base)} against ${format.bytes(node.base)} in the other run`;
		const found = query && !query.wrong ? `; the search matches ${format.bytes(node.matched)} of it (${format.share(node.matched, node.bytes)})` : "";

		this.element.dataset["matched"] = String(node.matched);
		this.caption.textContent = this.root.blocks
			? `${node === this.root ? `All that was ${partTitles[this.part]}` : node.name}: ${format.bytes(node.bytes)} in ${format.plural(node.blocks, "allocation")}${whole}${change}${found}`
			: `Nothing was ${partTitles[this.part]}.`;
		this.canvas.setAttribute("aria-label", `Flame graph. ${this.caption.textContent} Arrow keys move to other frames, Enter zooms and shows the details, Escape shows all.`);
		const { theme } = this.app;
		const codes: [string, string][] = this.root.base !== null ? [[theme.worse, "more than in the other run"], [theme.better, "less"], [theme.rest, "the same"]] : [...(Object.keys(codeTitles) as Code[]).map((code): [string, string] => [theme[code][0], codeTitles[code]]), [theme.backward, "backward pass of the line above"], [theme.match, "matches the search"]];

		this.legend.replaceChildren(...codes.map(([colour, title]) => h("span", { class: "key" }, swatch(colour), title)));
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
				const wide = box.node.weight ? (child.weight / box.node.weight) * box.width : 0;

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

		if (node.base !== null) // the more it differs, the stronger the colour
			return mixed(theme.rest, node.bytes >= node.base ? theme.worse : theme.better, Math.min(1, Math.abs(node.bytes - node.base) / (Math.max(node.weight, 1))));
		if (node.code === "backward")
			return theme.backward;
		if (node.code === "none" || !frame)
			return theme.rest;
		for (const letter of frame[2] ?? frame[0]) // frames of different files have slightly different colours
			hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
		return theme[node.code][hash % theme[node.code].length];
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
			context.fillStyle = matches ? theme.match : this.colourOf(node);
			context.fillRect(x, y, Math.max(wide - 1, 0.5), ROW - 1);
			if (wide > 26) {
				context.fillStyle = matches ? theme.matchText : theme.text;
				// Very long names are cut first, because measuring them takes time and no screen can show them.
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

	private zoomTo(node: Node, side: "left" | "right" = "right"): void {
		this.top = node;
		this.focus = node;
		this.draw();
		this.tell();
		if (node.parent)
			this.app.showDetails({ title: cut(node.name, 120), content: () => this.details(node) }, side);
		else
			this.app.details?.close();
	}

	// Returns the details of a frame: its sums, file, callers and callees.
	private details(node: Node): Child[] {
		const { trace, store } = this.app;
		const frame = node.frame >= 0 ? trace.facts.frames[node.frame] : null;
		const chain = chainOf(node).slice(1);
		const root = this.root as Node;
		const where = frame?.[2] ? `${frame[2]}${frame[3] ? `:${frame[3]}` : ""}` : "";
		const text = () => chain.map((one) => one.name).join("\n");

		return [
			h("p", { class: "line" }, `${format.bytes(node.bytes)} in ${format.plural(node.blocks, "allocation")}, ${format.share(node.bytes, root.bytes)} of what is shown`),
			h("div", { class: "tools" },
				button("Search for it", "Mark the allocations below this frame in every view", () => store.set({ query: `"${(frame?.[1] ?? node.name).replace(/[\\"]/g, "\\$&")}"` })),
				button("Zoom out", "Show the whole flame graph again (Escape)", () => this.zoomTo(root))),
			h("dl", {}, ...(frame ? [h("dt", {}, "function"), h("dd", {}, frame[1] ?? frame[0]), h("dt", {}, "file"), h("dd", {}, where || "unknown"), h("dt", {}, "code"), h("dd", {}, codeTitles[node.code as Code] ?? "")] : [])),
			h("section", { class: "stack" }, h("div", { class: "head" }, h("h3", {}, store.get("tree") === "inverted" ? "Called from here" : "Callers, outermost first"), copyButton(text, "Copy these frames")),
				h("ol", { class: "frames" }, ...chain.map((one) => h("li", { class: `frame ${one.code}` }, h("span", { class: "function" }, one.name), h("span", { class: "dim where" }, format.bytes(one.bytes)))))),
			node.children.length ? h("section", { class: "stack" }, h("h3", {}, store.get("tree") === "inverted" ? "Callers" : "Calls"),
				h("ol", { class: "frames" }, ...node.children.slice(0, 12).map((one) => h("li", { class: `frame ${one.code}` }, button(cut(one.name, 160), "Zoom to this frame", () => this.zoomTo(one), { class: "link" }), h("span", { class: "dim where" }, format.bytes(one.bytes)))))) : "",
		];
	}

	private listen(): void {
		this.canvas.addEventListener("click", (event) => {
			const box = this.boxAt(event);

			if (box)
				this.zoomTo(box.node, event.clientX > innerWidth / 2 ? "left" : "right");
		});
		this.canvas.addEventListener("mousemove", (event) => {
			const box = this.boxAt(event);
			const frame = box && box.node.frame >= 0 ? this.app.trace.facts.frames[box.node.frame] : null;

			tooltip.show(event, box && this.root ? [
				h("b", {}, box.node.name),
				h("div", {}, `${format.bytes(box.node.bytes)} (${format.share(box.node.bytes, this.root.bytes)}) in ${format.plural(box.node.blocks, "allocation")}`),
				box.node.base === null ? null : h("div", {}, `${format.signedBytes(box.node.bytes - box.node.base)} against ${format.bytes(box.node.base)} in the other run`),
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
