"""Settings of the page `step`, what is written down of a run, and the Bayesian search with a viewer."""

from dataclasses import dataclass

from ..adaptive.bayesian import bayesian_sibling
from ..adaptive.trees import SHAPES
from ..core.validation import integer_from, number_from, one_of
from .costs import DELTA_VALUES, P_VALUES, SHAPE_NAMES
from .framework import Settings, setting

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SHAPE_HELP = (
    "balanced: halves; split: random sizes; uniform: any tree with the same chance; caterpillar: one item at a time"
)
OTHER_TREE = "another hidden tree, other wrong answers"
DELTA_HELP = "probability with which the tree may be wrong; of no use where p = 1"


@dataclass(frozen=True)
class StepSettings(Settings):
    "What the controls say. Items are called A, B, C, …"

    n: int = setting(12, integer_from(3, len(LETTERS)), "n", "items", range(3, 27), unit="items")
    shape: str = setting(
        "uniform", one_of(SHAPES), "shape of the hidden tree", SHAPE_HELP, SHAPE_NAMES, name="shape", as_list=True
    )
    p: float = setting(
        1.0, number_from(0.6, 1), "p", "probability that an answer is right", [*P_VALUES, 1.0], unit="right answers"
    )
    delta: float = setting(
        0.05, number_from(0.001, 1, open_high=True), "δ", DELTA_HELP, DELTA_VALUES, unit="risk of the tree"
    )
    seed: int = setting(0, integer_from(0), "seed", OTHER_TREE, range(20), unit="which draw")


@dataclass(frozen=True)
class Question:
    "One question of an insertion."

    pivot: int  # vertex
    items: tuple  # x_L, x_R, x
    answer: int  # position of the one left out
    truth: int  # what the right answer is


@dataclass(frozen=True)
class Insertion:
    "How one item found its place."

    item: int  # its number
    vertices: tuple  # of the tree it met, parents first: (vertex, left child, right child), −1 for none
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

    search = bayesian_sibling(order, x, p / (1 - p), share / (len(order) - 1), look)
    answers = None
    while True:
        try:
            question = search.send(answers)
        except StopIteration as end:
            at = end.value
            break
        answers = oracle(question)
        items = tuple(question[0].tolist())
        asked.append(Question(_meeting(tree, *items[:2]), items, int(answers.item()), int(truth(question).item())))
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
