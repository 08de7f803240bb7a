/* SPDX-License-Identifier: MIT */
/* The search of the state; false when it is not a valid expression. */
function readPattern() {
  const box = $("search"), { search: text } = state, valid = isValid(text);
  if (box.value !== text) box.value = text;
  box.removeAttribute("aria-invalid");
  shown.searched = valid && text !== "path:" ? text : "";
  shown.pattern = shown.searched ? query.finder(shown.searched).pattern : null;
  $("searchacts").hidden = !shown.searched || !shown.main;
  if (valid) return true;
  box.setAttribute("aria-invalid", "true");
  shown.matched = null;
  $("matched").textContent = "not a valid expression";
  return false;
}
/* What was found is shown when it is known. */
function findMatches() {
  discard("search");
  if (!readPattern()) return;
  if (!shown.searched) {
    shown.matched = null;
    $("matched").textContent = "";
    return;
  }
  let later = false;
  ask("search", "search", { search: shown.searched }, ({ hits, weight }) => {
    shown.matched = hits;
    $("matched").textContent = (data.cutNodes ? "at least " : "") + `${percent(weight)} matched`;
    if (later) showMatches();
  });
  later = true;
}
function showMatches() {
  for (const part of [flame, callers, callees]) part.later();
  if (state.view === "table") showTable();
  if (state.view === "tree") showTree();
}
/* What is found becomes a filter or a change of stacks, which stands in the breadcrumb. */
for (const button of $("searchacts").children)
  button.addEventListener("click", () => {
    if (shown.searched) change({ transforms: [...state.transforms, { type: button.value, search: shown.searched }], search: "", zoom: [] });
  });
