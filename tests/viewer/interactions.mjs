// SPDX-License-Identifier: MIT
// How long a page lets its reader wait: node interactions.mjs PAGE.html [--runs 5] [--only EXPRESSION]
// Real keys and a real mouse in Chromium. Of each interaction the median of so many runs: CPU time of the longest task of the
// page's thread, of all of them, of its worker, and the time until all of the new picture is there. It asserts nothing.
import { join, resolve } from "node:path";
import { openBrowser } from "./browser.mjs";
import { findBrowser, skip } from "./checks.mjs";

const option = (name, otherwise) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : process.argv.splice(at, 2)[1];
};
const runs = +option("--runs", 5), only = option("--only", ""), file = process.argv[2];
const program = findBrowser();
if (!file) skip("usage: interactions.mjs PAGE.html");
const SHIFT = 8, CTRL = 2;
const browser = await openBrowser(program);
const page = await browser.page(1280, 800);
const url = "file://" + resolve(file);
const median = list => list.sort((a, b) => a - b)[list.length >> 1];

/* CPU time of the tasks of a thread, in ms. */
const sum = list => list.reduce((a, b) => a + b, 0);
function tasksOf(events, thread = "CrRendererMain") {
  const mains = new Set(events.filter(e => e.name === "thread_name" && e.args.name === thread).map(e => e.pid + " " + e.tid));
  const byThread = new Map();
  for (const e of events) {
    const id = e.pid + " " + e.tid;
    if (e.name !== "RunTask" || e.ph !== "X" || !mains.has(id)) continue;
    if (!byThread.has(id)) byThread.set(id, []);
    byThread.get(id).push((e.tdur ?? e.dur) / 1000);
  }
  return [...byThread.values()].sort((a, b) => sum(b) - sum(a))[0] || [];
}
async function time(name, prepare, act) {
  if (!new RegExp(only).test(name)) return;
  const longest = [], all = [], other = [], shown = [];
  for (let run = 0; run < runs; run++) {
    await prepare(run);
    await page.settle();
    const events = await page.trace(async () => {
      const start = performance.now();
      await act(run);
      await page.settle();
      shown.push(performance.now() - start);
    }), tasks = tasksOf(events);
    other.push(sum(tasksOf(events, "DedicatedWorker thread")));
    longest.push(Math.max(0, ...tasks));
    all.push(sum(tasks));
  }
  const cell = list => median(list).toFixed(0).padStart(7);
  console.log(`| ${name.padEnd(44)} |${cell(longest)} |${cell(all)} |${cell(other)} |${cell(shown)} |`);
}
const choose = (id, value) => page.evaluate(`(() => { const e = document.getElementById("${id}"); e.value = "${value}";
  e.dispatchEvent(new Event("change")); })()`);
const hash = text => page.evaluate(`history.pushState(null, "", ${JSON.stringify(text || "#")}); dispatchEvent(new PopStateEvent("popstate"))`);
const fresh = (text = "") => async () => {
  await page.evaluate("document.activeElement.blur()");
  await hash(text);
};
const open = (text = "") => async () => {
  await page.open("about:blank");
  await page.open(url + text, 600000);
};
const search = async text => {
  await page.key("/");
  await page.type(text);
};
/* In the middle of a box. */
async function middle(selector, dx = 0.5, dy = 0.5) {
  const { x, y, width, height } = await page.box(selector);
  return [x + width * dx, y + height * dy];
}
const flameAt = async depth => {
  const { x, y } = await page.box("#flame canvas");
  return [x + 60, y + 18 * depth + 9];
};
const select = depth => async () => {
  await fresh()();
  await page.settle();
  await page.click(...(await flameAt(depth)));
};

await time("the page opens", () => page.open("about:blank"), () => page.open(url, 600000));
await open()();
await page.settle();
console.error(await page.evaluate("document.querySelector('#summary').textContent"), await page.evaluate("navigator.userAgent.match(/Chrome.[\\d]+/)[0]"));

/* Views that were not open yet. */
for (const [key, name] of [["2", "functions"], ["3", "call tree"], ["4", "tracks"], ["5", "stack chart"], ["6", "heat map"]])
  await time(`first ${name}`, open(), () => page.key(key));
