"AddS, MulK and comparison counts: in one call, in batches and from a file they are the definition, to the bit."

import os
import pickle
import signal
import subprocess
import sys

import definitions
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc import ComparisonCounts
from comparison_hc.comparisons import (
    DisconnectedWarning,
    Quadruplets,
    Triplets,
    comparison_components,
    warn_if_disconnected,
)
from comparison_hc.core.validation import InputError
from comparison_hc.flat import AddS, adds3, adds4, adds_from_file, mulk3, mulk4
from comparison_hc.hierarchical import kernel_passive, quadruplet_average_linkage, triplet_kernel

N = 6
triplet = st.permutations(range(N)).map(lambda p: p[:3])
pair = st.permutations(range(N)).map(lambda p: p[:2])
quadruplet = st.tuples(pair, pair).filter(lambda q: set(q[0]) != set(q[1])).map(lambda q: [*q[0], *q[1]])
rows_of = {3: st.lists(triplet, min_size=1, max_size=60), 4: st.lists(quadruplet, min_size=1, max_size=60)}
any_rows = st.one_of(rows_of[3], rows_of[4])
few = settings(max_examples=40)


def adds_by_definition(rows, n=N):
    "Perrot et al. (2020), section 4, with counts for indicators."
    S = np.zeros((n, n), dtype=int)
    for (one, _), net in definitions.quadruplet_wins(rows).items():
        S[tuple(one)] += net
    return S + S.T


def kind(rows):
    return "triplets" if len(rows[0]) == 3 else "quadruplets"


def adds(rows, n=N):
    return (adds3 if np.shape(rows)[1] == 3 else adds4)(rows, n)


def counted_mulk4(rows, n=N):
    "MulK-4 of the counts of two batches; 0 if every query is undecided."
    half = len(rows) // 2
    counts = ComparisonCounts(n).partial_fit(rows[half:])
    if half:
        counts.merge(ComparisonCounts(n).partial_fit(rows[:half]))
    try:
        return mulk4(counts.quadruplets().without_weights(), n)
    except InputError:
        return np.zeros((n, n), dtype=int)


SIMILARITIES = {  # (method, definition, what it does to S when every answer is repeated, widths)
    "AddS": (adds, adds_by_definition, 2, (3, 4)),
    "AddS in batches": (lambda rows: stream_of(rows, 7).similarity(), adds_by_definition, 2, (3, 4)),
    "MulK-3": (
        lambda rows: mulk3(rows, N, normalise=False),
        lambda rows: definitions.triplet_kernel(rows, N)[0],
        1,
        (3,),
    ),
    "MulK-4": (lambda rows: mulk4(rows, N), lambda rows: definitions.quadruplet_kernel(rows, N), 1, (3, 4)),
    "MulK-4 of counts": (counted_mulk4, lambda rows: definitions.quadruplet_kernel(rows, N), 1, (3, 4)),
}


def stream_of(rows, size):
    stream = AddS(N, kind(rows))
    for start in range(0, len(rows), size):
        assert stream.partial_fit(rows[start : start + size]) is stream
    return stream


@pytest.mark.parametrize("name", SIMILARITIES)
@settings(max_examples=15)
@given(st.data())
def test_definition_renaming_order_and_repetition(name, data):
    "New numbers permute S; the order of rows, and of the ends of a pair, do not matter."
    method, definition, twice, widths = SIMILARITIES[name]
    rows = np.array(data.draw(st.one_of(*(rows_of[w] for w in widths))))
    order, shuffle = (np.array(data.draw(st.permutations(range(k)))) for k in (N, len(rows)))
    S = method(rows)
    assert np.array_equal(S, definition(rows.tolist())) and not np.diag(S).any()
    assert np.array_equal(method(np.argsort(order)[rows]), S[np.ix_(order, order)])
    assert np.array_equal(method(rows[shuffle]), S)
    assert np.array_equal(method(np.concatenate([rows, rows])), twice * S)
    if rows.shape[1] == 4:
        assert np.array_equal(method(rows[:, [1, 0, 3, 2]]), S)
    else:
        assert name == "MulK-3" or np.array_equal(method(rows[:, [0, 1, 0, 2]]), S)


