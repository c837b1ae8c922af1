"""Slow definitions, as the papers print them: what fast versions are compared with.

Answers are rows of object numbers: (i, j, k, l) says that i and j are more similar than k and l, (i, j, k) that i is
closer to j than to k. Scores are exact fractions, so a tie is a tie. Trees are lists of merges, each a set of two
frozensets of objects; `tied` says whether two links ever shared the highest score.
"""

from fractions import Fraction
from itertools import combinations, product

import numpy as np


def merges_of(tree):
    "The merges of a dendrogram."
    members = {node: frozenset(objects.tolist()) for node, objects in tree.clusters()}
    return [{members[a], members[b]} for a, b in tree.children.tolist()]


def clusters_of(tree):
    "The clusters of a dendrogram."
    return frozenset(frozenset(members.tolist()) for _, members in tree.clusters())


def agglomerate(clusters, score):
    "(merges, tied): merge the link of highest `score(clusters, p, q)`, the first of tied ones, and repeat."
    clusters, merges, tied = [frozenset(cluster) for cluster in clusters], [], False
    while len(clusters) > 1:
        scores = {link: score(clusters, *link) for link in combinations(range(len(clusters)), 2)}
        p, q = max(scores, key=scores.get)
        tied |= list(scores.values()).count(scores[p, q]) > 1
        merges.append({clusters[p], clusters[q]})
        clusters[p] = clusters[p] | clusters.pop(q)
    return merges, tied


def counted(keys, opposite):
    "{key: how often it was given minus how often its opposite was}."
    wins = {}
    for key in keys:
        wins[key] = wins.get(key, 0) + 1
        wins[opposite(key)] = wins.get(opposite(key), 0) - 1
    return wins


def quadruplet_wins(rows):
    "{(x, y): answers for pair x against pair y minus those for y}, pairs as frozensets."
    keys = [(frozenset(row[:2]), frozenset(row[2:] if len(row) == 4 else (row[0], row[2]))) for row in rows]
    return counted(keys, lambda key: key[::-1])


def triplet_wins(rows):
    "{(i, j, k): answers that i is closer to j than to k minus the reverse}."
    return counted([tuple(row) for row in rows], lambda key: (key[0], key[2], key[1]))


# ---- Ghoshdastidar et al. (2019)


def quadruplet_average_linkage(rows, n, initial=None):
    "4-AL, equations 4 and 5, algorithm 1."
    wins = quadruplet_wins(rows)

    def preference(G1, G2, G3, G4):
        net = sum(wins.get((frozenset((i, j)), frozenset((k, l))), 0) for i, j, k, l in product(G1, G2, G3, G4))
        return Fraction(net, len(G1) * len(G2) * len(G3) * len(G4))

    def score(clusters, p, q):
        links = [(R, S) for R, S in product(clusters, repeat=2) if R != S]
        return sum(preference(clusters[p], clusters[q], R, S) for R, S in links) / len(links)

    return agglomerate(initial or [[i] for i in range(n)], score)


def landmark_kernel(outcomes, n, rows, self_pairs=False):
    "Equations 1 to 3: Σ over (landmark r, reference y) of outcome(ir, y) · outcome(jr, y), r ≠ i, j."
    K = np.zeros((n, n), dtype=int)
    outcome = lambda i, r, y: 1 if i == r else outcomes.get((frozenset((i, r)), y), 0)
    for i, j in combinations(range(n), 2):
        K[i, j] = K[j, i] = sum(outcome(i, r, y) * outcome(j, r, y) for r, y in rows if self_pairs or r not in (i, j))
    return K


def pairs_of(n):
    return [frozenset(pair) for pair in combinations(range(n), 2)]


def quadruplet_kernel(rows, n, self_pairs=False):
    "The passive kernel, equation 9 of the appendix, of the majority's answers."
    outcomes = {key: int(np.sign(net)) for key, net in quadruplet_wins(rows).items()}
    return landmark_kernel(outcomes, n, list(product(range(n), pairs_of(n))), self_pairs)


def outcomes_of(w):
    "{(x, y): sign of w_x − w_y} of all pairs."
    value = {pair: w[tuple(pair)] for pair in pairs_of(len(w))}
    return {(x, y): int(np.sign(value[x] - value[y])) for x in value for y in value}


def kernel_average_linkage(K):
    "Average linkage on an integer kernel."

    def score(clusters, p, q):
        P, Q = clusters[p], clusters[q]
        return Fraction(sum(int(K[i][j]) for i, j in product(P, Q)), len(P) * len(Q))

    return agglomerate([[i] for i in range(len(K))], score)


# ---- triplets


def triplet_kernel(rows, n, self_pairs=False):
    "(counts, numbers of answers) of Kleindessner and von Luxburg (2017), of the majority's answers."
    rows = [tuple(row) for row in rows]
    if self_pairs:
        rows = [*rows, *((i, i, k) for i, k in product(range(n), repeat=2) if i != k)]
    wins = triplet_wins(rows)
    A = np.array([[np.sign(wins.get((i, j, k), 0)) for j, k in combinations(range(n), 2)] for i in range(n)], dtype=int)
    return A @ A.T * ~np.eye(n, dtype=bool), np.abs(A).sum(axis=1)


def triplet_average_linkage(rows, n, initial=None, sort=True):
    "3-AL: mean preference of both ends over all third clusters; then, if asked, the merges of nearest sides first."
    wins, initial = triplet_wins(rows), [frozenset(c) for c in initial or [[i] for i in range(n)]]

    def preference(P, Q, S):
        return Fraction(sum(wins.get(row, 0) for row in product(P, Q, S)), len(P) * len(Q) * len(S))

    def score(clusters, p, q):
        P, Q = clusters[p], clusters[q]
        return sum(preference(P, Q, S) + preference(Q, P, S) for S in clusters if S not in (P, Q)) + Fraction(0)

    def nearness(P, Q):
        net = sum(wins.get((i, j, k), 0) + wins.get((j, i, k), 0) for i, j, k in product(P, Q, range(n)))
        return Fraction(net, len(P) * len(Q))

    merges, tied = agglomerate(initial, score)
    there, ordered = set(initial), []
    while sort and merges:
        best = max((merge for merge in merges if merge <= there), key=lambda merge: nearness(*merge))
        ordered.append(best)
        merges.remove(best)
        there.add(frozenset.union(*best))
    return ordered if sort else merges, tied


# ---- refinement


def regraft(clusters, S, V):
    "The clusters of a tree after subtree S is pruned and regrafted above V."
    rest = {C - S for C in clusters if not C <= S}  # the parent of S becomes its sibling
    return frozenset({C for C in clusters if C <= S} | {C | S if V < C else C for C in rest} | {V | S})


def triplet_gain(clusters, rows, weights):
    "Weight of the answers that a tree keeps minus those it contradicts."
    size = lambda a, b: min(len(C) for C in clusters if {a, b} <= C)
    return sum(w * np.sign(size(i, k) - size(i, j)) for (i, j, k), w in zip(rows.tolist(), weights.tolist()))
