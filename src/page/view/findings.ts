// The report's findings: advice, failures, growth, leaks and short-lived memory. A click shows one in the other views.

import type { App, View } from "./app";
import { followAdvice, largestOf, ruleTitle, severityOf, severityWords } from "./chips";
import { button, h, type Child } from "./dom";
import * as format from "./format";
import { quoted } from "../model/query";
import type { Key } from "../model/state";
import { table } from "./table";

const EXPLAINED = 3; // number of failures that are explained: the last ones

export class FindingsView implements View {
	readonly id = "findings";
	readonly title: string;
	readonly element = h("div", { class: "findings" });

	constructor(private readonly app: App) {
		const { advice, failures } = app.trace.facts.report;
		const count = advice.length + (failures.length ? 1 : 0);

		this.title = count ? `Findings (${count})` : "Findings";
	}

	update(changed: Set<Key>): void {
		const relevant: Key[] = ["trace", "query", "view"];

		if (relevant.some((key) => changed.has(key)))
			this.show();
	}

	private show(): void {
		const sections = [this.failures(), this.advice(), this.growth(), this.leaks(), this.churn(), this.notes()].filter((section): section is HTMLElement => section !== null);

		this.element.replaceChildren(this.verdict(), ...sections);
	}

	// One line on what the rules found, above the tables.
	private verdict(): HTMLElement {
		const { advice, failures } = this.app.trace.facts.report;
		const warnings = advice.filter((one) => severityOf(one.rule) === "warning").length;
		const words = [failures.length ? format.plural(failures.length, "failed allocation") : "", warnings ? format.plural(warnings, "warning") : "",
			advice.length > warnings ? format.plural(advice.length - warnings, "note") : ""].filter((word) => word);

		return h("p", { class: `verdict ${failures.length ? "worse" : warnings ? "" : "better"}` }, words.length ? `Found: ${words.join(", ")}.`
			: "No problems found: no allocation failed, no call site grows, no rule on leaks, fragmentation or short-lived memory applies.");
	}

	private section(title: string, ...content: Child[]): HTMLElement {
		return h("section", {}, h("h2", {}, title), ...content);
	}

	// Called for a click on a call site: searches for its allocations, which marks them, and shows the largest.
	private chooseSite(site: string | null): void {
		if (site === null)
			return;
		this.app.store.set({ query: quoted("site", site) });
		this.app.showBlock(largestOf(this.app, "site", site));
	}

	private isChosen(site: string | null): boolean {
		return site !== null && this.app.query?.text === quoted("site", site);
	}

	private failures(): HTMLElement | null {
		const { failures, ooms } = this.app.trace.facts.report;

		if (!failures.length)
			return null;
		const explained = ooms.filter((oom) => oom.text.length).slice(-EXPLAINED).map((oom) => h("pre", { class: "explained", "data-oom": oom.number }, oom.text.join("\n")));

		return this.section("Failed allocations", ...explained, table({
			caption: `${format.plural(failures.length, "allocation")} failed for lack of memory`, rows: failures,
			choose: (row) => this.app.moveCursor(this.app.trace.eventAt(row.t)),
			data: (row) => ({ seq: row.seq }),
			columns: [
				{ title: "at", cell: (row) => format.moment(row.t), number: true },
				{ title: "requested", cell: (row) => format.bytes(row.bytes), number: true },
				{ title: "allocated then", cell: (row) => format.bytes(row.allocated), number: true },
				{ title: "reserved then", cell: (row) => format.bytes(row.reserved), number: true },
				{ title: "line", cell: (row) => row.line, wide: true },
			],
		}));
	}

	private advice(): HTMLElement | null {
		const { advice } = this.app.trace.facts.report;

		if (!advice.length)
			return null;
		return this.section("Advice", h("ul", { class: "advice" }, ...advice.map((one) =>
			h("li", { "data-rule": one.rule }, h("span", { class: `chip ${severityOf(one.rule)}` }, severityWords[severityOf(one.rule)]), " ", h("b", {}, `${ruleTitle(one.rule)}: `), one.text, " ",
				button(one.rule === "fragmentation" ? "Show the segments" : "Show it", `Shows the moment and the allocation: ${ruleTitle(one.rule)}`, () => followAdvice(this.app, one.rule))))));
	}

