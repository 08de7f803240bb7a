// SPDX-License-Identifier: MIT
// The complete page by keyboard alone, with real keys: node keyboard.mjs PATH_OF_MADE [FOLDER_FOR_PICTURES]
// Each picture is named after what was reached; nothing here clicks, moves the mouse or sets focus by script.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "./browser.mjs";
import { check, equal, findBrowser, finish, like } from "./checks.mjs";

const SHIFT = 8;
const [made, pictures] = process.argv.slice(2);
const program = findBrowser();

let pictured = 0;

const folder = mkdtempSync(join(tmpdir(), "perfile-keys-"));
const browser = await openBrowser(program);
const page = await browser.page();

/* What has the focus, as a reader of this file calls it. */
const focus = () =>
  page.evaluate(`(() => { const e = document.activeElement, of = s => e.closest(s);
    return e === document.body ? "" : of("#menu") ? "menu: " + e.firstChild.textContent : of("#crumbs") ? "crumb"
      : e.matches("canvas") ? (of(".flame")?.id ?? (e.id || e.className)) : e.matches("tbody tr") ? of("table").id + " row"
      : e.row ? "track " + e.row.label : e.id || e.tagName.toLowerCase() + " " + (e.className || e.textContent); })()`);
async function press(key, modifiers = 0) {
  await page.key(key, modifiers);
  await page.settle();
}
async function tabTo(what, modifiers = 0) {
  for (let i = 0; i < 40; i++) {
    const now = await focus();
    if (what.test(now)) return now;
    await press("Tab", modifiers);
  }
  check(`Tab reaches ${what}`, false, await focus());
  return "";
}
async function kept(what) {
  check(`after ${what} something has the focus`, (await focus()) !== "", await focus());
  if (pictures) await page.picture(join(pictures, `key-${String(++pictured).padStart(2, "0")}-${what.replace(/\W+/g, "-")}.png`));
}
const shown = view => page.evaluate(`!document.querySelector("#view-${view}").hidden`);
const crumbs = () => page.evaluate("document.querySelectorAll('#crumbs li + li').length");
const hash = () => page.evaluate("decodeURIComponent(location.hash)");

