/* SPDX-License-Identifier: MIT */
/* How Tracks are drawn: where times and rows stand, bars, states, marks. What it draws it has from tracks.js, which extends it. */
"use strict";
const trackDrawing = (() => {
const T = overTime, { ALL, CPU, PROCESS, THREAD, LANE, spread, addWaits, ownersOf } = trackRows;
const AXIS = 26, NARROW = 560, WAIT = 4, ROW_HIGH = 34, LOST = 0, BLOCKED = 2;
/* What happened at a time: its name, its colour, its form. */
const MARKS = [["lost samples", "more", "down"], ["throttled", "wait", "square"], ["fork", "text", "up"],
  ["exec", "accent", "round"], ["exit", "quiet", "cross"], ["event", "quiet", "line"]];
const TITLE = "bold 11px " + T.FONT;

class Drawing {
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
    this.stripeReady = T.stripes(p, this.css.ready, this.css.panel, true);
    for (let i = this.from; i < this.until; i++) this.drawRow(p, rows[i].row, i * this.high - top);
    if (this.wakes) this.panes.forEach((pane, at) => this.drawWakes(p, pane, at, top));
    for (const pane of this.panes) this.drawChoice(p, pane, 0, high);
    this.drawTimes();
    this.site();
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
    if (row.kind === CPU) made.owners = ownersOf(pane, part.lists[0], this.step, this.first, this.buckets);
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
    const dim = this.isChosen() && row.kind !== LANE && !this.chosen(row) ? .45 : 1;
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
    if (row.kind === LANE) return this.drawLane(p, pane, row.parts[at], y, high);
    const { css } = this, drawn = this.bucketsOf(row, at), states = row.kind === THREAD && drawn.blocked;
    const waits = this.hasWaits && !states ? WAIT : 0, extent = high - waits - 3;
    const bottom = y + high - waits, { first, step } = this;
    if (states) this.drawStates(p, pane, drawn, bottom - extent, extent);
    p.fillStyle = css.accent;
    for (let b = 0; b < drawn.busy.length; b++) {
      if (!drawn.busy[b]) continue;
      if (drawn.owners && !T.forced.matches) p.fillStyle = this.colourOfThread(drawn.owners[b]);
      const x = Math.round(this.xOf(pane, (first + b) * step)), tall = Math.max(1, Math.min(1, drawn.busy[b] / scale.most) * extent);
      p.fillRect(x, bottom - tall, Math.max(1, Math.round(this.xOf(pane, (first + b + 1) * step)) - x), tall);
    }
    if (drawn.blocked && !states) this.drawWaits(p, pane, drawn, bottom, waits, row.parts[at].threads.length);
    this.drawMarks(p, pane, row, at, y + 1, high);
    if (scale.words) this.drawScale(p, pane.x + pane.width, y, scale.words);
  }
  /* Threads that follow each other in the list have colours that are far from each other. */
  colourOfThread(thread) {
    const dark = document.documentElement.classList.contains("dark");
    return thread < 0 ? this.css.quiet : `hsl(${(thread * 137.5 % 360).toFixed(0)},${dark ? "45%,58%" : "55%,58%"})`;
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
    const { first, step } = this;
    for (let b = 0; b < this.buckets; b++) {
      const blocked = Math.min(1, drawn.blocked[b] / step), ready = Math.min(1 - blocked, drawn.ready[b] / step);
      if (!blocked && !ready) continue;
      const x = Math.round(this.xOf(pane, (first + b) * step)), w = Math.max(.6, Math.round(this.xOf(pane, (first + b + 1) * step)) - x);
      p.fillStyle = this.stripe;
      p.fillRect(x, y, w, blocked * high);
      p.fillStyle = this.stripeReady;
      p.fillRect(x, y + blocked * high, w, ready * high);
    }
  }
  /* Rows of threads that are drawn, by their number. */
  rowsOfThreads(at) {
    const found = new Map();
    for (let i = this.from; i < this.until; i++) {
      const { row } = this.rows[i];
      if (row.kind === THREAD && row.parts[at]) found.set(row.parts[at].threads[0], i);
    }
    return found;
  }
  /* When a blocked thread was woken by another one that is drawn, once in a few pixels for the same two: {x, from, to (rows)}. */
  wakesOf(pane, at) {
    const rows = this.rowsOfThreads(at), { from, to, state, waker } = pane.data.intervals, found = new Map();
    for (const [thread, row] of rows) {
      const list = T.partOf(pane.intervals, thread);
      for (let k = T.firstAt(list, from, this.window.to) - 1; k >= 0 && to[list[k]] >= this.window.from; k--) {
        const by = rows.get(waker[list[k]]), x = this.xOf(pane, to[list[k]]);
        if (state[list[k]] === BLOCKED && by !== undefined && by !== row && to[list[k]] < this.window.to) found.set([x >> 3, by, row].join(), { x: Math.round(x) + .5, from: by, to: row });
      }
    }
    return [...found.values()];
  }
  /* An arrow for each, from the middle of the one row to that of the other. */
  drawWakes(p, pane, at, top) {
    if (!pane.intervals) return;
    const middle = row => (row + .5) * this.high - top;
    p.strokeStyle = p.fillStyle = this.css.text;
    p.lineWidth = 1;
    p.beginPath();
    for (const { x, from, to } of this.wakesOf(pane, at)) {
      const end = middle(to), back = from < to ? -6 : 6;
      p.moveTo(x, middle(from));
      p.lineTo(x, end);
      p.lineTo(x - 3, end + back);
      p.moveTo(x, end);
      p.lineTo(x + 3, end + back);
    }
    p.stroke();
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
    const { data, table } = pane, { from, to } = this.window, threads = row.parts[at].threads, found = MARKS.map(() => new Map());
    const mark = (time, kind) => {
      const x = Math.round(this.xOf(pane, time)), places = found[Math.min(kind, MARKS.length - 1)];
      if (!places.has(x >> 2)) places.set(x >> 2, x);
    };
    if (row.kind === ALL && data.losses)
      for (let i = 0; i < data.losses.time.length; i++)
        if (data.losses.time[i] >= from && data.losses.time[i] < to) mark(data.losses.time[i], LOST);
    const lists = !pane.marks || row.kind === CPU ? [] : threads ? threads.map(t => T.partOf(pane.marks, t)) : [pane.marks.all];
    for (const list of lists)
      for (let k = T.firstAt(list, table.time, from); k < list.length && table.time[list[k]] < to; k++)
        mark(table.time[list[k]], table.kind[list[k]]);
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
}

return { Drawing, AXIS, ROW_HIGH, LOST, MARKS };
})();
