// Tables of the sums of the complete run, as in `memtrace report`: devices, pools, owners, phases, calls.

import type { App, View } from "./app";
import { h } from "./dom";
import type { PhaseCount, PhaseRow, Sum } from "../model/facts";
import * as format from "./format";
import type { Key } from "../model/state";
import { table } from "./table";

const peak = (sum: Sum | null) => sum?.peak_bytes ?? 0;
const peakText = (sum: Sum | null) => format.bytes(sum?.peak_bytes);
const exitText = (sum: Sum | null) => format.bytes(sum?.exit_bytes);

const countText = (count: PhaseCount | null) => format.bytes(count?.bytes);
const devicesText = (row: PhaseRow) => row.devices.map((one) => `${one.device}: ${format.bytes(one.allocated_peak_bytes)}`).join(", ");

export class SumsView implements View {
	readonly id = "sums";
	readonly title = "Summary";
	readonly element = h("div", {});

	constructor(private readonly app: App) {}

	update(changed: Set<Key>): void {
		const relevant: Key[] = ["trace", "view"];

		if (relevant.some((key) => changed.has(key)))
			this.element.replaceChildren(this.devices(), this.parts("pool"), this.parts("owner"), this.spaces(), this.phases(), this.lines(), this.calls());
	}

	private get report() {
		return this.app.trace.facts.report;
	}

	private devices(): HTMLElement {
		return table({
			caption: "Devices", rows: this.report.devices, data: (row) => ({ device: row.device, allocated: peak(row.allocated), reserved: peak(row.reserved) }),
			columns: [
				{ title: "device", cell: (row) => `${row.device}: ${row.name ?? "unknown"}, ${format.bytes(row.total_bytes)}`, wide: true },
				{ title: "allocated, peak", cell: (row) => peakText(row.allocated), number: true },
				{ title: "reserved, peak", cell: (row) => peakText(row.reserved), number: true },
				{ title: "used, peak", cell: (row) => `${peakText(row.used)}${row.used?.source ? ` (${row.used.source})` : ""}`, number: true },
				{ title: "cached at the peak", cell: (row) => format.bytes(row.cached_at_peak_bytes), number: true },
				{ title: "allocated at exit", cell: (row) => exitText(row.allocated), number: true },
				{ title: "allocations", cell: (row) => format.count(row.allocations), number: true },
				{ title: "frees", cell: (row) => format.count(row.frees), number: true },
				{ title: "failed", cell: (row) => format.count(row.ooms), number: true },
			],
		});
	}

	private parts(kind: "pool" | "owner"): HTMLElement {
		return table({
			caption: kind === "pool" ? "Pools" : "Libraries", rows: kind === "pool" ? this.report.pools : this.report.owners,
			data: (row) => ({ [kind]: row[kind] ?? "", allocated: peak(row.allocated), reserved: peak(row.reserved) }),
			columns: [
				{ title: kind === "pool" ? kind : "library", value: (row) => row[kind] ?? "", cell: (row) => row[kind] ?? "", wide: true },
				{ title: "device", value: (row) => row.device, cell: (row) => row.device, number: true },
				{ title: "allocated, peak", value: (row) => peak(row.allocated), cell: (row) => peakText(row.allocated), number: true },
				{ title: "reserved, peak", value: (row) => peak(row.reserved), cell: (row) => peakText(row.reserved), number: true },
				{ title: "reserved at exit", value: (row) => row.reserved?.exit_bytes ?? 0, cell: (row) => exitText(row.reserved), number: true },
				{ title: "allocations", value: (row) => row.allocations, cell: (row) => format.count(row.allocations), number: true },
				{ title: "frees", value: (row) => row.frees, cell: (row) => format.count(row.frees), number: true },
			],
		});
	}

	private spaces(): HTMLElement {
		return table({
			caption: "Host and managed memory", rows: this.report.spaces, data: (row) => ({ space: row.space, allocated: peak(row.allocated) }),
			columns: [
				{ title: "memory kind", cell: (row) => row.space, wide: true },
				{ title: "peak", cell: (row) => peakText(row.allocated), number: true },
				{ title: "at exit", cell: (row) => exitText(row.allocated), number: true },
				{ title: "allocations", cell: (row) => format.count(row.allocations), number: true },
			],
		});
	}

