/* SPDX-License-Identifier: MIT */
"use strict";
(() => {
const $ = id => document.getElementById(id);
const KINDS = ["user", "kernel", "inlined", "JIT", "no symbol", "thread", "processor", "time", "lighter"];
const ROW = 18, THREAD = 5, CPU = 6, LIGHTER = 8;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/* --- data: see html.c --- */

const data = JSON.parse($("data").textContent);
$("data").remove();

function numbers(base64) {
  const text = atob(base64), end = text.length;
  let at = 0;
  return { more: () => at < end, next() {
    let value = 0, factor = 1, byte;
    do {
      byte = text.charCodeAt(at++);
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte > 127);
    return value;
  } };
}

/* What would change the direction of text, or cannot be seen, is made visible. */
const clean = text => text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
  c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
const base = path => path.slice(path.lastIndexOf("/") + 1);

const strings = data.strings.map(clean);
/* Names as they are drawn, where that is shorter; the whole name is in tooltips, searches and what is copied. */
const shorter = new Map();
for (let i = 0; i < data.short.length; i += 2) shorter.set(strings[data.short[i]], clean(data.short[i + 1]));
const frames = [];
for (const from = numbers(data.frames); from.more();) {
  const string = () => { const n = from.next(); return n ? strings[n - 1] : ""; };
  const frame = { name: strings[from.next()], module: string(), file: string(), line: from.next(), kind: from.next() };
  if (frame.kind === THREAD) {
    frame.pid = from.next() - 1;
    frame.tid = from.next() - 1;
    frame.name ||= "[unknown]";
  } else if (frame.kind < THREAD && (!frame.name || frame.name === "[unknown]")) {
    frame.name = "[" + (base(frame.module) || "unknown") + "]";
    frame.kind = 4;
  }
  frames.push(frame);
}
/* Stands for callees that are not in the page. */
if (data.events.some(e => e.cutNodes || e.before && e.before.cutNodes))
  frames.push({ name: "… lighter callees", module: "", file: "", line: 0, kind: LIGHTER });

/* A tree in typed arrays; parents stand before children. `self` and `total` are what is drawn; of pages that compare,
 * `other` and `otherTotal` are the same of the other recording. */
class Tree {
  constructor(rootGroup, room = 1024) {
    this.room = room;
    this.count = 1;
    this.parent = new Int32Array(this.room);
    this.group = new Int32Array(this.room);
    this.group[0] = rootGroup;
    this.slots = new Int32Array(room * 4);
  }
  slot(parent, group) {
    const mask = this.slots.length - 1;
    let i = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(group, 0x85ebca6b)) >>> 7 & mask;
    for (let n; (n = this.slots[i]) && (this.parent[n] !== parent || this.group[n] !== group);) i = (i + 1) & mask;
    return i;
  }
  child(parent, group) {
    let i = this.slot(parent, group);
    if (this.slots[i]) return this.slots[i];
    if (this.count === this.room) {
      this.grow();
      i = this.slot(parent, group);
    }
    this.parent[this.count] = parent;
    this.group[this.count] = group;
    return (this.slots[i] = this.count++);
  }
  grow() {
    this.room *= 2;
    for (const name of ["parent", "group"]) {
      const bigger = new Int32Array(this.room);
      bigger.set(this[name]);
      this[name] = bigger;
    }
    this.slots = new Int32Array(this.room * 4);
    for (let n = 1; n < this.count; n++) this.slots[this.slot(this.parent[n], this.group[n])] = n;
  }
  /* All nodes are there. */
  finish() {
    const { count, parent } = this;
    this.slots = null;
    this.self = new Float64Array(count);
    this.total = new Float64Array(count);
    if (data.compares) {
      this.other = new Float64Array(count);
      this.otherTotal = new Float64Array(count);
    }
    this.start = new Float64Array(count);
    this.depth = new Int32Array(count);
    this.first = new Int32Array(count + 2);
    this.kids = new Int32Array(count);
    this.maxDepth = 0;
    for (let n = 1; n < count; n++) {
      this.first[parent[n] + 2]++;
      this.depth[n] = this.depth[parent[n]] + 1;
      if (this.depth[n] > this.maxDepth) this.maxDepth = this.depth[n];
    }
    for (let n = 0; n < count; n++) this.first[n + 2] += this.first[n + 1];
    for (let n = 1; n < count; n++) this.kids[this.first[parent[n] + 1]++] = n;
    return this;
  }
  /* self, and other if there is one, are filled. */
  weigh(order) {
    const { count, parent, total, otherTotal } = this;
    total.set(this.self);
    for (let n = count; n-- > 1;) total[parent[n]] += total[n];
    if (data.compares) {
      otherTotal.set(this.other);
      for (let n = count; n-- > 1;) otherTotal[parent[n]] += otherTotal[n];
      this.measure();
    }
    return this.place(order);
  }
  /* By how much more the frame weighs now than before. */
  change(node, whole) {
    return whole ? changeOf(this.total[node], this.otherTotal[node]) : changeOf(this.self[node], this.other[node]);
  }
  /* Leaf first, what weighs itself are the threads: there a frame's whole weight is compared. */
  shownChange(node) {
    return this.change(node, this.turned || state.colour === "whole");
  }
  measure() {
    this.mostOwn = this.mostWhole = 0;
    for (let n = 1; n < this.count; n++) {
      this.mostOwn = Math.max(this.mostOwn, Math.abs(this.change(n, false)));
      this.mostWhole = Math.max(this.mostWhole, Math.abs(this.change(n, true)));
    }
  }
  place(order) {
    const { count, total, start, first, kids, group } = this;
    const named = (a, b) => ranks[group[a]] - ranks[group[b]];
    const weighty = (a, b) => isOrdered(group[a]) && isOrdered(group[b]) ? 0 : total[b] - total[a];
    const heavy = (a, b) => weighty(a, b) || named(a, b);
    const compare = order === "name" ? named : heavy;
    for (let n = 0; n < count; n++) {
      const from = first[n], to = first[n + 1];
      if (to - from > 12) kids.subarray(from, to).sort(compare);
      else for (let i = from + 1; i < to; i++) {
        const kid = kids[i];
        let k = i;
        for (; k > from && compare(kids[k - 1], kid) > 0; k--) kids[k] = kids[k - 1];
        kids[k] = kid;
      }
      let at = start[n];
      for (let i = from; i < to; i++) {
        start[kids[i]] = at;
        at += total[kids[i]];
      }
    }
    return this;
  }
  heaviest(node) {
    let best = 0;
    for (let i = this.first[node]; i < this.first[node + 1]; i++)
      if (!best || this.total[this.kids[i]] > this.total[best]) best = this.kids[i];
    return best && this.total[best] ? best : 0;
  }
}

/* Processors and pieces of time keep their order. */
const isOrdered = group => groups[group].kind >= CPU && groups[group].kind < LIGHTER;

function readNodes(event) {
  const { count } = event, from = numbers(event.nodes);
  const parent = new Int32Array(count), frame = new Int32Array(count), self = new Float64Array(count);
  frame[0] = -1;
  self[0] = event.own;
  for (let i = 1; i < count; i++) {
    parent[i] = i - from.next();
    frame[i] = from.next();
    self[i] = from.next();
  }
  return { total: event.total, count, parent, frame, self };
}

/* The event as it was recorded, read on first use. */
const loaded = [];
function eventData(index) {
  if (loaded[index]) return loaded[index];
  const event = data.events[index], made = readNodes(event);
  made.first = new Int32Array(data.buckets + 1);
  if (event.before) made.before = readNodes(event.before);
  if (data.buckets) {
    const node = [], weight = [], from = numbers(event.slices);
    for (let bucket = 0; bucket < data.buckets; bucket++) {
      made.first[bucket] = node.length;
      for (let left = from.next(), at = 0; left--;) {
        const step = from.next();
        at += step % 2 ? -(step + 1) / 2 : step / 2;
        node.push(at);
        weight.push(from.next());
      }
    }
    made.first[data.buckets] = node.length;
    made.sliceNode = Int32Array.from(node);
    made.sliceWeight = Float64Array.from(weight);
  }
  return (loaded[index] = made);
}

/* --- state --- */

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

/* Of several recordings on a side: what is not certain to have changed is noise. */
const VERDICTS = { u: "unsure", s: "same", m: "more", l: "less" };
const isNoise = (group, whole) => data.verdicts && !/more|less/.test(groups[group].verdicts[whole ? 1 : 0]);
/* Frames that are one thing to the reader. */
function makeGroups() {
  const known = new Map();
  groups = [];
  groupOf = Int32Array.from(frames, (f, i) => {
    const ids = f.kind === THREAD && state.threads === "apart" ? [f.pid, f.tid].filter(id => id >= 0) : [];
    const label = ids.length ? `${f.name} (${ids.join("/")})` : f.name;
    /* Of two recordings, neither the path of a file nor whether a function was inlined needs to be the same. */
    const key = (data.compares ? Math.max(f.kind, 4) : f.kind) + "\n" + label + "\n" + (data.compares ? "" : f.module);
    let group = known.get(key);
    if (group === undefined) {
      known.set(key, group = groups.length);
      groups.push({ label, module: f.module, file: f.file, line: f.line, kind: f.kind,
        verdicts: data.verdicts && data.verdicts.map(of => VERDICTS[of[i]]) });
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

/* --- words --- */

const grouped = new Intl.NumberFormat("en-US");
function time(ns) {
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]])
    if (ns >= size) return +(ns / size).toPrecision(4) + " " + unit;
  return ns + " ns";
}
const unit = () => data.events[state.event].unit;
const weight = value => unit() === "ns" ? time(value) : grouped.format(value);
const withUnit = value => weight(value) + (unit() === "ns" ? "" : " " + unit());
function short(value) {
  for (const [size, sign] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]])
    if (value >= size && unit() !== "ns") return (value / size).toPrecision(4) + " " + sign;
  return weight(value);
}
function percent(value, of = everything) {
  const share = 100 * value / of;
  return (share && share < .01 ? "<0.01" : share.toFixed(share < 10 ? 2 : 1)) + "%";
}
/* A change as a share of everything: "+1.25%". */
function signed(change) {
  const share = 100 * change / everything, digits = Math.abs(share) < 10 ? 2 : 1;
  return (+share.toFixed(digits) ? (share < 0 ? "−" : "+") : "±") + Math.abs(share).toFixed(digits) + "%";
}
const labelOf = group => group < 0 ? "all" : groups[group].label;
const shortOf = group => group < 0 ? "all" : shorter.get(groups[group].label) || groups[group].label;
/* What stands between brackets is left out, from the second level on where the name begins with one, as Rust's do. */
function withoutArguments(name) {
  const plain = name.replace(/operator(<=>|<<=?|>>=?|->\*?|[<>]=?|\(\))/g, (all, sign) =>
    "operator" + sign.replace(/[<>()]/g, c => String.fromCharCode(0xe000 + c.charCodeAt(0))));
  let made = "", open = "", keeps = plain.startsWith("<") ? 1 : 0;
  for (let i = 0; i < plain.length; i++) {
    const c = plain[i], deep = open.length - keeps;
    if (c === "(" && deep === 0 && /^\((anonymous|lambda|\*)/.test(plain.slice(i, i + 11))) {
      const end = plain.indexOf(")", i);
      if (end < 0) return name;
      made += plain.slice(i, end + 1);
      i = end;
    } else if (c === "<" || c === "(") {
      if (deep < 0) made += c;
      else if (deep === 0) made += c + (")>".includes(plain[i + 1]) ? "" : "…");
      open += c;
    } else if (c === ">" && plain[i - 1] !== "-" || c === ")") {
      if (open.at(-1) !== (c === ">" ? "<" : "(")) return name;
      open = open.slice(0, -1);
      if (open.length - keeps <= 0) made += c;
      if (!open) keeps = 0;
    } else if (deep <= 0) {
      made += c;
    }
  }
  return open ? name : made.replace(/[\ue000-\ue0ff]/g, c => String.fromCharCode(c.charCodeAt(0) - 0xe000));
}
/* The middle is left out: names that begin alike are told apart by their ends. */
function shorten(text, most) {
  return text.length <= most ? text : text.slice(0, most * .4).replace(/[\ud800-\udbff]$/, "") + "…" +
    text.slice(-most * .6).replace(/^[\udc00-\udfff]/, "");
}
const LONG = 110, briefs = new Map();
function briefOf(group) {
  const whole = shortOf(group);
  let brief = briefs.get(whole);
  if (brief === undefined) briefs.set(whole, brief = withoutArguments(whole));
  return brief;
}
function lineOf(group) {
  const whole = shortOf(group);
  return whole.length <= LONG ? whole : shorten(briefOf(group), LONG);
}
function where(group) {
  if (group < 0) return "";
  const g = groups[group];
  return [KINDS[g.kind], g.module, g.file && g.file + (g.line ? ":" + g.line : "")].filter(x => x).join(" · ");
}
const say = text => { $("live").textContent = text; };
function element(name, attributes, ...content) {
  const made = document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.append(...content);
  return made;
}

/* --- colours --- */

let dark = false, fills = [], css = {};
function hash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  h = Math.imul(h ^ h >>> 15, 0x85ebca6b);
  return ((h ^ h >>> 13) >>> 0) / 4294967296;
}
/* hue, its range, saturation, lightness */
const PALETTE = [[8, 44, 84, 66], [222, 34, 68, 74], [168, 24, 48, 64], [92, 34, 46, 64], [34, 12, 16, 70],
  [220, 10, 12, 78], [200, 20, 22, 76], [48, 10, 22, 78], [220, 4, 8, 84]];
