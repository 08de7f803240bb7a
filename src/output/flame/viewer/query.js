/* SPDX-License-Identifier: MIT */
/*
 * Questions to a profile. Pure functions over typed arrays: no DOM, no object per node or sample. What depends on the
 * data alone is kept with the data, and so are the last transforms.
 *
 * data        as decoded: strings, functions, stacks, threads, samples, intervals. Time is in ns since the start.
 *             samples.slices, where samples were joined: a list of {until, width, from, end}: the samples up to this index
 *             have times in slices of this width, which begin at from; a weight belongs to all of its slice up to end
 *
 * key         what a node of a tree is: a function (its index in data.functions; functions of one name and module are
 *             one key), or a module, thread name, thread, process, CPU, event or piece of time: see describe(). The
 *             root has -1.
 *
 * filter(data, wanted) -> selection. wanted, all of it optional:
 *   event     an index or a list of them
 *   time      [from, to), ns; samples without a time are not in it, intervals are clipped to it
 *   threads   indexes of data.threads; processes: pids; cpus: numbers (-1 unknown); comms: names
 *   include, exclude   a search or a list of them, see finder: stacks that have, or do not have, such a frame
 *   before    true or false: of data of two recordings the intervals of the one before, or of the other one; events say
 *             apart their samples
 *   measure   "weight" (on CPU; the default), "count" (samples); of intervals, in ns, "blocked" (until the thread came back to a
 *             CPU), "preempted" or "all"; "both" (weight and all intervals)
 *             Blocked threads are on no CPU: a filter of CPUs takes no intervals. Events are of samples only.
 * selection   {data, filter, total, count (of samples), weights (of each stack), bare (without a stack),
 *              picked (1: this sample is in it), pickedIntervals, from, to (bounds of what is picked in samples)}
 *
 * transforms  a list, applied in order; each is {type} with its target: {key}, {module: index of strings, -1 none}, or {search}.
 *   focus      stacks begin at the outermost target; others are left out
 *   drop       stacks with the target are left out
 *   collapse   what the target calls is the target's own weight
 *   merge      the target's frames are left out, their own weight is their callers'
 *   recursion  from the outermost to the innermost frame of one function is one frame; without target: of any function
 *   modules    frames of one module after another are one frame, of the module; {module}: of this one only
 *   templates  functions that differ in template arguments only are one
 *   subtree    {path: keys from the root}: stacks that begin so, from the last of path on; with {inverted: true}:
 *              {path: keys from the leaf}: stacks that end so, up to the last of path
 *   invert     leaf first; wherever it stands in the list, it is done last
 *
 * tree(selection, transforms, {by, order}) -> tree
 *   by: levels above the stacks, outermost first: "thread", "process", "comm", "alike" (threads.alike: names that differ in
 *       digits are one), "waker" (of intervals: what ended them, likewise), "cpu", "event",
 *       "time" (pieces of data.quantum ns of the recording's clock, which was data.start.clock at the start).
 *   order: "weight" (then by key) or "name". CPUs, events and times keep theirs.
 * tree        {count, parent, key, self, total, depth, first (child), next (sibling), at}: 0 is the root, -1 means no node,
 *             parents stand before children; `at` is where the node starts in the weight of the root, for drawing.
 *             Nodes without weight are in no list of children. `groups`: how many levels are not stacks.
 *             tree.total[0] is 100 %; selection.total has what transforms left out, too.
 *   An inverted tree (tree.inverted) is made as it is looked at: expand(tree, node) makes the children of a node,
 *   expandTo(tree, weight, depth) those of all nodes of this weight or more; both may replace the arrays, so read them
 *   from the tree again. tree.done[node] is 1 when its children are there. total is always exact; self is the weight of
 *   stacks that have no further caller, known when done.
 *
 * Of a tree   functions, modules (tables), edges, callers, callees (of a key), search, levels, rows, path, find
 * of a selection   groups (table), buckets, heat, chart
 * of two trees     compare, then changes; all of these say what they return where they stand
 */
const query = (() => {
"use strict";

/* --- what data alone says --- */

const memo = make => {
  const known = new WeakMap();
  return of => {
    if (!known.has(of)) known.set(of, make(of));
    return known.get(of);
  };
};

const base = path => path.slice(path.lastIndexOf("/") + 1);

/* Of each function the first of the same name and module. */
const sameOf = memo(({ functions: { name, module } }) => {
  const known = new Map();
  return Int32Array.from(name, (text, i) => {
    const id = (text + 1) * 2 ** 27 + module[i] + 1;
    if (!known.has(id)) known.set(id, i);
    return known.get(id);
  });
});

/* [from, to) of all samples and intervals. */
const spanOf = memo(({ samples, intervals }) => {
  let from = Infinity, to = -Infinity;
  const take = (a, b) => {
    if (a < from) from = a;
    if (b > to) to = b;
  };
  for (let i = 0; i < samples.time.length; i++) take(samples.time[i], samples.time[i] + 1);
  for (let i = 0; intervals && i < intervals.from.length; i++) take(intervals.from[i], intervals.to[i]);
  return from < to ? [from, to] : [0, 0];
});

/* Which piece of time a time is in. */
const MAX_PIECES = 1e6;
function piecesOf({ quantum, start }) {
  const clock = start && start.clock || 0, length = quantum || 1e8;
  return time => Math.floor((clock + time) / length);
}

/* Where each type of key begins, and which processes there are. */
const spaceOf = memo(data => {
  const functions = data.functions.name.length, strings = data.strings.length, threads = data.threads.pid.length;
  const pids = [...new Set(data.threads.pid)], number = new Map(pids.map((pid, i) => [pid, i]));
  const space = { function: 0, module: functions, comm: functions + strings + 1 };
  space.alike = space.comm + strings + 1;
  space.waker = space.alike + strings + 1;
  space.thread = space.waker + strings + 1;
  space.process = space.thread + threads + 1;
  space.cpu = space.process + pids.length + 1;
  space.event = space.cpu + data.samples.cpu.reduce((a, b) => Math.max(a, b), -1) + 2;
  space.time = space.event + data.samples.event.reduce((a, b) => Math.max(a, b), 0) + 2;
  space.pieceOf = piecesOf(data);
  space.firstPiece = space.pieceOf(spanOf(data)[0]);
  space.size = space.time + Math.min(space.pieceOf(spanOf(data)[1]) - space.firstPiece, MAX_PIECES) + 2;
  space.pids = pids;
  space.processOf = Int32Array.from(data.threads.pid, pid => number.get(pid));
  return space;
});
const TYPES = ["time", "event", "cpu", "process", "thread", "waker", "alike", "comm", "module", "function"];

/* All but functions may be unknown, which is index -1. Of processes it is their index in the list of pids. */
const keyOf = (data, type, index) => spaceOf(data)[type] + index + (type === "function" ? 0 : 1);

/* {type, index}: of functions, threads and events their index, of modules and thread names that of the string, of
 * processes their pid, of CPUs their number, of pieces of time how many of them the clock had run. */
function describe(data, key) {
  if (key < 0) return { type: "root", index: -1 };
  const space = spaceOf(data), type = TYPES.find(name => key >= space[name]);
  const index = key - space[type] - (type === "function" ? 0 : 1);
  if (index < 0) return { type, index };
  return { type, index: type === "process" ? space.pids[index] : type === "time" ? index + space.firstPiece : index };
}

/* The module of each key, an index of strings. */
const modulesOf = memo(data => {
  const space = spaceOf(data), modules = new Int32Array(space.size).fill(-1);
  modules.set(data.functions.module);
  for (let i = 0; i < data.strings.length; i++) modules[space.module + 1 + i] = i;
  return modules;
});

/* "a<b<c>>::d(e<f>)" as "a<…>::d(e<…>)". What is not a list of arguments (operators, lambdas, "<T as U>") stays. */
const OPERATOR = /\boperator(?:<=>|<<=?|>>=?|[<>]=?|->\*?)/y, SPECIAL = /<(?:lambda|impl) ?\b/y;
function withoutTemplates(name) {
  if (!name.includes("<")) return name;
  let out = "", depth = 0;
  for (let i = 0; i < name.length; i++) {
    OPERATOR.lastIndex = SPECIAL.lastIndex = i;
    const operator = name[i] === "o" && OPERATOR.exec(name), c = name[i], before = name[i - 1];
    if (operator) {
      if (!depth) out += operator[0];
      i += operator[0].length - 1;
      if (name[i + 1] === " " && name[i + 2] === "<") i++;
      if (name[i + 1] === "<") {
        depth++;
        i++;
      }
    } else if (c === "<" && (depth || /[\w:$)\]}]$/.test(out) && !SPECIAL.test(name))) depth++;
    else if (c === ">" && depth && before !== "-" && before !== "=") out += --depth ? "" : "<…>";
    else if (!depth) out += c;
  }
  return depth ? name : out;
}

