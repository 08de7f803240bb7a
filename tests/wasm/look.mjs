// SPDX-License-Identifier: MIT
// look.mjs PAGE RECORDING PERFILE: the page that opens recordings by keyboard alone, on narrow screens, and by the rules of axe-core where PERFILE_AXE names the
// file axe.min.js of that npm package; and what it saves of a picture, which is what a page of PERFILE saves.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { openBrowser } from "../viewer/browser.mjs";
import { check, equal, findBrowser, finish, like, skip } from "../viewer/checks.mjs";

const [path, original, command] = process.argv.slice(2), perfile = resolve(command), SHIFT = 8;
if (!existsSync(path)) skip("./dev wasm has not made the page");
const folder = mkdtempSync(join(tmpdir(), "perfile-look-")), browser = await openBrowser(findBrowser()), pages = [];
const recording = join(folder, "demo.data"), other = join(folder, "other.data");
for (const copy of [recording, other]) {
  copyFileSync(original, copy);
  utimesSync(copy, 1e9, 1e9);
}
const axe = process.env.PERFILE_AXE && existsSync(process.env.PERFILE_AXE) ? readFileSync(process.env.PERFILE_AXE, "utf8") : null;
if (!axe) console.log("not tested: rules of axe-core");

async function fresh(...screen) {
  const page = await browser.page(...screen);
  pages.push(page);
  await page.open(pathToFileURL(path).href);
  return page;
}
/* What is run is over, and the picture in its frame is drawn. */
const settled = page => page.evaluate(`new Promise((done, fail) => { const last = Date.now() + 60000; let calm = 0; const look = () => {
  const frame = document.querySelector("#view iframe:not([hidden])");
  const isBusy = "busy" in document.documentElement.dataset || frame?.contentDocument && !("ready" in frame.contentDocument.documentElement.dataset);
  calm = isBusy ? 0 : calm + 1;
  calm > 4 ? done() : Date.now() > last ? fail(new Error("the page is busy for a minute")) : setTimeout(look, 20); }; look(); })`);
async function choose(page, ...paths) {
  await page.choose("#files", paths);
  await settled(page);
}
/* With "frame " before what has the focus in the picture. */
const focus = page => page.evaluate(`(() => { let e = document.activeElement, where = "";
  while (e?.contentDocument) { e = e.contentDocument.activeElement; where += "frame "; }
  return where + (e === e?.ownerDocument.body ? "" : e.id || e.closest(".flame")?.id || e.tagName.toLowerCase()); })()`);
async function press(page, key, modifiers = 0) {
  await page.key(key, modifiers);
  await settled(page);
}
async function tabTo(page, what, modifiers = 0) {
  for (let i = 0; i < 40; i++) {
    const now = await focus(page);
    if (what.test(now)) return now;
    await page.key("Tab", modifiers);
  }
  check(`Tab reaches ${what}`, false, await focus(page));
  return "";
}
const inner = (page, expression) => page.evaluate(`(frame => (${expression}))(document.querySelector("#view iframe:not([hidden])").contentDocument)`);

async function testKeys(page) {
  await page.evaluate("globalThis.asked = []; for (const id of ['files', 'folder']) document.getElementById(id).addEventListener('click', event => { event.preventDefault(); asked.push(id); })");
  await tabTo(page, /^choosefiles$/);
  await press(page, "Enter");
  await tabTo(page, /^choosefolder$/);
  await press(page, " ");
  equal("what is asked for", await page.evaluate("asked"), ["files", "folder"]);
  await choose(page, recording);
  like("the focus is in the picture", await focus(page), /^frame/);
  await press(page, "2");
  equal("2: the functions", await inner(page, "frame.querySelector('#view-table').hidden"), false);
  await press(page, "1");
  await tabTo(page, /^frame search$/);
  await page.type("a");
  await settled(page);
  equal("a search", await inner(page, "frame.querySelector('#search').value"), "a");
  await tabTo(page, /^frame flame$/);
  const before = await inner(page, "frame.querySelector('#details').textContent");
  await press(page, "ArrowDown");
  check("details of a frame", await inner(page, "frame.querySelector('#details').textContent") !== before, before);
  await tabTo(page, /^add$/, SHIFT);
  await tabTo(page, /^tab-flame$/, SHIFT);
  for (const view of ["report", "info", "check", "table", "flame"]) {
    await press(page, "ArrowRight");
    equal(`an arrow shows ${view}`, await page.evaluate("document.documentElement.dataset.shown"), view);
    if (view === "flame") like("the focus is in the picture again", await focus(page), /^frame|^tab-flame$/);
    else equal("and keeps the focus", await focus(page), `tab-${view}`);
  }
}
async function testCommand(page) {
  await page.evaluate("perfilePage.choose('report')");
  await tabTo(page, /^command$/);
  await page.evaluate("document.querySelector('#command').select()");
  await page.type("info demo.data");
  await press(page, "Enter");
  like("a command", await page.text("#view pre:not([hidden])"), /^format/);
  await tabTo(page, /^save$/, SHIFT);
  await press(page, "Enter");
  equal("the menu Save is open", await page.evaluate("document.querySelector('#savemenu').hidden"), false);
  await press(page, "ArrowDown");
  equal("its second item", await page.evaluate("document.activeElement.textContent"), "Flame graph (SVG)");
  await press(page, "Escape");
  equal("closed", [await page.evaluate("document.querySelector('#savemenu').hidden"), await focus(page)], [true, "save"]);
  await tabTo(page, /^add$/);
  await press(page, "Enter");
  equal("the first screen", [await page.evaluate("document.querySelector('#start').hidden"), await focus(page)], [false, "choosefiles"]);
  await press(page, "Escape");
  equal("and back", [await page.evaluate("document.querySelector('#start').hidden"), await focus(page)], [true, "add"]);
}