function colour(kind, at) {
  const [hue, range, full, light] = PALETTE[kind] || PALETTE[4];
  const bright = light - (dark ? 9 : 0) + 5 * (at * 7 % 1);
  return `hsl(${(hue + range * at).toFixed(0)},${dark ? full * .72 : full}%,${bright}%)`;
}
const comparesColours = () => state.colour === "own" || state.colour === "whole";
/* Red is more, blue less; -1 to 1. */
function changeColour(at) {
  const strength = Math.sqrt(Math.min(1, Math.abs(at)));
  return `hsl(${at > 0 ? 4 : 218},${(dark ? 10 + 60 * strength : 95 * strength).toFixed(0)}%,${
    (dark ? 62 - 4 * strength : 90 - 22 * strength).toFixed(0)}%)`;
}
function fillOf(tree, node) {
  if (!comparesColours()) return fills[tree.group[node]];
  const most = tree.turned || state.colour === "whole" ? tree.mostWhole : tree.mostOwn;
  const noise = isNoise(tree.group[node], tree.turned || state.colour === "whole");
  return changeColour(most && !noise ? tree.shownChange(node) / most : 0);
}
function keys() {
  if (comparesColours())
    return [[1, "more than before"], [0, data.verdicts ? "same, or unsure" : "as before"], [-1, "less"]].map(([at, text]) => [changeColour(at), text]);
  const kinds = new Set(state.colour === "kind" ? groups.map(g => g.kind) : []);
  return [...kinds].sort().map(k => [colour(k, .5), KINDS[k]]);
}
function paint() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["back", "text", "quiet", "accent", "hitfill", "tiny", "frame", "line", "bar", "row"])
    css[name] = style.getPropertyValue("--" + name).trim();
  fills = groups.map(g => state.colour !== "module" ? colour(g.kind, hash(g.label))
    : g.kind >= THREAD ? colour(g.kind, 0)
    : `hsl(${(360 * hash(g.module)).toFixed(0)},${dark ? 42 : 62}%,${(dark ? 60 : 70) + 6 * hash(g.label)}%)`);
  $("key").replaceChildren(...keys().map(([fill, text]) =>
    element("span", {}, element("i", { style: "background:" + fill }), text)));
}

