/* SPDX-License-Identifier: MIT */
/*
 * The rows of a report, of pages that open with them: what --sort made rows of, by event, with the numbers that a report in
 * other forms has. What was running in inlined code counts for the function that it is inlined in, as there. No DOM; as
 * answers.js has it:
 * report    {filter, transforms, keys, base (100 %; null: all that the filter takes), children, limit (%), top, resolved (nothing
 *           without a symbol), order (a key or "self", "total", "count"; null: as reports have it), up, search
 *           (in all cells)} -> columns {key, own (one for each key that samples have), self, total, count}, and
 *           {base, hidden (rows that top left out)}
 */
const REPORT_TYPES = { comm: "comm", tgid: "process", pid: "thread", tid: "thread", cpu: "cpu", time: "time" };
/* What is written in a cell; `own`: the values of the row of keys that samples have. */
function reportCell(name, key, own, names) {
  const { module, label } = about(key), value = own[names.filter(one => REPORT_TYPES[one]).indexOf(name)];
  if (name === "symbol") return label;
  if (name === "dso") return base(module) || "[unknown]";
  if (name === "tid") return value < 0 ? "" : String(data.threads.tid[value]);
  return makers[REPORT_TYPES[name]](value).label;
}
/* Of each stack the innermost frame that is not inlined. */
function realEndsOf({ functions: { kind }, stacks: { fn, parent } }) {
  const real = new Int32Array(fn.length);
  for (let s = 0; s < real.length; s++) real[s] = kind[fn[s]] !== INLINED ? s : parent[s] < 0 ? -1 : real[parent[s]];
  return real;
}
const reportAnswers = data => {
  "use strict";
  const { samples, stacks, functions, threads } = data;

  /* What a sample has of a key of its own. */
  function keysOfSamples(type) {
    const of = { comm: t => t < 0 ? -1 : threads.comm[t], process: t => t < 0 ? -1 : threads.pid[t], thread: t => t };
    if (type === "cpu") return i => samples.cpu[i];
    if (type === "time") return i => samples.time[i] === samples.time[i] ? Math.floor((data.start.clock + samples.time[i]) / data.quantum) : -1;
    return i => of[type](samples.thread[i]);
  }
  /* The samples that are picked, by the number of what they have of all of the keys; and their values by number. */
  function combinations({ picked, from, to }, names) {
    const number = new Int32Array(samples.stack.length), some = new Int32Array(to - from);
    let count = 0, values = [[]];
    for (let i = from; i < to; i++) if (picked[i]) some[count++] = i;
    const order = some.subarray(0, count);
    for (const name of names) {
      const of = keysOfSamples(REPORT_TYPES[name]), known = new Map(), longer = [];
      for (const i of order) {
        const value = of(i), id = number[i] * 2 ** 33 + value + 1;
        if (!known.has(id)) known.set(id, longer.push([...values[number[i]], value]) - 1);
        number[i] = known.get(id);
      }
      values = longer;
    }
    return { values, lists: timeIndex.sorted(order, number, values.length) };
  }
  /* What of a frame makes it another row: itself, its module, nothing of it. */
  function classesOf(names) {
    const classes = new Int32Array(query.sizeOf(data));
    if (names.includes("symbol")) return { classes: classes.map((none, key) => key), size: classes.length };
    if (!names.includes("dso")) return { classes, size: 1 };
    for (let key = 0; key < classes.length; key++) {
      const { type, index } = query.describe(data, key);
      classes[key] = 1 + (type === "module" ? index : type === "function" ? functions.module[index] : -1);
    }
    return { classes, size: data.strings.length + 1 };
  }
  function rowsOf(selection, transforms, names) {
    const { values, lists } = combinations(selection, names.filter(name => REPORT_TYPES[name])), { classes, size } = classesOf(names);
    const { shape: { parent, key, count }, shape, image } = query.map(data, transforms), outer = query.outermostOf(shape, classes, size);
    const real = realEndsOf(data), total = new Float64Array(count), nodes = new Int32Array(count), touched = new Int32Array(count).fill(-1);
    const rowOf = new Int32Array(size).fill(-1), found = [];
    let begin = 0; /* of the rows of this number */
    const rowAt = (number, node) => {
      const at = rowOf[classes[key[node]]];
      if (at >= begin) return found[at];
      rowOf[classes[key[node]]] = found.length;
      return found[found.push({ key: key[node], own: values[number], self: 0, total: 0, count: 0 }) - 1];
    };
    for (let number = 0; number < values.length; number++) {
      let used = 0;
      begin = found.length;
      for (const i of timeIndex.partOf(lists, number)) {
        const stack = samples.stack[i], end = image[stack + 1], own = stack < 0 || real[stack] < 0 ? -1 : image[real[stack] + 1];
        if (!(end > 0)) continue;
        const row = rowAt(number, own > 0 ? own : end);
        row.self += samples.weight[i];
        row.count += samples.count[i];
        for (let node = end; node > 0 && touched[node] !== number; node = parent[node]) {
          touched[node] = number;
          nodes[used++] = node;
          total[node] = 0;
        }
        total[end] += samples.weight[i];
      }
      /* Callers stand before what they call. */
      const inOrder = nodes.subarray(0, used).sort();
      for (let k = used; k--;) if (parent[inOrder[k]] > 0) total[parent[inOrder[k]]] += total[inOrder[k]];
      for (const node of inOrder) if (outer[node]) rowAt(number, node).total += total[node];
    }
    return found;
  }

  let known = "", made = null;
  function madeRows({ filter, transforms, keys, base, children, limit, top, resolved }) {
    const selection = query.filter(data, filter), all = base || selection.total || 1, weigh = row => children ? row.total : row.self;
    const isSeen = row => (children || row.self) && weigh(row) * 100 >= limit * all &&
      !(resolved && keys.includes("symbol") && about(row.key).type === "function" && functions.kind[row.key] === UNKNOWN);
    const found = rowsOf(selection, transforms, keys).filter(isSeen);
    for (const row of found) row.cells = keys.map(name => reportCell(name, row.key, row.own, keys));
    const byCells = (a, b) => a.cells.findIndex((cell, i) => cell !== b.cells[i]), order = (a, b, at) => at < 0 ? 0 : a.cells[at] < b.cells[at] ? -1 : 1;
    found.sort((a, b) => weigh(b) - weigh(a) || b.self - a.self || order(a, b, byCells(a, b)));
    return { rows: top ? found.slice(0, top) : found, hidden: top ? Math.max(0, found.length - top) : 0, base: all };
  }
  function inOrder(rows, { keys, order, up }) {
    const at = keys.indexOf(order);
    if (!order) return rows;
    rows.sort(at < 0 ? (a, b) => b[order] - a[order] : (a, b) => a.cells[at] < b.cells[at] ? -1 : a.cells[at] > b.cells[at] ? 1 : 0);
    return up ? rows.reverse() : rows;
  }
  return {
    report({ order, up, search, ...asking }) {
      const tag = JSON.stringify(asking), is = search ? query.finder(search) : null;
      if (tag !== known) made = madeRows(asking);
      known = tag;
      const rows = inOrder(made.rows.filter(row => !is || row.cells.some(is.name) || is.path(about(row.key).module)), { keys: asking.keys, order, up });
      const column = (Type, of) => Type.from(rows, of);
      return { key: column(Int32Array, row => row.key), own: asking.keys.filter(name => REPORT_TYPES[name]).map((name, k) => column(Float64Array, row => row.own[k])),
        self: column(Float64Array, row => row.self), total: column(Float64Array, row => row.total), count: column(Float64Array, row => row.count),
        base: made.base, hidden: made.hidden };
    },
  };
};
