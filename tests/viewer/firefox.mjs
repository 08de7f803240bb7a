// SPDX-License-Identifier: MIT
// A headless Firefox as browser.mjs has Chromium, driven through WebDriver BiDi: nothing but node is needed.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readersOf, Unsupported } from "./page.mjs";

const KEYS = { Enter: "\ue007", Escape: "\ue00c", ArrowLeft: "\ue012", ArrowUp: "\ue013", ArrowRight: "\ue014", ArrowDown: "\ue015", Backspace: "\ue003",
  Tab: "\ue004", Home: "\ue011", End: "\ue010", PageUp: "\ue00e", PageDown: "\ue00f", F3: "\ue033", F5: "\ue035", F10: "\ue03a", F12: "\ue03c" };
const MODIFIERS = [[1, "\ue00a"], [2, "\ue009"], [4, "\ue03d"], [8, "\ue008"]];
/* Nothing is fetched, restored, announced or animated. */
const SETTINGS = { "ui.prefersReducedMotion": 1, "toolkit.cosmeticAnimations.enabled": false, "dom.disable_open_during_load": false,
  "browser.startup.page": 0, "browser.startup.homepage": "about:blank", "browser.startup.homepage_override.mstone": "ignore", "startup.homepage_welcome_url": "about:blank",
  "browser.newtabpage.enabled": false, "browser.aboutwelcome.enabled": false, "browser.shell.checkDefaultBrowser": false, "browser.sessionstore.resume_from_crash": false,
  "toolkit.startup.max_resumed_crashes": -1, "datareporting.policy.dataSubmissionEnabled": false, "datareporting.policy.dataSubmissionPolicyBypassNotification": true,
  "datareporting.healthreport.uploadEnabled": false, "app.normandy.api_url": "", "app.update.disabledForTesting": true, "extensions.getAddons.cache.enabled": false,
  "extensions.update.enabled": false, "extensions.installDistroAddons": false, "media.gmp-manager.updateEnabled": false, "browser.safebrowsing.malware.enabled": false,
  "browser.safebrowsing.phishing.enabled": false, "browser.search.update": false, "network.http.speculative-parallel-limit": 0,
  "network.captive-portal-service.enabled": false, "network.connectivity-service.enabled": false };

