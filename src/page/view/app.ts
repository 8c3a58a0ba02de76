// App: the traces, the state, and the values computed from them that all views share.

import type { Diff, Grouping } from "../model/facts";
import type { Trace_peak } from "../model/rows";
import { compose, weigh, type Part, type Weights } from "../model/live";
import type { Trace } from "../model/model";
import type { Details, Subject } from "./details";
import { COLOURS, theme, type Theme } from "./palette";
import { runQuery, type Query } from "../model/query";
import { axesOf, eventAt, extent, positionAt, positionOf, timeAt, type Axis } from "../model/axis";
import { groupingBy, groupOfBlock, weighGroups } from "../model/groupings";
import { missingParts, timelineOf } from "../model/missing";
import { placesOf, scopesOf, sumsOf, type Scope } from "../model/scope";
import type { Key, Store } from "../model/state";

export interface View {
	readonly id: string;
	readonly title: string;
	readonly element: HTMLElement;
	update(changed: Set<Key>): void; // called while the view is shown
}

// Caches the last value that was computed, with the key that it was computed for.
export class Memo<T> {
	private key = "";
	private value: T | undefined;

	get(key: string, make: () => T): T {
		if (key !== this.key || this.value === undefined) {
			this.value = make();
			this.key = key;
		}
		return this.value;
	}
}

export class App {
	private readonly queries = new Memo<Query | null>();
	private readonly ranks = new Memo<Int32Array>();
	private readonly blockRanks = new Memo<Uint8Array>();
	private otherGroups = false;
	private readonly weighed = new Map<Part, Memo<Weights>>();

	details: Details | null = null; // the panel; it sets this itself
	side: "left" | "right" = "right"; // the side of the page where the panel does not cover what was clicked
	private readonly revealers = new Map<string, (value: number) => void>();

	constructor(readonly traces: Trace[], readonly diff: Diff | null, readonly store: Store) {}

	// Shows the details of a block; -1 closes them.
	showBlock(block: number, side: "left" | "right" = "right"): void {
		this.side = side;
		if (block < 0)
			this.details?.close();
		else
			this.store.set({ block });
	}

	showDetails(subject: Subject, side: "left" | "right" = "right"): void {
		this.side = side;
		this.details?.open(subject);
	}

	focusDetails(): void {
		this.details?.focus();
	}

	// Registers the function by which a view shows one stack, block or event.
	onReveal(view: string, show: (value: number) => void): void {
		this.revealers.set(view, show);
	}

	reveal(view: string, value: number): void {
		this.store.set({ view });
		requestAnimationFrame(() => requestAnimationFrame(() => {
			this.revealers.get(view)?.(value);
			document.querySelector(".tabs")?.scrollIntoView({ block: "start" });
		}));
	}

	get trace(): Trace {
		return this.traces[this.store.get("trace")] ?? this.traces[0];
	}

	get scopes(): Scope[] {
		return scopesOf(this.trace);
	}

	get scope(): Scope {
		return this.scopes.find((scope) => scope.id === this.store.get("scope")) ?? this.scopes[0];
	}

	get places(): boolean[] {
		return placesOf(this.trace, this.scope);
	}

	get theme(): Theme {
		const wanted = this.store.get("theme");

		return theme(wanted === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : wanted === "dark");
	}

	get grouping(): Grouping {
		return groupingBy(this.trace, this.store.get("by")) ?? this.trace.facts.groupings[0];
	}

	// The grouping of tables. It is not "each allocation", with which every allocation would be a row.
	get tableGrouping(): Grouping {
		return this.grouping.by === "block" ? this.trace.facts.groupings[0] : this.grouping;
	}

	get query(): Query | null {
		const { trace, query } = this.store.state;

		return this.queries.get(`${trace} ${query}`, () => runQuery(this.trace, query));
	}

	// The events of the two cursors, the earlier first; `from` is -1 if there is one cursor.
	get span(): { from: number; to: number } {
		const { cursor, pin } = this.store.state;

		return pin < 0 ? { from: -1, to: cursor } : { from: Math.min(cursor, pin), to: Math.max(cursor, pin) };
	}

	// The stacks that the recorder stored for the scope's peak; undefined for memory outside devices.
	get peak(): Trace_peak | undefined {
		const { scope, trace } = this;

		return scope.space !== null ? undefined
			: trace.facts.peaks.find((peak) => peak.metric === "allocated" && peak.device === scope.device && peak.pool === scope.pool);
	}

	// True if no events are missing, so that the blocks at the peak are known from them.
	get peakIsSeen(): boolean {
		return this.trace.events.count > 0 && !this.trace.facts.gaps.length;
	}

	weights(part: Part): Weights {
		if (part === "peak")
			return compose(this.trace, this.peak, this.tableGrouping);
		const { from, to } = part === "live" ? { from: -1, to: this.store.get("cursor") } : this.span;
		const memo = this.weighed.get(part) ?? new Memo<Weights>();

		this.weighed.set(part, memo);
		return memo.get(`${this.store.get("trace")} ${this.scope.id} ${from} ${to} ${this.tableGrouping.by}`, () => weigh(this.trace, this.places, part, from, to, this.tableGrouping));
	}

	// The rank of a block's group, which chooses its colour; COLOURS for blocks without a group.
	get rankOfBlock(): (block: number) => number {
		const ranks = this.blockRanks.get(`${this.store.get("trace")} ${this.scope.id} ${this.grouping.by}`, () => this.rankBlocks());

		return (block) => ranks[block];
	}

