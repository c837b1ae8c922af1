// The page of a dashboard: controls to requests, events to what is shown. It decides nothing about what it shows.

// ---- tools

// Attributes by name; null takes one away, `html` is what stands inside. What is the same already stays untouched.
function change(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "html" && element.shown !== value) element.innerHTML = element.shown = value;
    else if (value === null) element.removeAttribute(name);
    else if (name !== "html" && element.getAttribute(name) !== `${value}`) element.setAttribute(name, value);
  }
}
const bytes = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
function keep(download, what) {
  const href = URL.createObjectURL(new Blob([what]));
  Object.assign(document.createElement("a"), {href, download}).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}
// A page of its own has settings in its address, behind # (or ?); one in a notebook leaves that alone.
const isAlone = () => document.querySelector("main.chc") !== null;
const address = () => new URLSearchParams(isAlone() ? location.hash.slice(1) || location.search : "");
const said = name => address().getAll(name);
function sayThere(settings, how = "replaceState", found = address()) {
  for (const name in settings) [found.delete(name), [settings[name]].flat().forEach(each => found.append(name, each))];
  if (isAlone()) window.history[how](null, "", `#${found}`);
}

// ---- controls: written by Python; a slider or list has its values in `data-values`

const ticked = (root, name) => [...root.querySelectorAll(`[data-setting=${name}]:checked`)];
// {setting: value} of all controls. Boxes of one setting are a list, buttons of one setting a choice.
function readSettings(root, start) {
  const found = {...start};
  for (const {type, value, dataset: {setting, values}} of root.querySelectorAll("[data-setting]")) {
    if (type === "checkbox") found[setting] = ticked(root, setting).map(box => box.value);
    else if (type === "radio") found[setting] = ticked(root, setting)[0].value;
    else found[setting] = JSON.parse(values)[+value];
  }
  return found;
}
// Put controls where `wanted` says, a function from a setting to a list of texts; what it does not say stays. Gives a
// sentence for every text that no control has.
function putSettings(root, wanted) {
  const inputs = [...root.querySelectorAll("[data-setting]")], unknown = [];
  for (const setting of new Set(inputs.map(input => input.dataset.setting))) {
    const own = inputs.filter(input => input.dataset.setting === setting), texts = wanted(setting);
    const {values} = own[0].dataset, known = values ? JSON.parse(values) : own.map(input => input.value);
    const same = text => known.findIndex(each => `${each}` === text || each === +text
      || `${each}`.replaceAll("–", "-") === text);                     // a hyphen is easier to type than a dash
    const places = texts.map(same);
    const none = text => `The address has ${setting} = ${text}, which is not among the values: ${known.join(", ")}.`;
    unknown.push(...texts.filter(text => same(text) < 0).map(none));
    if (!texts.length || places.includes(-1)) continue;
    if (values) own[0].value = places[0];
    else own.forEach((input, i) => { input.checked = places.includes(i); });
  }
  root.querySelectorAll("[data-setting][type=range]").forEach(input => sayValue(input));
  return unknown;
}
// Say what a slider stands at, beside it and to those who listen.
function sayValue(input, text = JSON.parse(input.dataset.texts)[+input.value]) {
  input.parentElement.querySelector("output").textContent = text;
  input.setAttribute("aria-valuetext", text);
}
// Call `changed` after every change of a control. A button's box is ticked with it (`data-box`); where the box of a
// chosen button is cleared, another ticked one is chosen, or, if there is none, it stays ticked.
function listen(root, changed) {
  root.addEventListener("input", ({target}) => {
    const {setting, box} = target.dataset;
    const twin = (key, name, {value}) => root.querySelector(`[data-${key}=${name}][value="${value}"]`);
    if (!setting) return;
    if (target.type === "range") sayValue(target);
    if (box) twin("setting", box, target).checked = true;
    if (target.type === "checkbox" && !target.checked && twin("box", setting, target)?.checked)
      twin("box", setting, ticked(root, setting)[0] ?? Object.assign(target, {checked: true})).checked = true;
    changed();
  }, true);
}

// ---- what is saved: a visit's numbers as a table, the page as a picture (SVG around HTML and its rules), the code

