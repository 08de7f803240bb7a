/* SPDX-License-Identifier: MIT */
const flame = new Flame($("flame"), "Flame graph", false);
const callers = new Flame($("callers"), "Callers", true);
const callees = new Flame($("callees"), "Callees", false);

/* The weights or the tree changed. */
function refresh(keep) {
  showCut();
  const turned = state.stacks === "callers";
  if (!keep || turned) shownTree = turned ? turnedRound() : main;
  rows = null;
  sandwichOf = -1;
  findMatches();
  if (!keep) openHotPath();
  $("reset").disabled = true;
  if (state.view === "flame") {
    flame.show(shownTree, keep);
    describe(shownTree, flame.selected);
  } else {
    flame.tree = null;
  }
  if (state.view === "table") showTable();
  if (state.view === "tree") showTree();
}
function rebuild() {
  const name = state.group >= 0 && groups[state.group] ? groups[state.group].label : null;
  makeMain();
  state.group = name === null ? -1 : groups.findIndex(g => g.label === name);
  if (data.buckets) {
    makeLanes();
    drawTime();
    $("range").textContent = rangeWords();
  }
  refresh(false);
}
function show(view) {
  state.view = view;
  for (const name of ["flame", "table", "tree"]) {
    const tab = $("tab-" + name);
    tab.setAttribute("aria-selected", name === view);
    tab.tabIndex = name === view ? 0 : -1;
    $("view-" + name).hidden = name !== view;
  }
  for (const box of document.querySelectorAll("[data-in]")) box.hidden = !box.dataset.in.includes(view);
  if (view === "flame") {
    if (flame.tree !== shownTree) flame.show(shownTree);
    flame.resize();
    describe(shownTree, flame.selected);
  } else if (view === "table") {
    showTable();
  } else {
    showTree();
  }
}
function setDark(on) {
  dark = on;
  document.documentElement.classList.toggle("dark", on);
  paint();
  drawTime();
  for (const part of [flame, callers, callees]) part.later();
  if (state.view === "table") showTable();
  if (state.view === "tree") showTree();
}
function flip() {
  state.flip = flame.up = !state.flip;
  $("flip").setAttribute("aria-pressed", state.flip);
  flame.resize();
  flame.host.scrollTop = state.flip ? 1e9 : 0;
}
function stepBack() {
  if (state.pattern || $("search").value) search("");
  else if (state.view === "flame" && flame.zoomed) flame.zoom(0);
  else if (state.range) setRange(null, true);
}

for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => show(tab.id.slice(4)));
document.querySelector("[role=tablist]").addEventListener("keydown", e => {
  const names = ["flame", "table", "tree"], step = { ArrowLeft: 2, ArrowRight: 1 }[e.key];
  if (!step) return;
  const next = names[(names.indexOf(state.view) + step) % 3];
  show(next);
  $("tab-" + next).focus();
});
for (const name of ["threads", "stacks", "order", "colour", "event", "widths"]) {
  $(name).addEventListener("change", () => {
    state[name] = name === "event" ? +$(name).value : $(name).value;
    if (name === "colour") {
      paint();
      setDark(dark);
    } else if (name === "order") {
      main.place(state.order);
      refresh(false);
    } else if (name === "widths") {
      weighMain();
      refresh(false);
    } else if (name === "stacks") {
      refresh(false);
    } else {
      rebuild();
    }
  });
}
$("search").addEventListener("input", () => search($("search").value));
$("search").addEventListener("keydown", e => {
  if (e.key === "Enter" && state.view === "flame") {
    const to = flame.match(e.shiftKey ? -1 : 1);
    if (to >= 0) flame.choose(to, true);
  } else if (e.key === "Escape") {
    search("");
    if (state.view === "flame") flame.canvas.focus();
    e.stopPropagation();
    e.preventDefault();
  }
});
$("theme").addEventListener("click", () => setDark(!dark));
$("helpbutton").addEventListener("click", () => $("help").showModal());
function normalize() {
  state.normalize = !state.normalize;
  $("normalize").setAttribute("aria-pressed", state.normalize);
  main.measure();
  refresh(false);
}
$("normalize").addEventListener("click", normalize);
$("flip").addEventListener("click", flip);
$("reset").addEventListener("click", () => { flame.zoom(0); flame.canvas.focus(); });
$("more").addEventListener("click", () => { state.shown += 400; showTable(); });
for (const head of document.querySelectorAll("#functions th"))
  head.firstChild.addEventListener("click", () => {
    state.up = state.sort === head.dataset.by && !state.up;
    state.sort = head.dataset.by;
    showTable();
  });
