// Controls are written by Python; here they are read. A slider or list has its values in `data-values`.
import {said} from "./tools.mjs";
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

// Put all controls in `root` where the address says; what it does not say, or what a control does not have, stays.
export function obeyAddress(root) {
  for (const input of root.querySelectorAll("[data-setting]")) {
    const {dataset: {setting, values = "[]"}} = input, wanted = said(setting);
    const place = JSON.parse(values).findIndex(each => `${each}` === wanted[0] || each === +wanted[0]);
    if (wanted.length && input.matches("[type=checkbox], [type=radio]")) input.checked = wanted.includes(input.value);
    else if (place >= 0) input.value = place;
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
  root.querySelectorAll("input[type=range][data-setting]").forEach(input => sayValue(input));
}