/* --- a flame graph on a canvas --- */

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
let widths;
function widthAt(text, i, p) {
  widths ||= Float64Array.from({ length: 128 }, (x, c) => p.measureText(String.fromCharCode(c)).width);
  const code = text.charCodeAt(i);
  return code < 128 ? widths[code] : 12;
}
function fits(text, room, p) {
  for (let i = 0; i < text.length; i++) if ((room -= widthAt(text, i, p)) < 0) return false;
  return true;
}
/* The first that fits, or what fits of both ends of the last one. */
function fitted(texts, room, p) {
  for (const text of texts) if (fits(text, room, p)) return text;
  const text = texts.at(-1);
  let head = 0, tail = text.length, left = 0, right = 0;
  for (room -= 12; head < tail;) {
    const first = left <= right, width = widthAt(text, first ? head : tail - 1, p);
    if (left + right + width > room) break;
    if (first) { left += width; head++; } else { right += width; tail--; }
  }
  if (head < 2) return "";
  return text.slice(0, head).replace(/[\ud800-\udbff]$/, "") + "…" + text.slice(tail).replace(/^[\udc00-\udfff]/, "");
}

class Flame {
  constructor(host, label, up) {
    Object.assign(this, { host, up, label, tree: null, selected: 0, hover: -1, from: 0, to: 1, wanted: 0 });
    this.canvas = element("canvas", { tabindex: 0, role: "application", "aria-roledescription": "flame graph",
      "aria-label": label + ". Arrow keys move, Enter zooms, s shows callers and callees, ? helps." });
    this.space = element("div", {}, this.canvas);
    host.append(this.space);
    this.paint = this.canvas.getContext("2d");
    const on = (name, act) => this.canvas.addEventListener(name, act);
    host.addEventListener("scroll", () => this.later());
    on("mousemove", e => this.point(e));
    on("mouseleave", () => this.setHover(-1));
    on("mousedown", e => { if (!e.button) this.drag = { x: e.clientX, from: this.from, to: this.to, moved: false }; });
    addEventListener("mousemove", e => this.pull(e));
    addEventListener("mouseup", () => { setTimeout(() => { this.drag = null; }); });
    on("click", e => { if (!this.drag || !this.drag.moved) this.choose(this.at(e)); });
    on("dblclick", e => { const n = this.at(e); if (n >= 0) this.zoom(n); });
    on("wheel", e => this.wheel(e));
    on("keydown", e => this.key(e));
    on("focus", () => describe(this.tree, this.selected));
    new ResizeObserver(() => this.resize()).observe(host);
  }
  show(tree, keepZoom) {
    const same = keepZoom && this.tree === tree;
    this.tree = tree;
    this.hover = -1;
    if (!same) this.selected = 0;
    this.zoom(same && this.zoomed > 0 && tree.total[this.zoomed] ? this.zoomed : 0, true);
    this.resize();
    if (this.up) this.host.scrollTop = 1e9;
  }
  resize() {
    const box = this.host.getBoundingClientRect();
    if (!this.tree || !box.width || !box.height) return;
    const ratio = devicePixelRatio || 1, height = (this.tree.maxDepth + 1) * ROW;
    this.space.style.height = Math.max(height, box.height) + "px";
    this.width = this.host.clientWidth;
    this.height = box.height;
    this.full = Math.max(height, box.height);
    this.canvas.style.width = this.width + "px";
    this.canvas.style.height = this.height + "px";
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.ratio = ratio;
    this.draw();
  }
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }
  y(depth) {
    return (this.up ? this.full - (depth + 1) * ROW : depth * ROW) - this.host.scrollTop;
  }
  draw() {
    if (!this.tree || !this.width) return;
    const p = this.paint, { tree, width, height, from } = this;
    const scale = width / ((this.to - from) || 1), stack = [0];
    p.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    p.clearRect(0, 0, width, height);
    p.font = FONT;
    p.textBaseline = "middle";
    this.drawn = 0;
    while (stack.length) {
      const node = stack.pop(), y = this.y(tree.depth[node]);
      if (y > -ROW && y < height) this.frame(node, y, scale);
      if (this.up ? y > -ROW : y < height) this.expand(node, scale, stack);
    }
    if (tree.total[0] === 0) {
      p.fillStyle = css.quiet;
      p.fillText(tree.otherTotal && tree.otherTotal[0] ? "only in the other recording: see Widths" :
        "nothing was recorded here", 12, 40);
    }
  }
  /* The children that can be seen; what is too narrow becomes one dull strip. */
  expand(node, scale, stack) {
    const { tree, from, to } = this, end = tree.first[node + 1], y = this.y(tree.depth[node] + 1);
    let i = tree.first[node], high = end;
    while (i < high) {
      const middle = i + high >> 1, kid = tree.kids[middle];
      if (tree.start[kid] + tree.total[kid] <= from) i = middle + 1; else high = middle;
    }
    let strip = -1;
    for (; i < end; i++) {
      const kid = tree.kids[i], x = (tree.start[kid] - from) * scale;
      if (tree.start[kid] >= to) break;
      if (!tree.total[kid]) continue;
      if (tree.total[kid] * scale < .7) {
        if (strip < 0) strip = x;
        if (state.order !== "name" && !isOrdered(tree.group[kid])) {
          i = end;
          const last = tree.kids[end - 1];
          this.strip(strip, (tree.start[last] + tree.total[last] - from) * scale, y);
          return;
        }
      } else {
        if (strip >= 0) this.strip(strip, x, y);
        strip = -1;
        stack.push(kid);
      }
    }
    const last = tree.kids[i - 1];
    if (strip >= 0) this.strip(strip, (Math.min(to, tree.start[last] + tree.total[last]) - from) * scale, y);
  }
  strip(x, end, y) {
    if (end - x < .35 || y <= -ROW || y >= this.height) return;
    this.paint.fillStyle = css.tiny;
    this.paint.fillRect(x, y, end - x, ROW - 1);
  }
  frame(node, y, scale) {
    const p = this.paint, { tree } = this, group = tree.group[node];
    let x = (tree.start[node] - this.from) * scale, w = tree.total[node] * scale;
    if (x < 0) { w += x; x = 0; }
    if (x + w > this.width) w = this.width - x;
    if (w <= 0) return;
    const hit = matched && group >= 0 && matched[group];
    this.drawn++;
    p.globalAlpha = matched && !hit ? .38 : tree.total[node] * scale > this.width * 1.001 ? .75 : 1;
    p.fillStyle = hit ? css.hitfill : group < 0 ? css.tiny : fillOf(tree, node);
    p.fillRect(x, y, w > 2 ? w - 1 : w, ROW - 1);
    if (w > 22) {
      const text = fitted([this.caption(node), shortOf(group), briefOf(group)], w - 8, p);
      p.fillStyle = group < 0 && dark ? css.text : css.frame;
      if (text) p.fillText(text, x + 4, y + ROW / 2);
    }
    p.globalAlpha = 1;
    if (node === this.hover || node === this.selected && (node || document.activeElement === this.canvas)) {
      p.strokeStyle = node === this.selected ? css.accent : css.text;
      p.lineWidth = node === this.selected ? 2 : 1;
      p.strokeRect(x + .5, y + .5, Math.max(1, w - 2), ROW - 2);
    }
  }
  /* The name, and what changed where it is worth a word. */
  caption(node) {
    const { tree } = this, label = shortOf(tree.group[node]);
    if (!data.compares || !node) return label;
    const change = tree.shownChange(node);
    return Math.abs(change) >= everything * .001 ? `${label}  ${signed(change)}` : label;
  }
  at(e) {
    const box = this.canvas.getBoundingClientRect(), { tree } = this;
    const y = e.clientY - box.top + this.host.scrollTop;
    let depth = Math.floor((this.up ? this.full - y : y) / ROW), node = 0;
    const w = this.from + (e.clientX - box.left) * (this.to - this.from) / this.width;
    if (depth < 0 || w < 0 || w >= tree.total[0]) return -1;
    for (; depth--;) {
      let low = tree.first[node], high = tree.first[node + 1];
      const end = high;
      while (low < high) {
        const middle = low + high >> 1, kid = tree.kids[middle];
        if (tree.start[kid] + tree.total[kid] <= w) low = middle + 1; else high = middle;
      }
      node = low < end ? tree.kids[low] : -1;
      if (node < 0 || tree.start[node] > w) return -1;
    }
    return node;
  }
  point(e) {
    if (!this.drag || !this.drag.moved) this.setHover(this.at(e));
  }
  setHover(node) {
    if (node === this.hover) return;
    this.hover = node;
    this.canvas.title = "";
    describe(this.tree, node >= 0 ? node : this.selected);
    this.later();
  }
  pull(e) {
    const d = this.drag;
    if (!d || Math.abs(e.clientX - d.x) < 4 && !d.moved || d.to - d.from >= this.tree.total[0]) return;
    d.moved = true;
    const by = (d.x - e.clientX) * (d.to - d.from) / this.width;
    this.window(d.from + by, d.to + by);
  }
  wheel(e) {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    this.scale(Math.exp(e.deltaY * .004), (e.clientX - this.canvas.getBoundingClientRect().left) / this.width);
  }
  scale(factor, at) {
    const width = this.to - this.from, all = this.tree.total[0];
    const wide = Math.max(all * 1e-7, Math.min(all, width * factor)), middle = this.from + width * at;
    this.window(middle - wide * at, middle + wide * (1 - at));
  }
  window(from, to) {
    const all = this.tree.total[0], wide = Math.min(all, to - from);
    this.from = Math.max(0, Math.min(from, all - wide));
    this.to = this.from + wide;
    this.zoomed = wide < all ? -1 : 0;
    this.moving = 0;
    if (this === flame) $("reset").disabled = !this.zoomed;
    this.later();
  }
  zoom(node, atOnce) {
    const { tree } = this, from = tree.start[node], to = from + (tree.total[node] || 1);
    const a = this.from, b = this.to, begin = performance.now(), run = this.moving = (this.moving || 0) + 1;
    const step = now => {
      if (this.moving !== run) return;
      const t = Math.min(1, (now - begin) / 160), ease = t * (2 - t);
      this.from = a + (from - a) * ease;
      this.to = b + (to - b) * ease;
      this.draw();
      if (t < 1) requestAnimationFrame(step);
    };
    this.zoomed = node;
    if (this === flame) $("reset").disabled = !node;
    if (atOnce || calm.matches) {
      this.from = from;
      this.to = to;
      this.later();
    } else {
      requestAnimationFrame(step);
    }
  }
  choose(node, speak) {
    if (node < 0) return;
    this.selected = node;
    describe(this.tree, node);
    this.reveal();
    if (speak) say(`${$("details").innerText}, level ${this.tree.depth[node]}`);
    this.later();
  }
  /* Brings the selected frame into view. */
  reveal() {
    const { tree, selected, host } = this, start = tree.start[selected], end = start + tree.total[selected];
    if (start >= this.to || end <= this.from || (end - start) * this.width / (this.to - this.from) < 3) {
      let node = tree.parent[selected];
      while (node && (end - start) / tree.total[node] < .02) node = tree.parent[node];
      this.zoom((end - start) / tree.total[node] < .02 ? selected : node);
    }
    const y = this.y(tree.depth[selected]);
    if (y < 0) host.scrollTop += y - ROW;
    else if (y > this.height - ROW) host.scrollTop += y - this.height + 2 * ROW;
  }
  key(e) {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const { tree, selected } = this, deeper = this.up ? "ArrowUp" : "ArrowDown";
    let to = -1;
    if (e.key === "ArrowUp" || e.key === "ArrowDown")
      to = e.key === deeper ? tree.heaviest(selected) || -1 : selected ? tree.parent[selected] : -1;
    else if (e.key === "ArrowLeft" || e.key === "ArrowRight") to = this.beside(e.key === "ArrowLeft" ? -1 : 1);
    else if (e.key === "Home") to = 0;
    else if (e.key === "Enter") this.zoom(selected);
    else if (e.key === "Backspace") this.zoom(this.zoomed > 0 ? tree.parent[this.zoomed] : 0);
    else if (e.key === "+" || e.key === "=") this.scale(1 / 1.5, .5);
    else if (e.key === "-") this.scale(1.5, .5);
    else if (e.key === "0") this.zoom(0);
    else if (e.key === "PageDown" || e.key === "PageUp")
      this.host.scrollTop += (e.key === "PageDown" ? 1 : -1) * (this.height - ROW);
    else if (e.key === "s" && selected && tree.group[selected] >= 0) showFunction(tree.group[selected]);
    else if (e.key === "n" || e.key === "N") to = this.match(e.key === "n" ? 1 : -1);
    else return;
    e.preventDefault();
    if (to >= 0) this.choose(to, true);
    else if (e.key.startsWith("Arrow")) say("nothing there");
  }
  /* The next frame to the left or right at the same depth, whoever calls it. */
  beside(step) {
    const { tree, selected } = this;
    let best = -1;
    for (let n = 1; n < tree.count; n++) {
      const far = (tree.start[n] - tree.start[selected]) * step;
      if (tree.depth[n] === tree.depth[selected] && tree.total[n] && far > 0 &&
        (best < 0 || far < (tree.start[best] - tree.start[selected]) * step)) best = n;
    }
    return best;
  }
  match(step) {
    const { tree } = this;
    if (!matched) return -1;
    for (let i = 1, n = this.selected; i <= tree.count; i++) {
      n = (n + step + tree.count) % tree.count;
      if (n && tree.total[n] && matched[tree.group[n]]) return n;
    }
    return -1;
  }
}

