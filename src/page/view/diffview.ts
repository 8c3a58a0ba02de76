// The difference of two traces as tables: the rows of `memtrace diff`, and a tree of calls.

import type { App, View } from "./app";
import { h, select } from "./dom";
import type { Diff, DiffRow } from "../model/facts";
import * as format from "./format";
import { quoted } from "../model/query";
import type { Key } from "../model/state";
import type { Node } from "../model/flametree";
import { table } from "./table";
import { differenceTree, otherEvent } from "./trees";

const titles: [string, string][] = [
	["site", "Call sites"], ["pool", "Pools"], ["owner", "Libraries"], ["category", "Categories"], ["phase", "Phases"], ["device", "Devices"], ["space", "Memory kinds"],
];

// Titles of the figures in a row, which src/analyse/compare/columns.def lists.
const figures: Record<string, string> = {
	allocated: "at the peak of allocated memory", reserved: "at the peak of reserved memory", exit: "at exit", exit_count: "blocks at exit",
	allocations: "allocations", bytes: "total bytes",
};
const MOST_CALLS = 60;
const counts = ["exit_count", "allocations", "frees", "count", "ooms"];

export class DiffView implements View {
	readonly id = "diff";
	readonly title = "Difference";
	readonly element = h("div", { class: "diff" });
	private figure = "";

	constructor(private readonly app: App, private readonly diff: Diff) {}

	update(changed: Set<Key>): void {
		if ((["view", "query", "trace", "cursor", "scope", "stacks", "merge"] as Key[]).some((key) => changed.has(key)))
			this.show();
	}

	private show(): void {
		const known = titles.map(([dimension]) => dimension);
		const others = [...new Set(this.diff.rows.map((row) => row.dimension))].filter((dimension) => !known.includes(dimension)).map((dimension): [string, string] => [dimension, dimension]);

		const offered = this.figures();

		if (!offered.includes(this.figure))
			this.figure = offered[0] ?? "";
		this.element.replaceChildren(
			...(this.diff.unlike.length ? [h("p", { class: "warning" }, `The runs differ in their conditions: ${this.diff.unlike.map((one) => `${one.key} was ${one.base} and is ${one.head}`).join("; ")}.`)] : []),
			offered.length ? h("div", { class: "tools" }, select("Compare", offered.map((key) => ({ value: key, label: figures[key] ?? key })), this.figure, (key) => { this.figure = key; this.show(); }))
				: h("p", { class: "empty" }, "No figure of any call site, pool, owner or phase differs."),
			this.tree(), ...[...titles, ...others].map(([dimension, title]) => this.rows(dimension, title)).filter((section): section is HTMLElement => section !== null),
		);
	}

	// The calls in which the runs differ most at the cursor, as a tree from the callers down, sorted by the difference.
	private tree(): HTMLElement {
		const other = otherEvent(this.app);

		if (!other || !this.app.trace.events.count || !other.trace.events.count)
			return h("span", {});
		const root = differenceTree(this.app);
		const rows: Node[] = [];
		const change = (node: Node) => node.bytes - (node.base ?? 0);
		const weight = (node: Node): number => Math.max(Math.abs(change(node)), node.children.reduce((sum, child) => sum + Math.abs(change(child)), 0));
		const least = weight(root) / 50;
		const walk = (node: Node) => {
			if (rows.length >= MOST_CALLS)
				return;
			rows.push(node);
			for (const child of [...node.children].sort((a, b) => weight(b) - weight(a))) {
				if (weight(child) >= least && weight(child) > 0)
					walk(child);
			}
		};

		walk(root);
		return table({
			caption: `Calls in which the runs differ, ${other.peaks ? "each at its peak" : "at the cursor, and at the same place in the other run"}: a row opens the flame graph of the difference`, rows,
			data: (node) => ({ call: node.name, difference: change(node) }), choose: () => this.app.store.set({ view: "flame", compare: true }),
			columns: [
				{ title: "change", cell: (node) => h("span", { class: change(node) > 0 ? "worse" : "better" }, format.signedBytes(change(node))), number: true },
				{ title: "other run", cell: (node) => format.bytes(node.base ?? 0), number: true },
				{ title: "this run", cell: (node) => format.bytes(node.bytes), number: true },
				{ title: "call", cell: (node) => `${"\u2007\u2007".repeat(Math.min(node.depth, 24))}${node.parent ? node.name : "all"}`, wide: true },
			],
		});
	}

	// Returns the figures that differ in any row, in the order in which rows have them.
	private figures(): string[] {
		const keys = new Set(this.diff.rows.flatMap((row) => Object.keys(row.head).filter((key) => row.base[key] !== row.head[key])));

		return [...new Set([...Object.keys(figures), ...keys])].filter((key) => keys.has(key));
	}

	private rows(dimension: string, title: string): HTMLElement | null {
		const figure = this.figure;
		const change = (row: DiffRow) => (row.head[figure] ?? 0) - (row.base[figure] ?? 0);
		const rows = this.diff.rows.filter((row) => row.dimension === dimension && change(row));
		const text = (value: number | undefined) => (value === undefined ? "-" : counts.includes(figure) ? format.count(value) : format.bytes(value));
		const signed = (value: number) => (value > 0 ? `+${text(value)}` : text(value));

		if (!rows.length)
			return null;
		return table({
			caption: `${title}, ${figures[figure] ?? figure}`, rows, data: (row) => ({ name: row.name, change: change(row), figure }),
			...(dimension === "site" ? {
				selected: (row: DiffRow) => this.app.query?.text === quoted("site", row.name),
				choose: (row: DiffRow) => this.app.store.set({ query: quoted("site", row.name), by: "site" }),
			} : {}),
			columns: [
				{ title: "change", value: (row) => Math.abs(change(row)), cell: (row) => h("span", { class: change(row) > 0 ? "worse" : "better" }, signed(change(row))), number: true },
				{ title: "base", value: (row) => row.base[figure] ?? 0, cell: (row) => text(row.base[figure]), number: true },
				{ title: "head", value: (row) => row.head[figure] ?? 0, cell: (row) => text(row.head[figure]), number: true },
				{ title: title.replace(/s$/, "").toLowerCase(), value: (row) => row.name, cell: (row) => row.name, wide: true },
				{ title: "why", cell: (row) => row.why ?? "" },
			],
		});
	}
}
