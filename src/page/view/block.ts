// The text on one allocation: a box at the pointer, and the details in the panel.

import type { App } from "./app";
import { button, cut, h, type Child } from "./dom";
import * as format from "./format";
import { groupingBy, groupOfBlock, threadName } from "../model/groupings";
import { kernelName } from "../model/kernels";
import { NEVER } from "../model/model";
import { plainText, shownOf } from "../model/frames";
import { quoted } from "../model/query";
import { swatch } from "./legend";
import { colour, COLOURS } from "./palette";
import { kindOf, trackText } from "./spans";
import { stackView } from "./stackview";

export function lifeText(app: App, block: number): string {
	const life = app.trace.lifetime(block);

	if (life === null)
		return "never freed";
	return app.trace.isLost(block) ? "free not recorded" : format.time(life);
}

export function whereText(app: App, block: number): string {
	const place = app.trace.facts.places[app.trace.blocks.place[block]];
	const device = place.device === null ? place.space : `device ${place.device}`;

	return place.pool ? `${device}, pool ${place.pool}` : `${device}`;
}

export function categoryText(app: App, block: number): string {
	const category = groupingBy(app.trace, "category");

	return category ? category.names[groupOfBlock(app.trace, category, block)] ?? "unknown" : "unknown";
}

export function phaseText(app: App, t: number): string {
	const inside = app.trace.facts.phases.filter((phase) => phase.start <= t && (phase.end ?? Infinity) >= t);

	return inside.map((phase) => phase.name).join(" > ");
}

function sizeText(app: App, block: number): string {
	const { blocks } = app.trace;

	return `${format.bytes(blocks.size[block])}${blocks.many[block] > 1 ? ` in ${format.plural(blocks.many[block], "allocation")} together` : ""}`;
}

export function blockSwatch(app: App, block: number): HTMLElement {
	const rank = app.rankOfBlock(block);

	return swatch(rank < COLOURS ? colour(rank, app.theme.dark) : app.theme.other);
}

// Returns the event that freed a block, -1 if it was not freed or its free was not recorded.
export function freeEvent(app: App, block: number): number {
	const died = app.trace.blocks.died[block];

	return died === NEVER || app.trace.isLost(block) ? -1 : died;
}

export function blockCard(app: App, block: number): Node[] {
	const { trace } = app;
	const { blocks, events, facts } = trace;
	const stack = blocks.stack[block];
	const shown = shownOf(trace);
	const frames: string[] = [];

	for (let i = 0; i < trace.depth(stack) && frames.length < 4; i++) {
		if (shown[trace.stackStart[stack] + i])
			frames.push(plainText(facts.frames[trace.frameOfStack(stack, i)][0]));
	}
	return [
		h("b", {}, blockSwatch(app, block), ` ${sizeText(app, block)} by ${cut(trace.lineText(stack), 200)}`),
		h("div", {}, `${categoryText(app, block)}; ${lifeText(app, block)}; allocated at ${format.moment(events.t[blocks.born[block]])}, ${whereText(app, block)}`),
		...frames.map((frame) => h("div", { class: "dim" }, cut(frame, 200))), h("div", { class: "dim" }, "A click shows the details."),
	];
}

// Returns the names of the kernels and copies that ran at time t (ns).
export function runningAt(app: App, t: number, device: number | null): string[] {
	const { spans, facts } = app.trace;
	const running: string[] = [];

	for (let i = 0; spans && i < spans.count && spans.t[i] <= t; i++) {
		const track = spans.tracks[spans.track[i]];
		const action = facts.actions[spans.action[i]];

		if (spans.t[i] + spans.ns[i] >= t && track.device !== null && (device === null || track.device === device) && kindOf(action?.kind ?? "") !== "call")
			running.push(`${kernelName(action?.name ?? "?")} on ${trackText(app.trace, track)}`);
	}
	return running;
}

function facts(rows: [string, Child][]): HTMLElement {
	return h("dl", {}, ...rows.filter(([, value]) => value !== null && value !== "").flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function timesText(app: App, event: number): Child {
	const { events } = app.trace;

	return h("button", { type: "button", class: "link", title: "Move the cursor there", click: () => app.moveCursor(event) }, `${format.moment(events.t[event])}, event ${format.count(event + 1)}`);
}

export function blockTitle(app: App, block: number): string {
	return `${sizeText(app, block)} allocated`;
}

export function blockDetails(app: App, block: number): Child[] {
	const { trace } = app;
	const { blocks, events } = trace;
	const born = blocks.born[block];
	const freed = freeEvent(app, block);
	const stack = blocks.stack[block];
	const place = trace.facts.places[blocks.place[block]];
	const site = trace.facts.groupings.find((one) => one.by === "site");
	const name = site && stack >= 0 ? site.names[site.of[stack] ?? -1] : undefined;
	const owner = trace.facts.groupings.find((one) => one.by === "owner");
	const ran = trace.spans ? runningAt(app, events.t[born], place.device) : [];
	const api = trace.facts.apis[events.api[born]] ?? null;

	return [
		h("p", { class: "line" }, blockSwatch(app, block), " ", trace.lineText(stack)),
		h("div", { class: "tools" },
			name === undefined ? "" : button("All of this site", "Mark all allocations of this call site in every view", () => app.store.set({ query: quoted("site", name) })),
			button("Flame graph", "Show this call stack in the flame graph of what was live then", () => { app.moveCursor(born); app.reveal("flame", stack); }),
			place.pool && !place.handle ? button("Segments", "Show where it lay in the segments of its pool", () => { app.moveCursor(born); app.reveal("segments", block); }) : "",
			button("Events", "Show what happened around its allocation", () => { app.moveCursor(born); app.reveal("events", born); })),
		facts([
			["size", `${format.bytes(blocks.size[block])} (${format.count(blocks.size[block])} bytes)`],
			["lived", lifeText(app, block)],
			["allocated", timesText(app, born)],
			["freed", freed < 0 ? "" : timesText(app, freed)],
			["freed by", freed < 0 ? "" : `${trace.lineText(events.stack[freed])}, ${threadName(trace, events.thread[freed])}`],
			["phase", phaseText(app, events.t[born])],
			["freed in", freed < 0 ? "" : phaseText(app, events.t[freed])],
			["category", categoryText(app, block)],
			["library", owner && stack >= 0 ? owner.names[owner.of[stack] ?? -1] ?? "" : ""],
			["where", whereText(app, block)],
			["thread", threadName(trace, events.thread[born])],
			["running then", ran.length ? ran.slice(0, 4).join("; ") : trace.spans ? "nothing" : "not recorded (memtrace run --cupti)"],
			["call", api], ["address", format.address(blocks.ptr[block])],
		]),
		stackView(app, stack, "Allocated by"),
		freed < 0 ? "" : stackView(app, events.stack[freed], "Freed by"),
	];
}
