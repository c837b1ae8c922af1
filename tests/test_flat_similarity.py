"AddS and MulK: the stream, one shot and the definition agree to the bit; files, checkpoints and kills lose nothing."

import os
import pickle
import signal
import subprocess
import sys
import tracemalloc
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comparison_hc.comparisons import (
    DisconnectedWarning,
    Quadruplets,
    Triplets,
    comparison_components,
    warn_if_disconnected,
)
from comparison_hc.core.validation import InputError
from comparison_hc.flat import AddS, adds3, adds4, adds_from_file, mulk3, mulk4
from comparison_hc.flat import streams as module
from comparison_hc.hierarchical import kernel_passive, triplet_kernel

N = 6
triplet = st.permutations(range(N)).map(lambda p: p[:3])
pair = st.permutations(range(N)).map(lambda p: p[:2])
quadruplet = st.tuples(pair, pair).filter(lambda q: set(q[0]) != set(q[1])).map(lambda q: [*q[0], *q[1]])
rows_of = {3: st.lists(triplet, min_size=1, max_size=60), 4: st.lists(quadruplet, min_size=1, max_size=60)}
any_rows = st.one_of(rows_of[3], rows_of[4])
few = settings(max_examples=40)


def points(rows, n=N):
    "AddS as N20 prints it, pair by pair, with counts for indicators; a triplet (i, j, r) compares {i, j} with {i, r}."
    wins, losses = {}, {}
    for row in rows:
        i, j, k, l = row if len(row) == 4 else (row[0], row[1], row[0], row[2])
        for table, p in ((wins, (i, j)), (losses, (k, l))):
            table[frozenset(p)] = table.get(frozenset(p), 0) + 1
    S = np.zeros((n, n), dtype=int)
    for i, j in combinations(range(n), 2):
        S[i, j] = S[j, i] = wins.get(frozenset((i, j)), 0) - losses.get(frozenset((i, j)), 0)
    return S


def kind(rows):
    return "triplets" if len(rows[0]) == 3 else "quadruplets"


def one_shot(rows, n=N):
    return (adds3 if len(rows[0]) == 3 else adds4)(np.array(rows), n)


@few
@given(any_rows, st.lists(st.integers(0, 60), max_size=5), st.sampled_from([1, 2, 7, 1 << 14]))
def test_stream_is_one_shot_is_the_definition(rows, cuts, chunk):
    "Whatever the batches, and whatever the chunks inside them."
    before, module.ROWS_AT_A_TIME = module.ROWS_AT_A_TIME, chunk
    try:
        stream, batches = AddS(N, kind(rows)), np.split(np.array(rows), sorted(min(c, len(rows)) for c in cuts))
        for batch in batches:
            assert stream.partial_fit(batch) is stream
        S = stream.similarity()
        assert (
            np.array_equal(S, points(rows))
            and np.array_equal(one_shot(rows), S)
            and S.dtype == one_shot(rows).dtype == np.int32
        )
    finally:
        module.ROWS_AT_A_TIME = before
    assert stream.n_comparisons == len(rows) and np.array_equal(stream.components(), comparison_components(rows, N))


@few
@given(rows_of[3])
def test_triplets_are_quadruplets(rows):
    as_quadruplets = [[i, j, i, k] for i, j, k in rows]
    assert (
        np.array_equal(adds3(rows, N), adds4(as_quadruplets, N))
        and np.array_equal(adds4(rows, N), adds3(rows, N))
        and np.array_equal(adds4(Triplets(rows, N)), adds3(rows, N))
    )


