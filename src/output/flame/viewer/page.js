/* SPDX-License-Identifier: MIT */
const flame = new Flame($("flame"), "Flame graph", false);
const callers = new Flame($("callers"), "Callers", true);
const callees = new Flame($("callees"), "Callees", false);
startCode();
startReport();
startBranches();
startMemory();
const VIEWS = [...document.querySelectorAll("[role=tab]")].map(tab => tab.id.slice(4));

/* --- from one state to the next --- */

/* What is open and selected, by paths: the next tree has other numbers. */
function remember(before) {
  if (!shown.tree || !same(before, state, "event", "threads", "stacks", "measure", "normalize", "widths")) return null;
  return { selected: pathOf(shown.tree, flame.tree === shown.tree ? flame.selected : 0),
    opened: [...opened].map(node => pathOf(shown.tree, node)) };
}
function takeTree(found, tag) {
  const kept = shown.treeState && remember(shown.treeState);
  const { main, everything, otherEverything, ranks, used, kinds } = found;
  Object.assign(shown, { main, everything, otherEverything, ranks, used, kinds, treeId: found.id, tree: found.shown || main });
  shown.treeTag = tag;
  shown.treeState = state;
  shown.rows = null;
  shown.sandwichOf = -1;
  flame.tree = null;
  flame.wanted = kept ? findPath(shown.tree, kept.selected) : 0;
  if (kept) {
    opened.clear();
    for (const path of kept.opened) opened.add(findPath(shown.tree, path));
  } else {
    openHotPath();
  }
  showCut();
}
/* What is there already is drawn at once, the rest when it comes. */
function render(before) {
  const asking = askedTree(), tag = JSON.stringify(asking), start = !before;
  let fresh = false, later = false;
  /* Also back to the one that is shown: all other questions are about the last one. */
  if (tag !== shown.askedTag)
    ask("tree", "tree", asking, found => {
      takeTree(found, tag);
      fresh = true;
      if (later) renderTree();
    });
  shown.askedTag = tag;
  later = true;
  if (data.buckets) {
    takeWindow();
    askTime();
  }
  if (!shown.main) return showControls();
  update(before || first, fresh, start);
}
/* The first tree of a large page is the start. */
function renderTree() {
  update(shown.ready ? state : first, true, !shown.ready);
  setReady();
}
function update(before, fresh, start) {
  if (before.colour !== state.colour || fresh) paint();
  if (fresh || before.search !== state.search) findMatches();
  if (start || before.flip !== state.flip) showFlip();
  showControls();
  showCrumbs();
  showView(before);
  if (data.buckets) showTime();
  closeMenu();
}
function setReady() {
  shown.ready = true;
  document.documentElement.dataset.ready = "";
}
function showControls() {
  for (const name of ["event", "threads", "stacks", "order", "colour", "widths", "measure"]) if ($(name)) $(name).value = state[name];
  $("measure").querySelector("[value=both]").disabled = !addsUp(state.event);
  if ($("normalize")) $("normalize").setAttribute("aria-pressed", state.normalize);
}
function showFlip() {
  flame.up = state.flip;
  $("flip").setAttribute("aria-pressed", state.flip);
  flame.resize();
  flame.host.scrollTop = state.flip ? 1e9 : 0;
}
function showView(before) {
  const { view } = state;
  for (const name of VIEWS) {
    const tab = $("tab-" + name);
    tab.setAttribute("aria-selected", name === view);
    tab.tabIndex = name === view ? 0 : -1;
    $("view-" + name).hidden = name !== view;
  }
  showTab($("tab-" + view));
  for (const box of document.querySelectorAll("[data-in]")) box.hidden = !box.dataset.in.split(" ").includes(view);
  if (!data.threads.pid.length) $("threadsbox").hidden = true;
  /* Tracks have all of it, and more; branches, memory, and code where samples have no addresses, are those of all the recording. */
  const needless = !data.buckets || ["tracks", "branches", "memory"].includes(view) || view === "code" && !followsPart(), appears = $("timebox").hidden && !needless;
  $("rangebox").hidden = needless;
  $("timebox").hidden = needless;
  if (appears) drawTime();
  if (!shown.main) return;
  if (view === "table") moveSandwich("table");
  if (view === "flame") showFlame(before);
  else if (view === "report") showReport(before);
  else if (view === "branches") showBranches();
  else if (view === "memory") showMemory();
  else if (view === "table") before.view === view && onlyChosen(before) ? showSandwich() : showTable();
  else if (view === "tree") showTree();
  else if (view === "code") showCode();
  else showOverTime(view);
  /* These describe by themselves only what is pointed at. */
  if (overViews[view] && shown.described !== view + shown.treeId) describe(shown.main, 0);
  shown.described = view + shown.treeId;
}
/* Where the tabs are a row that scrolls. */
function showTab({ offsetLeft: left, offsetWidth: wide, parentNode: list }) {
  if (left < list.scrollLeft || left + wide > list.scrollLeft + list.clientWidth) list.scrollLeft = left - (list.clientWidth - wide) / 2;
}
const onlyChosen = before => before.fn !== state.fn && Object.keys(fields).every(name => name === "fn" || same(before, state, name));
function showFlame(before) {
  if (flame.tree !== shown.tree) flame.show(shown.tree, flame.wanted);
  else if (!same(before, state, "zoom")) flame.zoom(findPath(shown.tree, state.zoom));
  else flame.later();
  flame.wanted = 0;
  if (shown.tree.done && state.zoom.length && !flame.zoomed) reach(shown.tree, state.zoom, node => node && flame.zoom(node));
  flame.resize();
  describe(shown.tree, flame.selected);
}
const focusView = () => (document.querySelector(`#view-${state.view} [tabindex="0"]`) || $("tab-" + state.view)).focus();
function setDark(on) {
  dark = on;
  document.documentElement.classList.toggle("dark", on);
  if (!shown.main) return;
  paint();
  drawTime();
  for (const part of [flame, callers, callees]) part.later();
  if (state.view === "table") showTable();
  if (state.view === "tree") showTree();
}

