// What people do with a page: zoom, cursors, search, keys, links, light and dark. views.mjs FOLDER
import { readFileSync } from "node:fs";
import { check, choose, cursor, data, find, link, openBrowser, openPage, press, same, settled, view } from "./browser.mjs";

const [folder] = process.argv.slice(2);
const trace = JSON.parse(readFileSync(`${folder}/train.json`, "utf8"));
const browser = await openBrowser();
const views = ["flame", "table", "segments", "events", "findings", "blocks", "sums"];

const number = async (page, key) => Number((await link(page))[key]);

// Blocks of the trace, as Python would find them.
function blocksOf(events) {
	const live = new Map();
	const blocks = [];

	for (const event of events) {
		const key = `${event.space} ${event.device} ${event.pool} ${event.ptr}`;

		if (event.op === "alloc") {
			const block = { size: event.size, born: event.t, died: null };

			live.set(key, block);
			blocks.push({ event, block });
		} else if (event.op === "free" && live.has(key)) {
			live.get(key).died = event.t;
			live.delete(key);
		}
	}
	return blocks;
}

async function canvasHash(page, selector) {
	return page.$eval(selector, (canvas) => canvas.toDataURL().length);
}

async function testPhases(page) {
	await page.click("button:text-is('time')");
	await settled(page);
	const phase = trace.phases[0];
	const box = await page.locator(".chart .u-over").boundingBox();
	const chart = await page.locator(".chart").boundingBox();
	const [shown] = await data(page, ".chart");
	const place = (t) => (t - Number(shown.from)) / (Number(shown.to) - Number(shown.from));
	const middle = place((phase.start + phase.end) / 2);

	await page.mouse.move(box.x + box.width * middle, chart.y + 8);
	const card = await page.textContent(".tooltip");

	check("a phase says what memory did in it", card.startsWith(phase.name) && card.includes("at its start, highest "), card);
	await page.mouse.move(box.x + box.width / 2, box.y + 80);
	check("elsewhere the values of the curves are read", / s: \d+\.\d\d .iB allocated, \d+\.\d\d MiB reserved/.test(await page.textContent(".tooltip .reading")), await page.textContent(".tooltip"));
	same("and stand in the legend", await page.textContent(".curves .where"), "at the pointer");
	await page.mouse.move(box.x + box.width * place(trace.summary.devices[0].allocated.peak_t), box.y - 6);
	check("a flag says that it is the peak", (await page.textContent(".tooltip")).startsWith("peak allocated"), await page.textContent(".tooltip"));
	check("what took long before the first event takes no room", place(trace.events[0].t) > 0 && place(trace.events[0].t) < 0.1);
	await page.mouse.move(5, 5);
	check("a tooltip goes away with the pointer", !(await page.isVisible(".tooltip")));
	same("and the legend is at the cursor again", await page.textContent(".curves .where"), "at the cursor");
	await page.click("button:text-is('events')");
	await settled(page);
}

async function testZoom(page) {
	const box = await page.locator(".chart .u-over").boundingBox();
	const drag = async (from, to) => {
		await page.mouse.move(box.x + box.width * from, box.y + 50);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * ((from + to) / 2), box.y + 60, { steps: 3 });
		await page.mouse.move(box.x + box.width * to, box.y + 60, { steps: 3 });
		await page.mouse.up();
		await settled(page);
	};

	same("events come first where time shows less", (await link(page)).axis, undefined);
	await drag(0.25, 0.75);
	const last = trace.events.length - 1;

	check("a drag zooms", Math.abs((await number(page, "from")) - last / 4) < 2 + last / 100 && Math.abs((await number(page, "to")) - (last * 3) / 4) < 2 + last / 100, JSON.stringify(await link(page)));
	for (let i = 0; i < 8; i++)
		await drag(0.4, 0.6);
	check("down to single events", (await number(page, "to")) - (await number(page, "from")) <= 5, JSON.stringify(await link(page)));
	const narrow = await link(page);

	await page.mouse.move(box.x + box.width / 2, box.y + 60);
	await page.mouse.wheel(0, 300);
	await settled(page);
	check("the wheel zooms out", Number((await link(page)).to) - Number((await link(page)).from) > Number(narrow.to) - Number(narrow.from));
	await page.mouse.dblclick(box.x + box.width / 2, box.y + 60);
	await settled(page);
	same("a double click shows all", (await data(page, ".chart"))[0].to, String(last));
	await press(page, "+");
	check("so does a key", Number((await data(page, ".chart"))[0].to) - Number((await data(page, ".chart"))[0].from) < last);
	await press(page, "0");
	const axes = [];

	for (let i = 0; i < 4; i++) {
		await press(page, "t");
		axes.push((await link(page)).axis);
	}
	same("t goes through the axes", axes, ["time", "busy", "step", undefined]);
}

