// SPDX-License-Identifier: MIT
// drops.mjs PAGE RECORDING [CANCELS]: what users drop on the page that opens recordings, which must never be stuck: files that are empty, have
// names of all kinds, change or vanish; folders; a second drop while the first one is read; and cancelling, at CANCELS random times.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openBrowser } from "../viewer/browser.mjs";
import { check, equal, findBrowser, finish, like, skip } from "../viewer/checks.mjs";

const [path, recording, cancels = "10"] = process.argv.slice(2);
if (!existsSync(path)) skip("./dev wasm has not made the page");
const folder = mkdtempSync(join(tmpdir(), "perfile-drops-")), browser = await openBrowser(findBrowser()), pages = [];
const copyOf = name => {
  const to = join(folder, name);
  copyFileSync(recording, to);
  return to;
};
async function fresh() {
  const page = await browser.page(900, 700);
  pages.push(page);
  await page.open(pathToFileURL(path).href);
  return page;
}

/* Nothing is waited for, and either the first screen or what is open is shown. */
const settled = page => page.evaluate(`new Promise((done, fail) => { const last = Date.now() + 60000; let calm = 0; const look = () => {
  calm = "busy" in document.documentElement.dataset ? 0 : calm + 1;
  calm > 4 ? done() : Date.now() > last ? fail(new Error("the page is busy for a minute")) : setTimeout(look, 20); }; look(); })`);
const STATE = `(hidden => ({ start: !hidden("start"), view: !hidden("view"), busy: !hidden("busy"), tabs: document.querySelectorAll("#views [aria-selected=true]").length,
  names: perfilePage.open.recordings.map(({ name }) => name), line: perfilePage.made.get(perfilePage.open.view)?.line ?? "", failed: perfilePage.made.get(perfilePage.open.view)?.failed,
  messages: document.querySelector("#messages").textContent, problem: document.querySelector("#problem").textContent }))(id => document.getElementById(id).hidden)`;
async function stateOf(page, what) {
  await settled(page);
  const state = await page.evaluate(STATE);
  check(`${what}: one screen is shown`, state.start !== state.view && !state.busy, state);
  check(`${what}: what is shown is one of the views`, !state.view || state.tabs === 1, state);
  return state;
}
async function choose(page, ...paths) {
  await page.choose("#files", paths);
  return stateOf(page, paths.join());
}
async function opensAgain(page, what) {
  const state = await choose(page, copyOf("again.data"));
  equal(`${what}: the next recording`, [state.names, state.failed, state.line], [["again.data"], false, "flame --format html again.data"]);
}

/* Chromium lets files be dropped as a user does, with folders. */
async function drop(page, ...paths) {
  for (const type of ["dragEnter", "dragOver", "drop"])
    await page.tell("Input.dispatchDragEvent", { type, x: 450, y: 300, data: { items: [], files: paths, dragOperationsMask: 1 } });
  return stateOf(page, `a drop of ${paths.join()}`);
}

async function testEmpty(page) {
  writeFileSync(join(folder, "empty.data"), "");
  writeFileSync(join(folder, "words.txt"), "not a recording");
  like("a file of no bytes", (await choose(page, join(folder, "empty.data"))).messages, /empty\.data/);
  await opensAgain(page, "after a file of no bytes");
  for (const paths of [["empty.data"], ["words.txt", "empty.data"]]) {
    const { messages, names, failed } = await choose(page, ...paths.map(name => join(folder, name)));
    like("what is of no use", messages, /^Neither recordings nor symbols: (empty\.data|words\.txt, empty\.data)$/);
    equal("what was open", [names, failed], [["again.data"], false]);
  }
  const { messages, names } = await choose(page, join(folder, "words.txt"), copyOf("with words.data"));
  like("what is of no use beside a recording", messages, /^Neither recordings nor symbols: words\.txt/);
  equal("the recording", names, ["with words.data"]);
}
async function testNames(page) {
  for (const name of ["-o", "--help", "__proto__", "symbols", "kallsyms.data", "a'b\"c\\d $(e) `f`", "日本 \u202e.data", "new\nline", "x".repeat(255), "@x"]) {
    const { names, failed, messages } = await choose(page, copyOf(name));
    equal(`a recording named ${JSON.stringify(name)}: ${messages}`, [names.length, failed], [1, false]);
    await page.evaluate("perfilePage.choose('info', document.querySelector('#command').value.replace(/^flame --format html/, 'info'))");
    equal(`info of ${JSON.stringify(name)}`, (await stateOf(page, name)).failed, false);
  }
}
async function testChanging(page) {
  for (const [what, change] of [["a truncated file", file => truncateSync(file, 100)], ["a file that is gone", file => rmSync(file)]]) {
    const file = copyOf("changing.data");
    await choose(page, file);
    change(file);
    await page.evaluate("perfilePage.choose('report')");
    const { failed, messages } = await stateOf(page, what);
    equal(`${what}: ${messages}`, failed, true);
    like(what, messages, /changing\.data/);
    await opensAgain(page, what);
  }
}
async function testFolders(page) {
  const root = join(folder, "root"), deep = join(root, ...Array(30).fill("d"));
  mkdirSync(deep, { recursive: true });
  mkdirSync(join(folder, "nothing"));
  symlinkSync("/nonexistent", join(root, "dangling"));
  for (let i = 0; i < 300; i++) writeFileSync(join(root, `file ${i}`), "x");
  writeFileSync(join(deep, "deep"), "x");
  like("a folder of nothing", (await drop(page, join(folder, "nothing"))).problem, /no files/);
  like("a folder without a recording", (await drop(page, root)).problem, /drop a recording/);
  equal("with a recording", (await drop(page, root, copyOf("a.data"))).names, ["a.data"]);
  copyFileSync(recording, join(root, "in it.data"));
  equal("a recording in a folder", (await drop(page, root)).names, ["in it.data"]);
}

const later = ms => new Promise(done => setTimeout(done, ms));
const random = (seed => () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648)(1);
async function testSecond(page) {
  for (let i = 0; i < 10; i++) {
    const first = copyOf(`first${i}.data`), second = copyOf(`second${i}.data`);
    await page.choose("#files", [first]);
    await later(random() * 150);
    const { names, line, failed } = await choose(page, second);
    equal("the second one is shown", [names, line, failed], [[`second${i}.data`], `flame --format html second${i}.data`, false]);
  }
}
async function testCancel(page) {
  for (let i = 0; i < Number(cancels); i++) {
    await page.choose("#files", [copyOf(`cancel${i}.data`)]);
    await later(random() * 250);
    if (random() < .3) await page.evaluate("void perfilePage.choose('report')");
    await page.evaluate("document.querySelector('#cancel').click()");
    if (random() < .3) await page.choose("#files", [copyOf(`then${i}.data`)]);
    await stateOf(page, "cancelled");
  }
  await opensAgain(page, "after cancelling");
}

const page = await fresh();
await testEmpty(page);
await testNames(page);
await testChanging(page);
await testSecond(page);
await testCancel(page);
if (!/firefox/.test(findBrowser())) await testFolders(await fresh()); // its drivers drop nothing
for (const { errors } of pages) equal("errors", errors, []);
await browser.close();
rmSync(folder, { recursive: true });
finish();
