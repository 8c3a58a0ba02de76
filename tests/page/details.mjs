// What is behind a click: the details of an allocation, a frame, a segment, a row; findings; flame graphs; events;
// fingers and keys instead of a pointer. details.mjs FOLDER
import { readFileSync } from "node:fs";
import { check, choose, cursor, data, find, link, openBrowser, openPage, press, same, seriousFaults, settled, view } from "./browser.mjs";

const [folder] = process.argv.slice(2);
const browser = await openBrowser();
const trace = JSON.parse(readFileSync(`${folder}/cupti.json`, "utf8"));
const panel = ".details";
const shown = (page) => page.isVisible(panel);

// A place on the map: parts of its width and height.
async function place(page, x, y) {
	const box = await page.locator(".chart .u-over").boundingBox();

	return [box.x + box.width * x, box.y + box.height * y];
}

async function testFirstScreen() {
	for (const [width, height] of [[1280, 720], [1440, 900]]) {
		for (const name of ["train", "cupti", "oom"]) {
			const { page, close } = await openPage(browser, `${folder}/${name}.html`, "", { viewport: { width, height } });
			const bottom = async (selector) => page.$eval(selector, (element) => element.getBoundingClientRect().bottom);
			const chart = await page.locator(".chart").boundingBox();

			check(`${name} at ${width}x${height}: the picture and its legend are on the first screen`, (await bottom(".legend.groups")) < height && chart.y + chart.height <= height, `${chart.y} + ${chart.height}`);
			check(`${name} at ${width}x${height}: the picture takes most of the height`, chart.height >= 0.6 * height, String(chart.height));
			await close();
		}
	}
}

async function testBlock(page) {
	await page.mouse.click(...await place(page, 0.5, 0.9));
	await settled(page);
	const text = await page.textContent(panel);
	const block = Number((await link(page)).block);

	check("a click on an allocation shows its details", (await shown(page)) && ["size", "lived", "phase", "category", "thread", "running then", "Allocated by"].every((word) => text.includes(word)), text);
	check("with all frames of its stack", Number((await data(page, `${panel} .stack`))[0].frames) > 10);
	const titles = await page.$$eval(`${panel} .stack h4`, (list) => list.map((element) => element.textContent));

	same("Python first", titles.slice(0, 2), ["Python", "Native"]);
	const frames = () => page.$$eval(`${panel} .stack >> nth=0`, () => 0).then(() => page.$$eval(`${panel} .stack .frame`, (list) => list.length));
	const before = await frames();

	await page.click(`${panel} .folded button >> nth=0`);
	check("a click unfolds plumbing", (await frames()) > before);
	await page.context().grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
	await page.click(`${panel} .stack button:text-is('Copy') >> nth=0`);
	await page.waitForFunction(() => [...document.querySelectorAll(".details .stack button")].some((element) => element.textContent === "Copied"));
	check("the stack can be copied", true);
	const { page: again, close } = await openPage(browser, `${folder}/cupti.html`, `#block=${block}`);

	same("a link leads to the same allocation", await again.textContent(`${panel} h2`), await page.textContent(`${panel} h2`));
	await close();
	await page.click(`${panel} button:text-is('All of this site')`);
	await settled(page);
	check("all of its call site", (await link(page)).q.startsWith("site:") && Number((await data(page, "[data-matches]"))[0].matches) > 0);
	await find(page, "");
	await page.click(`${panel} button:text-is('Flame graph')`);
	await page.waitForTimeout(200);
	check("its place in the flame graph", (await link(page)).view === undefined && !(await page.textContent(".flame .caption")).startsWith("All that"));
	await page.click(`${panel} button:text-is('Events')`);
	await page.waitForTimeout(200);
	same("and among the events", [(await link(page)).view, Number((await data(page, "tr[aria-selected=true]"))[0].event)], ["events", await cursor(page)]);
	await press(page, "Escape");
	check("Escape closes the details", !(await shown(page)) && (await link(page)).block === undefined);
}

