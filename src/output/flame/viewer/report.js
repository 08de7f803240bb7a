/* SPDX-License-Identifier: MIT */
/* The report: its rows are made by reportrows.js. */
const REPORT_KEYS = { comm: "Command", tgid: "Process", pid: "Thread", tid: "Thread id", cpu: "CPU", time: "Time", dso: "Module", symbol: "Function" };
const REPORT_TITLES = { total: "With all that it calls", self: "Itself, with what is inlined in it" };
const reportKeys = () => state.keys ? state.keys.split(",") : data.report.keys;
const valueColumns = () => [...(data.report.children ? [["total", "Children"]] : []), ["self", "Overhead"],
  ...(data.report.samples ? [["count", "Samples"]] : []), ...(data.report.period ? [["period", "Period"]] : [])];
const nameOfValue = name => name === "period" ? "self" : name;
/* What is 100 %: as the report has it, unless only a part is looked at. */
const reportBase = () => isPart() || state.transforms.length ? null : data.report.base[state.event] || null;
function askedReport() {
  const { children, limit, top, resolved } = data.report, keys = reportKeys();
  return { filter: { event: state.event, ...whoIsWanted(), ...timed(state.time) }, transforms: stackSteps(), keys, base: reportBase(), children,
    limit, top, resolved, order: [...valueColumns().map(([name]) => nameOfValue(name)), ...keys][state.by] || null, up: state.up,
    search: shown.searched };
}

/* --- the table --- */

const ownOf = at => shown.report.own.map(column => column[at]);
const cellsAt = at => reportKeys().map(name => reportCell(name, shown.report.key[at], ownOf(at), reportKeys()));
function valueCell(name, value) {
  if (name === "count" || name === "period") return element("td", { class: "number" }, grouped.format(value));
  const share = Math.min(100, 100 * value / shown.report.base).toFixed(2);
  return element("td", { class: value ? "bar" : "bar quiet", style: `--share:${share}%`, title: withUnit(value) },
    element("b", {}, value ? columnPercent(value, shown.report.base) : "–"));
}
function reportHead() {
  const values = valueColumns(), columns = [...values, ...reportKeys().map(name => [name, REPORT_KEYS[name]])];
  return element("tr", {}, ...columns.map(([name, words], i) => {
    const button = element("button", { type: "button", ...(REPORT_TITLES[name] ? { title: REPORT_TITLES[name] } : {}) }, words), isValue = i < values.length;
    const head = element("th", { scope: "col", class: isValue ? "number" : name }, button);
    if (i === (state.by < 0 ? 0 : state.by)) head.setAttribute("aria-sort", isValue !== (state.by >= 0 && state.up) ? "descending" : "ascending");
    button.addEventListener("click", () => {
      change({ by: i, up: state.by === i && !state.up }, "replace");
      $("report").tHead.rows[0].cells[i].firstChild.focus();
    });
    return head;
  }));
}
const functionAt = at => reportKeys().includes("symbol") && at < shown.report.key.length && about(shown.report.key[at]).type === "function" ? shown.report.key[at] : -1;
/* A function may have one for each thread, command, processor ...; the others describe all of them. */
const inSeveralRows = () => state.view === "report" && reportKeys().some(name => name !== "dso" && name !== "symbol");
function reportRow(at) {
  const key = shown.report.key[at], names = reportKeys(), row = element("tr", { tabindex: -1, "aria-selected": at === shown.reportList.at },
    ...valueColumns().map(([name]) => valueCell(name, shown.report[nameOfValue(name)][at])));
  cellsAt(at).forEach((cell, i) => row.append(element("td", { class: names[i], title: names[i] === "dso" ? about(key).module || cell : cell },
    names[i] === "symbol" ? lineOf(key) : cell)));
  row.group = functionAt(at);
  return row;
}
function chooseReportRow(at) {
  for (const [i, row] of shown.reportList.made) row.setAttribute("aria-selected", i === at);
  shown.chosen = functionAt(at);
  if (shown.chosen >= 0 && state.fn !== shown.chosen) choosesFunction(shown.chosen);
  showSandwich();
}
function listReport() {
  const note = [data.branches ? "Rows of samples; those of branches are in Branches." : "", shown.report.hidden ? `${grouped.format(shown.report.hidden)} lighter rows are left out.` : "",
    data.report.limit ? `Rows below ${data.report.limit}% are left out.` : "", shown.report.key.length ? "" : "There are no rows."].filter(x => x).join(" ");
  $("reportnote").textContent = note;
  $("reportnote").hidden = !note;
  const { at } = shown.reportList, kept = functionAt(at) === state.fn ? at : shown.report.key.findIndex((key, i) => functionAt(i) === state.fn);
  shown.reportList.fill(shown.report.key.length, reportRow, Math.max(0, kept));
  chooseReportRow(shown.reportList.at);
}
function showReport(before) {
  moveSandwich("report");
  if (before && before.view === "report" && onlyChosen(before)) return;
  const asking = askedReport(), tag = JSON.stringify(asking);
  $("keys").value = reportKeys().join();
  if (tag === shown.reportTag) return shown.report && listReport();
  shown.reportTag = tag;
  $("report").tHead.replaceChildren(reportHead());
  ask("report", "report", asking, found => {
    shown.report = found;
    listReport();
  });
}
function reportText() {
  const names = valueColumns().map(([name]) => name);
  return csv([...names, ...reportKeys()], Array.from(shown.report.key, (key, at) => [...names.map(name => shown.report[nameOfValue(name)][at]), ...cellsAt(at)]));
}

function startReport() {
  if (!data.report) {
    $("tab-report").remove();
    $("view-report").remove();
    return;
  }
  shown.reportList = new RowList($("report"), $("report").parentNode, chooseReportRow);
  const preset = data.report.keys.join(), choices = [...new Set([preset, "comm,dso,symbol", "dso,symbol", "symbol", "dso", "comm", "cpu"])];
  $("keys").append(...choices.map(keys => element("option", { value: keys }, keys.split(",").map(name => REPORT_KEYS[name].toLowerCase()).join(", "))));
  $("keys").addEventListener("change", () => change({ keys: $("keys").value === preset ? "" : $("keys").value, by: -1, up: false }));
  $("report").tBodies[0].addEventListener("click", e => {
    const row = e.target.closest("tr");
    if (row.at === undefined) return;
    row.focus();
    chooseReportRow(row.at);
  });
  $("report").addEventListener("keydown", e => {
    const row = e.target.closest("tbody tr");
    if (!shown.reportList.key(e) && e.key === "s" && row && row.group >= 0) showFunction(row.group);
  });
}
