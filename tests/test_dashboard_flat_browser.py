"The dashboard of flat clusters in headless Chromium: served, moved, with extremes and background work, and as a file."

from shared import live_page
from test_dashboard_browser import Page

from comparison_hc.dashboards.flat import FlatSettings, flat_data

LIVE_VALUES = FlatSettings.values("live")


START = dict(n=200, a=4.5)  # where the certificate applies


class FlatPage(Page):
    "A page with this dashboard."

    values = LIVE_VALUES

    def fact(self, name):
        return self.text(f"[data-fact={name}]")

    def picture(self):
        return self.page.evaluate("""() => {
            const bars = [...document.querySelectorAll('[data-show=prices] .mark-rect path')];
            const maps = [...document.querySelectorAll('.chc-map')];
            return maps.map(map => map.src).join() + bars.map(bar => bar.getAttribute('d')).join();
        }""")

    def shows(self, settings):
        "Whether the facts are those of the pure function."
        data = flat_data(settings)
        return (self.fact("k̂"), self.fact("ARI").split(":")[0], self.fact("proof").startswith("certificate")) == (
            f"{data['k_hat']} found, {settings.k} planted",
            f"{data['ari']:.3f}",
            data["certified"] is not None,
        )


live = live_page(FlatPage, "flat", **START)


def test_the_first_picture_is_the_pure_functions(live):
    assert live.shows(FlatSettings(**START))
    assert live.marks() == 1
    assert live.fact("proof") == "certificate, no iteration needed"
    assert live.page.locator("[data-show=prices]").get_attribute("aria-label").split("; ")[1].startswith("proved from")
    assert live.page.evaluate("() => [...document.querySelectorAll('.chc-map')].map(c => c.naturalWidth)") == [200, 200]


def test_lists_and_history(live):
    live.put("n", 60, wait=False)
    live.put("k", 2)
    live.choose("similarity", "MulK-3")
    assert live.shows(FlatSettings(n=60, k=2, a=4.5, similarity="MulK-3"))
    live.choose("similarity", "AddS-4")
    live.choose("family", "uniform + beta")
    assert live.shows(FlatSettings(n=60, k=2, a=4.5, similarity="AddS-4", family="uniform + beta"))
    live.choose("family", "normal")
    live.choose("similarity", "AddS-3")
    live.choose("against", "a")
    assert live.text("[data-show=measure-axis]") == "a" and live.marks() == 1
    live.choose("against", "ε")
    hollow = "() => document.querySelectorAll('[data-show=objective] .mark-symbol path[fill=\"#fff\"]').length"
    assert live.page.evaluate(hollow) == 0
    live.choose("every_k", "always")
    assert live.page.evaluate(hollow) > 0 and live.shows(FlatSettings(n=60, k=2, a=4.5, every_k=True))
    live.choose("every_k", "if needed")


def test_the_iteration_is_shown_and_dropped(live):
    "At n = 300 with few answers it takes many seconds; a move ends it, and only the last setting is answered."
    live.put("n", 60, wait=False)
    live.put("k", 2, wait=False)
    live.put("a", 4)
    live.put("a", 2.2, wait=False)
    live.put("k", 6, wait=False)
    live.put("n", 300, wait=False)
    live.page.wait_for_function(
        "() => /SDP-.*iteration \\d/.test(document.querySelector('.chc-progress [role=status]').textContent)"
    )
    # S is there before X
    assert live.page.evaluate("() => document.querySelector('.chc-data .chc-map').naturalWidth") == 300
    live.put("n", 80, wait=False)
    live.put("a", 4, wait=False)
    live.put("k", 2, wait=False)
    live.put("n", 60)
    assert live.shows(FlatSettings(n=60, k=2, a=4)) and "drawn in" in live.text(".chc-progress")