	private growth(): HTMLElement | null {
		const { growth } = this.app.trace.facts.report;

		if (!growth.sites.length)
			return null;
		return this.section("Growth", table({
			caption: `Call sites that keep more memory with each ${growth.phase ?? "stretch of events"}`, rows: growth.sites, sort: 0,
			note: growth.other_sites ? `${format.plural(growth.other_sites, "more site")}.` : "",
			data: (row) => ({ site: row.site }), selected: (row) => this.isChosen(row.site), choose: (row) => this.chooseSite(row.site),
			columns: [
				{ title: "per step", value: (row) => row.bytes_per_step, cell: (row) => format.signedBytes(row.bytes_per_step), number: true },
				{ title: "in total", value: (row) => row.bytes, cell: (row) => format.signedBytes(row.bytes), number: true },
				{ title: "grew in", cell: (row) => `${row.rose} of ${row.values - 1}`, number: true },
				{ title: "call site", cell: (row) => row.site, wide: true },
				{ title: "line", cell: (row) => row.line, wide: true },
			],
		}));
	}

	private leaks(): HTMLElement | null {
		const { leaks } = this.app.trace.facts.report;

		if (!leaks.sites.length)
			return null;
		return this.section("Never freed", table({
			caption: `${format.bytes(leaks.bytes)} in ${format.plural(leaks.count, "allocation")} were never freed, not counting ${format.bytes(leaks.held_bytes)} that libraries keep on purpose`,
			rows: leaks.sites, sort: 0, note: leaks.other_sites ? `${format.plural(leaks.other_sites, "more site")}: ${format.bytes(leaks.other_sites_bytes)}.` : "",
			data: (row) => ({ site: row.site, bytes: row.bytes }), selected: (row) => this.isChosen(row.site), choose: (row) => this.chooseSite(row.site),
			columns: [
				{ title: "bytes", value: (row) => row.bytes, cell: (row) => format.bytes(row.bytes), number: true },
				{ title: "allocations", value: (row) => row.count, cell: (row) => format.count(row.count), number: true },
				{ title: "of", value: (row) => row.allocations, cell: (row) => format.count(row.allocations), number: true },
				{ title: "call site", cell: (row) => row.site, wide: true },
				{ title: "line", cell: (row) => row.line, wide: true },
			],
		}));
	}

	private churn(): HTMLElement | null {
		const churn = this.app.trace.facts.report.short_lived;

		if (!churn?.sites.length)
			return null;
		const relevant = this.app.trace.facts.report.advice.some((one) => ["huge", "short_lived", "temporaries"].includes(one.rule));

		return h("details", relevant ? { open: true } : {}, h("summary", {}, `Short-lived allocations: ${format.bytes(churn.at_peak_bytes)} of them at the peak`), table({
			caption: `${format.plural(churn.count, "allocation")} of ${format.bytes(churn.bytes)} in total were freed soon after they were allocated; ${format.bytes(churn.at_peak_bytes)} of them were live at the peak`,
			rows: churn.sites, sort: 0, note: churn.other_sites ? `${format.plural(churn.other_sites, "more site")}.` : "",
			data: (row) => ({ site: row.site ?? "" }), selected: (row) => this.isChosen(row.site), choose: (row) => this.chooseSite(row.site),
			columns: [
				{ title: "in the peak", value: (row) => row.at_peak_bytes, cell: (row) => format.bytes(row.at_peak_bytes), number: true },
				{ title: "times", value: (row) => row.count, cell: (row) => format.count(row.count), number: true },
				{ title: "bytes", value: (row) => row.bytes, cell: (row) => format.bytes(row.bytes), number: true },
				{ title: "on average", value: (row) => row.lifetime_sum_ns / row.count, cell: (row) => format.time(row.lifetime_sum_ns / row.count), number: true },
				{ title: "call site", cell: (row) => row.site ?? "[none]", wide: true },
			],
		}));
	}

	private notes(): HTMLElement | null {
		const { report } = this.app.trace.facts;
		const notes = [...report.notes];

		if (report.events_dropped)
			notes.unshift(`${format.count(report.events_dropped)} events are not in the trace: sums and peaks are exact, but the blocks of that time are not known one by one.`);
		return notes.length ? this.section("Data that the trace may lack", h("ul", {}, ...notes.map((note) => h("li", {}, note)))) : null;
	}
}
