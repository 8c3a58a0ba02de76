// A call stack as a list: Python frames first, helper frames folded, and a button that copies all frames.

import type { App } from "./app";
import { button, h } from "./dom";
import type { FrameRow } from "../model/facts";
import * as format from "./format";
import { codeOf, isForwardLine, plainText, shownOf } from "../model/frames";

function whereOf(frame: FrameRow): string {
	return frame[2] ? `${frame[2]}${frame[3] ? `:${frame[3]}` : ""}` : "";
}

export function stackText(app: App, stack: number): string {
	const { trace } = app;
	const rows: string[] = [];

	for (let i = 0; i < trace.depth(stack); i++) {
		const frame = trace.facts.frames[trace.frameOfStack(stack, i)];

		rows.push(`${frame[1] ?? frame[0]}  ${whereOf(frame)}`.trimEnd());
	}
	return rows.join("\n");
}

// Copies a text. A page that is a local file may not use the clipboard API: execCommand() is the fallback.
export async function copyText(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const area = h("textarea", { "aria-hidden": "true", class: "copied" });

		area.value = text;
		document.body.append(area);
		area.select();
		const done = document.execCommand("copy");

		area.remove();
		return done;
	}
}

export function copyButton(text: () => string, title: string): HTMLButtonElement {
	const element: HTMLButtonElement = button("Copy", title, () => void copyText(text()).then((done) => { element.textContent = done ? "Copied" : "Copying is not allowed here"; }), { class: "small" });

	return element;
}

function frameItem(frame: FrameRow): HTMLElement {
	const name = plainText(frame[1] ?? frame[0]);

	return h("li", { class: `frame ${codeOf(frame)}` }, h("span", { class: "function" }, name), isForwardLine(frame) ? h("span", { class: "dim" }, " (forward line)") : "",
		h("span", { class: "dim where" }, whereOf(frame)));
}

// The frames that are `wanted`, innermost first. A run of helper frames is a button that shows them.
function section(app: App, stack: number, title: string, wanted: (frame: FrameRow) => boolean): HTMLElement | null {
	const { trace } = app;
	const shown = shownOf(trace);
	const list = h("ol", { class: "frames" });
	let folded: FrameRow[] = [];
	let any = false;
	const flush = () => {
		const frames = folded;

		if (!frames.length)
			return;
		const item = h("li", { class: "folded" }, h("button", { type: "button", class: "small", "aria-expanded": "false", click: () => item.replaceWith(...frames.map(frameItem)) }, `${format.plural(frames.length, "frame")} of helper functions`));

		list.append(item);
		folded = [];
	};

	for (let i = 0; i < trace.depth(stack); i++) {
		const frame = trace.facts.frames[trace.frameOfStack(stack, i)];

		if (!wanted(frame))
			continue;
		any = true;
		if (!shown[trace.stackStart[stack] + i]) {
			folded.push(frame);
			continue;
		}
		flush();
		list.append(frameItem(frame));
	}
	flush();
	return any ? h("div", {}, h("h4", {}, title), list) : null;
}

export function stackView(app: App, stack: number, title: string): HTMLElement {
	if (stack < 0)
		return h("section", { class: "stack" }, h("h3", {}, title), h("p", { class: "dim" }, "No stack was recorded."));
	const parts = [section(app, stack, "Python", (frame) => frame[4] === 1), section(app, stack, "Native", (frame) => frame[4] !== 1)];

	return h("section", { class: "stack", "data-frames": app.trace.depth(stack) }, h("div", { class: "head" }, h("h3", {}, title), copyButton(() => stackText(app, stack), "Copy all frames, innermost first")),
		...parts.filter((part): part is HTMLElement => part !== null));
}
