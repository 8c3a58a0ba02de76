// The difference of two traces as a table, with the rows of `memtrace diff`: what grew, what shrank.

import type { App, View } from "./app";
import { h, select } from "./dom";
import type { Diff, DiffRow } from "../model/facts";
import * as format from "./format";
import { quoted } from "../model/query";
import type { Key } from "../model/state";
import { table } from "./table";

const titles: [string, string][] = [
	["site", "Call sites"], ["pool", "Pools"], ["owner", "Libraries"], ["category", "Categories"], ["phase", "Phases"], ["device", "Devices"], ["space", "Memory kinds"],
];

// Titles of the figures in a row, which src/analyse/compare/columns.def lists.
const figures: Record<string, string> = {
	allocated: "at the peak of allocated memory", reserved: "at the peak of reserved memory", exit: "at exit", exit_count: "blocks at exit",
	allocations: "allocations", bytes: "total bytes",
};
const counts = ["exit_count", "allocations", "frees", "count", "ooms"];

export class DiffView implements View {
	readonly id = "diff";
	readonly title = "Difference";
	readonly element = h("div", { class: "diff" });
	private figure = "";

	constructor(private readonly app: App, private readonly diff: Diff) {}

	update(changed: Set<Key>): void {
		if (changed.has("view") || changed.has("query") || changed.has("trace"))
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
			...[...titles, ...others].map(([dimension, title]) => this.rows(dimension, title)).filter((section): section is HTMLElement => section !== null),
		);
	}

	// The figures that differ in any row, in the order in which rows have them.
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
