// SPDX-License-Identifier: MIT
// How long the questions of the page take on large data: 1,000,000 nodes and 2,000,000 samples.
import { seeded } from "./made_data.mjs";

export function largeData(nodes, samples) {
  const next = seeded(7),
    functions = 20000,
    threads = 400;
  const fill = (Type, count, value) => Type.from({ length: count }, (_, i) => value(i));
  const parent = new Int32Array(nodes),
    fn = new Int32Array(nodes);
  /* Chains that leave the one before them somewhere: as deep and bushy as recorded ones. */
  const path = [];
  for (let n = 0; n < nodes;) {
    path.length = Math.min(path.length, next(Math.min(path.length, 40) + 1));
    for (let more = 1 + next(60 - path.length); more-- && n < nodes; path.push(n++)) {
      parent[n] = path.length ? path[path.length - 1] : -1;
      fn[n] = next(8) ? next(500) : next(functions);
    }
  }
  for (let n = 1, last = new Map(); n < nodes; n++) {
    const id = parent[n] * functions + fn[n]; /* siblings differ */
    if (last.has(id)) fn[n] = (fn[n] + 1 + last.get(id)) % functions;
    last.set(id, (last.get(id) || 0) + 1);
  }
  /* Eight threads of a pool share a part of the stacks. */
  const thread = fill(Int32Array, samples, () => next(next(threads) + 1)),
    part = Math.floor(nodes / (threads / 8));
  return {
    strings: fill(Array, functions + 50, i =>
      i < functions ? `space::function<int>::number_${i}` : `/usr/lib/lib${i}.so`,
    ),
    functions: {
      name: fill(Int32Array, functions, i => i),
      module: fill(Int32Array, functions, i => functions + (i % 50)),
    },
    stacks: { parent, fn },
    threads: {
      pid: fill(Int32Array, threads, i => i >> 3),
      tid: fill(Int32Array, threads, i => i),
      comm: fill(Int32Array, threads, i => i % 30),
    },
    samples: {
      time: fill(Float64Array, samples, i => i * 30000 + next(30000)),
      stack: fill(Int32Array, samples, i => (thread[i] >> 3) * part + next(part)),
      thread,
      cpu: fill(Int32Array, samples, () => next(64)),
      event: new Uint16Array(samples),
      weight: fill(Float64Array, samples, () => 250000),
      count: new Float64Array(samples).fill(1),
    },
    intervals: null,
  };
}

export function measure(query) {
  const data = largeData(1e6, 2e6),
    half = [1.5e10, 4.5e10];
  const times = (what, ask) => {
    const took = [];
    let answer;
    for (let i = 0; i < 4; i++) {
      const start = process.cpuUsage();
      answer = ask(i);
      const { user, system } = process.cpuUsage(start);
      took.push(Math.round((user + system) / 1000));
    }
    console.log(
      `${what.padEnd(36)} first ${String(took[0]).padStart(5)} ms, then ${Math.min(...took.slice(1))} ms of CPU`,
    );
    return answer;
  };
  const all = times("filter: nothing", () => query.filter(data, {}));
  const part = times("filter: half of the time", () => query.filter(data, { time: half }));
  const one = times("filter: a thread", () => query.filter(data, { threads: [3] }));
  times("filter: include", () => query.filter(data, { include: /number_7/ }));
  const made = times("tree", () => query.tree(all));
  times("tree of half of the time", () => query.tree(part));
  times("tree of a thread", () => query.tree(one));
  times("tree by thread", () => query.tree(all, [], { by: ["thread"] }));
  times("tree by process and thread", () => query.tree(all, [], { by: ["process", "thread"] }));
  times("functions", () => query.functions(made));
  times("modules", () => query.modules(made));
  times("threads", () => query.groups(all, "thread"));
  times("search", i => query.search(made, new RegExp(`number_${i}`)));
  times("edges", i => query.edges(made, i));
  times("callers", i => query.callers(made, i));
  times("callees", i => query.callees(made, i));
  for (const type of ["focus", "drop", "collapse", "merge", "recursion", "modules", "templates"])
    times(type, i => query.tree(all, [{ type, key: type === "modules" ? undefined : i }]));
  times("recursion of all, modules", i =>
    query.tree(all, [{ type: "recursion" }, { type: "modules", module: 20000 + i }]),
  );
  const turned = times("invert", () => query.tree(all, [{ type: "invert" }]));
  times("invert, to 0.01 %", () => query.expandTo(query.tree(all, [{ type: "invert" }]), turned.total[0] / 1e4));
  times("levels", () => query.levels(made));
  times("levels from 0.01 %", () => query.levels(made, made.total[0] / 1e4));
  times("rows, all open", () => query.rows(made, () => true));
  times("buckets of threads", () => query.buckets(all, 1000, { by: "thread" }));
  times("buckets of CPUs", () => query.buckets(all, 1000, { by: "cpu" }));
  times("heat", () => query.heat(all));
  times("chart of a thread", () => query.chart(all, [], { thread: 3 }));
  times("chart of a part of it", () => query.chart(all, [], { thread: 3, from: half[0], to: half[0] + 1e9 }));
  times("compare", () => query.changes(query.compare(made, query.tree(part))));
}
