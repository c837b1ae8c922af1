"Whether the first line of a file is a header, and tables that are named by it."

import re
from dataclasses import replace

import numpy as np

from ._columns import (
    ENDING,
    HEADER_WORDS,
    SETTLING_WORDS,
    WIDTHS,
    _person_rank,
    is_whole_number,
    looks_like,
    name_parts,
    role_of_name,
)
from .compat import bincount
from .validation import require

FEW_ROWS = 19  # below which a first line that occurs nowhere else is a header with less than 95% certainty


def judge_header(rows, objects=None, width=3):
    "(whether the first row names the columns, what makes that doubtful or None)."
    import pandas as pd

    cells = np.asarray(rows, dtype=object)
    first, later = [cell.lstrip("# ") for cell in cells[0]], cells[1:]
    if re.fullmatch("i,j,k(,l)?(,respondent)?(,weight)?", ",".join(first)):  # by `to_csv`
        return True, None
    known = 0 if objects is None else sum(cell in objects for cell in first)
    if objects is not None and (known == 0 or known >= width):
        return known == 0, None
    if not len(later) or all(map(is_whole_number, first)):
        return False, None
    codes, found = pd.factorize(later.ravel())
    again = not set(first).isdisjoint(found)
    if names_columns(first, later):
        is_object = again and len(first) == width and not set(first).isdisjoint(_others(first, later).ravel())
        return True, "its words name columns, but also occur in other rows" if is_object else None
    if again or any(map(is_whole_number, first)):
        return False, None
    if all(map(is_whole_number, found)):
        return True, None
    lonely = int((bincount(codes)[codes].reshape(later.shape) == 1).all(axis=1).sum())
    if lonely:
        others = f"{lonely:,} more rows are" if lonely > 1 else "one more row is"
        return False, f"none of its names occurs in another row, but {others} so too"
    few = f"its names occur nowhere else, but there are only {len(later)} rows below it"
    return True, few if len(later) < FEW_ROWS else None


def names_columns(first, later):
    "Whether the words of a first row settle that it is a header."
    if any(re.search(ENDING, cell, re.I) for cell in first):
        return False
    parts = [name_parts(cell) for cell in first]
    settled = not SETTLING_WORDS.isdisjoint(part for words in parts for part in words)
    known = settled and all(words and HEADER_WORDS.issuperset(words) for words in parts)
    people = any(_person_rank(cell) is not None for cell in first)
    n_roles = sum(role_of_name(words) is not None for words in parts)
    clear = people or known or n_roles > 2 or bool(looks_like(first))
    if not clear and n_roles < 2:
        return False
    others = _others(first, later)
    if not clear and set(first).isdisjoint(others.ravel()):
        return False  # two are only clear where they are answers below, as left and right may be
    return bool(len(others)) and not any((column == cell).any() for cell, column in zip(first, others.T))


def _others(first, later):
    "The later rows that do not repeat the first one, in any case: a header may come again."
    again = (later == np.array(first, dtype=object)).any(axis=1)
    lowered = [cell.lower() for cell in first]
    again[again] = [[cell.lower() for cell in row] == lowered for row in later[again]]
    return later[~again]


def with_headers(tables, options, notes):
    "The tables, with names where files have them. Of several without, one header is the first row of all."
    header = options.header if options.format is None else True
    first = [t.frame.iloc[0].tolist() for t in tables if t.names is None and len(t.frame)]
    if len(tables) > 1 and header is None and len(first) == sum(len(t.frame) > 0 for t in tables):
        rest = [t.frame.to_numpy()[1:] for t in tables if len(t.frame)]
        same = all(row == first[0] for row in first) and not all(map(is_whole_number, first[0]))
        same = same and all(set(first[0]).isdisjoint(rows.ravel()) for rows in rest)
        header = same or all(len(rows) == 0 or names_columns(row, rows) for row, rows in zip(first, rest)) or None
    only_header = lambda t: len(t.frame) == 1 and first.count(t.frame.iloc[0].tolist()) > 1 and header is not False
    tables = [t.keep([False]) if len(tables) > 1 and t.names is None and only_header(t) else t for t in tables]
    return [_with_header(table, replace(options, header=header), notes) for table in tables]


