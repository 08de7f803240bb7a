/* SPDX-License-Identifier: MIT */
const timeCanvas = $("time"), BARS = 46, LANE = 11;
let lanes = [], barTotals, cursor = 0, pulled = null;
function makeLanes() {
  const [by] = levelsOf(state.threads).filter(level => level !== "time"), { buckets, step } = data;
  let later = false;
  ask("lanes", "lanes", { filter: { event: state.event, ...whoIsWanted() }, by: by || null, count: buckets, until: buckets * step },
    found => {
      takeLanes(found, by);
      if (later) showTime();
    });
  later = true;
}
function takeLanes(found, by) {
  barTotals = new Float64Array(data.buckets);
  for (const row of found.on) row.forEach((weight, bucket) => { barTotals[bucket] += weight; });
  lanes = found.on.map((weights, i) => ({ key: found.key[i], weights, total: weights.reduce((a, b) => a + b, 0) }))
    .filter(lane => by && lane.total).sort((a, b) => b.total - a.total);
  const rest = lanes.splice(6);
  if (by === "cpu") lanes.sort((a, b) => a.key - b.key);
  if (lanes.length < 2) lanes = [];
  lanes.hidden = rest.length;
}
const laneLabel = ({ key }) => about(key).label;
/* The first and the last bucket of what is chosen. */
const chosenBuckets = () => state.time && [Math.floor(state.time[0] / data.step),
  Math.max(Math.floor(state.time[0] / data.step), Math.min(data.buckets, Math.ceil(state.time[1] / data.step)) - 1)];
function drawTime() {
  if (!data.buckets || !barTotals) return;
  const ratio = devicePixelRatio || 1, width = timeCanvas.clientWidth, height = BARS + 4 + lanes.length * LANE;
  timeCanvas.style.height = height + "px";
  timeCanvas.width = Math.round(width * ratio);
  timeCanvas.height = Math.round(height * ratio);
  const p = timeCanvas.getContext("2d"), step = width / data.buckets, gap = step > 4 ? 1 : 0;
  const top = barTotals.reduce((a, b) => Math.max(a, b), 1), chosen = chosenBuckets();
  p.setTransform(ratio, 0, 0, ratio, 0, 0);
  p.clearRect(0, 0, width, height);
  if (chosen) {
    p.fillStyle = css.row;
    p.fillRect(chosen[0] * step, 0, (chosen[1] - chosen[0] + 1) * step, height);
  }
  p.font = FONT.replace("12px", "9px");
  p.textBaseline = "middle";
  for (let b = 0; b < data.buckets; b++) {
    const h = barTotals[b] / top * (BARS - 4), inside = !chosen || b >= chosen[0] && b <= chosen[1];
    p.globalAlpha = inside ? 1 : .35;
    p.fillStyle = css.accent;
    p.fillRect(b * step, BARS - h, Math.max(.5, step - gap), h);
    lanes.forEach((lane, i) => {
      const share = lane.weights[b] / top;
      if (!share) return;
      p.globalAlpha = (inside ? 1 : .4) * (.18 + .82 * Math.min(1, share * 1.6));
      p.fillStyle = css.quiet;
      p.fillRect(b * step, BARS + 4 + i * LANE, Math.max(.5, step), LANE - 2);
    });
  }
  p.globalAlpha = 1;
  p.fillStyle = css.line;
  p.fillRect(0, BARS, width, 1);
  lanes.forEach((lane, i) => {
    const y = BARS + 4 + i * LANE, text = laneLabel(lane), w = p.measureText(text).width;
    p.fillStyle = css.back;
    p.globalAlpha = .8;
    p.fillRect(0, y, w + 6, LANE - 2);
    p.globalAlpha = 1;
    p.fillStyle = css.text;
    p.fillText(text, 3, y + LANE / 2 - 1);
  });
  p.strokeStyle = css.accent;
  if (chosen) p.strokeRect(chosen[0] * step + .5, .5, (chosen[1] - chosen[0] + 1) * step - 1, height - 1);
  else if (document.activeElement === timeCanvas) p.strokeRect(cursor * step + .5, .5, step, height - 1);
}
/* Since the start or as the time of day, as the axes of other views have it; and by the recording's clock, as perfile --time does. */
const moment = ns => overTime.timeWords(data, ns, data.step, state.byDay);
const seconds = ns => ((data.first + ns) / 1e9).toFixed(data.step < 1e7 ? 6 : 3);
const clockTitle = (from, to) => `By the recording's clock, as --time takes it: ${seconds(from)},${seconds(to)}`;
/* Of the range that is shown; another one may be on its way. */
const rangeTotal = () => treeTag !== askedTag ? "…" : withUnit((state.widths === "before" ? main.otherTotal : main.total)[0]);
function rangeWords() {
  const [from, to] = state.time || [0, data.buckets * data.step];
  $("range").title = clockTitle(from, to);
  return `${moment(from)} – ${moment(to)} (${time(to - from)})` +
    (state.time ? `, ${rangeTotal()} of ${weight(data.events[state.event].total)}. Esc: everything`
      : ". Drag to look at a part of it." +
        (lanes.hidden ? ` The ${lanes.length} heaviest of ${lanes.length + lanes.hidden} threads.` : ""));
}
let spoken = false;
/* Buckets, the last one included. `how`: as change() has it. */
function setRange(range, speak, how) {
  const choose = () => {
    spoken = speak;
    change({ time: range && [range[0] * data.step, (range[1] + 1) * data.step] }, how);
  };
  choose();
}
const bucketAt = e => Math.max(0, Math.min(data.buckets - 1,
  Math.floor((e.clientX - timeCanvas.getBoundingClientRect().left) / timeCanvas.clientWidth * data.buckets)));
timeCanvas.addEventListener("pointerdown", e => {
  if (e.button) return;
  timeCanvas.setPointerCapture(e.pointerId);
  pulled = { at: bucketAt(e), x: e.clientX, moved: false };
});
timeCanvas.addEventListener("pointermove", e => {
  if (!pulled || !pulled.moved && Math.abs(e.clientX - pulled.x) < 3) return;
  pulled.moved = true;
  const at = bucketAt(e);
  setRange(pulled.range = [Math.min(at, pulled.at), Math.max(at, pulled.at)], false, "quiet");
});
/* A click on its lane goes to a thread. */
function chooseLane(lane) {
  const node = state.stacks === "callees" ? firstNode(lane.key) : 0;
  if (!node) return;
  change({ view: "flame", zoom: pathOf(main, node) });
  flame.choose(node, true);
}
timeCanvas.addEventListener("pointerup", e => {
  const lane = lanes[Math.floor((e.clientY - timeCanvas.getBoundingClientRect().top - BARS - 4) / LANE)], was = pulled;
  pulled = null;
  if (was && was.range) setRange(was.range);
  else if (was && lane) chooseLane(lane);
  else if (was && state.time) setRange(null);
});
timeCanvas.addEventListener("keydown", e => {
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[e.key];
  if (!step || e.ctrlKey || e.altKey) return;
  e.preventDefault();
  const last = data.buckets - 1, to = Math.max(0, Math.min(last, cursor + step));
  if (e.shiftKey) {
    const range = chosenBuckets(), fixed = range ? (range[0] === cursor ? range[1] : range[0]) : cursor;
    cursor = to;
    setRange([Math.min(fixed, to), Math.max(fixed, to)], true);
  } else {
    cursor = to;
    drawTime();
    say(`${moment(cursor * data.step)}: ${withUnit(barTotals[cursor])}`);
  }
});
for (const name of ["focus", "blur"]) timeCanvas.addEventListener(name, drawTime);