@few
@given(any_rows, st.integers(0, 99))
def test_merging_is_commutative_and_associative(rows, seed):
    part = np.random.default_rng(seed).integers(0, 3, len(rows))
    make = lambda p: AddS(N, kind(rows)).partial_fit(np.array(rows)[part == p].reshape(-1, len(rows[0])))
    a, b, c = (make(p) for p in range(3))
    left, right, turned = (a + b) + c, a + (b + c), c + b + a
    whole = AddS(N, kind(rows)).partial_fit(rows)
    for s in (left, right, turned, pickle.loads(pickle.dumps(left)), AddS(N, kind(rows)).merge(left)):
        assert (
            s.n_comparisons == len(rows)
            and np.array_equal(s.similarity(), whole.similarity())
            and np.array_equal(s.components(), whole.components())
        )
    for p, s in enumerate((a, b, c)):
        assert s.n_comparisons == (part == p).sum()  # + changes neither side


@few
@given(any_rows, st.permutations(range(N)), st.integers(0, 99))
def test_names_order_and_repetition(rows, order, seed):
    "New numbers permute S; order, and which end of a pair is first, say nothing; answers twice: 2S; turned round: −S."
    S, a, order = one_shot(rows), np.array(rows), np.array(order)
    renamed = one_shot(np.argsort(order)[a])  # object order[i] is called i
    assert np.array_equal(renamed, S[np.ix_(order, order)])
    shuffled = np.random.default_rng(seed).permutation(a)
    assert np.array_equal(one_shot(shuffled), S) and np.array_equal(one_shot(np.concatenate([a, a])), 2 * S)
    assert np.array_equal(one_shot(a[:, [0, 2, 1]] if a.shape[1] == 3 else a[:, [2, 3, 0, 1]]), -S)
    if a.shape[1] == 4:
        assert np.array_equal(one_shot(a[:, [1, 0, 3, 2]]), S)
    assert S.sum() == 0


@settings(max_examples=12)
@given(any_rows)
def test_any_type_of_integers_and_nothing_is_changed(rows):
    S = one_shot(rows)
    fit = lambda data: AddS(N, kind(rows)).partial_fit(data).similarity()
    for dtype in ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", float, object, ">i4"):
        a = np.array(rows).astype(dtype)
        copy = a.copy()
        a.flags.writeable = False
        assert (
            np.array_equal((adds3 if a.shape[1] == 3 else adds4)(a, N), S)
            and np.array_equal(fit(a), S)
            and (a == copy).all()
        )
    a = np.array(rows)
    for data in (
        pd.DataFrame(a),
        np.asfortranarray(a),
        np.repeat(a, 2, axis=0)[::2],
        rows,
        (Triplets if a.shape[1] == 3 else Quadruplets)(a, N),
    ):
        assert np.array_equal(fit(data), S)


def test_larger_than_a_chunk_and_than_a_tile():
    rng = np.random.default_rng(0)
    rows = np.stack([rng.permuted(np.arange(700))[:3] for _ in range(300)])[rng.integers(300, size=50_000)]
    S, expected = adds3(rows, 700), points(rows.tolist(), 700)
    assert np.array_equal(S, expected) and np.array_equal(AddS(700).partial_fit(rows).similarity(), expected)


def test_sums_widen_before_they_overflow():
    "No two thousand million answers are needed to see it: the stream is told that it had them."
    stream = AddS(3).partial_fit([[0, 1, 2]])
    stream._sums *= 2**31 - 2
    stream.n_comparisons = 2**31 - 2
    for _ in range(3):
        stream.partial_fit([[0, 1, 2]])
    S = stream.similarity()
    assert S.dtype == np.int64 and S[0, 1] == S[1, 0] == 2**31 + 1 == -S[0, 2]
    more = AddS(3).partial_fit([[0, 1, 2]]).merge(stream)
    assert more.similarity()[0, 1] == 2**31 + 2


