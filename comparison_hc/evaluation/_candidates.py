"""Ways from comparisons to a tree: direct, refined, through points or an additive tree, and a random one."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ..core._rows import four_columns
from ..core.compat import bincount
from ..core.weights import each_weight
from ..core.validation import as_array, as_rng, require
from ..dendrogram import Dendrogram, random_tree
from ..methods import build_hierarchy, methods, passive_methods

N_STARTS = 3  # of t-STE and SOE
RIDGE = 0.1  # of "points"
RANDOM, SUFFIX, ADDITIVE, REVENUE = "random", " refined", "additive-al", "adds-al"
MANY_OBJECTS = 600  # above it, refinement takes minutes per tree, and 4K–AL half a minute
TOO_MANY = f"refined trees and 4K–AL are left out, which take too long for more than {MANY_OBJECTS} objects"
FEW_FOR_ADDITIVE = 100_000  # objects times comparisons up to which an additive tree takes about a second


@dataclass(frozen=True, eq=False)
class Candidate:
    "A way from comparisons to a tree or to points."

    name: str
    title: str  # in words
    build: object  # function of (comparisons, rng); with a base, of (the result of the base, comparisons)
    base: object = None  # the candidate whose result it starts from
    takes: str = "quadruplets"  # "triplets", or "quadruplets", which triplets are, too
    tree: bool = True  # False: it gives points, (N, d)
    weighs: bool = True  # whether comparisons can have weights
    papers: tuple = ()  # what a report about it has to cite


def check_model(model, comparisons, points=False):
    "A tree about the objects of the comparisons, or points."
    N = comparisons.n_objects
    if points and not isinstance(model, Dendrogram):
        rule = f"a function that gives a Dendrogram about {N} objects, or ({N}, d) finite points"
        array = as_array(model, "methods", rule)
        fits = array.ndim == 2 and len(array) == N and array.dtype.kind in "iuf" and np.isfinite(array).all()
        require(fits, "methods", rule, model)
        return array
    is_tree = isinstance(model, Dendrogram) and model.n_objects == N
    require(is_tree, "methods" if points else "build", f"a function that gives a Dendrogram about {N} objects", model)
    return model


def as_builder(build):
    "A function from comparisons to a tree, from one or from the name of a passive method."
    if isinstance(build, str) and build not in methods and build.removesuffix("-refined") in tree_names():
        name = check_tree_name(build, "build")
        return lambda comparisons: build_candidate(name, comparisons, 0, "build")
    if isinstance(build, str):
        return lambda comparisons: build_hierarchy(build, comparisons)[0]
    require(callable(build), "build", "the name of a method, or a function from answers to a Dendrogram", build)
    return lambda comparisons: check_model(build(comparisons), comparisons)


def refined(tree, comparisons):
    "The tree after refinement. Ctrl-C stops the whole comparison."
    from ..hierarchical.refinement import refine

    found = refine(tree, comparisons)
    if getattr(found, "interrupted", False):
        raise KeyboardInterrupt
    return found.dendrogram


def _random(comparisons, rng):
    tree = random_tree(comparisons.n_objects, rng)
    return Dendrogram(tree.linkage_matrix, names=comparisons.names, height_kind=tree.height_kind)


def _t_ste(triplets, rng):
    from .embedding import t_ste

    return t_ste(triplets, n_starts=N_STARTS, rng=rng).points


def _forte(triplets, rng):
    from .embedding import forte

    return forte(triplets, rng=rng).points


def _points(comparisons, rng):
    from .embedding import t_ste

    return t_ste(comparisons, ridge=RIDGE, start="spectral").points


def _soe(triplets, rng):
    from ._soe import soe

    return soe(triplets, rng, N_STARTS)


EMBEDDINGS = {  # name: title, function, paper, what it takes
    "points": ("points", _points, "VW12", "quadruplets"),
    "t-ste": ("t-STE", _t_ste, "VW12", "triplets"),
    "forte": ("FORTE", _forte, "JJN16", "triplets"),
    "soe": ("SOE", _soe, "TL14", "triplets"),
}


def _points_of_all(embed):
    "The embedding, where objects that no comparison is about get the mean of the points."

    def build(comparisons, rng):
        is_seen = np.zeros(comparisons.n_objects, dtype=bool)
        is_seen[comparisons.array.ravel()] = True
        seen, place = np.flatnonzero(is_seen), np.cumsum(is_seen) - 1
        some = type(comparisons).trusted(place[comparisons.array], len(seen), weights=comparisons.weights)
        found = np.asarray(embed(some, rng), dtype=float)
        points = np.zeros((comparisons.n_objects, found.shape[1]))
        points[seen] = found - found.mean(axis=0)
        return points

    return build


def _average_linkage(metric):
    "Average linkage on points."

    def build(points, comparisons):
        from .embedding import embedding_average_linkage

        return embedding_average_linkage(points, metric, comparisons.names)

    return build


def _additive(comparisons, rng):
    from ..additive_tree import AdditiveTree

    return AdditiveTree(n_trees=1, rate=3.0, lapse=0.0, rng=rng).fit(comparisons).dendrogram_


def _revenue(comparisons, rng):
    "Average linkage on AddS, which aims at the largest revenue by comparisons; weights count."
    from ..hierarchical.kernel import kernel_average_linkage

    n, weights = comparisons.n_objects, each_weight(comparisons)
    i, j, k, l = (column.astype(np.intp, copy=False) for column in four_columns(comparisons.array))
    S = (bincount(i * n + j, weights, n * n) - bincount(k * n + l, weights, n * n)).reshape(n, n)
    return kernel_average_linkage(S + S.T, comparisons.names)


def tree_names():
    "Names of the candidates that give a tree, without the random one."
    plain = [*passive_methods(), *(f"{name}-al" for name in EMBEDDINGS), ADDITIVE, REVENUE]
    return plain + [name + SUFFIX for name in plain]


def check_tree_name(text, argument):
    "The candidate's name, of which -refined may be the ending, as in a command."
    name = text.removesuffix("-refined") + SUFFIX * text.endswith("-refined") if isinstance(text, str) else text
    known = ["auto", *methods, *(each.replace(SUFFIX, "-refined") for each in tree_names() if each not in methods)]
    require(isinstance(name, str) and name in tree_names(), argument, f"one of {', '.join(known)}", text)
    return name


def build_candidate(name, comparisons, rng, argument):
    "The tree of a candidate that gives one, if it can take these comparisons."
    chosen = candidate(name, argument)
    check_takes(chosen, comparisons, argument)
    return fit(chosen, comparisons, as_rng(rng), {})[0]


def check_takes(chosen, comparisons, argument):
    "Raises `InputError` if a candidate cannot take these comparisons."
    rule = f"methods that take {comparisons.kind}"
    require(comparisons.kind == "triplets" or chosen.takes == "quadruplets", argument, rule, chosen.name)


def candidate(name, argument="methods"):
    "The candidate of this name."
    known = [*passive_methods(), *(word for e in EMBEDDINGS for word in (e, f"{e}-al")), ADDITIVE, REVENUE, RANDOM]
    plain = name.removesuffix(SUFFIX) if isinstance(name, str) else None
    rule = f"one of {', '.join(known)}; a tree's name may be followed by{SUFFIX}"
    require(plain in known and (plain == name or plain not in EMBEDDINGS), argument, rule, name)
    if plain != name:
        base = candidate(plain)
        about = dict(takes=base.takes, weighs=base.weighs, papers=base.papers)
        return Candidate(name, f"{base.title}{SUFFIX}", refined, base, **about)
    if plain == RANDOM:
        return Candidate(plain, "a random tree", _random)
    if plain in EMBEDDINGS:
        title, embed, paper, takes = EMBEDDINGS[plain]
        about = dict(takes=takes, tree=False, papers=(paper,))
        title = "points in the plane" if plain == "points" else f"{title}, points"
        return Candidate(plain, title, _points_of_all(embed), **about)
    if plain == ADDITIVE:
        return Candidate(plain, "additive–AL", _additive, papers=("ST77",))
    if plain == REVENUE:
        return Candidate(plain, "AddS–AL", _revenue, papers=("MPG23",))
    if plain in passive_methods():
        about = dict(takes=methods[plain].takes, papers=methods[plain].papers)
        title = methods[plain].title.rsplit(", ", 1)[-1]
        return Candidate(plain, title, lambda comparisons, rng: build_hierarchy(plain, comparisons)[0], **about)
    base = candidate(plain.removesuffix("-al"), argument)
    about = dict(takes=base.takes, weighs=base.weighs, papers=base.papers)
    metric = "euclidean" if base.name == "points" else "cosine"  # the paper's for t-STE, FORTE and SOE
    title = EMBEDDINGS[base.name][0]
    return Candidate(plain, f"{title}–AL", _average_linkage(metric), base, **about)


def task_size(comparisons):
    "Objects times comparisons; infinite below four objects, for which there is no additive tree."
    return len(comparisons) * comparisons.n_objects if comparisons.n_objects >= 4 else np.inf


def candidate_names(kind, embeddings=False, size=0, n_objects=0):
    """What is compared by default, simple ones first: plain trees, refined ones, perhaps slow ones, a random one.

    `size` is the number of objects times that of comparisons: the additive tree is left out where it would take long,
    and refined trees and 4K–AL are for more than `MANY_OBJECTS`.
    """
    many = n_objects > MANY_OBJECTS
    direct = [name for name in passive_methods() if kind == "triplets" or methods[name].takes == "quadruplets"]
    plain = ["points-al", *(name for name in direct if not (many and name == "4k-al"))]
    slow = [ADDITIVE] if embeddings or size <= FEW_FOR_ADDITIVE else []
    names = [*plain, *slow, *(name + SUFFIX for name in plain if not many)]
    if embeddings:
        names.append("points")
    if embeddings and kind == "triplets":
        for name in ("t-ste", "forte", "soe"):
            names += [name, f"{name}-al"]
    return [*names, RANDOM]


def fit(candidate, comparisons, seed, fitted):
    "(tree or points, seconds); the dict `fitted` keeps the results, so that a base is fitted only once."
    if candidate.name not in fitted:
        base = candidate.base and fit(candidate.base, comparisons, seed, fitted)
        start = perf_counter()
        if base:
            model = candidate.build(base[0], comparisons)
        else:
            model = candidate.build(comparisons, np.random.default_rng(seed))
        fitted[candidate.name] = model, perf_counter() - start + (base[1] if base else 0)
    return fitted[candidate.name]
