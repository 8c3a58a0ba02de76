// A table of the kernels, copies and long calls that CUPTI recorded, the longest first; a click shows one.

import type { App, View } from "./app";
import { h } from "./dom";
import * as format from "./format";
import { zoomTo } from "./lanes";
import { kernelName } from "../model/kernels";
import { sumsOf } from "../model/scope";
import { kindOf, lackText, trackText } from "./spans";
import type { Key } from "../model/state";
import { table } from "./table";

const LONGEST = 200;

type Action = NonNullable<App["trace"]["facts"]["report"]["actions"]>[number];

export class ActivityView implements View {
	readonly id = "activity";
	readonly title = "Kernels";
	readonly element = h("div", {});

	constructor(private readonly app: App) {}

	update(changed: Set<Key>): void {
		const relevant: Key[] = ["trace", "scope", "view"];

		if (relevant.some((key) => changed.has(key)))
			this.element.replaceChildren(this.names(), this.longest());
	}

	private names(): HTMLElement {
		const order = ["kernel", "copy", "fill", "migration", "call"];
		const rank = (action: Action) => order.indexOf(kindOf(action.kind));
		const actions = [...(this.app.trace.facts.report.actions ?? [])].sort((a, b) => rank(a) - rank(b) || b.total_ns - a.total_ns);

		return table({
			caption: "Kernels, copies and CUDA calls of the complete run, recorded by CUPTI: kernels first", rows: actions,
			empty: "No kernels and copies were recorded. To record them, set MEMTRACE_CUPTI=1 or use memtrace run --cupti.",
			data: (row) => ({ action: row.name, kind: row.kind, count: row.count, total: row.total_ns, bytes: row.bytes }),
			choose: (row) => this.show(this.longestOf(row)), note: lackText(this.app.trace),
			columns: [
				{ title: "name", value: (row) => kernelName(row.name), cell: (row) => h("span", { title: row.name }, kernelName(row.name)), wide: true },
				{ title: "kind", value: (row) => row.kind, cell: (row) => row.kind },
				{ title: "times", value: (row) => row.count, cell: (row) => format.count(row.count), number: true },
				{ title: "time", value: (row) => row.total_ns, cell: (row) => format.time(row.total_ns), number: true },
				{ title: "longest", value: (row) => row.max_ns, cell: (row) => format.time(row.max_ns), number: true },
				{ title: "bytes", value: (row) => row.bytes, cell: (row) => (row.bytes ? format.bytes(row.bytes) : ""), number: true },
			],
		});
	}

	private longest(): HTMLElement {
		const { trace, scope } = this.app;
		const { spans } = trace;
		const actions = trace.facts.actions;
		const held = sumsOf(trace, scope).allocated;

		if (!spans?.count)
			return h("p", { class: "empty" }, "The timeline is empty: no kernel and no copy ran, and no call took long.");
		const rows = [...spans.t.keys()].sort((a, b) => spans.ns[b] - spans.ns[a] || a - b).slice(0, LONGEST);

		return table({
			caption: `The longest of the ${format.count(spans.count)} kernels, copies and calls on the timeline, and the bytes allocated in ${scope.title} when each began`, rows, sort: 1,
			data: (span) => ({ span }), choose: (span) => this.show(span),
			columns: [
				{ title: "name", value: (span) => kernelName(actions[spans.action[span]].name ?? ""), cell: (span) => h("span", { title: actions[spans.action[span]].name ?? "" }, kernelName(actions[spans.action[span]].name ?? "")), wide: true },
				{ title: "took", value: (span) => spans.ns[span], cell: (span) => format.time(spans.ns[span]), number: true },
				{ title: "at", value: (span) => spans.t[span], cell: (span) => format.moment(spans.t[span]), number: true },
				{ title: "device", value: (span) => spans.tracks[spans.track[span]].device ?? -1, cell: (span) => spans.tracks[spans.track[span]].device ?? "", number: true },
				{ title: "on", value: (span) => spans.track[span], cell: (span) => trackText(trace, spans.tracks[spans.track[span]]) },
				{ title: "bytes", value: (span) => spans.bytes[span], cell: (span) => (spans.bytes[span] ? format.bytes(spans.bytes[span]) : ""), number: true },
				{ title: "allocated", value: (span) => held[Math.max(trace.eventAt(spans.t[span]), 0)] ?? 0, cell: (span) => format.bytes(held[Math.max(trace.eventAt(spans.t[span]), 0)]), number: true },
			],
		});
	}

	private longestOf(action: Action): number {
		const { spans, facts } = this.app.trace;
		const wanted = facts.actions.findIndex(({ kind, name }) => kind === action.kind && name === action.name);
		let best = -1;

		for (let i = 0; spans && i < spans.count; i++) {
			if (spans.action[i] === wanted && (best < 0 || spans.ns[i] > spans.ns[best]))
				best = i;
		}
		return best;
	}

	private show(span: number): void {
		const { spans } = this.app.trace;

		if (!spans || span < 0)
			return;
		zoomTo(this.app, spans.t[span], spans.t[span] + spans.ns[span]);
		this.app.moveCursor(this.app.trace.eventAt(spans.t[span]));
		document.querySelector(".overview")?.scrollIntoView({ block: "nearest" });
	}
}
