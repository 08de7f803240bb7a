/* SPDX-License-Identifier: MIT */
const grouped = new Intl.NumberFormat("en-US");
function time(ns) {
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]])
    if (ns >= size) return +(ns / size).toPrecision(4) + " " + unit;
  return ns + " ns";
}
const unit = () => isOff(state.measure) ? "ns" : data.events[state.event].unit;
const weight = value => unit() === "ns" ? time(value) : grouped.format(value);
const withUnit = value => weight(value) + (unit() === "ns" ? "" : " " + unit());
function short(value) {
  for (const [size, sign] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]])
    if (value >= size && unit() !== "ns") return (value / size).toPrecision(4) + " " + sign;
  return weight(value);
}
function percent(value, of = shown.everything) {
  const share = 100 * value / of;
  return (share && share < .01 ? "<0.01" : share.toFixed(share < 10 ? 2 : 1)) + "%";
}
/* Of tables: numbers of a column have one unit, the one that fits all of it, and the same number of decimals. */
const UNITS = [[1e10, 1e9, "s", 3], [1e7, 1e6, "ms", 2], [1e4, 1e3, "µs", 2]], COUNTS = [[1e12, 1e12, "T", 4], [1e9, 1e9, "G", 4], [1e6, 1e6, "M", 3]];
function columnWords(value, most = shown.everything) {
  const [, size, sign, digits] = (unit() === "ns" ? UNITS : COUNTS).find(([least]) => most >= least) || [];
  if (!size) return withUnitOf(value);
  return `${(value / size).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${sign}`;
}
const withUnitOf = value => unit() === "ns" ? value + " ns" : grouped.format(value);
function columnPercent(value, of = shown.everything) {
  const share = 100 * value / of;
  return (share && share < .01 ? "<0.01" : share.toFixed(2)) + "%";
}
/* A change as a share of everything: "+1.25%". */
function signed(change) {
  const share = 100 * change / shown.everything, digits = Math.abs(share) < 10 ? 2 : 1;
  return (+share.toFixed(digits) ? (share < 0 ? "−" : "+") : "±") + Math.abs(share).toFixed(digits) + "%";
}
const labelOf = group => group < 0 ? "all" : about(group).label;
/* The name that folded stacks and SVG have, with short spellings; functions that would be called alike keep their parameters. */
function shortOf(group) {
  if (group < 0) return "all";
  const { label, type } = about(group), short = shorter.get(label) || labels.get(label);
  const name = type !== "function" || !short || namesakes().has(short) ? label : short;
  return name.startsWith("[[") ? name.slice(1, -1) : name;
}
let sharedNames = null;
function namesakes() {
  if (sharedNames) return sharedNames;
  const known = new Map();
  sharedNames = new Set();
  for (const i of new Set(data.functions.name)) {
    const name = shorter.get(text(i)) || labels.get(text(i)) || text(i);
    if (known.has(name)) sharedNames.add(name); else known.set(name, i);
  }
  return sharedNames;
}
/* What stands between brackets is left out, from the second level on where the name begins with one, as Rust's do. */
function withoutArguments(name) {
  const plain = name.replace(/operator(<=>|<<=?|>>=?|->\*?|[<>]=?|\(\))/g, (all, sign) =>
    "operator" + sign.replace(/[<>()]/g, c => String.fromCharCode(0xe000 + c.charCodeAt(0))));
  let made = "", open = "", keeps = plain.startsWith("<") ? 1 : 0;
  for (let i = 0; i < plain.length; i++) {
    const c = plain[i], deep = open.length - keeps;
    if (c === "(" && deep === 0 && /^\((anonymous|lambda|\*)/.test(plain.slice(i, i + 11))) {
      const end = plain.indexOf(")", i);
      if (end < 0) return name;
      made += plain.slice(i, end + 1);
      i = end;
    } else if (c === "<" || c === "(") {
      if (deep < 0) made += c;
      else if (deep === 0) made += c + (")>".includes(plain[i + 1]) ? "" : "…");
      open += c;
    } else if (c === ">" && plain[i - 1] !== "-" || c === ")") {
      if (open.at(-1) !== (c === ">" ? "<" : "(")) return name;
      open = open.slice(0, -1);
      if (open.length - keeps <= 0) made += c;
      if (!open) keeps = 0;
    } else if (deep <= 0) {
      made += c;
    }
  }
  return open ? name : made.replace(/[\ue000-\ue0ff]/g, c => String.fromCharCode(c.charCodeAt(0) - 0xe000));
}
/* The middle is left out: names that begin alike differ in their ends. */
function shorten(text, most) {
  return text.length <= most ? text : text.slice(0, most * .4).replace(/[\ud800-\udbff]$/, "") + "…" +
    text.slice(-most * .6).replace(/^[\udc00-\udfff]/, "");
}
const LONG = 110, briefs = new Map();
function briefOf(group) {
  const entire = shortOf(group);
  let brief = briefs.get(entire);
  if (brief === undefined) briefs.set(entire, brief = withoutArguments(entire));
  return brief;
}
/* What has no symbol is called as its file: "[libstdc++.so.6.0.30]" as "libstdc++", "[kernel.kallsyms]" as "kernel". */
const bareFile = name => name.startsWith("[") ? [name.slice(1, -1), name.slice(1, -1).replace(/\.(so|kallsyms|ko)\b.*$/, "")] : [];
/* For narrow frames: without arguments, then without namespaces, as names differ in their ends. */
function narrower(brief) {
  const bare = brief.replace(/ \[clone .*\]$/, "").replace(/<…>|\(…\)/g, "").replace(/::$/, ""), made = bare === brief ? [] : [bare];
  for (let i = 0, deep = 0; i < bare.length; i++) {
    deep += "<(".includes(bare[i]) ? 1 : ">)".includes(bare[i]) ? -1 : 0;
    if (!deep && bare.startsWith("::", i) && i + 2 < bare.length) made.push(bare.slice(i + 2));
  }
  return made;
}
const namesOf = new Map();
/* The complete name and shorter ones, as drawn where they fit. */
function drawnNames(group) {
  const entire = shortOf(group);
  let names = namesOf.get(entire);
  if (!names) namesOf.set(entire, names = [entire, briefOf(group), ...bareFile(entire), ...narrower(briefOf(group))]);
  return names;
}
function lineOf(group) {
  const entire = shortOf(group);
  return entire.length <= LONG ? entire : shorten(briefOf(group), LONG);
}
function where(group) {
  if (group < 0) return "";
  const g = about(group);
  return [KINDS[g.kind], g.module, g.file && g.file + (g.line ? ":" + g.line : "")].filter(x => x).join(" · ");
}
const say = text => { $("live").textContent = text; };
function element(name, attributes, ...content) {
  const made = document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.append(...content);
  return made;
}
