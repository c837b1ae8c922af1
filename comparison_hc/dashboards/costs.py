"""The page `step`: bounds, and stored runs of four algorithms, for the chart beside the tree."""

from functools import lru_cache
from math import comb, log2

from ..adaptive.bayesian import bayesian_insertion_clustering
from ..adaptive.insertion import insertion_clustering
from ..adaptive.noisy import robust_insertion_clustering
from ..adaptive.quick import quick_clustering
from ..adaptive.trees import random_hierarchy
from ..oracles import Counting, HierarchyOracle, Noisy, run
from ..theory.a18_noisy import question_bound
from ..theory.a18_quick import QUICK_CONSTANT
from ..theory.a18_trees import log3_hierarchies

SHAPE_NAMES = ("balanced", "split", "uniform", "caterpillar")
EXACT_N = [4 << k for k in range(9)]
NOISY_N = [4 << k for k in range(5)]
P_VALUES = [0.7, 0.8, 0.9, 0.95]
DELTA_VALUES = [0.01, 0.05, 0.2]


def questions(algorithm, n, shape, p, delta, seed):
    "How many questions one run asks. Wrong answers to a question are always the same."
    answer = HierarchyOracle(random_hierarchy(n, shape, seed))
    oracle = Counting(answer if p == 1 else Noisy(answer, p, seed, wrong="same"))
    learners = {
        "insertion": lambda: insertion_clustering(n),
        "quick": lambda: quick_clustering(n, seed),
        "robust": lambda: robust_insertion_clustering(n, p, delta, seed),
        "bayesian": lambda: bayesian_insertion_clustering(n, p, delta, seed),
    }
    run(learners[algorithm](), oracle)
    return oracle.n_queries