/* --- what is left out, one step after the other; each can be taken back --- */

function showCrumbs() {
  const crumbs = [];
  const add = (text, without, title = "") => crumbs.push(element("li", title ? { title } : {}, text + " ", crumbButton(text, without)));
  if (state.pick.length) add(`Only ${few(pickedNames())}`, { pick: [] });
  if (state.processes.length) add(`Only ${few(state.processes.map(pid => makers.process(pid).label))}`, { processes: [] });
  if (state.cpus.length) add(`Only ${few(state.cpus.map(cpu => makers.cpu(cpu).label))}`, { cpus: [] });
  if (state.timeBefore) add(`Before: ${rangeOf(state.timeBefore)}`, { timeBefore: null });
  if (state.window && data.buckets) add(`Window ${rangeMoments(state.window)}`, { window: null });
  if (state.view === "flame") addZoom(add);
  if (state.time && data.buckets) add(rangeMoments(state.time), { time: null }, clockTitle(...state.time));
  state.transforms.forEach((step, i) =>
    add(transformWords(step), { transforms: state.transforms.filter((other, k) => k !== i) }));
  const all = element("button", { type: "button", class: "crumb" }, crumbs.length ? "Everything" : "Everything is shown");
  all.disabled = !crumbs.length;
  all.addEventListener("click", () => {
    change({ time: null, timeBefore: null, window: null, pick: [], processes: [], cpus: [], transforms: [], zoom: [] });
    if (flame.zoomed) flame.goTo(0);
  });
  /* A button that was pressed is gone: the next one takes its position. */
  const at = [...$("crumbs").children].findIndex(crumb => crumb.contains(document.activeElement));
  $("crumbs").replaceChildren(element("li", {}, all), ...crumbs);
  if (at >= 0) ($("crumbs").children[Math.min(at, crumbs.length)].querySelector("button:enabled") || $("tab-" + state.view)).focus();
}
function showZoom() {
  $("reset").disabled = !flame.zoomed;
  if (shown.main) showCrumbs();
}
/* A frame that is as wide as all of the graph, or a part of the width. */
function addZoom(add) {
  const { zoomed, tree } = flame;
  if (!tree || !zoomed) return;
  const share = percent(zoomed > 0 ? tree.total[zoomed] : flame.to - flame.from);
  add(zoomed > 0 ? `Zoomed to ${shorten(withoutArguments(shortOf(tree.group[zoomed])), 50)} (${share})` : `Zoomed to ${share} of the width`, () => flame.goTo(0));
}
/* A thread of both recordings has one name. */
const pickedNames = () => [...new Set(state.pick.map(thread => data.compares ? commOf(thread) : makers.thread(thread).label))];
const rangeOf = ([from, to]) => `${(from / 1e9).toFixed(3)} – ${(to / 1e9).toFixed(3)} s`;
const few = names => names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
function crumbButton(text, without) {
  const button = element("button", { type: "button", class: "crumb", "aria-label": `Without: ${text}`, title: "Take it back" }, "×");
  button.addEventListener("click", () => typeof without === "function" ? without() : change(without));
  return button;
}
function stepBack() {
  if (state.search || $("search").value) change({ search: "" });
  else if (state.view === "flame" && flame.zoomed) flame.goTo(0);
  else if (state.time) setRange(null, true);
  else if (state.timeBefore) change({ timeBefore: null });
  else if (state.transforms.length) change({ transforms: state.transforms.slice(0, -1) });
  else if (state.pick.length || state.cpus.length || state.processes.length) change({ pick: [], cpus: [], processes: [] });
}

