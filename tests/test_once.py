"A check is computed once where that is the same check, and each time where it is not."

import types
from unittest import mock

import pytest
from once import checks_run_once

from comparison_hc.checks import THEORY_MODULES, RegisteredCheck, compare


def counted(home=THEORY_MODULES[0]):
    "A check of a theory, and the list of its runs."
    seen = []

    def one(quick=True, seed=0):
        seen.append(seed)
        return compare(seed, "<=", 1)

    one.__module__ = home
    about = dict(paper="F19", label="lemma", statement="$0 \\leq 1$", kind="deterministic", erratum=None)
    return RegisteredCheck(one, **about, confidence=None, false_passes=None, power=None), seen


def test_computed_once_by_whoever_is_first(tmp_path):
    (one, ran), (other, ran_again) = counted(), counted()
    with checks_run_once(tmp_path):
        assert one() and one() and other() and ran == [0] and ran_again == []
        assert other(seed=1) and not other(seed=2) and ran_again == [1, 2]
        assert other(seed=mock.Mock(__le__=lambda *_: True)).error and len(ran_again) == 3  # no plain argument
    assert other() and len(ran_again) == 4


@pytest.mark.parametrize("home", ["comparison_hc.checks", "__main__"])
def test_no_check_outside_a_theory_is_shared(tmp_path, home):
    one, ran = counted(home)
    with checks_run_once(tmp_path):
        assert one() and one() and ran == [0, 0]
    assert not list(tmp_path.iterdir())


def test_nothing_is_shared_while_something_is_replaced(tmp_path):
    thing, other = types.SimpleNamespace(here=1), {"here": 1}
    for replaced in (mock.patch.object(thing, "here", 2), mock.patch.dict(other, here=2)):
        check, ran = counted()
        with checks_run_once(tmp_path):
            with replaced:
                assert check() and check()
            assert len(ran) == 2 and not list(tmp_path.iterdir())
    with checks_run_once(tmp_path):
        assert check() and check() and len(ran) == 3
    assert other == {"here": 1} and list(tmp_path.iterdir())
