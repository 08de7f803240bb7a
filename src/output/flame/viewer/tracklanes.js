/* SPDX-License-Identifier: MIT */
/* Lanes of Tracks: the events of each tracepoint, with their fields as text, and counters as curves. */
"use strict";
const withLanes = (() => {
const UNITS = { Hz: [[1e9, "GHz"], [1e6, "MHz"], [1e3, "kHz"], [1, "Hz"]], bytes: [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"], [1, "bytes"]] };
/* In the unit that is right for `like`, with as many digits as that has. */
function valueWords(value, unit, like = value, digits = 3) {
  const [size, name] = UNITS[unit].find(([size]) => Math.abs(like) >= size) || UNITS[unit].at(-1);
  const entire = Math.floor(Math.log10(Math.max(1, Math.abs(like) / size)));
  return `${+(value / size).toFixed(Math.max(0, digits - entire))} ${name}`;
}
return Base => class extends Base {
  /* A line for each event, in the colour of its thread; one where there are several in a pixel. */
  drawLane(p, pane, { lanes }, y, high) {
    const { time, thread } = pane.data.lanes, { from, to } = this.window, drawn = new Set();
    p.fillStyle = this.css.accent;
    if (lanes[0].unit) return lanes.length > 1 || this.drawCurve(p, pane, lanes[0], y, high);
    for (const { order } of lanes)
      for (let k = overTime.firstAt(order, time, from); k < order.length && time[order[k]] < to; k++) {
        const x = Math.round(this.xOf(pane, time[order[k]]));
        if (drawn.has(x)) continue;
        drawn.add(x);
        if (!overTime.forced.matches) p.fillStyle = this.colourOfThread(thread[order[k]]);
        p.fillRect(x - 1, y + 4, 2, high - 6);
      }
  }
  /* A value holds until the next one; 0 is at the bottom, and the highest one of all of the time at the top. */
  drawCurve(p, pane, { order, unit }, y, high) {
    const { time, value } = pane.data.lanes, { from, to } = this.window, bottom = y + high - 1, end = pane.x + pane.width;
    const most = order.reduce((most, i) => Math.max(most, value[i]), 0), points = [];
    const start = Math.max(0, overTime.firstAt(order, time, from) - 1);
    for (let k = start; k < order.length && time[order[k]] < to; k++) {
      const x = this.xOf(pane, time[order[k]]), now = bottom - Math.max(0, value[order[k]]) / (most || 1) * (high - 4);
      if (points.length) points.push([x, points.at(-1)[1]]);
      points.push([x, now]);
    }
    if (!points.length) return;
    points.push([end, points.at(-1)[1]]);
    const path = () => { p.beginPath(); points.forEach(([x, now]) => p.lineTo(x, now)); };
    const { globalAlpha } = p;
    p.globalAlpha = .3 * globalAlpha;
    path();
    p.lineTo(end, bottom);
    p.lineTo(points[0][0], bottom);
    p.fill();
    p.globalAlpha = globalAlpha;
    p.strokeStyle = this.css.accent;
    p.lineWidth = 1.5;
    path();
    p.stroke();
    this.drawScale(p, end, y, valueWords(most, unit));
  }
  /* The values of a counter in a time, and that which it has when it begins. */
  valuesIn(pane, { order }, from, to) {
    const { time, value } = pane.data.lanes, start = Math.max(0, overTime.firstAt(order, time, from + 1e-3) - 1);
    return Array.from(order.subarray(start, Math.max(start + 1, overTime.firstAt(order, time, to))), i => value[i]);
  }
  counterShare(pane, lane) {
    const [from, to] = this.timeOf(pane) || [0, Infinity], values = this.valuesIn(pane, lane, from, to);
    const low = Math.min(...values), high = Math.max(...values), words = valueWords(high, lane.unit, high, 2);
    return low === high ? words : `${valueWords(low, lane.unit, high, 2).split(" ")[0]}–${words}`;
  }
  counterFacts(pane, lane, time, fine) {
    const { data } = pane, times = data.lanes.time, t = at => overTime.timeWords(data, at, fine, this.state.byDay);
    const i = lane.order[overTime.firstAt(lane.order, times, time + 1e-3) - 1];
    return i === undefined ? `${t(time)}: not known yet` : `${t(time)}: ${valueWords(data.lanes.value[i], lane.unit)}, since ${t(times[i])}`;
  }
  /* How many events are there, in the chosen time or at all. */
  laneShare(row, at) {
    const { lanes } = row.parts[at];
    if (lanes[0].unit) return row.rows.length ? `${lanes.length} counter${lanes.length > 1 ? "s" : ""}` : this.counterShare(this.panes[at], lanes[0]);
    const { data } = this.panes[at], chosen = this.timeOf(this.panes[at]), before = (order, end) => overTime.firstAt(order, data.lanes.time, end);
    const count = lanes.reduce((sum, { order }) => sum + (chosen ? before(order, chosen[1]) - before(order, chosen[0]) : order.length), 0);
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
    const name = row.full ?? row.label, words = [this.panes.length > 1 ? `${pane.title}: ${name}` : name];
    if (!part) return [...words, "not in this recording"];
    const fine = overTime.roundStep(Math.max(1000, (this.window.to - this.window.from) / 1e5)), stride = part.lanes.filter(({ stride }) => stride > 1).slice(0, 4);
    const left = stride.map(({ name, stride, seen, unit }) => `${row.rows.length ? name + ": " : ""}one of ${stride} ${unit ? "values" : "events"} is in the page, of ${seen.toLocaleString("en")}`);
    if (part.lanes[0].unit)
      return [...words, ...(row.rows.length ? [] : [this.counterFacts(pane, part.lanes[0], time, fine), ...left])];
    const found = this.pointsNear(pane, part.lanes, time);
    for (const { lane, i } of found.slice(0, 4))
      words.push(`${overTime.timeWords(data, data.lanes.time[i], fine, this.state.byDay)} ${overTime.threadWords(data, data.lanes.thread[i])}: ${row.rows.length ? lane.name + " " : ""}${data.lanes.text[i]}`);
    if (found.length > 4) words.push(`and ${found.length - 4} more`);
    if (!found.length) words.push("no event");
    if (row.rows.length && data.lanesLeft) words.push(`${data.lanesLeft.toLocaleString("en")} events and values have no lane: there are too many lanes`);
    return [...words, ...left];
  }
};
})();
