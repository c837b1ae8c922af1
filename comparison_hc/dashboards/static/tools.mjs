// What every other module uses: change an element, unpack an array, keep a file, read the address and write it.
// Attributes by name; null takes one away, `html` is what stands inside. What is the same already stays untouched.
export function change(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "html" && element.shown !== value) element.innerHTML = element.shown = value;
    else if (value === null) element.removeAttribute(name);
    else if (name !== "html" && element.getAttribute(name) !== `${value}`) element.setAttribute(name, value);
  }
}
// The inverse of `pack` in Python.
export const unpack = (text, Kind) => new Kind(Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer);
export function keep(download, what) {
  const href = URL.createObjectURL(new Blob([what]));
  Object.assign(document.createElement("a"), {href, download}).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}
// A page of its own has settings in its address, behind # (or ?); one in a notebook leaves that alone.
export const isAlone = () => document.querySelector("#rendered_cells, main#comparison-hc") !== null;
const address = () => new URLSearchParams(isAlone() ? location.hash.slice(1) || location.search : "");
export const said = name => address().getAll(name);
export function sayThere(settings, found = address()) {
  for (const name in settings) [found.delete(name), [settings[name]].flat().forEach(each => found.append(name, each))];
  if (isAlone()) window.history.replaceState(null, "", `#${found}`);
}
