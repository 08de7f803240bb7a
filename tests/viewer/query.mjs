// SPDX-License-Identifier: MIT
// The questions of the page (query.js) in plain node: node query.mjs PATH_OF_QUERY_JS [PERFILE RECORDING...]
// and how long they take on large data: node query.mjs PATH_OF_QUERY_JS --measure
import { loadQuery, makeData, seeded, randomData } from "./made_data.mjs";
import * as plain from "./plain.mjs";
import { foldedBy, functionsBy, readRecording } from "./recorded.mjs";

const SKIPPED = 77,
  OLDEST = 16;
if (parseInt(process.versions.node) < OLDEST) {
  console.log(`skipped: node ${process.versions.node} is too old; ${OLDEST} or later`);
  process.exit(SKIPPED);
}
const [source, ...rest] = process.argv.slice(2);
const query = loadQuery(source);
let failed = 0,
  count = 0;
function equal(what, seen, wanted) {
  count++;
  const [a, b] = [JSON.stringify(seen), JSON.stringify(wanted)];
  if (a === b || ++failed > 20) return;
  let from = 0;
  while (a[from] === b[from]) from++;
  from = Math.max(0, from - 60);
  const part = text => text.slice(from, from + 200);
  console.log(`FAILED: ${what}\n  from character ${from}\n  seen:   ${part(a)}\n  wanted: ${part(b)}`);
}

/* --- answers computed by hand --- */

/* main calls work and read; work calls itself, work calls malloc of libc. */
const planted = makeData({
  functions: [
    ["main", "/bin/app"],
    ["work", "/bin/app"],
    ["read", "/lib/libc.so"],
    ["malloc", "/lib/libc.so"],
    ["list<int>::add", "/bin/app"],
    ["list<char>::add", "/bin/app"],
    ["brk", "/lib/libc.so"],
  ],
  threads: [
    [10, 10, "app", 0, 100],
    [10, 11, "pool", 0, 100],
    [20, 20, "cat", 0, 100],
  ],
  /* time, stack, thread, cpu, event, weight, count */
  samples: [
    [0, "main;work", 0, 0, 0, 10, 1],
    [10, "main;work;work;malloc", 0, 1, 0, 20, 2],
    [20, "main;work;malloc;brk", 1, 1, 0, 5, 1],
    [30, "main;read", 2, 0, 0, 7, 1],
    [40, "main;list<int>::add", 1, 0, 0, 3, 1],
    [50, "main;list<char>::add", 1, 0, 0, 4, 1],
    [60, "", 2, -1, 0, 1, 1],
    [70, "main;work", 0, 0, 1, 1000, 1],
  ],
  /* from, to, stack, thread */
  intervals: [
    [5, 25, "main;read", 0],
    [90, 100, "main;read;brk", 2],
  ],
});
const key = name => planted.strings.indexOf(name) >= 0 && planted.functions.name.indexOf(planted.strings.indexOf(name));
const labels = (data, made) => node => plain.label(query, data, made.key[node]);
function asText(data, made, node = 0, indent = "") {
  const lines = [];
  if (made.inverted) query.expandTo(made, 0);
  for (let kid = made.first[node]; kid >= 0; kid = made.next[kid])
    lines.push(
      `${indent}${labels(data, made)(kid)} ${made.self[kid]}/${made.total[kid]}`,
      ...asText(data, made, kid, indent + " "),
    );
  return lines;
}
const shown = (transforms, filter = { event: 0 }, options = {}) =>
  asText(planted, query.tree(query.filter(planted, filter), transforms, options));

