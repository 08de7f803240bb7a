// SPDX-License-Identifier: MIT
// The numbers of pages against perfile's tables, in plain node: node decoded.mjs FOLDER_OF_VIEWER PERFILE ASSEMBLE RECORDING...
// Complete pages, those whose samples are joined, and those whose stacks are cut. What is called *.golden is assembled; without
// a recording there are those that are made here.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { check, finish } from "./checks.mjs";
import { seeded } from "./made_data.mjs";

const [viewer, perfile, assemble, ...recordings] = process.argv.slice(2);

function ask(...what) {
  const options = { encoding: "utf8", env: process.env, stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 30 };
  try {
    return execFileSync(perfile, what, options);
  } catch (error) {
    /* A damaged recording is reported with the status; what was read is there. */
    return error.stdout;
  }
}

/* The page's own code, without a page. */
const files = names => names.map(name => readFileSync(join(viewer, name), "utf8")).join("\n");
const code = files(["query.js", "timeindex.js", "groups.js", "tree.js", "reportrows.js", "answers.js"]);
const run = new Function("header", "bytes", files(["data.js"]) + "const data = openColumns(header, bytes), { labels, shorter } = data;\n" + code +
  "\nreturn { data, query, reportAnswers, answers };");
function decode(html) {
  const [, json] = html.match(/<script type="application\/json" id="data">([\s\S]*?)<\/script>/), header = JSON.parse(json);
  return run(header, gunzipSync(Buffer.from(header.packed, "base64")));
}

