/* SPDX-License-Identifier: MIT */
/*
 * What takes long on large pages: questions and their answers, here or in another thread (background.js). Nothing here touches
 * the page or its state: what matters of the state is in the question. Trees of leaves first are made as they are looked
 * at, since all of one can be many times as large as the tree of roots; `of` names the tree that more is wanted of.
 *
 * tree      {event, mine and theirs (filters of either recording), before (its event, null: none), measure, transforms, by, order,
 *           stacks, normalized, swapped, totals} -> {id, main, shown (null: main), everything, otherEverything, ranks
 *           (of keys by name), used (1: this key is in it), kinds}. All others are about the last one that was made.
 * more      {id, of, node} or {id, of, from, to, least} -> the tree with the children of this node, or of all nodes that
 *           are so heavy between two weights; null: there is another one by now
 * rows      {totals (the event whose exact totals are wanted, or null)} -> {group, self, total, other, otherTotal, inlined} as columns:
 *           the last is self with what is inlined in the function, as reports count it; 0 where that is not known
 * sandwich  {group} -> {callers, callees}
 * search    {search (as query.js has it)} -> {hits (by group), weight}
 * folded    {id, of, node} -> text
 * pane, threads, chart, heat: see timeindex.js; report: see reportrows.js
 * lanes     {filter, by, count, from, to} -> as query.buckets, covered (how much time each has), total
 */
