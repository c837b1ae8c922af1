"What a program brings that was not loaded with the package, as JSON: {what was done: libraries that came with it}."

import json
from importlib import import_module

import pyodide_js

LARGE = {"pandas", "scikit-learn"}


def there():
    "Which of the large libraries are loaded."
    return sorted(LARGE & set(pyodide_js.loadedPackages.to_py()))


def done():
    "Steps with less and less left to bring."
    from comparison_hc import Triplets
    from comparison_hc.hierarchical import planted_hierarchy, triplet_average_linkage

    planted_hierarchy(4, 2, 0.8, 0.1, 0.1, rng=3)
    answers = Triplets([(0, 1, 2), (1, 0, 2), (2, 1, 0)])
    triplet_average_linkage(answers)
    yield "a tree"
    from comparison_hc.core.io import atomic_write

    for text in ("one", "two"):
        atomic_write("written.txt", text)
    assert open("written.txt").read() == "two"
    yield "a file, written anew"
    from comparison_hc.dashboards.planted_page import PAGE

    PAGE.settings(**PAGE.small)
    yield "a live page"
    import_module("pandas").DataFrame(answers.array)
    yield "a table"
    from comparison_hc import ComparisonHC

    ComparisonHC().fit(answers)
    yield "an estimator"
    from comparison_hc.core.compat import import_optional

    for module in ("cvxpy", "vl_convert"):
        try:
            import_optional(module, "this")
        except ValueError as error:
            yield str(error)


print(json.dumps({step: there() for step in done()}))
