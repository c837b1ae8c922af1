"Oracles, the protocol, the journal (with processes that are really killed) and passive samples."

import os
import random
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import refusals, similarities

from comparison_hc import oracles
from comparison_hc.comparisons import n_quadruplet_questions, n_triplet_questions
from comparison_hc.core import sampling
from comparison_hc.core.queries import check_answers, check_queries
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram, random_tree
from comparison_hc.oracles import (
    Budget,
    BudgetExhausted,
    Counting,
    HierarchyOracle,
    Journal,
    JournalError,
    Noisy,
    SimilarityOracle,
    most_similar_pair,
    run,
    sample_quadruplets,
    sample_triplets,
)

properties = settings(deadline=None, derandomize=True, max_examples=60)


def random_questions(n, m, width, seed):
    "Legal questions about n objects."
    rng = np.random.default_rng(seed)
    rows = [
        rng.permutation(n)[:width] if width == 3 or rng.random() < 0.5 else rng.permutation(n)[[0, 1, 0, 2]]
        for _ in range(m)
    ]
    return np.array(rows).reshape(-1, width)


def adaptive(n_objects, n_rounds):
    "An algorithm whose every question, of both kinds, and whose result hang on every answer before."
    state = 1
    for _ in range(n_rounds):
        queries = random_questions(n_objects, 1 + state % 7, 3 + state // 7 % 2, state)
        answers = yield queries
        assert len(answers) == len(queries)
        state = zlib.crc32(answers.tobytes(), state)
    return state


class Recording:
    "An oracle that remembers what it was asked."

    def __init__(self, oracle):
        self.oracle, self.asked = oracle, []

    def __call__(self, queries):
        self.asked += queries.tolist()
        return self.oracle(queries)


# What oracles know


def three_by_hand(key, i, j, k):
    "Which of three is left out, given how alike two are: plain Python."
    alike = [key(j, k), key(i, k), key(i, j)]
    return alike.index(max(alike)) if alike.count(max(alike)) == 1 else -1


@properties
@given(st.integers(4, 9), st.integers(0, 10**6), st.sampled_from([None, 2, 5]))
def test_similarity_oracle_is_its_definition(n, seed, levels):
    w = similarities(n, seed, levels)
    q3, q4 = random_questions(n, 20, 3, seed), random_questions(n, 20, 4, seed)
    a3, a4 = SimilarityOracle(w)(q3), SimilarityOracle(w)(q4)
    assert (a3.dtype, a4.dtype) == (np.int8, bool)
    assert a3.tolist() == [three_by_hand(lambda a, b: w[a, b], *row) for row in q3]
    assert a4.tolist() == [bool(w[i, j] > w[k, l]) for i, j, k, l in q4]


@pytest.mark.parametrize("kind", [np.uint8, np.uint64, np.int16, np.int64])
@pytest.mark.parametrize("width", [3, 4])
def test_questions_in_any_integer_type_and_memory_order_get_the_same_answers(kind, width):
    "200 objects: numbers of entries do not fit into the 8 or 16 bits that the objects fit into."
    rng, w = np.random.default_rng(0), similarities(200, 0)
    questions = np.array([rng.permutation(200)[:width] for _ in range(300)])
    closer = lambda a, b: w[a] > w[b]
    if width == 4:
        expected = [closer((i, j), (k, l)) for i, j, k, l in questions.tolist()]
    else:
        expected = [max(range(3), key=lambda r: w[tuple(np.delete(row, r))]) for row in questions]
    for oracle in (
        SimilarityOracle(w),
        SimilarityOracle(np.asfortranarray(w)),
        SimilarityOracle(np.kron(w, np.ones((2, 2)))[::2, ::2]),
    ):
        for order in "CF":
            asked = questions.astype(kind, order=order)
            assert oracle(asked).tolist() == expected and oracle(asked[:100]).tolist() == expected[:100]  # many, few


@properties
@given(st.integers(1, 12), st.integers(0, 3), st.integers(0, 10**6))
def test_hierarchy_oracle_agrees_with_the_table_of_merges(n_leaves, extra, seed):
    rng = np.random.default_rng(seed)
    n = n_leaves + extra
    owner = np.concatenate([np.arange(n_leaves), rng.integers(n_leaves, size=extra)])
    members = rng.permutation(n)
    tree = Dendrogram.from_merges(
        random_tree(n_leaves, seed).children, initial_clusters=[members[owner == leaf] for leaf in range(n_leaves)]
    )
    oracle, step = HierarchyOracle(tree), tree.lca_step()
    i, j = np.indices((n, n)).reshape(2, -1)
    assert np.array_equal(oracle.lca_step(i, j), step.ravel())
    if n < 4:
        return
    q3, q4 = random_questions(n, 20, 3, seed), random_questions(n, 20, 4, seed)
    assert oracle(q3).tolist() == [three_by_hand(lambda a, b: -step[a, b], *row) for row in q3]
    assert oracle(q4).tolist() == [bool(step[i, j] < step[k, l]) for i, j, k, l in q4]


def test_objects_of_one_initial_cluster_cannot_be_told_apart():
    oracle = HierarchyOracle(Dendrogram.from_merges([(0, 1)], initial_clusters=[[0, 2, 4], [1, 3]]))
    assert oracle([[0, 2, 4], [0, 1, 3], [0, 2, 3]]).tolist() == [-1, 0, 2]
    assert oracle([[0, 2, 1, 3], [0, 2, 0, 1]]).tolist() == [False, True]
    assert HierarchyOracle(Dendrogram.from_linkage(np.empty((0, 4)), initial_clusters=[[0, 1, 2]]))(
        [[2, 0, 1]]
    ).tolist() == [-1]


def test_a_chain_of_100_000_leaves():
    n = 100_000
    oracle = HierarchyOracle(
        Dendrogram.from_merges(np.column_stack([np.r_[0, np.arange(n, 2 * n - 2)], np.arange(1, n)]))
    )
    i, j = np.random.default_rng(0).integers(n, size=(2, 100_000))
    assert np.array_equal(oracle.lca_step(i, j), np.where(i == j, 0, np.maximum(i, j)))


# The protocol


@pytest.mark.parametrize(
    "word, bad",
    [
        ("shape", ([[0, 1]], [0, 1, 2], [[0, 1], [2]], "abc", None)),
        ("integer", ([[0, 1, 2.5]], [[0, True, 2.0]])),
        ("question 1 ", ([[0, 1, 2], [0, 1, 1]],)),
        ("at least 0", ([[-1, 0, 1]],)),
        ("different", ([[0, 0, 1, 2]], [[0, 1, 2, 2]], [[0, 1, 1, 0]], [[0, 1, 0, 1]])),
        ("n_objects = 4", ([[0, 1, 9]],)),
    ],
)
def test_bad_questions_are_named(word, bad):
    for queries in bad:
        with pytest.raises(InputError, match=f"queries.*{word}|{word}.*queries"):
            check_queries(queries, 4)
        with pytest.raises(InputError):
            SimilarityOracle(similarities(4, 0))(queries)


NO_ANSWERS = {3: (3, -2, True, None, 0.5, "0", float("nan")), 4: (2, -1, None, "True", 0.5)}


@pytest.mark.parametrize("width, answer", [(width, bad) for width, each in NO_ANSWERS.items() for bad in each])
def test_an_answer_outside_the_question_is_named_with_it(width, answer):
    queries = np.arange(5 * width).reshape(5, width)
    answers, at = [0, 0, answer, 0, 0], 2

    def algorithm():
        yield queries

    with pytest.raises(InputError) as error:
        run(algorithm(), lambda q: answers)
    assert f"question {at}, {tuple(queries[at].tolist())}," in str(error.value)


@pytest.mark.parametrize("answers", [[0], 0, [[0, 0]], [0, 0, 0], None])
def test_as_many_answers_as_questions(answers):
    with pytest.raises(InputError, match=r"answers must be of shape \(2,\)"):
        check_answers(np.array([[0, 1, 2], [3, 4, 5]]), answers)


def test_run_needs_a_generator_and_an_oracle():
    with pytest.raises(InputError, match="algorithm"):
        run(most_similar_pair, SimilarityOracle(similarities(4, 0)))
    with pytest.raises(InputError, match="oracle"):
        run(most_similar_pair(4), similarities(4, 0))
    with pytest.raises(InputError, match="oracle"):
        Counting(3)


def test_empty_batches_and_no_batch_at_all():
    def nothing():
        answers = yield np.empty((0, 3), dtype=int)
        return answers.dtype

    assert run(nothing(), SimilarityOracle(similarities(4, 0))) == np.int8
    assert run((x for x in ()), SimilarityOracle(similarities(4, 0))) is None


def test_progress_and_the_algorithm_is_closed_when_the_oracle_fails():
    seen, closed = [], []
    run(most_similar_pair(4), SimilarityOracle(similarities(4, 0)), progress=seen.append)
    assert seen == [3, 4, 5]

    def algorithm():
        try:
            yield np.array([[0, 1, 2]])
        finally:
            closed.append(True)

    def broken(queries):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(algorithm(), broken)
    assert closed


@properties
@given(st.integers(2, 9), st.integers(0, 10**6), st.sampled_from([1, 3]))
def test_tournament_finds_the_most_similar_pair(n, seed, votes):
    w = similarities(n, seed)
    counting = Counting(SimilarityOracle(w))
    i, j = run(most_similar_pair(n, votes), counting)
    pairs = n * (n - 1) // 2
    assert w[i, j] == w[np.triu_indices(n, 1)].max()
    assert (counting.n_queries, counting.n_batches) == (votes * (pairs - 1), int(np.ceil(np.log2(pairs))))


# Wrappers


def test_budget_is_all_or_nothing_for_a_batch():
    inner = Counting(SimilarityOracle(similarities(5, 0)))
    budget = Budget(inner, 5)
    budget([[0, 1, 2]] * 3)
    with pytest.raises(BudgetExhausted) as error:
        budget([[0, 1, 2]] * 3)
    assert (error.value.budget, error.value.asked, error.value.left) == (5, 3, 2) and inner.n_queries == 3
    budget([[0, 1, 2]] * 2)
    with pytest.raises(BudgetExhausted):
        budget([[0, 1, 2]])


def test_a_spent_budget_reaches_the_algorithm_first():
    def careful():
        n = 0
        try:
            while True:
                n += len((yield np.array([[0, 1, 2]] * 2)))
        except BudgetExhausted:
            n += len((yield np.array([[0, 1, 2]])))  # a smaller batch still fits
        return n

    assert run(careful(), Budget(SimilarityOracle(similarities(3, 0)), 7)) == 7
    with pytest.raises(BudgetExhausted, match="budget of 4"):
        run(most_similar_pair(5), Budget(SimilarityOracle(similarities(5, 0)), 4))


@pytest.mark.parametrize("p", [0, 0.3, 0.8, 1])
def test_noise_has_the_stated_rate_and_spreads_evenly(p):
    w = np.array([[0, 9, 2], [9, 0, 2], [2, 2, 0.0]])
    m = 40_000
    shares = np.bincount(Noisy(SimilarityOracle(w), p, 0)(np.tile([[0, 1, 2]], (m, 1))), minlength=3) / m
    assert np.abs(shares - [(1 - p) / 2, (1 - p) / 2, p]).max() <= 5 * np.sqrt(0.25 / m)
    for question, truth in (([0, 1, 0, 2], 1), ([0, 2, 0, 1], 0)):
        right = (Noisy(SimilarityOracle(w), p, 1)(np.tile([question], (m, 1))) == truth).mean()
        assert abs(right - p) <= 5 * np.sqrt(0.25 / m)
        if p in (0, 1):
            assert right == p


def test_no_answer_stays_no_answer_but_uses_its_random_number():
    flat = SimilarityOracle(np.ones((4, 4)))
    assert (Noisy(flat, 0, 0)([[0, 1, 2]] * 50) == -1).all()
    one, two = Noisy(SimilarityOracle(similarities(4, 0)), 0.5, 3), Noisy(SimilarityOracle(similarities(4, 0)), 0.5, 3)
    one.oracle, keep = flat, one.oracle
    one([[0, 1, 2]] * 17)
    two.skip(np.array([[0, 1, 2]] * 17))
    one.oracle = keep
    assert np.array_equal(one([[0, 1, 2]] * 50), two([[0, 1, 2]] * 50))


@properties
@given(st.integers(0, 10**6), st.integers(0, 30), st.sampled_from([3, 4]))
def test_noise_does_not_depend_on_the_batches(seed, cut, width):
    q, w = random_questions(6, 30, width, seed), similarities(6, seed)
    whole, parts = (Noisy(SimilarityOracle(w), 0.6, seed) for _ in range(2))
    assert np.array_equal(whole(q), np.concatenate([parts(q[:cut]), parts(q[cut:])]))


FOUR = SimilarityOracle(similarities(4, 0))
test_bad_budgets_are_named = refusals(("n must", lambda n: Budget(FOUR, n), -1, 2.5))


def test_wrappers_pass_the_number_of_objects_on():
    assert Counting(Budget(Noisy(SimilarityOracle(similarities(4, 0)), 0.9, 0), 3)).n_objects == 4
    assert Counting(lambda q: np.zeros(len(q), int)).n_objects is None


# The journal


def noisy():
    return Noisy(SimilarityOracle(similarities(9, 0)), 0.7, rng=4)


@pytest.fixture
def finished(tmp_path):
    "(path, result, questions) of a run that nobody interrupted."
    path, recording = tmp_path / "finished.jsonl", Recording(noisy())
    return path, run(adaptive(9, 25), Journal(recording, path)), recording.asked


def test_another_run_is_stopped_at_the_line_where_it_departs(finished):
    path, _, questions = finished
    before = path.read_bytes()
    with pytest.raises(JournalError, match=rf"line 2: .*{questions[0][0]}, .*got \(0, 1, 0, 2\)"):
        run(most_similar_pair(9), Journal(noisy(), path))
    assert path.read_bytes() == before

    def departs():
        for question in questions[:5]:
            yield np.array([question])
        yield np.array([[8, 7, 6]])

    with pytest.raises(JournalError, match="line 7"):
        run(departs(), Journal(noisy(), path))
    assert path.read_bytes() == before


def test_replayed_questions_count_and_cost(finished):
    path, result, questions = finished
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join(lines[:11]) + b"\n")
    counting = Counting(noisy())
    run(adaptive(9, 25), Journal(counting, path))
    assert (counting.n_queries, counting.n_skipped) == (len(questions), 10)
    with pytest.raises(BudgetExhausted):
        run(adaptive(9, 25), Journal(Budget(noisy(), 8), path))
    assert run(adaptive(9, 25), Journal(Budget(noisy(), len(questions)), path)) == result


