/*
 * Opens reports in Chromium: node browser.js FOLDER-FOR-PICTURES FILE.html...
 *
 * Prints a line of TAP for each thing that must hold: every chart is drawn, nothing is said on the console, nothing is asked
 * of the network, pointer, keyboard and legend work, nothing is wider than the window; at 400 and at 1600 pixels.
 */
"use strict";
const path = require("path");
const { chromium } = require("playwright-core");

let count = 0;
function tap(holds, name) {
	count++;
	console.log((holds ? "ok " : "not ok ") + count + " - " + name);
}

/* Pixels of a canvas that are not empty. */
function inked(canvas) {
	const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
	let ink = 0;
	for (let i = 3; i < data.length; i += 4)
		ink += data[i] > 0;
	return ink;
}

async function pointer(page, name) {
	const over = page.locator(".live.drawn .u-over").first();
	await over.scrollIntoViewIfNeeded();
	const box = await over.boundingBox();
	await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
	const value = await page.locator(".live.drawn .u-legend .u-series").nth(1).locator(".u-value").textContent();
	tap(/\d/.test(value), name + ": the legend has the value under the pointer (" + value + ")");
}

async function keyboard(page, name) {
	await page.mouse.move(0, 0);
	await page.locator(".live.drawn .picture").first().focus();
	await page.keyboard.press("End");
	const first = await page.locator("#said").textContent();
	await page.keyboard.press("ArrowLeft");
	const second = await page.locator("#said").textContent();
	tap(/\d/.test(first) && /\d/.test(second) && first !== second, name + ": arrow keys say values (" + second + ")");
}

async function legend(page, name) {
	const row = page.locator(".live.drawn .u-legend .u-series").nth(1);
	await row.locator("th").click();
	const hidden = await row.evaluate((element) => element.classList.contains("u-off"));
	await row.locator("th").focus();
	await page.keyboard.press("Enter");
	const shown = await row.evaluate((element) => !element.classList.contains("u-off"));
	tap(hidden && shown, name + ": the legend hides a line and shows it again");
}

async function look(browser, file, folder, width, scheme) {
	const name = path.basename(file, ".html") + "-" + width + "-" + scheme;
	const page = await browser.newPage({ viewport: { width: width, height: 900 }, colorScheme: scheme });
	const told = [], asked = [];

	page.on("console", (message) => told.push(message.text()));
	page.on("pageerror", (error) => told.push(String(error)));
	page.on("request", (request) => asked.push(request.url()));
	await page.goto("file://" + path.resolve(file));
	const charts = await page.evaluate(() => JSON.parse(document.getElementById("charts").textContent).map((chart) => chart.name));
	const empty = [];
	for (const chart of charts)
		if (!(await page.locator("#" + chart + " canvas").count()) || (await page.locator("#" + chart + " canvas").evaluate(inked)) < 100)
			empty.push(chart);
	tap(empty.length === 0, name + ": each of " + charts.length + " charts of lines is drawn " + empty);
	const still = await page.evaluate(() => Array.from(document.querySelectorAll("figure:not(.live)")).filter((figure) => {
		const box = figure.querySelector("svg").getBoundingClientRect();
		return box.width < 100 || box.height < 50 || figure.querySelectorAll("rect").length < 2;
	}).map((figure) => figure.id));
	tap(still.length === 0, name + ": each still picture is drawn " + still);
	if (charts.length) {
		await pointer(page, name);
		await keyboard(page, name);
		await legend(page, name);
	}
	const spans = await page.evaluate(() => JSON.parse(document.getElementById("charts").textContent).filter((chart) => chart.spans.length).map((chart) => ({
		name: chart.name,
		legend: Array.from(document.querySelectorAll("#" + chart.name + " .spans")).map((line) => line.textContent),
		drawn: document.querySelectorAll("#" + chart.name + " svg .begin").length
	})));
	if (name.startsWith("checkpoints"))
		tap(spans.length > 3 && spans.every((one) => one.legend.join() === "checkpoint" && one.drawn > 1), name + ": checkpoints are marked in " + spans.length + " charts");
	else
		tap(spans.length === 0, name + ": nothing is marked that was not there");
	const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
	tap(wide <= 0, name + ": nothing is wider than the window (" + wide + ")");
	tap(told.length === 0, name + ": nothing on the console " + told.slice(0, 3));
	tap(asked.length === 1, name + ": nothing is asked of the network " + asked.slice(1, 3));
	await page.evaluate(() => window.scrollTo(0, 0));
	await page.screenshot({ path: path.join(folder, name + ".png"), fullPage: true });
	await page.close();
}

async function unscripted(browser, file, folder) {
	const name = path.basename(file, ".html") + "-still";
	const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1000, height: 900 } });
	const page = await context.newPage();
	await page.goto("file://" + path.resolve(file));
	const all = await page.locator("figure").count();
	tap(all > 0 && (await page.locator("figure svg:visible").count()) === all, name + ": without scripts each chart is a still picture");
	await page.pdf({ path: path.join(folder, name + ".pdf"), format: "A4", printBackground: true });
	await context.close();
}

(async () => {
	const [folder, ...files] = process.argv.slice(2);
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
	for (const file of files) {
		await look(browser, file, folder, 400, "light");
		await look(browser, file, folder, 1600, "light");
		await look(browser, file, folder, 1600, "dark");
		await unscripted(browser, file, folder);
	}
	await browser.close();
})().catch((error) => {
	tap(false, String(error));
	process.exit(1);
});
