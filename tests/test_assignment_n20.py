"The assignments on N20: right answers of several kinds pass, typical mistakes are told, points add up."

import numpy as np
import pytest
from assignments import every_assignment, said, solutions

NAMES = ["few-triplets", "forge-a-certificate"]
TestEvery = every_assignment(*NAMES)


FEW = "few-triplets"


def adds3_slow(triplets, n):
    "Over pairs and third objects, as printed; a list of lists."
    count = lambda *row: sum(tuple(t) == row for t in triplets)
    S = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for r in set(range(n)) - {i, j} if i != j else ():
                S[i][j] += count(i, j, r) - count(i, r, j) + count(j, i, r) - count(j, r, i)
    return S


def adds3_fast(triplets, n):
    i, j, r = np.transpose(triplets)
    S = np.zeros((n, n), int)
    np.add.at(S, (i, j), 1)
    np.subtract.at(S, (i, r), 1)
    return S + S.T


def adds3_one_entry(triplets, n):
    S = np.zeros((n, n))
    for i, j, r in triplets:
        S[i, j] += 1
        S[i, r] -= 1
    return S


def test_few_1a():
    assert said(FEW, "1a", adds3=adds3_slow) == said(FEW, "1a", adds3=adds3_fast) == ""
    assert "adds3([(0, 1, 2)], 3)[1, 0] is 0.0, but should be 1.0" in said(FEW, "1a", adds3=adds3_one_entry)
    wins = lambda triplets, n: np.maximum(adds3_fast(triplets, n), 0)
    assert "[0, 2] is 0, but should be -1.0" in said(FEW, "1a", adds3=wins)


def spectral(S, k, columns=slice(-1, None, -1)):
    "Groups by eigenvectors, chosen by a slice."
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=3, random_state=0).fit_predict(np.linalg.eigh(S)[1][:, columns])


def by_average_linkage(S, k):
    "Another method: rows of S that point the same way; names instead of numbers."
    from scipy.cluster.hierarchy import fcluster, linkage

    return [f"group {label}" for label in fcluster(linkage(S, "ward"), k, "maxclust")]


def test_few_1b():
    assert said(FEW, "1b", groups=lambda S, k: spectral(S, k, slice(-k, None))) == ""
    assert said(FEW, "1b", groups=by_average_linkage) == ""
    assert "but should reach 0.9" in said(FEW, "1b", groups=lambda S, k: spectral(S, k, slice(0, k)))
    assert "makes 30 groups, but should make at most 2" in said(FEW, "1b", groups=lambda S, k: range(len(S)))
    assert "gives 1 labels" in said(FEW, "1b", groups=lambda S, k: [0])


def passive(ask, n, k, budget, seed, turn=True):
    rng = np.random.default_rng(seed)
    rows = np.argsort(rng.random((budget, n)), axis=1)[:, :3]
    yes = np.asarray(ask(rows))
    turned = np.where(yes[:, None], rows, rows[:, [0, 2, 1]]) if turn else rows
    return spectral(adds3_fast(turned, n).astype(float), k, slice(-k, None))


def one_by_one(ask, n, k, budget, seed):
    "Objects drawn question by question, asked singly."
    rng, rows = np.random.default_rng(seed), []
    for _ in range(budget):
        i, j, r = rng.choice(n, 3, replace=False).tolist()
        rows.append((i, j, r) if ask([(i, j, r)])[0] else (i, r, j))
    return spectral(adds3_fast(rows, n).astype(float), k, slice(-k, None)).tolist()


def test_few_2a():
    assert said(FEW, "2a", passive=passive) == said(FEW, "2a", passive=one_by_one) == ""
    deaf = lambda *args: passive(*args, turn=False)
    assert "passive(ask, 150, 3, 3000, 7) reaches an adjusted Rand index of" in said(FEW, "2a", passive=deaf)
    greedy = lambda ask, n, k, budget, seed: passive(ask, n, k, budget + 1, seed)
    assert "OverBudget" in said(FEW, "2a", passive=greedy)
    idle = lambda ask, n, k, budget, seed: [0] * n
    assert "asks 0 questions" in said(FEW, "2a", passive=idle)


