// A run is a list of frames; here one goes through them. Each says itself where the four keys lead from it.
import {begin, show} from "./page.mjs";

begin.start = (root, connect, spec) => show(root, connect, spec, ({put}) => {
  const stage = root.querySelector(".chc-stage"), buttons = root.querySelectorAll("[data-key]");
  let run = null, at = 0;

  // Only shares, looks and words differ between the frames of one item; its tree does not.
  function draw(to) {
    at = to;
    const {item, look, shares, pivot, asked, cost, keys, show} = run.frames[at], {tree, overlay} = run.items[item];
    put({...show, tree: {tree: {...tree, look}, "aria-label": show.label}, overlay, costs: {rows: {here: [cost]}}});
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
  function go(key) {
    const to = run?.frames[at].keys[key];
    if (to !== undefined) draw(to);
    return to !== undefined;
  }
  for (const button of buttons) button.addEventListener("click", () => go(button.dataset.key));
  stage.addEventListener("keydown", event => go(event.key) && event.preventDefault());
  return {run(event) { run = event; draw(run.begin); }};
});
