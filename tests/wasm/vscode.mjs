// SPDX-License-Identifier: MIT
// vscode.mjs EXTENSION PAGE RECORDING DIGEST: the extension's manifest, its editor with a `vscode` that this file has, and the webview's
// page in a browser, whose picture has that SHA-256.
import { existsSync, readFileSync, statSync, writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { openBrowser } from "../viewer/browser.mjs";
import { check, equal, findBrowser, finish, like } from "../viewer/checks.mjs";

const [folder, pagePath, recording, digest] = process.argv.slice(2);

/* ---- the manifest ---- */

/* What Visual Studio Code requires: a type, a pattern, or members; names that end in ? may be missing. */
const PATTERN = { filenamePattern: /^[^/]+$/ };
const MANIFEST = {
  name: /^[a-z0-9-]+$/, displayName: "string", description: "string", version: /^\d+\.\d+\.\d+$/, publisher: /^[a-z0-9-]+$/i, license: "string",
  engines: { vscode: /^\^1\.\d+\.\d+$/ }, categories: [/^(Visualization|Debuggers|Other)$/], keywords: ["string"], main: /^\.\/.*\.js$/, browser: /^\.\/.*\.js$/,
  files: ["string"], capabilities: { untrustedWorkspaces: { supported: "boolean" }, virtualWorkspaces: "boolean" },
  contributes: { customEditors: [{ viewType: /^[\w.]+$/, displayName: "string", selector: [PATTERN], priority: /^(default|option)$/ }] },
  scripts: { "vscode:prepublish": "string" },
};
function fits(at, value, wanted) {
  if (wanted instanceof RegExp) return like(at, value, wanted);
  if (typeof wanted === "string") return equal(`the type of ${at}`, typeof value, wanted);
  if (Array.isArray(wanted)) {
    check(`${at} is a list`, Array.isArray(value) && value.length > 0, value);
    return value.forEach((one, i) => fits(`${at}[${i}]`, one, wanted[0]));
  }
  equal(`members of ${at}`, Object.keys(value).sort(), Object.keys(wanted).sort());
  for (const name in wanted) fits(`${at}.${name}`, value[name], wanted[name]);
}
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
fits("package.json", manifest, MANIFEST);
for (const name of [manifest.main, "README.md"]) check(`${name} is there`, existsSync(join(folder, name)));

/* ---- the editor ---- */

const bytes = readFileSync(recording), uriOf = path => ({ path, toString: () => path });
let provider = null, saved = null;
const views = [], changes = [], posted = [];
const vscode = {
  Uri: { joinPath: ({ path }, name) => uriOf(name === ".." ? path.slice(0, path.lastIndexOf("/")) : `${path}/${name}`) },
  window: {
    registerCustomEditorProvider: (view, made) => { views.push(view); provider = made; return { dispose() {} }; },
    showSaveDialog: async ({ defaultUri }) => defaultUri,
  },
  workspace: { fs: { readFile: async ({ path }) => readFileSync(path.endsWith("/perfile.html") ? pagePath : path), stat: async ({ path }) => ({ mtime: statSync(path).mtimeMs }),
    writeFile: async ({ path }, written) => { saved = [path, written.length]; } },
    createFileSystemWatcher: ({ pattern }) => { changes.push(pattern); return { onDidChange: listen => changes.push(listen), onDidCreate() {}, dispose: () => changes.push("disposed") }; } },
  RelativePattern: class { constructor(base, pattern) { Object.assign(this, { base, pattern }); } },
};
const load = Module._load;
Module._load = (name, ...rest) => name === "vscode" ? vscode : load(name, ...rest);
const context = { extensionUri: uriOf(folder), subscriptions: [] };
createRequire(import.meta.url)(join(folder, manifest.main)).activate(context);
equal("what is registered", [context.subscriptions.length, views], [2, manifest.contributes.customEditors.map(({ viewType }) => viewType)]);
let receive = null;
const webview = { cspSource: "data:", asWebviewUri: () => `data:application/octet-stream;base64,${bytes.toString("base64")}`, onDidReceiveMessage: listen => { receive = listen; },
  postMessage: message => posted.push(message) };
let dispose = null;
await provider.resolveCustomEditor(provider.openCustomDocument(uriOf(recording)), { webview, onDidDispose: listen => { dispose = listen; } });
like("its page", webview.html.slice(0, 1000), /default-src 'none'; connect-src data:;/);
equal("roots", webview.options.localResourceRoots.map(String), [recording.slice(0, recording.lastIndexOf("/"))]);
await receive({ save: "x.svg", bytes: new Uint8Array(3) });
equal("what is saved", saved, [`${recording.slice(0, recording.lastIndexOf("/"))}/x.svg`, 3]);

changes[1](); // twice, which is one
changes[1]();
for (let tries = 0; !posted.length && tries < 600; tries++) await new Promise(done => setTimeout(done, 100));
await new Promise(done => setTimeout(done, 1000)); // and no more
equal("what is followed", changes[0], basename(recording));
equal("a recording that is made anew", posted.map(({ recording: { name } }) => name), [basename(recording)]);
dispose();
equal("in the end", changes[2], "disposed");

/* ---- the webview ---- */

const site = mkdtempSync(join(tmpdir(), "perfile-vscode-")), path = join(site, "webview.html");
const API = "globalThis.posted = []; globalThis.acquireVsCodeApi = () => ({ postMessage: message => posted.push([message.save, message.bytes.length]) });";
writeFileSync(path, webview.html.replace("<body>", `<body class="vscode-dark"><script>${API}</script>`));
const browser = await openBrowser(findBrowser()), page = await browser.page(900, 600);
await page.open(pathToFileURL(path).href);
const until = what => page.evaluate(`new Promise((done, fail) => { const last = Date.now() + 60000, look = () =>
  ${what} ? done() : Date.now() > last ? fail(new Error("waited in vain")) : setTimeout(look, 10); look(); })`);
await until("document.documentElement.dataset.shown === 'flame'");
await page.evaluate("perfilePage.choose('flame', 'flame --format html --symfs /nonexistent demo.perf.data')"); // whatever this machine has
equal("the picture", await page.evaluate(`crypto.subtle.digest("SHA-256", perfilePage.made.get("flame").shown).then(all => [...new Uint8Array(all)].map(byte => byte.toString(16).padStart(2, "0")).join(""))`), digest);
equal("its name", await page.evaluate("document.querySelector('#now').textContent"), basename(recording));
equal("as dark as the editor", await page.evaluate("document.documentElement.className"), "dark");
await page.evaluate("[...document.querySelectorAll('#savemenu button')].find(button => /Folded/.test(button.textContent)).click()");
await until("posted.length === 1");
like("saving asks the editor", (await page.evaluate("posted"))[0].join(" "), /^demo\.perf\.folded [1-9]\d+$/);
await page.evaluate("(frame => { frame.document.querySelector('#save').click(); [...frame.document.querySelectorAll('#menu button')].find(button => /Page as shown/.test(button.textContent)).click(); })(document.querySelector('#view iframe').contentWindow)");
await until("posted.length === 2");
like("and so does the picture", (await page.evaluate("posted"))[1].join(" "), /\.html [1-9]\d{4}/);
for (const [names, isDark] of [["vscode-high-contrast-light vscode-high-contrast", false], ["vscode-high-contrast", true], ["vscode-light", false]]) {
  await page.evaluate(`document.body.className = "${names}"`);
  await until(`document.documentElement.classList.contains("dark") === ${isDark}`);
}
await page.evaluate(`void postMessage(${JSON.stringify({ recording: posted[0].recording })}, "*")`);
await until("perfilePage.made.size === 0");
await until("perfilePage.made.has('flame') && !('busy' in document.documentElement.dataset)");
equal("what is read again", await page.evaluate("perfilePage.open.recordings.length"), 1);
equal("errors", page.errors, []);
await page.evaluate(`void postMessage({ recording: { url: "data:nothing", name: "gone.data" } }, "*")`);
await until("/failed to fetch/i.test(document.body.innerText)"); // as the browser calls it
await browser.close();
rmSync(site, { recursive: true });
finish();
