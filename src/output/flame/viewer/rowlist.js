/* SPDX-License-Identifier: MIT */
/* The rows of a table in a box that scrolls: only those in view are elements, and the one that has the focus. One row is
 * in the order of Tab; keys go on from there. */
const MARGIN = 8, MAX_ROWS = 500000 /* browsers have a most height */, MAX_PRINTED = 5000;
class RowList {
  constructor(table, box, chosen) {
    Object.assign(this, { table, box, body: table.tBodies[0], chosen, count: 0, at: 0, high: 23, made: new Map(), waiting: false });
    box.addEventListener("scroll", () => this.later());
    new ResizeObserver(() => this.later()).observe(box);
    table.addEventListener("focusin", e => this.take(e.target.closest("tbody tr")));
    addEventListener("beforeprint", () => { this.printed = true; this.update(); });
    addEventListener("afterprint", () => { this.printed = false; this.update(); });
  }
  /* All anew: make(i) makes a row. */
  fill(count, make, at = Math.min(this.at, count - 1)) {
    const hadFocus = this.body.contains(document.activeElement);
    Object.assign(this, { count: Math.min(count, MAX_ROWS), make, at: Math.max(0, at) });
    this.made.clear();
    this.table.setAttribute("aria-rowcount", count + 1);
    this.update();
    if (hadFocus) this.focus();
  }
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.update(); });
  }
  /* Which rows are in view: [from, to). */
  window() {
    const { box, body, high, count } = this;
    if (this.printed) return [0, Math.min(count, MAX_PRINTED)];
    const top = box.getBoundingClientRect().top - body.getBoundingClientRect().top;
    const from = Math.floor(top / high) - MARGIN, to = Math.ceil((top + box.clientHeight) / high) + MARGIN;
    return [Math.max(0, Math.min(from, count)), Math.max(0, Math.min(to, count))];
  }
  update() {
    if (!this.make || !this.box.clientHeight) return;
    const [from, to] = this.window(), { at, count, body, made } = this, wanted = [];
    if (at < from && at < count) wanted.push(at);
    for (let i = from; i < to; i++) wanted.push(i);
    if (at >= to && at < count) wanted.push(at);
    const keep = new Set(wanted), tag = wanted.join();
    for (const i of made.keys()) if (!keep.has(i)) made.delete(i);
    if (tag === this.tag && made.size === wanted.length) return;
    this.tag = tag;
    const parts = [];
    let next = 0;
    for (const i of wanted) {
      if (i > next) parts.push(this.gap(i - next));
      parts.push(this.rowAt(i));
      next = i + 1;
    }
    if (next < count) parts.push(this.gap(count - next));
    put(body, parts);
    const row = made.get(from), high = row && row.getBoundingClientRect().height;
    if (high && Math.abs(high - this.high) > .01) {
      this.high = high;
      this.tag = "";
      this.update();
    }
  }
  gap(rows) {
    return element("tr", { "aria-hidden": "true", class: "gap", style: `height:${rows * this.high}px` });
  }
  rowAt(i) {
    let row = this.made.get(i);
    if (!row) this.made.set(i, row = this.make(i));
    row.at = i;
    row.setAttribute("aria-rowindex", i + 2);
    row.tabIndex = i === this.at ? 0 : -1;
    return row;
  }
  /* The row gets into view, and the position in the order of Tab. */
  go(i) {
    const { box, body, high, table } = this, was = this.made.get(this.at);
    if (was) was.tabIndex = -1;
    this.at = Math.max(0, Math.min(i, this.count - 1));
    const head = table.tHead.getBoundingClientRect().height, view = box.getBoundingClientRect();
    const y = body.getBoundingClientRect().top + this.at * high - view.top;
    if (y < head) box.scrollTop += y - head;
    else if (y + high > box.clientHeight) box.scrollTop += y + high - box.clientHeight;
    this.tag = "";
    this.update();
  }
  /* The row that got the focus is the one in the order of Tab. */
  take(row) {
    if (!row || row.at === undefined || row.at === this.at) return;
    const was = this.made.get(this.at);
    if (was) was.tabIndex = -1;
    this.at = row.at;
    row.tabIndex = 0;
  }
  focus() {
    const row = this.made.get(this.at);
    if (row) row.focus({ preventScroll: true });
  }
  /* Up, down, by pages, to the ends: true when it was one of them. */
  key(e) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.high) - 2);
    const to = { ArrowUp: this.at - 1, ArrowDown: this.at + 1, PageUp: this.at - page, PageDown: this.at + page, Home: 0,
      End: this.count - 1 }[e.key];
    if (to === undefined || e.ctrlKey || e.altKey || e.metaKey || !e.target.closest("tbody tr")) return false;
    this.go(to);
    this.focus();
    this.chosen(this.at);
    e.preventDefault();
    return true;
  }
}
/* The same in tables whose rows are all there: the row that has the focus now, if keys move it. */
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
/* Children are what they shall be; those that stay are not touched, so that the focus stays. */
function put(parent, wanted) {
  const keep = new Set(wanted);
  for (const child of [...parent.children]) if (!keep.has(child)) child.remove();
  wanted.forEach((child, i) => { if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] || null); });
}
/* The browser's own search sees what is there. */
addEventListener("keydown", e => {
  if ((e.ctrlKey || e.metaKey) && e.key === "f" && /table|tree|report|branches|memory/.test(state.view) && !state.search)
    $("matched").textContent = "The browser finds rows in view only: / finds all";
});
