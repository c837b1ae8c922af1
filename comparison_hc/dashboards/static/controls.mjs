// Controls are written by Python; here they are read. A slider or list has its values in `data-values`.

// {setting: value} of all controls in `root`. Boxes of one setting are a list, buttons of one setting a choice.
export function readSettings(root, start) {
  const found = {...start};
  for (const input of root.querySelectorAll("[data-setting]")) {
    const name = input.dataset.setting;
    if (input.type === "checkbox") found[name] = boxes(root, name).map(box => box.value);
    else if (input.type === "radio") found[name] = input.checked ? input.value : found[name];
    else found[name] = JSON.parse(input.dataset.values)[+input.value];
  }
  return found;
}

function boxes(root, name) {
  return [...root.querySelectorAll(`[data-setting=${name}]:checked`)];
}

// Say what a slider stands at, beside it and to those who listen.
export function sayValue(input, text) {
  const words = text ?? JSON.parse(input.dataset.texts)[+input.value];
  input.parentElement.querySelector("output").textContent = words;
  input.setAttribute("aria-valuetext", words);
}

// Call `changed` after every change of a control. A button's box is ticked with it (`data-box`); where the box of a
// chosen button is cleared, another ticked one is chosen, or, if there is none, it stays ticked.
export function listen(root, changed) {
  root.addEventListener("input", ({target}) => {
    const {setting, box} = target.dataset;
    if (!setting) return;
    if (target.type === "range") sayValue(target);
    if (box) root.querySelector(`[data-setting=${box}][value="${target.value}"]`).checked = true;
    const button = root.querySelector(`[data-box=${setting}][value="${target.value}"]`);
    if (button?.checked && !target.checked) {
      const other = boxes(root, setting)[0] ?? Object.assign(target, {checked: true});
      root.querySelector(`[data-box=${setting}][value="${other.value}"]`).checked = true;
    }
    changed();
  }, true);
  root.querySelectorAll("input[type=range][data-setting]").forEach(input => sayValue(input));
}
