// Prints TypeScript interfaces for the objects of a trace, and the helper functions of frameworks that
// frame_kinds.def in the same folder lists: node rows.mjs TRACE.DEF.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROW = /^\t(ROW|WORD|OBJECT|LIST|MANY)\(([^)]*)\)/;
const TYPES = {
	TEXT: "string", VALUE: "number | string", U64: "number", OPTIONAL: "number", U32: "number", POSITION: "number",
	I64: "number", INT: "number", BOOL: "boolean", HEX: "string", TEXTS: "string", U64S: "number | null", U32S: "number",
	PAIRS: "Record<string, string | null>", COUNTS: "Record<string, number>",
};
// Kinds of members whose value may be null.
const NULLABLE = new Set(["TEXT", "OPTIONAL", "POSITION", "INT"]);
const MAYBE = new Set(["SOME", "WITH", "OTHERWISE"]); // members that an object may lack
const UNKNOWN = new Set(["FULL", "OR_NULL"]); // objects that are null if unknown

function member(macro, words) {
	const key = words[1];
	const name = MAYBE.has(words.at(-1)) ? `${key}?` : key;

	switch (macro) {
	case "WORD": return `\t${words[1]}: string;`;
	case "OBJECT": return `\t${name}: Trace_${words[0]}${UNKNOWN.has(words.at(-1)) ? " | null" : ""};`;
	case "LIST": return `\t${name}: Trace_${words[0]}[];`;
	case "MANY": return `\t${name}: (${TYPES[words[0]]})[];`;
	default: return `\t${name}: ${TYPES[words[0]]}${NULLABLE.has(words[0]) && !name.endsWith("?") ? " | null" : ""};`;
	}
}

console.log("// Made from src/facts/trace.def, whose comments explain each member.");
for (const line of readFileSync(process.argv[2], "utf8").split("\n")) {
	const begins = line.match(/^BEGIN\((\w+)\)/);
	const row = line.match(ROW);

	if (begins)
		console.log(`export interface Trace_${begins[1]} {`);
	else if (line.startsWith("END("))
		console.log("}");
	else if (row)
		console.log(member(row[1], row[2].split(",").map((word) => word.trim())));
}

const kinds = readFileSync(join(dirname(process.argv[2]), "frame_kinds.def"), "utf8");

for (const list of ["NATIVE", "PYTHON"]) {
	const names = [...kinds.matchAll(new RegExp(`^${list}\\("(.*)"\\)`, "gm"))].map((row) => row[1]);

	console.log(`export const helpers_${list.toLowerCase()}: string[] = ${JSON.stringify(names)};`);
}
