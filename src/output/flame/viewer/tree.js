/* SPDX-License-Identifier: MIT */
/* A tree in typed arrays; parents stand before children. `self` and `total` are what is drawn; of pages that compare,
 * `other` and `otherTotal` are the same of the other recording. Children of n are kids[first[n]] up to first[n + 1]: those
 * with a weight in order, then the others. Where there is `done`, nodes without it may have children that are not there
 * yet; `of` is what the answers know the tree by. Of time on and off CPU, `off` is the part of `total` that is off CPU. */
class Tree {
  constructor(rootGroup, extent = 1024) {
    this.extent = extent;
    this.count = 1;
    this.parent = new Int32Array(this.extent);
    this.group = new Int32Array(this.extent);
    this.group[0] = rootGroup;
    this.slots = new Int32Array(extent * 4);
  }
  /* What a query found. */
  static of({ count, parent, key, depth, self, total, shape }, compares) {
    const made = Object.assign(Object.create(Tree.prototype), { count, parent, group: key, depth, self, total });
    return made.finish(compares, shape);
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
    if (this.count === this.extent) {
      this.grow();
      i = this.slot(parent, group);
    }
    this.parent[this.count] = parent;
    this.group[this.count] = group;
    return (this.slots[i] = this.count++);
  }
  grow() {
    this.extent *= 2;
    for (const name of ["parent", "group"]) {
      const bigger = new Int32Array(this.extent);
      bigger.set(this[name]);
      this[name] = bigger;
    }
    this.slots = new Int32Array(this.extent * 4);
    for (let n = 1; n < this.count; n++) this.slots[this.slot(this.parent[n], this.group[n])] = n;
  }
  /* All nodes are there. What follows from the shape alone is made once. */
  finish(compares, shape) {
    const { count, parent } = this, hasDepth = !!this.depth;
    this.depth ||= new Int32Array(count);
    for (let n = 1; n < count && !hasDepth; n++) this.depth[n] = this.depth[parent[n]] + 1;
    const listed = listedKids(shape || this, this.depth);
    this.slots = null;
    this.parent = this.parent.subarray(0, count);
    this.group = this.group.subarray(0, count);
    this.self ||= new Float64Array(count);
    this.total ||= new Float64Array(count);
    this.first = listed.first;
    this.kids = listed.kids.slice();
    this.maxDepth = listed.maxDepth;
    this.start = new Float64Array(count);
    if (compares) {
      this.other ||= new Float64Array(count);
      this.otherTotal ||= new Float64Array(count);
    }
    return this;
  }
  /* Own weights with those of all that is below. */
  withKids(own) {
    const { count, parent } = this, total = own.slice();
    for (let n = count; n-- > 1;) total[parent[n]] += total[n];
    return total;
  }
  /* self, and other if there is one, are filled. */
  sum() {
    this.total = this.withKids(this.self);
    if (this.other) this.otherTotal = this.withKids(this.other);
    return this;
  }
  /* What the weights of the other recording are multiplied with, and whether it is the later one. */
  comparedBy({ factor, swapped }) {
    Object.assign(this, { factor, swapped, mostOwn: 0, mostWhole: 0 });
    for (let n = 1; n < this.count; n++) {
      this.mostOwn = Math.max(this.mostOwn, Math.abs(this.change(n, false)));
      this.mostWhole = Math.max(this.mostWhole, Math.abs(this.change(n, true)));
    }
    return this;
  }
  changeOf(mine, other) {
    const change = mine - other * this.factor;
    return this.swapped ? -change : change;
  }
  /* By how much more the frame weighs now than before. */
  change(node, entire) {
    return entire ? this.changeOf(this.total[node], this.otherTotal[node]) : this.changeOf(this.self[node], this.other[node]);
  }
  /* Leaf first, what weighs itself are the threads: there a frame's complete weight is compared. */
  shownChange(node) {
    return this.change(node, this.turned || state.colour === "whole");
  }
  isThere(node) {
    return this.total[node] > 0 || !!this.otherTotal && this.otherTotal[node] > 0;
  }
  /* 1 when the children of a node are not there yet. */
  waits(node) {
    return !!this.done && !this.done[node];
  }
  site(order, ranks) {
    const { count, total, otherTotal, start, first, kids, group } = this;
    const named = (a, b) => ranks[group[a]] - ranks[group[b]];
    const heavy = (a, b) => group[a] >= firstOrdered && group[b] >= firstOrdered ? named(a, b) : total[b] - total[a] || named(a, b);
    const compare = order === "name" ? named : heavy, light = [];
    for (let n = 0; n < count; n++) {
      const from = first[n], to = first[n + 1];
      if (to - from < 2) {
        if (to > from) start[kids[from]] = start[n];
        continue;
      }
      let last = from;
      for (let i = from; i < to; i++) {
        const kid = kids[i];
        if (total[kid] || otherTotal && otherTotal[kid]) kids[last++] = kid; else light.push(kid);
      }
      for (let i = last; light.length; i++) kids[i] = light.pop();
      if (last - from > 12) kids.subarray(from, last).sort(compare);
      else for (let i = from + 1; i < last; i++) {
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

const listedOf = new WeakMap();
function listedKids(shape, depth) {
  if (listedOf.has(shape)) return listedOf.get(shape);
  const { count, parent } = shape, first = new Int32Array(count + 2), kids = new Int32Array(count);
  let maxDepth = 0;
  for (let n = 1; n < count; n++) {
    first[parent[n] + 2]++;
    if (depth[n] > maxDepth) maxDepth = depth[n];
  }
  for (let n = 0; n < count; n++) first[n + 2] += first[n + 1];
  for (let n = 1; n < count; n++) kids[first[parent[n] + 1]++] = n;
  const made = { first, kids, maxDepth };
  listedOf.set(shape, made);
  return made;
}
