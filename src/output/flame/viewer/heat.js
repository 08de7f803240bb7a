/* SPDX-License-Identifier: MIT */
/* A subsecond heat map: a column is a second (or another round time), a row an offset in it, the colour is weight. What
 * repeats in each second is a line, what is once a point. `heatMap(host, calls)` makes the view in an element;
 * `show({ data }, state)` draws it; what takes long it asks for: ask(name, question, done), see timeindex.js. Of the state it takes event, measure, time, threads, cpus, processes, byDay and column (ns).
 * Two cells are a time filter from the one to the other. It calls onFilter, onColumn and onHover. */
"use strict";
const heatMap = (() => {
const T = overTime;
const ROWS = 50, LEFT = 58, AXIS = 26, COLUMNS = [1e7, 1e8, 1e9, 1e10, 6e10, 6e11, 3.6e12], FEW = 200, MANY = 1200;
/* From none to most: light to dark on light ground, dark to light on dark. */
const RAMPS = { light: [[238, 243, 254], [196, 212, 247], [136, 167, 236], [78, 120, 216], [36, 76, 170]],
  dark: [[32, 38, 56], [44, 64, 112], [66, 102, 176], [104, 148, 228], [160, 194, 255]] };
const LEVELS = 64;

/* In colours that the system forces, from the ground to the text. */
function forcedRamp(p, css) {
  const rgb = colour => {
    p.fillStyle = colour;
    p.fillRect(0, 0, 1, 1);
    return Array.from(p.getImageData(0, 0, 1, 1).data.subarray(0, 3));
  };
  const ground = rgb(css.panel), text = rgb(css.text);
  return ramp([ground.map((c, i) => Math.round(c + (text[i] - c) * .2)), text]);
}
function ramp(points) {
  return Array.from({ length: LEVELS }, (x, i) => {
    const at = i / (LEVELS - 1) * (points.length - 1), low = Math.min(points.length - 2, Math.floor(at));
    return points[low].map((c, k) => Math.round(c + (points[low + 1][k] - c) * (at - low)));
  });
}

/* A CPU that runs the idle task is not busy: all other threads, and samples of none; null when there is no such task. */
function busyThreads({ threads: { pid } }) {
  return pid.includes(0) ? [-1, ...pid.keys()].filter(t => t < 0 || pid[t] !== 0) : null;
}

class Heat {
  constructor(host, calls) {
    Object.assign(this, { host, calls, state: {}, pinned: 0, anchor: -1,
      ask: calls.ask || ((name, question, done) => done(overAnswers(this.data)[name](question))) });
    this.later = T.later(() => this.draw());
    this.build();
    this.stop = T.redrawOn(this.scroll, () => { this.css = this.colours = null; this.later(); });
  }
  build() {
    this.width = T.element("select", { "aria-label": "Length of a column" },
      ...COLUMNS.map(ns => T.element("option", { value: ns }, T.duration(ns))));
    this.width.addEventListener("change", () => {
      this.state = { ...this.state, column: +this.width.value };
      this.calls.onColumn?.(+this.width.value);
      this.make();
    });
    this.all = T.button("Whole time", {}, () => this.filter(null));
    this.legend = T.element("canvas", { "aria-hidden": "true" });
    this.scale = T.element("span", { class: "quiet" });
    this.axis = T.element("canvas", { class: "ot-axis", "aria-hidden": "true" });
    this.canvas = T.element("canvas", { class: "ot-heat", tabindex: "0", role: "application",
      "aria-roledescription": "heat map" });
    this.space = T.element("div", { class: "ot-space" }, this.canvas);
    this.scroll = T.element("div", { class: "ot-scroll ot-heatbox" }, this.space);
    this.tip = T.element("div", { class: "ot-tip", hidden: "" });
    this.range = T.element("p", { class: "ot-range quiet" });
    this.live = T.element("div", { class: "hear", "aria-live": "polite", role: "status" });
    this.body = T.element("div", { class: "ot-body" }, this.axis, this.scroll, this.tip);
    this.host.replaceChildren(T.element("div", { class: "ot" }, T.element("div", { class: "ot-tools" },
      T.element("label", {}, "Column ", this.width), this.all,
        T.element("span", { class: "ot-key" }, this.legend, this.scale)),
    this.body, this.range, this.live));
    const on = (part, name, act) => part.addEventListener(name, act);
    on(this.scroll, "scroll", () => { this.tip.hidden = true; this.later(); });
    on(this.space, "pointerdown", e => this.press(e));
    on(this.space, "pointermove", e => this.move(e));
    on(this.space, "pointerup", e => this.release(e));
    on(this.space, "pointercancel", () => { this.pulled = null; this.later(); });
    on(this.space, "pointerleave", () => this.leave());
    on(this.canvas, "keydown", e => this.key(e));
    on(this.canvas, "focus", this.later);
    on(this.canvas, "blur", this.later);
  }

  /* --- what is shown --- */

  show({ data }, state) {
    const { event, measure, threads, cpus, processes, include, exclude, column } = state,
      tag = JSON.stringify([event, measure, threads, cpus, processes, include, exclude, column]);
    const fresh = data !== this.data || tag !== this.tag;
    Object.assign(this, { data, tag, state });
    if (fresh) this.make();
    this.later();
  }
  make() {
    const { data, state: { event, measure, threads, cpus, processes, include, exclude, column = 0 } } = this;
    const busy = threads || processes ? null : busyThreads(data), filter = { event, measure, threads: threads || busy, cpus, processes, include, exclude };
    this.ask("heat", { filter, event, rows: ROWS, column, columns: COLUMNS, few: FEW, many: MANY }, found => this.take(filter, found));
  }
  take(filter, { map, column, total }) {
    Object.assign(this, { map, total, accepts: query.accepts(this.data, filter), hasSamples: /weight|both/.test(filter.measure || "weight") });
    this.width.value = column;
    this.pinned = Math.min(this.pinned, this.map.cells.length - 1);
    this.anchor = -1;
    this.canvas.setAttribute("aria-label",
      `Heat map: columns of ${T.duration(column)}, rows of ${T.duration(column / ROWS)}. ` +
      "Arrow keys move, Enter marks the one and the other end of a time, Shift and arrows too, Escape takes it back.");
    this.later();
  }
  /* Of a cell: when. */
  timeOf(cell) {
    return this.map.from + cell * this.map.width / ROWS;
  }
  cellOf(time, round) {
    const cell = (time - this.map.from) / this.map.width * ROWS, near = Math.round(cell);
    return Math.max(0, Math.min(this.map.cells.length, Math.abs(cell - near) < 1e-6 ? near : round(cell)));
  }
  /* What is marked, as cells [first, end). */
  marked() {
    const { pulled, state: { time } } = this;
    if (pulled && pulled.moved) return [Math.min(pulled.from, pulled.to), Math.max(pulled.from, pulled.to) + 1];
    if (this.anchor >= 0) return [Math.min(this.anchor, this.pinned), Math.max(this.anchor, this.pinned) + 1];
    return time ? [this.cellOf(time[0], Math.floor), this.cellOf(time[1], Math.ceil)] : null;
  }

  /* --- drawing --- */

  measure() {
    const extent = this.scroll.clientWidth - LEFT;
    this.wide = Math.max(2, extent / this.map.columns);
    this.high = Math.max(5, Math.min(12, Math.floor((this.host.clientHeight - 110) / ROWS)));
    this.space.style.width = Math.max(this.scroll.clientWidth, LEFT + this.wide * this.map.columns) + "px";
    this.space.style.height = this.high * ROWS + "px";
    this.seen = this.scroll.clientWidth;
    return extent > 10;
  }
  x(column) {
    return LEFT + column * this.wide - this.scroll.scrollLeft;
  }
  draw() {
    if (!this.map || !this.scroll.clientWidth || !this.measure()) return;
    this.css ||= T.coloursOf(this.host);
    const p = T.cleared(this.canvas, this.seen, this.high * ROWS);
    this.colours ||= T.forced.matches ? forcedRamp(p, this.css)
      : ramp(document.documentElement.classList.contains("dark") ? RAMPS.dark : RAMPS.light);
    this.drawCells(p);
    this.drawRows(p);
    this.drawMarked(p);
    this.drawAxis();
    this.drawLegend();
    this.words();
  }
  /* Less than linear, to show the many cells that have little. */
  levelOf(weight) {
    return Math.min(LEVELS - 1, Math.max(0, Math.round((weight / (this.map.most || 1)) ** .7 * (LEVELS - 1))));
  }
  /* Cells as the pixels of a picture that is stretched. */
  drawCells(p) {
    const { columns } = this.map, { wide, high } = this, width = columns * wide;
    if (this.pictured !== this.map || this.picturedIn !== this.colours) this.paint();
    p.save();
    p.beginPath();
    p.rect(LEFT, 0, this.seen, high * ROWS);
    p.clip();
    p.imageSmoothingEnabled = false;
    p.drawImage(this.picture, this.x(0), 0, width, high * ROWS);
    p.restore();
  }
  paint() {
    const { cells, columns } = this.map, picture = this.picture = document.createElement("canvas");
    [this.pictured, this.picturedIn] = [this.map, this.colours];
    picture.width = columns;
    picture.height = ROWS;
    const p = picture.getContext("2d"), image = p.createImageData(columns, ROWS);
    for (let i = 0; i < cells.length; i++) {
      if (!cells[i]) continue;
      const level = this.levelOf(cells[i]), at = ((i % ROWS) * columns + Math.floor(i / ROWS)) * 4;
      image.data.set(this.colours[level], at);
      image.data[at + 3] = 255;
    }
    p.putImageData(image, 0, 0);
  }
  drawRows(p) {
    const { css, high } = this;
    p.fillStyle = css.panel;
    p.fillRect(0, 0, LEFT, high * ROWS);
    p.font = "11px " + T.FONT;
    p.textAlign = "right";
    for (let r = 0; r < ROWS; r += 10) {
      p.fillStyle = css.quiet;
      p.fillText(T.duration(this.map.width / ROWS * r).replace("0 ns", "0"), LEFT - 8, r * high + 6);
      p.fillStyle = css.line;
      p.fillRect(LEFT - 5, r * high, 5, 1);
    }
    p.textAlign = "left";
  }
  /* What is not marked is paler; the pointer of the keys is a frame. */
  drawMarked(p) {
    const marked = this.marked(), { css, wide, high } = this, { columns } = this.map;
    p.save();
    p.beginPath();
    p.rect(LEFT, 0, this.seen, high * ROWS);
    p.clip();
    if (marked) {
      p.fillStyle = css.panel;
      p.globalAlpha = .72;
      for (let c = 0; c < columns; c++) {
        const top = Math.max(0, Math.min(ROWS, marked[0] - c * ROWS)),
          end = Math.max(0, Math.min(ROWS, marked[1] - c * ROWS));
        if (top > 0) p.fillRect(this.x(c), 0, wide, top * high);
        if (end < ROWS) p.fillRect(this.x(c), Math.max(top, end) * high, wide, (ROWS - Math.max(top, end)) * high);
      }
      p.globalAlpha = 1;
      p.strokeStyle = css.accent;
      p.lineWidth = 2;
      this.outline(p, marked);
    }
    if (document.activeElement === this.canvas || this.anchor >= 0) {
      p.strokeStyle = css.text;
      p.lineWidth = 2;
      p.strokeRect(this.x(Math.floor(this.pinned / ROWS)) - .5, this.pinned % ROWS * high - .5, wide + 1, high + 1);
    }
    p.restore();
  }
  outline(p, [first, end]) {
    const { wide, high } = this, c0 = Math.floor(first / ROWS), c1 = Math.floor((end - 1) / ROWS), r0 = first % ROWS,
      r1 = (end - 1) % ROWS + 1;
    const points = c0 === c1 ? [[c0, r0], [c0 + 1, r0], [c0 + 1, r1], [c0, r1]]
      : [[c0, r0], [c0 + 1, r0], [c0 + 1, 0], [c1 + 1, 0], [c1 + 1, r1], [c1, r1], [c1, ROWS], [c0, ROWS]];
    p.beginPath();
    points.forEach(([c, r], i) => p[i ? "lineTo" : "moveTo"](LEFT + c * wide - this.scroll.scrollLeft, r * high));
    p.closePath();
    p.stroke();
  }
  drawAxis() {
    const { css, data, map, wide, seen } = this, p = T.cleared(this.axis, seen, AXIS);
    const from = map.from + this.scroll.scrollLeft / wide * map.width, to = from + (seen - LEFT) / wide * map.width;
    const window = { from, to: Math.max(to, from + map.width) };
    p.save();
    p.beginPath();
    p.rect(LEFT, 0, Math.min(seen - LEFT, map.columns * wide - this.scroll.scrollLeft), AXIS);
    p.clip();
    T.drawAxis(p, css, data, window, LEFT, seen - LEFT, AXIS, this.state.byDay);
    p.restore();
  }
  drawLegend() {
    const p = T.cleared(this.legend, 120, 12);
    for (let i = 0; i < 120; i++) {
      p.fillStyle = `rgb(${this.colours[this.levelOf(i / 120 * this.map.most)].join()})`;
      p.fillRect(i, 0, 1, 12);
    }
    this.scale.textContent = `0 to ${this.weightWords(this.map.most)} in ${T.duration(this.map.width / ROWS)}`;
  }
  weightWords(weight) {
    const { measure = "weight", event } = this.state;
    if (measure !== "weight" || T.isClock(this.data, event)) return `${(weight / (this.map.width / ROWS)).toFixed(2)} ${measure === "weight" ? "CPUs" : "threads"}`;
    return `${(100 * weight / (this.total || 1)).toFixed(3)}% of the weight`;
  }
  words() {
    const { data, state } = this, marked = this.marked(), step = this.map.width / ROWS;
    const t = cell => T.timeWords(data, this.timeOf(cell), step, state.byDay);
    this.all.disabled = !state.time && this.anchor < 0;
    this.range.textContent = marked
      ? `Selected ${t(marked[0])} – ${t(marked[1])} (${T.duration((marked[1] - marked[0]) * step)}) · Esc: everything`
      : !T.indexed(data, state.event).order.length ? "The samples have no times."
      : "Drag from one cell to another, or Enter at both: only that time.";
  }

  /* --- facts --- */

  lines(cell) {
    const { map, data, state } = this, step = map.width / ROWS, from = this.timeOf(cell),
      to = this.timeOf(cell + 1);
    const t = at => T.timeWords(data, at, step, state.byDay), { order } = T.indexed(data, state.event), picked = [];
    for (let k = T.firstAt(order, data.samples.time, from); k < order.length && data.samples.time[order[k]] < to; k++)
      if (this.hasSamples && this.accepts(order[k])) picked.push(order[k]);
    const most = T.heaviest(data, [picked], from, to);
    if (!most.count && map.cells[cell]) return [`${t(from)} – ${t(to)}`, `${this.weightWords(map.cells[cell])} off CPU`];
    return [`${t(from)} – ${t(to)}`, most.count
      ? `${most.count} sample${most.count === 1 ? "" : "s"}, ${this.weightWords(map.cells[cell])}`
      : "nothing", most.fn >= 0 ? `${T.briefName(this.calls, data, most.fn)} ${(100 * most.share).toFixed(0)}%` : ""];
  }
  facts(x, y, cell) {
    const lines = this.lines(cell), text = lines.filter(line => line).join(" · ");
    T.placeTip(this.tip, this.body, x, y, lines);
    if (text !== this.hovered) this.calls.onHover?.(text);
    this.hovered = text;
  }
  leave() {
    this.tip.hidden = true;
    if (this.hovered) this.calls.onHover?.("");
    this.hovered = "";
  }
  filter(time) {
    const { threads = null, cpus = null, processes = null } = this.state;
    this.anchor = -1;
    this.later();
    this.calls.onFilter?.({ time, threads, cpus, processes });
  }
  choose([first, end]) {
    this.filter([this.timeOf(first), Math.min(this.timeOf(end), T.indexed(this.data, this.state.event).length + 1)]);
  }

  /* --- the pointer --- */

  placeOf(e) {
    const box = this.body.getBoundingClientRect(), x = e.clientX - box.left - 1, y = e.clientY - box.top;
    const column = Math.floor((x - LEFT + this.scroll.scrollLeft) / this.wide);
    const row = Math.floor((y - AXIS - 2 + this.scroll.scrollTop) / this.high);
    const cut = (n, most) => Math.max(0, Math.min(most - 1, n));
    return { x, y, inside: x >= LEFT && column < this.map.columns && row >= 0 && row < ROWS,
      cell: cut(column, this.map.columns) * ROWS + cut(row, ROWS) };
  }
  press(e) {
    if (e.button || !this.map) return;
    const { inside, cell } = this.placeOf(e);
    if (!inside) return;
    this.pulled = { from: cell, to: cell, x: e.clientX, y: e.clientY, moved: false };
    this.space.setPointerCapture(e.pointerId);
  }
  move(e) {
    if (!this.map) return;
    const at = this.placeOf(e), { pulled } = this;
    if (pulled && (pulled.moved || Math.hypot(e.clientX - pulled.x, e.clientY - pulled.y) > 3)) {
      pulled.moved = true;
      pulled.to = at.cell;
      this.tip.hidden = true;
      this.later();
    } else if (at.inside) {
      this.facts(at.x, at.y, at.cell);
    } else {
      this.leave();
    }
  }
  /* A click marks one end, the next one the other. */
  release(e) {
    const { pulled } = this, marked = this.marked();
    this.pulled = null;
    if (!pulled) return;
    this.pinned = pulled.to;
    if (pulled.moved) this.choose(marked);
    else this.mark();
    this.canvas.focus({ preventScroll: true });
    this.later();
  }

  /* --- keys --- */

  mark() {
    if (this.anchor < 0) {
      this.anchor = this.pinned;
      this.live.textContent = "One end. Go to the other and press Enter.";
    } else {
      this.choose(this.marked());
      this.live.textContent = this.range.textContent;
    }
    this.later();
  }
  key(e) {
    if (e.ctrlKey || e.altKey || e.metaKey || !this.map) return;
    const step = { ArrowLeft: -ROWS, ArrowRight: ROWS, ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10,
      Home: -Infinity, End: Infinity }[e.key];
    if (step) this.go(step, e.shiftKey);
    else if (e.key === "Enter" || e.key === " ") this.mark();
    else if (e.key === "Escape" && this.anchor >= 0) this.anchor = -1;
    else if (e.key === "Escape" && this.state.time) this.filter(null);
    else return;
    this.later();
    e.preventDefault();
    e.stopPropagation();
  }
  go(step, marks) {
    const last = this.map.cells.length - 1;
    if (marks && this.anchor < 0) this.anchor = this.pinned;
    const to = this.pinned + step;
    if (Math.abs(step) < ROWS || Math.abs(step) === Infinity || to >= 0 && to <= last) this.pinned = Math.max(0,
      Math.min(last, to));
    const column = Math.floor(this.pinned / ROWS), x = column * this.wide, { scroll } = this;
    if (x < scroll.scrollLeft) scroll.scrollLeft = x;
    else if (x + this.wide + LEFT > scroll.scrollLeft + this.seen) scroll.scrollLeft = x + this.wide + LEFT - this.seen;
    this.draw();
    this.facts(this.x(column) + this.wide / 2, AXIS + (this.pinned % ROWS + .5) * this.high - scroll.scrollTop,
      this.pinned);
    this.live.textContent = this.hovered;
  }
}

return (host, calls = {}) => {
  const view = new Heat(host, calls);
  return { show: (input, state) => view.show(input, state), draw: () => view.draw(), stop: () => view.stop(), view };
};
})();