/* ---- screens ---- */

async function look(page, what, beneath = "") {
  await settled(page);
  const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
  check(`${what}: nothing is wider than the window`, wide <= 0, wide);
  if (!axe) return;
  const found = await page.evaluate(`axe.run({ exclude: ["#view iframe", ${beneath}] }, { resultTypes: ["violations"],
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(({ violations }) => violations.map(({ id, nodes }) =>
    id + ": " + nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 120) + " " + failureSummary.split("\\n")[1]).join(" | ")))`);
  equal(`${what}: what axe-core finds`, found, []);
}
const click = (page, selector) => page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
async function testScreen(page, name) {
  if (axe) await page.evaluate(axe + ";0");
  await look(page, `${name}, the first screen`);
  await choose(page, recording);
  await look(page, `${name}, the picture`);
  for (const view of ["report", "info", "check", "table"]) {
    await click(page, `#tab-${view}`);
    await look(page, `${name}, ${view}`);
  }
  await click(page, "#save");
  await look(page, `${name}, the menu Save`, "'#commandbox'"); // which is partly below it
  await click(page, "#save");
  await page.evaluate("perfilePage.choose('table', 'table nothing')");
  await look(page, `${name}, what went wrong`);
  await click(page, "#add");
  await look(page, `${name}, the first screen again`);
  await choose(page, recording, other);
  await look(page, `${name}, a comparison`);
  await page.evaluate("document.documentElement.classList.add('dragged'); document.querySelector('#drops').hidden = false; document.querySelector('#start').hidden = false");
  await look(page, `${name}, a drag`);
}

/* ---- what is saved ---- */

const SAVE = `(async inner => { const saved = new Promise(done => { inner.URL.createObjectURL = blob => { done(blob); return "about:blank"; }; });
  inner.HTMLAnchorElement.prototype.click = () => {};
  inner.document.querySelector("#save").click();
  [...inner.document.querySelectorAll("#menu button")].find(button => /Page as shown/.test(button.textContent)).click();
  return (await saved).text(); })`;
const STATES = ["#search=a&view=table", "#time=50000000-100000000", "#stacks=callers&view=tree"];
async function testSaved(page) {
  const native = join(folder, "native.html"), words = ["flame", "--format", "html", "--symfs", "/nonexistent"];
  for (const more of [[], ["--time", "+0.05,+0.1"]]) {
    writeFileSync(native, execFileSync(perfile, [...words, ...more, "demo.data"], { cwd: folder, env: { ...process.env, PERFILE_ADVICE: "no" }, stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 }));
    await choose(page, recording);
    await page.evaluate(`perfilePage.choose("flame", ${JSON.stringify([...words, ...more, "demo.data"].join(" "))})`);
    await settled(page);
    for (const state of STATES) {
      const alone = await browser.page();
      pages.push(alone);
      await alone.open(pathToFileURL(native).href + state);
      await alone.settle();
      await inner(page, `frame.defaultView.history.pushState(null, "", ${JSON.stringify(state)}), frame.defaultView.dispatchEvent(new PopStateEvent("popstate")), 0`);
      await settled(page);
      const [expected, saved] = [await alone.evaluate(`${SAVE}(window)`), await page.evaluate(`${SAVE}(document.querySelector("#view iframe:not([hidden])").contentWindow)`)];
      check(`saved with ${more} ${state}: ${saved.length} and ${expected.length} characters`, saved === expected && expected.length > 50000);
    }
  }
}

const page = await fresh();
await testKeys(page);
await testCommand(page);
await testSaved(await fresh());
for (const [name, ...screen] of [["light", 1280, 800], ["dark", 1280, 800, "dark"], ["400 px", 400, 700], ["400 px, dark", 400, 700, "dark"]]) await testScreen(await fresh(...screen), name);
for (const { errors } of pages) equal("errors", errors, []);
await browser.close();
rmSync(folder, { recursive: true });
finish();