/* Of each function the first that differs in template arguments only. */
const plainOf = memo(data => {
  const { name, module } = data.functions, known = new Map(), same = sameOf(data);
  return Int32Array.from(name, (text, i) => {
    if (text < 0) return same[i];
    const id = withoutTemplates(data.strings[text]) + "\n" + module[i];
    if (!known.has(id)) known.set(id, same[i]);
    return known.get(id);
  });
});

/* Whether all samples have a time and stand in its order. */
const isOrdered = memo(({ samples: { time } }) => {
  for (let i = 1; i < time.length; i++) if (!(time[i - 1] <= time[i])) return false;
  return !time.length || time[0] === time[0];
});

function lowerBound(times, value, from = 0, to = times.length) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (times[middle] < value) from = middle + 1; else to = middle;
  }
  return from;
}

/* --- filter --- */

/* A search is a regular expression, or its text: of names, and of files without their folders. "path:" before it: of complete
 * paths, and of nothing else. Capital letters are these. Throws, where it is not valid. */
function finder(search) {
  const [, path, source] = typeof search === "string" ? search.match(/^(path:)?([^]*)$/) : [, , search.source];
  const flags = typeof search === "string" ? /[A-Z]/.test(source.replace(/\\./g, "")) ? "" : "i" : search.flags.replace(/[gy]/g, "");
  const pattern = new RegExp(source, flags), is = text => pattern.test(text);
  return path ? { pattern: null, name: () => false, path: is } : { pattern, name: is, path: text => is(base(text)) };
}

/* 1 for each key that the search finds, by its name or its file's. */
function matches(data, search) {
  const { functions, threads, strings } = data, space = spaceOf(data), hits = new Uint8Array(space.size), is = finder(search);
  const names = Uint8Array.from(strings, text => is.name(text) ? 1 : 0), paths = Uint8Array.from(strings, text => is.path(text) ? 1 : 0);
  const of = i => i >= 0 ? names[i] : 0, path = i => i >= 0 ? paths[i] : 0, file = functions.file || [];
  for (let i = 0; i < functions.name.length; i++) hits[i] = of(functions.name[i]) | path(functions.module[i]) | path(file[i]);
  hits.set(paths, space.module + 1);
  hits.set(names, space.comm + 1);
  hits.set(names, space.alike + 1);
  hits.set(names, space.waker + 1);
  for (let i = 0; i < threads.pid.length; i++) {
    hits[space.thread + 1 + i] = of(threads.comm[i]);
    if (threads.pid[i] === threads.tid[i]) hits[space.process + 1 + space.processOf[i]] = of(threads.comm[i]);
  }
  return hits;
}

/* 1 for each stack, and at the end for none, that has a frame the search finds. In all of these null takes all. */
function stacksWith(data, search) {
  const { parent, fn } = data.stacks, hits = matches(data, search), inside = new Uint8Array(fn.length + 1);
  for (let n = 0; n < fn.length; n++) inside[n] = hits[fn[n]] | (parent[n] < 0 ? 0 : inside[parent[n]]);
  return inside;
}
function wantedStacks(data, { include, exclude }) {
  if (!include && !exclude) return null;
  const wanted = new Uint8Array(data.stacks.fn.length + 1).fill(1), all = list => [list || []].flat();
  const keep = (search, is) => stacksWith(data, search).forEach((has, n) => { wanted[n] &= has === is ? 1 : 0; });
  for (const search of all(include)) keep(search, 1);
  for (const search of all(exclude)) keep(search, 0);
  return wanted;
}
/* The data with the samples and intervals that such a filter leaves, for views that read columns; the same data without one. */
function restricted(data, { include, exclude }) {
  const stacks = wantedStacks(data, { include, exclude });
  return stacks ? kept(data, "restricted", JSON.stringify([include, exclude]), 2, () => remaining(data, stacks)) : data;
}
function remaining(data, stacks) {
  const left = ({ stack }) => {
    const list = [];
    for (let i = 0; i < stack.length; i++) if (stacks[stack[i] < 0 ? stacks.length - 1 : stack[i]]) list.push(i);
    return list;
  };
  const columns = (table, list) => Object.fromEntries(Object.entries(table).map(([name, column]) =>
    [name, ArrayBuffer.isView(column) ? column.constructor.from(list, i => column[i]) : column]));
  const list = left(data.samples), samples = columns(data.samples, list);
  if (samples.slices) samples.slices = samples.slices.map(slice => ({ ...slice, until: lowerBound(list, slice.until) }));
  return { ...data, samples, ...(data.intervals ? { intervals: columns(data.intervals, left(data.intervals)) } : {}) };
}

/* A table of 1 for what is in the list, with the unknown one, -1, at the end. */
function table(size, list) {
  if (list === undefined || list === null) return null;
  const wanted = new Uint8Array(size + 1);
  for (const one of typeof list === "number" ? [list] : list)
    if (one >= -1 && one < size) wanted[one < 0 ? size : one] = 1;
  return wanted;
}
function wantedThreads(data, { threads, processes, comms }) {
  if (!threads && !processes && !comms) return null;
  const { pid, comm } = data.threads, wanted = table(pid.length, threads) || new Uint8Array(pid.length + 1).fill(1);
  const pids = processes && new Set(processes), names = comms && new Set(comms);
  for (let i = 0; i < pid.length; i++)
    if (pids && !pids.has(pid[i]) || names && !names.has(data.strings[comm[i]])) wanted[i] = 0;
  if (pids || names) wanted[pid.length] = 0;
  return wanted;
}

function filter(data, wanted = {}) {
  const selection = { data, filter: wanted, total: 0, count: 0, from: 0, to: data.samples.stack.length,
    picked: new Uint8Array(data.samples.stack.length),
    pickedIntervals: new Uint8Array(data.intervals ? data.intervals.thread.length : 0),
    get weights() { return weightsOf(selection).weights; },
    get bare() { return weightsOf(selection).bare; } };
  const tables = { threads: wantedThreads(data, wanted), stacks: wantedStacks(data, wanted) };
  const measure = wanted.measure || "weight";
  if (!INTERVALS[measure] || measure === "both") pickSamples(selection, tables);
  if (INTERVALS[measure] && !wanted.cpus) pickIntervals(selection, tables, INTERVALS[measure]);
  return selection;
}
/* Which intervals a measure has, by their states. */
const PREEMPTED = 1, ALL_STATES = () => true;
const INTERVALS = { blocked: state => state !== PREEMPTED, preempted: state => state === PREEMPTED, all: ALL_STATES, both: ALL_STATES };
const valuesOf = ({ data: { samples }, filter: wanted }) => wanted.measure === "count" ? samples.count : samples.weight;

/* What is picked by stack, for trees that are not of groups. */
const weightsOf = memo(selection => {
  const { data: { samples, intervals, stacks }, filter: wanted, picked, pickedIntervals } = selection;
  const weights = new Float64Array(stacks.fn.length), values = valuesOf(selection), { stack } = samples;
  let bare = 0;
  for (let i = selection.from; i < selection.to; i++) {
    if (!picked[i]) continue;
    if (stack[i] < 0) bare += values[i]; else weights[stack[i]] += values[i];
  }
  for (let i = 0; i < pickedIntervals.length; i++) {
    const s = intervals.stack[i], length = pickedIntervals[i] ? clipped(intervals, i, wanted.time) : 0;
    if (s < 0) bare += length; else weights[s] += length;
  }
  return { weights, bare };
});
/* Whether a sample is picked by a filter without a measure; for a few of them. */
function accepts(data, wanted) {
  const { stack, thread, cpu, event, time } = data.samples, threads = wantedThreads(data, wanted), stacks = wantedStacks(data, wanted);
  const has = (list, one) => list === undefined || list === null || (typeof list === "number" ? list === one : list.includes(one));
  const { time: times } = wanted, at = (table, i) => !table || table[i < 0 ? table.length - 1 : i];
  return i => has(wanted.event, event[i]) && has(wanted.cpus, cpu[i] < 0 ? -1 : cpu[i]) && !!at(threads, thread[i]) && !!at(stacks, stack[i]) &&
    (!times || time[i] >= times[0] && time[i] < times[1]);
}
function pickSamples(selection, tables) {
  const { data, filter: wanted, picked } = selection, { samples } = data, space = spaceOf(data);
  const { time, stack, thread, cpu, event, count } = samples, { threads, stacks } = tables;
  const values = valuesOf(selection);
  const none = data.stacks.fn.length, stranger = data.threads.pid.length, unplaced = space.event - space.cpu - 1;
  const cpus = table(unplaced, wanted.cpus), events = table(space.time - space.event - 1, wanted.event);
  const times = wanted.time;
  if (times && isOrdered(data)) {
    selection.from = lowerBound(time, times[0]);
    selection.to = Math.max(selection.from, lowerBound(time, times[1]));
  }
  let total = 0, counted = 0;
  for (let i = selection.from; i < selection.to; i++) {
    const s = stack[i];
    if (events && !events[event[i]] || threads && !threads[thread[i] < 0 ? stranger : thread[i]] ||
        cpus && !cpus[cpu[i] < 0 ? unplaced : cpu[i]] || stacks && !stacks[s < 0 ? none : s] ||
        times && !(time[i] >= times[0] && time[i] < times[1])) continue;
    picked[i] = 1;
    total += values[i];
    counted += count[i];
  }
  selection.total += total;
  selection.count += counted;
}
/* How long an interval is within the times that are wanted. */
function clipped(intervals, i, times) {
  if (!times) return Math.max(0, intervals.to[i] - intervals.from[i]);
  return Math.max(0, Math.min(intervals.to[i], times[1]) - Math.max(intervals.from[i], times[0]));
}
function pickIntervals(selection, { threads, stacks }, isWanted) {
  const { data: { intervals, ownThreads }, filter: { time, before }, pickedIntervals } = selection;
  for (let i = 0; i < pickedIntervals.length; i++) {
    const s = intervals.stack[i], t = intervals.thread[i], length = clipped(intervals, i, time);
    if (before !== undefined && t >= ownThreads !== before) continue;
    if (!length || !isWanted(intervals.state[i]) || threads && !threads[t < 0 ? threads.length - 1 : t]) continue;
    if (stacks && !stacks[s < 0 ? stacks.length - 1 : s]) continue;
    pickedIntervals[i] = 1;
    selection.total += length;
  }
}

