// SPDX-License-Identifier: MIT
// The numbers of pages against perfile's tables, in plain node: node decoded.mjs FOLDER_OF_VIEWER PERFILE ASSEMBLE RECORDING...
// Whole pages, those whose samples are joined, and those whose stacks are cut. What is called *.golden is assembled; without
// a recording there are those that are made here.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { check, finish, skip } from "./checks.mjs";

const [viewer, perfile, assemble, ...recordings] = process.argv.slice(2);
if (typeof DecompressionStream === "undefined") skip("this node is older than 18");

function ask(...what) {
  const options = { encoding: "utf8", env: { LC_ALL: "C" }, stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 30 };
  try {
    return execFileSync(perfile, what, options);
  } catch (error) {
    /* A damaged recording is told with the status; what was read is there. */
    return error.stdout;
  }
}

/* The page's own code, without a page. */
const files = names => names.map(name => readFileSync(join(viewer, name), "utf8")).join("\n");
const code = files(["data.js", "query.js", "timeindex.js", "groups.js", "reportrows.js"]);
const AsyncFunction = (async () => {}).constructor,
  run = new AsyncFunction("document", "matchMedia", code + "\nreturn { data, query, reportAnswers };");
async function decode(html) {
  const [, json] = html.match(/<script type="application\/json" id="data">([\s\S]*?)<\/script>/);
  const document = { getElementById: () => ({ textContent: json, remove() {} }) };
  return run(document, () => ({}));
}

