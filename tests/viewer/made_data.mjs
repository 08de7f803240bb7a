// SPDX-License-Identifier: MIT
// Data as the page decodes it, made from lists that can be read.
import { readFileSync } from "node:fs";

export const loadQuery = path => new Function(readFileSync(path, "utf8") + "\nreturn query;")();

/* Stacks are texts "outermost;...;leaf" of the names of functions, or lists of their indexes. */
export function makeData({ functions, threads, samples, intervals = [] }) {
  const strings = [],
    numbers = new Map(),
    string = text => {
      if (!numbers.has(text)) numbers.set(text, strings.push(text) - 1);
      return numbers.get(text);
    };
  const parents = [],
    fns = [],
    known = new Map();
  const stackOf = text => {
    let at = -1;
    for (const part of typeof text === "string" ? text.split(";").filter(x => x) : text) {
      const fn = typeof part === "number" ? part : functions.findIndex(f => f[0] === part),
        id = `${at};${fn}`;
      if (!known.has(id)) {
        parents.push(at);
        known.set(id, fns.push(fn) - 1);
      }
      at = known.get(id);
    }
    return at;
  };
  const column = (rows, i, Type) => Type.from(rows, row => row[i]);
  const stacks = samples.map(s => stackOf(s[1])),
    waits = intervals.map(i => stackOf(i[2]));
  const made = {
    functions: {
      name: Int32Array.from(functions, f => string(f[0])),
      module: Int32Array.from(functions, f => (f[1] === null ? -1 : string(f[1]))),
      file: new Int32Array(functions.length).fill(-1),
      line: new Int32Array(functions.length),
      kind: new Uint8Array(functions.length),
    },
    stacks: { parent: Int32Array.from(parents), fn: Int32Array.from(fns) },
    threads: {
      pid: column(threads, 0, Int32Array),
      tid: column(threads, 1, Int32Array),
      comm: Int32Array.from(threads, t => string(t[2])),
      first: column(threads, 3, Float64Array),
      last: column(threads, 4, Float64Array),
    },
    samples: {
      time: column(samples, 0, Float64Array),
      stack: Int32Array.from(stacks),
      thread: column(samples, 2, Int32Array),
      cpu: column(samples, 3, Int32Array),
      event: column(samples, 4, Uint16Array),
      weight: column(samples, 5, Float64Array),
      count: column(samples, 6, Float64Array),
    },
    intervals: {
      from: column(intervals, 0, Float64Array),
      to: column(intervals, 1, Float64Array),
      stack: Int32Array.from(waits),
      thread: column(intervals, 3, Int32Array),
      state: Int32Array.from(intervals, i => i[4] ?? 0),
      waker: new Int32Array(intervals.length).fill(-1),
    },
    strings,
  };
  return made;
}

/* next(n): one of 0 .. n - 1, the same for the same seed. */
export function seeded(seed) {
  let state = (seed * 2654435761) >>> 0 || 1;
  return n => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
}

/* Small, but with recursion, functions of one name, unknown modules, samples without stack, time, thread or CPU. */
export function randomData(next) {
  const functions = [];
  for (let i = 0; i < 8; i++)
    functions.push([`f${i % 7}${i % 3 ? "" : `<${next(2)}>`}`, next(6) ? `/m${i % 3}` : null]);
  const ordered = next(2),
    threads = [];
  for (let t = 0; t < 5; t++) threads.push([t >> 1, t, `t${next(3)}`, 0, 1000]);
  const stack = () => Array.from({ length: next(8) }, () => next(functions.length));
  const samples = Array.from({ length: next(120) }, (_, i) => [
    ordered ? i * 9 : next(9) ? next(1000) : NaN,
    stack(),
    next(6) - 1,
    next(4) - 1,
    next(2),
    next(50) + 1,
    next(3) + 1,
  ]);
  const intervals = Array.from({ length: next(30) }, () => {
    const from = next(900);
    return [from, from + next(100), stack(), next(6) - 1, next(4)];
  });
  return { ...makeData({ functions, threads, samples, intervals }), quantum: 37, start: { clock: 1000 } };
}
