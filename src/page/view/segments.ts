// The map of segments at the cursor: the memory that a pool has reserved, and the blocks in it by address.

import type { App, View } from "./app";
import { blockCard } from "./block";
import { h, sized } from "./dom";
import * as format from "./format";
import { findGaps, type PoolGaps, type Segment } from "../model/gaps";
import { groupKeys } from "./legend";
import { colour } from "./palette";
import type { Key } from "../model/state";
import { tooltip } from "./tooltip";

const ROW = 22;
const BAR = 14;
const LABEL = 190;
const FIRST = 200;
const PINNED = 0.25; // a segment of which less is used is marked: few blocks keep it reserved

interface Place { segment: Segment; y: number; width: number }

export class SegmentMap implements View {
	readonly id = "segments";
	readonly title = "Segments";
	readonly element = h("div", { class: "segments" });
	private most = FIRST;
	private paints: (() => void)[] = []; // called once the canvases are in the page

	constructor(private readonly app: App) {}

	update(changed: Set<Key>): void {
		const relevant: Key[] = ["trace", "scope", "cursor", "by", "query", "theme", "view"];

		if (relevant.some((key) => changed.has(key)))
			this.draw();
	}

	private draw(): void {
		const { trace, scope, store } = this.app;
		const pools = scope.space === null ? findGaps(trace, store.get("cursor"), scope.device, scope.pool) : [];

		this.element.replaceChildren(...(pools.length ? [h("div", { class: "legend" }, ...groupKeys(this.app)), ...pools.map((pool) => this.pool(pool))]
			: [h("p", { class: "empty" }, "No pool has segments with addresses at the cursor. (Memory allocated without a pool has no segments, and the addresses of segments in the driver's stream-ordered pools are unknown.)")]));
		for (const paint of this.paints.splice(0))
			paint();
	}

	private pool(pool: PoolGaps): HTMLElement {
		const free = pool.reserved - pool.used;
		const canvas = h("canvas", { role: "img" });
		const shown = pool.segments.slice(0, this.most);
		const words = `Pool ${pool.pool}: ${format.plural(pool.segments.length, "segment")}, ${format.bytes(pool.reserved)} reserved, ${format.bytes(pool.used)} used. `
			+ `Of ${format.bytes(free)} free, ${format.bytes(pool.whole)} in ${format.plural(pool.wholeCount, "segment")} without a block (empty_cache would give them back), `
			+ `${format.bytes(pool.gaps)} in ${format.plural(pool.gapsCount, "piece")} between blocks, the largest ${format.bytes(pool.largest)}.`
			+ (pool.elsewhereCount ? ` ${format.plural(pool.elsewhereCount, "block")} of ${format.bytes(pool.elsewhere)} are in no known segment.` : "");
		const section = h("section", { "data-pool": pool.pool, "data-reserved": pool.reserved, "data-used": pool.used, "data-gaps": pool.gaps, "data-largest": pool.largest, "data-whole": pool.whole },
			h("p", { class: "caption" }, words), canvas);

		canvas.setAttribute("aria-label", `Segment map. ${words}`);
		this.paints.push(() => this.paint(canvas, shown));
		if (pool.segments.length > shown.length)
			section.append(h("p", { class: "more" }, `${format.count(pool.segments.length - shown.length)} more segments, with fewer free bytes. `,
				h("button", { type: "button", click: () => { this.most *= 10; this.draw(); } }, "Show more")));
		return section;
	}

	private paint(canvas: HTMLCanvasElement, segments: Segment[]): void {
		const { app } = this;
		const { theme, trace } = app;
		const whole = Math.max(this.element.clientWidth, 400);
		const room = whole - LABEL - 150;
		const largest = Math.max(...segments.map((segment) => segment.size), 1);
		const context = sized(canvas, whole, segments.length * ROW + 2);
		const places: Place[] = [];
		const rankOf = app.rankOfBlock;
		const query = app.query && !app.query.wrong ? app.query : null;

		context.font = "12px system-ui, sans-serif";
		context.textBaseline = "middle";
		segments.forEach((segment, i) => {
			const y = i * ROW + 3;
			// Small segments are drawn wider than to scale, so that blocks in them can be seen.
			const width = Math.max((segment.size / largest) * room, 60);
			const scale = width / segment.size;
			const pinned = segment.blocks.length > 0 && segment.used < PINNED * segment.size;

			places.push({ segment, y, width });
			context.fillStyle = theme.text;
			context.fillText(`${format.address(segment.ptr)}  ${format.bytes(segment.size)}`, 0, y + BAR / 2);
			context.fillStyle = theme.panel;
			context.fillRect(LABEL, y, width, BAR);
			for (let x = 0; x < width; x += 4) { // free memory is striped
				context.fillStyle = theme.grid;
				context.fillRect(LABEL + x, y, 1, BAR);
			}
			for (const block of segment.blocks) {
				const x = LABEL + (trace.blocks.ptr[block] - segment.ptr) * scale;
				const wide = Math.max(trace.blocks.size[block] * scale, 1);

				context.fillStyle = query && !query.matches[block] ? theme.rest : colour(rankOf(block), theme.dark);
				context.fillRect(x, y, wide > 3 ? wide - 0.6 : wide, BAR);
				if (pinned) {
					context.fillStyle = theme.bad;
					context.fillRect(x, y + BAR, Math.max(wide, 2), 3);
				}
			}
			context.strokeStyle = pinned ? theme.bad : theme.dim;
			context.lineWidth = 1;
			context.strokeRect(LABEL + 0.5, y + 0.5, width - 1, BAR - 1);
			context.fillStyle = pinned ? theme.bad : theme.dim;
			context.fillText(segment.blocks.length ? `${format.share(segment.used, segment.size)} used${pinned ? ", pinned" : ""}` : "free", LABEL + width + 6, y + BAR / 2);
		});
		canvas.onmousemove = (event) => this.point(event, places);
		canvas.onmouseleave = () => tooltip.hide();
	}

	private point(event: MouseEvent, places: Place[]): void {
		const place = places[Math.floor(event.offsetY / ROW)];
		const at = event.offsetX - LABEL;

		if (!place || at < 0 || at > place.width) {
			tooltip.hide();
			return;
		}
		const { segment } = place;
		const address = segment.ptr + (at / place.width) * segment.size;
		const { ptr, size } = this.app.trace.blocks;
		const block = segment.blocks.find((one) => ptr[one] <= address && address < ptr[one] + size[one]);
		const before = segment.blocks.filter((one) => ptr[one] + size[one] <= address).pop();
		const behind = segment.blocks.find((one) => ptr[one] > address);
		const from = before === undefined ? segment.ptr : ptr[before] + size[before];
		const to = behind === undefined ? segment.ptr + segment.size : ptr[behind];

		tooltip.show(event, block !== undefined ? blockCard(this.app, block)
			: [h("b", {}, `${format.bytes(to - from)} free`), h("div", {}, `in a segment of ${format.bytes(segment.size)} with ${format.plural(segment.blocks.length, "block")}`)]);
	}
}
