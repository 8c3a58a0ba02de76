// Finds the blocks for which all words of a query are true.
//
//   forward train.py          text in a frame, call site or owner
//   size>1M life<10ms         also >=, <=, =; B K M G T (of 1024) and ns us ms s min
//   live                      never freed
//   site:"f (x.py)" line:...  in the group of this name; a click on a table's row makes such a word

import { groupingBy } from "./groupings";
import { Kind, NEVER, type Trace } from "./model";

type Test = (block: number) => boolean;

export interface Query {
	text: string;
	wrong: string | null; // message on a word that is not understood, null if there is none
	matches: Uint8Array; // for each block, 1 if all words are true of it
	stacks: Uint8Array; // for each stack, 1 if its texts match
	frames: Uint8Array; // for each frame, 1 if its text matches
	count: number;
	bytes: number;
	hasText: boolean;
}

interface Word { key: string | null; relation: string; value: string }

const scales: Record<string, number> = {
	"": 1, b: 1, k: 1024, kb: 1024, kib: 1024, m: 1024 ** 2, mb: 1024 ** 2, mib: 1024 ** 2,
	g: 1024 ** 3, gb: 1024 ** 3, gib: 1024 ** 3, t: 1024 ** 4, tb: 1024 ** 4, tib: 1024 ** 4,
};
const times: Record<string, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9 };

function split(text: string): Word[] {
	const pattern = /(?:([a-z]+)(:|<=|>=|<|>|=))?(?:"((?:[^"\\]|\\.)*)"?|([^\s"]+))/giy;
	const words: Word[] = [];
	let at = 0;

	while (at < text.length) {
		if (/\s/.test(text[at])) {
			at++;
			continue;
		}
		pattern.lastIndex = at;
		const found = pattern.exec(text);

		if (!found) { // no value yet: the user is typing
			at++;
			continue;
		}
		at = pattern.lastIndex;
		words.push({
			key: found[1]?.toLowerCase() ?? null,
			relation: found[2] ?? "",
			value: found[3] !== undefined ? found[3].replace(/\\(.)/g, "$1") : found[4],
		});
	}
	return words;
}

export function quoted(by: string, name: string): string {
	return `${by}:"${name.replace(/[\\"]/g, "\\$&")}"`;
}

function quantity(value: string, unitsOf: Record<string, number>): number {
	const found = /^([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)$/i.exec(value);
	const scale = found ? unitsOf[found[2].toLowerCase()] : undefined;

	return found && scale ? Number(found[1]) * scale : NaN;
}

function relate(relation: string, a: number, b: number): boolean {
	switch (relation) {
	case "<": return a < b;
	case ">": return a > b;
	case "<=": return a <= b;
	case ">=": return a >= b;
	default: return a === b;
	}
}

function textTest(trace: Trace, query: Query, value: string): Test {
	const wanted = value.toLowerCase();
	const has = (text: string | null) => text !== null && text.toLowerCase().includes(wanted);
	const frames = trace.facts.frames.map((frame) => has(frame[0]) || has(frame[1]) || has(frame[2]));
	const groupings = trace.facts.groupings.filter((grouping) => grouping.by !== "category");
	const groups = groupings.map((grouping) => grouping.names.map(has));
	const stacks = new Uint8Array(trace.facts.stacks);

	frames.forEach((matches, frame) => { query.frames[frame] |= matches ? 1 : 0; });
	for (let stack = 0; stack < stacks.length; stack++) {
		let found = groupings.some((grouping, i) => {
			const group = grouping.of[stack];

			return group !== null && groups[i][group];
		});

		for (let i = trace.stackStart[stack]; !found && i < trace.stackStart[stack + 1]; i++)
			found = frames[trace.stackFrames[i]];
		stacks[stack] = found ? 1 : 0;
		query.stacks[stack] &= stacks[stack];
	}
	query.hasText = true;
	return (block) => trace.blocks.stack[block] >= 0 && stacks[trace.blocks.stack[block]] === 1;
}

function groupTest(trace: Trace, query: Query, key: string, value: string): Test | null {
	const grouping = groupingBy(trace, key);

	if (!grouping)
		return null;
	const groups = grouping.names.map((name) => name === value);

	const { ofBlock } = grouping;

	if (ofBlock)
		return (block) => ofBlock[block] >= 0 && groups[ofBlock[block]];
	const of = Uint8Array.from(grouping.of, (group) => (group !== null && groups[group] ? 1 : 0));

	of.forEach((matches, stack) => { query.stacks[stack] &= matches; });
	query.hasText = true;
	return (block) => trace.blocks.stack[block] >= 0 && of[trace.blocks.stack[block]] === 1;
}

function wordTest(trace: Trace, query: Query, word: Word): Test | null {
	const { blocks, events, facts } = trace;

	if (word.key === null)
		return word.value.toLowerCase() === "live" ? (block) => !trace.isFold(block) && blocks.died[block] === NEVER : textTest(trace, query, word.value);
	if (word.key === "size") {
		const size = quantity(word.value, scales);

		return Number.isNaN(size) ? null : (block) => !trace.isFold(block) && relate(word.relation, blocks.size[block], size);
	}
	if (word.key === "life") {
		const life = quantity(word.value, times);

		return Number.isNaN(life) ? null : (block) => !trace.isFold(block) && relate(word.relation, trace.lifetime(block) ?? Infinity, life);
	}
	if (word.key === "thread") {
		const threads = facts.threads.map((thread) => String(thread.thread) === word.value || thread.name === word.value);

		return (block) => threads[events.thread[blocks.born[block]]] === true;
	}
	if (word.key === "pool")
		return (block) => facts.places[blocks.place[block]].pool === word.value;
	return groupTest(trace, query, word.key, word.value);
}

export function runQuery(trace: Trace, text: string): Query | null {
	const words = split(text);
	const { blocks } = trace;
	const query: Query = {
		text, wrong: null, matches: new Uint8Array(blocks.count), stacks: new Uint8Array(trace.facts.stacks).fill(1),
		frames: new Uint8Array(trace.facts.frames.length), count: 0, bytes: 0, hasText: false,
	};

	if (!words.length)
		return null;
	const tests: Test[] = [];

	for (const word of words) {
		const test = wordTest(trace, query, word);

		if (!test)
			query.wrong = `${word.key}${word.relation}${word.value} is not understood`;
		else
			tests.push(test);
	}
	if (query.wrong)
		return query;
	for (let block = 0; block < blocks.count; block++) {
		if (blocks.kind[block] !== Kind.Block || !tests.every((test) => test(block)))
			continue;
		query.matches[block] = 1;
		query.count += trace.isFold(block) ? 0 : 1; // a fold has blocks of the fold before it, which are counted already
		query.bytes += trace.isFold(block) ? 0 : blocks.size[block];
	}
	return query;
}