function testTrees() {
  equal("the tree", shown([]), [
    "main 0/49",
    " work 10/35",
    "  work 0/20",
    "   malloc 20/20",
    "  malloc 0/5",
    "   brk 5/5",
    " read 7/7",
    " list<char>::add 4/4",
    " list<int>::add 3/3",
  ]);
  equal(
    "order by name",
    shown([], { event: 0 }, { order: "name" }).filter(l => l.startsWith(" ") && l[1] !== " "),
    [" list<char>::add 4/4", " list<int>::add 3/3", " read 7/7", " work 10/35"],
  );
  equal("focus", shown([{ type: "focus", key: key("work") }]), [
    "work 10/35",
    " work 0/20",
    "  malloc 20/20",
    " malloc 0/5",
    "  brk 5/5",
  ]);
  equal("drop", shown([{ type: "drop", key: key("work") }]), [
    "main 0/14",
    " read 7/7",
    " list<char>::add 4/4",
    " list<int>::add 3/3",
  ]);
  equal("collapse", shown([{ type: "collapse", key: key("work") }])[1], " work 35/35");
  equal("merge", shown([{ type: "merge", key: key("work") }]), [
    "main 10/49",
    " malloc 20/25",
    "  brk 5/5",
    " read 7/7",
    " list<char>::add 4/4",
    " list<int>::add 3/3",
  ]);
  equal("recursion", shown([{ type: "recursion" }]).slice(1, 4), [" work 10/35", "  malloc 20/25", "   brk 5/5"]);
  equal("modules", shown([{ type: "modules" }]), ["/bin/app 17/49", " /lib/libc.so 32/32"]);
  const libc = planted.strings.indexOf("/lib/libc.so");
  equal("one module", shown([{ type: "modules", module: libc }]).slice(0, 5), [
    "main 0/49",
    " work 10/35",
    "  work 0/20",
    "   /lib/libc.so 20/20",
    "  /lib/libc.so 5/5",
  ]);
  equal("merge of a module", shown([{ type: "merge", module: libc }]).slice(0, 3), [
    "main 7/49",
    " work 15/35",
    "  work 20/20",
  ]);
  equal("templates", shown([{ type: "templates" }]).slice(-1), [" list<int>::add 7/7"]);
  equal("subtree", shown([{ type: "subtree", path: [key("main"), key("work"), key("work")] }]), [
    "work 0/20",
    " malloc 20/20",
  ]);
  equal(
    "subtree of a subtree",
    shown([
      { type: "subtree", path: [key("main"), key("work")] },
      { type: "subtree", path: [key("work"), key("malloc")] },
    ]),
    ["malloc 0/5", " brk 5/5"],
  );
  equal("leaf first", shown([{ type: "invert" }]), [
    "malloc 0/20",
    " work 0/20",
    "  work 0/20",
    "   main 20/20",
    "work 0/10",
    " main 10/10",
    "read 0/7",
    " main 7/7",
    "brk 0/5",
    " malloc 0/5",
    "  work 0/5",
    "   main 5/5",
    "list<char>::add 0/4",
    " main 4/4",
    "list<int>::add 0/3",
    " main 3/3",
  ]);
  equal("the end of stacks", shown([{ type: "subtree", path: [key("malloc"), key("work")], inverted: true }]), [
    "main 0/20",
    " work 0/20",
    "  work 20/20",
  ]);
  equal("without samples", shown([], { threads: [] }), []);
}

function testFilters() {
  const total = filter => query.filter(planted, filter).total;
  equal("everything", [total({}), total({ event: 1 }), total({ event: [0, 1] })], [1050, 1000, 1050]);
  equal("samples", query.filter(planted, { event: 0 }).count, 8);
  equal("half-open time", total({ time: [10, 30] }), 25);
  equal(
    "threads",
    [total({ threads: [1] }), total({ processes: [10], event: 0 }), total({ comms: ["cat"] })],
    [12, 42, 8],
  );
  equal("CPUs", [total({ cpus: [1] }), total({ cpus: [-1] }), total({ cpus: [5] })], [25, 1, 0]);
  equal("include", total({ event: 0, include: /^(brk|read)$/ }), 12);
  equal("include by module", total({ event: 0, include: /libc/ }), 32);
  equal("exclude", total({ event: 0, exclude: /libc/g }), 18);
  equal("count", total({ measure: "count" }), 9);
  equal("blocked", total({ measure: "blocked" }), 30);
  equal("blocked, clipped", total({ measure: "blocked", time: [20, 95] }), 10);
  equal("both", total({ measure: "both", event: 0, time: [0, 30] }), 35 + 20);
  equal("on a CPU nobody is blocked", total({ measure: "both", cpus: [0], event: 0 }), 24);
  equal("the tree of both", shown([{ type: "focus", key: key("read") }], { measure: "both", event: 0 }), [
    "read 27/37",
    " brk 10/10",
  ]);
}