/* --- controls --- */

const show = view => change({ view });
/* On small screens a view is below what is seen; keys on tabs stay where they are. */
function bringUp() {
  const mainPart = document.querySelector("main"), seen = innerHeight - mainPart.getBoundingClientRect().top;
  if (seen < Math.min(140, innerHeight / 2)) mainPart.scrollIntoView();
}
for (const name of VIEWS)
  $("tab-" + name).addEventListener("click", e => {
    show(name);
    if (e.detail) bringUp();
  });
document.querySelector("[role=tablist]").addEventListener("keydown", e => {
  const step = { ArrowLeft: VIEWS.length - 1, ArrowRight: 1 }[e.key];
  if (!step) return;
  const next = VIEWS[(VIEWS.indexOf(state.view) + step) % VIEWS.length];
  show(next);
  $("tab-" + next).focus();
});
for (const name of ["threads", "stacks", "order", "colour", "event", "widths", "measure"])
  $(name).addEventListener("change", () => change({ [name]: name === "event" ? +$(name).value : $(name).value,
    ...(name === "threads" && $(name).value === "waker" && !isOff(state.measure) ? { measure: "blocked" } : {}),
    ...(name === "event" && state.measure === "both" && !addsUp(+$(name).value) ? { measure: "all" } : {}),
    ...(["threads", "event", "stacks", "measure"].includes(name) ? { zoom: [] } : {}) }));
$("search").addEventListener("input", () => change({ search: $("search").value }, "replace"));
$("search").addEventListener("keydown", e => {
  if (e.key === "Enter" && state.view === "flame") {
    const to = flame.match(e.shiftKey ? -1 : 1);
    if (to >= 0) flame.choose(to, true);
  } else if (e.key === "Escape") {
    change({ search: "" }, "replace");
    focusView();
    e.stopPropagation();
    e.preventDefault();
  }
});
$("theme").addEventListener("click", () => setDark(!dark));
$("helpbutton").addEventListener("click", () => $("help").showModal());
/* The choices that one seldom needs. */
function openPanel(on) {
  $("viewpanel").hidden = !on;
  $("viewbutton").setAttribute("aria-expanded", on);
}
$("viewbutton").addEventListener("click", () => openPanel($("viewpanel").hidden));
for (const part of [$("viewbutton"), $("viewpanel")])
  part.addEventListener("keydown", e => {
    if (e.key !== "Escape" || $("viewpanel").hidden) return;
    openPanel(false);
    $("viewbutton").focus();
    e.stopPropagation();
  });
$("viewpanel").addEventListener("focusout", e => { if (e.relatedTarget && !e.relatedTarget.closest(".menubox")) openPanel(false); });
addEventListener("pointerdown", e => { if (!e.target.closest(".menubox")) openPanel(false); });
$("normalize").addEventListener("click", () => change({ normalize: !state.normalize }));
const flip = () => change({ flip: !state.flip });
$("flip").addEventListener("click", flip);
$("reset").addEventListener("click", () => { flame.goTo(0); flame.canvas.focus(); });
for (const head of document.querySelectorAll("#functions th"))
  head.firstChild.addEventListener("click", () =>
    change({ up: state.sort === head.dataset.by && !state.up, sort: head.dataset.by }, "replace"));