const answers = (() => {
"use strict";
const FINE = 4096; /* nodes of less than this part are made when they are looked at ... */
const SMALL = 20000; /* ... unless there are few of them */

/* --- names --- */

const size = query.sizeOf(data), ranked = new Uint8Array(size), ranks = new Int32Array(size);
/* Keys in the order of their names; more of them only when there are new ones. */
function rank(used) {
  let more = false;
  for (let key = 0; key < size; key++)
    if (used[key] && !ranked[key]) more = ranked[key] = 1;
  if (!more) return;
  const labels = [];
  for (let key = 0; key < size; key++) if (ranked[key]) labels.push([about(key).label, key]);
  labels.sort(([a, i], [b, k]) => a < b ? -1 : a > b ? 1 : i - k);
  labels.forEach(([, key], i) => { ranks[key] = i; });
}
function usedIn({ group }, { totals, event }) {
  const used = new Uint8Array(size);
  for (let n = 1; n < group.length; n++) used[group[n]] = 1;
  if (totals) data.totals.fn.forEach((fn, i) => { if (data.totals.event[i] === event) used[fn] = 1; });
  return used;
}
function kindsOf(used) {
  const kinds = new Set();
  for (let key = 0; key < size; key++)
    if (used[key]) kinds.add(key < data.functions.kind.length ? data.functions.kind[key] : about(key).kind);
  return [...kinds].sort((a, b) => a - b);
}

/* --- the tree --- */

let now = { id: 0 };

function treeOf({ measure, transforms, by }, event, who) {
  return query.tree(query.filter(data, { event, measure, ...who }), transforms, { by, order: null });
}
/* Adds the nodes of a recording to the tree: which became which. */
function addNodes(tree, { count, parent, key, total }) {
  const places = new Int32Array(count);
  for (let i = 1; i < count; i++) if (total[i]) places[i] = tree.child(places[parent[i]], key[i]);
  return places;
}
function compared({ swapped, normalized }, mine, theirs) {
  const tree = new Tree(-1, 2 ** Math.ceil(Math.log2(mine.count + 1024)));
  const places = addNodes(tree, mine), others = theirs && addNodes(tree, theirs);
  tree.finish(true);
  const [own, other] = swapped ? [tree.other, tree.self] : [tree.self, tree.other];
  for (let i = 0; i < mine.count; i++) own[places[i]] += mine.self[i];
  for (let i = 0; theirs && i < theirs.count; i++) other[others[i]] += theirs.self[i];
  const totals = [mine.total[0] || 1, theirs ? theirs.total[0] || 1 : 1];
  const [everything, otherEverything] = swapped ? totals.reverse() : totals;
  const how = { factor: normalized ? everything / otherEverything : 1, swapped };
  return { main: tree.sum().comparedBy(how), how, everything, otherEverything };
}
/* As queries have trees; threads and the like are frames as others, and callers end with them. */
function asMade({ count, parent, group, self, total, other, otherTotal, depth }, shape) {
  return { data, size, groups: 0, plain: false, count, parent, key: group, self, total, otherSelf: other, otherTotal, depth,
    shape: shape || { count, parent, key: group } };
}
/* What of the nodes is off CPU: `waits` are some of the nodes of the tree. */
function offCpu(main, waits) {
  const known = new Map(), nodes = new Int32Array(waits.count), off = { other: new Float64Array(main.count), otherTotal: new Float64Array(main.count) };
  for (let n = 1; n < main.count; n++) known.set(main.parent[n] * size + main.group[n], n);
  for (let n = 0; n < waits.count; n++) {
    if (!waits.total[n]) continue;
    if (n) nodes[n] = known.get(nodes[waits.parent[n]] * size + waits.key[n]);
    off.other[nodes[n]] = waits.self[n];
    off.otherTotal[nodes[n]] = waits.total[n];
  }
  return off;
}
function makeMain(asking) {
  const mine = treeOf(asking, asking.event, asking.mine);
  if (!data.compares) {
    const main = Tree.of(mine, false), off = asking.measure === "both" ? offCpu(main, treeOf({ ...asking, measure: "all" }, asking.event, asking.mine)) : {};
    main.off = off.otherTotal;
    return { main, made: asMade({ ...main, ...off }, mine.shape), everything: mine.total[0] || 1, otherEverything: 1, how: null };
  }
  const found = compared(asking, mine, asking.before === null ? null : treeOf(asking, asking.before, asking.theirs));
  return { ...found, made: asMade(found.main) };
}
function tree(asking) {
  const { order, stacks, ...rest } = asking, tag = JSON.stringify(rest);
  if (now.tag !== tag) {
    now = { ...makeMain(asking), asking, id: now.id + 1, tag, order: "", turned: {} };
    now.used = usedIn(now.main, asking);
    now.kinds = kindsOf(now.used);
    rank(now.used);
  } else {
    now.id++;
    now.turned = {};
  }
  if (now.order !== order) now.main.site(order, ranks);
  now.order = order;
  const { id, main, everything, otherEverything, used, kinds } = now;
  return { id, main, shown: stacks === "callers" ? turnedRound() : null, everything, otherEverything, ranks, used, kinds };
}

/* --- leaf first --- */

function treeOfTurned(turned, of) {
  const { count } = turned, cut = name => turned[name] && turned[name].slice(0, count);
  const made = Object.assign(Object.create(Tree.prototype), { count, parent: cut("parent"), group: cut("key"),
    self: cut("self"), total: cut("total"), done: cut("done"), turned: true, of,
    ...(data.compares ? { other: cut("otherSelf"), otherTotal: cut("otherTotal") } : { off: cut("otherTotal") }) });
  made.finish(!!made.other);
  if (made.other) made.comparedBy(now.how);
  now.turned[of] = { turned, tree: made.site(now.order, ranks) };
  return made;
}
function fineTree(turned, of) {
  const least = now.main.count < SMALL ? 0 : Math.max(turned.total[0], turned.otherTotal ? turned.otherTotal[0] : 0) / FINE;
  return treeOfTurned(query.expandTo(turned, least), of);
}
const turnedRound = () => fineTree(query.invert(now.made), "shown");
function more({ id, of, node, from, to, least }) {
  const known = id === now.id && now.turned[of];
  if (!known) return null;
  const { turned, tree: { count, start, total } } = known;
  if (node !== undefined) return treeOfTurned(query.expand(turned, node), of);
  const inside = n => n < count ? start[n] < to && start[n] + total[n] > from : seen[turned.parent[n]];
  const seen = [];
  for (let n = 0; n < turned.count; n++) {
    seen[n] = inside(n);
    if (seen[n] && turned.total[n] >= least) query.expand(turned, n);
  }
  return treeOfTurned(turned, of);
}

/* --- of functions --- */

function rows({ totals }) {
  const { main } = now, outer = query.outermost(now.made.shape), columns = {};
  for (const name of ["self", "total", "other", "otherTotal"]) columns[name] = new Float64Array(size);
  for (let n = 1; n < main.count; n++) {
    if (!main.isThere(n)) continue;
    const group = main.group[n];
    columns.self[group] += main.self[n];
    if (outer[n]) columns.total[group] += main.total[n];
    if (main.other) columns.other[group] += main.other[n];
    if (main.other && outer[n]) columns.otherTotal[group] += main.otherTotal[n];
  }
  columns.inlined = totals === null && !data.compares ? withInlined(now.asking) : new Float64Array(size);
  let group = [];
  for (let key = 0; key < size; key++) if (columns.total[key] || columns.otherTotal[key]) group.push(key);
  if (totals !== null) group = group.filter(key => about(key).type !== "function").concat(exact(totals, columns));
  const of = column => Float64Array.from(group, key => column[key]);
  return { group: Int32Array.from(group), self: of(columns.self), total: of(columns.total), other: of(columns.other),
    otherTotal: of(columns.otherTotal), inlined: of(columns.inlined) };
}
/* By key. */
function withInlined({ event, measure, mine, transforms }) {
  const own = new Float64Array(size);
  if (!data.functions.kind.includes(INLINED)) return own;
  const { weights } = query.filter(data, { event, measure, ...mine }), { shape: { key }, image } = query.map(data, transforms), real = realEndsOf(data);
  for (let s = 0; s < weights.length; s++) {
    const node = real[s] < 0 ? 0 : image[real[s] + 1];
    if (weights[s] && image[s + 1] > 0) own[key[node > 0 ? node : image[s + 1]]] += weights[s];
  }
  return own;
}
/* What of a function of the page's code is in a selection, by event and offset; all: of each event, in all functions. */
function code({ index, filter, transforms }) {
  const { samples, events: { length } } = data, selection = query.filter(data, filter), { image } = query.map(data, transforms);
  const all = new Float64Array(2 * length), found = new Map();
  const add = (sums, at, i) => {
    sums[at] += samples.count[i];
    sums[at + 1] += samples.weight[i];
  };
  for (let i = selection.from; i < selection.to; i++) {
    if (!selection.picked[i] || samples.stack[i] >= 0 && image[samples.stack[i] + 1] <= 0) continue;
    add(all, 2 * samples.event[i], i);
    if (samples.code[i] !== index) continue;
    const key = samples.offset[i] * length + samples.event[i];
    if (!found.has(key)) found.set(key, new Float64Array(2));
    add(found.get(key), 0, i);
  }
  return { all, list: Float64Array.from([...found].flatMap(([key, sum]) => [Math.floor(key / length), key % length, ...sum])) };
}
/* Of a cut page: what functions weigh with what was cut. */
function exact(wanted, columns) {
  const { event, fn, self, total } = data.totals, found = [];
  for (let i = 0; i < fn.length; i++) {
    if (event[i] !== wanted) continue;
    columns.self[fn[i]] = self[i];
    columns.total[fn[i]] = total[i];
    found.push(fn[i]);
  }
  return found;
}
function calleesOf(group) {
  const { main } = now, below = new Tree(group), site = new Int32Array(main.count).fill(-1);
  for (let n = 1; n < main.count; n++) {
    const above = site[main.parent[n]];
    site[n] = above >= 0 ? main.isThere(n) ? below.child(above, main.group[n]) : -1 : main.group[n] === group ? 0 : -1;
  }
  below.finish(!!main.other);
  const off = main.off && new Float64Array(below.count);
  for (let n = 1; n < main.count; n++) {
    if (site[n] < 0) continue;
    below.self[site[n]] += main.self[n];
    if (main.other) below.other[site[n]] += main.other[n];
    if (off) off[site[n]] += now.made.otherSelf[n];
  }
  below.sum();
  if (off) below.off = below.withKids(off);
  if (main.other) below.comparedBy(now.how);
  return below.site(now.order, ranks);
}
function sandwich({ group }) {
  const { id } = now, callers = fineTree(query.callers(now.made, group), "callers");
  return { id, callers, callees: (now.callees = calleesOf(group)) };
}

/* Outermost nodes only, so that recursion counts once. */
function search({ search: wanted }) {
  const { main, used } = now, is = query.finder(wanted), hits = new Uint8Array(size);
  for (let key = 0; key < size; key++)
    if (used[key]) hits[key] = is.name(about(key).label) || is.path(about(key).module) || is.path(about(key).file) ? 1 : 0;
  const inside = new Uint8Array(main.count);
  let weight = 0;
  for (let n = 1; n < main.count; n++) {
    inside[n] = inside[main.parent[n]];
    if (inside[n] || !hits[main.group[n]]) continue;
    inside[n] = 1;
    weight += main.total[n];
  }
  return { hits, weight };
}

/* --- folded stacks: a line for each, as other tools read them; root first --- */

/* As `perfile flame --format folded` calls it. */
const threadName = thread => commOf(thread).replace(/[ \u0000-\u001f]/g, "_");
const FOLDED = { function: ({ label }) => data.labels.get(label) || label, alike: ({ index }) => (text(index) || "[unknown]").replace(/ /g, "_"),
  comm: ({ label }) => label.replace(/ /g, "_"), process: ({ label, index }) => `${label.slice(0, label.lastIndexOf(" (")).replace(/ /g, "_")}-${index}`,
  thread: ({ index }) => index < 0 ? "[unknown]" : `${threadName(index)}-${data.threads.pid[index]}/${data.threads.tid[index]}` };
function plainName(group) {
  const of = about(group), name = FOLDED[of.type];
  return (name ? name(of) : of.label).replace(/[;\n]/g, ":");
}
function namesTo({ parent, group }, node) {
  const names = [];
  for (; node > 0; node = parent[node]) names.push(plainName(group[node]));
  return names.reverse();
}
function below(of, node) {
  const lines = [], visit = [[node, namesTo(of, node).join(";")]];
  while (visit.length) {
    const [at, names] = visit.pop();
    if (of.self[at]) lines.push(names + " " + of.self[at]);
    for (let i = of.first[at + 1]; i-- > of.first[at];) {
      const kid = of.kids[i];
      if (of.total[kid]) visit.push([kid, (names && names + ";") + plainName(of.group[kid])]);
    }
  }
  return lines;
}
/* Stacks whose ends are a path of a tree that is turned round: as in the tree that it was made of. */
function endsOf(of, node) {
  const { main } = now, { tree: turned } = now.turned[of], path = [], root = turned.group[0], lines = [];
  for (let n = node; n > 0; n = turned.parent[n]) path.push(turned.group[n]);
  path.reverse();
  const outer = root >= 0 && query.outermost(now.made.shape);
  for (let n = 1; n < main.count; n++) {
    const weight = root < 0 ? main.self[n] : main.group[n] === root && outer[n] ? main.total[n] : 0;
    let at = root < 0 ? n : main.parent[n], steps = 0;
    for (; weight && at > 0 && steps < path.length && main.group[at] === path[steps]; steps++) at = main.parent[at];
    if (weight && steps === path.length) lines.push(namesTo(main, root < 0 ? n : main.parent[n]).join(";") + " " + weight);
  }
  return lines;
}
function folded({ id, of, node }) {
  if (id !== now.id) return null;
  const lines = now.turned[of] ? endsOf(of, node) : below(of === "callees" ? now.callees : now.main, node);
  return lines.join("\n") + "\n";
}

/* Bars of joined samples have complete slices; the first and the last may not have all of their time. */
function lanes({ filter, by, count, from, to }) {
  const selection = query.filter(data, filter), slice = data.samples.slices?.[0];
  const made = query.buckets(selection, count, { by, from, to, slice: slice?.width ? slice : null });
  const covered = Float64Array.from({ length: made.count }, (x, b) =>
    Math.max(1, Math.min(made.from + (b + 1) * made.step, data.span + 1) - Math.max(0, made.from + b * made.step)));
  return { ...made, covered, total: selection.total };
}

return { tree, more, rows, code, sandwich, search, folded, lanes, ...overAnswers(data), ...(data.report ? reportAnswers(data) : {}) };
})();
