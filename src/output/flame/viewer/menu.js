/* SPDX-License-Identifier: MIT */
/* What can be done with a frame: transforms, the same as in the Firefox Profiler and with its keys, and what can be copied. */
const actions = [
  { key: "f", text: "Focus on function", of: ({ key }) => ({ type: "focus", key }) },
  { key: "F", text: "Focus on subtree", of: ({ path, turned }) => ({ type: "subtree", path, ...(turned ? { inverted: true } : {}) }) },
  { key: "m", text: "Merge function into its callers", of: ({ key }) => ({ type: "merge", key }) },
  { key: "c", text: "Collapse what it calls", of: ({ key }) => ({ type: "collapse", key }) },
  { key: "r", text: "Collapse its recursion", of: ({ key }) => ({ type: "recursion", key }) },
  { key: "C", text: "Collapse its module", of: ({ module }) => module >= 0 ? { type: "modules", module } : null },
  { key: "d", text: "Drop samples with it", of: ({ key }) => ({ type: "drop", key }) },
];
const copies = [
  { key: "", text: "Copy name", act: ({ group }) => copy(labelOf(group)) },
  { key: "", text: "Copy stack", act: ({ tree, node }) => copy(stackNames(tree, node).reverse().join("\n")) },
  { key: "", text: "Copy folded stacks", act: ({ tree, node }) => askFolded(tree, node, copy) },
  { key: "", text: "Copy link", act: () => copy(location.href) },
];

const functionKey = (key, type = query.describe(data, key).type) => type === "function" || type === "module";
function targetOf(tree, node) {
  const group = tree.group[node];
  if (group < 0 || !functionKey(group)) return { tree, node, group };
  const path = pathOf(tree, node).filter(key => functionKey(key)), { type, index } = about(group);
  return { tree, node, group, key: group, path, turned: tree.turned,
    module: type === "module" ? index : data.functions.module[index] };
}
function transform(step) {
  if (step) change({ transforms: [...state.transforms, step], zoom: [] });
}
/* True when it was a key of a transform. */
function transformKey(e, tree, node) {
  const action = actions.find(action => action.key === e.key), target = action && node > 0 ? targetOf(tree, node) : null;
  if (!target || target.key === undefined || e.ctrlKey || e.altKey || e.metaKey) return false;
  transform(action.of(target));
  e.preventDefault();
  return true;
}
function transformWords({ type, key, module, path, search }) {
  if (search !== undefined) return searchWords(type, search);
  const named = key === undefined ? "" : about(key).label;
  const what = shorten(withoutArguments(shorter.get(named) || named), 50);
  return { focus: `Only ${what}`, drop: `Without ${what}`, collapse: `${what} collapsed`, merge: `${what} merged`,
    recursion: `Recursion of ${what || "all"} collapsed`, modules: module === undefined ? "Modules collapsed" : `${base(text(module))} collapsed`,
    templates: "Templates joined", subtree: `Subtree of ${path && path.length ? path.length + " frames" : "all"}` }[type];
}

const searchWords = (type, search) => ({ only: `Only stacks with “${search}”`, without: `Without stacks with “${search}”`, focus: `Stacks from “${search}” on`,
  merge: `“${search}” hidden` })[type] || `${type} “${search}”`;

/* --- copies --- */

const stackNames = (tree, node) => {
  const names = [];
  for (; node > 0; node = tree.parent[node]) names.push(labelOf(tree.group[node]));
  return names.reverse();
};
const askFolded = (tree, node, then) =>
  ask("folded", "folded", { id: shown.treeId, of: tree.of || "main", node }, lines => lines !== null && then(lines));
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    /* Pages of files may not; this they may. */
    const box = element("textarea", { class: "hear" });
    box.value = text;
    (document.querySelector("dialog[open]") || document.body).append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
  say("copied");
}

/* --- the menu --- */

function menuItem({ key, text }, act) {
  const button = element("button", { type: "button", role: "menuitem", tabindex: -1 }, text);
  if (key) button.append(element("kbd", {}, key));
  button.addEventListener("click", () => { closeMenu(); act(); });
  return button;
}
function openMenu(tree, node, x, y, from) {
  const target = targetOf(tree, node);
  const steps = target.key === undefined ? [] : actions.filter(action => action.of(target));
  const more = target.key === undefined ? [] : [menuItem({ key: "s", text: "Callers and callees" }, () => showFunction(target.group))];
  openItems("What to do with the frame", [...more, ...codeItems(target),
    ...steps.map(action => menuItem(action, () => transform(action.of(target)))),
    ...copies.map(action => menuItem(action, () => action.act(target)))], x, y, from);
}
function openItems(label, items, x, y, from) {
  const menu = $("menu");
  menu.setAttribute("aria-label", label);
  menu.replaceChildren(...items);
  menu.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = menu;
  menu.style.left = Math.max(0, Math.min(x, innerWidth - width - 4)) + "px";
  menu.style.top = Math.max(0, Math.min(y, innerHeight - height - 4)) + "px";
  shown.menuFor = from;
  menu.firstChild.focus();
}
function closeMenu() {
  if ($("menu").hidden) return;
  $("menu").hidden = true;
  if (!shown.menuFor) return;
  /* Rows are made anew: then the one that has their position in the order of Tab. */
  if (shown.menuFor.isConnected) shown.menuFor.focus(); else focusView();
}
$("menu").addEventListener("keydown", e => {
  const items = [...$("menu").children], at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[e.key];
  if (to !== undefined) items.at(to % items.length).focus();
  else if (e.key === "Escape" || e.key === "Tab") closeMenu();
  else {
    const byKey = items.find(item => item.querySelector("kbd")?.textContent === e.key);
    if (!byKey) return;
    byKey.click();
  }
  e.preventDefault();
  e.stopPropagation();
});
addEventListener("pointerdown", e => { if (!$("menu").contains(e.target)) $("menu").hidden = true; });
