// SPDX-License-Identifier: MIT
// The views over time in a real browser, alone, with planted data: node views.mjs VIEWER_FOLDER [FOLDER_FOR_PICTURES]
// With --measure it says what drawing 2,000,000 samples of 600 threads costs instead.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser } from "./browser.mjs";
import { check, equal, findBrowser, finish, like } from "./checks.mjs";

const [viewer, pictures] = process.argv.slice(2).filter(word => word !== "--measure");
const program = findBrowser();


/* A page with one view, under the rules that the real page has. */
const folder = mkdtempSync(join(tmpdir(), "perfile-views-"));
const here = dirname(fileURLToPath(import.meta.url));
const text = (...parts) => readFileSync(join(...parts), "utf8");
function makePage() {
  const path = join(folder, "views.html"),
    scripts = ["query", "timeindex", "overtime", "trackrows", "trackdraw", "trackkeys", "tracklanes", "tracks", "chart", "heat"].filter(name => existsSync(join(viewer, name + ".js")));
  writeFileSync(
    path,
    `<!DOCTYPE html><html lang="en" data-ready><head><meta charset="utf-8"><title>views</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<style>${text(viewer, "viewer.css")}\n${text(viewer, "overtime.css")}
main { padding: 8px 14px; } #host { position: absolute; inset: 8px 14px; }</style></head><body>
<main><div id="host"></div></main><script>${scripts.map(name => text(viewer, name + ".js")).join("\n")}
${text(here, "planted.js").replaceAll("</", "<\\/")}
const told = { filters: [], selected: [], windows: [], hover: "" };
let shown, state = { event: 0, time: null, threads: null, cpus: null, processes: null };
function open(view, input, more = {}) {
  state = { event: 0, time: null, threads: null, cpus: null, processes: null, ...more };
  const change = part => { state = { ...state, ...part }; shown.show(input, state); };
  shown = view(document.getElementById("host"), {
    onFilter: filter => { told.filters.push(filter); change(filter); },
    onSelect: fn => { told.selected.push(fn); change({ selected: fn }); },
    onWindow: window => { told.windows.push(window); change({ window }); },
    onHover: text => { told.hover = text; },
  });
  /* Rows are opened by the tests. */
  if (shown.view.openAtFirst && !more.opensRows) shown.view.openAtFirst = () => {};
  shown.show(input, state);
}
</script></body></html>`,
  );
  return "file://" + path;
}

const SHIFT = 8,
  CTRL = 2,
  S = 1e9;
async function openView(browser, what, { width = 1280, height = 800, theme = "light", forced = false } = {}) {
  const page = await browser.page(width, height, theme);
  if (forced)
    await page.notify("Emulation.setEmulatedMedia", { features: [{ name: "forced-colors", value: "active" }] });
  await page.open(makePage());
  if (theme === "dark") await page.evaluate("document.documentElement.classList.add('dark')");
  await page.evaluate(`(() => { ${what}; })()`);
  await page.settle();
  return page;
}
const last = async (page, name) => {
  if (name === "windows") await page.evaluate("new Promise(done => setTimeout(done, 200))");
  return page.evaluate(`told.${name}.at(-1) ?? null`);
};
const near = (what, seen, wanted, within) =>
  check(`${what} is about ${wanted}`, seen && seen.every((n, i) => Math.abs(n - wanted[i]) <= within), seen);
async function leave(page, name) {
  const { nodes } = await page.notify("Accessibility.getFullAXTree");
  const roles = ["button", "combobox", "searchbox", "application", "tree", "treeitem", "grid"];
  const nameless = nodes.filter(n => !n.ignored && roles.includes(n.role?.value) && !n.name?.value);
  equal(name + ": controls without a name", nameless.length, 0);
  equal(name + ": names became no elements",
    await page.evaluate("document.querySelectorAll('#host script, #host b b').length"), 0);
  check(name + ": nothing is wider than the page",
    await page.evaluate("document.documentElement.scrollWidth <= innerWidth"));
  equal(name + ": errors", [...page.errors, ...page.dialogs], []);
  if (pictures) await page.picture(join(pictures, name + ".png"));
}

/* Where a time and a row of the tracks are. */
const pinned = (page, label, time) =>
  page.evaluate(`(() => { const v = shown.view, i = v.rows.findIndex(r => r.row.label === ${JSON.stringify(label)} && (r.level > 1 || !v.open.has(r.row.key)));
  const b = v.body.getBoundingClientRect(), p = v.panes.at(-1);
  return { x: b.x + 1 + v.xOf(p, ${time}), y: b.y + 27 + (i + .5) * v.high - v.scroll.scrollTop }; })()`);
const labels = page => page.evaluate("[...document.querySelectorAll('[role=treeitem]')].map(i => i.textContent.replace(/^[▸▾] /, ''))");
const tip = page => page.evaluate("document.querySelector('.ot-tip').hidden ? '' : told.hover");

