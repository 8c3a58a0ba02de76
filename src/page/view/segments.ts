// The map of segments at the cursor: the memory that a pool has reserved, and the allocations in it by address.

import type { App, View } from "./app";
import { blockCard } from "./block";
import { button, h, sized, type Child } from "./dom";
import * as format from "./format";
import { findGaps, type PoolGaps, type Segment } from "../model/gaps";
import { blockButton } from "./groupdetails";
import { groupKeys } from "./legend";
import { colour } from "./palette";
import type { Key } from "../model/state";
import { stackView } from "./stackview";
import { tooltip } from "./tooltip";

const ROW = 22;
const BAR = 14;
const LABEL = 190;
const FIRST = 200;
const SPARSE = 0.25; // a segment is marked if less than this part of it is used: few allocations keep it reserved
const HOLDERS = 12; // most allocations that are listed for keeping a segment reserved

interface Place { segment: Segment; y: number; width: number }

export class SegmentMap implements View {
	readonly id = "segments";
	readonly title = "Segments";
	readonly element = h("div", { class: "segments" });
	private most = FIRST;
	private paints: (() => void)[] = []; // functions to call when the canvases are in the page

	private pools: PoolGaps[] = [];

	constructor(private readonly app: App) {
		app.onReveal("segments", (block) => this.reveal(block));
	}

	update(changed: Set<Key>): void {
		const relevant: Key[] = ["trace", "scope", "cursor", "by", "query", "theme", "view", "block"];

		if (relevant.some((key) => changed.has(key)))
			this.draw();
	}

	private draw(): void {
		const { trace, scope, store } = this.app;
		const focused = [...this.element.querySelectorAll("canvas")].findIndex((canvas) => canvas === document.activeElement);
		const pools = scope.space === null ? findGaps(trace, store.get("cursor"), scope.device, scope.pool) : [];

		this.element.replaceChildren(...(pools.length ? [h("div", { class: "legend" }, ...groupKeys(this.app)), ...pools.map((pool) => this.pool(pool))]
			: [h("p", { class: "empty" }, "No pool has segments with addresses at the cursor. (Memory allocated without a pool has no segments, and the addresses of segments in the driver's stream-ordered pools are unknown.)")]));
		this.pools = pools;
		for (const paint of this.paints.splice(0))
			paint();
		if (focused >= 0)
			this.element.querySelectorAll("canvas")[focused]?.focus({ preventScroll: true });
	}