def test_few_2b():
    for right in (1800, np.int64(2200)):
        assert said(FEW, "2b", passive=passive, passive_needs=right) == ""
    assert "0.92 is required" in said(FEW, "2b", passive=passive, passive_needs=700)
    assert "look for less" in said(FEW, "2b", passive=passive, passive_needs=9000)
    assert "should be a whole number" in said(FEW, "2b", passive=passive, passive_needs="many")


def test_few_3a():
    from math import comb

    def step_by_step(sizes):
        left, number = sum(sizes), 1
        for place, size in enumerate(sizes):
            number = number * comb(left, size) // (1 + sizes[:place].count(size))
            left -= size
        return float(next(q for q in range(10**5) if 2**q >= number))

    source = solutions(FEW, "3a")["least_questions"]
    assert said(FEW, "3a", least_questions=step_by_step) == said(FEW, "3a", least_questions=source) == ""
    named = lambda sizes: step_by_step(list(sizes)) + (2 if len(set(sizes)) == 1 < len(sizes) else 0)
    assert "least_questions([1, 1]) gives 2.0, but should give 0" in said(FEW, "3a", least_questions=named)
    down = lambda sizes: step_by_step(sizes) - 1
    assert "least_questions([3]) gives -1.0, but should give 0" in said(FEW, "3a", least_questions=down)