function testGroups() {
  equal("threads", shown([{ type: "focus", key: key("malloc") }], { event: 0 }, { by: ["thread"] }), [
    "10/10 0/20",
    " malloc 20/20",
    "10/11 0/5",
    " malloc 0/5",
    "  brk 5/5",
  ]);
  equal(
    "processes and threads",
    shown([{ type: "collapse", key: key("main") }], { event: 0 }, { by: ["process", "thread"] }),
    ["10 0/42", " 10/10 0/30", "  main 30/30", " 10/11 0/12", "  main 12/12", "20 0/8", " 20/20 1/8", "  main 7/7"],
  );
  equal(
    "CPUs keep their order",
    shown([{ type: "collapse", key: key("main") }], { event: 0 }, { by: ["cpu"] }).filter(l => l[0] !== " "),
    ["-1 1/1", "0 0/24", "1 0/25"],
  );
  equal(
    "leaf first below groups",
    shown([{ type: "focus", key: key("malloc") }, { type: "invert" }], { event: 0 }, { by: ["comm"] }),
    ["app 0/20", " malloc 20/20", "pool 0/5", " brk 0/5", "  malloc 5/5"],
  );
  const table = query.groups(query.filter(planted, { measure: "both", event: 0 }), "thread");
  equal(
    "table of threads",
    [[...table.on], [...table.off], [...table.count]],
    [
      [30, 12, 8],
      [20, 0, 10],
      [3, 3, 2],
    ],
  );
}

function testTables() {
  const made = query.tree(query.filter(planted, { event: 0 })),
    table = query.functions(made);
  const row = name => {
    const i = table.key.indexOf(key(name));
    return [table.self[i], table.total[i]];
  };
  equal("recursion counts once", row("work"), [10, 35]);
  equal("malloc", row("malloc"), [20, 25]);
  equal("main", row("main"), [0, 49]);
  equal(
    "largest first",
    [...query.order(table.self)].map(i => table.self[i]),
    [20, 10, 7, 5, 4, 3, 0],
  );
  equal("smallest first, equal ones as they were", [...query.order([2, 1, 2, 1], true)], [1, 3, 0, 2]);
  const modules = query.modules(made);
  equal(
    "modules",
    [[...modules.self], [...modules.total]],
    [
      [17, 32],
      [49, 32],
    ],
  );
  const pairs = list => [...list.key].map((k, i) => [plain.label(query, planted, k), list.weight[i]]);
  const edges = query.edges(made, key("work"));
  equal("callers of work", pairs(edges.callers), [
    ["main", 35],
    ["work", 20],
  ]);
  equal("callees of work", pairs(edges.callees), [
    ["malloc", 25],
    ["work", 20],
  ]);
  equal("callers", asText(planted, query.callers(made, key("work"))), ["main 35/35"]);
  equal("callees", asText(planted, query.callees(made, key("work"))).slice(0, 2), ["work 10/35", " work 0/20"]);
  const other = query.tree(query.filter(planted, { event: 0 }), [], { by: ["thread"] });
  equal("in threads", [...query.functions(other).total].slice(0, 7), [...table.total]);
  equal("search", query.search(made, /work|malloc/).weight, 35);
  const turned = query.expandTo(query.tree(query.filter(planted, { event: 0 }), [{ type: "invert" }]), 10);
  equal(
    "heavy ones are expanded",
    [...turned.done]
      .slice(0, turned.count)
      .map((is, n) => is === +(turned.total[n] >= 10))
      .includes(false),
    false,
  );
  const flat = query.expandTo(query.tree(query.filter(planted, { event: 0 }), [{ type: "invert" }]), 0, 2);
  equal("down to a depth", Math.max(...flat.depth.slice(0, flat.count)), 2);
  equal(
    "a path leaf first",
    query.path(turned, query.find(turned, [key("brk"), key("malloc"), key("work")])).length,
    3,
  );
  equal("a path that ends", query.path(turned, query.find(turned, [key("brk"), key("main")])), [key("brk")]);
  equal(
    "search leaf first",
    query.search(query.tree(query.filter(planted, { event: 0 }), [{ type: "invert" }]), /work/).weight,
    35,
  );
  const open = new Set([1, query.find(made, [key("main"), key("work")])]);
  equal(
    "rows",
    [...query.rows(made, n => open.has(n))].map(n => query.path(made, n).length),
    [1, 2, 3, 3, 2, 2, 2],
  );
  equal("one node at every depth's start", [...query.levels(made).rows], [0, 1, 2, 6, 8, 10]);
}

