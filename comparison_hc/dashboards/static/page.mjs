// The page of a dashboard: controls to requests, events to what is shown. It decides nothing about what it shows.
import {change, isAlone, sayThere} from "./tools.mjs";
import {listen, obeyAddress, readSettings} from "./controls.mjs";
import {drawTree} from "./trees.mjs";
import {makeChart, makeHistory} from "./charts.mjs";

// The HTML of a page stands in `root`, with charts in it. `put` shows {name: what} at the places with these names.
export function makePage(root, spec) {
  const view = Math.random().toString(36).slice(2), charts = {};
  const at = name => root.querySelectorAll(`[data-show="${name}"]`);
  root.classList.add("chc");
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
    root.dataset.done = count;
  });
  return settings => {
    [started, root.dataset.asked] = [performance.now(), count += 1];
    [silence, late].forEach(timer => clearTimeout(timer));
    silence = setTimeout(() => say("no answer yet: is the kernel still running?"), 10000);
    late = setTimeout(() => root.classList.add("chc-late"), 400);             // old results fade while new ones come
    ask({number: `${view}:${count}`, settings});
  };
}

// A dashboard with settings. What an event may have is said in notebook 60; `when` is a setting, a value that it has or
// contains, and whether it should. `extend` gives what only this dashboard does, as {kind: function of event}.
export function show(root, connect, spec, extend = () => ({})) {
  const page = makePage(root, spec), own = extend(page), figure = root.querySelector(".chc-history");
  const history = figure && makeHistory(figure, page.charts.history);
  let asked = {}, notes = new Set(), visit = {rows: []};
  const paragraph = textContent => Object.assign(document.createElement("p"), {textContent});
  const counts = ([name, value, wanted = true]) => [asked[name]].flat().includes(value) === wanted;
  const ask = conversation(page, connect, event => {
    const {kind, drawn} = event;
    if (event.when && !counts(event.when)) return;
    if (event.show || kind === "sentence") root.classList.toggle("chc-void", kind === "sentence");
    page.put(event.show ?? {});
    for (const note of event.notes ?? (kind === "sentence" ? [event.text] : [])) notes.add(note);
    if (event.visit) visit = {...visit, ...event.visit, rows: [...visit.rows, ...(event.visit.rows ?? [])]};
    own[kind]?.(event);
    if (drawn) root.dataset.drawn = root.dataset.asked;
    if (drawn || kind === "done") root.querySelector(".chc-notes").replaceChildren(...[...notes].map(paragraph));
    if (kind === "done" && history && visit.rows.length) history.add(visit);
  });
  function again() {
    [asked, notes, visit] = [readSettings(root, spec.start), new Set(), {rows: []}];
    own.asked?.();
    ask(asked);
  }
  obeyAddress(root);
  listen(root, again);
  again();
  root.addEventListener("change", ({target}) => target.dataset.setting && sayThere({...asked, at: []}));
  if (isAlone()) window.addEventListener("hashchange", () => location.reload());       // another link to the same page
}

// How a page starts; a dashboard with a module of its own puts another function here.
export const begin = {start: show};
