// SPDX-License-Identifier: MIT
// What readers do with the page, and with how many clicks: node tasks.mjs PATH_OF_MADE
// Each task begins with the open page. A click, a drag and a choice of a list are one each; typing is not counted. `best` is what the best of speedscope,
// Firefox Profiler, hotspot, pprof, FlameGraph and Perfetto needs, where they can do it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "./browser.mjs";
import { check, equal, findBrowser, finish } from "./checks.mjs";

const [made] = process.argv.slice(2);
const program = findBrowser();
const folder = mkdtempSync(join(tmpdir(), "perfile-tasks-"));
const urls = new Map();
function urlOf(form) {
  const path = join(folder, form + ".html");
  if (!urls.has(form)) writeFileSync(path, execFileSync(made, [form, "300"], { maxBuffer: 1 << 28 }));
  urls.set(form, "file://" + path);
  return urls.get(form);
}

/* A page whose clicks are counted. */
function counted(page) {
  let clicks = 0;
  const middle = async selector => {
    const { x, y, width, height } = await page.box(selector);
    return [x + width / 2, y + height / 2];
  };
  return {
    clicks: () => clicks,
    evaluate: page.evaluate,
    text: page.text,
    async click(selector) {
      clicks++;
      await page.click(...(await middle(selector)));
      await page.settle();
    },
    async item(text) {
      const at = await page.evaluate(`[...document.querySelectorAll("#menu button")].findIndex(b => b.firstChild.data === ${JSON.stringify(text)}) + 1`);
      await this.click(`#menu button:nth-child(${at})`);
    },
    async choose(selector, value) {
      clicks++;
      await page.evaluate(`(s => { s.value = ${JSON.stringify(value)}; s.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector(${JSON.stringify(selector)}))`);
      await page.settle();
    },
    async drag(selector, from, to) {
      clicks++;
      const { x, y, width, height } = await page.box(selector);
      await page.drag(x + width * from, y + height / 2, x + width * to, y + height / 2);
      await page.settle();
    },
    async type(...keys) {
      for (const key of keys) await (key.length > 1 && !/^[A-Z]\w+$/.test(key) ? page.type(key) : page.key(key));
      await page.settle();
    },
  };
}
const hash = page => page.evaluate("decodeURIComponent(location.hash)");
const shown = (page, selector) => page.evaluate(`(e => !!e && e.getBoundingClientRect().height > 0)(document.querySelector(${JSON.stringify(selector)}))`);

const TASKS = [
  { task: "the hot function", best: 1, run: async page => {
    await page.click("#tab-table");
    return page.evaluate("document.querySelector('#functions tbody tr').getAttribute('aria-selected') === 'true'");
  } },
  { task: "its callers and callees", best: 1, run: async page => {
    await page.click("#tab-table");
    return (await shown(page, "#callers canvas")) && shown(page, "#callees canvas");
  } },
  { task: "its instructions, at the heaviest", form: "codehtml", best: 1, run: async page => {
    await page.click("#tab-code");
    return page.evaluate("parseFloat(document.querySelector('#code tr[aria-selected=true] b').textContent) > 0");
  } },
  { task: "which thread it runs in", best: 1, run: async page => {
    await page.click("#tab-table");
    return (await page.text("#callershead")).startsWith("Callers of");
  } },
  { task: "only one thread", best: 1, run: async page => {
    await page.click("#lanes div:nth-child(2)");
    return /zoom=/.test(await hash(page));
  } },
  { task: "what happened at 2.2 s", best: 1, run: async page => {
    await page.click("#when");
    await page.type("2.2", "Enter");
    return /time=2200000000-2300000000/.test(await hash(page));
  } },
  { task: "a part of the time", best: 1, run: async page => {
    await page.drag("#time", 0.3, 0.6);
    return /time=\d/.test(await hash(page));
  } },
  { task: "only stacks that a regular expression finds", best: 1, run: async page => {
    await page.type("/", "hash<[0-9]+>");
    await page.click("#searchacts button[value=only]");
    return /only=hash/.test(decodeURIComponent(await hash(page)));
  } },
  { task: "a function by its name", best: 0, run: async page => {
    await page.type("/", "codec");
    return parseFloat(await page.text("#matched")) > 0;
  } },
  { task: "everything again", best: 1, run: async page => {
    await page.type("/", "hash", "Enter");
    await page.type("Escape", "Escape");
    return (await page.text("#crumbs")) === "Everything is shown";
  } },
  { task: "what changed since another recording", form: "diffhtml", best: 2, run: async page => {
    await page.click("#tab-table");
    return page.evaluate("document.querySelector('#functions th[data-by=change]').getAttribute('aria-sort') === 'descending'");
  } },
  { task: "where time passes off CPU", form: "offhtml", best: 1, run: async page => {
    await page.choose("#measure", "all");
    return /measure=all/.test(await hash(page));
  } },
  { task: "the order of stacks in time", best: 1, run: async page => {
    await page.click("#tab-chart");
    return shown(page, "#over-chart canvas");
  } },
  { task: "a link to what is shown", best: 2, run: async page => {
    await page.evaluate(`Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => { window.copied = text; } } })`);
    await page.click("#save");
    await page.item("Copy link");
    return page.evaluate("copied === location.href");
  } },
  { task: "a picture", best: 2, run: async page => {
    await page.evaluate(`document.addEventListener("click", e => { if (e.target.download) { e.preventDefault(); window.saved = e.target.download; } }, true);
      HTMLAnchorElement.prototype.click = function () { window.saved = this.download; }`);
    await page.click("#save");
    await page.item("Picture (SVG)");
    return page.evaluate("saved === 'made.data.svg'");
  } },
];

const browser = await openBrowser(program);
try {
  for (const { task, form = "html", best, run } of TASKS) {
    const page = await browser.page();
    await page.open(urlOf(form));
    await page.settle();
    const mine = counted(page);
    check(`${task}: done`, await run(mine), await hash(page));
    check(`${task}: at most ${best} clicks`, mine.clicks() <= best, mine.clicks());
    equal(`${task}: errors`, page.errors.join("; "), "");
    console.log(`| ${task} | ${mine.clicks()} | ${best} |`);
    await browser.closePages();
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
finish();
