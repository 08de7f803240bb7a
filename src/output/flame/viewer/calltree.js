/* SPDX-License-Identifier: MIT */
const opened = new Set();
const treeList = new RowList($("tree"), $("view-tree"), () => {});

/* Always by weight, whatever the order of the graph. */
function kidsOf(tree, node) {
  let last = tree.first[node];
  while (last < tree.first[node + 1] && tree.isThere(tree.kids[last])) last++;
  const kids = tree.kids.subarray(tree.first[node], last);
  if (state.order === "weight" && !tree.otherTotal) return kids;
  const { total, group } = tree;
  return kids.slice().sort((a, b) => isOrdered(group[a]) && isOrdered(group[b]) ? inName(group[a], group[b]) : total[b] - total[a] ||
    inName(group[a], group[b]));
}
/* Leaf first, nothing calls a thread; what else waits may have callers. */
const isEnd = group => levelsOf(state.threads).length === 1 && !/function|module/.test(about(group).type);
const isLeaf = (tree, node) => tree.waits(node) ? isEnd(tree.group[node]) : (tree.first[node] === tree.first[node + 1] || !tree.isThere(tree.kids[tree.first[node]]));
/* Triples of node, position and number of siblings. Returned is a node that is open, and whose children are not there yet; or 0. */
function listRows(tree) {
  let unopened = 0;
  let made = new Int32Array(3 * 1024), count = 0;
  const lists = [[kidsOf(tree, 0), 0]];
  while (lists.length && count < MAX_ROWS) {
    const top = lists.at(-1), [kids, at] = top;
    if (at === kids.length) {
      lists.pop();
      continue;
    }
    if (3 * count + 3 > made.length) {
      const larger = new Int32Array(made.length * 2);
      larger.set(made);
      made = larger;
    }
    made.set([kids[at], at + 1, kids.length], 3 * count++);
    top[1]++;
    if (!opened.has(kids[at])) continue;
    if (tree.waits(kids[at])) unopened ||= kids[at];
    else lists.push([kidsOf(tree, kids[at]), 0]);
  }
  shown.treeRows = made;
  shown.treeCount = count;
  return unopened;
}
/* What ends in a node whose callers are not there yet: with threads, all in those and nothing in functions; else it is not known. */
function ownWeight(tree, node) {
  if (!tree.waits(node)) return tree.self[node];
  if (isEnd(tree.group[node])) return tree.total[node];
  return levelsOf(state.threads).length ? 0 : null;
}
function ownCell(tree, node) {
  const own = ownWeight(tree, node);
  return own !== null ? weightCell(own) : element("td", { class: "bar quiet", title: "Known when the row is open" }, element("b", {}, "…"));
}
function treeRow(i) {
  const tree = shown.tree, [node, site, siblings] = shown.treeRows.subarray(3 * i, 3 * i + 3), level = tree.depth[node];
  const leaf = isLeaf(tree, node), isOpen = opened.has(node);
  const twist = element("span", { class: "twist", style: `margin-left:${Math.min(level - 1, 40) * 12}px` },
    leaf ? "" : isOpen ? "▾" : "▸");
  const row = element("tr", { role: "row", tabindex: -1, "aria-level": level, "aria-posinset": site,
    "aria-setsize": siblings }, weightCell(tree.total[node]), ownCell(tree, node),
    ...(data.compares ? changeCells(tree.group[node], tree.change(node, false), tree.change(node, true)) : []),
    nameCell(tree.group[node], twist), moduleCell(tree.group[node]));
  for (const cell of row.cells) cell.setAttribute("role", "gridcell");
  if (!leaf) row.setAttribute("aria-expanded", isOpen);
  row.node = node;
  return row;
}
const placeOfNode = node => {
  for (let i = 0; i < shown.treeCount; i++) if (shown.treeRows[3 * i] === node) return i;
  return -1;
};
function showTree(node = 0) {
  const unopened = listRows(shown.tree);
  const at = node ? placeOfNode(node) : -1;
  $("treefull").hidden = shown.treeCount < MAX_ROWS;
  treeList.fill(shown.treeCount, treeRow, at < 0 ? undefined : at);
  describe(shown.tree, shown.treeCount ? shown.treeRows[3 * treeList.at] : 0);
  if (unopened)
    withKids(shown.tree, unopened, () => {
      if (unopened === shown.hotEnd) openHeaviest(unopened);
      if (state.view === "tree") showTree(shown.treeRows[3 * treeList.at]);
    });
}
function openHotPath() {
  opened.clear();
  treeList.at = shown.hotEnd = 0;
  openHeaviest(0);
}
function openHeaviest(node) {
  const { total } = shown.tree;
  for (let next; (next = shown.tree.heaviest(node)) && (!node || total[next] * 3 >= total[node]); node = next) opened.add(shown.hotEnd = next);
}
function focusNode(node) {
  const at = placeOfNode(node);
  if (at < 0) return;
  treeList.go(at);
  treeList.focus();
}
function turn(node, open) {
  const show = () => {
    if (open) opened.add(node); else opened.delete(node);
    const had = $("tree").contains(document.activeElement);
    showTree(node);
    if (had) treeList.focus();
  };
  if (open) withKids(shown.tree, node, show); else show();
}
$("tree").addEventListener("focusin", e => { if (e.target.node) describe(shown.tree, e.target.node); });
$("tree").addEventListener("click", e => {
  const row = e.target.closest("tr");
  if (!row || !row.node) return;
  treeList.go(row.at);
  row.focus();
  turn(row.node, !opened.has(row.node));
});
$("tree").addEventListener("keydown", e => {
  if (treeList.key(e)) return;
  const row = e.target.closest("tbody tr"), { node } = row || {};
  if (!node || e.ctrlKey || e.altKey || e.metaKey) return;
  if (e.key === "ArrowRight" && row.getAttribute("aria-expanded") === "false") turn(node, true);
  else if (e.key === "ArrowLeft" && row.getAttribute("aria-expanded") === "true") turn(node, false);
  else if (e.key === "ArrowLeft") focusNode(shown.tree.parent[node]);
  else if (e.key === "Enter" || e.key === " ") turn(node, !opened.has(node));
  else if (e.key === "s") showFunction(shown.tree.group[node]);
  else return;
  e.preventDefault();
});
