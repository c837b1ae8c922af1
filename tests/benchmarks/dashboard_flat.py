"""How fast the dashboard of flat clusters follows a slider: `python tests/benchmarks/dashboard_flat.py`.

Options are `--rounds N` and `--picture FILE.png`. Serves `flat` here, moves a slider twenty times in headless
Chromium at n = 200 where the certificate applies, and prints the median and the slowest time from the slider's event to
the frame that shows the result. Then the same where it does not apply. `--picture` writes the picture for the notebook.
"""

import statistics

from dashboard import MOVE, opened, options, save

from comparison_hc.dashboards.flat_settings import FlatSettings

LIVE_VALUES = FlatSettings.values("live")


def measure(page, name, values):
    "Milliseconds to the result of every move."
    return [drawn for drawn, _ in page.evaluate(MOVE, [name, [LIVE_VALUES[name].index(value) for value in values]])]


def report(page, what, name, values, rounds):
    "The best round's median."
    took, proofs = [], set()
    for _ in range(rounds):
        took.append(measure(page, name, values))
        proofs.add(page.inner_text("[data-fact=proof]").split(",")[0])
    print(
        f"{what:58} {min(map(statistics.median, took)):8.0f} {max(map(max, took)):8.0f}  last: {', '.join(proofs)}",
        flush=True,
    )


def main():
    "Serve, move, print."
    args = options(__doc__, rounds=dict(type=int, default=3))
    with opened("flat", 1140, 600) as (page, _):
        print(f"{'twenty moves at n = 200, k = 4, δ = 0.7, milliseconds':58} {'median':>8} {'slowest':>8}")
        report(
            page,
            "a from 4 to 4.9 and back",
            "a",
            [round(4 + 0.1 * step, 1) for step in (*range(10), *range(9, -1, -1))],
            args.rounds,
        )
        measure(page, "a", [4.5])
        report(
            page,
            "ε from 0.75 to 1 and back",
            "epsilon",
            [0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 0.95, 0.9, 0.85, 0.8] * 2,
            args.rounds,
        )
        report(page, "seed", "seed", list(range(19, -1, -1)), args.rounds)
        if args.picture:
            _picture(page, args.picture)
        measure(page, "n", [200])
        measure(page, "a", [2.5])
        report(page, "without a certificate: n = 200, k = 2, a = 2.5, three seeds", "seed", [1, 2, 3], 1)


def _picture(page, path):
    "The dashboard after a short visit."
    page.reload()
    page.wait_for_selector(".chc[data-done]")
    for name, values in dict(n=[100], k=[2], a=[1.5, 2, 2.5, 3, 3.5, 4.0]).items():
        measure(page, name, values)
    page.locator(".chc-history select").select_option("a")
    page.wait_for_function(
        "() => { const {asked, done} = document.querySelector('.chc').dataset; return asked === done; }"
    )
    save(page, path)


if __name__ == "__main__":
    main()
