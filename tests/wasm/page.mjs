// SPDX-License-Identifier: MIT
// page.mjs PAGE JOBS.json: the page that opens recordings, in a browser, from file://. A job is what page.py says: {name, input,
// paths, views: {id: {line, digest}}} with the SHA-256 of what the native command makes.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { openBrowser } from "../viewer/browser.mjs";
import { check, equal, findBrowser, finish, like } from "../viewer/checks.mjs";

const [path, jobsFile] = process.argv.slice(2), { jobs, demo } = JSON.parse(readFileSync(jobsFile, "utf8"));
const browser = await openBrowser(findBrowser()), url = pathToFileURL(path).href, pages = [];
const fresh = async (...how) => {
  const page = await browser.page(...how);
  pages.push(page);
  await page.open(url);
  return page;
};

/* The last view is there: what is chosen is noticed a little later. */
const shown = page => page.evaluate(`new Promise((done, fail) => { const until = Date.now() + 120000, look = () =>
  !("busy" in document.documentElement.dataset) && document.documentElement.dataset.shown === perfilePage.open.view
  && perfilePage.made.has(perfilePage.open.view) ? done() : Date.now() > until ? fail(new Error("nothing is shown")) : setTimeout(look, 10); setTimeout(look, 10); })`);
const SEEN = `(async view => ({ messages: view.messages, failed: view.failed, line: view.line, bytes: view.shown.length,
  digest: [...new Uint8Array(await crypto.subtle.digest("SHA-256", view.shown))].map(byte => byte.toString(16).padStart(2, "0")).join("") }))`;

async function choose(page, input, paths) {
  await page.evaluate("delete document.documentElement.dataset.shown");
  await page.choose(input, paths);
  await shown(page);
}
async function testSame(page, { name, input, paths, views, more }) {
  await page.evaluate("perfilePage.close()");
  await choose(page, input, paths);
  if (more) await choose(page, "#folder", [more]);
  for (const [id, { line, digest, status, label }] of Object.entries(views)) {
    if (label) equal(`the tab of ${id}`, await page.evaluate(`document.getElementById("tab-" + ${JSON.stringify(id)})?.textContent`), label);
    const seen = await page.evaluate(`perfilePage.choose(${JSON.stringify(id)}${line ? ", " + JSON.stringify(line) : ""}).then(() => ${SEEN}(perfilePage.made.get(${JSON.stringify(id)})))`);
    check(`${seen.line} of ${name}: ${seen.messages.slice(0, 300)}`, seen.digest === digest && seen.failed === status > 1, seen);
  }
}

/* What is shown is a page like any other, in a frame: it draws, and its keys work. */
async function testFrame(page) {
  await page.choose("#files", [demo.recording]);
  await page.evaluate("delete document.documentElement.dataset.shown");
  await shown(page);
  const inner = expression => page.evaluate(`(frame => ${expression})(document.querySelector("#view iframe").contentDocument)`);
  await page.evaluate(`new Promise((done, fail) => { const until = Date.now() + 60000, look = () =>
    "ready" in (document.querySelector("#view iframe").contentDocument?.documentElement.dataset ?? {}) ? done()
    : Date.now() > until ? fail(new Error("the frame is not ready")) : setTimeout(look, 10); look(); })`);
  like("the details of the picture", await inner("frame.querySelector('#details').textContent"), /^all /);
  await page.key("2");
  equal("2 shows the functions", await inner("frame.querySelector('#view-table').hidden"), false);
  await page.evaluate("document.querySelector('#theme').click()");
  equal("both are dark", [await inner("frame.documentElement.className"), await page.evaluate("document.documentElement.className")], ["dark", "dark"]);
}

/* What was shown before stays, and the next run has a worker again. */
async function testCancel(page) {
  const before = await page.evaluate("perfilePage.made.get('flame').line");
  await page.evaluate(`(async () => { const run = perfilePage.choose("flame", "dump demo.perf.data");
    while (!("busy" in document.documentElement.dataset)) await new Promise(done => setTimeout(done));
    await new Promise(done => setTimeout(done));
    document.querySelector("#cancel").click();
    await run; })()`);
  equal("after cancelling", await page.evaluate("[perfilePage.made.get('flame').line, document.querySelector('#busy').hidden]"), [before, true]);
  await page.evaluate("perfilePage.choose('info', 'info demo.perf.data')");
  like("the next command", await page.text("#view pre"), /^format/);
}

