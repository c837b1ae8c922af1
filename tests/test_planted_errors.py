"""Every check finds the errors that it names, planted in the code one at a time."""

import json
import subprocess
import sys

import pytest

from comparison_hc.ground.planting import find_errors, find_target, lacking, plain_function

PARTS = 12
RUN = """
import json, sys
from comparison_hc.ground import planting
from comparison_hc.reproduce.l20_tasks import bring_pictures
part, parts = int(sys.argv[1]), int(sys.argv[2])
found = planting.find_errors()
bring_pictures()
pieces = [(check, error) for check, errors in found[part::parts] for error in errors]
results = planting.run_apart(pieces, n_jobs=1, limit=120)
sentences = [f"{error}: {getattr(sent, 'why', sent)}" for (_, error), sent in zip(pieces, results)]
bad = [text for text, sent in zip(sentences, results) if not getattr(sent, "found", False)]
print(json.dumps([len(pieces), bad]))
"""


@pytest.mark.parametrize("part", range(PARTS))
def test_planted_errors_are_found(part):
    """In processes that have computed nothing yet: what another test has cached could hide an error.

    That every check holds without an error is what `test_every_statement_holds` of each paper says."""
    run = [sys.executable, "-c", RUN, str(part), str(PARTS)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    pieces, bad = json.loads(done.stdout.splitlines()[-1])
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
