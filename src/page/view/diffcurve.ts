// The difference of two runs over the axis: by how much the allocated bytes of the shown run are above the other's.

import type { App } from "./app";
import { h, sized } from "./dom";
import * as format from "./format";
import { eventAt } from "../model/axis";
import { sumsOf } from "../model/scope";
import { tooltip } from "./tooltip";

const HEIGHT = 64;

export class DiffCurve {
	readonly element = h("div", { class: "diffcurve" });
	private readonly canvas = h("canvas", { role: "img", "aria-label": "Difference from the other run" });
	private values: Float64Array = new Float64Array(0);

	// `left` and `right`: pixels on each side of the axis, equal to those of the picture above.
	constructor(private readonly app: App, private readonly left: number, private readonly right: number) {
		this.element.hidden = app.traces.length < 2;
		this.element.append(this.canvas);
		this.canvas.addEventListener("mousemove", (event) => {
			const value = this.values[Math.floor(event.offsetX - this.left)];

			tooltip.show(event, value === undefined ? null : [h("b", {}, `${format.signedBytes(value)} allocated`), h("div", {}, "compared with the other run at the same place on the axis")]);
		});
		this.canvas.addEventListener("mouseleave", () => tooltip.hide());
	}

	draw(width: number): void {
		const { app } = this;
		const other = app.traces.find((trace) => trace !== app.trace);
		const inner = Math.floor(width - this.left - this.right);

		if (!other || inner < 10 || !app.trace.events.count || !other.events.count)
			return;
		const [own, second] = [app.trace, other].map((trace) => this.highest(trace, inner));
		const { theme } = app;
		const context = sized(this.canvas, width, HEIGHT);

		this.values = own.map((value, x) => value - second[x]);
		const most = this.values.reduce((high, value) => Math.max(high, Math.abs(value)), 1);
		const middle = HEIGHT / 2;

		context.fillStyle = theme.panel;
		context.fillRect(this.left, 0, inner, HEIGHT);
		this.values.forEach((value, x) => {
			const high = (value / most) * (middle - 4);

			context.fillStyle = value > 0 ? theme.worse : theme.better;
			context.fillRect(this.left + x, Math.min(middle, middle - high), 1, Math.abs(high));
		});
		context.fillStyle = theme.dim;
		context.fillRect(this.left, middle - 0.5, inner, 1);
		context.font = "11px system-ui, sans-serif";
		context.textBaseline = "middle";
		context.textAlign = "right";
		context.fillText(format.signedBytes(Math.round(most)), this.left - 6, 8);
		context.fillText("difference", this.left - 6, middle);
		this.element.dataset["most"] = String(this.values.reduce((high, value) => Math.max(high, value), 0));
		this.element.dataset["least"] = String(this.values.reduce((low, value) => Math.min(low, value), 0));
		this.canvas.setAttribute("aria-label", `Difference from the other run: at most ${format.signedBytes(Number(this.element.dataset["most"]))}, at least ${format.signedBytes(Number(this.element.dataset["least"]))}`);
	}

	// Returns the highest sum in each column.
	private highest(trace: App["trace"], columns: number): Float64Array {
		const { from, to, axis } = this.app.store.state;
		const sums = sumsOf(trace, this.app.scope).allocated;
		const result = new Float64Array(columns);
		let at = Math.max(eventAt(trace, axis, from), 0);

		for (let x = 0; x < columns; x++) {
			const end = eventAt(trace, axis, from + ((to - from) * (x + 1)) / columns);

			result[x] = end < 0 ? 0 : sums[Math.min(at, sums.length - 1)] || 0;
			for (; at <= end; at++)
				result[x] = Math.max(result[x], sums[at] || 0);
			at = Math.max(end, 0);
		}
		return result;
	}
}
