"""A small part of what `python tests/attack.py` does: every public name is met, and the same values every time."""

import warnings

import attack
import pytest


def test_every_public_name_is_attacked_or_left_out_for_a_reason():
    lacking = [
        name
        for name, function in attack.targets().items()
        if name not in attack.NOT_ATTACKED and attack.good_call(name, function) is None
    ]
    assert lacking == [] and all(len(reason) > 8 for reason in attack.NOT_ATTACKED.values())


def test_a_part_of_the_bad_values_is_refused_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    covered, _, n_calls, failures = attack.attack_names(share=40)
    assert failures == [] and covered > 100 and n_calls > 500


def test_changed_files_and_journals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert attack.attack_readers(60) + attack.attack_journals(12) == []


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: None, None),
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: warnings.warn("overflow", RuntimeWarning, stacklevel=2), "RuntimeWarning"),
        (lambda: (_ for _ in ()).throw(attack.InputError("one line\nand another")), "message"),
    ],
)
def test_the_attack_notices(call, said):
    found = attack.outcome(call)
    assert found is None if said is None else said in found