/* C3: names, and files without folders; complete paths when these are asked for. C2: what a search leaves is in all columns. */
{
  const total = (include, exclude) => query.filter(planted, { event: 0, include, exclude }).total, all = total();
  equal("C3: not by a folder", total("bin"), 0);
  equal("C3: by a file", total("libc"), total("read|malloc|brk"));
  equal("C3: by a path", total("path:/lib/"), total("libc"));
  equal("C3: a path is not a name", total("path:main"), 0);
  equal("C2: with and without", total("read") + total(undefined, "read"), all);
  equal("C2: with both", total(["main", "read"]), total("read"));
  const left = query.restricted(planted, { include: ["read"] });
  equal("C2: the samples that are left", query.filter(left, { event: 0 }).total, total("read"));
  equal("C2: the intervals that are left", query.filter(left, { measure: "all" }).total, query.filter(planted, { measure: "all", include: "read" }).total);
  equal("C2: stacks from a search on", query.tree(query.filter(planted, { event: 0 }), [{ type: "focus", search: "^read$" }]).total[0], total("^read$"));
  equal("C2: without one all is there", query.restricted(planted, {}), planted);
}

/* B2: what was joined is spread over its slice; bars that end with slices have complete ones. */
{
  const joined = makeData({ functions: [["work", "/bin/app"]], threads: [[1, 1, "app", 0, 100]],
    samples: [5, 15, 25, 35, 42].map(time => [time, "work", 0, 0, 0, time === 42 ? 50 : 100, 10]) });
  joined.samples.slices = [{ until: 5, width: 10, from: 0, end: 45 }];
  const all = query.filter(joined, {}), rounded = list => [...list].map(x => Math.round(x * 100) / 100);
  equal("B2: bars of 4 ns", rounded(query.buckets(all, 10, { from: 0, to: 40 }).on[0]), Array(10).fill(40));
  equal("B2: bars of slices", rounded(query.buckets(all, 3, { from: 0, to: 45, slice: joined.samples.slices[0] }).on[0]), [200, 200, 50]);
  equal("B2: cells of 3 ns", rounded(query.heat(all, { rows: 5, width: 15, from: 0, to: 45 }).cells), [...Array(13).fill(30), 10 + 20, 30]);
}

function testTime() {
  const selection = query.filter(planted, { event: 0, measure: "both" });
  const seen = query.buckets(selection, 5, { by: "thread" });
  equal("step", [seen.from, seen.step, seen.count], [0, 20, 5]);
  const rowOf = t => seen.key.indexOf(query.keyOf(planted, "thread", t));
  equal(
    "on",
    [[...seen.on[rowOf(0)]], [...seen.on[rowOf(1)]]],
    [
      [30, 0, 0, 0, 0],
      [0, 5, 7, 0, 0],
    ],
  );
  equal(
    "off",
    [[...seen.off[rowOf(0)]], [...seen.off[rowOf(2)]]],
    [
      [15, 5, 0, 0, 0],
      [0, 0, 0, 0, 10],
    ],
  );
  const map = query.heat(query.filter(planted, { event: 0 }), { rows: 4, width: 40 });
  equal("heat", [map.columns, [...map.cells], map.most], [3, [10, 20, 5, 7, 3, 4, 1, 0, 0, 0, 0, 0], 20]);
  const boxes = query.chart(query.filter(planted, { event: 0 }), [], { thread: 0, gap: 30 });
  equal(
    "chart",
    [...boxes.key].map((k, i) => [plain.label(query, planted, k), boxes.depth[i], boxes.from[i], boxes.to[i]]),
    [
      ["main", 0, 0, 40],
      ["work", 1, 0, 40],
      ["work", 2, 10, 40],
      ["malloc", 3, 10, 40],
    ],
  );
  const pool = query.chart(query.filter(planted, { event: 0 }), [], { thread: 1, gap: 15, from: 25 });
  equal(
    "a gap is a gap",
    [...pool.key].map((k, i) => [plain.label(query, planted, k), pool.from[i], pool.to[i]]),
    [
      ["main", 25, 35],
      ["work", 25, 35],
      ["malloc", 25, 35],
      ["brk", 25, 35],
      ["main", 40, 65],
      ["list<int>::add", 40, 50],
      ["list<char>::add", 50, 65],
    ],
  );
}

