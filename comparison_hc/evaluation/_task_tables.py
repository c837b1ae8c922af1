"""Clustering tasks from tables of features with classes, or from files of distances."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core._columns import as_number
from ..core._tables import existing_file, read_rows
from ..core.validation import InputError, check_choice, check_integer, check_names, require, shown
from ..link.merge import check_distances
from .object_tables import read_similarity, read_truth

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DISTANCES = ("euclidean", "cityblock", "chebyshev", "cosine")
SCALES = ("none", "column")
NAME_WORDS = ("", "id", "name", "object")  # pandas writes an index with nothing above it
LABEL_WORDS = ("label", "labels", "class", "classes")
MISSING = ("", "na", "nan")


@dataclass(frozen=True)
class FeatureMetric:
    """How a table of features becomes distances.

    Parameters
    ----------
    groups : tuple of tuples of str
        One group of column names, or two: then there are two metrics.
    distance : {"euclidean", "cityblock", "chebyshev", "cosine"}, default "euclidean"
        Distance between two rows.
    scale : {"none", "column"}, default "none"
        "column" divides every feature by its standard deviation in its own table.

    Raises
    ------
    InputError
        For groups, a distance or a scale that break a rule.

    Examples
    --------
    >>> from comparison_hc.evaluation import FeatureMetric
    >>> FeatureMetric((("x", "y"),)).distances({"x": [0.0, 3.0], "y": [0.0, 4.0]}).tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """

    groups: tuple[tuple[str, ...], ...]
    distance: str = "euclidean"
    scale: str = "none"

    def __post_init__(self):
        fits = isinstance(self.groups, tuple) and len(self.groups) in (1, 2)
        fits = fits and all(isinstance(group, tuple) and group for group in self.groups)
        require(fits, "groups", "one or two tuples of at least one column name", self.groups)
        for group in self.groups:
            require(all(isinstance(name, str) for name in group), "groups", "made of names of columns", group)
            require(len(set(group)) == len(group), "groups", "made of different columns", group)
        check_choice(self.distance, "distance", DISTANCES)
        check_choice(self.scale, "scale", SCALES)

    @property
    def columns(self) -> tuple[str, ...]:
        "All columns that are needed, each once."
        return tuple(dict.fromkeys(name for group in self.groups for name in group))

    @property
    def is_pair(self) -> bool:
        "Whether there are two metrics."
        return len(self.groups) == 2

    def distances(self, features: Mapping[str, ArrayLike]) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Compute the distances of the objects of a table.

        Parameters
        ----------
        features : mapping of str to array_like of shape (n,)
            Columns of numbers, such as a DataFrame.

        Returns
        -------
        ndarray of shape (n, n), or a pair of them
            Distances; each of two metrics is divided by its mean over all pairs.

        Raises
        ------
        InputError
            For missing columns, and for features without finite distances.
        """
        missing = [name for name in self.columns if name not in features]
        require(not missing, "features", f"a table with the columns {list(self.columns)}", missing)
        found = [self._of_group([features[name] for name in group]) for group in self.groups]
        if not self.is_pair:
            return found[0]
        means = [D.sum() / (len(D) * (len(D) - 1)) for D in found]
        return tuple(D / mean if mean > 0 else D for D, mean in zip(found, means))

    def _of_group(self, columns):
        from scipy.spatial.distance import pdist, squareform

        try:
            X = np.column_stack([np.asarray(column, dtype=float) for column in columns])
        except (TypeError, ValueError):
            require(False, "features", "columns of numbers, all of one length", columns)
        require(len(X) >= 2 and np.isfinite(X).all(), "features", "finite numbers about at least two objects", X)
        if self.scale == "column":
            spread = X.std(axis=0)
            X = X / np.where(spread > 0, spread, 1.0)
        has_angles = self.distance != "cosine" or (np.abs(X).max(axis=1) > 0).all()
        require(has_angles, "features", "not all zero in any object, as the cosine needs a direction", X)
        with np.errstate(over="ignore", invalid="ignore"):
            D = squareform(pdist(X, self.distance))
        require(np.isfinite(D).all(), "features", "so small that their distances are finite", float(np.abs(X).max()))
        return np.maximum(D, 0.0)

    def __str__(self):
        groups = " and ".join(", ".join(group) for group in self.groups)
        scaled = ", each column divided by its standard deviation" if self.scale == "column" else ""
        return f"{groups} ({self.distance} distance{'s of two groups' if self.is_pair else ''}{scaled})"