async function testCursor(page) {
	const box = await page.locator(".chart .u-over").boundingBox();

	await press(page, "k");
	const peak = await cursor(page);

	await press(page, "ArrowLeft");
	same("an arrow is one event", await cursor(page), peak - 1);
	await press(page, "Home");
	same("Home is the first event", await cursor(page), 0);
	await press(page, "k");
	same("k is the peak", await cursor(page), peak);
	await page.mouse.click(box.x + box.width * 0.95, box.y + 80);
	await settled(page);
	check("a click moves the cursor", (await cursor(page)) > peak);
	await press(page, "Escape");
	await press(page, "p");
	const pinned = await number(page, "pin");

	same("p is the second cursor", pinned, await cursor(page));
	await press(page, "k");
	await view(page, "flame");
	const parts = Object.fromEntries((await data(page, "button[data-part]")).map((part) => [part.part, part]));
	const live = async () => Number((await data(page, '.legend [data-series="allocated"]'))[0].bytes);
	const before = await live();

	await press(page, "x");
	const behind = await live();

	same("what is live changes by what was born and kept, less what died", before + Number(parts.kept.bytes) - Number(parts.freed.bytes), behind);
	const inside = blocksOf(trace.events).filter(({ event, block }) => event.space === "device" && event.seq > peak && event.seq <= pinned && block.died !== null && block.died <= trace.events[pinned].t);

	same("born and gone between", [Number(parts.passed.count), Number(parts.passed.bytes)], [inside.length, inside.reduce((sum, { block }) => sum + block.size, 0)]);
	await page.click('button[data-part="passed"]');
	await settled(page);
	same("as a flame graph", Number((await data(page, ".flame"))[0].total), Number(parts.passed.bytes));
	await press(page, "p");
	same("p takes it away", (await link(page)).pin, undefined);
	await press(page, "k");
}

async function testSearch(page) {
	const blocks = blocksOf(trace.events).map(({ block }) => block);
	const found = async () => Number((await data(page, "[data-matches]"))[0].matches);

	await find(page, "size>=1M");
	same("search by size", await found(), blocks.filter((block) => block.size >= 1 << 20).length);
	await find(page, "life<1ms size>64K");
	same("by lifetime", await found(), blocks.filter((block) => block.died !== null && block.died - block.born < 1e6 && block.size > 65536).length);
	await find(page, "live");
	same("what was never freed", await found(), blocks.filter((block) => block.died === null).length);
	await find(page, "attend");
	check("by function", (await found()) > 0 && (await found()) < blocks.length);
	await view(page, "blocks");
	const rows = await page.$$eval("#panel tr.link", (list) => list.length);

	check("the list holds them", rows > 0 && rows <= (await found()));
	await page.click("#panel tr.link >> nth=0");
	await settled(page);
	const born = await cursor(page);

	check("a row leads to its birth", trace.events[born].op === "alloc");
	check("and shows its details", (await page.textContent(".details")).includes("Allocated by"));
	await press(page, "Escape");
	await find(page, "size>nonsense");
	check("what makes no sense is said", (await page.textContent(".found")).includes("is not understood"));
	await find(page, "");
	await view(page, "table");
	await page.click("#panel tr.link >> nth=0");
	await settled(page);
	check("a row of the table marks its blocks", (await link(page)).q.startsWith("site:") && (await found()) > 0);
	check("and shows what is in it", (await page.textContent(".details")).includes("The largest"));
	await press(page, "Escape");
	await find(page, "");
	await press(page, "k");
}

async function testMap(page) {
	const blocks = blocksOf(trace.events).filter(({ event }) => event.space === "device");
	await press(page, "0");
	await page.click("button:text-is('time')");
	await settled(page);
	const [map] = await data(page, ".chart");

	check("the map tells of every block, drawn or summed", Number(map.drawn) + Number(map.hidden) <= blocks.length && Number(map.drawn) > 10, JSON.stringify(map));
	same("and is as high as the peak", Number(map.highest), trace.summary.devices[0].allocated.peak_bytes);
	await page.click("button:text-is('events')");
	await settled(page);
	const [events] = await data(page, ".chart");

	same("over events, all of them", Number(events.drawn) + Number(events.hidden), blocks.length);
	const before = await canvasHash(page, ".chart canvas");

	await choose(page, "Colour by", "owner");
	check("colours follow the grouping", (await canvasHash(page, ".chart canvas")) !== before);
	const over = await page.locator(".chart .u-over").boundingBox();

	await page.mouse.move(over.x + over.width * 0.8, over.y + over.height - 20);
	await settled(page);
	check("a block says what it is", (await page.textContent(".tooltip")).includes("MiB by "));
	await page.mouse.move(over.x + over.width * 0.3, over.y + 100);
	await page.mouse.down();
	await page.mouse.move(over.x + over.width * 0.5, over.y + 100, { steps: 4 });
	await page.mouse.up();
	await settled(page);
	check("a drag zooms here too", (await number(page, "to")) < trace.events.length - 1);
	await press(page, "0");
	await choose(page, "Colour by", "site");
}

