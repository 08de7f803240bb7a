/* SPDX-License-Identifier: MIT */
/*
 * The rows of a report, of pages that open with them: what --sort made rows of, by event, with the numbers that a report in
 * other forms has. What was running in inlined code counts for the function that it is inlined in, as there.
 */
const reportState = { rows: null, listed: 200 };
const REPORT_KEYS = { comm: "Command", tgid: "Process", pid: "Thread", tid: "Thread id", cpu: "CPU", time: "Time", dso: "Module", symbol: "Function" };
const REPORT_TYPES = { comm: "comm", tgid: "process", pid: "thread", tid: "thread", cpu: "cpu", time: "time" };
const reportKeys = () => state.keys ? state.keys.split(",") : data.report.keys;

/* What a sample has of a key of its own. */
function keysOfSamples(name) {
  const { samples, threads } = data, of = { comm: t => t < 0 ? -1 : threads.comm[t], process: t => t < 0 ? -1 : threads.pid[t], thread: t => t };
  const type = REPORT_TYPES[name];
  if (type === "cpu") return i => samples.cpu[i];
  if (type === "time") return i => samples.time[i] === samples.time[i] ? Math.floor((data.start.clock + samples.time[i]) / data.quantum) : -1;
  return i => of[type](samples.thread[i]);
}
/* The number of what each sample has of all of them, and their values by number. */
function combinations(names) {
  const count = data.samples.stack.length, number = new Int32Array(count);
  let values = [[]];
  for (const name of names) {
    const of = keysOfSamples(name), known = new Map(), longer = [];
    for (let i = 0; i < count; i++) {
      const value = of(i), id = number[i] * 2 ** 33 + value + 1;
      if (!known.has(id)) known.set(id, longer.push([...values[number[i]], value]) - 1);
      number[i] = known.get(id);
    }
    values = longer;
  }
  return { number, values };
}
/* By number and place in the stacks: weight and samples. */
function sumsByStack(selection, number) {
  const { picked, from, to } = selection, { stack, weight, count } = data.samples, places = data.stacks.fn.length + 1, sums = new Map();
  for (let i = from; i < to; i++) {
    if (!picked[i]) continue;
    const id = number[i] * places + stack[i] + 1, sum = sums.get(id);
    if (sum) { sum.weight += weight[i]; sum.count += count[i]; } else sums.set(id, { number: number[i], stack: stack[i], weight: weight[i], count: count[i] });
  }
  return sums;
}
const notInlined = stack => {
  const { fn, parent } = data.stacks, { kind } = data.functions;
  let at = stack;
  while (at >= 0 && kind[fn[at]] === INLINED) at = parent[at];
  return at >= 0 ? at : stack;
};
/* What of a frame makes it another row: nothing of it, its module, itself. */
function frameRows(names) {
  const bySymbol = names.includes("symbol");
  if (!bySymbol && !names.includes("dso")) return () => 0;
  return key => bySymbol ? key : (({ type, index }) => type === "module" ? index : data.functions.module[index])(query.describe(data, key));
}
function reportRowsOf(selection) {
  const names = reportKeys(), own = names.filter(name => REPORT_TYPES[name]), { number, values } = combinations(own);
  const { shape, image } = query.map(data, state.transforms), rowOf = frameRows(names), found = new Map();
  const rowAt = (combination, key) => {
    const id = combination + "/" + rowOf(key);
    if (!found.has(id)) found.set(id, { key, own: values[combination], self: 0, total: 0, count: 0, last: null });
    return found.get(id);
  };
  for (const sum of sumsByStack(selection, number).values()) {
    const end = image[sum.stack + 1], real = image[notInlined(sum.stack) + 1], leaf = real > 0 ? real : end;
    if (!(end > 0)) continue;
    const row = rowAt(sum.number, shape.key[leaf]);
    row.self += sum.weight;
    row.count += sum.count;
    for (let node = end; node > 0; node = shape.parent[node]) {
      const above = rowAt(sum.number, shape.key[node]);
      if (above.last === sum) continue;
      above.total += sum.weight;
      above.last = sum;
    }
  }
  return [...found.values()];
}
/* What is 100 %: as the report has it, unless only a part is looked at. */
const reportBase = selection => isPart() || state.transforms.length ? selection.total : data.report.base[state.event] || selection.total;
function cellText(row, name) {
  const { type, index } = query.describe(data, row.key), at = reportKeys().filter(one => REPORT_TYPES[one]).indexOf(name), value = row.own[at];
  if (name === "symbol") return labelOf(row.key);
  if (name === "dso") return base(type === "module" ? text(index) : text(data.functions.module[index])) || "[unknown]";
  if (name === "tid") return value < 0 ? "" : String(data.threads.tid[value]);
  return makers[REPORT_TYPES[name]](value).label;
}
function makeReport() {
  const selection = query.filter(data, { event: state.event, ...whoIsWanted(), ...(state.time ? { time: state.time } : {}) });
  const { children, limit, top, resolved } = data.report, weigh = row => children ? row.total : row.self, names = reportKeys();
  const isSeen = row => (children || row.self) && weigh(row) * 100 >= limit * reportState.base &&
    !(resolved && names.includes("symbol") && query.describe(data, row.key).type === "function" && data.functions.kind[row.key] === UNKNOWN);
  reportState.base = reportBase(selection) || 1;
  const all = reportRowsOf(selection).filter(isSeen);
  for (const row of all) row.cells = names.map(name => cellText(row, name));
  const byCells = (a, b) => a.cells.findIndex((cell, i) => cell !== b.cells[i]), order = (a, b, at) => at < 0 ? 0 : a.cells[at] < b.cells[at] ? -1 : 1;
  all.sort((a, b) => weigh(b) - weigh(a) || b.self - a.self || order(a, b, byCells(a, b)));
  reportState.rows = top ? all.slice(0, top) : all;
  reportState.hidden = all.length - reportState.rows.length;
}