@dataclass(frozen=True, eq=False)
class Task:
    "Objects whose classes are known."

    name: str
    distances: Any  # (n, n), or a pair of such matrices by two metrics
    labels: Any  # n classes

    @property
    def n_objects(self) -> int:
        "Number of objects."
        return len(self.labels)

    @property
    def n_classes(self) -> int:
        "Number of different labels."
        return len(set(self.labels))


@dataclass(frozen=True, eq=False)
class TaskSet:
    "Tasks of one kind; the metric of their features, or None; and {what was taken from the files: how, in words}."

    tasks: list
    measure: FeatureMetric | None
    notes: dict


@dataclass(frozen=True, eq=False)
class FeatureTable:
    "A file as a DataFrame of text, whose index is the line of every row."

    path: str
    frame: Any

    @property
    def columns(self):
        return tuple(self.frame.columns)

    @property
    def name_column(self):
        return next((name for name in self.columns if name.lower() in NAME_WORDS), None)

    def cells(self, column, argument):
        rule = f"one of the columns {list(self.columns)} of {self.path}"
        require(column in self.columns, argument, rule, column)
        return self.frame[column]

    def numbers(self, columns, argument="--features"):
        "{column: finite numbers}."
        found = {}
        for column in columns:
            cells = self.cells(column, argument)
            found[column] = np.array([as_number(cell, np.nan) for cell in cells])
            self._refuse(~np.isfinite(found[column]), column, "a finite number (name the columns of features)")
        return found

    def object_names(self):
        if self.name_column is None:
            return tuple(map(str, range(len(self.frame))))
        names = self.cells(self.name_column, "the names")
        self._refuse((names == "") | names.duplicated(), self.name_column, "a name that no other line has")
        return tuple(names)

    def labels(self, column):
        labels = self.cells(column, "--label")
        self._refuse(labels.str.lower().isin(MISSING), column, "the class of an object")
        return _check_classes(labels, f"{self.path}, column {column!r},")

    def _refuse(self, is_bad, column, rule):
        "Raise `InputError` with the line of the first bad cell of a column, if there is one."
        for r in np.flatnonzero(is_bad)[:1]:
            where = f"{self.path}, line {self.frame.index[r]}, column {column!r},"
            require(False, where, rule, self.frame[column].iloc[r])


def _check_classes(labels, where):
    classes = sorted(set(labels))
    require(len(classes) >= 2, where, "of at least two classes, or there is nothing to learn", classes)
    return tuple(labels)


def read_feature_table(path, header=None, encoding="utf-8-sig", option="TASK"):
    "A table; its first line names the columns if no cell of it is a number. Else they are named 0, 1, …"
    from pandas import DataFrame

    rows, lines, _ = read_rows(existing_file(path, option), encoding)
    require(rows, str(path), "a table of features with one object per line", "an empty file")
    if header is None:
        header = len(rows) > 1 and not any(np.isfinite(as_number(cell, np.nan)) for cell in rows[0])
    columns = rows[0] if header else tuple(map(str, range(len(rows[0]))))
    twice = sorted({name for name in columns if columns.count(name) > 1})
    require(not twice, f"{path}, line {lines[0]},", "made of different column names", twice)
    rows, lines = rows[bool(header) :], lines[bool(header) :]
    for row, line in zip(rows, lines):
        require(len(row) == len(columns), f"{path}, line {line},", f"{len(columns)} cells", f"{len(row)} cells")
    require(len(rows) >= 2, str(path), "a table of at least two objects", f"{len(rows)} beside the header")
    return FeatureTable(str(path), DataFrame(rows, index=lines, columns=columns, dtype=str))


