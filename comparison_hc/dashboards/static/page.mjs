// The page of a dashboard: controls to requests, events to what is shown. It decides nothing about what it shows.
import {change, isAlone, keep, said, sayThere} from "./tools.mjs";
import {listen, putSettings, readSettings} from "./controls.mjs";
import {drawTree} from "./trees.mjs";
import {forms} from "./save.mjs";
// The library of charts: in a served page it comes after the page, which asks for numbers meanwhile.
const coming = () => new Promise(there => document.getElementById("library").addEventListener("load", there));
const library = async () => globalThis.comparisonCharts ?? (await coming(), globalThis.comparisonCharts);
// A chart in `element`, from a Vega specification that Python makes. An event replaces its rows and signals only.
function makeChart(element, spec) {
  const how = {mode: "vega", renderer: "svg", actions: false, logLevel: 1};
  const ready = library().then(draw => draw(element, spec, how)).then(({view}) => view);
  let due;                           // what came while the library did, or waits behind this event, is drawn at once
  return {ready, async draw({rows = {}, signals = {}, label}) {
    const view = await ready;
    for (const [name, each] of Object.entries(rows)) view.data(name, each);
    for (const [name, value] of Object.entries(signals)) view.signal(name, value);
    if (label) element.setAttribute("aria-label", label);
    if (due) return;
    due = await (due = new Promise(go => setTimeout(go)));
    view.run();
  }};
}
// The HTML of a page stands in `root`, with charts in it. `put` shows {name: what} at the places with these names.
export function makePage(root, spec) {
  const view = Math.random().toString(36).slice(2), charts = {};
  const at = name => root.querySelectorAll(`[data-show="${name}"]`);
  root.classList.add("chc");
  // Keys on a control are its own, not a notebook's, whose shortcuts look first at what has the focus.
  root.addEventListener("focusin", ({target}) => { target.dataset.lmSuppressShortcuts = true; });
  root.innerHTML = spec.html.replaceAll("{view}", view);
  for (const [name, chart] of Object.entries(spec.charts)) charts[name] = makeChart(at(name)[0], chart);
  function put(shown) {
    for (const [name, what] of Object.entries(shown)) {
      const {tree, ...attributes} = typeof what === "string" ? {html: what} : what;
      if (charts[name]) charts[name].draw(what);
      else at(name).forEach(each => tree ? drawTree(each, tree, attributes) : change(each, attributes));
    }
  }
  new ResizeObserver(() => window.dispatchEvent(new Event("resize"))).observe(root);        // charts listen to that
  return {root, view, charts, put};
}
// Number the requests, ignore answers to older ones, and say what is going on.
function conversation({root, view}, connect, heard) {
  const bar = root.querySelector(".chc-bar"), words = root.querySelector(".chc-progress [role=status]");
  let count = 0, started = 0, silence = 0, late = 0;
  const say = (text, share = 0) => { [bar.style.width, words.textContent] = [`${100 * share}%`, text]; };
  const ask = connect(event => {
    const {kind, number, text, done, total} = event;
    if (number !== `${view}:${count}`) return;
    clearTimeout(silence);
    const [part, whole] = [done, total].map(number => number?.toLocaleString("en"));
    if (kind === "progress") say(total ? `${text}: ${part} of ${whole}` : text, total && done / total);
    heard(event);
    if (kind !== "done") return;
    clearTimeout(late);
    root.classList.remove("chc-late");
    const ms = performance.now() - started;
    say(`computed and drawn in ${ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`}`);
    setTimeout(number => { root.dataset.done = number; }, 5, count);                         // then charts stand
  });
  return settings => {
    [started, root.dataset.asked] = [performance.now(), count += 1];
    [silence, late].forEach(timer => clearTimeout(timer));
    silence = setTimeout(() => say("no answer yet: Python is busy, or was stopped"), 10000);
    late = setTimeout(() => root.classList.add("chc-late"), 400);             // old results fade while new ones come
    ask({number: `${view}:${count}`, settings});
  };
}
// A dashboard with settings. What an event may have is said in notebook 60; `when` is a setting, a value that it has or
// contains, and whether it should. `extend` gives what only this dashboard does, as {kind: function of event}.
export function show(root, connect, spec, extend = () => ({})) {
  const page = makePage(root, spec), own = extend(page), rows = new Map();                 // of all settings so far
  let asked = {}, notes = new Set();
  const paragraph = textContent => Object.assign(document.createElement("p"), {textContent});
  const isMeant = ([name, value, wanted = true]) => [asked[name]].flat().includes(value) === wanted;
  const ask = conversation(page, connect, event => {
    const {kind, drawn, when} = event;
    if (when && !isMeant(when)) return;
    if (event.show || kind === "sentence") root.classList.toggle("chc-void", kind === "sentence");
    page.put(event.show ?? {});
    for (const note of event.notes ?? (kind === "sentence" ? [event.text] : [])) notes.add(note);
    for (const row of event.rows ?? []) rows.set(JSON.stringify(row), row);
    own[kind]?.(event);
    if (drawn) setTimeout(number => { root.dataset.drawn = number; }, 5, root.dataset.asked);
    if (drawn || kind === "done") root.querySelector(".chc-notes").replaceChildren(...[...notes].map(paragraph));
    if (kind === "done") page.charts.measure?.draw({rows: {visits: [...rows.values()]}});
  });
  const remember = () => sayThere({...asked, at: []});
  function again(wanted, words = []) {
    if (wanted) putSettings(root, wanted);
    [asked, notes] = [readSettings(root, spec.start), new Set(words)];
    own.asked?.();
    ask(asked);
  }
  listen(root, () => again());
  again(said);
  root.addEventListener("change", ({target}) => target.dataset.setting && remember());
  root.addEventListener("click", async ({target: {title, dataset: {save, preset}}}) => {
    const code = () => spec.code.replace("SETTINGS", JSON.stringify(asked));
    if (save) keep(`${spec.name}.${save}`, await (forms[save] ?? code)(root, [...rows.values()]));
    if (preset) remember(again(name => [JSON.parse(preset)[name] ?? []].flat().map(String), [title]));
  });
  if (isAlone()) window.addEventListener("hashchange", () => again(said));             // another link to the same page
}
// How a page starts; a dashboard with a module of its own puts another function here.
export const begin = {start: show};