async function testKeys(page) {
	await view(page, "flame");
	await page.focus(".chart");
	await press(page, "k");
	await press(page, "ArrowUp");
	const first = (await link(page)).block;

	check("the up arrow chooses an allocation at the cursor", first !== undefined && (await shown(page)));
	await press(page, "ArrowUp");
	check("and the next", (await link(page)).block !== first);
	await press(page, "ArrowDown");
	same("and down again", (await link(page)).block, first);
	await press(page, "Enter");
	same("Enter goes to the details", await page.evaluate(() => document.activeElement?.tagName), "H2");
	await press(page, "Escape");
	check("Escape leads back to the picture", await page.evaluate(() => document.activeElement?.classList.contains("chart")));
	await page.click(".cursorbar button:text-is('Details')");
	await page.waitForTimeout(100);
	check("the allocation of the event at the cursor", await shown(page));
	await press(page, "Escape");
}

async function testColours(page) {
	same("colours are categories where they are known", await page.inputValue('select[aria-label="Colour by"]'), "category");
	for (const by of ["phase", "thread", "stack", "block", "line", "category"]) {
		await choose(page, "Colour by", by);
		check(`colours by ${by}`, Number((await data(page, ".chart"))[0].drawn) > 100);
	}
	const key = ".groups [data-group=activations]";

	await page.click(key);
	await settled(page);
	check("a key of the legend marks its allocations", (await link(page)).q === 'category:"activations"' && Number((await data(page, "[data-matches]"))[0].matches) > 0);
	await page.click(key);
	await settled(page);
	same("and again all", (await link(page)).q, undefined);
}

async function testFlame(page) {
	await view(page, "flame");
	const total = async () => Number((await data(page, ".flame"))[0].total);
	const all = await total();
	const caption = () => page.textContent(".flame .caption");

	await page.focus(".flame canvas");
	await press(page, "Escape");
	const first = async () => {
		await page.focus(".flame canvas");
		await press(page, "ArrowDown");
		return caption();
	};

	check("one tree holds forward and backward", (await first()).startsWith("<module> (changes.py:97): "), await caption());
	await choose(page, "Tree", "inverted");
	check("inverted, what allocated comes first", /cublas|at::|Workspace/.test(await first()), await caption());
	await choose(page, "Tree", "callers");
	await choose(page, "A frame is", "function");
	check("functions have no lines", (await first()).startsWith("<module>: "), await caption());
	await choose(page, "A frame is", "line");
	for (const by of ["category", "thread"]) {
		await choose(page, "Split by", by);
		const names = by === "category" ? ["workspaces"] : trace.threads.map((thread) => thread.name ?? `thread ${thread.thread}`);
		const top = await first();

		check(`split by ${by}`, names.some((name) => top.startsWith(`${name}: `)), top);
		same(`the sum stays, by ${by}`, await total(), all);
	}
	await choose(page, "Split by", "");
	await find(page, "compute_loss");
	const matched = Number((await data(page, ".flame"))[0].matched);

	check("the search's total is of what is shown", matched > 0 && matched < all && (await caption()).includes("the search matches"), await caption());
	await find(page, "");
	check("three kinds of code have colours", (await page.textContent(".flame .legend")).includes("your code"));
}

async function testSegments(page) {
	await view(page, "segments");
	const canvas = page.locator("#panel canvas").first();

	await canvas.click({ position: { x: 60, y: 10 } });
	await settled(page);
	check("a click on a segment says what holds it open", (await page.textContent(panel)).includes("Kept reserved by"), await page.textContent(panel));
	await page.click(`${panel} .stack li button >> nth=0`);
	await settled(page);
	check("from there to an allocation", (await link(page)).block !== undefined);
	await press(page, "Escape");
	await canvas.focus();
	await press(page, "ArrowRight");
	check("keys reach the allocations in segments", (await link(page)).block !== undefined);
	await press(page, "ArrowDown");
	check("and the segments", (await page.textContent(`${panel} h2`)).startsWith("Segment of "));
	await press(page, "Enter");
	await press(page, "Escape");
	check("and leave them", !(await shown(page)));
}

