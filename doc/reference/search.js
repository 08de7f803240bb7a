// SPDX-License-Identifier: MIT
// Finds what has all the words that are typed; `names` of names.js are [name, page, kind, words below it]. What has them in its name
// comes before what has them in its text, and there the library before guides and verbs.
'use strict';
const most = 40;
const root = document.body.dataset.root;
const field = document.getElementById('search');
const list = document.getElementById('found');
const LATER = { section: 1, guide: 2, verb: 3 };

function rank(name, kind, text, words) {
  const low = name.toLowerCase(), last = low.slice(low.lastIndexOf('.') + 1);
  if (words.every(word => low.includes(word)))
    return low === words[0] ? 0 : last === words[0] ? 1 : low.startsWith(words[0]) ? 2 : 3;
  const all = ` ${text} `;
  if (words.every(word => all.includes(` ${word} `) || low.includes(word)))
    return 4 + (LATER[kind] || 0);
  return words.every(word => text.includes(word) || low.includes(word)) ? 8 + (LATER[kind] || 0) : -1;
}

function found(words) {
  return names.map(([name, page, kind, text]) => ({ name, page, kind, rank: rank(name, kind, text, words) }))
    .filter(one => one.rank >= 0)
    .sort((a, b) => a.rank - b.rank || a.name.length - b.name.length);
}

function item(one) {
  const li = document.createElement('li'), link = document.createElement('a');
  link.href = root + one.page;
  link.textContent = one.name;
  li.append(link, ` ${one.kind}`);
  return li;
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = words.length ? found(words) : [];
  list.replaceChildren(...all.slice(0, most).map(item));
  if (words.length && all.length !== list.children.length) {
    const more = document.createElement('li');
    more.textContent = `${all.length - most} more`;
    list.append(more);
  }
  if (words.length && !all.length)
    list.append(Object.assign(document.createElement('li'), { textContent: 'nothing has these words' }));
  list.hidden = !words.length;
}

field.addEventListener('input', show);
field.addEventListener('keydown', event => {
  const first = list.querySelector('a');
  if (event.key === 'Enter' && first)
    location.href = first.href;
  if (event.key === 'ArrowDown' && first) {
    first.focus();
    event.preventDefault();
  }
  if (event.key === 'Escape') {
    field.value = '';
    show();
  }
});
list.addEventListener('keydown', event => {
  const links = [...list.querySelectorAll('a')], at = links.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step)
    return;
  (links[at + step] || field).focus();
  event.preventDefault();
});
document.addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement !== field) {
    field.focus();
    event.preventDefault();
  }
});
