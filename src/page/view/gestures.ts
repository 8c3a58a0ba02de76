// Touch on a picture: one finger moves what is shown, two fingers zoom; a tap is a click.

import type { App } from "./app";

const SLOP = 8; // pixels that a finger moves before it moves the picture

export function listenTouch(app: App, element: HTMLElement, valueAt: (clientX: number) => number): void {
	let start: { xs: number[]; from: number; to: number; values: number[]; moved: boolean } | null = null;
	const points = (event: TouchEvent) => [...event.touches].slice(0, 2).map((touch) => touch.clientX);

	const begin = (event: TouchEvent) => {
		const xs = points(event);

		start = xs.length ? { xs, from: app.store.get("from"), to: app.store.get("to"), values: xs.map(valueAt), moved: false } : null;
	};

	element.addEventListener("touchstart", begin, { passive: true });
	element.addEventListener("touchend", begin, { passive: true });
	element.addEventListener("touchcancel", () => { start = null; });
	element.addEventListener("touchmove", (event) => {
		const xs = points(event);

		if (!start || xs.length !== start.xs.length)
			return;
		const width = start.to - start.from;

		if (xs.length === 2) {
			const [a, b] = start.values;
			const spread = Math.max(Math.abs(xs[0] - xs[1]), 10) / Math.max(Math.abs(start.xs[0] - start.xs[1]), 10);
			const centre = (a + b) / 2;

			event.preventDefault();
			app.zoom(centre - (centre - start.from) / spread, centre + (start.to - centre) / spread);
		} else if (start.moved || Math.abs(xs[0] - start.xs[0]) > SLOP) {
			const box = element.getBoundingClientRect();
			const shift = ((start.xs[0] - xs[0]) / Math.max(box.width, 1)) * width;

			start.moved = true;
			app.zoom(start.from + shift, start.to + shift);
		}
	}, { passive: false });
}