@given(rows_of[3], st.booleans())
@few
def test_mulk3(rows, normalise):
    table = np.zeros((N, N, N), dtype=int)
    for i, j, k in rows:
        table[i, min(j, k), max(j, k)] += 1 if j < k else -1
    table = np.sign(table).reshape(N, -1)
    K, seen = table @ table.T, np.abs(table).sum(axis=1)
    if normalise:
        K = np.array(
            [[K[i, j] / np.sqrt(seen[i] * seen[j]) if seen[i] * seen[j] else 0 for j in range(N)] for i in range(N)]
        )
    np.fill_diagonal(K, 0)
    np.testing.assert_allclose(mulk3(rows, N, normalise=normalise), K, atol=1e-14)
    assert np.array_equal(mulk3(rows, N, normalise=normalise), triplet_kernel(rows, normalise, n_objects=N))


@settings(max_examples=10)
@given(any_rows)
def test_mulk4_by_definition(rows):
    "F19, eq. 9, by the majority, over all third objects and reference pairs."
    vote = {}
    for row in rows:
        i, j, k, l = row if len(row) == 4 else (row[0], row[1], row[0], row[2])
        for x, y, point in (((i, j), (k, l), 1), ((k, l), (i, j), -1)):
            vote[frozenset(x), frozenset(y)] = vote.get((frozenset(x), frozenset(y)), 0) + point
    sign = lambda i, r, pair: int(np.sign(vote.get((frozenset((i, r)), frozenset(pair)), 0)))
    K = np.zeros((N, N), dtype=int)
    for i, j in combinations(range(N), 2):
        third = set(range(N)) - {i, j}
        K[i, j] = K[j, i] = sum(sign(i, r, p) * sign(j, r, p) for r in third for p in combinations(range(N), 2))
    assert np.array_equal(mulk4(rows, N), K)


@given(any_rows)
@few
def test_mulk4_is_f19(rows):
    K = mulk4(rows, N)
    assert np.array_equal(K, kernel_passive(rows, n_objects=N))
    assert np.array_equal(
        kernel_passive(rows, self_pairs=True, n_objects=N) - K,
        2 * adds4(rows_by_majority(rows), N) if len(rows_by_majority(rows)) else 0 * K,
    )  # self-pairs add AddS-4


def rows_by_majority(rows):
    return (Triplets if len(rows[0]) == 3 else Quadruplets)(rows, N).majority()


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
    assert comparison_components(rows, N).tolist() == [
        sorted({min(g) for g in links.values()}).index(min(links[i])) for i in range(N)
    ]


def test_warning_when_answers_fall_apart():
    with pytest.warns(DisconnectedWarning, match=r"3 groups of 3, 2, 1 objects.*on their own: f"):
        assert warn_if_disconnected(comparison_components([[0, 1, 2, 1], [3, 4, 0, 1]], 6), list("abcdef")) == 3
    assert warn_if_disconnected(comparison_components([[0, 1, 2]])) == 1


# --- files ---

ROWS = np.array([np.random.default_rng(seed).permutation(12)[:3] for seed in range(900)])
NAMES = [f"object, {i}" for i in range(12)]


def written(tmp_path, form):
    "The same answers in some form of file, and how to read it."
    frame = pd.DataFrame(ROWS, columns=list("ijk"))
    path = tmp_path / f"answers.{form.split()[0]}"
    if form == "csv":
        frame.to_csv(path, index=False, header=False)
    elif form == "tsv":
        frame.assign(worker="w").to_csv(path, index=False, sep="\t")
    elif form == "csv names":
        Triplets(ROWS, names=NAMES).to_csv(path)
    elif form == "parquet":
        frame.astype("int16").to_parquet(path, row_group_size=250)
    else:
        pd.DataFrame(np.array(NAMES)[ROWS], columns=list("ijk")).to_parquet(path, row_group_size=100)
    return path, dict(objects=NAMES) if "names" in form else dict(n_objects=12)


