"The registry behind proof-linked checks: who judges, what is reported, and the intervals for statements about chance."

import math
import re
import sys
import types
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc import checks
from comparison_hc.checks import (
    GRADES,
    Check,
    check,
    checks_table,
    closest_rows,
    compare,
    errata,
    find_checks,
    mean_interval,
    passing_probability,
    proportion_bounds,
    proportion_interval,
    run_checks,
)
from comparison_hc.core.validation import InputError

properties = settings(deadline=None, derandomize=True, max_examples=80)
simple = dict(paper="F19", label="Theorem 2, eq. 8", statement="$1 = 1$", kind="deterministic")


@pytest.fixture(autouse=True)
def empty_registry(monkeypatch):
    "Checks of other modules out of the way."
    monkeypatch.setattr(checks, "_registry", {})
    monkeypatch.setattr(checks, "THEORY_MODULES", [])


def register(function=None, **changes):
    "A registered check around a function."
    return check(**{**simple, **changes})(function or (lambda quick=True: compare(1, "=", 1)))


# Judging

by_hand = {
    "=": lambda l, r, t: abs(l - r) <= t,
    "<=": lambda l, r, t: l - t <= r,
    ">=": lambda l, r, t: l >= r - t,
    "<": lambda l, r, t: l - t < r,
    ">": lambda l, r, t: l > r - t,
}


@properties
@given(
    st.lists(
        st.tuples(st.integers(-3, 3), st.sampled_from(list(by_hand)), st.integers(-3, 3), st.integers(0, 2)),
        min_size=1,
        max_size=8,
    )
)
def test_verdict_and_margin_follow_from_the_sides(rows):
    left, relation, right, tol = zip(*rows)
    table = compare(left, relation, right, tol).judge()
    assert table.holds.tolist() == [by_hand[how](l, r, t) for l, how, r, t in rows]
    margins = [t - abs(l - r) if how == "=" else r + t - l if "<" in how else l + t - r for l, how, r, t in rows]
    assert table.margin.tolist() == margins


def test_whole_numbers_are_exact_and_fractions_too():
    big = 3**80
    table = compare([big, big + 1], "=", [big, big]).judge()
    assert table.holds.tolist() == [True, False] and table.left.tolist() == [big, big + 1]
    assert compare([Fraction(1, 3)], "=", [Fraction(2, 6)]).judge().holds.all()


@pytest.mark.parametrize("relation", list(by_hand))
def test_nan_stands_in_no_relation(relation):
    for left, right in ((math.nan, 1), (1, math.nan), (math.nan, math.nan)):
        result = register(lambda quick=True, left=left, right=right: compare(left, relation, right))()
        assert not result.holds and math.isnan(result.margin)


BAD_SIDES = {
    "left": [(([], "=", []), {}), (([1, 2], "=", 1), dict(N=[1, 2, 3]))],
    "nothing was compared": [(([], "=", 1), {})],
    "right": [(([1, 2, 3], "=", [1, 2]), {})],
    "relation": [((1, "≤", 1), {})],
    "tol": [((1, "=", 1), dict(tol=-1)), ((1, "=", 1), dict(tol=math.nan))],
    "random": [((1, "=", 1), dict(random=3)), ((1, "=", 1), dict(random={"seed": 1}))],
}


@pytest.mark.parametrize("word", BAD_SIDES)
def test_bad_sides_are_named(word):
    for arguments, options in BAD_SIDES[word]:
        with pytest.raises(InputError, match=word):
            compare(*arguments, **options)


@pytest.mark.parametrize("make", [list, tuple, np.array, range])
def test_any_column_will_do(make):
    values = make([0, 1, 2]) if make is not range else range(3)
    table = compare(values, "<=", 2, N=values, name="a").judge()
    assert table.left.tolist() == table.N.tolist() == [0, 1, 2] and table.name.tolist() == ["a"] * 3
    assert list(table.columns) == ["N", "name", "left", "relation", "right", "tol", "margin", "holds"]


# Running


