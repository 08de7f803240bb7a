/* SPDX-License-Identifier: MIT */
/* What the state asks for, as the views draw it. */
let groups = [], groupOf = new Map(), ranks, main, shownTree, matched = null, pattern = null;
let everything = 1, otherEverything = 1; /* what is 100 % */

/* A piece of the recording is never as heavy as all of the other: with a range, shares are compared. */
const isPart = () => !!state.time || [state.pick, state.cpus, state.processes].some(list => list.length);
const isNormalized = () => state.normalize || isPart();
function changeOf(mine, other) {
  const change = mine - other * (isNormalized() ? everything / otherEverything : 1);
  return state.widths === "before" ? -change : change;
}

/* --- groups: what is one thing to the reader, a function or what stands below stacks --- */

const text = number => number < 0 ? "" : data.strings[number];
const commOf = thread => thread < 0 ? "[unknown]" : text(data.threads.comm[thread]) || "[unknown]";
const makers = {
  function: i => {
    const { name, module, file, line, kind } = data.functions;
    return { label: text(name[i]), module: text(module[i]), file: text(file[i]), line: line[i], kind: kind[i] };
  },
  module: i => ({ label: `[${base(text(i)) || "unknown"}]`, module: text(i), kind: MODULE }),
  comm: i => ({ label: text(i) || "[unknown]", kind: THREAD }),
  thread: i => ({ label: i < 0 ? "[unknown]" : `${commOf(i)} (${data.threads.pid[i]}/${data.threads.tid[i]})`, kind: THREAD }),
  process: pid => {
    const { pid: pids, tid } = data.threads, found = pids.findIndex((p, i) => p === pid && tid[i] === pid);
    return { label: `${commOf(found < 0 ? pids.indexOf(pid) : found)} (${pid})`, kind: THREAD };
  },
  cpu: i => ({ label: i < 0 ? "[no cpu]" : "cpu" + String(i).padStart(3, "0"), kind: CPU }),
  event: i => ({ label: data.meta.events[i].name, kind: CPU }),
  time: i => ({ label: i < 0 ? "[no time]" : timeLabel(i), kind: TIME }),
};
/* As `perfile flame --by time` calls pieces in its other forms. */
function timeLabel(piece) {
  let digits = 9;
  for (let rest = data.quantum; digits && rest % 10 === 0; rest /= 10) digits--;
  return (piece * data.quantum / 1e9).toFixed(digits) + "s";
}
function groupFor(key) {
  let group = groupOf.get(key);
  if (group !== undefined) return group;
  const { type, index } = query.describe(data, key);
  groupOf.set(key, group = groups.length);
  groups.push({ module: "", file: "", line: 0, ...makers[type](index), key, type, index });
  return group;
}
function rankGroups() {
  const sorted = groups.map((g, i) => i);
  sorted.sort((a, b) => groups[a].label < groups[b].label ? -1 : groups[a].label > groups[b].label ? 1 : a - b);
  ranks = new Int32Array(groups.length);
  sorted.forEach((group, i) => { ranks[group] = i; });
}
/* Of several recordings on a side: what is not certain to have changed is noise. */
const VERDICTS = { u: "unsure", s: "same", m: "more", l: "less" };
const verdictsOf = group => group >= 0 && groups[group].type === "function"
  ? data.verdicts.map(letters => VERDICTS[letters[groups[group].index]]) : [];
const isNoise = (group, whole) => data.verdicts && !/more|less/.test(verdictsOf(group)[whole ? 1 : 0]);
const verdictText = group => verdictsOf(group).map((word, i) => `${i ? "with what it calls" : "itself"} ${word || "–"}`).join(", ");
const keyOf = group => group < 0 ? -1 : groups[group].key;

/* --- trees --- */

/* Whose samples, as a filter. */
const whoIsWanted = () => ({ ...(state.pick.length ? { threads: state.pick } : {}), ...(state.cpus.length ? { cpus: state.cpus } : {}),
  ...(state.processes.length ? { processes: state.processes } : {}) });
const levelsOf = threads => BY[threads] || threads.split(",").map(level => LEVELS[level]);
function treeOf(event, part) {
  const selection = query.filter(data, { event, measure: state.measure, ...(part ? whoIsWanted() : {}), ...(part && state.time ? { time: state.time } : {}) });
  return query.tree(selection, state.transforms, { by: levelsOf(state.threads) });
}
const groupsIn = tree => tree.key.map(key => key < 0 ? -1 : groupFor(key));