/* Samples of one time, out of order, share it by weight; of too many the first in each column is drawn. */
function testChart() {
  const data = makeData({
    functions: [
      ["a", null],
      ["b", null],
    ],
    threads: [[1, 1, "x", 0, 100]],
    samples: [
      [50, "b", 0, 0, 0, 1, 1],
      [0, "a", 0, 0, 0, 30, 1],
      [0, "b", 0, 0, 0, 10, 1],
      [90, "", 0, 0, 0, 1, 1],
    ],
  });
  const drawn = (asked, transforms = []) => {
    const boxes = query.chart(query.filter(data), transforms, { thread: 0, ...asked });
    return [...boxes.key].map((k, i) => [plain.label(query, data, k), boxes.from[i], boxes.to[i]]);
  };
  equal("shared by weight", drawn({ gap: 40 }), [
    ["a", 0, 30],
    ["b", 30, 40],
    ["b", 50, 90],
  ]);
  const steady = makeData({
    functions: [["a", null]],
    threads: [[1, 1, "x", 0, 100]],
    samples: [0, 10, 20, 100].map(time => [time, "a", 0, 0, 0, 1, 1]),
  });
  const usual = query.chart(query.filter(steady), [], { thread: 0 });
  equal(
    "three times the usual distance",
    [[...usual.from], [...usual.to]],
    [
      [0, 100],
      [50, 101],
    ],
  );
  const timed = makeData({
    functions: [
      ["f", null],
      ["g", null],
    ],
    threads: [[1, 1, "x", 0, 100]],
    samples: [
      [0, "f", 0, 0, 0, 3, 1],
      [3, "f;g", 0, 0, 0, 1, 1],
      [4, "f", 0, 0, 0, 16, 1],
      [50, "f", 0, 0, 0, 10, 1],
    ],
  });
  timed.meta = { events: [{ name: "calls", unit: "ns", lasts: true }] };
  const calls = query.chart(query.filter(timed), [], { thread: 0, from: 0, to: 100 });
  equal(
    "calls have their begin and end",
    [...calls.key].map((k, i) => [plain.label(query, timed, k), calls.depth[i], calls.from[i], calls.to[i]]),
    [
      ["f", 0, 0, 20],
      ["g", 1, 3, 4],
      ["f", 0, 50, 60],
    ],
  );
  const lasting = query.heat(query.filter(timed), { rows: 10, width: 100, from: 0, to: 100 });
  equal("calls are in all of their time", [...lasting.cells], [10, 10, 0, 0, 0, 10, 0, 0, 0, 0]);
  const thin = query.chart(query.filter(timed), [], { thread: 0, from: 0, to: 100, columns: 3 });
  equal("gaps narrower than a pixel are not drawn", [[...thin.from], [...thin.to]], [[0], [100]]);
  equal("next to each other", drawn({ gap: 50 }), [
    ["a", 0, 37.5],
    ["b", 37.5, 90],
  ]);
  equal("in a window", drawn({ gap: 40, from: 10, to: 60 }), [
    ["a", 10, 30],
    ["b", 30, 40],
    ["b", 50, 60],
  ]);
  equal("thinned", drawn({ gap: 1, columns: 2, to: 91 }), [
    ["a", 0, 46.5],
    ["b", 50, 91],
  ]);
  equal("transformed", drawn({ gap: 40 }, [{ type: "drop", key: 0 }]), [
    ["b", 30, 40],
    ["b", 50, 90],
  ]);
}

function testCompare() {
  const other = makeData({
    functions: [
      ["work", "/opt/app"],
      ["main", "/opt/app"],
      ["new", "/opt/app"],
    ],
    threads: [[1, 1, "app", 0, 1]],
    samples: [
      [0, "main;work", 0, 0, 0, 40, 1],
      [1, "main;new", 0, 0, 0, 9, 1],
    ],
  });
  const made = query.compare(query.tree(query.filter(other)), query.tree(query.filter(planted, { event: 0 })));
  const row = (table, name) => {
    const k = [...table.key.keys()].find(row => {
      const i = table.key[row];
      return (
        (made.now[i] >= 0 ? plain.label(query, other, made.now[i]) : plain.label(query, planted, made.before[i])) ===
        name
      );
    });
    return [table.self[k], table.total[k], table.otherSelf[k], table.otherTotal[k], table.own[k], table.entire[k]];
  };
  const table = query.changes(made);
  equal("work", row(table, "work"), [40, 40, 10, 35, 30, 5]);
  equal("a new function", row(table, "new"), [9, 9, 0, 0, 9, 9]);
  equal("one that is gone", row(table, "read"), [0, 0, 7, 7, -7, -7]);
  equal("normalized", row(query.changes(made, { normalized: true }), "main").slice(5), [49 - 49 * (49 / 50)]);
  equal(
    "processes by the name of their first thread",
    [10, 20].map(pid => query.nameOf(planted, query.keyOf(planted, "process", [10, 20].indexOf(pid)))),
    ["process\napp", "process\ncat"],
  );
  equal("roots", [made.total[0], made.otherTotal[0]], [49, 50]);
}

