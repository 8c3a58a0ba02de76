// The allocations that are live at the cursor, or allocated or freed between two cursors, as a flame graph or table.

import type { App, View } from "./app";
import { h, select } from "./dom";
import { Flame } from "./flame";
import * as format from "./format";
import { partTitles, type Part } from "../model/live";
import { groupDetails } from "./groupdetails";
import { swatch } from "./legend";
import { colour } from "./palette";
import { quoted } from "../model/query";
import { groupingChoices } from "../model/groupings";
import { sumsOf } from "../model/scope";
import type { Key } from "../model/state";
import { table, type Column } from "./table";

const parts: Part[] = ["live", "kept", "freed", "passed"];
const relevant: Key[] = ["trace", "scope", "cursor", "pin", "stacks", "tree", "merge", "split", "compare", "machinery", "query", "by", "theme", "view"];

// The buttons that choose the blocks to show: one with one cursor, four with two cursors.
class PartChoice {
	private part: Part | null = null;
	readonly element = h("div", { class: "parts", role: "group", "aria-label": "Which allocations" });

	constructor(private readonly app: App, private readonly changed: () => void) {}

	get chosen(): Part {
		return this.part ?? "live";
	}

	update(): void {
		const pinned = this.app.store.get("pin") >= 0;
		const told = !this.app.peakIsSeen && this.app.peak !== undefined;
		const offered: Part[] = [...(told ? ["peak" as const] : []), ...(pinned ? parts : ["live" as const])];

		// If events are missing, the first choice is the peak, which the recorder stored exactly.
		if (this.part === null || !offered.includes(this.part))
			this.part = offered[0];
		this.element.hidden = offered.length < 2;
		this.element.replaceChildren(...offered.map((part) => {
			const weights = this.app.weights(part);

			return h("button", {
				type: "button", "aria-pressed": String(part === this.part), "data-part": part, "data-bytes": weights.total, "data-count": weights.count,
				click: () => { this.part = part; this.changed(); },
			}, `${partTitles[part]}: `, h("b", {}, format.bytes(weights.total)), ` in ${format.plural(weights.count, "allocation")}`);
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
		app.onReveal("flame", (stack) => this.flame.reveal(stack));
	}

	update(changed: Set<Key>): void {
		if (relevant.some((key) => changed.has(key)))
			this.show();
	}

	private show(): void {
		const { store } = this.app;
		const machinery = h("input", { type: "checkbox", change: () => store.set({ machinery: machinery.checked }) });

		const compare = h("input", { type: "checkbox", change: () => store.set({ compare: compare.checked }) });

		compare.checked = store.get("compare");
		machinery.checked = store.get("machinery");
		this.choice.update();
		this.tools.replaceChildren(
			select("Stacks", [{ value: "merged", label: "Python and native" }, { value: "python", label: "Python only" }, { value: "native", label: "native only" }],
				store.get("stacks"), (value) => store.set({ stacks: value as "merged" })),
			select("Tree", [{ value: "callers", label: "callers first" }, { value: "inverted", label: "inverted: allocating code first" }], store.get("tree"), (tree) => store.set({ tree: tree as "callers" })),
			select("A frame is", [{ value: "line", label: "a line" }, { value: "function", label: "a function" }], store.get("merge"), (merge) => store.set({ merge: merge as "line" })),
			select("Split by", [{ value: "", label: "nothing" }, ...groupingChoices(this.app.trace).filter((one) => ["thread", "category", "phase", "owner"].includes(one.value))], store.get("split"), (split) => store.set({ split })),
			this.app.traces.length > 1 ? h("label", { class: "choice" }, compare, h("span", {}, "difference to the other run")) : "",
			h("label", { class: "choice" }, machinery, h("span", {}, "helper frames, too")),
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
		const { bytes, blocks } = this.app.weights(this.choice.chosen).groups;
		const { names } = this.app.tableGrouping;

		return [...bytes.keys()].filter((at) => blocks[at]).map((at) => ({ group: at - 1, name: at ? names[at - 1] : "[none]", bytes: bytes[at], blocks: blocks[at] }));
	}

	// The bytes of the device's sum that no known block holds.
	private unknown(): number {
		const { trace, scope, store } = this.app;
		const sum = sumsOf(trace, scope).allocated[store.get("cursor")];

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
		const grouping = this.app.tableGrouping;

		if (unknown)
			rows.push({ group: -1, name: "[not recorded: events before this moment are missing]", bytes: unknown, blocks: 0 });
		const columns: Column<Row>[] = [
			{ title: "colour", cell: (row) => swatch(row.group < 0 || grouping !== this.app.grouping ? this.app.theme.rest : colour(ranks[row.group], this.app.theme.dark)) },
			{ title: "bytes", value: (row) => row.bytes, cell: (row) => format.bytes(row.bytes), number: true },
			{ title: "share", value: (row) => row.bytes, cell: (row) => format.share(row.bytes, total + unknown), number: true, bar: (row) => row.bytes / (total + unknown || 1) },
			{ title: "allocations", value: (row) => row.blocks, cell: (row) => format.count(row.blocks), number: true },
			{ title: grouping.title, value: (row) => row.name, cell: (row) => row.name, wide: true },
		];

		this.body.replaceChildren(table({
			caption: `${format.bytes(total)} in ${format.plural(rows.length, "row")} ${partTitles[this.choice.chosen]}, by ${grouping.title}`,
			columns, rows, sort: 1,
			data: (row) => ({ name: row.name, bytes: row.bytes }),
			selected: (row) => row.group >= 0 && query?.text === quoted(grouping.by, row.name),
			choose: (row) => {
				const wanted = quoted(grouping.by, row.name);

				if (row.group < 0)
					return;
				store.set({ query: query?.text === wanted ? "" : wanted });
				if (query?.text !== wanted)
					this.app.showDetails({ title: row.name, content: () => groupDetails(this.app, grouping, row.group) });
			},
		}));
	}
}
