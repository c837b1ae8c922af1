"A whole session by clicking in headless Chromium: reloaded and its kernel killed in the middle; the tree is right."

import re

import numpy as np
import pytest

from comparison_hc.adaptive.trees import random_hierarchy
from comparison_hc.comparisons import read_comparisons
from comparison_hc.dashboards.server import serve_dashboard
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.elicitation.items import ANIMALS
from comparison_hc.elicitation.session import Session, read_journal
from comparison_hc.oracles import HierarchyOracle

NAMES = [item.name for item in ANIMALS]
TREE = random_hierarchy(12, "split", 8)
ORACLE = HierarchyOracle(TREE)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    "(address, log of the answers)."
    pytest.importorskip("tornado", reason="tornado is not installed (extra: dashboard)")
    log = tmp_path_factory.mktemp("asking") / "animals-Ada.jsonl"
    with serve_dashboard("ask", journal=log, person="Ada") as address:
        yield address, log


class Page:
    "The page, and who answers on it."

    def __init__(self, browser, address):
        self.page, self.complaints, self.elsewhere = browser.new_page(viewport=dict(width=1280, height=900)), [], []
        self.page.set_default_timeout(300_000)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "request",
            lambda request: (
                re.match(rf"{re.escape(address.partition('?')[0])}|blob:|data:", request.url)
                or self.elsewhere.append(request.url)
            ),
        )
        self.page.goto(address)
        self.ready()

    def ready(self):
        self.page.wait_for_selector(".ask[data-at][data-busy='']")

    def reload(self):
        self.page.reload()
        self.ready()

    def text(self, selector):
        return self.page.locator(selector).first.inner_text()

    def shown(self):
        return [card.get_attribute("data-item") for card in self.page.locator(".ask-card:visible").all()]

    def at(self):
        return int(self.page.locator(".ask").get_attribute("data-at"))

    def leaves(self):
        return [group.get_attribute("data-item") for group in self.page.locator(".ask-leaves li[data-item]").all()]

    def seen(self):
        return (
            self.shown(),
            self.text(".ask-left"),
            self.leaves(),
            self.page.locator(".ask-tree-svg path").get_attribute("d"),
        )

    def right(self):
        return ORACLE(np.array([[NAMES.index(name) for name in self.shown()]])).item() + 1

    def until(self, at):
        "Wait for the reply."
        self.page.wait_for_function(
            """at => {
                const {at: now, busy} = document.querySelector('.ask').dataset;
                return +now === at && busy === '';
            }""",
            arg=at,
        )

    def click(self, selector):
        at = self.at()
        self.page.locator(selector).click()
        self.until(at + 1)

    def press(self, key):
        at = self.at()
        self.page.keyboard.press(key)
        self.until(at + 1)

    def save(self, form, folder):
        with self.page.expect_download() as waiting:
            self.page.locator(f"button[data-form='{form}']").click()
        waiting.value.save_as(folder / waiting.value.suggested_filename)
        self.ready()
        return folder / waiting.value.suggested_filename


def test_a_whole_session(browser, server, tmp_path):
    address, journal = server
    live = Page(browser, address)
    assert live.text("h2") == "Which one does not belong?"
    assert len(live.shown()) == 3
    assert live.text(".ask-left").startswith("0 answered · at most 43 left, about")
    grown = 0
    for _ in range(8):  # by clicking; the tree grows
        before, left = live.seen(), int(live.page.locator(".ask").get_attribute("data-left"))
        live.click(f".ask-card[data-answer='{live.right()}']")
        grown += (
            live.seen()[2:] != before[2:]
        )  # not by a repeated question, nor where the new item turns out to belong where it was drawn
        assert len(live.leaves()) >= len(before[2]) and int(live.page.locator(".ask").get_attribute("data-left")) < left
    assert grown >= 5
    assert live.text(".ask-left").startswith("8 answered") and len(read_journal(journal).answers) == 8
    before = live.seen()
    live.reload()
    assert live.seen() == before

    live.press(str(live.right()))
    live.press("u")
    assert live.seen() == before  # by keys, and back
    live.press("0")
    assert live.text(".ask-left").startswith("9 answered")
    live.press("Backspace")
    assert live.seen() == before
    for _ in range(5):
        live.press(str(live.right()))
    live.page.keyboard.press("Tab")
    live.page.keyboard.press("x")  # what is no answer does nothing
    before = live.seen()
    live.reload()
    assert live.seen() == before and live.text(".ask-left").startswith("13 answered")

    while live.shown():
        live.click(f".ask-card[data-answer='{live.right()}']")
    assert live.text("h2") == "Thank you. That is all." and sorted(live.leaves()) == sorted(NAMES)
    assert Dendrogram.from_newick(live.save(".nwk", tmp_path).read_text().strip(), names=NAMES).same_tree(TREE)
    plain = Session(person="Ada")  # the same answers without a break
    while plain.question:
        plain.answer(ORACLE(np.array([plain.question.shown])).item() + 1)
    assert read_journal(journal).answers == plain.state.answers
    answers = read_comparisons(live.save("answers.csv", tmp_path))
    assert len(answers) == 2 * len(plain.state.answers)
    assert live.complaints == [] and live.elsewhere == []
    live.page.close()


def test_accessible_and_narrow(browser, server):
    "Reached with Tab in order, named, large enough for a thumb; a second page learns what the first one did."
    live = Page(browser, server[0])
    if not server[1].exists() or not read_journal(server[1]).answers:  # the session above was another process's
        for _ in range(3):
            live.press(str(live.right()))
    live.press("u")
    assert live.page.locator(".ask-careful").is_hidden()  # nothing differed
    reached = []
    for _ in range(8):
        live.page.keyboard.press("Tab")
        reached.append(
            live.page.evaluate(
                "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
            )
        )
    first, second, third = live.shown()
    assert reached[:5] == [
        f"1: leave out {first}; {second} and {third} belong together",
        f"2: leave out {second}; {first} and {third} belong together",
        f"3: leave out {third}; {first} and {second} belong together",
        "0cannot say",
        "uundo",
    ]
    assert first in live.page.locator(".ask-live[role=status]").text_content() and live.page.locator(
        "[role=progressbar]"
    ).get_attribute("aria-valuenow") == str(len(read_journal(server[1]).answers))
    for width in (1280, 360):
        live.page.set_viewport_size(dict(width=width, height=740))
        live.page.wait_for_timeout(300)
        assert live.page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        sizes = live.page.evaluate(
            """() => [...document.querySelectorAll('.ask button')].filter(button => button.offsetParent).map(button => {
                const {width, height, left, right} = button.getBoundingClientRect();
                return [width, height, left, window.innerWidth - right];
            })"""
        )
        assert all(wide >= 44 and high >= 44 and left >= 0 and right >= 0 for wide, high, left, right in sizes)
        assert len(sizes) >= 5
        live.page.locator(".ask-kept").scroll_into_view_if_needed()
        assert "animals-Ada.jsonl" in live.text(".ask-kept")
    other = Session(journal=server[1])
    other.answer(0)  # in the terminal, say
    at = live.at()
    live.page.keyboard.press("1")
    live.until(at + 1)
    assert "continued in another page or terminal" in live.text(".chc-notes p")
    assert read_journal(server[1]).answers == other.state.answers
    live.page.close()
