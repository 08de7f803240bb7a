/* SPDX-License-Identifier: MIT */
/* What keys are called: see query.js for keys. A group is the key of a function or of what stands below stacks; -1 is all. */
const text = number => number < 0 ? "" : data.strings[number];
const commOf = thread => thread < 0 ? "[unknown]" : text(data.threads.comm[thread]) || "[unknown]";
const makers = {
  function: i => {
    const { name, module, file, line, kind } = data.functions;
    return { label: text(name[i]), module: text(module[i]), file: text(file[i]), line: line[i], kind: kind[i] };
  },
  module: i => ({ label: `[${base(text(i)) || "unknown"}]`, module: text(i), kind: MODULE }),
  comm: i => ({ label: text(i) || "[unknown]", kind: THREAD }),
  alike: i => {
    const count = data.threads.alike.reduce((n, one, t) => n + (one === i && t < data.ownThreads), 0);
    return { label: (text(i) || "[unknown]") + (count > 1 && !data.threads.comm.includes(i) ? ` ×${count}` : ""), kind: THREAD };
  },
  waker: i => ({ label: i < 0 ? "[waker not known]" : `woken by ${text(i) || "[unknown]"}`, kind: THREAD }),
  thread: i => ({ label: i < 0 ? "[unknown]" : `${commOf(i)} (${data.threads.pid[i]}/${data.threads.tid[i]})`, kind: THREAD }),
  process: pid => {
    const { pid: pids, tid } = data.threads, found = pids.findIndex((p, i) => p === pid && tid[i] === pid);
    return { label: `${commOf(found < 0 ? pids.indexOf(pid) : found)} (${pid})`, kind: THREAD };
  },
  cpu: i => ({ label: i < 0 ? "[no cpu]" : "cpu" + String(i).padStart(3, "0"), kind: CPU }),
  event: i => ({ label: data.meta.events[i].name, kind: CPU }),
  time: i => ({ label: i < 0 ? "[no time]" : timeLabel(i), kind: TIME }),
};
/* As `perfile flame --by time` calls pieces in its other forms. */
function timeLabel(piece) {
  let digits = 9;
  for (let rest = data.quantum; digits && rest % 10 === 0; rest /= 10) digits--;
  return (piece * data.quantum / 1e9).toFixed(digits) + "s";
}
const known = new Map();
function about(group) {
  let found = known.get(group);
  if (found) return found;
  const { type, index } = query.describe(data, group);
  known.set(group, found = { module: "", file: "", line: 0, ...makers[type](index), type, index });
  return found;
}
/* Processors, events and pieces of time keep their order. */
const firstOrdered = query.keyOf(data, "cpu", -1), isOrdered = group => group >= firstOrdered;