@pytest.mark.parametrize("form", ["csv", "tsv", "csv names", "parquet", "parquet names"])
def test_files_give_the_same_bits_and_continue(tmp_path, form):
    if "parquet" in form:
        pytest.importorskip("pyarrow")
    path, options = written(tmp_path, form)
    expected = adds3(ROWS, 12)
    for batch in (100, 1600, 1 << 20):
        stream = adds_from_file(path, batch=batch, **options)
        assert np.array_equal(stream.similarity(), expected) and stream.n_comparisons == 900

    class Stop(Exception):
        pass

    def stop(done, total):
        seen.append(done / total)
        if done > 0.6 * total:
            raise Stop

    seen, state = [], tmp_path / "state"
    with pytest.raises(Stop):
        adds_from_file(path, batch=1600, every=1, checkpoint=state, progress=stop, **options)
    first = len(seen)
    again = adds_from_file(
        path, batch=1600, every=1, checkpoint=state, progress=lambda done, total: seen.append(done / total), **options
    )
    assert (
        np.array_equal(again.similarity(), expected)
        and again.n_comparisons == 900
        and np.array_equal(again.components(), np.zeros(12))
    )
    assert first > 1 and seen[first] > 0.6 and seen[-1] == 1  # what was read is not read again
    assert (
        adds_from_file(path, batch=1600, checkpoint=state, **options).n_comparisons == 900
    )  # a complete run is complete


def test_other_kinds_of_answers(tmp_path):
    path = tmp_path / "odd.csv"
    np.savetxt(path, ROWS, fmt="%d", delimiter=";")
    for kind_, make in (("central", Triplets.from_central), ("odd-one-out", Triplets.from_odd_one_out)):
        assert np.array_equal(adds_from_file(path, kind_, 12, batch=500).similarity(), adds3(make(ROWS, 12)))
    quads = tmp_path / "quads.csv"
    np.savetxt(quads, ROWS[:, [0, 1, 0, 2]], fmt="%d", delimiter=",")
    assert np.array_equal(adds_from_file(quads, "quadruplets", 12, batch=500).similarity(), adds3(ROWS, 12))


def test_a_file_that_grows_and_a_line_that_is_not_finished(tmp_path):
    path, state = tmp_path / "answers.csv", tmp_path / "state"
    path.write_text("0,1,2\n1,0,2\n0,1,1")  # the last line will become 0,1,11
    with pytest.raises(InputError, match="line 3"):
        adds_from_file(path, n_objects=12, checkpoint=state)
    with open(path, "a") as file:
        file.write("1")
    one = adds_from_file(path, n_objects=12, checkpoint=state)
    assert np.array_equal(one.similarity(), adds3([[0, 1, 2], [1, 0, 2], [0, 1, 11]], 12))
    with open(path, "a") as file:
        file.write("\n5,6,7")
    two = adds_from_file(path, n_objects=12, checkpoint=state)
    assert np.array_equal(two.similarity(), adds3([[0, 1, 2], [1, 0, 2], [0, 1, 11], [5, 6, 7]], 12))


def test_a_changed_file_or_another_run_is_not_continued(tmp_path):
    path, state = tmp_path / "answers.csv", tmp_path / "state"
    path.write_text("0,1,2\n1,0,2\n")
    adds_from_file(path, n_objects=3, checkpoint=state)
    with pytest.raises(InputError, match="n_objects"):
        adds_from_file(path, n_objects=4, checkpoint=state)
    with pytest.raises(InputError, match="kind"):
        adds_from_file(path, "central", n_objects=3, checkpoint=state)
    path.write_text("0,2,1\n1,0,2\n")
    with pytest.raises(InputError, match="changed"):
        adds_from_file(path, n_objects=3, checkpoint=state)
    state.write_bytes(b"PK no")
    with pytest.raises(InputError, match="checkpoint"):
        adds_from_file(path, n_objects=3, checkpoint=state)


def test_a_bad_line_is_mended_and_the_run_continues(tmp_path):
    path, state, seen = tmp_path / "answers.csv", tmp_path / "state", []
    lines = [",".join(map(str, row)) for row in ROWS]
    path.write_text("\n".join([*lines[:700], "3,3,4", *lines[701:]]) + "\n")
    with pytest.raises(InputError, match="line 701"):
        adds_from_file(path, n_objects=12, checkpoint=state, batch=500, every=1000)
    path.write_text("\n".join(lines) + "\n")
    stream = adds_from_file(
        path, n_objects=12, checkpoint=state, batch=500, progress=lambda done, total: seen.append(done / total)
    )
    assert np.array_equal(stream.similarity(), adds3(ROWS, 12)) and seen[0] > 0.7


