/* SPDX-License-Identifier: MIT */
/* What is shown, of all views: the last answers to what the state asks for.
 *   main, tree         the tree of roots, and the one that is drawn: main, or turned round; treeId, treeTag, treeState: its number, what was
 *                      asked for it, and its state; askedTag: what was asked for last
 *   ranks, used        of groups by name; 1: this group is in the tree; kinds: that are in it
 *   everything, otherEverything   what is 100 %, of either recording
 *   searched, pattern, matched    what is searched for, "" if it is nothing or not valid; of names; the groups that it finds
 *   rows, listed, chosen, reveals of functions, made when they are looked at; those that are found, in order; the group that callers and callees
 *                      are of, or -1; it gets into view. sandwichOf: whose callers and callees are there
 *   treeRows, treeCount, hotEnd   of the call tree: node, which of how many children, three numbers a row; the end of the path that is open first
 *   report, reportTag, reportList; branchRows, branchTag, branchList   the last answer, what was asked for, the rows
 *   earlier            the recording before as views over time have it
 *   ready, described, menuFor, wasDark   the first picture is there; the view and tree that the footer is about; where the menu was opened; before it was printed */
const shown = { main: null, tree: null, treeId: 0, treeTag: "", treeState: null, askedTag: "", ranks: null, used: new Uint8Array(0), kinds: [],
  everything: 1, otherEverything: 1, searched: "", pattern: null, matched: null, rows: null, listed: [], chosen: -1, reveals: false, sandwichOf: -1,
  treeRows: new Int32Array(0), treeCount: 0, hotEnd: 0, report: null, reportTag: "", reportList: null, branchRows: [], branchTag: "", branchList: null,
  earlier: null, ready: false, described: "", menuFor: null, wasDark: false };

/* A piece of the recording is never as heavy as all of the other: with a range, shares are compared. */
const isPart = () => !!(state.time || state.timeBefore) || [state.pick, state.cpus, state.processes].some(list => list.length);
const isNormalized = () => state.normalize || isPart();
const isUsed = group => group >= 0 && !!shown.used[group];
const inName = (a, b) => shown.ranks[a] - shown.ranks[b];

/* Of several recordings on a side: what is not certain to have changed is noise. */
const VERDICTS = { u: "unsure", s: "same", m: "more", l: "less" };
const verdictsOf = group => group >= 0 && about(group).type === "function"
  ? data.verdicts.map(letters => VERDICTS[letters[about(group).index]]) : [];
const isNoise = (group, entire) => data.verdicts && !/more|less/.test(verdictsOf(group)[entire ? 1 : 0]);
const verdictText = group => verdictsOf(group).map((word, i) => `${i ? "with what it calls" : "itself"} ${word || "–"}`).join(", ");

/* --- what is wanted --- */

/* Whose samples, as a filter. Of two recordings each has its own threads. */
function whoIsWanted(before = false) {
  const { pick, cpus, processes } = state, isOf = thread => thread >= data.ownThreads === before;
  return { ...searchFilters(), ...(pick.length ? { threads: pick.filter(isOf) } : {}), ...(cpus.length ? { cpus } : {}),
    ...(processes.length && !before ? { processes } : {}), ...(data.compares ? { before } : {}) };
}
/* What searches leave, in every view. */
function searchFilters() {
  const of = wanted => state.transforms.filter(({ type }) => type === wanted).map(({ search }) => search), filters = { include: of("only"), exclude: of("without") };
  for (const name in filters) if (!filters[name].length) delete filters[name];
  return filters;
}
const stackSteps = () => state.transforms.filter(step => !isFilter(step));
const levelsOf = threads => BY[threads] || threads.split(",").map(level => LEVELS[level]);
const timed = time => time ? { time } : {};
function askedTree() {
  const { event, measure, order, stacks, time, timeBefore, widths } = state, { before } = data.events[event];
  return { event, mine: { ...whoIsWanted(), ...timed(time) }, theirs: { ...whoIsWanted(true), ...timed(timeBefore) },
    before: before !== undefined ? data.events.length + before : isOff(measure) ? -1 : null, measure, transforms: stackSteps(), by: levelsOf(state.threads), order, stacks,
    normalized: isNormalized(), swapped: widths === "before", totals: hasTotals() };
}

/* --- positions in trees, which are the same in the next one --- */

function pathOf(tree, node) {
  const path = [];
  for (; node > 0; node = tree.parent[node]) path.push(tree.group[node]);
  return path.reverse();
}
/* Returns 0 when the path has no node, or one with nothing in it. */
function findPath(tree, path) {
  let node = 0;
  for (const group of path) {
    let found = 0;
    for (let i = tree.first[node]; !found && i < tree.first[node + 1]; i++)
      if (tree.group[tree.kids[i]] === group) found = tree.kids[i];
    if (!found || !tree.isThere(found)) return 0;
    node = found;
  }
  return node;
}
/* The same where children may not be there yet: then they are made on the way. */
function reach(tree, path, then) {
  for (let n = path.length; n >= 0; n--) {
    const node = findPath(tree, path.slice(0, n));
    if (n && !node) continue;
    if (n === path.length || !tree.waits(node)) return then(n === path.length ? node : 0);
    return withKids(tree, node, made => reach(made, path, then));
  }
}
/* An outermost node of a group in the tree of roots, or 0. */
function firstNode(group) {
  for (let n = 1; n < shown.main.count; n++) if (shown.main.group[n] === group && shown.main.isThere(n)) return n;
  return 0;
}

/* --- children that are not there yet --- */

/* Trees whose children are made as they are looked at: the next one has the same numbers, and more; also than one that came
 * since it was asked for. */
function takeMore(made) {
  if (made && made.of === shown.tree.of) {
    const drawn = flame.tree === shown.tree;
    shown.tree = made;
    if (drawn) flame.grow(made);
  } else if (made && callers.tree && made.of === callers.tree.of) callers.grow(made);
}
function withKids(tree, node, then) {
  if (!tree.waits(node)) return then(tree);
  ask(`more ${tree.of} ${node}`, "more", { id: shown.treeId, of: tree.of, node }, made => {
    takeMore(made);
    if (made) then(made);
  });
}
