/* SPDX-License-Identifier: MIT */
/*
 * The code of functions, where the page has it: instructions or source lines, with what was sampled at each, of all that is
 * selected where the page has the address of each sample. Inlined code is a part of the function that it is in.
 */
const CODE_ROWS = 1000; /* that are listed around the chosen one, and by each step beyond */
const codeState = { index: null, drawn: "", from: 0, to: 0, part: null, partTag: "" };

/* --- which function --- */

/* Events of the code by those of the page: the nth of one name is the nth. */
function codeEvents() {
  const nth = list => list.map((name, i) => name + "\n" + list.slice(0, i).filter(other => other === name).length);
  const known = nth(data.code.events.map(([name]) => clean(name)));
  return nth(data.meta.events.map(({ name }) => name)).map(name => known.indexOf(name));
}
/* Functions with their keys; of two recordings the path of a file need not be the same. */
function makeCodeIndex() {
  const { name, module } = data.functions, same = query.sameOf(data), known = new Map(), byName = new Map();
  for (let i = 0; i < name.length; i++) {
    const id = text(name[i]) + "\n" + text(module[i]);
    if (!known.has(id)) known.set(id, same[i]);
    if (!byName.has(text(name[i]))) byName.set(text(name[i]), same[i]);
  }
  const keyOfCode = (label, path) => known.get(label + "\n" + path) ?? (data.compares ? byName.get(label) : undefined) ?? -1;
  const list = data.code.functions.map(one => {
    const label = clean(one.name), path = clean(one.module);
    return { ...one, label, path, key: keyOfCode(label, path), base: BigInt("0x" + one.address), lines: one.lines, positions: one.positions };
  });
  return { list, events: codeEvents() };
}
const codes = () => codeState.index ||= makeCodeIndex();

const frameCount = site => (site.length - 1) / 3;
const frameOf = (site, i) => ({ name: site[3 * i + 1], file: site[3 * i + 2], line: site[3 * i + 3] });
/* The name of a function that is inlined somewhere in it. */
const inlines = (site, label) => {
  for (let i = 0; i + 1 < frameCount(site); i++) if (clean(frameOf(site, i).name || "") === label) return true;
  return false;
};
const labelOfKey = key => query.describe(data, key).type === "function" ? text(data.functions.name[key]) : "";
const hasInlined = (one, key) => one.positions.some(site => inlines(site, labelOfKey(key)));
/* Where the function's code is, or that of the heaviest one that it is inlined in; -1: not in the page. */
function codeFor(key) {
  const { list } = codes(), at = list.findIndex(one => one.key === key);
  return at >= 0 || key < 0 ? at : list.findIndex(one => hasInlined(one, key));
}
function codeIndex() {
  const { list } = codes(), one = list[state.code];
  if (one && (one.key === state.fn || hasInlined(one, state.fn))) return state.code;
  return state.fn >= 0 ? codeFor(state.fn) : list.length ? 0 : -1;
}

/* --- weights --- */

