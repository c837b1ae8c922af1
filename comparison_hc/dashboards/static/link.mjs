// One task has all its trees in its event; here one moves among them. What holds at a place was looked up in Python:
// for every thousandth the piece that it lies in, and for every piece its middle and its tree.
import {unpack} from "./tools.mjs";
import {sayValue} from "./controls.mjs";
import {show} from "./page.mjs";

const KINDS = {at: Uint32Array, middles: Float64Array, tree_of: Uint32Array, guesses: Uint8Array, mean_at: Float64Array,
  mean_middles: Float64Array};

function unpacked(event) {
  const packed = Object.entries(KINDS).filter(([name]) => event[name]);
  return {...event, ...Object.fromEntries(packed.map(([name, Kind]) => [name, unpack(event[name], Kind)]))};
}

export function start(root, connect, spec) {
  show(root, connect, spec, ({put, charts}) => {
    const input = root.querySelector("[data-parameter]");
    let task = null, average = null, value = 0, piece = 0;
    const here = () => task.trees[task.tree_of[piece]];

    function draw() {
      if (!task) return;
      const number = task.tree_of[piece], {show, begin, end, loss} = here();
      const guesses = task.guesses.subarray(number * task.n, (number + 1) * task.n);
      const onSlider = value === Math.round(1000 * value) / 1000 && task.at[Math.round(1000 * value)] === piece;
      const mean = average && (onSlider ? average.mean_at[Math.round(1000 * value)] : average.mean_middles[piece]);
      const points = task.points.map((point, i) => ({...point, guess: guesses[i], wrong: guesses[i] !== point.label}));
      const count = number => number.toLocaleString("en");
      put({...show, piece: `${count(piece + 1)} of ${count(task.middles.length)}`,
        average: average ? `${mean.toFixed(3)} on ${average.words}` : "on the way"});
      charts.pruned.draw({rows: {points}});
      charts.curve.draw({rows: {here: [{value, begin, end, loss, mean: average ? mean : null}]}});
      root.dataset.shown = value;
    }
    function move(to, into) {
      [value, piece] = [to, into];
      input.value = value;
      sayValue(input, value.toFixed(3));
      draw();
    }
    const thousandth = to => move(to, task ? task.at[Math.round(1000 * to)] : 0);
    const middle = into => move(task.middles[into], into);
    const go = {
      back: () => move(...task.trees[Math.max(task.tree_of[piece] - 1, 0)].middle),
      on: () => move(...task.trees[Math.min(task.tree_of[piece] + 1, task.trees.length - 1)].middle),
      best: () => move(...task.best),
      mean: () => average && move(average.best[0], average.best[1]),
    };
    input.addEventListener("input", () => thousandth(+input.value));
    for (const button of root.querySelectorAll("[data-go]"))
      button.addEventListener("click", () => task && go[button.dataset.go]());
    charts.curve.ready.then(view => view.addEventListener("click", event => {
      const box = root.querySelector("[data-show=curve] svg").getBoundingClientRect();
      const place = view.scale("x").invert(event.clientX - box.left - view.origin()[0]);
      if (task && place >= 0 && place <= 1) middle(task.at[Math.round(1000 * place)]);
    }));
    sayValue(input, "0.000");
    return {
      asked() {
        average = null;
        root.classList.remove("chc-here");
        charts.curve.draw({rows: {mean: []}});
      },
      task(event) {
        task = unpacked(event);
        root.classList.add("chc-here");
        thousandth(Math.round(1000 * value) / 1000);
      },
      average(event) {
        average = unpacked(event);
        root.dataset.tasks = average.tasks;
        draw();
      },
    };
  });
}
