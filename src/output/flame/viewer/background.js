/* SPDX-License-Identifier: MIT */
/* Questions of the page to answers.js. On small pages they are answered at once. Those of large pages are answered by a worker
 * with the same text and data: until it has, the last picture stays, and a word says that another one is coming. Of a
 * slot only the last question is asked. */

/* Answers are given away: what stays here is copied. */
function forSending(value, moved) {
  if (ArrayBuffer.isView(value)) {
    const copy = value.slice();
    moved.push(copy.buffer);
    return copy;
  }
  if (Array.isArray(value)) return value.map(one => forSending(one, moved));
  if (!value || typeof value !== "object") return value;
  const made = { isTree: value instanceof Tree };
  for (const name in value) if (typeof value[name] !== "function") made[name] = forSending(value[name], moved);
  return made;
}
function received(value) {
  if (!value || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  if (value.isTree) return Object.assign(Object.create(Tree.prototype), value);
  for (const name in value) value[name] = received(value[name]);
  return value;
}
if (inWorker) {
  onmessage = ({ data: { name, question } }) => {
    const moved = [], answer = forSending(answers[name](question), moved);
    postMessage(answer, moved);
  };
  postMessage(data);
  return;
}

const questions = new Map(), PATIENCE = 150;
let asked = null, lastTree = null, patience = 0;
function ask(slot, name, question, done) {
  if (!worker) {
    done(answers[name](question));
    return;
  }
  questions.delete(slot);
  questions.set(slot, { slot, name, question, done });
  askNext();
}
function discard(slot) {
  questions.delete(slot);
  if (asked && asked.slot === slot) asked.done = () => {};
}
function askNext() {
  if (asked || !questions.size) return;
  const [[slot, next]] = questions;
  questions.delete(slot);
  asked = next;
  if (next.name === "tree") lastTree = next;
  document.documentElement.dataset.busy = "";
  patience ||= setTimeout(() => { $("busy").textContent = "Working…"; }, PATIENCE);
  worker.postMessage({ name: next.name, question: next.question });
}
function rest() {
  if (asked || questions.size) return;
  clearTimeout(patience);
  patience = 0;
  $("busy").textContent = "";
  delete document.documentElement.dataset.busy;
}
if (worker) {
  worker.onmessage = ({ data: answer }) => {
    const { done } = asked;
    asked = null;
    askNext();
    done(received(answer));
    rest();
  };
  /* Out of memory, for example: the page does it itself. Most questions are about the last tree. */
  worker.onerror = e => {
    const left = new Set([lastTree, asked, ...questions.values()].filter(question => question));
    e.preventDefault();
    worker.terminate();
    worker = asked = null;
    questions.clear();
    rest();
    for (const { name, question, done } of left) done(answers[name](question));
  };
}