/* D5: threads are seen when a view opens, as long as all of them fit; one scale for all. */
async function testOpened(browser) {
  const page = await openView(browser, "open(tracks, { data: planted.small() }, { opensRows: true })");
  const seen = await labels(page);
  check("D5: threads are open", seen.some(label => /thread 100\/101/.test(label)), seen);
  equal("D5: threads have one scale", await page.evaluate("new Set(shown.view.model.threads.map(row => shown.view.scaleOf(row).most)).size"), 1);
  equal("no error", page.errors.join("; "), "");
}
/* C8: what ran on a CPU is seen. */
async function testOwners(browser) {
  const page = await openView(browser, "open(tracks, { data: planted.small() }); shown.view.setMode('cpus'); shown.view.draw()");
  const owners = await page.evaluate(`shown.view.model.cpus.map(row => [...new Set(shown.view.bucketsOf(row, 0).owners)].map(t => t < 0 ? "-" : shown.view.data.strings[shown.view.data.threads.comm[t]]).sort().join())`);
  equal("C8: who ran on each CPU", owners, ["main", "-,parser,writer", "-,hel<b>per"]);
  equal("no error", page.errors.join("; "), "");
}
/* C8: events of tracepoints are lanes, with their fields as text, by pointer and by keys; that of the samples is not one. */
const LANES = `Object.assign(planted.small(), { lanes: (data => ({ time: Float64Array.of(1e9, 3e9, 3.5e9, 2e9, 4e9), thread: Int32Array.of(0, 1, 0, 1, 1),
  text: ["pid=<b>1", "pid=2", "pid=3", "nr=4", "nr=5"], list: [{ name: "sched:sched_waking", stride: 2, seen: 1234, order: Int32Array.of(0, 1, 2) },
  { name: "irq:softirq", stride: 1, seen: 2, order: Int32Array.of(3, 4) }, { name: data.meta.events[0].name, stride: 1, seen: 0, order: new Int32Array(0) }] }))(planted.small()) })`;
async function testLanes(browser) {
  const page = await openView(browser, `open(tracks, { data: ${LANES} })`), reported = () => page.text(".hear[role=status]");
  equal("a row of all lanes follows All", (await labels(page)).slice(0, 3), ["All, 1.40 CPUs", "Events, 5 events", "main, process 100, 1.30 CPUs"]);
  await page.evaluate("document.querySelector('[role=treeitem]').focus()");
  for (const key of ["ArrowDown", "ArrowRight", "ArrowRight"]) await page.key(key);
  await page.settle();
  equal("which opens", (await labels(page)).slice(1, 4), ["Events, 5 events", "sched_waking, 3 events", "softirq, 2 events"]);
  await page.key("ArrowRight");
  like("a key goes to the next event and says its fields", await reported(), /^sched:sched_waking · 1\.0+ s .*: pid=<b>1 · one of 2 events is in the page, of 1,234$/);
  await page.key("ArrowRight");
  like("and on", await reported(), /^sched:sched_waking · 3\.0+ s .*: pid=2 · one/);
  await page.key("ArrowLeft");
  like("and back", await reported(), /: pid=<b>1/);
  const at = await pinned(page, "softirq", 4e9);
  await page.move(at.x, at.y);
  like("so does the pointer", await tip(page), /^irq:softirq · 4\.0+ s .*: nr=5$/);
  await leave(page, "tracks-lanes");
}
/* C8: counters are curves, whose values are text. */
const COUNTERS = `(data => Object.assign(data, { lanes: { time: Float64Array.of(1e9, 3e9, 5e9, 2e9), thread: Int32Array.of(0, 0, 0, 1), text: [], value: Float64Array.of(12e8, 34e8, 8e8, 8192),
  list: [{ name: "power:cpu_frequency", label: "Frequency of CPU 3", unit: "Hz", owner: -1, stride: 1, seen: 3, order: Int32Array.of(0, 1, 2) },
    { name: "kmem:rss_stat", label: "Anonymous memory", unit: "bytes", owner: 0, stride: 4, seen: 7, order: Int32Array.of(3) }] } }))(planted.small())`;
