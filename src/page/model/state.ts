// The state of the page: one object, stored in the page's URL so that a link shows the same view.

import { AXES, type Axis } from "./axis";

export interface State {
	trace: number; // position in the page: of two traces 0 is the base, 1 the head
	scope: string;
	axis: Axis;
	from: number; to: number; // the part of the axis in view: ns or events
	cursor: number; // position of an event: the cursor shows memory after it
	moment: number; // time of the cursor in ns if events are missing there, -1 if it is at an event
	pin: number; // the event of the second cursor, -1 for none
	view: string;
	by: string; // the grouping of blocks
	stacks: "merged" | "python" | "native";
	tree: "callers" | "inverted"; // the flame graph: callers first, or allocating code first
	merge: "line" | "function"; // what a frame of the flame graph stands for
	split: string; // the grouping whose groups are the first frames of the flame graph, "" for none
	compare: boolean; // true: the flame graph shows the difference from the other run
	machinery: boolean; // true: frames that every allocation runs through are shown
	query: string;
	block: number; // the block whose details are shown, -1 for none
	theme: "auto" | "light" | "dark";
}

export type Key = keyof State;

const spelled: Record<Key, string> = {
	trace: "trace", scope: "scope", axis: "axis", from: "from", to: "to", cursor: "at", moment: "moment", pin: "pin",
	view: "view", by: "by", stacks: "stacks", tree: "tree", merge: "merge", split: "split", compare: "compare", machinery: "machinery", query: "q", block: "block", theme: "theme",
};

export class Store {
	private listeners: ((changed: Set<Key>) => void)[] = [];
	private changed = new Set<Key>();
	private waiting = false;
	private written = "";

	constructor(public state: State, private readonly defaults: State) {}

	get<K extends Key>(key: K): State[K] {
		return this.state[key];
	}

	set(patch: Partial<State>): void {
		for (const key of Object.keys(patch) as Key[]) {
			if (patch[key] !== undefined && this.state[key] !== patch[key]) {
				(this.state as unknown as Record<string, unknown>)[key] = patch[key];
				this.changed.add(key);
			}
		}
		if (this.changed.size && !this.waiting) {
			this.waiting = true;
			requestAnimationFrame(() => this.tell());
		}
	}

	listen(listener: (changed: Set<Key>) => void): void {
		this.listeners.push(listener);
	}

	private tell(): void {
		const changed = this.changed;

		this.changed = new Set();
		this.waiting = false;
		for (const listener of this.listeners)
			listener(changed);
		this.write();
	}

	// Writes the members that differ from their defaults into the page's URL.
	private write(): void {
		const words = new URLSearchParams();

		for (const key of Object.keys(spelled) as Key[]) {
			if (this.state[key] !== this.defaults[key])
				words.set(spelled[key], String(this.state[key]));
		}
		const hash = words.toString();

		if (hash === this.written)
			return;
		this.written = hash;
		history.replaceState(null, "", hash ? `#${hash}` : `${location.pathname}${location.search}`);
	}
}

function number(text: string | null, otherwise: number): number {
	const value = text === null || text === "" ? NaN : Number(text);

	return Number.isFinite(value) ? value : otherwise;
}

function word<T extends string>(text: string | null, words: readonly T[], otherwise: T): T {
	return words.includes(text as T) ? (text as T) : otherwise;
}

// Every word is checked, because a link may be written by hand.
export function readLink(hash: string, defaults: State): State {
	const words = new URLSearchParams(hash.replace(/^#/, ""));
	const axis = word(words.get("axis"), AXES, defaults.axis);
	const own = axis === defaults.axis;

	return {
		trace: number(words.get("trace"), defaults.trace) === 0 ? 0 : defaults.trace,
		scope: words.get("scope") ?? defaults.scope,
		axis,
		from: number(words.get("from"), own ? defaults.from : NaN),
		to: number(words.get("to"), own ? defaults.to : NaN),
		cursor: Math.round(number(words.get("at"), defaults.cursor)),
		moment: number(words.get("moment"), defaults.moment),
		pin: Math.round(number(words.get("pin"), defaults.pin)),
		view: words.get("view") ?? defaults.view,
		by: words.get("by") ?? defaults.by,
		stacks: word(words.get("stacks"), ["merged", "python", "native"] as const, defaults.stacks),
		tree: word(words.get("tree"), ["callers", "inverted"] as const, defaults.tree),
		merge: word(words.get("merge"), ["line", "function"] as const, defaults.merge),
		split: words.get("split") ?? defaults.split,
		compare: words.get("compare") === null ? defaults.compare : words.get("compare") === "true",
		machinery: words.get("machinery") === "true",
		query: words.get("q") ?? defaults.query,
		block: Math.round(number(words.get("block"), defaults.block)),
		theme: word(words.get("theme"), ["auto", "light", "dark"] as const, defaults.theme),
	};
}
