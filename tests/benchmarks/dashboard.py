"""How fast the dashboard follows a slider: `python tests/benchmarks/dashboard.py [--rounds N] [--picture FILE.png]`.

Serves `planted` on this machine, moves a slider twenty times in headless Chromium, and prints the median and the
slowest time from the slider's event to the frame that shows the new heat map and tree, and to the one in which every
chosen method has its value. `--picture` writes the picture for the notebook.
"""

import argparse
import os
import shutil
import statistics
from contextlib import contextmanager

from comparison_hc.dashboards.planted import PlantedSettings
from comparison_hc.dashboards.server import serve_dashboard

LIVE_VALUES = PlantedSettings.values("live")

MOVE = """([name, places]) => new Promise(resolve => {
    const root = document.querySelector('.chc'), input = root.querySelector(`.chc-slider[data-name=${name}] input`);
    const took = [];
    let turn = 0;
    const move = () => {
        if (turn === places.length) return resolve(took);
        const began = performance.now(), wanted = {};
        input.value = places[turn++];
        input.dispatchEvent(new Event('input'));
        const watch = () => {
            const now = performance.now();
            for (const what of ['drawn', 'done'])
                if (!wanted[what] && root.dataset[what] === root.dataset.asked) wanted[what] = now - began;
            wanted.done ? (took.push([wanted.drawn, wanted.done]), setTimeout(move, 50)) : requestAnimationFrame(watch);
        };
        requestAnimationFrame(watch);
    };
    move();
})"""


def options(doc, **others):
    "The options of a benchmark: its own, as `add_argument` takes them, and `--picture`."
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    for name, each in others.items():
        parser.add_argument(f"--{name}", **each)
    parser.add_argument("--picture")
    return parser.parse_args()


@contextmanager
def opened(name, height, patience):
    "A dashboard, served on this machine and shown in headless Chromium: (page, address). Says how busy the machine is."
    from playwright.sync_api import sync_playwright

    with serve_dashboard(name) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page(viewport=dict(width=1280, height=height), device_scale_factor=1)
        page.set_default_timeout(1000 * patience)
        page.goto(address)
        page.wait_for_selector(".chc[data-done]")
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        yield page, address
        chromium.close()


def save(page, path):
    "The dashboard as a picture, without the time that an answer took, which differs every time."
    page.locator(".chc-progress [role=status]").evaluate("e => { e.textContent = ''; }")
    page.locator(".chc").screenshot(path=path)


def measure(page, name, values):
    "Milliseconds (to the new tree, to all values) of every move."
    places = [LIVE_VALUES[name].index(value) for value in values]
    return page.evaluate(MOVE, [name, places])


def put(page, **values):
    "Move sliders and wait for the answer."
    for name, value in values.items():
        measure(page, name, [value])


def report(what, rounds):
    "The best round's medians."
    tree, all_ = min(([statistics.median(column) for column in zip(*took)] for took in rounds), key=sum)
    slowest = max(done for took in rounds for _, done in took)
    print(f"{what:58} {tree:8.0f} {all_:8.0f} {slowest:8.0f}", flush=True)


def main():
    "Serve, move, print."
    args = options(__doc__, rounds=dict(type=int, default=3))
    with opened("planted", 800, 120) as (page, address):
        print(f"{'twenty moves, milliseconds, best round of medians':58} {'tree':>8} {'all':>8} {'slowest':>8}")
        moves = dict(
            snr=[round(0.1 * step, 1) for step in range(1, 21)],
            p=[0.01, 0.1, 1.0, 0.001] * 5,
            seed=list(range(19, -1, -1)),
        )
        for name, values in moves.items():
            report(f"N = 64, {name}", [measure(page, name, values) for _ in range(args.rounds)])
            put(page, snr=1.0, p=0.1, seed=0)
        for method in ("4K–AL", "4K–AL–act", "4–AL–I5"):
            page.locator(f"input[aria-label='run {method}']").check()
        report("N = 64, snr, all eight methods", [measure(page, "snr", moves["snr"]) for _ in range(args.rounds)])
        put(page, p=0.001, n_pure=30)
        report("N = 240, p = 0.001 (0.4 million answers), all eight, snr", [measure(page, "snr", moves["snr"][::4])])
        if args.picture:
            _picture(page.context.browser, address, args.picture)


def _picture(chromium, address, path):
    "The dashboard after a short visit."
    page = chromium.new_page(viewport=dict(width=1280, height=1180))
    page.set_default_timeout(120_000)
    page.goto(address)
    page.wait_for_selector(".chc[data-done]")
    for snr in [round(0.2 * step, 1) for step in range(1, 11)] + [0.8]:
        put(page, snr=snr)
    page.locator(".chc-history select").select_option("snr")
    save(page, path)


if __name__ == "__main__":
    main()