def test_a_result_cannot_be_claimed():
    for claim in (True, None, np.bool_(True), [True], "holds"):
        result = register(lambda quick=True, claim=claim: claim)()
        assert not result and "compare()" in result.error


def test_fields_of_a_result():
    c = register(
        lambda quick=True, n=3: compare(range(n), "<=", 10, random=dict(seed=4, what="nothing")), erratum="a misprint"
    )
    result = c(quick=False, n=5)
    assert isinstance(result, Check) and result and result.holds is True and c.last is result
    about = dict(simple, confidence=None, margin=6.0, random=dict(seed=4, what="nothing"), erratum="a misprint")
    assert {name: getattr(result, name) for name in about} == about and len(result.table) == 5
    assert result.options == dict(quick=False, n=5) and result.seconds >= 0 and result.error is None


def test_an_exception_is_a_failure_with_its_reason():
    def breaks(quick=True):
        raise RuntimeError("the tree is on fire")

    result = register(breaks)()
    assert not result and result.error == "RuntimeError: the tree is on fire"
    assert math.isnan(result.margin) and len(result.table) == 0
    assert "the tree is on fire" in repr(result) and "the tree is on fire" in result._repr_markdown_()


def test_interruption_and_wrong_options_are_not_failures():
    def stopped(quick=True):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        register(stopped)()
    with pytest.raises(TypeError):
        register()(size=3)


def test_monte_carlo_says_what_was_random_and_is_given_its_confidence():
    seen = []

    def function(quick=True, confidence=None):
        seen.append(confidence)
        return compare(1, "=", 1, random=random)

    c = register(function, kind="Monte Carlo", confidence=0.99)
    random = None
    assert "random" in c().error
    random = dict(seed=0, what="a coin")
    assert c().holds and c().confidence == 0.99 and set(seen) == {0.99}
    with pytest.raises(TypeError):
        c(confidence=0.5)


def test_who_draws_says_what_and_with_which_seed():
    random = None

    def function(quick=True, rng=3):
        return compare(1, "=", 1, random=random)

    c = register(function, kind="exact enumeration")
    assert "random" in c().error and not c().holds
    random = dict(seed=3, what="a coin")
    assert c().holds and "a coin (seed 3)" in c()._repr_markdown_()


def test_the_other_promise_is_handed_over_and_shown_everywhere():
    seen = []

    def function(quick=True, false_passes=None):
        seen.append(false_passes)
        return compare(1, "=", 1, random=dict(seed=0, what="a coin"))

    words = "a share of 0.99 passes in 95 of 100 runs"
    c = register(function, kind="Monte Carlo", false_passes=0.001, power=words)
    promise = f"a false statement passes with probability ≤ 0.001; power: {words}"
    assert c().promise == promise and promise in c()._repr_markdown_() and set(seen) == {0.001}
    assert checks_table().promise.tolist() == [promise]
    assert (c().false_passes, c().power, c().confidence) == (0.001, words, None)
    with pytest.raises(TypeError):
        c(false_passes=0.5)
    with pytest.raises(InputError, match="false_passes"):
        register(function, kind="Monte Carlo", confidence=0.9)
    enclosing = register(lambda quick=True, confidence=0: 0, kind="Monte Carlo", confidence=0.9)
    assert enclosing().promise == "a true statement holds with probability ≥ 0.9" and register()().promise == ""


CHANCE = dict(kind="Monte Carlo")
BAD_REGISTRATIONS = {
    "paper": [dict(paper="X20"), dict(paper=None)],
    "label": [dict(label=""), dict(label=2)],
    "statement": [dict(statement=" ")],
    "kind": [dict(kind="proof")],
    "confidence": [dict(confidence=0.9), CHANCE, CHANCE | dict(confidence=1.0), CHANCE | dict(confidence="high")],
    "false_passes": [dict(false_passes=0.1), CHANCE | dict(false_passes=0.5, power="high")],
    "power": [dict(power="high"), CHANCE | dict(confidence=0.9, power="high"), CHANCE | dict(false_passes=0.1)],
    "power must": [CHANCE | dict(false_passes=0.1, power=" ")],
    "one of the two": [CHANCE | dict(confidence=0.9, false_passes=0.1, power="high")],
}


