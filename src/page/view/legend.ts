// The legend of colours.

import type { App } from "./app";
import { h } from "./dom";
import { colour, COLOURS } from "./palette";

export function swatch(colour: string, dashed = false): HTMLElement {
	const element = h("i", { class: dashed ? "swatch dashed" : "swatch", "aria-hidden": "true" });

	element.style.background = dashed ? `repeating-linear-gradient(90deg, ${colour} 0 3px, transparent 3px 5px)` : colour;
	return element;
}

// Returns the groups that have a colour of their own, those with most bytes times lifetime first.
export function groupKeys(app: App): HTMLElement[] {
	const named = [...app.rankOfGroup.entries()].filter(([, rank]) => rank < COLOURS).sort((a, b) => a[1] - b[1]);
	const key = (stroke: string, name: string) => h("span", { class: "key", title: name }, swatch(stroke), h("span", { class: "name" }, name));

	return [
		...named.map(([group, rank]) => key(colour(rank, app.theme.dark), app.grouping.names[group])),
		...(app.hasOtherGroups ? [key(app.theme.other, "all other groups")] : []),
	];
}