async function testCounters(browser) {
  const page = await openView(browser, `open(tracks, { data: ${COUNTERS} }, { opensRows: true })`), reported = () => page.text(".hear[role=status]");
  equal("counters are open when they are few", (await labels(page)).slice(1, 4),
    ["Counters, 2 counters", "Frequency of CPU 3, 0.8–3.4 GHz", "main: anonymous memory, 8 KiB"]);
  const at = await pinned(page, "Frequency of CPU 3", 4e9);
  await page.move(at.x, at.y);
  like("the value at a time", await tip(page), /^Frequency of CPU 3 · 4\.\d+ s: 3\.4 GHz, since 3\.0+ s$/);
  await page.evaluate("document.querySelector('[role=treeitem]').focus()");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"]) await page.key(key);
  await page.settle();
  like("keys go from change to change", await reported(), /^Anonymous memory of main \(100\) · 2\.0+ s: 8 KiB, since 2\.0+ s · one of 4 values is in the page, of 7$/);
  await leave(page, "tracks-counters");
}
async function testTracks(browser) {
  const page = await openView(browser, "open(tracks, { data: planted.small() })");
  equal("processes by weight", await labels(page), [
    "All, 1.40 CPUs",
    "main, process 100, 1.30 CPUs",
    "swapper, process 0, 0.90 CPUs",
    "hel<b>per, process 200, 0.10 CPUs",
  ]);
  let at = await pinned(page, "main", 0);
  await page.click(at.x - 230, at.y);
  equal("a click on the triangle opens", (await labels(page)).slice(2, 5), [
    "main, thread 100, 1.00 CPUs",
    "parser, thread 100/101, 0.20 CPUs",
    "writer, thread 100/102, 0.10 CPUs",
  ]);
  equal("and filters nothing", await last(page, "filters"), null);
  at = await pinned(page, "parser", 3.005 * S);
  await page.move(at.x, at.y);
  equal("facts at the pointer", await tip(page),
    "3.00 s – 3.02 s · parser (100/101) · 1.00 CPUs busy, 20 samples · parse_line 100%");
  at = await pinned(page, "parser", 1.5 * S);
  await page.move(at.x, at.y);
  like("B6: of what it waited for all of the interval and its stack, and marks", await tip(page), /parser .* · blocked 2 s · 0\.000 s – 2\.000 s · in futex_wait ← pthread_cond_wait ← main · throttled: CPU 1$/);
  at = await pinned(page, "All", 3 * S);
  await page.move(at.x, at.y);
  like("losses", await tip(page), /50 samples lost/);
  at = await pinned(page, "writer", 5 * S);
  await page.click(at.x, at.y);
  equal("a click filters", await last(page, "filters"), { time: null, threads: [2], cpus: null, processes: null });
  equal("and chooses", await page.evaluate("document.activeElement.ariaSelected + document.activeElement.row.label"),
    "truewriter");
  const to = await pinned(page, "writer", 7 * S);
  await page.drag(at.x, at.y, to.x, to.y);
  await page.settle();
  near("a drag chooses a time", (await last(page, "filters")).time, [5 * S, 7 * S], 0.02 * S);
  const { time } = await last(page, "filters");
  check("of round numbers", time.every(t => t % 1e6 === 0), time);
  equal("of what is chosen", (await last(page, "filters")).threads, [2]);
  like("the rows are of that time", (await labels(page))[2], /main, thread 100, 1\.00/);
  like("which is said", await page.text(".ot-range"), /^Selected 5\.\d+ s – 7\.\d+ s/);
  const further = await pinned(page, "writer", 8 * S);
  await page.drag(to.x + 2, to.y, further.x, to.y);
  near("an end can be dragged", (await last(page, "filters")).time, [5 * S, 8 * S], 0.02 * S);
  await leave(page, "tracks");
  await page.key("Escape");
  equal("escape: all of the time", (await last(page, "filters")).time, null);
  await page.key("Escape");
  equal("escape: all rows", (await last(page, "filters")).threads, null);
}

async function testTracksKeys(browser) {
  const page = await openView(browser, "open(tracks, { data: planted.small() })", { theme: "dark" });
  const focus = () => page.evaluate("document.activeElement.row?.label ?? document.activeElement.className");
  for (let i = 0; i < 9 && (await focus()) !== "All"; i++) await page.key("Tab");
  equal("Tab goes to the rows", await focus(), "All");
  await page.key("ArrowDown");
  await page.key("ArrowRight");
  await page.key("ArrowRight");
  await page.key("ArrowDown");
  equal("arrows open and go", await focus(), "parser");
  await page.key("Enter");
  equal("enter filters", (await last(page, "filters")).threads, [1]);
  await page.key("ArrowDown");
  await page.key("Enter", CTRL);
  equal("with Ctrl one more", (await last(page, "filters")).threads, [1, 2]);
  await page.key("ArrowRight");
  like("an arrow says the time there", await page.evaluate("told.hover"),
    /^0\.02 s – 0\.04 s · writer .* write_block|sys_write/);
  await page.key("ArrowRight", SHIFT);
  await page.key("ArrowRight", SHIFT);
  equal("with Shift it selects", (await last(page, "filters")).time, [0.02 * S, 0.06 * S]);
  await page.key("z");
  near("z zooms to it", await last(page, "windows"), [0.0192 * S, 0.0608 * S], 1000);
  await page.key("-");
  check("- zooms out", (await last(page, "windows"))[1] > 0.065 * S, await last(page, "windows"));
  await page.key("0");
  equal("0 shows all", await last(page, "windows"), null);
  await page.key("End");
  equal("End", await focus(), "hel<b>per");
  await page.evaluate("(v => { v.box.value = 'RSE'; v.box.dispatchEvent(new Event('input')); })(shown.view)");
  await page.settle();
  equal("search finds threads", (await labels(page)).map(l => l.split(",")[0]), ["All", "main", "parser"]);
  await page.evaluate("(v => { v.box.value = ''; v.box.dispatchEvent(new Event('input')); v.setMode('cpus'); v.filter({ time: null }); })(shown.view)");
  await page.settle();
  equal("CPUs, without the idle task", await labels(page),
    ["All, 1.40 CPUs", "CPU 0, 1.00 CPUs", "CPU 1, 0.30 CPUs", "CPU 2, 0.10 CPUs"]);
  await leave(page, "tracks-dark");
}