@pytest.mark.parametrize("word", BAD_REGISTRATIONS)
def test_bad_registrations_are_named(word):
    for changes in BAD_REGISTRATIONS[word]:
        with pytest.raises(InputError, match=word):
            register(**changes)


def test_the_docstring_states_what_the_decorator_leaves_out():
    def two_lines(quick=True):
        r"""$1
        = 1$

        Both sides.

        Erratum. Proof affected: $1
        = 2$
        """
        return compare(1, "=", 1)

    stated = register(two_lines, statement=None)
    assert (stated.statement, stated.erratum) == ("$1 = 1$", "Proof affected: $1 = 2$")
    given = register(two_lines, erratum="another")
    assert (given.statement, given.erratum) == (simple["statement"], "another")
    with pytest.raises(InputError, match="statement"):
        register(statement=None)


def test_a_check_needs_quick_and_defaults():
    for function in (lambda: 0, lambda n=3: 0, lambda quick, n: 0):
        with pytest.raises(InputError, match="quick"):
            register(function)


@pytest.mark.parametrize(
    "sides, words",
    [
        (lambda: compare(1, "=", 1), ["✓ holds", "$1 = 1$", "margin **0**"]),
        (lambda: compare(1, "=", 2), ["✗ does not hold", "margin **-1**"]),
        (lambda: compare(np.arange(100.0), "<=", 100), ["✓", "shows 5 of 100 rows", "| 99 |"]),
        (lambda: compare([1.0, math.nan] * 9, "<=", 2), ["✗", "tightest", "nan"]),
        (lambda: compare(1, "=", 1, case="a|b"), [r"a\|b"]),
    ],
)
def test_display_says_it_in_words(sides, words):
    shown = register(lambda quick=True: sides())()._repr_markdown_()
    for word in ("F19", "Theorem 2, eq. 8", *words):
        assert word in shown


@settings(properties, max_examples=15)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from(list(by_hand)), st.integers(-9, 9), st.integers(-9, 9)),
        min_size=7,
        max_size=30,
    )
)
def test_the_tightest_row_of_every_kind_is_shown_and_equations_come_last(rows):
    what, relation, left, right = zip(*rows)
    table = compare(left, relation, right, what=what, n=range(len(rows))).judge()
    shown = closest_rows(table)
    rounding = table.holds & ((table.relation == "=") | ((table.left == 0) & (table.right == 0)))
    relative = table.margin / np.maximum(table.left.abs(), table.right.abs()).replace(0, 1)
    for _, kind in table.groupby(["what", "relation"]):
        best = min(zip(rounding[kind.index], relative[kind.index]))
        assert best in list(zip(rounding[shown.index], relative[shown.index])), kind
    in_order = list(zip(rounding[shown.index], relative[shown.index]))
    assert in_order == sorted(in_order) and 5 <= len(shown) <= max(5, table.groupby(["what", "relation"]).ngroups)


def test_a_small_share_is_closer_than_a_small_number_and_names_are_no_kinds():
    left = [100.0, *np.linspace(0, 0.5, 29)]
    table = compare(left, "<=", [101.0] + [1.0] * 29, name=[f"case {i}" for i in range(30)]).judge()
    assert closest_rows(table).left.tolist()[0] == 100 and len(closest_rows(table)) == 5
    small = compare([0, 3, 10**400, 1.5], ["=", "=", "=", "<="], [0, 3, 10**400, 2]).judge()
    assert closest_rows(small).relation.tolist() == ["<=", "=", "=", "="]
    undecided = compare([math.nan, 1.0] * 9, "<=", 2).judge()
    assert math.isnan(closest_rows(undecided).left.iloc[0])


# Finding


def named(name, **changes):
    "A check under a name of its own."

    def function(quick=True):
        return compare(1, "=", 1)

    function.__name__ = name
    return register(function, **changes)


