"What the package imports is what it declares; the tool's findings that were looked at are still there to be looked at."

import json

import audit
import pytest


def test_what_is_imported_is_declared_and_the_other_way_round():
    imports, packages = audit.imported(), audit.declared()
    assert audit.faults_of_imports(imports, packages) == [] and {"numpy", "scipy"} <= set(imports)
    assert audit.faults_of_imports({**imports, "requests": {"cli.py"}}, packages) == [
        "imported, not declared: requests"
    ]
    assert audit.faults_of_imports(imports, {**packages, "flask": True}) == ["never imported: flask"]
    assert not set(audit.COMES_WITH) & set(packages) and set(audit.COMES_WITH) <= set(imports)


@pytest.mark.parametrize("test, n_found", [("B404", 0), ("B403", 1)])
def test_a_finding_that_nobody_has_looked_at_is_named(test, n_found):
    found = dict(test_id=test, filename=str(audit.PACKAGE / "cli.py"), line_number=3, issue_text="pickle")
    assert len(audit.unexplained([found])) == n_found


def test_reasons_are_about_modules_that_exist():
    assert all((audit.PACKAGE / module).is_file() for _, module in audit.LOOKED_AT if module)


def test_what_the_database_does_not_know_is_not_called_checked():
    unknown, faulty = dict(name="a", skip_reason="not found"), dict(name="b", version="1", vulns=[dict(id="X-1")])
    fine = dict(name="c", version="2", vulns=[])
    said, faults = audit.known_faults(json.dumps(dict(dependencies=[unknown, faulty, fine])))
    assert said.startswith("2 of 3 packages asked about, 1 known") and "not checked" in said and faults == ["b 1: X-1"]
    said, faults = audit.known_faults(json.dumps(dict(dependencies=[unknown])))
    assert said.startswith("0 of 1 packages asked about") and faults == []
    assert audit.known_faults("")[1] == audit.known_faults("{}")[1] == ["pip-audit gave no answer"]
