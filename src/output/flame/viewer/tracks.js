/* SPDX-License-Identifier: MIT */
/* Tracks: what ran when, a row for each CPU, process and thread. `tracks(host, calls)` makes the view in an element;
 * `show({ data, other, otherEvent, titles }, state)` draws it. Of the state it takes event, time, threads, cpus, processes, window,
 * byDay. It calls onFilter, onWindow, onByDay and onHover. With `other`, a recording made before, each row has both side by
 * side, each from its own start and all in one scale; its event is `otherEvent`, and what is chosen of its time `timeBefore`:
 * a time is of one side, what is chosen of the rows of both. */
"use strict";
const tracks = (() => {
const T = overTime;
const ALL = "all", CPU = "cpu", PROCESS = "process", THREAD = "thread";
const AXIS = 26, NARROW = 560, WAIT = 4, ROW_HIGH = 34;
const MODES = [["processes", "Processes"], ["threads", "Threads"], ["cpus", "CPUs"]];
/* What happened at a time: its name, its colour, its form. */
const MARKS = [["lost samples", "more", "down"], ["throttled", "wait", "square"], ["fork", "text", "up"],
  ["exec", "accent", "round"], ["exit", "quiet", "cross"], ["event", "quiet", "line"]];
const TITLE = "bold 11px " + T.FONT;
const BLOCKED = 2, STATES = ["", "preempted", "blocked", "ready, without a CPU"], LOST = 0;

const AXIS_WORDS = "Time. Left and right move, with shift they select, plus and minus zoom, z zooms to the selection, " +
  "escape selects everything.";

/* --- rows --- */

function makePane(data, event, title, clock) {
  return { ...timeIndex.busyOf(data, event), data, index: T.indexed(data, event), title, clock, x: 0, width: 0,
    drawn: {}, intervals: byThread(data, data.intervals), marks: byThread(data, data.marks) };
}
/* The weight in each bucket of every thread or CPU: one pass in the order of time is cheaper than one for each row. */
function spread({ data: { samples }, index, idle }, byCpu, step, first, count) {
  const keys = byCpu ? samples.cpu : samples.thread, rows = byCpu ? index.cpus : idle.length, { order } = index;
  const sums = new Float32Array(rows * count), { time, weight, thread } = samples;
  const start = T.firstAt(order, time, first * step), end = T.firstAt(order, time, (first + count) * step);
  for (let k = start; k < end; k++) {
    const i = order[k], key = keys[i];
    if (byCpu && (key < 0 || thread[i] >= 0 && idle[thread[i]])) continue;
    sums[(key < 0 ? rows - 1 : key) * count + Math.floor(time[i] / step) - first] += weight[i];
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
  const { data, whole: { threads: weights } } = pane;
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
    const { data, index, whole } = pane, keys = threadKeys(pane, apart), isNow = at === panes.length - 1;
    all.parts[at] = { lists: [pane.busy], threads: null };
    all.weight += whole.all;
    for (let cpu = 0; cpu < index.cpus; cpu++) {
      const made = row("c" + cpu, CPU, "CPU " + cpu);
      made.cpu = cpu;
      made.parts[at] = { lists: [T.partOf(pane.byCpu, cpu)], threads: [] };
      made.weight += whole.cpus[cpu];
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
        made.weight += whole.threads[t];
        process.parts[at].lists.push(list);
        process.weight += whole.threads[t];
        if (!process.rows.includes(made)) process.rows.push(made);
      }
    });
  });
  const heavy = (a, b) => b.weight - a.weight || (a.label < b.label ? -1 : a.label > b.label ? 1 : 0);
  const of = kind => [...rows.values()].filter(r => r.kind === kind);
  for (const process of of(PROCESS)) process.rows.sort(heavy);
  return { all, cpus: of(CPU).filter(r => r.weight).sort((a, b) => a.cpu - b.cpu), processes: of(PROCESS).sort(heavy),
    threads: of(THREAD).sort(heavy) };
}
/* The threads of each process that have something to show: samples of this event, waits or marks. Where two recordings
 * share their data, those with samples are of this one; in data.js's, each has its own. */
