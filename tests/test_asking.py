"Sessions with a person: what is asked next, what is kept, what follows; in Python, and in a terminal that is killed."

import csv
import os
import signal
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from shared import refusals, refused

from comparison_hc.adaptive._validation import InconsistentTriplets
from comparison_hc.adaptive.build import consistent_hierarchy
from comparison_hc.adaptive.multifurcating import OrdinalOracle, collapse_edges
from comparison_hc.adaptive.trees import GrowingTree, random_hierarchy
from comparison_hc.cli import main
from comparison_hc.comparisons import Triplets, read_comparisons
from comparison_hc.core.validation import InputError
from comparison_hc.dendrogram import Dendrogram
from comparison_hc.elicitation.export import EXPORTS, export_session
from comparison_hc.elicitation.items import Item, Response, Settings, read_items, simulated_answer
from comparison_hc.elicitation.pool import pool_journals
from comparison_hc.elicitation.replay import (
    MAX_EQUIVALENT,
    Consistency,
    build_tree,
    equivalent_queries,
    right_answer_probability,
    rows_of_tree,
)
from comparison_hc.elicitation.session import Session, SessionState, read_journal
from comparison_hc.oracles import HierarchyOracle, JournalError, Noisy

CALL = [sys.executable, "-c", "import sys; from comparison_hc.cli import main; sys.exit(main())"]
NAMES = [f"item {at}" for at in range(12)]
trees = st.builds(
    random_hierarchy,
    st.integers(2, 12),
    st.sampled_from(["balanced", "caterpillar", "uniform", "split"]),
    st.integers(0, 10**6),
)


def steps(state, answers):
    "The state after these answers, without a session."
    for answer in answers:
        if isinstance(answer, float):
            state = SessionState(state.settings, state.answers, answer)
        else:
            given = Response(state.question.shown, answer, state.question.trial_type)
            state = SessionState(state.settings, (*state.answers, given), state.careful)
    return state


def to_the_end(session, oracle):
    while session.question:
        session.answer(simulated_answer(oracle, session.question))
    return session


def holds(tree, i, j, k):
    "Whether i and j are below a merge that does not hold k: by definition, from the sets of leaves."
    below = [{leaf} for leaf in range(tree.n_leaves)]
    for a, b in tree.children.tolist():
        below.append(below[a] | below[b])
    return any(i in some and j in some and k not in some for some in below)


# ---- what is asked, and what follows


@settings(max_examples=40, deadline=None)
@given(trees, st.integers(0, 2**32 - 1), st.integers(0, 7))
def test_a_consistent_person_gets_their_tree_within_the_number_shown(tree, seed, every):
    names, oracle = NAMES[: tree.n_leaves], HierarchyOracle(tree)
    state = SessionState(Settings(names, "Ada", seed, every))
    shown = state.at_most
    while state.question:
        left, expected = state.at_most, state.expected
        assert 0 < expected <= left and len(set(state.question.shown)) == 3
        state = steps(state, [simulated_answer(oracle, state.question)])
        assert state.at_most < left
    assert len(state.answers) <= shown and (state.at_most, state.expected) == (0, 0) and state.inconsistencies == []
    assert state.hierarchy.to_dendrogram().same_tree(tree) and state.items == list(range(tree.n_leaves))
    asked = [answer.items for answer in state.answers if answer.trial_type != "again"]
    assert len(set(asked)) == len(asked) and all(answer.trial_type in ("new", "again") for answer in state.answers)
    n_again = sum(answer.trial_type == "again" for answer in state.answers)
    assert state.consistency.n_repeated == state.consistency.n_same == n_again
    if every:
        assert state.consistency.n_repeated <= len(asked) / every


@settings(max_examples=60, deadline=None)
@given(trees, st.floats(0, 1), st.integers(0, 10**6))
def test_cannot_say_is_asked_in_other_ways_and_claims_nothing(tree, share, seed):
    "A person who knows a coarser tree: whatever the session's tree says, was said by them, and what was said is in it."
    truth = collapse_edges(tree, share, seed)
    oracle, names = OrdinalOracle(truth), NAMES[: tree.n_leaves]
    state = SessionState(Settings(names, "Ada", seed % 1000, 0))
    while state.question:
        state = steps(state, [simulated_answer(oracle, state.question)])
    silent = [answer for answer in state.answers if not answer.answer]
    assert len(state.answers) <= MAX_EQUIVALENT * (len(state.insertion.rows) + state.insertion.n_open)
    result = OrdinalOracle(state.hierarchy) if tree.n_leaves > 2 else None
    for answer in state.answers:
        if answer.answer:
            assert result(np.array([answer.shown])).item() == answer.answer - 1
    if not silent:
        assert state.hierarchy.to_dendrogram().same_tree(tree)
    if share == 1 and tree.n_leaves > 2:
        assert state.hierarchy.degree == tree.n_leaves


