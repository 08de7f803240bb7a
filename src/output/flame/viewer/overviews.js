/* SPDX-License-Identifier: MIT */
/* The views over time: each is made when it is looked at first. They ask for filters in their words. */
const overViews = { tracks: () => tracks, chart: () => stackChart, heat: () => heatMap }, openViews = {};

const filled = list => list && list.length ? list : null;
const stateOverTime = () => ({ event: state.event, time: state.time, threads: filled(state.pick), cpus: filled(state.cpus),
  processes: filled(state.processes), window: state.window, byDay: state.byDay, selected: state.fn, pattern,
  ...(state.thread >= 0 ? { thread: state.thread } : {}), ...(state.column ? { column: state.column } : {}) });
function takeFilter({ time, threads, cpus, processes }) {
  change({ time: time || null, pick: threads || [], cpus: cpus || [], processes: processes || [] });
}
function openOverTime(view) {
  return overViews[view]()($("over-" + view), {
    onFilter: takeFilter,
    onWindow: window => change({ window }, "replace"),
    onByDay: byDay => change({ byDay: !!byDay }, "replace"),
    onThread: thread => change({ thread }, "replace"),
    onColumn: column => change({ column }, "replace"),
    onSelect: fn => change({ fn }, "replace"),
    onHover: text => { if (text) $("details").textContent = text; },
    names: key => { const group = groupFor(key); return [shortOf(group), briefOf(group)]; },
    colour: key => fillOfKey(key),
  });
}
const fillOfKey = key => {
  const group = groupFor(key);
  return fills[group] || colour(groups[group].kind, hash(groups[group].label));
};
function showOverTime(view) {
  const open = openViews[view] ||= openOverTime(view), input = { data };
  if (view === "chart")
    Object.assign(input, { transforms: state.transforms, selection: query.filter(data, { event: state.event, ...whoIsWanted() }) });
  open.show(input, stateOverTime());
}
