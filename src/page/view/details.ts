// The panel with the details of what was clicked: an allocation, a row, a frame of the flame graph, a segment.

import type { App } from "./app";
import { blockDetails, blockTitle } from "./block";
import { button, h, type Child } from "./dom";
import type { Key } from "../model/state";

export interface Subject { title: string; content: () => Child[] }

export class Details {
	readonly element = h("aside", { class: "details", hidden: true, "aria-label": "Details", tabindex: -1 });
	private subject: Subject | null = null;
	private before: Element | null = null; // the element that had the focus before

	constructor(private readonly app: App) {
		app.details = this;
		this.element.addEventListener("keydown", (event) => {
			if (event.key !== "Escape")
				return;
			this.close();
			event.preventDefault();
			event.stopPropagation();
		});
	}

	get isOpen(): boolean {
		return !this.element.hidden;
	}

	open(subject: Subject): void {
		this.app.store.set({ block: -1 });
		this.subject = subject;
		this.show(subject);
	}

	update(changed: Set<Key>): void {
		const { block } = this.app.store.state;

		if (changed.has("trace") && !changed.has("block"))
			this.hide();
		else if (block >= 0 && ["block", "theme", "by", "trace"].some((key) => changed.has(key as Key)))
			this.show({ title: blockTitle(this.app, block), content: () => blockDetails(this.app, block) });
		else if (changed.has("block") && block < 0 && !this.subject)
			this.hide();
	}

	private show(subject: Subject): void {
		const heading = h("h2", { tabindex: -1 }, subject.title);

		if (this.element.hidden)
			this.before = document.activeElement;
		this.element.dataset["side"] = this.app.side;
		this.element.replaceChildren(h("div", { class: "head" }, heading, button("Close", "Close the details (Escape)", () => this.close(), { class: "small" })), ...subject.content().filter((child): child is Node | string => Boolean(child)));
		this.element.hidden = false;
		this.element.scrollTop = 0;
		if (this.app.store.get("block") >= 0)
			this.subject = null;
	}

	private hide(): void {
		this.element.hidden = true;
		this.subject = null;
	}

	close(): void {
		const inside = this.element.contains(document.activeElement);

		this.hide();
		this.app.store.set({ block: -1 });
		if (inside && this.before instanceof HTMLElement && this.before.isConnected)
			this.before.focus();
	}

	focus(): void {
		this.element.querySelector("h2")?.focus();
	}
}
