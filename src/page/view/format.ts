// Formats numbers as src/render/values/values.c does, so that a page and a report agree.

const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export function bytes(value: number | null | undefined): string {
	if (value === null || value === undefined || Number.isNaN(value))
		return "-";
	if (value < 0)
		return `-${bytes(-value)}`;
	if (value < 1024)
		return `${value} B`;
	let unit = 0;
	let scaled = value / 1024;

	for (; scaled >= 1023.995 && unit < 5; unit++)
		scaled /= 1024;
	return `${scaled.toFixed(2)} ${units[unit]}`;
}

// Formats the label of an axis, whose values are round numbers.
export function roundBytes(value: number): string {
	return bytes(value).replace(".00 ", " ");
}

export function signedBytes(value: number): string {
	return value > 0 ? `+${bytes(value)}` : bytes(value);
}

export function count(value: number | null | undefined): string {
	return value === null || value === undefined ? "-" : Math.round(value).toLocaleString("en-US");
}

export function plural(value: number, noun: string): string {
	return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

export function share(part: number, whole: number): string {
	return whole > 0 ? `${((100 * part) / whole).toFixed(1)}%` : "-";
}

// Formats a duration in ns.
export function time(ns: number | null | undefined): string {
	if (ns === null || ns === undefined)
		return "-";
	if (ns < 0)
		return `-${time(-ns)}`;
	if (ns < 1000)
		return `${Math.round(ns)} ns`;
	if (ns < 999950)
		return `${(ns / 1e3).toFixed(1)} us`;
	if (ns < 999950000)
		return `${(ns / 1e6).toFixed(1)} ms`;
	if (ns < 59950000000)
		return `${(ns / 1e9).toFixed(1)} s`;
	const seconds = Math.floor(ns / 1e9);
	const two = (value: number) => String(value).padStart(2, "0");

	return seconds < 3600
		? `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`
		: `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} min`;
}

// Formats a time in ns with enough digits to differ from other times within `span` ns.
export function moment(ns: number, span = 0): string {
	const digits = span > 0 ? Math.min(9, Math.max(1, Math.ceil(-Math.log10(span / 1e9 / 1000)))) : 6;

	return `${(ns / 1e9).toFixed(digits)} s`;
}

export function address(value: number): string {
	return `0x${value.toString(16)}`;
}
