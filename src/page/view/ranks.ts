// The ranks of a job, as `memtrace merge` shows them: their peaks, their imbalance, their GPUs and call sites.

import type { App, View } from "./app";
import { h } from "./dom";
import type { Ranks, RankRow, RankSite } from "../model/facts";
import * as format from "./format";
import { quoted } from "../model/query";
import type { Key } from "../model/state";
import { table } from "./table";

type Metric = "allocated" | "reserved" | "used";

const rankText = (rank: number | null) => (rank === null ? "-" : String(rank));

// Returns the peak of the rank's device that has the highest peak.
function peakOf(row: RankRow, metric: Metric): number | null {
	const peaks = row.devices.map((device) => device[metric].peak_bytes).filter((bytes): bytes is number => bytes !== null);

	return peaks.length ? Math.max(...peaks) : null;
}

export class RanksView implements View {
	readonly id = "ranks";
	readonly title = "Ranks";
	readonly element = h("div", { class: "ranks" });

	// `app` is null if the page has no trace in which call sites can be highlighted.
	constructor(private readonly app: App | null, private readonly ranks: Ranks) {
		this.show();
	}

	update(changed: Set<Key>): void {
		if (changed.has("query"))
			this.show();
	}

	private show(): void {
		this.element.replaceChildren(this.rows(), this.spreads(), this.cards(), this.sites());
	}

	private left(row: RankRow): number | null {
		const left = row.devices.map((device) => this.ranks.cards[device.card]?.headroom_bytes ?? null).filter((bytes): bytes is number => bytes !== null);

		return left.length ? Math.min(...left) : null;
	}

	private devices(row: RankRow): string {
		return row.devices.map((device) => `${device.device}: ${this.ranks.cards[device.card]?.name ?? "unknown"}`).join(", ");
	}

	private rows(): HTMLElement {
		const median = this.ranks.imbalance.find((one) => one.metric === "allocated")?.median_bytes ?? 0;
		const highest = Math.max(1, ...this.ranks.ranks.map((row) => peakOf(row, "allocated") ?? 0));
		const allocated = (row: RankRow) => peakOf(row, "allocated") ?? 0;
		const column = (title: string, metric: Metric) => ({ title, value: (row: RankRow) => peakOf(row, metric) ?? -1, cell: (row: RankRow) => format.bytes(peakOf(row, metric)), number: true });

		return table({
			caption: `Ranks, by their fullest device${this.ranks.world_size ? ` (${this.ranks.ranks.length} of ${this.ranks.world_size})` : ""}`, rows: this.ranks.ranks,
			note: this.app ? "To see another rank's allocations, run memtrace html with its trace." : "",
			data: (row) => ({ rank: rankText(row.rank), allocated: peakOf(row, "allocated") ?? "", reserved: peakOf(row, "reserved") ?? "" }),
			columns: [
				{ title: "rank", value: (row) => row.rank ?? -1, cell: (row) => rankText(row.rank), number: true },
				{ title: "host", value: (row) => row.host, cell: (row) => row.host },
				{ title: "device", value: (row) => this.devices(row), cell: (row) => this.devices(row), wide: true },
				{ ...column("allocated, peak", "allocated"), bar: (row) => allocated(row) / highest },
				{ title: "against the median", value: (row) => allocated(row) - median, cell: (row) => format.signedBytes(allocated(row) - median), number: true },
				column("reserved, peak", "reserved"), column("used, peak", "used"),
				{ title: "free on its GPU", value: (row) => this.left(row) ?? -1, cell: (row) => format.bytes(this.left(row)), number: true },
				{ title: "failed", value: (row) => row.ooms, cell: (row) => format.count(row.ooms), number: true },
				{ title: "ended", value: (row) => row.exit, cell: (row) => row.exit },
				{ title: "trace", value: (row) => row.trace, cell: (row) => row.trace.replace(/.*\//, "") },
			],
		});
	}

	private spreads(): HTMLElement {
		return table({
			caption: "Imbalance: the difference between the ranks' peaks", rows: this.ranks.imbalance, data: (row) => ({ imbalance: row.metric, ratio: row.ratio ?? "" }),
			columns: [
				{ title: "peak of", cell: (row) => row.metric, wide: true },
				{ title: "lowest", cell: (row) => `${format.bytes(row.lowest.bytes)} (rank ${rankText(row.lowest.rank)})`, number: true },
				{ title: "median", cell: (row) => format.bytes(row.median_bytes), number: true },
				{ title: "highest", cell: (row) => `${format.bytes(row.highest.bytes)} (rank ${rankText(row.highest.rank)})`, number: true },
				{ title: "highest to median", cell: (row) => (row.ratio === null ? "-" : `${row.ratio.toFixed(2)}x`), number: true },
			],
		});
	}

	private cards(): HTMLElement {
		return table({
			caption: "GPUs, with all ranks on each", rows: this.ranks.cards, data: (row) => ({ card: row.card, left: row.headroom_bytes ?? "" }),
			columns: [
				{ title: "card", value: (row) => row.name ?? "", cell: (row) => `${row.name ?? "unknown"}${row.uuid === null ? "" : ` (${row.uuid})`}`, wide: true },
				{ title: "host", value: (row) => row.host ?? "", cell: (row) => row.host ?? "-" },
				{ title: "ranks", cell: (row) => row.ranks.map(rankText).join(", ") },
				{ title: "highest use", value: (row) => row.peak_bytes, cell: (row) => format.bytes(row.peak_bytes), number: true },
				{ title: "of", value: (row) => row.total_bytes ?? 0, cell: (row) => format.bytes(row.total_bytes), number: true },
				{ title: "left", value: (row) => row.headroom_bytes ?? 0, cell: (row) => format.bytes(row.headroom_bytes), number: true },
			],
		});
	}

	private sites(): HTMLElement {
		const { app } = this;
		const above = (row: RankSite) => row.allocated.highest_bytes - row.allocated.median_bytes;

		return table({
			caption: "Call sites at the peak of allocated memory: the highest rank against the median", rows: this.ranks.sites, empty: "No rank holds more than the median at a call site.",
			data: (row) => ({ site: row.site, above: above(row) }),
			...(app ? {
				selected: (row: RankSite) => app.query?.text === quoted("site", row.site),
				choose: (row: RankSite) => app.store.set({ query: quoted("site", row.site), by: "site" }),
			} : {}),
			columns: [
				{ title: "above the median", value: above, cell: (row) => h("span", { class: above(row) > 0 ? "worse" : "" }, format.signedBytes(above(row))), number: true },
				{ title: "median", value: (row) => row.allocated.median_bytes, cell: (row) => format.bytes(row.allocated.median_bytes), number: true },
				{ title: "highest", value: (row) => row.allocated.highest_bytes, cell: (row) => format.bytes(row.allocated.highest_bytes), number: true },
				{ title: "by rank", value: (row) => row.allocated.rank ?? -1, cell: (row) => rankText(row.allocated.rank), number: true },
				{ title: "on ranks", value: (row) => row.ranks, cell: (row) => format.count(row.ranks), number: true },
				{ title: "call site", value: (row) => row.site, cell: (row) => row.site, wide: true },
			],
		});
	}
}
