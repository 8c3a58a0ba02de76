// Chooses the frames of a stack that are shown, and hides helper frames, which every such call runs through.

import type { FrameRow } from "./facts";
import type { Trace } from "./model";
import { helpers_native, helpers_python } from "./rows";

// Ranks of frames: enum kin (src/analyse/trace/trace_frames.c).
const OWN = 0;
const FRAMEWORK = 2;
const VENDOR = 3;
const INSIDE = 4;

export type Code = "own" | "framework" | "native";

export const codeTitles: Record<Code, string> = { own: "your code", framework: "Python packages and frameworks", native: "native libraries" };

export function codeOf(frame: FrameRow): Code {
	return frame[5] === OWN ? "own" : frame[4] ? "framework" : "native";
}

const suffix = / \[(?:via )?backward(?:\(\))?\]/;

// Returns a frame's text without the mark that it is in the forward pass or calls backward().
export function plainText(text: string): string {
	return text.replace(suffix, "");
}

// True for a frame of the forward pass whose gradient is computed: frames of the backward pass are below it.
export function isForwardLine(frame: FrameRow): boolean {
	return frame[0].includes(" [backward]");
}

function isHelper(frame: FrameRow): boolean {
	if (frame[4])
		return frame[5] >= FRAMEWORK && helpers_python.includes(plainText(frame[1] ?? "").split(".").pop() ?? "");
	return helpers_native.some((start) => frame[0].startsWith(start));
}

// Returns for each element of stackFrames 1 if the frame is shown. Helper functions of frameworks, frames of every
// allocation, and unnamed addresses that a named function of the same library called are hidden. Of native frames
// inside a framework, the innermost that is no helper is shown, because it names the operation.
export function shownFrames(trace: Trace): Uint8Array {
	const shown = new Uint8Array(trace.stackFrames.length);
	const { frames } = trace.facts;
	const helpers = frames.map(isHelper);

	for (let stack = 0; stack < trace.facts.stacks; stack++) {
		const start = trace.stackStart[stack];
		const end = trace.stackStart[stack + 1];
		const libraries = new Set<string | null>();
		let inside = false; // a native frame of the framework was shown since the last Python frame
		let any = false;

		for (let i = end; i-- > start;) { // outermost first: a name hides the addresses that follow
			const frame = frames[trace.stackFrames[i]];

			if (frame[6] || frame[4] || frame[5] <= 1)
				shown[i] = !frame[6] && helpers[trace.stackFrames[i]] ? 0 : 1;
			else if (frame[5] === VENDOR && !libraries.has(frame[2]))
				shown[i] = 1;
			else if (frame[5] === VENDOR)
				shown[i] = frame[1] === null ? 0 : 1;
			if (!frame[4] && shown[i])
				libraries.add(frame[2]);
		}
		for (let i = start; i < end; i++) { // innermost first
			const frame = frames[trace.stackFrames[i]];

			if (frame[4]) {
				inside = false;
			} else if (frame[5] === INSIDE && !inside && frame[1] !== null && !helpers[trace.stackFrames[i]]) {
				shown[i] = 1;
				inside = true;
			}
			any ||= shown[i] === 1;
		}
		if (!any && end > start) { // shows the innermost with a name, or else the outermost
			let best = start;

			while (best + 1 < end && frames[trace.stackFrames[best]][1] === null)
				best++;
			shown[best] = 1;
		}
	}
	return shown;
}

const known = new WeakMap<Trace, Uint8Array>();

export function shownOf(trace: Trace): Uint8Array {
	const shown = known.get(trace) ?? shownFrames(trace);

	known.set(trace, shown);
	return shown;
}
