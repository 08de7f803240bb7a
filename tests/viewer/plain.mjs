// SPDX-License-Identifier: MIT
// The same answers as query.js gives, in the plainest way: a list of keys for each sample.

export function label(query, data, key) {
  const { type, index } = query.describe(data, key),
    text = i => (i < 0 ? "" : data.strings[i]);
  if (type === "function") return text(data.functions.name[index]);
  if (type === "thread") return index < 0 ? "" : `${data.threads.pid[index]}/${data.threads.tid[index]}`;
  return type === "module" || type === "comm" ? text(index) : String(index);
}

/* A module of -1 is class -1: none. */
export const moduleOf = (query, data) => key => {
  const { type, index } = query.describe(data, key);
  return type === "function" ? data.functions.module[index] : type === "module" ? index : -1;
};

const steps = {
  focus: (keys, hit) => (keys.some(hit) ? keys.slice(keys.findIndex(hit)) : null),
  drop: (keys, hit) => (keys.some(hit) ? null : keys),
  collapse: (keys, hit) => (keys.some(hit) ? keys.slice(0, keys.findIndex(hit) + 1) : keys),
  merge: (keys, hit) => keys.filter(k => !hit(k)),
  recursion(keys, hit) {
    const made = [];
    for (const key of keys)
      if (hit(key) && made.includes(key)) made.length = made.indexOf(key) + 1;
      else made.push(key);
    return made;
  },
  modules(keys, hit, query, data, { module }) {
    const made = [];
    for (const key of keys) {
      const one = moduleOf(query, data)(key),
        named = query.keyOf(data, "module", one);
      if (module === undefined ? one < 0 : one !== module) made.push(key);
      else if (made[made.length - 1] !== named) made.push(named);
    }
    return made;
  },
  templates: (keys, hit, query, data) =>
    keys.map(key => {
      const { type, index } = query.describe(data, key),
        name = f => query.withoutTemplates(data.strings[data.functions.name[f]]);
      if (type !== "function") return key;
      const { module } = data.functions;
      return data.functions.name.findIndex((_, f) => name(f) === name(index) && module[f] === module[index]);
    }),
};

function transformed(query, data, keys, transforms) {
  for (const one of transforms) {
    const entire = one.key === undefined && one.module === undefined,
      of = moduleOf(query, data);
    const hit = k =>
      entire || k === one.key || (one.module !== undefined && isFrame(query, data, k) && of(k) === one.module);
    keys = keys && steps[one.type](keys, hit, query, data, one);
  }
  return keys;
}
const isFrame = (query, data, key) => /function|module/.test(query.describe(data, key).type);

export function framesOf(query, data, stack) {
  const keys = [],
    { name, module } = data.functions;
  for (let n = stack; n >= 0; n = data.stacks.parent[n]) keys.push(data.stacks.fn[n]);
  return keys.reverse().map(fn => name.findIndex((_, f) => name[f] === name[fn] && module[f] === module[fn]));
}

/* Every sample and interval that a filter takes, with its weight. */
export function taken(query, data, wanted) {
  const { samples, intervals, threads, functions, strings } = data,
    list = [];
  const text = (fn, pattern) =>
    pattern.test(strings[functions.name[fn]]) ||
    (functions.module[fn] >= 0 && pattern.test(strings[functions.module[fn]]));
  const fits = (thread, stack) => {
    const frames = framesOf(query, data, stack);
    return (
      (!wanted.threads || wanted.threads.includes(thread)) &&
      (!wanted.processes || (thread >= 0 && wanted.processes.includes(threads.pid[thread]))) &&
      (!wanted.include || frames.some(f => text(f, wanted.include))) &&
      (!wanted.exclude || !frames.some(f => text(f, wanted.exclude)))
    );
  };
  const measure = wanted.measure || "weight",
    [from, to] = wanted.time || [-Infinity, Infinity];
  if (!/blocked|preempted|all/.test(measure))
    for (let i = 0; i < samples.stack.length; i++) {
      const time = samples.time[i];
      if (wanted.time && !(time >= from && time < to)) continue;
      if (wanted.event !== undefined && samples.event[i] !== wanted.event) continue;
      if (wanted.cpus && !wanted.cpus.includes(samples.cpu[i])) continue;
      if (fits(samples.thread[i], samples.stack[i]))
        list.push({
          stack: samples.stack[i],
          thread: samples.thread[i],
          cpu: samples.cpu[i],
          event: samples.event[i],
          time,
          weight: measure === "count" ? samples.count[i] : samples.weight[i],
        });
    }
  if (/blocked|preempted|all|both/.test(measure) && !wanted.cpus)
    for (let i = 0; i < intervals.from.length; i++) {
      const a = Math.max(from, intervals.from[i]),
        b = Math.min(to, intervals.to[i]);
      if (measure !== "all" && measure !== "both" && (intervals.state[i] === 1) !== (measure === "preempted")) continue;
      if (a < b && fits(intervals.thread[i], intervals.stack[i]))
        list.push({
          stack: intervals.stack[i],
          thread: intervals.thread[i],
          cpu: -1,
          event: -1,
          weight: b - a,
          from: a,
          to: b,
          begins: intervals.from[i],
        });
    }
  return list;
}