/* --- shapes: trees without weights; {count, parent, key} --- */

/* A shape that grows by children that may be there. Those of most nodes are few, and are a list; of others they are in
 * a table, too. */
const FEW = 8;
class Trie {
  constructor(most) {
    this.count = 1;
    for (const name of ["parent", "key", "first", "next"]) this[name] = new Int32Array(most + 1);
    this.many = new Uint8Array(most + 1);
    this.parent[0] = this.key[0] = -1;
    this.slots = new Int32Array(64);
    this.slotsUsed = 0;
  }
  child(parent, key) {
    const { key: keys, next, first } = this;
    if (this.many[parent]) {
      const found = this.slots[this.slotOf(parent, key)];
      return found || this.enter(this.add(parent, key));
    }
    let few = 0;
    for (let n = first[parent]; n; n = next[n], few++) if (keys[n] === key) return n;
    const added = this.add(parent, key);
    if (few >= FEW) {
      this.many[parent] = 1;
      for (let n = first[parent]; n; n = next[n]) this.enter(n);
    }
    return added;
  }
  /* A child that is not there yet. */
  append(parent, key) {
    const added = this.add(parent, key);
    return this.many[parent] ? this.enter(added) : added;
  }
  add(parent, key) {
    const n = this.count++;
    this.parent[n] = parent;
    this.key[n] = key;
    this.next[n] = this.first[parent];
    return (this.first[parent] = n);
  }
  slotOf(parent, key) {
    const { slots, parent: parents, key: keys } = this, mask = slots.length - 1;
    let i = Math.imul(parent, 0x9e3779b1) ^ Math.imul(key, 0x85ebca6b);
    i = (i ^ i >>> 15) & mask;
    for (let n; (n = slots[i]) && (parents[n] !== parent || keys[n] !== key);) i = (i + 1) & mask;
    return i;
  }
  enter(node) {
    if (++this.slotsUsed * 2 > this.slots.length) {
      const entered = this.slots;
      this.slots = new Int32Array(entered.length * 4);
      for (const n of entered) if (n) this.slots[this.slotOf(this.parent[n], this.key[n])] = n;
    }
    return (this.slots[this.slotOf(this.parent[node], this.key[node])] = node);
  }
  shape() {
    return { count: this.count, parent: this.parent.subarray(0, this.count), key: this.key.subarray(0, this.count) };
  }
}

const depthOf = memo(({ count, parent }) => {
  const depth = new Int32Array(count);
  for (let n = 1; n < count; n++) depth[n] = depth[parent[n]] + 1;
  return depth;
});
/* Nodes one below the other as far as possible. */
const walkOf = memo(shape => {
  const { count, parent } = shape, depth = depthOf(shape), last = new Int32Array(count).fill(-1), before = new Int32Array(count);
  for (let n = 1; n < count; n++) {
    before[n] = last[parent[n]];
    last[parent[n]] = n;
  }
  const order = new Int32Array(count), left = new Int32Array(count);
  let filled = 0, waiting = 0, deepest = 0;
  for (let n = 0; ;) {
    order[filled++] = n;
    if (depth[n] > deepest) deepest = depth[n];
    for (let kid = last[n]; kid >= 0; kid = before[kid]) left[waiting++] = kid;
    if (!waiting) break;
    n = left[--waiting];
  }
  return { order, depth, deepest };
});

/* 1 for nodes that have no node of the same class above them; class -1 means no class. */
function outermost(shape, classes, size) {
  const { order, depth, deepest } = walkOf(shape), outer = new Uint8Array(shape.count);
  const path = new Int32Array(deepest + 1), above = new Int32Array(size);
  for (let i = 1, top = 0; i < order.length; i++) {
    const n = order[i], d = depth[n], one = classes ? classes[shape.key[n]] : shape.key[n];
    for (; top >= d; top--) if (path[top] >= 0) above[path[top]]--;
    path[top = d] = one;
    if (one >= 0 && above[one]++ === 0) outer[n] = 1;
  }
  return outer;
}
const outermostKeys = memo(shape => outermost(shape, null, shape.key.reduce((a, b) => Math.max(a, b), 0) + 1));

/* The stacks as they are: image[stack + 1] is the node, image[0] that of samples without one. Data of two recordings
 * has what both have twice. Stacks that are unique (no caller has a function twice) become one only where functions do. */
const stacksOf = memo(data => {
  const { parent, fn, unique } = data.stacks, same = sameOf(data), count = fn.length + 1;
  const trie = new Trie(count), image = new Int32Array(count), several = new Uint8Array(same.length), joined = new Uint8Array(count);
  for (let i = 0; i < same.length; i++) if (!unique || same[i] !== i) several[same[i]] = 1;
  for (let n = 1; n < count; n++) {
    const above = image[parent[n - 1] + 1], key = same[fn[n - 1]], next = trie.count;
    if (several[key] || joined[above]) image[n] = trie.child(above, key); else image[n] = trie.append(above, key);
    if (image[n] < next) joined[image[n]] = 1;
  }
  return { shape: trie.shape(), image };
});

/* --- transforms: each makes of a shape {shape, image}; -1 in image: left out --- */

function rename({ count, parent, key }, named) {
  const trie = new Trie(count), image = new Int32Array(count);
  for (let n = 1; n < count; n++) image[n] = trie.child(image[parent[n]], named(key[n]));
  return { shape: trie.shape(), image };
}

/* 1 for the keys that a transform is about. */
function targets(data, { key, module, search }) {
  if (search !== undefined) return matches(data, search);
  const space = spaceOf(data), hits = new Uint8Array(space.size);
  if (key >= 0 && key < space.size) hits[key] = 1;
  if (module === undefined) return hits;
  const modules = modulesOf(data);
  for (let k = 0; k < space.comm; k++) if (modules[k] === module) hits[k] = 1;
  return hits;
}

