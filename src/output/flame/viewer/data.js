/* SPDX-License-Identifier: MIT */
/*
 * What the page holds, unpacked: see html.c. `data` is columns of numbers, and shared by all views; of pages that compare it
 * has both recordings: events of the other one stand after those of the first.
 *     functions {name, module, file (strings, -1: none), line, kind}, stacks {parent (-1: none), fn}: a caller stands before
 *     its callees, threads {pid, tid, comm, first, last}, samples {time (ns since the start, NaN: not known), stack, thread,
 *     cpu (-1), event, weight, count; slices: see query.js; where they are known, code (function of the page's code, -1), offset in it}, intervals (off CPU) {thread, from, to, state (1 ready, 2 blocked), waker (thread),
 *     stack; of both recordings, each by its threads: the other one's begin at ownThreads}, branches and memory (reports) or nothing, code (see code.c) or nothing, marks {time, thread, kind, text (string)}, losses {time, count}, parallelism {from, width (of a piece of time), threads (that ran on average in each)} or nothing, totals {event, fn, self, total} or nothing,
 *     lanes or nothing: list [{name of a tracepoint, stride (one of how many is there), seen (how many were recorded), order; of a counter: unit, label, owner (a thread of its process, -1)}], time, thread; text
 *     of events, value of counters
 */
const inWorker = typeof document === "undefined", $ = id => document.getElementById(id);
const KINDS = ["user", "kernel", "inlined", "JIT", "no symbol", "thread", "processor", "time", "lighter", "module"];
const ROW = 18, THREAD = 5, CPU = 6, TIME = 7, LIGHTER = 8, MODULE = 9, UNKNOWN = 4, KERNEL = 1, BUCKETS = 200, INLINED = 2, MAX_CPUS = 65536;
const calm = inWorker ? null : matchMedia("(prefers-reduced-motion: reduce)");

/* What would change the direction of text, or cannot be seen, is made visible. */
const clean = text => text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
  c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
const base = path => path.slice(path.lastIndexOf("/") + 1);

function numbers(bytes, count, made) {
  for (let i = 0, at = 0; i < count; i++) {
    let byte = bytes[at++], value = byte & 127;
    for (let factor = 128; byte > 127; factor *= 128) value += ((byte = bytes[at++]) & 127) * factor;
    made[i] = value;
  }
  return made;
}
const fromZigzag = value => value % 2 ? -(value + 1) / 2 : value / 2;

function columnsOf(header, all) {
  const found = {};
  let at = 0;
  for (const [name, bytes, count] of header.parts) found[name] = { bytes: all.subarray(at, at += bytes), count };
  const column = (name, Type) => numbers(found[name].bytes, found[name].count, new Type(found[name].count));
  const less = column => column.map(n => n - 1); /* 0 is written for a missing index */
  return { column, has: name => !!found[name] && found[name].count > 0, json: name => JSON.parse(new TextDecoder().decode(found[name].bytes)),
    optional: (name, Type) => less(column(name, Type)) };
}

function readStacks(from, prefix) {
  const parent = from.column(prefix + "stacks.parent", Int32Array), fn = from.column(prefix + "stacks.fn", Int32Array);
  for (let i = 0; i < parent.length; i++) parent[i] = i - parent[i] < 0 ? -1 : i - parent[i];
  return { parent, fn };
}
function readThreads(from, prefix) {
  return { pid: from.column(prefix + "threads.pid", Int32Array), tid: from.column(prefix + "threads.tid", Int32Array),
    comm: from.column(prefix + "threads.comm", Int32Array) };
}
function readSamples(from, prefix, origin) {
  const column = (name, Type) => from.column(prefix + "samples." + name, Type);
  const time = column("time", Float64Array), stack = column("stack", Float64Array), cpu = column("cpu", Float64Array), count = time.length;
  for (let i = 0, now = origin, node = 0; i < count; i++) {
    if (time[i]) now += fromZigzag(time[i] - 1);
    time[i] = time[i] ? now : NaN;
    stack[i] = (node += fromZigzag(stack[i])) - 1;
    cpu[i] = cpu[i] > MAX_CPUS ? -1 : cpu[i] - 1;
  }
  return { time, stack: new Int32Array(stack), thread: column("thread", Int32Array), cpu: new Int32Array(cpu), event: column("event", Uint16Array),
    weight: column("weight", Float64Array),
    ...(from.has(prefix + "samples.code") ? { code: from.optional(prefix + "samples.code", Int32Array), offset: column("offset", Float64Array) } : {}),
    count: from.has(prefix + "samples.count") ? column("count", Float64Array) : new Float64Array(count).fill(1) };
}

