// The card that describes one block.

import type { App } from "./app";
import { cut, h } from "./dom";
import * as format from "./format";
import { NEVER } from "../model/model";

export function lifeText(app: App, block: number): string {
	const life = app.trace.lifetime(block);

	if (life === null)
		return "never freed";
	return app.trace.isLost(block) ? "end not recorded" : format.time(life);
}

export function whereText(app: App, block: number): string {
	const place = app.trace.facts.places[app.trace.blocks.place[block]];
	const device = place.device === null ? place.space : `device ${place.device}`;

	return place.pool ? `${device}, pool ${place.pool}` : `${device}`;
}

export function blockCard(app: App, block: number): Node[] {
	const { trace } = app;
	const { blocks, events, facts } = trace;
	const born = blocks.born[block];
	const stack = blocks.stack[block];
	const freeStack = blocks.died[block] !== NEVER && !trace.isLost(block) ? events.stack[blocks.died[block]] : -1;
	const frames: string[] = [];

	for (let i = 0; i < trace.depth(stack) && frames.length < 6; i++) {
		const frame = facts.frames[trace.frameOfStack(stack, i)];

		if (frame[5] < 4)
			frames.push(frame[0]);
	}
	const many = blocks.many[block] > 1 ? ` in ${format.count(blocks.many[block])} blocks together` : "";

	return [
		h("b", {}, `${format.bytes(blocks.size[block])}${many} by ${cut(trace.lineText(stack), 200)}`),
		h("div", {}, `${lifeText(app, block)}; allocated at ${format.moment(events.t[born])} (event ${format.count(born)}), ${whereText(app, block)}`),
		freeStack >= 0 ? h("div", {}, `freed by ${cut(trace.lineText(freeStack), 200)}`) : h("span", {}),
		...frames.map((frame) => h("div", { class: "dim" }, cut(frame, 200))),
	];
}
