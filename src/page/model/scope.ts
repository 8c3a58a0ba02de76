// A scope is the memory that the page shows: of a device, a pool, or a memory kind outside devices. Here are its sums.

import type { Place } from "./facts";
import { NEVER, type Trace } from "./model";

export interface Scope {
	id: string; // used in links
	title: string;
	device: number | null;
	pool: string | null;
	space: string | null;
}

export interface Sums {
	allocated: Float64Array; // bytes after each event; NaN if unknown
	reserved: Float64Array | null;
}

export function scopesOf(trace: Trace): Scope[] {
	const report = trace.facts.report;
	const scopes: Scope[] = [];

	for (const device of report.devices) {
		scopes.push({ id: `d${device.device}`, title: `Device ${device.device}`, device: device.device, pool: null, space: null });
		for (const pool of report.pools) {
			if (pool.device === device.device)
				scopes.push({ id: `d${device.device}:${pool.pool}`, title: `Device ${device.device}, pool ${pool.pool}`, device: device.device, pool: pool.pool ?? "", space: null });
		}
	}
	for (const space of report.spaces)
		scopes.push({ id: `s:${space.space}`, title: `Memory kind ${space.space}`, device: null, pool: null, space: space.space });
	if (!scopes.length)
		scopes.push({ id: "none", title: "No memory", device: null, pool: null, space: "none" });
	return scopes;
}

// Returns, for each element of facts.places, true if its memory belongs to the scope.
export function placesOf(trace: Trace, scope: Scope): boolean[] {
	return trace.facts.places.map((place) => isIn(place, scope));
}

function isIn(place: Place, scope: Scope): boolean {
	if (place.foreign)
		return false;
	if (scope.space !== null)
		return place.space === scope.space;
	if (scope.pool !== null)
		return place.pool === scope.pool && place.device === scope.device;
	return place.device === scope.device && (place.space === "device" || place.space === "array");
}

// Returns the scope's sum at exit, from which the sums after the last gap are computed.
function exitOf(trace: Trace, scope: Scope, metric: "allocated" | "reserved"): number | null {
	const report = trace.facts.report;
	const sum = scope.space !== null
		? report.spaces.find((space) => space.space === scope.space)?.allocated
		: report.pools.find((pool) => pool.device === scope.device && pool.pool === scope.pool)?.[metric];

	return sum?.exit_bytes ?? null;
}

// Sums up the events of the scope. `effect` returns how often the size of a block or segment at a place counts.
function sumUp(trace: Trace, places: boolean[], effect: (isBlock: boolean, place: Place) => number): Float64Array {
	const { count, place, size, op } = trace.events;
	const { facts } = trace;
	const sums = new Float64Array(count);
	const wide = facts.places.length;
	const factors = new Float64Array(facts.ops.length * wide); // for each op and place
	let now = 0;

	facts.ops.forEach((name, i) => {
		const sign = ["alloc", "reserve"].includes(name) ? 1 : ["free", "release"].includes(name) ? -1 : 0;

		facts.places.forEach((one, at) => { factors[i * wide + at] = places[at] ? sign * effect(["alloc", "free"].includes(name), one) : 0; });
	});
	for (let i = 0; i < count; i++) {
		if (place[i] >= 0)
			now += factors[op[i] * wide + place[i]] * size[i];
		sums[i] = now;
	}
	return sums;
}

// Corrects a device's sums after gaps. The first event after a gap has the device's own sum, so all sums
// from this gap to the next are shifted by the difference; without such an event the sum at exit is used.
function anchorDevice(trace: Trace, sums: Float64Array, device: number | null, metric: "allocated" | "reserved"): void {
	const { gaps, report } = trace.facts;
	const starts = gaps.filter((gap) => gap.dropped).map((gap) => gap.event);

	starts.forEach((start, i) => {
		const end = starts[i + 1] ?? sums.length;
		const anchor = gaps.find((gap) => gap.device === device && gap[metric] !== null && gap.event >= start && gap.event < end);
		const exit = i + 1 === starts.length ? report.devices.find((one) => one.device === device)?.[metric]?.exit_bytes : null;
		const shift = anchor ? (anchor[metric] as number) - sums[anchor.event] : (exit ?? NaN) - sums[end - 1];

		for (let at = start; at < end; at++)
			sums[at] += shift;
	});
}

// Corrects the sums of a pool or memory kind: NaN from the first gap to the last, then shifted to end at `exit`.
function anchorExit(trace: Trace, sums: Float64Array, exit: number | null): void {
	const gaps = trace.facts.gaps;

	if (!gaps.length || !sums.length)
		return;
	const last = gaps[gaps.length - 1].event;
	const shift = exit === null ? NaN : exit - sums[sums.length - 1];

	for (let i = gaps[0].event; i < sums.length; i++)
		sums[i] = i < last ? NaN : sums[i] + shift;
}

// Returns the sums of a long trace: stored for events of the scope, and carried on to all events between them.
function carry(trace: Trace, places: boolean[], told: Float64Array): Float64Array {
	const { count, place } = trace.events;
	const sums = new Float64Array(count);
	let now = 0;

	for (let i = 0; i < count; i++) {
		if (place[i] >= 0 && places[place[i]])
			now = told[i];
		sums[i] = now;
	}
	return sums;
}

const known = new WeakMap<Trace, Map<string, Sums>>();

export function sumsOf(trace: Trace, scope: Scope): Sums {
	const sums = known.get(trace) ?? new Map<string, Sums>();
	const found = sums.get(scope.id) ?? findSums(trace, scope);

	sums.set(scope.id, found);
	known.set(trace, sums);
	return found;
}

function findSums(trace: Trace, scope: Scope): Sums {
	const places = placesOf(trace, scope);
	const whole = scope.pool === null && scope.space === null;
	const told = scope.space === null ? trace.events.sums?.[whole ? "device" : "pool"] : undefined;
	const allocated = told ? carry(trace, places, told.allocated) : sumUp(trace, places, (isBlock) => (isBlock ? 1 : 0));
	// Reserved memory consists of blocks in no pool, and of the segments of pools, which contain the pools' blocks.
	const reserved = scope.space !== null ? null : told ? carry(trace, places, told.reserved)
		: sumUp(trace, places, (isBlock, place) => (isBlock ? (whole && place.pool === null ? 1 : 0) : 1));

	if (whole) {
		anchorDevice(trace, allocated, scope.device, "allocated");
		if (reserved)
			anchorDevice(trace, reserved, scope.device, "reserved");
	} else {
		anchorExit(trace, allocated, exitOf(trace, scope, "allocated"));
		if (reserved)
			anchorExit(trace, reserved, exitOf(trace, scope, "reserved"));
	}
	return { allocated, reserved };
}

// Returns the bytes of the chosen blocks after each event: the height of a map of only these blocks.
export function sumsOfBlocks(trace: Trace, places: boolean[], chosen: Uint8Array): Float64Array {
	const { blocks, events } = trace;
	const sums = new Float64Array(events.count);

	for (let i = 0; i < blocks.count; i++) {
		if (!chosen[i] || !places[blocks.place[i]])
			continue;
		sums[blocks.born[i]] += blocks.size[i];
		if (blocks.died[i] !== NEVER)
			sums[blocks.died[i]] -= blocks.size[i];
	}
	for (let i = 1; i < sums.length; i++)
		sums[i] += sums[i - 1];
	return sums;
}