def test_bad_places_for_a_journal(tmp_path):
    with pytest.raises(InputError, match="journals"):
        Journal(Counting(Journal(noisy(), tmp_path / "j")), tmp_path / "k")
    with pytest.raises(InputError, match="kind"):
        Journal(noisy(), tmp_path / "l", kind=3)


def test_a_run_frees_the_file(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "j"

    def broken(queries):
        raise KeyboardInterrupt

    held = []
    for _ in range(2):  # a journal that somebody still holds does not lock the next one out
        held.append(Journal(broken, path))
        with pytest.raises(KeyboardInterrupt):
            run(adaptive(9, 25), held[-1])
    journal = Journal(noisy(), path)
    run(adaptive(9, 3), journal)
    assert Journal(noisy(), path).n_recorded == journal.n_recorded > 0


def test_a_closed_journal_goes_on_where_it_was(tmp_path):
    journal = Journal(noisy(), tmp_path / "j")
    first = journal([[0, 1, 2]])
    journal.close()
    second = journal([[3, 4, 5]])
    journal.close()
    assert journal.n_recorded == 2 and np.array_equal(np.concatenate([first, second]), noisy()([[0, 1, 2], [3, 4, 5]]))
    (tmp_path / "j").write_bytes(b"")
    with pytest.raises(JournalError, match="shortened"):
        journal([[0, 1, 2]])


def test_an_illegal_answer_is_not_written(tmp_path):
    answers = iter([1, 7])
    with pytest.raises(InputError, match="got 7"):
        Journal(lambda q: [next(answers)], tmp_path / "j")([[0, 1, 2], [3, 4, 5]])
    assert len((tmp_path / "j").read_bytes().splitlines()) == 2


WORKER = """
import os, random, sys, time
import numpy as np
sys.path.insert(0, {tests!r})
from test_oracles import Journal, Noisy, SimilarityOracle, adaptive, run, similarities
journal, asks, result = sys.argv[1:]
side = os.open(asks, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

class Person:
    "Writes down that it was asked, thinks, answers."
    def __call__(self, queries):
        os.write(side, (str(queries.tolist()) + "\\n").encode())
        time.sleep(random.expovariate(1000))
        return SimilarityOracle(similarities(9, 0))(queries)

print("ready", flush=True)
outcome = run(adaptive(9, 60), Journal(Noisy(Person(), .7, rng=4), journal))
with open(result, "w") as file: file.write(str(outcome))
"""


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_killed_at_random_moments(tmp_path):
    """What is guaranteed: a question whose answer is in the file is never asked again.

    An answer can only be lost between its being given and its line being written, so a kill costs at most one question.
    The result and the journal are those of a run without a break.
    """
    recording, chance = Recording(noisy()), random.Random(20)
    expected = run(adaptive(9, 60), Journal(recording, tmp_path / "unbroken"))
    truth = [str([question]) for question in recording.asked]
    journal, asks, result = tmp_path / "journal", tmp_path / "asks", tmp_path / "result"
    asks.touch()
    command = [sys.executable, "-c", WORKER.format(tests=str(Path(__file__).parent)), journal, asks, result]
    paths = os.pathsep.join([str(Path(oracles.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    kills = 0
    while not result.exists():
        recorded = max(0, journal.read_bytes().count(b"\n") - 1) if journal.exists() else 0
        before = asks.read_text().splitlines()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        try:
            assert process.stdout.readline() == b"ready\n"
            if kills < 5:
                enough, late = len(before) + chance.randrange(len(truth) // 5), time.monotonic() + 20
                while asks.read_bytes().count(b"\n") < enough and process.poll() is None and time.monotonic() < late:
                    time.sleep(0.0002)
                time.sleep(chance.uniform(0, 0.002))
                process.send_signal(signal.SIGKILL)
                kills += 1
        finally:
            process.wait(60)
            process.stdout.close()
        now = asks.read_text().splitlines()[len(before) :]
        assert now == truth[recorded : recorded + len(now)]  # it goes on with the first that has no answer, in order
    asked = Counter(asks.read_text().splitlines())
    assert result.read_text() == str(expected) and journal.read_bytes() == (tmp_path / "unbroken").read_bytes()
    assert len(truth) <= sum(asked.values()) <= len(truth) + kills and kills == 5


# Passive samples


def sample_by_definition(similarity, size_or_p, rng):
    "The drawn questions one by one, in plain Python."
    n, rows = len(similarity), []
    for number in sampling.sample_numbers(n_quadruplet_questions(n), size_or_p, rng).tolist():
        x, y = (int(pair) for pair in sampling.pair_from_index(number))
        (i, j), (k, l) = (map(int, sampling.pair_from_index(pair)) for pair in (x, y))
        if similarity[i, j] != similarity[k, l]:
            rows.append([i, j, k, l] if similarity[i, j] > similarity[k, l] else [k, l, i, j])
    return rows


@properties
@given(st.integers(3, 12), st.integers(0, 10**6), st.sampled_from([None, 3]), st.floats(0.01, 1))
def test_a_sample_is_its_definition(n, seed, levels, p):
    w = similarities(n, seed, levels)
    for size in (p, int(p * n_quadruplet_questions(n))):
        assert sample_quadruplets(w, size, seed).array.tolist() == sample_by_definition(w, size, seed)


def test_a_sample_is_its_definition_over_several_chunks():
    for n, size in [(40, 70_000), (400, 70_000)]:
        w = similarities(n, n)
        assert sample_quadruplets(w, size, 1).array.tolist() == sample_by_definition(w, size, 1)


def draws_by_definition(population, draws, kind, rng, per_block):
    "Every block's draws from its own stream, then the different ones among them all."
    n_blocks = max(draws // per_block, 1)
    edges = [population * b // n_blocks for b in range(n_blocks + 1)]
    counts = rng.multinomial(draws, np.diff(edges) / population)
    streams = [np.random.default_rng(seed) for seed in rng.integers(2**63, size=n_blocks)]
    blocks = zip(streams, edges[:-1], edges[1:], counts)
    return np.unique(np.concatenate([stream.integers(a, b, size=c, dtype=kind) for stream, a, b, c in blocks]))


@settings(max_examples=60, deadline=None)
@given(st.integers(40, 2000), st.integers(1, 80), st.integers(1, 9), st.integers(0, 10**6))
def test_draws_in_place_are_those_of_the_definition(population, draws, per_block, seed):
    per_block = max(per_block, -(-draws // 40))  # at least one number of the population to a block
    ways = sampling._distinct_draws, draws_by_definition
    fast, slow = (way(population, draws, np.uint32, np.random.default_rng(seed), per_block) for way in ways)
    assert fast.dtype == np.uint32 and np.array_equal(fast, slow)


def test_samples_do_not_depend_on_the_number_of_cores(monkeypatch):
    w = similarities(40, 0)
    several = sample_quadruplets(w, 0.99, 0), sample_triplets(w, 0.9, 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert (sample_quadruplets(w, 0.99, 0), sample_triplets(w, 0.9, 0)) == several


@properties
@given(st.integers(3, 7), st.integers(0, 10**6), st.sampled_from([None, 3]))
def test_everything_at_rate_one_is_every_strict_comparison_once(n, seed, levels):
    w = similarities(n, seed, levels)
    pairs = list(combinations(range(n), 2))
    quadruplets = {(*a, *b) for a in pairs for b in pairs if w[a] > w[b]}
    triplets = {
        (i, j, k) for i in range(n) for j in range(n) for k in range(n) if len({i, j, k}) == 3 and w[i, j] > w[i, k]
    }
    for sample, everything in (
        (sample_quadruplets(w, 1.0, seed), quadruplets),
        (sample_triplets(w, 1.0, seed), triplets),
    ):
        assert set(map(tuple, sample.array.tolist())) == everything
        assert len(sample) == len(everything)
        assert sample.n_objects == n
        assert not sample.array.flags.writeable


@pytest.mark.parametrize(
    "sample, n_questions, size",
    [
        (sample_quadruplets, n_quadruplet_questions(5), 9),
        (sample_triplets, n_triplet_questions(5), 6),
        (sample_quadruplets, n_quadruplet_questions(5), 0.2),
        (sample_triplets, n_triplet_questions(5), 0.2),
    ],
)
def test_every_question_is_equally_likely(sample, n_questions, size):
    w, rng, seen, runs = similarities(5, 1), np.random.default_rng(3), Counter(), 1500
    for _ in range(runs):
        seen.update(map(tuple, sample(w, size, rng).array.tolist()))
    rate = size if isinstance(size, float) else size / n_questions
    deviation = (np.array(list(seen.values())) - runs * rate) / np.sqrt(runs * rate * (1 - rate))
    assert len(seen) == n_questions and np.abs(deviation).max() < 4.5 and 0.6 < np.mean(deviation**2) < 1.5


@pytest.mark.parametrize("sample", [sample_quadruplets, sample_triplets])
@pytest.mark.parametrize(
    "word, bad",
    [
        ("similarity", [(np.ones((2, 2)), 1, 0), ([[0, 1, 2]], 1, 0)]),
        ("p must", [(np.ones((4, 4)), p, 0) for p in (0.0, 1.5, float("nan"))]),
        ("size_or_p", [(np.ones((4, 4)), size, 0) for size in (-1, 10**6, True, "all")]),
    ],
)
def test_bad_samples_are_named(sample, word, bad):
    for arguments in bad:
        with pytest.raises(InputError, match=word):
            sample(*arguments)
