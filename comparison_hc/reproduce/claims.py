"""What a paper says about its figure, what was measured, and whether it holds; one value for each figure."""

import csv
import json
import re
from dataclasses import KW_ONLY, dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path

from ..checks import markdown_table, number_text
from ..core.io import atomic_write, is_file_name
from ..core.validation import require
from .experiments import parameter_grid, plain_scalar, run_experiment

HOLDS, FAILS, BY_CONSTRUCTION, NOT_COMPARABLE = "holds", "does not hold", "by construction", "not comparable"
VERDICTS = (HOLDS, FAILS, BY_CONSTRUCTION, NOT_COMPARABLE)
_MARKS = {HOLDS: "✓ ", FAILS: "✗ ", BY_CONSTRUCTION: "", NOT_COMPARABLE: ""}


def _signed(text):
    "Numbers with a minus sign, and no zero below zero."
    return re.sub(r"(?<![\w.,)])-(?=\d)", "−", re.sub(r"(?<![\w.,)])-(0(?:\.0+)?)(?![\d.])", r"\1", text))


@dataclass(frozen=True)
class Claim:
    "A sentence of a paper, what was measured about it, and whether it holds."

    sentence: str  # what the paper says, in its words if `quoted`
    measured: object  # text or number, computed from the results
    holds: bool  # whether the rule is met, computed as well; counts only where nothing is set aside
    source: str = ""  # where the paper says it
    _: KW_ONLY
    rule: str = ""  # what decides, with its threshold; it is fixed before the run
    quoted: bool = False  # whether the sentence is the paper's, to the letter; otherwise it is ours
    aside: str = ""  # why no verdict counts: "by construction" or "not comparable"

    def __post_init__(self):
        object.__setattr__(self, "measured", plain_scalar(self.measured, "measured"))
        object.__setattr__(self, "holds", bool(self.holds))

    def __bool__(self):
        return self.holds

    @property
    def word(self):
        "One of `VERDICTS`."
        return self.aside or (HOLDS if self.holds else FAILS)

    @property
    def verdict(self):
        "The word, with a mark where it counts."
        return _MARKS[self.word] + self.word

    def __str__(self):
        source = f" ({self.source})" if self.source else ""
        return f"{self.verdict}: {self.sentence} — {number_text(self.measured)}{source}"


@cache
def _claim_texts():
    "{name: row} of `claims.csv`."
    return {row["claim"]: row for row in csv.DictReader(_text_of("claims.csv").splitlines())}


def judged(name, measured, holds, aside=None, /, **texts):
    "The `Claim` of this name in `claims.csv`, with `texts` put into what the file says."
    row = _claim_texts()[name]
    sentence, source, rule = (row[part].format(**texts) for part in ("sentence", "source", "rule"))
    aside = row["aside"] if aside is None else aside
    return Claim(sentence, measured, holds, source, rule=rule, quoted=row["quoted"] == "yes", aside=aside)


class ClaimsTable:
    "Claims that show themselves as a table; `frame` is the same as a DataFrame, `counts` how many have which verdict."

    def __init__(self, claims, heading):
        self.claims = claims
        self.headings = ["the paper, word for word", heading]
        self.counts = {word: sum(claim.word == word for claim in claims) for word in VERDICTS}
        self.n_hold = self.counts[HOLDS]

    def __len__(self):
        return len(self.claims)

    def __iter__(self):
        return iter(self.claims)

    @property
    def frame(self):
        "The claims as a `pandas.DataFrame`, one per row."
        from pandas import DataFrame

        rows = [(c.sentence, c.quoted, c.source, c.measured, c.rule, c.holds, c.word) for c in self.claims]
        columns = ["sentence", "quoted", "source", "measured", "rule", "holds", "verdict"]
        return DataFrame(rows, columns=columns)

    @property
    def summary(self):
        "How many hold, of those that could fail; then those that are set aside."
        judged = self.counts[HOLDS] + self.counts[FAILS]
        rest = [f"{self.counts[word]} {word}" for word in VERDICTS[2:] if self.counts[word]]
        several = f"{self.n_hold} of {judged} claims hold"
        one = f"the one claim {HOLDS if self.n_hold else FAILS}"
        counted = [several if judged > 1 else one] if judged else []
        return "; ".join([*counted, *rest]) or "no claims"

    def __repr__(self):
        return "\n".join([*map(str, self.claims), self.summary])

    def _repr_markdown_(self):
        from pandas import DataFrame

        rows = [
            (
                f"“{c.sentence}”" if c.quoted else "",
                "" if c.quoted else c.sentence,
                c.source,
                _signed(number_text(c.measured)),
                c.rule,
                c.verdict,
            )
            for c in self.claims
        ]
        table = DataFrame(rows, columns=[*self.headings, "where", "measured here", "holds if", "verdict"])
        empty = [name for name in (*self.headings, "where", "holds if") if not table[name].any()]
        said = self.summary[0].upper() + self.summary[1:]
        return markdown_table(table.drop(columns=empty)) + f"\n\n**{said}.**"