async function testEvents(page) {
	await view(page, "events");
	await press(page, "k");
	const at = await cursor(page);
	const rows = (await data(page, "#panel tr[data-event]")).map((row) => Number(row.event));

	check("the events around the cursor", rows.includes(at) && rows.includes(at - 1) && rows.includes(at + 1), rows.join(" "));
	await page.click(`#panel tr[data-event="${at + 1}"]`);
	await settled(page);
	same("a row moves the cursor", await cursor(page), at + 1);
	await press(page, "Escape");
}

async function testList(page) {
	await view(page, "blocks");
	const heads = await page.$$eval("#panel th", (list) => list.map((element) => element.textContent));

	check("the list has category, phase, free and thread", ["category", "phase", "freed by", "thread"].every((name) => heads.includes(name)), heads.join(" "));
	const [download] = await Promise.all([page.waitForEvent("download"), page.click("button:text-is('Save as CSV')")]);
	const lines = readFileSync(await download.path(), "utf8").trim().split("\n");

	same("and can be saved", lines.length - 1, trace.events.filter((event) => event.op === "alloc" && event.space === "device").length);
}

// Idle time is cut, and a click on a finding leads to the moment and the allocation.
async function testFindings() {
	const { page, close } = await openPage(browser, `${folder}/oom.html`);

	await page.click("[data-finding=failure]");
	await settled(page);
	same("a finding leads to the moment", await cursor(page), JSON.parse(readFileSync(`${folder}/oom.json`, "utf8")).events.findIndex((event) => event.op === "oom"));
	check("and to an allocation", await shown(page));
	await press(page, "Escape");
	check("the verdict comes first", (await page.textContent(".verdict")).startsWith("Found: 1 failed allocation"));
	await close();
	const healthy = await openPage(browser, `${folder}/cupti.html`, "#view=findings");

	check("nothing found is said", (await healthy.page.textContent(".verdict")).startsWith("No problems found") && (await healthy.page.textContent(".chips")).includes("No problems found"));
	await healthy.close();
}

// Where events are missing the picture is hatched, and the peak is the recorder's.
async function testMissing() {
	const report = JSON.parse(readFileSync(`${folder}/nccl.report.json`, "utf8"));
	const { page, close } = await openPage(browser, `${folder}/nccl.html`);
	const peak = report.devices[0].allocated.peak_bytes;
	const allocated = async () => Number((await data(page, '.legend [data-series="allocated"]'))[0].bytes);

	same("the cursor starts at the peak, though its events are missing", await allocated(), peak);
	check("and says so", (await page.textContent(".cursorbar")).includes("events are missing"));
	same("the map is as high as the curve there", Number((await data(page, ".chart"))[0].highest), peak);
	await press(page, "Home");
	await press(page, "k");
	same("k is that peak, too", await allocated(), peak);
	await close();
}

// Small pictures of all devices: a click chooses one.
async function testDevices() {
	const report = JSON.parse(readFileSync(`${folder}/devices.report.json`, "utf8"));
	const { page, close } = await openPage(browser, `${folder}/devices.html`, "#view=devices");

	same("a picture of each device", (await data(page, "[data-device-row]")).map((row) => Number(row.deviceRow)), report.devices.map((device) => device.device));
	await page.click("[data-device-row='2'] canvas");
	await settled(page);
	same("a click chooses it", Number((await data(page, ".chart"))[0].highest), report.devices[2].allocated.peak_bytes);
	await close();
}

