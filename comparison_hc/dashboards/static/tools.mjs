// What every other module uses: change an element, unpack an array.

// Attributes by name; null takes one away, `html` is what stands inside. What is the same already stays untouched.
export function change(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "html" && element.shown !== value) element.innerHTML = element.shown = value;
    else if (value === null) element.removeAttribute(name);
    else if (name !== "html" && element.getAttribute(name) !== `${value}`) element.setAttribute(name, value);
  }
}

// The inverse of `pack` in Python.
export function unpack(text, Kind) {
  return new Kind(Uint8Array.from(atob(text), letter => letter.charCodeAt(0)).buffer);
}
