// Findings as small buttons next to the report's sentence. A click shows the time and the allocation.

import type { App } from "./app";
import { h } from "./dom";
import * as format from "./format";
import { groupingBy, groupOfBlock } from "../model/groupings";
import { Kind } from "../model/model";
import { quoted } from "../model/query";

export type Severity = "error" | "warning" | "note";

// The rules of src/analyse/findings/advice.def: the severity, and the text of the button.
const rules: Record<string, [Severity, string]> = {
	growth: ["warning", "Memory grows"], growth_native: ["warning", "Memory grows"], leak: ["warning", "Never freed"], fragmentation: ["warning", "Fragmentation"],
	retries: ["warning", "Cache emptied to make room"], full: ["warning", "Device nearly full"], huge: ["note", "One large short-lived allocation"],
	temporaries: ["note", "Temporaries at the peak"], short_lived: ["note", "Short-lived at the peak"], workspace: ["note", "cuBLAS workspaces"], uncached: ["note", "Frees that wait for the device"],
	driver: ["note", "Time in the driver"], empty_cache: ["note", "empty_cache() in a loop"], segments: ["note", "Many segments"], pinned: ["note", "Page-locked host memory"],
	stackless: ["note", "Allocations without a stack"], truncated: ["note", "Events missing"],
};

export const severityWords: Record<Severity, string> = { error: "Problem", warning: "Warning", note: "Note" };

export function severityOf(rule: string): Severity {
	return rules[rule]?.[0] ?? "note";
}

export function ruleTitle(rule: string): string {
	return rules[rule]?.[1] ?? rule.replace(/_/g, " ");
}

// Returns the group's largest allocation that is live at the cursor, else its largest of all, else -1.
export function largestOf(app: App, by: string, name: string): number {
	const { trace, places } = app;
	const { blocks } = trace;
	const grouping = groupingBy(trace, by);
	const group = grouping?.names.indexOf(name) ?? -1;
	const cursor = app.store.get("cursor");
	let best = -1;
	let bestLive = false;

	for (let i = 0; grouping && group >= 0 && i < blocks.count; i++) {
		if (blocks.kind[i] !== Kind.Block || !places[blocks.place[i]] || trace.isFold(i) || groupOfBlock(trace, grouping, i) !== group)
			continue;
		const live = blocks.born[i] <= cursor && blocks.died[i] > cursor;

		if (best < 0 || (live && !bestLive) || (live === bestLive && blocks.size[i] > blocks.size[best])) {
			best = i;
			bestLive = live;
		}
	}
	return best;
}

// Shows the subject of a piece of advice: the peak, the call site, and its largest allocation.
export function followAdvice(app: App, rule: string): void {
	const { report } = app.trace.facts;
	const { store } = app;
	const site = rule.startsWith("growth") ? report.growth.sites[0]?.site : rule.startsWith("leak") ? report.leaks.sites[0]?.site
		: ["huge", "short_lived", "temporaries"].includes(rule) ? report.short_lived?.sites[0]?.site : undefined;
	const [by, name] = rule === "workspace" ? ["category", "workspaces"] : ["site", site ?? ""];

	app.moveToPeak();
	if (name) {
		const block = largestOf(app, by, name);

		if (block >= 0 && !(app.trace.blocks.born[block] <= store.get("cursor") && app.trace.blocks.died[block] > store.get("cursor")))
			app.moveCursor(app.trace.blocks.born[block]);
		store.set({ query: quoted(by, name) });
		app.showBlock(block);
	} else {
		store.set({ view: rule === "fragmentation" || rule === "segments" ? "segments" : "findings" });
	}
}

export class Chips {
	readonly element = h("div", { class: "chips", role: "group", "aria-label": "Findings" });

	constructor(private readonly app: App) {
		app.store.listen((changed) => changed.has("trace") && this.show());
		this.show();
	}

	private chip(severity: Severity, label: string, title: string, click: () => void, id: string): HTMLElement {
		return h("button", { type: "button", class: `chip ${severity}`, title, click, "data-finding": id }, h("b", {}, `${severityWords[severity]}: `), label);
	}

	private show(): void {
		const { app } = this;
		const { report } = app.trace.facts;
		const failures = report.failures.map((failure, i) => ({ failure, i })).slice(-1).map(({ failure }) =>
			this.chip("error", report.failures.length > 1 ? `${format.plural(report.failures.length, "failed allocation")}` : `allocation of ${format.bytes(failure.bytes)} failed`,
				`The last failed at ${format.moment(failure.t)}: ${failure.line}. A click shows what was live then.`, () => this.showFailure(failure.t, failure.device), "failure"));
		const advice = report.advice.map((one) => this.chip(severityOf(one.rule), ruleTitle(one.rule), one.text, () => followAdvice(app, one.rule), one.rule));
		const chips = [...failures, ...advice];
		const order = ["error", "warning", "note"];

		chips.sort((a, b) => order.indexOf(a.classList[1]) - order.indexOf(b.classList[1]));
		this.element.replaceChildren(...(chips.length ? chips : [h("span", { class: "chip good" }, "No problems found")]));
	}

	private showFailure(t: number, device: number | null): void {
		const { app } = this;
		const scope = app.scopes.find((one) => one.device === device && one.pool === null && one.space === null);
		const { blocks } = app.trace;
		const event = app.trace.eventAt(t);
		let largest = -1;

		if (scope)
			app.store.set({ scope: scope.id });
		app.moveCursor(event);
		for (let i = 0; i < blocks.count && blocks.born[i] <= event; i++) {
			if (blocks.kind[i] === Kind.Block && app.places[blocks.place[i]] && blocks.died[i] > event && (largest < 0 || blocks.size[i] > blocks.size[largest]))
				largest = i;
		}
		app.store.set({ view: "findings" });
		app.showBlock(largest);
	}
}
