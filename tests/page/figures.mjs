// Every figure that a page shows is the report's: figures.mjs FOLDER NAME...
//
// FOLDER/NAME.html is the page, NAME.report.json what `memtrace report --json --limit 0` says of it,
// NAME.gaps.json `report --at peak --show gaps`, NAME.categories.json `report --at peak --show moment`.
import { readFileSync } from "node:fs";
import { check, choose, data, openBrowser, openPage, same, settled, view } from "./browser.mjs";

const [folder, ...names] = process.argv.slice(2);
const read = (file) => JSON.parse(readFileSync(`${folder}/${file}`, "utf8"));
const total = (rows, key) => rows.reduce((sum, row) => sum + Number(row[key]), 0);

async function legend(page, series) {
	return Number((await data(page, `.legend [data-series="${series}"]`))[0]?.bytes);
}

async function testSums(name, page, report) {
	const rows = (selector) => data(page, selector);
	const figures = (list, key) => list.map((row) => [String(row[key]), row.allocated?.peak_bytes ?? 0, row.reserved?.peak_bytes ?? 0]);
	const shown = (list, key) => list.map((row) => [row[key], Number(row.allocated), Number(row.reserved)]);

	await view(page, "sums");
	for (const key of ["device", "pool", "owner"])
		same(`${name}: ${key}s`, shown(await rows(`tr[data-${key}]`), key), figures(report[`${key}s`], key));
	same(`${name}: spaces`, (await rows("tr[data-space]")).map((row) => [row.space, Number(row.allocated)]),
		report.spaces.map((row) => [row.space, row.allocated?.peak_bytes ?? 0]));
	const bytes = (one) => (one ? String(one.bytes) : "");

	const phases = report.phases.map((row) => [row.name, row.allocated_peak_bytes, row.growth_bytes, bytes(row.allocations), bytes(row.freed), bytes(row.kept)]);
	const told = (await rows("tr[data-phase]")).map((row) => [row.phase, Number(row.peak), Number(row.growth), row.allocations, row.freed, row.kept]);
	const known = new Set(phases.map((row) => JSON.stringify(row)));

	same(`${name}: phases`, [told.length, told.filter((row) => !known.has(JSON.stringify(row)))], [Math.min(phases.length, 100), []]); // a table's first rows
}

// The curves are summed up from events, the peaks in the report come from the ledger.
async function testCurves(name, page, report) {
	for (const scope of [...report.devices.map((one) => [`d${one.device}`, one]), ...report.pools.map((one) => [`d${one.device}:${one.pool}`, one]), ...report.spaces.map((one) => [`s:${one.space}`, one])]) {
		const [id, sums] = scope;

		await choose(page, "Device or pool", id);
		await page.focus(".chart");
		await page.keyboard.press("0");
		await page.keyboard.press("End");
		await settled(page);
		// Of a space the recorder keeps no curve that would go on where events are missing.
		if (!report.events_dropped || !id.startsWith("s:"))
			same(`${name}: the highest of ${id}`, Number((await data(page, ".chart"))[0].allocated), sums.allocated?.peak_bytes ?? 0);
		same(`${name}: the exit of ${id}`, await legend(page, "allocated"), sums.allocated?.exit_bytes ?? 0);
	}
}

async function testPeaks(name, page, report) {
	const peaks = report.peaks.filter((peak) => peak.metric === "allocated");

	for (const peak of peaks) {
		await choose(page, "Device or pool", `d${peak.device}${peak.pool === null ? "" : `:${peak.pool}`}`);
		await page.click(".cursorbar button:text-is('Peak')");
		await view(page, "table");
		if (!report.events_dropped || peak.pool === null)
			same(`${name}: the peak of ${peak.device}:${peak.pool}`, await legend(page, "allocated"), peak.bytes);
		await choose(page, "Colour by", "site");
		const sites = (list) => list.map((row) => [row.name, Number(row.bytes)]).sort();
		const wanted = peak.sites.filter((site) => site.site !== null).map((site) => ({ name: site.site, bytes: site.bytes }));

		same(`${name}: who held the peak of ${peak.device}:${peak.pool}`, sites((await data(page, "tr[data-name]")).filter((row) => !row.name.startsWith("["))), sites(wanted));
		for (const by of ["line", "function", "owner", "category"]) {
			await choose(page, "Colour by", by);
			same(`${name}: the same in all by ${by}`, total(await data(page, "tr[data-name]"), "bytes"), peak.bytes);
		}
		const told = read(`${name}.categories.json`).moment.live;

		if (!report.events_dropped && peak.pool === null && told.device === peak.device && told.t === peak.t)
			same(`${name}: each category`, sites(await data(page, "tr[data-name]")), sites(told.categories.map((row) => ({ name: row.category, bytes: row.bytes }))));
		await view(page, "flame");
		for (const stacks of peak.pool === null ? ["merged", "python", "native"] : ["merged"]) {
			await view(page, "flame");
			await choose(page, "Stacks", stacks);
			same(`${name}: and in the flame graph, ${stacks}`, Number((await data(page, ".flame"))[0].total), peak.bytes);
		}
	}
}

