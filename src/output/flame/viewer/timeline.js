/* SPDX-License-Identifier: MIT */
/* The time line: weight over time of what is chosen, by the measure that all views have, with an axis. A part of it that is
 * dragged, or typed, is what other views show; the wheel zooms the window that Tracks and Stack chart have, too. */
const WORDS_HIGH = data.parallelism ? 12 : 0; /* what the curve over the bars is */
const timeCanvas = $("time"), AXIS_HIGH = 15, BARS_HIGH = 34 + WORDS_HIGH, LANE = 10, MAX_LANES = 5, LOW_WINDOW = 700, NARROW_WINDOW = 600;
const timeLine = { made: null, tag: "", lanes: [], left: 0, cursor: 0, wide: 0, pulled: null, spoken: false, waiting: false,
  window: new overTime.Window(() => laterTime(), window => change({ window }, "replace")) };
const allTime = () => data.span + 1;

/* --- what is drawn --- */

function askTime() {
  const { from, to } = timeLine.window, [by = null] = levelsOf(state.threads).filter(level => level !== "time");
  const question = { filter: { event: state.event, measure: state.measure, ...whoIsWanted() }, by, count: BUCKETS, from, to };
  const tag = JSON.stringify(question);
  if (tag === timeLine.tag) return;
  timeLine.tag = tag;
  ask("lanes", "lanes", question, found => {
    takeTime(found, by);
    if (shown.main) showTime();
  });
}
function takeTime(found, by) {
  const made = timeLine.made = { ...found, bars: [], on: null, off: null };
  const sum = rows => rows.reduce((all, row) => all.map((weight, b) => weight + row[b]), new Float64Array(found.count));
  [made.on, made.off] = [sum(found.on), sum(found.off)];
  made.most = made.on.reduce((most, weight, b) => Math.max(most, (weight + made.off[b]) / found.covered[b]), 0);
  if (isOfThreads()) made.most = Math.max(made.most, mostThreads());
  const lanes = Array.from(found.key, (key, i) => ({ key, weights: found.on[i].map((weight, b) => weight + found.off[i][b]) }));
  for (const lane of lanes) lane.total = lane.weights.reduce((a, b) => a + b, 0);
  const heavy = lanes.filter(lane => by && lane.total).sort((a, b) => b.total - a.total), rest = heavy.splice(MAX_LANES);
  if (by === "cpu") heavy.sort((a, b) => a.key - b.key);
  timeLine.lanes = heavy.length < 2 ? [] : heavy;
  timeLine.left = timeLine.lanes.length ? rest.length : 0;
}
const shownLanes = () => innerHeight < LOW_WINDOW || innerWidth <= NARROW_WINDOW ? [] : timeLine.lanes;
/* A weight as how much of it there is at a time. */
function rateWords(weight, ns) {
  const rate = weight / ns;
  if (unit() !== "ns") return `${short(+(rate * 1e9).toPrecision(4))} ${unit()}/s`;
  const number = rate >= 1 ? +rate.toFixed(2) : +rate.toPrecision(2);
  return `${number} ${state.measure === "weight" && !data.samplesAreWaits ? "CPU" : "thread"}${number === 1 ? "" : "s"}`;
}
/* How many threads ran on average from one time to another, by the records of switches; NaN: that is not known. */
function threadsRan(from, to) {
  const { from: begin, width, threads } = data.parallelism, first = Math.max(0, Math.floor((from - begin) / width));
  let sum = 0, covered = 0;
  for (let i = first; i < threads.length && begin + i * width < to; i++) {
    const part = Math.min(to, begin + (i + 1) * width) - Math.max(from, begin + i * width);
    sum += threads[i] * part;
    covered += part;
  }
  return covered ? sum / covered : NaN;
}
const mostThreads = () => data.parallelism.threads.reduce((most, count) => Math.max(most, count), 1);
const isOfThreads = () => data.parallelism && unit() === "ns";
const threadsWords = count => `${count >= 10 ? count.toFixed(0) : +count.toFixed(1)} thread${+count.toFixed(1) === 1 ? "" : "s"} ran`;
/* The round number that is as high as the bars may be. */
function roundAbove(most) {
  const size = 10 ** Math.floor(Math.log10(most || 1));
  return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find(n => n * size >= most * .999) * size;
}
const xOfTime = at => (at - timeLine.window.from) / (timeLine.window.to - timeLine.window.from) * timeLine.wide;