$("functions").tBodies[0].addEventListener("click", e => {
  const row = e.target.closest("tr");
  if (row.at === undefined) return;
  row.focus();
  choose(row.at);
});
$("functions").addEventListener("keydown", e => functionList.key(e));
/* Rows of both tables: the menu, and its keys. */
const nodeOfRow = row => row.node ? [shown.tree, row.node] : row.group !== undefined ? [shown.main, firstNode(row.group)] : [shown.main, 0];
for (const table of [$("functions"), $("tree"), $("report")].filter(one => one)) {
  const menuOf = (e, x, y) => {
    const row = e.target.closest("tbody tr"), [tree, node] = row ? nodeOfRow(row) : [null, 0];
    if (!node) return;
    e.preventDefault();
    openMenu(tree, node, x || row.getBoundingClientRect().x + 40, y || row.getBoundingClientRect().bottom, row);
  };
  table.addEventListener("contextmenu", e => menuOf(e, e.clientX, e.clientY));
  table.addEventListener("keydown", e => {
    const row = e.target.closest("tbody tr");
    if (e.key === "ContextMenu" || e.key === "F10" && e.shiftKey) menuOf(e);
    else if (row && !e.defaultPrevented) transformKey(e, ...nodeOfRow(row));
  });
}
document.addEventListener("keydown", e => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  if (e.ctrlKey || e.altKey || e.metaKey || document.querySelector("dialog[open]") || typing || e.defaultPrevented) return;
  if (e.key === "/") $("search").focus();
  else if (e.key === "?") $("help").showModal();
  else if (e.key === "Escape") stepBack();
  else if (e.key === "t") setDark(!dark);
  else if (e.key === "i" && state.view === "flame") flip();
  else if (VIEWS[e.key - 1]) {
    show(VIEWS[e.key - 1]);
    if (state.view === "flame") flame.canvas.focus();
    bringUp();
  } else {
    /* All other keys are the browser's. */
    if (e.target === document.body && state.view === "flame") flame.key(e);
    return;
  }
  e.preventDefault();
});
new ResizeObserver(() => { if (timeCanvas.clientWidth !== timeLine.wide) laterTime(); }).observe(timeCanvas);

/* --- the start --- */

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
prefersDark.addEventListener("change", e => setDark(e.matches));
$("title").textContent = document.title = clean(data.title) || "Flame graph";
/* What is shown: in one line, in all, and what must not be overlooked. */
function showFacts() {
  const facts = [];
  for (let i = 0; i < data.facts.length; i += 2) facts.push([clean(data.facts[i]), clean(data.facts[i + 1])]);
  const of = label => facts.filter(fact => fact[0] === label).map(fact => fact[1]);
  const before = of("Compared with")[0], line = [base(of("Recording")[0] || ""), before && "compared with " + base(before), of("Event")[data.event], of("Ended")[0],
    clean(data.subtitle)];
  $("about").hidden = !facts.some(fact => fact[0]);
  $("summary").textContent = line.filter(x => x).join(" · ") || "About this recording";
  $("facts").replaceChildren(...facts.filter(fact => fact[0])
    .flatMap(([label, value]) => [element("dt", {}, label), element("dd", {}, value)]));
  for (const [id, label] of [["remarks", ""], ["notes", "Note"]]) $(id).replaceChildren(...of(label).map(text => element("li", { title: text }, text)));
}
showFacts();
data.meta.events.forEach(({ name }, i) => $("event").append(element("option", { value: i }, name)));
if (!BY[first.threads]) $("threads").prepend(element("option", { value: first.threads }, "by " + first.threads));
if (!data.weighsIntervals || !data.intervals.waker.some(waker => waker >= 0)) $("threads").querySelector("[value=waker]").remove();
if (!data.samples.cpu.some(cpu => cpu >= 0)) $("threads").querySelector("[value=cpu]").remove();
for (const part of document.querySelectorAll("[data-compares]"))
  if (data.compares) part.hidden = false; else part.remove();
if (data.compares) document.body.classList.add("compares");
if (!data.weighsIntervals) delete $("measurebox").dataset.in; /* it stays hidden */
$("eventbox").hidden = data.events.length < 2;
document.documentElement.classList.toggle("dark", dark = prefersDark.matches);
if (data.events.length) render(null);
else $("details").textContent = "No samples.";
if (shown.main || !data.events.length) setReady();
