// Notices at the top: why an allocation failed; and, folded into one line, the data that the page lacks.

import type { App } from "./app";
import { button, h } from "./dom";
import type { Oom } from "../model/facts";
import * as format from "./format";

// Returns the reason in a failure's explanation: the line with "Why: " and those that continue it, as one line.
function whyOf(oom: Oom): string {
	const first = oom.text.findIndex((line) => line.startsWith("Why: "));
	const words: string[] = [];

	for (let i = first; i >= 0 && i < oom.text.length && (i === first || oom.text[i].startsWith("     ")); i++)
		words.push(oom.text[i].trim());
	return words.length ? `${words.join(" ")} ` : "";
}

export class Notices {
	readonly element = h("div", { class: "warnings" });
	readonly lacks = h("details", { class: "warnings lacks" });

	constructor(private readonly app: App) {
		app.store.listen((changed) => changed.has("trace") && this.show());
		this.show();
	}

	private show(): void {
		const { report } = this.app.trace.facts;
		const notes = report.notes.map((note) => h("p", { role: "note", "data-note": "" }, `${note}.`));
		const words = [this.gapWords(), this.foldedWords(), this.phaseWords()].filter((text): text is string => text !== null);
		const all = [...words.map((text) => h("p", { role: "note" }, text)), ...notes];
		const short = words.length ? this.shortWords() : "";

		this.element.replaceChildren(...this.failures());
		this.lacks.hidden = !all.length;
		this.lacks.replaceChildren(h("summary", {}, short || format.plural(all.length, "note"), short && all.length > 1 ? ` and ${format.plural(all.length - 1, "more note")}` : ""), ...all);
	}

	// Returns in a few words what is missing.
	private shortWords(): string {
		const { report, folded, phases_left_out: phases } = this.app.trace.facts;

		if (this.gapWords())
			return `${format.plural(report.events_dropped, "event")} missing: hatched`;
		return folded ? `${format.plural(folded.blocks, "small allocation")} shown only as sums` : phases ? `${format.plural(phases[0], "short phase")} not shown` : "";
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
			button("Show the moment", "Show the blocks that were live when it failed", () => this.showMoment(oom)), " ",
			button("Explain", "Show the complete explanation", () => app.store.set({ view: "findings" })))];
	}

	private showMoment(oom: Oom): void {
		const { app } = this;
		const scope = app.scopes.find((one) => one.device === oom.device && one.pool === null && one.space === null);

		app.store.set({ view: "flame", block: -1, ...(scope ? { scope: scope.id } : {}) });
		app.moveCursor(app.trace.eventAt(oom.t));
	}

	private foldedWords(): string | null {
		const { folded } = this.app.trace.facts;

		return folded ? `${format.plural(folded.blocks, "allocation")} of at most ${format.bytes(folded.largest)} are only in sums by call stack, in ${format.count(folded.slices)} slices of time; every figure is exact. To have each of them, run memtrace html --max-events 0.` : null;
	}

	private phaseWords(): string | null {
		const { phases_left_out: phases } = this.app.trace.facts;

		return phases ? `${format.plural(phases[0], "phase")} of ${format.time(phases[1])} or less are not shown above the picture; the sums by name count them. To see all, run memtrace html --max-events 0.` : null;
	}

	private gapWords(): string | null {
		const { trace } = this.app;
		const { report, gaps } = trace.facts;

		// If event recording was switched off on purpose, a note of the report gives the reason.
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
