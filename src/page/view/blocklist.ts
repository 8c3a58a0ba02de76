// A table of the blocks that match the search, or of all blocks.

import type { App, View } from "./app";
import { lifeText, whereText } from "./block";
import { h } from "./dom";
import * as format from "./format";
import { Kind } from "../model/model";
import type { Key } from "../model/state";
import { table } from "./table";

const MOST = 2000;

export class BlockListView implements View {
	readonly id = "blocks";
	readonly title = "Blocks";
	readonly element = h("div", {});

	constructor(private readonly app: App) {}

	update(changed: Set<Key>): void {
		const relevant: Key[] = ["trace", "scope", "query", "view"];

		if (relevant.some((key) => changed.has(key)))
			this.show();
	}

	// The largest blocks that match, and the number and bytes of all that match.
	private collect(): { rows: number[]; count: number; bytes: number } {
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
		const count = all.length;

		return { rows: all.sort((a, b) => blocks.size[b] - blocks.size[a] || a - b).slice(0, MOST), count, bytes };
	}

	private show(): void {
		const { app } = this;
		const { trace, query } = app;
		const { blocks, events } = trace;

		if (query?.wrong) {
			this.element.replaceChildren(h("p", { class: "empty" }, `${query.wrong}. `, "Search for words in functions, files and call sites, size>1M, life<10ms, live, thread:NAME, pool:NAME."));
			return;
		}
		const { rows, count, bytes } = this.collect();

		this.element.dataset["count"] = String(count);
		this.element.dataset["bytes"] = String(bytes);
		this.element.replaceChildren(table({
			caption: `${format.plural(count, "block")} of ${format.bytes(bytes)} in all${query ? " match" : ""}, in ${app.scope.title}`,
			rows, sort: 0, note: count > rows.length ? `Only the ${format.count(rows.length)} largest are listed; the map, the curves and the sums hold them all.` : trace.facts.folded ? "Blocks that the trace has in sums only are not in this list." : "",
			data: (block) => ({ block }),
			choose: (block) => {
				app.moveCursor(blocks.born[block]);
				document.querySelector(".overview")?.scrollIntoView({ block: "nearest" });
			},
			columns: [
				{ title: "size", value: (block) => blocks.size[block], cell: (block) => format.bytes(blocks.size[block]), number: true },
				{ title: "allocated at", value: (block) => blocks.born[block], cell: (block) => format.moment(events.t[blocks.born[block]]), number: true },
				{ title: "lifetime", value: (block) => trace.lifetime(block) ?? Infinity, cell: (block) => lifeText(app, block), number: true },
				{ title: "line", value: (block) => trace.lineText(blocks.stack[block]), cell: (block) => trace.lineText(blocks.stack[block]), wide: true },
				{ title: "where", value: (block) => whereText(app, block), cell: (block) => whereText(app, block) },
				{ title: "address", value: (block) => blocks.ptr[block], cell: (block) => format.address(blocks.ptr[block]) },
			],
		}));
	}
}