function describe(tree, node) {
  const group = tree.group[node], box = $("details");
  const parent = tree.parent[node], all = tree.total[node];
  /* As the root of its callers or callees, a function has its inner calls' own weight, too. */
  const row = !node && group >= 0 && rows && rows.find(r => r.group === group), own = row ? row.self : tree.self[node];
  const text = node || group >= 0
    ? ` ${withUnit(all)}, ${percent(all)}` +
      (own && own !== all ? ` · itself ${percent(own)}` : "") +
      (node && parent ? ` · ${percent(all, tree.total[parent])} of ${lineOf(tree.group[parent])}` : "")
    : ` ${withUnit(all)}` + (everything > all ? `, ${percent(all)}` : "");
  const whole = labelOf(group), name = lineOf(group);
  const more = name === whole ? [] : [" ", element("button", { type: "button", class: "link" }, "whole name")];
  if (more.length) more[1].addEventListener("click", () => {
    $("wholename").textContent = [whole, where(group)].join("\n\n");
    $("names").showModal();
  });
  box.replaceChildren(element("b", { title: whole }, name), ...more, text + comparison(tree, node), element("br", {}),
    element("span", { class: "quiet" }, where(group) || " "));
}
const verdictOf = group => groups[group].verdicts.map((word, i) => `${i ? "with what it calls" : "itself"} ${word || "–"}`).join(", ");
/* Before, and by how much it changed. */
function comparison(tree, node) {
  if (!data.compares) return "";
  if (!data.events[state.event].before) return " · the earlier recording has no such event";
  const swap = state.widths === "before", other = tree.otherTotal[node];
  return ` · ${swap ? "now" : "before"} ${withUnit(other)}, ${percent(other, otherEverything)} · ` +
    `change ${signed(tree.change(node, true))}` +
    (tree.turned || !node ? "" : `, itself ${signed(tree.change(node, false))}`) +
    (node && data.verdicts ? " · " + verdictOf(tree.group[node]) : "");
}
/* In every view: what a page with not all stacks can and cannot tell. */
function showCut() {
  const event = data.events[state.event], before = event.before || { cutNodes: 0 };
  const exact = event.sums && !state.range ? "the totals in Functions are exact" : "totals of functions are too low";
  const told = data.joins ? ["There are too many stacks to tell threads of one name apart."] : [];
  if (event.cutNodes || before.cutNodes)
    told.push(`${grouped.format(event.cutNodes || before.cutNodes)} of ${grouped.format((event.cutNodes ? event : before).count +
      (event.cutNodes || before.cutNodes))} frames are too light for this page: “${frames.at(-1).name}” stands for them, ` +
      `${percent(event.cutWeight, event.total)} of the weight. Stacks, callers and callees end there; ${exact}.`);
  $("cut").replaceChildren(...told.map(text => element("li", {}, text)));
}

