import {said, sayThere} from "./tools.mjs";
// A chart in `element`, from a Vega specification that Python makes. An event replaces its rows and signals, never the
// chart: `draw` takes {rows: {name: rows}, signals: {name: value}}.
export function makeChart(element, spec) {
  const options = {mode: "vega", renderer: "svg", actions: false, logLevel: 1};
  const ready = globalThis.comparisonCharts(element, spec, options).then(({view}) => view);
  return {ready, async draw({rows = {}, signals = {}, label}) {
    const view = await ready;
    for (const [name, each] of Object.entries(rows)) view.data(name, each);
    for (const [name, value] of Object.entries(signals)) view.signal(name, value);
    if (label) element.setAttribute("aria-label", label);
    view.run();
  }};
}

// The settings that were answered on this page, against the order of visit or one of the sliders. A visit has its
// rows, its place on each slider, and for each slider a key: visits with equal keys differ in that slider and the seed.
export function makeHistory(figure, chart) {
  const visits = [], select = figure.querySelector("select"), caption = figure.querySelector("figcaption");
  const several = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  function draw() {
    const by = select.value, latest = visits.at(-1), inOrder = by === "visit";
    const shown = inOrder ? visits.slice(-40) : visits.filter(visit => visit.keys[by] === latest.keys[by]);
    const place = visit => inOrder ? visits.indexOf(visit) + 1 : visit.places[by];
    chart.draw({
      rows: {visits: shown.flatMap(visit => visit.rows.map(row => ({...row, word: visit.word, x: place(visit)})))},
      signals: {against: by, now: place(latest)},
      label: `${figure.dataset.measure} of ${several(visits.length, "setting")}`,
    });
    const left = visits.length - shown.length;
    const all = `${left ? `The last ${shown.length} of ` : ""}${several(visits.length, "setting")} so far`;
    const along = `${several(shown.length, "visit")} with the present ${select.selectedOptions[0].dataset.rest}`;
    const others = left ? `; the others of ${visits.length} are left out` : "";
    caption.textContent = inOrder ? `${all}; dotted: the present one.` : `${along}, all seeds${others}.`;
  }
  for (const option of select.options) option.selected = option.value === (said("against")[0] ?? "visit");
  select.addEventListener("change", () => { sayThere({against: select.value}); if (visits.length) draw(); });
  return {add(visit) { visits.push(visit); draw(); }};
}