async function testFlame(page) {
	await view(page, "flame");
	await choose(page, "Stacks", "python");
	await page.focus(".flame canvas");
	await press(page, "ArrowDown");
	const first = await page.textContent(".flame .caption");

	check("the arrows walk through the flame graph", first.includes("<module>"), first);
	await press(page, "ArrowDown");
	check("frame by frame", (await page.textContent(".flame .caption")) !== first);
	await press(page, "Enter");
	await press(page, "Escape");
	check("Escape shows all of it", (await page.textContent(".flame .caption")).startsWith("All that was live"));
	const canvas = await page.locator(".flame canvas").boundingBox();

	await page.mouse.click(canvas.x + 40, canvas.y + 70);
	await settled(page);
	check("a click zooms", !(await page.textContent(".flame .caption")).startsWith("All that was live"));
	check("and shows the details", (await page.textContent(".details")).includes("of what is shown"));
	await press(page, "Escape");
	check("which Escape closes", !(await page.isVisible(".details")));
	await choose(page, "Stacks", "merged");
}

// The device's own figure is far above what is held: it is drawn when it is asked for.
async function testUsed(page) {
	const colour = () => canvasHash(page, ".chart canvas");
	const before = await colour();

	await page.click("button[data-used=above]");
	await settled(page);
	check("what is occupied is drawn when asked for", (await colour()) !== before && (await data(page, "[data-used]"))[0].used === "shown");
	await page.click("button[data-used=shown]");
	await settled(page);
	same("and left out again", await colour(), before);
}

async function testLooks(page) {
	const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const light = await back();

	await press(page, "d");
	check("d is dark", (await back()) !== light && (await link(page)).theme === "dark");
	await press(page, "d");
	same("and light again", await back(), light);
	const nameless = await page.$$eval("button, select, input, canvas[role], [role=img], [role=tab]", (elements) => elements.filter((element) =>
		!(element.getAttribute("aria-label") || element.textContent.trim() || element.closest("label")?.textContent.trim())).map((element) => element.outerHTML.slice(0, 100)));

	same("everything has a name to be read aloud", nameless, []);
	await press(page, "?");
	check("? lists the keys", await page.isVisible("dialog"));
	await press(page, "Escape");
	check("and Escape closes it", !(await page.isVisible("dialog")));
	await page.focus("#tab-flame");
	await press(page, "ArrowRight");
	same("arrows walk over the tabs", (await link(page)).view, "table");
}

async function testLink() {
	const hash = "#from=100&to=200&at=150&pin=120&view=table&by=line&q=forward&theme=dark";
	const { page, troubles, close } = await openPage(browser, `${folder}/train.html`, hash);
	const expected = Object.fromEntries(new URLSearchParams(hash.slice(1)));

	same("a link shows the cursor", await cursor(page), 150);
	await press(page, "ArrowRight");
	same("and all else", await link(page), { ...expected, at: "151" });
	await close();
	const push = trace.events.findIndex((event) => event.op === "push");
	const named = await openPage(browser, `${folder}/train.html`, `#at=${push}`);

	check("a range has its name", (await named.page.textContent(".cursorbar")).includes(`push ${trace.events[push].name}.`));
	await named.close();
	const other = await openPage(browser, `${folder}/train.html`, "#axis=no&from=x&at=1e99&pin=-7&view=%3Cb%3E&scope=d9&by=&trace=5&from=9&to=1");

	same("what makes no sense in a link is as if not there", [await cursor(other.page), await other.page.textContent('[aria-selected="true"]')], [trace.events.length - 1, "Flame graph"]);
	check("without a word", !troubles.length && !other.troubles.length, [...troubles, ...other.troubles].join("; "));
	await other.close();
}

async function testPrint(page) {
	await page.emulateMedia({ media: "print" });
	check("on paper there are no controls", !(await page.isVisible(".controls")) && (await page.isVisible(".chart")));
	await page.emulateMedia({ media: "screen" });
	// What is drawn has the width of the paper, at once: nothing waits for a frame that comes later.
	await view(page, "segments");
	const ends = await page.evaluate(() => {
		const drawn = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte);

		dispatchEvent(new Event("beforeprint"));
		return [...document.querySelectorAll(".chart canvas, #panel canvas")].map((canvas) => [Math.round(canvas.getBoundingClientRect().right), drawn(canvas)]);
	});

	check("what is drawn fits on paper", ends.length >= 2 && ends.every(([right, drawn]) => right <= 710 + 295 && drawn), JSON.stringify(ends));
	await page.evaluate(() => dispatchEvent(new Event("afterprint")));
	check("and is as wide as the screen again", (await page.locator(".chart canvas").boundingBox()).width > 1000);
}

const { page, troubles, close } = await openPage(browser, `${folder}/train.html`);

await testPhases(page);
await testZoom(page);
await testCursor(page);
await testSearch(page);
await testMap(page);
await testFlame(page);
await testUsed(page);
await testLooks(page);
for (const id of views) {
	await view(page, id);
	check(`the view ${id} has something to show`, ((await page.textContent("#panel")) ?? "").length > 20);
}
await testPrint(page);
check("no error, no request", !troubles.length, troubles.join("; "));
await close();
await testLink();
const system = await openPage(browser, `${folder}/train.html`, "", { colorScheme: "dark" });

same("dark where the system is", await system.page.evaluate(() => document.documentElement.dataset.theme), "dark");
await system.close();
await browser.close();
