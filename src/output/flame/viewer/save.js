/* SPDX-License-Identifier: MIT */
/* What is shown, as files: the page makes them itself, nothing is asked for. */
const PICTURE_MOST = 16000; /* pixels of height that all browsers have canvases of */

const escaped = text => text.replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);

/* All of the graph, also what is scrolled away, on something else. */
function wholeGraph(paint) {
  const full = (flame.tree.maxDepth + 1) * ROW;
  return Object.assign(Object.create(flame), { paint, full, height: full, top: 0, hover: -1, selected: -1 });
}

/* --- the drawing that perfile flame --format svg makes, see svg.c, of what is shown --- */

const PAD = 10, HEAD = 60, FOOT = 34, CHARACTER = 7.1;
/* Takes what a frame draws: its box and its colour. */
class FramePaint {
  constructor() {
    Object.assign(this, { box: null, caption: "" });
  }
  strokeRect() {}
  createPattern() { return null; }
  measureText(text) { return flame.paint.measureText(text); }
  fillRect(x, y, wide, high) { this.box ||= { x, y, wide, high, fill: this.fillStyle, faint: this.globalAlpha }; }
  fillText(text) { this.caption = text; }
}
function framesText(width) {
  const paint = new FramePaint(), graph = wholeGraph(paint), made = [];
  graph.width = width - 2 * PAD;
  graph.strip = () => {};
  graph.frame = function (node, y, scale) {
    Object.assign(paint, { box: null, caption: "" });
    Flame.prototype.frame.call(this, node, y, scale);
    if (!paint.box) return;
    const { x, wide, high, fill, faint } = paint.box, left = (PAD + x).toFixed(1), top = HEAD + y;
    const title = `${labelOf(this.tree.group[node])} (${withUnit(this.tree.total[node])}, ${node ? columnPercent(this.tree.total[node]) : "100%"})`;
    made.push(`<g><title>${escaped(title)}</title><rect x="${left}" y="${top}" width="${wide.toFixed(1)}" height="${high}" fill="${fill}" rx="2" ry="2"${
      faint < 1 ? ` opacity="${faint}"` : ""}/><text x="${+left + 3}" y="${top + 12.5}">${escaped(paint.caption)}</text></g>`);
  };
  graph.drawFrames();
  return made.join("\n");
}
const pictureStyle = $("picturestyle").textContent;
function pictureText() {
  const width = Math.max(600, Math.round(flame.width)), height = HEAD + (flame.tree.maxDepth + 1) * ROW + FOOT, script = pictureScript.toString();
  const button = (id, x, words, label, name = "") => `<text id="${id}" class="${name}" x="${x}" y="24" role="button" tabindex="0" aria-label="${label}">${words}</text>`;
  let at = PAD;
  const key = ([fill, text]) => {
    const x = at;
    at += 26 + 6 * text.length;
    return `<rect class="key" x="${x}" y="${height - 13}" width="9" height="9" rx="2" fill="${fill}"/><text class="key" x="${x + 12}" y="${height - 5}">${escaped(text)}</text>`;
  };
  return `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<svg version="1.1" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" xmlns="http://www.w3.org/2000/svg" role="group" aria-labelledby="title subtitle">
<style type="text/css">
${pictureStyle}</style>
<script type="text/ecmascript"><![CDATA[
"use strict";
var look = {inverted: ${!flame.up}, row: ${ROW}, character: ${CHARACTER}, cut: "…"};
${script.slice(script.indexOf("{") + 1, script.lastIndexOf("}"))}]]></` + `script>
<rect id="back" x="0" y="0" width="${width}" height="${height}"/>
<text id="title" x="${PAD}" y="24">${escaped(document.title)}</text>
<text id="subtitle" x="${PAD}" y="44">${escaped(pictureFacts())}</text>
${button("unzoom", width - 200, "Reset Zoom", "Reset zoom", "hide")}
${button("search", width - 110, "Search", "Search for a regular expression")}
${button("ignorecase", width - 26, "Aa", "Ignore case")}
<g id="frames" tabindex="0" role="application" aria-describedby="details" aria-label="Frames: arrow keys move, Enter zooms">
${framesText(width)}
</g>
<text id="details" role="status" x="${PAD}" y="${height - 19}"> </text>
<text id="matched" role="status" x="${width - PAD}" y="${height - 19}"> </text>
${keys().map(key).join("\n")}
</svg>
`;
}
/* What is shown of what, in one line. */
const pictureFacts = () => [$("summary").textContent, ...[...$("crumbs").querySelectorAll("li:not(:first-child)")].map(crumb => crumb.firstChild.data.trim())].join(" · ");