/* By module and name: own weight, and of functions the all. */
function sumsOf(rows) {
  const sums = new Map();
  for (const [module, name, self, total] of rows) {
    const key = `${module}\n${name}`,
      sum = sums.get(key) || [0, 0];
    sum[0] += self;
    sum[1] += total;
    sums.set(key, sum);
  }
  return sums;
}
/* Rows of all events are asked for once; of samples, also where branches were recorded. */
const OF_SAMPLES = ["--no-branch-stack", "--format", "json", "-g", "none"];
const tables = new Map();
function tableOf(recording, options) {
  const key = [recording, ...options].join(" ");
  const isOfBranches = () => "branch_types" in JSON.parse(ask("report", "--format", "json", "-g", "none", "--top", "1", recording)),
    what = () => (isOfBranches() ? ["report", ...OF_SAMPLES, "--sort", "dso,symbol"] : ["table", "functions", "--format", "json"]);
  if (!tables.has(key)) tables.set(key, JSON.parse(ask(...what(), "--no-inline", ...options, recording)));
  return tables.get(key);
}
function tableRows(recording, event, options) {
  const { columns, rows } = tableOf(recording, options);
  const at = name => columns.findIndex(column => column.name === name);
  return rows
    .filter(row => row[at("event")] === event)
    .map(row => [row[at("dso")] ?? "", row[at("symbol")] ?? "", row[at("self")], row[at("total")]]);
}
function pageRows({ data, query }, event, options) {
  const text = i => (i < 0 ? "" : data.strings[i]),
    { name, module, kind } = data.functions;
  const named = fn => (kind[fn] === 4 ? "" : text(name[fn]));
  if (data.totals && !options.time)
    return [...data.totals.fn.keys()]
      .filter(i => data.totals.event[i] === event)
      .map(i => [data.totals.fn[i], data.totals.self[i], data.totals.total[i]])
      .map(([fn, self, total]) => [text(module[fn]), named(fn), self, total]);
  const table = query.functions(query.tree(query.filter(data, { event, ...options })));
  return [...table.key].map((fn, i) => [text(module[fn]), named(fn), table.self[i], table.total[i]]);
}
/* Arguments are in some views only; what has no symbol is one row in the page. */
const plain = name => name.replace(/^([^\s(]+)\(.*\)(?: const)?$/, "$1");
function compare(what, page, table) {
  const mine = sumsOf(page.map(([module, name, ...sums]) => [module, plain(name), ...sums])),
    theirs = sumsOf(table.map(([module, name, ...sums]) => [module, plain(name), ...sums]));
  for (const [key, [self, total]] of theirs) {
    const found = mine.get(key) || [0, 0];
    check(`${what}: own weight of ${key}`, found[0] === self, [found[0], self]);
    if (!key.endsWith("\n")) check(`${what}: whole of ${key}`, found[1] === total, [found[1], total]);
  }
  const surplus = [...mine.keys()].filter(key => !theirs.has(key) && mine.get(key)[0]);
  check(`${what}: no function but those`, surplus.length === 0, surplus);
}

/* Times off CPU by thread, and by the named functions of their stacks, as `perfile table offcpu` adds them up. That leaves out
 * what all stacks of switches begin with. */
const OF_SCHEDULER = /^(__schedule|schedule|preempt_schedule(_common|_irq|_notrace)?|__cond_resched|__traceiter_sched_switch|schedule_idle)$/;
function stackText(names) {
  let first = 0;
  while (first < names.length - 1 && OF_SCHEDULER.test(names[first])) first++;
  return names.slice(first).filter(name => name && !/^\[.*\]$/.test(name)).map(plain).join(";");
}
function addTo(sums, key, value) {
  sums.set(key, (sums.get(key) || 0) + value);
}
const offTables = new Map();
function offSums(recording) {
  if (!offTables.has(recording)) offTables.set(recording, readOffSums(recording));
  return offTables.get(recording);
}
function readOffSums(recording) {
  const { columns, rows } = JSON.parse(ask("table", "offcpu", "--no-inline", "--format", "json", recording));
  const at = name => columns.findIndex(column => column.name === name),
    sums = { total: 0, threads: new Map(), stacks: new Map(), entire: new Map() };
  for (const row of rows) {
    const total = row[at("total_ns")];
    for (const name of new Set(row[at("stack")].filter(name => name && !/^\[.*\]$/.test(name)).map(plain))) addTo(sums.entire, name, total);
    sums.total += total;
    if (total) addTo(sums.threads, row[at("tid")], total);
    if (total) addTo(sums.stacks, stackText(row[at("stack")]), total);
  }
  return sums;
}
function intervalSums({ data, query }) {
  const { thread, from, to, stack } = data.intervals,
    sums = { total: query.filter(data, { measure: "all" }).total, threads: new Map(), stacks: new Map() };
  for (let i = 0; i < thread.length; i++) {
    addTo(sums.threads, data.threads.tid[thread[i]], to[i] - from[i]);
    const names = [];
    for (let s = stack[i]; s >= 0; s = data.stacks.parent[s]) {
      const fn = data.stacks.fn[s];
      names.push(data.functions.kind[fn] === 4 ? "" : data.strings[data.functions.name[fn]]);
    }
    addTo(sums.stacks, stackText(names), to[i] - from[i]);
  }
  return sums;
}
const sorted = sums => JSON.stringify([...sums].sort((a, b) => String(a[0]) < String(b[0]) ? -1 : 1));
function compareWaits(what, recording, page) {
  const mine = intervalSums(page),
    theirs = offSums(recording),
    left = page.data.waitsLeft ? page.data.waitsLeft[1] : 0;
  check(`${what}: time off CPU`, mine.total + left === theirs.total, [mine.total, left, theirs.total]);
  if (left) return;
  check(`${what}: time off CPU of threads`, sorted(mine.threads) === sorted(theirs.threads), [sorted(mine.threads), sorted(theirs.threads)]);
  if (page.data.cutNodes) return;
  check(`${what}: time off CPU of stacks`, sorted(mine.stacks) === sorted(theirs.stacks), [sorted(mine.stacks), sorted(theirs.stacks)]);
}

/* B1: a page of times off CPU is the ordinary page with another measure: it has what folded stacks have. */
async function compareOffCpu(recording) {
  for (const measure of ["blocked", "all", "both"]) {
    const lines = ask("flame", "--no-inline", "--off-cpu", measure, "--format", "folded", recording).trim().split("\n");
    const { data, query } = decode(pageOf(recording, "--off-cpu", measure)),
      adds = measure === "both" && data.events[data.event].unit === "ns";
    const wanted = lines.reduce((all, line) => all + +line.slice(line.lastIndexOf(" ") + 1), 0),
      { total } = query.filter(data, adds ? { measure, event: data.event } : { measure: measure === "both" ? "all" : measure });
    check(`B1: ${recording} --off-cpu ${measure}`, data.measure === measure && total === wanted, [data.measure, total, wanted]);
    check(`B1: ${recording}: samples stay what they are`, data.events.every(({ name }) => !/off-cpu/.test(name)), data.events);
  }
}

/* B3: ranges of time off CPU are the clipped intervals, in the graph and in the time line; and a part of all. */
function compareClipped(recording) {
  const { data, query, answers } = decode(pageOf(recording)), { from, to } = data.intervals, next = seeded(5);
  const { total: all } = query.filter(data, { measure: "all" });
  for (let i = 0; i < 50; i++) {
    const [a, b] = [next(data.span), next(data.span) + 1].sort((x, y) => x - y), { total } = query.filter(data, { measure: "all", time: [a, b] });
    const wanted = from.reduce((sum, start, k) => sum + Math.max(0, Math.min(to[k], b) - Math.max(start, a)), 0);
    const { off } = answers.lanes({ filter: { event: data.event, measure: "all" }, by: null, count: 7, from: a, to: b });
    const line = off.reduce((sum, row) => row.reduce((x, y) => x + y, sum), 0);
    check(`B3: ${recording}: off CPU from ${a} to ${b}`, total === wanted && total <= all && Math.abs(line - wanted) < 1, [total, line, wanted, all]);
  }
}

/* D13: of time on and off CPU, each frame knows which part is off CPU: in the graph, turned round, and of callers and callees. */
function compareHatched(recording) {
  const { data, query, answers } = decode(pageOf(recording)), all = query.filter(data, { measure: "all" }).total;
  let group = -1;
  const ask = measure => {
    const { main, shown } = answers.tree({ event: data.event, mine: {}, theirs: {}, before: null, measure, transforms: [], by: ["comm"], order: "weight", stacks: "callers",
      normalized: false, swapped: false, totals: false });
    if (group < 0) group = main.group[main.total.findIndex((total, n) => total && main.depth[n] === 2)];
    const { callers, callees } = answers.sandwich({ group });
    return { main, shown, callers, callees };
  };
  const paths = (tree, column) => {
    const of = [""], found = new Map();
    for (let n = 0; n < tree.count; n++) {
      if (n) of[n] = `${of[tree.parent[n]]};${tree.group[n]}`;
      if (tree[column][n]) found.set(of[n], tree[column][n]);
    }
    return sorted(found);
  };
  const off = ask("all"), both = ask("both");
  check(`D13: ${recording}: time off CPU`, all > 0 && both.main.off[0] === all, [both.main.off[0], all]);
  for (const name of ["main", "callees"]) check(`D13: ${recording}: ${name}`, paths(both[name], "off") === paths(off[name], "total"), name);
  for (const name of ["shown", "callers"])
    check(`D13: ${recording}: ${name}`, both[name].off[0] === off[name].total[0] && both[name].off.every((part, n) => part <= both[name].total[n]), name);
  check("D13: without times off CPU nothing is hatched", !ask("weight").main.off && !ask("weight").shown.off, recording);
}

/* C5: a function has one name in page and folded stacks. */
async function compareFolded(recording) {
  const wanted = ask("flame", "--no-inline", "--format", "folded", recording).trim().split("\n").sort(),
    { data, answers } = decode(pageOf(recording));
  if (data.cutNodes || !wanted[0]) return;
  const { id } = answers.tree({ event: data.event, mine: {}, theirs: {}, before: null, measure: "weight", transforms: [], by: ["comm"], order: "weight", stacks: "callees",
    normalized: false, swapped: false, totals: false });
  const sums = new Map();
  for (const line of answers.folded({ id, of: "main", node: 0 }).trim().split("\n")) addTo(sums, line.slice(0, line.lastIndexOf(" ")), +line.slice(line.lastIndexOf(" ") + 1));
  const mine = [...sums].map(([names, weight]) => `${names} ${weight}`).sort(),
    at = mine.findIndex((line, i) => line !== wanted[i]);
  check(`C5: ${recording}: folded stacks of the page`, at < 0 && mine.length === wanted.length, [at, mine[at], wanted[at], mine.length, wanted.length]);
}

/* B2: samples at equal distances, joined in pages of different sizes: bars are equal, and ranges between slices are exact. */
const EVEN = 40000,
  EVERY = 250000;
function evenSamples() {
  const lines = [`attr type=1 config=0 sample_period_or_freq=${EVERY} sample_type=0x107 ids=1 name="cpu-clock"`, 'record COMM pid=5 tid=5 comm="even"'];
  for (let i = 0; i < EVEN; i++)
    lines.push(`sample event=0 misc=2 ip=0x${(0x400000 + (i % 7) * 4096).toString(16)} pid=5 tid=5 time=${1000000 + i * EVERY} period=${EVERY}`);
  return lines.join("\n");
}
/* Any range is what --time gives, but for one slice at most where samples are joined. */
function compareRanges(recording, what, { data, query }, width) {
  const next = seeded(4);
  for (let i = 0; i < 50; i++) {
    const [a, b] = [next(data.span), next(data.span) + 1].sort((x, y) => x - y), { total } = query.filter(data, { event: 0, time: [a, b] });
    const wanted = (Math.ceil(b / EVERY) - Math.ceil(a / EVERY)) * EVERY;
    check(`${what}: any range, from ${a} to ${b}`, Math.abs(total - wanted) <= width, [total, wanted]);
    if (i >= 3) continue;
    const [from, to] = [a, b - 1].map(at => ((at + data.first) / 1e9).toFixed(9));
    const sum = ask("flame", "--no-inline", "--format", "folded", "--time", `${from},${to}`, recording).trim().split("\n").reduce((all, line) => all + +line.slice(line.lastIndexOf(" ") + 1), 0);
    check(`${what}: --time ${from},${to}`, sum === wanted, [sum, wanted]);
  }
}
async function testEven() {
  const recording = assembled("even", evenSamples());
  for (const size of ["60000", "20000", "6000", "3000"]) {
    const { data, query, answers } = decode(pageOf(recording, "--page-size", size)),
      [slice] = data.samples.slices || [{ width: 0 }], what = `B2: --page-size ${size}, slices of ${slice.width} ns`;
    check(`${what}: samples are joined`, slice.width > 0, data.piece);
    for (const count of [200, 173, 31]) {
      const { on, covered } = answers.lanes({ filter: { event: 0 }, by: null, count, from: 0, to: data.span + 1 }),
        rates = on[0].map((weight, b) => weight / covered[b]).slice(1, -1);
      check(`${what}: ${count} bars are equal`, Math.max(...rates) <= Math.min(...rates) * 1.01, [Math.min(...rates), Math.max(...rates)]);
    }
    const next = seeded(3), slices = Math.ceil(slice.end / slice.width);
    for (let i = 0; i < 50; i++) {
      const [a, b] = [next(slices), next(slices) + 1].sort((x, y) => x - y).map(k => Math.min(slice.end, slice.from + k * slice.width));
      const wanted = Math.ceil(b / EVERY) - Math.ceil(a / EVERY), { total } = query.filter(data, { event: 0, time: [a, b] });
      check(`${what}: from ${a} to ${b}`, total === wanted * EVERY, [total / EVERY, wanted]);
    }
    compareRanges(recording, what, { data, query }, slice.width);
  }
  compareRanges(recording, "B2: not joined", decode(pageOf(recording, "--page-size", "64M")), 0);
}

/* Forks, execs and exits of threads of the page, and losses, as `perfile table records` has them: [time, thread, kind, text]. */
const BY_EXEC = 1 << 13,
  KINDS = { FORK: 2, COMM: 3, EXIT: 4 };
function recordedMarks(recording, { first, span, threads }) {
  const { columns, rows } = JSON.parse(
    ask("table", "records", "--columns", "type,misc,fields", "--format", "json", recording),
  );
  const at = name => columns.findIndex(column => column.name === name),
    tids = new Set(threads.tid),
    found = { marks: [], losses: [] };
  for (const row of rows) {
    const type = row[at("type")],
      fields = typeof row[at("fields")] === "string" ? JSON.parse(row[at("fields")]) : row[at("fields")],
      time = fields?.sample_id?.time - first;
    if (!(time >= 0 && time <= span)) continue;
    if (type.startsWith("LOST")) found.losses.push([time, fields.lost]);
    if (!KINDS[type] || (type === "COMM" && !(row[at("misc")] & BY_EXEC))) continue;
    const tid = type === "FORK" ? fields.ptid : fields.tid;
    if (tids.has(tid)) found.marks.push([time, tid, KINDS[type], type === "FORK" ? `thread ${fields.tid}` : ""]);
  }
  return found;
}
function compareMarks(what, recording, { data }) {
  const { marks, losses, threads, strings } = data,
    wanted = recordedMarks(recording, data),
    listed = list => JSON.stringify(list.map(row => JSON.stringify(row)).sort());
  const mine = [...marks.time].map((time, i) => [time, threads.tid[marks.thread[i]], marks.kind[i], strings[marks.text[i]]]);
  const lost = [...losses.time].map((time, i) => [time, losses.count[i]]);
  check(`${what}: marks`, listed(mine) === listed(wanted.marks), [listed(mine), listed(wanted.marks)]);
  check(`${what}: losses`, listed(lost) === listed(wanted.losses), [listed(lost), listed(wanted.losses)]);
}

/* Lanes: the events of each tracepoint with their fields, as `perfile table samples` has them, or one of so many of them. Switches are
 * times off CPU instead. */
function compareLanes(what, recording, { data }) {
  /* Without tracepoints there is no such column. */
  const { columns, rows } = JSON.parse(ask("table", "samples", "--columns", "time,tid,event,trace", "--format", "json", recording) || '{"columns":[],"rows":[]}'),
    at = name => columns.findIndex(column => column.name === name),
    wanted = new Map(),
    { lanes } = data;
  for (const row of rows) {
    const name = row[at("event")];
    if (row[at("trace")] === null || (name === "sched:sched_switch" && data.intervals.to.length)) continue;
    if (!wanted.has(name)) wanted.set(name, []);
    wanted.get(name).push([row[at("time")] - data.first, row[at("tid")], row[at("trace")]]);
  }
  check(`${what}: lanes`, (lanes?.list ?? []).filter(({ unit }) => !unit).map(({ name }) => name).sort().join() === [...wanted.keys()].sort().join(), [lanes?.list, [...wanted.keys()]]);
  for (const { name, stride, seen: recorded, order } of (lanes?.list ?? []).filter(({ unit }) => !unit)) {
    const mine = [...order].map(i => [lanes.time[i], data.threads.tid[lanes.thread[i]], lanes.text[i]]),
      left = (wanted.get(name) ?? []).filter((row, i) => i % stride === 0);
    check(`${what}: events of ${name}`, JSON.stringify(mine) === JSON.stringify(left), [mine.slice(0, 3), left.slice(0, 3), mine.length, left.length]);
    check(`${what}: how many there are of ${name}`, recorded === wanted.get(name)?.length && order.length <= 2000 && (stride === 1 || order.length > 1000), [recorded, stride, order.length]);
    seen.thinned += stride > 1;
  }
}

/* In a page that compares, the recording before has the times that it has alone, from its own start. */
function compareBefore(recording, { data: alone }, { data: both }) {
  const first = both.beforeTimes.first,
    at = (times, start) => [...times].map(time => time + start).sort((a, b) => a - b).join();
  const before = both.samples.time.filter((time, i) => both.samples.event[i] >= both.events.length);
  check(`${recording}: times of samples of before`, at(before, first) === at(alone.samples.time, alone.first), [first, alone.first]);
  check(`${recording}: none of them is before that`, !before.some(time => time < 0), before.filter(time => time < 0));
  const markOf = ({ marks, threads, start }) => [...marks.time].map((time, i) => [time + start, threads.tid[marks.thread[i]], marks.kind[i]].join());
  const inside = mark => +mark.split(",")[0] >= first && +mark.split(",")[0] <= first + both.beforeTimes.span;
  const mine = markOf({ ...both.earlier, threads: both.threads, start: first }),
    wanted = markOf({ ...alone, start: alone.first }).filter(inside);
  check(`${recording}: marks of before`, mine.sort().join(" ") === wanted.sort().join(" "), [mine, wanted]);
}

/* Two recordings in a page, by weight, time off CPU, and both: each side as it is alone, and changes between them, complete and own,
 * as they are and as if both weighed the same. */
const SIDES = ["now", "before"];
function comparePair(now, before, page) {
  const what = `${now} --before ${before}`,
    { data } = page,
    off = [now, before].map(offSums),
    blocked = off.every(({ total }) => total > 0);
  check(`${what}: times off CPU are compared`, data.weighsIntervals === blocked, [data.weighsIntervals, blocked]);
  const notices = data.facts.some(fact => fact.startsWith("Times off CPU are not compared"));
  check(`${what}: what is not compared is told`, notices === (!off[0].total !== !off[1].total), data.facts);
  for (const [event, { name, unit, before: other }] of data.events.entries()) {
    if (other === undefined) continue;
    const weights = [now, before].map(recording => tableOfNames(recording, name)),
      waits = off.map(namesOffCpu),
      sides = { weight: weights, ...(blocked ? { all: waits, ...(unit === "ns" ? { both: [0, 1].map(i => addedUp(weights[i], waits[i])) } : {}) } : {}) };
    for (const measure in sides) {
      compareSides(`${what} ${name}, ${measure}`, page, { event, before: data.events.length + other, measure }, sides[measure]);
      seen.pairs[measure] = (seen.pairs[measure] || 0) + 1;
    }
  }
}
/* By name: own weight, all, and how many functions are called so: totals of several cannot be added up. A name is all that times off
 * CPU have, and functions of one name are one in such a page. */
function addName(sums, name, self, total) {
  const sum = sums.get(name) || [0, 0, 0];
  sums.set(name, [sum[0] + self, sum[1] + total, sum[2] + 1]);
}
function tableOfNames(recording, event) {
  const sums = new Map();
  for (const [, name, self, total] of tableRows(recording, event, [])) addName(sums, plain(name), self, total);
  return { sums, all: [...sums.values()].reduce((all, [self]) => all + self, 0) };
}
function namesOffCpu({ entire, total }) {
  return { sums: new Map([...entire].map(([name, of]) => [name, [NaN, of, 1]])), all: total };
}
function addedUp(a, b) {
  const names = new Set([...a.sums.keys(), ...b.sums.keys()]),
    none = [0, 0, 0];
  return { all: a.all + b.all, sums: new Map([...names].map(name => {
    const [one, other] = [a.sums.get(name) || none, b.sums.get(name) || none];
    return [name, [NaN, one[1] + other[1], Math.max(one[2], other[2])]];
  })) };
}
function compareSides(what, { data, answers }, asking, wanted) {
  for (const normalized of [false, true]) {
    const { main } = answers.tree({ ...asking, mine: { before: false }, theirs: { before: true }, transforms: [], by: [], order: "weight", stacks: "callees",
      normalized, swapped: false, totals: false });
    const rows = answers.rows({ totals: null }),
      mine = [new Map(), new Map()],
      changes = new Map(),
      factor = normalized ? wanted[0].all / wanted[1].all : 1;
    SIDES.forEach((side, i) => check(`${what}: all of ${side}`, [main.total, main.otherTotal][i][0] === wanted[i].all, [main.total[0], main.otherTotal[0], wanted[i].all]));
    rows.group.forEach((fn, i) => {
      const name = data.functions.kind[fn] === 4 ? "" : plain(data.strings[data.functions.name[fn]]);
      addName(mine[0], name, rows.self[i], rows.total[i]);
      addName(mine[1], name, rows.other[i], rows.otherTotal[i]);
      changes.set(name, [main.changeOf(rows.self[i], rows.other[i]), main.changeOf(rows.total[i], rows.otherTotal[i])]);
    });
    const near = (a, b) => Math.abs(a - b) <= 1e-12 * (wanted[0].all + wanted[1].all * factor);
    for (const name of new Set([...wanted[0].sums.keys(), ...wanted[1].sums.keys()])) {
      if (!name || OF_SCHEDULER.test(name)) continue;
      const none = [0, 0, 0],
        found = mine.map(side => side.get(name) || none),
        table = wanted.map(side => side.sums.get(name) || none),
        isOne = found.every(([, , count]) => count < 2) && table.every(([, , count]) => count < 2);
      for (const i of [0, 1]) {
        check(`${what}: own weight of ${name} ${SIDES[i]}`, !(Math.abs(found[i][0] - table[i][0]) > 0), [found[i], table[i]]);
        check(`${what}: whole of ${name} ${SIDES[i]}`, !isOne || found[i][1] === table[i][1], [found[i], table[i]]);
      }
      const [own, entire] = changes.get(name) || [0, 0];
      check(`${what}: own change of ${name}`, !isOne || isNaN(table[0][0] + table[1][0]) || near(own, table[0][0] - table[1][0] * factor), [own, table, factor]);
      check(`${what}: whole change of ${name}`, !isOne || near(entire, table[0][1] - table[1][1] * factor), [entire, table, factor]);
    }
  }
}

/* Rows of reports by event and keys. What has no symbol is one row in the page, without a sum of its callees. */
const COLUMNS = "comm,dso,symbol";
function reportedSums(recording, options) {
  const { columns, rows, events } = JSON.parse(ask("report", ...OF_SAMPLES, "--sort", COLUMNS, ...options, recording)),
    sums = new Map(),
    at = name => columns.findIndex(column => column.name === name);
  for (const row of rows) {
    const named = row[at("symbol")] !== null,
      key = [row[at("event")], row[at("comm")], row[at("dso")] ?? "", named ? plain(row[at("symbol")]) : ""].join("\n"),
      sum = sums.get(key) || [0, 0, 0, 0];
    for (const [i, name] of ["self", "samples", "total"].entries()) sum[i] += row[at(name)];
    sum[3] = Math.max(sum[3], row[at("total")]);
    sums.set(key, sum);
  }
  return { sums, events };
}
function pageReport({ data, reportAnswers }) {
  const sums = new Map(),
    bases = new Map(),
    { name, module, kind } = data.functions,
    all = { transforms: [], keys: data.report.keys, children: true, limit: 0, top: 0, order: null };
  for (let event = 0; event < data.events.length; event++) {
    const rows = reportAnswers(data).report({ ...all, filter: { event }, base: data.report.base[event] });
    bases.set(data.events[event].name, rows.base);
    rows.key.forEach((key, at) => {
      const comm = data.strings[rows.own[0][at]] ?? "",
        id = [data.events[event].name, comm, module[key] < 0 ? "" : data.strings[module[key]], kind[key] === 4 ? "" : plain(data.strings[name[key]])].join("\n"),
        sum = sums.get(id) || [0, 0, 0];
      ["self", "count", "total"].forEach((column, i) => { sum[i] += rows[column][at]; });
      sums.set(id, sum);
    });
  }
  return { sums, bases };
}
/* What is shown of a function is what its rows have. */
function compareInlined(what, { data, answers }, wanted) {
  if (!data.functions.kind.includes(2)) return;
  seen.inlined++;
  data.events.forEach(({ name }, event) => {
    answers.tree({ event, mine: {}, measure: "weight", transforms: [], by: [], order: "weight", stacks: "callees", totals: false });
    const { group, inlined } = answers.rows({ totals: null }),
      mine = new Map(),
      theirs = new Map();
    const text = i => (i < 0 ? "" : data.strings[i]);
    group.forEach((fn, i) => addTo(mine, text(data.functions.module[fn]) + "\n" + (data.functions.kind[fn] === 4 ? "" : plain(text(data.functions.name[fn]))), inlined[i]));
    for (const [key, [self]] of wanted) if (key.startsWith(name + "\n")) addTo(theirs, key.split("\n").slice(2).join("\n"), self);
    for (const [key, self] of theirs) check(`${what}: ${key} with what is inlined in it`, (mine.get(key) || 0) === self, [mine.get(key), self]);
  });
}
async function compareReports(recording, options) {
  const what = ["report", ...options, recording].join(" "),
    html = ask("report", "--format", "html", ...options, recording),
    wanted = reportedSums(recording, options);
  if (!html) {
    check(`${what}: a page`, wanted.sums.size === 0, wanted.sums.size);
    return null;
  }
  const page = decode(html),
    { sums, bases } = pageReport(page);
  /* Several rows of one name, of which one is inlined, may be in one stack. */
  for (const [key, [self, samples, total, least]] of wanted.sums) {
    const found = sums.get(key) || [0, 0, 0];
    check(`${what}: ${key} itself`, found[0] === self && found[1] === samples, [found, self, samples]);
    if (!key.endsWith("\n") && !options.includes("--no-children")) check(`${what}: ${key} in all`, found[2] >= least && found[2] <= total, [found[2], least, total]);
  }
  compareInlined(what, page, wanted.sums);
  const surplus = [...sums.keys()].filter(key => !wanted.sums.has(key) && sums.get(key)[0]);
  check(`${what}: no row but those`, surplus.length === 0, surplus);
  for (const { event, period } of wanted.events) check(`${what}: percentages of ${event}`, bases.get(event) === period || !bases.has(event), [bases.get(event), period]);
  return page;
}

/* Where a report belongs to branches, so is the page's first view; percentages are those of the text. */
function compareBranches(recording, page) {
  const what = `report ${recording}`,
    text = ask("report", "--stdio", "-g", "none", recording),
    { branches } = page ? page.data : {},
    shares = [...text.matchAll(/^ +(\d+\.\d\d)%/gm)].map(([, share]) => share),
    counts = [...text.matchAll(/^# Event count \(approx\.\): (\d+)/gm)].map(([, count]) => +count);
  check(`${what}: rows of branches`, !!branches === /Source Symbol|Target Symbol/.test(text), !!branches);
  if (!branches) return;
  seen.branches++;
  const at = name => branches.columns.findIndex(column => column.name === name);
  check(`${what}: shares of branches`, branches.rows.map(row => row[at("overhead")].toFixed(2)).join() === shares.join(), [branches.rows, shares]);
  check(`${what}: how many there are`, branches.events.map(({ period }) => period).join() === counts.join(), [branches.events, counts]);
  check(`${what}: of all rows`, branches.rows.reduce((sum, row) => sum + row[at("self")], 0) === counts.reduce((a, b) => a + b, 0), [branches.rows, counts]);
}

/* Memory accesses by where the data came from: as many, and as long together, as `mem report` has them; there, those of stores
 * without a latency count as 1. */
function compareMemory(recording, ...options) {
  const { memory } = decode(pageOf(recording, ...options)).data,
    wanted = JSON.parse(ask("mem", "report", "--sort", "mem", "--format", "json", ...options, recording)),
    sums = new Map();
  const add = ({ columns, rows }, cost) => rows.forEach(row => {
    const at = name => row[columns.findIndex(column => column.name === name)], key = `${at("event")} ${at("mem")}`;
    const [samples, own] = sums.get(key) || [0, 0], sign = cost ? 1 : -1;
    sums.set(key, [samples + sign * at("samples"), own + sign * (cost ? at("samples") * (at(cost) || 1) : at("self"))]);
  });
  add(memory, "weight1");
  const found = sums.size;
  add(wanted, "");
  check(`${recording}: memory accesses`, found > 1 && sums.size === found && [...sums.values()].every(([samples, cost]) => samples === 0 && Math.abs(cost) < 1e-6), [...sums]);
}

/* B7: instructions have the samples of what is selected, as the table of a range of time has them. */
function compareCode(recording) {
  const { data, answers } = decode(pageOf(recording, "--symfs", dirname(recording), "--code")), { span, first } = data;
  check(`code of ${recording}: each sample has an address`, data.samples.code && data.samples.code.some(code => code >= 0), data.samples.code);
  for (const [from, to] of [[0, 0.5], [0.25, 0.75], [0.5, 1]].map(ends => ends.map(end => Math.floor(end * (span + 1))))) {
    const clock = ns => ((BigInt(first) + BigInt(ns)) / 1000000000n) + "." + String((BigInt(first) + BigInt(ns)) % 1000000000n).padStart(9, "0");
    const { columns, rows } = JSON.parse(ask("table", "instructions", "--symfs", dirname(recording), "--time", `${clock(from)},${clock(to - 1)}`, "--format", "json", recording));
    const at = name => columns.findIndex(column => column.name === name), wanted = new Map(), seen = new Map();
    for (const row of rows.filter(row => row[at("symbol")] !== null && row[at("samples")]))
      wanted.set(`${row[at("symbol")]} ${row[at("offset")]}`, (wanted.get(`${row[at("symbol")]} ${row[at("offset")]}`) || 0) + row[at("samples")]);
    data.code.functions.forEach((one, index) => {
      const { list } = answers.code({ index, filter: { time: [from, to] }, transforms: [] });
      for (let i = 0; i < list.length; i += 4) seen.set(`${one.name} ${list[i]}`, (seen.get(`${one.name} ${list[i]}`) || 0) + list[i + 2]);
    });
    check(`code of ${recording} from ${from} to ${to}`, JSON.stringify([...seen].sort()) === JSON.stringify([...wanted].sort()), [[...seen], [...wanted]]);
  }
}

/* --- recordings that are made here --- */

/* Of a machine of the other byte order: two events, three threads, deep and shallow stacks of functions, and losses. The names
 * are those that the kernel reported, so that no file is looked for. */
const FUNCTIONS = 40,
  SAMPLES = 400,
  CODE = 0xffffffffc0000000n;
function* randomNumbers(seed) {
  for (let x = seed; ; yield x >>> 8) x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
}
const chances = seed => (numbers => most => numbers.next().value % most)(randomNumbers(seed));
const named = following => Array.from({ length: FUNCTIONS }, (none, fn) =>
  `record KSYMBOL addr=${"0x" + (CODE + BigInt(0x1000 * fn)).toString(16)} len=0x100 ksym_type=1 flags=0 name="fn_${fn}" ${following(2)}`);
function deepStacks() {
  const next = chances(17),
    address = fn => "0x" + (CODE + BigInt(0x1000 * fn + 0x10 + next(0x40))).toString(16),
    type = "IDENTIFIER|IP|TID|TIME|CPU|PERIOD|CALLCHAIN",
    following = time => `| pid=1 tid=1 time=${time} cpu=0`,
    lines = [
      'feature ARCH s:"s390x"',
      `attr type=0 config=0 sample_type=${type} sample_id_all=1 ids=1 name="cycles"`,
      `attr type=1 config=2 sample_type=${type} sample_id_all=1 ids=2 name="page-faults"`,
      "feature EVENT_DESC",
      ...[5, 6, 7].map(tid => `record COMM pid=5 tid=${tid} comm="thread ${tid}" ${following(1)}`),
    ];
  lines.push(...named(following));
  for (let i = 0; i < SAMPLES; i++) {
    const time = 1000 + 1000 * i + next(500),
      depth = 1 + (i % 10 ? next(12) : 60 + next(60)),
      ips = Array.from({ length: depth }, (x, at) => address((at + next(3) + (i % 7)) % FUNCTIONS)),
      event = next(4) ? 0 : 1;
    lines.push(
      `sample event=${event} misc=1 ip=${ips[0]} pid=5 tid=${5 + next(3)} time=${time} cpu=${next(4)} period=${1 + next(100000)} callchain=${depth + 1},-128,${ips.join(",")}`,
    );
    if (i % 50 === 49) lines.push(`record LOST misc=0 id=1 lost=${1 + next(9)} ${following(time + 1)}`);
  }
  return lines.join("\n");
}

/* A clock, and two threads that leave their CPUs and come back; with other seeds at other times, elsewhere. */
const ROUNDS = 60;
function clockAndSwitches(seed) {
  const next = chances(seed),
    type = "IP|TID|TIME|ID|CPU|CALLCHAIN",
    following = (time, tid = 5) => `| pid=5 tid=${tid} time=${time} id=1 cpu=${tid - 5}`,
    sample = (event, tid, time) => {
      const ips = Array.from({ length: 1 + next(6) }, () => "0x" + (CODE + BigInt(0x1000 * (seed + next(20)))).toString(16));
      return `sample event=${event} misc=1 ip=${ips[0]} pid=5 tid=${tid} time=${time} id=${event + 1} cpu=${tid - 5} callchain=${ips.length + 1},-128,${ips.join(",")}`;
    },
    lines = [
      `attr type=1 config=0 sample_period_or_freq=250000 sample_type=${type} sample_id_all=1 context_switch=1 ids=1 name="cpu-clock"`,
      `attr type=1 config=3 sample_period_or_freq=1 sample_type=${type} sample_id_all=1 ids=2 name="context-switches"`,
      'feature HOSTNAME s:"box"',
      ...[5, 6].map(tid => `record COMM pid=5 tid=${tid} comm="thread ${tid}" ${following(1)}`),
      ...named(following),
    ],
    timed = [];
  for (const tid of [5, 6])
    for (let i = 0, time = 1000; i < ROUNDS; i++) {
      timed.push([time, `record SWITCH misc=0 ${following(time, tid)}`]);
      for (let k = next(4); k--;) timed.push([(time += 250000 + next(999)), sample(0, tid, time)]);
      timed.push([(time += 2000), sample(1, tid, time)]);
      timed.push([(time += 3), `record SWITCH misc=${next(4) ? "0x2000" : "0x6000"} ${following(time, tid)}`]);
      time += 100 << next(14);
    }
  timed.sort((a, b) => a[0] - b[0]);
  return [...lines, ...timed.map(([, line]) => line)].join("\n");
}

const made = mkdtempSync(join(tmpdir(), "perfile-decoded-"));
process.on("exit", () => rmSync(made, { recursive: true, force: true }));
function assembled(name, text, options = []) {
  const path = join(made, `${name}.perf.data`),
    description = text.split("\n").filter(line => !/^[@%$>!?]/.test(line));
  writeFileSync(path, execFileSync(assemble, options, { input: description.join("\n") + "\n", maxBuffer: 1 << 26 }));
  return path;
}
/* Tracing data with a format for each tracepoint of the system, whose fields follow those that all have: [type, name, bytes]. */
const COMMON = [["unsigned short", "common_type", 2], ["unsigned char", "common_flags", 1], ["unsigned char", "common_preempt_count", 1], ["int", "common_pid", 4]];
function formatOf({ name, id, fields, print }) {
  let offset = 0;
  const lines = [...COMMON, ...fields].map(([type, field, bytes]) => `\tfield:${type} ${field};\toffset:${(offset += bytes) - bytes};\tsize:${bytes};\tsigned:${type[0] === "u" ? 0 : 1};\n`);
  return `name: ${name}\nID: ${id}\nformat:\n${lines.slice(0, 4).join("")}\n${lines.slice(4).join("")}\nprint fmt: ${print}\n`;
}
function tracingData(tracepoints) {
  const number = (value, bytes) => { const made = Buffer.alloc(bytes); made.writeUInt32LE(value); return made; },
    sized = text => [number(text.length, 8), text];
  const parts = [Buffer.from([0x17, 8, 0x44]), "tracing0.6\0", Buffer.from([0, 8]), number(4096, 4), "header_page\0", ...sized("x\n"), "header_event\0", ...sized("x\n"),
    number(0, 4), number(tracepoints.length, 4), ...tracepoints.flatMap(point => [`${point.system}\0`, number(1, 4), ...sized(formatOf(point))]), number(0, 4), number(0, 4), number(0, 8)];
  return Buffer.concat(parts.map(part => Buffer.from(part))).toString("hex");
}
/* Wake-ups, more than a page has, beside samples of a clock. */
const WAKES = { system: "sched", name: "sched_wakeup", id: 315, fields: [["int", "pid", 4], ["int", "prio", 4]], print: '"pid=%d <prio>=%d", REC->pid, REC->prio' };
function wakeUps(count) {
  const type = "sample_type=TID|TIME|ID|RAW", id = "pid=5 tid=5";
  const lines = [`attr type=1 config=0 ${type} sample_period_or_freq=1000 ids=1 name="cpu-clock"`, `attr type=2 config=315 ${type} sample_period_or_freq=1 ids=2 name="sched:sched_wakeup"`,
    `feature TRACING_DATA hex:${tracingData([WAKES])}`, "feature EVENT_DESC"];
  for (let i = 0; i < count; i++)
    lines.push(`sample event=0 ${id} time=${1000 * i + 1000} id=1 raw=u32:4,u32:0`, `sample event=1 ${id} time=${1000 * i + 1300} id=2 raw=u32:20,u16:315,u16:0,u32:5,u32:${i},u32:120,zeros:4`);
  return lines.join("\n");
}
/* A frequency that changes, and the memory of two processes: what belongs to another process than the sample's has its number alone. */
const FREQUENCY = { system: "power", name: "cpu_frequency", id: 400, fields: [["u32", "state", 4], ["u32", "cpu_id", 4]], print: '"state=%lu", REC->state' };
const IDLE = { system: "power", name: "cpu_idle", id: 402, fields: [["u32", "state", 4], ["u32", "cpu_id", 4]], print: '"state=%lu", REC->state' };
const MEMORY = { system: "kmem", name: "rss_stat", id: 401, fields: [["unsigned int", "mm_id", 4], ["unsigned int", "curr", 4], ["int", "member", 4], ["int", "pad", 4], ["long", "size", 8]],
  print: '"size=%ld", REC->size' };
function counted() {
  const type = "sample_type=TID|TIME|ID|RAW sample_period_or_freq=1", id = "pid=5 tid=5";
  const sample = (event, time, size, items) => `sample event=${event} ${id} time=${time} id=${event + 1} raw=u32:${size},u16:${399 + event},u16:0,u32:5,${items}`;
  return [`attr type=1 config=0 ${type} ids=1 name="cpu-clock"`, `attr type=2 config=400 ${type} ids=2 name="power:cpu_frequency"`, `attr type=2 config=401 ${type} ids=3 name="kmem:rss_stat"`,
    `attr type=2 config=402 ${type} ids=4 name="power:cpu_idle"`, `feature TRACING_DATA hex:${tracingData([FREQUENCY, MEMORY, IDLE])}`, "feature EVENT_DESC", 'record COMM pid=5 tid=5 comm="worker"',
    `sample event=0 ${id} time=1000 id=1 raw=u32:4,u32:0`,
    sample(1, 2000, 20, "u32:1200000,u32:3,zeros:4"), sample(1, 3000, 20, "u32:3400000,u32:3,zeros:4"), sample(1, 3500, 20, "u32:800000,u32:0,zeros:4"),
    sample(3, 3600, 20, "u32:2,u32:1,zeros:4"), sample(3, 3700, 20, "u32:0xffffffff,u32:1,zeros:4"),
    sample(2, 4000, 36, "u32:77,u32:1,u32:1,u32:0,u64:8192,zeros:4"), sample(2, 5000, 36, "u32:77,u32:1,u32:1,u32:0,u64:4096,zeros:4"),
    sample(2, 6000, 36, "u32:88,u32:0,u32:0,u32:0,u64:0xfffffffffffff000,zeros:4")].join("\n");
}
/* Of four processors: thread 7 runs from the start on, then 2, 3, 2, 1, 0 and 4 run for `step` each; idle tasks do not count. */
function switched(step) {
  const at = (n, tid) => `pid=${tid} tid=${tid} time=${1000 + n * step}`, on = (n, tid) => `record SWITCH misc=0 | ${at(n, tid)}`, off = (n, tid) => `record SWITCH misc=0x2000 | ${at(n, tid)}`;
  return ['attr type=1 config=0 sample_type=IP|TID|TIME|PERIOD sample_id_all=1 context_switch=1 ids=1 name="cpu-clock"', "feature NRCPUS u32:4,u32:4",
    'record COMM pid=7 tid=7 comm="A" | pid=7 tid=7 time=1', `sample misc=2 ip=1 ${at(0, 7)} period=1`, on(1, 8), on(2, 9), `record EXIT pid=9 tid=9 ppid=7 ptid=7 time=${1000 + 3 * step} | ${at(3, 9)}`,
    off(4, 7), off(5, 8), on(5, 0), ...[11, 12, 13, 14, 15, 16].map(tid => on(6, tid)), `sample misc=2 ip=1 ${at(7, 11)} period=1`].join("\n");
}
function testParallelism() {
  for (const step of [100000, 300000000]) {
    const recording = assembled("switched", switched(step)), { data } = decode(pageOf(recording)), { from, width, threads } = data.parallelism;
    const inPieces = [0, 1, 2, 3, 4, 5].map(n => threads[Math.floor((n + .5) * step / width)]), sum = threads.reduce((all, count, i) => all + count * Math.min(width, 6 * step - i * width), 0);
    check(`${step}: threads that ran over time`, from === step && inPieces.join() === "2,3,2,1,0,4" && threads.length <= 4096, [from, width, ...inPieces]);
    check(`${step}: threads that ran in all`, Math.abs(sum / step - 12) < .02, sum / step);
    check(`${step}: a page of some threads has no curve`, decode(pageOf(recording, "--tid", "7")).data.parallelism === null, step);
  }
}
function testCounters(recording) {
  const page = pageOf(recording), { data } = decode(page), { list, time, value } = data.lanes, scripts = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)];
  for (const [, script] of scripts) new Function(script); /* names that two files have are an error */
  check("the page has scripts", scripts.length > 0, page.length);
  const mine = list.filter(({ unit }) => unit).map(({ name, unit, label, owner, order }) => [name, label, unit, owner < 0 ? "" : data.strings[data.threads.comm[owner]],
    ...[...order].map(i => `${time[i]} ${value[i]}`)].join());
  const wanted = ["power:cpu_frequency,Frequency of CPU 3,Hz,,1000 1200000000,2000 3400000000", "power:cpu_frequency,Frequency of CPU 0,Hz,,2500 800000000",
    "power:cpu_idle,Idle state of CPU 1,state,,2600 3,2700 0",
    "kmem:rss_stat,Anonymous memory,bytes,worker,3000 8192,4000 4096", "kmem:rss_stat,Memory of files,bytes,,5000 -4096"];
  check("C8: counters of frequencies and memory", mine.join("\n") === wanted.join("\n"), mine);
}
/* A hole in its middle, and its end is not there. */
function damaged(recording) {
  const path = join(made, `damaged-${basename(recording)}`),
    bytes = readFileSync(recording);
  const at = share => Math.floor(bytes.length * share);
  bytes.fill(0xff, at(0.4), at(0.45));
  writeFileSync(path, bytes.subarray(0, at(0.8)));
  return path;
}

/* --- all of them --- */

const pageOf = (recording, ...options) => ask("flame", "--no-inline", "--format", "html", ...options, recording);
/* As large as these shares of what the complete page has packed. */
const SHARES = [1, 0.9, 0.3];
const seen = { joined: 0, cut: 0, branches: 0, inlined: 0, thinned: 0, pairs: {} };
async function comparePages(recording, options) {
  const entire = pageOf(recording, ...options),
    packed = /"packed":"([^"]*)"/.exec(entire)[1].length;
  for (const share of SHARES) {
    const limit = share < 1 ? ["--page-size", String(Math.floor(packed * share))] : [],
      page = decode(limit.length ? pageOf(recording, ...options, ...limit) : entire),
      { data } = page,
      all = [recording, ...options, ...limit].join(" ");
    seen.joined += data.piece > 0;
    seen.cut += data.cutNodes > 0;
    if (!options.length) compareWaits(all, recording, page);
    for (let event = 0; event < data.events.length; event++) {
      const { name } = data.events[event];
      compare(`${all} ${name}`, pageRows(page, event, {}), tableRows(recording, name, options));
      if (data.piece || data.cutNodes || !data.span || limit.length) continue;
      const from = Math.floor(data.span / 4),
        to = Math.floor(data.span / 2);
      const ns = at => `${Math.floor((data.first + at) / 1e9)}.${String((data.first + at) % 1e9).padStart(9, "0")}`;
      compare(`${all} ${name}, a part of the time`, pageRows(page, event, { time: [from, to + 1] }), tableRows(recording, name, [...options, "--time", `${ns(from)},${ns(to)}`]));
    }
    console.log(`${all}: pieces of ${data.piece} ns, ${data.cutNodes} nodes cut, ${data.events.length} events`);
  }
  if (options.length) return;
  const page = decode(entire);
  compareMarks(recording, recording, page);
  compareLanes(recording, recording, page);
  const both = decode(pageOf(recording, "--before", recording));
  compareBefore(recording, page, both);
  comparePair(recording, recording, both);
}

