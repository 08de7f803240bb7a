/* SPDX-License-Identifier: MIT */
const state = { event: data.event, view: "flame", threads: "name", stacks: data.reverse ? "callers" : "callees",
  order: "weight", colour: data.compares ? "own" : "kind", widths: "now", normalize: data.normalized, flip: false,
  range: null, pattern: null, group: -1, sort: data.compares ? "change" : "self", up: false, shown: 100 };
let groups = [], groupOf, ranks, main, shownTree, nodeOf, beforeNodeOf, matched = null;
let everything = 1, otherEverything = 1; /* what is 100 % */

/* A piece of the recording is never as heavy as all of the other: with a range, shares are compared. */
const isNormalized = () => state.normalize || !!state.range;
function changeOf(mine, other) {
  const change = mine - other * (isNormalized() ? everything / otherEverything : 1);
  return state.widths === "before" ? -change : change;
}

/* Frames that are one thing to the reader. */
function makeGroups() {
  const known = new Map();
  groups = [];
  groupOf = Int32Array.from(frames, f => {
    const ids = f.kind === THREAD && state.threads === "apart" ? [f.pid, f.tid].filter(id => id >= 0) : [];
    const label = ids.length ? `${f.name} (${ids.join("/")})` : f.name;
    /* Of two recordings, neither the path of a file nor whether a function was inlined needs to be the same. */
    const key = (data.compares ? Math.max(f.kind, 4) : f.kind) + "\n" + label + "\n" + (data.compares ? "" : f.module);
    let group = known.get(key);
    if (group === undefined) {
      known.set(key, group = groups.length);
      groups.push({ label, module: f.module, file: f.file, line: f.line, kind: f.kind });
    }
    return group;
  });
  const sorted = groups.map((g, i) => i);
  sorted.sort((a, b) => groups[a].label < groups[b].label ? -1 : groups[a].label > groups[b].label ? 1 : a - b);
  ranks = new Int32Array(groups.length);
  sorted.forEach((group, i) => { ranks[group] = i; });
  paint();
}

/* Adds the nodes of a recording to the tree: which became which. */
function addNodes(tree, from) {
  const places = new Int32Array(from.count);
  for (let i = 1; i < from.count; i++) {
    const parent = places[from.parent[i]], group = groupOf[from.frame[i]];
    places[i] = state.threads === "one" && groups[group].kind === THREAD ? parent : tree.child(parent, group);
  }
  return places;
}

function makeMain() {
  const event = eventData(state.event);
  makeGroups();
  main = new Tree(-1, 2 ** Math.ceil(Math.log2(event.count + 1024)));
  nodeOf = addNodes(main, event);
  beforeNodeOf = event.before && addNodes(main, event.before);
  main.finish();
  weighMain();
}

/* What each node weighs itself now; returns what is 100 %. */
function weighNow(event, self) {
  self.fill(0);
  if (!state.range) {
    for (let i = 0; i < event.count; i++) self[nodeOf[i]] += event.self[i];
    return event.total;
  }
  let sum = 0;
  for (let i = event.first[state.range[0]]; i < event.first[state.range[1] + 1]; i++) {
    self[nodeOf[event.sliceNode[i]]] += event.sliceWeight[i];
    sum += event.sliceWeight[i];
  }
  return sum;
}

function weighBefore({ before }, self) {
  self.fill(0);
  for (let i = 0; before && i < before.count; i++) self[beforeNodeOf[i]] += before.self[i];
  return before ? before.total : 0;
}

function weighMain() {
  const event = eventData(state.event), swap = state.widths === "before";
  const now = weighNow(event, swap ? main.other : main.self) || 1;
  const before = data.compares ? weighBefore(event, swap ? main.self : main.other) || 1 : 1;
  [everything, otherEverything] = swap ? [before, now] : [now, before];
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