/* The wheel, the axis and its words. */
async function testAxis(browser) {
  const page = await openView(browser, "open(tracks, { data: planted.small() }, { byDay: true })");
  const axis = await page.box(".ot-axis"),
    wheel = (x, y, deltaY, modifiers = 0) =>
      page.notify("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX: 0, deltaY, modifiers });
  await wheel(axis.x + axis.width / 2, axis.y + 10, -200);
  await page.settle();
  const [from, to] = await last(page, "windows");
  check("the wheel over the axis zooms at the pointer", to - from < 5 * S && from > S && to < 9 * S, [from, to]);
  await wheel(axis.x + axis.width / 2, axis.y + 60, -200);
  await page.settle();
  equal("over rows it does not", await last(page, "windows"), [from, to]);
  await wheel(axis.x + axis.width / 2, axis.y + 60, -200, CTRL);
  await page.settle();
  check("with Ctrl it does", (await last(page, "windows"))[0] > from, await last(page, "windows"));
  const notices = await page.evaluate("told.windows.length");
  await page.evaluate("for (let i = 0; i < 50; i++) shown.view.window.zoom(.99)");
  const [begin] = await last(page, "windows");
  equal("many steps are told once", (await page.evaluate("told.windows.length")) - notices, 1);
  await page.evaluate("shown.show({ data: shown.view.data }, { ...state, byDay: false })");
  equal("and stay", await page.evaluate("shown.view.window.from"), begin);
  await page.evaluate("shown.show({ data: shown.view.data }, { ...state, window: null })");
  equal("until the state has another", await page.evaluate("shown.view.window.zoomed"), false);
  const steps = await page.evaluate("[1, 1.1e-3, 3e-8, 45, 70, 4000, 100000].map(s => overTime.roundStep(s * 1e9) / 1e9)");
  equal("round steps", steps, [1, 0.002, 5e-8, 60, 120, 7200, 172800]);
  const ticks = byDay =>
    page.evaluate(`overTime.ticksOf(shown.view.data, 2e9, 4e9, 500, ${byDay}).ticks.map(t => [t.at / 1e9, t.text])`);
  equal("ticks since the start", await ticks(false), [
    [2, "2.0 s"],
    [2.5, "2.5 s"],
    [3, "3.0 s"],
    [3.5, "3.5 s"],
    [4, "4.0 s"],
  ]);
  like("ticks of the day are round there", JSON.stringify(await ticks(true)),
    /^\[\[2\.25,"\d\d:\d\d:17\.5"\],\[2\.75,"\d\d:\d\d:18\.0"\]/);
  equal("a date", await page.evaluate("overTime.dateOf(shown.view.data)"), "2026-05-06");
  equal(
    "no carry is lost",
    await page.evaluate("overTime.timeWords(shown.view.data, 1.9999999999e9, 1e6, false)"),
    "2.000 s",
  );
}

/* What is drawn is what the questions of the page say. */
async function testSums(browser) {
  const page = await openView(browser,
    "open(tracks, { data: planted.large({ threads: 40, samples: 5e4, seconds: 20 }) })");
  const differences = await page.evaluate(`(() => {
    const v = shown.view, { data, panes: [pane], step, first, buckets } = v;
    const made = query.buckets(query.filter(data, { event: 0 }), buckets,
      { by: "thread", from: first * step, to: (first + buckets) * step });
    let wrong = made.step === step && made.key.length === 40 ? 0 : 1e9;
    v.setMode("threads");
    made.key.forEach((key, i) => {
      const { row } = v.rows.find(r => r.row.thread === query.describe(data, key).index);
      v.bucketsOf(row, 0).busy.forEach((n, b) => { wrong += Math.abs(n - made.on[i][b]) > n * 1e-6; });
    });
    return wrong; })()`);
  equal("differences from query's buckets", differences, 0);
  const sum = await page.evaluate("shown.view.bucketsOf(shown.view.model.all, 0).busy.reduce((a, b) => a + b) / shown.view.panes[0].index.total");
  near("all is all", [sum], [1], 1e-6);
  await page.evaluate("open(tracks, { data: planted.small({ unit: '', waits: false, wall: null }) })");
  await page.settle();
  equal("of an event that is no clock, shares", (await labels(page)).slice(0, 2),
    ["All, 100.0%", "main, process 100, 92.9%"]);
  equal("without a clock no time of day", await page.evaluate("shown.view.dayButton.hidden"), true);
  const at = await pinned(page, "hel<b>per", 6.51 * S);
  await page.move(at.x, at.y);
  like("shares at the pointer", await tip(page),
    /50\.0% of the weight, 20 samples · <script>alert\(1\)<\/script> 100%/);
}

async function testCompared(browser) {
  const page = await openView(browser,
    "open(tracks, { data: planted.small(), other: planted.small({ slower: 2 }), titles: ['new', 'old'] })");
  await page.evaluate("shown.view.setOpen(shown.view.model.processes[0], true)");
  equal("rows are joined", (await labels(page)).length, 7);
  let at = await pinned(page, "parser", 5 * S);
  await page.move(at.x, at.y);
  like("now", await tip(page), /new: parser .* blocked 6 s/);
  await page.move(at.x - (await page.evaluate("shown.view.panes[1].x - shown.view.panes[0].x")), at.y);
  like("before", await tip(page), /old: parser .* 1\.00 CPUs busy/);
  await leave(page, "tracks-compared");
}

async function testSmall(browser) {
  for (const [name, options] of [
    ["tracks-320", { width: 320, height: 600 }],
    ["tracks-forced", { width: 500, height: 600, forced: true }],
  ]) {
    const page = await openView(browser, "open(tracks, { data: planted.small() })", options);
    const at = await pinned(page, "main", 2.5 * S);
    await page.move(at.x, at.y);
    like(name + " has facts", await tip(page), /^2\.50? s – 2\.\d+ s · main \(100\), 3 threads · 2\.00 CPUs/);
    check(name + " draws", await page.evaluate(`(c => c.getContext("2d").getImageData(c.width / 2, shown.view.high * 1.5, 1, 20).data.some(x => x))(shown.view.canvas)`));
    await leave(page, name);
  }
  const page = await openView(browser, "open(tracks, { data: planted.large({ samples: 1000, threads: 0 }) })");
  equal("without threads there is one row", (await labels(page)).length, 1);
  await leave(page, "tracks-empty");
}

/* What was joined to pieces of time is not combed by other buckets; without times it says so. */
async function testJoined(browser) {
  const page = await openView(browser, `const d = planted.large({ threads: 1, samples: 2000, seconds: 14.0002 });
    d.samples.time.forEach((t, i) => { d.samples.time[i] = i * 7000001 + 12; });
    d.samples.count.fill(3); open(tracks, { data: d })`);
  equal("buckets are whole pieces", await page.evaluate("shown.view.step % 7000001"), 0);
  equal("all alike", await page.evaluate("new Set(shown.view.bucketsOf(shown.view.model.all, 0).busy.slice(0, -1)).size"), 1);
  like("which is said", await page.text(".ot-range"), /samples are joined, in pieces of 7 ms$/);
  await page.evaluate("shown.view.data.samples.time.fill(NaN); open(tracks, { data: { ...shown.view.data, losses: null } })");
  await page.settle();
  equal("no times", await page.text(".ot-range"), "The samples have no times.");
  await page.evaluate("open(heatMap, { data: shown.view.data })");
  await page.settle();
  equal("in the heat map, too", await page.text(".ot-range"), "The samples have no times.");
  await page.evaluate("open(stackChart, { data: shown.view.data })");
  await page.settle();
  equal("in the chart no thread", await page.evaluate("shown.view.thread"), -1);
  await leave(page, "timeless");
}

/* Long names do not fill the page. */
async function testLong(browser) {
  const long = "(d => { d.strings[d.functions.name[2]] = 'std::' + 'x'.repeat(5000) + '<int>'; return d; })(planted.small())";
  for (const view of ["tracks", "stackChart", "heatMap"]) {
    const page = await openView(browser, `open(${view}, { data: ${long} })`, { width: 500, height: 400 });
    const at = view === "stackChart" ? await boxSpot(page, 3 * S, 2) : { x: 150, y: 180 };
    await page.move(at.x, at.y);
    like(view + " shortens names", await tip(page), /std::x+…x+<int>/);
    check("to lines", (await page.box(".ot-tip")).height < 160, await page.box(".ot-tip"));
  }
}

/* What a page may be without. */
async function testBare(browser) {
  const bare = "{ data: { ...planted.small(), intervals: null, marks: null, losses: null, start: null, meta: null } }";
  for (const view of ["tracks", "stackChart", "heatMap"]) {
    const page = await openView(browser, `open(${view}, ${bare})`, { width: 600, height: 400 });
    await page.move(300, 150);
    check(view + " of samples alone", (await tip(page)).length > 10, await tip(page));
    await leave(page, view + "-bare");
  }
}

/* The stack chart: what it makes one box of, gaps and waits, the pointer and the keys. */
const boxSpot = (page, time, depth) =>
  page.evaluate(`(() => { const v = shown.view, b = v.body.getBoundingClientRect();
  return { x: b.x + 1 + v.x(${time}), y: b.y + 28 + (${depth} + .5) * 18 - v.scroll.scrollTop }; })()`);
async function testChart(browser) {
  const page = await openView(browser, "open(stackChart, { data: planted.small() })");
  const boxes = () =>
    page.evaluate(`(({ boxes }, v) => Array.from(boxes.key, (key, b) =>
      [v.briefOf(key), boxes.depth[b], Math.round(boxes.from[b] / 1e7),
        Math.round(boxes.to[b] / 1e7)].join(" ")))(shown.view, shown.view)`);
  equal("the heaviest thread; neighbours are one box", (await boxes()).sort(), [
    "hash 3 500 1000",
    "main 0 0 1000",
    "render 2 0 1000",
    "run 1 0 1000",
  ]);
  let at = await boxSpot(page, 7 * S, 3);
  await page.move(at.x, at.y);
  like("facts", await tip(page), /^hash · app · 5\.00 s – 10\.00 s \((5|4\.99\d*) s\) · level 4, called by render$/);
  await page.click(at.x, at.y);
  equal("a click selects the function", await page.evaluate("T(told.selected.at(-1))".replace("T",
    "(k => overTime.keyName(shown.view.data, k))")), "hash");
  const axis = await page.box(".ot-axis");
  await page.drag(axis.x + axis.width * 0.2, axis.y + 8, axis.x + axis.width * 0.4, axis.y + 8);
  near("a drag on the axis is a time", (await last(page, "filters")).time, [2 * S, 4 * S], 0.02 * S);
  await page.evaluate("shown.view.choice.value = 1; shown.view.choice.dispatchEvent(new Event('change'))");
  await page.settle();
  equal("another thread, with gaps", await boxes(), ["main 0 200 400", "parse_line 1 200 400"]);
  at = await boxSpot(page, 1 * S, 2);
  await page.move(at.x, at.y);
  equal("what it waited for", await tip(page), "blocked 2 s · 0.00 s – 2.00 s · in futex_wait");
  await page.evaluate("shown.view.window.set(2e9, 4e9)");
  await page.settle();
  at = await boxSpot(page, 3 * S, 1);
  await page.drag(at.x, at.y, at.x + (await page.evaluate("shown.view.width")) / 4, at.y);
  await page.settle();
  near("a drag moves what is shown", await last(page, "windows"), [1.5 * S, 3.5 * S], 0.01 * S);
  await page.drag(at.x, at.y, at.x + 50, at.y + 1);
  await page.evaluate("shown.show({ data: shown.view.data }, { ...shown.view.state, pattern: /parse/, window: null })");
  await page.settle();
  await leave(page, "chart");
}
/* C7: a CPU in the stack chart has its threads outermost; waits are those of threads. */
async function testChartOfCpu(browser) {
  const page = await openView(browser, "open(stackChart, { data: planted.small() })");
  equal("CPUs are in the list, below threads", await page.evaluate("[...shown.view.choice.options].filter(o => /^cpu/.test(o.value)).map(o => o.text)"),
    ["CPU 0 43.5%", "CPU 1 13.0%", "CPU 2 43.5%"]);
  await page.evaluate("shown.view.choice.value = 'cpu1'; shown.view.choice.dispatchEvent(new Event('change'))");
  await page.settle();
  const boxes = await page.evaluate(`(v => Array.from(v.boxes.key, (key, b) =>
    [overTime.keyName(v.data, key), v.boxes.depth[b], Math.round(v.boxes.from[b] / 1e7), Math.round(v.boxes.to[b] / 1e7)].join(" ")))(shown.view)`);
  equal("its threads are outermost", boxes.filter(box => / 0 \d+ \d+$/.test(box)).slice(0, 2), ["writer (100/102) 0 0 11", "writer (100/102) 0 100 111"]);
  check("each with its own time", boxes.some(box => /^parser \(100\/101\) 0 \d+ 400$/.test(box)), boxes);
  check("and its stacks below", boxes.some(box => /^parse_line 2 \d+ 400$/.test(box)), boxes);
  equal("and no waits", await page.evaluate("[shown.view.waits.length, shown.view.waitKey.hidden].join()"), "0,true");
  equal("no error", page.errors.join("; "), "");
}
/* Wake-ups: an arrow from the row of a thread to that of another one, when it was woken, where both are drawn. */
async function testWakes(browser) {
  const page = await openView(browser, `(() => { const data = planted.small(); data.intervals.waker.fill(0);
    open(tracks, { data }); shown.view.draw(); })()`);
  const wakes = () => page.evaluate(`(v => v.wakesOf(v.panes[0], 0).map(({ from, to, x }) =>
    [v.rows[from].row.label, v.rows[to].row.label, Math.round((x - v.panes[0].x) / v.panes[0].width * 10)].join(" ")))(shown.view)`);
  const pressed = () => page.evaluate("(b => [b.hidden, b.getAttribute('aria-pressed')].join())(shown.view.wakesButton)");
  equal("arrows are drawn on request", await pressed(), "false,false");
  await page.evaluate("shown.view.wakesButton.click()");
  await page.settle();
  equal("the button is pressed", await pressed(), "false,true");
  equal("and threads are listed", await page.evaluate("shown.view.mode"), "threads");
  equal("of those in time and view, the last first", (await wakes()).filter(wake => /parser/.test(wake)), ["main parser 2"]);
  await page.evaluate("shown.view.window.set(3e9, 4e9)");
  await page.settle();
  equal("of what is zoomed to", (await wakes()).filter(wake => /parser/.test(wake)), []);
  await page.evaluate("shown.view.window.set(9e8, 11e8)");
  await page.settle();
  equal("a thread that is ready is not woken again", (await wakes()).filter(wake => /writer/.test(wake)).length, 1);
  await page.evaluate("shown.view.setMode('cpus'); shown.view.draw()");
  equal("rows of CPUs have none", await pressed(), "true,true");
  equal("no error", page.errors.join("; "), "");
}

async function testChartKeys(browser) {
  const page = await openView(browser, "open(stackChart, { data: planted.small() })", { theme: "dark", width: 400 });
  const reported = () => page.text(".hear");
  await page.evaluate("shown.view.canvas.focus()");
  await page.key("ArrowDown");
  like("the first frame", await reported(), /^main, app, /);
  for (let i = 0; i < 3; i++) await page.key("ArrowDown");
  like("down to the leaf", await reported(), /^hash, .*level 4, called by render$/);
  await page.key("Enter");
  await page.settle();
  near("enter zooms", await last(page, "windows"), [5.0005 * S, 10 * S], 0.002 * S);
  await page.key(" ");
  equal("space selects", await page.evaluate("told.selected.length"), 1);
  await page.key("ArrowUp");
  like("up", await reported(), /^render/);
  await page.key("+");
  await page.key("Escape");
  equal("escape: all of the time", await last(page, "windows"), null);
  await page.evaluate("shown.view.setRow(2)");
  await page.settle();
  like("the thread is said", await page.evaluate("shown.view.choice.selectedOptions[0].text"),
    /^writer \(100\/102\) 4\.3%$/);
  await page.key("ArrowDown");
  const first = await reported();
  await page.key("ArrowRight");
  check("right is later", (await reported()) !== first && /^main/.test(await reported()), [first, await reported()]);
  await page.key("ArrowLeft");
  equal("left is before", await reported(), first);
  await leave(page, "chart-400");
  await testManyThreads(browser);
}
/* Of thousands the heaviest are listed; each other one can be shown, and then is in the list. */
async function testManyThreads(browser) {
  const page = await openView(browser, `(() => { const data = planted.small(), one = Array.from({ length: 1200 }, (x, i) => i);
    open(stackChart, { data: { ...data, threads: { pid: one, tid: one, comm: one.map(() => data.threads.comm[0]) },
      samples: { ...data.samples, thread: data.samples.thread.map((x, i) => i % 1200) } } }); })()`);
  const options = () => page.evaluate(`(c => { const threads = [...c.options].filter(o => !/^cpu/.test(o.value));
    return [threads.length, c.selectedIndex, threads.at(-1).text]; })(shown.view.choice)`);
  equal("the heaviest threads are listed", await options(), [1001, 0, "200 lighter ones: choose them in the tracks"]);
  await page.evaluate("shown.view.setRow(shown.view.threads[1100])");
  await page.settle();
  equal("one of the others is when it is shown", await options(), [1002, 0, "200 lighter ones: choose them in the tracks"]);
  await leave(page, "chart-threads");
}

/* The heat map: cells, a drag, two keys. */
async function testHeat(browser) {
  const page = await openView(browser, "open(heatMap, { data: planted.small() })");
  const cell = (column, row) =>
    page.evaluate(`(v => { const b = v.body.getBoundingClientRect();
    return { x: b.x + 1 + v.x(${column} + .5), y: b.y + 28 + (${row} + .5) * v.high }; })(shown.view)`);
  equal("columns of 100 ms", await page.evaluate("[shown.view.map.columns, shown.view.map.width]"), [100, 1e8]);
  equal("cells have all but the idle task", await page.evaluate("shown.view.map.cells.reduce((a, b) => a + b)"),
    14 * S);
  let at = await cell(60, 10);
  await page.move(at.x, at.y);
  equal("facts", await tip(page), "6.020 s – 6.022 s · 6 samples, 3.00 CPUs · hash 33%");
  const to = await cell(62, 5);
  await page.drag(at.x, at.y, to.x, to.y);
  equal("a drag is a time", (await last(page, "filters")).time, [6.02 * S, 6.212 * S]);
  like("which is said", await page.text(".ot-range"), /^Selected 6\.020 s – 6\.212 s \(192 ms\)/);
  await page.settle();
  await leave(page, "heat");
  await page.key("Escape");
  equal("escape: all of it", (await last(page, "filters")).time, null);
  await page.key("Home");
  await page.key("ArrowDown");
  await page.key("ArrowDown");
  await page.key("Enter");
  await page.key("ArrowRight");
  like("a key says the cell", await page.text(".hear"), /^0\.104 s – 0\.106 s · 2 samples, 1\.00 CPUs · render 100%$/);
  await page.key("Enter");
  equal("two keys are a time", (await last(page, "filters")).time, [0.004 * S, 0.106 * S]);
  await page.evaluate(`(() => { const data = planted.small(), every = data.samples.time.length >> 2, samples = {};
    for (const name in data.samples) samples[name] = data.samples[name].filter((x, i) => i % every === 0);
    open(heatMap, { data: { ...data, samples } }); })()`);
  await page.settle();
  equal("of few samples no column is longer than the time", await page.evaluate("[shown.view.map.columns, shown.view.map.width]"), [10, 1e9]);
  await page.evaluate("open(heatMap, { data: planted.small() }, { threads: [2], column: 1e9 })");
  await page.settle();
  equal("of one thread", await page.evaluate("[shown.view.map.cells.reduce((a, b) => a + b), shown.view.map.columns]"), [S, 10]);
  equal("it is a line", await page.evaluate("shown.view.map.cells.every((w, i) => w === (i % 50 < 5 ? 2e7 : 0))"),
    true);
}
async function testHeatSmall(browser) {
  for (const [name, options] of [
    ["heat-dark-320", { width: 320, height: 700, theme: "dark" }],
    ["heat-forced", { width: 700, height: 500, forced: true }],
  ])
    await leave(await openView(browser, "open(heatMap, { data: planted.small() }, { time: [2e9, 4e9] })", options),
      name);
  const options = { width: 500, height: 300, forced: true };
  await leave(await openView(browser, "open(stackChart, { data: planted.small() }, { thread: 2 })", options),
    "chart-forced");
}

/* Of each thing ten times, with nothing kept; CPU time of the page's thread, since others may be at work. */
const COLD = "for (const row of v.rows) row.row.drawn = []; for (const pane of v.panes) pane.drawn = {};";
const MEASURES = [
  ["tracks", "", [
    ["all of the time, nothing kept", COLD],
    ["half of the time, nothing kept", "v.window.set(1e11 + n, 4e11 + n, true);" + COLD],
    ["moved by a row", "v.setMode('threads'); v.scroll.scrollTop = 3000 + 30 * n;"],
    ["facts of all in a bucket", "v.factsOf(v.model.all, 0, 3e11 + n);"],
    ["a time is chosen", "v.state = { ...v.state, time: [1e11, 3e11 + n] };"],
  ]],
  ["stackChart", "threads: 20", [
    ["100,000 samples", "v.boxes = null; v.window.set(n, 6e11, true);"],
    ["a second", "v.window.set(1e11 + n, 1.01e11 + n, true);"],
  ]],
  ["stackChart", "threads: 1", [["2,000,000 samples of one thread", "v.boxes = null; v.window.set(n, 6e11, true);"]]],
  ["heatMap", "", [["drawn", ""], ["made and drawn", "v.select(v.data, { event: 0, n }); v.make();"]]],
];
async function measure(browser) {
  for (const [view, options, acts] of MEASURES) {
    const page = await openView(browser, `open(${view}, { data: planted.large({ ${options} }) })`);
    await page.notify("Performance.enable");
    const cpu = async () => (await page.notify("Performance.getMetrics")).metrics.find(m => m.name === "ThreadTime").value;
    const run = act => page.evaluate(`(v => { for (let n = 0; n < 10; n++) { ${act} v.draw(); } })(shown.view)`);
    for (const [what, act] of acts) {
      await run(act);
      const before = await cpu();
      await run(act);
      console.log(`${view}, ${what}: ${Math.round(100 * ((await cpu()) - before))} ms`);
    }
  }
}

const browser = await openBrowser(program);
try {
  if (process.argv.includes("--measure")) await measure(browser);
  else
    for (const test of [testOpened, testOwners, testLanes, testCounters, testTracks, testTracksKeys, testAxis, testSums, testCompared, testSmall, testJoined, testLong, testBare, testChart, testChartOfCpu, testWakes, testManyThreads,
      testChartKeys, testHeat, testHeatSmall]) await test(browser);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
finish();
