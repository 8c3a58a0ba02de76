// The page: reads its traces, makes the views, and updates them at each change of the state.

import { ActivityView } from "./view/activity";
import { App, type View } from "./view/app";
import { Chips } from "./view/chips";
import { Controls, CursorBar } from "./view/controls";
import { Details } from "./view/details";
import { DevicesView } from "./view/devices";
import { DiffView } from "./view/diffview";
import { button, h } from "./view/dom";
import { readFacts, type Diff, type Ranks } from "./model/facts";
import { EventsView } from "./view/events";
import { FindingsView } from "./view/findings";
import * as format from "./view/format";
import { BlockListView } from "./view/blocklist";
import { Keys } from "./view/keys";
import { FlameView, TableView } from "./view/moment";
import { readTrace, type Trace } from "./model/model";
import { Notices } from "./view/notices";
import { Overview } from "./view/overview";
import { RanksView } from "./view/ranks";
import { bestAxis, extent } from "./model/axis";
import { bestGrouping } from "./model/groupings";
import { placesOf, scopesOf, sumsOf } from "./model/scope";
import { SegmentMap } from "./view/segments";
import { readLink, Store, type Key, type State } from "./model/state";
import { SumsView } from "./view/sums";
import { Tabs } from "./view/tabs";

function defaultsOf(traces: Trace[], first: string): State {
	const trace = traces[traces.length - 1]; // the head, if there are two
	const scopes = scopesOf(trace);
	const { devices } = trace.facts.report;
	const worst = [...devices].sort((a, b) => (b.allocated?.peak_bytes ?? 0) - (a.allocated?.peak_bytes ?? 0))[0];
	const scope = scopes.find((one) => worst && one.device === worst.device && one.pool === null) ?? scopes[0];
	const { allocated } = sumsOf(trace, scope);
	let peak = 0;

	for (let i = 1; i < allocated.length; i++) {
		if (allocated[i] > allocated[peak] || Number.isNaN(allocated[peak]))
			peak = i;
	}
	const axis = bestAxis(traces);
	const told = trace.facts.peaks.find((one) => one.metric === "allocated" && one.device === scope.device && one.pool === null && scope.space === null);
	const unseen = trace.facts.gaps.length && told && told.bytes > (allocated[peak] || 0) ? told.t : -1; // ns of a peak whose events are missing, else -1

	return {
		trace: trace.number, scope: scope.id, axis, from: Math.min(...traces.map((one) => extent(one, axis)[0])), to: Math.max(...traces.map((one) => extent(one, axis)[1])),
		cursor: unseen < 0 ? peak : Math.max(trace.eventAt(unseen), 0), moment: unseen, pin: -1, view: first, by: bestGrouping(trace, placesOf(trace, scope), peak), stacks: "merged", tree: "callers", merge: "line", split: "", compare: traces.length > 1, machinery: false,
		query: "", block: -1, theme: "auto",
	};
}

// Corrects a state from a link of another trace: values that do not fit this trace become defaults.
function fit(state: State, app: App): void {
	const most = app.trace.events.count - 1;

	if (state.trace >= app.traces.length)
		state.trace = app.traces.length - 1;
	state.scope = app.scope.id;
	state.by = app.grouping.by;
	if (!app.axes.includes(state.axis)) {
		state.axis = "event";
		[state.from, state.to] = app.full;
	}
	state.cursor = Math.max(Math.min(state.cursor, most), 0);
	state.pin = Math.min(state.pin, most);
	if (!(state.block < app.trace.blocks.count && state.block >= 0 && app.trace.blocks.kind[state.block] === 0))
		state.block = -1;
	const [low, high] = app.full;

	if (!(state.from >= low && state.to <= high && state.from < state.to))
		[state.from, state.to] = [low, high];
}

function titleOf(traces: Trace[], ranks: Ranks | null): string {
	return ranks ? format.plural(ranks.ranks.length, "rank") : traces.map((trace) => trace.facts.name).join(" and ");
}

// Returns the sentences on all ranks, the most important first. They are above those on the rank that is shown.
function rankWords(ranks: Ranks): HTMLElement[] {
	const [first, ...others] = ranks.sentences.map((sentence, i) => h("p", { class: i ? null : "answer" }, sentence));

	return others.length ? [first, h("details", { class: "lacks" }, h("summary", {}, format.plural(others.length, "more sentence")), ...others)] : [first];
}

function header(app: App, ranks: Ranks | null, keys: () => void): HTMLElement {
	const element = h("header", {});
	const show = () => {
		const { report, name } = app.trace.facts;
		const { process } = report;
		const shown = ranks ? `This page shows rank ${process.rank}, which has the highest peak` : app.traces.length > 1 ? `This page shows ${app.trace.number ? "head" : "base"}` : null;
		const ended = process.signal !== null ? `, ended by signal ${process.signal}` : process.status ? `, ended with status ${process.status}` : process.exit === "exit" ? "" : `, ${process.exit}`;

		const command = `${process.command.join(" ")} (pid ${process.pid}${process.host ? ` on ${process.host}` : ""}, rank ${process.rank}), ${process.start_time}, ran for ${format.time(process.duration_ns)}${ended}; ${format.count(report.events_recorded)} events`;

		element.replaceChildren(
			h("div", { class: "bar" }, h("h1", {}, "memtrace ", h("span", {}, titleOf(app.traces, ranks))), h("code", { class: "command", title: command }, command),
				button(app.theme.dark ? "Light" : "Dark", "Light or dark (d)", () => app.store.set({ theme: app.theme.dark ? "light" : "dark" })),
				button("Shortcuts", "Keyboard shortcuts (?)", keys)),
			...(ranks ? rankWords(ranks) : app.diff ? [h("p", { class: "answer" }, app.diff.sentence)] : []),
			shown ? h("p", {}, h("b", {}, shown), ` (${name}): ${report.answer}`) : h("p", { class: "answer" }, report.answer),
		);
	};

	app.store.listen((changed) => (changed.has("trace") || changed.has("theme")) && show());
	show();
	return element;
}