def _label_column(table, label=None):
    "(the column of classes, why)."
    if label is not None:
        table.cells(label, "--label")
        return label, "as asked"
    named = [name for name in table.columns if name.lower() in LABEL_WORDS]
    rule = "given, as several columns could be the classes"
    require(len(named) <= 1, f"{table.path}: --label", rule, named)
    if named:
        return named[0], "by its name"
    last = [name for name in table.columns if name != table.name_column][-1:]
    require(last, table.path, "a table with columns of features and of classes", table.columns)
    return last[0], "the last column"


def read_feature_tasks(
    paths, groups=None, label=None, distance="euclidean", scale="none", header=None, encoding="utf-8-sig"
):
    "Tasks from tables; the first one says which columns there are, the others have them in any order."
    tables = [read_feature_table(path, header, encoding) for path in paths]
    require(tables, "TASKS", "at least one file", paths)
    label, how = _label_column(tables[0], label)
    is_free, name_column = groups is None, tables[0].name_column
    if is_free:
        groups = [[name for name in tables[0].columns if name not in (label, name_column)]]
        rule = "a table with at least one column of features"
        require(groups[0], tables[0].path, rule, list(tables[0].columns))
    measure = FeatureMetric(tuple(map(tuple, groups)), distance, scale)
    require(label not in measure.columns, "--features", "columns beside the one of the classes", label)
    tasks = []
    for table in tables:
        _check_columns(table, tables[0], (*measure.columns, label), is_free)
        try:
            D = measure.distances(table.numbers(measure.columns))
        except InputError as error:
            raise error if str(error).startswith(table.path) else InputError(f"{table.path}: {error}") from None
        tasks.append(Task(table.path, D, table.labels(label)))
    notes = {"features": str(measure), "classes": f"column {label!r} ({how})"}
    names = [table.name_column for table in tables if table.name_column is not None]
    if names and names[0] not in measure.columns:
        notes["not used"] = f"column {names[0]!r}, read as the objects' names"
    return TaskSet(tasks, measure, notes)


def _check_columns(table, first, needed, is_free):
    "Raise `InputError` if a table lacks columns of the first one, or has others although the features were not named."
    where = f"{table.path}, line {max(1, table.frame.index[0] - 1)},"
    missing = [name for name in needed if name not in table.columns]
    require(not missing, where, f"made of the columns of {first.path}; {shown(missing)} missing", list(table.columns))
    spare = [name for name in table.columns if name not in (*needed, first.name_column, table.name_column)]
    rule = f"made of the columns of {first.path} (name the features if others are to be left out)"
    require(not (spare and is_free), where, rule, spare)


def read_distances(path, encoding="utf-8-sig", option="TASK"):
    "(distances, names) from a square table."
    D, names = read_similarity(existing_file(path, option), encoding)
    return check_distances(D, str(path)), check_names(names, argument=f"the names in {path}")


def read_distance_tasks(paths, label_paths, encoding="utf-8-sig"):
    "Tasks from square tables, and one file of classes for each."
    check_integer(len(label_paths), "the number of files given by --labels", len(paths), len(paths))
    tasks = []
    for path, label_path in zip(paths, label_paths):
        D, names = read_distances(path, encoding)
        labels = read_truth(existing_file(label_path, "--labels"), names)
        tasks.append(Task(str(path), D, _check_classes(labels, str(label_path))))
    return TaskSet(tasks, None, {"distances": "from files", "classes": "from files of their own"})


def file_digest(path):
    "The SHA-256 of the content of a file."
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
