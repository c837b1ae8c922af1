// A tree that can be folded, searched, enlarged and cut. Python has drawn all of it, what a fold or a cut shows too;
// this script shows, hides and moves it, and colours it for a cut by the numbers that Python wrote down.
const data = JSON.parse(document.getElementById("tree-data").textContent);
const [figure, slider, clusters] = ["tree", "k", "clusters"].map(id => document.getElementById(id));
const svg = figure.querySelector("svg"), cutter = svg.querySelector(".cutter");
const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
const K = data.children.length + 1, root = 2 * K - 2;
const named = what => [...svg.querySelectorAll(`[data-${what}]`)].map(part => [+part.dataset[what], part]);
const groups = new Map(named("node")), stems = new Map(named("stem")), bars = new Map(named("bar"));
const state = {k: data.k ?? 1, folded: new Set(data.fixed), zoom: 1, query: "", view: "tree"};
const views = [...document.querySelectorAll("#view option")].map(option => option.value);
const marks = ["object", "framed", "branch", "leaf"].map(what => `[data-${what}]`).join();
const painted = [...document.querySelectorAll(marks)].map(part => {
  const name = part.matches("[data-framed], [data-branch]") ? "stroke" : "fill";
  return {part, name, home: part.getAttribute(name), display: part.getAttribute("display"), text: part.textContent};
});
const sentences = ["#lead", "#cut-sentence", "#clusters h2"].map(name => document.querySelector(name));

const members = node => data.order.slice(data.starts[node], data.starts[node] + data.sizes[node]);
const cut = () => data.cuts[state.k - 1], isCut = () => cut().labels !== null;
const hit = i => state.query && data.names[i].toLowerCase().includes(state.query);
const move = (across, along = 0) => `translate(${data.sideways ? [along, across] : [across, along]})`;
const span = (line, ...ends) => ends.forEach((end, i) => line.setAttribute((data.sideways ? "y" : "x") + (i + 1), end));

// Places across the tree: the ends in drawing order, a merge half-way between its children.
function layout() {
  const across = new Map(), seen = new Set([root]), isEnd = node => node < K || state.folded.has(node);
  for (const node of seen) if (!isEnd(node)) data.children[node - K].forEach(child => seen.add(child));
  const ends = [...seen].filter(isEnd).sort((a, b) => data.starts[a] - data.starts[b]);
  ends.forEach((node, row) => across.set(node, data.start + data.pitch * (row + .5)));
  for (const node of [...seen].filter(v => !isEnd(v)).sort((a, b) => a - b)) {
    across.set(node, data.children[node - K].map(child => across.get(child)).reduce((a, b) => a + b) / 2);
  }
  return {across, ends};
}
const home = layout();
state.folded = new Set(data.folded);

// The number of every node's cluster, of its class where the tree is not cut, or null.
function tint() {
  const number = isCut() ? [] : data.tint ?? Array(root + 1).fill(null);
  for (let node = number.length; node <= root; node++) {
    const parts = node < K ? members(node).map(i => cut().labels[i]) : data.children[node - K].map(v => number[v]);
    number.push(parts.every(part => part === parts[0]) ? parts[0] : null);
  }
  return number;
}

function draw() {
  const {across, ends} = layout(), number = tint(), rows = new Map();
  const colour = node => number[node] === null ? data.above : data.colours[number[node] % data.colours.length];
  for (const [node, group] of groups) {
    const place = across.get(node), stem = stems.get(node), bar = bars.get(node);
    const gone = place === undefined, open = !gone && node >= K && !state.folded.has(node);
    for (const part of [group, stem]) part.toggleAttribute("hidden", gone);
    bar?.toggleAttribute("hidden", !open);
    group.querySelector(".name")?.classList.toggle("found", !gone && !open && members(node).some(hit));
    if (gone) continue;
    group.setAttribute("color", colour(node));
    group.setAttribute("transform", move(place - home.across.get(node)));
    group.classList.toggle("grey", number[node] === null);
    if (group.matches(".joint")) group.setAttribute("aria-expanded", open);
    for (const line of [stem, bar]) line?.setAttribute("stroke", colour(node));
    span(stem, place, place);
    if (open) span(bar, ...data.children[node - K].map(child => across.get(child)));
  }
  if (isCut()) for (const end of ends) rows.set(number[end], [...rows.get(number[end]) ?? [], across.get(end)]);
  for (const [cluster, badge] of named("number")) {
    const places = rows.get(cluster) ?? [], radius = Math.min(8, .46 * data.pitch * places.length);
    badge.toggleAttribute("hidden", radius < 3);
    const middle = places.reduce((a, b) => a + b, 0) / (places.length || 1);
    badge.setAttribute("transform", `${move(middle, data.badges)} scale(${radius / 8})`);
  }
  const less = data.pitch * (home.ends.length - ends.length), breadth = data.pitch * ends.length;
  svg.querySelectorAll(".legend").forEach(part => part.toggleAttribute("hidden", isCut()));
  svg.querySelector(".scale").setAttribute("transform", move(-less));
  cutter.setAttribute("transform", move(0, data.stops[state.k - 1] - data.stops[(data.k ?? 1) - 1]));
  cutter.classList.toggle("apart", cut().apart);
  cutter.querySelectorAll("line").forEach(line => span(line, data.start - 6, data.start + breadth + 4));
  const [wide, tall] = data.sideways ? [width, height - less] : [width - less, height];
  const size = {viewBox: `0 0 ${wide} ${tall}`, width: wide * state.zoom, height: tall * state.zoom};
  for (const [name, value] of Object.entries(size)) svg.setAttribute(name, value);
  list();
  paint();
}

