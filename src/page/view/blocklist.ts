// A table of the allocations that match the search, or of all.

import type { App, View } from "./app";
import { categoryText, freeEvent, lifeText, phaseText, whereText } from "./block";
import { button, cut, h } from "./dom";
import * as format from "./format";
import { threadName } from "../model/groupings";
import { Kind } from "../model/model";
import type { Key } from "../model/state";
import { table, type Column } from "./table";

const MOST = 2000;

export class BlockListView implements View {
	readonly id = "blocks";
	readonly title = "Allocations";
	readonly element = h("div", {});

	constructor(private readonly app: App) {}

	update(changed: Set<Key>): void {
		const relevant: Key[] = ["trace", "scope", "query", "view"];

		if (relevant.some((key) => changed.has(key)))
			this.show();
	}

	// Returns the blocks that match, the largest first, and the sum of their bytes.
	private collect(): { all: number[]; bytes: number } {
		const { trace, places, query } = this.app;
		const { blocks } = trace;
		const all: number[] = [];
		let bytes = 0;

		for (let i = 0; i < blocks.count; i++) {
			if (blocks.kind[i] !== Kind.Block || !places[blocks.place[i]] || (query && !query.matches[i]) || trace.isFold(i))
				continue;
			all.push(i);
			bytes += blocks.size[i];
		}
		return { all: all.sort((a, b) => blocks.size[b] - blocks.size[a] || a - b), bytes };
	}

	private columns(): Column<number>[] {
		const { app } = this;
		const { trace } = app;
		const { blocks, events } = trace;
		const freedBy = (block: number) => (freeEvent(app, block) < 0 ? "" : trace.lineText(events.stack[freeEvent(app, block)]));
		const words = (title: string, text: (block: number) => string): Column<number> => ({ title, value: text, cell: (block) => cut(text(block), 90) });

		return [
			{ title: "size", value: (block) => blocks.size[block], cell: (block) => format.bytes(blocks.size[block]), number: true },
			{ title: "line", value: (block) => trace.lineText(blocks.stack[block]), cell: (block) => trace.lineText(blocks.stack[block]), wide: true },
			words("category", (block) => categoryText(app, block)),
			{ title: "allocated at", value: (block) => blocks.born[block], cell: (block) => format.moment(events.t[blocks.born[block]]), number: true },
			{ title: "lived", value: (block) => trace.lifetime(block) ?? Infinity, cell: (block) => lifeText(app, block), number: true },
			words("phase", (block) => phaseText(app, events.t[blocks.born[block]])), words("freed by", freedBy),
			words("thread", (block) => threadName(trace, events.thread[blocks.born[block]])), words("where", (block) => whereText(app, block)),
			{ title: "address", value: (block) => blocks.ptr[block], cell: (block) => format.address(blocks.ptr[block]) },
		];
	}

	// Saves all allocations that match as a file of comma-separated values.
	private save(all: number[]): void {
		const { trace } = this.app;
		const { blocks, events } = trace;
		const quote = (value: string | number) => (/^[=+\-@]|[",\n]/.test(String(value)) ? `"${String(value).replace(/^([=+\-@])/, "'$1").replace(/"/g, '""')}"` : String(value));
		const columns = this.columns();
		const raw: Record<string, (block: number) => string | number> = {
			size: (block) => blocks.size[block], "allocated at": (block) => events.t[blocks.born[block]], lived: (block) => trace.lifetime(block) ?? "", address: (block) => format.address(blocks.ptr[block]),
		};
		const rows = all.map((block) => columns.map((column) => quote((raw[column.title] ?? column.value)?.(block) ?? "")).join(","));
		const text = [columns.map((column) => column.title).join(","), ...rows].join("\n");

		h("a", { href: `data:text/csv;charset=utf-8,${encodeURIComponent(`${text}\n`)}`, download: "allocations.csv" }).click();
	}

	private show(): void {
		const { app } = this;
		const { trace, query } = app;
		const { blocks } = trace;

		if (query?.wrong) {
			this.element.replaceChildren(h("p", { class: "empty" }, `${query.wrong}. `, "Search for words in functions, files and call sites, size>1M, life<10ms, live, thread:NAME, pool:NAME."));
			return;
		}
		const { all, bytes } = this.collect();
		const rows = all.slice(0, MOST);

		this.element.dataset["count"] = String(all.length);
		this.element.dataset["bytes"] = String(bytes);
		this.element.replaceChildren(
			h("div", { class: "tools" }, button("Save as CSV", "Save these allocations as comma-separated values", () => this.save(all))),
			table({
				caption: `${format.plural(all.length, "allocation")} of ${format.bytes(bytes)} in all${query ? " match" : ""}, in ${app.scope.title}`,
				rows, sort: 0, note: all.length > rows.length ? `Only the ${format.count(rows.length)} largest are listed; Save as CSV saves all.` : trace.facts.folded ? "Allocations that the page has only in sums are not in this list." : "",
				data: (block) => ({ block }),
				choose: (block) => {
					app.moveCursor(blocks.born[block]);
					app.showBlock(block);
				},
				columns: this.columns(),
			}));
	}
}
