"""A dashboard that goes through insertion one question at a time: candidates, pivot, question, answer, and the cost."""

from dataclasses import dataclass
from functools import cache, lru_cache
from math import comb, log2

import numpy as np

from ..adaptive.bayesian import bayesian_sibling
from ..adaptive.insertion import DecisionTree
from ..adaptive.noisy import EulerTour, check_noise
from ..adaptive.trees import SHAPES, GrowingTree, random_hierarchy
from ..core.validation import as_rng, integer_from, number_from, one_of
from ..oracles import HierarchyOracle, Noisy, run
from ..theory.a18_noisy import question_bound
from ..theory.a18_quick import QUICK_CONSTANT
from ..theory.a18_trees import log3_hierarchies
from .framework import Settings, as_settings, setting
from .page import static_rows

SHAPE_NAMES = ("balanced", "split", "uniform", "caterpillar")
EXACT_N = [4 << k for k in range(9)]
NOISY_N = [4 << k for k in range(5)]
P_VALUES = [0.7, 0.8, 0.9, 0.95]
DELTA_VALUES = [0.01, 0.05, 0.2]


@cache
def stored_runs():
    "{(algorithm, p, δ, shape): mean questions of three runs (robust: of one) for n = 4, 8, …}, p and δ as texts."
    found = {}
    for row in static_rows("costs.csv"):
        key = row["algorithm"], row["p"], row["delta"], row["shape"]
        found.setdefault(key, []).append(int(row["questions"]))
    return found


def stored_questions(algorithm, shape, p=1.0, delta=None):
    "Measured numbers of questions for n = 4, 8, …: means of three runs, or one run of robust insertion."
    exact = p == 1 or algorithm in ("insertion", "quick")
    return stored_runs().get((algorithm, *(("1", "") if exact else (f"{p:g}", f"{delta:g}")), shape), [])


@lru_cache
def _robust_bounds(p, delta):
    return [question_bound(n, p, delta, printed=False) for n in NOISY_N]


def chart_lines(shape, p, delta):
    "The lines of the chart: bounds and measured runs."
    n = EXACT_N
    bounds = {
        "all triplets, C(n, 3)": [comb(m, 3) for m in n],
        "all pairs, C(n, 2)": [comb(m, 2) for m in n],
        "Theorem 4.3: n log₂ n, insertion at most": [m * log2(m) for m in n],
        "log₃ (2n−3)!!, lower bound": log3_hierarchies(n).tolist(),
        "Theorem 3.2: 469 n log₂ n, quick clustering on average": [QUICK_CONSTANT * m * log2(m) for m in n],
        "Theorem 5.1: robust insertion at most": _robust_bounds(p, delta) if p < 1 else [],
    }
    measured = {
        "robust insertion": "robust",
        "Bayesian insertion": "bayesian",
        "quick clustering": "quick",
        "insertion": "insertion",
    }
    lines = [dict(name=name, bound=True, n=n[: len(q)], q=[round(v, 1) for v in q]) for name, q in bounds.items()]
    for name, algorithm in measured.items():
        exists = p < 1 or algorithm in ("quick", "insertion")
        q = stored_questions(algorithm, shape, p, delta) if exists else []
        lines.append(dict(name=name, bound=False, n=n[: len(q)], q=q))
    return lines


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SHAPE_HELP = "balanced: halves; split: random sizes; uniform: all trees equally likely; caterpillar: one item at a time"
OTHER_TREE = "another hidden tree, other wrong answers"
DELTA_HELP = "probability with which the tree may be wrong; without effect if p = 1"


@dataclass(frozen=True)
class StepSettings(Settings):
    """The controls of the page `step`. Items are called A, B, C, …

    Examples
    --------
    >>> from comparison_hc.dashboards import StepSettings
    >>> StepSettings(n=8).message()["shape"]
    'uniform'
    """

    n: int = setting(12, integer_from(3, len(LETTERS)), "n", "items", range(3, 27), unit="items")
    shape: str = setting("uniform", one_of(SHAPES), "shape of the hidden tree", SHAPE_HELP, SHAPE_NAMES, name="shape")
    p: float = setting(
        1.0, number_from(0.6, 1), "p", "probability that an answer is right", [*P_VALUES, 1.0], unit="right answers"
    )
    delta: float = setting(
        0.05, number_from(0.001, 1, open_high=True), "δ", DELTA_HELP, DELTA_VALUES, unit="error probability"
    )
    seed: int = setting(0, integer_from(0), "seed", OTHER_TREE, range(20), unit="draw number")


