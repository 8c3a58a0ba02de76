// The pictures in README: screenshots.mjs FOLDER [cupti], which holds train.html and run.html (and
// cupti.html, of a trace with what CUPTI saw), gets PNGs.
import { openBrowser, openPage, settled, view } from "./browser.mjs";

const [folder, cupti] = process.argv.slice(2);
const browser = await openBrowser();
const size = { viewport: { width: 1180, height: 760 } };

async function shoot(name, file, hash, prepare = async () => {}) {
	const { page, close } = await openPage(browser, `${folder}/${file}.html`, hash, size);

	await prepare(page);
	await settled(page);
	await page.screenshot({ path: `${folder}/page-${name}.png` });
	await close();
}

await shoot("flame", "train", "#axis=event&stacks=python", async (page) => {
	await page.evaluate(() => document.querySelector(".cursorbar").scrollIntoView());
});
await shoot("map", "run", "#axis=event&from=1200&to=3600");
await shoot("segments", "run", "#axis=event&view=segments&by=category&theme=dark", async (page) => {
	await view(page, "segments");
	await page.evaluate(() => document.querySelector(".cursorbar").scrollIntoView());
});
// Kernels under the curve: over events, so that the time before the first one takes no room.
if (cupti) {
	await shoot("kernels", cupti, "#axis=event&view=activity");
}
await browser.close();
