/* SPDX-License-Identifier: MIT */
/* The function of the state, or the first of the list: the reader did not choose it. */
const choosesFunction = group => change({ fn: group }, "replace");
/* Of a cut page: what functions weigh with what was cut; not known of parts of the recording, and of two of them. */
const hasTotals = () => !!data.totals && !data.compares && state.measure === "weight" && !isPart() && !state.transforms.length;
function takeRows({ group, self, total, other, otherTotal, inlined }) {
  shown.rows = Array.from(group, (key, i) => ({ group: key, self: self[i], total: total[i], inlined: inlined[i],
    ...(data.compares ? { change: shown.main.changeOf(self[i], other[i]), entire: shown.main.changeOf(total[i], otherTotal[i]) } : {}) }));
}
function withRows(then) {
  if (shown.rows) return then();
  ask("rows", "rows", { totals: hasTotals() ? state.event : null }, found => {
    takeRows(found);
    then();
  });
}
/* The order of modules as the reader's language has it. */
const moduleRanks = new Map();
function rankModules() {
  if (moduleRanks.size) return;
  const { compare } = new Intl.Collator(), all = new Set(data.strings.length ? [""] : []);
  for (const i of new Set(data.functions.module)) all.add(text(i));
  for (let i = 0; i < data.functions.name.length; i++) if (data.functions.module[i] < 0) all.add("");
  [...all].sort(compare).forEach((name, i, sorted) =>
    moduleRanks.set(name, i && !compare(sorted[i - 1], name) ? moduleRanks.get(sorted[i - 1]) : i));
}
const orders = {
  change: (a, b) => Math.abs(b.change) - Math.abs(a.change) || Math.abs(b.entire) - Math.abs(a.entire) ||
    orders.self(a, b),
  self: (a, b) => b.self - a.self || b.total - a.total || shown.ranks[a.group] - shown.ranks[b.group],
  total: (a, b) => b.total - a.total || b.self - a.self || shown.ranks[a.group] - shown.ranks[b.group],
  name: (a, b) => shown.ranks[a.group] - shown.ranks[b.group],
  module: (a, b) => moduleRanks.get(about(a.group).module) - moduleRanks.get(about(b.group).module) || orders.self(a, b),
};

function nameCell(group, ...before) {
  const g = about(group), cell = element("td", { title: g.label + (g.file ? `\n${g.file}:${g.line}` : "") }, ...before,
    element("i", { style: "background:" + fillOfGroup(group), title: KINDS[g.kind] }));
  const found = shown.pattern && g.label.match(shown.pattern), text = found && found[0] ? g.label : lineOf(group);
  const at = found && found[0] ? found.index : text.length, end = at + (found ? found[0].length : 0);
  cell.append(text.slice(0, at));
  if (at < end) cell.append(element("mark", {}, text.slice(at, end)), text.slice(end));
  return cell;
}
function weightCell(value) {
  const share = Math.min(100, 100 * value / shown.everything).toFixed(2);
  return element("td", { class: value ? "bar" : "bar quiet", style: `--share:${share}%`, title: withUnit(value) },
    element("b", {}, value ? columnPercent(value) : "–"), element("span", { class: "number" }, value ? columnWords(value) : ""));
}
/* Of pages that compare; a table without such a column gets none. */
function changeCells(group, own, entire) {
  if (!data.compares) return [];
  return [element("td", { class: isNoise(group, false) || !own ? "quiet" : own > 0 ? "more" : "less",
    title: `itself ${signed(own)}, with what it calls ${signed(entire)}` + (data.verdicts ? ` · ${verdictText(group)}` : "") },
  signed(own))];
}
const moduleCell = group => element("td", { title: about(group).module }, base(about(group).module));

const functionList = new RowList($("functions"), $("functions").parentNode, at => choose(at));
function functionRow(i) {
  const r = shown.listed[i], row = element("tr", { tabindex: -1, "aria-selected": r.group === shown.chosen }, weightCell(r.self),
    weightCell(r.total), ...changeCells(r.group, r.change, r.entire), nameCell(r.group), moduleCell(r.group));
  row.group = r.group;
  return row;
}
function sortRows() {
  if (state.sort === "module") rankModules();
  shown.listed = shown.rows.filter(r => !shown.matched || shown.matched[r.group]).sort(orders[state.sort]);
  if (state.up) shown.listed.reverse();
}
const showTable = () => withRows(listFunctions);
function listFunctions() {
  sortRows();
  shown.chosen = isUsed(state.fn) ? state.fn : isUsed(shown.chosen) ? shown.chosen : -1;
  let at = shown.listed.findIndex(r => r.group === shown.chosen);
  if (at < 0) {
    at = 0;
    shown.chosen = shown.listed.length ? shown.listed[0].group : -1;
  }
  functionList.fill(shown.listed.length, functionRow, at);
  for (const head of document.querySelectorAll("#functions th")) {
    const by = head.dataset.by, falling = by !== "name" && by !== "module" !== state.up;
    if (by === state.sort) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  if (shown.reveals) {
    functionList.go(at);
    functionList.focus();
  }
  shown.reveals = false;
  showSandwich();
}
/* The report has it, too. What is there already is not moved: it may have the focus. */
const sandwichBox = document.querySelector(".sandwich"), hasSandwich = () => state.view === "table" || state.view === "report";
function moveSandwich(view) {
  if (sandwichBox.parentNode !== $("view-" + view)) $("view-" + view).append(sandwichBox);
}
function showSandwich() {
  if (shown.sandwichOf === shown.chosen && shown.sandwichOf >= 0) return describeChosen();
  shown.sandwichOf = shown.chosen;
  for (const part of [callers, callees]) part.host.hidden = shown.chosen < 0 || !part.tree;
  $("callershead").textContent = shown.chosen < 0 ? (shown.searched ? `No function matches “${shown.searched}”` : "No function has samples here") : "Callers of " + lineOf(shown.chosen);
  $("calleeshead").textContent = shown.chosen < 0 ? "" : "Callees of " + lineOf(shown.chosen);
  $("calleeshead").hidden = shown.chosen < 0;
  discard("sandwich");
  if (shown.chosen < 0) {
    if (hasSandwich()) describe(shown.main, 0);
    return;
  }
  ask("sandwich", "sandwich", { group: shown.chosen }, found => {
    if (found.id !== shown.treeId) return;
    found.callees.of = "callees";
    for (const part of [callers, callees]) part.host.hidden = false;
    callers.show(found.callers);
    callees.show(found.callees);
    describeChosen();
  });
}
/* Also when one comes back to it: another view has described something else. */
function describeChosen() {
  if (hasSandwich() && callees.tree && callees.tree.group[0] === shown.chosen) withRows(() => hasSandwich() && describe(callees.tree, 0));
}
function choose(at) {
  const { group } = shown.listed[at] || {};
  if (group === undefined) return;
  for (const [i, row] of functionList.made) row.setAttribute("aria-selected", i === at);
  if (shown.chosen === group) return;
  shown.chosen = group;
  choosesFunction(shown.chosen);
  showSandwich();
}
function showFunction(group) {
  if (group < 0) return;
  shown.reveals = true;
  const hidden = shown.matched && !shown.matched[group];
  change({ view: "table", fn: group, ...(hidden ? { search: "" } : {}) });
  say(`Callers and callees of ${labelOf(group)}`);
}
