// App: the traces, the state, and the values computed from them that all views share.

import type { Diff, Grouping } from "../model/facts";
import type { Trace_peak } from "../model/rows";
import { compose, weigh, type Part, type Weights } from "../model/live";
import { Kind, NEVER, type Trace } from "../model/model";
import { COLOURS, theme, type Theme } from "./palette";
import { runQuery, type Query } from "../model/query";
import { extent } from "../model/sample";
import { placesOf, scopesOf, sumsOf, type Scope, type Sums } from "../model/scope";
import type { Axis, Key, Store } from "../model/state";

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
	private readonly sums = new Map<string, Sums>();
	private readonly queries = new Memo<Query | null>();
	private readonly ranks = new Memo<Int32Array>();
	private readonly stackRanks = new Memo<Uint8Array>();
	private otherGroups = false;
	private readonly weighed = new Map<Part, Memo<Weights>>();

	constructor(readonly traces: Trace[], readonly diff: Diff | null, readonly store: Store) {}

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

	sumsOf(trace: Trace, scope: Scope): Sums {
		const key = `${trace.number} ${scope.id}`;
		let sums = this.sums.get(key);

		if (!sums) {
			sums = sumsOf(trace, scope);
			this.sums.set(key, sums);
		}
		return sums;
	}

	get theme(): Theme {
		const wanted = this.store.get("theme");

		return theme(wanted === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : wanted === "dark");
	}

	get grouping(): Grouping {
		const groupings = this.trace.facts.groupings;

		return groupings.find((grouping) => grouping.by === this.store.get("by")) ?? groupings[0];
	}

	get query(): Query | null {
		const { trace, query } = this.store.state;

		return this.queries.get(`${trace} ${query}`, () => runQuery(this.trace, query));
	}

	// The events of the earlier and the later cursor; `from` is -1 without a second cursor.
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

	// True if the events are complete, so the blocks at the peak are known from them.
	get peakIsSeen(): boolean {
		return this.trace.events.count > 0 && !this.trace.facts.gaps.length;
	}

	weights(part: Part): Weights {
		if (part === "peak")
			return compose(this.trace, this.peak);
		const { from, to } = part === "live" ? { from: -1, to: this.store.get("cursor") } : this.span;
		const memo = this.weighed.get(part) ?? new Memo<Weights>();

		this.weighed.set(part, memo);
		return memo.get(`${this.store.get("trace")} ${this.scope.id} ${from} ${to}`, () => weigh(this.trace, this.places, part, from, to));
	}

	// The rank of a block's group, which chooses its colour; COLOURS for blocks without a group.
	get rankOfBlock(): (block: number) => number {
		const { blocks } = this.trace;
		const ranks = this.rankOfGroup;
		const stacks = this.rankOfStack;

		if (this.byBlock)
			return (block) => (blocks.category[block] ? ranks[blocks.category[block] - 1] : COLOURS);
		return (block) => (blocks.stack[block] < 0 ? COLOURS : stacks[blocks.stack[block]]);
	}

	private get rankOfStack(): Uint8Array {
		return this.stackRanks.get(`${this.store.get("trace")} ${this.scope.id} ${this.grouping.by}`, () => {
			const ranks = this.rankOfGroup;

			return Uint8Array.from(this.grouping.of, (group) => (group === null ? COLOURS : ranks[group]));
		});
	}

	// True if blocks are grouped by a property of their own (category), not by their stacks.
	get byBlock(): boolean {
		return this.grouping.by === "category";
	}

	groupOf(stack: number): number {
		return stack < 0 ? -1 : this.grouping.of[stack] ?? -1;
	}

	// Ranks the groups by bytes times events lived in the complete run, so that a group keeps its colour.
	get rankOfGroup(): Int32Array {
		return this.ranks.get(`${this.store.get("trace")} ${this.scope.id} ${this.grouping.by}`, () => this.rankGroups());
	}

	// True if there are more groups than colours.
	get hasOtherGroups(): boolean {
		return this.rankOfGroup.length > 0 && this.otherGroups;
	}

	private rankGroups(): Int32Array {
		const { blocks, events } = this.trace;
		const areas = new Float64Array(this.grouping.names.length);
		const places = this.places;
		const { of } = this.grouping;
		const { byBlock } = this;

		for (let i = 0; i < blocks.count; i++) {
			if (blocks.kind[i] !== Kind.Block || !places[blocks.place[i]])
				continue;
			const group = byBlock ? blocks.category[i] - 1 : blocks.stack[i] >= 0 ? of[blocks.stack[i]] ?? -1 : -1;

			if (group >= 0)
				areas[group] += blocks.size[i] * ((blocks.died[i] === NEVER ? events.count : blocks.died[i]) - blocks.born[i]);
		}
		const order = [...areas.keys()].sort((a, b) => areas[b] - areas[a]);
		const ranks = new Int32Array(areas.length).fill(COLOURS);

		order.forEach((group, rank) => { ranks[group] = areas[group] > 0 ? Math.min(rank, COLOURS) : COLOURS; });
		this.otherGroups = order.length > COLOURS && areas[order[COLOURS]] > 0;
		return ranks;
	}

	// --- zoom and cursors ---

	get full(): [number, number] {
		const axis = this.store.get("axis");
		const extents = this.traces.map((trace) => extent(trace, axis));

		return [Math.min(...extents.map(([low]) => low)), Math.max(...extents.map(([, high]) => high))];
	}

	// Shows the part of the axis, which is widened to a few events or a microsecond.
	zoom(from: number, to: number): void {
		const [low, high] = this.full;
		const least = Math.min(this.store.get("axis") === "event" ? 4 : 1000, high - low);
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
		const clamp = (event: number) => Math.min(Math.max(event, 0), events.count - 1);

		if (axis === "event")
			this.zoom(clamp(this.trace.eventAt(from)), clamp(this.trace.eventAt(to) + 1));
		else
			this.zoom(events.t[clamp(Math.floor(from))], events.t[clamp(Math.ceil(to))]);
	}

	moveCursor(event: number): void {
		const most = Math.max(this.trace.events.count - 1, 0);

		this.store.set({ cursor: Math.min(Math.max(Math.round(event), 0), most) });
	}

	// The first event at which the curve is highest.
	peakEvent(curve: Float64Array | null): number {
		let best = 0;

		for (let i = 1; curve && i < curve.length; i++) {
			if (curve[i] > curve[best] || Number.isNaN(curve[best]))
				best = i;
		}
		return best;
	}
}