function takeWindow() {
  timeLine.window.fit(data);
  timeLine.window.take(allTime(), state.window);
}
function laterTime() {
  if (timeLine.waiting) return;
  timeLine.waiting = true;
  requestAnimationFrame(() => { timeLine.waiting = false; drawTime(); });
}
function drawTime() {
  if (!data.buckets || $("timebox").hidden) return;
  takeWindow();
  askTime();
  const { made, window } = timeLine, lanes = shownLanes(), width = timeLine.wide = timeCanvas.clientWidth, height = AXIS_HIGH + BARS_HIGH + lanes.length * LANE + 2;
  if (!made || !width) return;
  const p = overTime.cleared(timeCanvas, width, height);
  timeCanvas.style.width = "";
  overTime.drawAxis(p, css, data, window, 0, width, AXIS_HIGH, state.byDay);
  drawBars(p, made);
  if (data.parallelism) drawParallelism(p, made);
  lanes.forEach((lane, i) => drawLane(p, made, lane, AXIS_HIGH + BARS_HIGH + 2 + i * LANE));
  p.fillStyle = css.line;
  p.fillRect(0, AXIS_HIGH + BARS_HIGH, width, 1);
  overTime.drawChoice(p, css, state.time, window, 0, AXIS_HIGH, width, height - AXIS_HIGH);
  if (document.activeElement === timeCanvas) drawCursor(p, made, height);
  showGutter(lanes, made);
}
function* barsIn(made) {
  for (let b = 0; b < made.count; b++) {
    const x = xOfTime(made.from + b * made.step), end = xOfTime(made.from + b * made.step + made.covered[b]);
    if (end > 0 && x < timeLine.wide) yield [b, x, Math.max(.5, end - x - (end - x > 4 ? 1 : 0))];
  }
}
function drawBars(p, made) {
  const striped = overTime.stripes(p, css.wait, css.panel), top = roundAbove(made.most), high = rate => rate / top * (BARS_HIGH - WORDS_HIGH - 3);
  for (const [b, x, wide] of barsIn(made)) {
    const on = high(made.on[b] / made.covered[b]), off = high(made.off[b] / made.covered[b]);
    p.globalAlpha = .5;
    p.fillStyle = css.accent;
    p.fillRect(x, AXIS_HIGH + BARS_HIGH - on, wide, on);
    p.globalAlpha = 1;
    p.fillStyle = striped;
    p.fillRect(x, AXIS_HIGH + BARS_HIGH - on - off, wide, off);
  }
  p.globalAlpha = 1;
}
/* As high as the bars where they are of threads, too; else with a height of its own. */
function drawParallelism(p, made) {
  const bars = Array.from(barsIn(made), ([b, x, wide]) => [x, x + wide, threadsRan(made.from + b * made.step, made.from + b * made.step + made.covered[b])]);
  const most = isOfThreads() ? roundAbove(made.most) : roundAbove(mostThreads()), yOf = count => AXIS_HIGH + BARS_HIGH - 1 - count / most * (BARS_HIGH - WORDS_HIGH - 4);
  p.strokeStyle = css.text;
  p.beginPath();
  let known = false;
  for (const [x, end, count] of bars) {
    if (count === count) {
      p[known ? "lineTo" : "moveTo"](x, yOf(count));
      p.lineTo(end, yOf(count));
    }
    known = count === count;
  }
  p.stroke();
  p.fillStyle = css.text;
  p.fillText(`― threads that ran, 0 to ${most}`, 4, AXIS_HIGH + WORDS_HIGH / 2);
}
function drawLane(p, made, lane, y) {
  p.fillStyle = css.quiet;
  for (const [b, x, wide] of barsIn(made)) {
    const share = lane.weights[b] / made.covered[b] / (made.most || 1);
    if (!share) continue;
    p.globalAlpha = .18 + .82 * Math.min(1, share * 1.6);
    p.fillRect(x, y, wide + .5, LANE - 2);
  }
  p.globalAlpha = 1;
}
function drawCursor(p, { step }, height) {
  p.strokeStyle = css.accent;
  p.strokeRect(xOfTime(timeLine.cursor) + .5, AXIS_HIGH + .5, Math.max(1, xOfTime(timeLine.cursor + step) - xOfTime(timeLine.cursor)), height - AXIS_HIGH - 1);
}
/* What full height means, and the names of the lanes. */
function showGutter(lanes, { most }) {
  const top = rateWords(roundAbove(most), 1), tag = [top, ...lanes.map(lane => lane.key)].join();
  if ($("lanes").dataset.tag === tag) return;
  $("lanes").dataset.tag = tag;
  $("lanes").replaceChildren(element("div", { class: "scale", style: `height: ${BARS_HIGH + 2}px; padding-top: ${WORDS_HIGH}px` }, top), ...lanes.map(lane => {
    const name = element("div", { title: about(lane.key).label }, about(lane.key).label);
    name.addEventListener("click", () => chooseLane(lane));
    return name;
  }));
}

