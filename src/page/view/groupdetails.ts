// The details of a group of allocations, such as a call site: sums, largest allocations, and a call stack.

import type { App } from "./app";
import { blockSwatch, lifeText } from "./block";
import { button, h, type Child } from "./dom";
import type { Grouping } from "../model/facts";
import * as format from "./format";
import { groupOfBlock } from "../model/groupings";
import { Kind } from "../model/model";
import { quoted } from "../model/query";
import { stackView } from "./stackview";

const LARGEST = 8;

// A button that opens the details of one allocation.
export function blockButton(app: App, block: number): HTMLElement {
	const { blocks, events } = app.trace;

	return h("li", {}, button(`${format.bytes(blocks.size[block])} at ${format.moment(events.t[blocks.born[block]])}, ${lifeText(app, block)}`, "The details of this allocation", () => app.showBlock(block, app.side), { class: "link" }), " ", blockSwatch(app, block));
}

export function groupDetails(app: App, grouping: Grouping, group: number): Child[] {
	const { trace, places } = app;
	const { blocks } = trace;
	const cursor = app.store.get("cursor");
	const found: number[] = [];
	const sums = { all: 0, count: 0, live: 0, liveCount: 0, kept: 0 };

	for (let i = 0; i < blocks.count; i++) {
		if (blocks.kind[i] !== Kind.Block || !places[blocks.place[i]] || groupOfBlock(trace, grouping, i) !== group || trace.isFold(i))
			continue;
		const live = blocks.born[i] <= cursor && blocks.died[i] > cursor;

		found.push(i);
		sums.all += blocks.size[i];
		sums.count++;
		sums.live += live ? blocks.size[i] : 0;
		sums.liveCount += live ? 1 : 0;
		sums.kept += trace.lifetime(i) === null ? blocks.size[i] : 0;
	}
	found.sort((a, b) => blocks.size[b] - blocks.size[a] || a - b);
	const first = found[0];

	return [
		h("div", { class: "tools" },
			button("Mark all", "Mark all allocations of this group in every view", () => app.store.set({ query: quoted(grouping.by, grouping.names[group]) })),
			first !== undefined && blocks.stack[first] >= 0 ? button("Flame graph", "Show the call stack of the largest in the flame graph", () => { app.moveCursor(blocks.born[first]); app.reveal("flame", blocks.stack[first]); }) : "",
			button("List", "List all of them", () => app.store.set({ query: quoted(grouping.by, grouping.names[group]), view: "blocks" }))),
		h("dl", {}, h("dt", {}, "at the cursor"), h("dd", {}, `${format.bytes(sums.live)} in ${format.plural(sums.liveCount, "allocation")}`),
			h("dt", {}, "in all"), h("dd", {}, `${format.bytes(sums.all)} in ${format.plural(sums.count, "allocation")}`), h("dt", {}, "never freed"), h("dd", {}, format.bytes(sums.kept))),
		found.length ? h("section", { class: "stack" }, h("h3", {}, "The largest"), h("ol", { class: "frames" }, ...found.slice(0, LARGEST).map((block) => blockButton(app, block)))) : "",
		first !== undefined ? stackView(app, blocks.stack[first], "The largest was allocated by") : "",
	];
}