/* --- the table --- */

const valueColumns = () => [...(data.report.children ? [["total", "Children"]] : []), ["self", "Overhead"],
  ...(data.report.samples ? [["count", "Samples"]] : []), ...(data.report.period ? [["period", "Period"]] : [])];
const valueOf = (row, name) => name === "period" ? row.self : row[name];
function reportCell(row, name) {
  const value = valueOf(row, name);
  if (name === "count" || name === "period") return element("td", { class: "number" }, grouped.format(value));
  const share = Math.min(100, 100 * value / reportState.base).toFixed(2);
  return element("td", { class: value ? "bar" : "bar quiet", style: `--share:${share}%`, title: withUnit(value) },
    element("b", {}, value ? percent(value, reportState.base) : "–"));
}
function sortedReport() {
  const columns = valueColumns().map(([name]) => (a, b) => valueOf(b, name) - valueOf(a, name));
  const cells = reportKeys().map((name, i) => (a, b) => a.cells[i] < b.cells[i] ? -1 : a.cells[i] > b.cells[i] ? 1 : 0);
  const compare = [...columns, ...cells][state.by], list = reportState.rows.filter(row => !pattern || row.cells.some(cell => pattern.test(cell)));
  if (compare) list.sort(compare);
  return state.up && state.by >= 0 ? list.reverse() : list;
}
function reportHead() {
  const names = [...valueColumns().map(([, words]) => words), ...reportKeys().map(name => REPORT_KEYS[name])], values = valueColumns().length;
  return element("tr", {}, ...names.map((words, i) => {
    const button = element("button", { type: "button" }, words), head = element("th", { scope: "col", ...(i < values ? { class: "number" } : {}) }, button);
    if (i === (state.by < 0 ? 0 : state.by)) head.setAttribute("aria-sort", i < values !== (state.by >= 0 && state.up) ? "descending" : "ascending");
    button.addEventListener("click", () => {
      change({ by: i, up: state.by === i && !state.up }, "replace");
      $("report").tHead.rows[0].cells[i].firstChild.focus();
    });
    return head;
  }));
}
const hasFunction = () => reportKeys().includes("symbol");
const functionOf = row => hasFunction() && query.describe(data, row.key).type === "function" ? row.key : -1;
function reportRow(row) {
  const names = reportKeys(), made = element("tr", { tabindex: -1, "aria-selected": false }, ...valueColumns().map(([name]) => reportCell(row, name)));
  row.cells.forEach((cell, i) => {
    const shown = names[i] === "symbol" ? lineOf(row.key) : cell;
    made.append(element("td", { title: names[i] === "dso" ? text(data.functions.module[row.key]) || cell : cell }, shown));
  });
  made.group = functionOf(row);
  return made;
}
function chooseReportRow(row, focus) {
  for (const other of $("report").tBodies[0].rows) {
    other.tabIndex = other === row ? 0 : -1;
    other.setAttribute("aria-selected", other === row);
  }
  if (!row) return;
  if (focus) row.focus();
  chosen = row.group;
  if (row.group >= 0 && state.fn !== row.group) choosesFunction(row.group);
  sandwichOf = -1;
  showSandwich();
}
function showReport(before) {
  const body = $("report").tBodies[0], hadFocus = body.contains(document.activeElement), at = [...body.rows].indexOf(document.activeElement);
  moveSandwich("report");
  if (before && before.view === "report" && onlyChosen(before)) return;
  makeReport();
  const list = sortedReport(), shown = list.slice(0, reportState.listed).map(reportRow);
  $("report").tHead.replaceChildren(reportHead());
  body.replaceChildren(...shown);
  $("keys").value = reportKeys().join();
  $("morereport").hidden = list.length <= reportState.listed;
  $("morereport").textContent = `Show more (${grouped.format(list.length - reportState.listed)})`;
  $("reportnote").textContent = [reportState.hidden ? `${grouped.format(reportState.hidden)} lighter rows are left out.` : "",
    data.report.limit ? `Rows below ${data.report.limit}% are left out.` : ""].filter(x => x).join(" ");
  $("reportnote").hidden = !$("reportnote").textContent;
  chooseReportRow(shown[hadFocus && at >= 0 ? Math.min(at, shown.length - 1) : Math.max(0, shown.findIndex(row => row.group >= 0 && row.group === state.fn))], hadFocus);
}

function startReport() {
  if (!data.report) {
    $("tab-report").remove();
    $("view-report").remove();
    return;
  }
  const given = data.report.keys.join(), choices = [...new Set([given, "comm,dso,symbol", "dso,symbol", "symbol", "dso", "comm", "cpu"])];
  $("keys").append(...choices.map(keys => element("option", { value: keys }, keys.split(",").map(name => REPORT_KEYS[name].toLowerCase()).join(", "))));
  $("keys").addEventListener("change", () => change({ keys: $("keys").value === given ? "" : $("keys").value, by: -1, up: false }));
  $("morereport").addEventListener("click", () => { reportState.listed += 400; showReport(null); });
  $("report").tBodies[0].addEventListener("click", e => chooseReportRow(e.target.closest("tr"), true));
  $("report").addEventListener("keydown", e => {
    const row = moveRow(e);
    if (e.key === "ArrowDown" || e.key === "ArrowUp") chooseReportRow(document.activeElement.closest("tbody tr"));
    else if (row && e.key === "s" && row.group >= 0) showFunction(row.group);
  });
}
