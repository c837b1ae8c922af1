"""The sides of a statement, the verdict that follows from them, and the value that shows it."""



import inspect
import math
from dataclasses import dataclass, field
from functools import update_wrapper
from time import perf_counter

import numpy as np

from .letters import heading_text, set_letters
from .validation import check_number, require

RELATIONS = {
    "=": (lambda l, r, t: abs(l - r) <= t, lambda l, r, t: t - abs(l - r)),
    "<=": (lambda l, r, t: l <= r + t, lambda l, r, t: r + t - l),
    ">=": (lambda l, r, t: l + t >= r, lambda l, r, t: l + t - r),
    "<": (lambda l, r, t: l < r + t, lambda l, r, t: r + t - l),
    ">": (lambda l, r, t: l + t > r, lambda l, r, t: l + t - r),
}


@dataclass(frozen=True)
class Sides:
    "What a check hands over, made by `compare` or `within`: `left`, `relation`, `right`, `tol`, and what was random."

    columns: dict  # name -> list, all of the same length
    random: dict | None = None  # {"seed": …, "what": …}

    def judge(self):
        "The table with `margin` and `holds` for every row. Whole numbers are compared exactly, however large."
        from pandas import DataFrame

        margin, holds = [], []
        for how, *sides in zip(*(self.columns[name] for name in ("relation", "left", "right", "tol"))):
            stands, distance = RELATIONS[how]
            margin.append(float(distance(*sides)))
            holds.append(bool(stands(*sides)))
        columns = {**self.columns, "margin": margin, "holds": holds}
        return DataFrame({name: _frame_column(values) for name, values in columns.items()})


def _frame_column(values):
    "Values for a table; whole numbers beyond 64 bits stay whole."
    exact = any(isinstance(value, int) and abs(value) >= 2**63 for value in values)
    return np.array(values, dtype=object) if exact else values

def compare(left, relation, right, tol=0, random=None, **columns):
    "Two sides of a statement, row by row."
    given = {**columns, "left": left, "relation": relation, "right": right, "tol": tol}
    lists = {name: _as_list(values) for name, values in given.items()}
    n_rows = max(map(len, lists.values())) if all(lists.values()) else 0
    require(n_rows > 0, "left", "of at least one row: nothing was compared", left)
    for name, values in lists.items():
        require(len(values) in (1, n_rows), name, f"one value or {n_rows}", f"{len(values)} values")
    lists = {name: values * n_rows if len(values) == 1 else values for name, values in lists.items()}
    for how in lists["relation"]:
        require(how in RELATIONS, "relation", f"one of {', '.join(RELATIONS)}", how)
    for t in lists["tol"]:
        require(t >= 0, "tol", "at least 0", t)
    if random is not None:
        stated = isinstance(random, dict) and random.keys() == {"seed", "what"}
        require(stated, "random", "a dict with the keys 'seed' and 'what'", random)
    return Sides(lists, random)


def _as_list(values):
    "A scalar, list, array or column as a list of Python values."
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, str) or not np.iterable(values):
        return [values]
    return [value.item() if isinstance(value, np.generic) else value for value in values]

def by_column(columns, rows):
    "What a check has collected row by row, column by column."
    return dict(zip(columns.split(), zip(*rows)))


def compare_rows(rows, columns, **others):
    "Two sides of a statement from a list of rows."
    return compare(**by_column(columns, rows), **others)

def within(value, low, high, random=None, **columns):
    "Value and interval as two comparisons."
    below = compare(low, "<=", value, random=random, **columns)
    above = compare(value, "<=", high, **columns)
    require(len(below.columns["left"]) == len(above.columns["left"]), "low and high", "of the same length", (low, high))
    return Sides({name: below.columns[name] + above.columns[name] for name in below.columns}, below.random)

PAPERS = {
    "F19": "Foundations of Comparison-Based Hierarchical Clustering",
    "N20": "Near-Optimal Comparison Based Clustering",
    "A18": "Adaptive Hierarchical Clustering Using Ordinal Queries",
    "L20": "Learning to Link",
}
KINDS = ("deterministic", "exact enumeration", "Monte Carlo")


def number_text(value):
    "A number as short text; – where there is none."
    if value is None:
        return "–"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def markdown_table(table):
    "A DataFrame as a Markdown table, its letters set."

    def line(cells):
        return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    rows = [[set_letters(number_text(value)) for value in row] for row in table.astype(object).itertuples(index=False)]
    return "\n".join([line(map(heading_text, table.columns)), "|" + " --- |" * len(table.columns), *map(line, rows)])

def promise_text(stated):
    "What a check promises, in words."
    if stated.false_passes is not None:
        return f"a false statement passes with probability ≤ {stated.false_passes:g}; power: {stated.power}"
    if stated.confidence is not None:
        return f"a true statement holds with probability ≥ {stated.confidence:g}"
    return ""

