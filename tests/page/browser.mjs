// Pages in Debian's Chromium, and what every test asks of them.
//
// A test prints "ok<TAB>NAME" or "not ok<TAB>NAME<TAB>WHY", one a line: tests/e2e/report/page.sh makes TAP
// of it. PAGE_MODULES is the folder in which npm put playwright-core.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(`${process.env.PAGE_MODULES}/`)("playwright-core");
const switches = [
	"--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
];

export function check(name, passed, why = "") {
	const line = (text) => String(text).replace(/[\t\n]/g, " ");

	console.log(passed ? `ok\t${line(name)}` : `not ok\t${line(name)}\t${line(why).slice(0, 2000)}`);
}

export function same(name, got, wanted) {
	const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];

	check(name, a === b, `got ${a}, wanted ${b}`);
}

export async function openBrowser() {
	return chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: switches, timeout: 120000 });
}

// A page of the file, ready, with what went wrong in it so far.
export async function openPage(browser, file, hash = "", options = {}) {
	const context = await browser.newContext({ viewport: { width: 1300, height: 1500 }, ...options });
	const page = await context.newPage();
	const troubles = [];

	page.setDefaultTimeout(60000);
	page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(`console: ${message.text()}`));
	page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
	page.on("dialog", (dialog) => { troubles.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
	await context.route("**/*", (route) => {
		if (route.request().url().startsWith("file:") && route.request().isNavigationRequest())
			return route.continue();
		troubles.push(`request: ${route.request().url().slice(0, 200)}`);
		return route.abort();
	});
	await page.goto(pathToFileURL(file).href + hash);
	await page.waitForSelector("#page[data-ready]");
	return { page, troubles, close: () => context.close() };
}

// Two frames later all views have drawn what was asked for, except a map that is stretched while somebody zooms.
export async function settled(page) {
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)))));
	await page.waitForSelector("[data-stretched]", { state: "detached" });
}

export async function press(page, key) {
	await page.keyboard.press(key);
	await settled(page);
}

export async function view(page, id) {
	await page.click(`#tab-${id}`);
	await settled(page);
}

export async function choose(page, label, value) {
	await page.selectOption(`select[aria-label="${label}"]`, value);
	await settled(page);
}

export async function find(page, text) {
	await page.fill("input.search", text);
	await page.waitForFunction((wanted) => (new URLSearchParams(location.hash.slice(1)).get("q") ?? "") === wanted, text);
	await page.evaluate(() => document.activeElement?.blur());
	await settled(page);
}

// The event at the cursor.
export async function cursor(page) {
	return Number((await data(page, ".cursorbar"))[0].event);
}

// What axe-core finds wrong with how a page can be read and operated, of those that are serious.
export async function seriousFaults(page) {
	await page.evaluate(readFileSync(`${process.env.PAGE_MODULES}/node_modules/axe-core/axe.min.js`, "utf8"));
	const found = await page.evaluate(() => window.axe.run());

	return found.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`);
}

export function link(page) {
	return page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
}

export function data(page, selector) {
	return page.$$eval(selector, (elements) => elements.map((element) => ({ ...element.dataset })));
}