def claims_table(claims, heading="the claim in our words"):
    "Quotations or other claims (under `heading`), measurements and verdicts, one row per claim."
    return ClaimsTable(tuple(claims), heading)


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction:
    "A figure of a paper, and all it takes to redo it. The quick grid should take less than two minutes."

    name: str  # as on the command line, such as "f19-fig2"
    title: str  # what the figure is about
    function: object  # as in `run_experiment`
    quick_grid: list  # a small grid; runs that are in both grids are done once
    full_grid: list  # the paper's
    summarise: object = None  # function: table of all runs -> the small table to keep; None: all runs, without seconds
    chart: object = None  # function: summary -> Altair chart
    _: KW_ONLY
    paper: str  # "F19", "N20", "A18" or "L20"
    figure: str  # where the paper has it, such as "Figure 2"
    claims: object = None  # function: summary -> list of `Claim`
    seed: int = 0  # seed of the experiment
    paired: tuple = ()  # as in `run_experiment`
    version: int = 1  # as in `run_experiment`

    def __repr__(self):
        runs = f"{len(self.quick_grid):,} runs quick, {len(self.full_grid):,} full"
        return f"Reproduction({self.name!r}: {self.paper}, {self.figure}, {self.title}; {runs})"

    def grid(self, quick):
        "The parameters of all runs."
        return self.quick_grid if quick else self.full_grid


def _check_name(name):
    "A name that is also the name of a file, and no path."
    is_name = isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name)
    require(is_name, "name", "made of letters, digits, - and _", name)
    return name


_TIMES = "times"  # the file beside the results that says what they took; no figure is called so

_reproductions = {}  # name -> Reproduction


def register_reproduction(*about, **more):
    "Make a `Reproduction` known by its name. A second one of the same name, from another module, is refused."
    reproduction = Reproduction(*about, **more)
    known = _reproductions.setdefault(reproduction.name, reproduction)
    homes = {known.function.__module__, reproduction.function.__module__} - {"__main__"}
    require(len(homes) < 2, "name", "registered by one module only", reproduction.name)
    _reproductions[reproduction.name] = reproduction
    return reproduction


def _text_of(file):
    "A text of this package."
    return files("comparison_hc.reproduce").joinpath(file).read_text(encoding="utf-8")


def find_reproductions():
    "All reproductions: those of `figures.csv`, and what is registered."
    grids = json.loads(_text_of("grids.json")) | _named("n20_theory.GRIDS")
    for row in csv.DictReader(_text_of("figures.csv").splitlines()):
        if row["name"] not in _reproductions:
            of = {part: _named(row[part]) for part in ("function", "summarise", "chart", "claims")}
            quick, full = (_grid_of(grids[row["name"] + kind]) for kind in ("-quick", ""))
            of |= dict(paired=tuple(row["paired"].split()), version=int(row["version"]))
            about = {name: row[name] for name in ("name", "title", "paper", "figure")}
            register_reproduction(**about, quick_grid=quick, full_grid=full, **of)
    return dict(sorted(_reproductions.items()))


def _grid_of(parts):
    "All runs of the parts of a grid, in which the repetitions and the instances are numbers of them."
    counted = {"repetition", "instance"}
    parts = [{name: range(value) if name in counted else value for name, value in part.items()} for part in parts]
    return [run for part in parts for run in parameter_grid(**part)]


def _named(place):
    "What stands under MODULE.NAME in this package; None for nothing."
    module, _, name = place.partition(".")
    return getattr(import_module(f"comparison_hc.reproduce.{module}"), name) if name else None