/* Traces have samples only with --itrace. */
const isTrace = path => /arm-spe/.test(path),
  inputs = recordings.filter(path => !isTrace(path)).map(path => (path.endsWith(".golden") ? assembled(basename(path, ".golden"), readFileSync(path, "utf8")) : path));
if (assemble) inputs.push(assembled("wakes", wakeUps(5000)), assembled("counted", counted()), assembled("clock", clockAndSwitches(1)), assembled("deep", deepStacks(), ["--big-endian"]), damaged(recordings[0]));
for (const recording of inputs) {
  const rows = [...reportedSums(recording, ["--no-children"]).sums].sort((a, b) => b[1][0] - a[1][0]);
  const [, comm, dso] = (rows[0]?.[0] ?? "").split("\n");
  compareBranches(recording, await compareReports(recording, []));
  if (rows.length) await compareReports(recording, ["--no-children", "--no-inline", "--comms", comm, ...(dso ? ["--dsos", dso] : [])]);
  await comparePages(recording, []);
}
/* Different recordings of one event. Of pages that are too small, what is left out is reported for each side. */
if (assemble) {
  const clock = inputs.find(path => /clock/.test(path)),
    other = assembled("other", clockAndSwitches(7)),
    wanted = ["weight", "all", "both"];
  const examples = recordings.filter(path => /(demo|workload)\.perf\.data$/.test(path)); /* of the same event */
  const pairs = [[clock, other], [other, clock], ...examples.flatMap(path => [[clock, path], [path, clock]])];
  if (examples.length > 1) pairs.push(examples);
  for (const [now, before] of pairs)
    comparePair(now, before, decode(pageOf(now, "--before", before)));
  for (const limit of ["4000", "2000"]) {
    const { data, query } = decode(pageOf(clock, "--before", other, "--page-size", limit)),
      left = [data, data.beforeTimes].map(({ waitsLeft }) => waitsLeft || [0, 0, 0]);
    [clock, other].forEach((recording, i) => {
      const { total } = query.filter(data, { measure: "all", before: i > 0 });
      check(`${recording}, ${limit}: time off CPU and what is left out`, total + left[i][1] === offSums(recording).total, [total, left[i], offSums(recording).total]);
    });
    check(`${limit}: as short on both sides`, left[0][2] === left[1][2] && left[0][2] > 0, left);
  }
  check("all measures were compared", wanted.every(measure => seen.pairs[measure]), seen.pairs);
}
/* What filters leave. */
if (assemble)
  for (const filters of [["--tid", "5,7"], ["--cpu", "1-2", "--time", "50%-100%"]]) await comparePages(inputs[inputs.length - 2], filters);
if (assemble) {
  await testEven();
  testCounters(assembled("counted", counted()));
  testParallelism();
  for (const recording of inputs) await compareFolded(recording);
  const { data } = decode(pageOf(inputs.find(path => /clock/.test(path)))),
    joined = new Set([...data.threads.alike].map(i => data.strings[i]));
  check("C1: threads whose names differ in digits are one", joined.has("thread *") && !joined.has("thread 5"), [...joined]);
  for (const recording of [inputs.find(path => /clock/.test(path)), ...recordings.filter(path => /offcpu-cs|sched-tiny/.test(path))]) {
    await compareOffCpu(recording);
    compareClipped(recording);
    compareHatched(recording);
  }
}
for (const recording of recordings.filter(path => /jit\.perf/.test(path))) compareCode(recording);
for (const recording of recordings.filter(path => /mem-made/.test(path))) compareMemory(recording);
for (const recording of recordings.filter(isTrace)) compareMemory(recording, "--itrace=M");
check("some reports are of branches", !inputs.some(path => /branches/.test(path)) || seen.branches, seen);
check("some lanes are too long", !assemble || seen.thinned, seen);
check("some pages have joined samples and cut stacks", !assemble || (seen.joined && seen.cut), seen);
finish();
