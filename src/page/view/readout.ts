// The texts around the picture: the values of curves at the cursor or pointer, and the groups of the colours.

import type { App } from "./app";
import { button, cutMiddle, h } from "./dom";
import * as format from "./format";
import { swatch } from "./legend";
import type { MapImage } from "./mapimage";
import { colour, COLOURS } from "./palette";
import { eventAt, timeAt } from "../model/axis";
import { samplesOf, valueAt } from "../model/curves";
import { missingParts, timelineOf } from "../model/missing";
import { quoted } from "../model/query";
import { sumsOf } from "../model/scope";

const MOST_KEYS = 8;
const NAME = 46; // most characters of a group's name in the legend

interface Values { t: number; event: number; allocated: number | null; reserved: number | null; used: { t: number; bytes: number } | null; matches: number | null; other: number | null }

export class Readout {
	readonly curves = h("div", { class: "legend curves" });
	readonly groups = h("div", { class: "legend groups", role: "group", "aria-label": "Colours: a click shows only this group" });
	readonly caption = h("p", { class: "caption mapwords" });
	private matched: Float64Array | null = null;
	private withUsed = false;
	private usedIsAbove = false;
	private pointed: number | null = null; // the position at the pointer; null: not in the picture

	constructor(private readonly app: App, private readonly map: MapImage, private readonly redraw: () => void) {}

	// Returns the top of the scale. Used bytes, often far above the curves, count only if they fit or are chosen.
	top(columns: (number | null)[][], used: number[]): number {
		const held = columns.reduce((all, column) => column.reduce((most: number, value) => Math.max(most, value ?? 0), all), 0);
		const most = used.reduce((high, bytes) => Math.max(high, bytes), 0);

		this.usedIsAbove = most > held * 1.5;
		return this.withUsed || !this.usedIsAbove ? Math.max(held, most) : held;
	}

	update(matched: Float64Array | null): void {
		this.matched = matched;
		this.tellCurves();
		this.tellGroups();
	}

	// Shows the values at a position, or with null at the cursor again.
	point(position: number | null): void {
		this.pointed = position;
		this.tellCurves();
	}

	private valuesAt(position: number, event: number, t: number): Values {
		const { app } = this;
		const { trace, scope } = app;
		const { axis } = app.store.state;
		const sums = sumsOf(trace, scope);
		const timeline = timelineOf(trace, scope);
		const inGap = missingParts(trace, axis).some((part) => part.from < position && part.to > position && part.to > part.from) && timeline !== undefined;
		const at = (curve: Float64Array | null) => (curve && event < curve.length && !Number.isNaN(curve[event]) ? curve[event] : null);
		const samples = samplesOf(trace, scope.device, scope.pool === null ? timeline : undefined);
		const last = samples.t.filter((sample) => sample <= t).length - 1;
		const second = app.traces.find((one) => one !== trace);

		return {
			t, event, allocated: inGap ? valueAt(timeline, "allocated", t) : at(sums.allocated), reserved: inGap ? valueAt(timeline, "reserved", t) : at(sums.reserved),
			used: last < 0 ? null : { t: samples.t[last], bytes: samples.bytes[last] }, matches: at(this.matched),
			other: second?.facts.events ? sumsOf(second, scope).allocated[Math.max(eventAt(second, axis, position), 0)] ?? null : null,
		};
	}

	private valuesAtCursor(): Values {
		const { app } = this;
		const values = this.valuesAt(app.cursorAt, app.store.get("cursor"), app.cursorTime);
		const { peak } = app;

		// The recorder's curve has fewer points than there were events, but the stored peak is exact.
		if (app.store.get("moment") >= 0 && peak && peak.t === app.store.get("moment"))
			values.allocated = peak.bytes;
		return values;
	}

	private valuesAtPointer(position: number): Values {
		const { trace, store } = this.app;
		const axis = store.get("axis");

		return this.valuesAt(position, Math.max(eventAt(trace, axis, position), 0), timeAt(trace, axis, position));
	}

	// Returns the values at a position as one line.
	words(position: number): string {
		const values = this.valuesAtPointer(position);
		const phase = [...this.app.trace.facts.phases].reverse().find((one) => one.start <= values.t && (one.end ?? Infinity) >= values.t);
		const words = [`${format.bytes(values.allocated)} allocated`, values.reserved === null ? "" : `${format.bytes(values.reserved)} reserved`,
			values.matches === null ? "" : `${format.bytes(values.matches)} match`, values.other === null ? "" : `${format.bytes(values.other)} in the other run`, phase ? phase.name : ""];

		return `${format.moment(values.t)}: ${words.filter((word) => word).join(", ")}`;
	}