	private phases(): HTMLElement {
		const { phases, other_phases } = this.report;
		const count = (title: string, key: "allocations" | "freed" | "kept") =>
			({ title, value: (row: PhaseRow) => row[key]?.bytes ?? -1, cell: (row: PhaseRow) => countText(row[key]), number: true });

		return table({
			caption: "Phases, summed by name", rows: phases, sort: 3,
			data: (row) => ({
				phase: row.name, peak: row.allocated_peak_bytes, growth: row.growth_bytes, allocations: row.allocations?.bytes ?? "", freed: row.freed?.bytes ?? "", kept: row.kept?.bytes ?? "",
			}),
			choose: (row) => this.zoomTo(row.name), note: other_phases ? `${format.plural(other_phases, "more phase")}.` : "",
			columns: [
				{ title: "phase", value: (row) => row.name, cell: (row) => row.name, wide: true },
				{ title: "times", value: (row) => row.times, cell: (row) => format.count(row.times), number: true },
				{ title: "time", value: (row) => row.total_ns, cell: (row) => format.time(row.total_ns), number: true },
				{ title: "allocated, peak", value: (row) => row.allocated_peak_bytes, cell: (row) => format.bytes(row.allocated_peak_bytes), number: true },
				{ title: "reserved, peak", value: (row) => row.reserved_peak_bytes, cell: (row) => format.bytes(row.reserved_peak_bytes), number: true },
				{ title: "growth", value: (row) => row.growth_bytes, cell: (row) => format.signedBytes(row.growth_bytes), number: true },
				count("allocated", "allocations"), count("freed", "freed"), count("kept", "kept"),
				...(phases.some((row) => row.devices.length) ? [{ title: "peaks by device", cell: devicesText }] : []),
			],
		});
	}

	// Zooms to the phase with the highest peak among those of the name; "step #" stands for "step 1", "step 2" ...
	private zoomTo(name: string): void {
		const { trace, store } = this.app;
		const parts = name.split("#").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
		const family = new RegExp(`^${parts.join("[0-9#]+")}$`);
		const phase = trace.facts.phases.filter((one) => one.name === name || family.test(one.name))
			.sort((a, b) => (b.allocated.peak_bytes ?? 0) - (a.allocated.peak_bytes ?? 0))[0];

		if (!phase)
			return;
		const last = trace.events.t[trace.events.count - 1] ?? 0;
		const from = trace.eventAt(phase.start);
		const to = trace.eventAt(phase.end ?? last);

		if (store.get("axis") === "time")
			this.app.zoom(phase.start, phase.end ?? last);
		else
			this.app.zoom(from, to);
		this.app.moveCursor(to);
	}

	private lines(): HTMLElement {
		return table({
			caption: "Lines: bytes allocated minus bytes freed there", rows: this.report.lines?.rows ?? [], sort: 2, data: (row) => ({ line: row.name, peak: row.peak_bytes }),
			columns: [
				{ title: "line", value: (row) => row.name, cell: (row) => row.name, wide: true },
				{ title: "net", value: (row) => row.net_bytes, cell: (row) => format.signedBytes(row.net_bytes), number: true },
				{ title: "at the peak", value: (row) => row.peak_bytes, cell: (row) => format.bytes(row.peak_bytes), number: true },
				{ title: "at exit", value: (row) => row.live_bytes, cell: (row) => format.bytes(row.live_bytes), number: true },
				{ title: "allocations", value: (row) => row.allocations, cell: (row) => format.count(row.allocations), number: true },
				{ title: "frees there", value: (row) => row.frees_here, cell: (row) => format.count(row.frees_here), number: true },
			],
		});
	}

	private calls(): HTMLElement {
		return table({
			caption: "Time that the program's CUDA calls took", rows: this.report.calls ?? [], sort: 2,
			columns: [
				{ title: "call", value: (row) => row.api, cell: (row) => row.api, wide: true },
				{ title: "calls", value: (row) => row.calls, cell: (row) => format.count(row.calls), number: true },
				{ title: "time", value: (row) => row.total_ns, cell: (row) => format.time(row.total_ns), number: true },
				{ title: "longest", value: (row) => row.max_ns, cell: (row) => format.time(row.max_ns), number: true },
				{ title: "failed", value: (row) => row.failed, cell: (row) => format.count(row.failed), number: true },
			],
		});
	}
}