def held(path, **options):
    "(largest traced memory of reading a file, largest of Arrow's after a batch, which is not traced), in bytes."
    allocated, arrow = (
        (lambda: 0) if path.suffix == ".csv" else pytest.importorskip("pyarrow").total_allocated_bytes,
        [],
    )
    before = allocated()
    tracemalloc.start()
    try:
        adds_from_file(path, progress=lambda done, total: arrow.append(allocated() - before), **options)
        return tracemalloc.get_traced_memory()[1], max(arrow)
    finally:
        tracemalloc.stop()


def answered(m):
    "m answers about 60 objects, not one like the next."
    return np.arange(m)[:, None] % [19, 17, 13] + [0, 20, 40]


@pytest.mark.parametrize("form, few, batch", [("csv", 20_000, 1 << 14), ("parquet", 400_000, 1 << 18)])
def test_memory_does_not_grow_with_the_file(tmp_path, form, few, batch):
    "Ten times the answers take no more; a table in a single group of rows, larger than a checksum reads at once."
    if form == "parquet":
        pytest.importorskip("pyarrow")
    path, found = tmp_path / f"answers.{form}", []
    for m in (100, few, 10 * few):  # the first for what is loaded at first use
        frame = pd.DataFrame(answered(m), columns=list("ijk"))
        frame.to_csv(path, index=False, header=False) if form == "csv" else frame.to_parquet(
            path, row_group_size=m, compression=None, use_dictionary=False
        )
        found.append(held(path, n_objects=60, batch=batch))
    (short, short_arrow), (long, long_arrow) = found[1:]
    assert (
        long <= 1.1 * short < 24 * 10 * few and long_arrow <= 2 * short_arrow
    )  # the numbers of the longer file alone, all at once, would be more


SLOW = """
import sys, time
from comparison_hc.flat import adds_from_file
def progress(done, total): print(done, flush=True); time.sleep(0.05)
adds_from_file(sys.argv[1], n_objects=12, checkpoint=sys.argv[2], every=2, batch=200, progress=progress)
"""


def test_a_killed_process_continues(tmp_path):
    "SIGKILL, which no program can catch, in the middle of a run of some thirty batches."
    path, _ = written(tmp_path, "csv")
    state, seen = tmp_path / "state", []
    process = subprocess.Popen([sys.executable, "-c", SLOW, path, state], stdout=subprocess.PIPE, text=True)
    for _ in range(12):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and state.exists()
    process.stdout.close()
    stream = adds_from_file(
        path, n_objects=12, checkpoint=state, every=2, batch=200, progress=lambda done, total: seen.append(done)
    )
    assert np.array_equal(stream.similarity(), adds3(ROWS, 12)) and stream.n_comparisons == 900
    assert seen[0] > 200 * 8 and seen[-1] == os.path.getsize(path)


KILLED_IN_A_SAVE = """
import os, signal, sys
import numpy as np
from comparison_hc.flat import adds_from_file
def savez(file, **arrays):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
np.savez = savez
adds_from_file(sys.argv[1], n_objects=12, checkpoint=sys.argv[2], every=2, batch=200)
"""


def test_a_process_that_is_killed_in_a_save_leaves_nothing_for_good(tmp_path):
    path, _ = written(tmp_path, "csv")
    before = {*os.listdir(tmp_path)}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", KILLED_IN_A_SAVE, path, tmp_path / "state"])
        assert done.returncode == -signal.SIGKILL
    assert {*os.listdir(tmp_path)} > before
    stream = adds_from_file(path, n_objects=12, checkpoint=tmp_path / "state", batch=200)
    assert {*os.listdir(tmp_path)} == before | {"state"} and stream.n_comparisons == 900