@few
@given(any_rows)
def test_adds_turned_round_and_components(rows):
    a, S = np.array(rows), adds(rows)
    assert np.array_equal(adds(a[:, [0, 2, 1]] if a.shape[1] == 3 else a[:, [2, 3, 0, 1]]), -S)
    assert S.sum() == 0 and S.dtype == np.int32
    assert np.array_equal(stream_of(rows, 5).components(), comparison_components(rows, N))


@few
@given(any_rows, st.integers(0, 99))
def test_merging_is_commutative_and_associative(rows, seed):
    part = np.random.default_rng(seed).integers(0, 3, len(rows))
    batch = lambda p: np.array(rows)[part == p].reshape(-1, len(rows[0]))
    a, b, c = (AddS(N, kind(rows)).partial_fit(batch(p)) for p in range(3))
    whole = AddS(N, kind(rows)).partial_fit(rows)
    left = (a + b) + c
    for stream in (left, a + (b + c), c + b + a, pickle.loads(pickle.dumps(left)), AddS(N, kind(rows)).merge(left)):
        assert stream.n_comparisons == len(rows) and np.array_equal(stream.similarity(), whole.similarity())
        assert np.array_equal(stream.components(), whole.components())
    assert [s.n_comparisons for s in (a, b, c)] == [(part == p).sum() for p in range(3)]  # + changes neither side


@few
@given(any_rows)
def test_counts_give_the_weighted_majority(rows):
    "4–AL of the counts is 4–AL of the comparisons; every decided query occurs once, with its net count."
    counts = ComparisonCounts(N).partial_fit(rows)
    net = definitions.quadruplet_wins(rows)
    assert counts.n_comparisons == len(rows)
    if not any(net.values()):
        with pytest.raises(InputError, match="decided"):
            counts.quadruplets()
        return
    found = counts.quadruplets()
    listed = {(frozenset(r[:2]), frozenset(r[2:])): w for r, w in zip(found.array.tolist(), found.weights)}
    assert listed == {query: value for query, value in net.items() if value > 0}
    tree = quadruplet_average_linkage(found)
    assert np.array_equal(
        tree.linkage_matrix,
        quadruplet_average_linkage((Triplets if len(rows[0]) == 3 else Quadruplets)(rows, N)).linkage_matrix,
    )


@settings(max_examples=12)
@given(any_rows)
def test_any_type_of_integers_and_nothing_is_changed(rows):
    S = adds(rows)
    fit = lambda data: AddS(N, kind(rows)).partial_fit(data).similarity()
    for dtype in ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", float, object, ">i4"):
        a = np.array(rows).astype(dtype)
        copy = a.copy()
        a.flags.writeable = False
        assert np.array_equal(adds(a), S) and np.array_equal(fit(a), S) and (a == copy).all()
    a = np.array(rows)
    comparisons = (Triplets if a.shape[1] == 3 else Quadruplets)(a, N)
    for data in (pd.DataFrame(a), np.asfortranarray(a), np.repeat(a, 2, axis=0)[::2], rows, comparisons):
        assert np.array_equal(fit(data), S)


def test_more_rows_than_a_chunk():
    rng = np.random.default_rng(0)
    rows = np.stack([rng.permuted(np.arange(700))[:3] for _ in range(300)])[rng.integers(300, size=50_000)]
    expected = adds_by_definition(rows.tolist(), 700)
    assert np.array_equal(adds3(rows, 700), expected)
    assert np.array_equal(AddS(700).partial_fit(rows).similarity(), expected)


def test_sums_widen_before_they_overflow():
    "No two thousand million answers are needed to see it: the stream is told that it had them."
    stream = AddS(3).partial_fit([[0, 1, 2]])
    stream._sums *= 2**31 - 2
    stream.n_comparisons = 2**31 - 2
    for _ in range(3):
        stream.partial_fit([[0, 1, 2]])
    S = stream.similarity()
    assert S.dtype == np.int64 and S[0, 1] == S[1, 0] == 2**31 + 1 == -S[0, 2]
    assert AddS(3).partial_fit([[0, 1, 2]]).merge(stream).similarity()[0, 1] == 2**31 + 2