function canvasOf(width, height, ratio) {
  const canvas = element("canvas", { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  const paint = canvas.getContext("2d");
  paint.setTransform(ratio, 0, 0, ratio, 0, 0);
  paint.fillStyle = css.back;
  paint.fillRect(0, 0, width, height);
  paint.font = FONT;
  paint.textBaseline = "middle";
  return [canvas, paint];
}
function graphPicture() {
  const high = (flame.tree.maxDepth + 1) * ROW, ratio = Math.min(2, PICTURE_MOST / high);
  const [canvas, paint] = canvasOf(flame.width, high, ratio);
  wholeGraph(paint).drawFrames();
  return canvas;
}
/* A view over time: its canvases, and the names of its rows. */
function viewPicture(view) {
  const host = $("over-" + view), body = host.querySelector(".ot-body").getBoundingClientRect();
  const [canvas, paint] = canvasOf(body.width, body.height, devicePixelRatio || 1);
  const part = box => [box.x - body.x, box.y - body.y, box.width, box.height];
  for (const one of host.querySelectorAll("canvas")) paint.drawImage(one, ...part(one.getBoundingClientRect()));
  paint.fillStyle = css.text;
  for (const item of host.querySelectorAll(".ot-item")) {
    const [x, y, wide, high] = part(item.getBoundingClientRect()), space = item.querySelector(".ot-share").textContent;
    paint.fillText(fitted([`${item.querySelector("b").textContent}  ${space}`, item.querySelector("b").textContent], wide - 16, paint),
      x + 8, y + high / 2);
  }
  return canvas;
}
const csv = (head, rows) => [head, ...rows].map(cells => cells.map(cell => quoted(String(cell ?? ""))).join()).join("\n") + "\n";
const quoted = text => /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
function functionsText() {
  sortRows();
  return csv(["self", "total", ...(data.compares ? ["own change"] : []), "function", "module"],
    shown.listed.map(({ group, self, total, change }) => [self, total, ...(data.compares ? [change] : []), labelOf(group), about(group).module]));
}
/* The rows that are listed: of a closed one all is in its total. */
function treeText() {
  const tree = shown.tree, nodes = Array.from({ length: shown.treeCount }, (x, i) => shown.treeRows[3 * i]);
  return csv(["level", "total", "self", ...(data.compares ? ["own change"] : []), "function", "module"], nodes.map(node => [tree.depth[node], tree.total[node],
    ownWeight(tree, node), ...(data.compares ? [tree.change(node, false)] : []), labelOf(tree.group[node]), about(tree.group[node]).module]));
}

function saveAs(ending, blob) {
  const url = URL.createObjectURL(blob), name = clean(base(data.title) || "perfile").replace(/[^\w.-]+/g, "_") + ending;
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  say(name);
}
const saveText = (ending, type, text) => saveAs(ending, new Blob([text], { type }));
const savePicture = canvas => canvas.toBlob(blob => blob && saveAs(".png", blob), "image/png");
const saveSvg = () => saveText(".svg", "image/svg+xml", pictureText());
const OVER = ["tracks", "chart", "heat"];
const saveFolded = (tree, node) => askFolded(tree, node, lines => saveText(".folded", "text/plain", lines));
const saveCsv = text => saveText(".csv", "text/csv", text);
const shares = [
  { key: "", text: "Page as shown", act: () => savePage() },
  { key: "", text: "Note on what is shown", act: () => openNote() },
  { key: "", text: "Copy link", act: () => copy(location.href) },
  { key: "", text: "Copy link's fragment", act: () => copy(toHash(state)) },
  { key: "", text: "Folded stacks", act: () =>
    saveFolded(shown.tree, state.view === "flame" && flame.zoomed > 0 ? flame.zoomed : 0) },
  { key: "", text: "Callers, folded", in: ["table", "report"], if: () => shown.chosen >= 0 && callers.tree, act: () => saveFolded(callers.tree, 0) },
  { key: "", text: "Callees, folded", in: ["table", "report"], if: () => shown.chosen >= 0 && callees.tree, act: () => saveFolded(callees.tree, 0) },
  { key: "", text: "Functions as CSV", in: ["table"], act: () =>
    withRows(() => saveCsv(functionsText())) },
  { key: "", text: "Rows as CSV", in: ["tree"], act: () => saveCsv(treeText()) },
  { key: "", text: "Rows as CSV", in: ["report"], if: () => shown.report, act: () => saveCsv(reportText()) },
  { key: "", text: "Branches as CSV", in: ["branches"], act: () => saveCsv(branchesText()) },
  { key: "", text: "Memory accesses as CSV", in: ["memory"], act: () => saveCsv(memoryText()) },
  { key: "", text: "Code as CSV", in: ["code"], if: () => shownCode(), act: () => saveCsv(codeText()) },
  { key: "", text: "Picture (SVG)", in: ["flame"], act: saveSvg },
  { key: "", text: "Picture (PNG)", in: ["flame", ...OVER], act: () =>
    savePicture(state.view === "flame" ? graphPicture() : viewPicture(state.view)) },
  { key: "", text: "Print", act: () => print() },
];
$("save").addEventListener("click", () => {
  const box = $("save").getBoundingClientRect();
  const fitting = shares.filter(one => (!one.in || one.in.includes(state.view)) && (!one.if || one.if()));
  openItems("What to save or copy", fitting.map(one => menuItem(one, one.act)),
    box.x, box.bottom, $("save"));
});

/* --- the page with what is shown, and the notes of its readers: each is about a view, and leads there --- */

const { notes = [] } = keptPage.saved;
const remembered = notes.filter(({ text, hash }) => typeof text === "string" && typeof hash === "string");
async function savePage() {
  saveAs(".html", await keptPage.withSaved({ hash: toHash(state), notes: remembered }));
}
function openNote() {
  $("notetext").value = "";
  $("note").returnValue = "";
  $("note").showModal();
}
$("note").addEventListener("close", () => {
  const text = $("notetext").value.trim();
  if ($("note").returnValue !== "add" || !text) return;
  remembered.push({ text, hash: toHash(state) });
  showNotes();
});
function showNotes() {
  $("remembered").replaceChildren(...remembered.map((note, i) => {
    const open = element("button", { type: "button", class: "note", title: "Show what it is about" }, note.text.split("\n").map(clean).join("\n"));
    const remove = element("button", { type: "button", class: "crumb", "aria-label": "Remove the note", title: "Remove the note" }, "×");
    open.addEventListener("click", () => {
      replaceUrl(toHash(fromHash(note.hash)), "pushState");
      goToHash(note.hash);
    });
    remove.addEventListener("click", () => {
      remembered.splice(i, 1);
      showNotes();
      $("save").focus();
    });
    return element("li", {}, open, remove);
  }));
}
showNotes();

/* On paper it is light, all of the graph is there, and a page is as wide as the window: pictures keep their shape. */
const paper = element("style", {}), BESIDE = 300;
document.head.append(paper);
addEventListener("beforeprint", () => {
  const height = flame.tree ? Math.min(PICTURE_MOST / 2, (flame.tree.maxDepth + 1) * ROW) : 0, flat = Math.round(innerWidth / Math.SQRT2);
  const isTall = state.view === "flame" && height + BESIDE > flat;
  shown.wasDark = dark;
  paper.textContent = `@page { size: ${innerWidth}px ${isTall ? 2 * flat : flat}px; margin: 0 }`;
  if (dark) setDark(false);
  if (height) flame.host.style.height = height + "px";
  flame.resize(true);
});
addEventListener("afterprint", () => {
  flame.host.style.height = "";
  if (shown.wasDark) setDark(true);
  flame.resize(true);
});
