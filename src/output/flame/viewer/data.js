/* SPDX-License-Identifier: MIT */
const $ = id => document.getElementById(id);
const KINDS = ["user", "kernel", "inlined", "JIT", "no symbol", "thread", "processor", "time", "lighter"];
const ROW = 18, THREAD = 5, CPU = 6, LIGHTER = 8;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

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
