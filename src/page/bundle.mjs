// Joins page.html, the bundled program and the styles in one file: node bundle.mjs OUTPUT.
//
// The page's content security policy allows only the script and the style whose hashes it has, so that no text of a
// trace could run as a program, even if it ended the element that it is in.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const output = resolve(process.argv[2]);

async function bundle(entry) {
	const result = await build({
		absWorkingDir: here,
		entryPoints: [entry],
		bundle: true,
		minify: true,
		write: false,
		format: "iife",
		target: ["chrome111", "firefox115", "safari16.4"],
		charset: "ascii",
		legalComments: "inline",
		logLevel: "error",
	});
	const text = result.outputFiles[0].text.trim();

	if (/<\/(script|style)/i.test(text))
		throw new Error(`${entry}: would end its own element`);
	return text;
}

function hash(text) {
	return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

const program = await bundle("main.ts");
const styles = await bundle("page.css");
const policy = [
	"default-src 'none'",
	`script-src ${hash(program)}`,
	`style-src ${hash(styles)}`,
	"img-src data:",
	"base-uri 'none'",
	"form-action 'none'",
].join("; ");
const page = readFileSync(join(here, "page.html"), "utf8")
	.replace("<!--policy-->", () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
	.replace("<!--styles-->", () => `<style>${styles}</style>`)
	.replace("<!--program-->", () => `<script>${program}</script>`);

writeFileSync(output, page);