function focused({ count, parent, key }, hits) {
  const trie = new Trie(count), image = new Int32Array(count).fill(-1);
  for (let n = 1; n < count; n++) {
    const above = image[parent[n]];
    if (above > 0) image[n] = trie.child(above, key[n]);
    else if (hits[key[n]]) image[n] = trie.child(0, key[n]);
  }
  return { shape: trie.shape(), image };
}
const passes = {
  focus: (shape, transform, data) => focused(shape, targets(data, transform)),
  drop(shape, transform, data) {
    const { count, parent, key } = shape, hits = targets(data, transform), image = new Int32Array(count);
    for (let n = 1; n < count; n++) image[n] = image[parent[n]] < 0 || hits[key[n]] ? -1 : n;
    return { shape, image };
  },
  collapse(shape, transform, data) {
    const { count, parent, key } = shape, hits = targets(data, transform), image = new Int32Array(count);
    for (let n = 1; n < count; n++) {
      const above = image[parent[n]];
      image[n] = above !== parent[n] || above > 0 && hits[key[above]] ? above : n;
    }
    return { shape, image };
  },
  merge(shape, transform, data) {
    const { count, parent, key } = shape, hits = targets(data, transform);
    const trie = new Trie(count), image = new Int32Array(count);
    for (let n = 1; n < count; n++) {
      const above = image[parent[n]];
      image[n] = hits[key[n]] ? above : trie.child(above, key[n]);
    }
    return { shape: trie.shape(), image };
  },
  recursion(shape, transform, data) {
    const { count, parent, key } = shape, trie = new Trie(count), image = new Int32Array(count);
    const hits = "key" in transform || "module" in transform ? targets(data, transform) : null;
    const outer = outermostKeys(shape);
    for (let n = 1; n < count; n++) {
      const above = image[parent[n]];
      let to = 0;
      if (!outer[n] && (!hits || hits[key[n]]))
        for (to = above; to > 0 && trie.key[to] !== key[n];) to = trie.parent[to];
      image[n] = to > 0 ? to : trie.child(above, key[n]);
    }
    return { shape: trie.shape(), image };
  },
  modules(shape, { module: only }, data) {
    const { count, parent, key } = shape, modules = modulesOf(data), trie = new Trie(count);
    const image = new Int32Array(count), { module: first } = spaceOf(data);
    for (let n = 1; n < count; n++) {
      const above = image[parent[n]], module = modules[key[n]], one = first + 1 + module;
      if (only === undefined ? module < 0 : module !== only) image[n] = trie.child(above, key[n]);
      else image[n] = above > 0 && trie.key[above] === one ? above : trie.child(above, one);
    }
    return { shape: trie.shape(), image };
  },
  templates(shape, transform, data) {
    const plain = plainOf(data);
    return rename(shape, key => key < plain.length ? plain[key] : key);
  },
  subtree(shape, { path, inverted }) {
    return inverted ? endings(shape, path) : beginnings(shape, path);
  },
};
function beginnings({ count, parent, key }, path) {
  const image = new Int32Array(count).fill(-1), taken = new Int32Array(count).fill(-1);
  const to = { parent: new Int32Array(count + 1), key: new Int32Array(count + 1), count: 1 };
  to.parent[0] = to.key[0] = -1;
  taken[0] = 0;
  for (let n = 1; n < count; n++) {
    const above = parent[n], steps = taken[above];
    if (steps >= 0 && steps < path.length && key[n] === path[steps]) taken[n] = steps + 1;
    if (image[above] < 0 && taken[n] !== path.length) continue;
    to.parent[to.count] = Math.max(image[above], 0);
    to.key[to.count] = key[n];
    image[n] = to.count++;
  }
  if (!path.length) image[0] = 0;
  const cut = column => column.subarray(0, to.count);
  return { shape: { count: to.count, parent: cut(to.parent), key: cut(to.key) }, image };
}
function endings(shape, path) {
  const { count, parent, key } = shape, image = new Int32Array(count).fill(-1);
  if (!path.length) return { shape, image: image.map((_, n) => n) };
  for (let n = 1; n < count; n++) {
    let at = n, steps = 0;
    while (at > 0 && key[at] === path[steps] && ++steps < path.length) at = parent[at];
    if (steps === path.length) image[n] = at;
  }
  return { shape, image };
}

/* What was made of the data by the last lists of transforms, and last in groups. */
const madeOf = memo(() => new Map());
function kept(data, kind, id, most, make) {
  const all = madeOf(data), made = all.get(kind) || new Map(), result = made.get(id) || make();
  all.set(kind, made);
  made.delete(id);
  made.set(id, result);
  if (made.size > most) made.delete(made.keys().next().value);
  return result;
}
const isStep = transform => transform.type !== "invert";
function map(data, transforms) {
  const steps = transforms.filter(isStep);
  if (!steps.length) return stacksOf(data);
  return kept(data, "stacks", JSON.stringify(steps), 12, () => {
    const before = map(data, steps.slice(0, -1)), last = steps[steps.length - 1];
    const { shape, image } = passes[last.type](before.shape, last, data);
    return { shape, image: before.image.map(n => n < 0 ? -1 : image[n]) };
  });
}
function mapGrouped(data, transforms, by) {
  const id = JSON.stringify([transforms.filter(isStep), by]);
  return kept(data, "groups", id, 4, () => grouped(data, map(data, transforms), by));
}

/* --- trees --- */

function tree(selection, transforms = [], { by = [], order = "weight" } = {}) {
  const { data } = selection, plain = transforms.some(t => t.type === "templates");
  const made = by.length ? weighedApart(selection, mapGrouped(data, transforms, by))
    : weighed(selection, map(data, transforms));
  Object.assign(made, { data, size: spaceOf(data).size, groups: by.length, by, plain });
  if (!transforms.some(t => t.type === "invert")) return finish(made, order);
  return invert(finish(made, null));
}

function weighed({ weights, bare }, { shape, image }) {
  const self = new Float64Array(shape.count);
  if (image[0] >= 0) self[image[0]] += bare;
  for (let s = 0; s < weights.length; s++) {
    const n = image[s + 1];
    if (n >= 0 && weights[s]) self[n] += weights[s];
  }
  return { ...shape, shape, self };
}

/* Each sample and interval has its position. */
function weighedApart(selection, { shape, image }) {
  const { data: { intervals }, filter: wanted, picked, pickedIntervals, from, to } = selection;
  const self = new Float64Array(shape.count), values = valuesOf(selection);
  for (let i = from; i < to; i++) if (picked[i] && image[i] >= 0) self[image[i]] += values[i];
  for (let i = 0; i < pickedIntervals.length; i++) {
    const n = pickedIntervals[i] ? image[picked.length + i] : -1;
    if (n >= 0) self[n] += clipped(intervals, i, wanted.time);
  }
  return { ...shape, shape, self };
}

/* The key of a group of a sample or interval. */
function groupKeys(data, by) {
  const { threads } = data, space = spaceOf(data), first = space[by] + 1;
  if (by === "cpu" || by === "event") {
    const column = data.samples[by];
    return { sample: i => first + column[i], interval: () => first - 1 };
  }
  if (by === "time") {
    const piece = time => Math.min(first + space.pieceOf(time) - space.firstPiece, space.size - 1);
    const at = time => time === time ? piece(time) : first - 1;
    return { sample: i => at(data.samples.time[i]), interval: i => at(data.intervals.from[i]) };
  }
  if (by === "waker") {
    const { alike = threads.comm } = threads, { waker = [] } = data.intervals || {};
    return { sample: () => first - 1, interval: i => first + (waker[i] >= 0 ? alike[waker[i]] : -1) };
  }
  const of = { thread: t => t, process: t => space.processOf[t], comm: t => threads.comm[t], alike: t => (threads.alike || threads.comm)[t] }[by];
  const keys = new Int32Array(threads.pid.length + 1).fill(first - 1);
  for (let t = 0; t < threads.pid.length; t++) keys[t + 1] = first + of(t);
  return { sample: i => keys[data.samples.thread[i] + 1], interval: i => keys[data.intervals.thread[i] + 1] };
}

/* The number of the group of each sample, then of each interval, and the keys that lead to each group. */
function pathsOf(data, by) {
  const samples = data.samples.stack.length, count = samples + (data.intervals ? data.intervals.thread.length : 0);
  const [outer, ...inner] = by.map(one => groupKeys(data, one)), number = new Int32Array(count);
  for (let i = 0; i < count; i++) number[i] = i < samples ? outer.sample(i) : outer.interval(i - samples);
  const { size } = spaceOf(data);
  let paths = null; /* the number is the only key */
  for (const keys of inner) {
    const known = new Map(), longer = [], above = n => paths ? paths[n] : [n];
    for (let i = 0; i < count; i++) {
      const key = i < samples ? keys.sample(i) : keys.interval(i - samples), id = number[i] * size + key;
      if (!known.has(id)) known.set(id, longer.push([...above(number[i]), key]) - 1);
      number[i] = known.get(id);
    }
    paths = longer;
  }
  return { number, paths, count: paths ? paths.length : size };
}

/* Positions in the order of the keys; equal ones stay in order. */
function sortedBy(key, count, size) {
  const starts = new Int32Array(size + 1), order = new Int32Array(count);
  for (let i = 0; i < count; i++) starts[key[i] + 1]++;
  for (let k = 0; k < size; k++) starts[k + 1] += starts[k];
  for (let i = 0; i < count; i++) order[starts[key[i]]++] = i;
  return order;
}

/* The groups' levels above a copy of what each has of the stacks: {shape, image (samples, then intervals)}. */
function grouped(data, { shape, image: places }, by) {
  const { samples: { stack }, intervals } = data, { number, paths, count } = pathsOf(data, by);
  const image = new Int32Array(number.length), nodes = new Nodes(shape.count), heads = new Map(), path = [];
  const copy = new Int32Array(shape.count), stamp = new Int32Array(shape.count).fill(-1);
  for (const i of sortedBy(number, number.length, count)) {
    const group = number[i], site = places[(i < stack.length ? stack[i] : intervals.stack[i - stack.length]) + 1];
    image[i] = -1;
    if (site < 0) continue;
    if (stamp[0] !== group) {
      stamp[0] = group;
      copy[0] = headOf(nodes, heads, paths ? paths[group] : [group]);
    }
    let n = site, depth = 0;
    for (; stamp[n] !== group; n = shape.parent[n]) path[depth++] = n;
    for (let above = copy[n]; depth;) {
      n = path[--depth];
      stamp[n] = group;
      above = copy[n] = nodes.add(above, shape.key[n]);
    }
    image[i] = copy[site];
  }
  return { shape: nodes.shape(), image };
}
function headOf(nodes, heads, path) {
  let node = 0, id = "";
  for (const key of path) {
    id += key + ",";
    if (!heads.has(id)) heads.set(id, nodes.add(node, key));
    node = heads.get(id);
  }
  return node;
}