function testNames() {
  for (const [name, wanted] of [
    ["a<b<c>>::d(e<f>)", "a<…>::d(e<…>)"],
    ["std::operator<< <char>(std::ostream<char>&)", "std::operator<<<…>(std::ostream<…>&)"],
    ["bool operator<(A<b> const&)", "bool operator<(A<…> const&)"],
    ["A::operator->()", "A::operator->()"],
    ["<alloc::Vec<T> as Drop>::drop", "<alloc::Vec<…> as Drop>::drop"],
    ["core::ptr::drop_in_place::<T>", "core::ptr::drop_in_place::<…>"],
    ["foo()::<lambda(int)>::operator()(int) const", "foo()::<lambda(int)>::operator()(int) const"],
    ["f<&A::operator<>(int)", "f<…>(int)"],
    ["a<b", "a<b"],
  ])
    equal(name, query.withoutTemplates(name), wanted);
}

/* --- random data against the plainest way --- */

const TRANSFORMS = [
  k => [{ type: "focus", key: k }],
  k => [{ type: "drop", key: k }],
  k => [{ type: "collapse", key: k }],
  k => [{ type: "merge", key: k }],
  k => [{ type: "recursion", key: k }],
  () => [{ type: "recursion" }],
  () => [{ type: "modules" }],
  (k, data) => [{ type: "modules", module: data.functions.module[k] }],
  (k, data) => [{ type: "focus", module: data.functions.module[k] }],
  (k, data) => [{ type: "merge", module: data.functions.module[k] }],
  () => [{ type: "templates" }],
];
function randomTransforms(data, next) {
  const list = [];
  for (let i = next(4); i--;)
    list.push(...TRANSFORMS[next(TRANSFORMS.length)](query.sameOf(data)[next(data.functions.name.length)], data));
  return list;
}
function randomFilter(data, next) {
  const wanted = { measure: ["weight", "count", "blocked", "preempted", "all", "both"][next(6)] },
    from = next(1000);
  if (next(3) === 0) wanted.event = next(2);
  if (next(3) === 0) wanted.time = [from, from + next(600)];
  if (next(4) === 0) wanted.threads = [0, 2, 3].slice(next(3));
  if (next(4) === 0) wanted.processes = [data.threads.pid[next(data.threads.pid.length)]];
  if (next(4) === 0) wanted.cpus = [next(3), -1].slice(next(2));
  if (next(4) === 0) wanted.include = /f[1-4]/;
  if (next(4) === 0) wanted.exclude = /f5|m2/;
  return wanted;
}
/* Own weights and totals of all paths; of trees of two recordings both. */
function pathsOf(made, name = node => made.key[node]) {
  const found = new Map();
  if (made.inverted) query.expandTo(made, 0);
  const visit = (node, path) => {
    const mine = [made.self[node], made.total[node]];
    found.set(path, made.otherTotal ? [mine, [made.otherSelf[node], made.otherTotal[node]]] : mine);
    for (let kid = made.first[node]; kid >= 0; kid = made.next[kid]) visit(kid, `${path}/${name(kid)}`);
  };
  visit(0, "");
  return [...found].sort((a, b) => (a[0] < b[0] ? -1 : 1));
}
function testRandom() {
  for (let seed = 1; seed <= 150; seed++) {
    const next = seeded(seed),
      data = randomData(next),
      wanted = randomFilter(data, next);
    const transforms = randomTransforms(data, next),
      by = [[], [], ["thread"], ["process", "thread"], ["cpu"], ["event", "comm"], ["time"]][next(7)];
    const what = `seed ${seed} ${JSON.stringify(wanted)} ${JSON.stringify(transforms)} ${by}`;
    const selection = query.filter(data, wanted),
      stacks = plain.stacks(query, data, wanted, transforms, by);
    const made = query.tree(selection, transforms, { by });
    equal(`${what}: tree`, pathsOf(made), plain.paths(stacks.all));
    equal(
      `${what}: inverted`,
      pathsOf(query.tree(selection, [...transforms, { type: "invert" }], { by })),
      plain.paths(plain.inverted(stacks.all, by.length)),
    );
    equal(
      `${what}: functions`,
      rowsOf(query.functions(made)),
      plain.table(stacks.all, k => k),
    );
    equal(`${what}: modules`, rowsOf(query.modules(made)), plain.table(stacks.all, plain.moduleOf(query, data)));
    equal(
      `${what}: search`,
      query.search(made, /f[23]|m1|t1/).weight,
      plain.matched(query, data, stacks.all, /f[23]|m1|t1/),
    );
    const k = query.sameOf(data)[next(data.functions.name.length)],
      edges = query.edges(made, k);
    equal(`${what}: callers of ${k}`, pairsOf(edges.callers), plain.edges(stacks.all, k, true));
    equal(`${what}: callees of ${k}`, pairsOf(edges.callees), plain.edges(stacks.all, k, false));
    equal(
      `${what}: callers' tree`,
      pathsOf(query.callers(made, k)),
      plain.paths(plain.turned(stacks.all, one => one, k)),
    );
    equal(
      `${what}: callees' tree`,
      pathsOf(query.callees(made, k)),
      plain.paths(plain.below(stacks.all, one => one, k)),
    );
    testTurnedOfTwo(what, data, transforms, by, made, stacks.all, k, next);
    testDrawings(what, data, wanted, selection);
    const buckets = query.buckets(selection, 17, { by: "thread" });
    equal(`${what}: buckets`, sumsOf(buckets), plain.buckets(query, data, wanted, buckets));
  }
}
/* The same questions of two trees as one; `other` has the same or other transforms. */
function testTurnedOfTwo(what, data, transforms, by, made, mine, k, next) {
  const wanted = randomFilter(data, next),
    steps = next(2) ? transforms : [],
    other = plain.stacks(query, data, wanted, steps, by).all;
  const both = query.compare(made, query.tree(query.filter(data, wanted), steps, { by }));
  const sides = (tree, name) => {
    const names = node => (both.now[tree.key[node]] >= 0 ? both.now[tree.key[node]] : both.before[tree.key[node]]);
    const column = (list, side) =>
      plain
        .paths(list.map(s => ({ ...s, keys: s.keys.map(plain.alike(query, data)) })))
        .map(([path, sums]) => [path, side ? sums : [0, 0], side ? [0, 0] : sums]);
    return {
      seen: pathsOf(tree, node => plain.alike(query, data)(names(node))),
      wanted: (a, b) => plain.joined(column(a, true), column(b, false)),
      name,
    };
  };
  for (const [name, tree, change] of [
    ["compare", both, list => list],
    ["compare, inverted", query.invert(both), list => plain.inverted(list, by.length)],
    [
      "compare, callers",
      query.callers(both, keyIn(query, data, both, k)),
      list => plain.turned(list, plain.alike(query, data), k),
    ],
    [
      "compare, callees",
      query.callees(both, keyIn(query, data, both, k)),
      list => plain.below(list, plain.alike(query, data), k),
    ],
  ]) {
    const { seen, wanted: made } = sides(tree, name);
    equal(`${what}: ${name}`, seen, made(change(mine), change(other)));
  }
}
/* The joint key of a key, or one that nothing has. */
function keyIn(query, data, both, key) {
  const alike = plain.alike(query, data),
    named = k => k >= 0 && alike(k) === alike(key);
  return [...both.now.keys()].findIndex(i => named(both.now[i]) || named(both.before[i]));
}
/* Every picked sample stands in its cell, and is drawn where it happened. */
function testDrawings(what, data, wanted, selection) {
  const map = query.heat(selection, { rows: 7, width: 70 }),
    all = plain.taken(query, data, wanted),
    taken = all.filter(e => e.from === undefined),
    waits = all.filter(e => e.from !== undefined);
  const overlap = (e, from, to) => Math.max(0, Math.min(e.to, to) - Math.max(e.from, from)),
    within = (from, to) => waits.reduce((ns, e) => ns + overlap(e, from, to), 0);
  const inside = taken.filter(e => e.time === e.time),
    sum = list => list.reduce((a, e) => a + e.weight, 0);
  equal(
    `${what}: heat`,
    [sum([...map.cells].map(weight => ({ weight }))), map.cells[3]],
    [sum(inside) + within(map.from, map.from + map.cells.length * 10),
      sum(inside.filter(e => Math.floor((e.time - map.from) / 10) === 3)) + within(map.from + 30, map.from + 40)],
  );
  const boxes = query.chart(selection, [], { thread: 1 }),
    mine = inside.filter(e => e.thread === 1);
  const drawn = time =>
    [...boxes.key.keys()]
      .filter(i => boxes.from[i] <= time && time < boxes.to[i])
      .sort((a, b) => boxes.depth[a] - boxes.depth[b])
      .map(i => boxes.key[i]);
  for (const e of mine.filter(e => mine.every(o => o === e || o.time !== e.time)))
    equal(`${what}: chart at ${e.time}`, drawn(e.time), plain.framesOf(query, data, e.stack));
}
const rowsOf = t => [...t.key].map((k, i) => [k, t.self[i], t.total[i]]).sort((a, b) => a[0] - b[0]);
const pairsOf = t => [...t.key].map((k, i) => [k, t.weight[i]]).sort((a, b) => a[0] - b[0]);
const sumsOf = b => [...b.key].map((k, i) => [k, [...b.on[i]], [...b.off[i]]]).sort((a, b) => a[0] - b[0]);

