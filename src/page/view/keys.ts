// Keyboard shortcuts for everything that can be done with the pointer.

import type { App, View } from "./app";
import { pinHere } from "./controls";
import { eventAt } from "../model/axis";
import { button, h } from "./dom";

const help: [string, string][] = [
	["left, right", "move the cursor by one event; with Shift, by a tenth of the view"],
	["Home, End", "move the cursor to the first or last event in view"],
	["k", "move the cursor to the peak of allocated memory"],
	["p", "set the second cursor (B) here, or remove it"],
	["x", "swap the cursors A and B"],
	["+, -, 0", "zoom in, out, show all"],
	["[, ]", "move the view left or right"],
	["t", "the next axis: events, time, busy time, steps"],
	["up, down", "in the picture: choose an allocation at the cursor; Enter goes to its details, Escape closes them"],
	["1 to 9", "views"],
	["/", "search; Escape clears it"],
	["d", "switch between light and dark colours"],
	["?", "this list"],
];

export class Keys {
	private readonly dialog: HTMLDialogElement;

	constructor(private readonly app: App, private readonly views: View[], private readonly search: HTMLInputElement) {
		this.dialog = h("dialog", { class: "help", "aria-label": "Shortcuts" },
			h("table", {}, h("caption", {}, "Shortcuts"), h("tbody", {}, ...help.map(([key, what]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, what))))),
			h("p", {}, "In the picture: drag to zoom, click to set the cursor and to see an allocation, Shift and click to set the second cursor, wheel to zoom, click on a phase to zoom to it, double click to show everything; two fingers zoom, one moves. In the lanes below it: click to set the cursor, double click to zoom to the kernels and calls there."),
			button("Close", "Close this list (Escape)", () => this.dialog.close()));
		document.body.append(this.dialog);
		document.addEventListener("keydown", (event) => this.pressed(event));
	}

	showHelp(): void {
		this.dialog.showModal();
	}

	private pressed(event: KeyboardEvent): void {
		const target = event.target as HTMLElement | null;

		if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || this.dialog.open || target?.matches("input[type=search], select, textarea"))
			return;
		if (this.act(event.key, event.shiftKey, target))
			event.preventDefault();
	}

	private act(key: string, shift: boolean, target: HTMLElement | null): boolean {
		const { app } = this;
		const { store } = app;
		const { from, to, cursor, pin, axis } = store.state;
		const width = to - from;

		switch (key) {
		case "ArrowLeft":
		case "ArrowRight":
			if (target?.matches("[role=tab]"))
				return false;
			this.step(key === "ArrowLeft" ? -1 : 1, shift);
			return true;
		case "Home":
		case "End": {
			const at = key === "Home" ? from : to;

			app.moveCursor(eventAt(app.trace, axis, at));
			return true;
		}
		case "k":
			app.moveToPeak();
			return true;
		case "p":
			pinHere(app);
			return true;
		case "x":
			if (pin >= 0)
				store.set({ cursor: pin, pin: cursor });
			return true;
		case "+":
		case "=":
		case "-":
			app.zoomBy(key === "-" ? 2 : 0.5, this.centre());
			return true;
		case "0":
			app.zoom(...app.full);
			return true;
		case "[":
		case "]":
			app.zoom(from + (key === "[" ? -width : width) / 4, to + (key === "[" ? -width : width) / 4);
			return true;
		case "t":
			app.setAxis(app.axes[(app.axes.indexOf(axis) + 1) % app.axes.length]);
			return true;
		case "/":
			this.search.focus();
			this.search.select();
			return true;
		case "d":
			store.set({ theme: app.theme.dark ? "light" : "dark" });
			return true;
		case "Escape":
			app.details?.close();
			return true;
		case "?":
			this.showHelp();
			return true;
		default:
			return this.chooseView(key);
		}
	}

	private chooseView(key: string): boolean {
		const view = /^[1-9]$/.test(key) ? this.views[Number(key) - 1] : undefined;

		if (view)
			this.app.store.set({ view: view.id });
		return view !== undefined;
	}

	// The centre of a zoom: the cursor if it is in view, else the middle.
	private centre(): number {
		const { from, to } = this.app.store.state;
		const at = this.app.cursorAt;

		return at >= from && at <= to ? at : (from + to) / 2;
	}

	private step(sign: number, far: boolean): void {
		const { app } = this;
		const { from, to, cursor } = app.store.state;

		if (!far)
			app.moveCursor(cursor + sign);
		else
			app.moveTo(app.cursorAt + (sign * (to - from)) / 10);
		const at = app.cursorAt;

		if (at < from || at > to)
			app.zoom(at - (to - from) / 2, at + (to - from) / 2);
	}
}
