// Taken along: a visit's numbers as a table, the page as a picture (SVG around HTML and its rules, so for browsers).
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
export const forms = {csv: (_, rows) => table(rows), svg: root => drawing(root).text, png: pixels};
