"""An assignment on Ghoshdastidar et al. (2019): a kernel from its definition, and as matrix products."""

import numpy as np

from .checking import expect, expect_equal, guarded, packaged

assignment, part = packaged("hundred-times-faster")


def drawn_answers(n, share, seed):
    "Answers about a random symmetric matrix, each question at most once, as an (m, 4) array of integers."
    import comparison_hc.oracles as oracles

    w = np.random.default_rng(seed).normal(size=(n, n))
    return np.array(oracles.sample_quadruplets(w + w.T, share, seed).array)


def true_kernel(answers, n):
    "The kernel of the package."
    import comparison_hc.hierarchical as room
    from comparison_hc.comparisons import Quadruplets

    return room.kernel_passive(Quadruplets(answers, n_objects=n))


def check_kernel(kernel, n, share, seeds, name):
    "The student's kernel of drawn answers is the package's."
    for seed in seeds:
        answers = drawn_answers(n, share, seed)
        call = f"{name}(answers, {n}) for {len(answers):,} answers (seed {seed})"
        expect_equal(kernel(answers.copy(), n), true_kernel(answers, n), call, tol=1e-6)


EXAMPLE = np.array([[0, 1, 1, 2], [0, 2, 1, 2], [0, 1, 2, 3], [0, 2, 2, 3], [1, 2, 2, 3]])


@part("1a")
def part_1a(answers):
    kernel = answers.function("kernel_by_definition")
    text = "kernel_by_definition(EXAMPLE, 4), with EXAMPLE as in the text,"
    expect_equal(kernel(EXAMPLE.copy(), 4), true_kernel(EXAMPLE, 4), text, tol=1e-6)
    check_kernel(kernel, 6, 0.3, range(3), "kernel_by_definition")


def landmark_part(answers, n, r):
    "(n, n): Σ over pairs of the products of votes of {i, r} and {j, r}, by the definition; zero in row and column r."
    votes = {}
    for i, j, k, l in answers.tolist():
        x, y = tuple(sorted((i, j))), tuple(sorted((k, l)))
        votes[x, y], votes[y, x] = 1, -1
    pairs = [(k, l) for l in range(n) for k in range(l)]
    rows = np.array([[votes.get((tuple(sorted((i, r))), p), 0) for p in pairs] for i in range(n)])
    return rows @ rows.T


@part("1b")
def part_1b(answers):
    matrix = answers.function("landmark_matrix")
    for n, share, seed in ((4, 0.6, 0), (7, 0.3, 1)):
        given = drawn_answers(n, share, seed)
        for r in (0, n - 1):
            got = matrix(given.copy(), n, r)
            call = f"landmark_matrix(answers, {n}, {r})"
            check_gram(got, landmark_part(given, n, r), n, call)


def check_gram(got, want, n, call):
    "Rows are objects, columns are pairs in any order, and the products of rows are right."
    try:
        got = np.asarray(got, float)
    except (ValueError, TypeError):
        expect(False, f"{call} should give an array of numbers.")
    pairs = n * (n - 1) // 2
    expect(
        got.shape == (n, pairs), f"{call} has the shape {got.shape}, but should have ({n}, {pairs}): objects, pairs."
    )
    expect(np.isin(got, (-1, 0, 1)).all(), f"{call} holds votes: −1, 0 or +1, and nothing else.")
    expect_equal(got @ got.T, want, f"the product of {call} with its transpose", tol=1e-6)


@part("2a")
def part_2a(answers):
    kernel = answers.function("kernel_fast")
    check_kernel(kernel, 6, 0.3, range(3), "kernel_fast")
    check_kernel(kernel, 20, 0.2, (7,), "kernel_fast")


def mutants():
    "Kernels with a mistake."

    def with_diagonal(answers, n):
        K = np.array(true_kernel(answers, n))
        np.fill_diagonal(K, n)
        return K

    def one_way(answers, n):
        "Only the answers that begin with a pair that has the smaller numbers."
        return true_kernel(answers[answers[:, 0] + answers[:, 1] <= answers[:, 2] + answers[:, 3]], n)

    def no_last(answers, n):
        return true_kernel(answers[:-1], n)

    def absolute(answers, n):
        return abs(np.array(true_kernel(answers, n)))

    return {
        "a diagonal that is not zero": with_diagonal,
        "half of the answers ignored": one_way,
        "the last answer forgotten": no_last,
        "signs lost": absolute,
    }


@part("3a")
def part_3a(answers):
    test = answers.function("is_right")
    verdict = test(true_kernel)
    expect(isinstance(verdict, (bool, np.bool_)), f"is_right(kernel) gives {verdict!r}, but should give True or False.")
    expect(verdict, "is_right says False of a kernel that is right.")
    expect_all_caught(test, ("a diagonal that is not zero", "half of the answers ignored"))


def expect_all_caught(test, names):
    "The student's test says no to these mutants."
    for name in names:
        verdict = guarded(test, f"is_right(a kernel with {name})", mutants()[name])
        expect(not verdict, f"is_right says True of a kernel with a mistake: {name}.")
