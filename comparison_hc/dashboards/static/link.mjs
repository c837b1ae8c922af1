// One task has all its trees in its event; here one moves among them. What holds at a place was looked up in Python:
// for every thousandth the piece that it lies in, and for every piece its middle and its tree.
import {sayValue} from "./controls.mjs";
import {begin, show} from "./page.mjs";

begin.start = (root, connect, spec) => show(root, connect, spec, ({put, charts}) => {
  const input = root.querySelector("[data-parameter]");
  let task = null, average = null, value = 0, piece = 0, thousandth = 0;             // null: not on a thousandth

  function draw() {
    if (!task) return;
    const {show, begin, end, loss, guesses, wrong} = task.trees[task.tree_of[piece]];
    const points = task.points.map((point, i) => ({...point, guess: guesses[i], wrong: wrong[i]}));
    const {mean_at, mean_middles, words} = average ?? {};
    const mean = average && (thousandth === null ? mean_middles[piece] : mean_at[thousandth]);
    const [number, all] = [piece + 1, task.middles.length].map(each => each.toLocaleString("en"));
    put({...show, piece: `${number} of ${all}`, average: average ? `${mean.toFixed(3)} on ${words}` : "on the way"});
    charts.pruned.draw({rows: {points}});
    charts.curve.draw({rows: {here: [{value, begin, end, loss, mean}]}});
    root.dataset.shown = value;
  }
  function move(to, into, on = null) {
    [value, piece, thousandth, input.value] = [to, into, on, to];
    sayValue(input, value.toFixed(3));
    draw();
  }
  const slide = to => move(to, task ? task.at[Math.round(1000 * to)] : 0, Math.round(1000 * to));
  input.addEventListener("input", () => slide(+input.value));
  for (const button of root.querySelectorAll("[data-go]")) {
    const {go} = button.dataset, place = () => ({best: task, mean: average}[go] ?? task.trees[task.tree_of[piece]])[go];
    button.addEventListener("click", () => task && (go !== "mean" || average) && move(...place()));
  }
  charts.curve.ready.then(view => view.addEventListener("click", ({clientX}) => {
    const left = root.querySelector("[data-show=curve] svg").getBoundingClientRect().left + view.origin()[0];
    const place = Math.round(1000 * view.scale("x").invert(clientX - left));
    if (task && place >= 0 && place <= 1000) move(task.middles[task.at[place]], task.at[place]);
  }));
  sayValue(input, "0.000");
  return {
    asked() {
      average = null;
      root.classList.remove("chc-here");
      charts.curve.draw({rows: {mean: []}});
    },
    task(event) {
      task = event;
      root.classList.add("chc-here");
      slide(Math.round(1000 * value) / 1000);
    },
    average(event) {
      average = event;
      root.dataset.tasks = average.tasks;
      draw();
    },
  };
});
