// The tabs, which show one view at a time.

import type { App, View } from "./app";
import { h } from "./dom";
import type { Key } from "../model/state";
import { tooltip } from "./tooltip";

export class Tabs {
	readonly element: HTMLElement;
	private readonly list = h("div", { class: "tabs", role: "tablist", "aria-label": "Views" });
	private readonly panel = h("div", { class: "panel", role: "tabpanel", id: "panel", tabindex: -1 });
	private shown: View | null = null;

	constructor(private readonly app: App, private readonly views: View[]) {
		views.forEach((view, i) => this.list.append(h("button", {
			type: "button", role: "tab", id: `tab-${view.id}`, "aria-controls": "panel", title: `${view.title} (${i + 1})`,
			click: () => app.store.set({ view: view.id }),
			keydown: (event: KeyboardEvent) => this.walk(event, i),
		}, view.title)));
		this.element = h("div", {}, this.list, this.panel);
	}

	update(changed: Set<Key>): void {
		const view = this.views.find((one) => one.id === this.app.store.get("view")) ?? this.views[0];
		const fresh = view !== this.shown;

		if (fresh) {
			tooltip.hide(); // the drawing that it describes may be gone
			this.shown = view;
			for (const tab of this.list.children) {
				const selected = tab.id === `tab-${view.id}`;

				tab.setAttribute("aria-selected", String(selected));
				tab.setAttribute("tabindex", selected ? "0" : "-1");
			}
			this.panel.setAttribute("aria-labelledby", `tab-${view.id}`);
			this.panel.dataset["view"] = view.id;
			this.panel.replaceChildren(view.element);
		}
		// A view was not updated while it was hidden, so every member of the state may have changed.
		view.update(fresh ? new Set(Object.keys(this.app.store.state) as Key[]) : changed);
	}

	private walk(event: KeyboardEvent, at: number): void {
		const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		const next = this.views[(at + step + this.views.length) % this.views.length];

		if (!step)
			return;
		event.preventDefault();
		this.app.store.set({ view: next.id });
		document.getElementById(`tab-${next.id}`)?.focus();
	}
}