/* Adds the nodes of a recording to the tree: which became which. */
function addNodes(tree, from, groups) {
  const places = new Int32Array(from.count);
  for (let i = 1; i < from.count; i++) if (from.total[i]) places[i] = tree.child(places[from.parent[i]], groups[i]);
  return places;
}
function compared(now, before) {
  const tree = new Tree(-1, 2 ** Math.ceil(Math.log2(now.count + 1024)));
  const places = addNodes(tree, now, groupsIn(now)), others = before && addNodes(tree, before, groupsIn(before));
  tree.finish();
  const [mine, other] = state.widths === "before" ? [tree.other, tree.self] : [tree.self, tree.other];
  for (let i = 0; i < now.count; i++) mine[places[i]] += now.self[i];
  for (let i = 0; before && i < before.count; i++) other[others[i]] += before.self[i];
  const totals = [now.total[0] || 1, before ? before.total[0] || 1 : 1];
  [everything, otherEverything] = state.widths === "before" ? totals.reverse() : totals;
  return tree;
}
function makeMain() {
  const event = data.events[state.event], now = treeOf(state.event, true);
  groups = [];
  groupOf = new Map();
  if (data.compares) {
    main = compared(now, event.before === undefined ? null : treeOf(data.events.length + event.before, false));
  } else {
    main = Tree.of(now, groupsIn(now)).finish();
    main.self.set(now.self);
    everything = now.total[0] || 1;
  }
  if (hasTotals())
    data.totals.fn.forEach((fn, i) => { if (data.totals.event[i] === state.event) groupFor(fn); });
  rankGroups();
  paint();
  main.weigh(state.order);
}

/* Every stack turned round: what is at the end of stacks, and who calls it. */
function turnedRound() {
  const tree = new Tree(-1), ends = new Int32Array(main.count);
  for (let i = 1; i < main.count; i++)
    if (main.self[i] || main.other && main.other[i])
      for (let n = i; n; n = main.parent[n]) ends[i] = tree.child(ends[i], main.group[n]);
  tree.finish();
  tree.turned = true;
  for (let i = 0; i < main.count; i++) tree.self[ends[i]] += main.self[i];
  for (let i = 0; main.other && i < main.count; i++) tree.other[ends[i]] += main.other[i];
  return tree.weigh(state.order);
}

/* Outermost nodes of a function, so that recursion counts once. */
function outermost(test) {
  const inside = new Uint8Array(main.count), found = [];
  for (let n = 1; n < main.count; n++) {
    inside[n] = inside[main.parent[n]];
    if (!inside[n] && test(main.group[n])) {
      inside[n] = 1;
      found.push(n);
    }
  }
  return found;
}

function callersOf(group) {
  const tree = new Tree(group), found = outermost(g => g === group);
  const ends = found.map(node => {
    let at = 0;
    for (let n = main.parent[node]; n; n = main.parent[n]) at = tree.child(at, main.group[n]);
    return at;
  });
  tree.finish();
  tree.turned = true;
  found.forEach((node, i) => {
    tree.self[ends[i]] += main.total[node];
    if (tree.other) tree.other[ends[i]] += main.otherTotal[node];
  });
  return tree.weigh(state.order);
}

function calleesOf(group) {
  const tree = new Tree(group), place = new Int32Array(main.count).fill(-1);
  for (let n = 1; n < main.count; n++) {
    const above = place[main.parent[n]];
    place[n] = above >= 0 ? tree.child(above, main.group[n]) : main.group[n] === group ? 0 : -1;
  }
  tree.finish();
  for (let n = 1; n < main.count; n++) if (place[n] >= 0) tree.self[place[n]] += main.self[n];
  for (let n = 1; main.other && n < main.count; n++) if (place[n] >= 0) tree.other[place[n]] += main.other[n];
  return tree.weigh(state.order);
}

/* --- places in trees, which are the same in the next one --- */

function pathOf(tree, node) {
  const path = [];
  for (; node > 0; node = tree.parent[node]) path.push(keyOf(tree.group[node]));
  return path.reverse();
}
/* 0: there is no such place, or nothing in it. */
function findPath(tree, path) {
  let node = 0;
  for (const key of path) {
    const group = groupOf.get(key);
    let found = 0;
    for (let i = tree.first[node]; group !== undefined && i < tree.first[node + 1]; i++)
      if (tree.group[tree.kids[i]] === group) found = tree.kids[i];
    if (!found || !tree.total[found] && !(tree.otherTotal && tree.otherTotal[found])) return 0;
    node = found;
  }
  return node;
}
