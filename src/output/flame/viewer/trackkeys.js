/* SPDX-License-Identifier: MIT */
/* The keys of Tracks: on the axis, and on rows. */
"use strict";
const withTrackKeys = Base => class extends Base {
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
    const { step, window: { length } } = this, before = this.cursor, { row } = this.rows.find(r => r.row.key === this.active);
    const isLane = row.kind === trackRows.LANE && !selects, middle = isLane ? 0 : step / 2;
    this.cursor = isLane ? this.nextPoint(row, this.side, by) : Math.max(0, Math.min(length, (Math.floor(before / step + 1e-6) + by) * step));
    this.window.reveal(this.cursor);
    const at = this.side, pane = this.panes[at], chosen = this.timeOf(pane);
    if (selects) {
      const fixed = chosen ? (Math.abs(chosen[0] - before) < step / 2 ? chosen[1] : chosen[0]) : before;
      const time = [Math.min(fixed, this.cursor), Math.max(fixed, this.cursor)];
      this.filter({ [this.nameOfTime(pane)]: time[0] < time[1] ? time : null });
    } else {
      this.draw();
      const y = trackDrawing.AXIS + Math.max(0, this.rows.findIndex(r => r.row === row) * this.high - this.scroll.scrollTop);
      this.facts({ x: this.xOf(pane, this.cursor + middle), y }, this.factsOf(row, at, this.cursor + middle));
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
};