	get spoken(): string {
		const values = this.valuesAtCursor();

		return `At the cursor ${format.bytes(values.allocated)} allocated, ${format.bytes(values.reserved)} reserved.`;
	}

	// The button that extends the picture to the bytes used on the device, shown if they are far above it.
	private usedButton(): HTMLElement | string {
		if (!this.usedIsAbove && !this.withUsed)
			return "";
		return button(this.withUsed ? "Fit to allocated" : "Fit to used", this.withUsed ? "Leave the bytes used on the device out of the picture" : "Show the bytes used on the device, by all processes and the CUDA context, which are above the picture",
			() => { this.withUsed = !this.withUsed; this.redraw(); }, { class: "small", "data-used": this.withUsed ? "shown" : "above" });
	}

	private tellCurves(): void {
		const { app } = this;
		const { theme } = app;
		const values = this.pointed === null ? this.valuesAtCursor() : this.valuesAtPointer(this.pointed);
		const row = (id: string, name: string, stroke: string, value: number | null, title: string, dash = false) =>
			h("span", { class: "key", title, "data-series": id, "data-bytes": value ?? "" }, swatch(stroke, dash), `${name} `, h("b", {}, format.bytes(value)));
		const other = app.traces.find((trace) => trace !== app.trace);

		this.curves.replaceChildren(
			h("span", { class: "key where" }, this.pointed === null ? "at the cursor" : "at the pointer"),
			row("allocated", "allocated", theme.text, values.allocated, "Bytes in live allocations: the upper edge of the map"),
			sumsOf(app.trace, app.scope).reserved ? row("reserved", "reserved", theme.reserved, values.reserved, "Bytes that allocators have reserved, including those that they keep for later") : "",
			values.used ? row("used", "used on the device", theme.used, values.used.bytes, "Bytes used on the device by all processes and the CUDA context: points where it was sampled") : "",
			values.used ? h("span", { class: "key" }, `sampled at ${format.moment(values.used.t)}`) : "", this.usedButton(),
			this.matched ? row("matches", "search matches", theme.match, values.matches, "Bytes in allocations that match the search") : "",
			other ? row("other", `${other.number ? "head" : "base"} (${other.facts.name})`, theme.second, values.other, "Allocated bytes of the other run at the same place of the axis", true) : "",
		);
	}

	// The groups that have a colour of their own, with their bytes at the cursor; a click searches for a group.
	private tellGroups(): void {
		const { app } = this;
		const { grouping, theme, store } = app;
		const weights = app.weights("live").groups.bytes;
		const named = [...app.rankOfGroup.entries()].filter(([, rank]) => rank < COLOURS).sort((a, b) => a[1] - b[1]);

		if (grouping.by === "block") {
			this.groups.replaceChildren(h("span", { class: "key" }, "Each allocation has a colour; neighbours differ."));
			return;
		}
		const keys = named.slice(0, MOST_KEYS).map(([group, rank]) => {
			const name = grouping.names[group];
			const query = quoted(grouping.by, name);
			const chosen = store.get("query") === query;

			return h("button", {
				type: "button", class: "key", title: `${name}: ${format.bytes(weights[group + 1])} at the cursor. A click ${chosen ? "shows all again" : "marks only these"}.`, "aria-pressed": String(chosen), "data-group": name,
				click: () => store.set({ query: chosen ? "" : query }),
			}, swatch(colour(rank, theme.dark)), h("span", { class: "name" }, cutMiddle(name, NAME)), h("b", {}, weights[group + 1] ? format.bytes(weights[group + 1]) : "-"));
		});
		const more = named.length - MOST_KEYS;

		this.groups.replaceChildren(...keys,
			more > 0 ? button(`${format.count(more)} more`, "The table has all groups", () => store.set({ view: "table" }), { class: "key" }) : "",
			app.hasOtherGroups ? h("span", { class: "key" }, swatch(theme.other), "all others") : "");
	}

	tellMap(): void {
		const { app, map } = this;
		const { query } = app;
		const only = h("input", { type: "checkbox", change: () => { map.onlyMatches = only.checked; this.redraw(); } });

		only.checked = map.onlyMatches;
		this.caption.replaceChildren(map.words, query && !query.wrong ? h("label", { class: "choice" }, only, h("span", {}, "only what the search matches")) : "");
	}
}
