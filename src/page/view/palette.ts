// Colours that can be told apart with any colour vision (by Okabe and Ito, and Tol), on light and dark.

const light = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b3a100", "#7b5aa6", "#44aa99", "#aa4466"];
const dark = ["#3f9bd8", "#e8a62c", "#1fb58c", "#d88fb8", "#7cc6f0", "#e8743a", "#d6c84a", "#a48bd0", "#66c9ba", "#d0708f"];

export const COLOURS = light.length;

export interface Theme {
	dark: boolean;
	text: string; dim: string; grid: string; back: string; panel: string; other: string; rest: string;
	accent: string; pin: string; bad: string; allocated: string; reserved: string; used: string; second: string;
	python: string[]; native: string[];
}

const lightTheme: Theme = {
	dark: false, text: "#1b2128", dim: "#5b6570", grid: "#e3e7eb", back: "#ffffff", panel: "#f5f7f9", other: "#a9b1ba", rest: "#c9cfd6",
	accent: "#c2410c", pin: "#6d28d9", bad: "#b42318", allocated: "#0072b2", reserved: "#7f8a96", used: "#c98a00", second: "#c2410c",
	python: ["#9fcbe8", "#8bbfe2", "#b4d6ee", "#7ab3da"], native: ["#f2c879", "#eebb5c", "#f5d391", "#e7ae49"],
};

const darkTheme: Theme = {
	dark: true, text: "#e6eaee", dim: "#9aa5b1", grid: "#2b333c", back: "#12161b", panel: "#1a2027", other: "#66707b", rest: "#3c4650",
	accent: "#ff9457", pin: "#b79cff", bad: "#ff7a6b", allocated: "#5fb4ee", reserved: "#8b96a2", used: "#e0ac3e", second: "#ff9457",
	python: ["#2f6a92", "#285d82", "#3877a2", "#22536f"], native: ["#8a6420", "#7a581b", "#9a7127", "#6c4d16"],
};

export function theme(isDark: boolean): Theme {
	return isDark ? darkTheme : lightTheme;
}

// The colour of a group by its rank; groups ranked after the last colour share one.
export function colour(rank: number, isDark: boolean): string {
	return rank >= 0 && rank < COLOURS ? (isDark ? dark : light)[rank] : theme(isDark).other;
}

// "#rrggbb" as a pixel of ImageData, with `shift` (-255 to 255) added to each part.
export function packed(hex: string, shift = 0): number {
	const part = (at: number) => Math.min(255, Math.max(0, parseInt(hex.slice(at, at + 2), 16) + shift));

	return ((255 << 24) | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0;
}