/* --- functions: a table, callers and callees --- */

let rows = null; /* made when they are looked at */
/* Of a cut tree: what functions weigh with what was cut; not known of pieces of time and of two recordings. */
function exactRows() {
  const { sums } = data.events[state.event], made = new Map();
  if (!sums || state.range) return null;
  for (let from = numbers(sums), frame = 0; from.more();) {
    frame += from.next();
    const group = groupOf[frame], self = from.next(), total = from.next(), row = made.get(group);
    if (state.threads === "one" && groups[group].kind === THREAD) continue;
    if (row) {
      row.self += self;
      row.total += total;
    } else {
      made.set(group, { group, self, total, change: 0, whole: 0 });
    }
  }
  return [...made.values()];
}
function makeRows() {
  if (rows || (rows = exactRows())) return;
  const self = new Float64Array(groups.length), total = new Float64Array(groups.length);
  const other = new Float64Array(groups.length), otherTotal = new Float64Array(groups.length);
  const open = new Int32Array(groups.length), stack = [];
  for (let i = main.first[0]; i < main.first[1]; i++) stack.push(main.kids[i]);
  while (stack.length) {
    const node = stack.pop();
    if (node < 0) {
      open[main.group[~node]]--;
      continue;
    }
    const group = main.group[node];
    const outer = open[group]++ === 0;
    self[group] += main.self[node];
    if (outer) total[group] += main.total[node];
    if (data.compares) other[group] += main.other[node];
    if (data.compares && outer) otherTotal[group] += main.otherTotal[node];
    stack.push(~node);
    for (let i = main.first[node]; i < main.first[node + 1]; i++) stack.push(main.kids[i]);
  }
  rows = [];
  for (let g = 0; g < groups.length; g++)
    if (total[g] || otherTotal[g])
      rows.push({ group: g, self: self[g], total: total[g], change: changeOf(self[g], other[g]),
        whole: changeOf(total[g], otherTotal[g]) });
}
const orders = {
  change: (a, b) => Math.abs(b.change) - Math.abs(a.change) || Math.abs(b.whole) - Math.abs(a.whole) ||
    orders.self(a, b),
  self: (a, b) => b.self - a.self || b.total - a.total || ranks[a.group] - ranks[b.group],
  total: (a, b) => b.total - a.total || b.self - a.self || ranks[a.group] - ranks[b.group],
  name: (a, b) => ranks[a.group] - ranks[b.group],
  module: (a, b) => groups[a.group].module.localeCompare(groups[b.group].module) || orders.self(a, b),
};

function nameCell(group, ...before) {
  const g = groups[group], cell = element("td", { title: g.label + (g.file ? `\n${g.file}:${g.line}` : "") }, ...before,
    element("i", { style: "background:" + fills[group], title: KINDS[g.kind] }));
  const found = state.pattern && g.label.match(state.pattern), text = found && found[0] ? g.label : lineOf(group);
  const at = found && found[0] ? found.index : text.length, end = at + (found ? found[0].length : 0);
  cell.append(text.slice(0, at));
  if (at < end) cell.append(element("mark", {}, text.slice(at, end)), text.slice(end));
  return cell;
}
function weightCell(value) {
  const share = Math.min(100, 100 * value / everything).toFixed(2);
  return element("td", { class: value ? "bar" : "bar quiet", style: `--share:${share}%`, title: withUnit(value) },
    element("b", {}, value ? percent(value) : "–"), value ? short(value) : "");
}
/* Of pages that compare; a table without such a column gets none. */
function changeCells(group, own, whole) {
  if (!data.compares) return [];
  return [element("td", { class: isNoise(group, false) || !own ? "quiet" : own > 0 ? "more" : "less",
    title: `itself ${signed(own)}, with what it calls ${signed(whole)}` + (data.verdicts ? ` · ${verdictOf(group)}` : "") },
    signed(own))];
}
const moduleCell = group => element("td", { title: groups[group].module }, base(groups[group].module));