def test_other_ways_ask_about_the_same_pivot():
    "By definition: the pair's lowest common cluster, and the sides the two stand on."
    grown = GrowingTree(12)
    for x in range(1, 12):
        grown.add_sibling(x - 1 if x % 2 else grown.root(), x)
    oracle = HierarchyOracle(grown.dendrogram())
    for l, r in combinations(range(12), 2):
        pairs = equivalent_queries(grown, l, r)
        assert pairs[0] == (l, r) and 1 <= len(pairs) <= 3 == MAX_EQUIVALENT and len(set(pairs)) == len(pairs)
        top = oracle.lca_step(np.array([l]), np.array([r]))
        for a, b in pairs[1:]:
            assert oracle.lca_step(np.array([a]), np.array([b])) == top
            assert a == l or oracle.lca_step(np.array([a]), np.array([l])) < top
            assert b == r or oracle.lca_step(np.array([b]), np.array([r])) < top


def test_places_on_the_screen_are_mixed():
    counts = np.zeros((3, 3))
    for seed in range(200):
        question = SessionState(Settings(NAMES, "Ada", seed)).question
        counts[np.arange(3), np.argsort(np.argsort(question.shown))] += 1
    assert counts.min() > 40  # each 200/3, standard deviation 6.7


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=60), st.integers(4, 12), st.integers(0, 100), st.integers(1, 5))
def test_any_answers_lead_to_an_end_and_every_clash_is_one(answers, n, seed, every):
    "Somebody who presses keys at random; afterwards a person with a tree takes over, and settles."
    state, oracle = (
        SessionState(Settings(NAMES[:n], "Ada", seed, every)),
        HierarchyOracle(random_hierarchy(n, "split", seed)),
    )
    for answer in answers:
        if state.question:
            state = steps(state, [answer])
    for _ in range(400):
        if state.question is None:
            break
        state = steps(state, [simulated_answer(oracle, state.question)])
    assert state.question is None and state.hierarchy.n_items == n
    assert all(OrdinalOracle(state.hierarchy)(np.array([row])).item() == 2 for row in state.insertion.rows)
    for clash in state.inconsistencies:
        with pytest.raises(InconsistentTriplets):
            consistent_hierarchy(
                Triplets([(*sorted(set(row[:3]) - {row[row[3]]}), row[row[3]]) for row in clash.answers.tolist()], n)
            )


def test_a_slip_is_noticed_and_the_last_word_counts():
    oracle = HierarchyOracle(tree := random_hierarchy(12, "split", 1))
    for seed in range(12):  # the repeated answer is wrong once; or the first was
        for wrong in ("again", "first"):
            state = SessionState(Settings(NAMES, "Ada", seed, 4))
            slipped = None
            while state.question:
                right = simulated_answer(oracle, state.question)
                slip = slipped is None and (
                    state.question.trial_type == "again" if wrong == "again" else len(state.answers) == 0
                )
                if slip:
                    slipped = frozenset(state.question.shown)
                state = steps(state, [right % 3 + 1 if slip else right])
                if state.doubt:
                    assert state.question.trial_type == "settle"
                    assert frozenset(state.question.shown) == slipped
                    assert {frozenset(answer.shown) for answer in state.doubt} == {slipped}
            noticed = any(answer.trial_type == "settle" for answer in state.answers)
            if wrong == "again":
                assert noticed
            if noticed:
                assert state.hierarchy.to_dendrogram().same_tree(tree)
                assert len(state.inconsistencies) >= 1
                assert state.consistency.n_same == state.consistency.n_repeated - 1
            else:
                assert not state.hierarchy.to_dendrogram().same_tree(tree)


# ---- p


def test_agreement_and_p():
    for p in np.linspace(1 / 3, 1, 50):
        assert right_answer_probability(p**2 + 2 * ((1 - p) / 2) ** 2) == pytest.approx(
            p
        )  # both right, or the same of two wrong ones
    assert right_answer_probability(0) == 1 / 3