def _with_header(table, options, notes):
    "The table, named by its first row if that is a header; without rows that repeat it and more lines of Qualtrics'."
    if not len(table.frame):
        return table
    if table.names is None:
        table = _without_title(table) if options.header is not False else table
        is_header, doubt = options.header, None
        if is_header is None:
            objects = None if options.objects is None else set(options.objects)
            is_header, doubt = judge_header(table.frame.to_numpy(), objects, WIDTHS[options.kind])
        if doubt:
            first = ", ".join(table.frame.iloc[0, :6]) + (" …" if table.frame.shape[1] > 6 else "")
            taken, other = ("a header", "an answer") if is_header else ("an answer", "a header")
            overrule = f"header={not is_header} (--header {'no' if is_header else 'yes'})"
            what = f"the first {table.unit} of {table.source} ({first})"
            notes.append(f"{what} is read as {taken}; {doubt}. If it is {other}, use {overrule}")
        if not is_header:
            return table
        names, cut = table.frame.iloc[0].tolist(), table.ragged.get(table.frame.index[0])
        rule = f"a header with as many names as the lines below have cells, {len(names)}"
        require(cut is None, table.where(0), rule, cut and f"{len(cut)}: {', '.join(cut)}")
        names[0] = names[0].lstrip("# ") if all(map(name_parts, names)) else names[0]
        table = replace(table, names=names, frame=table.frame.iloc[1:])
        rule = "a file with at least one answer (use header=False if its first line is one)"
        require(len(table.frame), table.source, rule, "a header and nothing else")
    frame, names = table.frame, np.array([name.lower() for name in table.names], dtype=object)
    n = _n_header_lines(frame, names.tolist())
    if n:
        frame = frame.iloc[n:]
        table = replace(table, frame=frame, notes=[*table.notes, f"{n} more lines of Qualtrics' header"])
    candidates = frame[frame[len(names) - 1].str.lower() == names[-1]]
    again = candidates.index[(candidates.map(lambda cell: cell.strip("\ufeff").lower()) == names).all(axis=1)]
    if len(again) and not frame.drop(index=again).isin([name for name in table.names if name]).to_numpy().any():
        lines = table.some_lines(again)
        rows = (
            "1 row of {} repeats the header, and is"
            if len(again) == 1
            else f"{len(again):,} rows of {{}} repeat the header, and are"
        )
        notes.append(f"{rows.format(table.source)} left out ({lines})")
        repeated = f"{len(again):,} repeated header{'s' * (len(again) > 1)} ({lines})"
        table = replace(table, frame=frame.drop(index=again), notes=[*table.notes, repeated])
    return table


def _without_title(table):
    "The table without lines of other lengths, or of one cell, above a line that names the columns."
    ragged, rows = np.isin(table.frame.index, list(table.ragged)), table.frame.head(20).to_numpy()
    title = ragged[: len(rows)] | ((rows != "").sum(axis=1) == 1)
    n = int(title.argmin())
    if n == 0 or rows.shape[1] < 3 or not names_columns(table.frame.iloc[n].tolist(), table.frame.to_numpy()[n + 1 :]):
        return table
    above = table.frame.index[:n]
    note = f"{n} line{'s' * (n > 1)} above the header ({table.some_lines(above)})"
    cut = {r: cells for r, cells in table.ragged.items() if r not in above}
    return replace(table, frame=table.frame.iloc[n:], ragged=cut, notes=[*table.notes, note])


def _n_header_lines(frame, names):
    'How many lines below the names belong to the header of Qualtrics: questions, and {"ImportId": …}.'
    imports = frame.head(2).map(lambda cell: cell.startswith('{"ImportId"')).any(axis=1).to_numpy()
    if imports.any():
        return int(imports.argmax()) + 1
    if "responseid" not in names or len(frame) < 2:
        return 0
    is_id = frame[names.index("responseid")].str.startswith("R_").to_numpy()
    return int(is_id[1:].all() and not is_id[0])
