// Notices at the top: memory ran out and why, and the parts that are missing in the trace.

import type { App } from "./app";
import { button, h } from "./dom";
import type { Oom } from "../model/facts";
import * as format from "./format";

const MOST = 5; // number of notes shown here; the findings show all

// The lines of a failure's explanation that begin with "Why: ", joined in one line.
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

	// Shows the last failed allocation that ended the program; the findings show the others.
	private failures(): HTMLElement[] {
		const { app } = this;
		const { report } = app.trace.facts;
		const oom = [...report.ooms].reverse().find((one) => !one.survived);

		if (!oom)
			return [];
		return [h("p", { class: "warning failed", role: "note", "data-oom": oom.number },
			h("b", {}, `Out of memory at ${format.time(oom.t)}: ${format.bytes(oom.size)} requested by ${oom.line}. `), whyOf(oom),
			button("Show the moment", "The blocks that were live when it failed", () => this.showMoment(oom)), " ",
			button("Explain", "The complete explanation", () => app.store.set({ view: "findings" })))];
	}

	private showMoment(oom: Oom): void {
		const { app } = this;
		const scope = app.scopes.find((one) => one.device === oom.device && one.pool === null && one.space === null);

		app.store.set({ view: "flame", ...(scope ? { scope: scope.id } : {}) });
		app.moveCursor(app.trace.eventAt(oom.t));
	}

	private foldedWords(): string | null {
		const { folded } = this.app.trace.facts;

		return folded ? `The trace is long: ${format.plural(folded.blocks, "block")} (${format.count(folded.events)} events; the largest has ${format.bytes(folded.largest)}), those with the least bytes times lifetime, are only in sums by call stack, in ${format.count(folded.slices)} slices of time. Still exact are every figure of the report, the curves at each event shown, and the live bytes at peaks and at the ends of slices. To see all events one by one: memtrace html --max-events 0.` : null;
	}

	private phaseWords(): string | null {
		const { phases_left_out: phases } = this.app.trace.facts;

		return phases ? `${format.plural(phases[0], "phase")} of ${format.time(phases[1])} or less are not shown above the curves; the sums by name count them. To see all: memtrace html --max-events 0.` : null;
	}

	private gapWords(): string | null {
		const { trace } = this.app;
		const { report, gaps } = trace.facts;

		// If no events were recorded on purpose, a note of the report has the reason.
		if (!gaps.length && (trace.events.count || !report.events_dropped || report.notes.length))
			return null;
		const missing = format.plural(report.events_dropped || gaps.reduce((sum, gap) => sum + gap.dropped, 0), "event");
		const verb = missing.startsWith("1 ") ? "is" : "are";

		if (!gaps.length)
			return `${missing} ${verb} missing: the trace has none. Sums and peaks are still exact.`;
		return gaps.every((gap) => gap.event === 0)
			? `The first ${missing} ${verb} missing: blocks allocated before ${format.moment(trace.events.t[0] ?? 0)} are not known one by one. Sums and peaks are exact from the start.`
			: `${missing} ${verb} missing from the trace: after the gap, blocks allocated before it are not known one by one. Sums and peaks are still exact.`;
	}
}