/* --- words --- */

/* Since the start or as the time of day, as the axes of other views have it; and by the recording's clock, as perfile --time does. */
const moment = ns => overTime.timeWords(data, ns, timeLine.made ? timeLine.made.step : data.step, state.byDay);
/* To a thousandth of its length. */
function rangeMoments([from, to]) {
  const step = overTime.roundStep(Math.max(1, (to - from) / 1000));
  return [from, to].map(at => overTime.timeWords(data, at, step, state.byDay)).join(" – ");
}
const seconds = (ns, digits = data.step < 1e7 || sliceOf(0) ? 6 : 3) => ((data.first + ns) / 1e9).toFixed(digits);
const clockTitle = (from, to) => `By the recording's clock, as --time takes it: ${seconds(from)},${seconds(to)}`;
function clockWords(from, to) {
  const day = overTime.hasDay(data) && !state.byDay ? `, ${overTime.timeWords(data, from, data.step, true)}` : "";
  return ` · clock ${seconds(from)} – ${seconds(to)}${day}`;
}
/* Of the range that is shown; another one may be on its way. */
const rangeTotal = () => (state.widths === "before" ? shown.main.otherTotal : shown.main.total)[0];
function rangeWords() {
  const [from, to] = state.time || [0, allTime()], slice = sliceOf(0), all = timeLine.made ? timeLine.made.total : 0;
  $("range").title = clockTitle(from, to);
  const words = `${rangeMoments([from, to])} (${time(to - from)})`;
  if (!state.time) return words + clockWords(from, to);
  const part = shown.treeTag !== shown.askedTag || !all ? "…" : `${weight(rangeTotal())} of ${withUnit(all)}, ${percent(rangeTotal(), all)}`;
  return `${words}, ${part}${clockWords(from, to)}${slice ? ` · samples are in slices of ${time(slice.width)}` : ""}`;
}
function showTime() {
  drawTime();
  $("range").textContent = rangeWords();
  $("wholetime").hidden = !state.time && !state.window;
  if (timeLine.spoken) say(rangeWords());
  timeLine.spoken = false;
}
function factsAt(b) {
  const { made, lanes } = timeLine, from = made.from + b * made.step, to = from + made.covered[b], all = made.on[b] + made.off[b];
  const best = lanes.reduce((a, lane) => lane.weights[b] > (a ? a.weights[b] : 0) ? lane : a, null), show = at => overTime.timeWords(data, at, made.step, state.byDay);
  return [`${show(from)} – ${show(to)}`, clockWords(from, to).slice(3), rateWords(all, made.covered[b]),
    data.parallelism && threadsRan(from, to) >= 0 ? threadsWords(threadsRan(from, to)) : "", best ? `${about(best.key).label} ${percent(best.weights[b], all)}` : ""];
}

/* --- choosing --- */

function setRange(range, speak, how) {
  timeLine.spoken = speak;
  change({ time: range && range[0] < range[1] ? range : null }, how);
}
/* "3.2": what is written so, from 3.2 to 3.3 s; "3.2-3.9": from one to the other. In seconds since the start, or by the
 * recording's clock, or where that is known, as the time of day. */
function typedTime(typed) {
  const parts = typed.trim().replace(/\s*s$/, "").split(/\s*(?:-|–|,|\.\.)\s*/);
  const points = parts.map(typedPoint);
  if (!parts[0] || parts.length > 2 || points.some(point => !point)) return null;
  const [from, to] = points.length > 1 ? [points[0].at, points[1].at] : [points[0].at, points[0].at + points[0].step];
  return from < to && to > 0 && from < allTime() ? [Math.max(0, from), Math.min(allTime(), to)] : null;
}
function typedPoint(word) {
  const [, clock, entire, fraction = ""] = word.match(/^((?:\d+:)*)(\d+)(?:\.(\d{0,9}))?$/) || [];
  if (entire === undefined) return null;
  const before = clock.split(":").filter(x => x).reduce((all, n) => all * 60 + +n, 0) * (clock ? 60 : 1);
  const at = (before + +entire) * 1e9 + +fraction.padEnd(9, "0"), step = 10 ** (9 - fraction.length);
  const colons = clock.split(":").length - 1, sinceStart = ns => ns <= allTime();
  if (colons === 2 && overTime.hasDay(data) && !sinceStart(at)) return { at: (at - overTime.startOfDay(data) + 86400e9) % 86400e9, step };
  return { at: sinceStart(at) || at < data.first ? at : at - data.first, step };
}
$("when").addEventListener("change", () => {
  const box = $("when"), range = box.value.trim() ? typedTime(box.value) : null, wrong = !!box.value.trim() && !range;
  if (wrong) box.setAttribute("aria-invalid", "true"); else box.removeAttribute("aria-invalid");
  if (wrong) say("not a time of this recording: for example 3.2 or 3.2-3.9");
  else setRange(range, true);
});
$("when").addEventListener("keydown", e => {
  if (e.key !== "Escape") return;
  $("when").value = "";
  timeCanvas.focus();
  e.stopPropagation();
});
$("wholetime").addEventListener("click", () => change({ time: null, window: null }));
/* A click on its lane goes to a thread. */
function chooseLane(lane) {
  const node = state.stacks === "callees" ? firstNode(lane.key) : 0;
  if (!node) return;
  change({ view: "flame", zoom: pathOf(shown.main, node) });
  flame.choose(node, true);
}