ROUNDING = 10**6  # an equation whose sides are more than so many tolerances allows for rounding only
MOST_KINDS = 12  # columns that tell more kinds of rows apart than this are names, and no kinds


def tightness(table):
    "How close every row is to failing."
    relative, rounding = [], []
    for how, left, right, tol, margin, holds in zip(
        *(table[name] for name in ("relation", "left", "right", "tol", "margin", "holds"))
    ):
        sides = max(abs(left), abs(right))
        exact = how == "=" and tol * ROUNDING <= sides
        rounding.append(bool(holds and (exact or sides <= tol)))
        relative.append(_share(margin, max(sides, tol)))
    return np.array(relative), np.array(rounding)


def _share(margin, scale):
    "margin / scale; −∞ where that is no number, so that undecided rows come first."
    if math.isnan(margin):
        return -math.inf
    if math.isinf(margin) or scale == 0:
        return margin
    return margin / float(scale) if scale < 1e300 else math.copysign(0.0, margin)


def kinds_of_rows(table):
    "Rows by relation and by the columns of words, `what` first, as long as these are at most `MOST_KINDS` kinds."
    about = table.columns[: list(table.columns).index("left")]
    words = [name for name in about if all(isinstance(value, str) for value in table[name])]
    words.sort(key=lambda name: (name != "what", -table[name].nunique()))
    kinds = table.groupby("relation", sort=False).ngroup()
    for name in words:
        finer = table.assign(_kind=kinds).groupby(["_kind", name], sort=False).ngroup()
        if finer.nunique() <= MOST_KINDS:
            kinds = finer
    return kinds.to_numpy()


def closest_rows(table, fewest=5):
    "The rows that say most about a result; those that allow for rounding only come last."
    relative, rounding = tightness(table)
    order = np.lexsort((relative, rounding))
    if len(table) <= fewest + 1:
        return table.iloc[np.argsort(rounding, kind="stable")]
    kinds = kinds_of_rows(table)[order]
    first = order[np.unique(kinds, return_index=True)[1]]
    others = order[~np.isin(order, first)][: max(0, fewest - len(first))]
    shown = set(first.tolist()) | set(others.tolist())
    return table.iloc[[i for i in order.tolist() if i in shown]]

@dataclass(frozen=True, repr=False, eq=False)
class Check:
    "One run of a check. `holds` and `margin` are computed from `table`; `bool(check)` is `holds`."

    paper: str  # "F19", "N20", "A18" or "L20"
    label: str  # where the statement stands
    name: str  # the function behind it
    statement: str  # Markdown with LaTeX
    kind: str  # one of `KINDS`
    confidence: float | None  # Monte Carlo that encloses: a true statement holds with at least this probability
    erratum: str | None  # what is wrong with the printed statement
    holds: bool  # whether every row holds, and there is no error
    margin: float  # smallest of the table; NaN if the check raised
    table: object  # `pandas.DataFrame`: what each row is about, left, relation, right, tol, margin, holds
    random: dict | None  # {"seed": …, "what": …}
    seconds: float  # that the run took
    options: dict = field(default_factory=dict)  # keyword arguments of the run
    error: str | None = None  # type and text of the exception, if the check raised
    false_passes: float | None = None  # Monte Carlo with a target: a false statement passes at most so often
    power: str | None = None  # then: how often a stated alternative passes, in words

    def __bool__(self):
        return self.holds

    @property
    def promise(self):
        "What a Monte Carlo check promises, in words; empty for the other kinds."
        return promise_text(self)

    @property
    def verdict(self):
        "The result in words."
        if self.holds:
            return "✓ holds"
        return "✗ raised an error" if self.error else "✗ does not hold"

    @property
    def closest(self):
        "The rows to show: all, if they are few; else the tightest of every kind of row, and at least five."
        return closest_rows(self.table)

    def __repr__(self):
        why = self.error or f"margin {self.margin:.3g} over {len(self.table)} rows"
        return f"{self.verdict} · {self.paper} {self.label} · {self.name} · {self.kind}, {why}, {self.seconds:.2f} s"

    def _repr_markdown_(self):
        how = self.kind
        if self.promise:
            how += f" ({self.promise})"
        how += f"; {self.seconds:.2f} s"
        if not self.error:
            how += f"; margin **{self.margin:.4g}**"
        parts = [
            f"**{self.verdict}** · {self.paper} · {self.label} · `{self.name}`",
            "> " + self.statement.strip().replace("\n", "\n> "),
            how,
        ]
        if self.random:
            parts.append(f"Random: {self.random['what']} (seed {self.random['seed']})")
        if self.erratum:
            parts.append(f"**Erratum.** {self.erratum}")
        if self.error:
            return "\n\n".join([*parts, f"`{self.error}`"])
        few = self.closest
        if len(few) < len(self.table):
            parts.append(f"The {len(few)} closest of {len(self.table)} rows, the tightest of every kind among them:")
        return "\n\n".join([*parts, markdown_table(few)])