function drawing(root) {
  for (const each of root.querySelectorAll("input, option"))
    if (each.type === "range") each.setAttribute("value", each.value);
    else each.toggleAttribute(each.matches("option") ? "selected" : "checked", each.selected ?? each.checked);
  const copy = root.cloneNode(true), {offsetWidth: width, offsetHeight: height} = root;
  copy.querySelectorAll(".chc-say, .chc-more").forEach(each => each.remove());
  const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]).map(rule => rule.cssText);
  const textContent = rules.filter(text => text.includes(".chc")).join("\n");
  copy.prepend(Object.assign(document.createElement("style"), {textContent}));
  const size = `width="${width}" height="${height}"`, inside = new XMLSerializer().serializeToString(copy);
  const text = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><foreignObject ${size}>${inside}</foreignObject></svg>`;
  return {width, height, text};
}
async function pixels(root) {
  const {width, height, text} = drawing(root);
  const image = Object.assign(new Image(), {src: `data:image/svg+xml,${encodeURIComponent(text)}`});
  const canvas = Object.assign(document.createElement("canvas"), {width: 2 * width, height: 2 * height});
  await image.decode();
  canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
  return new Promise(resolve => canvas.toBlob(resolve));
}
function table(rows) {
  const names = [...new Set(rows.flatMap(Object.keys))], lines = rows.map(row => names.map(name => row[name] ?? ""));
  return [names, ...lines].map(line => `${line.map(cell => JSON.stringify(cell)).join()}\n`).join("");
}
const NAMES = {true: "True", false: "False", '"inf"': 'float("inf")'};
const python = value => NAMES[JSON.stringify(value)] ?? JSON.stringify(value);
const code = (text, settings) => text.replace("SETTINGS",
  Object.entries(settings).map(([name, value]) => `${name}=${python(value)}`).join(", "));
const forms = {csv: (_, rows) => table(rows), svg: root => drawing(root).text, png: pixels};

// ---- the page

// The library of charts: in a served page it comes after the page, which asks for numbers meanwhile.
const coming = () => new Promise(there => document.getElementById("library").addEventListener("load", there));
const library = async () => globalThis.comparisonCharts ?? (await coming(), globalThis.comparisonCharts);
// A chart in `element`, from a specification that Python makes. An event replaces its rows and signals only.
function makeChart(element, spec) {
  const how = {mode: "vega-lite", renderer: "svg", actions: false, logLevel: 1};
  const ready = library().then(draw => draw(element, spec, how)).then(({view}) => view);
  let due;                           // what came while the library did, or waits behind this event, is drawn at once
  return {ready, async draw({rows = {}, signals = {}, label}) {
    const view = await ready;
    for (const [name, each] of Object.entries(rows)) view.data(name, each);
    for (const [name, value] of Object.entries(signals)) view.signal(name, value);
    if (label) element.setAttribute("aria-label", label);
    if (due) return;
    due = await (due = new Promise(go => setTimeout(go)));
    view.resize().run();               // the room beside the axes is that of these numbers, whatever was drawn before
  }};
}
// The HTML of a page stands in `root`, with charts in it. `put` shows {name: what} at the places with these names.
function makePage(root, spec) {
  const view = Math.random().toString(36).slice(2), charts = {};
  const at = name => root.querySelectorAll(`[data-show="${name}"]`);
  root.classList.add("chc", `chc-${spec.name}`);
  // Keys on a control are its own, not a notebook's, whose shortcuts look first at what has the focus.
  root.addEventListener("focusin", ({target}) => { target.dataset.lmSuppressShortcuts = true; });
  root.innerHTML = spec.html.replaceAll("{view}", view);
  for (const [name, chart] of Object.entries(spec.charts)) charts[name] = makeChart(at(name)[0], chart);
  function put(shown) {
    for (const [name, what] of Object.entries(shown))
      if (charts[name]) charts[name].draw(what);
      else at(name).forEach(each => change(each, typeof what === "string" ? {html: what} : what));
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
    silence = setTimeout(() => say("no answer yet; Python is busy or was stopped"), 10000);
    late = setTimeout(() => root.classList.add("chc-late"), 400);             // old results fade while new ones come
    ask({number: `${view}:${count}`, settings});
  };
}
// A dashboard with settings. What an event may have is said in notebook 60; `when` is a setting, a value that it has or
// contains, and whether it should. `extend` gives what only this dashboard does, as {kind: function of event}.
function show(root, connect, spec, extend = () => ({})) {
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
  const remember = how => sayThere({...asked, at: []}, how);
  function again(wanted, words = []) {
    const unknown = wanted ? putSettings(root, wanted) : [];
    [asked, notes] = [readSettings(root, spec.start), new Set([...words, ...unknown])];
    own.asked?.();
    ask(asked);
  }
  listen(root, () => again());
  again(said);
  root.addEventListener("change", ({target}) => target.dataset.setting && remember());
  root.addEventListener("click", async ({target: {title, dataset: {save, preset}}}) => {
    const make = forms[save] ?? (() => code(spec.code, asked));
    if (save) keep(`${spec.name}.${save}`, await make(root, [...rows.values()]));
    if (preset) remember((again(name => [JSON.parse(preset)[name] ?? []].flat().map(String), [title]), "pushState"));
  });
  if (isAlone()) window.addEventListener("hashchange", () => again(said));             // another link to the same page
}

// ---- what only one dashboard does

const starts = {
  // A run is a list of frames; here one goes through them. Each says itself where the four keys lead from it.
  step: (root, connect, spec) => show(root, connect, spec, ({put}) => {
    const stage = root.querySelector(".chc-stage"), buttons = root.querySelectorAll("[data-key]");
    let run = null, at = 0, first = said("at")[0];                   // the address may name a frame of the first run
    // Only shares, looks and words differ between the frames of one item; its tree does not.
    function draw(to) {
      const {item, thick, shares, pivot, asked, cost, keys, show} = run.frames[at = to];
      put({...show, tree: {...run.items[item].tree, "aria-label": show.label}});
      put({overlay: run.items[item].overlay, costs: {rows: {here: [cost]}}});
      for (const edge of root.querySelectorAll("[data-edge]"))
        edge.classList.toggle("chc-thick", thick.includes(+edge.dataset.edge));
      root.querySelectorAll(".chc-dot").forEach((dot, i) => {
        dot.dataset.share = shares[i];
        dot.style.setProperty("--share", Math.sqrt(shares[i] / Math.max(...shares)));
        dot.classList.toggle("chc-pivot", +dot.dataset.vertex === pivot);
      });
      for (const leaf of root.querySelectorAll(".chc-leaf"))
        leaf.classList.toggle("chc-asked", asked.includes(+leaf.dataset.vertex));
      for (const button of buttons) button.disabled = keys[button.dataset.key] === at;
      Object.assign(root.dataset, {at, views: run.frames.length});
    }
    const to = key => run?.frames[at].keys[key];
    const go = key => to(key) !== undefined && (draw(to(key)), sayThere({at}), true);
    for (const button of buttons) button.addEventListener("click", () => go(button.dataset.key));
    stage.addEventListener("keydown", event => go(event.key) && event.preventDefault());
    return {run(event) { run = event; draw(run.frames[first] ? +first : run.begin); first = undefined; }};
  }),
  // One task has all its trees in its event; here one moves among them. What holds at a place was looked up in Python:
  // for every thousandth the piece that it lies in, and for every piece its middle and its tree.
  link: (root, connect, spec) => show(root, connect, spec, ({put, charts}) => {
    const input = root.querySelector("[data-parameter]");
    let task = null, average = null, value = 0, piece = 0, mean = () => 0;
    function draw() {
      if (!task) return;
      const {show, begin, end, loss, guesses, wrong} = task.trees[task.tree_of[piece]];
      const points = task.points.map((point, i) => ({...point, guess: guesses[i], wrong: wrong[i]}));
      const [number, all] = [piece + 1, task.middles.length].map(each => each.toLocaleString("en"));
      const words = average ? `${mean(average).toFixed(3)} on ${average.words}` : "being computed";
      const here = [{value, begin, end, loss, mean: average && mean(average)}];
      put({...show, piece: `${number} of ${all}`, average: words, pruned: {rows: {points}}, curve: {rows: {here}}});
      root.dataset.shown = value;
    }
    function move(to, into, average_there) {
      [value, piece, mean, input.value] = [to, into, average_there, to];
      sayValue(input, value.toFixed(3));
      draw();
    }
    const slide = thousandth => move(thousandth / 1000, task?.at[thousandth], ({mean_at}) => mean_at[thousandth]);
    const middle = into => move(task.middles[into], into, ({mean_middles}) => mean_middles[into]);
    const least = average => average.least;                          // at the best place of the average that is shown
    const go = where => where === "mean" ? average && move(...average.best, least)
      : middle(where === "best" ? task.best : task.trees[task.tree_of[piece]][where]);
    const remember = () => sayThere({parameter: value.toFixed(3)});
    input.addEventListener("input", () => slide(Math.round(1000 * input.value)));
    input.addEventListener("change", remember);
    root.addEventListener("click", ({target}) => task && target.dataset.go && (go(target.dataset.go), remember()));
    charts.curve.ready.then(view => view.addEventListener("click", ({clientX}) => {
      const left = root.querySelector("[data-show=curve] svg").getBoundingClientRect().left + view.origin()[0];
      const place = Math.round(1000 * view.scale("x").invert(clientX - left));
      if (task && place >= 0 && place <= 1000) [middle(task.at[place]), remember()];
    }));
    value = +Object.assign(input, {value: +said("parameter")[0] || 0}).value;           // never off the slider's rail
    sayValue(input, value.toFixed(3));
    return {
      asked() { average = null; root.classList.remove("chc-here"); charts.curve.draw({rows: {mean: []}}); },
      task(event) { task = event; root.classList.add("chc-here"); slide(Math.round(1000 * value)); },
      average(event) {
        [average, root.dataset.tasks] = [event, event.tasks];
        mean === least ? middle(piece) : draw();                     // a new average: not its best place any more
      },
    };
  }),
  // A person answers. What is seen comes from Python; here are clicks, keys, and what happens without a reply.
  ask(root, connect, spec) {
    const {view, put} = makePage(root, spec), page = root.querySelector(".ask");
    let count = 0, silence = 0;
    page.classList.toggle("ask-names", !spec.emoji.every(canDraw));
    const send = connect(event => {
      if (event.number !== `${view}:${count}` || event.kind === "done") return;     // of another page or a wish before
      if (event.kind === "file") return keep(event.name, bytes(event.data));
      clearTimeout(silence);
      if (event.kind === "sentence") event.show = {notes: `<p>${event.text}</p>`};
      if (event.show) put({...event.show, ask: {...event.show.ask, "data-busy": ""}});
    });
    function wish(what) {
      if (page.dataset.busy) return;
      page.dataset.busy = "yes";
      const noReply = {notes: `<p>${spec.silence}</p>`, ask: {"data-busy": ""}};
      silence = setTimeout(() => put(noReply), what.do === "export" ? 60000 : 8000);        // a picture takes its time
      send({...what, number: `${view}:${++count}`, at: +(page.dataset.at ?? 0)});
    }
    root.addEventListener("click", ({target, detail}) => {
      const wished = target.closest("[data-do]")?.dataset;
      if ("words" in target.dataset) put({notes: `<p>${target.title}</p>`});
      if (!wished || detail > 1 && wished.do === "answer") return;    // the second half of a double click is no answer
      if (detail) document.activeElement.blur();             // after a tap, no card of the next three looks chosen
      wish({do: wished.do, form: wished.form, answer: +wished.answer});
    });
    (isAlone() ? document : root).addEventListener("keydown", event => {
      const {key, ctrlKey, metaKey, altKey, repeat} = event;
      const name = ["u", "Backspace"].includes(key) ? "[data-do=undo]" : `[data-answer="${CSS.escape(key)}"]`;
      const button = root.querySelector(name);
      if (!button || ctrlKey || metaKey || altKey || repeat) return;
      if (button.offsetParent) button.click();
      event.preventDefault();
      event.stopPropagation();
    });
    wish({do: "look"});
  },
};
// Whether a font here has this emoji; otherwise it looks like a character that does not exist.
const canDraw = text => drawn([...text][0]) !== drawn("\u{10FFFE}");
function drawn(text) {
  const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  pen.font = "16px system-ui, sans-serif";
  pen.fillText(text, 2, 20);
  return pen.getImageData(0, 0, 32, 32).data.join();
}

// ---- where the page begins: in a notebook, behind a server, or as a file, which has its events in it, compressed

const begin = {start: (root, connect, spec) => (starts[spec.name] ?? show)(root, connect, spec)};
const kernel = model => heard =>
  (model.on("msg:custom", ({text}) => heard(JSON.parse(text))), request => model.send(request));
async function render({model, el}) {
  const [spec, text] = [JSON.parse(model.get("spec")), model.get("library")];
  const address = URL.createObjectURL(new Blob([text], {type: "text/javascript"}));
  if (text && !globalThis.comparisonCharts) await import(address);
  begin.start(el, kernel(model), spec);
}
export default {render};
const inflate = data => new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
const read = id => inflate(bytes(document.getElementById(id).textContent));
const stored = ({names, events, answers}) => heard => ({number, settings}) => {
  const places = answers[names.map(name => settings[name]).join("|")];
  for (const event of [...places.map(place => events[place]), {kind: "done"}]) heard({...event, number});
};
// A line to the server. Where nothing comes for long, not even an event without a word, it is gone.
function served(heard) {
  const sign = document.getElementById("gone"), where = location.origin.replace("http", "ws") + alone.dataset.line;
  let line, asked = "", silence = 0;
  (function open() {
    line = Object.assign(new WebSocket(where + location.search), {
      onopen: () => asked && line.send(asked),
      onclose() { sign.hidden = false; setTimeout(open, 2000); },
      onmessage({data}) {
        const event = JSON.parse(data);
        [sign.hidden, silence] = [true, clearTimeout(silence) ?? setTimeout(() => line.close(), 15000)];
        if (event.kind === "done" && asked.includes(event.number)) asked = "";
        heard(event);
      },
    });
  })();
  return request => { asked = JSON.stringify(request); if (line.readyState === 1) line.send(asked); };
}
const alone = document.querySelector("main#comparison-hc");
if (alone) begin.start(alone, alone.dataset.line ? served : stored(await read("data")), await read("spec"));
