// Tables. A click on a heading sorts a table; it shows its first rows until a click shows more.

import { h, type Child } from "./dom";
import * as format from "./format";

const FIRST = 100;

export interface Column<T> {
	title: string;
	cell: (row: T) => Child;
	value?: (row: T) => number | string; // the value to sort by
	bar?: (row: T) => number; // 0 to 1, drawn behind the cell
	number?: boolean;
	wide?: boolean;
}

export interface Table<T> {
	caption: string;
	columns: Column<T>[];
	rows: T[];
	sort?: number; // the column to sort by at first, largest first
	empty?: string;
	data?: (row: T) => Record<string, string | number>;
	selected?: (row: T) => boolean;
	choose?: (row: T) => void; // called at a click on a row, or at Enter
	note?: string; // text below the table, on rows that are not in it
}

function ordered<T>(options: Table<T>, column: number, up: boolean): T[] {
	const value = options.columns[column]?.value;

	if (!value)
		return options.rows;
	return [...options.rows].sort((a, b) => {
		const x = value(a);
		const y = value(b);
		const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));

		return up ? order : -order;
	});
}

function rowElement<T>(options: Table<T>, row: T): HTMLTableRowElement {
	const chosen = options.selected?.(row) ?? false;
	const element = h("tr", { "aria-selected": options.choose ? String(chosen) : null, tabindex: options.choose ? 0 : null, class: options.choose ? "link" : null });

	for (const [name, value] of Object.entries(options.data?.(row) ?? {}))
		element.dataset[name] = String(value);
	for (const column of options.columns) {
		const cell = h("td", { class: [column.number ? "number" : "", column.wide ? "wide" : ""].join(" ").trim() || null }, column.cell(row));

		if (column.bar) {
			const part = `${Math.min(100, 100 * column.bar(row)).toFixed(2)}%`;

			cell.classList.add("bar");
			cell.style.setProperty("--part", part);
		}
		element.append(cell);
	}
	if (options.choose) {
		element.addEventListener("click", () => options.choose?.(row));
		element.addEventListener("keydown", (event) => {
			if (event.key === "Enter") {
				options.choose?.(row);
				event.preventDefault();
			}
		});
	}
	return element;
}

export function table<T>(options: Table<T>): HTMLElement {
	if (!options.rows.length)
		return h("p", { class: "empty" }, options.empty ?? `${options.caption}: nothing.`);
	const body = h("tbody", {});
	const more = h("p", { class: "more" });
	let column = options.sort ?? -1;
	let up = false;
	let most = FIRST;
	const heads = options.columns.map((one, i) => h("th", { scope: "col", class: one.number ? "number" : null },
		one.value ? h("button", { type: "button", click: () => { up = column === i && !up; column = i; fill(); } }, one.title) : one.title));

	function fill(): void {
		const rows = ordered(options, column, up);

		heads.forEach((head, i) => head.setAttribute("aria-sort", i === column ? (up ? "ascending" : "descending") : "none"));
		body.replaceChildren(...rows.slice(0, most).map((row) => rowElement(options, row)));
		more.replaceChildren();
		if (rows.length > most)
			more.append(`${format.count(rows.length - most)} more rows. `, h("button", { type: "button", click: () => { most *= 10; fill(); } }, "Show more"));
		else if (options.note)
			more.append(options.note);
	}

	fill();
	return h("div", { class: "table", role: "region", tabindex: 0, "aria-label": options.caption }, h("table", {}, h("caption", {}, options.caption), h("thead", {}, h("tr", {}, ...heads)), body), more);
}
