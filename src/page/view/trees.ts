// The trees of flame graphs, for what the user chose: of one run, or of the difference of two.

import type { App } from "./app";
import { buildTree, joinTrees, type Node } from "../model/flametree";
import { groupingBy } from "../model/groupings";
import { weigh, type Part } from "../model/live";
import type { Trace } from "../model/model";
import { eventAt } from "../model/axis";
import { sumsOf, placesOf, scopesOf } from "../model/scope";

function wishOf(app: App, trace: Trace) {
	const { stacks, machinery, tree, merge, split } = app.store.state;

	return {
		stacks, machinery, inverted: tree === "inverted", merge, split: split === "" ? null : groupingBy(trace, split) ?? null,
		query: trace === app.trace && app.query && !app.query.wrong ? app.query : null,
	};
}

export function treeOf(app: App, part: Part): Node {
	const { from, to } = part === "live" ? { from: -1, to: app.store.get("cursor") } : app.span;

	return buildTree(app.trace, { ...wishOf(app, app.trace), part, from, to, places: app.places, weights: app.weights(part) });
}

// Returns the event of the other run to compare with: its peak if the cursor is at the peak, else the same place.
export function otherEvent(app: App): { trace: Trace; event: number; peaks: boolean } | null {
	const other = app.traces.find((trace) => trace !== app.trace);

	if (!other)
		return null;
	const peaks = app.store.get("cursor") === app.peakEvent(sumsOf(app.trace, app.scope).allocated);

	return { trace: other, event: peaks ? app.peakEvent(sumsOf(other, app.scope).allocated) : Math.max(eventAt(other, app.store.get("axis"), app.cursorAt), 0), peaks };
}

// Returns the tree of what was live at the cursor, with the bytes of the other run.
export function differenceTree(app: App): Node {
	const other = otherEvent(app);
	const own = treeOf(app, "live");
	const scope = other && scopesOf(other.trace).find((one) => one.id === app.scope.id);

	if (!other || !scope)
		return own;
	const wish = wishOf(app, other.trace);
	const places = placesOf(other.trace, scope);
	const weights = weigh(other.trace, places, "live", -1, other.event, wish.split ?? other.trace.facts.groupings[0]);

	return joinTrees(own, buildTree(other.trace, { ...wish, part: "live", from: -1, to: other.event, places, weights }));
}