$("functions").tBodies[0].addEventListener("click", e => pickRow(e.target.closest("tr"), true));
$("functions").addEventListener("keydown", e => {
  moveRow(e);
  if (e.key === "ArrowDown" || e.key === "ArrowUp") pickRow(document.activeElement.closest("tbody tr"));
});
document.addEventListener("keydown", e => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  if (e.ctrlKey || e.altKey || e.metaKey || document.querySelector("dialog[open]") || typing) return;
  if (e.key === "/") $("search").focus();
  else if (e.key === "?") $("help").showModal();
  else if (e.key === "Escape") stepBack();
  else if (e.key === "d") setDark(!dark);
  else if (e.key === "i" && state.view === "flame") flip();
  else if ("123".includes(e.key)) {
    show(["flame", "table", "tree"][e.key - 1]);
    if (e.key === "1") flame.canvas.focus();
  } else {
    /* All other keys are the browser's. */
    if (e.target === document.body && state.view === "flame") flame.key(e);
    return;
  }
  e.preventDefault();
});
addEventListener("resize", drawTime);

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
prefersDark.addEventListener("change", e => setDark(e.matches));
$("title").textContent = document.title = clean(data.title) || "Flame graph";
$("subtitle").textContent = [data.subtitle, data.events.length === 1 ? data.events[0].name : ""].filter(x => x)
  .map(clean).join(" · ");
/* What is shown: in one line, in all, and what must not be overlooked. */
function showFacts() {
  const facts = [];
  for (let i = 0; i < data.facts.length; i += 2) facts.push([clean(data.facts[i]), clean(data.facts[i + 1])]);
  const of = label => facts.filter(fact => fact[0] === label).map(fact => fact[1]);
  const line = [base(of("Recording")[0] || ""), of("Command")[0], of("Recorded until")[0], of("Event")[data.event]];
  $("about").hidden = !facts.some(fact => fact[0]);
  $("summary").textContent = line.filter(x => x).join(" · ") || "About this recording";
  $("facts").replaceChildren(...facts.filter(fact => fact[0])
    .flatMap(([label, value]) => [element("dt", {}, label), element("dd", {}, value)]));
  $("remarks").replaceChildren(...of("").map(text => element("li", {}, text)));
}
showFacts();
data.events.forEach((event, i) => $("event").append(element("option", { value: i }, clean(event.name))));
$("event").value = state.event;
$("stacks").value = state.stacks;
for (const part of document.querySelectorAll("[data-compares]"))
  if (data.compares) part.hidden = false; else part.remove();
if (data.compares) {
  $("colour").value = state.colour;
  $("normalize").setAttribute("aria-pressed", state.normalize);
  document.body.classList.add("compares");
}
const threads = frames.filter(f => f.kind === THREAD);
if (!threads.some(f => f.pid >= 0)) $("threads").querySelector("[value=apart]").remove();
$("threadsbox").hidden = !threads.length;
$("eventbox").hidden = data.events.length < 2;
$("timebox").hidden = !data.buckets;
document.documentElement.classList.toggle("dark", dark = prefersDark.matches);
if (data.events.length) {
  rebuild();
  show("flame");
} else {
  $("details").textContent = "No samples.";
}