async function testOrder() {
  const stops = [];
  for (let i = 0; i < 40; i++) {
    await press("Tab");
    const now = await focus();
    if (!now) break;
    stops.push(now);
  }
  equal(
    "the order of Tab",
    stops.join(", "),
    "summary, event, search, save, theme, helpbutton, tab-flame, threads, viewbutton, time, when, flame, details",
  );
  await press("Tab", SHIFT);
  equal("Shift+Tab goes back", await focus(), "details");
  const unseen = await page.evaluate(`(() => { const e = document.querySelector("#flip"); return getComputedStyle(e, null).outlineStyle; })()`);
  equal("what has no focus has no outline", unseen, "none");
  equal("what has it, has one", await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid");
}

async function testTabs() {
  await tabTo(/^tab-/, SHIFT);
  for (const view of ["table", "tree", "tracks", "chart", "heat", "flame"]) {
    await press("ArrowRight");
    equal(`an arrow on the tabs shows ${view}`, await shown(view), true);
    equal("and has the focus", await focus(), "tab-" + view);
    await kept("view " + view);
  }
}

async function testFlame() {
  await tabTo(/^flame$/);
  await press("ArrowDown");
  await press("ArrowDown");
  const frame = await page.text("#details b");
  await press("Enter");
  like("Enter zooms", await hash(), /zoom=/);
  await press("Escape");
  check("Escape takes it back", !/zoom=/.test(await hash()), await hash());
  await press("F10", SHIFT);
  equal("Shift+F10 opens the menu", await focus(), "menu: Callers and callees");
  await press("ArrowDown");
  equal("arrows go on in it", await focus(), "menu: Focus on function");
  await press("Escape");
  equal("Escape closes it", await focus(), "flame");
  await press("ContextMenu");
  await press("ArrowDown");
  await press("Enter");
  equal("Enter chooses", await crumbs(), 1);
  await kept("a transform of the menu");
  await tabTo(/^crumb$/, SHIFT);
  await press("Enter");
  equal("Enter on the crumb takes it back", await crumbs(), 0);
  await kept("taking a crumb back");
  await tabTo(/^flame$/);
  await press("Home");
  await press("ArrowDown");
  await press("ArrowDown");
  equal("the same frame is reached again", await page.text("#details b"), frame);
  await press("d");
  equal("a key is a transform", await crumbs(), 1);
  await press("Escape");
  equal("and Escape takes it back", await crumbs(), 0);
  await press("ArrowDown");
  await press("ArrowDown");
  await press("s");
  equal("s goes to the function", await shown("table"), true);
  equal("to its row", await focus(), "functions row");
}

async function testRows() {
  const row = () => page.evaluate("document.activeElement.cells?.[2].textContent ?? ''");
  await press("2");
  await tabTo(/^functions row$/);
  const first = await row();
  await press("ArrowDown");
  check("an arrow goes to another row", (await row()) !== first && (await row()) !== "", await row());
  equal("which Tab comes back to", await page.evaluate("document.activeElement.tabIndex"), 0);
  equal("and no other row", await page.evaluate("document.querySelectorAll('#functions tbody [tabindex=\"0\"]').length"), 1);
  await press("f");
  equal("a row has transforms", await crumbs(), 1);
  await kept("a transform of a row");
  await press("Escape");
  equal("Escape takes it back", await crumbs(), 0);
  await kept("taking it back");
  await press("F10", SHIFT);
  like("a row has the menu", await focus(), /^menu: /);
  await press("Escape");
  equal("which gives the focus back", await focus(), "functions row");
  await tabTo(/^callers$/);
  await tabTo(/^callees$/);
  await press("ArrowDown");
  await tabTo(/^button Total$/, SHIFT);
  await press("Enter");
  equal("Enter sorts", await page.evaluate("document.activeElement.parentNode.ariaSort"), "descending");
  await press("3");
  await tabTo(/^tree row$/);
  const rows = () => page.evaluate("+document.querySelector('#tree').ariaRowCount"),
    before = await rows();
  await press("Enter");
  check("Enter opens or closes", (await rows()) !== before, [before, await rows()]);
  await press("Enter");
  equal("Enter does it the other way", await rows(), before);
  await press("ArrowRight");
  const open = await rows();
  await press("ArrowLeft");
  check("arrow left closes", (await rows()) < open, await rows());
  await press("ArrowRight");
  equal("arrow right opens", await rows(), open);
  await press("ArrowDown");
  await press("F");
  equal("a subtree", await crumbs(), 1);
  await kept("a transform in the call tree");
  await press("Escape");
  equal("taken back", await crumbs(), 0);
}

async function testTime() {
  await press("1");
  await tabTo(/^time$/, SHIFT);
  for (let i = 0; i < 4; i++) await press("ArrowRight", SHIFT);
  like("Shift and arrows select a time", await hash(), /time=\d/);
  equal("which is a crumb", await crumbs(), 1);
  await kept("a range of time");
  await press("Escape");
  check("Escape: all of it", !/time=/.test(await hash()), await hash());
}

async function testOverTime() {
  await press("4");
  await tabTo(/^track All$/);
  await press("ArrowDown");
  await press("Enter");
  like("Enter shows only this track", await hash(), /processes=\d|pick=\d/);
  await kept("a track");
  await press("ArrowRight", SHIFT);
  await press("ArrowRight", SHIFT);
  like("Shift and arrows select a time", await hash(), /time=\d/);
  await press("Escape");
  await press("Escape");
  equal("Escape takes all of it back", await crumbs(), 0);
  await tabTo(/^ot-axis$/, SHIFT);
  await press("5");
  await tabTo(/^ot-chart$/);
  const heard = () => page.evaluate("[...document.querySelectorAll('[aria-live]')].map(e => e.textContent).join('')");
  const silent = await heard();
  await press("ArrowDown");
  await press("ArrowRight");
  check("arrows in the stack chart are spoken", (await heard()) !== silent, await heard());
  await kept("the stack chart");
  await press("6");
  await tabTo(/^ot-heat$/);
  await press("ArrowRight", SHIFT);
  await press("ArrowDown", SHIFT);
  await kept("the heat map");
  await press("Escape");
}

async function testRest() {
  await press("/");
  equal("/ searches", await focus(), "search");
  await page.type("hash<");
  await press("Escape");
  await press("?");
  equal("? helps", await page.evaluate("document.querySelector('#help').open"), true);
  await press("Escape");
  equal("Escape closes", await page.evaluate("document.querySelector('#help').open"), false);
  await tabTo(/^theme$/, SHIFT);
  const dark = await page.evaluate("document.documentElement.className");
  await press(" ");
  check("Space presses a button", (await page.evaluate("document.documentElement.className")) !== dark, dark);
}

try {
  const path = join(folder, "page.html");
  writeFileSync(path, execFileSync(made, ["html", "300"], { maxBuffer: 1 << 28 }));
  await page.open("file://" + path);
  await page.settle();
  for (const test of [testOrder, testTabs, testFlame, testRows, testTime, testOverTime, testRest]) await test();
  equal("errors", page.errors.join("; "), "");
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
finish();