def no_checkpoints(folder):
    "(What is wrong with it, the name of a checkpoint, what is said of it)."
    (folder / "loop").symlink_to("loop")
    (folder / "lost").symlink_to("nowhere/state")
    (folder / ".linked.lock").symlink_to("made")
    yield "long", "a" * 256, "file that can be read and written; got .*aaa.*: File name too long"
    yield "long in bytes", "é" * 128, "file that can be read and written; got .*ééé.*: File name too long"
    yield "a loop", "loop", "checkpoint must be a file.*loop"
    yield "in no folder", "lost", "checkpoint must be a file in an existing folder; got '.*lost'"
    yield "a lock that is a link", "linked", "file that can be read and written; got '.*linked'"
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe")
        yield "a pipe", "pipe", "checkpoint must be a file in an existing folder; got '.*pipe'"


def test_what_can_be_no_checkpoint_is_refused_before_the_work(tmp_path):
    pytest.importorskip("fcntl")
    path, _ = written(tmp_path, "csv")
    for what, name, said in no_checkpoints(tmp_path):
        seen = []
        with pytest.raises(InputError, match=said):
            adds_from_file(
                path,
                n_objects=12,
                checkpoint=tmp_path / name,
                batch=200,
                every=1,
                progress=lambda *at, seen=seen: seen.append(at),
            )
        assert not seen, what
    assert not {"made", "nowhere", "state"} & {*os.listdir(tmp_path)}


# --- bad input ---

OK = AddS(4).partial_fit([[0, 1, 2]])


@pytest.mark.parametrize(
    "names, call",
    [
        ("triplets", lambda: adds3([])),
        ("triplets", lambda: adds3(np.empty((0, 3), int))),
        ("triplets", lambda: adds3([[0, 1]])),
        ("triplets", lambda: adds3([[0.5, 1, 2]])),
        ("triplets", lambda: adds3([["a", "b", "c"]])),
        ("triplets", lambda: adds3(None)),
        ("row 1 of data", lambda: adds3(np.array([[0, 1, 2], [0, 1, 1]]))),
        ("row 0 of data", lambda: adds3(np.array([[0, 1, -1]]))),
        ("row 0 of data", lambda: adds3(np.array([[0, -2, -1]]))),
        ("row 0 of data", lambda: adds3(np.array([[0, 1, 2]]), 2)),
        ("row 0 of data", lambda: adds3(np.array([[0, 1, 2**63 + 5]], dtype=np.uint64), 5)),
        ("triplets", lambda: adds3(Quadruplets([[0, 1, 2, 3]]))),
        ("row 0 of data", lambda: adds4(np.array([[0, 1, 1, 0]]))),
        ("row 0 of data", lambda: adds4(np.array([[0, 0, 1, 2]]))),
        ("n_objects", lambda: adds3(np.array([[0, 1, 2]]), 0)),
        ("n_objects", lambda: adds3(np.array([[0, 1, 2]]), "3")),
        ("small enough", lambda: AddS(2**31).partial_fit([[0, 1, 2]])),
        ("n_objects", lambda: AddS(0)),
        ("n_objects", lambda: AddS(2.0)),
        ("kind", lambda: AddS(3, "central")),
        ("the stream", lambda: AddS(3).similarity()),
        ("comparisons", lambda: OK.partial_fit([[0, 1]])),
        ("comparisons", lambda: OK.partial_fit(Triplets([[0, 1, 9]]))),
        ("comparisons", lambda: OK.partial_fit([0, 1, 2])),
        ("comparisons", lambda: OK.partial_fit(Quadruplets([[0, 1, 2, 3]]))),
        ("row 20001", lambda: OK.partial_fit(np.array([[0, 1, 2]] * 20_001 + [[3, 3, 1]]))),
        ("other", lambda: OK.merge(AddS(5))),
        ("other", lambda: OK.merge(AddS(4, "quadruplets"))),
        ("other", lambda: OK + 3),
        ("triplets", lambda: mulk3([])),
        ("normalise", lambda: mulk3([[0, 1, 2]], normalise=1)),
        ("quadruplets", lambda: mulk4([[0, 1]])),
        ("existing file", lambda: adds_from_file("nowhere.csv", n_objects=3)),
        ("path", lambda: adds_from_file(3, n_objects=3)),
        ("kind", lambda: adds_from_file("x.csv", "pairs", 3)),
        ("n_objects or objects", lambda: adds_from_file("x.csv")),
        ("n_objects or objects", lambda: adds_from_file("x.csv", n_objects=2, objects=["a", "b"])),
        ("progress", lambda: mulk4([[0, 1, 2]], progress="print")),
        ("progress", lambda: mulk4([[0, 1, 2]], progress=0)),
        ("objects", lambda: adds_from_file("x.csv", objects=["a", "a"])),
    ],
)
def test_bad_input(names, call):
    before = OK.similarity()
    with pytest.raises(InputError, match=names):
        call()
    assert np.array_equal(OK.similarity(), before) and OK.n_comparisons == 1  # a refused batch leaves no trace