def test_interval_covers_exactly():
    for m in (1, 4, 9, 30):
        intervals = [Consistency(m, k).interval for k in range(m + 1)]
        assert all(low <= Consistency(m, k).p <= high for k, (low, high) in enumerate(intervals))
        assert intervals[-1][1] == 1
        for p in np.linspace(0.334, 1, 60):
            chances = [binom.pmf(k, m, p**2 + (1 - p) ** 2 / 2) for k in range(m + 1)]
            assert sum(c for c, (low, high) in zip(chances, intervals) if low <= p <= high + 1e-12) >= 0.9
    assert Consistency(0, 0).p is None and Consistency(0, 0).interval == pytest.approx((1 / 3, 1))


# ---- the careful stage: p is used


@settings(max_examples=40, deadline=None)
@given(trees)
def test_rows_of_a_tree_make_the_tree(tree):
    "By definition: each holds; and BUILD finds nothing else."
    grown, names = GrowingTree(tree.n_leaves), NAMES[: tree.n_leaves]
    for x in range(1, tree.n_leaves):
        grown.add_sibling(x // 2, x)
    rows, truth = rows_of_tree(grown), grown.dendrogram()
    assert len(rows) == tree.n_leaves - 2 and all(holds(truth, *row) for row in rows)
    assert build_tree(rows, range(tree.n_leaves), names).to_dendrogram().same_tree(truth)


def test_the_careful_stage_outvotes_slips(tmp_path):
    """p = 0.8, 12 people: one wrong tree in twenty is promised; then 4 or more of 12 have probability below 0.003.

    The plain sessions do worse.
    """
    tree, plain, careful = random_hierarchy(8, "split", 1), 0, 0
    for seed in range(12):
        session, oracle = Session(NAMES[:8], seed=seed, repeat_every=0), Noisy(HierarchyOracle(tree), 0.8, seed)
        plain += to_the_end(session, oracle).state.hierarchy.to_dendrogram().same_tree(tree)
        assert session.be_careful(0.8)
        assert session.state.at_most is None
        assert session.state.expected > 10
        assert "no limit" in session.state.left_text
        careful += to_the_end(session, oracle).state.hierarchy.to_dendrogram().same_tree(tree)
        found = session.state.hierarchy.to_dendrogram()
        against = sum(not holds(found, *answer.row) for answer in session.state.answers if answer.answer)
        assert session.state.n_against == against and session.state.inconsistencies == [] and session.state.at_most == 0
    assert binom.cdf(8, 12, 0.95) < 0.003 and careful >= 9 > plain


def test_careful_is_kept_and_taken_back(tmp_path):
    oracle = Noisy(HierarchyOracle(random_hierarchy(12, "split", 1)), 0.7, 3)
    session = to_the_end(Session(NAMES, tmp_path / "j.jsonl", "Ada", 2, 3), oracle)
    before = session.state
    assert before.consistency.n_same < before.consistency.n_repeated
    session.be_careful()
    assert session.state.careful == pytest.approx(min(max(before.consistency.p, 0.6), 0.95))
    assert session.question.trial_type == "careful"
    for count in range(5):
        session.answer(simulated_answer(oracle, session.question) if count != 2 else 0)
    assert Session(NAMES, tmp_path / "j.jsonl").state == session.state
    for _ in range(6):
        session.undo()
    assert session.state == before == Session(NAMES, tmp_path / "j.jsonl").state


def test_cannot_say_for_ever_ends_the_careful_stage():
    session = Session(NAMES[:6])
    session.be_careful(0.9)
    while session.question:
        session.answer(0)
    assert session.state.hierarchy.n_items == 6 and session.state.insertion.n_open > 0


# ---- the journal

ACTIONS = st.lists(st.sampled_from(["answer"] * 6 + ["undo", "kill", "tear", "careful"]), max_size=40)


@settings(max_examples=40, deadline=None)
@given(ACTIONS, st.integers(0, 1000), st.randoms(use_true_random=False))
def test_resumed_equals_uninterrupted(tmp_path_factory, actions, seed, chance):
    "Answers, undos, kills and torn lines in any order: the session is the one of the answers that were left."
    path = tmp_path_factory.mktemp("j") / "j.jsonl"
    session, plain = Session(NAMES, path, "Ada", seed), []
    for action in actions:
        if action == "answer" and session.question:
            plain.append(chance.randrange(4))
            assert session.answer(plain[-1])
        elif action == "undo" and plain:
            plain.pop()
            assert session.undo()
        elif action == "careful":
            plain.append(0.8)
            assert session.be_careful(0.8)
        elif action == "kill":
            session = Session(NAMES, path)
        elif action == "tear":
            data = path.read_bytes()
            path.write_bytes(data + b'{"q":[1,2,3],"a":1,"why":"new","crc":"00000000'[: chance.randrange(1, 44)])
            session = Session(NAMES, path)
            assert "torn" in session.report
        assert session.state == steps(SessionState(session.state.settings), plain)
    assert read_journal(path).answers == session.state.answers
    assert Session(NAMES, path, "Ada", seed).question == session.question


def test_a_page_that_is_behind_does_not_answer(tmp_path):
    first, second = (Session(NAMES, tmp_path / "j.jsonl") for _ in range(2))
    seen = second.n_records
    assert first.answer(1) and not second.answer(2, at=seen) and second.state == first.state
    assert second.answer(2) and not first.undo(at=seen + 1) and first.state == second.state and first.n_records == 2


def test_journals_that_do_not_fit(tmp_path):
    path = tmp_path / "j.jsonl"
    Session(NAMES, path, "Ada", 1, 5).answer(1)
    before = path.read_bytes()
    for words, says in (
        ((NAMES[:-1], path), "'item 11'"),
        ((NAMES + ["more"], path), "'more'"),
        ((NAMES, path, "Bob"), "person = 'Bob'"),
        ((NAMES, path, "Ada", 2), "seed = 2"),
        ((NAMES, path, "Ada", 1, 6), "repeat_every = 6"),
    ):
        with pytest.raises(JournalError, match=says):
            Session(*words)
    assert path.read_bytes() == before
    assert Session(NAMES[::-1], path).state.settings.names == tuple(
        NAMES
    )  # the same items in another order are the same items
    session = Session(NAMES, path)
    path.write_bytes(before[:-30])
    with pytest.warns(UserWarning, match="the 0 records before it are intact"):
        assert read_journal(path).n_records == 0
    with pytest.raises(JournalError, match="shortened"):
        session.answer(1)
    with pytest.raises(InputError, match="existing file"):
        read_journal(tmp_path / "nowhere")


# ---- bad input


def test_bad_files(tmp_path):
    (tmp_path / "latin.txt").write_bytes("pé\nb".encode("latin-1"))
    (tmp_path / "twice.txt").write_text("a\nb\na\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "a.png").write_text("no picture")
    for name, says in (
        ("latin.txt", "utf-8"),
        ("twice.txt", "distinct"),
        ("empty", "a folder with pictures"),
        ("wrong", "PNG, JPEG or GIF pictures; got .*a.png"),
    ):
        with pytest.raises(InputError, match=says):
            read_items(tmp_path / name)
    if os.name == "posix":
        (tmp_path / "links").mkdir()
        (tmp_path / "links" / "a.png").symlink_to(tmp_path / "nowhere")
        with pytest.raises(InputError, match="pictures; got .*a.png"):
            read_items(tmp_path / "links")
        with pytest.raises(InputError, match="a folder or a text file"):
            read_items(os.devnull)
    (tmp_path / "windows.txt").write_bytes("\ufeffa\r\n\r\n  b \r\n".encode())
    assert [item.name for item in read_items(tmp_path / "windows.txt")] == ["a", "b"]


test_bad_input = refusals(
    ("^p must be", Session(NAMES).be_careful, 0.5, 1.0, 2, "0.9", float("nan"), True),
    ("^p must be given", lambda p: Session(NAMES).be_careful(), None),
    ("person must be a name", lambda person: Session(NAMES, person=person), "", 7, "\ud800"),
    ("seed", lambda seed: Session(NAMES, seed=seed), -1),
    ("repeat_every", lambda every: Session(NAMES, repeat_every=every), -1, 1.5),
    ("answer", Session(NAMES[:3]).answer, 4, -1, "1", 1.5, True, None),
    ("at the end", Session(NAMES[:2]).answer, 1),
    ("^at must be", lambda at: Session(NAMES[:3]).answer(1, at), -1, "0", 1.5),
    ("undo", lambda _: Session(NAMES).undo(), None),
    ("form", lambda form: export_session(Session(NAMES), form), ".tex"),
    ("answers", lambda form: export_session(Session(NAMES), form), "answers.csv"),
    ("distinct; got 'a'", read_items, ["a", "b", "a"]),
    ("at least two", read_items, ["a"], []),
    ("a sequence", read_items, 7, b"ab", {"a", "b"}, np.array([["a", "b"], ["c", "d"]])),
    ("existing folder", read_items, "nowhere"),
    ("existing text file; got 'xx", read_items, "x" * 5000),
    ("blanks", read_items, ["a ", "b"], ["", "b"]),
    ("printable", read_items, ["a\tb", "c"]),
    ("missing", read_items, [None, "b"], [float("nan"), "b"]),
    ("pictures", read_items, [Item("a", 5), "b"]),
    ("whole characters", read_items, ["\ud800", "b"]),
)


# ---- items


def test_item_sets(tmp_path):
    from comparison_hc.core.images import png_bytes

    assert len(read_items()) >= 12
    assert all(item.name and item.picture for item in read_items())
    assert len(read_items("digits")) == 20
    for name in ("b", "a"):
        (tmp_path / f"{name}.png").write_bytes(png_bytes(np.eye(3)))
    (tmp_path / "notes.doc").write_text("x")
    assert [item.name for item in read_items(tmp_path)] == ["a", "b"]
    assert all(item.is_image for item in read_items(str(tmp_path)))
    (tmp_path / "list.txt").write_text("\ufeff one\n\ntwo \n", encoding="utf-8")
    assert [item.name for item in read_items(tmp_path / "list.txt")] == ["one", "two"]


# ---- files, and people


def test_exports(tmp_path):
    tree = random_hierarchy(12, "split", 4)
    session, names = Session(), [item.name for item in read_items()]
    for count in range(1000):
        if session.question is None:
            break
        if count in (1, 8):
            for form in EXPORTS:
                assert len(export_session(session, form)) > 20
        session.answer(simulated_answer(HierarchyOracle(tree), session.question))
    assert Dendrogram.from_newick(export_session(session, ".nwk").strip(), names=names).same_tree(tree)
    Z = np.array(
        [[float(cell) for cell in line.split(",")] for line in export_session(session, ".csv").splitlines()[1:]]
    )
    assert Dendrogram.from_linkage(Z).same_tree(tree)
    assert export_session(session, ".png").startswith(b"\x89PNG")
    assert "penguin" in export_session(session, ".svg")
    assert "What somebody thinks" in export_session(session, ".html")
    (tmp_path / "a.csv").write_text(export_session(session, "answers.csv"), encoding="utf-8")
    answers = read_comparisons(tmp_path / "a.csv")
    assert len(answers) == 2 * len(session.state.answers)
    number = {name: at for at, name in enumerate(names)}
    assert all(holds(tree, *(number[answers.names[item]] for item in row)) for row in answers.array.tolist())


def sitting(folder, person, oracle, items=NAMES, **options):
    return to_the_end(Session(items, folder / f"{person}.jsonl", person, **options), oracle).path


def test_pooled_people(tmp_path):
    tree = random_hierarchy(12, "split", 2)
    ada, bob = (sitting(tmp_path, person, HierarchyOracle(tree)) for person in ("Ada", "Bob"))
    cleo = sitting(tmp_path, "Cleo", HierarchyOracle(random_hierarchy(12, "split", 3)), repeat_every=0)
    pool = pool_journals([ada, bob])
    assert pool.inconsistent_subset() is None
    assert pool.hierarchy()[0].same_tree(tree)
    assert set(pool.triplets.respondents) == {"Ada", "Bob"}
    table = pool.agreement()
    assert table.tree_agreement[0] == 1 and table.same_answers[0] == table.common_questions[0]
    assert table.triples[0] == 220
    pool = pool_journals([ada, bob, cleo])
    clash = pool.inconsistent_subset()
    assert isinstance(clash, InconsistentTriplets)
    assert len(pool.who_said()) == len(clash.answers)
    assert any("Cleo" in line for line in pool.who_said())
    assert any("Ada" in line or "Bob" in line for line in pool.who_said())
    assert pool.hierarchy()[0].n_leaves == 12 and len(pool.agreement()) == 3
    first, other = HierarchyOracle(tree), HierarchyOracle(random_hierarchy(12, "split", 3))
    triples = np.array(list(combinations(range(12), 3)))
    assert pool.agreement().tree_agreement[1] == pytest.approx(np.mean(first(triples) == other(triples)))
    lines = len(read_journal(ada).answers) + len(read_journal(bob).answers) + len(read_journal(cleo).answers)
    assert len(pool.triplets) == 2 * lines


def test_pooled_items_may_stand_in_another_order(tmp_path):
    tree = random_hierarchy(12, "split", 2)
    ada = sitting(tmp_path, "Ada", HierarchyOracle(tree))
    bob = sitting(tmp_path, "Bob", HierarchyOracle(tree.relabel(list(range(11, -1, -1)))), NAMES[::-1])
    assert pool_journals([ada, bob]).hierarchy()[0].same_tree(tree)


def test_journals_that_cannot_be_pooled(tmp_path):
    oracle = HierarchyOracle(random_hierarchy(12, "split", 2))
    ada, few = sitting(tmp_path, "Ada", oracle), sitting(tmp_path, "Few", oracle, NAMES[:5])
    (tmp_path / "copy.jsonl").write_bytes(ada.read_bytes())
    for paths, says in (
        ([ada, few], "the same items"),
        ([ada, tmp_path / "copy.jsonl"], "only journal"),
        ([], "at least one"),
        (str(ada), "sequence"),
        ([tmp_path / "no"], "existing file"),
    ):
        with pytest.raises(InputError, match=says):
            pool_journals(paths)
    Session(NAMES, tmp_path / "new.jsonl", "New")
    with pytest.raises(InputError, match="at least one answer"):
        pool_journals([tmp_path / "new.jsonl"]).hierarchy()
    with open(ada, "ab") as file:
        file.write(b"junk\n")
    with pytest.raises(JournalError, match="damaged.*nothing was changed"):
        pool_journals([ada])
    assert ada.read_bytes().endswith(b"junk\n")


# ---- the terminal


def shown_numbers(text, names):
    "The three items of the last question on a screen."
    return [names.index(line.strip().split("  ", 1)[1]) for line in text.splitlines()[-4:-1]]


class Terminal:
    "The command in a process; reads until it waits, types what a tree says."

    def __init__(self, folder, *words):
        self.folder = folder
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        text = dict(text=True, encoding="utf-8", bufsize=1, env={**os.environ, "PYTHONIOENCODING": "utf-8"})
        self.process = subprocess.Popen([*CALL, "ask", *map(str, words)], cwd=folder, **streams, **text)

    def read(self):
        "What it says until it waits for a line, or ends."
        text = ""
        while not text.endswith("stop): ") and (character := self.process.stdout.read(1)):
            text += character
        return text

    def type(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def answer(self, oracle, names, count):
        "Answer so many questions, or all."
        while count and (text := self.read()).endswith("stop): "):
            self.type(oracle(np.array([shown_numbers(text, names)])).item() + 1)
            count -= 1
        return text


def typed(folder, text, *words):
    "The command in a process that reads this text to its end."
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run([*CALL, "ask", *words], cwd=folder, input=text, capture_output=True, env=environment)


def test_terminal_killed_in_the_middle_continues(tmp_path):
    "kill -9, Ctrl-C, a half-written line, the end of the input: no answer is lost, and the tree is right."
    tree = random_hierarchy(12, "split", 6)
    oracle, journal = HierarchyOracle(tree), tmp_path / "list-Ada.jsonl"
    (tmp_path / "list.txt").write_text("\n".join(NAMES))
    words = ("list.txt", "--person", "Ada")
    killed = Terminal(tmp_path, *words)
    killed.answer(oracle, NAMES, 4)
    killed.read()
    killed.process.send_signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    killed.process.wait(30)
    assert len(read_journal(journal).answers) == 4
    with open(journal, "ab") as file:
        file.write(b'{"q":[0,')
    if os.name == "posix":
        stopped = Terminal(tmp_path, *words)
        stopped.answer(oracle, NAMES, 5)
        stopped.read()
        stopped.process.send_signal(signal.SIGINT)
        out, err = stopped.process.communicate(timeout=30)
        assert stopped.process.returncode == 130
        assert "torn" in err
        assert "9 answers are in list-Ada.jsonl, the same command continues" in err
        assert "Traceback" not in err
    done = typed(tmp_path, b"t\nnonsense\nu\n", *words)
    said = (b"Please type", b"The same command continues", b"level")
    assert done.returncode == 0 and all(words in done.stdout for words in said)
    n_before = len(read_journal(journal).answers)
    assert n_before == (8 if os.name == "posix" else 3)
    last = Terminal(tmp_path, *words, "--out", "t.nwk", "--answers-out", "a.csv")
    text = last.answer(oracle, NAMES, -1)
    assert "repeated questions answered the same" in text and "wrote t.nwk" in text and last.process.wait(30) == 0
    assert Dendrogram.from_newick((tmp_path / "t.nwk").read_text().strip(), names=NAMES).same_tree(tree)
    # as if nothing had happened
    assert read_journal(journal).answers == to_the_end(Session(NAMES, person="Ada"), oracle).state.answers
    assert main(["cluster", str(tmp_path / "a.csv"), "--out", str(tmp_path / "c.nwk")]) == 0
    assert Dendrogram.from_newick((tmp_path / "c.nwk").read_text().strip()).n_leaves == 12


def test_pool_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    oracle = HierarchyOracle(random_hierarchy(12, "split", 2))
    for person in ("Ada", "Bob"):
        sitting(tmp_path, person, oracle)
    assert main(["pool", "Ada.jsonl", "Bob.jsonl", "--out", "p.html", "--answers-out", "p.csv"]) == 0
    out = capsys.readouterr().out
    assert "tree_agreement" in out
    assert "BUILD" in out
    assert "What Ada, Bob think" in Path("p.html").read_text(encoding="utf-8")
    assert {row["respondent"] for row in csv.DictReader(Path("p.csv").read_text().splitlines())} == {"Ada", "Bob"}
    assert main(["cluster", "p.csv"]) == 0


@pytest.mark.parametrize(
    "words, says",
    [
        (["ask", "nowhere.txt"], "nowhere.txt"),
        (["ask", "one.txt"], "at least two"),
        (["ask", "twice.txt"], "distinct"),
        (["ask", "--out", "a.tex"], "--out"),
        (["ask", "--answers-out", "a.txt"], "--answers-out"),
        (["ask", "--journal", "one.txt"], "journal"),
        (["ask", "--repeat-every", "-1"], "repeat_every"),
        (["ask", "--careful", "much"], "--careful"),
        (["ask", "--journal", ""], "journal must be"),
        (["ask", "--person", "x" * 400], "journal must be a file"),
        (["ask", "x" * 5000], "items must be"),
        (["ask", "--journal", "a\0b"], "journal must be"),
        (["pool"], "FILE"),
        (["pool", "nowhere"], "nowhere"),
    ],
)
def test_bad_words_are_one_line(words, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("one.txt").write_text("a\n")
    Path("twice.txt").write_text("a\na\n")
    assert says in refused(capsys, *words) and sorted(os.listdir()) == ["one.txt", "twice.txt"]


def test_words_of_the_terminal_that_are_no_answers(tmp_path):
    "Bytes that are no text, empty lines, other numbers: asked again, nothing recorded."
    done = typed(tmp_path, b"\xff\xfe\n\n4\nyes\n-1\n1\n", "--journal", "j.jsonl")
    assert done.returncode == 0 and done.stderr == b"" and done.stdout.count(b"Please type") == 5
    assert [answer.answer for answer in read_journal(tmp_path / "j.jsonl").answers] == [1]


def test_careful_with_another_p_begins_anew(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", open(os.devnull))
    for words, p in ((["0.8"], 0.8), (["0.9"], 0.9), ([], 0.9), (["0.9"], 0.9)):
        assert main(["ask", "--journal", "j.jsonl", "--careful", *words]) == 0
        assert read_journal("j.jsonl").state.careful == p
    assert read_journal("j.jsonl").n_records == 2
    capsys.readouterr()
    said = refused(capsys, "ask", "--journal", "j.jsonl", "--careful", "0")
    assert "p must be a number in [0.501, 0.999]; got 0.0" in said


def test_a_seed_of_numpy_begins_a_journal_like_any_other(tmp_path):
    paths = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for path, kind in zip(paths, (int, np.int64)):
        Session(list("abcd"), path, "Ada", seed=kind(5), repeat_every=kind(3))
    assert paths[0].read_bytes() == paths[1].read_bytes() != b""
