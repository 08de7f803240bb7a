/* SPDX-License-Identifier: MIT */
/* A tree in typed arrays; parents stand before children. `self` and `total` are what is drawn; of pages that compare,
 * `other` and `otherTotal` are the same of the other recording. */
class Tree {
  constructor(rootGroup, room = 1024) {
    this.room = room;
    this.count = 1;
    this.parent = new Int32Array(this.room);
    this.group = new Int32Array(this.room);
    this.group[0] = rootGroup;
    this.slots = new Int32Array(room * 4);
  }
  /* What a query found; `groups`: by node. */
  static of(found, groups) {
    return Object.assign(Object.create(Tree.prototype), { count: found.count, parent: found.parent, group: groups });
  }
  slot(parent, group) {
    const mask = this.slots.length - 1;
    let i = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(group, 0x85ebca6b)) >>> 7 & mask;
    for (let n; (n = this.slots[i]) && (this.parent[n] !== parent || this.group[n] !== group);) i = (i + 1) & mask;
    return i;
  }
  child(parent, group) {
    let i = this.slot(parent, group);
    if (this.slots[i]) return this.slots[i];
    if (this.count === this.room) {
      this.grow();
      i = this.slot(parent, group);
    }
    this.parent[this.count] = parent;
    this.group[this.count] = group;
    return (this.slots[i] = this.count++);
  }
  grow() {
    this.room *= 2;
    for (const name of ["parent", "group"]) {
      const bigger = new Int32Array(this.room);
      bigger.set(this[name]);
      this[name] = bigger;
    }
    this.slots = new Int32Array(this.room * 4);
    for (let n = 1; n < this.count; n++) this.slots[this.slot(this.parent[n], this.group[n])] = n;
  }
  /* All nodes are there. */
  finish() {
    const { count, parent } = this;
    this.slots = null;
    this.self = new Float64Array(count);
    this.total = new Float64Array(count);
    if (data.compares) {
      this.other = new Float64Array(count);
      this.otherTotal = new Float64Array(count);
    }
    this.start = new Float64Array(count);
    this.depth = new Int32Array(count);
    this.first = new Int32Array(count + 2);
    this.kids = new Int32Array(count);
    this.maxDepth = 0;
    for (let n = 1; n < count; n++) {
      this.first[parent[n] + 2]++;
      this.depth[n] = this.depth[parent[n]] + 1;
      if (this.depth[n] > this.maxDepth) this.maxDepth = this.depth[n];
    }
    for (let n = 0; n < count; n++) this.first[n + 2] += this.first[n + 1];
    for (let n = 1; n < count; n++) this.kids[this.first[parent[n] + 1]++] = n;
    return this;
  }
  /* self, and other if there is one, are filled. */
  weigh(order) {
    const { count, parent, total, otherTotal } = this;
    total.set(this.self);
    for (let n = count; n-- > 1;) total[parent[n]] += total[n];
    if (data.compares) {
      otherTotal.set(this.other);
      for (let n = count; n-- > 1;) otherTotal[parent[n]] += otherTotal[n];
      this.measure();
    }
    return this.place(order);
  }
  /* By how much more the frame weighs now than before. */
  change(node, whole) {
    return whole ? changeOf(this.total[node], this.otherTotal[node]) : changeOf(this.self[node], this.other[node]);
  }
  /* Leaf first, what weighs itself are the threads: there a frame's whole weight is compared. */
  shownChange(node) {
    return this.change(node, this.turned || state.colour === "whole");
  }
  measure() {
    this.mostOwn = this.mostWhole = 0;
    for (let n = 1; n < this.count; n++) {
      this.mostOwn = Math.max(this.mostOwn, Math.abs(this.change(n, false)));
      this.mostWhole = Math.max(this.mostWhole, Math.abs(this.change(n, true)));
    }
  }
  place(order) {
    const { count, total, start, first, kids, group } = this;
    const named = (a, b) => ranks[group[a]] - ranks[group[b]];
    const weighty = (a, b) => isOrdered(group[a]) && isOrdered(group[b]) ? 0 : total[b] - total[a];
    const heavy = (a, b) => weighty(a, b) || named(a, b);
    const compare = order === "name" ? named : heavy;
    for (let n = 0; n < count; n++) {
      const from = first[n], to = first[n + 1];
      if (to - from > 12) kids.subarray(from, to).sort(compare);
      else for (let i = from + 1; i < to; i++) {
        const kid = kids[i];
        let k = i;
        for (; k > from && compare(kids[k - 1], kid) > 0; k--) kids[k] = kids[k - 1];
        kids[k] = kid;
      }
      let at = start[n];
      for (let i = from; i < to; i++) {
        start[kids[i]] = at;
        at += total[kids[i]];
      }
    }
    return this;
  }
  heaviest(node) {
    let best = 0;
    for (let i = this.first[node]; i < this.first[node + 1]; i++)
      if (!best || this.total[this.kids[i]] > this.total[best]) best = this.kids[i];
    return best && this.total[best] ? best : 0;
  }
}

/* Processors and pieces of time keep their order. */
const isOrdered = group => groups[group].kind >= CPU && groups[group].kind < LIGHTER;
