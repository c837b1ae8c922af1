"""Our methods beside their peers, in one process on the same answers: `python tests/benchmarks/peers.py [car] [food]`.

Held-out agreement on the same splits, and seconds (of the clock, and of all cores) on all answers, of the direct
methods plain and refined, of `auto`, and of t-STE, FORTE and SOE (as points, and with average linkage on them).
Options: --splits N (default 3), --answers M (a sample of so many; default: all). Nothing here is asserted.
"""

import argparse
import os
import sys
import warnings
from time import perf_counter, process_time


def measured(name, n_splits, most):
    "The table of one data set."
    import pandas as pd

    from comparison_hc.datasets import load_dataset
    from comparison_hc.evaluation._candidates import candidate, candidate_names, fit
    from comparison_hc.evaluation.model_selection import choose_method, compare_methods

    answers = load_dataset(name).triplets
    if most is not None and most < len(answers):
        answers = answers.sample(most, 0)
    names = candidate_names(answers.kind, embeddings=True)
    few = answers.sample(min(300, len(answers)), 0)
    for one in names:  # what is loaded or compiled at the first use is nobody's time
        fit(candidate(one), few, 0, {})
    found = compare_methods(answers, names, n_splits, people=False)
    table = found.table[["title", "agreement", "low", "high", "right", "open"]].copy()
    made, cpu = {}, {}
    for one in names:  # bases come before what rests on them
        start, base = process_time(), candidate(one).base
        fit(candidate(one), answers, 0, made)
        cpu[one] = process_time() - start + (cpu[base.name] if base else 0)
    table["seconds"], table["CPU"] = [made[one][1] for one in table.index], [cpu[one] for one in table.index]
    start, begun = perf_counter(), process_time()
    chosen = f"auto (took {candidate(choose_method(answers).name).title})"
    row = dict(title=chosen, seconds=perf_counter() - start, CPU=process_time() - begun)
    return found, pd.concat([table, pd.DataFrame([row], index=["auto"])])


def main():
    "Measure and print."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=["car", "food"])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--answers", type=int)
    args = parser.parse_args()
    warnings.simplefilter("ignore")

    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    for name in args.data or ["car", "food"]:
        found, table = measured(name, args.splits, args.answers)
        print(f"\n{name}: {found.sentences()[0]} No tree could reach more than {found.table.most.iloc[0]:.3f}.")
        interval = [f"{low:.3f} to {high:.3f}" if low == low else "" for low, high in zip(table.low, table.high)]
        shown = table.drop(columns=["low", "high"]).assign(interval=interval)
        for column, form in (
            ("agreement", "{:.3f}"),
            ("right", "{:.1%}"),
            ("open", "{:.1%}"),
            ("seconds", "{:.2f}"),
            ("CPU", "{:.2f}"),
        ):
            shown[column] = [form.format(value) if value == value else "" for value in shown[column]]
        print(
            shown[["title", "agreement", "interval", "right", "open", "seconds", "CPU"]].to_string(index=False),
            flush=True,
        )


if __name__ == "__main__":
    main()
