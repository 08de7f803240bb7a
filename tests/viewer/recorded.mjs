// SPDX-License-Identifier: MIT
// Recordings as the page decodes them, from `perfile table samples`; and what perfile itself counts in them.
import { execFileSync } from "node:child_process";
import { makeData } from "./made_data.mjs";

/* Nothing of the environment is to matter, and nothing is to be fetched. */
function ask(perfile, ...what) {
  const options = { encoding: "utf8", env: process.env, stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 };
  return execFileSync(perfile, what, options);
}
function tableOf(perfile, ...what) {
  /* own weights of functions have none of what was inlined */
  const { columns, rows } = JSON.parse(ask(perfile, "table", ...what, "--no-inline", "--format", "json"));
  return { rows, column: name => columns.findIndex(c => c.name === name) };
}

/* Arguments are in some views only. */
const short = name => name.replace(/^([^\s(]+)\(.*\)(?: const)?$/, "$1");

const COLUMNS = "time,event,pid,tid,comm,period,stack";
export function readRecording(perfile, path) {
  const { rows, column } = tableOf(perfile, "samples", "--columns", COLUMNS, path),
    of = (row, name) => row[column(name)];
  const functions = new Map(),
    threads = new Map(),
    events = new Map();
  const number = (map, key) => map.get(key) ?? map.set(key, map.size).get(key);
  const start = of(rows[0], "time");
  const samples = rows.map(row => [
    of(row, "time") - start,
    of(row, "stack")
      .map(name => number(functions, short(name)))
      .reverse(),
    number(threads, JSON.stringify([of(row, "pid"), of(row, "tid"), of(row, "comm")])),
    -1,
    number(events, of(row, "event")),
    of(row, "period"),
    1,
  ]);
  const data = makeData({
    functions: [...functions.keys()].map(name => [name, null]),
    threads: [...threads.keys()].map(id => [...JSON.parse(id), 0, 0]),
    samples,
  });
  return { data, start, events: [...events.keys()] };
}

/* "comm;outermost;...;leaf weight" of an event, sorted. */
export function foldedBy(perfile, path, event, ...options) {
  const { rows, column } = tableOf(perfile, "stacks", "--by", "comm", "--events", event, ...options, path);
  const of = (row, name) => row[column(name)];
  return rows
    .map(row => [of(row, "comm"), ...of(row, "stack").reverse().map(short)].join(";") + ` ${of(row, "period")}`)
    .sort();
}

/* [name, own weight, complete] of the functions of an event that have a name of their own. */
export function functionsBy(perfile, path, event) {
  const { rows, column } = tableOf(perfile, "functions", "--sort", "symbol", "--events", event, path),
    at = column("symbol");
  const named = rows
    .filter(row => row[at] !== null)
    .map(row => [short(row[at]), row[column("self")], row[column("total")]]);
  return named.filter(([name]) => named.filter(row => row[0] === name).length === 1);
}