/* By module and name: own weight, and of functions the whole. */
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
/* Rows of all events are asked for once. */
const tables = new Map();
function tableOf(recording, options) {
  const key = [recording, ...options].join(" ");
  if (!tables.has(key)) tables.set(key, JSON.parse(ask("table", "functions", "--no-inline", "--format", "json", ...options, recording)));
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
    sums = { total: 0, threads: new Map(), stacks: new Map() };
  for (const row of rows) {
    const total = row[at("total_ns")];
    sums.total += total;
    if (total) addTo(sums.threads, row[at("tid")], total);
    if (total) addTo(sums.stacks, stackText(row[at("stack")]), total);
  }
  return sums;
}
function intervalSums({ data, query }) {
  const { thread, from, to, stack } = data.intervals,
    sums = { total: query.filter(data, { measure: "blocked" }).total, threads: new Map(), stacks: new Map() };
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

/* In a page that compares, the recording before has the times that it has alone, from its own start; none off CPU. */
function compareBefore(recording, { data: alone }, { data: both }) {
  const told = both.facts.some(fact => fact.startsWith("Times off CPU are not compared"));
  check(`${recording}: times off CPU that are not compared are told of`, told || !alone.intervals.thread.length, both.facts);
  const first = both.beforeTimes.first,
    at = (times, start) => [...times].map(time => time + start).sort((a, b) => a - b).join();
  const before = both.samples.time.filter((time, i) => both.samples.event[i] >= both.events.length);
  check(`${recording}: times of samples of before`, at(before, first) === at(alone.samples.time, alone.first), [first, alone.first]);
  check(`${recording}: none of them is before that`, !before.some(time => time < 0), before.filter(time => time < 0));
  const markOf = ({ marks, threads, start }) => [...marks.time].map((time, i) => [time + start, threads.tid[marks.thread[i]], marks.kind[i]].join());
  const inside = mark => +mark.split(",")[0] >= first && +mark.split(",")[0] <= first + both.beforeTimes.span;
  const mine = markOf({ ...both.past, threads: both.threads, start: first }),
    wanted = markOf({ ...alone, start: alone.first }).filter(inside);
  check(`${recording}: marks of before`, mine.sort().join(" ") === wanted.sort().join(" "), [mine, wanted]);
}

/* Rows of reports by event and keys. What has no symbol is one row in the page, without a sum of its callees. */
const COLUMNS = "comm,dso,symbol";
function reportedSums(recording, options) {
  const { columns, rows, events } = JSON.parse(ask("report", "--format", "json", "-g", "none", "--sort", COLUMNS, ...options, recording)),
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
async function compareReports(recording, options) {
  const what = ["report", ...options, recording].join(" "),
    html = ask("report", "--format", "html", ...options, recording),
    wanted = reportedSums(recording, options);
  if (!html) return check(`${what}: a page`, wanted.sums.size === 0, wanted.sums.size);
  const { sums, bases } = pageReport(await decode(html));
  /* Several rows of one name, of which one is inlined, may be in one stack. */
  for (const [key, [self, samples, total, least]] of wanted.sums) {
    const found = sums.get(key) || [0, 0, 0];
    check(`${what}: ${key} itself`, found[0] === self && found[1] === samples, [found, self, samples]);
    if (!key.endsWith("\n") && !options.includes("--no-children")) check(`${what}: ${key} in all`, found[2] >= least && found[2] <= total, [found[2], least, total]);
  }
  const surplus = [...sums.keys()].filter(key => !wanted.sums.has(key) && sums.get(key)[0]);
  check(`${what}: no row but those`, surplus.length === 0, surplus);
  for (const { event, period } of wanted.events) check(`${what}: percentages of ${event}`, bases.get(event) === period || !bases.has(event), [bases.get(event), period]);
}

/* --- recordings that are made here --- */

/* Of a machine of the other byte order: two events, three threads, deep and shallow stacks of functions, and losses. The names
 * are those that the kernel told, so that no file is looked for. */
const FUNCTIONS = 40,
  SAMPLES = 400,
  CODE = 0xffffffffc0000000n;
function* randomNumbers(seed) {
  for (let x = seed; ; yield x >>> 8) x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
}
function deepStacks() {
  const next = (numbers => most => numbers.next().value % most)(randomNumbers(17)),
    address = fn => "0x" + (CODE + BigInt(0x1000 * fn + 0x10 + next(0x40))).toString(16),
    type = "IDENTIFIER|IP|TID|TIME|CPU|PERIOD|CALLCHAIN",
    behind = time => `| pid=1 tid=1 time=${time} cpu=0`,
    lines = [
      'feature ARCH s:"s390x"',
      `attr type=0 config=0 sample_type=${type} sample_id_all=1 ids=1 name="cycles"`,
      `attr type=1 config=2 sample_type=${type} sample_id_all=1 ids=2 name="page-faults"`,
      "feature EVENT_DESC",
      ...[5, 6, 7].map(tid => `record COMM pid=5 tid=${tid} comm="thread ${tid}" ${behind(1)}`),
    ];
  for (let fn = 0; fn < FUNCTIONS; fn++)
    lines.push(`record KSYMBOL addr=${"0x" + (CODE + BigInt(0x1000 * fn)).toString(16)} len=0x100 ksym_type=1 flags=0 name="fn_${fn}" ${behind(2)}`);
  for (let i = 0; i < SAMPLES; i++) {
    const time = 1000 + 1000 * i + next(500),
      depth = 1 + (i % 10 ? next(12) : 60 + next(60)),
      ips = Array.from({ length: depth }, (x, at) => address((at + next(3) + (i % 7)) % FUNCTIONS)),
      event = next(4) ? 0 : 1;
    lines.push(
      `sample event=${event} misc=1 ip=${ips[0]} pid=5 tid=${5 + next(3)} time=${time} cpu=${next(4)} period=${1 + next(100000)} callchain=${depth + 1},-128,${ips.join(",")}`,
    );
    if (i % 50 === 49) lines.push(`record LOST misc=0 id=1 lost=${1 + next(9)} ${behind(time + 1)}`);
  }
  return lines.join("\n");
}

const made = mkdtempSync(join(tmpdir(), "perfile-decoded-"));
process.on("exit", () => rmSync(made, { recursive: true, force: true }));
function assembled(name, text, options = []) {
  const path = join(made, `${name}.perf.data`),
    description = text.split("\n").filter(line => !/^[@%$>!?]/.test(line));
  writeFileSync(path, execFileSync(assemble, options, { input: description.join("\n") + "\n" }));
  return path;
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
/* As large as these shares of what the whole page has packed. */
const SHARES = [1, 0.9, 0.3];
const seen = { joined: 0, cut: 0 };
async function comparePages(recording, options) {
  const whole = pageOf(recording, ...options),
    packed = /"packed":"([^"]*)"/.exec(whole)[1].length;
  for (const share of SHARES) {
    const limit = share < 1 ? ["--page-size", String(Math.floor(packed * share))] : [],
      page = await decode(limit.length ? pageOf(recording, ...options, ...limit) : whole),
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
  const page = await decode(whole);
  compareMarks(recording, recording, page);
  compareBefore(recording, page, await decode(pageOf(recording, "--before", recording)));
}

const inputs = recordings.map(path => (path.endsWith(".golden") ? assembled(basename(path, ".golden"), readFileSync(path, "utf8")) : path));
if (assemble) inputs.push(assembled("deep", deepStacks(), ["--big-endian"]), damaged(recordings[0]));
for (const recording of inputs) {
  const rows = [...reportedSums(recording, ["--no-children"]).sums].sort((a, b) => b[1][0] - a[1][0]);
  const [, comm, dso] = (rows[0]?.[0] ?? "").split("\n");
  await compareReports(recording, []);
  if (rows.length) await compareReports(recording, ["--no-children", "--no-inline", "--comms", comm, ...(dso ? ["--dsos", dso] : [])]);
  await comparePages(recording, []);
}
/* What filters leave. */
if (assemble)
  for (const filters of [["--tid", "5,7"], ["--cpu", "1-2", "--time", "50%-100%"]]) await comparePages(inputs[inputs.length - 2], filters);
check("some pages have joined samples and cut stacks", !assemble || (seen.joined && seen.cut), seen);
finish();
