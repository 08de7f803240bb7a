/* SPDX-License-Identifier: MIT */
/* The stacks of a thread, or of a CPU below its threads, as they followed each other. `stackChart(host, calls)` makes the view in an element;
 * `show({ data, transforms }, state)` draws it; what takes long it asks for: ask(name, question, done), see timeindex.js: until
 * there is an answer, the last boxes stay. Of the state it takes event, time, threads, include, exclude, selected (a key), search, window, byDay
 * and thread or cpu. It calls onSelect(key), onFilter, onWindow, onThread (thread, cpu: -1 for the one that is not shown) and onHover; names(key) and colour(key) may say what is
 * written on boxes, shorter ones last, and their colours. */
"use strict";
const stackChart = (() => {
const T = overTime;
const ROW = 18, AXIS = 26, BLOCKED = 2, READY = 3, MAX_THREADS = 1000;
const NONE = [], NO_BOXES = { count: 0, depth: [], node: [], key: [], from: [], to: [], deepest: 0 };
const WAITS = ["running", "preempted", "blocked", "ready, without a CPU"];
const HUES = [[8, 44], [222, 34], [168, 24], [92, 34], [34, 12]];

/* A colour by kind and name, where the page has none. */
function colourOf(data, key, dark) {
  const { functions } = data, kind = key < functions.kind.length ? functions.kind[key] : 4;
  const [hue, range] = HUES[kind] || HUES[4], at = Math.imul(key + 1, 0x9e3779b1) >>> 8 & 255;
  const full = kind === 4 ? 14 : dark ? 50 : 70, light = (dark ? 58 : 70) + at % 6;
  return `hsl(${hue + Math.round(range * at / 255)},${full}%,${light}%)`;
}

class Chart {
  constructor(host, calls) {
    Object.assign(this, { host, calls, state: {}, thread: -1, cpu: -1, pinned: null, hover: -1, fills: new Map(),
      ask: calls.ask || ((name, question, done) => done(overAnswers(this.data)[name](question))) });
    this.later = T.later(() => this.draw());
    this.window = new T.Window(this.later, part => calls.onWindow?.(part));
    this.build();
    this.stop = T.redrawOn(this.scroll, () => { this.css = null; this.fills.clear(); this.later(); });
  }
  build() {
    this.choice = T.element("select", { "aria-label": "Thread or CPU", class: "ot-thread" });
    this.choice.addEventListener("change", () => this.setRow(this.choice.value));
    this.into = T.button("Zoom to selection", {}, () => this.window.set(...this.state.time));
    this.entire = T.button("Whole time", {}, () => this.window.set(0, this.window.length));
    this.remark = T.element("span", { class: "quiet" });
    const part = (name, text) => T.element("span", {}, T.element("i", { class: "ot-sign ot-" + name }), text);
    this.waitKey = T.element("span", { class: "ot-key quiet", "aria-hidden": "true" }, part("blocked", WAITS[BLOCKED]), part("ready", WAITS[READY]));
    this.axis = T.element("canvas", { class: "ot-axis", "aria-hidden": "true" });
    this.canvas = T.element("canvas", { class: "ot-chart", tabindex: "0", role: "application",
      "aria-roledescription": "stack chart",
        "aria-label": "Stacks in the order of time. Arrow keys move, Enter zooms to a " +
      "frame, Space chooses its function, plus, minus and 0 zoom, Escape steps back." });
    this.space = T.element("div", { class: "ot-space" }, this.canvas);
    this.scroll = T.element("div", { class: "ot-scroll" }, this.space);
    this.tip = T.element("div", { class: "ot-tip", hidden: "" });
    this.live = T.element("div", { class: "hear", "aria-live": "polite", role: "status" });
    this.body = T.element("div", { class: "ot-body" }, this.axis, this.scroll, this.tip);
    this.host.replaceChildren(T.element("div", { class: "ot" }, T.element("div", { class: "ot-tools" },
      T.element("label", {}, "Thread or CPU ", this.choice), this.into, this.entire, this.remark, this.waitKey), this.body, this.live));
    const on = (part, name, act) => part.addEventListener(name, act);
    on(this.scroll, "scroll", this.later);
    for (const part of [this.axis, this.space]) {
      on(part, "pointerdown", e => e.isPrimary && this.press(e));
      on(part, "pointermove", e => e.isPrimary && this.move(e));
      on(part, "pointerup", e => e.isPrimary && this.release(e));
      T.onFingers(part, { two: (factor, clientX, by) => {
        this.pulled = null;
        this.window.zoom(factor, this.placeOf({ clientX, clientY: 0 }).time);
        this.window.pan(by / this.width);
      } });
      on(part, "pointercancel", () => { this.pulled = null; this.later(); });
      on(part, "pointerleave", () => this.leave());
      part.addEventListener("wheel", e => this.window.wheel(e, this.placeOf(e).time, this.width, part === this.axis),
        { passive: false });
    }
    on(this.space, "dblclick", e => { this.make(); this.zoomTo(this.boxAt(this.placeOf(e))); });
    on(this.canvas, "keydown", e => this.key(e));
    on(this.canvas, "focus", this.later);
    on(this.canvas, "blur", this.later);
  }

  /* --- what is shown --- */

  show({ data, transforms = NONE }, state) {
    const { event, threads, cpus, processes, include, exclude, search } = state, wanted = { event, threads, cpus, processes, include, exclude };
    const preset = JSON.stringify([wanted, transforms], (key, value) => value ?? null), found = JSON.stringify(wanted);
    const fresh = data !== this.data || found !== this.found;
    if (data !== this.data) this.fills.clear();
    if (search !== this.search) this.matched = search ? query.matches(data, search) : null;
    Object.assign(this, { data, preset, found, transforms, wanted, search, state });
    if (!fresh) return this.pickThread();
    this.ask("threads", { filter: wanted, event }, ({ weights, cpus }) => {
      this.listThreads(weights);
      this.listCpus(cpus);
      this.pickThread();
    });
  }
  /* The thread that is shown, of those that there are. */
  pickThread() {
    const { state, data } = this;
    if (!this.weights) return;
    if (state.thread !== undefined && state.thread !== null) this.thread = state.thread;
    this.cpu = this.cpuWeights[state.cpu] > 0 ? state.cpu : -1;
    if (state.threads && state.threads.length && !state.threads.includes(this.thread)) this.thread = state.threads[0];
    if (!(this.weights[this.thread] > 0) && this.threads.length) this.thread = this.threads[0];
    this.showChoice();
    this.window.fit(data);
    this.window.take(T.lengthOf(data), state.window);
    this.later();
  }
  /* The thread in the list, also when it is not among the heaviest. */
  showChoice() {
    const { thread } = this;
    if (this.weights[thread] > 0 && ![...this.choice.options].some(one => +one.value === thread)) this.choice.prepend(this.option(thread));
    this.choice.value = this.cpu < 0 ? thread : "cpu" + this.cpu;
  }
  option(t) {
    return T.element("option", { value: t }, `${T.threadWords(this.data, t)} ${(100 * this.weights[t] / this.all).toFixed(1)}%`);
  }
  /* Threads with samples, the heaviest first: more than some are of no use in a list, and slow. */
  listThreads(weights) {
    this.weights = weights;
    this.threads = Array.from(weights, (x, t) => t).filter(t => weights[t] > 0).sort((a, b) => weights[b] - weights[a]);
    this.all = weights.reduce((a, b) => a + b, 0) || 1;
    this.choice.replaceChildren(...this.threads.slice(0, MAX_THREADS).map(t => this.option(t)));
    const left = this.threads.length - MAX_THREADS;
    if (left > 0) this.choice.append(T.element("option", { disabled: "" }, `${left.toLocaleString("en-US")} lighter ones: choose them in the tracks`));
    if (!this.threads.includes(this.thread)) this.thread = this.threads.length ? this.threads[0] : -1;
  }
  listCpus(weights) {
    const options = Array.from(weights, (weight, cpu) => weight > 0 && T.element("option", { value: "cpu" + cpu }, `CPU ${cpu} ${(100 * weight / this.all).toFixed(1)}%`));
    this.cpuWeights = weights;
    this.choice.append(...options.filter(option => option));
  }
  setRow(value) {
    const [, cpu] = /^cpu(\d+)$/.exec(value) || [];
    this.cpu = cpu === undefined ? -1 : +cpu;
    if (this.cpu < 0) this.thread = +value;
    this.showChoice();
    this.pinned = null;
    this.calls.onThread?.(this.cpu < 0 ? this.thread : -1, this.cpu);
    this.scroll.scrollTop = 0;
    this.later();
  }
  namesOf(key) {
    return this.calls.names ? this.calls.names(key) : [T.keyName(this.data, key)];
  }
  briefOf(key) {
    return T.briefName(this.calls, this.data, key);
  }
  fillOf(key) {
    let fill = this.fills.get(key);
    if (!fill) {
      const dark = document.documentElement.classList.contains("dark");
      this.fills.set(key, fill = this.calls.colour ? this.calls.colour(key) : colourOf(this.data, key, dark));
    }
    return fill;
  }

  /* --- drawing --- */

  /* Boxes are made anew for each window and thread. */
  make() {
    const { from, to } = this.window, tag = [this.thread, this.cpu, from, to, this.width, this.preset].join();
    if (this.tag === tag && this.boxes) return;
    this.tag = tag;
    this.boxes ||= NO_BOXES;
    this.waits ||= [];
    let later = false;
    this.ask("chart", { filter: this.wanted, transforms: this.transforms, thread: this.thread, cpu: this.cpu, from, to, columns: this.width }, boxes => {
      this.take(boxes, from, to);
      if (later) this.later();
    });
    later = true;
  }
  take(boxes, from, to) {
    this.hover = -1;
    this.boxes = boxes;
    this.waits = this.waitsIn(from, to);
    this.deepest = this.waits.reduce((most, wait) => Math.max(most, wait.path.length), this.boxes.deepest);
  }
  /* When the thread waited, and where; those narrower than a pixel once for each pixel. */
  waitsIn(begin, end) {
    const { data: { intervals, stacks }, thread } = this, found = [], pixel = (end - begin) / this.width;
    if (!intervals || this.cpu >= 0) return found;
    let last = -1;
    for (const i of this.intervalsOf(thread)) {
      if (intervals.from[i] >= end) break;
      if (intervals.to[i] <= begin || !intervals.state[i]) continue;
      if (Math.floor((intervals.to[i] - begin) / pixel) <= last) continue;
      last = Math.floor((intervals.to[i] - begin) / pixel);
      const path = [];
      for (let s = intervals.stack[i]; s >= 0; s = stacks.parent[s]) path.push(stacks.fn[s]);
      found.push({ from: intervals.from[i], to: intervals.to[i], state: intervals.state[i], path: path.reverse(),
        waker: intervals.waker ? intervals.waker[i] : -1 });
    }
    return found;
  }
  intervalsOf(thread) {
    const { data: { intervals } } = this;
    if (this.listed?.intervals !== intervals || this.listed.thread !== thread) {
      const list = [];
      for (let i = 0; i < intervals.thread.length; i++) if (intervals.thread[i] === thread) list.push(i);
      this.listed = { intervals, thread, list: list.sort((a, b) => intervals.from[a] - intervals.from[b]) };
    }
    return this.listed.list;
  }
  x(time) {
    return (time - this.window.from) / (this.window.to - this.window.from) * this.width;
  }
  draw() {
    if (!this.weights || !this.scroll.clientWidth) return;
    this.width = this.scroll.clientWidth;
    this.make();
    this.space.style.height = Math.max(3, this.deepest + 1) * ROW + "px";
    this.width = this.scroll.clientWidth;
    this.make();
    this.css ||= T.coloursOf(this.host);
    const high = this.scroll.clientHeight, top = this.scroll.scrollTop, p = T.cleared(this.canvas, this.width, high);
    this.stripe = T.stripes(p, this.css.wait, this.css.panel);
    this.stripeReady = T.stripes(p, this.css.ready, this.css.panel, true);
    for (const wait of this.waits) this.drawWait(p, wait, top, high);
    this.drawBoxes(p, top, high);
    this.drawSpot(p, top);
    T.drawChoice(p, this.css, this.chosenTime(), this.window, 0, 0, this.width, high);
    const axis = T.cleared(this.axis, this.width, AXIS);
    T.drawAxis(axis, this.css, this.data, this.window, 0, this.width, AXIS, this.state.byDay);
    T.drawChoice(axis, this.css, this.chosenTime(), this.window, 0, 0, this.width, AXIS);
    this.words(p);
  }
  drawBoxes(p, top, high) {
    const { boxes, css, matched } = this, forced = T.forced.matches;
    for (let b = 0; b < boxes.count; b++) {
      const y = boxes.depth[b] * ROW - top;
      if (y <= -ROW || y >= high) continue;
      const key = boxes.key[b], x = this.x(boxes.from[b]), w = Math.max(1, this.x(boxes.to[b]) - x);
      const hit = matched && matched[key];
      p.globalAlpha = matched && !hit ? .38 : 1;
      p.fillStyle = hit ? css.hitfill : forced ? css.panel : this.fillOf(key);
      p.fillRect(x, y, w > 3 ? w - .6 : w, ROW - 1);
      if (forced) this.outline(p, x, y, w, css.text, 1);
      if (w > 24) this.label(p, this.namesOf(key), x, y, w, forced ? css.text : css.frame);
      p.globalAlpha = 1;
      if (key === this.state.selected && w > 1) this.outline(p, x, y, w, css.text, 1);
    }
  }
  label(p, names, x, y, w, fill) {
    const left = Math.max(0, x), extent = Math.min(this.width, x + w) - left - 8;
    const text = T.fitted(p, names, extent);
    p.fillStyle = fill;
    if (text) p.fillText(text, left + 4, y + ROW / 2);
  }
  outline(p, x, y, w, colour, wide) {
    p.strokeStyle = colour;
    p.lineWidth = wide;
    p.strokeRect(x + .5, y + .5, Math.max(1, w - 2), ROW - 2);
  }
  drawWait(p, wait, top, high) {
    const x = this.x(wait.from), w = Math.max(.7, this.x(wait.to) - x), rows = Math.max(1, wait.path.length);
    for (let d = 0; d < rows; d++) {
      const y = d * ROW - top;
      if (y <= -ROW || y >= high) continue;
      p.globalAlpha = T.forced.matches ? 1 : .6;
      p.fillStyle = wait.state === BLOCKED ? this.stripe : this.stripeReady;
      p.fillRect(x, y, w > 3 ? w - .6 : w, ROW - 1);
      p.globalAlpha = 1;
      if (w < 60) continue;
      const names = d < wait.path.length ? this.namesOf(wait.path[d]) : [WAITS[wait.state]];
      const left = Math.max(0, x) + 3, text = T.fitted(p, names, Math.min(this.width, x + w) - left - 8);
      if (!text) continue;
      p.fillStyle = this.css.panel;
      p.fillRect(left - 1, y + 1, p.measureText(text).width + 4, ROW - 3);
      p.fillStyle = this.css.quiet;
      p.fillText(text, left + 1, y + ROW / 2);
    }
  }
  drawSpot(p, top) {
    const { boxes } = this, pinned = this.pinnedBox();
    for (const [b, colour, wide] of [[this.hover, this.css.text, 1], [pinned, this.css.accent, 2]]) {
      if (b < 0 || b === pinned && colour === this.css.text) continue;
      const x = this.x(boxes.from[b]);
      this.outline(p, x, boxes.depth[b] * ROW - top, this.x(boxes.to[b]) - x, colour, wide);
    }
  }
  words(p) {
    const { boxes, css, window, state } = this;
    this.into.disabled = !state.time;
    this.entire.disabled = !window.zoomed;
    this.waitKey.hidden = !this.waits.length;
    const fine = T.roundStep((window.to - window.from) / 1000), t = at => T.timeWords(this.data, at, fine, state.byDay);
    this.remark.textContent = `${t(window.from)} – ${t(window.to)}` +
      (boxes.thinned ? " · one sample for each pixel: zoom in for all" : "");
    if (boxes.count || this.waits.length) return;
    p.fillStyle = css.quiet;
    p.fillText(this.thread < 0 ? "No samples of a thread that have a time." : "Nothing of this thread here.", 12, ROW);
  }
  chosenTime() {
    const { pulled } = this;
    return pulled && pulled.moved && pulled.selects ? [Math.min(pulled.at, pulled.to), Math.max(pulled.at, pulled.to)]
      : this.state.time;
  }

  /* --- what is where --- */

  placeOf(e) {
    const box = this.body.getBoundingClientRect(), x = e.clientX - box.left - 1, y = e.clientY - box.top;
    const { from, to } = this.window, share = Math.max(0, Math.min(1, x / this.width));
    return { x, y, time: from + share * (to - from), depth: Math.floor((y - AXIS - 2 + this.scroll.scrollTop) / ROW) };
  }
  boxAt({ time, depth }) {
    const { boxes } = this, pixel = (this.window.to - this.window.from) / this.width / 2;
    let best = -1;
    for (let b = 0; b < boxes.count; b++) {
      if (boxes.depth[b] !== depth || boxes.from[b] > time + pixel) continue;
      if (boxes.to[b] > time && boxes.from[b] <= time) return b;
      if (boxes.to[b] > time - pixel) best = b;
    }
    return best;
  }
  pinnedBox() {
    return this.pinned ? this.boxAt(this.pinned) : -1;
  }
  factsOf(b) {
    const { boxes, data, data: { functions }, state } = this, key = boxes.key[b], from = boxes.from[b], to = boxes.to[b];
    const step = T.roundStep(Math.max(1, (to - from) / 100)), t = at => T.timeWords(data, at, step, state.byDay);
    const above = boxes.depth[b] ? this.boxAt({ time: (from + to) / 2, depth: boxes.depth[b] - 1 }) : -1;
    const text = id => id >= 0 ? data.strings[id] : "", is = key < functions.name.length;
    const file = is && functions.file ? text(functions.file[key]) : "", line = is && functions.line[key];
    const site = is ? [text(functions.module[key]), file && line ? `${file}:${line}` : file].filter(x => x).join(" · ") : "";
    return [this.briefOf(key), site, `${t(from)} – ${t(to)} (${T.duration(to - from)})`,
      `level ${boxes.depth[b] + 1}${above >= 0 ? ", called by " + this.briefOf(boxes.key[above]) : ""}`];
  }
  waitAt({ time, depth }) {
    const wait = this.waits.find(w => w.from <= time && time < w.to && depth >= 0
      && depth < Math.max(1, w.path.length));
    if (!wait) return null;
    const step = T.roundStep(Math.max(1, (wait.to - wait.from) / 100));
    const t = at => T.timeWords(this.data, at, step, this.state.byDay);
    return [`${WAITS[wait.state]} ${T.duration(wait.to - wait.from)}`, `${t(wait.from)} – ${t(wait.to)}`,
      wait.path.length ? "in " + this.briefOf(wait.path[Math.min(depth, wait.path.length - 1)]) : "",
      wait.waker >= 0 ? "woken by " + T.threadWords(this.data, wait.waker) : ""];
  }

  /* --- the pointer: drags on the axis, or with Shift, choose a time; others move what is shown --- */

  press(e) {
    if (e.button) return;
    const at = this.placeOf(e), { from, to } = this.window;
    this.pulled = { at: this.window.snap(at.time, this.width), to: at.time, x: e.clientX, from, until: to, moved: false,
      selects: e.currentTarget === this.axis || e.shiftKey };
    e.currentTarget.setPointerCapture(e.pointerId);
  }
  move(e) {
    const at = this.placeOf(e), { pulled } = this;
    if (pulled && (pulled.moved || Math.abs(e.clientX - pulled.x) > 3)) {
      pulled.moved = true;
      this.leave();
      const by = (pulled.x - e.clientX) / this.width * (pulled.until - pulled.from);
      if (pulled.selects) pulled.to = this.window.snap(at.time, this.width);
      else this.window.set(pulled.from + by, pulled.until + by);
      this.later();
      return;
    }
    if (e.currentTarget === this.axis || !this.width) return;
    this.make();
    const hover = this.boxAt(at), lines = hover >= 0 ? this.factsOf(hover) : this.waitAt(at);
    if (lines) this.facts(at, lines); else this.leave();
    if (hover !== this.hover) this.later();
    this.hover = hover;
  }
  release(e) {
    const { pulled } = this, at = this.placeOf(e);
    if (!pulled || !this.width) return;
    this.make();
    const time = this.chosenTime();
    this.pulled = null;
    if (pulled.moved && pulled.selects) this.filter(time);
    else if (!pulled.moved && e.currentTarget === this.axis) this.state.time && this.filter(null);
    else if (!pulled.moved) this.choose(this.boxAt(at), at.time);
    this.later();
  }
  facts(at, lines) {
    T.placeTip(this.tip, this.body, at.x, at.y, lines);
    const text = lines.filter(line => line).join(" · ");
    if (text !== this.hovered) this.calls.onHover?.(text);
    this.hovered = text;
  }
  leave() {
    this.tip.hidden = true;
    if (this.hovered) this.calls.onHover?.("");
    this.hovered = "";
    if (this.hover >= 0) this.later();
    this.hover = -1;
  }
  filter(time) {
    const { threads = null, cpus = null, processes = null } = this.state;
    this.calls.onFilter?.({ time, threads, cpus, processes });
  }
  choose(b, time) {
    if (b < 0) return;
    this.pinned = { time: Math.max(this.boxes.from[b], Math.min(time, this.boxes.to[b])), depth: this.boxes.depth[b] };
    this.calls.onSelect?.(this.boxes.key[b]);
  }
  zoomTo(b) {
    if (b >= 0) this.window.set(this.boxes.from[b], this.boxes.to[b]);
  }

  /* --- keys --- */

  key(e) {
    if (e.ctrlKey || e.altKey || e.metaKey || !this.width) return;
    this.make();
    const pinned = this.pinnedBox(), { boxes } = this;
    const page = this.scroll.clientHeight - ROW;
    if (/^Arrow/.test(e.key)) this.go(e.key, pinned);
    else if (e.key === "Enter") this.zoomTo(pinned);
    else if (e.key === " " && pinned >= 0) this.choose(pinned, this.pinned.time);
    else if (e.key === "PageDown" || e.key === "PageUp") this.scroll.scrollTop += e.key === "PageDown" ? page : -page;
    else if (e.key === "Escape" && this.window.zoomed) this.window.set(0, this.window.length);
    else if (e.key === "Escape" && this.state.time) this.filter(null);
    else if (!this.window.key(e)) return;
    if (/^Arrow/.test(e.key) && boxes !== this.boxes) this.later();
    e.preventDefault();
    e.stopPropagation();
  }
  /* To the caller, a callee, what came before or after. */
  go(key, pinned) {
    const { boxes } = this;
    let to = -1;
    if (pinned < 0) to = this.boxAt({ time: this.firstTime(), depth: 0 });
    else if (key === "ArrowUp") to = boxes.depth[pinned]
      ? this.boxAt({ time: this.pinned.time, depth: boxes.depth[pinned] - 1 }) : -1;
    else if (key === "ArrowDown") to = this.below(pinned);
    else to = this.beside(pinned, key === "ArrowLeft" ? -1 : 1);
    if (to < 0) {
      this.live.textContent = "nothing there";
      return;
    }
    const { from, to: end } = this.window, a = Math.max(from, this.boxes.from[to]),
      b = Math.min(end, this.boxes.to[to]);
    this.pinned = { depth: this.boxes.depth[to], time: Math.max(a,
      Math.min(key === "ArrowUp" && pinned >= 0 ? this.pinned.time : (a + b) / 2, b)) };
    this.reveal();
    this.live.textContent = this.factsOf(to).filter(line => line).join(", ");
    this.later();
  }
  firstTime() {
    const { boxes } = this;
    for (let b = 0; b < boxes.count; b++) if (!boxes.depth[b]) return (boxes.from[b] + boxes.to[b]) / 2;
    return NaN;
  }
  /* The longest callee. */
  below(pinned) {
    const { boxes } = this;
    let best = -1;
    for (let b = 0; b < boxes.count; b++)
      if (boxes.depth[b] === boxes.depth[pinned] + 1 && boxes.from[b] >= boxes.from[pinned] &&
        boxes.to[b] <= boxes.to[pinned] && (best < 0 || boxes.to[b] - boxes.from[b] > boxes.to[best] - boxes.from[best])) best = b;
    return best;
  }
  /* At the same level; beyond what is shown it moves on. */
  beside(pinned, step) {
    const depth = this.boxes.depth[pinned], middle = b => (this.boxes.from[b] + this.boxes.to[b]) / 2, own = middle(pinned);
    for (let tries = 0; tries < 2; tries++) {
      const { boxes } = this;
      let best = -1;
      for (let b = 0; b < boxes.count; b++) {
        const far = (middle(b) - own) * step;
        if (boxes.depth[b] === depth && far > 0 && !(boxes.from[b] < own && boxes.to[b] > own) &&
          (best < 0 || far < (middle(best) - own) * step)) best = b;
      }
      if (best >= 0 || !this.window.zoomed) return best;
      this.window.pan(step * .5);
      this.make();
    }
    return -1;
  }
  reveal() {
    const y = this.pinned.depth * ROW, { scroll } = this;
    if (y < scroll.scrollTop) scroll.scrollTop = y;
    else if (y + ROW > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = y + ROW - scroll.clientHeight;
  }
}

return (host, calls = {}) => {
  const view = new Chart(host, calls);
  return { show: (input, state) => view.show(input, state), draw: () => view.draw(), stop: () => view.stop(), view };
};
})();