const isCodePart = () => isPart() || state.transforms.length > 0, followsPart = () => !!data.samples.code;
/* What was asked for last, as weights are in the page's code; null: nothing was. */
function askCodePart(index) {
  const question = { index, filter: { ...whoIsWanted(), ...timed(state.time) }, transforms: stackSteps() }, tag = JSON.stringify(question);
  if (tag === codeState.partTag) return;
  codeState.partTag = tag;
  codeState.part = null;
  ask("code", "code", question, found => {
    codeState.part = partOfCode(codes().list[index], found);
    if (state.view === "code") showCode();
  });
}
function partOfCode(one, { list, all }) {
  const { events } = codes(), at = new Map(), weights = new Map(), totals = new Map();
  const add = (sums, event, samples, weight) => {
    const sum = sums.get(event) || [0, 0];
    sums.set(event, [sum[0] + samples, sum[1] + weight]);
  };
  const flat = sums => [...sums].sort(([a], [b]) => a - b).flatMap(([event, sum]) => [event, ...sum]);
  for (let i = 0; i < list.length; i += 4) {
    if (!at.has(list[i])) at.set(list[i], new Map());
    add(at.get(list[i]), events[list[i + 1]], list[i + 2], list[i + 3]);
    add(weights, events[list[i + 1]], list[i + 2], list[i + 3]);
  }
  for (let i = 0; i < one.weights.length; i += 3) add(weights, one.weights[i], 0, 0);
  events.forEach((event, i) => add(totals, event, all[2 * i], all[2 * i + 1]));
  const lines = one.lines.map(line => [...line.slice(0, 4), at.has(line[0]) ? flat(at.get(line[0])) : [], ...line.slice(5)]);
  return { ...one, lines, weights: flat(weights), totals: flat(totals) };
}
/* A function of the code, with the weights of what is selected. */
function viewedCode(index) {
  const one = codes().list[index];
  if (!one || !isCodePart() || !followsPart()) {
    codeState.partTag = "";
    return one;
  }
  askCodePart(index);
  return codeState.part || one;
}
const totalOfCode = (one, event) => one.totals ? codeWeight(one.totals, event) : data.code.events[event][data.code.counts ? 1 : 2];

/* Of an event of the code, in a list of [event, samples, period, ...]. */
function codeWeight(weights, event, samples = data.code.counts) {
  for (let i = 0; i < weights.length; i += 3) if (weights[i] === event) return weights[i + (samples ? 1 : 2)];
  return 0;
}
/* What it has samples of, the event that is looked at first. */
function eventsOfCode(one) {
  const now = codes().events[state.event], found = [];
  for (let i = 0; i < one.weights.length; i += 3) found.push(one.weights[i]);
  return found.sort((a, b) => (b === now) - (a === now) || a - b);
}
const wholeOf = (one, event) => state.shares === "all" ? totalOfCode(one, event) : codeWeight(one.weights, event);
function shareCell(one, weights, event) {
  const value = codeWeight(weights, event), samples = codeWeight(weights, event, true), all = wholeOf(one, event) || 1;
  const cell = element("td", { class: value ? "bar" : "bar quiet", style: `--share:${Math.min(100, 100 * value / all).toFixed(2)}%` });
  if (samples) cell.append(element("b", {}, columnPercent(value, all)));
  if (samples) cell.title = `${grouped.format(samples)} samples, ${grouped.format(codeWeight(weights, event, false))} in all`;
  return cell;
}

/* Indexes by weight: of those of a function that is inlined in it, where that was asked for. */
function hottest(one) {
  const event = eventsOfCode(one)[0], label = one.key === state.fn ? "" : labelOfKey(state.fn);
  const isWanted = line => !label || line[2] >= 0 && inlines(one.positions[line[2]], label);
  const wanted = [...one.lines.keys()].filter(i => isWanted(one.lines[i]));
  const heavy = wanted.filter(i => codeWeight(one.lines[i][4], event));
  return heavy.length ? heavy.sort((a, b) => codeWeight(one.lines[b][4], event) - codeWeight(one.lines[a][4], event) || a - b) : wanted;
}
const lineOfCode = one => state.line >= 0 && state.line < one.lines.length ? state.line : hottest(one)[0] || 0;

/* --- rows --- */