@pytest.mark.parametrize(
    "text, names",
    [
        ("", "at least one answer"),
        ("i,j,k\n", "at least one answer"),
        ("0,1,2\n0,1\n", "line 2"),
        ("0,1,2\n0,1,2,3\n", "line 2"),
        ("0,1,2\n0,1,x\n", "line 2"),
        ("0,1,2\n0,1,3\n", "line 2"),
        ("0,1,2\n0,1,-1\n", "line 2"),
        ("0,1,2\n0,1,\n", "line 2"),
        ("0,1,2\n0,1,1.5\n", "line 2"),
        ("0,1,2\n\n\n1,1,2\n", "line 4"),
        ('0,1,2\n0,"1,2\n', "line 2"),
        ("0,1\n", "3 columns"),
        ("0,1,2\n0,1,99999999999999999999\n", "line 2"),
    ],
)
def test_bad_files(tmp_path, text, names):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=names):
        adds_from_file(path, n_objects=3)


@pytest.mark.parametrize(
    "names, options",
    [
        ("progress", dict(progress=3)),
        ("progress", dict(progress="")),
        ("checkpoint", dict(checkpoint=3.5)),
        ("checkpoint", dict(checkpoint=True)),
        ("checkpoint", dict(checkpoint="no such folder/state")),
        ("every", dict(every=0)),
    ],
)
def test_bad_options_for_a_file(tmp_path, names, options):
    path = tmp_path / "good.csv"
    path.write_text("0,1,2\n")
    with pytest.raises(InputError, match=f"^{names} must be"):
        adds_from_file(path, n_objects=3, **options)
    assert adds_from_file(path, n_objects=3).n_comparisons == 1


def test_bad_bytes_encodings_and_tables(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes(b"0,1,2\n\xff,1,2\n")
    with pytest.raises(InputError, match="0xff"):
        adds_from_file(path, objects=["0", "1", "2"])
    for encoding in ("utf-16", "nonsense", 3):
        with pytest.raises(InputError, match="encoding"):
            adds_from_file(path, n_objects=3, encoding=encoding)
    pytest.importorskip("pyarrow")
    table = tmp_path / "bad.parquet"
    table.write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="Parquet"):
        adds_from_file(table, n_objects=3)
    pd.DataFrame({"a": [0, 0], "b": [1, None], "c": [2, 1]}).to_parquet(table)
    with pytest.raises(InputError, match="row 2"):
        adds_from_file(table, n_objects=3)
    pd.DataFrame({"a": [0, 5], "b": [1, 1], "c": [2, 2]}).to_parquet(table)
    with pytest.raises(InputError, match="row 1 of data|rows from 1"):
        adds_from_file(table, n_objects=3)
