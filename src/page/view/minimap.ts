// A small curve of the complete run, on which the part in view is marked.

import { Memo, type App } from "./app";
import { h } from "./dom";
import { eventAt, positionAt } from "../model/axis";
import { timelineOf } from "../model/missing";
import { sumsOf } from "../model/scope";

export class Minimap {
	readonly element = h("canvas", { class: "minimap", "aria-hidden": "true" });
	private readonly tops = new Memo<{ tops: Float64Array; most: number }>();

	// `left` and `right`: pixels on each side of the axis, equal to those of the curves above.
	constructor(private readonly app: App, private readonly left: number, private readonly right: number) {
		this.element.addEventListener("mousedown", (event) => this.grab(event));
	}

	draw(width: number): void {
		const height = 34;
		const { theme, trace, store } = this.app;
		const { from, to } = store.state;
		const ratio = devicePixelRatio || 1;
		const [low, high] = this.app.full;
		const sums = sumsOf(trace, this.app.scope).allocated;
		const ctx = this.element.getContext("2d");
		const inner = width - this.left - this.right;

		if (!ctx || inner < 10)
			return;
		this.element.width = width * ratio;
		this.element.height = height * ratio;
		this.element.style.width = `${width}px`;
		this.element.style.height = `${height}px`;
		ctx.setTransform(ratio, 0, 0, ratio, this.left * ratio, 0);
		ctx.fillStyle = theme.panel;
		ctx.fillRect(0, 0, inner, height);
		ctx.fillStyle = theme.allocated;
		const { tops, most } = this.silhouette(Math.floor(inner), sums);

		ctx.globalAlpha = 0.5;
		tops.forEach((value, x) => ctx.fillRect(x, height - (value / most) * (height - 4), 1, (value / most) * (height - 4)));
		const left = ((from - low) / (high - low)) * inner;
		const right = ((to - low) / (high - low)) * inner;

		ctx.globalAlpha = 0.7;
		ctx.fillStyle = theme.back;
		ctx.fillRect(0, 0, left, height);
		ctx.fillRect(right, 0, inner - right, height);
		ctx.globalAlpha = 1;
		ctx.strokeStyle = theme.dim;
		ctx.strokeRect(left + 0.5, 0.5, Math.max(right - left - 1, 2), height - 1);
	}

	// Returns the highest sum in each column of the complete run. It is computed once for all zooms.
	private silhouette(width: number, sums: Float64Array): { tops: Float64Array; most: number } {
		const { app } = this;
		const [low, high] = app.full;
		const { axis, trace } = app.store.state;

		return this.tops.get(`${trace} ${app.scope.id} ${axis} ${width}`, () => {
			const tops = new Float64Array(width);
			let most = 1;
			let at = 0;
			let now = 0;

			for (let x = 0; x < width; x++) {
				const end = eventAt(app.trace, axis, low + ((high - low) * (x + 1)) / width);

				tops[x] = now;
				for (; at <= end; at++) {
					now = sums[at] || 0;
					tops[x] = Math.max(tops[x], now);
				}
			}
			this.bridgeTops(tops);
			most = tops.reduce((high, value) => Math.max(high, value), most);
			return { tops, most };
		});
	}

	// Replaces values where events are missing by those of the recorder's own curve.
	private bridgeTops(tops: Float64Array): void {
		const { app } = this;
		const [low, high] = app.full;
		const { scope, trace } = app;
		const axis = app.store.get("axis");
		const curve = (trace.facts.gaps.length || !trace.events.count) && axis !== "event" && axis !== "step" ? timelineOf(trace, scope) : undefined;
		const place = (t: number) => ((positionAt(trace, axis, t) - low) / (high - low)) * tops.length;

		curve?.t.forEach((t, i) => {
			const last = Math.min(i + 1 < curve.t.length ? place(curve.t[i + 1]) : tops.length, tops.length);

			for (let x = Math.max(Math.floor(place(t)), 0); x < last; x++)
				tops[x] = Math.max(tops[x], curve.allocated[i] ?? 0);
		});
	}

	private grab(event: MouseEvent): void {
		const box = this.element.getBoundingClientRect();
		const [low, high] = this.app.full;
		const move = (at: MouseEvent) => {
			const { from, to } = this.app.store.state;
			const centre = low + ((at.clientX - box.left - this.left) / (box.width - this.left - this.right)) * (high - low);

			this.app.zoom(centre - (to - from) / 2, centre + (to - from) / 2);
		};

		move(event);
		window.addEventListener("mousemove", move);
		window.addEventListener("mouseup", () => window.removeEventListener("mousemove", move), { once: true });
	}
}
