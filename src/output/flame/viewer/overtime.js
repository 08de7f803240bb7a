/* SPDX-License-Identifier: MIT */
/* What the views over time share: round steps and words of time, the samples of each thread and CPU in order, a window
 * that zooms, canvases, colours. Times are nanoseconds since the start of the recording. */
"use strict";
const overTime = (() => {
const DAY = 86400e9;
const ROUND = [[1e9, [1, 2, 5, 10, 15, 30]], [60e9, [1, 2, 5, 10, 15, 30]], [3600e9, [1, 2, 3, 6, 12, 24]]]
  .flatMap(([unit, times]) => times.map(n => n * unit));
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/* --- steps and words --- */

/* The smallest round length that is not below. */
function roundStep(least) {
  if (least > DAY) return Math.ceil(least / DAY) * DAY;
  if (least > 5e8) return ROUND.find(step => step >= least);
  const base = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].find(n => base * n >= least * .999999) * base;
}
const digitsOf = step => step >= 1e9 ? 0 : Math.min(9, Math.ceil(9 - Math.log10(step) - 1e-9));
const two = n => String(n).padStart(2, "0");

/* Nanoseconds since midnight, where the reader is, when the recording started. */
function startOfDay(data) {
  const { wall } = data.start;
  return ((wall - new Date(wall).getTimezoneOffset() * 60000) % 86400000 + 86400000) % 86400000 * 1e6;
}
const hasDay = data => !!data.start && Number.isFinite(data.start.wall) && data.start.wall !== null;
function dateOf(data) {
  const date = new Date(data.start.wall);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
function clockWords(ns, digits) {
  const unit = 10 ** (9 - digits), all = Math.round(ns / unit), perSecond = 10 ** digits;
  const seconds = Math.floor(all / perSecond), fraction = all - seconds * perSecond;
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}` +
    (digits ? "." + String(fraction).padStart(digits, "0") : "");
}
/* A point of time to the digits of the step: since the start, or the time of day. */
function timeWords(data, ns, step, byDay) {
  const digits = digitsOf(step);
  if (byDay && hasDay(data)) return clockWords(((startOfDay(data) + ns) % DAY + DAY) % DAY, digits);
  if (lengthOf(data) < 120e9) return (ns / 1e9).toFixed(digits) + " s";
  return (ns < 0 ? "−" : "") + clockWords(Math.abs(ns), digits).replace(/^00:0?/, "");
}
function duration(ns) {
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]])
    if (ns >= size) return +(ns / size).toPrecision(4) + " " + unit;
  return +ns.toPrecision(4) + " ns";
}
/* Points of the axis at round steps, as far apart as their words need. */
function ticksOf(data, from, to, width, byDay) {
  const wide = text => text.length * 6.6 + 22, offset = byDay && hasDay(data) ? startOfDay(data) : 0;
  let step = roundStep((to - from) / Math.max(1, width) * 40);
  while (wide(timeWords(data, to, step, byDay)) > step * width / (to - from)) step = roundStep(step * 1.01);
  const ticks = [];
  for (let n = Math.ceil((from + offset) / step); n * step - offset <= to && ticks.length < 1000; n++) {
    const at = n * step - offset;
    ticks.push({ at, text: timeWords(data, at, step, byDay) });
  }
  return { step, ticks };
}

/* --- the samples of an event, by thread and by CPU, in time order: timeindex.js --- */

const { indexed, partOf, firstAt, sorted, lengthOf } = timeIndex;
/* Samples are the stacks of calls of a trace: they last. */
const isOfCalls = data => !!data.meta?.events?.some(({ lasts }) => lasts);
/* Whether weights are times on a CPU. Calls also last while what they call is not traced, or waits. */
function isClock(data, event) {
  const about = data.meta?.events?.[event];
  return !!about && !data.samplesAreWaits && !about.lasts && (about.unit === "ns" || about.clock === true);
}
/* What ran most between two times. */
function heaviest(data, lists, from, to) {
  const { time, weight, stack } = data.samples, sums = new Map();
  let total = 0, count = 0, best = -1, most = 0;
  for (const list of lists) {
    for (let k = firstAt(list, time, from); k < list.length && time[list[k]] < to; k++) {
      const i = list[k], fn = stack[i] < 0 ? -1 : data.stacks.fn[stack[i]], sum = (sums.get(fn) || 0) + weight[i];
      sums.set(fn, sum);
      total += weight[i];
      count += data.samples.count[i];
    }
  }
  for (const [fn, sum] of sums) if (fn >= 0 && sum > most) [best, most] = [fn, sum];
  return { fn: best, share: total ? most / total : 0, total, count };
}
/* What a key of query.js is called. */
function keyName(data, key) {
  const { type, index } = query.describe(data, key), text = (list, i) => i >= 0 && data.strings[list ? list[i] : i];
  const name = type === "function" ? text(data.functions.name, index) : type === "module" ? text(null, index) : type === "thread" ? threadWords(data, index) : "";
  return name || "[unknown]";
}
/* A name for one line: the page's shorter one, and of long ones both ends. */
function briefName(calls, data, key) {
  const [entire, name = entire] = calls.names ? calls.names(key) : [keyName(data, key)];
  return name.length <= 100 ? name : name.slice(0, 40).replace(/[\ud800-\udbff]$/, "") + "…" +
    name.slice(-59).replace(/^[\udc00-\udfff]/, "");
}
const commOf = (data, thread) => data.strings[data.threads.comm[thread]] || "[unknown]";
function threadWords(data, thread) {
  const pid = data.threads.pid[thread], tid = data.threads.tid[thread];
  return `${commOf(data, thread)} (${[pid, tid].filter((id, i) => id >= 0 && (!i || id !== pid)).join("/")})`;
}

/* --- the part of the time that is shown --- */

/* `changed` is called at once, `notify` with the part (null: all) when it rests: browsers refuse too many changes of the URL. */
const REST = 120;
class Window {
  constructor(changed, notify) {
    Object.assign(this, { from: 0, to: 1, length: 1, least: 1000, taken: "null", timer: 0, changed, notify });
  }
  get part() {
    return this.zoomed ? [this.from, this.to] : null;
  }
  get zoomed() {
    return this.to - this.from < this.length;
  }
  set(from, to, quiet) {
    const wide = Math.max(Math.min(this.least, this.length), Math.min(this.length, to - from));
    this.from = Math.max(0, Math.min(from, this.length - wide));
    this.to = this.from + wide;
    if (quiet) return;
    this.changed();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.taken = JSON.stringify(this.part);
      this.notify?.(this.part);
    }, REST);
  }
  /* Calls of a trace may last single nanoseconds, which no sample distinguishes. */
  fit(data) {
    this.least = isOfCalls(data) ? 10 : 1000;
  }
  /* To the given part, or everything; not to one that was taken or reported already, for this one may have moved on. */
  take(length, part) {
    const all = !this.zoomed, tag = JSON.stringify(part), fresh = part !== undefined && tag !== this.taken;
    this.length = length;
    if (fresh) {
      clearTimeout(this.timer);
      this.taken = tag;
    }
    if (fresh && part) this.set(part[0], part[1], true);
    else if (all || fresh) this.set(0, length, true);
    else this.set(this.from, this.to, true);
  }
  zoom(factor, at = (this.from + this.to) / 2) {
    const wide = (this.to - this.from) * factor, share = (at - this.from) / (this.to - this.from);
    this.set(at - wide * share, at + wide * (1 - share));
  }
  pan(share) {
    const by = (this.to - this.from) * share;
    this.set(this.from + by, this.to + by);
  }
  /* A time to the digits that a pixel has. */
  snap(at, width) {
    const unit = 10 ** Math.max(0, Math.floor(Math.log10((this.to - this.from) / width)));
    return Math.max(0, Math.min(Math.ceil(this.length), Math.round(at / unit) * unit));
  }
  /* Brings a time into what is shown. */
  reveal(at) {
    const wide = this.to - this.from;
    if (at < this.from) this.set(at - wide * .1, at + wide * .9);
    else if (at >= this.to) this.set(at - wide * .9, at + wide * .1);
  }
  /* The wheel: true when it was taken. */
  wheel(e, at, width, always) {
    if (e.ctrlKey || e.metaKey || always && !e.shiftKey && Math.abs(e.deltaY) >= Math.abs(e.deltaX)) {
      this.zoom(Math.exp(Math.max(-200, Math.min(200, e.deltaY * (e.deltaMode ? 30 : 1))) * .004), at);
    } else {
      const by = e.deltaX || (e.shiftKey ? e.deltaY : 0);
      if (!by || !this.zoomed) return false;
      this.pan(by * (e.deltaMode ? 30 : 1) / width);
    }
    e.preventDefault();
    return true;
  }
  /* + - 0: true when it was one of them. */
  key(e) {
    if (e.key === "+" || e.key === "=") this.zoom(1 / 1.6);
    else if (e.key === "-") this.zoom(1.6);
    else if (e.key === "0") this.set(0, this.length);
    else return false;
    return true;
  }
}

/* --- fingers --- */

/* Of one finger how far it went, in pixels to the left; of two what was between them as a part of what is now, where their
 * middle is, and how far it went. `hold`: one stays where it is, with the event of its begin; some browsers have a context menu then,
 * others nothing. */
const HOLD = 600, STILL = 8;
function onFingers(part, { one, two, hold }) {
  let holds = 0, start = null;
  const stop = () => { clearTimeout(holds); };
  const fingers = new Map(), wide = ([a, b]) => Math.max(20, Math.abs(a - b)), middle = ([a, b]) => (a + b) / 2;
  part.addEventListener("pointerdown", e => {
    if (e.pointerType !== "touch") return;
    fingers.set(e.pointerId, e.clientX);
    stop();
    start = e;
    if (hold && fingers.size === 1) holds = setTimeout(() => hold(start), HOLD);
  });
  part.addEventListener("contextmenu", stop);
  part.addEventListener("pointermove", e => {
    if (!fingers.has(e.pointerId)) return;
    if (Math.hypot(e.clientX - start.clientX, e.clientY - start.clientY) > STILL) stop();
    const before = [...fingers.values()];
    fingers.set(e.pointerId, e.clientX);
    const now = [...fingers.values()];
    if (now.length === 2) two(wide(before) / wide(now), middle(now), middle(before) - middle(now));
    else if (now.length === 1) one?.(before[0] - now[0]);
  });
  for (const name of ["pointerup", "pointercancel"])
    part.addEventListener(name, e => {
      stop();
      fingers.delete(e.pointerId);
    });
}

/* --- elements, canvases, colours --- */

function element(name, attributes, ...content) {
  const made = document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.append(...content);
  return made;
}
function button(text, attributes, act) {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}
/* Cleared to the last pixel, also where those of CSS are fractions of it, for drawing in CSS pixels. */
function cleared(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1, wide = Math.round(width * ratio), high = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
  }
  const p = canvas.getContext("2d");
  p.setTransform(1, 0, 0, 1, 0, 0);
  p.clearRect(0, 0, wide, high);
  p.setTransform(ratio, 0, 0, ratio, 0, 0);
  p.font = "12px " + FONT;
  p.textBaseline = "middle";
  return p;
}
const forced = matchMedia("(forced-colors: active)");
const COLOURS = ["back", "panel", "text", "quiet", "line", "accent", "row", "hitfill", "frame", "more", "wait", "ready", "shade", "tiny"];
function coloursOf(host) {
  const style = getComputedStyle(host), css = {};
  for (const name of COLOURS) css[name] = style.getPropertyValue("--" + name).trim() || "#888";
  return css;
}
/* Stripes for what waits, which differs by more than its hue; without `back` on what is drawn there. They rise, or fall. */
function stripes(p, colour, back, falls) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const t = tile.getContext("2d");
  t.fillStyle = back || "transparent";
  t.fillRect(0, 0, 6, 6);
  t.strokeStyle = colour;
  t.lineWidth = 1.5;
  for (const x of [-6, 0, 6]) {
    t.beginPath();
    t.moveTo(x, falls ? 0 : 6);
    t.lineTo(x + 6, falls ? 6 : 0);
    t.stroke();
  }
  return p.createPattern(tile, "repeat");
}
/* At most once for each picture. */
function later(act) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; act(); });
  };
}
/* Draws again when the size, the theme or the colours of the system change. */
function redrawOn(host, act) {
  const sizes = new ResizeObserver(act), theme = new MutationObserver(act);
  sizes.observe(host);
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ["class"] });
  const queries = [forced, matchMedia("(prefers-color-scheme: dark)")];
  for (const query of queries) query.addEventListener("change", act);
  return () => {
    sizes.disconnect();
    theme.disconnect();
    for (const query of queries) query.removeEventListener("change", act);
  };
}
/* The first text that fits, or both ends of the last one. */
const widths = new Map();
function widthOf(p, text) {
  if (widths.size > 20000) widths.clear();
  const id = p.font + text;
  let width = widths.get(id);
  if (width === undefined) widths.set(id, width = p.measureText(text).width);
  return width;
}
function fitted(p, texts, extent) {
  for (const text of texts) if (widthOf(p, text) <= extent) return text;
  const text = texts.at(-1), width = widthOf(p, text);
  for (let most = Math.floor(extent / width * text.length); most > 2; most--) {
    const head = Math.ceil(most * .4), made = text.slice(0, head).replace(/[\ud800-\udbff]$/, "") + "…" +
      text.slice(head - most).replace(/^[\udc00-\udfff]/, "");
    if (widthOf(p, made) <= extent) return made;
  }
  return "";
}
/* Outside of what is chosen all is paler. */
function drawChoice(p, css, time, window, x, y, width, high) {
  if (!time) return;
  const at = t => Math.max(x, Math.min(x + width, x + (t - window.from) / (window.to - window.from) * width));
  const a = at(time[0]), b = at(time[1]);
  p.fillStyle = css.back;
  p.globalAlpha = .62;
  p.fillRect(x, y, a - x, high);
  p.fillRect(b, y, x + width - b, high);
  p.globalAlpha = 1;
  p.fillStyle = css.accent;
  p.fillRect(a - 1, y, 1.5, high);
  p.fillRect(b - .5, y, 1.5, high);
}
/* The axis with its ticks; at its end there may be less space for words. */
function drawAxis(p, css, data, window, x, width, height, byDay, less = -8) {
  const { ticks } = ticksOf(data, window.from, window.to, width, byDay), scale = width / (window.to - window.from);
  p.save();
  p.beginPath();
  p.rect(x, 0, width, height);
  p.clip();
  p.font = "11px " + FONT;
  for (const { at, text } of ticks) {
    const to = x + (at - window.from) * scale;
    p.fillStyle = css.line;
    p.fillRect(Math.round(to), height - 6, 1, 6);
    p.fillStyle = css.quiet;
    if (to + text.length * 6.6 <= x + width - less) p.fillText(text, to + 4, height - 9);
  }
  p.restore();
  return ticks;
}
/* Facts at the pointer, inside of the host. */
function placeTip(tip, host, x, y, lines) {
  tip.replaceChildren(...lines.filter(line => line).map(line => element("div", {}, line)));
  tip.hidden = false;
  const { clientWidth, clientHeight } = host, w = tip.offsetWidth, h = tip.offsetHeight;
  tip.style.left = Math.max(0, x + 14 + w > clientWidth ? Math.min(x - 14 - w, clientWidth - w) : x + 14) + "px";
  tip.style.top = Math.max(0, y + 16 + h > clientHeight ? y - 10 - h : y + 16) + "px";
}

return { FONT, roundStep, startOfDay, timeWords, duration, ticksOf, hasDay, dateOf, indexed, lengthOf, partOf, firstAt, sorted, heaviest,
  isClock, isOfCalls, keyName, briefName, commOf, threadWords, Window, element, button, cleared, coloursOf, forced, stripes,
  later, redrawOn, onFingers, fitted, drawAxis, drawChoice, placeTip };
})();
