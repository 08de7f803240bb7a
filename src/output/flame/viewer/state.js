/* SPDX-License-Identifier: MIT */
/*
 * What is looked at: one object that never changes, and the fragment of the URL in other words. Views are made from it; what
 * a view wants to be otherwise goes through change(), which is a step of the browser's history.
 */
const BY = { alike: ["alike"], name: ["comm"], apart: ["thread"], process: ["process"], cpu: ["cpu"], waker: ["waker", "alike"], one: [] };
const LEVELS = { comm: "comm", tid: "thread", pid: "process", cpu: "cpu", time: "time" };
const SAME = { "": "alike", none: "one", comm: "name", tid: "apart", pid: "process", cpu: "cpu" };
const isOff = measure => measure !== "weight" && measure !== "both", addsUp = event => data.events[event].unit === "ns";
function measureAtFirst() {
  const { measure = "weight" } = data;
  return !data.weighsIntervals ? "weight" : measure === "both" && !addsUp(data.event) ? "all" : measure;
}
const first = Object.freeze({ view: data.branches ? "branches" : data.report ? "report" : "flame", event: data.event, threads: SAME[data.by] || data.by,
  stacks: data.reverse ? "callers" : "callees", order: "weight", colour: data.compares ? "own" : "kind", widths: "now",
  normalize: data.normalized, flip: false, time: null, measure: measureAtFirst(), search: "", fn: -1, sort: data.compares ? "change" : "self", up: false,
  timeBefore: null, pick: [], cpus: [], processes: [], window: null, byDay: false, thread: -1, cpu: -1, column: 0, keys: "", by: -1, branchBy: -1, branchUp: false, memoryBy: "source", code: -1, line: -1, listing: "instructions",
  shares: "function", transforms: [], zoom: [], ...data.opens });

/* How each stands in the URL, and what is read from there: undefined is as if it were not there. */
const list = { write: values => values.join("."), read: text => {
  const values = text.split(".").map(Number);
  return values.every(value => Number.isInteger(value) && value >= -1 && value < 2 ** 31) ? values : undefined;
} };
const word = (...words) => ({ write: String, read: text => words.includes(text) ? text : undefined });
const flag = { write: value => value ? 1 : 0, read: text => text === "1" ? true : text === "0" ? false : undefined };
const number = { write: String, read: text => /^\d{1,9}$/.test(text) ? +text : undefined };
const range = { write: ([from, to]) => `${+from.toFixed(1)}-${+to.toFixed(1)}`, read: text => {
  const [, from, to] = text.match(/^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/) || [];
  return +from < +to ? [+from, +to] : undefined;
} };
const TRANSFORMS = ["focus", "drop", "collapse", "merge", "recursion", "modules", "templates", "subtree", "only", "without"];
/* These are filters of samples, which all views have; the others change stacks. */
const isFilter = ({ type }) => type === "only" || type === "without";
const isValid = search => { try { return !!query.finder(search); } catch { return false; } };
const REPORT_NAMES = ["comm", "tgid", "pid", "tid", "cpu", "time", "dso", "symbol"];
function searchStep(type, encoded) {
  try {
    const search = decodeURIComponent(encoded);
    return isValid(search) ? { type, search } : null;
  } catch {
    return null;
  }
}
const transformList = {
  write: steps => steps.map(({ type, key, module, path, inverted, search }) => type + (search !== undefined ? "=" + encodeURIComponent(search) : "") + (key !== undefined ? "!" + key : "") +
    (module !== undefined ? "~" + module : "") + (path ? (inverted ? "-" : "_") + path.join(".") : "")).join(","),
  read: text => {
    const steps = text.split(",").map(one => {
      const [, type, sign, rest] = one.match(/^([a-z]+)(?:(=)(.+)|([!~_-])([-\d.]*))?$/)?.filter(part => part !== undefined) || [];
      if (!TRANSFORMS.includes(type) || isFilter({ type }) && sign !== "=") return null;
      if (sign === "=") return searchStep(type, rest);
      if (sign === "!") return { type, key: +rest || 0 };
      if (sign === "~") return { type, module: +rest || 0 };
      return sign ? { type, path: list.read(rest) || [], ...(sign === "-" ? { inverted: true } : {}) } : { type };
    });
    return steps.every(step => step && (step.type !== "subtree" || step.path)) ? steps : undefined;
  },
};
const fields = { view: word("branches", "report", "flame", "table", "tree", "tracks", "chart", "heat", "memory", "code"), event: number, threads: { write: String,
  read: text => BY[text] || text.split(",").every(level => LEVELS[level]) ? text : undefined },
  stacks: word("callers", "callees"), order: word("weight", "name"), colour: word("own", "whole", "kind", "module"),
  widths: word("now", "before"), normalize: flag, flip: flag, time: range, timeBefore: range, measure: word("weight", "blocked", "preempted", "all", "both"), search: { write: String, read: String }, fn: number, sort: word("self", "total", "change", "name", "module"), up: flag,
  pick: list, cpus: list, processes: list, window: range, byDay: flag, thread: number, cpu: number, column: { write: String, read: text => /^\d{1,12}$/.test(text) ? +text : undefined }, 
  keys: { write: String, read: text => text.split(",").every(name => REPORT_NAMES.includes(name)) ? text : undefined }, by: number, branchBy: number, branchUp: flag, memoryBy: word("source", "function", "line"),
  code: number, line: number, listing: word("instructions", "lines", "types"), shares: word("function", "all"), transforms: transformList, zoom: list };

