// Two traces on a page, hostile ones, gaps, no names: others.mjs FOLDER
import { readFileSync } from "node:fs";
import { check, choose, data, openBrowser, openPage, same, settled, view } from "./browser.mjs";

const [folder] = process.argv.slice(2);
const browser = await openBrowser();
const read = (file) => JSON.parse(readFileSync(`${folder}/${file}`, "utf8"));

async function testDiff() {
	const diff = read("diff.json");
	const { page, troubles, close } = await openPage(browser, `${folder}/diff.html`);

	same("two traces: the difference comes first", await page.textContent('[aria-selected="true"]'), "Difference");
	same("its sentence", await page.textContent("header .answer"), diff.sentence);
	const rows = await data(page, "tr[data-change]");
	const wanted = diff.rows.filter((row) => row.dimension === "site");

	for (const row of rows.filter((one) => wanted.some((site) => site.name === one.name)).slice(0, 5)) {
		const site = wanted.find((one) => one.name === row.name);

		same(`the change of ${row.name}`, Number(row.change), site.head[row.figure] - site.base[row.figure]);
	}
	check("there are rows", rows.length > 0);
	check("both curves", (await data(page, '.legend [data-series="other"]')).length === 1);
	await choose(page, "Compare", "allocations");
	same("another figure", (await data(page, "tr[data-change]"))[0].figure, "allocations");
	await view(page, "sums");
	for (const [name, number] of [["head", "1"], ["base", "0"]]) {
		await choose(page, "Trace", number);
		same(`the ${name}'s own sums`, (await data(page, "tr[data-device]")).map((row) => Number(row.allocated)), read(`${name}.report.json`).devices.map((row) => row.allocated.peak_bytes));
	}
	check("two traces: no error, no request", !troubles.length, troubles.join("; "));
	await close();
}

async function testHostile(name) {
	const { page, troubles, close } = await openPage(browser, `${folder}/${name}.html`);

	for (const id of ["flame", "table", "segments", "events", "findings", "blocks", "sums"])
		await view(page, id);
	same(`${name}: nothing of it runs`, await page.evaluate(() => [typeof window.pwned, document.querySelectorAll("script[src], img, iframe, object, svg").length, document.querySelectorAll("script").length]), ["undefined", 0, 1]);
	check(`${name}: no error, no request`, !troubles.length, troubles.join("; "));
	return { page, close };
}

async function testGap() {
	const report = read("gap.report.json");
	const { page, troubles, close } = await openPage(browser, `${folder}/gap.html`, "#axis=event");

	check("missing events are said", (await page.textContent(".lacks")).includes(report.events_dropped.toLocaleString("en-US")));
	await page.focus(".chart");
	await page.keyboard.press("End");
	await settled(page);
	const [legend] = await data(page, '.legend [data-series="allocated"]');

	same("behind a gap the sum is the device's", Number(legend.bytes), report.devices[0].allocated.exit_bytes);
	await view(page, "table");
	same("who held the peak is known all the same", (await data(page, 'button[data-part="peak"]')).map((part) => Number(part.bytes)), [report.devices[0].allocated.peak_bytes]);
	await page.click('button[data-part="live"]');
	await settled(page);
	const rows = await data(page, "tr[data-name]");

	same("and what is not known has a row", rows.reduce((sum, row) => sum + Number(row.bytes), 0), report.devices[0].allocated.exit_bytes);
	check("of its own", rows.some((row) => row.name.startsWith("[not recorded")));
	check("a gap: no error, no request", !troubles.length, troubles.join("; "));
	await close();
}

