// The JSON that a page has for each trace: the report (include/memtrace/report.schema.json) and
// the members that src/render/page/page_facts.c adds to it.

import type { Trace_action, Trace_curve, Trace_peak, Trace_phase } from "./rows";

export interface Sum { peak_bytes: number; peak_t: number | null; exit_bytes: number | null; source?: string }
export interface Device {
	device: number; name: string | null; total_bytes: number;
	allocated: Sum | null; reserved: Sum | null; used: Sum | null;
	cached_at_peak_bytes: number | null; allocations: number; frees: number; ooms: number; retries: number;
}
export interface Part { device: number; pool?: string; owner?: string; allocated: Sum | null; reserved: Sum | null; allocations: number; frees: number }
export interface PeakSite { site: string | null; line: string; bytes: number; count: number; stacks: number }
export interface Peak {
	device: number | null; pool: string | null; metric: string; t: number; bytes: number; unknown_bytes: number;
	sites: PeakSite[]; other_sites: number; other_sites_bytes: number;
	stacks: { stack: number; bytes: number; count: number; frames: string[] }[];
	other_stacks: number; other_stacks_bytes: number;
}
export interface LineRow { name: string; allocations: number; bytes: number; net_bytes: number; peak_bytes: number; live_bytes: number; frees_here: number }
export interface GrowthSite { site: string; space: string; line: string; bytes_per_step: number; bytes: number; rose: number; values: number }
export interface LeakSite { site: string; space: string; line: string; bytes: number; count: number; allocations: number; frees: number }
export interface ShortLivedSite { site: string | null; line: string; lifetime_min_ns: number; count: number; bytes: number; lifetime_sum_ns: number; at_peak_bytes: number }
export interface Failure { seq: number; t: number; device: number | null; bytes: number; allocated: number; reserved: number; api: string | null; error: string | null; line: string; thread: number; stack: number | null }

// An allocation that failed, and its explanation.
export interface Oom { number: number; t: number; device: number | null; size: number; line: string; survived: boolean; text: string[]; free_bytes?: number | null; total_bytes?: number | null }

export interface PhaseCount { bytes: number; count: number }
interface PhasePart { allocated_peak_bytes: number; reserved_peak_bytes: number; allocations: PhaseCount | null; freed: PhaseCount | null; kept: PhaseCount | null }
export interface PhaseRow extends PhasePart {
	name: string; domain: string | null; times: number; total_ns: number; growth_bytes: number;
	devices: (PhasePart & { device: number })[];
}

export interface Report {
	schema: string; trace: string; answer: string;
	process: { pid: number; host: string | null; rank: number; command: string[]; start_time: string; duration_ns: number; exit: string; status: number | null; signal: number | null };
	failures: Failure[];
	ooms: Oom[];
	advice: { rule: string; text: string }[];
	growth: { phase: string | null; steps: number; values: number; sites: GrowthSite[]; other_sites: number };
	devices: Device[]; pools: Part[]; owners: Part[]; peaks: Peak[];
	lines: { by: string; rows: LineRow[] };
	live_at_exit: { bytes: number; sites: { site: string; space: string; bytes: number }[] };
	spaces: { space: string; allocated: Sum | null; allocations: number; frees: number }[];
	phases: PhaseRow[];
	other_phases: number;
	calls: { api: string; calls: number; failed: number; total_ns: number; max_ns: number }[];
	leaks: { bytes: number; count: number; held_bytes: number; suppressed_bytes: number; sites: LeakSite[]; other_sites: number; other_sites_bytes: number };
	short_lived?: { count: number; bytes: number; lifetime_sum_ns: number; at_peak_bytes: number; sites: ShortLivedSite[]; other_sites: number } | null;
	histogram?: { from_bytes: number; count: number; bytes: number; live_count: number; live_bytes: number }[] | null;
	actions?: { kind: string; name: string; count: number; total_ns: number; max_ns: number; bytes: number }[];
	events_recorded: number; events_dropped: number; truncated: boolean; notes: string[];
}

export interface Place { device: number | null; space: string | null; pool: string | null; foreign: boolean; handle: boolean }
export interface Gap { event: number; dropped: number; device: number | null; allocated: number | null; reserved: number | null }
export type Phase = Trace_phase & { name: string };
export type Curve = Omit<Trace_curve, "t"> & { t: number[] };
// A frame: text, function, file or module, line, 1 for Python, rank (0: the user's code), 1 for a name without code.
export type FrameRow = [string, string | null, string | null, number, number, number, number];
// `of`: each stack's group, as an index. `ofBlock`: each block's (-1: none), if blocks of one stack can differ.
export interface Grouping { by: string; title: string; names: string[]; of: (number | null)[]; ofBlock?: Int32Array }

export interface Facts {
	report: Report; name: string; events: number; stacks: number;
	places: Place[]; ops: string[]; threads: { thread: number; name: string | null }[]; apis: (string | null)[]; texts: (string | null)[];
	gaps: Gap[]; frames: FrameRow[]; phases: Phase[]; peaks: Trace_peak[]; timeline: Curve[]; actions: Trace_action[]; groupings: Grouping[];
	phases_left_out?: [number, number]; // number of phases not in the page; ns of the longest of them
	folded?: Folded;
	spans?: SpanFacts;
}

// The kernels, copies and long calls that CUPTI recorded, as src/render/page/page_spans.c writes them.
export interface Track { device: number | null; stream: number | null; thread: number | null }
export interface SpanFacts { count: number; dropped: number; left_out: number; left_out_ns: number; tracks: Track[] }

// Numbers of the events and blocks of a long trace that the page has only in sums.
export interface Folded { events: number; blocks: number; largest: number; slices: number }

export interface DiffRow {
	dimension: string; name: string; space?: string; device?: number | null; why?: string | null;
	file?: string | null; line?: number;
	base: Record<string, number>; head: Record<string, number>; noise: Record<string, number>;
}
export interface Diff {
	sentence: string; unlike: { key: string; base: string; head: string }[];
	totals: { space: string; base: Record<string, number>; head: Record<string, number> }[];
	rows: DiffRow[];
}

// The ranks of a job: include/memtrace/merge.schema.json.
type RankPeak = { peak_bytes: number | null };
export interface RankRow {
	rank: number | null; trace: string; host: string; exit: string; ooms: number;
	devices: { device: number; card: number; allocated: RankPeak; reserved: RankPeak; used: RankPeak }[];
}
export interface RankSite { site: string; ranks: number; allocated: { median_bytes: number; highest_bytes: number; rank: number | null } }
export interface Ranks {
	sentences: string[]; world_size: number | null; ranks: RankRow[];
	imbalance: { metric: string; lowest: { bytes: number; rank: number | null }; median_bytes: number; highest: { bytes: number; rank: number | null }; ratio: number | null }[];
	cards: { card: number; host: string | null; uuid: string | null; name: string | null; total_bytes: number | null; peak_bytes: number; headroom_bytes: number | null; ranks: (number | null)[] }[];
	sites: RankSite[];
}

// Reads the JSON in the element with the id, and removes the element, which is not needed again. Null if there is none.
export function readFacts<T>(id: string): T | null {
	const element = document.getElementById(id);

	if (!element)
		return null;
	const value = JSON.parse(element.textContent ?? "null") as T;

	element.remove();
	return value;
}
