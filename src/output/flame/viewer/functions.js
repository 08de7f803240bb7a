/* SPDX-License-Identifier: MIT */
let rows = null; /* made when they are looked at */
let chosen = -1, listedRows = 100;
/* The function of the state, or the first of the list: that is no choice of the reader's. */
const choosesFunction = group => change({ fn: keyOf(group) }, "replace");
/* Of a cut page: what functions weigh with what was cut; not known of parts of the recording, and of two of them. */
const hasTotals = () => !!data.totals && !data.compares && state.measure === "weight" && !isPart() && !state.transforms.length;
function exactRows(inTree) {
  const { event, fn, self, total } = data.totals;
  const made = inTree.filter(row => groups[row.group].type !== "function");
  for (let i = 0; i < fn.length; i++)
    if (event[i] === state.event)
      made.push({ group: groupFor(fn[i]), self: self[i], total: total[i], change: 0, whole: 0 });
  return made;
}
function makeRows() {
  if (rows) return;
  const self = new Float64Array(groups.length), total = new Float64Array(groups.length);
  const other = new Float64Array(groups.length), otherTotal = new Float64Array(groups.length);
  const open = new Int32Array(groups.length), stack = [];
  for (let i = main.first[0]; i < main.first[1]; i++) stack.push(main.kids[i]);
  while (stack.length) {
    const node = stack.pop();
    if (node < 0) {
      open[main.group[~node]]--;
      continue;
    }
    const group = main.group[node];
    const outer = open[group]++ === 0;
    self[group] += main.self[node];
    if (outer) total[group] += main.total[node];
    if (data.compares) other[group] += main.other[node];
    if (data.compares && outer) otherTotal[group] += main.otherTotal[node];
    stack.push(~node);
    for (let i = main.first[node]; i < main.first[node + 1]; i++) stack.push(main.kids[i]);
  }
  rows = [];
  for (let g = 0; g < groups.length; g++)
    if (total[g] || otherTotal[g])
      rows.push({ group: g, self: self[g], total: total[g], change: changeOf(self[g], other[g]),
        whole: changeOf(total[g], otherTotal[g]) });
  if (hasTotals()) rows = exactRows(rows);
}
const orders = {
  change: (a, b) => Math.abs(b.change) - Math.abs(a.change) || Math.abs(b.whole) - Math.abs(a.whole) ||
    orders.self(a, b),
  self: (a, b) => b.self - a.self || b.total - a.total || ranks[a.group] - ranks[b.group],
  total: (a, b) => b.total - a.total || b.self - a.self || ranks[a.group] - ranks[b.group],
  name: (a, b) => ranks[a.group] - ranks[b.group],
  module: (a, b) => groups[a.group].module.localeCompare(groups[b.group].module) || orders.self(a, b),
};

function nameCell(group, ...before) {
  const g = groups[group], cell = element("td", { title: g.label + (g.file ? `\n${g.file}:${g.line}` : "") }, ...before,
    element("i", { style: "background:" + fills[group], title: KINDS[g.kind] }));
  const found = pattern && g.label.match(pattern), text = found && found[0] ? g.label : lineOf(group);
  const at = found && found[0] ? found.index : text.length, end = at + (found ? found[0].length : 0);
  cell.append(text.slice(0, at));
  if (at < end) cell.append(element("mark", {}, text.slice(at, end)), text.slice(end));
  return cell;
}
function weightCell(value) {
  const share = Math.min(100, 100 * value / everything).toFixed(2);
  return element("td", { class: value ? "bar" : "bar quiet", style: `--share:${share}%`, title: withUnit(value) },
    element("b", {}, value ? percent(value) : "–"), value ? short(value) : "");
}
/* Of pages that compare; a table without such a column gets none. */
function changeCells(group, own, whole) {
  if (!data.compares) return [];
  return [element("td", { class: isNoise(group, false) || !own ? "quiet" : own > 0 ? "more" : "less",
    title: `itself ${signed(own)}, with what it calls ${signed(whole)}` + (data.verdicts ? ` · ${verdictText(group)}` : "") },
  signed(own))];
}
const moduleCell = group => element("td", { title: groups[group].module }, base(groups[group].module));

function showTable() {
  makeRows();
  chosen = groupOf.has(state.fn) ? groupOf.get(state.fn) : chosen < groups.length ? chosen : -1;
  const list = rows.filter(r => !matched || matched[r.group]).sort(orders[state.sort]);
  if (state.up) list.reverse();
  if (!list.some(r => r.group === chosen)) chosen = list.length ? list[0].group : -1;
  const body = $("functions").tBodies[0], hadFocus = body.contains(document.activeElement);
  body.replaceChildren(...list.slice(0, listedRows).map(r => {
    const row = element("tr", { tabindex: r.group === chosen ? 0 : -1, "aria-selected": r.group === chosen },
      weightCell(r.self), weightCell(r.total), ...changeCells(r.group, r.change, r.whole), nameCell(r.group),
      moduleCell(r.group));
    row.group = r.group;
    return row;
  }));
  if (!body.querySelector("[tabindex='0']") && body.rows[0]) body.rows[0].tabIndex = 0;
  if (hadFocus) (body.querySelector("[tabindex='0']") || $("tab-table")).focus();
  for (const head of document.querySelectorAll("#functions th")) {
    const by = head.dataset.by, falling = by !== "name" && by !== "module" !== state.up;
    if (by === state.sort) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  $("more").hidden = list.length <= listedRows;
  $("more").textContent = `Show more (${grouped.format(list.length - listedRows)})`;
  showSandwich();
}
let sandwichOf = -1;
function showSandwich() {
  if (sandwichOf === chosen && sandwichOf >= 0) return;
  sandwichOf = chosen;
  for (const part of [callers, callees]) part.host.hidden = chosen < 0;
  $("callershead").textContent = chosen < 0 ? "No function" : "Callers of " + lineOf(chosen);
  $("calleeshead").textContent = chosen < 0 ? "" : "Callees of " + lineOf(chosen);
  if (chosen < 0) return;
  callers.show(callersOf(chosen));
  callees.show(calleesOf(chosen));
  describe(callees.tree, 0);
}
function pickRow(row, focus) {
  if (!row || row.group === undefined) return;
  for (const other of $("functions").tBodies[0].rows) {
    other.setAttribute("aria-selected", other === row);
    other.tabIndex = other === row ? 0 : -1;
  }
  if (focus) row.focus();
  if (chosen === row.group) return;
  chosen = row.group;
  choosesFunction(chosen);
  showSandwich();
}
function showFunction(group) {
  if (group < 0) return;
  makeRows();
  const at = rows.sort(orders[state.sort]).findIndex(r => r.group === group);
  listedRows = Math.max(listedRows, at + 50);
  const hidden = matched && !matched[group];
  change({ view: "table", fn: keyOf(group), ...(hidden ? { search: "" } : {}) });
  const row = $("functions").tBodies[0].querySelector("[aria-selected=true]");
  if (row) {
    row.focus();
    row.scrollIntoView({ block: "center" });
  }
  say(`Callers and callees of ${labelOf(group)}`);
}