// Two runs: repetitions side by side, the difference as a curve, as a flame graph and as a tree.
async function testTwoRuns() {
	const peaks = JSON.parse(readFileSync(`${folder}/two.json`, "utf8")).totals.find((row) => row.space === "device");
	const { page, troubles, close } = await openPage(browser, `${folder}/two.html`);

	same("two runs are aligned by step", await page.textContent(".pair [aria-pressed=true]"), "steps");
	const [curve] = await data(page, ".diffcurve");

	check("the difference is a curve", Number(curve.most) > 0, JSON.stringify(curve));
	const calls = await data(page, "tr[data-call]");

	check("and a tree of calls", calls.length > 3 && calls[0].call === "all" && Number(calls[0].difference) === peaks.head.allocated - peaks.base.allocated, JSON.stringify([calls.slice(0, 3), peaks]));
	await page.click("tr[data-call] >> nth=1");
	await settled(page);
	check("which leads to the flame graph of the difference", (await page.textContent(".flame .caption")).includes("in the other run"), await page.textContent(".flame .caption"));
	await page.click("label:has-text('difference to the other run') input");
	await settled(page);
	check("or of one run", !(await page.textContent(".flame .caption")).includes("in the other run"));
	check("two runs: no error, no request", !troubles.length, troubles.join("; "));
	await close();
}

async function testTouch() {
	const { page, troubles, close } = await openPage(browser, `${folder}/cupti.html`, "", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
	const client = await page.context().newCDPSession(page);
	const box = await page.locator(".chart .u-over").boundingBox();
	const touch = async (type, points) => {
		await client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x: box.x + box.width * x, y: box.y + box.height * y, id })) });
		await settled(page);
	};

	await page.evaluate((y) => scrollTo(0, y), Math.max(box.y - 300, 0));
	Object.assign(box, await page.locator(".chart .u-over").boundingBox());
	await page.touchscreen.tap(box.x + box.width * 0.6, box.y + box.height * 0.8);
	await settled(page);
	check("a tap shows an allocation", await shown(page));
	await page.click(`${panel} button:text-is('Close')`);
	await touch("touchStart", [[0.4, 0.5], [0.6, 0.5]]);
	for (const wide of [0.15, 0.25, 0.35])
		await touch("touchMove", [[0.5 - wide, 0.5], [0.5 + wide, 0.5]]);
	await touch("touchEnd", []);
	const zoomed = await link(page);

	check("two fingers zoom", Number(zoomed.to) - Number(zoomed.from) < trace.events.length * 0.6, JSON.stringify(zoomed));
	await touch("touchStart", [[0.7, 0.5]]);
	for (const x of [0.6, 0.5, 0.4])
		await touch("touchMove", [[x, 0.5]]);
	await touch("touchEnd", []);
	check("one finger moves", Number((await link(page)).from) > Number(zoomed.from), JSON.stringify(await link(page)));
	check("nothing is wider than a phone", await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "");
	check("a phone: no error, no request", !troubles.length, troubles.join("; "));
	await close();
}

// Axe finds nothing serious in any view, in light and dark, on a screen and on a phone.
async function testAxe() {
	const faults = [];
	const views = { cupti: ["flame", "table", "blocks", "segments", "events", "sums", "activity"], two: ["diff"], devices: ["devices"], oom: ["findings"] };

	for (const [name, ids] of Object.entries(views)) {
		for (const id of ids) {
			const dark = ids.indexOf(id) % 2 === 1;
			const phone = ids.indexOf(id) % 3 === 2;
			const { page, close } = await openPage(browser, `${folder}/${name}.html`, `#view=${id}${id === "segments" ? "&block=9" : ""}`,
				{ bypassCSP: true, colorScheme: dark ? "dark" : "light", viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 720 } });

			await settled(page);
			faults.push(...(await seriousFaults(page)).map((fault) => `${name} ${id}: ${fault}`));
			await close();
		}
	}
	same("axe finds nothing serious", faults, []);
}

const { page, troubles, close } = await openPage(browser, `${folder}/cupti.html`, "", { acceptDownloads: true });

await testFirstScreen();
await testBlock(page);
await testKeys(page);
await testColours(page);
await testFlame(page);
await testSegments(page);
await testEvents(page);
await testList(page);
check("no error, no request", !troubles.length, troubles.join("; "));
await close();
await testFindings();
await testMissing();
await testDevices();
await testTwoRuns();
await testTouch();
await testAxe();
await browser.close();