/* Columns of nodes that grow. */
class Nodes {
  constructor(extent) {
    this.count = 1;
    this.parent = new Int32Array(extent + 16);
    this.key = new Int32Array(extent + 16);
    this.parent[0] = this.key[0] = -1;
  }
  add(parent, key) {
    if (this.count === this.parent.length) for (const name of ["parent", "key"]) this[name] = larger(this[name]);
    this.parent[this.count] = parent;
    this.key[this.count] = key;
    return this.count++;
  }
  shape() {
    return { count: this.count, parent: this.parent.subarray(0, this.count), key: this.key.subarray(0, this.count) };
  }
}
function larger(column) {
  const to = new column.constructor(column.length * 2);
  to.set(column);
  return to;
}

/* The rank of each function's name among all. */
const ranksOf = memo(data => {
  const { name } = data.functions, text = i => name[i] < 0 ? "" : data.strings[name[i]];
  const order = [...name.keys()].sort((a, b) => text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : a - b);
  const ranks = new Int32Array(order.length);
  order.forEach((i, rank) => { ranks[i] = rank; });
  return ranks;
});

/* Which of two siblings stands first. */
function comparing({ data, key, total }, order) {
  const fixed = data ? spaceOf(data).cpu : Infinity;
  const heavy = (a, b) => total[b] - total[a] || key[a] - key[b];
  if (order === "name") {
    const ranks = ranksOf(data), rank = n => key[n] < ranks.length ? ranks[key[n]] : key[n];
    return (a, b) => rank(a) - rank(b);
  }
  return (a, b) => key[a] >= fixed && key[b] >= fixed ? key[a] - key[b] : heavy(a, b);
}

/* Totals, then the lists of children; without an order there are none. */
function finish(made, order) {
  const { count, parent, self } = made, total = made.total = Float64Array.from(self);
  for (let n = count - 1; n > 0; n--) if (total[n]) total[parent[n]] += total[n];
  made.depth = depthOf(made.shape);
  return order ? link(made, comparing(made, order)) : made;
}
function link(made, compare, weight = made.total) {
  const { count, parent } = made, starts = new Int32Array(count + 2);
  let linked = 0;
  for (let n = 1; n < count; n++)
    if (weight[n]) {
      starts[parent[n] + 2]++;
      linked++;
    }
  for (let n = 0; n < count; n++) starts[n + 2] += starts[n + 1];
  const kids = new Int32Array(linked);
  for (let n = 1; n < count; n++) if (weight[n]) kids[starts[parent[n] + 1]++] = n;
  const first = made.first = new Int32Array(count).fill(-1), next = made.next = new Int32Array(count).fill(-1);
  const at = made.at = new Float64Array(count);
  for (let n = 0; n < count; n++) {
    const from = starts[n], to = starts[n + 1];
    if (from === to) continue;
    if (to - from > 1) sortPart(kids, from, to, compare);
    first[n] = kids[from];
    let x = at[n];
    for (let i = from; i < to; i++) {
      const kid = kids[i];
      if (i + 1 < to) next[kid] = kids[i + 1];
      at[kid] = x;
      x += weight[kid];
    }
  }
  return made;
}
function sortPart(list, from, to, compare) {
  if (to - from > 12) {
    list.subarray(from, to).sort(compare);
    return;
  }
  for (let i = from + 1; i < to; i++) {
    const one = list[i];
    let k = i;
    for (; k > from && compare(list[k - 1], one) > 0; k--) list[k] = list[k - 1];
    list[k] = one;
  }
}

/* --- leaf first --- */

/* A tree of the ways up from nodes: `pos` are nodes of the tree `from`, `weight` theirs, `other` those in the other
 * recording if it has one. Each node of the new tree has a part of them, reordered in place when its children are made:
 * [low, high). */
const TURNED = { low: Int32Array, high: Int32Array, parent: Int32Array, key: Int32Array, depth: Int32Array,
  first: Int32Array, next: Int32Array, done: Uint8Array, self: Float64Array, total: Float64Array, at: Float64Array,
  otherSelf: Float64Array, otherTotal: Float64Array };
function upward(from, pos, rootKey, weights) {
  const turned = { inverted: true, groups: rootKey < 0 ? from.groups : 0, count: 1, from, pos, above: [], ...weights,
    slot: new Int32Array(from.size), starts: rootKey < 0 }; /* starts: the first step stays where it is */
  for (const name of ["data", "plain", "now", "before", "size"]) turned[name] = from[name];
  for (const name in TURNED) if (turned.other || !name.startsWith("other")) turned[name] = new TURNED[name](64);
  turned.parent[0] = turned.first[0] = turned.next[0] = -1;
  turned.key[0] = rootKey;
  turned.high[0] = pos.length;
  turned.total[0] = turned.weight.reduce((a, b) => a + b, 0);
  if (turned.other) turned.otherTotal[0] = turned.other.reduce((a, b) => a + b, 0);
  return expand(turned, 0);
}
/* Upward from these nodes, with what they have in these columns. */
function turn(from, rootKey, pos, weight, other) {
  const of = column => {
    const made = column && new Float64Array(pos.length);
    for (let i = 0; column && i < pos.length; i++) made[i] = column[pos[i]];
    return made;
  };
  return upward(from, pos, rootKey, { weight: of(weight), other: of(other) });
}
function invert(made) {
  const { self, otherSelf: other } = made, pos = new Int32Array(made.count);
  let count = 0;
  for (let n = 0; n < made.count; n++) if (self[n] || other && other[n]) pos[count++] = n;
  return turn(made, -1, pos.slice(0, count), self, other);
}

/* The node of the level of a group that each node is below. */
function ancestorsAt({ count, parent, depth }, level) {
  const above = new Int32Array(count);
  for (let n = 1; n < count; n++) above[n] = depth[n] < level ? 0 : depth[n] === level ? n : above[parent[n]];
  return above;
}

/* Where the ways of a node lead to next: 0 ends. */
function stepsOf(turned, node) {
  const { from, pos, groups, starts } = turned, level = turned.depth[node];
  const to = new Int32Array(turned.high[node] - turned.low[node]), low = turned.low[node];
  const above = starts && level < groups ? turned.above[level] ||= ancestorsAt(from, level + 1) : null;
  const stays = starts && level === groups;
  for (let i = 0; i < to.length; i++) {
    const at = pos[low + i], p = above ? above[at] : stays ? at : from.parent[at];
    to[i] = above || from.depth[p] > (starts ? groups : 0) ? p : 0;
    if (!above) pos[low + i] = to[i];
  }
  return to;
}

function expand(turned, node) {
  if (turned.done[node]) return turned;
  turned.done[node] = 1;
  const { from, weight, other, slot } = turned, low = turned.low[node], to = stepsOf(turned, node), kids = [];
  const which = new Int32Array(to.length); /* 0: ends here, otherwise which of kids, from 1 */
  for (let i = 0; i < to.length; i++) {
    if (!to[i]) continue;
    const key = from.key[to[i]];
    which[i] = slot[key] || (slot[key] = kids.push(addTurned(turned, node, key)));
  }
  for (const kid of kids) slot[turned.key[kid]] = 0;
  const sums = sumsOf(which, weight, low, kids.length), others = other && sumsOf(which, other, low, kids.length);
  turned.self[node] = sums[0];
  if (other) turned.otherSelf[node] = others[0];
  kids.forEach((kid, i) => {
    turned.total[kid] = sums[i + 1];
    if (other) turned.otherTotal[kid] = others[i + 1];
  });
  spread(turned, node, which, kids);
  linkTurned(turned, node, kids);
  return turned;
}
function sumsOf(which, column, low, count) {
  const sums = new Float64Array(count + 1);
  for (let i = 0; i < which.length; i++) sums[which[i]] += column[low + i];
  return sums;
}
/* Ways that end first, then those of each child. */
function spread(turned, node, which, kids) {
  const { low: lows, high: highs } = turned, low = lows[node], sizes = new Int32Array(kids.length + 1);
  for (let i = 0; i < which.length; i++) sizes[which[i]]++;
  const places = new Int32Array(kids.length + 1);
  for (let k = 0, at = low; k <= kids.length; k++) {
    places[k] = at;
    if (k) lows[kids[k - 1]] = at;
    at += sizes[k];
    if (k) highs[kids[k - 1]] = at;
  }
  for (let i = 0; i < which.length; i++) which[i] = places[which[i]]++;
  for (const column of turned.other ? [turned.pos, turned.weight, turned.other] : [turned.pos, turned.weight]) {
    const part = column.slice(low, highs[node]);
    for (let i = 0; i < which.length; i++) column[which[i]] = part[i];
  }
}
function linkTurned(turned, node, kids) {
  const { total, otherTotal, key, at, next } = turned;
  const wide = otherTotal ? kid => Math.max(total[kid], otherTotal[kid]) : kid => total[kid];
  kids.sort(otherTotal ? (a, b) => wide(b) - wide(a) || key[a] - key[b] : comparing(turned, "weight"));
  let x = at[node];
  kids.forEach((kid, i) => {
    at[kid] = x;
    x += wide(kid);
    next[kid] = i + 1 < kids.length ? kids[i + 1] : -1;
  });
  turned.first[node] = kids.length ? kids[0] : -1;
}
function addTurned(turned, parent, key) {
  const n = turned.count++;
  if (n === turned.key.length) for (const name in TURNED) if (turned[name]) turned[name] = larger(turned[name]);
  turned.parent[n] = parent;
  turned.key[n] = key;
  turned.depth[n] = turned.depth[parent] + 1;
  turned.first[n] = turned.next[n] = -1;
  return n;
}
/* The children of all nodes that weigh at least this much, down to this depth. */
function expandTo(turned, least, deepest = Infinity) {
  const { other, inverted } = turned;
  for (let n = 0; inverted && n < turned.count; n++)
    if (turned.depth[n] < deepest && (turned.total[n] >= least || other && turned.otherTotal[n] >= least))
      expand(turned, n);
  return turned;
}