for (const [key, name] of [["2", "functions"], ["3", "call tree"], ["4", "tracks"], ["5", "stack chart"], ["6", "heat map"]])
  await time(`${name} again`, fresh(), () => page.key(key));
await time("back to the flame graph", fresh("#view=table"), () => page.key("1"));

/* Pages that open with rows. */
if (await page.evaluate("!!document.querySelector('#tab-report')")) {
  const report = keys => fresh("#view=report" + (keys ? "&keys=" + keys : ""));
  for (const keys of ["comm,dso,symbol", "cpu", "dso"])
    await time(`report by ${keys}`, report(keys === "cpu" ? "dso" : "cpu"), () => choose("keys", keys));
  await time("report by another column", report(""), async () => page.click(...(await middle("#report thead th:last-child button"))));
  await time("report: the next row", async () => {
    await report("")();
    await page.settle();
    await page.click(...(await middle("#report tbody tr:nth-child(2) td:last-child")));
  }, () => page.key("ArrowDown"));
  await time("report: search", report(""), () => search("a"));
}

/* What is in them. */
const events = await page.evaluate("document.querySelectorAll('#event option').length");
if (events > 1) await time("another event", fresh(), () => choose("event", 1));
for (const threads of ["apart", "process", "cpu", "one"])
  if (await page.evaluate(`!!document.querySelector("#threads [value=${threads}]")`)) {
    await time(`threads: ${threads}`, fresh(), () => choose("threads", threads));
    await time(`threads: ${threads}, call tree`, fresh("#view=tree"), () => choose("threads", threads));
  }
await time("leaf first", fresh(), () => choose("stacks", "callers"));
await time("leaf first, call tree", fresh("#view=tree"), () => choose("stacks", "callers"));
await time("leaf first, zoom", async () => {
  await fresh("#stacks=callers")();
  await page.settle();
  await page.click(...(await flameAt(4)));
}, () => page.key("Enter"));
await time("order by name", fresh(), () => choose("order", "name"));
await time("colour by module", fresh(), () => choose("colour", "module"));
const drag = async (selector, from, to, y = 0.3) => {
  const [x, top] = await middle(selector, from, y), [end] = await middle(selector, to, y);
  await page.drag(x, top, end, top);
};
const hasTime = await page.evaluate("!document.querySelector('#timebox').hidden");
if (hasTime)
  for (const [view, name] of [["flame", "flame graph"], ["table", "functions"], ["tree", "call tree"]])
    await time(`a time in the timeline, ${name}`, fresh("#view=" + view), run => drag("#time", .2 + run * .01, .6));
