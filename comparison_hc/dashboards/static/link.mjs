// One task has all its trees in its event; here one moves among them. What holds at a place was looked up in Python:
// for every thousandth the piece that it lies in, and for every piece its middle and its tree.
import {sayValue} from "./controls.mjs";
import {begin, show} from "./page.mjs";
import {said, sayThere} from "./tools.mjs";

begin.start = (root, connect, spec) => show(root, connect, spec, ({put, charts}) => {
  const input = root.querySelector("[data-parameter]");
  let task = null, average = null, value = 0, piece = 0, mean = () => 0;
  function draw() {
    if (!task) return;
    const {show, begin, end, loss, guesses, wrong} = task.trees[task.tree_of[piece]];
    const points = task.points.map((point, i) => ({...point, guess: guesses[i], wrong: wrong[i]}));
    const [number, all] = [piece + 1, task.middles.length].map(each => each.toLocaleString("en"));
    const words = average ? `${mean(average).toFixed(3)} on ${average.words}` : "on the way";
    const here = [{value, begin, end, loss, mean: average && mean(average)}];
    put({...show, piece: `${number} of ${all}`, average: words, pruned: {rows: {points}}, curve: {rows: {here}}});
    root.dataset.shown = value;
  }
  function move(to, into, average_there) {
    [value, piece, mean, input.value] = [to, into, average_there, to];
    sayValue(input, value.toFixed(3));
    draw();
  }
  const slide = thousandth => move(thousandth / 1000, task?.at[thousandth], ({mean_at}) => mean_at[thousandth]);
  const middle = into => move(task.middles[into], into, ({mean_middles}) => mean_middles[into]);
  const least = average => average.least;                            // at the best place of the average that is shown
  const go = where => where === "mean" ? average && move(...average.best, least)
    : middle(where === "best" ? task.best : task.trees[task.tree_of[piece]][where]);
  input.addEventListener("input", () => slide(Math.round(1000 * input.value)));
  input.addEventListener("change", () => sayThere({parameter: input.value}));
  root.addEventListener("click", ({target}) => task && target.dataset.go && go(target.dataset.go));
  charts.curve.ready.then(view => view.addEventListener("click", ({clientX}) => {
    const left = root.querySelector("[data-show=curve] svg").getBoundingClientRect().left + view.origin()[0];
    const place = Math.round(1000 * view.scale("x").invert(clientX - left));
    if (task && place >= 0 && place <= 1000) middle(task.at[place]);
  }));
  value = +Object.assign(input, {value: +said("parameter")[0] || 0}).value;             // never off the slider's rail
  sayValue(input, value.toFixed(3));
  return {
    asked() { average = null; root.classList.remove("chc-here"); charts.curve.draw({rows: {mean: []}}); },
    task(event) { task = event; root.classList.add("chc-here"); slide(Math.round(1000 * value)); },
    average(event) {
      [average, root.dataset.tasks] = [event, event.tasks];
      mean === least ? middle(piece) : draw();                       // a new average: not its best place any more
    },
  };
});
