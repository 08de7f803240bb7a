/* SPDX-License-Identifier: MIT */
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
let widths;
function widthAt(text, i, p) {
  widths ||= Float64Array.from({ length: 128 }, (x, c) => p.measureText(String.fromCharCode(c)).width);
  const code = text.charCodeAt(i);
  return code < 128 ? widths[code] : 12;
}
function fits(text, extent, p) {
  for (let i = 0; i < text.length; i++) if ((extent -= widthAt(text, i, p)) < 0) return false;
  return true;
}
/* The first that fits, or what fits of both ends of the last one. */
function fitted(texts, extent, p) {
  for (const text of texts) if (fits(text, extent, p)) return text;
  const text = texts.at(-1);
  let head = 0, tail = text.length, left = 0, right = 0;
  for (extent -= 12; head < tail;) {
    const first = left <= right, width = widthAt(text, first ? head : tail - 1, p);
    if (left + right + width > extent) break;
    if (first) { left += width; head++; } else { right += width; tail--; }
  }
  if (head < 2) return "";
  return text.slice(0, head).replace(/[\ud800-\udbff]$/, "") + "…" + text.slice(tail).replace(/^[\udc00-\udfff]/, "");
}

class Flame {
  constructor(host, label, up) {
    Object.assign(this, { host, up, label, tree: null, selected: 0, hover: -1, from: 0, to: 1, wanted: 0, top: 0 });
    this.canvas = element("canvas", { tabindex: 0, role: "application", "aria-roledescription": "flame graph",
      "aria-label": label + ". Arrow keys move, Enter zooms, s shows callers and callees, ? helps." });
    this.space = element("div", {}, this.canvas);
    host.append(this.space);
    this.paint = this.canvas.getContext("2d");
    const on = (name, act) => this.canvas.addEventListener(name, act);
    host.addEventListener("scroll", () => this.later());
    on("mousemove", e => this.point(e));
    on("mouseleave", () => this.setHover(-1));
    host.addEventListener("scroll", hideTip);
    on("mousedown", e => { if (!e.button) this.drag = { x: e.clientX, from: this.from, to: this.to, moved: false }; });
    addEventListener("mousemove", e => this.pull(e));
    addEventListener("mouseup", () => { setTimeout(() => { this.drag = null; }); });
    on("click", e => { if (!this.drag || !this.drag.moved) this.choose(this.at(e)); });
    on("dblclick", e => { const n = this.at(e); if (n >= 0) this.goTo(n); });
    on("contextmenu", e => this.menu(e));
    on("wheel", e => this.wheel(e));
    on("keydown", e => this.key(e));
    overTime.onFingers(this.canvas, { hold: e => this.menu(e), one: by => this.pan(by), two: (factor, x, by) => {
      this.scale(factor, (x - this.canvas.getBoundingClientRect().left) / this.width);
      this.pan(by);
    } });
    on("focus", () => describe(this.tree, this.selected));
    new ResizeObserver(() => this.resize(true)).observe(host);
  }
  show(tree, selected = 0) {
    this.tree = tree;
    this.hover = -1;
    this.selected = selected;
    this.zoom(this === flame ? findPath(tree, state.zoom) : 0, true);
    this.resize();
    if (this.up) this.host.scrollTop = 1e9;
  }
  /* Drawn with the next picture, or at once where that would come too late. */
  resize(atOnce) {
    const box = this.host.getBoundingClientRect();
    if (!this.tree || !box.width || !box.height) return;
    /* Integral pixels of CSS: browsers may lay out boxes of fractions of them. */
    this.width = this.host.clientWidth;
    this.height = Math.floor(box.height);
    this.full = Math.max((this.tree.maxDepth + 1) * ROW, this.height);
    this.space.style.height = this.full + "px";
    if (atOnce) this.draw(); else this.later();
  }
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }
  /* From `top`, which is read once for all frames: each reading makes the browser lay out the page. */
  y(depth) {
    return (this.up ? this.full - (depth + 1) * ROW : depth * ROW) - this.top;
  }
  draw() {
    if (!this.tree || !this.width) return;
    this.top = this.host.scrollTop;
    this.paint = overTime.cleared(this.canvas, this.width, this.height);
    this.drawFrames();
  }
  /* On what is clear, with the font of frames. */
  drawFrames() {
    const { paint: p, tree, width, height, from } = this;
    const scale = width / ((this.to - from) || 1), stack = [0];
    this.drawn = 0;
    this.incomplete = false;
    while (stack.length) {
      const node = stack.pop(), y = this.y(tree.depth[node]);
      if (y > -ROW && y < height) this.frame(node, y, scale);
      if (this.up ? y > -ROW : y < height) this.expand(node, scale, stack);
    }
    if (this.incomplete) this.askMore();
    if (tree.total[0] === 0) {
      p.fillStyle = css.quiet;
      p.fillText(tree.otherTotal && tree.otherTotal[0] ? "only in the other recording: see Widths" :
        "nothing was recorded here", 12, 40);
    }
  }
  /* Frames that are wide now, and were not when their tree was made. */
  askMore() {
    const { tree, from, to } = this;
    if (this.asksFor === tree) return;
    this.asksFor = tree;
    ask("more " + tree.of, "more", { id: shown.treeId, of: tree.of, from, to, least: (to - from) / 4096 }, made => {
      this.asksFor = null;
      takeMore(made);
    });
  }
  /* The same tree, and more of it: what is in view stays there. */
  grow(tree) {
    const { host } = this, below = host.scrollHeight - host.scrollTop;
    this.tree = tree;
    this.resize();
    if (this.up) host.scrollTop = host.scrollHeight - below;
  }
  /* The children that can be seen; what is too narrow becomes one dull strip. */
  expand(node, scale, stack) {
    const { tree, from, to } = this, end = tree.first[node + 1], y = this.y(tree.depth[node] + 1);
    let i = tree.first[node], high = end;
    if (tree.done && !tree.done[node] && tree.total[node] * scale >= 1) this.incomplete = true;
    while (i < high) {
      const middle = i + high >> 1, kid = tree.kids[middle];
      if (tree.start[kid] + tree.total[kid] <= from) i = middle + 1; else high = middle;
    }
    let strip = -1;
    for (; i < end; i++) {
      const kid = tree.kids[i], x = (tree.start[kid] - from) * scale;
      if (tree.start[kid] >= to) break;
      if (!tree.total[kid]) continue;
      if (tree.total[kid] * scale < .7) {
        if (strip < 0) strip = x;
        if (state.order !== "name" && !isOrdered(tree.group[kid])) {
          i = end;
          const last = tree.kids[end - 1];
          this.strip(strip, (tree.start[last] + tree.total[last] - from) * scale, y);
          return;
        }
      } else {
        if (strip >= 0) this.strip(strip, x, y);
        strip = -1;
        stack.push(kid);
      }
    }
    const last = tree.kids[i - 1];
    if (strip >= 0) this.strip(strip, (Math.min(to, tree.start[last] + tree.total[last]) - from) * scale, y);
  }
  strip(x, end, y) {
    if (end - x < .35 || y <= -ROW || y >= this.height) return;
    this.paint.fillStyle = css.tiny;
    this.paint.fillRect(x, y, end - x, ROW - 1);
  }
  frame(node, y, scale) {
    const p = this.paint, { tree } = this, group = tree.group[node];
    let x = (tree.start[node] - this.from) * scale, w = tree.total[node] * scale;
    if (x < 0) { w += x; x = 0; }
    if (x + w > this.width) w = this.width - x;
    if (w <= 0) return;
    const hit = shown.matched && group >= 0 && shown.matched[group];
    this.drawn++;
    p.globalAlpha = shown.matched && !hit ? .38 : tree.total[node] * scale > this.width * 1.001 ? .75 : 1;
    p.fillStyle = hit ? css.hitfill : group < 0 ? css.tiny : fillOf(tree, node);
    p.fillRect(x, y, w > 2 ? w - 1 : w, ROW - 1);
    if (tree.off && tree.off[node]) this.hatch(node, y, scale);
    if (w > 22) {
      const text = fitted([this.caption(node), ...drawnNames(group)], w - 8, p);
      p.fillStyle = group < 0 && dark ? css.text : css.frame;
      if (text) p.fillText(text, x + 4, y + ROW / 2);
    }
    p.globalAlpha = 1;
    if (node === this.hover || node === this.selected && (node || document.activeElement === this.canvas)) {
      p.strokeStyle = node === this.selected ? css.accent : css.text;
      p.lineWidth = node === this.selected ? 2 : 1;
      p.strokeRect(x + .5, y + .5, Math.max(1, w - 2), ROW - 2);
    }
  }
  /* The part of the frame that is off CPU, at its end. */
  hatch(node, y, scale) {
    const { tree, paint } = this, end = Math.min(this.width, (tree.start[node] + tree.total[node] - this.from) * scale - 1);
    const x = Math.max(0, (tree.start[node] + tree.total[node] - tree.off[node] - this.from) * scale);
    paint.fillStyle = this.stripes ||= overTime.stripes(paint, "#fffa");
    if (end > x) paint.fillRect(x, y, end - x, ROW - 1);
  }
  /* The name, and what changed where it is worth a word. */
  caption(node) {
    const { tree } = this, label = shortOf(tree.group[node]);
    if (!data.compares || !node) return label;
    const change = tree.shownChange(node);
    return Math.abs(change) >= shown.everything * .001 ? `${label}  ${signed(change)}` : label;
  }
  at(e) {
    const box = this.canvas.getBoundingClientRect(), { tree } = this;
    const y = e.clientY - box.top + this.host.scrollTop;
    let depth = Math.floor((this.up ? this.full - y : y) / ROW), node = 0;
    const w = this.from + (e.clientX - box.left) * (this.to - this.from) / this.width;
    if (depth < 0 || w < 0 || w >= tree.total[0]) return -1;
    for (; depth--;) {
      let low = tree.first[node], high = tree.first[node + 1];
      const end = high;
      while (low < high) {
        const middle = low + high >> 1, kid = tree.kids[middle];
        if (tree.start[kid] + tree.total[kid] <= w) low = middle + 1; else high = middle;
      }
      node = low < end ? tree.kids[low] : -1;
      if (node < 0 || tree.start[node] > w) return -1;
    }
    return node;
  }
  point(e) {
    if (this.drag && this.drag.moved) return;
    this.setHover(this.at(e));
    if (this.hover >= 0) showTip(e, this.factsOf(this.hover));
  }
  setHover(node) {
    if (node < 0) hideTip();
    if (node === this.hover) return;
    this.hover = node;
    describe(this.tree, node >= 0 ? node : this.selected);
    this.later();
  }
  /* At the pointer: its complete name, its weight and share, and where it is. */
  factsOf(node) {
    const { tree } = this, group = tree.group[node], all = tree.total[node], parent = tree.parent[node];
    return [shorten(labelOf(group), 300), `${withUnit(all)}, ${percent(all)}${node && parent ? ` · ${percent(all, tree.total[parent])} of ${lineOf(tree.group[parent])}` : ""}`,
      tree.off && tree.off[node] ? `off CPU ${withUnit(tree.off[node])}, ${percent(tree.off[node], all)} of it` : "",
      tree.waits(node) || !tree.self[node] || tree.self[node] === all ? "" : `itself ${withUnit(tree.self[node])}, ${percent(tree.self[node])}`,
      comparison(tree, node).replace(/^ · /, ""), where(group)];
  }
  pull(e) {
    const d = this.drag;
    if (!d || Math.abs(e.clientX - d.x) < 4 && !d.moved || d.to - d.from >= this.tree.total[0]) return;
    d.moved = true;
    hideTip();
    const by = (d.x - e.clientX) * (d.to - d.from) / this.width;
    this.window(d.from + by, d.to + by);
  }
  /* Fingers do so; by pixels. */
  pan(by) {
    const wide = this.to - this.from;
    if (wide < this.tree.total[0]) this.window(this.from + by * wide / this.width, this.to + by * wide / this.width);
  }
  wheel(e) {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    this.scale(Math.exp(e.deltaY * .004), (e.clientX - this.canvas.getBoundingClientRect().left) / this.width);
  }
  scale(factor, at) {
    const width = this.to - this.from, all = this.tree.total[0];
    const wide = Math.max(all * 1e-7, Math.min(all, width * factor)), middle = this.from + width * at;
    this.window(middle - wide * at, middle + wide * (1 - at));
  }
  window(from, to) {
    const all = this.tree.total[0], wide = Math.min(all, to - from);
    this.from = Math.max(0, Math.min(from, all - wide));
    this.to = this.from + wide;
    this.zoomed = wide < all ? -1 : 0;
    this.moving = 0;
    if (this === flame) showZoom();
    this.later();
  }
  /* As the reader wants it: for the big graph, a step of the history. */
  goTo(node) {
    if (this !== flame || !node && !state.zoom.length) this.zoom(node);
    else change({ zoom: pathOf(this.tree, node) });
  }
  /* At the frame. */
  menuOf(node) {
    const box = this.canvas.getBoundingClientRect(), { tree } = this;
    this.top = this.host.scrollTop;
    const x = (tree.start[node] - this.from) / (this.to - this.from || 1) * this.width;
    openMenu(tree, node, box.x + Math.max(0, Math.min(this.width, x)), box.y + this.y(tree.depth[node]) + ROW, this.canvas);
  }
  menu(e) {
    e.preventDefault();
    const node = this.at(e);
    if (node <= 0) return;
    this.choose(node);
    openMenu(this.tree, node, e.clientX, e.clientY, this.canvas);
  }
  zoom(node, atOnce) {
    const { tree } = this, from = tree.start[node], to = from + (tree.total[node] || 1);
    const a = this.from, b = this.to, begin = performance.now(), run = this.moving = (this.moving || 0) + 1;
    const step = now => {
      if (this.moving !== run) return;
      const t = Math.min(1, (now - begin) / 160), ease = t * (2 - t);
      this.from = a + (from - a) * ease;
      this.to = b + (to - b) * ease;
      this.draw();
      if (t < 1) requestAnimationFrame(step);
    };
    this.zoomed = node;
    if (this === flame) showZoom();
    if (atOnce || calm.matches) {
      this.from = from;
      this.to = to;
      this.later();
    } else {
      requestAnimationFrame(step);
    }
  }
  choose(node, speak) {
    if (node < 0) return;
    this.selected = node;
    describe(this.tree, node);
    this.reveal();
    if (speak) say(`${detailWords()}, level ${this.tree.depth[node]}`);
    this.later();
  }
  /* Brings the selected frame into view. */
  reveal() {
    const { tree, selected, host } = this, start = tree.start[selected], end = start + tree.total[selected];
    if (start >= this.to || end <= this.from || (end - start) * this.width / (this.to - this.from) < 3) {
      let node = tree.parent[selected];
      while (node && (end - start) / tree.total[node] < .02) node = tree.parent[node];
      this.goTo((end - start) / tree.total[node] < .02 ? selected : node);
    }
    this.top = host.scrollTop;
    const y = this.y(tree.depth[selected]);
    if (y < 0) host.scrollTop += y - ROW;
    else if (y > this.height - ROW) host.scrollTop += y - this.height + 2 * ROW;
  }
  key(e) {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const { tree, selected } = this, deeper = this.up ? "ArrowUp" : "ArrowDown";
    let to = -1;
    if (e.key === deeper && tree.waits(selected)) {
      withKids(tree, selected, made => {
        const kid = made.heaviest(selected);
        if (kid) this.choose(kid, true); else say("nothing there");
      });
      e.preventDefault();
      return;
    }
    if (e.key === "ArrowUp" || e.key === "ArrowDown")
      to = e.key === deeper ? tree.heaviest(selected) || -1 : selected ? tree.parent[selected] : -1;
    else if (e.key === "ArrowLeft" || e.key === "ArrowRight") to = this.beside(e.key === "ArrowLeft" ? -1 : 1);
    else if (e.key === "Home") to = 0;
    else if (e.key === "Enter") this.goTo(selected);
    else if (e.key === "Backspace") this.goTo(this.zoomed > 0 ? tree.parent[this.zoomed] : 0);
    else if (e.key === "+" || e.key === "=") this.scale(1 / 1.5, .5);
    else if (e.key === "-") this.scale(1.5, .5);
    else if (e.key === "0") this.goTo(0);
    else if (transformKey(e, tree, selected)) return;
    else if (e.key === "PageDown" || e.key === "PageUp")
      this.host.scrollTop += (e.key === "PageDown" ? 1 : -1) * (this.height - ROW);
    else if (e.key === "s" && selected && tree.group[selected] >= 0) showFunction(tree.group[selected]);
    else if ((e.key === "ContextMenu" || e.key === "F10" && e.shiftKey) && selected) this.menuOf(selected);
    else if (e.key === "n" || e.key === "N") to = this.match(e.key === "n" ? 1 : -1);
    else return;
    e.preventDefault();
    if (to >= 0) this.choose(to, true);
    else if (e.key.startsWith("Arrow")) say("nothing there");
  }
  /* The next frame to the left or right at the same depth, whoever calls it. */
  beside(step) {
    const { tree, selected } = this;
    let best = -1;
    for (let n = 1; n < tree.count; n++) {
      const far = (tree.start[n] - tree.start[selected]) * step;
      if (tree.depth[n] === tree.depth[selected] && tree.total[n] && far > 0 &&
        (best < 0 || far < (tree.start[best] - tree.start[selected]) * step)) best = n;
    }
    return best;
  }
  match(step) {
    const { tree } = this;
    if (!shown.matched) return -1;
    for (let i = 1, n = this.selected; i <= tree.count; i++) {
      n = (n + step + tree.count) % tree.count;
      if (n && tree.total[n] && shown.matched[tree.group[n]]) return n;
    }
    return -1;
  }
}