/* Times are steps from the one before. */
function stepsOf(column, now = 0) {
  for (let i = 0; i < column.length; i++) column[i] = now += fromZigzag(column[i]);
  return column;
}
function readIntervals(from, prefix = "") {
  const has = name => from.has(prefix + "intervals." + name);
  const column = (name, Type) => has(name) ? from.column(prefix + "intervals." + name, Type) : new Type(0);
  const to = stepsOf(column("to", Float64Array)), length = column("length", Float64Array);
  return { thread: column("thread", Int32Array), from: to.map((end, i) => end - length[i]), to,
    state: column("state", Uint8Array), waker: column("waker", Int32Array).map(n => n - 1),
    stack: Int32Array.from(stepsOf(column("stack", Float64Array)), n => n - 1) };
}
const THROTTLED = 1, FORK = 2;
function readMarks(from, strings, prefix = "") {
  const column = (name, Type) => from.has(prefix + "marks." + name) ? from.column(prefix + "marks." + name, Type) : new Type(0);
  const value = column("value", Float64Array), kind = column("kind", Uint8Array), known = new Map();
  const wordsOf = i => kind[i] === FORK ? "thread " + value[i] : kind[i] === THROTTLED && value[i] ? "goes on" : "";
  const number = text => {
    if (!known.has(text)) known.set(text, strings.push(text) - 1);
    return known.get(text);
  };
  return { time: stepsOf(column("time", Float64Array)), thread: column("thread", Int32Array), kind,
    text: Int32Array.from(value, (x, i) => number(wordsOf(i))) };
}
function readLosses(from, prefix = "") {
  const column = name => from.has(prefix + "losses." + name) ? from.column(prefix + "losses." + name, Float64Array) : new Float64Array(0);
  return { time: stepsOf(column("time")), count: column("count") };
}

function readParallelism(from) {
  if (!from.has("parallelism")) return null;
  const [begin, width, ...threads] = from.column("parallelism", Float64Array);
  return { from: fromZigzag(begin), width, threads: Float64Array.from(threads, thousandfold => thousandfold / 1000) };
}

/* Those of counters, which follow events. */
function laneValues(from, prefix, count) {
  const made = new Float64Array(count), values = from.has(prefix + "lanes.value") ? stepsOf(from.column(prefix + "lanes.value", Float64Array)) : [];
  made.set(values, count - values.length);
  return made;
}
function readLanes(from, move = 0, prefix = "") {
  if (!from.has(prefix + "lanes")) return null;
  const time = stepsOf(from.column(prefix + "lanes.time", Float64Array)), all = Int32Array.from(time, (x, i) => i);
  let at = 0;
  return { time, thread: from.column(prefix + "lanes.thread", Int32Array).map(thread => thread + move), text: from.has(prefix + "lanes.text") ? from.json(prefix + "lanes.text").map(clean) : [],
    value: laneValues(from, prefix, time.length),
    list: from.json(prefix + "lanes").map(([name, stride, seen, count, unit, label, owner]) => ({ name: clean(name), stride, seen, order: all.subarray(at, at += count),
      ...(unit ? { unit, label, owner: owner ? owner - 1 + move : -1 } : {}) })) };
}

/* Samples that were joined stand for a slice of time each; null: none was. */
function slicesOf(header, ownSamples, allSamples) {
  const of = ({ piece, pieceFrom = 0, span }, until) => ({ until, width: piece && span ? piece : 0, from: pieceFrom, end: span + 1 });
  const slices = [of(header, ownSamples)];
  if (allSamples > ownSamples) slices.push(of(header.beforeTimes || {}, allSamples));
  return slices.some(slice => slice.width) ? slices : null;
}

/* Two columns as one; numbers of the second are moved by so much, unless they are -1. */
function joined(a, b, move = 0) {
  const made = new a.constructor(a.length + b.length);
  made.set(a);
  for (let i = 0; i < b.length; i++) made[a.length + i] = move && b[i] >= 0 ? b[i] + move : b[i];
  return made;
}
function addBefore(made, from, events) {
  const { origin = 0, first = 0, wall } = made.beforeTimes || {};
  const stacks = readStacks(from, "before."), threads = readThreads(from, "before."), samples = readSamples(from, "before.", origin);
  const waits = readIntervals(from, "before."), marks = readMarks(from, made.strings, "before.");
  const moves = { stack: made.stacks.fn.length, thread: made.threads.pid.length, waker: made.threads.pid.length, event: events };
  marks.thread = marks.thread.map(thread => thread + moves.thread);
  made.earlier = { isPast: true, marks, losses: readLosses(from, "before."), lanes: readLanes(from, moves.thread, "before."), start: { clock: first, wall: wall ? wall / 1e6 : null } };
  made.stacks = { parent: joined(made.stacks.parent, stacks.parent, moves.stack), fn: joined(made.stacks.fn, stacks.fn) };
  for (const name in threads) made.threads[name] = joined(made.threads[name], threads[name]);
  for (const name in samples) made.samples[name] = joined(made.samples[name], samples[name], moves[name]);
  if (made.samples.code) made.samples.code = joined(made.samples.code, new Int32Array(samples.time.length).fill(-1));
  for (const name in waits) made.intervals[name] = joined(made.intervals[name], waits[name], moves[name]);
}

