// SPDX-License-Identifier: MIT
// Lets speedscope import a file and export it again: node speedscope.mjs PACKAGE FILE FOLDER. Prints what it holds.
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { openBrowser } from "../viewer/browser.mjs";

const [folderOfPackage, file, folder] = process.argv.slice(2);
const loader = resolve(folder, "load.js");
writeFileSync(
  loader,
  `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, "${readFileSync(file).toString("base64")}");`,
);
const browser = await openBrowser("chromium");
try {
  const page = await browser.page();
  const home = join(resolve(folderOfPackage), "dist/release/index.html");
  await page.open(`file://${home}#localProfilePath=${loader}`);
  /* Its export is a download of a blob: the button appears when the import is done. */
  const saved = await page.evaluate(`new Promise((done, fail) => {
    URL.createObjectURL = blob => { blob.text().then(done); return "#"; };
    const began = Date.now(), look = () => {
      const button = [...document.querySelectorAll("div")].filter(d => /Export$/.test(d.innerText)).pop();
      if (button) button.click();
      else if (Date.now() - began > 60000) fail(new Error(document.body.innerText.slice(0, 300)));
      else setTimeout(look, 50);
    };
    look();
  })`);
  const { profiles, shared } = JSON.parse(saved);
  const length = p => (p.weights ? p.weights.reduce((a, b) => a + b, 0) : p.endValue - p.startValue);
  console.log(
    JSON.stringify({
      profiles: profiles.length,
      frames: shared.frames.length,
      weight: profiles.reduce((a, p) => a + length(p), 0),
    }),
  );
} finally {
  await browser.close();
}