	private pool(pool: PoolGaps): HTMLElement {
		const free = pool.reserved - pool.used;
		const canvas = h("canvas", { role: "group", tabindex: 0 });
		const shown = pool.segments.slice(0, this.most);
		const words = `${pool.pool.includes("private") ? "Private pool" : "Pool"} ${pool.pool}: ${format.plural(pool.segments.length, "segment")}, ${format.bytes(pool.reserved)} reserved, ${format.bytes(pool.used)} used. `
			+ `Of ${format.bytes(free)} free, ${format.bytes(pool.whole)} in ${format.plural(pool.wholeCount, "segment")} without an allocation${pool.pool.startsWith("torch") ? " (empty_cache() gives them back)" : ""}, `
			+ `${format.bytes(pool.gaps)} in ${format.plural(pool.gapsCount, "piece")} between allocations, the largest ${format.bytes(pool.largest)}.`
			+ (pool.elsewhereCount ? ` ${format.plural(pool.elsewhereCount, "allocation")} of ${format.bytes(pool.elsewhere)} are in no known segment.` : "");
		const section = h("section", { "data-pool": pool.pool, "data-reserved": pool.reserved, "data-used": pool.used, "data-gaps": pool.gaps, "data-largest": pool.largest, "data-whole": pool.whole },
			h("p", { class: "caption" }, words), canvas);

		canvas.setAttribute("aria-label", `Segment map. ${words} Up and down walk through segments, left and right through allocations, Enter goes to the details.`);
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
			// Small segments are drawn wider than the scale requires, so that blocks in them can be seen.
			const width = Math.max((segment.size / largest) * room, 60);
			const scale = width / segment.size;
			const sparse = segment.blocks.length > 0 && segment.used < SPARSE * segment.size;

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
				if (block === app.store.get("block")) {
					context.strokeStyle = theme.text;
					context.lineWidth = 2;
					context.strokeRect(x, y - 1, Math.max(wide, 3), BAR + 2);
				}
				if (sparse) {
					context.fillStyle = theme.bad;
					context.fillRect(x, y + BAR, Math.max(wide, 2), 3);
				}
			}
			context.strokeStyle = sparse ? theme.bad : theme.dim;
			context.lineWidth = 1;
			context.strokeRect(LABEL + 0.5, y + 0.5, width - 1, BAR - 1);
			context.fillStyle = sparse ? theme.bad : theme.dim;
			context.fillText(segment.blocks.length ? `${format.share(segment.used, segment.size)} used${sparse ? ", held open by few" : ""}` : "free", LABEL + width + 6, y + BAR / 2);
		});
		canvas.onmousemove = (event) => this.point(event, places);
		canvas.onmouseleave = () => tooltip.hide();
		canvas.onclick = (event) => this.click(event, places);
		canvas.onkeydown = (event) => this.key(event, segments);
	}

	// --- details ---

	private segmentDetails(segment: Segment): Child[] {
		const { app } = this;
		const { blocks, events, facts } = app.trace;
		const first = segment.pieces[0];
		const holders = [...segment.blocks].sort((a, b) => blocks.size[b] - blocks.size[a]);
		const place = facts.places[blocks.place[first]];
		const born = blocks.born[first];

		return [
			h("p", { class: "line" }, segment.blocks.length ? `${format.plural(segment.blocks.length, "allocation")} of ${format.bytes(segment.used)} hold ${format.bytes(segment.size)} reserved`
				: "No allocation is in it: its pool keeps it for later."),
			h("dl", {}, h("dt", {}, "pool"), h("dd", {}, `${place.pool ?? ""}, device ${place.device ?? "unknown"}`), h("dt", {}, "address"), h("dd", {}, format.address(segment.ptr)),
				h("dt", {}, "size"), h("dd", {}, format.bytes(segment.size)), h("dt", {}, "free"), h("dd", {}, `${format.bytes(segment.size - segment.used)} in ${format.plural(segment.gaps, "piece")}, the largest ${format.bytes(segment.largest)}`),
				h("dt", {}, segment.mapped ? "mapped" : "reserved"), h("dd", {}, button(`${format.moment(events.t[born])}, event ${format.count(born + 1)}`, "Move the cursor there", () => app.moveCursor(born), { class: "link" })),
				...(segment.pieces.length > 1 ? [h("dt", {}, "mappings"), h("dd", {}, format.count(segment.pieces.length))] : [])),
			holders.length ? h("section", { class: "stack" }, h("h3", {}, "Kept reserved by"), h("ol", { class: "frames" }, ...holders.slice(0, HOLDERS).map((block) => blockButton(app, block))),
				holders.length > HOLDERS ? h("p", { class: "dim" }, `and ${format.plural(holders.length - HOLDERS, "more")} smaller`) : "") : "",
			stackView(app, blocks.stack[first], "Reserved by"),
		];
	}

	private showSegment(segment: Segment, side: "left" | "right" = "right"): void {
		this.app.showDetails({ title: `Segment of ${format.bytes(segment.size)}`, content: () => this.segmentDetails(segment) }, side);
	}

	private click(event: MouseEvent, places: Place[]): void {
		const place = places[Math.floor(event.offsetY / ROW)];
		const side = event.clientX > innerWidth / 2 ? "left" : "right";
		const block = place ? this.blockAt(place, event.offsetX - LABEL) : undefined;

		tooltip.hide();
		if (block !== undefined)
			this.app.showBlock(block, side);
		else if (place)
			this.showSegment(place.segment, side);
	}

	private blockAt(place: Place, x: number): number | undefined {
		const address = place.segment.ptr + (x / place.width) * place.segment.size;
		const { ptr, size } = this.app.trace.blocks;

		return x < 0 || x > place.width ? undefined : place.segment.blocks.find((one) => ptr[one] <= address && address < ptr[one] + size[one]);
	}

	private walked = -1; // index of the segment that the arrow keys chose, -1 for none

	private key(event: KeyboardEvent, segments: Segment[]): void {
		const { app } = this;
		const rows = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		const columns = { ArrowRight: 1, ArrowLeft: -1 }[event.key];

		if (event.key === "Enter")
			app.focusDetails();
		else if (rows) {
			this.walked = Math.min(Math.max(this.walked + rows, 0), segments.length - 1);
			this.showSegment(segments[this.walked]);
		} else if (columns) {
			const all = segments.flatMap((segment) => segment.blocks);
			const at = all.indexOf(app.store.get("block"));

			if (all.length)
				app.showBlock(all[at < 0 ? 0 : (at + columns + all.length) % all.length]);
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	}

	// Shows the segment that a block lies in, and the block in it.
	private reveal(block: number): void {
		const pool = this.pools.findIndex((one) => one.segments.some((segment) => segment.blocks.includes(block)));
		const row = this.pools[pool]?.segments.findIndex((segment) => segment.blocks.includes(block)) ?? -1;

		if (row < 0)
			return;
		if (row >= this.most)
			this.most = row + 1;
		this.app.showBlock(block);
		this.draw();
		const canvas = this.element.querySelectorAll("canvas")[pool];

		scrollTo({ top: canvas.getBoundingClientRect().top + scrollY + row * ROW - innerHeight / 2 });
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
		const block = this.blockAt(place, at);
		const before = segment.blocks.filter((one) => ptr[one] + size[one] <= address).pop();
		const behind = segment.blocks.find((one) => ptr[one] > address);
		const from = before === undefined ? segment.ptr : ptr[before] + size[before];
		const to = behind === undefined ? segment.ptr + segment.size : ptr[behind];

		tooltip.show(event, block !== undefined ? blockCard(this.app, block)
			: [h("b", {}, `${format.bytes(to - from)} free`), h("div", {}, `in a segment of ${format.bytes(segment.size)} with ${format.plural(segment.blocks.length, "allocation")}`)]);
	}
}
