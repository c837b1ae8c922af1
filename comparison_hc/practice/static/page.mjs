// A tree that can be folded, searched, enlarged and cut. Python has computed where everything is and which cluster has
// which number; this script only shows it. Without it the picture that Python drew stays where it is.
const SVG = "http://www.w3.org/2000/svg";
const data = JSON.parse(document.getElementById("tree-data").textContent);
const figure = document.getElementById("tree");
const K = data.leaves.length, N = data.names.length, root = 2 * K - 2, ROOM = 8;
const highest = Math.max(...data.heights, 0) || 1;
const parent = Array(2 * K - 1).fill(root);
data.children.forEach((pair, row) => pair.forEach(child => { parent[child] = K + row; }));
const sideways = ["left", "right"].includes(data.side);
const pictures = data.images ?? {};
figure.querySelectorAll("image[data-leaf]").forEach(image => {
  pictures[image.dataset.leaf] = image.getAttribute("href");
});
const legend = [...figure.querySelectorAll(".legend")];
const state = {k: data.k ?? 1, folded: new Set(data.folded), zoom: 1, query: ""};

const element = (name, attributes, ...inside) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
};
const round = x => Math.round(10 * x) / 10;
const colourOf = number => data.colours[number % data.colours.length];
const members = node => data.order.slice(data.starts[node], data.starts[node] + data.sizes[node]);

const isCut = () => state.k > 1 || data.k === 1;

// The number of every node's cluster, of its class where the tree is not cut, or null.
function tint() {
  const number = Array(2 * K - 1).fill(null);
  if (!isCut()) return data.tint ?? number;
  data.cuts[state.k - 1].forEach((node, cluster) => { number[node] = cluster; });
  for (let node = root - 1; node >= 0; node--) number[node] ??= number[parent[node]];
  return number;
}

const textOf = node => {
  if (node < K) return data.leaves[node];
  const first = members(node).slice(0, 3).map(i => data.names[i]).join(", ");
  return `${first.slice(0, 34)}… (${data.sizes[node].toLocaleString("en")} objects)`;
};

// Places as in Python: along from the root, across from the top; ends in drawing order.
function layout() {
  const ends = [], merges = [], stack = [root];
  while (stack.length) {
    const node = stack.pop();
    if (node < K || state.folded.has(node)) ends.push(node);
    else {
      merges.push(node);
      stack.push(data.children[node - K][1], data.children[node - K][0]);
    }
  }
  merges.sort((a, b) => a - b);
  const across = [], height = node => node < K ? 0 : data.heights[node - K];
  ends.forEach((node, place) => { across[node] = data.pitch * (place + 0.5); });
  for (const node of merges) {
    const [a, b] = data.children[node - K];
    across[node] = (across[a] + across[b]) / 2;
  }
  const shortened = data.large && ends.some(node => node >= K) && merges.length > 0;
  const lowest = shortened ? Math.min(...merges.map(height)) : 0, end = (shortened ? 0.8 : 1) * data.length;
  const along = node => node < K ? data.length
    : shortened && state.folded.has(node) ? 0.88 * data.length
    : end * (1 - (height(node) - lowest) / ((highest - lowest) || 1));
  return {ends, merges, across, along, lowest, end, breadth: data.pitch * ends.length};
}