/* --- callers and callees --- */

/* Everything above a key: its root is the key's outermost frames, with their complete weight. An inverted tree. */
function callers(made, key) {
  const outer = outermostKeys(made.shape), { total, otherTotal: other } = made, pos = [];
  for (let n = 1; n < made.count; n++)
    if (made.key[n] === key && outer[n] && (total[n] || other && other[n])) pos.push(n);
  return turn(made, key, Int32Array.from(pos), total, other);
}

/* Everything below a key, from its outermost frames on: the root is "all", its only child the key. */
function callees(made, key, order = "weight") {
  const hits = new Uint8Array(made.size), below = { groups: 0 };
  hits[key] = 1;
  const { shape, image } = focused(made.shape, hits);
  for (const name of ["data", "plain", "now", "before", "size"]) below[name] = made[name];
  for (const name of ["self", "otherSelf"]) {
    const from = made[name], to = from && new Float64Array(shape.count);
    for (let n = 1; from && n < made.count; n++) if (image[n] > 0 && from[n]) to[image[n]] += from[n];
    if (from) below[name] = to;
  }
  Object.assign(below, shape, { shape });
  return below.otherSelf ? finishCompared(below) : finish(below, order);
}

/* The callers and callees of a key: {callers: {key, weight}, callees: {key, weight}}, heaviest first. Samples
 * count once for a pair, however often the one calls the other in it. */
function edges(made, key) {
  const { count, parent, key: keys, total } = made;
  const above = new Int32Array(count), via = new Int32Array(count).fill(-1); /* nearest frame of key; what it called */
  const to = new Map(), from = new Map(), add = (map, k, weight) => map.set(k, (map.get(k) || 0) + weight);
  for (let n = 1; n < count; n++) {
    const p = parent[n], called = keys[p] === key && p > 0;
    above[n] = called ? p : above[p];
    via[n] = called ? keys[n] : via[p];
    if (!total[n]) continue;
    if (called && !isCalledAbove(above, via, p, keys[n])) add(to, keys[n], total[n]);
    if (keys[n] === key && p > 0 && !callsAbove(above, parent, keys, n)) add(from, keys[p], total[n]);
  }
  return { callers: heaviest(from), callees: heaviest(to) };
}
function isCalledAbove(above, via, node, key) {
  for (; above[node]; node = above[node]) if (via[node] === key) return true;
  return false;
}
function callsAbove(above, parent, keys, node) {
  const caller = keys[parent[node]];
  for (let at = above[node]; at; at = above[at]) if (keys[parent[at]] === caller) return true;
  return false;
}
function heaviest(weights) {
  const order = [...weights].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return { key: Int32Array.from(order, o => o[0]), weight: Float64Array.from(order, o => o[1]) };
}

/* --- tables: columns of one length; see order() --- */

function tableOf(made, classes, size, outer) {
  const { count, key, self, total } = made, own = new Float64Array(size), entire = new Float64Array(size);
  for (let n = 1; n < count; n++) {
    if (!total[n]) continue;
    const one = classes ? classes[key[n]] : key[n];
    if (one < 0) continue;
    own[one] += self[n];
    if (outer[n]) entire[one] += total[n];
  }
  const used = [];
  for (let k = 0; k < size; k++) if (entire[k]) used.push(k);
  const column = from => Float64Array.from(used, k => from[k]);
  return { key: Int32Array.from(used), self: column(own), total: column(entire) };
}

/* Every key of a tree with its own weight and its total, a sample counted once: {key, self, total}. */
function functions(made) {
  return tableOf(made, null, spaceOf(made.data).size, outermostKeys(made.shape));
}

/* The same of modules; key is an index of strings. */
function modules(made) {
  const classes = modulesOf(made.data), size = made.data.strings.length;
  return tableOf(made, classes, size, outermost(made.shape, classes, size));
}

/* Threads, processes, thread names, CPUs or events: {key, on (weight), off (blocked, ns), count (samples)}. */
function groups(selection, by) {
  const { data, picked, pickedIntervals, filter: wanted } = selection, { samples, intervals } = data;
  const { size } = spaceOf(data), keys = groupKeys(data, by), used = [];
  const on = new Float64Array(size), off = new Float64Array(size), count = new Float64Array(size);
  for (let i = selection.from; i < selection.to; i++) {
    if (!picked[i]) continue;
    const key = keys.sample(i);
    on[key] += samples.weight[i];
    count[key] += samples.count[i];
  }
  for (let i = 0; i < pickedIntervals.length; i++)
    if (pickedIntervals[i]) off[keys.interval(i)] += clipped(intervals, i, wanted.time);
  for (let k = 0; k < size; k++) if (on[k] || off[k] || count[k]) used.push(k);
  const column = from => Float64Array.from(used, k => from[k]);
  return { key: Int32Array.from(used), on: column(on), off: column(off), count: column(count) };
}

/* The rows of a table by a column (typed array), largest first unless `up`; equal ones as they were. */
function order(column, up = false) {
  const rows = new Int32Array(column.length).map((_, i) => i), sign = up ? 1 : -1;
  return rows.sort((a, b) => sign * (column[a] - column[b]) || a - b);
}

/* {weight: of samples with a frame that matches, hits: 1 for each key that does}. */
function search(made, pattern) {
  const { count, parent, key, total, data } = made, hits = matches(data, pattern), inside = new Uint8Array(count);
  let weight = 0;
  if (made.inverted) return { weight: search(made.from, pattern).weight, hits };
  for (let n = 1; n < count; n++) {
    inside[n] = inside[parent[n]];
    if (inside[n] || !hits[key[n]]) continue;
    inside[n] = 1;
    weight += total[n];
  }
  return { weight, hits };
}

/* --- for drawing --- */

/* Nodes of each depth in the order of `at`: those of depth d are nodes[rows[d]] up to nodes[rows[d + 1]]. */
function levels(made, least = 0) {
  const nodes = new Int32Array(made.count), rows = [0, 1];
  let filled = 1;
  for (let from = 0; from < filled; rows.push(filled)) {
    const to = filled;
    for (; from < to; from++)
      for (let kid = made.first[nodes[from]]; kid >= 0; kid = made.next[kid])
        if (made.total[kid] >= least) nodes[filled++] = kid;
    if (to === filled) break;
  }
  return { nodes: nodes.subarray(0, filled), rows: Int32Array.from(rows) };
}

/* Nodes that are shown when those that isOpen says are open, without the root; a view takes its window of them. */
function rows(made, isOpen) {
  let shown = new Int32Array(256), count = 0, node = made.first[0];
  while (node >= 0) {
    if (count === shown.length) shown = larger(shown);
    shown[count++] = node;
    let to = isOpen(node) ? made.first[node] : -1;
    for (let at = node; to < 0 && at > 0; at = made.parent[at]) to = made.next[at];
    node = to;
  }
  return shown.subarray(0, count);
}

/* Keys from the root to a node. */
function path(made, node) {
  const keys = [];
  for (; node > 0; node = made.parent[node]) keys.push(made.key[node]);
  return keys.reverse();
}
/* The node that a path leads to, or the last of it that is there. */
function find(made, keys) {
  let node = 0;
  for (const key of keys) {
    if (made.inverted) expand(made, node);
    let kid = made.first[node];
    while (kid >= 0 && made.key[kid] !== key) kid = made.next[kid];
    if (kid < 0) break;
    node = kid;
  }
  return node;
}

/* --- time --- */

/* Weight over time: {from, step, count, key (of each row), on, off: an array of weights for each row}. Without `by`
 * there is one row. Bounds are integral ns, or those of slices; intervals are spread over what they overlap. */
