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
function findMatches() {
  if (!readPattern()) return;
  matched = pattern ? Uint8Array.from(groups, g => pattern.test(g.label) || pattern.test(g.module) ? 1 : 0) : null;
  $("matched").textContent = "";
  if (!matched) return;
  const sum = outermost(g => matched[g]).reduce((a, n) => a + main.total[n], 0);
  $("matched").textContent = (data.cutNodes ? "at least " : "") + `${percent(sum)} matched`;
}
