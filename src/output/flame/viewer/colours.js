/* SPDX-License-Identifier: MIT */
let dark = false, css = {};
const fills = new Map();
function hash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  h = Math.imul(h ^ h >>> 15, 0x85ebca6b);
  return ((h ^ h >>> 13) >>> 0) / 4294967296;
}
/* hue, its range, saturation, lightness */
const PALETTE = [[8, 44, 84, 66], [222, 34, 68, 74], [168, 24, 48, 64], [92, 34, 46, 64], [34, 12, 16, 70],
  [220, 10, 12, 78], [200, 20, 22, 76], [48, 10, 22, 78], [220, 4, 8, 84], [280, 24, 30, 74]];
function colour(kind, at) {
  const [hue, range, full, light] = PALETTE[kind] || PALETTE[4];
  const bright = light - (dark ? 9 : 0) + 5 * (at * 7 % 1);
  return `hsl(${(hue + range * at).toFixed(0)},${dark ? full * .72 : full}%,${bright}%)`;
}
const comparesColours = () => state.colour === "own" || state.colour === "whole";
/* Red is more, blue less; -1 to 1. */
function changeColour(at) {
  const strength = Math.sqrt(Math.min(1, Math.abs(at)));
  return `hsl(${at > 0 ? 4 : 218},${(dark ? 10 + 60 * strength : 95 * strength).toFixed(0)}%,${
    (dark ? 62 - 4 * strength : 90 - 22 * strength).toFixed(0)}%)`;
}
const moduleColour = (module, at) => `hsl(${(360 * hash(module)).toFixed(0)},${dark ? 42 : 62}%,${(dark ? 60 : 70) + 6 * at}%)`;
function fillOfGroup(group) {
  let fill = fills.get(group);
  if (fill) return fill;
  const { kind, label, module } = about(group);
  fill = state.colour !== "module" || kind === KERNEL ? colour(kind, hash(label)) : kind >= THREAD ? colour(kind, 0) : moduleColour(module, hash(label));
  fills.set(group, fill);
  return fill;
}
function fillOf(tree, node) {
  if (!comparesColours()) return fillOfGroup(tree.group[node]);
  const most = tree.turned || state.colour === "whole" ? tree.mostWhole : tree.mostOwn;
  const noise = isNoise(tree.group[node], tree.turned || state.colour === "whole");
  return changeColour(most && !noise ? tree.shownChange(node) / most : 0);
}
/* The heaviest modules, by their own weight. */
const MAX_KEYS = 6;
function moduleKeys() {
  const sums = new Map();
  for (let n = 1; n < shown.main.count; n++) {
    const { type, module, kind } = about(shown.main.group[n]), name = kind === KERNEL ? null : module;
    if (type === "function" && shown.main.self[n]) sums.set(name, (sums.get(name) || 0) + shown.main.self[n]);
  }
  return [...sums].sort((a, b) => b[1] - a[1]).slice(0, MAX_KEYS)
    .map(([module]) => module === null ? [colour(KERNEL, .5), KINDS[KERNEL]] : [moduleColour(module, .5), base(module) || "unknown"]);
}
function keys() {
  if (comparesColours())
    return [[1, "more than before"], [0, data.verdicts ? "same, or unsure" : "as before"], [-1, "less"]].map(([at, text]) => [changeColour(at), text]);
  if (state.colour === "module") return moduleKeys();
  return state.colour === "kind" ? shown.kinds.map(k => [colour(k, .5), KINDS[k]]) : [];
}
function paint() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["back", "text", "quiet", "accent", "hitfill", "tiny", "frame", "line", "bar", "row", "wait", "panel"])
    css[name] = style.getPropertyValue("--" + name).trim();
  fills.clear();
  $("key").replaceChildren(...keys().map(([fill, text]) => element("span", {}, element("i", { style: "background:" + fill }), text)),
    ...(shown.main && shown.main.off && state.view !== "chart" ? [element("span", {}, element("i", { class: "striped" }), "off CPU")] : []));
}
