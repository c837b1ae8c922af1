"""An assignment on Perrot et al. (2020): planted groups found with few questions, and a leaderboard."""

from math import factorial

import numpy as np

from .checking import OverBudget, expect, expect_equal, packaged, ranking

assignment, part = packaged("few-triplets")
SIZES, DELTA = (50, 50, 50), 0.95
GOOD = 0.95  # adjusted Rand index, mean over draws


class Oracle:
    "Answers triplet questions about hidden groups: is i more like j than like r?"

    def __init__(self, similarity, budget):
        self._similarity, self._budget, self.used = similarity, budget, 0

    def __repr__(self):
        return f"Oracle({self.used} of {self._budget} questions used)"

    def __call__(self, questions):
        "Whether i is more like j than like r, row by row. Raises `OverBudget`; `ValueError` for what is no question."
        q = np.asarray(questions)
        if q.ndim != 2 or q.shape[1] != 3 or q.dtype.kind not in "iu":
            raise ValueError(f"questions are rows (i, j, r) of whole numbers; these have the shape {q.shape}")
        i, j, r = q.T
        if len(q) and (q.min() < 0 or q.max() >= len(self._similarity) or ((i == j) | (i == r) | (j == r)).any()):
            raise ValueError(f"a question names three different objects of 0..{len(self._similarity) - 1}")
        if self.used + len(q) > self._budget:
            raise OverBudget(f"{self.used} questions are used, {len(q)} more are too many: {self._budget} are allowed")
        self.used += len(q)
        return self._similarity[i, j] > self._similarity[i, r]


def draw(seed, sizes=SIZES):
    "Hidden groups: the planted model with δ = 0.95, objects in random order."
    import comparison_hc.flat as room

    rng = np.random.default_rng(seed)
    model = room.planted_partition(list(sizes), *room.gaussians(DELTA), rng=rng)
    order = rng.permutation(len(model.labels))
    return model.similarity[np.ix_(order, order)], model.labels[order]


def play(strategy, budget, seeds, sizes=SIZES, call="the function"):
    "A strategy on several draws. Raises `Wrong` for what are no labels."
    from comparison_hc.metrics import adjusted_rand_index

    n, k, scores, used = sum(sizes), len(sizes), [], []
    for seed in seeds:
        similarity, truth = draw(seed, sizes)
        ask = Oracle(similarity, budget)
        labels = labels_of(strategy(ask, n, k, budget), n, call)
        scores.append(adjusted_rand_index(truth, labels))
        used.append(ask.used)
    return float(np.mean(scores)), float(np.mean(used))


def labels_of(got, n, call):
    "Labels as small whole numbers, whatever they were."
    try:
        labels = np.asarray(got).ravel().tolist()
    except ValueError:
        labels = []
    expect(len(labels) == n, f"{call} gives {len(labels)} labels, but should give one for each of the {n} objects.")
    return np.unique(labels, return_inverse=True)[1]


def leaderboard(entries, seeds=range(100, 105)):
    "Strategies by the questions that they use; those with a mean adjusted Rand index of 0.95 or more come first."

    def one(entry, name):
        score, used = play(*entry, seeds, call=name)
        return score, round(used), ""

    return ranking(entries, one, "ARI", GOOD)


def random_triplets(n, m, seed):
    "m rows of three different objects."
    return np.argsort(np.random.default_rng(seed).random((m, n)), axis=1)[:, :3]


def check_adds3(function, rows, n, call):
    "Points of each pair, counted one answer at a time."
    want = np.zeros((n, n))
    for i, j, r in rows:
        for a, b, point in ((i, j, 1), (i, r, -1)):
            want[a, b] += point
            want[b, a] += point
    got = function([tuple(map(int, row)) for row in rows], n)
    expect_equal(got, want, call)


@part("1a")
def part_1a(answers):
    function = answers.function("adds3")
    check_adds3(function, [(0, 1, 2)], 3, "adds3([(0, 1, 2)], 3)")
    check_adds3(function, [(0, 1, 2), (1, 0, 2)], 3, "adds3([(0, 1, 2), (1, 0, 2)], 3)")
    check_adds3(function, random_triplets(6, 20, 0), 6, "adds3 of 20 random answers about 6 objects")