function processesOf(pane, running) {
  const found = new Map(), { data, whole, intervals, marks } = pane;
  const has = (lists, t) => lists && T.partOf(lists, t).length > 0;
  const isOther = t => t >= data.ownThreads === !data.isPast;
  data.threads.pid.forEach((pid, t) => {
    if (isOther(t)) return;
    if (!whole.threads[t] && (running || !has(intervals, t) && !has(marks, t))) return;
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

class Tracks {
  constructor(host, calls) {
    Object.assign(this, { host, calls, mode: "processes", find: "", open: new Set(), rows: [], active: "all", cursor: 0,
      state: {}, panes: [],
      items: new Map() });
    this.later = T.later(() => this.draw());
    this.window = new T.Window(this.later, part => calls.onWindow?.(part));
    this.build();
    this.stop = T.redrawOn(this.scroll, () => { this.css = null; this.later(); });
  }

  /* --- what does not change --- */

  build() {
    this.modes = MODES.map(([name, text]) => T.button(text, {}, () => this.setMode(name)));
    this.box = T.element("input", { type: "search", placeholder: "name or number", "aria-label": "Find tracks",
      autocomplete: "off", spellcheck: "false" });
    this.box.addEventListener("input", () => { this.find = this.box.value; this.list(); });
    this.count = T.element("output", { class: "quiet" });
    this.dayButton = T.button("Time of day", { "aria-pressed": "false" }, () => this.setByDay(!this.state.byDay));
    this.into = T.button("Zoom to selection", {}, () => this.zoomIn());
    this.whole = T.button("Whole time", {}, () => this.window.set(0, this.window.length));
    this.key = T.element("span", { class: "ot-key quiet", "aria-hidden": "true" });
    this.tools = T.element("div", { class: "ot-tools" }, T.element("div", { role: "group", "aria-label": "Tracks of",
      class: "ot-modes" }, ...this.modes), this.box, this.count, this.dayButton, this.into, this.whole, this.key);
    this.axis = T.element("canvas", { class: "ot-axis", tabindex: "0", role: "application",
      "aria-roledescription": "timeline", "aria-label": AXIS_WORDS });
    this.canvas = T.element("canvas", { "aria-hidden": "true" });
    this.tree = T.element("div", { role: "tree", "aria-label": "Tracks", "aria-multiselectable": "true" });
    this.space = T.element("div", { class: "ot-space" }, this.canvas, this.tree);
    this.scroll = T.element("div", { class: "ot-scroll" }, this.space);
    this.live = T.element("div", { class: "hear", "aria-live": "polite", role: "status" });
    this.hair = T.element("div", { class: "ot-hair", hidden: "" });
    this.tip = T.element("div", { class: "ot-tip", hidden: "" });
    this.range = T.element("p", { class: "ot-range quiet" });
    this.body = T.element("div", { class: "ot-body" }, this.axis, this.scroll, this.hair, this.tip);
    this.host.replaceChildren(T.element("div", { class: "ot ot-tracks" }, this.tools, this.body, this.range,
      this.live));
    this.scroll.addEventListener("scroll", () => { this.leave(); this.later(); });
    for (const part of [this.axis, this.space]) this.listen(part);
    this.axis.addEventListener("keydown", e => this.axisKey(e));
    this.axis.addEventListener("blur", this.later);
    this.axis.addEventListener("focus", this.later);
    this.tree.addEventListener("keydown", e => this.rowKey(e));
  }
  listen(part) {
    part.addEventListener("pointerdown", e => e.isPrimary && this.press(e));
    part.addEventListener("pointermove", e => e.isPrimary && this.move(e));
    part.addEventListener("pointerup", e => e.isPrimary && this.release(e));
    T.onFingers(part, { two: (factor, clientX, by) => {
      const at = this.placeOf({ clientX, clientY: 0 });
      this.pulled = null;
      if (!at.pane) return;
      this.window.zoom(factor, at.time);
      this.window.pan(by / at.pane.width);
    } });
    part.addEventListener("pointercancel", () => { this.pulled = null; this.later(); });
    part.addEventListener("pointerleave", () => this.leave());
    part.addEventListener("wheel", e => {
      const at = this.placeOf(e);
      if (at.pane) this.window.wheel(e, at.time, at.pane.width, part === this.axis);
    }, { passive: false });
  }

  /* --- what is shown --- */

  show(input, state) {
    const { data, other, otherEvent = state.event, titles = ["Now", "Before"] } = input,
      tag = [state.event, otherEvent].join();
    const fresh = data !== this.data || other !== this.other || tag !== this.shownEvents;
    this.state = state;
    if (fresh) {
      [this.data, this.other, this.shownEvents] = [data, other, tag];
      const clock = T.isClock(data, state.event); /* so is the event of the same name */
      this.panes = [makePane(data, state.event, titles[0], clock)];
      if (other) this.panes.unshift(makePane(other, otherEvent, titles[1], clock));
      this.model = makeRows(this.panes);
      this.openAtFirst();
      this.hasWaits = this.panes.some(pane => pane.intervals);
      this.side = this.panes.length - 1;
      /* Numbers of threads are of both. */
      this.joint = this.panes.length > 1 && this.panes[0].data.threads === this.panes[1].data.threads;
      this.axis.setAttribute("aria-label", AXIS_WORDS + (this.panes.length > 1 ? " x goes to the other recording." : ""));
      this.list();
    }
    this.window.take(Math.max(...this.panes.map(pane => pane.index.length)), state.window);
    this.later();
  }
  /* Processes are open as long as all of their threads are seen at once. */
  openAtFirst() {
    const { processes, threads } = this.model, rows = 1 + processes.length + threads.length, high = this.host.clientHeight || 500;
    if (rows * ROW_HIGH > high - 80) return;
    for (const process of processes) if (process.rows.length > 1) this.open.add(process.key);
  }
  setMode(mode) {
    this.mode = mode;
    this.scroll.scrollTop = 0;
    this.list();
  }
  setByDay(on) {
    this.state = { ...this.state, byDay: on };
    this.calls.onByDay?.(on);
    this.later();
  }
  /* The rows, as they are searched and opened. */
  list() {
    const { model, mode } = this, find = this.find.trim().toLowerCase();
    const fits = row => !find || [row.label, row.pid, row.tid].some(x => String(x ?? "").toLowerCase().includes(find));
    const rows = [[model.all, 1]];
    if (mode === "threads") for (const row of model.threads) fits(row) && rows.push([row, 1]);
    else if (mode === "cpus") for (const row of model.cpus) fits(row) && rows.push([row, 1]);
    else
      for (const row of model.processes) {
        const inside = row.rows.filter(fits);
        if (!fits(row) && !inside.length) continue;
        rows.push([row, 1]);
        if (row.rows.length > 1 && (this.open.has(row.key) || find && !fits(row)))
          for (const thread of find && !fits(row) ? inside : row.rows) rows.push([thread, 2]);
      }
    this.rows = rows.map(([row, level]) => ({ row, level }));
    this.wholeCount = mode === "threads" ? model.threads.length : mode === "cpus" ? model.cpus.length
      : model.processes.length;
    if (!this.rows.some(r => r.row.key === this.active)) this.active = "all";
    this.items.forEach(item => item.remove());
    this.items.clear();
    this.later();
  }

  /* --- geometry --- */

  measure() {
    const width = this.scroll.clientWidth;
    this.narrow = width < NARROW;
    this.gutter = this.narrow ? 0 : Math.min(240, Math.round(width * .22));
    this.high = (this.narrow ? 44 : 30) + (this.hasWaits ? WAIT : 0);
    const gap = 10, wide = (width - this.gutter - gap * (this.panes.length - 1)) / this.panes.length;
    this.panes.forEach((pane, i) => {
      pane.x = this.gutter + i * (wide + gap);
      pane.width = Math.max(1, wide);
    });
    this.width = width;
    this.setBuckets();
    return width > 40;
  }
  /* Buckets are round, at least two pixels wide, and of some periods: below it is chance that is seen. */
  setBuckets() {
    const { window: { from, to }, panes: [{ index: { period, gap }, clock, width }] } = this;
    const piece = Math.max(...this.panes.map(pane => pane.index.piece));
    const least = Math.max((to - from) * 2 / width, Math.min((clock ? period : gap) * 4, (to - from) / 8));
    this.step = piece ? Math.ceil(least / piece) * piece : T.roundStep(least);
    this.first = Math.floor(from / this.step);
    this.buckets = Math.ceil(to / this.step) - this.first;
  }
  xOf(pane, time) {
    return pane.x + (time - this.window.from) / (this.window.to - this.window.from) * pane.width;
  }
  /* The pane, time and row at the pointer. */
  placeOf(e) {
    const box = this.body.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top - AXIS;
    const pane = this.panes.find(p => x >= p.x && x < p.x + p.width + 4) || (this.pulled && this.pulled.pane) || null;
    const { from, to } = this.window, share = pane ? Math.max(0, Math.min(1, (x - pane.x) / pane.width)) : 0;
    const at = y < 0 ? -1 : Math.floor((y + this.scroll.scrollTop) / this.high);
    const time = this.window.snap(from + share * (to - from), pane ? pane.width : this.width);
    return { pane, x, y: y + AXIS, time, row: this.rows[at] ? this.rows[at].row : null };
  }

  /* --- drawing --- */

  draw() {
    if (!this.data || !this.scroll.clientWidth) return;
    this.space.style.height = this.rows.length * (this.high || 30) + "px";
    if (!this.measure()) return;
    const high = this.scroll.clientHeight, { rows } = this, top = this.scroll.scrollTop;
    this.css ||= T.coloursOf(this.host);
    this.space.style.height = rows.length * this.high + "px";
    const p = T.cleared(this.canvas, this.width, high);
    this.from = Math.max(0, Math.floor(top / this.high));
    this.until = Math.min(rows.length, Math.ceil((top + high) / this.high));
    this.stripe = T.stripes(p, this.css.wait, this.css.panel);
    for (let i = this.from; i < this.until; i++) this.drawRow(p, rows[i].row, i * this.high - top);
    for (const pane of this.panes) this.drawChoice(p, pane, 0, high);
    this.drawTimes();
    this.place();
    this.words();
  }
  drawTimes() {
    const { css, window: { from, to } } = this, p = T.cleared(this.axis, this.width, AXIS);
    for (const pane of this.panes) {
      const title = this.panes.length > 1 ? pane.title : "";
      p.font = TITLE;
      const wide = title ? p.measureText(title).width + 16 : undefined;
      T.drawAxis(p, css, pane.data, this.window, pane.x, pane.width, AXIS, this.state.byDay, wide);
      this.drawChoice(p, pane, 0, AXIS);
      if (title) this.drawTitle(p, pane);
    }
    p.fillStyle = css.quiet;
    p.font = "11px " + T.FONT;
    if (this.gutter && this.state.byDay && T.hasDay(this.data)) p.fillText(T.dateOf(this.data), 8, AXIS - 9);
    if (document.activeElement !== this.axis || this.cursor < from || this.cursor > to) return;
    p.fillStyle = css.accent;
    p.fillRect(this.xOf(this.panes[this.side], this.cursor) - 1, 2, 3, AXIS - 4);
  }
  /* Whose time it is, at its end, where no tick has words. */
  drawTitle(p, { x, width, title }) {
    p.font = TITLE;
    p.fillStyle = this.css.text;
    p.fillText(title, x + width - p.measureText(title).width - 4, 9);
  }
  /* The buckets of a row, computed once for each zoom. */
  bucketsOf(row, at) {
    const tag = `${this.step} ${this.first} ${this.buckets}`, pane = this.panes[at], part = row.parts[at];
    if (row.drawn[at] && row.drawn[at].tag === tag) return row.drawn[at];
    const made = { tag, busy: this.busyOf(row, pane, part, tag), blocked: null, ready: null, most: 0 };
    for (let b = 0; b < made.busy.length; b++) if (made.busy[b] > made.most) made.most = made.busy[b];
    if (pane.intervals && part.threads && part.threads.length) {
      made.blocked = new Float64Array(this.buckets);
      made.ready = new Float64Array(this.buckets);
      addWaits(pane, part.threads, this.step, this.first, made.blocked, made.ready);
    }
    return (row.drawn[at] = made);
  }
  busyOf(row, pane, part, tag) {
    const kind = row.kind === CPU ? "cpus" : "threads", count = this.buckets;
    if (pane.drawn[kind]?.tag !== tag)
      pane.drawn[kind] = { tag, sums: spread(pane, row.kind === CPU, this.step, this.first, count) };
    const { sums } = pane.drawn[kind], of = n => sums.subarray(n * count, (n + 1) * count);
    if (row.kind === CPU) return of(row.cpu);
    if (row.kind === THREAD) return of(part.threads[0]);
    const busy = new Float64Array(count), { idle } = pane;
    const add = t => { for (let b = 0, from = t * count; b < count; b++) busy[b] += sums[from + b]; };
    if (row.kind === PROCESS) part.threads.forEach(add);
    else idle.forEach((is, t) => is || add(t));
    return busy;
  }
  /* What the full height of a row means, the same for all of a kind: CPUs of a clock; else what the heaviest one has. */
  scaleOf(row) {
    const mostIn = (other, at) => other.parts[at] ? this.bucketsOf(other, at).most : 0;
    const most = other => Math.max(0, ...this.panes.map((pane, at) => mostIn(other, at)));
    const { all, cpus, processes, threads } = this.model;
    const like = row.kind === CPU ? cpus : row.kind === THREAD ? threads : row.kind === PROCESS ? processes : [all];
    const highest = Math.max(0, ...like.slice(0, 3).map(most));
    if (!this.panes.every(pane => pane.clock)) return { most: Math.max(1, highest), words: "" };
    const round = row.kind === THREAD || row.kind === CPU ? 1 : Math.max(1, Math.ceil(highest / this.step - .25));
    return { most: round * this.step, words: row.kind === ALL || row.kind === PROCESS ? `${round} CPU${round > 1 ? "s" : ""}` : "" };
  }
  drawRow(p, row, y) {
    const { css } = this, scale = this.scaleOf(row), label = this.narrow ? 15 : 0;
    const dim = this.isChosen() && !this.chosen(row) ? .45 : 1;
    if (row.key === this.active && this.tree.contains(document.activeElement)) {
      p.fillStyle = css.shade;
      p.fillRect(0, y, this.width, this.high);
    }
    this.panes.forEach((pane, at) => {
      p.save();
      p.beginPath();
      p.rect(pane.x, y, pane.width, this.high);
      p.clip();
      p.fillStyle = css.line;
      p.fillRect(pane.x, y + this.high - 1, pane.width, 1);
      p.globalAlpha = dim;
      if (row.parts[at]) this.drawTrack(p, pane, at, row, y + label, this.high - label - 1, scale);
      p.restore();
    });
  }
  drawTrack(p, pane, at, row, y, high, scale) {
    const { css } = this, drawn = this.bucketsOf(row, at), states = row.kind === THREAD && drawn.blocked;
    const waits = this.hasWaits && !states ? WAIT : 0, room = high - waits - 3;
    const bottom = y + high - waits, { first, step } = this;
    if (states) this.drawStates(p, pane, drawn, bottom - room, room);
    p.fillStyle = css.accent;
    for (let b = 0; b < drawn.busy.length; b++) {
      if (!drawn.busy[b]) continue;
      const x = Math.round(this.xOf(pane, (first + b) * step)), tall = Math.max(1, Math.min(1, drawn.busy[b] / scale.most) * room);
      p.fillRect(x, bottom - tall, Math.max(1, Math.round(this.xOf(pane, (first + b + 1) * step)) - x), tall);
    }
    if (drawn.blocked && !states) this.drawWaits(p, pane, drawn, bottom, waits, row.parts[at].threads.length);
    this.drawMarks(p, pane, row, at, y + 1, high);
    if (scale.words) this.drawScale(p, pane.x + pane.width, y, scale.words);
  }
  drawScale(p, x, y, words) {
    p.font = "10px " + T.FONT;
    const width = p.measureText(words).width + 6;
    p.fillStyle = this.css.panel;
    p.globalAlpha = .8;
    p.fillRect(x - width, y, width, 12);
    p.globalAlpha = 1;
    p.fillStyle = this.css.quiet;
    p.fillText(words, x - width + 3, y + 6.5);
  }
  /* Of a thread its states, in the full height: from the top how much of the time it was blocked, then ready without a CPU. */
  drawStates(p, pane, drawn, y, high) {
    const { first, step, css } = this;
    for (let b = 0; b < this.buckets; b++) {
      const blocked = Math.min(1, drawn.blocked[b] / step), ready = Math.min(1 - blocked, drawn.ready[b] / step);
      if (!blocked && !ready) continue;
      const x = Math.round(this.xOf(pane, (first + b) * step)), w = Math.max(.6, Math.round(this.xOf(pane, (first + b + 1) * step)) - x);
      p.fillStyle = T.forced.matches ? css.wait : this.stripe;
      p.fillRect(x, y, w, blocked * high);
      p.fillStyle = css.ready;
      p.fillRect(x, y + blocked * high, w, ready * high);
    }
  }
  /* Below: how much of the time was waited, of all threads of the row. */
  drawWaits(p, pane, drawn, y, high, threads) {
    const { first, step, css } = this;
    for (let b = 0; b < this.buckets; b++) {
      const x = this.xOf(pane, (first + b) * step), w = this.xOf(pane, (first + b + 1) * step) - x;
      const blocked = drawn.blocked[b] / step / threads, ready = drawn.ready[b] / step / threads;
      if (blocked > .01) {
        p.fillStyle = blocked > .6 || T.forced.matches ? css.wait : this.stripe;
        p.fillRect(x, y, Math.max(.6, w * (w > 8 ? Math.min(1, blocked) : 1)), high);
      }
      if (ready > .05) {
        p.fillStyle = css.ready;
        p.fillRect(x, y, Math.max(.6, w), high / 2);
      }
    }
  }
  /* One of a kind in a few pixels, and all of a kind in one path: there may be one for each of thousands of threads. */
  drawMarks(p, pane, row, at, y, high) {
    const { data } = pane, { from, to } = this.window, threads = row.parts[at].threads, found = MARKS.map(() => new Map());
    const mark = (time, kind) => {
      const x = Math.round(this.xOf(pane, time)), places = found[Math.min(kind, MARKS.length - 1)];
      if (!places.has(x >> 2)) places.set(x >> 2, x);
    };
    if (row.kind === ALL && data.losses)
      for (let i = 0; i < data.losses.time.length; i++)
        if (data.losses.time[i] >= from && data.losses.time[i] < to) mark(data.losses.time[i], LOST);
    const lists = !pane.marks || row.kind === CPU ? [] : threads ? threads.map(t => T.partOf(pane.marks, t)) : [pane.marks.all];
    for (const list of lists)
      for (let k = T.firstAt(list, data.marks.time, from); k < list.length && data.marks.time[list[k]] < to; k++)
        mark(data.marks.time[list[k]], data.marks.kind[list[k]]);
    found.forEach((places, kind) => { if (places.size) this.drawMark(p, places.values(), y, high, MARKS[kind]); });
  }
  drawMark(p, places, y, high, [, colour, form]) {
    p.fillStyle = p.strokeStyle = this.css[colour];
    p.lineWidth = 1.5;
    p.beginPath();
    for (const x of places) this.markAt(p, x, y, high, form);
    if (form === "cross") p.stroke(); else p.fill();
  }
  markAt(p, x, y, high, form) {
    p.moveTo(x + 3, y + 3);
    if (form === "line") p.rect(x, y, 1, 6);
    else if (form === "square") p.rect(x - 2.5, y, 5, 5);
    else if (form === "round") p.arc(x, y + 3, 3, 0, 7);
    else if (form === "cross") { p.moveTo(x - 3, y); p.lineTo(x + 3, y + 6); p.moveTo(x + 3, y); p.lineTo(x - 3, y + 6); }
    else { const up = form === "up"; p.moveTo(x, up ? y : y + 6); p.lineTo(x - 4, up ? y + 6 : y); p.lineTo(x + 4, up ? y + 6 : y); }
    if (form === "down") p.rect(x, y, 1, high);
  }
  drawChoice(p, pane, y, high) {
    const time = this.pulled && this.pulled.moved && this.pulled.pane === pane ? this.pulledTime() : this.timeOf(pane);
    T.drawChoice(p, this.css, time, this.window, pane.x, y, pane.width, high);
  }

  /* --- the names of the rows --- */

  place() {
    const wanted = new Set();
    for (let i = this.from; i < this.until; i++) wanted.add(i);
    const active = this.rows.findIndex(r => r.row.key === this.active);
    if (active >= 0) wanted.add(active);
    const keep = new Set();
    for (const i of [...wanted].sort((a, b) => a - b)) {
      const { row, level } = this.rows[i];
      let item = this.items.get(row.key);
      if (!item) this.items.set(row.key, item = this.makeItem(row, level, i));
      this.fill(item, row, i);
      keep.add(row.key);
    }
    for (const [key, item] of this.items)
      if (!keep.has(key)) {
        item.remove();
        this.items.delete(key);
      }
  }
  makeItem(row, level, i) {
    const item = T.element("div", { role: "treeitem", class: "ot-item", "aria-level": level, "aria-posinset": i + 1,
      "aria-setsize": this.rows.length });
    const opens = row.kind === PROCESS && row.rows.length > 1 && this.mode === "processes";
    const ids = row.kind === THREAD ? (row.tid === row.pid ? row.tid : `${row.pid}/${row.tid}`) : row.pid ?? "";
    if (opens) item.append(T.element("span", { class: "ot-twist", "aria-hidden": "true" }));
    const unseen = text => T.element("span", { class: "hear" }, text);
    item.append(T.element("b", {}, row.label), unseen(ids === "" ? "" : `, ${row.kind} `),
      T.element("span", { class: "quiet" }, ids), unseen(", "), T.element("span", { class: "ot-share quiet" }));
    item.row = row;
    item.opens = opens;
    item.classList.add("ot-level" + level);
    const next = [...this.tree.children].find(other => +other.getAttribute("aria-posinset") > i + 1);
    this.tree.insertBefore(item, next || null);
    return item;
  }
  fill(item, row, i) {
    const chosen = this.isChosen() && this.chosen(row), open = this.open.has(row.key);
    item.style.top = i * this.high + "px";
    item.style.height = (this.narrow ? 18 : this.high) + "px";
    item.style.width = this.narrow ? "auto" : this.gutter + "px";
    item.tabIndex = row.key === this.active ? 0 : -1;
    item.setAttribute("aria-selected", chosen);
    item.classList.toggle("ot-dim", this.isChosen() && !chosen);
    if (item.opens) {
      item.setAttribute("aria-expanded", open);
      item.firstChild.textContent = open ? "▾ " : "▸ ";
    }
    item.lastChild.textContent = this.shareWords(row);
  }
  /* How much of the chosen time. */
  shareWords(row) {
    if (this.panes.length === 1) return this.shareIn(row, 0);
    return `${row.parts[0] ? this.shareIn(row, 0).replace(/ CPUs$/, "") : "–"} → ${row.parts[1] ? this.shareIn(row, 1) : "–"}`;
  }
  shareIn(row, at) {
    const pane = this.panes[at], part = row.parts[at], time = this.timeOf(pane);
    const tag = time ? time.join() : "", span = time ? time[1] - time[0] : pane.index.length;
    if (pane.sums?.tag !== tag) pane.sums = { tag, ...(time ? timeIndex.sumsOf(pane, time) : pane.whole) };
    const { threads, cpus, all } = pane.sums;
    const weight = row.kind === ALL ? all : row.kind === CPU ? cpus[row.cpu]
      : part.threads.reduce((sum, t) => sum + threads[t], 0);
    return pane.clock ? `${(weight / span).toFixed(2)} CPUs` : `${(100 * weight / (all || 1)).toFixed(1)}%`;
  }
  words() {
    const { mode, panes, state } = this, shown = this.rows.filter(r => r.level === 1).length - 1;
    this.modes.forEach((one, i) => {
      one.setAttribute("aria-pressed", MODES[i][0] === mode);
      one.hidden = MODES[i][0] === "cpus" && !this.model.cpus.length;
    });
    const things = this.wholeCount === 1 ? { processes: "process", threads: "thread", cpus: "CPU" }[mode] : { processes: "processes", threads: "threads", cpus: "CPUs" }[mode];
    this.count.textContent = `${this.find ? `${shown} of ` : ""}${this.wholeCount} ${things}`;
    this.dayButton.hidden = !T.hasDay(this.data);
    this.dayButton.setAttribute("aria-pressed", !!state.byDay);
    const chosen = panes.filter(pane => this.timeOf(pane));
    this.into.disabled = !chosen.length;
    this.whole.disabled = !this.window.zoomed;
    this.fillKey();
    const { clock } = panes[0], piece = Math.max(...panes.map(pane => pane.index.piece));
    const spanWords = (what, pane, span) => {
      const fine = T.roundStep((span[1] - span[0]) / 1000), t = at => T.timeWords(pane.data, at, fine, state.byDay);
      return `${what} ${t(span[0])} – ${t(span[1])} (${T.duration(span[1] - span[0])})`;
    };
    this.range.textContent = panes.every(pane => !pane.index.order.length) ? "The samples have no times." : [
      panes.length > 1 && panes.map(pane => pane.title).join(" | ") + ": a time is selected in one, rows in both",
      ...chosen.map(pane => spanWords(panes.length > 1 ? `Selected ${pane.title.toLowerCase()}` : "Selected", pane, this.timeOf(pane))),
      !chosen.length && spanWords("Shown", panes.at(-1), [this.window.from, this.window.to]),
      `Height: ${clock ? "CPUs busy" : "share of the weight"} in ${T.duration(this.step)}`,
      chosen.length ? "Esc: everything" : "drag: a part of the time; Ctrl and wheel: zoom",
      piece && `samples are joined, in pieces of ${T.duration(piece)}`].filter(words => words).join(" · ");
  }
  fillKey() {
    const kinds = new Set();
    for (const { data } of this.panes) {
      if (data.losses && data.losses.time.length) kinds.add(LOST);
      for (let i = 0; data.marks && i < data.marks.kind.length && kinds.size < MARKS.length; i++)
        kinds.add(Math.min(data.marks.kind[i], MARKS.length - 1));
    }
    const tag = [...kinds].join() + this.hasWaits;
    if (this.key.tag === tag) return;
    this.key.tag = tag;
    const sign = name => T.element("i", { class: "ot-sign ot-" + name });
    const part = (name, text) => T.element("span", {}, sign(name), text);
    this.key.replaceChildren(part("on", "on CPU"),
      ...(this.hasWaits ? [part("blocked", "blocked"), part("ready", "ready, without a CPU")] : []),
      ...[...kinds].sort().map(kind => part(MARKS[kind][2] + " ot-c-" + MARKS[kind][1], MARKS[kind][0])));
  }

  /* --- what is chosen --- */

  isChosen() {
    const { threads, cpus, processes } = this.state;
    return !!(threads || cpus || processes);
  }
  chosen(row) {
    const { threads, cpus, processes } = this.state, own = this.threadsOf(row);
    if (this.joint && row.kind !== CPU) return own.length > 0 && own.every(t => threads?.includes(t));
    if (row.kind === THREAD && (threads?.includes(row.thread) || processes?.includes(row.pid))) return true;
    if (row.kind === PROCESS && processes?.includes(row.pid)) return true;
    return row.kind === CPU && !!cpus?.includes(row.cpu);
  }
  filter(change) {
    const { time = null, timeBefore = null, threads = null, cpus = null, processes = null } = this.state;
    const before = this.panes.length > 1 ? { timeBefore } : {};
    this.calls.onFilter?.({ time, ...before, threads, cpus, processes, ...change });
  }
  /* What is chosen of the time is of one side. */
  nameOfTime(pane) {
    return this.panes.length > 1 && pane === this.panes[0] ? "timeBefore" : "time";
  }
  timeOf(pane) {
    return this.state[this.nameOfTime(pane)] || null;
  }
  threadsOf(row) {
    return row.kind === THREAD || row.kind === PROCESS ? row.parts.flatMap(part => part?.threads || []) : [];
  }
  /* A click: only this row, or everything again; with Ctrl or Shift one more or less. */
  pick(row, more) {
    const none = { threads: null, cpus: null, processes: null };
    if (row.kind === ALL) return this.filter(none);
    const [name, values] = row.kind === CPU ? ["cpus", [row.cpu]] : this.joint ? ["threads", this.threadsOf(row)]
      : row.kind === PROCESS ? ["processes", [row.pid]] : ["threads", [row.thread]];
    const now = this.state[name] || [], others = now.filter(x => !values.includes(x));
    const has = others.length + values.length === now.length;
    const next = more ? (has ? others : [...others, ...values]) : has && !others.length ? [] : values;
    this.filter({ ...(more ? {} : none), [name]: next.length ? next : null });
  }
  setOpen(row, on) {
    if (on) this.open.add(row.key); else this.open.delete(row.key);
    const had = this.tree.contains(document.activeElement);
    this.list();
    this.draw();
    if (had) this.items.get(this.active)?.focus({ preventScroll: true });
  }
  zoomIn() {
    const time = this.timeOf(this.panes[this.side]) || this.panes.map(pane => this.timeOf(pane)).find(part => part);
    if (time) this.window.set(time[0] - (time[1] - time[0]) * .02, time[1] + (time[1] - time[0]) * .02);
  }

  /* --- the pointer --- */

  press(e) {
    const at = this.placeOf(e), item = e.target.closest(".ot-item");
    if (e.button) return;
    if (item && e.target.closest(".ot-twist")) {
      this.active = item.row.key;
      this.setOpen(item.row, !this.open.has(item.row.key));
      e.preventDefault();
      return;
    }
    if (!at.pane && !item) return;
    this.pulled = { pane: item && !this.narrow ? null : at.pane, row: at.row, x: e.clientX,
      from: this.farEdge(at), to: at.time, moved: false };
    e.currentTarget.setPointerCapture(e.pointerId);
  }
  /* At an end of what is chosen, the other end stays. */
  farEdge({ pane, x, time }) {
    const chosen = pane && this.timeOf(pane);
    if (!chosen) return time;
    const [a, b] = chosen.map(end => Math.abs(this.xOf(pane, end) - x));
    return Math.min(a, b) > 5 ? time : a < b ? chosen[1] : chosen[0];
  }
  move(e) {
    const at = this.placeOf(e), { pulled } = this;
    if (pulled && pulled.pane && (pulled.moved || Math.abs(e.clientX - pulled.x) > 3)) {
      pulled.moved = true;
      pulled.to = at.time;
      const [a, b] = this.pulledTime(), fine = T.roundStep((this.window.to - this.window.from) / 1000);
      const t = time => T.timeWords(this.data, time, fine, this.state.byDay);
      this.facts(at, [`${t(a)} – ${t(b)}`, T.duration(b - a)]);
      this.later();
      return;
    }
    const isEnd = at.pane && this.farEdge(at) !== at.time;
    this.space.style.cursor = this.axis.style.cursor = isEnd ? "col-resize" : "";
    if (!at.pane || !at.row || e.target.closest(".ot-item") && !this.narrow) return this.leave();
    this.facts(at, this.factsOf(at.row, this.panes.indexOf(at.pane), at.time));
  }
  release(e) {
    const { pulled } = this, at = this.placeOf(e);
    this.pulled = null;
    if (!pulled) return;
    if (pulled.moved) {
      pulled.to = at.time;
      this.cursor = pulled.to;
      this.side = Math.max(0, this.panes.indexOf(pulled.pane));
      this.pulled = pulled;
      const time = this.pulledTime();
      this.pulled = null;
      if (pulled.row) this.active = pulled.row.key;
      this.filter({ [this.nameOfTime(pulled.pane)]: time });
      this.draw();
      if (e.currentTarget !== this.axis) this.items.get(this.active)?.focus({ preventScroll: true });
    } else if (pulled.row && e.currentTarget !== this.axis) {
      this.active = pulled.row.key;
      this.cursor = at.time;
      this.pick(pulled.row, e.ctrlKey || e.metaKey || e.shiftKey);
      this.draw();
      this.items.get(this.active)?.focus({ preventScroll: true });
    } else if (pulled.pane && this.timeOf(pulled.pane)) {
      this.filter({ [this.nameOfTime(pulled.pane)]: null });
    }
    this.later();
  }
  pulledTime() {
    const { from, to } = this.pulled;
    return [Math.min(from, to), Math.max(from, to)];
  }
  leave() {
    this.tip.hidden = this.hair.hidden = true;
    if (this.hovered) this.calls.onHover?.("");
    this.hovered = "";
  }
  facts(at, lines) {
    this.hair.hidden = false;
    this.hair.style.left = at.x + "px";
    T.placeTip(this.tip, this.body, at.x, at.y, lines);
    const text = lines.filter(line => line).join(" · ");
    if (text !== this.hovered) this.calls.onHover?.(text);
    this.hovered = text;
  }
  /* What a row did in the bucket of a time. */
  factsOf(row, at, time) {
    const pane = this.panes[at], part = row.parts[at], { step } = this, b = Math.floor(time / step);
    const t = x => T.timeWords(pane.data, x, step, this.state.byDay);
    const who = row.kind === THREAD && part ? T.threadWords(pane.data, part.threads[0])
      : row.kind === PROCESS ? `${row.label} (${row.pid}), ${row.rows.length} thread${row.rows.length > 1 ? "s" : ""}`
      : row.label;
    const words = [`${t(b * step)} – ${t((b + 1) * step)}`, this.panes.length > 1 ? `${pane.title}: ${who}` : who];
    if (!part) return [...words, "not in this recording"];
    const most = T.heaviest(pane.data, part.lists, b * step, (b + 1) * step);
    words.push(this.busyWords(pane, row, most, b));
    if (most.fn >= 0) words.push(`${T.briefName(this.calls, pane.data, most.fn)} ${(100 * most.share).toFixed(0)}%`);
    const wait = this.waitAt(pane, row, part, time), marks = this.marksNear(pane, row, part, time);
    return wait ? [...words.slice(0, most.count ? words.length : 2), ...wait, ...marks] : [...words, this.waitWords(pane, at, row, b), ...marks];
  }
  busyWords(pane, row, most, b) {
    const samples = `${most.count} sample${most.count === 1 ? "" : "s"}`;
    if (!most.count) return "no samples";
    if (pane.clock) return `${(most.total / this.step).toFixed(2)} CPUs busy, ${samples}`;
    const all = T.heaviest(pane.data, [pane.busy], b * this.step, (b + 1) * this.step).total;
    return `${(100 * most.total / (all || 1)).toFixed(1)}% of the weight, ${samples}`;
  }
  /* The interval off CPU that a thread is in: how long, when, where it left the CPU, and which thread woke it. */
  waitAt({ data, intervals }, row, part, time) {
    if (!intervals || row.kind !== THREAD) return null;
    const { from, to, state, stack, waker } = data.intervals, list = T.partOf(intervals, part.threads[0]);
    const i = list[T.firstAt(list, from, time + 1) - 1];
    if (i === undefined || !state[i] || to[i] <= time) return null;
    const fine = T.roundStep(Math.max(1000, (to[i] - from[i]) / 1000)), t = at => T.timeWords(data, at, fine, this.state.byDay), names = [];
    for (let s = stack[i]; s >= 0 && names.length < 3; s = data.stacks.parent[s]) names.push(T.briefName(this.calls, data, data.stacks.fn[s]));
    return [`${STATES[state[i]]} ${T.duration(to[i] - from[i])}`, `${t(from[i])} – ${t(to[i])}`,
      names.length ? `in ${names.join(" ← ")}` : "", waker[i] >= 0 ? `woken by ${T.threadWords(data, waker[i])}` : ""];
  }
  waitWords(pane, at, row, b) {
    const drawn = this.bucketsOf(row, at), k = b - this.first;
    if (!drawn.blocked || !(drawn.blocked[k] || drawn.ready[k])) return "";
    const parts = [[drawn.blocked[k], "blocked"], [drawn.ready[k], "ready"]].filter(([ns]) => ns);
    return parts.map(([ns, what]) => `${what} ${T.duration(ns)}`).join(", ");
  }
  marksNear(pane, row, part, time) {
    const { data } = pane, near = (this.window.to - this.window.from) / pane.width * 5, found = [];
    if (row.kind === ALL && data.losses)
      data.losses.time.forEach((lost, i) => {
        if (Math.abs(lost - time) <= near) found.push(`${data.losses.count[i]} samples lost`);
      });
    if (!pane.marks || row.kind === CPU) return found.slice(0, 3);
    const { marks } = data;
    for (const list of part.threads ? part.threads.map(t => T.partOf(pane.marks, t)) : [pane.marks.all])
      for (let k = T.firstAt(list, marks.time, time - near); k < list.length && found.length < 4; k++) {
        if (marks.time[list[k]] > time + near) break;
        const [name] = MARKS[marks.kind[list[k]]] || MARKS.at(-1), text = data.strings[marks.text[list[k]]];
        found.push(text && text !== name ? `${name}: ${text}` : name);
      }
    return found.slice(0, 4);
  }

  /* --- keys --- */

  axisKey(e) {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[e.key];
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (step) this.moveCursor(step, e.shiftKey);
    else if (!this.timeKey(e)) return;
    e.preventDefault();
    e.stopPropagation();
  }
  /* Keys that axis and rows share. */
  timeKey(e) {
    if (e.key === "Escape") {
      const at = [this.panes[this.side], ...this.panes].find(pane => this.timeOf(pane));
      if (at) this.filter({ [this.nameOfTime(at)]: null });
      else if (this.isChosen()) this.filter({ threads: null, cpus: null, processes: null });
      else if (this.window.zoomed) this.window.set(0, this.window.length);
      else return false;
    } else if (e.key === "z") this.zoomIn();
    else if (e.key === "x" && this.panes.length > 1) {
      this.side = 1 - this.side;
      this.live.textContent = this.panes[this.side].title;
      this.later();
    } else return this.window.key(e);
    return true;
  }
  moveCursor(by, selects) {
    const { step, window: { length } } = this, before = this.cursor;
    this.cursor = Math.max(0, Math.min(length, (Math.floor(before / step + 1e-6) + by) * step));
    this.window.reveal(this.cursor);
    const at = this.side, pane = this.panes[at], chosen = this.timeOf(pane);
    if (selects) {
      const fixed = chosen ? (Math.abs(chosen[0] - before) < step / 2 ? chosen[1] : chosen[0]) : before;
      const time = [Math.min(fixed, this.cursor), Math.max(fixed, this.cursor)];
      this.filter({ [this.nameOfTime(pane)]: time[0] < time[1] ? time : null });
    } else {
      const { row } = this.rows.find(r => r.row.key === this.active);
      this.draw();
      const y = AXIS + Math.max(0, this.rows.findIndex(r => r.row === row) * this.high - this.scroll.scrollTop);
      this.facts({ x: this.xOf(pane, this.cursor + step / 2), y }, this.factsOf(row, at, this.cursor + step / 2));
      this.live.textContent = this.hovered;
    }
    this.later();
  }
  rowKey(e) {
    if (e.altKey) return;
    const at = this.rows.findIndex(r => r.row.key === this.active), { row } = this.rows[at],
      item = this.items.get(row.key);
    const page = Math.max(1, Math.floor(this.scroll.clientHeight / this.high) - 1);
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, PageUp: at - page, PageDown: at + page, Home: 0,
      End: this.rows.length - 1 }[e.key];
    if (to !== undefined && !e.ctrlKey && !e.metaKey) this.go(Math.max(0, Math.min(this.rows.length - 1, to)));
    else if (e.key === "Enter" || e.key === " ") this.pick(row, e.ctrlKey || e.metaKey || e.shiftKey);
    else if (e.ctrlKey || e.metaKey) return;
    else if (e.key === "ArrowRight" && item.opens && !e.shiftKey) this.open.has(row.key) ? this.go(at + 1)
      : this.setOpen(row, true);
    else if (e.key === "ArrowLeft" && item.opens && this.open.has(row.key) && !e.shiftKey) this.setOpen(row, false);
    else if (e.key === "ArrowLeft" || e.key === "ArrowRight") this.moveCursor(e.key === "ArrowLeft" ? -1 : 1,
      e.shiftKey);
    else if (!this.timeKey(e)) return;
    e.preventDefault();
    e.stopPropagation();
  }
  go(to) {
    const top = to * this.high, { scroll } = this;
    this.active = this.rows[to].row.key;
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top + this.high > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = top +
      this.high - scroll.clientHeight;
    this.draw();
    this.items.get(this.active).focus({ preventScroll: true });
  }
}

return (host, calls = {}) => {
  const view = new Tracks(host, calls);
  return { show: (input, state) => view.show(input, state), draw: () => view.draw(), stop: () => view.stop(), view };
};
})();
