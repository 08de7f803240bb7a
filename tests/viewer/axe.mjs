// SPDX-License-Identifier: MIT
// Rules of accessibility (WCAG 2.2 AA and good practice) on the complete page, by axe-core: node axe.mjs PATH_OF_MADE [FORM...]
// PERFILE_AXE is the file axe.min.js of the npm package axe-core; nothing is fetched.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "./browser.mjs";
import { findBrowser, skip } from "./checks.mjs";

const [made, ...forms] = process.argv.slice(2);
const program = findBrowser();
const file = process.env.PERFILE_AXE;
if (!file || !existsSync(file)) skip("axe-core: npm install axe-core, PERFILE_AXE=node_modules/axe-core/axe.min.js ./dev test");
const axe = readFileSync(file, "utf8");

/* 400 % of zoom are a quarter of the pixels, each four times as large. */
const SCREENS = [
  ["light", {}],
  ["dark", { theme: "dark" }],
  ["forced colours", { forced: true }],
  ["400 px", { width: 400, height: 800 }],
  ["320 px", { width: 320, height: 640 }],
  ["400 %", { width: 320, height: 256, scale: 4 }],
  ["400 %, dark", { width: 320, height: 256, scale: 4, theme: "dark" }],
];
const VIEWS = ["flame", "table", "tree", "tracks", "chart", "heat"],
  MORE = { codehtml: ["code", "code&listing=lines", "code&code=2", "code&fn=9999"], reporthtml: ["report", "report&keys=dso", "report&by=3&up=1"],
    branchhtml: ["branches", "branches&branchBy=2&search=entry"], memoryhtml: ["memory", "memory&memoryBy=line"], offhtml: ["flame&measure=both", "table&measure=blocked", "tree&measure=all", "heat&measure=preempted", "chart&cpu=0", "tracks", "tracks&time=1000000000-3000000000"],
    diffhtml: [...VIEWS, "flame&widths=before&time=1000000000-3000000000"] };
/* The screens of other forms: each kind once. */
const FEW_SCREENS = ["light", "dark", "forced colours", "400 px", "400 %"];
/* What stands beside or above a view: each is a step that the page is brought to. */
const ROW = "document.querySelector('#functions tbody tr')";
const STATES = [
  ["a function is chosen", "#view=table", `${ROW}.click()`],
  ["a menu is open", "", `(() => { const c = document.querySelector("#flame canvas"); c.focus();
    flameRoot(); c.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
    c.dispatchEvent(new KeyboardEvent("keydown", { key: "ContextMenu", bubbles: true })); })()`],
  ["crumbs", "#transforms=focus!1,merge!2&time=1000000000-3000000000", "0"],
  ["a search", "#search=hash", "0"],
  ["filters by search", "#search=hash&transforms=only%3Dhash,merge%3Dparse", "0"],
  ["a part of the time in tracks", "#view=tracks&time=1000000000-3000000000", "0"],
  ["the time is wrong", "", "document.querySelector('#when').value = 'noon'; document.querySelector('#when').dispatchEvent(new Event('change'))"],
  ["the menu View is open", "", "document.querySelector('#when').value = ''; document.querySelector('#viewbutton').click()"],
  ["facts at the pointer", "", `(() => { const c = document.querySelector("#flame canvas"), b = c.getBoundingClientRect();
    c.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: b.x + 40, clientY: b.y + 27 })); })()`],
  ["leaf first", "#stacks=callers&view=tree", "0"],
  ["what can be saved", "#view=table", "document.querySelector('#save').click()"],
  ["a note is written", "", `document.querySelector('#save').click();
    [...document.querySelectorAll("#menu button")].find(b => b.textContent === "Note on what is shown").click()`],
  ["there is a note", "", "document.querySelector('#notetext').value = 'Look here'; document.querySelector('#note button[value=add]').click()"],
  ["the help is open", "", "document.querySelector('#helpbutton').click()"],
  ["the facts are open", "", "document.querySelector('#about').open = true"],
  ["a tree of tracks is open", "#view=tracks", `document.querySelector('[role=treeitem][aria-expanded=false] .ot-twist')?.click()`],
];

let failed = 0,
  count = 0;
const folder = mkdtempSync(join(tmpdir(), "perfile-axe-"));
function makePage(form) {
  const path = join(folder, form + ".html");
  writeFileSync(path, execFileSync(made, [form, "300"], { maxBuffer: 1 << 28 }));
  return "file://" + path;
}
async function openPage(browser, url, { width = 1280, height = 800, theme = "light", forced = false, scale = 1 }) {
  const page = await browser.page(width, height, theme);
  await page.notify("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile: false });
  if (forced)
    await page.notify("Emulation.setEmulatedMedia", {
      features: [
        { name: "forced-colors", value: "active" },
        { name: "prefers-reduced-motion", value: "reduce" },
      ],
    });
  await page.open(url);
  await page.evaluate("window.flameRoot = () => document.querySelector('#flame canvas').dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', bubbles: true }))");
  await page.evaluate(axe + ";0");
  return page;
}
async function look(page, what) {
  await page.settle();
  const found = await page.evaluate(`axe.run(document, { resultTypes: ["violations"],
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(r => r.violations.map(v =>
    v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 120) + " " + (n.failureSummary || "").split("\\n")[1]).join(" | ")))`);
  const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
  if (wide > 0) found.push(`the page is ${wide} pixels wider than the window`);
  count++;
  if (!found.length) return;
  failed++;
  console.log(`FAILED: ${what}:\n  ${found.join("\n  ")}`);
}
const go = (page, hash) =>
  page.evaluate(`history.pushState(null, "", ${JSON.stringify(hash || "#")}); dispatchEvent(new PopStateEvent("popstate"))`);

const browser = await openBrowser(program);
try {
  for (const form of forms.length ? forms : ["html", ...Object.keys(MORE)]) {
    const url = makePage(form);
    for (const [name, screen] of SCREENS) {
      if (MORE[form] && !FEW_SCREENS.includes(name)) continue;
      const page = await openPage(browser, url, screen);
      for (const view of MORE[form] || VIEWS) {
        await go(page, "#view=" + view);
        await look(page, `${form}, ${name}, ${view}`);
      }
      for (const [state, hash, script] of MORE[form] ? [] : STATES) {
        await page.evaluate("document.querySelectorAll('dialog[open]').forEach(d => d.close())");
        await go(page, hash);
        await page.settle();
        await page.evaluate(script + ";0");
        await look(page, `${form}, ${name}, ${state}`);
      }
      if (page.errors.length) {
        failed++;
        console.log(`FAILED: ${form}, ${name}: ${page.errors.join("; ")}`);
      }
      await browser.closePages();
    }
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${count} states of the page, ${failed} with violations`);
process.exit(failed ? 1 : 0);