function groupKey(query, data, entry, by) {
  const t = entry.thread;
  if (by === "thread") return query.keyOf(data, "thread", t);
  if (by === "comm") return query.keyOf(data, "comm", t < 0 ? -1 : data.threads.comm[t]);
  if (by === "process")
    return query.keyOf(data, "process", t < 0 ? -1 : [...new Set(data.threads.pid)].indexOf(data.threads.pid[t]));
  if (by === "time") {
    const at = entry.from === undefined ? entry.time : entry.begins,
      piece = time => Math.floor((time + data.start.clock) / data.quantum);
    return query.keyOf(data, by, at === at ? piece(at) - piece(query.span(data)[0]) : -1);
  }
  return query.keyOf(data, by, entry[by]);
}

export function stacks(query, data, wanted, transforms, by) {
  const all = [];
  for (const entry of taken(query, data, wanted)) {
    const keys = transformed(query, data, framesOf(query, data, entry.stack), transforms);
    if (keys) all.push({ keys: [...by.map(one => groupKey(query, data, entry, one)), ...keys], weight: entry.weight });
  }
  return { all };
}
export function paths(list) {
  const found = new Map([["", [0, 0]]]);
  for (const { keys, weight } of list) {
    let path = "";
    found.get("")[1] += weight;
    for (const key of keys) {
      path += `/${key}`;
      if (!found.has(path)) found.set(path, [0, 0]);
      found.get(path)[1] += weight;
    }
    found.get(path)[0] += weight;
  }
  return [...found].sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

export function table(list, classOf) {
  const rows = new Map();
  for (const { keys, weight } of list) {
    const classes = keys.map(classOf);
    for (const one of new Set(classes)) {
      if (one < 0) continue;
      if (!rows.has(one)) rows.set(one, [0, 0]);
      rows.get(one)[1] += weight;
      if (classes[classes.length - 1] === one) rows.get(one)[0] += weight;
    }
  }
  return [...rows].map(([key, sums]) => [key, ...sums]).sort((a, b) => a[0] - b[0]);
}

export function matched(query, data, list, pattern) {
  const hit = key => {
    const { type, index } = query.describe(data, key),
      { functions, threads, strings } = data,
      of = i => i >= 0 && pattern.test(strings[i]);
    if (type === "function") return of(functions.name[index]) || of(functions.module[index]);
    if (type === "thread") return index >= 0 && of(threads.comm[index]);
    if (type === "process")
      return threads.comm.some((c, t) => threads.pid[t] === index && threads.tid[t] === index && of(c));
    return (type === "module" || type === "comm") && of(index);
  };
  return list.reduce((sum, { keys, weight }) => sum + (keys.some(hit) ? weight : 0), 0);
}

export function edges(list, key, callers) {
  const rows = new Map();
  for (const { keys, weight } of list) {
    const found = new Set();
    for (let i = 1; i < keys.length; i++) if (keys[callers ? i : i - 1] === key) found.add(keys[callers ? i - 1 : i]);
    for (const one of found) rows.set(one, (rows.get(one) || 0) + weight);
  }
  return [...rows].sort((a, b) => a[0] - b[0]);
}

export const inverted = (list, groups) =>
  list.map(s => ({ ...s, keys: [...s.keys.slice(0, groups), ...s.keys.slice(groups).reverse()] }));
/* What stands below the outermost frame that is alike, with it; and what stands above, leaf first. */
const cutAt = (list, alike, key, cut) =>
  list
    .map(s => ({ ...s, at: s.keys.findIndex(k => alike(k) === alike(key)) }))
    .filter(s => s.at >= 0)
    .map(s => ({ ...s, keys: cut(s.keys, s.at) }));
export const below = (list, alike, key) => cutAt(list, alike, key, (keys, at) => keys.slice(at));
export const turned = (list, alike, key) => cutAt(list, alike, key, (keys, at) => keys.slice(0, at).reverse());

/* What keys are called that two recordings have in common. */
export const alike = (query, data) => key => query.nameOf(data, key).replaceAll("\n", " ").replaceAll("/", "_");

/* Rows [path, mine, other] of two lists as one. */
export function joined(a, b) {
  const rows = new Map();
  for (const [path, mine, other] of [...a, ...b]) {
    const row =
      rows.get(path) ||
      rows
        .set(path, [
          [0, 0],
          [0, 0],
        ])
        .get(path);
    [mine, other].forEach((sums, side) =>
      sums.forEach((sum, i) => {
        row[side][i] += sum;
      }),
    );
  }
  return [...rows].sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

export function buckets(query, data, wanted, { from, step, count }) {
  const rows = new Map();
  for (const entry of taken(query, data, wanted)) {
    const key = query.keyOf(data, "thread", entry.thread),
      isOff = entry.from !== undefined;
    if (!isOff && !(entry.time >= from)) continue;
    if (!rows.has(key)) rows.set(key, [new Array(count).fill(0), new Array(count).fill(0)]);
    if (!isOff) rows.get(key)[0][Math.floor((entry.time - from) / step)] += entry.weight;
    for (let b = 0; isOff && b < count; b++)
      rows.get(key)[1][b] += Math.max(
        0,
        Math.min(entry.to, from + (b + 1) * step) - Math.max(entry.from, from + b * step),
      );
  }
  return [...rows].map(([key, [on, off]]) => [key, on, off]).sort((a, b) => a[0] - b[0]);
}
