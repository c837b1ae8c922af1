"The lectures: claims hold at their settings and could fail, minutes add up, addresses set the dashboards."

import json
import re
from dataclasses import replace
from functools import cache
from math import inf
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc.classroom.lecture_kit import DASHBOARDS, Lecture, address, read_address
from comparison_hc.core.validation import InputError

PAPERS = ("f19", "n20", "a18", "l20")
ROOM = Path(__file__).parents[1] / "nbs" / "classroom"


@cache
def lecture_on(paper):
    "The lecture that a page defines."
    (page,) = ROOM.glob(f"79?_lecture_{paper}.ipynb")
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    (steps,) = ("".join(cell["source"]) for cell in cells if cell["id"] == "steps")
    names = {}
    exec(compile(steps, page.name, "exec"), names)
    return names["lecture"]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_holds_and_the_minutes_add_up(paper):
    lecture = lecture_on(paper)
    assert sum(step.minutes for step in lecture.steps) == lecture.minutes == 45
    for number, step in enumerate(lecture.steps):
        text, holds = lecture.seen(number)
        assert holds and "{" not in text, (number + 1, text)
        name, chosen, place = read_address(lecture.link(number))
        assert name == lecture.dashboard and chosen == DASHBOARDS[name][0](**step.settings)
        assert {key: float(value) for key, value in place.items()} == step.place


WRONG = [("a18", 1, dict(n=8)), ("l20", 2, dict(family="average–complete"))]


@pytest.mark.parametrize("paper, at, wrong", WRONG)
def test_a_claim_that_does_not_hold_is_told(paper, at, wrong):
    lecture = lecture_on(paper)
    step = lecture.steps[at]
    broken = Lecture(lecture.dashboard, (replace(step, settings={**step.settings, **wrong}),))
    assert not broken.seen(0)[1]
    with pytest.raises(InputError, match="step 1"):
        broken.markdown()


@pytest.mark.parametrize("paper", PAPERS)
def test_reasons_name_sections_that_exist_and_pages_show_the_links(paper):
    lecture = lecture_on(paper)
    page = next(ROOM.glob(f"79?_lecture_{paper}.ipynb")).read_text(encoding="utf-8")
    for number, step in enumerate(lecture.steps):
        links = re.findall(r"\((\.\./[^)]*\.ipynb)\)(?:, “([^”]+)”)?", step.why)
        assert links, step.why
        for link, section in links:
            cells = json.loads((ROOM / link).read_text(encoding="utf-8"))["cells"]
            heads = re.findall(r"^## (.*)$", "\n".join("".join(c["source"]) for c in cells), re.MULTILINE)
            assert not section or section in heads, (link, section)
        assert lecture.link(number) in page, number + 1


@settings(max_examples=30)
@given(st.data())
def test_an_address_says_where_every_control_stands(data):
    name = data.draw(st.sampled_from(sorted(DASHBOARDS)))
    kind, _ = DASHBOARDS[name]
    chosen = {each: data.draw(st.sampled_from(values)) for each, values in kind.values("live").items()}
    try:
        wanted = kind(**chosen)
    except InputError:
        return  # values that do not go together
    link = address(name, dict(at=3), **chosen)
    assert read_address(link) == (name, wanted, {"at": "3"})
    assert all(f"{each}=" in link for each in kind.values("live"))


def test_addresses_that_no_page_understands_are_refused():
    assert "snr=inf" in address("planted", snr=inf) and ":9000/#" in address("step", port=9000)
    for wrong in (dict(n=13.5), dict(n=2), dict(place=dict(speed=1)), dict(port=0), dict(p=0.8125)):
        with pytest.raises(InputError):
            address("step", **wrong)
    for wrong in ("nothing", "http://127.0.0.1:9999/#n=3"):
        with pytest.raises(InputError):
            read_address(wrong)
    with pytest.raises(InputError, match="name"):
        address("ask")