function buckets(selection, most, { by = null, from, to, slice = null } = {}) {
  const { data, picked, pickedIntervals } = selection, { samples } = data;
  const span = spanOf(data), grain = slice ? slice.width : 1, begin = Math.floor(from ?? span[0]), end = Math.ceil(to ?? span[1]);
  const start = slice ? slice.from + Math.floor((begin - slice.from) / grain) * grain : begin;
  const step = Math.max(1, Math.ceil((end - start) / most / grain)) * grain, count = Math.max(1, Math.ceil((end - start) / step));
  const made = { from: start, step, count, key: [], on: [], off: [] }, keys = by ? groupKeys(data, by) : null;
  const values = valuesOf(selection);
  const rowOf = new Int32Array(spaceOf(data).size + 1);
  const nothing = pickedIntervals.includes(1) ? null : new Float64Array(count);
  const row = key => {
    if (!rowOf[key + 1]) {
      rowOf[key + 1] = made.key.push(key);
      made.on.push(new Float64Array(count));
      made.off.push(nothing || new Float64Array(count));
    }
    return rowOf[key + 1] - 1;
  };
  const spread = spreader(samples, { from: start, step, count }, lasts(selection.data));
  for (let i = selection.from; i < selection.to; i++) {
    const time = samples.time[i];
    if (!picked[i] || !(time >= start - spread.reach && time < end + spread.reach)) continue;
    spread.add(made.on[row(keys ? keys.sample(i) : -1)], 0, i, values[i]);
  }
  eachInterval(selection, start, end, (i, a, b) => spreadOver(made.off[row(keys ? keys.interval(i) : -1)], a - start, b - start, step));
  made.key = Int32Array.from(made.key);
  return made;
}
/* Adds weights of samples to buckets: each to its own, or where samples were joined, to those that its slice overlaps, as if it
 * were recorded at all times of the slice alike. No sample reaches farther than `reach`. */
function spreader({ time, weight: entire, slices }, { from, step, count }, isSpan) {
  const put = (sums, first, at, weight) => {
    const bucket = Math.floor((at - from) / step);
    if (bucket >= 0 && bucket < count) sums[first + bucket] += weight;
  };
  if (isSpan) return { reach: entire.reduce((a, b) => Math.max(a, b), 0), add: (sums, first, i, weight) => {
    const begin = time[i], end = begin + Math.max(1, entire[i]), last = Math.min(count - 1, Math.ceil((end - from) / step) - 1);
    for (let bucket = Math.max(0, Math.floor((begin - from) / step)); bucket <= last; bucket++)
      sums[first + bucket] += weight / (end - begin) * (Math.min(end, from + (bucket + 1) * step) - Math.max(begin, from + bucket * step));
  } };
  if (!slices) return { reach: 0, add: (sums, first, i, weight) => put(sums, first, time[i], weight) };
  const share = (sums, first, i, weight, slice) => {
    const begin = slice.from + Math.floor((time[i] - slice.from) / slice.width) * slice.width;
    const end = Math.max(Math.min(begin + slice.width, slice.end), begin + 1), part = weight / (end - begin);
    const last = Math.min(count - 1, Math.ceil((end - from) / step) - 1);
    for (let bucket = Math.max(0, Math.floor((begin - from) / step)); bucket <= last; bucket++)
      sums[first + bucket] += part * (Math.min(end, from + (bucket + 1) * step) - Math.max(begin, from + bucket * step));
  };
  return { reach: Math.max(...slices.map(slice => slice.width)), add: (sums, first, i, weight) => {
    const slice = slices[i < slices[0].until ? 0 : 1];
    if (slice.width) share(sums, first, i, weight, slice); else put(sums, first, time[i], weight);
  } };
}
/* Of intervals that are picked what is between two times: act(i, from, to). */
function eachInterval({ data: { intervals }, pickedIntervals, filter: { time } }, start, end, act) {
  for (let i = 0; i < pickedIntervals.length; i++) {
    if (!pickedIntervals[i]) continue;
    const a = Math.max(intervals.from[i], time ? time[0] : start, start), b = Math.min(intervals.to[i], time ? time[1] : end, end);
    if (a < b) act(i, a, b);
  }
}
function spreadOver(weights, from, to, step) {
  const last = Math.ceil(to / step) - 1;
  for (let b = Math.floor(from / step); b <= last; b++)
    weights[b] += Math.min(to, (b + 1) * step) - Math.max(from, b * step);
}

/* No more are made, however long it was recorded: what is after them is not in the map. */
const MAX_COLUMNS = 1e5;

/* A subsecond heat map: {from, width (ns of a column), columns, rows, cells[column * rows + row], most}. Cells from one
 * to another are the time filter [from + column * width + row * width / rows, ...). */
function heat(selection, { rows: height = 50, width = 1e9, from, to } = {}) {
  const fine = width / height, start = Math.floor((from ?? spanOf(selection.data)[0]) / width) * width;
  const end = to ?? spanOf(selection.data)[1];
  const columns = Math.min(MAX_COLUMNS, Math.max(1, Math.ceil((end - start) / width)));
  const { data: { samples }, picked } = selection, cells = new Float64Array(columns * height);
  const values = valuesOf(selection), spread = spreader(samples, { from: start, step: fine, count: cells.length }, lasts(selection.data));
  let most = 0;
  for (let i = selection.from; i < selection.to; i++) if (picked[i]) spread.add(cells, 0, i, values[i]);
  eachInterval(selection, start, start + cells.length * fine, (i, a, b) => spreadOver(cells, a - start, b - start, fine));
  for (let i = 0; i < cells.length; i++) if (cells[i] > most) most = cells[i];
  return { from: start, width, columns, rows: height, cells, most };
}

/* The samples of each of `count` rows, which are threads or CPUs, in the order of time: those of row r are list[starts[r]] up to
 * list[starts[r + 1]]. */
function inOrder(rows, time, count) {
  const starts = new Int32Array(count + 1), places = new Int32Array(count);
  for (let i = 0; i < rows.length; i++) if (rows[i] >= 0 && time[i] === time[i]) starts[rows[i] + 1]++;
  for (let r = 0; r < count; r++) starts[r + 1] += places[r] = starts[r];
  const list = new Int32Array(starts[count]);
  for (let i = 0; i < rows.length; i++) if (rows[i] >= 0 && time[i] === time[i]) list[places[rows[i]]++] = i;
  for (let r = 0; r < count; r++)
    for (let i = starts[r] + 1; i < starts[r + 1]; i++)
      if (time[list[i - 1]] > time[list[i]]) {
        list.subarray(starts[r], starts[r + 1]).sort((a, b) => time[a] - time[b] || a - b);
        break;
      }
  return { starts, list };
}
const byThread = memo(({ samples: { thread, time }, threads: { pid } }) => inOrder(thread, time, pid.length));
const byCpu = memo(({ samples: { cpu, time } }) => inOrder(cpu, time, cpu.reduce((most, one) => Math.max(most, one), -1) + 1));

/* The stacks of a thread, or with `cpu` of a CPU below its threads, as they followed each other: boxes {count, depth (0: outermost), node (of the transformed
 * stacks), key, from, to, deepest, thinned}. A sample stands for the time up to the next one, not longer than `gap`
 * (default: three times the usual distance); samples of one time share it by weight. Where there are more samples than
 * columns, the first of each column is drawn and `thinned` is true. */
