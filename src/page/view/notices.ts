// What to know before anything else: that memory ran out and why, and what the trace does not tell.

import type { App } from "./app";
import { button, h } from "./dom";
import type { Oom } from "../model/facts";
import * as format from "./format";

const MOST = 5; // notes; the findings have them all

// "Why: ..." of an explanation in lines of 80 columns, as one line.
function whyOf(oom: Oom): string {
	const first = oom.text.findIndex((line) => line.startsWith("Why: "));
	const words: string[] = [];

	for (let i = first; i >= 0 && i < oom.text.length && (i === first || oom.text[i].startsWith("     ")); i++)
		words.push(oom.text[i].trim());
	return words.length ? `${words.join(" ")} ` : "";
}

export class Notices {
	readonly element = h("div", { class: "warnings" });

	constructor(private readonly app: App) {
		app.store.listen((changed) => changed.has("trace") && this.show());
		this.show();
	}

	private show(): void {
		const { report } = this.app.trace.facts;
		const notes = report.notes.slice(0, MOST);
		const words = [this.foldedWords(), this.phaseWords(), this.gapWords()].filter((text): text is string => text !== null);

		this.element.replaceChildren(
			...this.failures(), ...words.map((text) => h("p", { class: "warning", role: "note" }, text)),
			...notes.map((text) => h("p", { class: "warning", role: "note", "data-note": "" }, `${text}.`)),
		);
	}

	// A failure that the program survived is in the findings.
	private failures(): HTMLElement[] {
		const { app } = this;
		const { report } = app.trace.facts;
		const oom = [...report.ooms].reverse().find((one) => !one.survived);

		if (!oom)
			return [];
		return [h("p", { class: "warning failed", role: "note", "data-oom": oom.number },
			h("b", {}, `Out of memory at ${format.time(oom.t)}: ${format.bytes(oom.size)} asked for by ${oom.line}. `), whyOf(oom),
			button("Show the moment", "What was live when it failed", () => this.showMoment(oom)), " ",
			button("Explain", "All that is known of it", () => app.store.set({ view: "findings" })))];
	}

	private showMoment(oom: Oom): void {
		const { app } = this;
		const scope = app.scopes.find((one) => one.device === oom.device && one.pool === null && one.space === null);

		app.store.set({ view: "flame", ...(scope ? { scope: scope.id } : {}) });
		app.moveCursor(app.trace.eventAt(oom.t));
	}

	private foldedWords(): string | null {
		const { folded } = this.app.trace.facts;

		return folded ? `A long trace: ${format.plural(folded.blocks, "block")} (${format.count(folded.events)} events; the largest has ${format.bytes(folded.largest)}) that took least of the picture, bytes times how long they lived, are told in sums by call stack, in ${format.count(folded.slices)} slices of time. Exact all the same: every figure of the report, the curves at each event that is told, what lived at the peaks and at the ends of slices. For all events one by one: memtrace html --max-events 0.` : null;
	}

	private phaseWords(): string | null {
		const { phases_left_out: phases } = this.app.trace.facts;

		return phases ? `${format.plural(phases[0], "phase")} of ${format.time(phases[1])} or less have no band of their own above the curves; the sums by name hold them all. For all of them: memtrace html --max-events 0.` : null;
	}

	private gapWords(): string | null {
		const { trace } = this.app;
		const { report, gaps } = trace.facts;

		// A note says why where none was to be kept.
		if (!gaps.length && (trace.events.count || !report.events_dropped || report.notes.length))
			return null;
		const missing = format.plural(report.events_dropped || gaps.reduce((sum, gap) => sum + gap.dropped, 0), "event");
		const verb = missing.startsWith("1 ") ? "is" : "are";

		if (!gaps.length)
			return `${missing} ${verb} missing from the trace, which holds none. Sums and peaks are exact all the same.`;
		return gaps.every((gap) => gap.event === 0)
			? `The first ${missing} ${verb} not kept: blocks from before ${format.moment(trace.events.t[0] ?? 0)} are not known one by one. Sums and peaks are exact from the start.`
			: `${missing} ${verb} missing from the trace: behind the gap, blocks from before it are not known one by one. Sums and peaks are exact all the same.`;
	}
}
