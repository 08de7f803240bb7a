/* SPDX-License-Identifier: MIT */
/* What Tracks are of: a row for each CPU, process and thread of one recording or two, and what each did in pieces of time. No DOM. */
"use strict";
const trackRows = (() => {
const T = overTime;
const ALL = "all", CPU = "cpu", PROCESS = "process", THREAD = "thread", LANE = "lane", BLOCKED = 2, EVENT = 5;

/* --- rows --- */

function makePane(data, event, title, clock, shown) {
  const lanes = data.lanes?.list.filter(({ name, unit }) => unit || name !== shown) || [], table = marksOf(data, lanes);
  return { ...timeIndex.busyOf(data, event), data, index: T.indexed(data, event), title, clock, x: 0, width: 0,
    drawn: {}, intervals: byThread(data, data.intervals), lanes, table, marks: byThread(data, table) };
}
/* Marks of threads: what happened to them, and events of tracepoints but those that are shown as samples. */
function marksOf({ marks, lanes, strings }, shown) {
  if (!marks && !shown.length) return null;
  const { time = [], thread = [], kind = [], text = [] } = marks || {};
  const made = { time: [...time], thread: [...thread], kind: [...kind], text: Array.from(text, number => strings[number]) };
  for (const { name, unit, order } of shown)
    for (const i of unit ? [] : order) {
      made.time.push(lanes.time[i]);
      made.thread.push(lanes.thread[i]);
      made.kind.push(EVENT);
      made.text.push(`${name}: ${lanes.text[i]}`);
    }
  return made;
}
/* What of a time is in each bucket of a row; `from` and `to` count buckets. */
function addSpan(sums, row, from, to, step, count) {
  for (let b = Math.max(0, Math.floor(from)); b < count && b < to; b++)
    sums[row + b] += (Math.min(to, b + 1) - Math.max(from, b)) * step;
}
/* The weight in each bucket of every thread or CPU: one pass in the order of time is cheaper than one for each row. */
function spread({ data, index, idle }, byCpu, step, first, count) {
  const { samples } = data;
  const keys = byCpu ? samples.cpu : samples.thread, rows = byCpu ? index.cpus : idle.length, { order } = index;
  const sums = new Float32Array(rows * count), { time, weight, thread } = samples;
  const lasts = !samples.slices && T.isOfCalls(data);
  const end = T.firstAt(order, time, (first + count) * step);
  for (let k = lasts ? 0 : T.firstAt(order, time, first * step); k < end; k++) {
    const i = order[k], key = keys[i];
    if (byCpu && (key < 0 || thread[i] >= 0 && idle[thread[i]])) continue;
    const row = (key < 0 ? rows - 1 : key) * count;
    if (lasts) addSpan(sums, row, time[i] / step - first, (time[i] + weight[i]) / step - first, step, count);
    else sums[row + Math.floor(time[i] / step) - first] += weight[i];
  }
  return sums;
}
/* Intervals or marks of each thread, in order of time. */
function byThread(data, table) {
  const times = table && (table.from || table.time);
  if (!times || !times.length) return null;
  const order = Int32Array.from(times, (x, i) => i);
  for (let i = 1; i < times.length; i++)
    if (times[i] < times[i - 1]) {
      order.sort((a, b) => times[a] - times[b]);
      break;
    }
  return { all: order, ...T.sorted(order, table.thread, data.threads.tid.length) };
}
/* Threads of two recordings are the same when their names are, the heavier ones first. */
function threadKeys(pane, apart) {
  const { data, entire: { threads: weights } } = pane;
  const order = Int32Array.from(data.threads.tid, (x, i) => i).sort((a, b) => weights[b] - weights[a] || a - b);
  const seen = new Map(), keys = [];
  for (const t of order) {
    const name = T.commOf(data, t), nth = seen.get(name) || 0;
    seen.set(name, nth + 1);
    keys[t] = apart ? "t" + t : `t${name}\n${nth}`;
  }
  return keys;
}
function makeRows(panes) {
  const rows = new Map(), apart = panes.length === 1;
  const row = (key, kind, label) => {
    if (!rows.has(key)) rows.set(key, { key, kind, label, weight: 0, parts: panes.map(() => null), rows: [],
      drawn: [] });
    return rows.get(key);
  };
  const all = row("all", ALL, "All");
  panes.forEach((pane, at) => {
    const { data, index, entire } = pane, keys = threadKeys(pane, apart), isNow = at === panes.length - 1;
    all.parts[at] = { lists: [pane.busy], threads: null };
    all.weight += entire.all;
    for (let cpu = 0; cpu < index.cpus; cpu++) {
      const made = row("c" + cpu, CPU, "CPU " + cpu);
      made.cpu = cpu;
      made.parts[at] = { lists: [T.partOf(pane.byCpu, cpu)], threads: [] };
      made.weight += entire.cpus[cpu];
    }
    processesOf(pane, panes.length > 1 && panes[0].data === panes[1].data).forEach((threads, pid) => {
      const main = threads.find(t => data.threads.tid[t] === pid) ?? threads[0];
      const process = row(apart ? "p" + pid : "p" + keys[main], PROCESS, T.commOf(data, main));
      if (isNow) process.pid = pid; else process.pid ??= pid;
      process.parts[at] = { lists: [], threads };
      for (const t of threads) {
        const made = row(keys[t], THREAD, T.commOf(data, t)), list = T.partOf(index.byThread, t);
        made.parts[at] = { lists: [list], threads: [t] };
        if (isNow || made.thread === undefined) [made.thread, made.tid, made.pid] = [t, data.threads.tid[t], pid];
        made.weight += entire.threads[t];
        process.parts[at].lists.push(list);
        process.weight += entire.threads[t];
        if (!process.rows.includes(made)) process.rows.push(made);
      }
    });
  });
  addLanes(panes, row);
  const heavy = (a, b) => b.weight - a.weight || (a.label < b.label ? -1 : a.label > b.label ? 1 : 0);
  const of = kind => [...rows.values()].filter(r => r.kind === kind);
  for (const process of of(PROCESS)) process.rows.sort(heavy);
  return { all, cpus: of(CPU).filter(r => r.weight).sort((a, b) => a.cpu - b.cpu), processes: of(PROCESS).sort(heavy),
    threads: of(THREAD).sort(heavy), lanes: ["lanes", "counters"].flatMap(key => rows.get(key) ?? []) };
}
/* How many lanes of this name one side has: a process has other memory after it executes. */
const timesOf = (all, full, at) => all.rows.filter(made => made.full === full && made.parts[at]).length;
/* A row for each lane, in a row of all events or all counters. */
function addLanes(panes, row) {
  panes.forEach((pane, at) => {
    for (const lane of pane.lanes) {
      const { name, unit, label, owner } = lane, all = unit ? row("counters", LANE, "Counters") : row("lanes", LANE, "Events");
      const full = !unit ? name : owner >= 0 ? `${label} of ${T.threadWords(pane.data, owner)}` : label;
      const short = !unit ? name.slice(name.indexOf(":") + 1) : owner >= 0 ? `${T.commOf(pane.data, owner)}: ${label.toLowerCase()}` : label;
      const made = row(`l${full}\n${timesOf(all, full, at)}`, LANE, short);
      made.full = full;
      (all.parts[at] ||= { lists: [], threads: [], lanes: [] }).lanes.push(lane);
      made.parts[at] = { lists: [], threads: [], lanes: [lane] };
      if (!all.rows.includes(made)) all.rows.push(made);
    }
  });
}
/* The threads of each process that have something to show: samples of this event, waits or marks. Where two recordings
 * share their data, those with samples are of this one; in data.js's, each has its own. */
function processesOf(pane, running) {
  const found = new Map(), { data, entire, intervals, marks } = pane;
  const has = (lists, t) => lists && T.partOf(lists, t).length > 0;
  const isOther = t => t >= data.ownThreads === !data.isPast;
  data.threads.pid.forEach((pid, t) => {
    if (isOther(t)) return;
    if (!entire.threads[t] && (running || !has(intervals, t) && !has(marks, t))) return;
    if (!found.has(pid)) found.set(pid, []);
    found.get(pid).push(t);
  });
  return found;
}

/* --- what a row shows --- */

/* How long its threads waited in each bucket: blocked, and ready without a CPU. */
function addWaits(pane, threads, step, first, blocked, ready) {
  const { from, to, state } = pane.data.intervals, begin = first * step, end = (first + blocked.length) * step;
  for (const t of threads) {
    const list = T.partOf(pane.intervals, t);
    for (let k = Math.max(0, T.firstAt(list, from, begin) - 1); k < list.length && from[list[k]] < end; k++) {
      const i = list[k], sums = state[i] === BLOCKED ? blocked : state[i] ? ready : null;
      if (!sums || to[i] <= begin) continue;
      const start = Math.max(from[i], begin), stop = Math.min(to[i], end);
      for (let b = Math.floor(start / step); b * step < stop; b++)
        sums[b - first] += Math.min(stop, (b + 1) * step) - Math.max(start, b * step);
    }
  }
}
/* Which thread ran most in each bucket of a list of samples in order of time, -1: none. */
function ownersOf({ data: { samples: { time, thread, weight } } }, list, step, first, count) {
  const owners = new Int32Array(count).fill(-1), sums = new Map();
  let at = -1, most = 0;
  for (let k = T.firstAt(list, time, first * step); k < list.length; k++) {
    const i = list[k], bucket = Math.floor(time[i] / step) - first;
    if (bucket >= count) break;
    if (bucket !== at) {
      sums.clear();
      [at, most] = [bucket, 0];
    }
    const sum = (sums.get(thread[i]) || 0) + weight[i];
    sums.set(thread[i], sum);
    if (sum > most) [most, owners[bucket]] = [sum, thread[i]];
  }
  return owners;
}

return { ownersOf, ALL, CPU, PROCESS, THREAD, LANE, EVENT, makePane, makeRows, spread, addWaits };
})();
