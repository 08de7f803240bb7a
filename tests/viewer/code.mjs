// SPDX-License-Identifier: MIT
// The code of functions, and the rows of reports, in a real browser: node code.mjs PATH_OF_MADE [FOLDER_FOR_PICTURES]
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "./browser.mjs";
import { check, equal, findBrowser, finish, like } from "./checks.mjs";

const SHIFT = 8;
const [made, pictures] = process.argv.slice(2);
const program = findBrowser();
const folder = mkdtempSync(join(tmpdir(), "perfile-code-"));
function make(form, stacks) {
  const path = join(folder, `${form}-${stacks}.html`);
  writeFileSync(path, execFileSync(made, [form, String(stacks)], { maxBuffer: 1 << 28 }));
  return "file://" + path;
}

const hash = page => page.evaluate("decodeURIComponent(location.hash)");
const rowAtFocus = page => page.evaluate("[...(document.activeElement.cells || [])].map(cell => cell.textContent).join(' | ')");
const rowsOf = (page, table) => page.evaluate(`[...document.querySelectorAll('${table} tbody tr:not(.gap)')].map(row => [...row.cells].map(c => c.textContent))`);
const go = async (page, where) => {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(where || "#")}); dispatchEvent(new PopStateEvent("popstate"))`);
  await page.settle();
};
const press = async (page, ...keys) => {
  for (const key of keys) await page.key(key);
  await page.settle();
};

/* Shares add up, in the complete list and in that of source lines. */
async function testShares(page) {
  const sum = rows => rows.reduce((all, row) => all + (parseFloat(row[0]) || 0), 0);
  await go(page, "#view=code");
  const rows = (await rowsOf(page, "#code")).filter(row => row.length === 4);
  check("the instructions have all of the function", Math.abs(sum(rows) - 100) < 0.2, sum(rows));
  equal("all of them are listed", rows.length, 24);
  const lines = await (async () => (await go(page, "#view=code&listing=lines"), rowsOf(page, "#code")))();
  check("so have the source lines", Math.abs(sum(lines) - 100) < 0.2, sum(lines));
  equal("which are two", lines.map(row => row[2]).sort().join(), "tree.h:12,worker.cc:7");
  await go(page, "#view=code&shares=all");
  const all = (await rowsOf(page, "#code")).filter(row => row.length === 4),
    self = await page.evaluate("(() => { const r = document.querySelector('#functions'); return r ? 1 : 0; })()");
  check("shares of everything are less", sum(all) > 0 && sum(all) < 100 && self, sum(all));
  like("what they are of is said", await page.text("#codenote"), /^Shares are of the complete recording.*3 of 13 functions with samples are left out/);
  await go(page, "#view=code&time=1000000000-2000000000");
  like("and that a choice does not change them", await page.text("#codenote"), /^Shares are of the complete recording, not of the selection/);
  like("the page says what it holds", await page.evaluate("document.getElementById('facts').textContent"), /Contains the code of 9 functions; 3 are left out/);
}

/* Instructions with what they access, and a list of that. */
async function testTypes(page) {
  await go(page, "#view=code&line=2");
  const typed = await page.evaluate("[...document.querySelectorAll('#code span.type')].map(s => s.textContent + '|' + s.title)");
  equal("instructions have types", typed.length, 15);
  equal("with the member", typed[0], "struct node<</script>> · in.y|struct node<</script>> +0x14 (in.y)");
  equal("or without one", typed.filter(label => label === "(stack operation)|(stack operation)").length, 3);
  like("the details have the offset", await page.text("#details"), /struct node<<\/script>> \+0x14 \(in\.y\)/);
  await go(page, "#view=code&listing=types");
  const rows = await rowsOf(page, "#code"), shares = rows.map(row => parseFloat(row[0]) || 0);
  check("types have all of the function", Math.abs(shares.reduce((a, b) => a + b, 0) - 100) < 0.2, rows);
  check("the heaviest first", shares.every((share, i) => !i || share <= shares[i - 1]), rows);
  check("with offset and member", rows.some(row => row.at(-2) === "+0x14" && row.at(-1) === "struct node<</script>> · in.y"), rows);
  await page.evaluate("document.querySelector('#code tbody tr').focus()");
  await press(page, "Enter");
  check("Enter shows the instruction", !/listing/.test(await hash(page)), await hash(page));
  like("which is the heaviest of it", await rowAtFocus(page), /^75\.00%/);
}

async function testKeys(page) {
  await go(page, "");
  await press(page, "2");
  await page.evaluate("document.querySelector('#functions tbody tr').focus()");
  const name = await page.evaluate("document.activeElement.cells[2].title.split('\\n')[0]");
  await press(page, "Enter");
  equal("Enter on a row shows its code", await page.evaluate("document.querySelector('#view-code').hidden"), false);
  like("which is in the address", await hash(page), /view=code.*fn=\d+|fn=\d+.*view=code/);
  const shown = await page.text("#codename"), noted = await page.text("#codenote");
  check("it is that function, or the page says why not", shown === name || /does not contain the code of|is inlined here/.test(noted), [shown, name, noted]);
  await go(page, "#view=code");
  await page.evaluate("document.querySelector('#code tbody tr[tabindex=\"0\"]').focus()");
  like("the heaviest instruction is chosen", await rowAtFocus(page), /^75\.00%/);
  await press(page, "n");
  like("n goes to the next one by weight", await rowAtFocus(page), /^25\.00%/);
  await press(page, "N");
  like("N back", await rowAtFocus(page), /^75\.00%/);
  await press(page, "Home");
  like("Home to the first", await rowAtFocus(page), /ffffffff81000000/);
  for (let i = 0; i < 5; i++) await press(page, "ArrowDown");
  check("places within the function are without its name", await page.evaluate("[...document.querySelectorAll('#code code')].every(c => !/<here/.test(c.textContent) && (!/jne/.test(c.textContent) || /<here\\+0x4>$/.test(c.title)))"),
    await page.evaluate("[...document.querySelectorAll('#code code')].map(c => c.textContent).filter(t => /jne/.test(t))"));
  like("arrows pass over source", await rowAtFocus(page), /ffffffff81000014 .*jne.*→ ffffffff8100004c.*taken 9 \(22\.2% mispredicted\), 10\.0 cycles; reached 3/);
  equal("where it jumps to is marked", await page.evaluate("[...document.querySelectorAll('#code tr.joined')].map(row => row.cells[2].textContent).join()"), "ffffffff8100004c");
  await press(page, "Enter");
  like("Enter follows a jump", await rowAtFocus(page), /ffffffff8100004c/);
  like("the row is in the address", await hash(page), /line=19/);
  await press(page, "H");
  like("H goes to the heaviest", await rowAtFocus(page), /^75\.00%/);
  await press(page, "1");
  await press(page, "ArrowDown", "ArrowDown");
  await press(page, "a");
  equal("a in the graph shows code", await page.evaluate("document.querySelector('#view-code').hidden"), false);
  await page.evaluate("history.back()");
  await page.settle();
  equal("the way back", await page.evaluate("document.querySelector('#view-flame').hidden"), false);
  await page.evaluate("document.querySelector('#flame canvas').focus()");
  await page.key("F10", SHIFT);
  await page.settle();
  equal("the menu has it", await page.evaluate("[...document.querySelectorAll('#menu button')].some(b => b.textContent === 'Codea')"), true);
  await press(page, "a");
  equal("by its key", await page.evaluate("document.querySelector('#view-code').hidden"), false);
  await press(page, "3");
  await page.evaluate("document.querySelector('#tree tbody tr').focus()");
  if (await page.evaluate("document.activeElement.ariaExpanded === 'false'")) await press(page, "ArrowRight");
  await press(page, "ArrowDown", "a");
  equal("a in the tree", await page.evaluate("document.querySelector('#view-code').hidden"), false);
}

/* Every function of the page has its code, and what is inlined that of where it is. */
async function testFunctions(page) {
  await go(page, "#view=code");
  const labels = await page.evaluate("[...document.querySelector('#codefn').options].map(o => o.value)");
  equal("functions to choose from", labels.length, 10);
  const chain = await page.evaluate("(s => [s.textContent, s.title])(document.querySelector('#code .chain span'))");
  like("long names of inlined functions are without arguments", chain[0], / in made::find<…>\(…\), inlined at worker\.cc:9$/);
  like("which are a hover away", chain[1], /made::find<made::Tree<.*const&\), inlined/);
  await page.evaluate("(() => { const s = document.querySelector('#codefn'); s.value = 1; s.dispatchEvent(new Event('change')); })()");
  await page.settle();
  const rows = async () => page.evaluate("document.querySelectorAll('#code tbody tr[tabindex]').length");
  equal("of a long one a part is listed", await rows(), 1002);
  await page.evaluate("document.querySelector('#code tbody tr').click()");
  await page.settle();
  equal("a click lists more", await rows(), 1751);
  await page.evaluate("document.querySelector('#code tbody tr[tabindex=\"0\"]').focus()");
  await press(page, "End");
  like("End goes to the last", await rowAtFocus(page), /ffffffff8100370c/);
  await page.evaluate("(() => { const s = document.querySelector('#codefn'); s.value = 2; s.dispatchEvent(new Event('change')); })()");
  await page.settle();
  like("what lacks is said", await page.text("#codenote"), /^No instructions: The binary was not found\./);
  await go(page, "#view=code&fn=1");
  like("a function without code", await page.text("#codenote"), /^The page does not contain the code of|is inlined here/);
  const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
  check("the page is not wider than the window", wide <= 0, wide);
}

async function testReport(page) {
  equal("it opens with the rows", await page.evaluate("document.querySelector('#view-report').hidden"), false);
  const head = await page.evaluate("[...document.querySelectorAll('#report th')].map(h => h.textContent).join()");
  equal("columns", head, "Children,Overhead,Samples,Command,Module,Function");
  const rows = await rowsOf(page, "#report"), shares = rows.map(row => parseFloat(row[0]));
  check("the heaviest first", shares.every((share, i) => !i || share <= shares[i - 1] + 0.01), shares.slice(0, 5));
  await page.evaluate("document.querySelectorAll('#report th button')[1].click()");
  await page.settle();
  const own = (await rowsOf(page, "#report")).map(row => parseFloat(row[1]) || 0);
  check("a click sorts", own.every((share, i) => !i || share <= own[i - 1] + 0.01) && own[0] > 0, own.slice(0, 5));
  like("which is in the address", await hash(page), /by=1/);
  await page.evaluate("document.querySelector('#report tbody tr').focus()");
  await press(page, "ArrowDown");
  const name = await page.evaluate("document.activeElement.cells[5].textContent");
  equal("callers of the row are shown", await page.text("#callershead"), "Callers of " + name);
  like("the details are of all its rows", await page.text("#details"), / samples, [\d.]+% in all of its rows/);
  await go(page, "#keys=dso,symbol");
  await page.evaluate("document.querySelector('#report tbody tr').focus()");
  await press(page, "ArrowDown");
  like("which is said where there may be several", await page.text("#details"), / samples, [\d.]+%(?! in all)/);
  await go(page, "#by=1");
  await page.evaluate("document.querySelector('#report tbody tr').focus()");
  await press(page, "ArrowDown");
  await press(page, "Enter");
  equal("Enter shows the code", await page.evaluate("document.querySelector('#view-code').hidden"), false);
  await press(page, "3");
  equal("the functions have the callers, too", await page.evaluate("!!document.querySelector('#view-table .sandwich')"), true);
  await go(page, "#keys=dso");
  const modules = await rowsOf(page, "#report");
  check("rows by module", modules.length >= 2 && modules.length <= 4 && modules[0].length === 4, modules);
  await go(page, "#search=hash");
  const found = await rowsOf(page, "#report");
  check("the search chooses rows", found.length > 0 && found.every(row => row.join().includes("hash")), found.length);
}

const browser = await openBrowser(program);
try {
  for (const [width, height, theme] of [[1280, 800, "light"], [400, 700, "dark"]]) {
    const page = await browser.page(width, height, theme);
    await page.open(make("codehtml", 300));
    await page.settle();
    for (const test of [testShares, testTypes, testKeys, testFunctions]) await test(page);
    if (pictures) await page.picture(join(pictures, `code-${theme}.png`));
    equal("errors", page.errors.join("; "), "");
    await page.open(make("reporthtml", 300));
    await page.settle();
    await testReport(page);
    if (pictures) await page.picture(join(pictures, `report-${theme}.png`));
    equal("errors", page.errors.join("; "), "");
  }
  const page = await browser.page();
  await page.open(make("codehtml", "hostile") + "#view=code");
  await page.settle();
  check("hostile names are text", (await page.evaluate("document.title")) !== "broken" && (await rowsOf(page, "#code")).length > 10, await page.evaluate("document.title"));
  equal("they open nothing", page.dialogs.length, 0);
  await page.open(make("html", 300) + "#view=code");
  await page.settle();
  equal("no code, no tab", await page.evaluate("document.querySelectorAll('#tab-code, #view-code, #tab-report, [data-code]').length"), 0);
  equal("the first view instead", await page.evaluate("document.querySelector('#view-flame').hidden"), false);
  equal("errors", page.errors.join("; "), "");
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
finish();