@few
@given(any_rows)
def test_mulk_are_the_kernels_of_the_hierarchical_methods(rows):
    K, majority = mulk4(rows, N), (Triplets if len(rows[0]) == 3 else Quadruplets)(rows, N).majority()
    assert np.array_equal(K, kernel_passive(rows, n_objects=N))
    own = kernel_passive(rows, self_pairs=True, n_objects=N) - K
    assert np.array_equal(own, 2 * adds4(majority, N) if len(majority) else 0 * K)  # self-pairs add AddS-4
    if len(rows[0]) == 3:
        M, seen = mulk3(rows, N, normalise=False), np.bincount(majority.array[:, 0], minlength=N)
        assert np.array_equal(M, triplet_kernel(rows, False, n_objects=N))
        scale = np.sqrt(np.outer(seen, seen))
        np.testing.assert_allclose(
            mulk3(rows, N), np.divide(M, scale, where=scale > 0, out=np.zeros((N, N))), atol=1e-14
        )


@few
@given(any_rows)
def test_components_by_walking(rows):
    links = {i: {i} for i in range(N)}
    for row in rows:
        for i, j in ((row[0], row[1]), (row[0], row[2]) if len(row) == 3 else (row[2], row[3])):
            links[i].add(j)
            links[j].add(i)
    for _ in range(N):
        links = {i: set().union(*(links[j] for j in group)) for i, group in links.items()}
    first = [sorted({min(g) for g in links.values()}).index(min(links[i])) for i in range(N)]
    assert comparison_components(rows, N).tolist() == first


def test_warning_when_answers_fall_apart():
    with pytest.warns(DisconnectedWarning, match=r"3 groups of 3, 2, 1 objects.*on their own: f"):
        assert warn_if_disconnected(comparison_components([[0, 1, 2, 1], [3, 4, 0, 1]], 6), list("abcdef")) == 3
    assert warn_if_disconnected(comparison_components([[0, 1, 2]])) == 1


# --- files ---

ROWS = np.array([np.random.default_rng(seed).permutation(12)[:3] for seed in range(900)])
NAMES = [f"object, {i}" for i in range(12)]


def written(tmp_path, form):
    "The same answers in some form of file, and how to read it."
    frame, path = pd.DataFrame(ROWS, columns=list("ijk")), tmp_path / f"answers.{form.split()[0]}"
    if form == "tsv":
        frame.assign(worker="w").to_csv(path, index=False, sep="\t")
        return path, dict(n_objects=12, columns=["i", "j", "k"])
    if form == "csv names":
        Triplets(ROWS, names=NAMES).to_csv(path)
        return path, dict(objects=NAMES)
    text = frame.to_csv(index=False, header=False).replace("\n", "\n\n", 5)  # five blank lines
    path.write_text(text)
    return path, dict(n_objects=12)


class Stop(Exception):
    pass


@pytest.mark.parametrize("form", ["csv", "tsv", "csv names"])
def test_files_give_the_same_bits_and_continue(tmp_path, form):
    path, options = written(tmp_path, form)
    expected = adds3(ROWS, 12)
    for chunksize in (1, 100, 5000):
        stream = adds_from_file(path, chunksize=chunksize, **options)
        assert np.array_equal(stream.similarity(), expected) and stream.n_comparisons == 900

    def stop(done, size):
        calls.append(done)
        if len(calls) == 11:
            raise Stop

    calls, state = [], tmp_path / "state"
    with pytest.raises(Stop):
        adds_from_file(path, chunksize=60, every=1, checkpoint=state, progress=stop, **options)
    again = adds_from_file(path, chunksize=60, checkpoint=state, progress=lambda *at: calls.append(at), **options)
    assert np.array_equal(again.similarity(), expected) and again.n_comparisons == 900 and not again.components().any()
    assert len(calls) <= 17 and calls[-1] == (os.path.getsize(path),) * 2  # what was read is not read again
    assert adds_from_file(path, checkpoint=state, **options).n_comparisons == 900  # a complete run stays complete
    with open(path, "a") as file:
        file.write(path.read_text().splitlines()[-1] + "\n")
    assert adds_from_file(path, checkpoint=state, **options).n_comparisons == 901  # a file that has grown