const PAPER = 710; // pixels between the margins of both A4 and Letter paper

// Redraws for printing, because drawings are as wide as the window, and paper is not.
function watchPrint(page: HTMLElement, app: App, redraw: () => void): void {
	let before: State["theme"] | null = null;

	addEventListener("beforeprint", () => {
		before = app.store.get("theme");
		app.store.state.theme = "light";
		page.style.width = `${PAPER}px`;
		redraw();
	});
	addEventListener("afterprint", () => {
		if (before !== null)
			app.store.state.theme = before;
		page.style.width = "";
		redraw();
	});
}

// Shows only the table of ranks, if no rank has a trace with events.
function startWithRanks(page: HTMLElement, ranks: Ranks): void {
	const dark = matchMedia("(prefers-color-scheme: dark)");
	const paint = () => { document.documentElement.dataset["theme"] = dark.matches ? "dark" : "light"; };

	dark.addEventListener("change", paint);
	paint();
	document.title = `${titleOf([], ranks)} - memtrace`;
	page.replaceChildren(
		h("header", {}, h("div", { class: "bar" }, h("h1", {}, "memtrace ", h("span", {}, titleOf([], ranks)))), ...rankWords(ranks),
			h("p", { class: "dim" }, "No rank's trace has events, so only the figures of the ranks are known.")),
		h("main", { id: "panel" }, new RanksView(null, ranks).element));
	page.setAttribute("aria-busy", "false");
}

function start(page: HTMLElement, traces: Trace[], diff: Diff | null, ranks: Ranks | null): void {
	const defaults = defaultsOf(traces, diff ? "diff" : ranks ? "ranks" : "flame");
	const store = new Store(readLink(location.hash, defaults), defaults);
	const app = new App(traces, diff, store);

	fit(store.state, app);
	const overview = new Overview(app);
	const views: View[] = [
		new FlameView(app), new TableView(app), new BlockListView(app), new SegmentMap(app), new EventsView(app), new FindingsView(app), new SumsView(app),
		...(traces.some((trace) => trace.spans) ? [new ActivityView(app)] : []), ...(traces.some((trace) => trace.facts.report.devices.length > 1) ? [new DevicesView(app)] : []), ...(diff ? [new DiffView(app, diff)] : []),
		...(ranks ? [new RanksView(app, ranks)] : []),
	];

	if (!views.some((view) => view.id === store.get("view")))
		store.state.view = defaults.view;
	const controls = new Controls(app);
	const cursor = new CursorBar(app);
	const tabs = new Tabs(app, views);
	const details = new Details(app);
	const notices = new Notices(app);
	const keys = new Keys(app, views, controls.search);
	const all = new Set(Object.keys(store.state) as Key[]);
	const update = (changed: Set<Key>) => {
		document.documentElement.dataset["theme"] = app.theme.dark ? "dark" : "light";
		controls.update(changed);
		overview.update(changed);
		cursor.update();
		tabs.update(changed);
		details.update(changed);
	};

	document.title = `${titleOf(traces, ranks)} - memtrace`;
	page.replaceChildren(header(app, ranks, () => keys.showHelp()),
		h("main", {}, h("div", { class: "findingsbar" }, new Chips(app).element, notices.lacks), notices.element, controls.element, overview.element, cursor.element, tabs.element), details.element);
	page.setAttribute("aria-busy", "false");
	update(all);
	store.listen(update);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => update(all));
	addEventListener("resize", () => update(all));
	addEventListener("hashchange", () => {
		const state = readLink(location.hash, defaults);

		fit(Object.assign(store.state, state), app);
		update(all);
	});
	watchPrint(page, app, () => update(all));
}

async function main(): Promise<void> {
	const page = document.getElementById("page") as HTMLElement;

	try {
		const traces = [await readTrace(0), await readTrace(1)].filter((trace): trace is Trace => trace !== null);
		const ranks = readFacts<Ranks>("ranks");

		if (ranks && !traces.length)
			startWithRanks(page, ranks);
		else
			start(page, traces, readFacts<Diff>("diff"), ranks);
		page.dataset["ready"] = String(Math.round(performance.now()));
	} catch (error) {
		const old = typeof DecompressionStream === "undefined" ? " This browser is too old: the page needs one of 2023 or later." : "";

		page.replaceChildren(h("p", { class: "warning", role: "alert" }, `The page could not be shown: ${String(error)}.${old}`));
		throw error;
	}
}

void main();
