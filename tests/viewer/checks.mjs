// SPDX-License-Identifier: MIT
// What the tests of the page count and say, and the browser that they run in.
import { existsSync } from "node:fs";
import { join } from "node:path";

const SKIPPED = 77,
  MAX_NOTICES = 100;
let failed = 0,
  count = 0;
export function skip(why) {
  console.log("skipped: " + why);
  process.exit(SKIPPED);
}
export function check(what, fine, seen) {
  count++;
  if (!fine && ++failed <= MAX_NOTICES) console.log(`FAILED: ${what}; seen: ${JSON.stringify(seen)}`);
}
export const equal = (what, seen, wanted) =>
  check(`${what} is ${JSON.stringify(wanted)}`, JSON.stringify(seen) === JSON.stringify(wanted), seen);
export const like = (what, seen, pattern) => check(`${what} is like ${pattern}`, pattern.test(seen), seen);
/* The test ends with what came of it. */
export function finish() {
  console.log(`${count} checks, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}
/* Chromium, or what PERFILE_BROWSER names: a program in PATH, or its path. */
export function findBrowser() {
  const asked = process.env.PERFILE_BROWSER, folders = (process.env.PATH || "").split(":");
  if (asked && asked.includes("/")) return asked;
  const names = asked ? asked.split(",") : ["chromium", "chromium-browser", "google-chrome", "chrome"];
  return names.flatMap(name => folders.map(folder => join(folder, name))).find(existsSync) || skip(`no ${asked || "Chromium"} in PATH: apt-get install ${asked || "chromium"}`);
}
