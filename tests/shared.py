"What several test files do in the same way."


def assert_holds(check):
    "A registered check holds; its broken rows are shown where it does not."
    result = check()
    assert result, f"{result!r}\n{result.table[~result.table.holds].to_string()}"
