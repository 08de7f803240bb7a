/* SPDX-License-Identifier: MIT */
/* Data as the page decodes it, with planted answers:
 *   main (100/100)      0 to 10 s, all the time: main > run > render, and > hash from 5 s on; CPU 0
 *   parser (100/101)    2 to 4 s: main > parse_line, blocked before and after it in futex_wait; CPU 1
 *   writer (100/102)    the first 100 ms of each second: main > write_block > sys_write; ready 50 ms before; CPU 1
 *   helper (200/200)    6 to 7 s, from fork and exec on, main > <script>alert(1)</script>; CPU 2
 *   swapper (0/0)       on CPU 2 when helper does not run
 * A sample each millisecond, of 1 ms each. 50 samples were lost at 3 s. */
"use strict";
const planted = (() => {
const MS = 1e6;

class Builder {
  constructor() {
    this.strings = [];
    this.known = new Map();
    this.functions = [];
    this.stacks = [];
    this.byStack = new Map();
    this.threads = [];
    this.samples = [];
    this.intervals = [];
    this.marks = [];
  }
  string(text) {
    if (!this.known.has(text)) this.known.set(text, this.strings.push(text) - 1);
    return this.known.get(text);
  }
  fn(name, kind = 0) {
    const found = this.functions.findIndex(f => f.name === this.string(name));
    if (found >= 0) return found;
    return this.functions.push({ name: this.string(name), module: this.string(kind === 1 ? "[kernel]" : "app"),
      kind }) - 1;
  }
  stack(...names) {
    let parent = -1;
    for (const name of names) {
      const fn = this.fn(name, /^sys_|futex/.test(name) ? 1 : 0), key = parent + "/" + fn;
      if (!this.byStack.has(key)) this.byStack.set(key, this.stacks.push({ parent, fn }) - 1);
      parent = this.byStack.get(key);
    }
    return parent;
  }
  thread(pid, tid, comm, first, last) {
    return this.threads.push({ pid, tid, comm: this.string(comm), first, last }) - 1;
  }
  data(wall, unit) {
    const { samples, threads, functions, stacks, intervals, marks } = this;
    samples.sort((a, b) => a.time - b.time);
    intervals.sort((a, b) => a.from - b.from);
    const column = (Type, rows, name) => Type.from(rows, row => row[name]);
    return {
      meta: { events: [{ name: unit === "ns" ? "cpu-clock" : "cycles", unit }] },
      strings: this.strings,
      functions: {
        name: column(Int32Array, functions, "name"),
        module: column(Int32Array, functions, "module"),
        file: new Int32Array(functions.length).fill(-1),
        line: new Int32Array(functions.length),
        kind: column(Uint8Array, functions, "kind"),
      },
      stacks: { parent: column(Int32Array, stacks, "parent"), fn: column(Int32Array, stacks, "fn") },
      threads: {
        pid: column(Int32Array, threads, "pid"),
        tid: column(Int32Array, threads, "tid"),
        comm: column(Int32Array, threads, "comm"),
        first: column(Float64Array, threads, "first"),
        last: column(Float64Array, threads, "last"),
      },
      samples: {
        time: column(Float64Array, samples, "time"),
        stack: column(Int32Array, samples, "stack"),
        thread: column(Int32Array, samples, "thread"),
        cpu: column(Int32Array, samples, "cpu"),
        event: new Uint16Array(samples.length),
        weight: column(Float64Array, samples, "weight"),
        count: new Float64Array(samples.length).fill(1),
      },
      intervals: {
        thread: column(Int32Array, intervals, "thread"),
        from: column(Float64Array, intervals, "from"),
        to: column(Float64Array, intervals, "to"),
        state: column(Uint8Array, intervals, "state"),
        waker: new Int32Array(intervals.length).fill(-1),
        stack: column(Int32Array, intervals, "stack"),
      },
      marks: {
        time: column(Float64Array, marks, "time"),
        thread: column(Int32Array, marks, "thread"),
        kind: column(Uint8Array, marks, "kind"),
        text: column(Int32Array, marks, "text"),
      },
      losses: { time: Float64Array.of(3000 * MS), count: Float64Array.of(50) },
      start: { clock: 5e15, wall },
    };
  }
}

function small({ waits = true, unit = "ns", wall = Date.UTC(2026, 4, 6, 12, 30, 15, 250), slower = 1 } = {}) {
  const b = new Builder(), end = 10000 * MS;
  const main = b.thread(100, 100, "main", 0, end), parser = b.thread(100, 101, "parser", 0, end);
  const writer = b.thread(100, 102, "writer", 0, end), helper = b.thread(200, 200, "hel<b>per", 6000 * MS, 7000 * MS);
  const idle = b.thread(0, 0, "swapper", 0, end);
  const run = (thread, from, to, stack, cpu) => {
    for (let t = from; t < to; t++) b.samples.push({ time: t * MS + 500000, stack, thread, cpu, weight: MS });
  };
  const wait = (thread, from, to, state, stack) =>
    waits && b.intervals.push({ thread, from: from * MS, to: to * MS, state, stack });
  run(main, 0, 5000, b.stack("main", "run", "render"), 0);
  run(main, 5000, 10000, b.stack("main", "run", "render", "hash"), 0);
  run(parser, 2000, 2000 + 2000 * slower, b.stack("main", "parse_line"), 1);
  wait(parser, 0, 2000, 2, b.stack("main", "pthread_cond_wait", "futex_wait"));
  wait(parser, 4000, 10000, 2, b.stack("main", "pthread_cond_wait", "futex_wait"));
  for (let s = 0; s < 10000; s += 1000) {
    run(writer, s, s + 100, b.stack("main", "write_block", "sys_write"), 1);
    wait(writer, s + 100, s + 950, 2, b.stack("main", "nanosleep"));
    wait(writer, s + 950, s + 1000, 1, -1);
  }
  run(helper, 6000, 7000, b.stack("main", "<script>alert(1)</script>"), 2);
  for (const [from, to] of [[0, 6000], [7000, 10000]]) run(idle, from, to, b.stack("sys_idle"), 2);
  b.marks.push({ time: 1500 * MS, thread: parser, kind: 1, text: b.string("CPU 1") });
  b.marks.push({ time: 6000 * MS, thread: helper, kind: 2, text: b.string("from 100") });
  b.marks.push({ time: 6001 * MS, thread: helper, kind: 3, text: b.string("hel<b>per") });
  b.marks.push({ time: 8000 * MS, thread: main, kind: 5, text: b.string("app:request") });
  return b.data(wall, unit);
}

/* Many threads and samples; always the same. */
function large({ threads = 600, samples = 2e6, seconds = 600, cpus = 16, unit = "ns" } = {}) {
  const b = new Builder(), end = seconds * 1e9, leaves = [];
  let seed = 12345;
  const random = n => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0, Math.floor(seed / 4294967296 * n));
  for (let i = 0; i < 3000; i++) {
    const names = ["start"];
    for (let d = 3 + random(24); d--;) names.push("function_" + (d * 7 + random(5)));
    leaves.push(b.stack(...names));
  }
  for (let t = 0; t < threads; t++) b.thread(1000 + (t >> 3) * 8, 1000 + t, t % 8 ? "worker-" + t % 8 : "service-" +
    (t >> 3), 0, end);
  const made = b.data(null, unit), column = Type => new Type(samples), period = end * cpus * .4 / samples;
  made.samples = { time: column(Float64Array), stack: column(Int32Array), thread: column(Int32Array),
    cpu: column(Int32Array),
    event: column(Uint16Array), weight: column(Float64Array).fill(period), count: column(Float64Array).fill(1) };
  let leaf = 0;
  for (let i = 0; i < samples; i++) {
    if (random(40) === 0) leaf = random(leaves.length);
    const phase = Math.floor(i / samples * 40);
    made.samples.time[i] = i / samples * end;
    made.samples.thread[i] = Math.min(random(threads), random(threads), (random(threads) + phase * 15) % threads);
    made.samples.stack[i] = leaves[leaf];
    made.samples.cpu[i] = random(cpus);
  }
  return made;
}
return { small, large };
})();