function showTable() {
  makeRows();
  const list = rows.filter(r => !matched || matched[r.group]).sort(orders[state.sort]);
  if (state.up) list.reverse();
  if (!list.some(r => r.group === state.group)) state.group = list.length ? list[0].group : -1;
  const body = $("functions").tBodies[0];
  body.replaceChildren(...list.slice(0, state.shown).map(r => {
    const row = element("tr", { tabindex: r.group === state.group ? 0 : -1, "aria-selected": r.group === state.group },
      weightCell(r.self), weightCell(r.total), ...changeCells(r.group, r.change, r.whole), nameCell(r.group),
      moduleCell(r.group));
    row.group = r.group;
    return row;
  }));
  if (!body.querySelector("[tabindex='0']") && body.rows[0]) body.rows[0].tabIndex = 0;
  for (const head of document.querySelectorAll("#functions th")) {
    const by = head.dataset.by, falling = by !== "name" && by !== "module" !== state.up;
    if (by === state.sort) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  $("more").hidden = list.length <= state.shown;
  $("more").textContent = `Show more (${grouped.format(list.length - state.shown)})`;
  showSandwich();
}
let sandwichOf = -1;
function showSandwich() {
  if (sandwichOf === state.group && sandwichOf >= 0) return;
  sandwichOf = state.group;
  for (const part of [callers, callees]) part.host.hidden = state.group < 0;
  $("callershead").textContent = state.group < 0 ? "No function" : "Callers of " + lineOf(state.group);
  $("calleeshead").textContent = state.group < 0 ? "" : "Callees of " + lineOf(state.group);
  if (state.group < 0) return;
  callers.show(callersOf(state.group));
  callees.show(calleesOf(state.group));
  describe(callees.tree, 0);
}
function pickRow(row, focus) {
  if (!row || row.group === undefined) return;
  for (const other of $("functions").tBodies[0].rows) {
    other.setAttribute("aria-selected", other === row);
    other.tabIndex = other === row ? 0 : -1;
  }
  if (focus) row.focus();
  if (state.group === row.group) return;
  state.group = row.group;
  showSandwich();
}
function showFunction(group) {
  if (group < 0) return;
  state.group = group;
  makeRows();
  const at = rows.sort(orders[state.sort]).findIndex(r => r.group === group);
  state.shown = Math.max(state.shown, at + 50);
  if (matched && !matched[group]) search("");
  show("table");
  const row = $("functions").tBodies[0].querySelector("[aria-selected=true]");
  if (row) {
    row.focus();
    row.scrollIntoView({ block: "center" });
  }
  say(`Callers and callees of ${labelOf(group)}`);
}

/* --- the call tree as a table --- */

const opened = new Set(), LISTED = 100, MORE = 400, MOST_ROWS = 5000;
const listed = new Map(); /* by caller: how many callees */
function showTree() {
  const body = $("tree").tBodies[0], made = [], tree = shownTree;
  let full = false;
  const words = text => {
    const row = element("tr", { role: "row", class: "quiet", tabindex: -1 }, element("td", {
      colspan: data.compares ? 5 : 4, role: "gridcell" }, text));
    made.push(row);
    return row;
  };
  const add = (parent, level) => {
    const kids = [...tree.kids.subarray(tree.first[parent], tree.first[parent + 1])]
      .filter(n => tree.total[n] || tree.otherTotal && tree.otherTotal[n])
      .sort((a, b) => isOrdered(tree.group[a]) && isOrdered(tree.group[b]) ? 0 : tree.total[b] - tree.total[a]);
    const most = listed.get(parent) || LISTED;
    kids.slice(0, most).forEach((node, i) => {
      if (made.length >= MOST_ROWS) {
        full = true;
        return;
      }
      const leaf = tree.first[node] === tree.first[node + 1], isOpen = opened.has(node);
      const twist = element("span", { class: "twist", style: `margin-left:${Math.min(level - 1, 40) * 12}px` },
        leaf ? "" : isOpen ? "▾" : "▸");
      const row = element("tr", { role: "row", tabindex: -1, "aria-level": level, "aria-posinset": i + 1,
        "aria-setsize": kids.length }, weightCell(tree.total[node]), weightCell(tree.self[node]),
        ...(data.compares ? changeCells(tree.group[node], tree.change(node, false), tree.change(node, true)) : []),
        nameCell(tree.group[node], twist), moduleCell(tree.group[node]));
      for (const cell of row.cells) cell.setAttribute("role", "gridcell");
      if (!leaf) row.setAttribute("aria-expanded", isOpen);
      row.node = node;
      made.push(row);
      if (isOpen && !leaf) add(node, level + 1);
    });
    if (kids.length > most && !full)
      words(`${grouped.format(kids.length - most)} lighter ones: Enter or a click lists more`).more = parent;
  };
  add(0, 1);
  if (full) words(`Only ${grouped.format(MOST_ROWS)} rows are listed: close some`);
  body.replaceChildren(...made);
  if (made[0]) made[0].tabIndex = 0;
}
function openHotPath() {
  opened.clear();
  listed.clear();
  const { total } = shownTree;
  for (let node = 0, next; (next = shownTree.heaviest(node)) && (!node || total[next] * 3 >= total[node]); node = next)
    opened.add(next);
}
function focusNode(node) {
  for (const row of $("tree").tBodies[0].rows) {
    row.tabIndex = row.node === node ? 0 : -1;
    if (row.node === node) row.focus();
  }
}
function turn(node, open) {
  if (open) opened.add(node); else opened.delete(node);
  showTree();
  focusNode(node);
}
/* The first of those that come is focused. */
function listMore(row) {
  const at = row.rowIndex;
  listed.set(row.more, (listed.get(row.more) || LISTED) + MORE);
  showTree();
  const next = $("tree").rows[at];
  if (next.node) focusNode(next.node); else next.focus();
}
$("tree").addEventListener("focusin", e => { if (e.target.node) describe(shownTree, e.target.node); });
$("tree").addEventListener("click", e => {
  const row = e.target.closest("tr");
  if (row && row.more !== undefined) listMore(row);
  else if (row && row.node) turn(row.node, !opened.has(row.node));
});
function moveRow(e) {
  const row = e.target.closest("tbody tr");
  const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[e.key];
  if (!row || e.ctrlKey || e.altKey || e.metaKey) return null;
  if (step && row[step]) {
    row.tabIndex = -1;
    row[step].tabIndex = 0;
    row[step].focus();
  }
  if (step) e.preventDefault();
  return step ? null : row;
}
$("tree").addEventListener("keydown", e => {
  const row = moveRow(e);
  if (row && row.more !== undefined && e.key === "Enter") listMore(row);
  if (!row || !row.node) return;
  if (e.key === "ArrowRight" && row.getAttribute("aria-expanded") === "false") turn(row.node, true);
  else if (e.key === "ArrowLeft" && row.getAttribute("aria-expanded") === "true") turn(row.node, false);
  else if (e.key === "ArrowLeft") focusNode(shownTree.parent[row.node]);
  else if (e.key === "Enter" || e.key === " ") turn(row.node, !opened.has(row.node));
  else if (e.key === "s") showFunction(shownTree.group[row.node]);
  else return;
  e.preventDefault();
});

/* --- the timeline --- */

const timeCanvas = $("time"), BARS = 46, LANE = 11;
let lanes = [], barTotals, cursor = 0, pulled = null;
function makeLanes() {
  const event = eventData(state.event), byThread = new Map();
  const thread = new Int32Array(event.count).fill(-1);
  barTotals = new Float64Array(data.buckets);
  for (let n = 1; n < event.count; n++) {
    const above = thread[event.parent[n]], { kind } = frames[event.frame[n]];
    thread[n] = above < 0 && (kind === THREAD || kind === CPU) ? groupOf[event.frame[n]] : above;
  }
  for (let bucket = 0; bucket < data.buckets; bucket++) {
    for (let i = event.first[bucket]; i < event.first[bucket + 1]; i++) {
      const group = thread[event.sliceNode[i]];
      let lane = byThread.get(group);
      if (!lane) byThread.set(group, lane = { group, total: 0, weights: new Float64Array(data.buckets) });
      lane.total += event.sliceWeight[i];
      lane.weights[bucket] += event.sliceWeight[i];
      barTotals[bucket] += event.sliceWeight[i];
    }
  }
  lanes = [...byThread.values()].filter(l => l.group >= 0).sort((a, b) => b.total - a.total);
  const rest = lanes.splice(6);
  lanes.sort((a, b) => isOrdered(a.group) ? ranks[a.group] - ranks[b.group] : 0);
  if (lanes.length < 2) lanes = [];
  lanes.hidden = rest.length;
}
function drawTime() {
  if (!data.buckets) return;
  const ratio = devicePixelRatio || 1, width = timeCanvas.clientWidth, height = BARS + 4 + lanes.length * LANE;
  timeCanvas.style.height = height + "px";
  timeCanvas.width = Math.round(width * ratio);
  timeCanvas.height = Math.round(height * ratio);
  const p = timeCanvas.getContext("2d"), step = width / data.buckets, gap = step > 4 ? 1 : 0;
  const top = barTotals.reduce((a, b) => Math.max(a, b), 1), chosen = state.range;
  p.setTransform(ratio, 0, 0, ratio, 0, 0);
  p.clearRect(0, 0, width, height);
  if (chosen) {
    p.fillStyle = css.row;
    p.fillRect(chosen[0] * step, 0, (chosen[1] - chosen[0] + 1) * step, height);
  }
  p.font = FONT.replace("12px", "9px");
  p.textBaseline = "middle";
  for (let b = 0; b < data.buckets; b++) {
    const h = barTotals[b] / top * (BARS - 4), inside = !chosen || b >= chosen[0] && b <= chosen[1];
    p.globalAlpha = inside ? 1 : .35;
    p.fillStyle = css.accent;
    p.fillRect(b * step, BARS - h, Math.max(.5, step - gap), h);
    lanes.forEach((lane, i) => {
      const share = lane.weights[b] / top;
      if (!share) return;
      p.globalAlpha = (inside ? 1 : .4) * (.18 + .82 * Math.min(1, share * 1.6));
      p.fillStyle = css.quiet;
      p.fillRect(b * step, BARS + 4 + i * LANE, Math.max(.5, step), LANE - 2);
    });
  }
  p.globalAlpha = 1;
  p.fillStyle = css.line;
  p.fillRect(0, BARS, width, 1);
  lanes.forEach((lane, i) => {
    const y = BARS + 4 + i * LANE, text = groups[lane.group].label, w = p.measureText(text).width;
    p.fillStyle = css.back;
    p.globalAlpha = .8;
    p.fillRect(0, y, w + 6, LANE - 2);
    p.globalAlpha = 1;
    p.fillStyle = css.text;
    p.fillText(text, 3, y + LANE / 2 - 1);
  });
  p.strokeStyle = css.accent;
  if (chosen) p.strokeRect(chosen[0] * step + .5, .5, (chosen[1] - chosen[0] + 1) * step - 1, height - 1);
  else if (document.activeElement === timeCanvas) p.strokeRect(cursor * step + .5, .5, step, height - 1);
}
const seconds = bucket => ((data.start + bucket * data.step) / 1e9).toFixed(data.step < 1e7 ? 6 : 3);
const rangeTotal = () => (state.widths === "before" ? main.otherTotal : main.total)[0];
function rangeWords() {
  const range = state.range;
  const length = (range ? range[1] - range[0] + 1 : data.buckets) * data.step;
  return `${seconds(range ? range[0] : 0)} – ${seconds(range ? range[1] + 1 : data.buckets)} s (${time(length)})` +
    (range ? `, ${withUnit(rangeTotal())} of ${weight(eventData(state.event).total)}. Esc: everything`
      : ". Drag to look at a part of it." +
        (lanes.hidden ? ` The ${lanes.length} heaviest of ${lanes.length + lanes.hidden} threads.` : ""));
}
let rangeTimer = 0;
function setRange(range, speak) {
  state.range = range;
  drawTime();
  clearTimeout(rangeTimer);
  rangeTimer = setTimeout(() => {
    weighMain();
    refresh(true);
    $("range").textContent = rangeWords();
    if (speak) say(rangeWords());
  }, main.count > 200000 && pulled !== null ? 150 : 0);
}
const bucketAt = e => Math.max(0, Math.min(data.buckets - 1,
  Math.floor((e.clientX - timeCanvas.getBoundingClientRect().left) / timeCanvas.clientWidth * data.buckets)));
timeCanvas.addEventListener("pointerdown", e => {
  if (e.button) return;
  timeCanvas.setPointerCapture(e.pointerId);
  pulled = { at: bucketAt(e), x: e.clientX, moved: false };
});
timeCanvas.addEventListener("pointermove", e => {
  if (!pulled || !pulled.moved && Math.abs(e.clientX - pulled.x) < 3) return;
  pulled.moved = true;
  const at = bucketAt(e);
  setRange([Math.min(at, pulled.at), Math.max(at, pulled.at)]);
});
/* A click on its lane goes to a thread. */
function chooseLane(lane) {
  if (state.stacks !== "callees") return;
  const node = outermost(group => group === lane.group)[0];
  if (!node) return;
  show("flame");
  flame.zoom(node);
  flame.choose(node, true);
}
timeCanvas.addEventListener("pointerup", e => {
  const lane = lanes[Math.floor((e.clientY - timeCanvas.getBoundingClientRect().top - BARS - 4) / LANE)];
  if (pulled && !pulled.moved && lane) chooseLane(lane);
  else if (pulled && !pulled.moved && state.range) setRange(null);
  pulled = null;
});
timeCanvas.addEventListener("keydown", e => {
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[e.key];
  if (!step || e.ctrlKey || e.altKey) return;
  e.preventDefault();
  const last = data.buckets - 1, to = Math.max(0, Math.min(last, cursor + step));
  if (e.shiftKey) {
    const fixed = state.range ? (state.range[0] === cursor ? state.range[1] : state.range[0]) : cursor;
    cursor = to;
    setRange([Math.min(fixed, to), Math.max(fixed, to)], true);
  } else {
    cursor = to;
    drawTime();
    say(`${seconds(cursor)} seconds: ${withUnit(barTotals[cursor])}`);
  }
});
for (const name of ["focus", "blur"]) timeCanvas.addEventListener(name, drawTime);

/* --- search --- */

function search(text) {
  const box = $("search");
  if (box.value !== text) box.value = text;
  box.removeAttribute("aria-invalid");
  try {
    state.pattern = text ? new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, "")) ? "" : "i") : null;
  } catch (error) {
    box.setAttribute("aria-invalid", "true");
    $("matched").textContent = "no valid expression";
    return;
  }
  findMatches();
  if (state.view === "table") showTable();
  if (state.view === "tree") showTree();
  for (const part of [flame, callers, callees]) part.later();
}
function findMatches() {
  const { pattern } = state;
  matched = pattern ? Uint8Array.from(groups, g => pattern.test(g.label) || pattern.test(g.module) ? 1 : 0) : null;
  $("matched").textContent = "";
  if (!matched) return;
  const sum = outermost(g => matched[g]).reduce((a, n) => a + main.total[n], 0);
  $("matched").textContent = (data.events[state.event].cutNodes ? "at least " : "") + `${percent(sum)} matched`;
}

