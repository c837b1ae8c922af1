"""Was the planner right? `python tests/benchmarks/planner.py [--repeat N] [--jobs N]` holds back half of real answers.

All runs of comparison_hc.whatif.held_back, kept in a journal (interrupted, the same command continues), and written to
nbs/whatif/results/held-back.csv; the sentences with their verdicts and the table of means are printed.
"""

import argparse
from pathlib import Path


def main():
    "Run, keep and print."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of every case and pilot")
    parser.add_argument("--jobs", type=int, default=-1, help="workers")
    folder = Path(__file__).parents[2] / "nbs/whatif/results"
    parser.add_argument("--folder", type=Path, default=folder, help="where results and journal go")
    args = parser.parse_args()
    from comparison_hc.reproduce.claims import claims_table, save_results
    from comparison_hc.reproduce.experiments import run_experiment
    from comparison_hc.whatif.held_back import held_back_claims, held_back_grid, held_back_run, held_back_table

    args.folder.mkdir(exist_ok=True)
    grid = held_back_grid(args.repeat)
    journal = Path("reproductions/held-back.jsonl")  # in this folder, as `comparison-hc reproduce` keeps its own
    journal.parent.mkdir(exist_ok=True)
    kept = run_experiment(held_back_run, grid, journal, args.jobs, progress=True, paired=("pilot",))
    print(claims_table(held_back_claims(kept)))
    print(held_back_table(kept).round(3).to_string(index=False))
    print(f"wrote {save_results('held-back', kept, args.folder)}")
    journal.unlink()


if __name__ == "__main__":
    main()
