// A table of the events around the cursor: what was allocated, freed, reserved and released.

import type { App, View } from "./app";
import { h } from "./dom";
import * as format from "./format";
import { threadName } from "../model/groupings";
import { sumsOf } from "../model/scope";
import type { Key } from "../model/state";

const AROUND = 60; // events before the cursor, and after it

export class EventsView implements View {
	readonly id = "events";
	readonly title = "Events";
	readonly element = h("div", { class: "events" });
	private onlyScope = true;

	constructor(private readonly app: App) {
		app.onReveal("events", () => this.element.querySelector("tr[aria-selected=true]")?.scrollIntoView({ block: "center" }));
	}

	update(changed: Set<Key>): void {
		const relevant: Key[] = ["trace", "scope", "cursor", "view", "query", "theme"];

		if (relevant.some((key) => changed.has(key)))
			this.show();
	}

	// Returns the events before and after the cursor: all, or only those of the memory that is shown.
	private around(): number[] {
		const { trace, places, store } = this.app;
		const { events } = trace;
		const cursor = store.get("cursor");
		const isShown = (event: number) => !this.onlyScope || event === cursor || (events.place[event] >= 0 && places[events.place[event]]) || events.place[event] < 0;
		const rows: number[] = [];

		for (let i = cursor, before = 0; i >= 0 && before <= AROUND; i--) {
			if (isShown(i)) {
				rows.unshift(i);
				before++;
			}
		}
		for (let i = cursor + 1, after = 0; i < events.count && after < AROUND; i++) {
			if (isShown(i)) {
				rows.push(i);
				after++;
			}
		}
		return rows;
	}

	private show(): void {
		const { app } = this;
		const { trace } = app;
		const only = h("input", { type: "checkbox", change: () => { this.onlyScope = only.checked; this.show(); } });

		only.checked = this.onlyScope;
		if (!trace.events.count) {
			this.element.replaceChildren(h("p", { class: "empty" }, "The trace has no events."));
			return;
		}
		const focused = this.element.contains(document.activeElement);
		const sums = sumsOf(trace, app.scope).allocated;
		const body = h("tbody", {});

		for (const event of this.around()) {
			if (trace.gapEvents.has(event))
				body.append(h("tr", { class: "gap" }, h("td", { colspan: 7 }, `${format.plural(trace.facts.gaps.find((gap) => gap.event === event && gap.dropped)?.dropped ?? 0, "event")} missing here`)));
			body.append(this.row(event, sums));
		}
		this.element.replaceChildren(
			h("div", { class: "tools" }, h("label", { class: "choice" }, only, h("span", {}, `only ${app.scope.title.toLowerCase()}`)), h("span", { class: "dim" }, "A click on a row moves the cursor there and shows its allocation.")),
			h("div", { class: "table", role: "region", tabindex: 0, "aria-label": "Events around the cursor" }, h("table", {}, h("caption", {}, `Events around the cursor, of ${format.count(trace.events.count)}`),
				h("thead", {}, h("tr", {}, ...["event", "at", "what", "size", "allocated then", "line", "thread"].map((title) => h("th", { scope: "col" }, title)))), body)));
		if (focused)
			this.element.querySelector<HTMLElement>("tr[aria-selected=true]")?.focus({ preventScroll: true });
	}

	private row(event: number, sums: Float64Array): HTMLElement {
		const { app } = this;
		const { trace, query } = app;
		const { events, facts } = trace;
		const chosen = event === app.store.get("cursor");
		const block = events.block[event];
		const place = events.place[event] >= 0 ? facts.places[events.place[event]] : null;
		const choose = () => {
			app.moveCursor(event);
			if (block >= 0 && trace.blocks.kind[block] === 0)
				app.showBlock(block);
		};
		const name = events.place[event] < 0 || trace.opName(event) === "oom" ? facts.texts[events.text[event]] ?? "" : "";
		const text = [`${trace.opName(event)}${place?.pool ? ` in ${place.pool}` : place?.space && place.space !== "device" ? ` ${place.space}` : ""}`, name].filter((word) => word).join(" ");
		const matches = query && !query.wrong && block >= 0 && query.matches[block];

		return h("tr", {
			class: `link ${trace.opName(event)}${matches ? " matches" : ""}`, tabindex: 0, "aria-selected": String(chosen), "data-event": event, click: choose,
			keydown: (key: KeyboardEvent) => { if (key.key === "Enter") { choose(); key.preventDefault(); } },
		},
		h("td", { class: "number" }, format.count(event + 1)), h("td", { class: "number" }, format.moment(events.t[event])), h("td", {}, text),
		h("td", { class: "number" }, events.place[event] >= 0 ? format.bytes(events.size[event]) : ""), h("td", { class: "number" }, format.bytes(sums[event])),
		h("td", { class: "wide" }, trace.lineText(events.stack[event])), h("td", {}, threadName(trace, events.thread[event])));
	}
}