const addressOf = (one, line) => (one.base + BigInt(line[0])).toString(16);
const placeText = ({ file, line }) => file ? base(clean(file)) + (line ? ":" + line : "") : "";
/* As it is drawn: the long ones without their arguments. */
function chainText(site, nameOf = name => shorten(name.length > LONG ? withoutArguments(name) : name, LONG)) {
  const words = [];
  for (let i = 0; i + 1 < frameCount(site); i++) {
    const at = placeText(frameOf(site, i + 1));
    words.push(`${nameOf(clean(frameOf(site, i).name || "[unknown]"))}, inlined${at ? " at " + at : ""}`);
  }
  return words.join(" in ");
}
function branchText([taken, mispredicted, reached, cycles, count]) {
  const words = [];
  if (taken) words.push(`taken ${grouped.format(taken)}` + (mispredicted ? ` (${percent(mispredicted, taken)} mispredicted)` : "") +
    (count ? `, ${(cycles / count).toFixed(1)} cycles` : ""));
  if (reached) words.push(`reached ${grouped.format(reached)}`);
  return words.join("; ");
}
const tabless = line => clean((line || "").replace(/\t/g, "    "));
/* Operands that are addresses: within the function without its name, and of long names both ends. */
const LONG_POSITION = 60;
function briefInstruction(text, stays) {
  const [, before, name, offset] = /^(.* )<(.*?)(\+0x[0-9a-f]+)?>$/.exec(text) || [];
  if (name === undefined) return shorten(text, 2 * LONG);
  if (stays && offset) return `${before}<${offset}>`;
  return `${before}<${name.length > LONG_POSITION ? shorten(withoutArguments(name), LONG_POSITION) : name}${offset || ""}>`;
}
/* What it accesses: "struct node +0x14 (in.y)"; "": not known. */
const typeOfLine = (one, line) => line[6] === undefined ? "" : clean((one.types || [])[line[6]] || "");
function partsOfType(label) {
  const [, type, offset, member] = /^(.*) \+(0x[0-9a-f]+|0) \((.*)\)$/.exec(label) || [null, label, "", ""];
  return { type, offset: offset && "+" + offset, member: member === "no field" ? "" : member };
}
function typeWords(label) {
  const { type, offset, member } = partsOfType(label), name = type.length > LONG ? shorten(type, LONG) : type;
  return element("span", { class: "type", title: label }, [name, member || offset !== "+0" && offset].filter(x => x).join(" · "));
}
function instructionRow(one, i, events) {
  const line = one.lines[i], entire = clean(line[1] ?? "no instruction"), text = briefInstruction(entire, line[3] >= 0);
  const cell = element("td", {}, element("code", text === entire ? {} : { title: entire }, text));
  if (line[3] >= 0) {
    const jump = element("button", { type: "button", class: "link", tabindex: -1 }, "→ " + addressOf(one, one.lines[line[3]]));
    jump.addEventListener("click", () => chooseLine(line[3]));
    cell.append(" ", jump);
  }
  if (line[5]) cell.append(element("span", { class: "quiet" }, "  " + branchText(line[5])));
  if (typeOfLine(one, line)) cell.append(" ", typeWords(typeOfLine(one, line)));
  const row = element("tr", { tabindex: -1 }, ...events.map(event => shareCell(one, line[4], event)),
    element("td", { class: "address" }, addressOf(one, line)), cell);
  row.line = i;
  return row;
}
function sourceRows(one, i, events) {
  const [, , at] = one.lines[i], site = one.positions[at], rows = [];
  if (data.noSource || at < 0 || i && one.lines[i - 1][2] === at) return rows;
  const row = (kind, ...content) => rows.push(element("tr", { class: kind }, element("td", { colspan: events.length + 1 }), element("td", {}, ...content)));
  const where = placeText(frameOf(site, 0));
  if (frameCount(site) > 1) row("chain", element("span", { title: chainText(site, name => name) }, chainText(site)));
  if (where) row("source", element("span", { class: "quiet" }, where), " ", element("code", {}, tabless(site[0])));
  return rows;
}
function moreRow(count, step, events) {
  const row = element("tr", { class: "quiet", tabindex: -1 }, element("td", { colspan: events.length + 2 },
    `${grouped.format(count)} ${step < 0 ? "instructions before" : "more instructions"}: Enter or a click lists them`));
  row.more = step;
  return row;
}
function instructionRows(one, events) {
  const { from, to } = codeState, made = [];
  if (from) made.push(moreRow(from, -1, events));
  for (let i = from; i < to; i++) made.push(...sourceRows(one, i, events), instructionRow(one, i, events));
  if (to < one.lines.length) made.push(moreRow(one.lines.length - to, 1, events));
  return made;
}
/* Inlined code counts for the line that it was written in. */
function addSums(sums, weights) {
  for (let k = 0; k < weights.length; k += 3) {
    const at = sums.findIndex((value, n) => n % 3 === 0 && value === weights[k]);
    if (at < 0) sums.push(...weights.slice(k, k + 3));
    else for (const n of [1, 2]) sums[at + n] += weights[k + n];
  }
}
function sourceLines(one, event) {
  const known = new Map();
  one.lines.forEach((line, i) => {
    const site = line[2] < 0 ? null : one.positions[line[2]], { file, line: number } = site && frameCount(site) ? frameOf(site, 0) : {};
    const id = file ? file + "\n" + number : "", found = known.get(id) || { file: file || "", number: file ? number : 0, text: site && site[0], sums: [], first: i };
    addSums(found.sums, line[4]);
    known.set(id, found);
  });
  const files = new Map();
  for (const { file, sums } of known.values()) files.set(file, (files.get(file) || 0) + codeWeight(sums, event));
  return [...known.values()].sort((a, b) => a.file === b.file ? a.number - b.number : files.get(b.file) - files.get(a.file) || (a.file < b.file ? -1 : 1));
}
function lineRows(one, events) {
  return sourceLines(one, events[0]).map(({ file, number, text: source, sums, first: at }) => {
    const row = element("tr", { tabindex: -1 }, ...events.map(event => shareCell(one, sums, event)),
      element("td", { class: "address", title: clean(file) }, placeText({ file, line: number }) || "not known"), element("td", {}, element("code", {}, tabless(source))));
    row.line = at;
    row.source = true;
    return row;
  });
}
/* Types and members with samples, the heaviest first; each with its heaviest instruction. */
function typeSums(one, event) {
  const known = new Map();
  one.lines.forEach((line, i) => {
    if (!line[4].length) return;
    const label = typeOfLine(one, line), found = known.get(label) || { label, sums: [], first: i };
    if (codeWeight(line[4], event) > codeWeight(one.lines[found.first][4], event)) found.first = i;
    addSums(found.sums, line[4]);
    known.set(label, found);
  });
  return [...known.values()].sort((a, b) => codeWeight(b.sums, event) - codeWeight(a.sums, event) || (a.label < b.label ? -1 : 1));
}
function typeRows(one, events) {
  return typeSums(one, events[0]).map(({ label, sums, first: at }) => {
    const { type, offset, member } = partsOfType(label);
    const row = element("tr", { tabindex: -1 }, ...events.map(event => shareCell(one, sums, event)), element("td", { class: "address" }, offset),
      label ? element("td", { title: label }, element("code", {}, shorten(type, 2 * LONG)), member && element("span", { class: "type" }, " · " + member))
        : element("td", { title: "No access to memory, or its type is not known" }, "no type"));
    row.line = at;
    row.source = true;
    row.type = label;
    return row;
  });
}
const LISTINGS = {
  instructions: { rows: instructionRows, head: ["Address", "Instruction"], caption: "Instructions" },
  lines: { rows: lineRows, head: ["Line", "Source"], caption: "Source lines" },
  types: { rows: typeRows, head: ["Offset", "Type and member"], caption: "Types of the data" },
};
function codeHead(events) {
  const names = events.map(event => element("th", { scope: "col" }, clean(data.code.events[event][0])));
  return element("tr", {}, ...names, element("th", { scope: "col", class: "address" }, LISTINGS[state.listing].head[0]),
    element("th", { scope: "col" }, LISTINGS[state.listing].head[1]));
}

