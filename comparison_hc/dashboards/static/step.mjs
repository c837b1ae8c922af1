// A run is a list of frames; here one goes through them. Each says itself where the four keys lead from it.
import {begin, show} from "./page.mjs";

begin.start = (root, connect, spec) => show(root, connect, spec, ({put, charts}) => {
  const stage = root.querySelector(".chc-stage"), buttons = root.querySelectorAll("[data-key]");
  let run = null, at = 0;

  // Only shares, looks and words differ between the frames of one item; its tree does not.
  function draw(to) {
    at = to;
    const {item, look, shares, pivot, asked, cost, keys, show} = run.frames[at], {tree, overlay} = run.items[item];
    put({...show, tree: {tree: {...tree, look}, "aria-label": show.label}, overlay});
    root.querySelectorAll(".chc-dot").forEach((dot, i) => {
      dot.dataset.share = shares[i];
      dot.style.setProperty("--share", Math.sqrt(shares[i] / Math.max(...shares)));
      dot.classList.toggle("chc-pivot", +dot.dataset.vertex === pivot);
    });
    for (const leaf of root.querySelectorAll(".chc-leaf"))
      leaf.classList.toggle("chc-asked", asked.includes(+leaf.dataset.vertex));
    charts.costs.draw({rows: {here: [cost]}});
    for (const button of buttons) button.disabled = keys[button.dataset.key] === at;
    Object.assign(root.dataset, {at, views: run.frames.length});
  }
  for (const {dataset: {key}} of buttons)
    root.querySelector(`[data-key=${key}]`).addEventListener("click", () => run && draw(run.frames[at].keys[key]));
  stage.addEventListener("keydown", event => {
    const to = run?.frames[at].keys[event.key];
    if (to === undefined) return;
    draw(to);
    event.preventDefault();
  });
  return {run(event) { run = event; draw(run.begin); }};
});
