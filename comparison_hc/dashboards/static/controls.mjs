// Controls are written by Python; here they are read and put. A slider or list has its values in `data-values`.
const ticked = (root, name) => [...root.querySelectorAll(`[data-setting=${name}]:checked`)];
// {setting: value} of all controls in `root`. Boxes of one setting are a list, buttons of one setting a choice.
export function readSettings(root, start) {
  const found = {...start};
  for (const {type, value, dataset: {setting, values}} of root.querySelectorAll("[data-setting]")) {
    if (type === "checkbox") found[setting] = ticked(root, setting).map(box => box.value);
    else if (type === "radio") found[setting] = ticked(root, setting)[0].value;
    else found[setting] = JSON.parse(values)[+value];
  }
  return found;
}
// Put controls where `wanted` says, a function from a setting to a list of texts; what it does not say stays.
export function putSettings(root, wanted) {
  for (const input of root.querySelectorAll("[data-setting]")) {
    const {dataset: {setting, values = "[]"}} = input, texts = wanted(setting);
    const place = JSON.parse(values).findIndex(each => `${each}` === texts[0] || each === +texts[0]);
    if (texts.length && input.matches("[type=checkbox], [type=radio]")) input.checked = texts.includes(input.value);
    else if (place >= 0) input.value = place;
    if (input.type === "range") sayValue(input);
  }
}
// Say what a slider stands at, beside it and to those who listen.
export function sayValue(input, text = JSON.parse(input.dataset.texts)[+input.value]) {
  input.parentElement.querySelector("output").textContent = text;
  input.setAttribute("aria-valuetext", text);
}
// Call `changed` after every change of a control. A button's box is ticked with it (`data-box`); where the box of a
// chosen button is cleared, another ticked one is chosen, or, if there is none, it stays ticked.
export function listen(root, changed) {
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
