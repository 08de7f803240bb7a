// SPDX-License-Identifier: MIT
// The page and the SVG in a real browser, with real keys and clicks: node run.mjs PATH_OF_MADE [FOLDER_FOR_PICTURES [TEST...]]
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "./browser.mjs";
import { check, equal, findBrowser, finish, like } from "./checks.mjs";
import { Unsupported } from "./page.mjs";

const SHIFT = 8;
const [made, pictures, ...only] = process.argv.slice(2);
const program = findBrowser();

const folder = mkdtempSync(join(tmpdir(), "perfile-pages-"));
function make(form, stacks) {
  const path = join(folder, `${form}-${stacks}.${/html/.test(form) ? "html" : form === "folded" ? "folded" : "svg"}`);
  if (existsSync(path)) return path;
  const file = openSync(path, "w");
  execFileSync(made, [form, String(stacks)], { stdio: ["ignore", file, "inherit"] });
  closeSync(file);
  return path;
}

/* The folded stacks are the other way to the same numbers. */
const folded = execFileSync(made, ["folded", "300"], { encoding: "utf8", maxBuffer: 1 << 28 })
  .trim()
  .split("\n")
  .map(line => ({
    frames: line.slice(0, line.lastIndexOf(" ")).split(";"),
    weight: +line.slice(line.lastIndexOf(" ") + 1),
  }));
const total = test => folded.filter(s => test(s.frames)).reduce((a, s) => a + s.weight, 0);

async function testFlame(page) {
  const box = await page.box("#flame canvas"),
    row = n => box.y + 18 * n + 9;
  const details = () => page.text("#details");
  like("details of the root", await details(), new RegExp(`^all ${total(() => true)} samples`));
  await page.click(box.x + 30, row(1));
  like(
    "a click selects the heaviest thread",
    await details(),
    new RegExp(`^worker/\\* ×3 ${total(f => /^worker/.test(f[0]))} samples, `),
  );
  await page.key("ArrowDown");
  await page.settle();
  const child = await details();
  like("arrow down goes to the callee", child, /of worker/);
  like("and is spoken", await page.text("#live"), /^db::query::hash.* samples, .*level 2$/s);
  await page.key("ArrowRight");
  like("arrow right goes beside", await details(), /of worker/);
  check("which is another frame", (await details()) !== child, child);
  await page.key("ArrowLeft");
  equal("arrow left goes back", await details(), child);
  await page.key("Enter");
  await page.settle();
  equal("enter zooms", await page.evaluate("document.querySelector('#reset').disabled"), false);
  await page.click(box.x + box.width - 20, row(1));
  like("the caller is as wide as everything", await details(), /^worker/);
  await page.key("Escape");
  await page.settle();
  equal("escape unzooms", await page.evaluate("document.querySelector('#reset').disabled"), true);
  await page.click(box.x + 30, row(2), 2);
  await page.settle();
  equal("a double click zooms", await page.evaluate("document.querySelector('#reset').disabled"), false);
  await page.key("0");
  await page.settle();
  equal("0 unzooms", await page.evaluate("document.querySelector('#reset').disabled"), true);
  await page.key("i");
  equal("i flips", await page.evaluate("document.querySelector('#flip').getAttribute('aria-pressed')"), "true");
  await page.settle();
  await page.key("i");
}

async function testSearch(page) {
  const share = (100 * total(f => f.some(name => /hash</.test(name)))) / total(() => true);
  await page.key("/");
  await page.type("hash<");
  equal("what is matched", await page.text("#matched"), `${share.toFixed(1)}% matched`);
  await page.key("Enter");
  like("enter goes to a match", await page.text("#details"), /^\S*hash/);
  await page.type("(");
  equal(
    "a bad expression is said",
    await page.evaluate("document.querySelector('#search').getAttribute('aria-invalid')"),
    "true",
  );
  await page.key("Escape");
  equal("escape clears", await page.evaluate("document.querySelector('#search').value"), "");
  equal("and says so", await page.text("#matched"), "");
}