const written = (name, from) => from[name] === null ? "" : String(fields[name].write(from[name]));
function toHash(from) {
  const words = new URLSearchParams();
  for (const name in fields) if (written(name, from) !== written(name, first)) words.set(name, written(name, from));
  return "#" + words;
}
function fromHash(hash) {
  const made = { ...first };
  for (const [name, text] of new URLSearchParams(hash.slice(1))) {
    const value = Object.hasOwn(fields, name) ? text === "" ? first[name] : fields[name].read(text) : undefined;
    if (value !== undefined) made[name] = value;
  }
  if (made.event >= data.events.length) made.event = first.event;
  if (made.time && !data.buckets) made.time = null;
  if (!data.compares) made.timeBefore = null;
  if (made.view === "code" && !data.code || made.view === "report" && !data.report || made.view === "branches" && !data.branches ||
    made.view === "memory" && !data.memory) made.view = first.view;
  if (!data.weighsIntervals || made.measure === "both" && !addsUp(made.event)) made.measure = first.measure === "both" ? "all" : first.measure;
  return exact(made);
}

/* How samples of a recording were joined: they have the times of slices, and so has a range that is chosen. */
function sliceOf(side) {
  const slice = data.samples.slices?.[side];
  return slice && slice.width ? slice : null;
}
function inSlices(time, slice) {
  if (!time || !slice) return time;
  const { width, from, end } = slice, near = t => Math.max(0, Math.min(end, from + Math.round((t - from) / width) * width));
  const [a, b] = time.map(near);
  return a < b ? [a, b] : [a, Math.min(end, a + width)];
}
const exact = made => Object.freeze({ ...made, time: inSlices(made.time, sliceOf(0)), timeBefore: inSlices(made.timeBefore, sliceOf(1)) });

/* A page that was saved opens as it was then. */
if (!location.hash && typeof keptPage.saved.hash === "string") replaceUrl(toHash(fromHash(keptPage.saved.hash)));
let state = fromHash(location.hash);

/* `how`: "push" (the default), "replace" for what is not a step of its own, "quiet" as long as something is dragged. */
function change(what, how = "push") {
  const before = state;
  state = exact({ ...state, ...what });
  if (how !== "quiet") keepInUrl(how);
  render(before);
}
function keepInUrl(how) {
  const hash = toHash(state), url = hash === "#" ? location.pathname + location.search : hash;
  if (hash !== (location.hash || "#")) replaceUrl(location.protocol === "file:" && hash === "#" ? "#" : url, how === "push" ? "pushState" : "replaceState");
}
function replaceUrl(url, how = "replaceState") {
  try {
    history[how](null, "", url);
  } catch {
    /* Some browsers refuse too many steps, and steps of pages in frames. */
  }
}
function goToHash(hash) {
  const before = state;
  state = fromHash(hash);
  render(before);
}
addEventListener("popstate", () => goToHash(location.hash));

const same = (a, b, ...names) => names.every(name => a[name] === b[name] || written(name, a) === written(name, b));
