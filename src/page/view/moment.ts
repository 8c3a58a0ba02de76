// The blocks live at the cursor, or allocated or freed between two cursors, as flame graph or table.

import type { App, View } from "./app";
import { h, select } from "./dom";
import { Flame } from "./flame";
import * as format from "./format";
import { partTitles, type Part } from "../model/live";
import { swatch } from "./legend";
import { colour } from "./palette";
import { quoted } from "../model/query";
import type { Key } from "../model/state";
import { table, type Column } from "./table";

const parts: Part[] = ["live", "kept", "freed", "passed"];
const relevant: Key[] = ["trace", "scope", "cursor", "pin", "stacks", "machinery", "query", "by", "theme", "view"];

// The buttons that choose the blocks to show: one choice with one cursor, four with two.
class PartChoice {
	private part: Part | null = null;
	readonly element = h("div", { class: "parts", role: "group", "aria-label": "Which blocks" });

	constructor(private readonly app: App, private readonly changed: () => void) {}

	get chosen(): Part {
		return this.part ?? "live";
	}

	update(): void {
		const pinned = this.app.store.get("pin") >= 0;
		const told = !this.app.peakIsSeen && this.app.peak !== undefined;
		const offered: Part[] = [...(told ? ["peak" as const] : []), ...(pinned ? parts : ["live" as const])];

		// The first choice is the peak if events are missing, as the recorder summed it exactly.
		if (this.part === null || !offered.includes(this.part))
			this.part = offered[0];
		this.element.hidden = offered.length < 2;
		this.element.replaceChildren(...offered.map((part) => {
			const weights = this.app.weights(part);

			return h("button", {
				type: "button", "aria-pressed": String(part === this.part), "data-part": part, "data-bytes": weights.total, "data-count": weights.count,
				click: () => { this.part = part; this.changed(); },
			}, `${partTitles[part]}: `, h("b", {}, format.bytes(weights.total)), ` in ${format.plural(weights.count, "block")}`);
		}));
	}
}

export class FlameView implements View {
	readonly id = "flame";
	readonly title = "Flame graph";
	readonly element: HTMLElement;
	private readonly choice: PartChoice;
	private readonly flame: Flame;
	private readonly tools = h("div", { class: "tools" });

	constructor(private readonly app: App) {
		this.choice = new PartChoice(app, () => this.show());
		this.flame = new Flame(app);
		this.element = h("div", {}, this.choice.element, this.tools, this.flame.element);
	}

	update(changed: Set<Key>): void {
		if (relevant.some((key) => changed.has(key)))
			this.show();
	}

	private show(): void {
		const { store } = this.app;
		const machinery = h("input", { type: "checkbox", change: () => store.set({ machinery: machinery.checked }) });

		machinery.checked = store.get("machinery");
		this.choice.update();
		this.tools.replaceChildren(
			select("Stacks", [{ value: "merged", label: "Python and native" }, { value: "python", label: "Python only" }, { value: "native", label: "native only" }],
				store.get("stacks"), (value) => store.set({ stacks: value as "merged" })),
			h("label", { class: "choice" }, machinery, h("span", {}, "frames inside frameworks and drivers")),
		);
		this.flame.update(this.choice.chosen);
	}
}

interface Row { group: number; name: string; bytes: number; blocks: number }

export class TableView implements View {
	readonly id = "table";
	readonly title = "Table";
	readonly element: HTMLElement;
	private readonly choice: PartChoice;
	private readonly body = h("div", {});

	constructor(private readonly app: App) {
		this.choice = new PartChoice(app, () => this.show());
		this.element = h("div", {}, this.choice.element, this.body);
	}

	update(changed: Set<Key>): void {
		if (relevant.some((key) => changed.has(key)))
			this.show();
	}

	private rows(): Row[] {
		const weights = this.app.weights(this.choice.chosen);
		const grouping = this.app.grouping;
		const rows = new Map<number, Row>();

		if (this.app.byBlock) {
			const { bytes, blocks } = weights.categories;

			return [...bytes.keys()].filter((at) => blocks[at]).map((at) =>
				({ group: at - 1, name: at ? grouping.names[at - 1] : "[none]", bytes: bytes[at], blocks: blocks[at] }));
		}
		for (let stack = 0; stack < weights.bytes.length; stack++) {
			if (!weights.blocks[stack])
				continue;
			const group = stack < this.app.trace.facts.stacks ? this.app.groupOf(stack) : -1;
			const row = rows.get(group) ?? { group, name: group < 0 ? "[none]" : grouping.names[group], bytes: 0, blocks: 0 };

			row.bytes += weights.bytes[stack];
			row.blocks += weights.blocks[stack];
			rows.set(group, row);
		}
		return [...rows.values()];
	}

	// The bytes of the device's sum that no known block holds.
	private unknown(): number {
		const { trace, scope, store } = this.app;
		const sum = this.app.sumsOf(trace, scope).allocated[store.get("cursor")];

		return this.choice.chosen === "live" && trace.facts.gaps.length && sum > this.app.weights("live").total ? sum - this.app.weights("live").total : 0;
	}

	private show(): void {
		this.choice.update();
		const { store } = this.app;
		const total = this.app.weights(this.choice.chosen).total;
		const rows = this.rows();
		const unknown = this.unknown();
		const ranks = this.app.rankOfGroup;
		const query = this.app.query;
		const grouping = this.app.grouping;

		if (unknown)
			rows.push({ group: -1, name: "[not recorded: events before this moment are missing]", bytes: unknown, blocks: 0 });
		const columns: Column<Row>[] = [
			{ title: "", cell: (row) => swatch(row.group < 0 ? this.app.theme.rest : colour(ranks[row.group], this.app.theme.dark)) },
			{ title: "bytes", value: (row) => row.bytes, cell: (row) => format.bytes(row.bytes), number: true },
			{ title: "share", value: (row) => row.bytes, cell: (row) => format.share(row.bytes, total + unknown), number: true, bar: (row) => row.bytes / (total + unknown || 1) },
			{ title: "blocks", value: (row) => row.blocks, cell: (row) => format.count(row.blocks), number: true },
			{ title: grouping.title, value: (row) => row.name, cell: (row) => row.name, wide: true },
		];

		this.body.replaceChildren(table({
			caption: `${format.bytes(total)} in ${format.plural(rows.length, "row")} ${partTitles[this.choice.chosen]}, by ${grouping.title}`,
			columns, rows, sort: 1,
			data: (row) => ({ name: row.name, bytes: row.bytes }),
			selected: (row) => row.group >= 0 && query?.text === quoted(grouping.by, row.name),
			choose: (row) => row.group >= 0 && store.set({ query: query?.text === quoted(grouping.by, row.name) ? "" : quoted(grouping.by, row.name) }),
		}));
	}
}
