// SPDX-License-Identifier: MIT
// A headless Chromium, driven through the DevTools protocol over a pipe: nothing but node is needed.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { openFirefox } from "./firefox.mjs";
import { readersOf } from "./page.mjs";

const KEYS = {
  Enter: 13,
  Escape: 27,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  Backspace: 8,
  Tab: 9,
  Home: 36,
  End: 35,
  PageUp: 33,
  PageDown: 34,
  " ": 32,
  ContextMenu: 93,
  F3: 114,
  F5: 116,
  F10: 121,
  F12: 123,
};

export const openBrowser = program => /firefox/.test(basename(program)) ? openFirefox(program) : openChromium(program);

async function openChromium(program) {
  const home = mkdtempSync(join(tmpdir(), "perfile-viewer-"));
  const child = spawn(
    program,
    [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--hide-scrollbars",
      "--disable-dev-shm-usage",
      "--remote-debugging-pipe",
      "--no-first-run",
      "--disable-extensions",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-default-apps",
      "--renderer-process-limit=1",
      "--disable-site-isolation-trials",
      "--disable-breakpad",
      "--no-default-browser-check",
      "--disable-features=Translate,SpareRendererForSitePerProcess,IsolateOrigins,site-per-process,OptimizationHints,MediaRouter,DialMediaRouteProvider,InterestFeedContentSuggestions",
      `--user-data-dir=${home}`,
      "about:blank",
    ],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
  );
  const waiting = new Map(),
    listeners = [];
  let next = 1,
    rest = "";
  child.stdio[4].setEncoding("utf8").on("data", text => {
    const pieces = (rest + text).split("\0");
    rest = pieces.pop();
    for (const piece of pieces) {
      const message = JSON.parse(piece),
        job = waiting.get(message.id);
      if (!job) {
        listeners.forEach(listen => listen(message));
        continue;
      }
      waiting.delete(message.id);
      if (message.error) job.reject(new Error(message.error.message));
      else job.resolve(message.result);
    }
  });
  const failAll = () => waiting.forEach(job => job.reject(new Error("the browser has gone")));
  child.on("exit", failAll).on("error", failAll);
  child.stdio[3].on("error", failAll);
  const send = (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      const id = next++;
      waiting.set(id, { resolve, reject });
      child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  const close = async () => {
    const gone = new Promise(resolve => child.on("exit", resolve));
    await Promise.race([send("Browser.close").catch(() => {}), new Promise(r => setTimeout(r, 20000))]);
    if (child.exitCode === null) child.kill("SIGKILL");
    await gone;
    /* Its helpers end after it, and write until then. */
    for (let tries = 0; tries < 500; tries++) {
      try {
        rmSync(home, { recursive: true, force: true });
        return;
      } catch {
        await new Promise(r => setTimeout(r, 100));
      }
    }
  };
  const open = [];
  const closePages = async () => {
    for (const targetId of open.splice(0)) await send("Target.closeTarget", { targetId }).catch(() => {}); // it may have closed itself
    listeners.length = 0;
  };
  const page = async (width = 1280, height = 800, theme = "light") => {
    const { targetId } = await send("Target.createTarget", { url: "about:blank" });
    open.push(targetId);
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    const notify = (method, params) => send(method, params, sessionId);
    const errors = [],
      requests = [];
    listeners.push(message => {
      if (message.sessionId !== sessionId) return;
      const { method, params } = message;
      if (method === "Runtime.exceptionThrown")
        errors.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
      if (method === "Log.entryAdded" && params.entry.level === "error") errors.push(params.entry.text);
      if (method === "Network.requestWillBeSent") requests.push(params.request.url);
      if (method === "Page.javascriptDialogOpening") dialogs.push(params);
    });
    const dialogs = [];
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await notify(domain + ".enable");
    await notify("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await notify("Emulation.setEmulatedMedia", {
      features: [
        { name: "prefers-color-scheme", value: theme },
        { name: "prefers-reduced-motion", value: "reduce" },
      ],
    });
    const mouse = (type, x, y, more = {}) => notify("Input.dispatchMouseEvent", { type, x, y, button: "left", ...more });
    const evaluate = async expression => {
      const { result, exceptionDetails } = await notify("Runtime.evaluate", {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
      return result.value;
    };
    return {
      errors,
      requests,
      dialogs,
      notify,
      evaluate,
      ...readersOf(evaluate),
      answer: text => notify("Page.handleJavaScriptDialog", { accept: true, promptText: text }),
      async open(url, patience = 60000) {
        const loaded = new Promise(resolve =>
          listeners.push(m => {
            if (m.sessionId === sessionId && m.method === "Page.loadEventFired") resolve();
          }),
        );
        await notify("Page.navigate", { url });
        await loaded;
        if (/\.html/.test(url)) await this.ready(patience);
      },
      async key(key, modifiers = 0) {
        const text = key.length === 1 && !modifiers ? { text: key } : key === "Enter" ? { text: "\r" } : {};
        const code = KEYS[key] || (/^\w$/.test(key) ? key.toUpperCase().charCodeAt(0) : 0);
        await notify("Input.dispatchKeyEvent", {
          type: text.text ? "keyDown" : "rawKeyDown",
          key,
          modifiers,
          windowsVirtualKeyCode: code,
          ...text,
        });
        await notify("Input.dispatchKeyEvent", { type: "keyUp", key, modifiers, windowsVirtualKeyCode: code });
      },
      async type(text) {
        for (const c of text) await this.key(c);
      },
      async click(x, y, count = 1) {
        await mouse("mouseMoved", x, y, { button: "none" });
        for (let i = 1; i <= count; i++) {
          await mouse("mousePressed", x, y, { clickCount: i });
          await mouse("mouseReleased", x, y, { clickCount: i });
        }
      },
      /* Fingers from positions to positions: lists of [x, y]. They stay until `until` is true of the page. */
      async touch(from, to = from, until = "true") {
        const touch = (type, places) => notify("Input.dispatchTouchEvent", { type, touchPoints: places.map(([x, y], id) => ({ x, y, id })) });
        await touch("touchStart", from);
        for (let i = 1; to !== from && i <= 8; i++)
          await touch("touchMove", from.map(([x, y], id) => [x + ((to[id][0] - x) * i) / 8, y + ((to[id][1] - y) * i) / 8]));
        await this.until(until);
        await touch("touchEnd", []);
      },
      move: (x, y) => mouse("mouseMoved", x, y, { button: "none" }),
      /* Files, or a folder, chosen in an input. */
      async choose(selector, files) {
        const { result } = await notify("Runtime.evaluate", { expression: `document.querySelector(${JSON.stringify(selector)})` });
        await notify("DOM.setFileInputFiles", { files, objectId: result.objectId });
      },
      async drag(x, y, toX, toY) {
        await mouse("mousePressed", x, y, { clickCount: 1 });
        for (let i = 1; i <= 8; i++)
          await mouse("mouseMoved", x + ((toX - x) * i) / 8, y + ((toY - y) * i) / 8, { buttons: 1 });
        await mouse("mouseReleased", toX, toY, { clickCount: 1 });
      },
      /* What the threads did meanwhile, as trace events. */
      async trace(act) {
        const events = [];
        let ended;
        const done = new Promise(resolve => { ended = resolve; });
        const listen = ({ method, params }) => {
          if (method === "Tracing.dataCollected") events.push(...params.value);
          if (method === "Tracing.tracingComplete") ended();
        };
        listeners.push(listen);
        await notify("Tracing.start", { transferMode: "ReportEvents",
          traceConfig: { includedCategories: ["disabled-by-default-devtools.timeline", "__metadata"] } });
        await act();
        await notify("Tracing.end");
        await done;
        listeners.splice(listeners.indexOf(listen), 1);
        return events;
      },
      async picture(path) {
        const { data } = await notify("Page.captureScreenshot", { format: "png" });
        writeFileSync(path, Buffer.from(data, "base64"));
      },
    };
  };
  return { page, closePages, close };
}
