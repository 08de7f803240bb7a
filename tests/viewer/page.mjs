// SPDX-License-Identifier: MIT
// What tests read of a page in every browser.

/* A browser that cannot do what a test wants of it. */
export class Unsupported extends Error {}

export const readersOf = evaluate => ({
  box: selector =>
    evaluate(`(() => { const b = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
        return { x: b.x, y: b.y, width: b.width, height: b.height }; })()`),
  text: selector => evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`),
  /* The page unpacks its data first. */
  ready: patience =>
    evaluate(`new Promise((done, fail) => { const until = Date.now() + ${patience}, look = () =>
            "ready" in document.documentElement.dataset ? done()
            : Date.now() > until ? fail(new Error("the page is not ready")) : setTimeout(look, 5); look(); })`),
  /* Until the expression is true of the page, at most so long: what is expected then is checked by the test. */
  until: (expression, patience = 60000) =>
    evaluate(`new Promise(done => { const last = Date.now() + ${patience}, look = () =>
          (${expression}) || Date.now() > last ? done() : setTimeout(look, 10); look(); })`),
  /* Until all of it is drawn, what large pages compute beside it, too. */
  settle: () =>
    evaluate(`new Promise(r => setTimeout(function look() {
          const isBusy = () => "busy" in document.documentElement.dataset;
          if (isBusy()) setTimeout(look, 10);
          else requestAnimationFrame(() => requestAnimationFrame(() => isBusy() ? look() : r())); }, 30))`),
});
