"""Classes, names, initial clusters and matrices from tables that people keep; and no input is overwritten."""

import re

from ..core._columns import as_number, is_whole_number, is_word, plain_number
from ..core._tables import existing_file
from ..core.validation import InputError, require


def read_groups(path, names, option):
    "The groups of objects, from a file. Raises `InputError` (with the line) for unknown or repeated objects."
    from comparison_hc.core._tables import read_rows

    path = existing_file(path, option)
    rows, lines, _ = read_rows(path)
    known, groups = set(names), {}

    def named(cell):
        return next((name for name in (cell, plain_number(cell)) if name in known), None)

    wanted = f"an object and its {'class' if option == '--truth' else 'cluster'}, two cells"
    for place, (line, row) in enumerate(zip(lines, rows)):
        where = f"{path}, line {line},"
        require(len(row) == 2 and row[1], where, wanted, row)
        if place == 0 and _is_header(row, rows[1:], named):
            continue
        rule, name = "about an object that was compared (use --objects if others exist)", named(row[0])
        require(name is not None, where, rule, row[0])
        require(name not in groups, where, "the only line about its object", row[0])
        groups[name] = row[1]
    return groups


def _is_header(row, others, named):
    "Whether a first line is one: about no object, in no group of another line; or ours, above an object `object`."
    from comparison_hc.evaluation.report import LABELS_HEADER

    if row == LABELS_HEADER and any(other[0] == row[0] for other in others):
        return True
    return named(row[0]) is None and row[1] not in {other[-1] for other in others}


def read_truth(path, names):
    "Every object's class, from a file. Raises `InputError` (with the line) for unknown, repeated or missing objects."
    classes = read_groups(path, names, "--truth")
    missing = [name for name in names if name not in classes]
    rule = f"complete, but {len(missing)} of {len(names)} objects have no class"
    require(not missing, str(path), rule, missing[0] if missing else None)
    return [classes[name] for name in names]


def read_annotations(path, names):
    """{title: a number, text or None per object} of a table: titles in the first line, objects in the first column.

    Raises `InputError` (with the line) for unknown or repeated objects and for cells without a title.
    """
    from comparison_hc.core._tables import read_rows

    path = existing_file(path, "--annotate")
    rows, lines, _ = read_rows(path)
    rule = "a table with a first line of titles, the objects in the first column, and other columns after it"
    require(len(rows) > 1 and len(rows[0]) > 1, str(path), rule, rows[:1])
    titles, numbers, found = rows[0][1:], {name: number for number, name in enumerate(names)}, {}
    require(len(set(titles)) == len(titles) and all(titles), f"{path}, line {lines[0]},", "different titles", titles)
    columns = [[None] * len(names) for _ in titles]
    for line, row in zip(lines[1:], rows[1:]):
        where, name = f"{path}, line {line},", next((n for n in (row[0], plain_number(row[0])) if n in numbers), None)
        require(len(row) == len(rows[0]), where, f"{len(rows[0])} cells", row)
        require(name is not None, where, "about an object that was compared (use --objects if others exist)", row[0])
        require(name not in found, where, "the only line about its object", row[0])
        found[name] = line
        for column, cell in zip(columns, row[1:]):
            column[numbers[name]] = None if cell.strip().lower() in ("", "na", "nan", "n/a") else cell
    for column in columns:
        known = [as_number(cell) for cell in column if cell is not None]
        if known and None not in known:
            column[:] = [None if cell is None else float(as_number(cell)) for cell in column]
    return dict(zip(titles, columns))


def read_tree(path, names):
    "(name of the file, its tree, read as Newick about these objects). Raises `InputError` if it is about others."
    from ..dendrogram import Dendrogram

    path = existing_file(path, "--against")
    tree = Dendrogram.from_newick(path.read_text(encoding="utf-8-sig"))
    strange = sorted(set(tree.names) ^ set(names))
    found = f"{', '.join(strange[:3])} in only one of the two"
    require(not strange, str(path), f"a tree of the same {len(names)} objects", found)
    require(tree.n_leaves == len(names), str(path), "a tree with one object per leaf", tree)
    return path.stem, tree.relabel([tree.names.index(name) for name in names])


def read_names(path):
    "All objects' names, from a file; empty lines are skipped."
    path = existing_file(path, "--objects")
    try:
        names = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise InputError(f"{path} must be utf-8 text; byte {error.start} is not") from None
    require(names, str(path), "a file with at least one name", "an empty file")
    return names


