"""Ways from comparisons to a tree that are compared: direct methods, refined ones, embeddings, and a random tree."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ..comparisons import Triplets
from ..core.validation import as_array, require
from ..dendrogram import Dendrogram, random_tree
from ..methods import build_hierarchy, methods, passive_methods

N_STARTS = 3  # of t-STE and SOE
RANDOM, SUFFIX = "random", " refined"


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


def _soe(triplets, rng):
    from ._soe import soe

    return soe(triplets, rng, N_STARTS)


EMBEDDINGS = {"t-ste": ("t-STE", _t_ste, "VW12"), "forte": ("FORTE", _forte, "JJN16"), "soe": ("SOE", _soe, "TL14")}


def _points_of_all(embed):
    "The embedding, where objects that no triplet is about get the mean of the points."

    def build(triplets, rng):
        seen, rows = np.unique(triplets.array, return_inverse=True)
        some = Triplets.trusted(rows.reshape(triplets.array.shape), len(seen), weights=triplets.weights)
        found = np.asarray(embed(some, rng), dtype=float)
        points = np.zeros((triplets.n_objects, found.shape[1]))
        points[seen] = found - found.mean(axis=0)
        return points

    return build


def _average_linkage(points, triplets):
    from .embedding import embedding_average_linkage

    return embedding_average_linkage(points, names=triplets.names)


def candidate(name, argument="methods"):
    "The candidate of this name."
    known = [*passive_methods(), *(word for e in EMBEDDINGS for word in (e, f"{e}-al")), RANDOM]
    plain = name.removesuffix(SUFFIX) if isinstance(name, str) else None
    rule = f"one of {', '.join(known)}; behind a tree's name may stand{SUFFIX}"
    require(plain in known and (plain == name or plain not in EMBEDDINGS), argument, rule, name)
    if plain != name:
        base = candidate(plain)
        about = dict(takes=base.takes, weighs=base.weighs, papers=base.papers)
        return Candidate(name, f"{base.title}{SUFFIX}", refined, base, **about)
    if plain == RANDOM:
        return Candidate(plain, "a random tree", _random)
    if plain in EMBEDDINGS:
        title, embed, paper = EMBEDDINGS[plain]
        about = dict(takes="triplets", tree=False, papers=(paper,))
        return Candidate(plain, f"{title}, points", _points_of_all(embed), **about)
    if plain in passive_methods():
        about = dict(takes=methods[plain].takes, papers=methods[plain].papers)
        title = methods[plain].title.rsplit(", ", 1)[-1]
        return Candidate(plain, title, lambda comparisons, rng: build_hierarchy(plain, comparisons)[0], **about)
    base = candidate(plain.removesuffix("-al"), argument)
    about = dict(takes="triplets", weighs=base.weighs, papers=base.papers)
    return Candidate(plain, f"{base.title.split(',')[0]}–AL", _average_linkage, base, **about)


def candidate_names(kind, embeddings=False):
    "What is compared by default: direct methods plain and refined, perhaps embeddings, a random tree."
    names = [name for name in passive_methods() if kind == "triplets" or methods[name].takes == "quadruplets"]
    names += [name + SUFFIX for name in names]
    if embeddings and kind == "triplets":
        for name in EMBEDDINGS:
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