async function testGaps(name, page, report, gaps) {
	if (!gaps.length || report.events_dropped)
		return;
	await choose(page, "Device or pool", `d${gaps[0].device}`);
	await page.click(".cursorbar button:text-is('Peak')");
	await view(page, "segments");
	const shown = (await data(page, "section[data-pool]")).map((pool) => [pool.pool, ...["reserved", "used", "gaps", "largest", "whole"].map((key) => Number(pool[key]))]);

	same(`${name}: gaps in segments`, shown.sort(),
		gaps.filter((pool) => pool.device === gaps[0].device).map((pool) => [pool.pool, pool.reserved_bytes, pool.used_bytes, pool.gaps_bytes, pool.largest_gap_bytes, pool.free_segments_bytes]).sort());
}

async function testFindings(name, page, report) {
	await view(page, "findings");
	const bytes = (list) => list.map((row) => [row.site, Number(row.bytes)]);

	same(`${name}: leaks`, bytes(await data(page, "tr[data-site][data-bytes]")), bytes(report.leaks.sites));
	same(`${name}: advice`, (await data(page, "li[data-rule]")).map((row) => row.rule), report.advice.map((row) => row.rule));
}

// The lanes below the curves are drawn from spans, the report's sums were kept while recording.
async function testSpans(name, page, report) {
	await page.click("button:text-is('time')");
	await page.focus(".chart");
	await page.keyboard.press("0");
	await settled(page);
	if (!report.spans) {
		same(`${name}: no lanes`, (await data(page, ".lanes [data-kind]")).length, 0);
		return;
	}
	same(`${name}: all that ran is in the lanes`, Number((await data(page, ".lanes"))[0].count), report.spans.count);
	for (const row of (await data(page, ".lanes [data-kind]")).filter((one) => one.kind !== "call")) {
		const actions = report.actions.filter((one) => one.kind === row.kind);

		same(`${name}: ${row.kind} in the lanes`, [Number(row.count), Number(row.ns)], [total(actions, "count"), total(actions, "total_ns")]);
	}
	await view(page, "activity");
	same(`${name}: by name`, (await data(page, "tr[data-action]")).map((row) => [row.kind, row.action, Number(row.count), Number(row.total), Number(row.bytes)]).sort(),
		report.actions.map((row) => [row.kind, row.name, row.count, row.total_ns, row.bytes]).sort());
	// A row leads to the place, where one of that kind is in view.
	await page.click("tr[data-kind=kernel]");
	await settled(page);
	const [seen] = (await data(page, ".lanes [data-kind=kernel]")).map((row) => Number(row.count));

	check(`${name}: a row of the table leads to its place`, seen >= 1 && seen < report.spans.count, `${seen} kernels are in view`);
	const box = await page.locator(".lanes canvas").boundingBox();
	const cards = [];

	for (let y = 6; y < box.height; y += 6) { // what was led to lies in the middle, 84 pixels are in front of the axis
		await page.mouse.move(box.x + 84 + (box.width - 96) / 2, box.y + y);
		cards.push((await page.isVisible(".tooltip")) ? await page.textContent(".tooltip") : "");
	}
	const kernels = report.actions.filter((one) => one.kind === "kernel").map((one) => one.name);
	const named = (card) => (card.match(/^[A-Za-z0-9_:]+/)?.[0] ?? "?").split("::").pop().slice(0, 20);

	check(`${name}: the pointer shows its name, time and stream`, cards.some((card) => /kernel, \d+\.\d [um]s from .*stream \d+; .* allocated then/.test(card)
		&& kernels.some((kernel) => kernel.includes(named(card)))), cards.join("; "));
	check(`${name}: names are demangled, and kernels come first`, (await data(page, "tr[data-action]"))[0].kind === "kernel" && !/_ZN|_v\d{4}/.test(await page.textContent("#panel table >> nth=0")));
}

const browser = await openBrowser();

for (const name of names) {
	const report = read(`${name}.report.json`);
	const { page, troubles, close } = await openPage(browser, `${folder}/${name}.html`, report.events_dropped ? "#axis=time" : "#axis=event");

	await testSums(name, page, report);
	await testCurves(name, page, report);
	await testPeaks(name, page, report);
	await testGaps(name, page, report, read(`${name}.gaps.json`).gaps ?? []);
	await testFindings(name, page, report);
	await testSpans(name, page, report);
	check(`${name}: no error, no request`, !troubles.length, troubles.join("; "));
	await close();
}
await browser.close();