def read_initial(path, names):
    """Initial clusters, from a file; objects that are not in it start on their own.

    Raises `InputError` as `read_groups` does.
    """
    groups, clusters = read_groups(path, names, "--initial"), {}
    require(groups, str(path), "a file about at least one object", "none")
    for number, name in enumerate(names):
        group = groups.get(name, number)  # a number is no text, so it meets no cluster of the file
        clusters.setdefault(group, []).append(number)
    alone = sum(name not in groups for name in names)
    said = f", {alone:,} of them objects that are not in the file" if alone else ""
    return list(clusters.values()), f"{len(clusters):,} initial clusters{said}"


def _is_doubtful(rows):
    "Whether the first cell of a square table can be a corner above names, and a mark on the diagonal as well."
    corner, *others = rows[0]
    if len(rows) != len(rows[0]) or as_number(corner) is not None or any(as_number(cell) is None for cell in others):
        return False
    marks = {row[i] for i, row in enumerate(rows) if 0 < i < len(row)}
    return corner in marks or (corner != "" and not is_word(corner))


def _has_names_above(rows):
    "Whether the first line of a square table holds names."
    words = any(as_number(cell) is None for cell in rows[0][1:])
    square = len(rows) == len(rows[0])
    return words or (square and as_number(rows[0][0]) is None) or len(rows) == len(rows[0]) + 1


def warn_if_distances(matrix, argument, how):
    "Issue an `InputWarning` where every entry on the diagonal of a similarity is the smallest of its row."
    import warnings

    import numpy as np

    from ..core.validation import InputWarning

    diagonal, others = np.diag(matrix), matrix[~np.eye(len(matrix), dtype=bool)].reshape(len(matrix), -1)
    if len(matrix) > 2 and (diagonal < others.min(axis=1)).all():
        text = f"every object of {argument} is less similar to itself than to any other"
        warnings.warn(f"{text}: if these are distances, use {how}", InputWarning, stacklevel=4)


def similarity_of_distances(distances, argument):
    "The largest distance minus each, a similarity of the same order. Raises `InputError` for negative distances."
    import numpy as np

    off = ~np.eye(len(distances), dtype=bool)
    require(len(distances) < 2 or distances[off].min() >= 0, argument, "distances of at least 0", distances)
    return np.where(off, distances[off].max(initial=0) - distances, distances[off].max(initial=0))


def read_similarity(path, encoding="utf-8-sig"):
    """A similarity matrix from a file.

    Raises `InputError` for a table that is not square or holds something else than numbers.
    """
    import numpy as np

    from comparison_hc.core._tables import read_rows

    rows, _, separator = read_rows(existing_file(path, "FILE"), encoding)
    require(rows, str(path), "a file with a square table", "an empty file")
    if separator != ",":
        rows = [tuple(re.sub(r"^(-?\d+),(\d+)$", r"\1.\2", cell) for cell in row) for row in rows]
    rule = "a row of numbers (0 on the diagonal is ignored), or names with letters above names at the left"
    require(not _is_doubtful(rows), f"{path}, line 1,", rule, rows[0])
    top = _has_names_above(rows)
    body = rows[1:] if top else rows
    side = bool(body) and all(len(row) == len(body) + 1 for row in body)
    corner = "names above names at the left, with an empty corner, or numbers"
    require(not (top and side) or as_number(rows[0][0]) is None, f"{path}, line 1,", corner, rows[0])
    above = list(rows[0][-len(body) :])
    if side:
        names = [row[0] for row in body]
        rule = "a table whose rows and columns have the same names in the same order"
        require(not top or names == above, str(path), rule, (names, above))
    else:
        names = above if top else [str(i) for i in range(len(body))]
    cells = [row[1:] if side else row for row in body]
    similarity = np.zeros((len(cells), len(cells)))
    for place, row in enumerate(cells):
        rule = f"{len(cells)} numbers, as many as there are rows"
        require(len(row) == len(cells), f"{path}, row {place + 1} of the table,", rule, f"{len(row)} cells")
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            value = as_number(cell)
            where = f"{path}, row {i + 1} of the table,"
            require(value is not None or i == j, where, "made of numbers", cell)
            rounded = i != j and is_whole_number(cell) and int(cell) != value
            require(not rounded, where, "made of numbers that a float holds exactly", cell)
            similarity[i, j] = np.nan if value is None else value
    unknown = np.isnan(similarity) & np.eye(len(cells), dtype=bool)  # a diagonal that says nothing
    return np.where(unknown, np.nanmax(similarity, initial=0.0), similarity), names
