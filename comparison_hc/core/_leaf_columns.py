"""Columns of known facts beside the leaves of a tree: categories or numbers as colours, with a legend."""

from html import escape
from numbers import Real

import numpy as np

from .images import SEQUENTIAL
from .plotting import cut_text, tag, text_width
from .validation import require, visible_text

CATEGORIES = ["#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677", "#882255", "#AA4499"]
MIXED = "#dddddd"  # of a folded branch with several categories
CELL, GAP, BEFORE, LONGEST = 11.0, 2.0, 8.0, 110.0  # pixels: of a cell, to the next, to the names, of a title
LETTER, LINE = 10.5, 17.0  # pixels: of a letter, from line to line of the legend


def check_annotations(table, names):
    "{title: tuple of N numbers or texts, None where nothing is known} of a mapping or a data frame by object."
    rule = "a mapping from titles to one value per object, or a DataFrame with one row per object"
    require(hasattr(table, "items") and len(table), "annotations", rule, table)
    if hasattr(table, "reindex"):
        index = list(map(str, table.index))
        strange = [name for name in index if name not in set(names)]
        require(not strange, "the index of annotations", "names of objects of the tree", strange[:1])
        require(len(set(index)) == len(index), "the index of annotations", "free of repetitions", index)
        table = table.set_axis(index, axis=0).reindex(names)
    columns = {}
    for title, values in table.items():
        values = list(values)
        require(len(values) == len(names), f"annotations[{title!r}]", f"of length {len(names)}", len(values))
        columns[visible_text(str(title))] = tuple(None if _is_missing(value) else value for value in values)
    return columns


def _is_missing(value):
    return value is None or value != value or (isinstance(value, str) and not value.strip())


class _Column:
    "One title with its values; numbers where all known values are numbers. Categories have colours from `first` on."

    def __init__(self, title, values, first=0):
        self.title, self.values, self.first = title, values, first
        known = [value for value in values if value is not None]
        self.is_number = bool(known) and all(isinstance(v, Real) and not isinstance(v, (bool, np.bool_)) for v in known)
        self.low, self.high = (float(min(known)), float(max(known))) if self.is_number else (0.0, 0.0)
        self.categories = [] if self.is_number else sorted({visible_text(str(value)) for value in known})

    def of(self, objects):
        "(colour, text) of some objects together: the mean of numbers, the category that all of them have; or None."
        known = [self.values[i] for i in objects if self.values[i] is not None]
        if not known:
            return None
        if self.is_number:
            mean = float(np.mean(known))
            return self.shade(mean), f"{mean:.4g}"
        found = sorted({visible_text(str(value)) for value in known})
        return self.color(found[0]) if len(found) == 1 else MIXED, " / ".join(found)

    def color(self, category):
        "The colour of a category."
        return CATEGORIES[(self.first + self.categories.index(category)) % len(CATEGORIES)]

    def shade(self, value):
        "The colour of a number, between the lowest and the highest."
        at = (value - self.low) / ((self.high - self.low) or 1.0) * (len(SEQUENTIAL) - 1)
        left = min(int(at), len(SEQUENTIAL) - 2)
        parts = ([int(color[k : k + 2], 16) for k in (1, 3, 5)] for color in SEQUENTIAL[left : left + 2])
        return "#" + "".join(f"{round(a + (at - left) * (b - a)):02x}" for a, b in zip(*parts))

    def keys(self):
        "(colours, text) of what the legend shows: each category, or the ends of the numbers."
        if self.is_number:
            return [(SEQUENTIAL, f"{self.low:.4g} to {self.high:.4g}")]
        return [([self.color(text)], text) for text in self.categories]


class LeafColumns:
    "What a `TreeFigure` needs of annotations: their width, cells, titles and legend."

    def __init__(self, annotations):
        self.columns, n_colors = [], 0
        for title, values in annotations.items():  # a colour has one meaning as long as there are enough
            self.columns.append(_Column(title, values, n_colors))
            n_colors += len(self.columns[-1].categories)
        self.width = BEFORE + len(self.columns) * (CELL + GAP)
        self.room = min(LONGEST, max(text_width(column.title, LETTER) for column in self.columns)) + 6
        self.most = n_colors

    def cells(self, objects, along, half):
        "(corners along and across the middle of a row, colour, title) of every cell that is known."
        for number, column in enumerate(self.columns):
            found = column.of(objects)
            if found is not None:
                near = along + BEFORE + number * (CELL + GAP)
                corners = (near, -half), (near + CELL, -half), (near + CELL, half), (near, half)
                yield corners, found[0], f"{column.title}: {found[1]}"

    def titles(self, along):
        "(middle along, text) of every column."
        for number, column in enumerate(self.columns):
            yield along + BEFORE + number * (CELL + GAP) + CELL / 2, cut_text(column.title, LETTER, LONGEST)

    def legend(self, width, top):
        "(elements, pixels of height): every title with its colours, in lines of this width."
        parts, y = [], top + 4.0
        for column in self.columns:
            x, y = 14.0, y + LINE
            title = cut_text(f"{column.title}:", LETTER, 0.4 * width)
            parts.append(tag("text", escape(title), x=x, y=y, font_size=LETTER, font_weight="bold"))
            start = x = x + 1.08 * text_width(title, LETTER) + 8
            for colors, text in column.keys():
                box = 10.0 if len(colors) == 1 else 6.0
                text = cut_text(text, LETTER, 0.5 * width)
                long = box * len(colors) + 4 + text_width(text, LETTER) + 12
                if x > start and x + long > width - 8:
                    x, y = start, y + LINE
                for at, color in enumerate(colors):
                    parts.append(tag("rect", x=x + at * box, y=y - 9, width=box, height=10, fill=color))
                parts.append(tag("text", escape(text), x=x + box * len(colors) + 4, y=y, font_size=LETTER))
                x += long
        return [tag("g", "".join(parts), class_="annotations")], y - top + 6