/* --- the pointer --- */

const timeAt = e => timeLine.window.from + Math.max(0, Math.min(1, (e.clientX - timeCanvas.getBoundingClientRect().left) / timeCanvas.clientWidth)) *
  (timeLine.window.to - timeLine.window.from);
const barAt = at => Math.max(0, Math.min(timeLine.made.count - 1, Math.floor((at - timeLine.made.from) / timeLine.made.step)));
/* From the bar of one time to the bar of another. */
function rangeOfBars(a, b) {
  const { made: { from, step, covered } } = timeLine, [first, last] = [barAt(Math.min(a, b)), barAt(Math.max(a, b))];
  return [Math.max(0, from + first * step), from + last * step + covered[last]];
}
timeCanvas.addEventListener("pointerdown", e => {
  if (e.button || !timeLine.made) return;
  timeCanvas.setPointerCapture(e.pointerId);
  timeLine.pulled = { at: timeAt(e), x: e.clientX, range: null };
});
timeCanvas.addEventListener("pointermove", e => {
  const { pulled, made } = timeLine;
  if (!made) return;
  if (!pulled) return pointAtTime(e);
  if (!pulled.range && Math.abs(e.clientX - pulled.x) < 3) return;
  setRange(pulled.range = rangeOfBars(pulled.at, timeAt(e)), false, "quiet");
});
function pointAtTime(e) {
  const box = $("timeplot").getBoundingClientRect();
  $("timehair").hidden = false;
  $("timehair").style.left = e.clientX - box.left + "px";
  overTime.placeTip($("timetip"), $("timeplot"), e.clientX - box.left, 0, factsAt(barAt(timeAt(e))));
  $("timetip").style.top = box.height + 2 + "px";
}
timeCanvas.addEventListener("pointerleave", () => { $("timehair").hidden = $("timetip").hidden = true; });
timeCanvas.addEventListener("pointerup", e => {
  const lane = shownLanes()[Math.floor((e.clientY - timeCanvas.getBoundingClientRect().top - AXIS_HIGH - BARS_HIGH - 2) / LANE)], was = timeLine.pulled;
  timeLine.pulled = null;
  if (was && was.range) setRange(was.range);
  else if (was && lane) chooseLane(lane);
  else if (was && state.time) setRange(null);
});
timeCanvas.addEventListener("wheel", e => {
  if (timeLine.window.wheel(e, timeAt(e), timeCanvas.clientWidth, innerWidth > NARROW_WINDOW)) $("timehair").hidden = $("timetip").hidden = true;
}, { passive: false });

/* --- keys --- */

timeCanvas.addEventListener("keydown", e => {
  const { made, window } = timeLine, by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[e.key];
  if (!made || e.ctrlKey || e.altKey || !by && !window.key(e)) return;
  e.preventDefault();
  if (by) moveTimeCursor(by * made.step, e.shiftKey);
});
function moveTimeCursor(by, selects) {
  const { made, window, cursor } = timeLine, to = Math.max(0, Math.min(allTime() - 1, Math.floor((cursor - made.from) / made.step + 1e-6) * made.step + made.from + by));
  const chosen = state.time, fixed = chosen ? (Math.abs(chosen[0] - cursor) < made.step / 2 ? chosen[1] - 1 : chosen[0]) : cursor;
  timeLine.cursor = to;
  window.reveal(to);
  if (selects) return setRange(rangeOfBars(fixed, to), true);
  drawTime();
  say(factsAt(barAt(to)).filter(text => text).join(", "));
}
for (const name of ["focus", "blur"]) timeCanvas.addEventListener(name, drawTime);