def test_other_kinds_of_answers(tmp_path):
    path = tmp_path / "odd.csv"
    np.savetxt(path, ROWS, fmt="%d", delimiter=";")
    for kind_, make in (("central", Triplets.from_central), ("odd-one-out", Triplets.from_odd_one_out)):
        assert np.array_equal(adds_from_file(path, kind_, 12, chunksize=500).similarity(), adds3(make(ROWS, 12)))
    np.savetxt(path, ROWS[:, [0, 1, 0, 2]], fmt="%d", delimiter=",")
    assert np.array_equal(adds_from_file(path, "quadruplets", 12, chunksize=500).similarity(), adds3(ROWS, 12))


def test_a_first_row_is_a_header_if_it_names_no_object(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("cat,dog,owl\ndog,cat,owl\n")
    assert adds_from_file(path, objects=["cat", "dog", "owl"]).n_comparisons == 2
    path.write_text("a,b,c\ncat,dog,owl\n")
    assert adds_from_file(path, objects=["cat", "dog", "owl"]).n_comparisons == 1
    path.write_text("a,dog,owl\ncat,dog,owl\n")  # a misspelled answer is not a header
    with pytest.raises(InputError, match="row 1"):
        adds_from_file(path, objects=["cat", "dog", "owl"])
    assert adds_from_file(path, objects=["cat", "dog", "owl"], header=True).n_comparisons == 1


def test_a_changed_file_or_another_run_is_not_continued(tmp_path):
    path, state = tmp_path / "answers.csv", tmp_path / "state"
    path.write_text("0,1,2\n1,0,2\n")
    adds_from_file(path, n_objects=3, checkpoint=state)
    for options in (dict(n_objects=4), dict(n_objects=3, kind="central"), dict(n_objects=3, columns=[1, 0, 2])):
        with pytest.raises(InputError, match="checkpoint must be of a run with the same"):
            adds_from_file(path, checkpoint=state, **options)
    path.write_text("0,2,1\n1,0,2\n")
    with pytest.raises(InputError, match="beginning"):
        adds_from_file(path, n_objects=3, checkpoint=state)
    state.write_bytes(b"PK no")
    with pytest.raises(InputError, match="checkpoint"):
        adds_from_file(path, n_objects=3, checkpoint=state)


SLOW = """
import sys, time
from comparison_hc.flat import adds_from_file
def progress(done, size): print(done, flush=True); time.sleep(0.05)
adds_from_file(sys.argv[1], n_objects=12, checkpoint=sys.argv[2], every=2, chunksize=30, progress=progress)
"""
KILLED_IN_A_SAVE = """
import os, signal, sys
import numpy as np
from comparison_hc.flat import adds_from_file
def savez(file, **arrays):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
np.savez = savez
adds_from_file(sys.argv[1], n_objects=12, checkpoint=sys.argv[2], every=2, chunksize=30)
"""


def test_a_killed_process_continues(tmp_path):
    "SIGKILL, which no program can catch, in the middle of a run, and in the middle of writing a checkpoint."
    path, _ = written(tmp_path, "csv")
    state, chunks = tmp_path / "state", []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", KILLED_IN_A_SAVE, path, state])
        assert done.returncode == -signal.SIGKILL and not state.exists()
    process = subprocess.Popen([sys.executable, "-c", SLOW, path, state], stdout=subprocess.PIPE, text=True)
    for _ in range(12):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and state.exists()
    process.stdout.close()
    again = dict(n_objects=12, checkpoint=state, chunksize=30, progress=lambda *at: chunks.append(at))
    stream = adds_from_file(path, **again)
    assert np.array_equal(stream.similarity(), adds3(ROWS, 12)) and stream.n_comparisons == 900
    assert len(chunks) <= 21


# --- bad input ---

OK, WEIGHTED = AddS(4).partial_fit([[0, 1, 2]]), Triplets([[0, 1, 2]], weights=[2])


@pytest.mark.parametrize(
    "word, call, bad",
    [
        ("triplets", adds3, ([], Quadruplets([[0, 1, 2, 3]]))),
        ("without weights", adds3, (WEIGHTED,)),
        ("without weights", OK.partial_fit, (WEIGHTED,)),
        ("without weights", ComparisonCounts(3).partial_fit, (WEIGHTED,)),
        ("row 1 of data", adds3, (np.array([[0, 1, 2], [0, 1, 1]]),)),
        ("row 0 of data", lambda n: adds3(np.array([[0, 1, 2]]), n), (2,)),
        ("row 0 of data", lambda rows: adds3(rows, 5), (np.array([[0, 1, 2**63 + 5]], dtype=np.uint64),)),
        ("row 0 of data", adds4, (np.array([[0, 1, 1, 0]]), np.array([[0, 0, 1, 2]]))),
        ("small enough", lambda n: AddS(n).partial_fit([[0, 1, 2]]), (2**31,)),
        ("kind", lambda kind: AddS(3, kind), ("central",)),
        ("the stream", lambda n: AddS(n).similarity(), (3,)),
        ("comparisons", OK.partial_fit, ([[0, 1]], [0, 1, 2], Triplets([[0, 1, 9]]), Quadruplets([[0, 1, 2, 3]]))),
        ("row 20001", OK.partial_fit, (np.array([[0, 1, 2]] * 20_001 + [[3, 3, 1]]),)),
        ("other", OK.merge, (AddS(5), AddS(4, "quadruplets"), 3)),
        ("other", ComparisonCounts(3).merge, (ComparisonCounts(4), None)),
        ("n_objects", ComparisonCounts, (10**6, 0)),
        ("n_objects or objects", lambda who: adds_from_file("x.csv", **who), ({}, dict(n_objects=2, objects="ab"))),
    ],
)
def test_bad_input(word, call, bad):
    before = OK.similarity()
    for value in bad:
        with pytest.raises(InputError, match=word):
            call(value)
    assert np.array_equal(OK.similarity(), before) and OK.n_comparisons == 1  # a refused batch leaves no trace


def test_bad_files_and_options(tmp_path):
    path = tmp_path / "bad.csv"
    files = {
        "": "at least one answer",
        "i,j,k\n": "at least one answer",
        "0,1,2\n0,1\n": "row 2",
        "0,1,2\n0,1,2,1\n": "line 2",
        "0,1,2\n0,1,x\n": "row 2.*x",
        "0,1,2\n0,1,3\n": "row 2",
        "0,1,2\n0,1,-1\n": "row 2",
        "0,1,2\n0,1,1.5\n": "row 2",
        "0,1,2\n\n\n0,1,9\n": "row 4",
        "0,1,2\n\n\n1,1,2\n": "after row 0: row 1 of data",
        '0,1,2\n0,"1,2\n': "inside string",
        "0,1\n": "3 of the 2 columns",
        b"0,1,2\n\xff,1,2\n": "0xff",
    }
    for content, word in files.items():
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(InputError, match=word):
            adds_from_file(path, n_objects=3)
    path.write_text("0,1,2\n")
    folder = tmp_path / "no such folder" / "state"
    wrong = dict(encoding="nonsense", columns=["q"], progress=3, checkpoint=3.5, every=0, chunksize=0, header="yes")
    for name, value in [*wrong.items(), ("checkpoint", folder), ("columns", 5)]:
        with pytest.raises(InputError, match=name):
            adds_from_file(path, n_objects=3, **{name: value})
    assert adds_from_file(path, n_objects=3).n_comparisons == 1
