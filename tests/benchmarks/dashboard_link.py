"""How fast the dashboard of learning to link follows α: `python tests/benchmarks/dashboard_link.py [--picture FILE]`.

Serves `link` on this machine, moves α a hundred times in headless Chromium at the sizes below, and prints how many
pieces and trees there are, the median and the slowest time from the slider's event to the next frame, which shows the
new picture. `--picture` writes the picture for the notebook.
"""

import statistics

from dashboard import MOVE, opened, options, save

from comparison_hc.dashboards.tasks import LinkSettings

LIVE_VALUES = LinkSettings.values("live")

SWEEP = """() => new Promise(resolve => {
    const input = document.querySelector('.chc-slider[data-name=parameter] input'), took = []; let turn = 0;
    const move = () => {
        if (turn === 100) return resolve(took);
        const began = performance.now();
        input.value = (.005 + 37 * turn++ / 100) % 1;
        input.dispatchEvent(new Event('input'));
        requestAnimationFrame(() => setTimeout(() => { took.push(performance.now() - began); setTimeout(move, 10); }));
    };
    move();
})"""


def put(page, **values):
    "Set sliders and lists, and wait for the whole answer."
    for name, value in values.items():
        if name in ("kind", "family"):
            page.locator(f".chc-choice[data-name={name}] select").select_option(value)
        else:
            page.evaluate(MOVE, [name, [LIVE_VALUES[name].index(value)]])
        page.wait_for_function(
            "() => { const {asked, done} = document.querySelector('.chc').dataset; return asked === done; }"
        )


def main():
    "Serve, move, print."
    args = options(__doc__)
    with opened("link", 1000, 600) as (page, _):
        put(page)
        if args.picture:
            picture(page, args.picture)
        print(f"{'a hundred moves of α, milliseconds':44} {'pieces':>7} {'trees':>6} {'median':>7} {'slowest':>8}")
        put(page, tasks=1)
        for kind, family, per_class in (
            ("rings and disks", "single–complete", 20),
            ("rings and disks", "single–complete", 50),
            ("digits", "single–complete", 50),
            ("iris", "two metrics", 50),
        ):
            put(page, kind=kind, family=family, per_class=per_class)
            took, pieces, trees = (
                page.evaluate(SWEEP),
                *(page.inner_text(f"[data-fact={name}]").split(" of ")[1].split(", ")[0] for name in ("piece", "tree")),
            )
            print(
                f"{f'{kind}, {family}, {per_class} a class':44} {pieces:>7} {trees:>6}"
                f" {statistics.median(took):7.0f} {max(took):8.0f}",
                flush=True,
            )


def picture(page, path):
    "The dashboard at the best place on average."
    page.locator("[data-go=mean]").click()
    save(page, path)


if __name__ == "__main__":
    main()