async function testTable(page) {
  await page.key("2");
  await page.settle();
  const cell = (row, column) => page.text(`#functions tbody tr:nth-child(${row}) td:nth-child(${column})`);
  equal("the view is shown", await page.evaluate("document.querySelector('#view-table').hidden"), false);
  const head = await page.box("#functions th:nth-child(2) button");
  await page.click(head.x + 5, head.y + 5);
  equal(
    "a click sorts",
    await page.evaluate("document.querySelector('#functions th:nth-child(2)').ariaSort"),
    "descending",
  );
  like("the first has the most", await cell(1, 3), /^worker|^\[/);
  const first = await page.box("#functions tbody tr:nth-child(1)");
  await page.click(first.x + 300, first.y + 5);
  await page.key("ArrowDown");
  await page.settle();
  equal("arrow down moves on", await page.text("#callershead"), "Callers of " + (await cell(2, 3)));
  equal("and to what it calls", await page.text("#calleeshead"), "Callees of " + (await cell(2, 3)));
  const callees = await page.box("#callees canvas");
  await page.click(callees.x + 20, callees.y + 9);
  like("the root of the callees is the function", await page.text("#details"), new RegExp("^.+ \\d+ samples"));
  const notices = await page.text("#details");
  for (const other of ["1", "3", "4"]) {
    await page.key(other);
    await page.settle();
    if (other === "1") await page.key("Home");
    await page.key("2");
    await page.settle();
    equal(`coming back from view ${other}, the function is told about`, await page.text("#details"), notices);
  }
}

async function testTree(page) {
  await page.key("3");
  await page.settle();
  const rows = () => page.evaluate("document.querySelector('#tree').ariaRowCount - 1");
  const before = await rows();
  check("the tree has rows", before > 0, before);
  const [name, notices] = await page.evaluate("[document.querySelector('#tree tbody tr[tabindex=\"0\"] td:nth-child(3)').title, document.querySelector('#details b').title]");
  equal("the footer is about its first row, not about the view before", notices, name.split("\n")[0]);
  await page.evaluate("document.querySelector('#view-tree').scrollTop = 1e6");
  await page.settle();
  await page.evaluate("[...document.querySelectorAll('#tree tbody tr')].find(r => r.ariaExpanded === 'false').focus()");
  await page.key("ArrowRight");
  check("arrow right opens", (await rows()) > before, await rows());
  await page.key("ArrowLeft");
  equal("arrow left closes", await rows(), before);
  await page.key("s");
  await page.settle();
  like("s shows callers and callees", await page.text("#live"), /^Callers and callees of/);
  await page.key("1");
}

async function testTime(page) {
  const box = await page.box("#time"),
    all = await page.text("#details");
  await page.drag(box.x + box.width * 0.25, box.y + 20, box.x + box.width * 0.75, box.y + 20);
  await page.settle();
  await page.settle();
  like("the range is said", await page.text("#range"), /^1\.2\d+ s – 3\.7\d+ s \(2\.\d+ s\), \d+ of 305 samples, \d\d\.\d%/);
  like("with the recording's clock as its title", await page.evaluate("document.getElementById('range').title"), /1235\.7\d\d,1238\.2\d\d$/);
  check("only that is shown", (await page.text("#details")) !== all, all);
  await page.evaluate("document.querySelector('#time').focus()");
  await page.key("Escape");
  await page.settle();
  like("escape shows everything", await page.text("#range"), /^0\.000 s – 4\.975 s \(4\.975 s\) · clock/);
  await page.key("ArrowRight", SHIFT);
  await page.settle();
  like("shift and arrow selects", await page.text("#range"), /^0\.0+ s – 0\.0[245]\d* s/);
  await page.key("Escape");
  await page.settle();
}

async function testChoices(page) {
  const choose = (id, value) =>
    page.evaluate(`(() => { const e = document.getElementById("${id}"); e.value = "${value}";
    e.dispatchEvent(new Event("change")); })()`);
  const before = await page.text("#details");
  await choose("event", 1);
  check("another event has another total", (await page.text("#details")) !== before, before);
  await choose("event", 0);
  await choose("stacks", "callers");
  await page.settle();
  like("leaf first has the same total", await page.text("#details"), /^all 305 samples/);
  await choose("stacks", "callees");
  for (const [id, value] of [
    ["threads", "one"],
    ["threads", "apart"],
    ["order", "name"],
    ["colour", "module"],
    ["colour", "kind"],
    ["order", "weight"],
  ]) {
    await choose(id, value);
    await page.settle();
    like(`${id} ${value} has the same total`, await page.text("#details"), /^all 305 samples/);
  }
  await choose("threads", "name");
  await page.evaluate("document.activeElement.blur()");
  const theme = () => page.evaluate("document.documentElement.className"),
    system = await theme();
  await page.key("t");
  equal("t is the other theme", await theme(), system ? "" : "dark");
  await page.key("t");
  await page.key("?");
  equal("? helps", await page.evaluate("document.querySelector('#help').open"), true);
  equal("from its begin on", await page.evaluate("document.querySelector('#help').scrollTop + document.activeElement.id"), "0helptitle");
  await page.key("Escape");
  equal("escape closes the help", await page.evaluate("document.querySelector('#help').open"), false);
}

/* Of a browser that has no such answer. */
function orNothing(error) {
  if (!(error instanceof Unsupported)) throw error;
  return { nodes: [] };
}
async function testAccessible(page) {
  const { nodes } = await page.notify("Accessibility.getFullAXTree").catch(orNothing);
  const nameless = nodes.filter(
    n =>
      !n.ignored &&
      ["button", "combobox", "searchbox", "tab", "application", "treegrid", "table"].includes(n.role?.value) &&
      !n.name?.value,
  );
  equal("controls without a name", nameless.length, 0);
  check("a live region", await page.evaluate("!!document.querySelector('[aria-live=polite]')"));
}

/* What was asked for beside the page: what it makes itself, and a font that Firefox has within it, come from nowhere else. */
const requested = (page, path) => page.requests.filter(url => url !== "file://" + path && !/^(blob|data):/.test(url)).join();
async function testPage(browser, theme) {
  const page = await browser.page(1280, 800, theme),
    path = make("html", 300);
  await page.open("file://" + path);
  await page.settle();
  equal("title", await page.evaluate("document.title"), "made.data");
  equal(
    "the system's colours",
    await page.evaluate("document.documentElement.className"),
    theme === "dark" ? "dark" : "",
  );
  for (const test of [testFlame, testSearch, testTable, testTree, testTime, testChoices, testAccessible])
    await test(page);
  equal("requests beside the page", requested(page, path), "");
  equal("no error", page.errors.join("; "), "");
  if (pictures) await page.picture(join(pictures, `page-${theme}.png`));
}

/* All that is looked at is in the URL: a link shows it again, and the browser goes back. */
async function testState(browser) {
  const page = await browser.page(),
    url = "file://" + make("html", 300);
  await page.open(url);
  await page.settle();
  const hash = () => page.evaluate("location.hash"),
    details = () => page.text("#details"),
    shows = view => page.evaluate(`!document.querySelector("#view-${view}").hidden`),
    back = async () => {
      await page.evaluate("history.back()");
      await page.settle();
      await page.settle();
    };
  equal("a fresh page has no state in its URL", await hash(), "");
  const box = await page.box("#flame canvas"),
    time = await page.box("#time");
  await page.click(box.x + 30, box.y + 18 * 2 + 9, 2);
  await page.settle();
  like("a zoom is in the URL", await hash(), /zoom=\d+\.\d+/);
  const zoomed = await details();
  await page.key("2");
  await page.settle();
  await page.drag(time.x + time.width * 0.25, time.y + 20, time.x + time.width * 0.75, time.y + 20);
  await page.settle();
  const range = await page.text("#range");
  like("so are view and time", await hash(), /view=table.*time=\d/);
  const link = await hash();
  await back();
  like("back takes the time back", await page.text("#range"), /^0\.000 s – 4\.975 s \(4\.975 s\) · clock/);
  equal("and nothing else", await shows("table"), true);
  await back();
  equal("back takes the view back", await shows("flame"), true);
  equal("with the zoom", await page.evaluate("document.querySelector('#reset').disabled"), false);
  await back();
  equal("and back is where it began", await hash(), "");
  equal("unzoomed", await page.evaluate("document.querySelector('#reset').disabled"), true);
  const other = await browser.page();
  await other.open(url + link);
  await other.settle();
  equal("a link shows the same time", await other.text("#range"), range);
  equal("and the same view", await other.evaluate("!document.querySelector('#view-table').hidden"), true);
  for (const wrong of ["#view=nosuch&event=99&time=9-1&zoom=x&transforms=focus!1,evil!2&pick=7777", "#__proto__=1&constructor=2", "#transforms=focus!999999999&fn=88888888&cpus=5.6.7"]) {
    await other.open("about:blank");
    await other.open(url + wrong);
    await other.settle();
    like(`${wrong} opens`, await other.text("#details"), /^all [\d,]+ samples/);
    equal(`${wrong} without an error`, other.errors.join("; "), "");
  }
  check("the frame was told", zoomed.length > 0, zoomed);
  equal("no error", page.errors.join("; "), "");
}

/* The time line: of the measure that is chosen; a time is typed, the wheel zooms, and what is zoomed stands in the breadcrumb. */
async function testTimeLine(browser) {
  const page = await browser.page(1440, 900),
    go = async hash => {
      await page.evaluate(`history.pushState(null, "", ${JSON.stringify(hash)}); dispatchEvent(new PopStateEvent("popstate"))`);
      await page.settle();
    },
    crumbs = () => page.text("#crumbs"),
    hash = () => page.evaluate("decodeURIComponent(location.hash)");
  await page.open("file://" + make("offhtml", 300));
  await page.settle();
  for (const measure of ["weight", "blocked", "preempted", "all"]) {
    await go(`#measure=${measure}&time=0-2000000000`);
    const [, share] = (await page.text("#range")).match(/ of .*, ([\d.]+)%/) || [];
    check(`B3: the range of ${measure} is a part`, +share > 0 && +share <= 100, await page.text("#range"));
    const scale = await page.text("#lanes .scale");
    check(`B3: the scale is of ${measure}`, /thread/.test(scale) === (measure !== "weight"), scale);
  }
  await go("#");
  const type = text => page.evaluate(`(() => { const e = document.getElementById("when"); e.value = ${JSON.stringify(text)}; e.dispatchEvent(new Event("change")); })()`);
  for (const [text, wanted] of [["1.2-1.9", "time=1200000000-1900000000"], ["1.2", "time=1200000000-1300000000"], ["1", "time=1000000000-2000000000"]]) {
    await type(text);
    await page.settle();
    like(`typed: ${text}`, await hash(), new RegExp(wanted));
  }
  await type("nothing");
  equal("what is not a time is marked", await page.evaluate("document.getElementById('when').getAttribute('aria-invalid')"), "true");
  await type("");
  await page.settle();
  const box = await page.box("#time");
  await page.evaluate(`document.getElementById("time").dispatchEvent(new WheelEvent("wheel", { deltaY: -200, clientX: ${box.x + box.width / 2}, cancelable: true }))`);
  await page.until("/window=/.test(location.hash)");
  await page.settle();
  like("the wheel zooms the time line", await hash(), /window=\d+/);
  like("B4: which the breadcrumb says", await crumbs(), /Window .* – /);
  await page.evaluate("document.getElementById('wholetime').click()");
  await page.settle();
  const graph = await page.box("#flame canvas");
  const damage = (await page.box("#remarks")).height;
  check("the graph begins in the upper quarter, but for lines of damage", graph.y - damage < 225, graph.y);
  await page.click(graph.x + 30, graph.y + 18 * 2 + 9, 2);
  await page.settle();
  like("B4: zoom is in the breadcrumb", await crumbs(), /Zoomed to .*\([\d.]+%\)/);
  await page.evaluate("document.querySelector('#crumbs li + li button').click()");
  await page.settle();
  equal("and is taken back there", await page.evaluate("document.querySelector('#reset').disabled"), true);
  await page.notify("Input.dispatchMouseEvent", { type: "mouseMoved", x: graph.x + 40, y: graph.y + 18 * 3 + 9 });
  await page.settle();
  like("C4: facts stand at the pointer", await page.text("#tip"), /%/);
  await page.notify("Input.dispatchMouseEvent", { type: "mouseMoved", x: 5, y: 5 });
  equal("no error", page.errors.join("; "), "");
}

/* C2: a search becomes a filter with one click, and all views follow it. */
async function testFilters(browser) {
  const page = await browser.page();
  await page.open("file://" + make("html", 300));
  await page.settle();
  const has = f => f.some(name => /hash</.test(name)), root = async () => +(await page.text("#details")).match(/^all (\d+) samples/)[1];
  for (const [value, wanted] of [["only", total(has)], ["without", total(f => !has(f))]]) {
    await page.evaluate("document.getElementById('search').focus()");
    await page.type("hash<");
    await page.evaluate(`document.querySelector("#searchacts [value=${value}]").click()`);
    await page.settle();
    equal(`C2: ${value}`, await root(), wanted);
    like("C2: in the breadcrumb", await page.text("#crumbs"), /stacks with “hash<”/);
    equal("C2: the search is over", await page.evaluate("document.getElementById('search').value"), "");
    const link = await page.evaluate("location.href");
    await page.evaluate("document.querySelector('#crumbs button').click()");
    await page.settle();
    equal("and everything is back", await root(), total(() => true));
    await page.evaluate(`history.pushState(null, "", ${JSON.stringify(link)}); dispatchEvent(new PopStateEvent("popstate"))`);
    await page.settle();
    equal("C2: a link has it", await root(), wanted);
    for (const view of ["tracks", "chart", "heat", "table", "tree", "flame"]) {
      await page.evaluate(`document.getElementById("tab-${view}").click()`);
      await page.settle();
    }
    await page.evaluate("document.querySelector('#crumbs button').click()");
    await page.settle();
  }
  equal("no error", page.errors.join("; "), "");
}

/* What transforms leave is what folded stacks have, and each can be taken back. */
async function testTransforms(browser) {
  const page = await browser.page();
  await page.open("file://" + make("html", 300));
  await page.settle();
  const box = await page.box("#flame canvas"),
    details = () => page.text("#details"),
    crumbs = () => page.evaluate("[...document.querySelectorAll('#crumbs li + li')].map(c => c.textContent.replace(/ ×$/, ''))");
  const root = async () => {
    await page.key("Home");
    return +(await details()).match(/^all (\d+) samples/)[1];
  };
  const choose = async row => {
    await page.click(box.x + 30, box.y + 18 * row + 9);
    /* Folded stacks have no arguments. */
    return (await details()).split(" ")[0].replace(/\(int,$/, "");
  };
  await page.click(box.x + 30, box.y + 18 * 3 + 9);
  const name = await choose(3);
  const holds = f => f.some(frame => frame.replace(/_\[[kij]\]$/, "") === name);
  await page.key("d");
  await page.settle();
  equal("the graph stays where it is", JSON.stringify(await page.box("#flame canvas")), JSON.stringify(box));
  equal(`without ${name}`, await root(), total(f => !holds(f)));
  like("is said", (await crumbs()).join(), /^Without /);
  await page.key("Escape");
  await page.settle();
  equal("Escape takes it back", await root(), total(() => true));
  equal("and the crumb", (await crumbs()).length, 0);
  await choose(3);
  await page.key("f");
  await page.settle();
  equal(`only ${name}`, await root(), total(holds));
  await choose(2);
  await page.key("m");
  await page.settle();
  equal("merged, nothing is lost", await root(), total(holds));
  equal("two crumbs", (await crumbs()).length, 2);
  await page.evaluate("document.querySelector('#crumbs li + li button').click()");
  await page.settle();
  equal("the first is taken back alone", (await crumbs()).length, 1);
  equal("and all is there", await root(), total(() => true));
  await page.key("Escape");
  await page.settle();
  equal("nothing is left out", (await crumbs()).length, 0);
  await choose(3);
  await page.key("F10", SHIFT);
  await page.settle();
  equal("Shift F10 opens the menu", await page.evaluate("document.querySelector('#menu').hidden"), false);
  equal("with its first item focused", await page.evaluate("document.activeElement.getAttribute('role')"), "menuitem");
  await page.key("Escape");
  equal("Escape closes it", await page.evaluate("document.querySelector('#menu').hidden"), true);
  equal("and goes back", await page.evaluate("document.activeElement.tagName"), "CANVAS");
  await page.evaluate(`window.copied = ""; document.addEventListener("copy", () => { copied = getSelection().toString() || document.activeElement.value; });
    Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => { copied = text; } } });`);
  const item = async (text, row = 3) => {
    await choose(row);
    await page.key("F10", SHIFT);
    await page.evaluate(`[...document.querySelectorAll("#menu button")].find(b => b.firstChild.data === ${JSON.stringify(text)}).click()`);
    await page.settle();
    return page.evaluate("copied");
  };
  like("the name is copied", await item("Copy name"), new RegExp("^" + name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  equal("the stack has a line for each frame", (await item("Copy stack")).split("\n").length, 3);
  const lines = (await item("Copy folded stacks", 1)).trim().split("\n");
  equal("folded stacks weigh what the frame does", lines.reduce((a, line) => a + +line.slice(line.lastIndexOf(" ") + 1), 0),
    total(f => /^worker/.test(f[0])));
  like("the link is copied", await item("Copy link"), /^file:.*html/);
  equal("no error", page.errors.join("; "), "");
}

/* The views over time open, and what is chosen there holds everywhere. */
async function testOverTime(browser, theme) {
  const page = await browser.page(1280, 800, theme);
  await page.open("file://" + make("html", 300));
  await page.settle();
  for (const [key, view] of [["4", "tracks"], ["5", "chart"], ["6", "heat"]]) {
    await page.key(key);
    await page.settle();
    const widest = await page.evaluate(`Math.max(...[...document.querySelectorAll("#over-${view} canvas")].map(c => c.clientWidth))`);
    check(`${view} is drawn`, widest > 300, widest);
    await testAccessible(page);
    if (pictures) await page.picture(join(pictures, `${view}-${theme}.png`));
  }
  const axis = await page.box("#over-heat canvas.ot-heat");
  await page.drag(axis.x + 70, axis.y + 12, axis.x + 70, axis.y + 50);
  await page.settle();
  like("a rectangle of the heat map is a time", await page.text("#crumbs li + li"), /^\d+\.\d+ s – \d+\.\d+ s/);
  await page.key("1");
  await page.settle();
  like("which the flame graph has, too", await page.text("#details"), /^all \d+ samples/);
  check("as a part", !/^all 305 samples/.test(await page.text("#details")), await page.text("#details"));
  equal("no error", page.errors.join("; "), "");
}

/* Two recordings: changes as colours, as figures, in the tables, and what is no more. */
async function testCompared(browser, theme) {
  const page = await browser.page(1280, 800, theme);
  await page.open("file://" + make("diffhtml", 300));
  await page.settle();
  const choose = async (id, value) => {
    await page.evaluate(`(() => { const e = document.getElementById("${id}"); e.value = "${value}";
    e.dispatchEvent(new Event("change")); })()`);
    await page.settle();
  };
  const pressed = () => page.evaluate("document.querySelector('#normalize').getAttribute('aria-pressed')");
  like(
    "the root says both",
    await page.text("#details"),
    /^all 305 samples · before [\d,]+ samples, 100.0% · change ±0.00%/,
  );
  equal("the colours are changes", await page.evaluate("document.querySelector('#colour').value"), "own");
  like("and explained", await page.text("#key"), /more than before.*as before.*less/);
  equal("it opens as it was asked", await pressed(), "true");
  const box = await page.box("#flame canvas");
  await page.click(box.x + 30, box.y + 27);
  like(
    "a frame says before and change",
    await page.text("#details"),
    /before [\d,]+ samples, [\d.]+% · change [+−][\d.]+%, itself/,
  );
  await page.key("ArrowDown");
  await page.settle();
  like("and speaks it", await page.text("#live"), /change [+−±][\d.]+%, itself .*level 2/s);
  const change = await page.text("#details");
  await page.evaluate("document.querySelector('#normalize').click()");
  equal("without normalizing", await pressed(), "false");
  await page.settle();
  like(
    "weights are compared",
    await page.text("#details"),
    /^all 305 samples · before [\d,]+ samples, 100.0% · change −/,
  );
  await page.evaluate("document.querySelector('#normalize').click()");
  await choose("widths", "before");
  like(
    "the widths of before",
    await page.text("#details"),
    /^all [\d,]+ samples · now 305 samples, 100.0% · change ±0.00%/,
  );
  await choose("widths", "now");
  await choose("colour", "whole");
  await choose("stacks", "callers");
  like("leaf first", await page.text("#details"), /^all 305 samples/);
  await page.click(box.x + 30, box.y + 27);
  check(
    "there only whole changes are told",
    !/itself [+−]/.test(await page.text("#details")),
    await page.text("#details"),
  );
  await choose("stacks", "callees");
  await page.key("2");
  await page.settle();
  const cell = (row, column) => page.text(`#functions tbody tr:nth-child(${row}) td:nth-child(${column})`);
  equal(
    "the table begins with what changed",
    await page.evaluate("document.querySelector('#functions [data-by=change]').ariaSort"),
    "descending",
  );
  like("and says by how much", await cell(1, 3), /^[+−][\d.]+%$/);
  const changes = await page.evaluate(
    "[...document.querySelectorAll('#functions tbody td:nth-child(3)')].map(c => parseFloat(c.textContent.replace('−', '-').replace('±', '')))",
  );
  check(
    "in order",
    changes.every((c, i) => !i || Math.abs(c) <= Math.abs(changes[i - 1]) + 0.051),
    changes,
  );
  check("more and less", changes.some(c => c > 0) && changes.some(c => c < 0), changes);
  const gone = await page.evaluate(
    "[...document.querySelectorAll('#functions tbody tr')].some(r => r.cells[0].textContent === '–' && r.cells[1].textContent === '–')",
  );
  check("functions that are no more are listed", gone, gone);
  await page.key("3");
  await page.settle();
  like("the call tree has it, too", await page.text("#tree tbody tr:nth-child(1) td:nth-child(3)"), /^[+−±][\d.]+%$/);
  await page.key("1");
  const time = await page.box("#time");
  await page.drag(time.x + time.width * 0.25, time.y + 20, time.x + time.width * 0.75, time.y + 20);
  await page.settle();
  await page.settle();
  like(
    "a part of the time is compared by shares",
    await page.text("#details"),
    /^all \d+ samples · before [\d,]+ samples, 100.0% · change ±0.00%/,
  );
  await testAccessible(page);
  await page.key("Escape");
  await page.settle();
  await choose("event", 1);
  like("an event without a counterpart says so", await page.text("#details"), /no such event/);
  await choose("event", 0);
  equal("no error", page.errors.join("; "), "");
  if (pictures) await page.picture(join(pictures, `compared-${theme}.png`));
  check("words were seen", change.length > 0, change);
}

/* Times off CPU of two recordings: as a weight of graphs and tables, and in the tracks of both. */
async function testComparedWaits(browser) {
  const page = await browser.page();
  await page.open("file://" + make("offhtml", 300));
  await page.settle();
  const measure = async value => {
    await page.evaluate(`(() => { const e = document.getElementById("measure"); e.value = "${value}"; e.dispatchEvent(new Event("change")); })()`);
    await page.settle();
    return page.text("#details");
  };
  const [, on, before] = /^all ([\d.]+ µs|[\d.]+ ns) · before ([\d.]+ µs|[\d.]+ ns)/.exec(await page.text("#details")) || [];
  check("times on CPU are compared", on && before, await page.text("#details"));
  like("times off CPU, too", await measure("all"), /^all 2 s · before 1.5 s, 100.0% · change \+25.0%/);
  await page.evaluate(`(() => { const e = document.getElementById("event"); e.value = 1; e.dispatchEvent(new Event("change")); })()`);
  await page.settle();
  like("also where only one has the event", await page.text("#details"), /^all 2 s · before 1.5 s, 100.0% · change \+25.0%/);
  await page.evaluate("history.back()");
  await page.settle();
  like("and both together", await measure("both"), /^all 2 s · before 1.5 s, 100.0% · change \+25.0%/);
  await page.key("4");
  await page.settle();
  like("the tracks have them", await page.text("#over-tracks .ot-key"), /blocked.*ready, without a CPU/);
  const shares = await page.evaluate("[...document.querySelectorAll('.ot-item .ot-share')].map(e => e.textContent)");
  check("shares of both are CPUs", shares.length > 1 && shares.every(text => /^(–|[\d.]+) → (–|[\d.]+ CPUs)$/.test(text)), shares);
  const threads = await page.evaluate("document.querySelectorAll('#over-tracks [role=treeitem]').length");
  const axis = await page.box("#over-tracks .ot-axis"), space = await page.box("#over-tracks .ot-space"), high = space.height / threads,
    gutter = Math.min(240, Math.round(axis.width * 0.22)), half = (axis.width - gutter) / 2, notices = [];
  for (let row = 1; row < threads; row++)
    for (let side = 0; side < 2; side++) {
      await page.move(axis.x + gutter + side * (half + 5) + 40, space.y + high * (row + 0.5));
      notices.push(await page.text("#over-tracks .ot-tip"));
    }
  for (const side of ["Before", "Now"])
    check(`waits of ${side} are told`, notices.some(tip => tip.includes(side + ":") && /(blocked|ready) [\d.]+ ms/.test(tip)), notices);
  equal("no error", page.errors.join("; "), "");
  if (pictures) await page.picture(join(pictures, "compared-waits.png"));
}

/* At 400 % of zoom: tabs are a row, the chosen one is seen, and its view comes into sight. */
async function testZoomed(browser) {
  const page = await browser.page(320, 256);
  await page.open("file://" + make("html", 300) + "#view=heat");
  await page.settle();
  const tab = name => page.box("#tab-" + name), inside = ({ x, width }) => x >= 0 && x + width <= 320;
  check("the chosen tab is seen", inside(await tab("heat")), await tab("heat"));
  check("and the first is not", !inside(await tab("flame")), await tab("flame"));
  const chart = await tab("chart");
  await page.click(chart.x + 20, chart.y + 10);
  await page.settle();
  const main = await page.box("main");
  check("its view comes into sight", main.y < 100 && main.y > -100, main);
  await page.evaluate("scrollTo(0, 0); document.querySelector('#tab-chart').focus()");
  await page.key("ArrowLeft");
  await page.settle();
  const next = await tab("tracks");
  check("keys stay at the tabs", inside(next) && next.y >= 0 && next.y < 256, next);
  equal("no error", page.errors.join("; "), "");
}

/* With fingers: a tap says, two zoom, one moves what is zoomed, one that stays opens the menu. */
async function testTouch(browser) {
  const page = await browser.page(400, 800);
  await page.notify("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 5 });
  await page.open("file://" + make("html", 300));
  await page.settle();
  const box = await page.box("#flame canvas"), y = box.y + 18 * 2 + 9,
    window = () => page.evaluate("document.getElementById('reset').disabled");
  await page.touch([[box.x + 40, box.y + 27]]);
  await page.settle();
  like("a tap tells", await page.text("#details"), /^worker.* \d+ samples/);
  equal("nothing is zoomed", await window(), true);
  await page.touch([[150, y], [250, y]], [[50, y], [350, y]]);
  await page.settle();
  equal("two fingers zoom", await window(), false);
  const drawn = () => page.evaluate("document.querySelector('#flame canvas').toDataURL()"), before = await drawn();
  await page.touch([[300, y]], [[150, y]]);
  await page.settle();
  check("one moves it", (await drawn()) !== before);
  await page.touch([[200, y]], undefined, "!document.getElementById('menu').hidden");
  await page.settle();
  equal("one that stays opens the menu", await page.evaluate("document.getElementById('menu').hidden"), false);
  await page.key("Escape");
  for (const [key, part] of [["4", "#over-tracks .ot-space"], ["5", "#over-chart .ot-space"]]) {
    await page.evaluate(`document.querySelectorAll("[role=tab]")[${key - 1}].click()`);
    await page.settle();
    const space = await page.box(part), at = space.y + 30;
    await page.touch([[150, at], [250, at]], [[50, at], [350, at]]);
    await page.settle();
    await page.until("/window=/.test(location.hash)");
    like(`two fingers zoom in view ${key}`, await page.evaluate("location.hash"), /window=/);
    check("and choose nothing", !/time=/.test(await page.evaluate("location.hash")), await page.evaluate("location.hash"));
    await page.evaluate("history.replaceState(null, '', '#'); dispatchEvent(new PopStateEvent('popstate'))");
  }
  equal("no error", page.errors.join("; "), "");
}

/* Latencies of memory accesses: by source, function and line; the histogram is that of the row that keys choose. */
async function testMemory(browser) {
  const page = await browser.page(400, 800);
  await page.open("file://" + make("memoryhtml", 300) + "#view=memory");
  await page.settle();
  const rows = id => page.evaluate(`[...document.querySelectorAll('#${id} tbody tr')].map(r => [...r.cells].map(c => c.textContent).join(" "))`);
  equal("rows by data source", await rows("memory"), ["100.00% 9 41.4 All accesses", "80.43% 1 300.0 RAM hit", "19.57% 8 9.1 L1 hit"]);
  equal("latencies of all", await rows("latencies"),
    ["4 – 7 6 66.67%", "8 – 15 0 0.00%", "16 – 31 2 22.22%", "32 – 63 0 0.00%", "64 – 127 0 0.00%", "128 – 255 0 0.00%", "256 – 511 1 11.11%"]);
  like("what is left out is said", await page.text("#memorynote"), /^10 samples.* 1 samples are of rows that are left out\.$/);
  await page.evaluate("document.querySelector('#memory tbody tr').focus()");
  await page.key("ArrowDown");
  await page.key("ArrowDown");
  equal("keys choose another row", await rows("latencies"), ["4 – 7 6 75.00%", "8 – 15 0 0.00%", "16 – 31 2 25.00%"]);
  equal("whose name is said", await page.evaluate("document.querySelector('#latencies').caption.textContent"), "Latencies of L1 hit");
  for (const [by, wanted] of [["function", ["RAM", "</script><b>next", "parse"]], ["line", ["b[10]", "a.c:9", "a.c:7"]]]) {
    await page.evaluate(`(() => { const e = document.getElementById("memoryby"); e.value = "${by}"; e.dispatchEvent(new Event("change")); })()`);
    await page.settle();
    const names = (await page.evaluate("[...document.querySelectorAll('#memory tbody tr')].map(r => r.cells[3].textContent)")).slice(1);
    equal(`rows by ${by}`, names.sort(), wanted.map(name => name === "RAM" ? "0x10" : name).sort());
    like("which the address has", await page.evaluate("location.hash"), new RegExp(`memoryBy=${by}`));
  }
  await page.key("/");
  await page.type("9");
  await page.settle();
  equal("a search finds rows", await rows("memory"), ["100.00% 9 41.4 All accesses", "10.72% 2 20.0 a.c:9"]);
  equal("nothing is wider than the page", await page.evaluate("document.documentElement.scrollWidth <= 400"), true);
  equal("no error", page.errors.join("; "), "");
  if (pictures) await page.picture(join(pictures, "memory.png"));
}

/* Rows of branches: first, all, in any order; other views have samples. */
async function testBranches(browser) {
  const page = await browser.page();
  await page.open("file://" + make("branchhtml", 300));
  await page.settle();
  const rows = () => page.evaluate("[...document.querySelectorAll('#branches tbody tr')].map(r => [...r.cells].map(c => c.textContent))");
  const all = [["62.50%", "5", "server", "[.] parse", "[.] </script><b>next"], ["25.00%", "2", "server", "[.] next", "[k] entry"]];
  equal("it opens with them", await rows(), all);
  like("what they are of is said", await page.text("#branchnote"), /^8 taken branches of 3 samples.*1 branches are of rows that are left out\.$/);
  like("the first one is told", await page.text("#details"), /^server · \[\.\] parse · \[\.\] <\/script><b>next 5 branches, 62\.50%$/);
  await page.evaluate("document.querySelector('#branches tbody tr').focus()");
  await page.key("ArrowDown");
  like("keys go on", await page.text("#details"), /^server · \[\.\] next · \[k\] entry 2 branches, 25\.00%$/);
  for (const [click, wanted] of [[1, [all[0], all[1]]], [1, [all[1], all[0]]], [3, [all[1], all[0]]]]) {
    await page.evaluate(`document.querySelectorAll("#branches th button")[${click}].click()`);
    await page.settle();
    equal(`ordered by column ${click}`, await rows(), wanted);
  }
  await page.key("/");
  await page.type("entry");
  await page.settle();
  equal("a search finds cells", await rows(), [all[1]]);
  await page.key("Escape");
  await page.evaluate(`(() => { const e = document.getElementById("event"); e.value = 1; e.dispatchEvent(new Event("change")); })()`);
  await page.settle();
  like("another event has none", (await page.text("#branchnote")) + (await rows()).length, /^No branches were recorded with this event\.0$/);
  equal("no error", page.errors.join("; "), "");
  if (pictures) await page.picture(join(pictures, "branches.png"));
}

/* A row of the report and what is shown of it: one number, or the difference in words. The names are those that are inlined, or have what is. */
async function testInlined(browser) {
  const page = await browser.page();
  await page.open("file://" + make("reporthtml", 300) + "#keys=dso,symbol&search=" + encodeURIComponent("walk<(359|863|865|918|1031)>|hash<779>|update_454$|read<5..>"));
  await page.settle();
  const seen = await page.evaluate(`(async () => {
    const told = [], count = Math.min(30, document.querySelectorAll("#report tbody tr:not(.gap)").length);
    for (let i = 0; i < count; i++) {
      const row = document.querySelectorAll("#report tbody tr:not(.gap)")[i];
      row.click();
      await new Promise(requestAnimationFrame);
      told.push([row.cells[0].textContent, row.cells[1].textContent, row.cells[4].textContent, document.getElementById("details").firstChild.textContent, document.getElementById("details").textContent]);
    }
    return told; })()`);
  const kinds = { same: 0, more: 0, around: 0 };
  for (const [children, overhead, , , text] of seen) {
    check(`the whole of ${text} is ${children}`, text.includes(`, ${children}`), text);
    const [, own, more] = /itself ([<\d.]+%)(?:, with what is inlined in it ([<\d.]+%))?/.exec(text) || [],
      kind = more ? "more" : /which the function around it has in its row/.test(text) ? "around" : "same";
    kinds[kind]++;
    const wanted = kind === "around" ? "–" : more || own || (children === overhead ? children : "–");
    equal(`${text}: the row`, overhead, wanted);
  }
  check("some functions have inlined ones, and some are", kinds.same && kinds.more && kinds.around, kinds);
  equal("no error", page.errors.join("; "), "");
}

/* Leaf first from the start, and the root below: each frame is where the keys and the mouse find it. */
async function testReversed(browser) {
  const page = await browser.page();
  await page.open("file://" + make("reversehtml", 300));
  await page.settle();
  equal("it opens leaf first", await page.evaluate("document.querySelector('#stacks').value"), "callers");
  const box = await page.box("#flame canvas"),
    name = async () => (await page.text("#details")).split(" ")[0];
  await page.click(box.x + 30, box.y + 27);
  const top = await name();
  check("the first frame is no thread", !/^(server|worker|gc|w|io-uring)/.test(top), top);
  const share = total(f => f[f.length - 1] === top);
  check("it weighs what ends in it", share === 0 || (await page.text("#details")).includes(` ${share} samples`), [
    top,
    share,
  ]);
  await page.key("i");
  await page.settle();
  await page.click(box.x + 30, box.y + box.height - 27);
  equal("flipped, it is at the bottom", await name(), top);
  await page.key("ArrowUp");
  await page.settle();
  like("arrow up goes to its caller", await page.text("#live"), /level 2/);
  await page.key("ArrowDown");
  await page.settle();
  equal("arrow down goes back", await name(), top);
  await page.key("Enter");
  await page.settle();
  await page.click(box.x + box.width - 20, box.y + box.height - 27);
  equal("zoomed, it is as wide as everything", await name(), top);
  await page.key("Escape");
  await page.settle();
  equal("no error", page.errors.join("; "), "");
}

/* On a fresh page, keys that mean nothing to it are the browser's. */
async function testFreshKeys(browser) {
  const page = await browser.page(1280, 340);
  await page.open("file://" + make("html", 300));
  await page.settle();
  await page.evaluate(`window.taken = [];
    addEventListener("keydown", e => { if (e.defaultPrevented) taken.push(e.key); else e.preventDefault(); })`);
  for (const key of ["Tab", "F3", "F5", "F12", " ", "End"]) await page.key(key);
  equal("no key is swallowed", await page.evaluate("taken.join()"), "");
  const scrolled = () => page.evaluate("document.querySelector('#flame').scrollTop");
  await page.key("PageDown");
  check("page down scrolls", (await scrolled()) > 0, await scrolled());
  await page.key("PageUp");
  equal("page up scrolls back", await scrolled(), 0);
  await page.open("file://" + make("html", 300));
  await page.settle();
  const visited = [];
  for (let i = 0; i < 16; i++) {
    await page.key("Tab");
    visited.push(await page.evaluate("document.activeElement.id || document.activeElement.parentNode.parentNode.id"));
  }
  for (const id of ["search", "helpbutton", "time", "tab-flame", "threads", "flame"])
    check(`tab reaches ${id}`, visited.includes(id), visited);
}

/* Which recording, how much of it, what is missing; in little space, too. */
async function testFacts(browser) {
  const page = await browser.page(400, 800);
  await page.open("file://" + make("html", 300));
  await page.settle();
  like(
    "one line says what is shown",
    await page.text("#summary"),
    /^<b>made.data · 305 samples of cycles:u, 99 Hz · 2026-01-02 03:04 UTC · synthetic stacks, cycles:u$/,
  );
  check("in one line", (await page.box("#summary")).height < 24, await page.box("#summary"));
  like("losses are seen", await page.text("#remarks"), /^61.87% of all events were lost while recording/);
  check("and stand on the page", (await page.box("#remarks")).height > 10, await page.box("#remarks"));
  await page.evaluate("document.querySelector('#summary').focus()");
  await page.key("Enter");
  await page.settle();
  check("enter opens the rest", (await page.box("#facts")).height > 60, await page.box("#facts"));
  like("with the whole path", await page.text("#facts"), /Recording\/tmp\/<b>made.data/);
  equal("nothing is wider than the page", await page.evaluate("document.documentElement.scrollWidth <= 400"), true);
  equal("no name runs", page.dialogs.length + page.errors.join("; "), "0");
  if (pictures) await page.picture(join(pictures, "facts.png"));
}

/* Rows are elements only while they are in view or a few rows beside it. */
const everyRow = (page, table, box, of) => page.evaluate(`(async () => {
  const found = new Map(), box = document.querySelector("${box}"), next = () => new Promise(requestAnimationFrame);
  for (box.scrollTop = 0; ; box.scrollTop += box.clientHeight) {
    await next();
    await next();
    for (const row of document.querySelectorAll("${table} tbody tr:not(.gap)")) found.set(+row.ariaRowIndex, (${of})(row));
    if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) break;
  }
  box.scrollTop = 0;
  return [...found].sort((a, b) => a[0] - b[0]).map(one => one[1]);
})()`);

/* A page with few of the nodes has the totals of all, and says what it does not have. */
async function testCut(browser) {
  const page = await browser.page();
  await page.open("file://" + make("cuthtml", 3000));
  await page.settle();
  const weights = new Map(),
    all = execFileSync(made, ["folded", "3000"], { encoding: "utf8", maxBuffer: 1 << 28 }).trim().split("\n");
  for (const line of all) {
    const names = line.slice(0, line.lastIndexOf(" ")).split(";"),
      weight = +line.slice(line.lastIndexOf(" ") + 1);
    const add = (name, i) => {
      const sums = weights.get(name) || [0, 0];
      sums[i] += weight;
      weights.set(name, sums);
    };
    add(names.at(-1), 0);
    new Set(names).forEach(name => add(name, 1));
  }
  const note = () => page.text("#cut");
  like("the page says that it is cut", await note(), /frames are too light for this page.*Functions are exact/);
  like("and that samples are joined", await note(), /^Samples of the same stack within .* are joined/);
  await page.key("3");
  check("in the call tree, too", (await page.box("#cut")).height > 10, await page.box("#cut"));
  like("the rest is a frame", await page.text("#tree"), /… lighter callees/);
  await page.key("2");
  await page.settle();
  check("and beside the functions", (await page.box("#cut")).height > 10, await page.box("#cut"));
  const rows = await everyRow(page, "#functions", ".tablebox",
    `r => [r.cells[2].title.split("\\n")[0].replace("(int, char const*)", ""), r.cells[0].title, r.cells[1].title]`);
  equal("all rows are counted", await page.evaluate("+document.querySelector('#functions').ariaRowCount"), rows.length + 1);
  check("more functions than nodes are listed", rows.length > 1000, rows.length);
  /* Folded stacks say what has no symbol in other words. */
  const wrong = rows.filter(([name, self, total]) => {
    const wanted = ["", "_[k]", "_[i]", "_[j]"].map(mark => weights.get(name + mark)).find(found => found);
    return !/^\[|×\d+$/.test(name) && (!wanted || self !== `${wanted[0]} samples` || total !== `${wanted[1]} samples`);
  });
  equal("functions with other totals than in folded stacks", wrong.slice(0, 3).join(" | "), "");
  await page.key("/");
  await page.type("hash<");
  like("a search knows that it sees a part", await page.text("#matched"), /^at least [\d.]+% matched/);
  await page.key("Escape");
  const time = await page.box("#time");
  await page.drag(time.x + time.width * 0.25, time.y + 20, time.x + time.width * 0.75, time.y + 20);
  await page.settle();
  await page.settle();
  like("of a part of the time, totals are too low", await note(), /totals of functions are too low/);
  equal("no error", page.errors.join("; "), "");
  if (pictures) await page.picture(join(pictures, "cut.png"));
}

/* A picture as a number, which costs less than its PNG. */
function pixels(canvas) {
  let sum = 0;
  for (const pixel of new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)) sum = Math.imul(sum ^ pixel, 0x01000193);
  return canvas.width + "x" + canvas.height + ":" + sum;
}

/* The same page three times: as it is, with a worker for what takes long, and with one that fails: they show the same. Trees of
 * leaves are made as they are looked at in the second one. */
async function testBackground(browser) {
  const plain = make("reporthtml", 400),
    large = join(folder, "large.html");
  writeFileSync(large, readFileSync(plain, "utf8").replace("LARGE=150000", "LARGE=1").replace("SMALL=20000", "SMALL=0").replace("FINE=4096", "FINE=40"));
  const source = fails => `window.pixels = ${pixels}; window.workers = 0, window.asked = new Set();
    { const Real = Worker; window.Worker = class extends Real {
      constructor(url) { super(url); window.workers++; this.left = ${fails ? 3 : 1e9}; }
      postMessage(message) { window.asked.add(message.name); if (this.left-- > 0) super.postMessage(message); else this.onerror(new ErrorEvent("error", { cancelable: true })); } }; }`;
  const seen = `JSON.stringify([...["details", "matched", "range", "callershead", "crumbs", "cut"].map(id => document.getElementById(id).textContent),
    [...document.querySelectorAll("#functions tr, #tree tr, #report tr")].map(r => [r.ariaLevel, r.ariaPosInSet, r.ariaSetSize, r.ariaExpanded, r.textContent]),
    [...document.querySelectorAll(".ot-item, .ot-range, select[aria-label=Thread] option")].map(e => e.textContent),
    ...[...document.querySelectorAll("canvas")].filter(c => c.offsetParent && c.width).map(pixels)])`;
  /* One page after the other: what is not in front is not drawn. */
  const walks = [];
  for (const [url, fails, workers] of [[plain, false, 0], [large, false, 1], [large, true, 1]]) {
    const page = await browser.page();
    await page.notify("Page.addScriptToEvaluateOnNewDocument", { source: source(fails) });
    await page.open("file://" + url);
    await page.settle();
    equal(`workers of ${workers ? "large" : "small"} pages`, await page.evaluate("workers"), workers);
    walks.push(await walk(page, seen));
    if (workers && !fails) {
      const asked = new Set(walks.at(-1).get("asked").split(" "));
      equal("what the worker was not asked", ["tree", "more", "rows", "sandwich", "search", "folded", "pane", "threads", "chart", "heat", "lanes", "report"]
        .filter(name => !asked.has(name)).join(), "");
    }
    equal("no error", page.errors.join("; "), "");
    await page.notify("Page.close").catch(() => {});
  }
  check("folded stacks are copied", walks[0].get("copied").length > 200 && / \d+$/.test(walks[0].get("copied")), walks[0].get("copied").slice(0, 200));
  for (const walk of walks) walk.delete("asked");
  for (const [what, notices] of walks[0])
    for (const [i, name] of [[1, "what a worker says"], [2, "after it failed"]]) {
      const parts = list => JSON.parse(list.startsWith("[") ? list : JSON.stringify(list.split("\n"))).map(part => JSON.stringify(part));
      const mine = parts(notices), other = parts(walks[i].get(what)), at = mine.findIndex((part, k) => part !== other[k]);
      check(`${what}: ${name}`, at < 0 && mine.length === other.length, at < 0 ? "" : [mine[at].slice(0, 300), other[at].slice(0, 300)]);
    }
}
async function walk(page, seen) {
  const notices = new Map();
  const go = async hash => {
    await page.evaluate(`history.pushState(null, "", ${JSON.stringify(hash || "#")}); dispatchEvent(new PopStateEvent("popstate"))`);
    await page.settle();
  };
  /* What scrolls into view is drawn a while later on a busy machine: two looks are the same. */
  const look = async what => {
    let now, before;
    do {
      before = now;
      await page.settle();
      now = await page.evaluate(seen);
    } while (now !== before);
    notices.set(what, now);
  };
  for (const hash of ["", "#keys=dso", "#keys=cpu&by=3&up=1&search=1", "#view=flame", "#view=table", "#view=tree", "#view=tracks", "#view=chart",
    "#view=heat", "#view=flame&threads=apart", "#threads=one&view=tree",
    "#event=1&view=table", "#view=flame&search=hash", "#search=hash&view=table&sort=module", "#view=flame&stacks=callers", "#stacks=callers&view=tree",
    "#view=flame&time=1000000000-3000000000", "#time=1000000000-3000000000", "#time=1000000000-3000000000&view=tree&order=name", "#pick=1.2&view=table&up=1",
    "#transforms=focus!3&view=tree", "#transforms=merge!3,modules&view=table", "#transforms=drop!3&view=chart", "#cpus=1&view=tracks",
    "#search=nothing", "#view=flame&colour=module", "#view=flame&order=name"]) {
    await go(hash);
    await look(hash || "the start");
  }
  const box = await page.box("#flame canvas");
  await go("#view=flame&stacks=callers");
  await page.click(box.x + 30, box.y + 18 * 2 + 9, 2);
  await look("leaf first, zoomed");
  for (let i = 0; i < 8; i++) {
    await page.key("ArrowDown");
    await page.settle();
  }
  await look("down to where callers are not there yet");
  await page.key("Enter");
  await look("zoomed to there");
  const link = await page.evaluate("location.href");
  const asked = () => page.evaluate("[...window.asked].join(' ')"), before = await asked();
  await page.open("about:blank");
  await page.open(link);
  await page.settle();
  notices.set("the link to it", await page.evaluate("location.hash + document.querySelector('#reset').disabled + pixels(document.querySelector('#flame canvas'))"));
  /* No graph was drawn before, which would have asked for what it shows. */
  await page.open("about:blank");
  await page.open(link.replace(/#.*/, "#stacks=callers&view=tree"));
  await look("leaf first, from a link");
  await page.evaluate("document.querySelector('#tree tbody tr').focus()");
  for (let i = 0; i < 12; i++) {
    await page.key("ArrowRight");
    await page.settle();
    await page.key("ArrowDown");
    await page.settle();
  }
  await look("leaf first, opened");
  /* Faster than a worker answers; from below, where what is opened moves no other one. */
  await page.evaluate(`for (const i of [3, 2, 1, 0]) document.querySelectorAll("#tree tbody tr[aria-expanded=false]")[i].dispatchEvent(
    new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }))`);
  await page.settle();
  await page.key("Home");
  await look("leaf first, several opened at once");
  await go("#view=table");
  await page.evaluate("document.querySelector('#functions tbody tr:nth-child(5)').click()");
  await page.settle();
  await page.key("End");
  await look("the last function");
  await page.evaluate("document.execCommand = () => { window.copied = document.activeElement.value; }; Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  for (const [name, hash] of [["copied", "#view=flame"], ["copied, leaf first", "#view=flame&stacks=callers"]]) {
    await go(hash);
    await page.click(box.x + 30, box.y + 18 * 2 + 9);
    await page.key("F10", SHIFT);
    await page.evaluate("[...document.querySelectorAll('#menu button')].find(b => /folded/.test(b.textContent)).click()");
    await page.settle();
    notices.set(name, (await page.evaluate("window.copied")).trim());
  }
  notices.set("asked", before + " " + (await asked()));
  return notices;
}

/* Tracks of two recordings: each from its own start; a time belongs to one, a row of both. */
async function testTwoTracks(browser) {
  const page = await browser.page();
  await page.open("file://" + make("diffhtml", 300) + "#view=tracks");
  await page.settle();
  const hash = () => page.evaluate("decodeURIComponent(location.hash)"),
    total = async () => {
      await page.key("1");
      await page.key("Home");
      await page.settle();
      const text = await page.text("#details");
      await page.key("4");
      await page.settle();
      return text;
    };
  like("both are told", await page.text("#over-tracks .ot-range"), /^Before \| Now: a time is selected in one, rows in both · Shown 0\.\d+ s – 4\.\d+ s/);
  await page.evaluate("[...document.querySelectorAll('.ot-modes button')].find(b => b.textContent === 'Threads').click()");
  await page.settle();
  const shares = await page.evaluate("[...document.querySelectorAll('.ot-item .ot-share')].map(e => e.textContent)");
  check("shares of both", shares.length > 3 && shares.every(text => /^(–|[\d.]+%) → (–|[\d.]+%)$/.test(text)), shares);
  const axis = await page.box("#over-tracks .ot-axis"),
    gutter = Math.min(240, Math.round(axis.width * 0.22)),
    half = (axis.width - gutter) / 2;
  const at = (side, share) => axis.x + gutter + side * (half + 5) + share * (half - 6);
  const space = await page.box("#over-tracks .ot-space");
  await page.move(at(0, 0.3), space.y + 15);
  like("the pointer tells of before", await page.text("#over-tracks .ot-tip"), /Before: All[\d.]+% of the weight/);
  await page.move(at(1, 0.3), space.y + 15);
  like("and of now", await page.text("#over-tracks .ot-tip"), /Now: All[\d.]+% of the weight/);
  const entire = await total();
  await page.drag(at(0, 0.2), axis.y + 12, at(0, 0.6), axis.y + 12);
  await page.settle();
  like("a drag in the earlier one is its time", await hash(), /timeBefore=\d/);
  check("and not that of the other", !/&time=/.test(await hash()), await hash());
  like("which is said", await page.text("#over-tracks .ot-range"), /Selected before [\d.]+ s – [\d.]+ s/);
  like("and is a crumb", await page.text("#crumbs"), /Before: [\d.]+ – [\d.]+ s/);
  const part = await total(), numbers = text => text.match(/^all ([\d,]+) samples · before ([\d,]+) samples/).slice(1).map(n => +n.replace(/,/g, ""));
  equal("now is all there", numbers(part)[0], numbers(entire)[0]);
  check("before is a part", numbers(part)[1] < numbers(entire)[1] && numbers(part)[1] > 0, part);
  await page.evaluate("document.querySelector('#over-tracks .ot-axis').focus()");
  await page.key("Escape");
  await page.settle();
  equal("Escape takes it back", /time/.test((await hash()).replace("view=", "")), false);
  await page.key("x");
  await page.key("ArrowRight", SHIFT);
  await page.settle();
  like("x goes to the other one, for keys, too", await hash(), /&time(Before)?=\d/);
  const first = await hash();
  await page.key("Escape");
  await page.key("x");
  await page.key("ArrowRight", SHIFT);
  await page.settle();
  check("and back", /timeBefore/.test(first) !== /timeBefore/.test(await hash()) && /time/.test(await hash()), [first, await hash()]);
  await page.key("Escape");
  await page.evaluate("document.querySelector('#over-tracks [role=treeitem]:nth-child(2)').focus()");
  await page.key("ArrowDown");
  await page.key("Enter");
  await page.settle();
  like("a row is of both", await hash(), /pick=\d+\.\d+/);
  const row = numbers(await total());
  check("both are fewer", row[0] < numbers(entire)[0] && row[1] < numbers(entire)[1] && row[0] > 0 && row[1] > 0, row);
  equal("no error", page.errors.join("; "), "");
  if (pictures) await page.picture(join(pictures, "two-tracks.png"));
}

/* Names of some thousand characters that differ at their ends: distinguished, and nothing moves under the pointer. */
async function testLongNames(browser) {
  const types = "std::pair<std::map<int, ".repeat(100) + "int" + ">, long>".repeat(100),
    name = end => `std::_Rb_tree<${types}>::${end}(std::_Rb_tree_node<${types}>*)`;
  const input = `main;${name("_M_erase")};${name("operator<")};leaf 60\nmain;${name("_M_copy")} 34\nmain;std::vector<int>::emplace(int) [clone .isra.0] 6\n`;
  const path = join(folder, "long.html");
  writeFileSync(path, execFileSync(made, ["html", "-"], { input, maxBuffer: 1 << 28 }));
  for (const width of [1280, 400]) {
    const page = await browser.page(width, 700);
    await page.notify("Page.addScriptToEvaluateOnNewDocument", {
      source: `window.drawn = []; const fill = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { drawn.push(text); fill.call(this, text, ...at); };`,
    });
    await page.open("file://" + path);
    await page.settle();
    for (const end of ["_M_erase", "_M_copy"])
      check(`${width}: ${end} is read in its frame`, await page.evaluate(`drawn.some(t => t.includes("${end.slice(-5)}"))`), await page.evaluate("drawn"));
    if (width > 1000) equal("a narrow frame has the end of its name", await page.evaluate("drawn.includes('emplace')"), true);
    const box = await page.box("#flame canvas"),
      footer = await page.box("footer");
    await page.evaluate("document.querySelector('#flip').click()");
    await page.settle();
    for (let row = 0; row < 5; row++)
      for (const share of [0.1, 0.9]) {
        await page.move(box.x + box.width * share, box.y + box.height - 18 * row - 9);
        const now = await page.box("footer");
        check(`${width}: the footer stays where it is`, now.y === footer.y && now.height === footer.height, now);
      }
    await page.move(box.x + box.width * 0.1, box.y + box.height - 18 * 2 - 9);
    like(`${width}: a frame has a short name`, await page.text("#details b"), /^std::_Rb_tree<…>::_M_erase$/);
    await page.click(box.x + box.width * 0.1, box.y + box.height - 18 * 3 - 9);
    like(`${width}: so do operators`, await page.text("#details b"), /^std::_Rb_tree<…>::operator<$/);
    await page.evaluate("document.querySelector('#details button').focus()");
    await page.key("Enter");
    equal(`${width}: the whole name is there`, (await page.text("#wholename")).startsWith(name("operator<")), true);
    await page.key("Escape");
    equal(`${width}: no error`, page.errors.join("; "), "");
    if (pictures) await page.picture(join(pictures, `names-${width}.png`));
  }
}

/* Many callees are all within reach, threads too; footer and table say the same of recursion; names are seen in little space. */
async function testReach(browser) {
  const many = Array.from({ length: 700 }, (x, i) => `main;f;callee${i} 1`),
    input = `main;f;g;f 400\n${many.join("\n")}\n`;
  const path = join(folder, "reach.html");
  writeFileSync(path, execFileSync(made, ["html", "-"], { input, maxBuffer: 1 << 28 }));
  let page = await browser.page(400, 800);
  await page.open("file://" + path);
  await page.key("3");
  await page.settle();
  const rows = () => page.evaluate("document.querySelectorAll('#tree tbody tr').length");
  const open = i => page.evaluate(`(() => { const row = document.querySelectorAll('#tree tbody tr')[${i}];
    if (row.ariaExpanded === "false") row.click(); })()`);
  await open(0);
  await open(1);
  const focused = what => page.evaluate(`document.activeElement.${what}`);
  check("few of many rows are elements", (await rows()) < 80, await rows());
  equal("all are counted", await page.evaluate("+document.querySelector('#tree').ariaRowCount"), 705);
  await page.evaluate("document.querySelector('#tree tbody tr').focus()");
  await page.key("End");
  await page.settle();
  equal("End goes to the last one", await focused("ariaRowIndex"), "705");
  like("which is a callee", await focused("textContent"), /callee/);
  equal("the last of its siblings", await focused("ariaPosInSet + ' of ' + document.activeElement.ariaSetSize + ', ' + document.activeElement.ariaLevel"), "701 of 701, 3");
  const isSeen = () => page.evaluate(`(() => { const r = document.activeElement.getBoundingClientRect(), b = document.querySelector("#view-tree").getBoundingClientRect();
    return r.top >= b.top && r.bottom <= b.bottom + 1; })()`);
  check("and is seen", await isSeen());
  await page.key("PageUp");
  check("a page up", +(await focused("ariaRowIndex")) < 705, await focused("ariaRowIndex"));
  await page.evaluate("document.querySelector('#view-tree').scrollTop = 0");
  await page.settle();
  equal("what has the focus keeps it out of view", await focused("role"), "row");
  await page.key("ArrowDown");
  check("and keys go on from there", await isSeen());
  const all = await everyRow(page, "#tree", "#view-tree", "r => r.ariaPosInSet + '/' + r.ariaSetSize + '/' + r.ariaLevel");
  equal("every row is within reach", all.length, 704);
  equal("each once", all.filter(row => /701.3$/.test(row)).join(), Array.from({ length: 701 }, (x, i) => `${i + 1}/701/3`).join());
  await page.key("2");
  await page.settle();
  const cell = await page.box("#functions tbody td:nth-child(3)");
  check("names have room", cell.width > 100, cell);
  await page.evaluate("[...document.querySelectorAll('#functions tbody tr')].find(r => r.cells[2].title === 'f').click()");
  await page.settle();
  equal(
    "the table's own share of a recursive function",
    await page.text("#functions tr[aria-selected=true] td:nth-child(1) b"),
    "36.36%",
  );
  like("is that below", await page.text("#details"), /^f 1,100 samples, 100.0% · itself 36.4%/);
  equal("no error", page.errors.join("; "), "");
  page = await browser.page();
  await page.open("file://" + make("html", 300));
  await page.settle();
  const time = await page.box("#time");
  await page.click(time.x + 200, time.y + 15 + 34 + 2 + 10 + 5);
  await page.settle();
  like("a click on a lane goes to its thread", await page.text("#details"), /^server \d+ samples/);
  equal("and zooms", await page.evaluate("document.querySelector('#reset').disabled"), false);
}

/* A file that is saved is there, and no part of it beside it. */
async function arrived(file) {
  for (let tries = 0; tries < 5000; tries++) {
    if (existsSync(file) && statSync(file).size && !existsSync(file + ".part")) return;
    await new Promise(r => setTimeout(r, 20));
  }
}
/* What is shown, as files; nothing is asked for. */
async function testSaved(browser) {
  const page = await browser.page(),
    path = make("html", 300),
    saved = mkdtempSync(join(folder, "saved-"));
  await page.open("file://" + path);
  await page.settle();
  await page.notify("Page.setDownloadBehavior", { behavior: "allow", downloadPath: saved });
  const save = async (text, ending) => {
    await page.evaluate("document.querySelector('#save').click()");
    await page.evaluate(`[...document.querySelectorAll("#menu button")].find(b => b.textContent === ${JSON.stringify(text)}).click()`);
    const file = join(saved, "made.data" + ending);
    await arrived(file);
    const made = readFileSync(file);
    rmSync(file);
    return made;
  };
  const sum = text => text.trim().split("\n").reduce((all, line) => all + +line.slice(line.lastIndexOf(" ") + 1), 0);
  equal("folded stacks have the total", sum(`${await save("Folded stacks", ".folded")}`), total(() => true));
  const svg = `${await save("Picture (SVG)", ".svg")}`;
  const drawn = await page.evaluate(`(() => { const found = new DOMParser().parseFromString(${JSON.stringify(svg)}, "image/svg+xml");
    return [found.querySelectorAll("parsererror").length, found.querySelector("g title").textContent]; })()`);
  equal("the SVG can be read", drawn[0], 0);
  like("and begins with all", drawn[1], /^all \(\d+ samples, 100%\)$/);
  writeFileSync(join(folder, "saved.svg"), svg);
  const png = await save("Picture (PNG)", ".png");
  equal("a PNG is one", png.subarray(1, 4).toString(), "PNG");
  const { high } = await page.evaluate("({ high: parseFloat(document.querySelector('#flame > div').style.height) })");
  check("with all that is scrolled away", Math.abs(png.readUInt32BE(20) - 2 * high) <= 2 * 400, [png.readUInt32BE(20), high]);
  await page.key("2");
  await page.settle();
  const rows = `${await save("Functions as CSV", ".csv")}`.split("\n");
  equal("functions as CSV", rows[0], "self,total,function,module");
  for (const [key, name] of [["4", "tracks"], ["5", "chart"], ["6", "heat"]]) {
    await page.key(key);
    await page.settle();
    const made = await save("Picture (PNG)", ".png");
    check(`${name} is a picture`, made.length > 2000 && made.readUInt32BE(16) > 1000, made.length);
    if (pictures) writeFileSync(join(pictures, `saved-${name}.png`), made);
  }
  if (pictures) writeFileSync(join(pictures, "saved.png"), png);
  if (pictures) writeFileSync(join(pictures, "saved.svg"), svg);
  await page.key("1");
  await page.settle();
  const { data } = await page.notify("Page.printToPDF", { preferCSSPageSize: true });
  const printed = Buffer.from(data, "base64").toString("latin1");
  check("it prints", printed.startsWith("%PDF-"), printed.slice(0, 20));
  const [, paperWide, paperHigh] = /\/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]/.exec(printed) || [];
  check("on paper as wide as the window", Math.abs(paperWide / 0.75 - (await page.evaluate("innerWidth"))) <= 1, [paperWide, paperHigh]);
  if (pictures) writeFileSync(join(pictures, "printed.pdf"), Buffer.from(data, "base64"));
  await page.notify("Emulation.setEmulatedMedia", { media: "print" });
  equal("paper has no controls", (await page.box("nav")).height, 0);
  await page.notify("Emulation.setEmulatedMedia", { media: "", features: [{ name: "forced-colors", value: "active" }] });
  const shown = (selector, property) => page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property}`);
  check("forced colours leave the key's", (await shown("#key i", "backgroundColor")) !== (await shown("body", "backgroundColor")), await shown("#key i", "backgroundColor"));
  const line = chosen => shown(`[role=tab][aria-selected=${chosen}]`, "borderBottomColor");
  check("and one tab is underlined", (await line(true)) !== (await line(false)), [await line(true), await line(false)]);
  equal("requests beside the page and what it made", requested(page, path), "");
  equal("no error", page.errors.join("; "), "");
  const picture = await browser.page();
  await picture.open("file://" + join(folder, "saved.svg"));
  await picture.evaluate("document.querySelector('#frames > g:nth-child(3)').dispatchEvent(new MouseEvent('click', { bubbles: true }))");
  equal("a click zooms in it, as in perfile's own", await picture.evaluate("getComputedStyle(document.getElementById('unzoom')).display !== 'none'"), true);
  equal("without an error", picture.errors.join("; "), "");
}

/* What is shown and the notes of readers are in a page that is saved; it is complete, and can be saved again. */
async function testSavedPage(browser) {
  const saved = mkdtempSync(join(folder, "shared-"));
  const save = async (page, text, ending) => {
    await page.notify("Page.setDownloadBehavior", { behavior: "allow", downloadPath: saved });
    await page.evaluate("document.querySelector('#save').click()");
    await page.evaluate(`[...document.querySelectorAll("#menu button")].find(b => b.textContent === ${JSON.stringify(text)}).click()`);
    const file = join(saved, "made.data" + ending);
    await arrived(file);
    return file;
  };
  const note = async (page, text) => {
    await page.evaluate(`document.querySelector('#save').click();
      [...document.querySelectorAll("#menu button")].find(b => b.textContent === "Note on what is shown").click();
      document.querySelector("#notetext").value = ${JSON.stringify(text)};
      document.querySelector("#note button[value=add]").click()`);
    await page.settle();
  };
  const first = await browser.page();
  await first.open("file://" + make("html", 300));
  await first.evaluate(`location.hash = "#view=table&transforms=only%3Dhash&time=0-2000000000"`);
  await first.settle();
  await note(first, "Look: </script><b>hash</b>\n“twice”");
  await first.key("3");
  await first.settle();
  const state = await first.evaluate("location.hash"), rows = await first.evaluate("document.querySelector('#tree').rows.length");
  const lines = readFileSync(await save(first, "Rows as CSV", ".csv"), "utf8").trim().split("\n");
  equal("rows of the call tree as CSV", lines[0], "level,total,self,function,module");
  equal("all that are listed", lines.length, +(await first.evaluate("document.querySelector('#tree').getAttribute('aria-rowcount')")));
  await first.key("2");
  await first.settle();
  const total = (await first.evaluate("document.querySelector('#functions tbody tr[aria-selected=true] td:nth-child(2)').title")).replace(/\D/g, "");
  const folded = readFileSync(await save(first, "Callers, folded", ".folded"), "utf8").trim().split("\n");
  equal("callers have the function's weight", folded.reduce((sum, line) => sum + +line.slice(line.lastIndexOf(" ") + 1), 0), +total);
  await first.key("3");
  await first.settle();
  for (const from of [first, null]) {
    const path = from ? await save(from, "Page as shown", ".html") : join(saved, "made.data.html"), page = await browser.page();
    await page.open("file://" + path);
    await page.settle();
    equal("a page that is saved opens as it was", await page.evaluate("location.hash"), state);
    equal("with as many rows", await page.evaluate("document.querySelector('#tree').rows.length"), rows);
    equal("and its note", await page.text("#remembered .note"), "Look: </script><b>hash</b>\n“twice”");
    await page.evaluate("document.querySelector('#remembered .note').click()");
    await page.settle();
    like("which leads to what it is about", await page.evaluate("location.hash"), /view=table/);
    await page.key("3");
    await page.settle();
    if (from) {
      rmSync(path);
      await save(page, "Page as shown", ".html");
    } else {
      await page.evaluate("document.querySelector('#remembered .crumb').click()");
      equal("notes can be removed", await page.evaluate("document.querySelector('#remembered').children.length"), 0);
    }
    equal("no error", page.errors.join("; "), "");
  }
}

async function testHostile(browser) {
  const page = await browser.page();
  await page.open("file://" + make("html", "hostile"));
  await page.settle();
  equal("no name runs", await page.evaluate("document.title"), "made.data");
  await page.key("2");
  await page.settle();
  const names = await page.evaluate(
    "[...document.querySelectorAll('#functions tbody td:nth-child(3)')].map(c => c.textContent)",
  );
  check("names are shown as they are", names.includes("</script><script>document.title='broken'</script>"), names);
  check("bad bytes are shown", names.includes("\\xff\\xfe bad \\xc3"), names);
  check("direction marks are shown", names.includes("\\u202eesrever"), names);
  equal("no dialog, no error", page.dialogs.length + page.errors.join("; "), "0");
  if (pictures) await page.picture(join(pictures, "hostile.png"));
}

async function testSvg(browser) {
  for (const form of ["svg", "icicle", "diff"]) {
    const page = await browser.page(),
      path = make(form, 300);
    await page.open("file://" + path);
    const shown = id => page.evaluate(`getComputedStyle(document.getElementById("${id}")).display !== "none"`);
    const middle = name =>
      page.evaluate(`(() => { const f = [...document.querySelectorAll("#frames > g")].find(g =>
      g.textContent.startsWith("${name} (")), b = f.getBoundingClientRect();
      return { x: b.x + b.width / 2, y: b.y + b.height / 2, wide: f.getBBox().width }; })()`); // without the line around it
    equal(`${form}: nothing is zoomed`, await shown("unzoom"), false);
    let server = await middle("server");
    await page.click(server.x, server.y);
    equal(`${form}: a click zooms`, await shown("unzoom"), true);
    like(`${form}: details`, await page.text("#details"), /^Function: server \(\d+ samples, \d/);
    server = await middle("server");
    equal(`${form}: to full width`, Math.round(server.wide), 1180);
    const reset = await page.box("#unzoom");
    await page.click(reset.x + 5, reset.y + 5);
    equal(`${form}: reset`, await shown("unzoom"), false);
    const typed = page.key("f", 2);
    while (!page.dialogs.length) await new Promise(r => setTimeout(r, 20));
    await page.answer("hash<");
    await typed;
    const share = (100 * total(f => f.some(name => /hash</.test(name)))) / total(() => true);
    equal(`${form}: what is matched`, await page.text("#matched"), `Matched: ${share.toFixed(1)}%`);
    equal(`${form}: no error`, page.errors.join("; "), "");
    /* By keyboard, and with names for screen readers. */
    equal(`${form}: buttons`, await page.evaluate("[...document.querySelectorAll('[role=button]')].map(b => b.tabIndex + b.getAttribute('aria-label')).join()"),
      "0Reset zoom,0Search for a regular expression,0Ignore case");
    await page.key("Escape");
    for (let i = 0; i < 9 && (await page.evaluate("document.activeElement?.id")) !== "frames"; i++) await page.key("Tab");
    like(`${form}: the focus is on all`, await page.text("#details"), /^Function: all \(/);
    await page.key(form === "icicle" ? "ArrowDown" : "ArrowUp");
    const first = await page.text("#details");
    check(`${form}: a key goes to a callee`, /^Function: /.test(first) && !/: all /.test(first), first);
    await page.key("ArrowRight");
    check(`${form}: and one beside it`, (await page.text("#details")) !== first, first);
    await page.key("Enter");
    equal(`${form}: Enter zooms`, await shown("unzoom"), true);
    if (pictures) await page.picture(join(pictures, form + ".png"));
  }
}

/* Times are those of the page's thread on a CPU: other tests run beside this one. */
async function testLarge(browser, form) {
  const page = await browser.page(),
    path = make(form, 100000);
  await page.notify("Performance.enable", { timeDomain: "threadTicks" });
  const seconds = async () => (await page.notify("Performance.getMetrics")).metrics.find(m => m.name === "TaskDuration").value;
  await page.open("file://" + path);
  await page.settle();
  const loaded = await seconds();
  check(`${form}: 100,000 stacks load in 10 s`, loaded > 0 && loaded < 10, loaded);
  await page.evaluate(`new Promise(done => { const canvas = document.querySelector("#flame canvas");
    const box = canvas.getBoundingClientRect(); let n = 0;
    const step = () => { canvas.dispatchEvent(new WheelEvent("wheel", { ctrlKey: true, deltaY: n < 30 ? -40 : 40, clientX: box.x + 100 + n * 8,
      clientY: box.y + 90, cancelable: true }));
      requestAnimationFrame(() => { ++n < 60 ? step() : done(); }); };
    step(); })`);
  const picture = ((await seconds()) - loaded) / 60;
  check(`${form}: zooming stays smooth: pictures take 150 ms`, picture > 0 && picture < 0.15, picture);
  console.log(`${form}, 100,000 stacks: ${loaded.toFixed(2)} s to load, ${(picture * 1000).toFixed(1)} ms a picture`);
  equal("no error with 100,000", page.errors.join("; "), "");
  if (pictures) await page.picture(join(pictures, `large-${form}.png`));
}

const browser = await openBrowser(program);
try {
  const tests = [
    [testPage, "light"],
    [testPage, "dark"],
    [testState],
    [testTransforms],
    [testTimeLine],
    [testFilters],
    [testOverTime, "light"],
    [testOverTime, "dark"],
    [testCompared, "light"],
    [testCompared, "dark"],
    [testComparedWaits],
    [testTouch],
    [testZoomed],
    [testBranches],
    [testMemory],
    [testInlined],
    [testTwoTracks],
    [testBackground],
    [testReversed],
    [testFreshKeys],
    [testFacts],
    [testCut],
    [testLongNames],
    [testReach],
    [testSaved],
    [testSavedPage],
    [testHostile],
    [testSvg],
    [testLarge, "html"],
    [testLarge, "diffhtml"],
  ];
  for (const [test, ...words] of tests.filter(([one]) => !only.length || only.includes(one.name))) {
    try {
      await test(browser, ...words);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      console.log(`${[test.name, ...words].join(" ")}: ends where the browser cannot do it: ${error.message}`);
    }
    await browser.closePages(); // each of them draws as long as it is open
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
finish();