// The same cut in every other place: additive trees, matrix, map, and sentences.
function paint() {
  const cluster = cut().labels ?? Array(data.names.length).fill(null);
  const colour = number => data.colours[number % data.colours.length];
  const sides = data.trees.map(parent => branchClusters(parent, cluster)), at = new Map();
  for (const {part, name, home, display, text} of painted) {
    const {object, framed, branch, leaf} = part.dataset, [tree, edge] = (branch ?? "").split("-").map(Number);
    const number = branch ? sides[tree][edge] : cluster[object ?? framed ?? leaf], isNumber = part.matches("text");
    const cut = isNumber ? data.inks[number % data.inks.length] : number === null ? data.above : colour(number);
    if (isCut() || home !== null) part.setAttribute(name, isCut() ? cut : home); else part.removeAttribute(name);
    if (leaf && isCut()) part.removeAttribute("display");
    else if (leaf && display) part.setAttribute("display", display);
    if (isNumber) part.textContent = isCut() ? number : text;
    const title = part.querySelector("title"), named = data.names[object ?? framed];
    if (title && named !== undefined) title.textContent = isCut() ? `${named}, cluster ${number}` : named;
  }
  for (const runs of document.querySelectorAll(".matrix .runs")) {
    const {left, pitch} = runs.dataset, found = [];
    for (const [start, i] of isCut() ? data.order.entries() : []) {
      if (found.at(-1)?.[0] === cluster[i]) found.at(-1)[2]++; else found.push([cluster[i], start, 1]);
    }
    runs.replaceChildren(...found.filter(([, , size]) => size * pitch >= 11).map(([k, start, n]) => {
      const text = document.createElementNS(svg.namespaceURI, "text");
      text.setAttribute("x", left);
      text.setAttribute("y", 4 + pitch * (start + n / 2));
      text.textContent = k;
      return text;
    }));
  }
}

// For every branch of an additive tree the cluster of all leaves on one of its sides, or null.
function branchClusters(parent, cluster) {
  const n = cluster.length, children = parent.map(() => []), order = [0], below = parent.map(() => new Map());
  parent.forEach((above, node) => { if (node) children[above].push(node); });
  for (const node of order) order.push(...children[node]);
  const add = (sum, other) => other.forEach((count, key) => sum.set(key, (sum.get(key) ?? 0) + count));
  for (const node of order.reverse()) {
    if (node < n) below[node].set(cluster[node], 1);
    children[node].forEach(child => add(below[node], below[child]));
  }
  const all = below[0];
  return parent.slice(1).map((above, edge) => {
    const inside = below[edge + 1], outside = [...all].filter(([key, count]) => count > (inside.get(key) ?? 0));
    const pure = [[...inside], outside].filter(side => side.length === 1).map(([[key]]) => key);
    return pure.length === 1 || (pure.length === 2 && pure[0] === pure[1]) ? pure[0] : null;
  });
}

// One picture of the tree at a time.
function show(view) {
  state.view = view;
  for (const id of ["tree", ...views]) document.getElementById(id).closest("figure").hidden = id !== view;
  for (const id of ["smaller", "larger", "fit", "unfold"]) document.getElementById(id).disabled = view !== "tree";
}