/* A page that is small has joined samples: the time that is selected in it is read again. */
async function testDetail(page) {
  await page.evaluate("perfilePage.choose('flame', 'flame --format html --page-size 1K demo.perf.data')");
  await page.evaluate(`new Promise((done, fail) => { const until = Date.now() + 60000, look = () => !document.querySelector("#detail").hidden ? done()
    : Date.now() > until ? fail(new Error("nothing is cut")) : setTimeout(look, 10); look(); })`);
  await page.evaluate("document.querySelector('#detail').click()");
  like("without a selection", await page.text("#messages"), /^Select a time/);
  await page.evaluate("document.querySelector('#view iframe').contentWindow.location.hash = '#time=50000000-100000000'");
  await page.evaluate("document.documentElement.removeAttribute('data-shown'); document.querySelector('#detail').click()");
  await shown(page);
  equal("the selected time", await page.evaluate("perfilePage.made.get('flame').line"), "flame --format html --time +0.050000000,+0.100000000 demo.perf.data");
}

/* As a drop: files in a DataTransfer. */
const drop = (page, target, names) => page.evaluate(`(async () => { const all = new DataTransfer(), kept = perfilePage.open.recordings.flatMap(({ files }) => Object.values(files));
  for (const name of ${JSON.stringify(names)}) all.items.add(new File([await (globalThis.bytes ??= kept[0]).arrayBuffer()], name, { lastModified: all.items.length }));
  const at = document.querySelector(${JSON.stringify(target)});
  for (const type of ["dragenter", "dragover", "drop"]) at.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: all })); })()`);
async function testDrops(page) {
  await page.evaluate("delete document.documentElement.dataset.shown");
  await drop(page, "[data-drop=compare]", ["other.data"]);
  await shown(page);
  like("dropped to be compared", await page.evaluate("perfilePage.made.get('flame').line"), /^flame --format html --before demo.perf.data other.data$/);
  await page.evaluate("delete document.documentElement.dataset.shown");
  await drop(page, "body", ["a.data", "it's b.data"]);
  await shown(page);
  equal("two are compared, by their dates", await page.evaluate("perfilePage.made.get('flame').line"), "flame --format html --before a.data 'it'\\''s b.data'");
  await page.evaluate("perfilePage.choose('report')");
  like("and as text", await page.evaluate("document.querySelector('#view pre').textContent"), /1 recording before, 1 after/);
}

async function testWrong(page) {
  await page.evaluate("perfilePage.receive([{ path: 'words.txt', blob: new File(['not a recording'], 'words.txt') }])");
  like("what is not a recording", await page.text("#messages, #problem"), /./);
}

/* The page with SQLite. */
async function testSql() {
  const page = await browser.page();
  pages.push(page);
  await page.open(pathToFileURL(path.replace(/[^/]+$/, "perfile-sql.html")).href);
  await choose(page, "#files", [demo.recording]);
  equal("the tab of queries", await page.evaluate("document.querySelector('#tab-sql')?.textContent"), "SQL");
  const usual = await page.evaluate("perfilePage.choose('sql').then(() => [perfilePage.made.get('sql').failed, perfilePage.made.get('sql').shown.length > 0])");
  equal("the statement that it begins with", usual, [false, true]);
  const seen = await page.evaluate(`perfilePage.choose("sql", ${JSON.stringify(demo.sql.line)}).then(() => ${SEEN}(perfilePage.made.get("sql")))`);
  check(`${seen.line}: ${seen.messages}`, seen.digest === demo.sql.digest && !seen.failed, seen);
}

const page = await fresh();
equal("the first screen", [await page.text("#title"), await page.evaluate("document.querySelector('#start').hidden")], ["perfile", false]);
const hasFolders = !/firefox/.test(findBrowser()); // its driver cannot choose one
for (const job of jobs) if (hasFolders || job.input !== "#folder" && !job.more) await testSame(page, job);
if (!hasFolders) console.log("not tested: folders in Firefox, whose driver chooses none");
const other = await fresh(400, 700);
await testFrame(other);
await testCancel(other);
await testDetail(other);
await testDrops(other);
await testWrong(await fresh());
if (demo.sql) await testSql();
else console.log("not tested: queries, which the command was built without");
for (const { errors, requests } of pages) {
  equal("errors", errors, []);
  equal("requests", requests.filter(request => !/^(file|blob|data):/.test(request)), []);
}
await browser.close();
finish();