_RUNS = """
insertion:
  balanced     3 12 37 98 257 598 1450 3357 7619
  split        3 12 38 94 247 608 1430 3281 7365
  uniform      3 11 37 100 259 623 1467 3358 7600
  caterpillar  3 15 42 115 298 733 1715 3943 8896
quick:
  balanced     2 10 33 99 248 635 1428 3423 7992
  split        3 12 32 103 286 689 1480 3729 8230
  uniform      3 12 40 124 309 731 1774 3971 9457
  caterpillar  2 13 44 127 346 834 2116 5243 11216
bayesian 0.7 0.01:
  balanced     43 222 614 1561 3721
  split        66 236 687 1655 3923
  uniform      47 260 701 1793 4162
  caterpillar  39 271 802 2016 5023
bayesian 0.7 0.05:
  balanced     33 181 518 1378 3364
  split        52 191 580 1497 3588
  uniform      39 211 600 1634 3765
  caterpillar  32 241 685 1808 4490
bayesian 0.7 0.2:
  balanced     27 149 459 1245 3068
  split        35 170 501 1325 3259
  uniform      30 176 515 1484 3457
  caterpillar  26 208 553 1648 4046
bayesian 0.8 0.01:
  balanced     19 88 275 669 1683
  split        24 94 298 708 1793
  uniform      22 107 308 804 1913
  caterpillar  18 119 340 931 2266
bayesian 0.8 0.05:
  balanced     17 77 251 586 1537
  split        21 82 277 638 1651
  uniform      18 84 278 721 1758
  caterpillar  17 105 307 839 2071
bayesian 0.8 0.2:
  balanced     15 64 227 532 1417
  split        17 71 244 570 1514
  uniform      16 73 246 637 1613
  caterpillar  15 82 271 735 1909
bayesian 0.9 0.01:
  balanced     11 44 135 349 875
  split        14 47 153 365 924
  uniform      13 49 156 417 993
  caterpillar  11 55 180 486 1222
bayesian 0.9 0.05:
  balanced     9 38 121 318 798
  split        11 40 134 338 852
  uniform      10 41 135 377 906
  caterpillar  9 47 163 436 1114
bayesian 0.9 0.2:
  balanced     6 33 108 290 739
  split        9 37 119 307 791
  uniform      9 36 122 347 833
  caterpillar  8 41 142 398 1016
bayesian 0.95 0.01:
  balanced     7 33 95 260 631
  split        9 34 105 272 658
  uniform      8 35 109 307 707
  caterpillar  7 41 129 354 868
bayesian 0.95 0.05:
  balanced     6 27 85 238 588
  split        8 30 99 248 611
  uniform      7 30 99 276 659
  caterpillar  6 35 116 325 809
bayesian 0.95 0.2:
  balanced     5 25 76 221 547
  split        6 27 84 231 569
  uniform      6 27 88 256 605
  caterpillar  5 32 102 302 745
robust 0.7 0.01:
  balanced     179 3057 25494 68702 159819
  split        167 5849 23717 71073 172579
  uniform      753 5829 25093 81288 191877
  caterpillar  167 5647 22889 86594 216437
robust 0.7 0.05:
  balanced     171 3162 19820 54912 132683
  split        143 5037 19460 56559 146412
  uniform      261 3973 21152 67005 159340
  caterpillar  143 4352 19427 71513 180328
robust 0.7 0.2:
  balanced     155 2583 16062 42515 111421
  split        146 3767 14903 43843 120115
  uniform      125 2710 15273 52934 132775
  caterpillar  146 2992 14775 57660 151209
robust 0.8 0.01:
  balanced     104 1142 6630 16424 38960
  split        71 1652 5907 16800 42852
  uniform      240 1390 6591 20862 46819
  caterpillar  71 1725 6336 22332 54199
robust 0.8 0.05:
  balanced     96 852 4951 12716 32955
  split        62 1299 4786 13238 34408
  uniform      135 1428 5461 15916 38796
  caterpillar  62 1443 5427 17797 45686
robust 0.8 0.2:
  balanced     92 661 3851 10654 26819
  split        59 1012 3903 10785 28480
  uniform      177 1181 4503 13068 31603
  caterpillar  59 1115 4511 14670 37574
robust 0.9 0.01:
  balanced     112 1081 3087 8158 19030
  split        47 1014 3051 7865 21108
  uniform      114 1068 3602 9775 22159
  caterpillar  47 1419 4013 11346 27502
robust 0.9 0.05:
  balanced     40 903 2595 6558 15944
  split        113 775 2660 6440 17605
  uniform      142 835 2814 8290 19378
  caterpillar  113 1080 3082 9341 23066
robust 0.9 0.2:
  balanced     84 641 1900 5373 12862
  split        40 597 2146 5211 14043
  uniform      126 593 2145 6582 15107
  caterpillar  40 789 2312 7598 18623
robust 0.95 0.01:
  balanced     108 830 2173 5636 14285
  split        109 714 2280 5324 14204
  uniform      248 749 2311 6768 16178
  caterpillar  109 935 2489 7317 18309
robust 0.95 0.05:
  balanced     106 690 1697 4282 11851
  split        78 543 1780 4048 11882
  uniform      151 626 1938 5117 13554
  caterpillar  78 780 2019 5752 15273
robust 0.95 0.2:
  balanced     97 465 1375 3689 8601
  split        39 433 1424 3562 8685
  uniform      96 452 1517 4569 9872
  caterpillar  39 580 1569 5147 11346
"""


def _read_runs(text):
    "{(algorithm, p, δ): a list of numbers for each shape}."
    found = {}
    for line in text.strip().splitlines():
        words = line.rstrip(":").split()
        if line.endswith(":"):
            rows = found.setdefault(tuple(words), [])
        else:
            rows.append([int(word) for word in words[1:]])
    return found


RUNS = _read_runs(_RUNS)


def stored_questions(algorithm, shape, p=1.0, delta=None):
    "What was measured."
    exact = p == 1 or algorithm in ("insertion", "quick")
    found = RUNS.get((algorithm,) if exact else (algorithm, f"{p:g}", f"{delta:g}"))
    return found[SHAPE_NAMES.index(shape)] if found else []


@lru_cache
def _robust_bounds(p, delta):
    return [question_bound(n, p, delta, printed=False) for n in NOISY_N]


def chart_lines(shape, p, delta):
    "Everything that the chart shows: bounds and runs."
    n = EXACT_N
    bounds = {
        "all triplets, C(n, 3)": [comb(m, 3) for m in n],
        "all pairs, C(n, 2)": [comb(m, 2) for m in n],
        "theorem 4.3: n log₂ n, insertion at most": [m * log2(m) for m in n],
        "log₃ (2n−3)!!, anyone at least": log3_hierarchies(n).tolist(),
        "theorem 3.2: 469 n log₂ n, quick clustering on average": [QUICK_CONSTANT * m * log2(m) for m in n],
        "theorem 5.1: robust insertion at most": _robust_bounds(p, delta) if p < 1 else [],
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