/* --- everything together --- */

const flame = new Flame($("flame"), "Flame graph", false);
const callers = new Flame($("callers"), "Callers", true);
const callees = new Flame($("callees"), "Callees", false);

/* The weights or the tree changed. */
function refresh(keep) {
  showCut();
  const turned = state.stacks === "callers";
  if (!keep || turned) shownTree = turned ? turnedRound() : main;
  rows = null;
  sandwichOf = -1;
  findMatches();
  if (!keep) openHotPath();
  $("reset").disabled = true;
  if (state.view === "flame") {
    flame.show(shownTree, keep);
    describe(shownTree, flame.selected);
  } else {
    flame.tree = null;
  }
  if (state.view === "table") showTable();
  if (state.view === "tree") showTree();
}
function rebuild() {
  const name = state.group >= 0 && groups[state.group] ? groups[state.group].label : null;
  makeMain();
  state.group = name === null ? -1 : groups.findIndex(g => g.label === name);
  if (data.buckets) {
    makeLanes();
    drawTime();
    $("range").textContent = rangeWords();
  }
  refresh(false);
}
function show(view) {
  state.view = view;
  for (const name of ["flame", "table", "tree"]) {
    const tab = $("tab-" + name);
    tab.setAttribute("aria-selected", name === view);
    tab.tabIndex = name === view ? 0 : -1;
    $("view-" + name).hidden = name !== view;
  }
  for (const box of document.querySelectorAll("[data-in]")) box.hidden = !box.dataset.in.includes(view);
  if (view === "flame") {
    if (flame.tree !== shownTree) flame.show(shownTree);
    flame.resize();
    describe(shownTree, flame.selected);
  } else if (view === "table") {
    showTable();
  } else {
    showTree();
  }
}
function setDark(on) {
  dark = on;
  document.documentElement.classList.toggle("dark", on);
  paint();
  drawTime();
  for (const part of [flame, callers, callees]) part.later();
  if (state.view === "table") showTable();
  if (state.view === "tree") showTree();
}
function flip() {
  state.flip = flame.up = !state.flip;
  $("flip").setAttribute("aria-pressed", state.flip);
  flame.resize();
  flame.host.scrollTop = state.flip ? 1e9 : 0;
}
function stepBack() {
  if (state.pattern || $("search").value) search("");
  else if (state.view === "flame" && flame.zoomed) flame.zoom(0);
  else if (state.range) setRange(null, true);
}