function codeText() {
  const one = shownCode(), events = eventsOfCode(one), names = events.map(event => clean(data.code.events[event][0]));
  const weights = list => events.map(event => codeWeight(list, event));
  if (state.listing === "lines")
    return csv([...names, "file", "line", "source"], sourceLines(one, events[0]).map(({ file, number, text: source, sums }) => [...weights(sums), clean(file), number || "", tabless(source)]));
  if (state.listing === "types")
    return csv([...names, "type", "offset", "member"], typeSums(one, events[0]).map(({ label, sums }) => [...weights(sums), ...Object.values(partsOfType(label))]));
  return csv([...names, "address", "instruction", "position", "data type"], one.lines.map(line => {
    const site = line[2] < 0 ? null : one.positions[line[2]];
    return [...weights(line[4]), addressOf(one, line), clean(line[1] ?? ""), site && frameCount(site) ? placeText(frameOf(site, 0)) : "", typeOfLine(one, line)];
  }));
}

/* --- words --- */

const sentence = words => words.charAt(0).toUpperCase() + words.slice(1) + ".";
/* Why there is none of the function. */
function noCode() {
  const label = state.fn >= 0 ? labelOf(state.fn) : "", { left } = data.code;
  if (!codes().list.length) return "No function with samples has a symbol.";
  if (state.fn >= 0 && query.describe(data, state.fn).type !== "function") return `${label} is not a function.`;
  return `The page does not contain the code of ${label}: it has no symbol, or none of its own samples` + (left ? ", or is among those left out." : ".");
}
/* The number that the report's row has. */
function shareWords(one) {
  const [event] = eventsOfCode(one);
  if (event === undefined) return "";
  return `: the function has ${percent(codeWeight(one.weights, event), totalOfCode(one, event))} of ${clean(data.code.events[event][0])}`;
}
function codeNotes(one) {
  const words = [], { left, limits } = data.code, { list } = codes();
  if (!one) words.push(noCode());
  else if (one.missing) words.push("No instructions: " + sentence(one.missing));
  if (one && one.key !== state.fn && state.fn >= 0) words.push(`${labelOf(state.fn)} is inlined here.`);
  if (one && isCodePart() && !followsPart())
    words.push("Shares are of the complete recording, not of the selection: the page does not have the addresses of single samples.");
  else if (one) words.push(`Shares are of ${one.totals ? "what is selected" : "the complete recording"}, with what is inlined${shareWords(one)}.`);
  if (data.compares) words.push("Code and shares are of the later recording.");
  if (left)
    words.push(`${grouped.format(left)} of ${grouped.format(left + list.length)} functions with samples are left out: the page has the ` +
      `${grouped.format(limits[0])} heaviest, as far as they fit into ${grouped.format(limits[1])} bytes.`);
  return words.join(" ");
}
function describeLine(one, row) {
  const line = one.lines[row.line], site = line[2] < 0 ? null : one.positions[line[2]], events = eventsOfCode(one);
  const weights = events.map(event => {
    const value = codeWeight(line[4], event);
    return value ? `${percent(value, codeWeight(one.weights, event))} of the function's ${clean(data.code.events[event][0])}` : "";
  }).filter(x => x);
  const where = site && frameCount(site) ? [chainText(site), placeText(frameOf(site, 0))].filter(x => x).join(" · ") : "";
  const title = row.type !== undefined ? row.type || "not known" : row.source ? where || "not known" : `${addressOf(one, line)}: ${clean(line[1] ?? "")}`;
  $("details").replaceChildren(element("b", {}, title), row.source || !typeOfLine(one, line) ? "" : " " + typeOfLine(one, line),
    row.source || !weights.length ? "" : " " + weights.join(", "), element("br", {}), element("span", { class: "quiet" }, row.source ? one.label : where || one.label));
}