/* Functions without a name are called as their module. Of two recordings, neither the path of a file nor whether a function
 * was inlined needs to be the same. */
function nameFunctions({ functions, strings }, compares) {
  const { name, module, kind } = functions, known = new Map(), numbers = new Map(strings.map((text, i) => [text, i]));
  const number = text => {
    if (!numbers.has(text)) numbers.set(text, strings.push(text) - 1);
    return numbers.get(text);
  };
  for (let i = 0; i < name.length; i++) {
    if (kind[i] < THREAD && (!strings[name[i]] || strings[name[i]] === "[unknown]")) {
      name[i] = number("[" + (module[i] >= 0 && base(strings[module[i]]) || "unknown") + "]");
      kind[i] = UNKNOWN;
    }
    const id = Math.max(kind[i], UNKNOWN) + "\n" + name[i];
    if (!known.has(id)) known.set(id, module[i]);
    if (compares) module[i] = known.get(id);
  }
}

function readTimes({ threads, samples }) {
  const first = threads.first = new Float64Array(threads.pid.length).fill(NaN), last = threads.last = first.slice();
  for (let i = 0; i < samples.time.length; i++) {
    const thread = samples.thread[i], time = samples.time[i];
    if (!(first[thread] <= time) && time === time) first[thread] = time;
    if (!(last[thread] >= time) && time === time) last[thread] = time;
  }
}

/* The names of threads, and for those that differ in digits only, what they have in common: "worker-*". */
function joinNumbered({ threads, strings }) {
  const plain = i => strings[i].replace(/\d+/g, "*"), known = new Map(), numbers = new Map();
  for (const i of new Set(threads.comm)) if (i >= 0) known.set(plain(i), [...(known.get(plain(i)) || []), i]);
  for (const [name, list] of known) for (const i of list) numbers.set(i, list.length < 2 ? i : numbers.get(list[0]) ?? strings.push(name) - 1);
  threads.alike = threads.comm.map(i => i < 0 ? i : numbers.get(i));
}

/* The header and the bytes of its parts, from wherever they come. */
function openColumns(header, bytes) {
  const from = columnsOf(header, bytes);
  const made = { ...header, packed: null, strings: from.json("strings").map(clean),
    functions: { name: from.column("functions.name", Int32Array), module: from.optional("functions.module", Int32Array),
      file: from.optional("functions.file", Int32Array), line: from.column("functions.line", Int32Array),
      kind: from.column("functions.kind", Uint8Array) },
    stacks: readStacks(from, ""), threads: readThreads(from, ""), samples: readSamples(from, "", header.origin),
    intervals: readIntervals(from), losses: readLosses(from), parallelism: readParallelism(from), lanes: readLanes(from),
    start: { clock: header.first, wall: header.wall ? header.wall / 1e6 : null }, quantum: header.quantum || 1e8,
    totals: from.has("totals.fn") ? { event: from.column("totals.event", Int32Array), fn: from.column("totals.fn", Int32Array),
      self: from.column("totals.self", Float64Array), total: from.column("totals.total", Float64Array) } : null };
  made.stacks.unique = !made.compares;
  made.marks = readMarks(from, made.strings);
  made.branches = from.has("branches") ? from.json("branches") : null;
  made.memory = from.has("memory") ? from.json("memory") : null;
  made.code = from.has("code") ? from.json("code") : null;
  /* Stands for callees that are not in the page. */
  const last = made.functions.name.length;
  for (const [name, value] of [["name", made.strings.push("… lighter callees") - 1], ["module", -1], ["file", -1],
    ["line", 0], ["kind", LIGHTER]]) made.functions[name] = joined(made.functions[name], [value]);
  made.lighter = last;
  made.ownThreads = made.threads.pid.length;
  const ownIntervals = made.intervals.thread.length, ownSamples = made.samples.time.length;
  if (made.compares) addBefore(made, from, made.events.length);
  made.samples.slices = slicesOf(made, ownSamples, made.samples.time.length);
  /* As weights; of two recordings both need to have them. */
  made.weighsIntervals = ownIntervals > 0 && (!made.compares || made.intervals.thread.length > ownIntervals);
  nameFunctions(made, made.compares);
  readTimes(made);
  /* Names as folded stacks have them, and shorter ones that are drawn, where they are others; the complete name is in tooltips
   * and searches. */
  const others = part => {
    const list = from.json(part), found = new Map();
    for (let i = 0; i < list.length; i += 2) found.set(made.strings[list[i]], clean(list[i + 1]));
    return found;
  };
  made.labels = others("labels");
  made.shorter = others("short");
  joinNumbered(made);
  made.buckets = made.span ? BUCKETS : 0;
  made.step = Math.floor(made.span / BUCKETS) + 1;
  made.meta = { events: made.events.map(({ name, unit, lasts }) => ({ name: clean(name), unit, lasts })) };
  return made;
}