	private rankBlocks(): Uint8Array {
		const { trace, grouping, rankOfGroup } = this;
		const ranks = new Uint8Array(trace.blocks.count);

		for (let i = 0; i < ranks.length; i++) {
			const group = groupOfBlock(trace, grouping, i);

			ranks[i] = group < 0 ? COLOURS : rankOfGroup[group];
		}
		return ranks;
	}

	// Ranks the groups by their bytes at the peak, then by bytes times events lived in the complete run, so
	// that the parts of the peak differ and a group keeps its colour.
	get rankOfGroup(): Int32Array {
		return this.ranks.get(`${this.store.get("trace")} ${this.scope.id} ${this.grouping.by}`, () => this.rankGroups());
	}

	// True if there are more groups than colours.
	get hasOtherGroups(): boolean {
		return this.rankOfGroup.length > 0 && this.otherGroups;
	}

	private rankGroups(): Int32Array {
		const peak = this.peakEvent(sumsOf(this.trace, this.scope).allocated);

		if (this.grouping.by === "block") // each allocation has a colour that its neighbours do not have
			return Int32Array.from(this.grouping.names, (_, i) => (i * 7) % COLOURS);
		const { live, area } = weighGroups(this.trace, this.grouping, this.places, peak);
		const order = [...area.keys()].sort((a, b) => live[b] - live[a] || area[b] - area[a]);
		const ranks = new Int32Array(area.length).fill(COLOURS);

		order.forEach((group, rank) => { ranks[group] = area[group] > 0 ? Math.min(rank, COLOURS) : COLOURS; });
		this.otherGroups = order.length > COLOURS && area[order[COLOURS]] > 0;
		return ranks;
	}

	// --- zoom and cursors ---

	get full(): [number, number] {
		const axis = this.store.get("axis");
		const extents = this.traces.map((trace) => extent(trace, axis));

		return [Math.min(...extents.map(([low]) => low)), Math.max(...extents.map(([, high]) => high))];
	}

	// Shows the part of the axis, widened to at least a few events or a microsecond.
	zoom(from: number, to: number): void {
		const [low, high] = this.full;
		const least = Math.min({ event: 4, step: 0.01, time: 1000, busy: 1000 }[this.store.get("axis")], high - low);
		let width = Math.min(Math.max(to - from, least), high - low);
		let start = (from + to) / 2 - width / 2;

		if (!Number.isFinite(width) || !Number.isFinite(start)) {
			width = high - low;
			start = low;
		}
		start = Math.min(Math.max(start, low), high - width);
		this.store.set({ from: start, to: start + width });
	}

	zoomBy(factor: number, centre: number): void {
		const { from, to } = this.store.state;

		this.zoom(centre - (centre - from) * factor, centre + (to - centre) * factor);
	}

	setAxis(axis: Axis): void {
		const { from, to } = this.store.state;
		const { events } = this.trace;
		const old = this.store.get("axis");

		if (axis === old)
			return;
		const [low, high] = this.full;
		const whole = from <= low && to >= high;

		this.store.set({ axis });
		const [start, end] = this.full;

		if (whole || !events.count) {
			this.store.set({ from: start, to: end });
			return;
		}
		const ends = [from, to].map((at) => positionAt(this.trace, axis, timeAt(this.trace, old, at)));

		this.zoom(ends[0], ends[1]);
	}

	get axes(): Axis[] {
		return axesOf(this.traces);
	}

	moveCursor(event: number): void {
		const most = Math.max(this.trace.events.count - 1, 0);

		this.store.set({ cursor: Math.min(Math.max(Math.round(event), 0), most), moment: -1 });
	}

	// Moves the cursor to a place on the axis: to an event or, where events are missing, to the time.
	moveTo(position: number): void {
		const { trace } = this;
		const axis = this.store.get("axis");
		const missing = missingParts(trace, axis).some((part) => part.from < position && part.to > position && part.to > part.from);

		this.moveCursor(Math.max(eventAt(trace, axis, position), 0));
		if (missing && timelineOf(trace, this.scope))
			this.store.set({ moment: timeAt(trace, axis, position) });
	}

	// Moves the cursor to the peak of allocated memory; if events are missing, to its time, which the recorder stored.
	moveToPeak(): void {
		const { allocated } = sumsOf(this.trace, this.scope);
		const { peak } = this;

		if (this.peakIsSeen || !peak || allocated[this.peakEvent(allocated)] >= peak.bytes) {
			this.moveCursor(this.peakEvent(allocated));
			return;
		}
		this.moveCursor(Math.max(this.trace.eventAt(peak.t), 0));
		this.store.set({ moment: peak.t });
	}

	// The place of the cursor on the axis.
	get cursorAt(): number {
		const { axis, cursor, moment } = this.store.state;

		return moment >= 0 ? positionAt(this.trace, axis, moment) : positionOf(this.trace, axis, cursor);
	}

	// The time of the cursor, in ns.
	get cursorTime(): number {
		const { cursor, moment } = this.store.state;

		return moment >= 0 ? moment : this.trace.events.t[cursor] ?? 0;
	}

	// Returns the first event at which the curve is highest.
	peakEvent(curve: Float64Array | null): number {
		let best = 0;

		for (let i = 1; curve && i < curve.length; i++) {
			if (curve[i] > curve[best] || Number.isNaN(curve[best]))
				best = i;
		}
		return best;
	}
}
