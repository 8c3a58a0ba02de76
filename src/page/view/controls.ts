// The controls above and below the curves: scope, axis, search, cursors.

import type { App } from "./app";
import { button, h, select } from "./dom";
import * as format from "./format";
import { axisTitles, type Axis } from "../model/axis";
import { groupingChoices } from "../model/groupings";
import { Kind, NEVER } from "../model/model";
import type { Key } from "../model/state";

export class Controls {
	readonly element = h("div", { class: "controls", role: "group", "aria-label": "What is shown" });
	readonly search = h("input", {
		type: "search", class: "search", placeholder: "Search: forward  model.py  size>1M  life<10ms  live", "aria-label": "Search allocations by function, file, size or lifetime",
		spellcheck: "false", autocomplete: "off",
	});
	private readonly found = h("span", { class: "found", role: "status" });
	private timer = 0;

	constructor(private readonly app: App) {
		this.search.addEventListener("input", () => {
			clearTimeout(this.timer);
			this.timer = window.setTimeout(() => app.store.set({ query: this.search.value.trim() }), 150);
		});
		this.search.addEventListener("keydown", (event) => {
			if (event.key === "Escape") {
				this.search.value = "";
				app.store.set({ query: "" });
				this.search.blur();
			}
		});
	}

	update(changed: Set<Key>): void {
		if (["trace", "scope", "axis", "by", "theme"].some((key) => changed.has(key as Key)) || !this.element.childElementCount)
			this.build();
		if (document.activeElement !== this.search && this.search.value.trim() !== this.app.store.get("query"))
			this.search.value = this.app.store.get("query");
		this.tellFound();
	}

	private build(): void {
		const { app } = this;
		const { store } = app;
		const titles: Record<Axis, string> = {
			event: "One event after another", time: "Time since the start", busy: "Time, with stretches cut in which nothing happened", step: "Repetitions of a phase side by side, all of one width",
		};
		const axis = (value: Axis) => h("button", { type: "button", "aria-pressed": String(store.get("axis") === value), title: `${titles[value]} (t: the next axis)`, click: () => app.setAxis(value) }, axisTitles[value]);

		this.element.replaceChildren(
			app.traces.length > 1 ? select("Trace", app.traces.map((trace) => ({ value: String(trace.number), label: `${trace.number ? "head" : "base"}: ${trace.facts.name}` })), String(store.get("trace")), (value) => this.switchTrace(Number(value))) : "",
			select("Device or pool", app.scopes.map((scope) => ({ value: scope.id, label: scope.title })), app.scope.id, (scope) => store.set({ scope })),
			h("span", { class: "pair", role: "group", "aria-label": "Axis" }, ...app.axes.map(axis)),
			select("Colour by", groupingChoices(app.trace), app.grouping.by, (by) => store.set({ by })),
			button("Reset zoom", "Show the whole run (0)", () => app.zoom(...app.full)),
			this.search, this.found,
		);
	}

	// Shows the other trace. The cursor moves to its peak, because its events have other numbers.
	private switchTrace(number: number): void {
		const { app } = this;

		app.store.set({ trace: number, pin: -1, block: -1 });
		app.moveToPeak();
		app.zoom(...app.full);
	}

	private tellFound(): void {
		const query = this.app.query;

		this.found.replaceChildren(...(query ? [
			h("span", { "data-matches": query.count, "data-bytes": query.bytes }, query.wrong ?? `${format.plural(query.count, "allocation")}, ${format.bytes(query.bytes)} in all`), " ",
			button("Clear", "Clear the search", () => this.app.store.set({ query: "" }), { class: "small" }),
			query.wrong ? "" : button("List", "List the allocations that match", () => this.app.store.set({ view: "blocks" }), { class: "small" }),
		] : []));
	}
}

export class CursorBar {
	readonly element = h("div", { class: "cursorbar", role: "group", "aria-label": "Cursor" });
	private readonly details = button("Details", "The details of the allocation of this event", () => this.showDetails());
	private readonly words = h("span", { class: "words", role: "status", "aria-live": "polite" });

	constructor(private readonly app: App) {
		this.element.append(
			button("◀", "The previous event (left arrow)", () => app.moveCursor(app.store.get("cursor") - 1), { "aria-label": "Previous event" }),
			button("▶", "The next event (right arrow)", () => app.moveCursor(app.store.get("cursor") + 1), { "aria-label": "Next event" }),
			button("Peak", "Move the cursor to the peak of allocated memory (k)", () => app.moveToPeak()),
			button("Mark B", "Put the second cursor, B, here (p)", () => pinHere(app), { class: "pin" }),
			this.details, this.words,
		);
	}

	update(): void {
		const { app } = this;
		const { cursor, pin } = app.store.state;
		const { trace } = app;
		const pinned = pin >= 0;
		const { from, to } = app.span;
		const block = trace.events.block[cursor];

		this.details.disabled = !(block >= 0 && trace.blocks.kind[block] === Kind.Block);
		this.element.querySelector(".pin")?.replaceChildren(pinned ? "Remove B" : "Mark B");
		if (!trace.events.count) {
			this.words.textContent = "The trace has no events: only sums and peaks are known.";
			return;
		}
		if (app.store.get("moment") >= 0) {
			this.words.replaceChildren(h("b", {}, `Cursor at ${format.moment(app.cursorTime)}`), ", where events are missing: only sums are known.");
			this.element.dataset["event"] = String(cursor);
			return;
		}
		this.words.replaceChildren(
			h("b", {}, `${pinned ? "A" : "Cursor"} at ${format.moment(trace.events.t[cursor])}`), `, event ${format.count(cursor + 1)} of ${format.count(trace.events.count)}: ${this.eventText(cursor)}`,
			pinned ? h("span", { class: "pinned" }, ` B at ${format.moment(trace.events.t[pin])}, event ${format.count(pin + 1)}: ${format.time(trace.events.t[to] - trace.events.t[from])} between.`) : "",
		);
		this.element.dataset["event"] = String(cursor);
	}

	private showDetails(): void {
		const { app } = this;

		app.showBlock(app.trace.events.block[app.store.get("cursor")]);
		requestAnimationFrame(() => requestAnimationFrame(() => app.focusDetails()));
	}

	private eventText(event: number): string {
		const { trace } = this.app;
		const { events, facts } = trace;
		const op = trace.opName(event);
		const block = events.block[event];

		if (events.place[event] < 0)
			return `${op} ${facts.texts[events.text[event]] || "without a name"}.`;
		if (op === "fold")
			return `from here on ${format.plural(block >= 0 && trace.blocks.born[block] === event ? trace.blocks.many[block] : 0, "small allocation")} of ${trace.lineText(events.stack[event])} hold ${format.bytes(events.size[event])} together.`;
		const place = facts.places[events.place[event]];
		const where = place.pool ? ` in pool ${place.pool}` : place.space === "device" ? "" : ` of ${place.space} memory`;
		const life = block >= 0 && trace.blocks.born[block] === event ? trace.blocks.died[block] : NEVER;
		const fate = life !== NEVER ? `, freed ${format.time(events.t[life] - events.t[event])} later` : "";

		return `${op} ${format.bytes(events.size[event])}${where}, ${trace.lineText(events.stack[event])}${fate}.`;
	}
}

export function pinHere(app: App): void {
	app.store.set({ pin: app.store.get("pin") >= 0 ? -1 : app.store.get("cursor") });
}