@dataclass(frozen=True)
class Question:
    "One question of an insertion."

    pivot: int  # vertex
    items: tuple  # x_L, x_R, x
    answer: int  # position of the one left out
    truth: int  # what the right answer is


@dataclass(frozen=True)
class Insertion:
    "The insertion of one item."

    item: int  # its number
    vertices: tuple  # of the tree before, parents first: (vertex, left child, right child), −1 for none
    questions: tuple  # `Question`s
    shares: tuple  # of every vertex, in the order of `vertices`; one row more than questions; each adds up to 1
    sibling: int  # the vertex above which it was put


def drawn(tree):
    "The vertices for a record."
    return tuple((v, tree.left[v], tree.right[v]) for v in tree.below())


def noisy_insertion(order, x, oracle, truth, p, share):
    "One item through `bayesian_sibling`, as `bayesian_insertion_clustering` calls it."
    tree = order.tree
    vertices = drawn(tree)
    places = {int(v): at for at, v in enumerate(order.vertex)}
    rows, asked = [], []

    def look(weight):
        rows.append(tuple(float(weight[places[v]] / weight.sum()) for v, *_ in vertices))

    def ask(question):
        answers, items = oracle(question), tuple(question[0].tolist())
        asked.append(Question(_meeting(tree, *items[:2]), items, int(answers.item()), int(truth(question).item())))
        return answers

    at = run(bayesian_sibling(order, x, p / (1 - p), share / (len(order) - 1), look), ask)
    sibling = int(order.vertex[at])
    order.insert(at, x)
    return Insertion(x, vertices, tuple(asked), tuple(rows), sibling)


def _meeting(tree, a, b):
    "The lowest vertex above both."
    above = {a}
    while tree.parent[a] >= 0:
        a = tree.parent[a]
        above.add(a)
    while b not in above:
        b = tree.parent[b]
    return b


def exact_insertion(decisions, x, oracle):
    "One item through the remembered decisions of `insertion_clustering`."
    tree = decisions.tree
    place = decisions.first
    vertices = drawn(tree)
    path, steps, asked, rows = [], [], [], []

    def look():
        S = set(decisions.candidates(place))
        rows.append(tuple((v in S) / len(S) for v, *_ in vertices))

    look()
    while place >= 0:
        items = tree.question(place, x)
        answer = int(oracle(np.array([items])).item())
        asked.append(Question(place, items, answer, answer))
        path.append(place)
        steps.append(answer)
        place = decisions.next_pivot[answer][place]
        look()
    decisions.insert(path, steps, x)
    return Insertion(x, vertices, tuple(asked), tuple(rows), ~place)


def watch(settings):
    "A whole run, question by question."
    s = settings
    tree_stream, noise_stream, draw_stream = as_rng(s.seed).spawn(3)
    hidden = random_hierarchy(s.n, s.shape, tree_stream)
    truth = HierarchyOracle(hidden)
    tree = GrowingTree(s.n)
    if s.p == 1:
        decisions = DecisionTree(tree)
        decisions.insert([], [], 1)
        insertions = [exact_insertion(decisions, x, truth) for x in range(2, s.n)]
    else:
        *_, share, _ = check_noise(s.n, s.p, s.delta, tree)
        order = EulerTour(tree, draw_stream)
        oracle = Noisy(truth, s.p, noise_stream, wrong="same")
        order.insert(0, 1)
        insertions = [noisy_insertion(order, x, oracle, truth, s.p, share) for x in range(2, s.n)]
    return insertions, tree.dendrogram(), hidden


def step_data(settings: StepSettings) -> dict:
    """Compute the numbers of questions that the dashboard `step` shows at one setting.

    Parameters
    ----------
    settings : StepSettings
        The values of the controls.

    Returns
    -------
    dict
        questions of every item, wrong_answers, and whether the tree is right.

    Examples
    --------
    >>> from comparison_hc.dashboards import StepSettings, step_data
    >>> step_data(StepSettings(n=6))["right"]
    True
    """
    as_settings(settings, StepSettings)
    insertions, learned, hidden = watch(settings)
    return dict(
        questions=[len(each.questions) for each in insertions],
        wrong_answers=sum(q.answer != q.truth for each in insertions for q in each.questions),
        right=learned == hidden,
    )
