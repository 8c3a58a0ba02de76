// How quick a page is: bench.mjs FILE VIEW prints ms until it is ready and ms of the slowest zoom.
import { openBrowser, openPage } from "./browser.mjs";

const [file, view] = process.argv.slice(2);
const browser = await openBrowser();
const { page } = await openPage(browser, file, `#view=${view}`);
const ready = await page.$eval("#page", (element) => Number(element.dataset.ready));
const slowest = await page.evaluate(async () => {
	let most = 0;

	for (let i = 0; i < 24; i++) {
		const start = performance.now();

		document.body.dispatchEvent(new KeyboardEvent("keydown", { key: i < 12 ? "+" : "-", bubbles: true }));
		await new Promise((done) => requestAnimationFrame(done)); // behind the page's own
		most = Math.max(most, performance.now() - start);
	}
	return most;
});

console.log(ready, Math.round(slowest));
await browser.close();