/* --- recordings against perfile --- */

/* The stacks with weight of their own, as folded lines; of names that stand in threads of several ids once. */
function foldedOf(data, made) {
  const found = new Map();
  for (let n = 1; n < made.count; n++) {
    if (!made.self[n]) continue;
    const line = query
      .path(made, n)
      .map(k => plain.label(query, data, k))
      .join(";");
    found.set(line, (found.get(line) || 0) + made.self[n]);
  }
  return [...found].map(([line, weight]) => `${line} ${weight}`).sort();
}
function testRecording(perfile, path) {
  const { data, start, events } = readRecording(perfile, path),
    span = query.span(data);
  const middle = [span[0] + Math.floor((span[1] - span[0]) / 3), span[0] + Math.floor((span[1] - span[0]) / 2)];
  const seconds = ns => `${Math.floor((start + ns) / 1e9)}.${String((start + ns) % 1e9).padStart(9, "0")}`;
  const comm = data.strings[data.threads.comm[0]];
  events.forEach((event, i) => {
    const tree = filter => query.tree(query.filter(data, { event: i, ...filter }), [], { by: ["comm"] });
    equal(`${path}, ${event}: stacks`, foldedOf(data, tree({})), foldedBy(perfile, path, event));
    equal(
      `${path}, ${event}: ${comm}`,
      foldedOf(data, tree({ comms: [comm] })),
      foldedBy(perfile, path, event, "--comms", comm),
    );
    const made = query.tree(query.filter(data, { event: i })),
      table = query.functions(made);
    const row = name => {
      const k = table.key.findIndex(key => plain.label(query, data, key) === name);
      return [name, table.self[k], table.total[k]];
    };
    const wanted = functionsBy(perfile, path, event);
    equal(
      `${path}, ${event}: functions`,
      wanted.map(([name]) => row(name)),
      wanted,
    );
  });
  const within = { event: 0, time: middle };
  equal(
    `${path}: a part of the time`,
    foldedOf(data, query.tree(query.filter(data, within), [], { by: ["comm"] })),
    foldedBy(perfile, path, events[0], "--time", `${seconds(middle[0])},${seconds(middle[1] - 1)}`),
  );
}

for (const test of [
  testTrees,
  testFilters,
  testGroups,
  testTables,
  testTime,
  testChart,
  testCompare,
  testNames,
  testRandom,
])
  test();
const [perfile, ...recordings] = rest[0] === "--measure" ? [] : rest;
for (const path of recordings) testRecording(perfile, path);
if (rest[0] === "--measure") (await import("./measure.mjs")).measure(query);
console.log(`${count} checks, ${failed} failed`);
process.exit(failed ? 1 : 0);