@pytest.mark.parametrize(
    "pattern, expected",
    [
        (None, ["one", "two", "three", "four"]),
        ("Theorem 2", ["one"]),
        ("theorem 2", ["one"]),
        ("Theorem 21", ["two"]),
        ("F19", ["one", "two"]),
        ("N20 Lemma", ["three"]),
        ("four", ["four"]),
        ("Theorem", ["one", "two"]),
        ("Theorem 1", []),
        ("1", ["three"]),
        (".*", []),
        ("", ["one", "two", "three", "four"]),
    ],
)
def test_finding(pattern, expected):
    named("one")
    for name, label, paper in (("two", "Theorem 21", "F19"), ("three", "Lemma 1", "N20"), ("four", "Lemma 4.2", "A18")):
        named(name, label=label, paper=paper)
    assert [c.name for c in find_checks(pattern)] == expected
    assert [r.name for r in run_checks(pattern)] == expected if expected else True
    assert checks_table(pattern).check.tolist() == expected


def test_nothing_found_says_what_there_is():
    assert run_checks() == [] and len(checks_table()) == 0
    named("one")
    with pytest.raises(InputError, match="pattern.*Theorem 2, eq. 8"):
        run_checks("Theorem 7")
    with pytest.raises(InputError, match="pattern"):
        find_checks(3)


def test_table_holds_the_latest_result_of_every_statement():
    named("good")
    register(lambda quick=True: compare(3, "<=", 1), erratum="≥ is meant", label="Lemma 3")
    before = checks_table()
    assert before.verdict.tolist() == ["not run"] * 2 and before.margin.isna().all()
    seen = []
    results = run_checks(progress=seen.append)
    after = checks_table()
    assert seen == results and [bool(r) for r in results] == [True, False]
    assert after.verdict.tolist() == ["✓ holds", "✗ does not hold"]
    assert after.margin.tolist() == [0, -2] and after.erratum.tolist() == ["", "≥ is meant"]
    assert {"paper", "label", "statement", "kind", "promise", "check", "margin"} <= set(after.columns)


def test_errata_have_a_grade():
    named("none")
    named("one", erratum="Theorem affected: 'x: y' is z", statement="y", paper="N20")
    named("two", erratum="Proof affected: z")
    named("silent", erratum="Printed: z")
    table = errata()
    assert table.check.tolist() == ["one", "two", "silent"]
    assert table.grade.tolist() == [*GRADES[:2], ""]
    assert table.printed.tolist() == ["'x: y' is z", "z", "Printed: z"]
    assert (table.paper[0], table.label[0], table.right[0]) == ("N20", "Theorem 2, eq. 8", "y")
    assert errata("N20").check.tolist() == ["one"] and len(errata("A18")) == 0


def test_quick_is_handed_through():
    seen = []

    def function(quick=True):
        seen.append(quick)
        return compare(1, "=", 1)

    register(function)
    run_checks(), run_checks(quick=False)
    assert seen == [True, False]


def test_a_cell_run_again_replaces_its_check_and_modules_cannot_collide():
    named("same")
    second = named("same")
    assert find_checks() == [second]

    def same(quick=True):
        return compare(1, "=", 1)

    same.__module__ = "elsewhere"
    with pytest.raises(InputError, match="same must be registered once"):
        register(same)


def test_theory_modules_are_imported_when_looked_for(monkeypatch):
    monkeypatch.setattr(checks, "THEORY_MODULES", ["a_module_that_is_not_there"])
    with pytest.raises(ModuleNotFoundError):
        find_checks()
    monkeypatch.setitem(sys.modules, "a_module_that_is_not_there", types.ModuleType("now it is"))
    assert find_checks() == []


# Intervals


@properties
@given(st.integers(1, 40), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.999]))
def test_proportion_interval_keeps_its_promise_exactly(m, p, confidence):
    chances = np.array([math.comb(m, s) * p**s * (1 - p) ** (m - s) for s in range(m + 1)])  # SciPy fails at p = 1e-308
    low, high = proportion_interval(np.arange(m + 1), m, confidence)
    assert chances[(low <= p) & (p <= high)].sum() >= confidence - 1e-9
    assert (low <= np.arange(m + 1) / m).all() and (np.arange(m + 1) / m <= high).all() and low[0] == 0
    assert high[-1] == 1


