/* SPDX-License-Identifier: MIT */
/* The samples of an event, by thread and by CPU, in time order: what the views over time read. No DOM. */
"use strict";
const timeIndex = (() => {
const known = new WeakMap(), busy = new WeakMap(), lengths = new WeakMap();
function kept(all, data, event, make) {
  let byEvent = all.get(data);
  if (!byEvent) all.set(data, byEvent = new Map());
  if (!byEvent.has(event)) byEvent.set(event, make(data, event));
  return byEvent.get(event);
}
const indexed = (data, event) => kept(known, data, event, makeIndex);
const busyOf = (data, event) => kept(busy, data, event, makeBusy);
/* Both, when they were made elsewhere. */
function give(data, event, made) {
  kept(known, data, event, () => made.index);
  kept(busy, data, event, () => made.busy);
}
const isThere = (data, event) => !!known.get(data)?.has(event) && !!busy.get(data)?.has(event);
/* A CPU that runs the idle task is not busy: {idle (1: these threads are), busy (samples), byCpu, entire (all of the time)}. */
function makeBusy(data, event) {
  const index = indexed(data, event), { threads, samples } = data, idle = new Uint8Array(threads.tid.length + 1);
  for (let t = 0; t < threads.tid.length; t++) idle[t] = threads.pid[t] === 0 ? 1 : 0;
  const busy = idle.includes(1) ? index.order.filter(i => samples.thread[i] < 0 || !idle[samples.thread[i]])
    : index.order;
  return { idle, busy, byCpu: sorted(busy, samples.cpu, index.cpus), entire: sumsOf({ data, index, idle }, null) };
}
function makeIndex(data, event) {
  const { samples, threads } = data, order = inOrder(samples, event);
  let cpus = 0, total = 0;
  for (const i of order) {
    if (samples.cpu[i] >= cpus) cpus = samples.cpu[i] + 1;
    total += samples.weight[i];
  }
  return { order, cpus, total, length: lengthOf(data), period: periodOf(samples, order), ...gapsOf(samples, order),
    byThread: sorted(order, samples.thread, threads.tid.length), byCpu: sorted(order, samples.cpu, cpus) };
}
/* The samples of the event that have a time. */
function inOrder(samples, event) {
  const { time } = samples, found = new Int32Array(time.length);
  let count = 0, last = -Infinity, wrong = false;
  for (let i = 0; i < time.length; i++) {
    if (samples.event[i] !== event || !(time[i] === time[i])) continue;
    wrong ||= time[i] < last;
    last = time[i];
    found[count++] = i;
  }
  const order = found.slice(0, count);
  return wrong ? order.sort((a, b) => time[a] - time[b]) : order;
}
/* Lists in one array: those of key k are list[first[k]] to list[first[k + 1]]. */
function sorted(order, keys, count) {
  const first = new Int32Array(count + 2), list = new Int32Array(order.length);
  for (const i of order) if (keys[i] >= 0) first[keys[i] + 2]++;
  for (let k = 2; k < count + 2; k++) first[k] += first[k - 1];
  for (const i of order) if (keys[i] >= 0) list[first[keys[i] + 1]++] = i;
  return { first, list };
}
const partOf = (lists, key) => key < 0 || key + 1 >= lists.first.length ? new Int32Array(0)
  : lists.list.subarray(lists.first[key], lists.first[key + 1]);
function lengthOf(data) {
  let length = lengths.get(data) || 1;
  if (length > 1) return length;
  if (data.span > length) length = data.span;
  for (const times of [data.samples.time, data.threads.last, data.intervals?.to, data.marks?.time, data.losses?.time])
    for (let i = 0; times && i < times.length; i++) if (times[i] > length) length = times[i];
  lengths.set(data, length);
  return length;
}
function periodOf(samples, order) {
  const some = Array.from(order.subarray(0, 999), i => samples.weight[i] / (samples.count[i] || 1)).sort((a, b) =>
    a - b);
  return some.length ? some[some.length >> 1] : 0;
}
/* The usual distance of samples; where many samples were joined to one, how long the pieces of time are. */
function gapsOf({ time, count, slices }, order) {
  const slice = slices && slices[order.length && order[0] < slices[0].until ? 0 : slices.length - 1];
  const gaps = [], some = Math.max(1, Math.floor(order.length / 4000));
  let least = Infinity, joined = false;
  for (let k = 1; k < order.length; k++) {
    const gap = time[order[k]] - time[order[k - 1]];
    joined ||= count[order[k]] > 1;
    if (gap > 0 && gap < least) least = gap;
    if (gap > 0 && k % some === 0) gaps.push(gap);
  }
  gaps.sort((a, b) => a - b);
  return { gap: gaps.length ? gaps[gaps.length >> 1] : 0, piece: slice ? slice.width : joined && least < Infinity ? least : 0 };
}
/* The first of the list that is not before the time. */
function firstAt(list, times, at) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = low + high >> 1;
    if (times[list[middle]] < at) low = middle + 1; else high = middle;
  }
  return low;
}
/* The weight of each thread (those without one stand last) and of each CPU, of all busy ones. */
function sumsOf({ data: { samples }, index, idle }, time) {
  const threads = new Float64Array(idle.length), cpus = new Float64Array(index.cpus), strange = idle.length - 1;
  const { order } = index, at = (end, all) => time ? firstAt(order, samples.time, time[end]) : all;
  const start = at(0, 0), end = at(1, order.length);
  let all = 0;
  for (let k = start; k < end; k++) {
    const i = order[k], thread = samples.thread[i] < 0 ? strange : samples.thread[i], weight = samples.weight[i];
    threads[thread] += weight;
    if (idle[thread]) continue;
    all += weight;
    if (samples.cpu[i] >= 0) cpus[samples.cpu[i]] += weight;
  }
  return { threads, cpus, all };
}