// That memory ran out stands above all else, with the reason; so does what a trace does not tell.
async function testNotices() {
	const [oom] = read("oom.report.json").ooms;
	const { page, troubles, close } = await openPage(browser, `${folder}/oom.html`);
	const notice = await page.textContent("[data-oom]");

	check("that memory ran out comes first", notice.startsWith("Out of memory at ") && notice.includes(oom.line) && notice.includes("this process reached a limit (set_per_process_memory_fraction) between"), notice);
	await page.click("[data-oom] button:text-is('Explain')");
	await settled(page);
	same("all that is known of it", await page.textContent("pre.explained"), oom.text.join("\n"));
	await page.click("[data-oom] button:text-is('Show the moment')");
	await settled(page);
	same("what was live then", Number((await data(page, ".flame"))[0].total), oom.allocated_bytes);
	check("running out: no error, no request", !troubles.length, troubles.join("; "));
	await close();
	const filtered = await openPage(browser, `${folder}/filtered.html`);

	same("what a trace does not tell is said", await filtered.page.$$eval("[data-note]", (notes) => notes.map((note) => note.textContent)), read("filtered.report.json").notes.map((note) => `${note}.`));
	check("and its curve goes on", Number((await data(filtered.page, ".chart"))[0].allocated) === read("filtered.report.json").devices[0].allocated.peak_bytes);
	await filtered.close();
}

// Ranks with events: the highest is shown below what is told of all. Baselines: only that.
async function testRanks(name, shown) {
	const merged = read(`${name}.json`);
	const { page, troubles, close } = await openPage(browser, `${folder}/${name}.html`);

	check(`${name}: what is said of all comes first`, (await page.textContent("header .answer")).includes(merged.sentences[0]));
	same(`${name}: a row for each`, (await data(page, "tr[data-rank]")).map((row) => [Number(row.rank), Number(row.allocated), Number(row.reserved)]),
		merged.ranks.map((row) => [row.rank, ...["allocated", "reserved"].map((metric) => Math.max(...row.devices.map((device) => device[metric].peak_bytes)))]));
	same(`${name}: imbalance`, (await data(page, "tr[data-imbalance]")).map((row) => [row.imbalance, Number(row.ratio)]), merged.imbalance.map((row) => [row.metric, row.ratio]));
	same(`${name}: what is left on each card`, (await data(page, "tr[data-card]")).map((row) => Number(row.left)), merged.cards.map((card) => card.headroom_bytes));
	const [site] = await data(page, "tr[data-site]");

	same(`${name}: the most uneven call site`, Number(site.above), Math.max(...merged.sites.filter((row) => row.space === "device").map((row) => row.allocated.highest_bytes - row.allocated.median_bytes)));
	same(`${name}: a picture of the highest`, await page.isVisible(".chart"), shown);
	if (shown) {
		const { rank } = merged.imbalance[0].highest;

		check(`${name}: which it is`, (await page.textContent("header")).includes(`This page shows rank ${rank}, `));
		same(`${name}: its peak`, Number((await data(page, ".legend [data-series=allocated]"))[0].bytes), merged.imbalance[0].highest.bytes);
		await page.click("tr[data-site] >> nth=0");
		await settled(page);
		check(`${name}: a call site is marked in its picture`, (await data(page, ".legend [data-series=matches]")).length === 1);
	}
	check(`${name}: no error, no request`, !troubles.length, troubles.join("; "));
	await close();
}

// Behind a gap come events that tell no sum: it is that in front of the first one that does.
async function testBehindGap() {
	const { events } = read("jax.json");
	const at = events.findIndex((event, i) => i && event.seq !== events[i - 1].seq + 1);
	const next = events.slice(at).find((event) => event.device === 0);
	const { page, close } = await openPage(browser, `${folder}/jax.html`, `#at=${at}`);

	check("a gap with ranges behind it", at > 0 && events[at].op !== next.op && next.op === "unmap"); // which moves no sum
	same("the sum is known at once", Number((await data(page, '.legend [data-series="allocated"]'))[0].bytes), next.allocated);
	await close();
}

await testDiff();
await testBehindGap();
await testNotices();
await testRanks("ranks", true);
await testRanks("figures", false);
const script = await testHostile("script");

check("script: the name is shown as text", (await script.page.textContent("body")).includes("</script><script>window.pwned"));
await script.close();
for (const name of process.argv.slice(3))
	await (await testHostile(name)).close();
await testGap();
await browser.close();
