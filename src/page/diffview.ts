// Two traces: what grew and what shrank, as `memtrace diff` has it.

import type { App, View } from "./app";
import { h } from "./dom";
import type { Diff, DiffRow } from "./facts";
import * as format from "./format";
import { quoted } from "./query";
import type { Key } from "./state";
import { table } from "./table";

const titles: [string, string][] = [
	["site", "Call sites"], ["pool", "Pools"], ["owner", "Owners"], ["category", "Categories"], ["phase", "Phases"], ["device", "Devices"], ["space", "Spaces"],
];

// Of the figures of a row that which people ask for first, and which differs.
function figureOf(rows: DiffRow[]): string {
	const keys = Object.keys(rows[0]?.head ?? {});

	return keys.find((key) => rows.some((row) => row.base[key] !== row.head[key])) ?? keys[0] ?? "";
}

export class DiffView implements View {
	readonly id = "diff";
	readonly title = "Difference";
	readonly element = h("div", { class: "diff" });

	constructor(private readonly app: App, private readonly diff: Diff) {}

	update(changed: Set<Key>): void {
		if (changed.has("view") || changed.has("query") || changed.has("trace"))
			this.show();
	}

	private show(): void {
		const known = titles.map(([dimension]) => dimension);
		const others = [...new Set(this.diff.rows.map((row) => row.dimension))].filter((dimension) => !known.includes(dimension)).map((dimension): [string, string] => [dimension, dimension]);

		this.element.replaceChildren(
			h("p", { class: "answer" }, this.diff.sentence),
			...(this.diff.unlike.length ? [h("p", { class: "warning" }, `The runs are not alike: ${this.diff.unlike.map((one) => `${one.key} was ${one.base} and is ${one.head}`).join("; ")}.`)] : []),
			...[...titles, ...others].map(([dimension, title]) => this.rows(dimension, title)).filter((section): section is HTMLElement => section !== null),
		);
	}

	private rows(dimension: string, title: string): HTMLElement | null {
		const rows = this.diff.rows.filter((row) => row.dimension === dimension);
		const figure = figureOf(rows);
		const change = (row: DiffRow) => (row.head[figure] ?? 0) - (row.base[figure] ?? 0);
		const isBytes = figure.includes("bytes") || ["allocated", "reserved", "used", "exit", "live", "peak"].some((word) => figure.startsWith(word));
		const text = (value: number | undefined) => (value === undefined ? "-" : isBytes ? format.bytes(value) : format.count(value));
		const signed = (value: number) => (value > 0 ? `+${text(value)}` : text(value));

		if (!rows.length)
			return null;
		return table({
			caption: `${title} that changed (${figure})`, rows, data: (row) => ({ name: row.name, change: change(row), figure }),
			...(dimension === "site" ? {
				selected: (row: DiffRow) => this.app.query?.text === quoted("site", row.name),
				choose: (row: DiffRow) => this.app.store.set({ query: quoted("site", row.name), by: "site" }),
			} : {}),
			columns: [
				{ title: "change", value: (row) => Math.abs(change(row)), cell: (row) => { const cell = h("span", { class: change(row) > 0 ? "worse" : "better" }, signed(change(row))); return cell; }, number: true },
				{ title: "base", value: (row) => row.base[figure] ?? 0, cell: (row) => text(row.base[figure]), number: true },
				{ title: "head", value: (row) => row.head[figure] ?? 0, cell: (row) => text(row.head[figure]), number: true },
				{ title: title.replace(/s$/, "").toLowerCase(), value: (row) => row.name, cell: (row) => row.name, wide: true },
				{ title: "why", cell: (row) => row.why ?? "" },
			],
		});
	}
}