def test_few_3b():
    names = solutions(FEW, "1a", "1b", "2a", "3b")
    assert said(FEW, "3b", few_triplets=names["few_triplets"]) == ""

    def core_of_30(ask, n, k, budget):
        "Another core, and five questions to a contest, all in one call."
        core = np.arange(30)
        labels = np.full(n, -1)
        labels[core] = passive(ask, 30, k, 650, 1)
        for i in range(30, n):
            best = 0
            for rival in range(1, k):
                pairs = list(zip(core[labels[core] == best], core[labels[core] == rival]))[:3]
                best = best if np.mean(ask([(i, j, r) for j, r in pairs])) > 0.5 else rival
            labels[i] = best
        return labels

    assert said(FEW, "3b", few_triplets=core_of_30) == ""
    tight = "few_triplets(ask, 150, 3, 1500) reaches an adjusted Rand index of"
    few = lambda ask, n, k, budget: passive(ask, n, k, budget // 2, 0)
    assert tight in said(FEW, "3b", few_triplets=few)
    assert "stopped with OverBudget" in said(FEW, "3b", few_triplets=lambda a, n, k, b: passive(a, n, k, 3000, 0))
    assert "ValueError: a question names three different objects" in said(
        FEW, "3b", few_triplets=lambda ask, n, k, budget: ask([(0, 0, 1)])
    )


def test_few_the_leaderboard_orders_by_questions():
    from comparison_hc.classroom.assignment_few_triplets import leaderboard

    def stub(ask, n, k, budget):
        raise NotImplementedError

    cheat = lambda ask, n, k, budget: ask(np.tile([0, 1, 2], (budget + 1, 1)))
    random = lambda ask, n, k, budget: passive(ask, n, k, budget, 0)
    entries = {"stub": (stub, 10), "dear": (random, 4000), "bad": (random, 400), "good": (random, 3000)}
    table = leaderboard({**entries, "cheat": (cheat, 10)}, seeds=[100])
    assert table["strategy"].tolist() == ["good", "dear", "bad", "stub", "cheat"]
    assert table["remark"][4] == "not written yet" and "too many" in table["remark"][5]


FORGE = "forge-a-certificate"


def test_forge_1a_and_1b():
    from comparison_hc.classroom.assignment_forge_a_certificate import usual_certificate

    names = solutions(FORGE, "1a", "1b")
    assert said(FORGE, "1a", certificate=names["certificate"]) == said(FORGE, "1b", audit=names["audit"]) == ""
    as_lists = lambda *args: [part.tolist() for part in usual_certificate(*args)]
    assert said(FORGE, "1a", certificate=as_lists) == ""

    def sign(S, labels, lam):
        alpha, gamma, slack = usual_certificate(S, labels, lam)
        return alpha, -gamma, slack

    assert "is off by" in said(FORGE, "1a", certificate=sign)
    assert "three things" in said(FORGE, "1a", certificate=lambda *args: usual_certificate(*args)[:2])
    assert "should give False" in said(FORGE, "1b", audit=lambda *args: True)
    assert "of a true certificate gives False" in said(FORGE, "1b", audit=lambda *args: False)


def test_forge_2a():
    right = solutions(FORGE, "2a")["bound"]

    def by_negative_eigenvalues(S, lam, alpha, Gamma):
        values = np.linalg.eigvalsh((alpha[:, None] + alpha) / 2 - S + lam * np.eye(len(S)) - Gamma)
        return np.sum(alpha) - values[values < 0].sum()  # no eigenvalue of X is above 1

    assert said(FORGE, "2a", bound=right) == said(FORGE, "2a", bound=by_negative_eigenvalues) == ""
    assert "no upper bound" in said(FORGE, "2a", bound=lambda S, lam, alpha, Gamma: alpha.sum())
    assert "already prove" in said(FORGE, "2a", bound=lambda *args: right(*args) + 1)


@pytest.mark.parametrize("solver", [True, False])
def test_forge_3a_and_3b(solver, monkeypatch):
    "Also where there is no general solver, as in a browser."
    if not solver:
        monkeypatch.setattr("comparison_hc.classroom.assignment_forge_a_certificate.find_spec", lambda name: None)
        monkeypatch.setattr("comparison_hc.flat.sdp_reference", None)
    names = solutions(FORGE, "1a", "3a", "3b")
    blind, rescue = names["blind_spot"], names["rescue"]
    assert said(FORGE, "3a", blind_spot=blind) == said(FORGE, "3b", blind_spot=blind, rescue=rescue) == ""
    larger = lambda n: (3 * blind(n)[0], ["ab"[label] for label in blind(n)[1]], 3.0)
    assert said(FORGE, "3a", blind_spot=larger) == ""
    dear = lambda n: (np.kron(np.eye(2), np.ones((n, n))), np.repeat([0, 1], n), 3.0 * n)
    assert "not optimal" in said(FORGE, "3a", blind_spot=dear)
    easy = lambda n: (dear(n)[0], dear(n)[1], 0.5 * n)
    assert "does not fail" in said(FORGE, "3a", blind_spot=easy)
    usual = lambda n: names["certificate"](*blind(n))
    assert "has the eigenvalue" in said(FORGE, "3b", blind_spot=blind, rescue=usual)
    assert "three things" in said(FORGE, "3b", blind_spot=blind, rescue=lambda n: 1)


def test_forge_4a():
    right = solutions(FORGE, "4a")["near_miss"]
    swapped = lambda gap: (right(gap)[0], np.zeros(8, int), 4 + gap / 2, right(gap)[1])
    below = lambda gap: (
        (np.kron(np.eye(3), np.ones((4, 4)))).tolist(),
        [0, 0, 1, 1] * 3,
        4,
        [0] * 4 + [1] * 4 + [2] * 4,
    )
    assert said(FORGE, "4a", near_miss=right) == ""
    scaled = lambda gap: (right(gap)[0] * 2, list("aaaabbbb"), 8 + gap, [7] * 8)
    assert said(FORGE, "4a", near_miss=scaled) == ""
    assert "there should be two or more" in said(FORGE, "4a", near_miss=swapped)
    assert "the gap is" in said(FORGE, "4a", near_miss=below)
    cheap = lambda gap: (*right(gap)[:2], 3.0, right(gap)[3])
    assert "it should be more than 0" in said(FORGE, "4a", near_miss=cheap)
