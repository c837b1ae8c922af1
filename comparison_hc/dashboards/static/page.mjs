// The page of a dashboard: controls to requests, events to what is shown. It decides nothing about what it shows.
import {change} from "./tools.mjs";
import {listen, readSettings} from "./controls.mjs";
import {drawTree} from "./trees.mjs";
import {makeChart, makeHistory} from "./charts.mjs";

// The HTML of a page stands in `root`, with charts in it. `put` shows {name: what} at the places with these names.
export function makePage(root, spec) {
  const view = Math.random().toString(36).slice(2);
  root.classList.add("chc");
  root.innerHTML = spec.html.replaceAll("{view}", view);
  const at = name => root.querySelectorAll(`[data-show="${name}"]`);
  const charts = {};
  for (const [name, chart] of Object.entries(spec.charts)) charts[name] = makeChart(at(name)[0], chart);
  function put(shown) {
    for (const [name, what] of Object.entries(shown)) {
      if (charts[name]) charts[name].draw(what);
      else at(name).forEach(element => {
        const {tree, ...attributes} = typeof what === "string" ? {html: what} : what;
        if (tree) drawTree(element, tree);
        change(element, attributes);
      });
    }
  }
  new ResizeObserver(() => window.dispatchEvent(new Event("resize"))).observe(root);        // charts listen to that
  return {root, view, charts, put};
}

// Number the requests, ignore answers to older ones, and say what is going on.
function conversation({root, view}, connect, heard) {
  const bar = root.querySelector(".chc-bar"), words = root.querySelector(".chc-progress [role=status]");
  const show = (share, text) => { bar.style.width = `${100 * share}%`; words.textContent = text; };
  const figure = number => number.toLocaleString("en");
  let count = 0, started = 0, silence = 0, late = 0;
  const ask = connect(event => {
    if (event.number !== `${view}:${count}`) return;
    clearTimeout(silence);
    const {kind, text, done, total} = event;
    if (kind === "progress") show(done / (total || 1), total ? `${text}: ${figure(done)} of ${figure(total)}` : text);
    heard(event);
    if (kind !== "done") return;
    clearTimeout(late);
    root.classList.remove("chc-late");
    const ms = performance.now() - started;
    show(0, `computed and drawn in ${ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`}`);
    root.dataset.done = count;
  });
  return settings => {
    count += 1;
    started = performance.now();
    clearTimeout(silence);
    clearTimeout(late);
    silence = setTimeout(() => show(0, "no answer yet: is the kernel still running?"), 10000);
    late = setTimeout(() => root.classList.add("chc-late"), 400);             // old results fade while new ones come
    root.dataset.asked = count;
    ask({number: `${view}:${count}`, settings});
  };
}

// A dashboard with settings. An event may say when it counts (`when`: a setting, a value that it has or contains, and
// whether it should), what to show, notes, and rows for the history. `extend` gives what only this dashboard does, as
// {kind: function of event}.
export function show(root, connect, spec, extend) {
  const page = makePage(root, spec), own = extend ? extend(page) : {};
  const figure = root.querySelector(".chc-history"), history = figure && makeHistory(figure, page.charts.history);
  let asked = {}, notes = new Set(), visit = {rows: []};
  const paragraph = textContent => Object.assign(document.createElement("p"), {textContent});
  const counts = ([name, value, wanted = true]) => [asked[name]].flat().includes(value) === wanted;
  const ask = conversation(page, connect, event => {
    const {kind, when, drawn} = event;
    if (when && !counts(when)) return;
    if (event.show || kind === "sentence") root.classList.toggle("chc-void", kind === "sentence");
    if (event.show) page.put(event.show);
    for (const note of event.notes ?? (kind === "sentence" ? [event.text] : [])) notes.add(note);
    if (event.visit) visit = {...visit, ...event.visit, rows: [...visit.rows, ...(event.visit.rows ?? [])]};
    own[kind]?.(event);
    if (drawn) root.dataset.drawn = root.dataset.asked;
    if (drawn || kind === "done") root.querySelector(".chc-notes").replaceChildren(...[...notes].map(paragraph));
    if (kind === "done" && history && visit.rows.length) history.add(visit);
  });
  function again() {
    asked = readSettings(root, spec.start);
    [notes, visit] = [new Set(), {rows: []}];
    own.asked?.();
    ask(asked);
  }
  listen(root, again);
  again();
}

// Who answers: a kernel, or the events stored in this file, each different event once.
export function kernel(model) {
  return heard => {
    model.on("msg:custom", heard);
    return request => model.send(request);
  };
}
export function stored({names, events, answers}) {
  return heard => ({number, settings}) => {
    for (const place of answers[names.map(name => settings[name]).join("|")]) heard({...events[place], number});
    heard({kind: "done", number});
  };
}
