/* SPDX-License-Identifier: MIT */
/* Latencies of memory accesses by data source, function or line: of all the recording, whatever is chosen in other views. */
const MEMORY_KEYS = { source: ["mem", "Data source"], function: ["symbol", "Function"], line: ["srcline", "Line"] };
const memoryAt = name => data.memory.columns.findIndex(column => column.name === name);
/* Rows of `accesses` are joined: samples, the sum of their latencies, and samples by the power of two below their latency. */
function joinAccesses(name, accesses) {
  const made = { name, samples: 0, cost: 0, classes: new Map() };
  const [count, least, average] = ["samples", "weight_class", "weight1"].map(memoryAt);
  for (const access of accesses) {
    made.samples += access[count];
    made.cost += access[count] * access[average];
    made.classes.set(access[least], (made.classes.get(access[least]) || 0) + access[count]);
  }
  return made;
}
/* All of them, then by the key, those that took longest together first. */
function groupAccesses() {
  const { name } = data.events[state.event], key = memoryAt(MEMORY_KEYS[state.memoryBy][0]), groups = new Map();
  const accesses = data.memory.rows.filter(row => row[memoryAt("event")] === name);
  for (const access of accesses) {
    const text = access[key] === null ? nameOfAccess(access) : String(access[key]);
    if (!groups.has(text)) groups.set(text, []);
    groups.get(text).push(access);
  }
  const rows = [...groups].map(([text, own]) => joinAccesses(text, own)).filter(row => !shown.pattern || shown.pattern.test(row.name));
  return [joinAccesses("All accesses", accesses), ...rows.sort((a, b) => b.cost - a.cost || b.samples - a.samples)];
}
const nameOfAccess = access => access[memoryAt("address")] === null ? "[unknown]" : "0x" + access[memoryAt("address")].toString(16);
const averageOf = row => row.samples ? row.cost / row.samples : 0;
const inTenths = value => value.toFixed(1);

function memoryRow(i) {
  const row = shown.memoryRows[i], [all] = shown.memoryRows, share = 100 * (all.cost ? row.cost / all.cost : row.samples / (all.samples || 1));
  return element("tr", { tabindex: -1, "aria-selected": i === shown.memoryList.at },
    element("td", { class: "bar", style: `--share:${Math.min(100, share).toFixed(2)}%` }, element("b", {}, share.toFixed(2) + "%")),
    element("td", { class: "number" }, grouped.format(row.samples)), element("td", { class: "number" }, inTenths(averageOf(row))),
    element("td", { title: clean(row.name) }, shorten(clean(row.name), LONG)));
}
const latencyWords = least => least < 2 ? String(least) : `${grouped.format(least)} – ${grouped.format(2 * least - 1)}`;
/* Powers of two from the least to the largest that the row has; what lies between is there, too, without samples. */
function latenciesOf(row) {
  const found = [...row.classes.keys()].sort((a, b) => a - b), all = [];
  for (let least = found[0]; least <= found.at(-1); least = least ? 2 * least : 1) all.push([least, row.classes.get(least) || 0]);
  return all;
}
function chooseAccesses(at) {
  for (const [i, row] of shown.memoryList.made) row.setAttribute("aria-selected", i === at);
  const row = shown.memoryRows[at];
  if (!row) return;
  const all = latenciesOf(row), most = Math.max(...all.map(([, samples]) => samples));
  $("latencies").caption.textContent = `Latencies of ${clean(row.name)}`;
  $("latencies").tBodies[0].replaceChildren(...all.map(([least, samples]) => element("tr", {},
    element("th", { scope: "row", class: "number" }, latencyWords(least)), element("td", { class: "number" }, grouped.format(samples)),
    element("td", { class: "bar", style: `--share:${(100 * samples / most).toFixed(2)}%` }, element("b", {}, (100 * samples / row.samples).toFixed(2) + "%")))));
  $("details").replaceChildren(element("b", {}, clean(row.name)), ` ${grouped.format(row.samples)} samples, ${inTenths(averageOf(row))} on average`);
}
function memoryNote() {
  const { name } = data.events[state.event], event = data.memory.events.find(one => one.event === name), [all] = shown.memoryRows;
  if (!event) return "This event has no memory accesses.";
  const left = event.samples - all.samples;
  return `${grouped.format(event.samples)} samples` + (all.cost ? "; shares are of the sum of their latencies, in the unit of the processor (cycles)." :
    " without latencies; shares are of samples.") +
    " Selections in other views do not change these rows." + (left ? ` ${grouped.format(left)} samples are of rows that are left out.` : "");
}
function showMemory() {
  const tag = JSON.stringify([state.event, state.memoryBy, String(shown.pattern)]);
  if (tag !== shown.memoryTag) {
    shown.memoryRows = groupAccesses();
    $("memoryby").value = state.memoryBy;
    $("memory").tHead.replaceChildren(element("tr", {}, ...["Share", "Samples", "Average"].map(words => element("th", { scope: "col", class: "number" }, words)),
      element("th", { scope: "col" }, MEMORY_KEYS[state.memoryBy][1])));
    $("memorynote").textContent = memoryNote();
    shown.memoryList.fill(shown.memoryRows.length, memoryRow, 0);
  } else shown.memoryList.later();
  shown.memoryTag = tag;
  chooseAccesses(shown.memoryList.at);
}
function memoryText() {
  return csv([state.memoryBy, "latency_from", "samples"], shown.memoryRows.slice(1).flatMap(row => latenciesOf(row).map(([least, samples]) => [row.name, least, samples])));
}

function startMemory() {
  if (!data.memory) return document.querySelectorAll("[data-memory]").forEach(part => part.remove());
  $("latencies").tHead.append(element("tr", {}, ...["From – to", "Samples", "Share"].map(words => element("th", { scope: "col", class: "number" }, words))));
  $("memoryby").addEventListener("change", () => change({ memoryBy: $("memoryby").value }, "replace"));
  shown.memoryList = new RowList($("memory"), $("memory").parentNode, chooseAccesses);
  $("memory").tBodies[0].addEventListener("click", e => {
    const row = e.target.closest("tr");
    if (row.at === undefined) return;
    row.focus();
    chooseAccesses(row.at);
  });
  $("memory").addEventListener("keydown", e => shown.memoryList.key(e));
}