/* --- the view --- */

/* The rows around the chosen one, unless it is among those that are listed. */
function chooseWindow(one, line, anew) {
  if (!anew && line >= codeState.from && line < codeState.to) return;
  codeState.from = Math.max(0, line - CODE_ROWS / 2);
  codeState.to = Math.min(one.lines.length, codeState.from + CODE_ROWS);
}
function fillCodeTable(one) {
  const events = eventsOfCode(one), { rows: make, caption } = LISTINGS[state.listing], rows = make(one, events);
  $("code").tHead.replaceChildren(codeHead(events));
  $("code").tBodies[0].replaceChildren(...rows);
  $("code").caption.textContent = `${caption} of ${one.label}`;
}
function showJumps(one, line) {
  for (const row of $("code").tBodies[0].rows) {
    const at = row.line === undefined || row.source ? null : one.lines[row.line];
    row.classList.toggle("joined", !!at && row.line !== line && (at[3] === line || one.lines[line][3] === row.line));
  }
}
/* In the list of source lines, the row of its line. */
function rowOfLine(one, line) {
  const rows = [...$("code").tBodies[0].rows];
  const site = i => one.lines[i][2] < 0 ? "" : one.positions[one.lines[i][2]].slice(2, 4).join();
  const isSame = row => row.type !== undefined ? row.type === typeOfLine(one, one.lines[line]) : site(row.line) === site(line);
  return rows.find(row => row.line === line) || rows.find(row => row.source && isSame(row)) || rows.find(row => row.line !== undefined);
}
function markLine(one, line) {
  const chosenRow = rowOfLine(one, line);
  for (const row of $("code").querySelectorAll("tbody tr[tabindex]")) {
    row.tabIndex = row === chosenRow ? 0 : -1;
    row.setAttribute("aria-selected", row === chosenRow);
  }
  if (state.listing === "instructions") showJumps(one, line);
  if (chosenRow) describeLine(one, chosenRow);
  return chosenRow;
}
function showCode() {
  const index = codeIndex(), one = viewedCode(index), body = $("code").tBodies[0], hadFocus = body.contains(document.activeElement);
  $("codefn").value = index;
  $("codename").textContent = one ? one.label : "No code";
  $("codename").title = one ? `${one.label}\n${one.path}` : "";
  $("codenote").textContent = codeNotes(one);
  $("listing").value = state.listing;
  $("shares").value = state.shares;
  $("code").hidden = !one;
  if (!one) {
    codeState.drawn = "";
    $("details").textContent = "";
    return;
  }
  const line = lineOfCode(one), drawn = [index, state.fn].join();
  chooseWindow(one, line, codeState.drawn.split(";")[0] !== drawn);
  const wanted = [drawn, state.listing, state.shares, state.event, codeState.from, codeState.to, one.totals ? codeState.partTag : ""].join(";"), anew = codeState.drawn !== wanted;
  codeState.drawn = wanted;
  if (anew) fillCodeTable(one);
  const row = markLine(one, line);
  if (anew && row) $("code").parentNode.scrollTop = row.offsetTop - $("code").parentNode.clientHeight / 2;
  if (anew && hadFocus && row) row.focus();
}
const shownCode = () => viewedCode(codeIndex());
function chooseLine(line) {
  change({ line }, "replace");
  const row = $("code").querySelector("tbody tr[tabindex='0']");
  if (row) row.focus();
}
function listMoreCode(step) {
  const one = shownCode(), last = step < 0 ? codeState.from - 1 : codeState.to;
  codeState.from = step < 0 ? Math.max(0, codeState.from - CODE_ROWS) : codeState.from;
  codeState.to = step < 0 ? codeState.to : Math.min(one.lines.length, codeState.to + CODE_ROWS);
  chooseLine(last);
}
function openCode(group) {
  if (!data.code || group < 0) return;
  change({ view: "code", fn: group, code: -1, line: -1 });
  (!$("code").hidden && $("code").querySelector("tbody tr[tabindex='0']") || $("codename")).focus();
  say($("code").hidden ? $("codenote").textContent : `Code of ${$("codename").textContent}`);
}
const isFunction = group => group >= 0 && about(group).type === "function";
function codeLink(group) {
  if (!data.code || !isFunction(group)) return [];
  const link = element("button", { type: "button", class: "link" }, "code");
  link.addEventListener("click", () => openCode(group));
  return [" ", link];
}
const codeItems = target => data.code && isFunction(target.group) ? [menuItem({ key: "a", text: "Code" }, () => openCode(target.group))] : [];

