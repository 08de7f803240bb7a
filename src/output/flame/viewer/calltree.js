/* SPDX-License-Identifier: MIT */
const opened = new Set(), LISTED = 100, MORE = 400, MOST_ROWS = 5000;
const listed = new Map(); /* by caller: how many callees */
function showTree() {
  const body = $("tree").tBodies[0], made = [], tree = shownTree;
  let full = false;
  const words = text => {
    const row = element("tr", { role: "row", class: "quiet", tabindex: -1 }, element("td", {
      colspan: data.compares ? 5 : 4, role: "gridcell" }, text));
    made.push(row);
    return row;
  };
  const add = (parent, level) => {
    const kids = [...tree.kids.subarray(tree.first[parent], tree.first[parent + 1])]
      .filter(n => tree.total[n] || tree.otherTotal && tree.otherTotal[n])
      .sort((a, b) => isOrdered(tree.group[a]) && isOrdered(tree.group[b]) ? 0 : tree.total[b] - tree.total[a]);
    const most = listed.get(parent) || LISTED;
    kids.slice(0, most).forEach((node, i) => {
      if (made.length >= MOST_ROWS) {
        full = true;
        return;
      }
      const leaf = tree.first[node] === tree.first[node + 1], isOpen = opened.has(node);
      const twist = element("span", { class: "twist", style: `margin-left:${Math.min(level - 1, 40) * 12}px` },
        leaf ? "" : isOpen ? "▾" : "▸");
      const row = element("tr", { role: "row", tabindex: -1, "aria-level": level, "aria-posinset": i + 1,
        "aria-setsize": kids.length }, weightCell(tree.total[node]), weightCell(tree.self[node]),
        ...(data.compares ? changeCells(tree.group[node], tree.change(node, false), tree.change(node, true)) : []),
        nameCell(tree.group[node], twist), moduleCell(tree.group[node]));
      for (const cell of row.cells) cell.setAttribute("role", "gridcell");
      if (!leaf) row.setAttribute("aria-expanded", isOpen);
      row.node = node;
      made.push(row);
      if (isOpen && !leaf) add(node, level + 1);
    });
    if (kids.length > most && !full)
      words(`${grouped.format(kids.length - most)} lighter ones: Enter or a click lists more`).more = parent;
  };
  add(0, 1);
  if (full) words(`Only ${grouped.format(MOST_ROWS)} rows are listed: close some`);
  const hadFocus = body.contains(document.activeElement);
  body.replaceChildren(...made);
  if (made[0]) made[0].tabIndex = 0;
  if (hadFocus) (made[0] || $("tab-tree")).focus();
}
function openHotPath() {
  opened.clear();
  listed.clear();
  const { total } = shownTree;
  for (let node = 0, next; (next = shownTree.heaviest(node)) && (!node || total[next] * 3 >= total[node]); node = next)
    opened.add(next);
}
function focusNode(node) {
  for (const row of $("tree").tBodies[0].rows) {
    row.tabIndex = row.node === node ? 0 : -1;
    if (row.node === node) row.focus();
  }
}
function turn(node, open) {
  if (open) opened.add(node); else opened.delete(node);
  showTree();
  focusNode(node);
}
/* The first of those that come is focused. */
function listMore(row) {
  const at = row.rowIndex;
  listed.set(row.more, (listed.get(row.more) || LISTED) + MORE);
  showTree();
  const next = $("tree").rows[at];
  if (next.node) focusNode(next.node); else next.focus();
}
$("tree").addEventListener("focusin", e => { if (e.target.node) describe(shownTree, e.target.node); });
$("tree").addEventListener("click", e => {
  const row = e.target.closest("tr");
  if (row && row.more !== undefined) listMore(row);
  else if (row && row.node) turn(row.node, !opened.has(row.node));
});
function moveRow(e) {
  const row = e.target.closest("tbody tr");
  const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[e.key];
  if (!row || e.ctrlKey || e.altKey || e.metaKey) return null;
  if (step && row[step]) {
    row.tabIndex = -1;
    row[step].tabIndex = 0;
    row[step].focus();
  }
  if (step) e.preventDefault();
  return step ? null : row;
}
$("tree").addEventListener("keydown", e => {
  const row = moveRow(e);
  if (row && row.more !== undefined && e.key === "Enter") listMore(row);
  if (!row || !row.node) return;
  if (e.key === "ArrowRight" && row.getAttribute("aria-expanded") === "false") turn(row.node, true);
  else if (e.key === "ArrowLeft" && row.getAttribute("aria-expanded") === "true") turn(row.node, false);
  else if (e.key === "ArrowLeft") focusNode(shownTree.parent[row.node]);
  else if (e.key === "Enter" || e.key === " ") turn(row.node, !opened.has(row.node));
  else if (e.key === "s") showFunction(shownTree.group[row.node]);
  else return;
  e.preventDefault();
});
