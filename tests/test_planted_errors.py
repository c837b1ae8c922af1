"""Every check finds the errors that it names, planted in the code one at a time."""

import gc
import json
import os
from pathlib import Path

import pytest
from notebooks import forked

from comparison_hc.core.planting import find_errors, find_target, lacking, plain_function, run_apart

PARTS = 12


def find_them(part, answers):
    "In the new process, without data sets: every planted error of one part of the checks, each in its own process."
    os.environ.pop("COMPARISON_HC_DATA", None)
    gc.freeze()  # what was imported before is not searched for waste again and again
    found = find_errors()
    pieces = [(check, error) for check, errors in found[part::PARTS] for error in errors]
    results = run_apart(pieces, n_jobs=1, limit=120)
    sentences = [f"{error}: {getattr(sent, 'why', sent)}" for (_, error), sent in zip(pieces, results)]
    bad = [text for text, sent in zip(sentences, results) if not getattr(sent, "found", False)]
    Path(answers).write_text(json.dumps([len(pieces), bad]), encoding="utf-8")


@pytest.mark.parametrize("part", range(PARTS))
def test_planted_errors_are_found(part, tmp_path):
    """In processes that have computed nothing yet: what another test has cached could hide an error.

    That every check holds without an error is what `test_every_statement_holds` of each paper says."""
    process = forked().Process(target=find_them, args=(part, tmp_path / "answers"))
    process.start()
    process.join(900)
    process.kill()
    assert process.exitcode == 0, "it ended early, or not at all"
    pieces, bad = json.loads((tmp_path / "answers").read_text(encoding="utf-8"))
    assert pieces > 0
    assert not bad, "\n".join(bad)


def test_every_check_names_errors():
    assert not lacking(find_errors())


def test_every_check_is_run_without_an_error_too():
    import test_adaptive_theory
    import test_adaptive_theory_noisy
    import test_flat_theory
    import test_link_theory
    import test_theory

    files = test_adaptive_theory, test_adaptive_theory_noisy, test_flat_theory, test_link_theory, test_theory
    assert all(hasattr(file, "test_every_statement_holds") for file in files)
    assert {check for file in files for check in file.CHECKS} == {check for check, _ in find_errors()}


def test_errors_are_planted_in_functions():
    for _, errors in find_errors():
        for error in errors:
            function = plain_function(find_target(error.target))
            assert function.__module__.startswith("comparison_hc."), error