function draw() {
  const at = layout(), number = tint(), {edge, top} = data, parts = [];
  const side = data.length + data.labels + 2 * edge + 16, tall = at.breadth + 2 * edge + (sideways ? 0 : 10);
  const [width, height] = sideways ? [side, tall + top + 22] : [tall, side + top + 22];
  const point = (along, across) => ({
    left: [edge + 16 + along, edge + top + across],
    right: [width - edge - 16 - along, edge + top + across],
    top: [edge + across, edge + top + 16 + along],
    bottom: [edge + across, height - edge - 16 - along],
  })[data.side].map(round);
  const line = (...points) => `M${points.map(place => point(...place).join(" ")).join("L")}`;
  const say = (along, across, text, more = {}) => {
    const [x, y] = point(along, across), turn = data.side === "top" ? 90 : -90;
    const place = sideways ? {} : {transform: `rotate(${turn} ${x} ${y})`};
    if (data.side === "right") place["text-anchor"] = "end";
    return element("text", {x, y, dy: ".35em", ...place, ...more}, text);
  };
  const paint = node => number[node] === null ? data.above : colourOf(number[node]);
  const stroke = {"stroke-width": data.pitch >= 7 ? 1.4 : .8, fill: "none", "stroke-linecap": "square"};

  for (const node of [...at.merges].reverse()) {
    const here = at.along(node), [a, b] = data.children[node - K];
    for (const child of [a, b]) {
      const d = line([here, at.across[child]], [at.along(child), at.across[child]]);
      parts.push(element("path", {...stroke, stroke: paint(child), d}));
    }
    parts.push(element("path", {...stroke, stroke: paint(node), d: line([here, at.across[a]], [here, at.across[b]])}));
  }
  const here = at.along(root), stem = line([here - 12, at.across[root]], [here, at.across[root]]);
  parts.push(element("path", {...stroke, stroke: paint(root), d: stem}));

  const query = state.query.trim().toLowerCase(), hit = i => query && data.names[i].toLowerCase().includes(query);
  const rows = new Map();
  for (const node of at.ends) {
    const across = at.across[node], colour = paint(node), far = data.length;
    if (node >= K) {
      const half = 0.36 * data.pitch, apex = [at.along(node), across];
      const d = line(apex, [far, across - half], [far, across + half]) + "Z";
      const shape = element("path", {fill: colour, "fill-opacity": .35, stroke: colour, d});
      parts.push(joint(node, "unfold", shape));
    } else if (number[node] !== null) {
      const half = Math.min(0.36 * data.pitch, 5);
      const [low, high] = [across - half, across + half];
      const d = line([far + 1, low], [far + 5, low], [far + 5, high], [far + 1, high]) + "Z";
      parts.push(element("path", {fill: colour, d}));
    }
    if (isCut() && number[node] !== null) rows.set(number[node], [...rows.get(number[node]) ?? [], across]);
    let start = far + 8 + data.numberRoom;
    if (pictures[node]) {
      const [x, y] = point(start + data.picture / 2, across), size = data.picture;
      const place = {x: x - size / 2, y: y - size / 2, width: size, height: size};
      const title = element("title", {}, textOf(node));
      parts.push(element("image", {...place, href: pictures[node], "data-leaf": node}, title));
      start += data.picture + 4;
    }
    if (data.named) {
      const found = members(node).some(hit);
      const text = say(start, across, textOf(node), {class: found ? "name found" : "name"});
      if (node < K && data.extra && isCut()) text.append(element("tspan", {fill: "#767676"}, ` ${data.extra[node]}`));
      parts.push(text);
    }
  }
  for (const [cluster, places] of rows) {
    const radius = Math.min(8, 0.46 * data.pitch * places.length);
    if (radius < 3) continue;
    const [cx, cy] = point(data.length + 16, places.reduce((a, b) => a + b) / places.length), fill = colourOf(cluster);
    const ink = {fill: data.inks[cluster % data.inks.length], "font-size": (cluster < 100 ? 1.25 : .95) * radius};
    parts.push(element("circle", {cx, cy, r: radius, fill}));
    parts.push(element("text", {x: cx, y: cy, dy: ".36em", "text-anchor": "middle", ...ink}, String(cluster)));
  }
  for (const node of at.merges) {
    const [cx, cy] = point(at.along(node), at.across[node]), share = data.support?.[node - K];
    const fill = share === undefined ? paint(node) : share >= .95 ? "#111" : share >= .7 ? "#999" : "#fff";
    const look = share === undefined ? {} : {stroke: "#111", "stroke-width": .6};
    const dot = element("circle", {class: "dot", cx, cy, r: data.pitch >= 7 ? 2.6 : 1.4, fill, ...look});
    const target = element("circle", {cx, cy, r: 7, fill: "transparent"});
    const inside = [target, dot];
    if (share !== undefined && data.pitch >= 10) {
      const stem = node === root ? 12 : at.along(node) - at.along(parent[node]);
      const left = (data.side === "right") !== (sideways && stem >= 18);
      const halo = {stroke: "#fff", "stroke-width": 2.5, "paint-order": "stroke"};
      const place = {x: cx, y: cy, dx: left ? -4 : 4, dy: -2.5, "text-anchor": left ? "end" : "start"};
      inside.push(element("text", {...place, "font-size": 8, fill: "#333", ...halo}, String(Math.round(100 * share))));
    }
    parts.push(joint(node, "fold", ...inside));
  }
  parts.push(...scale(at, point, line), ...cutter(at, point, line));
  const {zoom} = state, viewBox = `0 0 ${width} ${height}`;
  const size = {width: round(width * zoom), height: round(height * zoom), viewBox};
  const focused = document.activeElement?.dataset?.node;
  const font = {"font-family": "Helvetica, Arial, sans-serif", "font-size": data.size, fill: "#1a1a1a"};
  const said = `A tree of ${N} objects`;
  const paper = element("rect", {width: "100%", height: "100%", fill: "#fff"});
  const drawn = [paper, ...(isCut() ? [] : legend), ...parts];
  figure.replaceChildren(element("svg", {...size, ...font, role: "group", "aria-label": said}, ...drawn));
  if (focused !== undefined) figure.querySelector(`[data-node="${focused}"]`)?.focus({preventScroll: true});
}

