// Trees are laid out in Python and drawn here, in coordinates 0..65535. The SVG is stretched to its place.
import {change, unpack} from "./tools.mjs";
// Nodes have x, y, the number of their parent (their own for the root) and the number of their look, [colour, width].
// Root at the left: a bar belongs to the parent, a stem to the child. Upright, both belong to the child.
export function drawTree(svg, {x, y, parent, look, looks, upright}, attributes) {
  const [xs, ys, parents] = [x, y, parent].map(text => unpack(text, Uint16Array));
  const lines = looks.map(() => []), own = unpack(look, Uint8Array);
  parents.forEach((above, node) => {
    if (above === node) return;
    const corner = `M${xs[above]} ${ys[above]}`;
    if (upright) lines[own[node]].push(`${corner}H${xs[node]}V${ys[node]}`);
    else {
      lines[own[above]].push(`${corner}V${ys[node]}`);
      lines[own[node]].push(`M${xs[above]} ${ys[node]}H${xs[node]}`);
    }
  });
  change(svg, attributes);
  while (svg.children.length < looks.length) svg.append(document.createElementNS(svg.namespaceURI, "path"));
  [...svg.children].forEach((path, i) => {
    const [stroke, width] = looks[i] ?? [];
    change(path, {d: lines[i]?.join("") ?? null, stroke: stroke ?? null, "stroke-width": width ?? null});
  });
}