for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => show(tab.id.slice(4)));
document.querySelector("[role=tablist]").addEventListener("keydown", e => {
  const names = ["flame", "table", "tree"], step = { ArrowLeft: 2, ArrowRight: 1 }[e.key];
  if (!step) return;
  const next = names[(names.indexOf(state.view) + step) % 3];
  show(next);
  $("tab-" + next).focus();
});
for (const name of ["threads", "stacks", "order", "colour", "event", "widths"]) {
  $(name).addEventListener("change", () => {
    state[name] = name === "event" ? +$(name).value : $(name).value;
    if (name === "colour") {
      paint();
      setDark(dark);
    } else if (name === "order") {
      main.place(state.order);
      refresh(false);
    } else if (name === "widths") {
      weighMain();
      refresh(false);
    } else if (name === "stacks") {
      refresh(false);
    } else {
      rebuild();
    }
  });
}
$("search").addEventListener("input", () => search($("search").value));
$("search").addEventListener("keydown", e => {
  if (e.key === "Enter" && state.view === "flame") {
    const to = flame.match(e.shiftKey ? -1 : 1);
    if (to >= 0) flame.choose(to, true);
  } else if (e.key === "Escape") {
    search("");
    if (state.view === "flame") flame.canvas.focus();
    e.stopPropagation();
    e.preventDefault();
  }
});
$("theme").addEventListener("click", () => setDark(!dark));
$("helpbutton").addEventListener("click", () => $("help").showModal());
function normalize() {
  state.normalize = !state.normalize;
  $("normalize").setAttribute("aria-pressed", state.normalize);
  main.measure();
  refresh(false);
}
$("normalize").addEventListener("click", normalize);
$("flip").addEventListener("click", flip);
$("reset").addEventListener("click", () => { flame.zoom(0); flame.canvas.focus(); });
$("more").addEventListener("click", () => { state.shown += 400; showTable(); });
for (const head of document.querySelectorAll("#functions th"))
  head.firstChild.addEventListener("click", () => {
    state.up = state.sort === head.dataset.by && !state.up;
    state.sort = head.dataset.by;
    showTable();
  });
$("functions").tBodies[0].addEventListener("click", e => pickRow(e.target.closest("tr"), true));
$("functions").addEventListener("keydown", e => {
  moveRow(e);
  if (e.key === "ArrowDown" || e.key === "ArrowUp") pickRow(document.activeElement.closest("tbody tr"));
});
document.addEventListener("keydown", e => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  if (e.ctrlKey || e.altKey || e.metaKey || document.querySelector("dialog[open]") || typing) return;
  if (e.key === "/") $("search").focus();
  else if (e.key === "?") $("help").showModal();
  else if (e.key === "Escape") stepBack();
  else if (e.key === "d") setDark(!dark);
  else if (e.key === "i" && state.view === "flame") flip();
  else if ("123".includes(e.key)) {
    show(["flame", "table", "tree"][e.key - 1]);
    if (e.key === "1") flame.canvas.focus();
  } else {
    /* All other keys are the browser's. */
    if (e.target === document.body && state.view === "flame") flame.key(e);
    return;
  }
  e.preventDefault();
});
addEventListener("resize", drawTime);

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
prefersDark.addEventListener("change", e => setDark(e.matches));
$("title").textContent = document.title = clean(data.title) || "Flame graph";
$("subtitle").textContent = [data.subtitle, data.events.length === 1 ? data.events[0].name : ""].filter(x => x)
  .map(clean).join(" · ");
/* What is shown: in one line, in all, and what must not be overlooked. */
function showFacts() {
  const facts = [];
  for (let i = 0; i < data.facts.length; i += 2) facts.push([clean(data.facts[i]), clean(data.facts[i + 1])]);
  const of = label => facts.filter(fact => fact[0] === label).map(fact => fact[1]);
  const line = [base(of("Recording")[0] || ""), of("Command")[0], of("Recorded until")[0], of("Event")[data.event]];
  $("about").hidden = !facts.some(fact => fact[0]);
  $("summary").textContent = line.filter(x => x).join(" · ") || "About this recording";
  $("facts").replaceChildren(...facts.filter(fact => fact[0])
    .flatMap(([label, value]) => [element("dt", {}, label), element("dd", {}, value)]));
  $("remarks").replaceChildren(...of("").map(text => element("li", {}, text)));
}
showFacts();
data.events.forEach((event, i) => $("event").append(element("option", { value: i }, clean(event.name))));
$("event").value = state.event;
$("stacks").value = state.stacks;
for (const part of document.querySelectorAll("[data-compares]"))
  if (data.compares) part.hidden = false; else part.remove();
if (data.compares) {
  $("colour").value = state.colour;
  $("normalize").setAttribute("aria-pressed", state.normalize);
  document.body.classList.add("compares");
}
const threads = frames.filter(f => f.kind === THREAD);
if (!threads.some(f => f.pid >= 0)) $("threads").querySelector("[value=apart]").remove();
$("threadsbox").hidden = !threads.length;
$("eventbox").hidden = data.events.length < 2;
$("timebox").hidden = !data.buckets;
document.documentElement.classList.toggle("dark", dark = prefersDark.matches);
if (data.events.length) {
  rebuild();
  show("flame");
} else {
  $("details").textContent = "No samples.";
}
})();
