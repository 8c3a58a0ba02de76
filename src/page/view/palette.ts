// Colours that can be told apart with any colour vision (by Okabe and Ito, and Tol), on light and dark.

const light = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b3a100", "#7b5aa6", "#44aa99", "#aa4466",
	"#7fa8c9", "#8a5a00", "#7fc9a4", "#8b4a75", "#1f5f8b", "#f0a58a", "#6b6200", "#bda7d9", "#1f6f66", "#e39ab0"];
const dark = ["#3f9bd8", "#e8a62c", "#1fb58c", "#d88fb8", "#7cc6f0", "#e8743a", "#d6c84a", "#a48bd0", "#66c9ba", "#d0708f",
	"#2a6f9e", "#a87a1e", "#12805f", "#9c5f85", "#a8d8f5", "#a84f24", "#968c2a", "#73609a", "#3f8f83", "#eba0b6"];

export const COLOURS = light.length;

export interface Theme {
	dark: boolean;
	text: string; dim: string; grid: string; back: string; panel: string; other: string; rest: string;
	accent: string; pin: string; match: string; matchText: string; bad: string; allocated: string; reserved: string; used: string; second: string;
	worse: string; better: string; own: string[]; framework: string[]; native: string[]; backward: string;
}

const lightTheme: Theme = {
	dark: false, text: "#1b2128", dim: "#5b6570", grid: "#e3e7eb", back: "#ffffff", panel: "#f5f7f9", other: "#a9b1ba", rest: "#c9cfd6",
	accent: "#c2410c", pin: "#6d28d9", bad: "#b42318", allocated: "#0072b2", reserved: "#7f8a96", used: "#8a5a00", second: "#0f766e",
	match: "#b5006e", matchText: "#ffffff",
	worse: "#e8835a", better: "#5aa9d6",
	own: ["#8bc7a8", "#9cd1b6", "#7abd9b"], framework: ["#a9cdea", "#bad7ef", "#98c2e4"], native: ["#f2cf8c", "#f5d9a3", "#edc478"], backward: "#c9b3e6",
};

const darkTheme: Theme = {
	dark: true, text: "#e6eaee", dim: "#9aa5b1", grid: "#2b333c", back: "#12161b", panel: "#1a2027", other: "#66707b", rest: "#3c4650",
	accent: "#ff9457", pin: "#b79cff", bad: "#ff7a6b", allocated: "#5fb4ee", reserved: "#8b96a2", used: "#e0ac3e", second: "#2dd4bf",
	match: "#ff7ac8", matchText: "#12161b",
	worse: "#b3502a", better: "#2a6f9e",
	own: ["#23694a", "#1d5c40", "#2a7654"], framework: ["#2c5f86", "#265476", "#336b95"], native: ["#7d5a1c", "#6e4f18", "#8b6522"], backward: "#604a86",
};

export function theme(isDark: boolean): Theme {
	return isDark ? darkTheme : lightTheme;
}

// Returns the colour of a group by its rank. Groups after the last colour share one; two colours can look alike if the
// ranks differ by ten or more.
export function colour(rank: number, isDark: boolean): string {
	return rank >= 0 && rank < COLOURS ? (isDark ? dark : light)[rank] : theme(isDark).other;
}

// Returns a colour between two of the form "#rrggbb"; `part` is 0 for the first, 1 for the second.
export function mixed(from: string, to: string, part: number): string {
	const at = (hex: string, i: number) => parseInt(hex.slice(i, i + 2), 16);

	return `#${[1, 3, 5].map((i) => Math.round(at(from, i) + (at(to, i) - at(from, i)) * part).toString(16).padStart(2, "0")).join("")}`;
}

// Returns "#rrggbb" as a pixel of ImageData, with `shift` (-255 to 255) added to red, green and blue.
export function packed(hex: string, shift = 0): number {
	const part = (at: number) => Math.min(255, Math.max(0, parseInt(hex.slice(at, at + 2), 16) + shift));

	return ((255 << 24) | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0;
}
