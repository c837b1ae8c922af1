// A run is a list of frames; here one goes through them.
import {show} from "./page.mjs";

const KEYS = ["PageUp", "ArrowLeft", "ArrowRight", "PageDown"];

export function start(root, connect, spec) {
  show(root, connect, spec, ({put, charts}) => {
    const stage = root.querySelector(".chc-stage"), buttons = root.querySelectorAll("[data-key]");
    let run = null, at = 0;

    // Only shares, looks and words differ between the frames of one item; its tree does not.
    function draw() {
      const {item, look, shares, pivot, asked, cost, show} = run.frames[at], {tree, overlay} = run.items[item];
      put({...show, tree: {tree: {...tree, look}, "aria-label": show.label}, overlay});
      root.querySelectorAll(".chc-dot").forEach((dot, i) => {
        dot.dataset.share = shares[i];
        dot.style.setProperty("--share", Math.sqrt(shares[i] / Math.max(...shares)));
        dot.classList.toggle("chc-pivot", +dot.dataset.vertex === pivot);
      });
      for (const leaf of root.querySelectorAll(".chc-leaf"))
        leaf.classList.toggle("chc-asked", asked.includes(+leaf.dataset.vertex));
      charts.costs.draw({rows: {here: [cost]}});
      buttons.forEach(({dataset}, i) => { buttons[i].disabled = next(dataset.key) === at; });
      Object.assign(root.dataset, {at, views: run.frames.length});
    }
    // Where a key leads: half a question on or back, or to the first frame of an item.
    function next(key) {
      const {item} = run.frames[at], last = run.frames.length - 1;
      if (key === "ArrowLeft") return Math.max(0, at - 1);
      if (key === "ArrowRight") return Math.min(last, at + 1);
      if (key === "PageDown") return item + 1 < run.firsts.length ? run.firsts[item + 1] : last;
      return at > run.firsts[item] ? run.firsts[item] : run.firsts[Math.max(0, item - 1)];
    }
    function go(key) {
      if (!run) return;
      at = next(key);
      draw();
    }
    buttons.forEach(button => button.addEventListener("click", () => go(button.dataset.key)));
    stage.addEventListener("keydown", event => {
      if (!KEYS.includes(event.key)) return;
      go(event.key);
      event.preventDefault();
    });
    return {run(event) {
      run = event;
      at = run.firsts.at(-1);
      draw();
    }};
  });
}
