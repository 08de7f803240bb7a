/* SPDX-License-Identifier: MIT */
const timeCanvas = $("time"), BARS = 46, LANE = 11;
let lanes = [], barTotals, cursor = 0, pulled = null;
function makeLanes() {
  const event = eventData(state.event), byThread = new Map();
  const thread = new Int32Array(event.count).fill(-1);
  barTotals = new Float64Array(data.buckets);
  for (let n = 1; n < event.count; n++) {
    const above = thread[event.parent[n]], { kind } = frames[event.frame[n]];
    thread[n] = above < 0 && (kind === THREAD || kind === CPU) ? groupOf[event.frame[n]] : above;
  }
  for (let bucket = 0; bucket < data.buckets; bucket++) {
    for (let i = event.first[bucket]; i < event.first[bucket + 1]; i++) {
      const group = thread[event.sliceNode[i]];
      let lane = byThread.get(group);
      if (!lane) byThread.set(group, lane = { group, total: 0, weights: new Float64Array(data.buckets) });
      lane.total += event.sliceWeight[i];
      lane.weights[bucket] += event.sliceWeight[i];
      barTotals[bucket] += event.sliceWeight[i];
    }
  }
  lanes = [...byThread.values()].filter(l => l.group >= 0).sort((a, b) => b.total - a.total);
  const rest = lanes.splice(6);
  lanes.sort((a, b) => isOrdered(a.group) ? ranks[a.group] - ranks[b.group] : 0);
  if (lanes.length < 2) lanes = [];
  lanes.hidden = rest.length;
}
function drawTime() {
  if (!data.buckets) return;
  const ratio = devicePixelRatio || 1, width = timeCanvas.clientWidth, height = BARS + 4 + lanes.length * LANE;
  timeCanvas.style.height = height + "px";
  timeCanvas.width = Math.round(width * ratio);
  timeCanvas.height = Math.round(height * ratio);
  const p = timeCanvas.getContext("2d"), step = width / data.buckets, gap = step > 4 ? 1 : 0;
  const top = barTotals.reduce((a, b) => Math.max(a, b), 1), chosen = state.range;
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
    const y = BARS + 4 + i * LANE, text = groups[lane.group].label, w = p.measureText(text).width;
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
const seconds = bucket => ((data.start + bucket * data.step) / 1e9).toFixed(data.step < 1e7 ? 6 : 3);
const rangeTotal = () => (state.widths === "before" ? main.otherTotal : main.total)[0];
function rangeWords() {
  const range = state.range;
  const length = (range ? range[1] - range[0] + 1 : data.buckets) * data.step;
  return `${seconds(range ? range[0] : 0)} – ${seconds(range ? range[1] + 1 : data.buckets)} s (${time(length)})` +
    (range ? `, ${withUnit(rangeTotal())} of ${weight(eventData(state.event).total)}. Esc: everything`
      : ". Drag to look at a part of it." +
        (lanes.hidden ? ` The ${lanes.length} heaviest of ${lanes.length + lanes.hidden} threads.` : ""));
}
let rangeTimer = 0;
function setRange(range, speak) {
  state.range = range;
  drawTime();
  clearTimeout(rangeTimer);
  rangeTimer = setTimeout(() => {
    weighMain();
    refresh(true);
    $("range").textContent = rangeWords();
    if (speak) say(rangeWords());
  }, main.count > 200000 && pulled !== null ? 150 : 0);
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
  setRange([Math.min(at, pulled.at), Math.max(at, pulled.at)]);
});
/* A click on its lane goes to a thread. */
function chooseLane(lane) {
  if (state.stacks !== "callees") return;
  const node = outermost(group => group === lane.group)[0];
  if (!node) return;
  show("flame");
  flame.zoom(node);
  flame.choose(node, true);
}
timeCanvas.addEventListener("pointerup", e => {
  const lane = lanes[Math.floor((e.clientY - timeCanvas.getBoundingClientRect().top - BARS - 4) / LANE)];
  if (pulled && !pulled.moved && lane) chooseLane(lane);
  else if (pulled && !pulled.moved && state.range) setRange(null);
  pulled = null;
});
timeCanvas.addEventListener("keydown", e => {
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[e.key];
  if (!step || e.ctrlKey || e.altKey) return;
  e.preventDefault();
  const last = data.buckets - 1, to = Math.max(0, Math.min(last, cursor + step));
  if (e.shiftKey) {
    const fixed = state.range ? (state.range[0] === cursor ? state.range[1] : state.range[0]) : cursor;
    cursor = to;
    setRange([Math.min(fixed, to), Math.max(fixed, to)], true);
  } else {
    cursor = to;
    drawTime();
    say(`${seconds(cursor)} seconds: ${withUnit(barTotals[cursor])}`);
  }
});
for (const name of ["focus", "blur"]) timeCanvas.addEventListener(name, drawTime);
