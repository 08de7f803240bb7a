/* SPDX-License-Identifier: MIT */
function search(text) {
  const box = $("search");
  if (box.value !== text) box.value = text;
  box.removeAttribute("aria-invalid");
  try {
    state.pattern = text ? new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, "")) ? "" : "i") : null;
  } catch (error) {
    box.setAttribute("aria-invalid", "true");
    $("matched").textContent = "no valid expression";
    return;
  }
  findMatches();
  if (state.view === "table") showTable();
  if (state.view === "tree") showTree();
  for (const part of [flame, callers, callees]) part.later();
}
function findMatches() {
  const { pattern } = state;
  matched = pattern ? Uint8Array.from(groups, g => pattern.test(g.label) || pattern.test(g.module) ? 1 : 0) : null;
  $("matched").textContent = "";
  if (!matched) return;
  const sum = outermost(g => matched[g]).reduce((a, n) => a + main.total[n], 0);
  $("matched").textContent = (data.events[state.event].cutNodes ? "at least " : "") + `${percent(sum)} matched`;
}
