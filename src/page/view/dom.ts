// Makes elements with text in them; no text of a trace is ever parsed as HTML.

export type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === "function")
			element.addEventListener(name, value as EventListener);
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? "" : String(value));
	}
	for (const child of children) {
		if (child !== null && child !== undefined && child !== false)
			element.append(child instanceof Node ? child : String(child));
	}
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
	const element = document.createElement(tag);

	fill(element, attributes, children);
	return element;
}

export function button(label: Child, title: string, click: () => void, attributes: Attributes = {}): HTMLButtonElement {
	return h("button", { type: "button", title, click, ...attributes }, label);
}

export interface Choice { value: string; label: string }

export function select(label: string, choices: Choice[], value: string, change: (value: string) => void): HTMLLabelElement {
	const list = h("select", { change: () => change(list.value), "aria-label": label },
		...choices.map((choice) => h("option", { value: choice.value, selected: choice.value === value }, choice.label)));

	return h("label", { class: "choice" }, h("span", {}, label), list);
}

// Cuts a text after `most` characters: its start is more useful than its end.
export function cut(text: string, most: number): string {
	return text.length > most ? `${text.slice(0, Math.max(most - 3, 1))}...` : text;
}

// Cuts a text in its middle, because related names differ at their ends.
export function cutMiddle(text: string, most: number): string {
	const end = Math.floor((most - 3) * 0.6);

	return text.length > most ? `${text.slice(0, most - 3 - end)}...${text.slice(-end)}` : text;
}

// Cuts a text to a width in a canvas, measured in the canvas's font.
export function fit(context: CanvasRenderingContext2D, text: string, width: number): string {
	const whole = context.measureText(text).width;
	let most = Math.floor((text.length * width) / whole);

	if (whole <= width)
		return text;
	while (most > 1 && context.measureText(cut(text, most)).width > width)
		most--;
	return cut(text, most);
}

// Gives a canvas the resolution of the screen. The returned context draws in CSS pixels.
export function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
	const ratio = Math.min(window.devicePixelRatio || 1, 2);
	const context = canvas.getContext("2d") as CanvasRenderingContext2D;

	canvas.width = Math.max(1, Math.round(width * ratio));
	canvas.height = Math.max(1, Math.round(height * ratio));
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}