@dataclass(frozen=True, eq=False, repr=False)
class Reproduced:
    "One time that a reproduction was run."

    reproduction: Reproduction  # that was run
    quick: bool
    table: object  # `pandas.DataFrame` of all runs
    summary: object  # `pandas.DataFrame`: what is kept

    def __repr__(self):
        which = "quick" if self.quick else "full"
        rows = f"{len(self.table)} rows, {len(self.summary)} of them kept"
        return f"Reproduced({self.reproduction.name!r}, {which}: {rows})"

    @property
    def hours(self):
        "What its runs took, added up: about the time of one core, if nothing else ran beside."
        own = {"run_seed", *(name for run in self.reproduction.grid(self.quick) for name in run)}
        return float(self.table.drop_duplicates([name for name in self.table if name in own])["seconds"].sum() / 3600)

    def chart(self):
        "The figure."
        return None if self.reproduction.chart is None else self.reproduction.chart(self.summary)

    def claims(self):
        "The claims with their verdicts."
        return claims_table([] if self.reproduction.claims is None else self.reproduction.claims(self.summary))


def reproduce(name, quick=True, journal_folder=None, n_jobs=1, progress=None, backend=None):
    "Redo a figure. Raises `InputError` for an unknown name, and what `run_experiment` raises."
    known = find_reproductions()
    rule = f"a known reproduction: {', '.join(known) or 'there is none yet'}"
    require(isinstance(name, str) and name in known, "name", rule, name)
    r, journal = known[name], None
    if journal_folder is not None:
        require(is_file_name(journal_folder), "journal_folder", "the name of a folder", journal_folder)
        Path(journal_folder).mkdir(parents=True, exist_ok=True)
        journal = Path(journal_folder) / f"{name}.jsonl"
    table = run_experiment(r.function, r.grid(quick), journal, n_jobs, r.seed, progress, backend, r.paired, r.version)
    summary = table.drop(columns="seconds") if r.summarise is None else r.summarise(table)
    return Reproduced(r, quick, table, summary)


def results_folder(room="reproduce"):
    "Where a checkout, and the package in a browser, keeps the results that the pages of a room read."
    import comparison_hc

    return Path(comparison_hc.__file__).resolve().parents[1] / "nbs" / room / "results"


def save_results(name, table, folder=None):
    "Write results as NAME.csv: floats with six digits, whole numbers whole."
    folder = results_folder() if folder is None else Path(folder)
    require(folder.parent.is_dir(), "folder", "given where the package does not run from a checkout", str(folder))
    folder.mkdir(exist_ok=True)
    path = folder / f"{_check_name(name)}.csv"
    kept = table.drop(columns="seconds", errors="ignore")
    atomic_write(path, kept.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    return path


class ResultsNotFoundError(FileNotFoundError):
    "There is no file of results; the message says what to run."


def load_results(name, folder=None):
    "The kept results of a full run. Raises `ResultsNotFoundError`."
    from pandas import DataFrame, read_csv

    path = (results_folder() if folder is None else Path(folder)) / f"{_check_name(name)}.csv"
    if not path.is_file():
        why = ""
        if folder is None and not path.parents[1].is_dir():
            why = " (this package does not run from a checkout of its repository, which is where the results are)"
        raise ResultsNotFoundError(
            f"no results of {name!r} at {path}{why}. Make them with: comparison-hc reproduce {name}; "
            f"in Python: save_results({name!r}, reproduce({name!r}, quick=False, n_jobs=-1).summary)"
        )
    texts = read_csv(path, dtype=str, keep_default_na=False)
    return DataFrame({name: _typed(texts[name].tolist()) for name in texts})


def _typed(texts):
    "A column of a CSV file as truth values, whole numbers, floats (nothing is NaN) or texts: the first that fits all."
    if set(texts) <= {"True", "False"}:
        return [text == "True" for text in texts]
    for convert in (int, lambda text: float(text or "nan")):
        try:
            return [convert(text) for text in texts]
        except ValueError:
            pass
    return [text or None for text in texts]


def save_time(done, folder=None):
    "Write the number of runs and the hours they took into times.csv, replacing the row of that name."
    from pandas import DataFrame, concat

    require(isinstance(done, Reproduced) and not done.quick, "done", "a Reproduced of the full grid", done)
    row = DataFrame([dict(name=done.reproduction.name, runs=len(done.reproduction.full_grid), hours=done.hours)])
    try:
        others = load_results(_TIMES, folder).loc[lambda times: times["name"].astype(str) != done.reproduction.name]
    except ResultsNotFoundError:
        others = row[:0]
    return save_results(_TIMES, concat([others, row] if len(others) else [row]).sort_values("name"), folder)