def check_statement(paper, label, statement, kind, confidence, false_passes=None, power=None):
    "What is said about a statement. Raises `InputError`."
    require(paper in PAPERS, "paper", f"one of {', '.join(PAPERS)}", paper)
    require(kind in KINDS, "kind", f"one of {', '.join(KINDS)}", kind)
    for text, name in ((label, "label"), (statement, "statement")):
        require(isinstance(text, str) and text.strip(), name, "a text", text)
    given = {"confidence": confidence, "false_passes": false_passes, "power": power}
    if kind != "Monte Carlo":
        for name, value in given.items():
            require(value is None, name, "left out unless the kind is Monte Carlo", value)
        return None, None
    one = (confidence is None) != (false_passes is None)
    require(one, "confidence or false_passes", "given, one of the two, in a Monte Carlo check", given)
    if false_passes is None:
        require(power is None, "power", "left out where a confidence is stated", power)
        return check_number(confidence, "confidence", 0, 1, open_low=True, open_high=True), None
    require(isinstance(power, str) and power.strip(), "power", "a text: which alternative passes how often", power)
    return None, check_number(false_passes, "false_passes", 0, 0.5, open_low=True, open_high=True)


class RegisteredCheck:
    "A statement and the function that compares its sides. Calling it runs it; `last` is the latest result."

    def __init__(self, function, paper, label, statement, kind, confidence, erratum, false_passes=None, power=None):
        signature = inspect.signature(function)
        parameters = signature.parameters.values()
        runs = "quick" in signature.parameters and all(
            p.default is not p.empty or p.name == "quick" for p in parameters
        )
        rule = "a function with the keyword argument quick, and defaults for all others"
        require(runs, function.__name__, rule, str(signature))
        for name, value in (("confidence", confidence), ("false_passes", false_passes)):
            asked = name in signature.parameters and kind == "Monte Carlo" and value is None
            require(not asked, function.__name__, f"without the argument {name}: the check states the other", signature)
        self.function = function
        self.paper, self.label, self.statement = paper, label, statement
        self.kind, self.confidence, self.erratum = kind, confidence, erratum
        self.false_passes, self.power = false_passes, power
        self.name = function.__name__
        self.last = None
        update_wrapper(self, function)

    def __repr__(self):
        return f"{self.paper} {self.label} · {self.name} · {self.kind}"

    def __call__(self, quick=True, **options):
        "Run the check. What it raises is reported in the result; only wrong keyword arguments raise here."
        signature = inspect.signature(self.function)
        promised = {"confidence": self.confidence, "false_passes": self.false_passes}
        stated = {name: value for name, value in promised.items() if name in signature.parameters}
        signature.bind(quick=quick, **stated, **options)
        start = perf_counter()
        try:
            sides = self._sides(quick=quick, **stated, **options)
            table, random, error = sides.judge(), sides.random, None
            holds, margin = bool(table.holds.all()), float(table.margin.min(skipna=False))
        except Exception as problem:
            table, random, error = _empty_table(), None, f"{type(problem).__name__}: {problem}"
            holds, margin = False, math.nan
        self.last = Check(
            paper=self.paper,
            label=self.label,
            name=self.name,
            statement=self.statement,
            kind=self.kind,
            confidence=self.confidence,
            false_passes=self.false_passes,
            power=self.power,
            erratum=self.erratum,
            holds=holds,
            margin=margin,
            table=table,
            random=random,
            seconds=perf_counter() - start,
            options={"quick": quick, **options},
            error=error,
        )
        return self.last

    def _sides(self, **options):
        sides = self.function(**options)
        require(isinstance(sides, Sides), f"the result of {self.name}", "made by compare() or within()", sides)
        if self.kind == "Monte Carlo" or "rng" in inspect.signature(self.function).parameters:
            rule = "given where something is drawn: the seed, and what was drawn"
            require(sides.random is not None, "random", rule, sides.random)
        return sides

    def row(self):
        "What a table of checks says about this one, with the result of its latest run in this session."
        done = self.last is not None
        return dict(
            paper=self.paper,
            label=self.label,
            statement=self.statement,
            kind=self.kind,
            promise=promise_text(self),
            check=self.name,
            verdict=self.last.verdict if done else "not run",
            margin=self.last.margin if done else math.nan,
            seconds=self.last.seconds if done else math.nan,
            erratum=self.erratum or "",
        )


def _empty_table():
    "A table without rows."
    from pandas import DataFrame

    return DataFrame(columns=["left", "relation", "right", "tol", "margin", "holds"])