@properties
@given(st.integers(1, 40), st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.sampled_from([0.2, 0.01]))
def test_a_false_statement_passes_seldom_and_power_is_exact(m, rate, target, alpha):
    chances = np.array([math.comb(m, s) * rate**s * (1 - rate) ** (m - s) for s in range(m + 1)])
    low, high = proportion_bounds(np.arange(m + 1), m, alpha)
    assert chances[low > rate].sum() <= alpha + 1e-9 and chances[high < rate].sum() <= alpha + 1e-9
    assert passing_probability(rate, m, target, alpha) == pytest.approx(chances[low >= target].sum(), abs=1e-9)


def test_intervals_are_scipys():
    from scipy.stats import binomtest, ttest_1samp

    for s, m in [(0, 5), (5, 5), (3, 17), (999, 1000)]:
        expected = binomtest(s, m).proportion_ci(0.97, "exact")
        assert np.allclose(proportion_interval(s, m, 0.97), (expected.low, expected.high))
        assert np.allclose(
            proportion_interval(s, m, 0.9, n_statements=10), tuple(binomtest(s, m).proportion_ci(0.99, "exact"))
        )
    values = np.random.default_rng(0).normal(size=(30, 4))
    assert np.allclose(mean_interval(values, 0.9), tuple(ttest_1samp(values, 0).confidence_interval(0.9)))


@pytest.mark.parametrize("p", [0, 0.02, 0.5, 1])
def test_mean_intervals_enclose_the_mean(p):
    draws = np.random.default_rng(5).random((50, 4000)) < p
    low, high = mean_interval(draws, 0.9, 0, 1)
    assert np.mean((low <= p) & (p <= high)) >= 0.9
    assert np.allclose(high - low, 2 * np.sqrt(np.log(20) / 100))


@pytest.mark.parametrize(
    "word, f, bad",
    [
        ("successes", proportion_interval, [(5, 3, 0.9), (-1, 3, 0.9), (1.5, 3, 0.9)]),
        ("trials", proportion_interval, [(0, 0, 0.9), (1, 2.5, 0.9)]),
        ("confidence", proportion_interval, [(1, 3, 1), (1, 3, 0)]),
        ("n_statements", proportion_interval, [(1, 3, 0.9, 0)]),
        ("false_passes", proportion_bounds, [(1, 3, 0.5), (1, 3, 0)]),
        ("trials", passing_probability, [(0.5, 1.5, 0.5, 0.1)]),
        ("values", mean_interval, [([1], 0.9), ([1, math.nan], 0.9), ([1, 2], 0.9, 0, 1), ([1, 1], 0.9, 1, 1)]),
        ("low and high", mean_interval, [([1, 2], 0.9, 0)]),
        ("confidence", mean_interval, [([1, 2], 1.5)]),
    ],
)
def test_bad_intervals_are_named(word, f, bad):
    for arguments in bad:
        with pytest.raises(InputError, match=word):
            f(*arguments)


def test_a_table_of_a_check_sets_letters_powers_and_signs():
    def sides(quick=True):
        return compare([1, 2], "<=", 3, n_min=5, eta=0.1, other_level=2, what="2^(L+3) and n^3.5, not `a^2` or $x^2$")

    shown = register(sides)()._repr_markdown_()
    assert "| n<sub>min</sub> | η | other level | what | left | relation | right |" in shown and "| ≤ |" in shown
    assert "| 2<sup>L+3</sup> and n<sup>3.5</sup>, not `a^2` or $x^2$ |" in shown and "<=" not in shown


def test_errata_have_no_raw_letters(monkeypatch):
    monkeypatch.undo()  # the checks of the papers
    plain = [re.sub(r"\$[^$]*\$", "", row.printed + row.right) for row in errata().itertuples()]
    raw = [found for text in plain for found in re.findall(r"\S*(?:[A-Za-zα-ωΑ-Ω]_[a-zA-Z{]\w*|\^[({\w])\S*", text)]
    assert len(plain) > 10 and not [word for word in raw if "`" not in word]
