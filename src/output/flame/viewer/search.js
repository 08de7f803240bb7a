/* SPDX-License-Identifier: MIT */
/* The search of the state; false when it is no valid expression. */
function readPattern() {
  const box = $("search"), { search: text } = state;
  if (box.value !== text) box.value = text;
  box.removeAttribute("aria-invalid");
  try {
    pattern = text ? new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, "")) ? "" : "i") : null;
  } catch {
    box.setAttribute("aria-invalid", "true");
    pattern = null;
    matched = null;
    $("matched").textContent = "no valid expression";
    return false;
  }
  return true;
}
/* What was found is shown when it is known. */
function findMatches() {
  forget("search");
  if (!readPattern()) return;
  if (!pattern) {
    matched = null;
    $("matched").textContent = "";
    return;
  }
  let later = false;
  ask("search", "search", { source: pattern.source, flags: pattern.flags }, ({ hits, weight }) => {
    matched = hits;
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
