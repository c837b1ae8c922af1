"""Trees as Newick text, written and read without recursion and without losing a bit of a height."""

import re
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain

import numpy as np

from ._tree import sorted_linkage
from .validation import as_array, check_names, require

_TOKEN = re.compile(
    r"""\s+|(?P<mark>[(),:;])|(?P<comment>\[)|'(?P<single>(?:[^']|'')*)'|"(?P<double>[^"]*)"|"""
    r"""(?P<bare>[^\s()\[\]',:;"][^\s()\[\]',:;]*)"""
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")
_INNER = ": , ) ;"
_FOLLOW = {"": "name (", "(": "name (", ",": "name (", "name": _INNER, ":": "name", "length": ", ) ;"}
_FOLLOW |= {")": "name " + _INNER, "label": _INNER, ";": "end"}


def write_newick(tree, support=None, clusters=None):
    "One line of Newick: names or numbers, branch lengths from heights, notes [&initial] and [&cluster=3]."
    K, N = tree.n_leaves, tree.n_objects
    label, note = [""] * (2 * K - 1), [""] * (2 * K - 1)
    if support is not None:
        shares = as_array(support, "support", f"{K - 1} numbers, one per merge")
        numeric = shares.shape == (K - 1,) and shares.dtype.kind in "biuf"
        require(numeric, "support", f"{K - 1} numbers, one per merge", support)
        label[K:] = [f"{float(share):.6g}" for share in shares]
    if clusters is not None:
        numbers = as_array(clusters, "clusters", f"{N} integers, one per object")
        integral = numbers.shape == (N,) and numbers.dtype.kind in "biu"
        require(integral, "clusters", f"{N} integers, one per object", clusters)
        note = ["" if c is None else f"[&cluster={c}]" for c in tree._common_values(numbers)]
    names = list(map(quoted, tree.names or map(str, range(N))))
    after = [label + note + length for label, note, length in zip(label, note, _branch_lengths(tree))]
    children, pieces, stack = tree.children.tolist(), [], [2 * K - 2]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
        elif item >= K:
            left, right = children[item - K]
            stack += [")" + after[item], right, ",", left, "("]
        else:
            inside = [names[i] for i in tree.initial_clusters[item]]
            group = "(" + ",".join(name + ":0" for name in inside) + ")[&initial]"
            pieces.append((inside[0] if len(inside) == 1 else group) + after[item])
    return "".join(pieces) + ";"


def quoted(name):
    return name if re.fullmatch(r"[^\W_]([^\W_]|[.+-])*", name) else "'" + name.replace("'", "''") + "'"


def _branch_lengths(tree):
    "For every node the height of its parent minus its own, exact as decimal numbers; nothing for the root."
    heights = [Decimal(0)] * tree.n_leaves + [Decimal(repr(height)) for height in tree.heights.tolist()]
    for parent, height in zip(tree.parents.tolist(), heights[:-1]):
        length = (heights[parent] - height).normalize()
        yield ":" + (f"{length:f}" if -9 < length.adjusted() < 18 else str(length))
    yield ""


def read_newick(text, names=None):
    "(linkage matrix, initial clusters, names, what the heights are) of a tree of any degree."
    require(isinstance(text, str), "text", "Newick text", text)
    nodes = _parse(text.removeprefix("\ufeff"))
    objects, names = _number_objects([node.name for node in nodes if not node.children], names)
    members, next_object = {}, iter(objects)  # {node: its objects}, for the leaves of the dendrogram
    for v, node in enumerate(nodes):
        if not node.children:
            members[v] = (next(next_object),)
        elif node.initial:
            single = all(len(members.get(child, ())) == 1 for child in node.children)
            require(single, "text", "Newick with only objects inside an [&initial] group", "a bracket inside")
            members[v] = tuple(members.pop(child)[0] for child in node.children)
    leaves = sorted(members, key=lambda v: min(members[v]))
    number, children, heights = {v: leaf for leaf, v in enumerate(leaves)}, [], []
    node_heights, kind = _node_heights(nodes)
    for v, node in enumerate(nodes):
        if v not in members and node.children:  # many children are merged from left to right at one height
            number[v], *others = (number[child] for child in node.children)
            for other in others:
                children.append((number[v], other))
                heights.append(node_heights[v])
                number[v] = len(leaves) + len(children) - 1
    Z = sorted_linkage(np.array(children, dtype=np.int64).reshape(-1, 2), np.array(heights, dtype=float))
    ordinal = kind == "height" and np.array_equal(Z[:, 2], np.arange(1, len(leaves)))
    return Z, [members[v] for v in leaves], names, "merge order" if ordinal else kind


def _node_heights(nodes):
    "(heights, what they are): the longest path down to a leaf, or levels where no branch has a length."
    given = [node.length is not None for node in nodes[:-1]]
    rule = "Newick with a branch length at every node or at none"
    require(all(given) or not any(given), "text", rule, f"{sum(given)} of {len(given)}")
    heights = []
    for node in nodes:
        step = Decimal(len(node.children) > 1)
        paths = [heights[child] + (nodes[child].length if any(given[:1]) else step) for child in node.children]
        heights.append(max(paths, default=Decimal(0)))
    heights = list(map(float, heights))
    rule = "Newick with branch lengths that lead to finite heights of 0 or more"
    require(min(heights) >= 0 and max(heights) < np.inf, "text", rule, min(heights))
    return heights, "height" if any(given) else "level"


def _number_objects(found, names):
    "(object numbers, names): by `names`, by number if the names are 0 to N − 1, else by appearance."
    index = {}
    for name in found:
        require(name not in index, "text", "a tree with every object once", name)
        index[name] = len(index)
    if names is None and index.keys() == set(map(str, range(len(found)))):
        return list(map(int, found)), None
    if names is not None:
        found_names, names = set(found), check_names(names, len(found))
        unknown = found_names - set(names)
        require(not unknown, "names", "the names in text, which has another", min(unknown, default=None))
        index = {name: i for i, name in enumerate(names)}
    return [index[name] for name in found], names or tuple(found)


@dataclass
class _Node:
    children: list = field(default_factory=list)
    name: str | None = None
    length: Decimal | None = None  # of the branch above
    initial: bool = False  # whether it is an initial cluster


def _parse(text):
    "Nodes in postorder: children before parents, from left to right, the root last."
    nodes, groups, node, before = [], [[]], _Node(), ""
    for kind, value, position in chain(_tokens(text), [("end", "", len(text))]):
        if kind == "initial":
            node.initial = True
            continue
        balanced = len(groups) > 1 if kind in (",", ")") else len(groups) == 1 or kind != ";"
        if not balanced or kind not in _FOLLOW[before].split():
            _refuse(text, before, kind, position, balanced)
        if kind == "(":
            groups.append([])
        elif kind in (",", ")", ";"):  # a node is complete
            groups[-1].append(len(nodes))
            nodes.append(node)
            node = _Node(groups.pop() if kind == ")" else [])
        elif before == ":":
            require(_NUMBER.fullmatch(value), "text", f"Newick with a finite number at position {position}", value)
            node.length = Decimal(value)
        elif kind == "name":
            node.name = value
        before = {":": "length", ")": "label"}.get(before, "name") if kind == "name" else kind
    return nodes


def _refuse(text, before, kind, position, balanced):
    "Raise the error for a token that is not allowed at its position."
    if not balanced:
        rule = "as many ')' as '('"
    elif kind == "end" and before:
        rule = "';' at the end"
    else:
        expected = " or ".join(token if token.isalpha() else f"'{token}'" for token in _FOLLOW[before].split())
        rule = f"{expected} after {before if before.isalpha() else repr(before)}"
    hint = " (names with blanks need quotes)" if (before, kind) == ("name", "name") else ""
    around = text[max(0, position - 12) : position + 12]
    require(False, "text", f"Newick with {rule}, at position {position}{hint}", around)


def _tokens(text):
    "(kind, value, position) of every token; blanks and comments other than [&initial] are left out."
    position = 0
    while position < len(text):
        match, start = _TOKEN.match(text, position), position
        closed = match and (match.lastgroup != "comment" or _comment_end(text, position))
        rule = f"Newick with every quote and [ closed, unlike at position {position}"
        require(closed, "text", rule, text[position : position + 20])
        position = match.end() if closed is True else closed
        if match["mark"]:
            yield match["mark"], "", start
        elif match["comment"]:
            if text[start:position].lower() == "[&initial]":
                yield "initial", "", start
        elif match.lastgroup:
            network = match["bare"] and re.search(r"#(H|LGT|R)\d+$", match["bare"])
            require(not network, "text", "a tree; # marks a node with two parents, as in a network", match["bare"])
            yield "name", match[match.lastgroup].replace("''", "'" if match["single"] else "''"), start


def _comment_end(text, position):
    "The end of a comment, which may hold others; None if it is not closed."
    depth = 0
    for bracket in re.compile(r"[\[\]]").finditer(text, position):
        depth += 1 if bracket[0] == "[" else -1
        if depth == 0:
            return bracket.end()
    return None
