/* SPDX-License-Identifier: MIT */
/* The views over time: each is made when it is looked at first. They ask for filters in their words. */
const overViews = { tracks: () => tracks, chart: () => stackChart, heat: () => heatMap }, openViews = {};

const filled = list => list && list.length ? list : null;
const stateOverTime = () => ({ event: state.event, measure: state.measure, time: state.time, timeBefore: state.timeBefore, threads: filled(state.pick), cpus: filled(state.cpus),
  processes: filled(state.processes), window: state.window, byDay: state.byDay, selected: state.fn, search: shown.searched, ...searchFilters(),
  ...(state.thread >= 0 ? { thread: state.thread } : {}), ...(state.cpu >= 0 ? { cpu: state.cpu } : {}), ...(state.column ? { column: state.column } : {}) });
function takeFilter({ time, timeBefore = state.timeBefore, threads, cpus, processes }) {
  change({ time: time || null, timeBefore: timeBefore || null, pick: threads || [], cpus: cpus || [], processes: processes || [] });
}
/* The tracks of both recordings, if they have the event. */
function bothSides() {
  const { before } = data.events[state.event], left = of => query.restricted(of, searchFilters());
  if (before === undefined) return { data: left(data) };
  shown.earlier ||= { ...data, ...data.earlier };
  return { data: left(data), other: left(shown.earlier), otherEvent: data.events.length + before, titles: ["Now", "Before"] };
}
function openOverTime(view) {
  return overViews[view]()($("over-" + view), {
    ask: (name, question, done) => ask(name, name, question, done),
    onFilter: takeFilter,
    onWindow: window => change({ window }, "replace"),
    onByDay: byDay => change({ byDay: !!byDay }, "replace"),
    onThread: (thread, cpu) => change({ thread, cpu }, "replace"),
    onColumn: column => change({ column }, "replace"),
    onSelect: fn => change({ fn }, "replace"),
    onHover: text => { if (text) $("details").textContent = text; },
    names: drawnNames,
    colour: fillOfGroup,
  });
}
/* What of the samples the view reads, for the first time: [data, event, whether it belongs to the recording before]. */
const readBy = (view, { other, otherEvent }) => view === "chart" ? []
  : [[data, state.event, false], ...(other ? [[other, otherEvent, true]] : [])].filter(([of]) => of === data || of === shown.earlier);
function showOverTime(view) {
  const open = openViews[view] ||= openOverTime(view), input = view === "tracks" ? bothSides() : { data };
  const missing = readBy(view, input).find(([of, event]) => !timeIndex.isThere(of, event));
  if (missing) {
    const [of, event, isPast] = missing;
    ask("pane", "pane", { event, earlier: isPast }, made => {
      timeIndex.give(of, event, made);
      if (state.view === view) showOverTime(view);
    });
    return;
  }
  if (view === "chart") input.transforms = stackSteps();
  open.show(input, stateOverTime());
}
