// A run is a list of frames; here one goes through them. Each says itself where the four keys lead from it.
import {begin, show} from "./page.mjs";
import {said} from "./tools.mjs";
begin.start = (root, connect, spec) => show(root, connect, spec, ({put}) => {
  const stage = root.querySelector(".chc-stage"), buttons = root.querySelectorAll("[data-key]");
  let run = null, at = 0, first = said("at")[0];                     // the address may name a frame of the first run
  // Only shares, looks and words differ between the frames of one item; its tree does not.
  function draw(to) {
    const {item, look, shares, pivot, asked, cost, keys, show} = run.frames[at = to], {tree, overlay} = run.items[item];
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
  const to = key => run?.frames[at].keys[key], go = key => to(key) !== undefined && (draw(to(key)), true);
  for (const button of buttons) button.addEventListener("click", () => go(button.dataset.key));
  stage.addEventListener("keydown", event => go(event.key) && event.preventDefault());
  return {run(event) { run = event; draw(run.frames[first] ? +first : run.begin); first = undefined; }};
});
