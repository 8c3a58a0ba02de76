// All devices of the run as small pictures on one axis and one scale. Outliers are marked; a click selects a device.

import type { App, View } from "./app";
import { button, h, sized } from "./dom";
import * as format from "./format";
import { eventAt } from "../model/axis";
import { sumsOf, type Scope } from "../model/scope";
import type { Key } from "../model/state";

const HEIGHT = 54;
const LABEL = 230;
const OUTLIER = 1.2; // a device is marked if its peak is this many times the median, or the median that many times its peak

export class DevicesView implements View {
	readonly id = "devices";
	readonly title = "Devices";
	readonly element = h("div", { class: "devices" });

	constructor(private readonly app: App) {}

	update(changed: Set<Key>): void {
		const relevant: Key[] = ["trace", "scope", "axis", "from", "to", "cursor", "theme", "view"];

		if (relevant.some((key) => changed.has(key)))
			this.show();
	}

	private show(): void {
		const { app } = this;
		const scopes = app.scopes.filter((scope) => scope.device !== null && scope.pool === null);
		const peaks = scopes.map((scope) => app.trace.facts.report.devices.find((one) => one.device === scope.device)?.allocated?.peak_bytes ?? 0);
		const median = [...peaks].sort((a, b) => a - b)[peaks.length >> 1];
		const most = Math.max(...scopes.map((scope) => app.trace.facts.report.devices.find((one) => one.device === scope.device)?.reserved?.peak_bytes ?? 0), ...peaks, 1);
		const rows = scopes.map((scope, i) => {
			const outlier = scopes.length > 1 && peaks[i] > OUTLIER * median ? ", far above the median" : scopes.length > 1 && peaks[i] * OUTLIER < median ? ", far below the median" : "";
			const canvas = h("canvas", { role: "img", "aria-label": `${scope.title}: peak ${format.bytes(peaks[i])}${outlier}` });
			const choose = () => app.store.set({ scope: scope.id });

			canvas.addEventListener("click", choose);
			return { scope, canvas, row: h("div", { class: "device", "data-device-row": scope.device, "data-outlier": outlier ? "yes" : "no" },
				button(h("span", {}, h("b", {}, scope.title), ` peak ${format.bytes(peaks[i])}`, h("span", { class: "worse" }, outlier)), `Show ${scope.title}`, choose, { "aria-pressed": String(scope.id === app.scope.id) }), canvas) };
		});

		this.element.replaceChildren(h("p", { class: "caption" }, `${format.plural(scopes.length, "device")} on one axis and one scale, up to ${format.bytes(most)}: allocated bytes filled, reserved bytes as a line.`), ...rows.map((one) => one.row));
		for (const { scope, canvas } of rows)
			this.draw(canvas, scope, most);
	}

	private draw(canvas: HTMLCanvasElement, scope: Scope, most: number): void {
		const { app } = this;
		const { from, to, axis } = app.store.state;
		const { theme } = app;
		const width = Math.max(this.element.clientWidth - (innerWidth < 700 ? 0 : LABEL), 100);
		const context = sized(canvas, width, HEIGHT);
		const sums = sumsOf(app.trace, scope);
		let at = Math.max(eventAt(app.trace, axis, from), 0);

		context.fillStyle = theme.panel;
		context.fillRect(0, 0, width, HEIGHT);
		for (let x = 0; x < width; x++) {
			const end = eventAt(app.trace, axis, from + ((to - from) * (x + 1)) / width);
			let [allocated, reserved] = [0, 0];

			for (let i = Math.min(at, Math.max(end, 0)); i <= end; i++) {
				allocated = Math.max(allocated, sums.allocated[i] || 0);
				reserved = Math.max(reserved, sums.reserved?.[i] || 0);
			}
			at = Math.max(end, 0);
			context.fillStyle = theme.allocated;
			context.fillRect(x, HEIGHT - (allocated / most) * (HEIGHT - 2), 1, (allocated / most) * (HEIGHT - 2));
			context.fillStyle = theme.reserved;
			context.fillRect(x, HEIGHT - (reserved / most) * (HEIGHT - 2) - 1, 1, 1.5);
		}
		context.fillStyle = theme.accent;
		context.fillRect(((app.cursorAt - from) / (to - from)) * width - 0.75, 0, 1.5, HEIGHT);
	}
}