if (hasTime) {
  await time("a time in the tracks", fresh("#view=tracks"), run => drag(".ot-axis", .4 + run * .01, .7));
  await time("a time with keys", async () => {
    await fresh()();
    await page.evaluate("document.querySelector('#time').focus()");
  }, () => page.key("ArrowRight", SHIFT));
  await time("one thread in the tracks", fresh("#view=tracks"), async () => {
    await page.click(...(await middle("#over-tracks [role=treeitem]:nth-child(2)", .3)));
  });
  await time("back to the flame graph with it", async () => {
    await fresh("#view=tracks")();
    await page.settle();
    await page.click(...(await middle("#over-tracks [role=treeitem]:nth-child(2)", .3)));
    await page.settle();
  }, () => page.key("1"));
  await time("tracks: zoom with the wheel", fresh("#view=tracks"), async () => {
    const [x, y] = await middle(".ot-axis", .6);
    await page.notify("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX: 0, deltaY: -240 });
  });
  await time("tracks: hover", fresh("#view=tracks"), async run => page.move(...(await middle("#over-tracks .ot-space", .6 + run * .02, .2))));
  await time("stack chart: zoom", fresh("#view=chart"), async () => {
    const [x, y] = await middle("#over-chart .ot-axis", .5);
    await page.notify("Input.dispatchMouseEvent", { type: "mouseWheel", x, y, deltaX: 0, deltaY: -240 });
  });
  await time("stack chart: hover", fresh("#view=chart"), async run => page.move(...(await middle("#over-chart .ot-space", .4 + run * .02, .1))));
  await time("heat map: hover", fresh("#view=heat"), async run => page.move(...(await middle("#over-heat .ot-heat", .4 + run * .02, .4))));
  await time("heat map: a time", fresh("#view=heat"), () => drag(".ot-heat", .3, .5));
}
for (const [view, name] of [["flame", "flame graph"], ["table", "functions"], ["tree", "call tree"], ["chart", "stack chart"]]) {
  await time(`search: one letter, ${name}`, fresh("#view=" + view), () => search("e"));
  await time(`search: a word typed, ${name}`, fresh("#view=" + view), () => search("alloc"));
}
await time("search: next match", fresh("#search=e"), async () => {
  await page.click(...(await flameAt(1)));
  await page.key("n");
});
for (const [key, name] of [["f", "focus"], ["F", "focus on subtree"], ["d", "drop"], ["c", "collapse"], ["m", "merge"], ["r", "recursion"],
  ["C", "collapse the module"], ["s", "callers and callees"]]) {
  await time(name, select(3), () => page.key(key));
  if (key === "f")
    await time("and back", async () => {
      await select(3)();
      await page.key(key);
    }, () => page.evaluate("history.back()"));
}
await time("undo of a transform", async () => {
  await select(3)();
  await page.key("d");
  await page.settle();
}, () => page.key("Escape"));
await time("focus, in the call tree", async () => {
  await fresh("#view=tree")();
  await page.settle();
  await page.evaluate("document.querySelector('#view-tree').scrollTop = 0");
  await page.settle();
  await page.click(...(await middle("#tree tbody tr:nth-child(2) td:nth-child(3)", .3)));
}, () => page.key("f"));
for (const by of ["total", "name", "module", "self"])
  await time(`functions by ${by}`, fresh("#view=table&sort=" + (by === "self" ? "total" : "self")), async () => {
    await page.click(...(await middle(`#functions [data-by=${by}] button`)));
  });
await time("another function", fresh("#view=table"), async run => {
  await page.click(...(await middle(`#functions tbody tr:nth-child(${3 + run}) td:nth-child(3)`)));
});
await time("functions: the last one", async () => {
  await fresh("#view=table")();
  await page.settle();
  await page.click(...(await middle("#functions tbody tr:nth-child(2) td:nth-child(3)")));
}, () => page.key("End"));
await time("call tree: a row opens", async () => {
  await fresh("#view=tree")();
  await page.settle();
  await page.evaluate("document.querySelector('#view-tree').scrollTop = 1e6");
  await page.settle();
  await page.evaluate("[...document.querySelectorAll('#tree [aria-expanded=false]')][0].focus()");
}, () => page.key("ArrowRight"));
await time("call tree: a row closes", async () => {
  await fresh("#view=tree")();
  await page.settle();
  await page.evaluate("[...document.querySelectorAll('#tree [aria-expanded=true]')][0].focus()");
}, () => page.key("ArrowLeft"));
await time("call tree: page down", async () => {
  await fresh("#view=tree")();
  await page.settle();
  await page.evaluate("document.querySelector('#tree tbody tr:not(.gap)').focus()");
}, () => page.key("PageDown"));
await time("flame graph: hover", fresh(), async run => page.move(...(await flameAt(3 + run))));
await time("flame graph: arrow down", select(2), () => page.key("ArrowDown"));
await time("flame graph: arrow right", select(3), () => page.key("ArrowRight"));
await time("flame graph: zoom", select(4), () => page.key("Enter"));
await time("flame graph: zoom back", async () => {
  await select(4)();
  await page.key("Enter");
  await page.settle();
}, () => page.evaluate("history.back()"));
await time("flame graph: zoom with the wheel", fresh(), async () => {
  const [x, y] = await flameAt(4);
  await page.notify("Input.dispatchMouseEvent", { type: "mouseWheel", x: x + 200, y, deltaX: 0, deltaY: -240, modifiers: CTRL });
});
await time("flip", fresh(), () => page.key("i"));
await time("dark or light", fresh(), () => page.key("t"));
console.error("errors:", page.errors.join("; ") || "none");
await browser.close();