/* What is selected, without the words of buttons. */
function detailWords() {
  const copy = $("details").cloneNode(true);
  for (const part of copy.querySelectorAll(".link")) part.remove();
  for (const line of copy.querySelectorAll("br")) line.replaceWith("\n");
  return copy.textContent.replace(/ +/g, " ");
}
/* The facts at the pointer, beside it and in the window. */
function showTip({ clientX: x, clientY: y }, lines) {
  const tip = $("tip");
  tip.replaceChildren(...lines.filter(line => line).map(line => element("div", {}, line)));
  tip.hidden = false;
  const { offsetWidth: wide, offsetHeight: high } = tip;
  tip.style.left = Math.max(4, x + 14 + wide > innerWidth ? x - 10 - wide : x + 14) + "px";
  tip.style.top = Math.max(4, y + 18 + high > innerHeight ? y - 10 - high : y + 18) + "px";
}
function hideTip() {
  $("tip").hidden = true;
}
/* For readers that see such a picture for the first time. */
const firstWords = () => `A frame is a function, as wide as its share; ${state.flip ? "above" : "below"} it is ` +
  `${state.stacks === "callers" ? "who calls it" : "what it calls"}. Double click: zoom. Right click: more. ?: all keys.`;
/* Reports, and code, count what is inlined in a function for it; graphs and functions do not. */
function ownWords(row, own, all, of) {
  if (row && row.inlined > own) return ` · itself ${percent(own, of)}, with what is inlined in it ${percent(row.inlined, of)}`;
  if (row && state.view === "report" && own && !row.inlined && about(row.group).kind === INLINED)
    return ` · itself ${percent(own, of)}, which the function around it has in its row`;
  return own && own !== all ? ` · itself ${percent(own, of)}` : "";
}
function describe(tree, node) {
  const group = tree.group[node], box = $("details");
  const parent = tree.parent[node], all = tree.total[node];
  /* As the root of its callers or callees, a function has its inner calls' own weight, too. */
  const row = !node && group >= 0 && shown.rows && shown.rows.find(r => r.group === group), own = row ? row.self : tree.self[node];
  const of = state.view === "report" && shown.report ? shown.report.base : shown.everything;
  const text = node || group >= 0
    ? ` ${withUnit(all)}, ${percent(all, of)}${!node && inSeveralRows() ? " in all of its rows" : ""}` +
      ownWords(row, own, all, of) + (node && parent ? ` · ${percent(all, tree.total[parent])} of ${lineOf(tree.group[parent])}` : "")
    : ` ${withUnit(all)}` + (shown.everything > all ? `, ${percent(all)}` : "");
  const entire = labelOf(group), name = lineOf(group);
  const more = name === entire ? [] : [" ", element("button", { type: "button", class: "link" }, "full name")];
  if (more.length) more[1].addEventListener("click", () => {
    $("wholename").textContent = [entire, where(group)].join("\n\n");
    $("names").showModal();
  });
  box.replaceChildren(element("b", { title: entire }, name), ...more, ...codeLink(group), text + comparison(tree, node), element("br", {}),
    element("span", { class: group < 0 ? "quiet hint" : "quiet" }, where(group) || (state.view === "flame" && tree === shown.tree ? firstWords() : " ")));
}
/* Before, and by how much it changed. */
function comparison(tree, node) {
  if (!data.compares) return "";
  if (data.events[state.event].before === undefined && !isOff(state.measure)) return " · the earlier recording has no such event";
  const swap = state.widths === "before", other = tree.otherTotal[node];
  return ` · ${swap ? "now" : "before"} ${withUnit(other)}, ${percent(other, shown.otherEverything)} · ` +
    `change ${signed(tree.change(node, true))}` +
    (tree.turned || !node ? "" : `, itself ${signed(tree.change(node, false))}`) +
    (node && data.verdicts ? " · " + verdictText(tree.group[node]) : "");
}
/* In every view: what a page without all samples and stacks can and cannot show. */
function showCut() {
  const notices = [];
  if (data.piece && data.span)
    notices.push(`Samples of the same stack within ${time(data.piece)} are joined, as there are too many for this page; it does not have their processors.`);
  else if (data.piece && !data.compares) notices.push("Samples are joined, as there are too many for this page; it does not have their times.");
  for (const [{ waitsLeft, marksLeft }, intro] of [[data, ""], [data.beforeTimes || {}, "Before: "]]) {
    const [count, sum, least] = waitsLeft || [0];
    if (count) notices.push(`${intro}${grouped.format(count)} times off CPU shorter than ${time(least)}, ${time(sum)} together, are left out.`);
    if (marksLeft) notices.push(`${intro}${grouped.format(marksLeft)} forks, exits and the like have no mark.`);
  }
  if (data.cutNodes)
    notices.push(`${grouped.format(data.cutNodes)} of ${grouped.format(data.stacks.fn.length + data.cutNodes)} frames are too light for ` +
      `this page: “${text(data.functions.name[data.lighter])}” stands for them, ${(data.cutPermille / 10).toFixed(1)}% of the ` +
      `weight. Stacks, callers and callees end there; ${hasTotals() ? "the totals in Functions are exact" :
        "totals of functions are too low"}.`);
  $("cut").replaceChildren(...notices.map(text => element("li", {}, text)));
}