/* Text frames of a WebSocket: those that the browser sends are not masked. */
function framesIn(bytes) {
  const texts = [];
  let at = 0;
  for (;;) {
    if (bytes.length < at + 2) break;
    const short = bytes[at + 1] & 127, head = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (bytes.length < at + head) break;
    const length = short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short === 126 ? bytes.readUInt16BE(at + 2) : short;
    if (bytes.length < at + head + length) break;
    if ((bytes[at] & 15) < 2) texts.push([bytes[at] >> 7, bytes.subarray(at + head, at + head + length)]);
    at += head + length;
  }
  return [texts, bytes.subarray(at)];
}
function masked(text) {
  const data = Buffer.from(text), mask = randomBytes(4), { length } = data;
  const head = length < 126 ? Buffer.alloc(2) : length < 65536 ? Buffer.alloc(4) : Buffer.alloc(10);
  head[0] = 0x81;
  head[1] = 128 | (head.length === 2 ? length : head.length === 4 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  for (let i = 0; i < length; i++) data[i] ^= mask[i & 3];
  return Buffer.concat([head, mask, data]);
}
function connect(url, receive, failAll) {
  return new Promise((resolve, reject) => {
    const asked = request(url.replace("ws:", "http:"), { headers: { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": randomBytes(16).toString("base64") } });
    asked.on("error", reject).on("upgrade", (answer, socket, first) => {
      let rest = Buffer.alloc(0), parts = [];
      const take = bytes => {
        const [frames, left] = framesIn(Buffer.concat([rest, bytes]));
        rest = left;
        for (const [isLast, part] of frames) {
          parts.push(part);
          if (isLast) receive(JSON.parse(Buffer.concat(parts.splice(0)).toString()));
        }
      };
      socket.on("data", take).on("close", failAll).on("error", failAll);
      take(first);
      resolve(text => socket.write(masked(text)));
    }).end();
  });
}
/* What BiDi says of a value. */
function valueOf({ type, value }) {
  if (value === undefined) return type === "null" ? null : undefined;
  if (type === "array") return value.map(valueOf);
  if (type === "object") return Object.fromEntries(value.map(([key, one]) => [key, valueOf(one)]));
  if (type === "number" && typeof value === "string") return Number(value);
  return value;
}

async function start(program, home, isDark) {
  writeFileSync(join(home, "user.js"), Object.entries({ ...SETTINGS, "ui.systemUsesDarkTheme": +isDark }).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(""));
  const child = spawn(program, ["--headless", "--no-remote", "--profile", home, "--remote-debugging-port=0"],
    { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: home, MOZ_CRASHREPORTER_DISABLE: "1" } }); // without a home it may wait for ever
  const url = await new Promise((resolve, reject) => {
    let reported = "";
    child.stderr.setEncoding("utf8").on("data", text => {
      const [, found] = (reported += text).match(/BiDi listening on (ws:\S+)/) || [];
      if (found) resolve(found + "/session");
    });
    child.on("exit", () => reject(new Error("Firefox does not start: " + reported))).on("error", reject);
  });
  return { child, url };
}

/* What tests ask of Chromium's own protocol, where BiDi has it. */
const COMMANDS = {
  "Page.addScriptToEvaluateOnNewDocument": ({ source }, context) => ["script.addPreloadScript", { functionDeclaration: `() => { ${source} }`, contexts: [context] }],
  "Emulation.setDeviceMetricsOverride": ({ width, height, deviceScaleFactor }, context) =>
    ["browsingContext.setViewport", { context, viewport: { width, height }, devicePixelRatio: deviceScaleFactor || 1 }],
  "Page.setDownloadBehavior": ({ downloadPath }) => ["browser.setDownloadBehavior", { downloadBehavior: { type: "allowed", destinationFolder: downloadPath } }],
  "Page.close": (asked, context) => ["browsingContext.close", { context }],
  "Input.dispatchMouseEvent": ({ type, x, y, deltaX, deltaY }, context) => ["input.performActions", { context, actions: [type === "mouseWheel"
    ? { type: "wheel", id: "wheel", actions: [{ type: "scroll", x: Math.round(x), y: Math.round(y), deltaX, deltaY }] }
    : { type: "pointer", id: "mouse", actions: [{ type: "pointerMove", x: Math.round(x), y: Math.round(y) }] }] }],
};

export async function openFirefox(program, own = "light") {
  const home = mkdtempSync(join(tmpdir(), "perfile-viewer-")), waiting = new Map(), listeners = [];
  let next = 1;
  const { child, url } = await start(program, home, own === "dark");
  const failAll = () => waiting.forEach(job => job.reject(new Error("the browser has gone")));
  const write = await connect(url, message => {
    const job = waiting.get(message.id);
    if (!job) return listeners.forEach(listen => listen(message));
    waiting.delete(message.id);
    if (message.type === "error") job.reject(new Error(`${message.error}: ${message.message}`));
    else job.resolve(message.result);
  }, failAll);
  child.on("exit", failAll);
  const send = (method, params = {}) => new Promise((resolve, reject) => {
    waiting.set(next, { resolve, reject });
    write(JSON.stringify({ id: next++, method, params }));
  });
  await send("session.new", { capabilities: { alwaysMatch: { unhandledPromptBehavior: { default: "ignore" } } } });
  await send("session.subscribe", { events: ["log.entryAdded", "network.beforeRequestSent", "browsingContext.userPromptOpened"] });
  const open = [];
  let other = null; // a browser in the other theme, which is a setting of all of its pages
  const page = async (width = 1280, height = 800, theme = own) => {
    if (theme !== own) return (other ||= await openFirefox(program, theme)).page(width, height, theme);
    const { context } = await send("browsingContext.create", { type: "tab" });
    open.push(context);
    const errors = [], requests = [], dialogs = [];
    listeners.push(({ method, params }) => {
      if ((params.context ?? params.source?.context) !== context) return;
      if (method === "log.entryAdded" && params.level === "error") errors.push(params.text);
      if (method === "network.beforeRequestSent") requests.push(params.request.url);
      if (method === "browsingContext.userPromptOpened") dialogs.push(params);
    });
    const notify = async (method, params) => {
      if (method === "Emulation.setTouchEmulationEnabled") return; // touch needs no switch
      if (!COMMANDS[method]) throw new Unsupported(method);
      return send(...COMMANDS[method](params, context));
    };
    await notify("Emulation.setDeviceMetricsOverride", { width, height });
    const evaluate = async expression => {
      const reported = await send("script.evaluate", { expression, target: { context }, awaitPromise: true });
      if (reported.type === "exception") throw new Error(reported.exceptionDetails.text);
      return valueOf(reported.result);
    };
    const act = (...actions) => send("input.performActions", { context, actions });
    const mouse = (...actions) => act({ type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions });
    const to = (x, y) => ({ type: "pointerMove", x: Math.round(x), y: Math.round(y) }), down = { type: "pointerDown", button: 0 }, up = { type: "pointerUp", button: 0 };
    const between = (from, end, i) => Math.round(from + ((end - from) * i) / 8), steps = [1, 2, 3, 4, 5, 6, 7, 8];
    return {
      errors, requests, dialogs, notify, evaluate, ...readersOf(evaluate),
      answer: userText => send("browsingContext.handleUserPrompt", { context, accept: true, userText }),
      async open(address, patience = 60000) {
        await send("browsingContext.navigate", { context, url: address, wait: "complete" });
        if (/\.html/.test(address)) await this.ready(patience);
      },
      async key(key, modifiers = 0) {
        if (key.length > 1 && !KEYS[key]) throw new Unsupported("the key " + key);
        const value = KEYS[key] || key, held = MODIFIERS.filter(([bit]) => modifiers & bit).map(([, sign]) => sign);
        await act({ type: "key", id: "keys", actions: [...held.map(sign => ({ type: "keyDown", value: sign })), { type: "keyDown", value }, { type: "keyUp", value },
          ...held.map(sign => ({ type: "keyUp", value: sign }))] });
      },
      async type(text) {
        for (const c of text) await this.key(c);
      },
      click: (x, y, count = 1) => mouse(to(x, y), ...Array.from({ length: count }, () => [down, up]).flat()),
      async touch(from, end = from, until = "true") {
        const finger = (id, actions) => ({ type: "pointer", id: "finger" + id, parameters: { pointerType: "touch" }, actions });
        await act(...from.map(([x, y], id) => finger(id, [to(x, y), down,
          ...(end === from ? [] : steps.map(i => to(between(x, end[id][0], i), between(y, end[id][1], i))))])));
        await this.until(until);
        await act(...from.map((at, id) => finger(id, [up])));
      },
      move: (x, y) => mouse(to(x, y)),
      async choose(selector, files) {
        const { result } = await send("script.evaluate", { expression: `document.querySelector(${JSON.stringify(selector)})`, target: { context }, awaitPromise: false });
        await send("input.setFiles", { context, element: { sharedId: result.sharedId }, files });
      },
      drag: (x, y, toX, toY) => mouse(to(x, y), down, ...steps.map(i => to(between(x, toX, i), between(y, toY, i))), up),
      async picture(path) {
        const { data } = await send("browsingContext.captureScreenshot", { context });
        writeFileSync(path, Buffer.from(data, "base64"));
      },
    };
  };
  const closePages = async () => {
    await other?.closePages();
    for (const context of open.splice(0)) await send("browsingContext.close", { context }).catch(() => {}); // it may have closed itself
    listeners.length = 0;
  };
  const close = async () => {
    await other?.close();
    const gone = new Promise(resolve => child.on("exit", resolve));
    await Promise.race([send("browser.close").catch(() => {}), new Promise(r => setTimeout(r, 20000))]);
    await Promise.race([gone, new Promise(r => setTimeout(r, 20000))]);
    if (child.exitCode === null) child.kill("SIGKILL");
    await gone;
    rmSync(home, { recursive: true, force: true, maxRetries: 100, retryDelay: 100 });
  };
  return { page, closePages, close };
}
