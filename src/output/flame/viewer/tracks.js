/* SPDX-License-Identifier: MIT */
/* Tracks: what ran when, a row for each CPU, process and thread. `tracks(host, calls)` makes the view in an element;
 * `show({ data, other, otherEvent, titles }, state)` draws it. Of the state it takes event, time, threads, cpus, processes, window,
 * byDay. It calls onFilter, onWindow, onByDay and onHover. With `other`, a recording made before, each row has both side by
 * side, each from its own start and all in one scale; its event is `otherEvent`, and what is chosen of its time `timeBefore`:
 * a time belongs to one side, what is chosen of the rows of both. The rows are made in trackrows.js, drawn in trackdraw.js; the keys are in
 * trackkeys.js, lanes of events and counters in tracklanes.js. */
"use strict";
const tracks = (() => {
const T = overTime;
const { ALL, CPU, PROCESS, THREAD, LANE, EVENT, makePane, makeRows } = trackRows, { AXIS, ROW_HIGH, LOST, MARKS } = trackDrawing;
const MODES = [["processes", "Processes"], ["threads", "Threads"], ["cpus", "CPUs"]];
const STATES = ["", "preempted", "blocked", "ready, without a CPU"];

const AXIS_WORDS = "Time. Left and right move, with shift they select, plus and minus zoom, z zooms to the selection, " +
  "escape selects everything.";

class Tracks extends withTrackKeys(withLanes(trackDrawing.Drawing)) {
  constructor(host, calls) {
    super();
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
    this.wakesButton = T.button("Wake-ups", { "aria-pressed": "false" }, () => this.setWakes(!this.wakes));
    this.into = T.button("Zoom to selection", {}, () => this.zoomIn());
    this.entire = T.button("Whole time", {}, () => this.window.set(0, this.window.length));
    this.key = T.element("span", { class: "ot-key quiet", "aria-hidden": "true" });
    this.tools = T.element("div", { class: "ot-tools" }, T.element("div", { role: "group", "aria-label": "Tracks of",
      class: "ot-modes" }, ...this.modes), this.box, this.count, this.dayButton, this.wakesButton, this.into, this.entire, this.key);
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
      const name = data.meta?.events[state.event]?.name;
      this.panes = [makePane(data, state.event, titles[0], clock, name)];
      if (other) this.panes.unshift(makePane(other, otherEvent, titles[1], clock, name));
      this.model = makeRows(this.panes);
      this.openAtFirst();
      this.hasWaits = this.panes.some(pane => pane.intervals);
      this.hasWakers = this.panes.some(pane => pane.intervals && pane.data.intervals.waker?.some(waker => waker >= 0));
      this.side = this.panes.length - 1;
      /* Numbers of threads are of both. */
      this.joint = this.panes.length > 1 && this.panes[0].data.threads === this.panes[1].data.threads;
      this.axis.setAttribute("aria-label", AXIS_WORDS + (this.panes.length > 1 ? " x goes to the other recording." : ""));
      this.list();
    }
    this.window.fit(this.panes[0].data);
    this.window.take(Math.max(...this.panes.map(pane => pane.index.length)), state.window);
    this.later();
  }
  /* Processes are open as long as all of their threads are seen at once. */
  openAtFirst() {
    for (const { key, rows } of this.model.lanes) if (key === "counters" && rows.length <= 8) this.open.add(key);
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
  /* They are between rows of threads, which are listed then. */
  setWakes(on) {
    this.wakes = on;
    if (on && !this.rows.some(({ row }) => row.kind === THREAD)) this.setMode("threads");
    this.later();
  }
  /* The rows, as they are searched and opened. */
  list() {
    const { model, mode } = this, find = this.find.trim().toLowerCase();
    const fits = row => !find || [row.label, row.full, row.pid, row.tid].some(x => String(x ?? "").toLowerCase().includes(find));
    const rows = [[model.all, 1]];
    for (const group of model.lanes) {
      const lanes = group.rows.filter(fits);
      if (lanes.length) rows.push([group, 1]);
      if (this.open.has(group.key) || find) for (const lane of lanes) rows.push([lane, 2]);
    }
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

  /* --- the names of the rows --- */

  site() {
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
    const opens = row.kind === LANE ? row.rows.length > 0 : row.kind === PROCESS && row.rows.length > 1 && this.mode === "processes";
    const ids = row.kind === THREAD ? (row.tid === row.pid ? row.tid : `${row.pid}/${row.tid}`) : row.pid ?? "";
    if (opens) item.append(T.element("span", { class: "ot-twist", "aria-hidden": "true" }));
    const unseen = text => T.element("span", { class: "hear" }, text);
    item.append(T.element("b", {}, row.label), unseen(ids === "" ? "" : `, ${row.kind} `),
      T.element("span", { class: "quiet" }, ids), unseen(", "), T.element("span", { class: "ot-share quiet" }));
    item.row = row;
    item.opens = opens;
    item.classList.add("ot-level" + level);
    item.classList.toggle("ot-lane", row.kind === LANE);
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
    if (row.kind === LANE) return this.laneShare(row, at);
    const pane = this.panes[at], part = row.parts[at], time = this.timeOf(pane);
    const tag = time ? time.join() : "", span = time ? time[1] - time[0] : pane.index.length;
    if (pane.sums?.tag !== tag) pane.sums = { tag, ...(time ? timeIndex.sumsOf(pane, time) : pane.entire) };
    const { threads, cpus, all } = pane.sums;
    const weight = row.kind === ALL ? all : row.kind === CPU ? cpus[row.cpu]
      : part.threads.reduce((sum, t) => sum + threads[t], 0);
    return pane.clock ? `${(weight / span).toFixed(2)} CPUs` : `${(100 * weight / (all || 1)).toFixed(1)}%`;
  }
  words() {
    const { mode, panes, state } = this, shown = this.rows.filter(r => r.level === 1 && r.row.kind !== LANE).length - 1;
    this.modes.forEach((one, i) => {
      one.setAttribute("aria-pressed", MODES[i][0] === mode);
      one.hidden = MODES[i][0] === "cpus" && !this.model.cpus.length;
    });
    const things = this.wholeCount === 1 ? { processes: "process", threads: "thread", cpus: "CPU" }[mode] : { processes: "processes", threads: "threads", cpus: "CPUs" }[mode];
    this.count.textContent = `${this.find ? `${shown} of ` : ""}${this.wholeCount} ${things}`;
    this.dayButton.hidden = !T.hasDay(this.data);
    this.dayButton.setAttribute("aria-pressed", !!state.byDay);
    this.wakesButton.hidden = !this.hasWakers || mode === "cpus";
    this.wakesButton.setAttribute("aria-pressed", !!this.wakes);
    const chosen = panes.filter(pane => this.timeOf(pane));
    this.into.disabled = !chosen.length;
    this.entire.disabled = !this.window.zoomed;
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
    for (const { data, table } of this.panes) {
      if (data.losses && data.losses.time.length) kinds.add(LOST);
      for (let i = 0; table && i < table.kind.length && kinds.size < MARKS.length; i++)
        kinds.add(Math.min(table.kind[i], MARKS.length - 1));
    }
    const tag = [...kinds].join() + this.hasWaits + this.mode;
    if (this.key.tag === tag) return;
    this.key.tag = tag;
    const sign = name => T.element("i", { class: "ot-sign ot-" + name });
    const part = (name, text) => T.element("span", {}, sign(name), text);
    this.key.replaceChildren(part("on", this.data.samplesAreWaits ? "off CPU, at the end of each time" : T.isOfCalls(this.data) ? "in calls" :
      this.mode === "cpus" ? "on CPU; a colour for each thread" : "on CPU"),
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
  /* What is chosen of the time belongs to one side. */
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
    if (row.kind === LANE) return row.rows.length ? this.setOpen(row, !this.open.has(row.key)) : undefined;
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
    if (row.kind === LANE) return this.laneFacts(row, at, time);
    const pane = this.panes[at], part = row.parts[at], { step } = this, b = Math.floor(time / step);
    const t = x => T.timeWords(pane.data, x, step, this.state.byDay);
    const name = row.kind === THREAD && part ? T.threadWords(pane.data, part.threads[0])
      : row.kind === PROCESS ? `${row.label} (${row.pid}), ${row.rows.length} thread${row.rows.length > 1 ? "s" : ""}`
      : row.label;
    const words = [`${t(b * step)} – ${t((b + 1) * step)}`, this.panes.length > 1 ? `${pane.title}: ${name}` : name];
    if (!part) return [...words, "not in this recording"];
    const most = T.heaviest(pane.data, part.lists, b * step, (b + 1) * step);
    words.push(this.busyWords(pane, row, most, b));
    const owner = row.kind === CPU ? this.bucketsOf(row, at).owners[b - this.first] ?? -1 : -1;
    if (owner >= 0) words.push(`mostly ${T.threadWords(pane.data, owner)}`);
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
    const { data, table } = pane, near = (this.window.to - this.window.from) / pane.width * 5, found = [];
    if (row.kind === ALL && data.losses)
      data.losses.time.forEach((lost, i) => {
        if (Math.abs(lost - time) <= near) found.push(`${data.losses.count[i]} samples lost`);
      });
    if (!pane.marks || row.kind === CPU) return found.slice(0, 3);
    for (const list of part.threads ? part.threads.map(t => T.partOf(pane.marks, t)) : [pane.marks.all])
      for (let k = T.firstAt(list, table.time, time - near); k < list.length && found.length < 4; k++) {
        if (table.time[list[k]] > time + near) break;
        const kind = table.kind[list[k]], [name] = MARKS[kind] || MARKS.at(-1), text = table.text[list[k]];
        found.push(text && kind === EVENT ? text : text && text !== name ? `${name}: ${text}` : name);
      }
    return found.slice(0, 4);
  }

}

return (host, calls = {}) => {
  const view = new Tracks(host, calls);
  return { show: (input, state) => view.show(input, state), draw: () => view.draw(), stop: () => view.stop(), view };
};
})();