// The picture as it is seen, as a file; a PNG has 300 dots per inch.
function save(form) {
  const copy = document.querySelector(`#${state.view} svg`).cloneNode(true), link = document.createElement("a");
  copy.querySelectorAll("[hidden], .cutter, .grey > .square").forEach(part => part.remove());
  for (const joint of copy.querySelectorAll(".joint")) {
    joint.querySelector(joint.getAttribute("aria-expanded") === "false" ? ".open" : ".shut")?.remove();
  }
  const [, , wide, tall] = copy.getAttribute("viewBox").split(" ").map(Number);
  Object.entries({width: wide, height: tall}).forEach(side => copy.setAttribute(...side));
  const give = address => Object.assign(link, {href: address, download: `${state.view}.${form}`}).click();
  const text = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  if (form === "svg") return give(text);
  const image = new Image(), canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [wide, tall].map(pixels => Math.round(pixels * 300 / 96));
  image.onload = () => {
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const png = canvas.toDataURL("image/png"), head = "data:image/png;base64,".length + 44; // behind IHDR
    const said = png.length > head ? "" : "too large for a PNG here: save the SVG";
    document.getElementById("found").textContent = said;
    if (!said) give(`${png.slice(0, head)}AAAACXBIWXMAAC4jAAAuIwF4pT92${png.slice(head)}`); // 11,811 dots per metre
  };
  image.src = text;
}

// The sentences about the cut, and its clusters in the order of their numbers.
function list() {
  const groups = Array.from({length: isCut() ? state.k : 0}, () => []);
  sentences.forEach((part, at) => { part.textContent = cut().sentences[at]; });
  slider.value = state.k;
  slider.setAttribute("aria-valuetext", isCut() ? cut().sentences[2] : "not cut");
  document.getElementById("k-said").textContent = isCut() ? state.k : "not cut";
  clusters.hidden = !isCut();
  cut().labels?.forEach((number, i) => groups[number].push(data.names[i]));
  clusters.querySelector("ul").replaceChildren(...groups.map((names, number) => {
    const [item, badge, size] = ["li", "b", "span"].map(name => document.createElement(name));
    badge.textContent = number;
    badge.style.background = data.colours[number % data.colours.length];
    badge.style.color = data.inks[number % data.inks.length];
    size.textContent = `(${names.length}) `;
    item.append(badge, size, names.join(", "));
    return item;
  }));
}

// To the number of clusters whose place along the tree is the nearest to the pointer.
function dragTo(event) {
  const {x, y} = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const far = data.stops.map(stop => Math.abs(stop - (data.sideways ? x : y)));
  state.k = far.indexOf(Math.min(...far)) + 1;
  draw();
}

// Show what a search found: unfold the branches that hold it, scroll to the first.
function search(text) {
  state.query = text.trim().toLowerCase();
  const found = data.names.filter((name, i) => hit(i));
  state.folded = new Set([...state.folded].filter(node => data.fixed.includes(node) || !members(node).some(hit)));
  draw();
  document.getElementById("found").textContent = state.query ? `${found.length} found` : "";
  figure.querySelector(".found")?.scrollIntoView({block: "nearest", inline: "nearest"});
}

for (const joint of svg.querySelectorAll(".joint")) {
  const node = +joint.dataset.node;
  const fold = () => { if (!state.folded.delete(node)) state.folded.add(node); draw(); };
  joint.setAttribute("role", "button");
  joint.setAttribute("tabindex", node === root ? 0 : -1);
  joint.addEventListener("click", fold);
  joint.addEventListener("keydown", event => {
    const seen = [...layout().across].filter(([v]) => groups.get(v).matches(".joint"));
    const near = seen.sort((a, b) => a[1] - b[1]).map(([v]) => v), at = near.indexOf(node);
    const to = {ArrowUp: near[at - 1], ArrowDown: near[at + 1], ArrowLeft: data.parents[node], Enter: node, " ": node,
      ArrowRight: near.find(v => data.children[node - K].includes(v))}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to === node && !event.key.startsWith("Arrow")) fold(); else groups.get(to).focus();
  });
}
cutter.addEventListener("pointerdown", event => { event.preventDefault(); cutter.setPointerCapture(event.pointerId); });
cutter.addEventListener("pointermove", event => { if (cutter.hasPointerCapture(event.pointerId)) dragTo(event); });
slider.addEventListener("input", () => { state.k = +slider.value; draw(); });
document.getElementById("search").addEventListener("input", ({target}) => search(target.value));
const press = (id, act) => document.getElementById(id).addEventListener("click", () => { act(); draw(); });
press("larger", () => { state.zoom = Math.min(4, 1.25 * state.zoom); });
press("smaller", () => { state.zoom = Math.max(.25, .8 * state.zoom); });
press("fit", () => { state.zoom = Math.min(1, (figure.clientWidth - 8) / svg.viewBox.baseVal.width); });
press("unfold", () => { state.folded = new Set(data.fixed); });
for (const form of ["svg", "png"]) document.getElementById(`save-${form}`).addEventListener("click", () => save(form));
document.getElementById("view")?.addEventListener("change", ({target}) => show(target.value));
show(document.getElementById("view")?.value ?? "tree");
document.getElementById("controls").hidden = false;
draw();
if (data.sideways) figure.scrollLeft = data.badges < width / 2 ? 0 : width; // on a narrow screen names are seen first
