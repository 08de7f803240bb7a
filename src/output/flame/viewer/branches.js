/* SPDX-License-Identifier: MIT */
/* The rows of branches, as a report has them: of all the recording, whatever is chosen in other views. */
/* Its first columns are the event and the share; those of the weight stand after the keys. */
const branchAt = name => data.branches.columns.findIndex(column => column.name === name);
const branchKeys = () => data.branches.columns.map((column, i) => [column.name, i]).slice(branchAt("overhead") + 1, branchAt("samples"));
const BRANCH_WORDS = { dso_from: "Source module", symbol_from: "Source function", dso_to: "Target module", symbol_to: "Target function", cycles: "Cycles",
  mispredict: "Mispredicted", in_tx: "In transaction", abort: "Abort", comm: "Command", srcline_from: "Source line", srcline_to: "Target line" };
const branchColumns = () => [[branchAt("overhead"), "Overhead"], [branchAt("self"), "Branches"],
  ...branchKeys().map(([name, i]) => [i, BRANCH_WORDS[name] || REPORT_KEYS[name] || name])];
const isBranchWeight = at => at === branchAt("overhead") || at === branchAt("self");
const cellOf = value => clean(value === null ? "" : String(value));

function branchCell(at, value) {
  if (at === branchAt("overhead"))
    return element("td", { class: "bar", style: `--share:${Math.min(100, value).toFixed(2)}%` }, element("b", {}, value.toFixed(2) + "%"));
  if (at === branchAt("self")) return element("td", { class: "number" }, grouped.format(value));
  return element("td", { title: cellOf(value) }, shorten(cellOf(value), LONG));
}
function branchRow(i) {
  return element("tr", { tabindex: -1, "aria-selected": i === shown.branchList.at }, ...branchColumns().map(([at]) => branchCell(at, shown.branchRows[i][at])));
}
function branchHead() {
  return element("tr", {}, ...branchColumns().map(([at, words], i) => {
    const button = element("button", { type: "button" }, words), isWeight = isBranchWeight(at);
    const head = element("th", { scope: "col", class: isWeight ? "number" : data.branches.columns[at].name }, button);
    if (i === Math.max(0, state.branchBy)) head.setAttribute("aria-sort", isWeight !== (state.branchBy >= 0 && state.branchUp) ? "descending" : "ascending");
    button.addEventListener("click", () => {
      change({ branchBy: i, branchUp: state.branchBy === i && !state.branchUp }, "replace");
      $("branches").tHead.rows[0].cells[i].firstChild.focus();
    });
    return head;
  }));
}
function chooseBranch(at) {
  for (const [i, row] of shown.branchList.made) row.setAttribute("aria-selected", i === at);
  const row = shown.branchRows[at];
  if (!row) return describe(shown.main, 0);
  $("details").replaceChildren(element("b", {}, branchKeys().map(([, i]) => cellOf(row[i])).filter(text => text !== "-").join(" · ")),
    ` ${grouped.format(row[branchAt("self")])} branches, ${row[branchAt("overhead")].toFixed(2)}%`);
}
/* The report's order, unless a column is chosen. */
function orderBranches() {
  const { branchBy, branchUp } = state, at = branchBy < 0 || branchBy >= branchColumns().length ? -1 : branchColumns()[branchBy][0];
  const cells = branchColumns().map(([i]) => i), { name } = data.events[state.event];
  shown.branchRows = data.branches.rows.filter(row => row[branchAt("event")] === name &&
    (!shown.pattern || cells.some(i => !isBranchWeight(i) && shown.pattern.test(cellOf(row[i])))));
  if (at >= 0) shown.branchRows.sort((a, b) => isBranchWeight(at) ? b[at] - a[at] : a[at] < b[at] ? -1 : a[at] > b[at] ? 1 : 0);
  if (at >= 0 && branchUp) shown.branchRows.reverse();
}
function branchNote() {
  const { name } = data.events[state.event], event = data.branches.events.find(one => one.event === name);
  if (!event) return "No branches were recorded with this event.";
  const all = data.branches.rows.filter(row => row[branchAt("event")] === name).reduce((sum, row) => sum + row[branchAt("self")], 0);
  return `${grouped.format(event.period)} taken branches of ${grouped.format(event.samples)} samples; each counts as 1. ` +
    "Selections in other views do not change these rows." +
    (all < event.period ? ` ${grouped.format(event.period - all)} branches are of rows that are left out.` : "");
}
function showBranches() {
  const tag = JSON.stringify([state.event, state.branchBy, state.branchUp, String(shown.pattern)]);
  if (tag !== shown.branchTag) {
    $("branches").tHead.replaceChildren(branchHead());
    $("branchnote").textContent = branchNote();
    orderBranches();
  }
  if (tag !== shown.branchTag) shown.branchList.fill(shown.branchRows.length, branchRow, 0);
  else shown.branchList.later();
  shown.branchTag = tag;
  chooseBranch(shown.branchList.at);
}
function branchesText() {
  const columns = branchColumns().map(([at]) => at);
  return csv(columns.map(at => data.branches.columns[at].name), shown.branchRows.map(row => columns.map(at => row[at])));
}

function startBranches() {
  if (!data.branches) return document.querySelectorAll("[data-branches]").forEach(part => part.remove());
  shown.branchList = new RowList($("branches"), $("branches").parentNode, chooseBranch);
  $("branches").tBodies[0].addEventListener("click", e => {
    const row = e.target.closest("tr");
    if (row.at === undefined) return;
    row.focus();
    chooseBranch(row.at);
  });
  $("branches").addEventListener("keydown", e => shown.branchList.key(e));
}
