"What the suite shares between a theorem's page, its workshop and its test is the same check with the same arguments."

import types
from unittest import mock

import pytest
from once import checks_run_once, missing_names

from comparison_hc.core.judging import RegisteredCheck, compare

HOME = "comparison_hc.theory.l20_samples"


def counted(home=HOME, **changes):
    "A check of this module, and how often its sides were computed."
    seen = []

    def one_is_one(quick=True, rng=0):
        seen.append(rng)
        return compare(1, "=", 1, random=dict(seed=rng, what="nothing"), made=[str(rng)])

    one_is_one.__module__ = home
    return RegisteredCheck(
        one_is_one, "L20", changes.get("label", "lemma 1"), "$1=1$", "deterministic", None, None
    ), seen


def test_computed_once_by_whoever_is_first(tmp_path):
    (first, n_first), (second, n_second), (other, n_other) = counted(), counted("__main__"), counted(label="lemma 2")
    with checks_run_once(tmp_path):
        assert first() and first(rng=1)
    with checks_run_once(tmp_path, HOME):  # a notebook that exports this module
        results = second(), second(rng=1), other()
    assert (n_first, n_second, n_other) == ([0, 1], [], [0]) and all(results)
    assert [result.table.made.tolist() for result in results] == [["0"], ["1"], ["0"]]
    assert first() and n_first == [0, 1, 0]  # outside it runs as it always does


@pytest.mark.parametrize("home", ["comparison_hc.checks", "__main__"])
def test_no_check_of_a_theory_is_run_each_time(tmp_path, home):
    for _ in range(2):
        one, n_one = counted(home)
        with checks_run_once(tmp_path):
            assert one() and n_one == [0]
    assert not list(tmp_path.iterdir())


def test_nothing_is_shared_while_something_is_replaced(tmp_path):
    thing, other = types.SimpleNamespace(here=1), {"here": 1}
    for replaced in (mock.patch.object(thing, "here", 2), mock.patch.dict(other, here=2)):
        check, seen = counted()
        with checks_run_once(tmp_path):
            with replaced:
                assert check() and check()
            assert len(seen) == 2 and not list(tmp_path.iterdir())  # run each time, and nothing is kept
    with checks_run_once(tmp_path):
        assert check() and check() and len(seen) == 3
    assert other == {"here": 1} and list(tmp_path.iterdir())


def test_a_name_that_a_notebook_has_not_is_noticed(tmp_path):
    "Though the sides are there: the workshop's check has to be one that could run."
    source = (
        "def helper():\n    return [known for _ in 'a' if elsewhere]\ndef check(quick=True):\n    return len(helper())"
    )
    notebook = types.ModuleType("__main__")
    exec(source, notebook.__dict__)
    assert missing_names(notebook.check) == {"known", "elsewhere"}
    notebook.known = notebook.elsewhere = 1
    assert missing_names(notebook.check) == set()
    del notebook.elsewhere
    made = RegisteredCheck(notebook.check, "L20", "lemma 1", "$1=1$", "deterministic", None, None)
    with checks_run_once(tmp_path, HOME), pytest.raises(AssertionError, match="elsewhere"):
        made()