function chart(selection, transforms, { thread, cpu = -1, from, to, columns = 2000, gap }) {
  const { data } = selection, span = spanOf(data), { shape, image } = map(data, transforms);
  const start = from ?? span[0], end = to ?? span[1], picks = picksOf(selection, cpu < 0 ? byThread(data) : byCpu(data), cpu < 0 ? thread : cpu, start, end);
  const longest = gap ?? usualGap(data.samples.time, picks), column = (end - start) / columns;
  const thinned = picks.length > columns, list = thinned ? thin(data.samples.time, picks, start, column) : picks;
  const times = lasts(data) ? spans(data.samples, list, thinned ? column : 0)
    : extents(data.samples, list, thinned ? longest + column : longest);
  const roots = cpu < 0 ? null : Array.from(list, i => keyOf(data, "thread", data.samples.thread[i]));
  return { ...boxesOf(shape, image, data.samples.stack, list, times, [start, end], roots), thinned };
}
/* Samples of the row in the window, and those of the time before that reach into it. */
function picksOf({ data, picked }, { starts, list }, row, start, end) {
  const { time } = data.samples, found = [];
  let low = starts[row], high = starts[row + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (time[list[middle]] < start) low = middle + 1; else high = middle;
  }
  for (let i = low - 1; i >= starts[row] && !(found.length && time[list[i]] < time[found[0]]); i--)
    if (picked[list[i]]) found.push(list[i]);
  found.reverse();
  for (let i = low; i < starts[row + 1] && time[list[i]] < end; i++) if (picked[list[i]]) found.push(list[i]);
  return found;
}
function usualGap(time, list) {
  const distances = [], step = Math.max(1, Math.floor(list.length / 999));
  for (let i = 1; i < list.length; i += step) {
    const distance = time[list[i]] - time[list[i - 1]];
    if (distance > 0) distances.push(distance);
  }
  distances.sort((a, b) => a - b);
  return distances.length ? 3 * distances[distances.length >> 1] : 1e6;
}
function thin(time, list, start, column) {
  let last = -2;
  return list.filter(i => {
    const at = Math.max(-1, Math.floor((time[i] - start) / column)), is = at !== last;
    last = at;
    return is;
  });
}
/* Where each of the list begins and ends. */
function extents({ time, weight }, list, longest) {
  const from = new Float64Array(list.length), to = new Float64Array(list.length);
  for (let i = 0; i < list.length;) {
    const at = time[list[i]];
    let end = i, sum = 0;
    for (; end < list.length && time[list[end]] === at; end++) sum += weight[list[end]];
    const length = Math.min(longest, end < list.length ? time[list[end]] - at : longest), first = i;
    for (let x = at; i < end; i++) {
      from[i] = x;
      x += length * (sum ? weight[list[i]] / sum : 1 / (end - first));
      to[i] = i + 1 === end ? at + length : x;
    }
  }
  return { from, to };
}
/* Samples stand for their weight in ns from their time on, and none of them were joined. */
const lasts = data => !data.samples.slices && !!data.meta?.events?.some(({ lasts }) => lasts);
/* The same for these. Where a pixel has only one of them, it reaches to that of the next pixel. */
function spans({ time, weight }, list, column) {
  const from = Float64Array.from(list, i => time[i]), to = Float64Array.from(list, i => time[i] + Math.max(weight[i], 2 * column));
  for (let i = 0; i + 1 < list.length; i++) to[i] = Math.min(to[i], from[i + 1]);
  return { from, to };
}
/* `roots` are keys that stand outermost, one for each of the list; their boxes have the node -1 - key. */
function boxesOf({ parent, key }, image, stack, list, times, window, roots) {
  const boxes = { depth: [], node: [], from: [], to: [] }, open = [], path = [];
  let deepest = 0;
  for (let i = 0; i < list.length; i++) {
    const from = Math.max(times.from[i], window[0]), to = Math.min(times.to[i], window[1]);
    if (from >= to) continue;
    let length = 0, same = 0;
    for (let n = image[stack[list[i]] + 1]; n > 0; n = parent[n]) path[length++] = n;
    if (roots) path[length++] = -1 - roots[i];
    for (; same < length && same < open.length; same++) {
      const box = open[same];
      if (boxes.to[box] !== from || boxes.node[box] !== path[length - 1 - same]) break;
      boxes.to[box] = to;
    }
    for (let d = open.length = same; d < length; d++) {
      open.push(boxes.node.push(path[length - 1 - d]) - 1);
      boxes.depth.push(d);
      boxes.from.push(from);
      boxes.to.push(to);
    }
    if (length > deepest) deepest = length;
  }
  const node = Int32Array.from(boxes.node);
  return { count: node.length, depth: Int32Array.from(boxes.depth), node, key: node.map(n => n < 0 ? -1 - n : key[n]),
    from: Float64Array.from(boxes.from), to: Float64Array.from(boxes.to), deepest };
}

/* --- comparing --- */

/* What a key is called in any recording: functions by name and module without its folder, threads, processes and events
 * by their name, CPUs by number. */
function nameOf(data, key) {
  const { type, index } = describe(data, key), text = i => i < 0 ? "" : data.strings[i];
  if (type === "function")
    return `function\n${text(data.functions.name[index])}\n${base(text(data.functions.module[index]))}`;
  if (type === "module") return `module\n${base(text(index))}`;
  if (type === "thread") return `thread\n${index < 0 ? "" : text(data.threads.comm[index])}`;
  if (type === "process") return `process\n${processName(data, index)}`;
  if (type === "event" && data.meta && data.meta.events[index]) return `event\n${data.meta.events[index].name}`;
  return `${type}\n${type === "comm" || type === "alike" || type === "waker" ? text(index) : index}`;
}
function processName({ threads, strings }, pid) {
  let found = threads.tid.findIndex((tid, i) => tid === pid && threads.pid[i] === pid);
  if (found < 0) found = threads.pid.indexOf(pid);
  return found < 0 || threads.comm[found] < 0 ? "" : strings[threads.comm[found]];
}

/* Two trees, not inverted, as one: {count, parent, key, self, total, otherSelf, otherTotal, depth, first, next, at,
 * now, before}: self and total are of the first, other... of the second; key is an index of now and before, the keys in
 * either data (-1: not there). Siblings are ordered, and stand at, by the larger of both. invert, callers and callees
 * take it, too. */
function compare(now, before) {
  const isOne = now.shape === before.shape && !now.by.some(one => RENAMED.includes(one));
  return finishCompared(isOne ? aligned(now, before) : merged(now, before));
}
/* Trees of one data, made by the same transforms, have the same nodes; but what is new in each recording. */
const RENAMED = ["thread", "process", "event"];
function aligned(now, before) {
  const keys = Int32Array.from({ length: spaceOf(now.data).size }, (_, k) => k);
  return { count: now.count, parent: now.parent, key: now.key, shape: now.shape, groups: now.groups, plain: now.plain,
    size: keys.length, self: now.self, otherSelf: before.self, now: keys, before: keys };
}
function merged(now, before) {
  const known = new Map(), names = { now: [], before: [] }, trie = new Trie(now.count + before.count);
  const join = (made, side) => {
    const joint = new Map(), image = new Int32Array(made.count);
    for (let n = 1; n < made.count; n++) {
      if (!made.total[n]) continue;
      const key = made.key[n];
      if (!joint.has(key)) joint.set(key, jointKey(known, names, nameOf(made.data, key), side, key));
      image[n] = trie.child(image[made.parent[n]], joint.get(key));
    }
    return image;
  };
  const images = [join(now, "now"), join(before, "before")], shape = trie.shape();
  const made = { ...shape, shape, self: new Float64Array(shape.count), otherSelf: new Float64Array(shape.count),
    now: Int32Array.from(names.now), before: Int32Array.from(names.before), size: names.now.length, groups: now.groups,
    plain: now.plain };
  images.forEach((image, side) => {
    const from = side ? before : now, to = side ? made.otherSelf : made.self;
    for (let n = 0; n < from.count; n++) if (from.total[n]) to[image[n]] += from.self[n];
  });
  return made;
}
function finishCompared(made) {
  const other = finish({ ...made, self: made.otherSelf }, null).total;
  finish(made, null).otherTotal = other;
  const most = made.total.map((total, n) => Math.max(total, other[n]));
  return link(made, (a, b) => most[b] - most[a] || made.key[a] - made.key[b], most);
}
function jointKey(known, names, name, side, key) {
  let joint = known.get(name);
  if (joint === undefined) {
    known.set(name, joint = names.now.push(-1) - 1);
    names.before.push(-1);
  }
  if (names[side][joint] < 0) names[side][joint] = key;
  return joint;
}

/* Every joint key of two compared trees: {key, self, total, otherSelf, otherTotal, own, entire}: own and entire are the
 * changes; normalized: as if the second were as heavy as the first. */
function changes(made, { normalized = false } = {}) {
  const size = made.now.length, outer = outermostKeys(made.shape), factor = normalized ? scale(made) : 1;
  const sums = { self: new Float64Array(size), total: new Float64Array(size), otherSelf: new Float64Array(size),
    otherTotal: new Float64Array(size) };
  for (let n = 1; n < made.count; n++) {
    if (!made.total[n] && !made.otherTotal[n]) continue;
    sums.self[made.key[n]] += made.self[n];
    sums.otherSelf[made.key[n]] += made.otherSelf[n];
    if (!outer[n]) continue;
    sums.total[made.key[n]] += made.total[n];
    sums.otherTotal[made.key[n]] += made.otherTotal[n];
  }
  const used = Int32Array.from(sums.total.keys()).filter(k => sums.total[k] || sums.otherTotal[k]);
  const column = of => Float64Array.from(used, of);
  for (const name in sums) sums[name] = column(k => sums[name][k]);
  return { key: used, ...sums, own: column((k, i) => sums.self[i] - sums.otherSelf[i] * factor),
    entire: column((k, i) => sums.total[i] - sums.otherTotal[i] * factor) };
}
/* What the second's weights are multiplied by when normalized. */
const scale = made => made.otherTotal[0] ? made.total[0] / made.otherTotal[0] : 1;

return { filter, accepts, finder, restricted, tree, map, functions, modules, groups, order, search, matches, invert, callers, callees, edges, levels,
  rows, path, find, expand, expandTo, buckets, heat, chart, compare, changes, scale, span: spanOf, keyOf, describe,
  nameOf, sameOf, withoutTemplates, lowerBound, outermost: outermostKeys, outermostOf: outermost, sizeOf: data => spaceOf(data).size };
})();