// A node that folds or unfolds on a click, on Enter and on the space bar; arrow keys go to its neighbours.
function joint(node, what, ...inside) {
  const shown = {class: "joint", "data-node": node, tabindex: node === root ? 0 : -1, role: "button"};
  const said = `${what} ${data.sizes[node]} objects`;
  const made = element("g", {...shown, "aria-expanded": what === "fold", "aria-label": said}, ...inside);
  made.append(element("title", {}, said));
  return made;
}

function scale({lowest, end, breadth}, point, line) {
  const across = breadth + 4, style = {fill: "#555", "font-size": 10.5, "text-anchor": "middle"};
  const parts = [element("path", {fill: "none", stroke: "#999", d: line([0, across], [end, across])})];
  const [x, y] = point(end / 2, across), number = value => String(Number(value.toPrecision(4)));
  if (!sideways)
    return [...parts, element("text", {x: x + 13, y, ...style, transform: `rotate(-90 ${x + 13} ${y})`}, data.kind)];
  for (const [at, text] of [[0, number(highest)], [end, number(lowest)], [end / 2, data.kind]]) {
    const [left, below] = point(at, across);
    parts.push(element("text", {x: left, y: below + 12, ...style}, text));
  }
  return parts;
}

// The line where the tree is cut stands half-way between the last merge that is kept and the first that is undone.
function cutter({lowest, end, breadth}, point, line) {
  const {heights} = data, kept = heights[K - 1 - state.k], undone = heights[K - state.k];
  const height = state.k === 1 ? highest : state.k === K ? heights[0] / 2 : (kept + undone) / 2;
  const share = (height - lowest) / ((highest - lowest) || 1);
  const along = state.k === 1 ? -6 : Math.min(end * (1 - share), data.length);
  const d = line([along, -6], [along, breadth + 4]), [x, y] = point(along, -6);
  const dashes = {fill: "none", stroke: "#b30000", "stroke-width": 1.3, "stroke-dasharray": "5 4"};
  const wide = element("path", {fill: "none", stroke: "transparent", "stroke-width": 16, d});
  const handle = element("circle", {cx: x, cy: y, r: 5, fill: "#b30000"});
  const group = element("g", {class: "cutter"}, wide, element("path", {...dashes, d}), handle);
  if (!sideways) group.style.cursor = "ns-resize";
  group.append(element("title", {}, "drag to cut the tree"));
  return [group];
}

function dragTo(event) {
  const svg = figure.querySelector("svg"), box = svg.getBoundingClientRect(), {edge, top} = data;
  const x = (event.clientX - box.left) / state.zoom, y = (event.clientY - box.top) / state.zoom;
  const width = box.width / state.zoom, height = box.height / state.zoom;
  const along = {
    left: x - edge - 16, right: width - edge - 16 - x, top: y - edge - top - 16, bottom: height - edge - 16 - y,
  }[data.side];
  const {lowest, end} = layout(), level = highest - (along / end) * (highest - lowest);
  const above = data.heights.filter(value => value > level).length;
  choose(along <= 0 ? 1 : Math.max(1, Math.min(above + 1, data.cuts.length)));
}

function choose(k) {
  if (k === state.k) return;
  state.k = k;
  draw();
  list();
}

