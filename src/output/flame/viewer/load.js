/* SPDX-License-Identifier: MIT */
/* The data of the page, unpacked. Large pages have a worker made of their own text, which unpacks them and does what takes long:
 * see background.js. */
const ownText = !inWorker && document.currentScript ? document.currentScript.textContent : "";

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* --- the page as it was read: what readers save is that, with what they see. Blobs are not in the memory of the page. --- */

const keptPage = {
  saved: {}, page: null, data: null,
  takeData() {
    const [saved, text] = ["saved", "data"].map(id => $(id).textContent);
    if (saved.trim()) this.saved = JSON.parse(saved);
    $("saved").textContent = $("data").textContent = "";
    this.data = new Blob([text]);
    this.page = new Blob(["<!DOCTYPE html>\n", document.documentElement.outerHTML]);
    $("saved").remove();
    $("data").remove();
    return text;
  },
  async withSaved(saved) {
    const text = await this.page.text(), pieces = [];
    let from = 0;
    for (const [mark, part] of [['id="saved">', JSON.stringify(saved).replace(/</g, "\\u003c")], ['id="data">', this.data]]) {
      const to = text.indexOf(mark, from) + mark.length;
      pieces.push(text.slice(from, to), part);
      from = to;
    }
    return new Blob([...pieces, text.slice(from)], { type: "text/html" });
  },
};

/* --- the worker --- */

const LARGE = 150000; /* stacks and samples */
let worker = null;
/* What another thread reported first, null if there can be none: some browsers, and pages in other pages, have their rules. */
function unpackedByWorker(header) {
  return new Promise(done => {
    const fail = () => { worker = null; $("busy").textContent = ""; done(null); };
    $("busy").textContent = "Opening…";
    try {
      const url = URL.createObjectURL(new Blob([ownText], { type: "text/javascript" }));
      worker = new Worker(url);
      worker.onmessage = ({ data }) => { URL.revokeObjectURL(url); done(data); };
      worker.onerror = e => { e.preventDefault(); fail(); };
      worker.postMessage(header);
    } catch {
      fail();
    }
  });
}
const unpacked = async header => openColumns(header, await inflated(bytesOf(header.packed)));
const isLarge = ({ parts }) => parts.reduce((sum, [name, , rows]) => sum +
  (/(stacks\.fn|samples\.stack)$/.test(name) ? rows : 0), 0) >= LARGE;
async function readData() {
  if (inWorker) return unpacked(await new Promise(done => { onmessage = ({ data }) => done(data); }));
  const header = JSON.parse(keptPage.takeData());
  return ownText && isLarge(header) && await unpackedByWorker(header) || unpacked(header);
}

if (typeof DecompressionStream === "undefined") {
  $("details").textContent = "This page needs a browser of 2023 or later.";
  return;
}
const data = await readData();
const { labels, shorter } = data;