return { indexed, busyOf, give, isThere, sumsOf, sorted, partOf, firstAt, lengthOf };
})();

/* What the views over time ask for, as answers.js has it: {filter} is that of query.js. Of the last filter it is known.
 * pane      {event, earlier (the data of the recording before)} -> {index, busy}
 * threads   {filter, event} -> {weights: by thread, cpus: by CPU}, of samples with a time
 * chart     {filter, transforms, thread or cpu, from, to, columns} -> as query.chart
 * heat      {filter, event, rows, column (0: one that fits), columns (that there are, the shortest first), few, many} -> {map, column, total} */
const overAnswers = data => {
  let selection = null, known = "";
  const select = filter => {
    const tag = JSON.stringify(filter);
    if (tag !== known) selection = query.filter(data, filter);
    known = tag;
    return selection;
  };
  const earlier = data.earlier && { ...data, ...data.earlier };
  return {
    pane({ event, earlier: isPast }) {
      const of = isPast ? earlier : data;
      return { index: timeIndex.indexed(of, event), busy: timeIndex.busyOf(of, event) };
    },
    threads({ filter, event }) {
      const { samples: { thread, cpu, weight }, threads } = data, { picked } = select(filter), index = timeIndex.indexed(data, event);
      const weights = new Float64Array(threads.tid.length), cpus = new Float64Array(index.cpus);
      for (const i of index.order) {
        if (!picked[i]) continue;
        if (thread[i] >= 0) weights[thread[i]] += weight[i];
        if (cpu[i] >= 0) cpus[cpu[i]] += weight[i];
      }
      return { weights, cpus };
    },
    chart: ({ filter, transforms, ...how }) => query.chart(select(filter), transforms, how),
    /* Seconds, where these are neither few nor too many, and cells have a sample; columns are no longer than all of the time, however few samples. */
    heat({ filter, event, rows, column, columns, few, many }) {
      const { length, piece, gap } = timeIndex.indexed(data, event), wanted = select(filter);
      const fit = columns.filter((ns, i) => !i || ns < length);
      const width = column || fit.find(ns => length / ns <= (ns < 1e9 ? few : many) && ns / rows >= Math.max(piece, gap)) || fit.at(-1);
      return { map: query.heat(wanted, { rows, width, from: 0, to: length }), column: width, total: wanted.total };
    },
  };
};