// The clusters of the cut, in the order of their numbers.
function list() {
  const slider = document.getElementById("k");
  slider.value = state.k;
  document.getElementById("k-said").textContent = state.k === 1 ? "not cut" : state.k;
  slider.setAttribute("aria-valuetext", state.k === 1 ? "not cut" : `${state.k} clusters`);
  const place = document.getElementById("clusters"), nodes = data.cuts[state.k - 1];
  place.hidden = !isCut();
  place.querySelector("h2").textContent = `${state.k} clusters`;
  place.querySelector("ul").replaceChildren(...nodes.map((node, number) => {
    const [item, badge, size] = ["li", "b", "span"].map(name => document.createElement(name));
    badge.textContent = number;
    badge.style.background = colourOf(number);
    badge.style.color = data.inks[number % data.inks.length];
    const objects = members(node).sort((a, b) => a - b);
    size.textContent = `(${objects.length}) `;
    item.append(badge, size, objects.map(i => data.names[i]).join(", "));
    return item;
  }));
}

function fold(node) {
  if (node < K) return;
  if (!state.folded.delete(node)) state.folded.add(node);
  draw();
}

// Show what a search found: unfold the branches that hold it, scroll to the first.
function search(text) {
  state.query = text;
  const query = text.trim().toLowerCase(), found = [];
  data.names.forEach((name, i) => { if (query && name.toLowerCase().includes(query)) found.push(i); });
  if (found.length) {
    const places = new Set(found.map(i => data.order.indexOf(i)));
    for (const node of [...state.folded])
      for (const place of places)
        if (data.starts[node] <= place && place < data.starts[node] + data.sizes[node]) state.folded.delete(node);
  }
  draw();
  document.getElementById("found").textContent = query ? `${found.length} found` : "";
  figure.querySelector(".found")?.scrollIntoView({block: "nearest", inline: "nearest"});
}

function step(node, key) {
  const children = data.children[node - K] ?? [], seen = child => figure.querySelector(`[data-node="${child}"]`);
  const beside = data.children[parent[node] - K].find(child => child !== node);
  const wanted = {ArrowLeft: [parent[node]], ArrowRight: children, ArrowUp: [beside], ArrowDown: [beside]}[key] ?? [];
  wanted.map(seen).find(Boolean)?.focus();
}

const nodeOf = target => target.closest?.(".joint")?.dataset.node;
figure.addEventListener("click", ({target}) => { if (nodeOf(target)) fold(+nodeOf(target)); });
figure.addEventListener("keydown", event => {
  const node = nodeOf(event.target);
  if (node === undefined || !/^(Enter| |Arrow.*)$/.test(event.key)) return;
  event.preventDefault();
  if (event.key.startsWith("Arrow")) step(+node, event.key);
  else fold(+node);
});
figure.addEventListener("pointerdown", event => {
  if (!event.target.closest(".cutter")) return;
  event.preventDefault();
  const stop = () => removeEventListener("pointermove", dragTo);
  addEventListener("pointermove", dragTo);
  addEventListener("pointerup", stop, {once: true});
  addEventListener("pointercancel", stop, {once: true});
});

const slider = document.getElementById("k");
slider.max = data.cuts.length;
slider.addEventListener("input", () => choose(+slider.value));
document.getElementById("search").addEventListener("input", ({target}) => search(target.value));
const zoomBy = factor => { state.zoom = Math.max(.25, Math.min(4, state.zoom * factor)); draw(); };
document.getElementById("larger").addEventListener("click", () => zoomBy(1.25));
document.getElementById("smaller").addEventListener("click", () => zoomBy(.8));
document.getElementById("fit").addEventListener("click", () => {
  const [, , width] = figure.querySelector("svg").getAttribute("viewBox").split(" ").map(Number);
  state.zoom = Math.min(1, (figure.clientWidth - ROOM) / width);
  draw();
});
document.getElementById("unfold").addEventListener("click", () => { state.folded.clear(); draw(); });

// A tall tree is a thin line on a sheet of paper: for the printer its branches are drawn longer.
const {length} = data;
addEventListener("beforeprint", () => {
  const tall = layout().breadth;
  if (sideways && tall > 1.4 * (length + data.labels)) data.length = Math.max(length, tall / 1.4 - data.labels);
  draw();
});
addEventListener("afterprint", () => { data.length = length; draw(); });
document.getElementById("controls").hidden = false;
draw();
list();