def check_groups(function, sizes, m, seed, least):
    "Groups from points."
    import comparison_hc.flat as room
    from comparison_hc.metrics import adjusted_rand_index

    similarity, truth = draw(seed, sizes)
    rows, n, k = random_triplets(sum(sizes), m, seed), sum(sizes), len(sizes)
    turned = np.where(Oracle(similarity, m)(rows)[:, None], rows, rows[:, [0, 2, 1]])
    call = f"groups(S, {k}) for AddS-3 of {m:,} answers about groups of {', '.join(map(str, sizes))}"
    labels = labels_of(function(room.adds3(turned, n).astype(float), k), n, call)
    expect(labels.max() < k, f"{call} makes {labels.max() + 1} groups, but should make at most {k}.")
    score = adjusted_rand_index(truth, labels)
    expect(score >= least, f"{call} reaches an adjusted Rand index of {score:.2f}, but should reach {least}.")


@part("1b")
def part_1b(answers):
    for sizes, m in (((15, 15), 3000), ((20, 20, 20), 5000)):
        check_groups(answers.function("groups"), sizes, m, 1, 0.9)


@part("2a")
def part_2a(answers):
    function = answers.function("passive")
    check_passive(function, SIZES, 3000, range(2), 0.9)


def check_passive(function, sizes, budget, seeds, least):
    "Passive answers, counted and grouped."
    strategy = lambda ask, n, k, b: function(ask, n, k, b, 7)
    score, used = play(strategy, budget, seeds, sizes, "passive")
    call = f"passive(ask, {sum(sizes)}, {len(sizes)}, {budget}, 7)"
    text = f"{call} asks {used:.0f} questions, but should ask most of the {budget} that it may ask."
    expect(used >= 0.8 * budget, text)
    text = f"{call} reaches an adjusted Rand index of {score:.2f} on average, but should reach {least} with so many."
    expect(score >= least, text)


@part("2b")
def part_2b(answers):
    budget = answers.value("passive_needs", (int, float, np.number), "a whole number of questions")
    expect(budget == budget // 1, f"`passive_needs` is {budget}, but should be a whole number of questions.")
    budget = int(budget)
    expect(100 <= budget <= 20_000, f"`passive_needs` is {budget:,}, but should be between 100 and 20,000.")
    function = answers.function("passive")
    strategy = lambda ask, n, k, b: function(ask, n, k, b, 11)
    at, half = (play(strategy, int(b), range(20, 26), call="passive")[0] for b in (budget, budget // 2))
    text = f"With {budget:,} questions your `passive` reaches {at:.2f} on six new draws; 0.92 is required."
    expect(at >= 0.92, text)
    text = f"With half of your {budget:,} questions, `passive` still reaches {half:.2f}: look for less."
    expect(half < 0.93, text)


def least_by_counting(sizes):
    "The logarithm of the number of partitions, rounded up, in whole numbers."
    count = factorial(sum(sizes))
    for size in sizes:
        count //= factorial(size)
    for size in set(sizes):
        count //= factorial(list(sizes).count(size))
    return (count - 1).bit_length()


@part("3a")
def part_3a(answers):
    least = answers.function("least_questions")
    for sizes in ([3], [1, 1], [2, 1], [2, 2], [2, 2, 2], [5, 3, 3], [6, 5, 4]):
        expect_equal(least(sizes), least_by_counting(sizes), f"least_questions({sizes})")


def check_few(function, budget, seeds, sizes, why):
    "The groups, within a budget."
    call = f"few_triplets(ask, {sum(sizes)}, {len(sizes)}, {budget})"
    score, used = play(function, budget, seeds, sizes, call)
    text = (
        f"{call} reaches an adjusted Rand index of {score:.3f} with {used:.0f} questions, on average over {len(seeds)}"
    )
    expect(score >= GOOD, f"{text} draws; it should reach {GOOD}. {why}")


@part("3b")
def part_3b(answers):
    why = "About 1,100 questions are enough if they are not random."
    check_few(answers.function("few_triplets"), 1500, range(40, 44), SIZES, why)
