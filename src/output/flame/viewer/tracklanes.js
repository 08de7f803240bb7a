/* SPDX-License-Identifier: MIT */
/* Lanes of Tracks: the events of each tracepoint, with their fields as text. */
"use strict";
const withLanes = Base => class extends Base {
  /* A line for each event, in the colour of its thread; one where there are several in a pixel. */
  drawLane(p, pane, { lanes }, y, high) {
    const { time, thread } = pane.data.lanes, { from, to } = this.window, drawn = new Set();
    p.fillStyle = this.css.accent;
    for (const { order } of lanes)
      for (let k = overTime.firstAt(order, time, from); k < order.length && time[order[k]] < to; k++) {
        const x = Math.round(this.xOf(pane, time[order[k]]));
        if (drawn.has(x)) continue;
        drawn.add(x);
        if (!overTime.forced.matches) p.fillStyle = this.colourOfThread(thread[order[k]]);
        p.fillRect(x - 1, y + 4, 2, high - 6);
      }
  }
  /* How many events are there, in the chosen time or at all. */
  laneShare(row, at) {
    const { data } = this.panes[at], chosen = this.timeOf(this.panes[at]), before = (order, end) => overTime.firstAt(order, data.lanes.time, end);
    const count = row.parts[at].lanes.reduce((sum, { order }) => sum + (chosen ? before(order, chosen[1]) - before(order, chosen[0]) : order.length), 0);
    return `${count.toLocaleString("en")} event${count === 1 ? "" : "s"}`;
  }
  /* The time of the next event after the cursor, or before it. */
  nextPoint(row, at, by) {
    const { time } = this.panes[at].data.lanes || {}, { cursor } = this, found = [];
    for (const { order } of row.parts[at]?.lanes || []) {
      const k = overTime.firstAt(order, time, by > 0 ? cursor + 1e-3 : cursor) - (by > 0 ? 0 : 1);
      if (k >= 0 && k < order.length) found.push(time[order[k]]);
    }
    return found.length ? by > 0 ? Math.min(...found) : Math.max(...found) : cursor;
  }
  /* The events at a time, the nearest ones first. */
  pointsNear(pane, lanes, time) {
    const times = pane.data.lanes.time, near = (this.window.to - this.window.from) / pane.width * 5, found = [];
    for (const lane of lanes)
      for (let k = overTime.firstAt(lane.order, times, time - near); k < lane.order.length && times[lane.order[k]] <= time + near; k++)
        found.push({ lane, i: lane.order[k], far: Math.abs(times[lane.order[k]] - time) });
    return found.sort((a, b) => a.far - b.far || a.i - b.i);
  }
  laneFacts(row, at, time) {
    const pane = this.panes[at], { data } = pane, part = row.parts[at];
    const name = row.rows.length ? row.label : row.key.slice(1), words = [this.panes.length > 1 ? `${pane.title}: ${name}` : name];
    if (!part) return [...words, "not in this recording"];
    const found = this.pointsNear(pane, part.lanes, time), fine = overTime.roundStep(Math.max(1000, (this.window.to - this.window.from) / 1e5));
    for (const { lane, i } of found.slice(0, 4))
      words.push(`${overTime.timeWords(data, data.lanes.time[i], fine, this.state.byDay)} ${overTime.threadWords(data, data.lanes.thread[i])}: ${row.rows.length ? lane.name + " " : ""}${data.lanes.text[i]}`);
    if (found.length > 4) words.push(`and ${found.length - 4} more`);
    if (!found.length) words.push("no event");
    if (row.rows.length && data.lanesLeft) words.push(`${data.lanesLeft.toLocaleString("en")} events of further tracepoints have no lane`);
    return [...words, ...part.lanes.filter(({ stride }) => stride > 1).slice(0, 4)
      .map(({ name, stride, seen }) => `${row.rows.length ? name + ": " : ""}one of ${stride} events is in the page, of ${seen.toLocaleString("en")}`)];
  }
};