/* --- keys --- */

/* What has the focus, or what was chosen. */
function functionAtFocus() {
  const at = document.activeElement, row = at.closest("tbody tr"), part = [flame, callers, callees].find(one => one.canvas === at);
  if (row && row.group !== undefined) return row.group;
  if (row && row.node) return shown.tree.group[row.node];
  const graph = part || (state.view === "flame" && at === document.body ? flame : null);
  if (graph && graph.tree) return graph.tree.group[graph.selected];
  return isUsed(state.fn) ? state.fn : -1;
}
function codeKey(e) {
  if (e.ctrlKey || e.altKey || e.metaKey || e.defaultPrevented || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  const row = e.target.closest("#functions tbody tr, #report tbody tr");
  if (document.querySelector("dialog[open]") || state.view === "code" || !(e.key === "a" || e.key === "Enter" && row)) return;
  const group = functionAtFocus();
  if (group < 0) return;
  openCode(group);
  e.preventDefault();
}
/* The next or previous one by weight. */
function nextHot(one, step) {
  const list = hottest(one), at = list.indexOf(lineOfCode(one));
  return list[step ? Math.max(0, Math.min(list.length - 1, at < 0 ? 0 : at + step)) : 0] ?? 0;
}
function codeRowKey(e) {
  const row = moveRow(e), one = shownCode(), page = 20;
  if (!row || !one) return;
  if (e.key === "Enter" && row.more) listMoreCode(row.more);
  else if (e.key === "Enter" && !row.source && one.lines[row.line][3] >= 0) chooseLine(one.lines[row.line][3]);
  else if (e.key === "Enter" && row.source) change({ listing: "instructions", line: row.line });
  else if (e.key === "Home") chooseLine(0);
  else if (e.key === "End") chooseLine(one.lines.length - 1);
  else if (e.key === "PageDown" || e.key === "PageUp") chooseLine(Math.max(0, Math.min(one.lines.length - 1, lineOfCode(one) + (e.key === "PageUp" ? -page : page))));
  else if ("Hn".includes(e.key) || e.key === "N") chooseLine(nextHot(one, { H: 0, n: 1, N: -1 }[e.key]));
  else return;
  e.preventDefault();
}
/* Arrows pass over rows of source. */
function skipSource(e) {
  const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[e.key], row = step && e.target.closest("tbody tr");
  if (!row || e.ctrlKey || e.altKey || e.metaKey) return;
  let next = row[step];
  while (next && !next.hasAttribute("tabindex")) next = next[step];
  if (next) next.focus();
  e.preventDefault();
  e.stopImmediatePropagation();
}

/* A page without code says how one with code is made. */
function noCodeKey(e) {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  if (e.key !== "a" || isTyping || e.ctrlKey || e.altKey || e.metaKey || document.querySelector("dialog[open]")) return;
  $("details").textContent = "This page does not contain code: perfile flame --code --format html makes one that does.";
  say($("details").textContent);
}
function startCode() {
  for (const part of document.querySelectorAll("[data-code]")) if (!data.code) part.remove();
  if (!data.code) {
    document.addEventListener("keydown", noCodeKey);
    return;
  }
  const { left } = data.code;
  const listed = data.code.functions.filter(one => !one.missing).length;
  if (listed) data.facts.push("Code", `Contains the code of ${grouped.format(listed)} function${listed === 1 ? "" : "s"}` + (left ? `; ${grouped.format(left)} are left out.` : "."));
  $("codefn").append(...codes().list.map((one, i) => element("option", { value: i }, shorten(one.label, 70))));
  $("codefn").addEventListener("change", () => {
    const index = +$("codefn").value;
    change({ code: index, fn: codes().list[index].key, line: -1 });
  });
  for (const name of ["listing", "shares"]) $(name).addEventListener("change", () => change({ [name]: $(name).value }));
  $("code").addEventListener("keydown", skipSource);
  $("code").addEventListener("keydown", codeRowKey);
  $("code").addEventListener("click", e => {
    const row = e.target.closest("tbody tr[tabindex]");
    if (row && row.more) listMoreCode(row.more);
    else if (row && !e.target.closest("button")) row.focus();
  });
  $("code").addEventListener("focusin", e => {
    const row = e.target.closest("tbody tr");
    if (row && row.line !== undefined && row.line !== state.line) change({ line: row.line }, "replace");
  });
  $("functions").addEventListener("dblclick", e => {
    const row = e.target.closest("tbody tr");
    if (row && row.group !== undefined) openCode(row.group);
  });
  document.addEventListener("keydown", codeKey);
}
