"""Participants: one question and a counter in a browser, the log that a terminal writes, lists for other programs."""

import json
import re
import signal
import subprocess
import sys
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from comparison_hc.cli import main
from comparison_hc.comparisons import read_comparisons
from comparison_hc.core.images import png_bytes
from comparison_hc.core.validation import InputError, InputWarning
from comparison_hc.dashboards.participants import Study, serve_study, text_html
from comparison_hc.elicitation.session import Session, read_journal
from comparison_hc.elicitation.trial_list import (
    COLUMNS,
    Trial,
    TrialSession,
    collect_answers,
    jspsych_timeline,
    psychopy_conditions,
    read_trial_list,
    run_trials,
    trials_table,
)

NAMES = ("cat", "dog", "trout", "pike", "cow")
THREES = [("cat", "dog", "trout"), ("pike", "trout", "cow"), ("cow", "pike", "dog"), ("dog", "cat", "pike")]
ASKS = ("triplets", "odd-one-out", "central", "triplets")


def written_list(folder, asks=ASKS, name="list.csv"):
    "A list of four questions."
    rows = [[number, each, *three, "new", ""] for number, (each, three) in enumerate(zip(asks, THREES), 1)]
    pd.DataFrame(rows, columns=COLUMNS).to_csv(folder / name, index=False)
    return folder / name


def untimed(path):
    "What a log says, without times and consent."
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    return [
        {key: value for key, value in each.items() if key not in ("time", "ms")}
        for each in lines
        if "consent" not in each
    ]


class Person:
    "Somebody at the page of a study."

    def __init__(self, browser, address, width=1280, touch=False):
        self.context = browser.new_context(viewport=dict(width=width, height=800), has_touch=touch)
        self.page, self.complaints = self.context.new_page(), []
        self.page.set_default_timeout(120_000)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda message: message.type == "error" and self.complaints.append(message.text))
        self.page.goto(address)

    def begin(self):
        self.page.click("#start")
        self.page.wait_for_selector("#question:not([hidden])")

    def wait(self, at):
        self.page.wait_for_selector(f"body[data-at='{at}']")

    def text(self):
        return self.page.inner_text("body").split("\n")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    "A folder of pictures whose names tell too much."
    folder, rng = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0)
    for name in NAMES:
        (folder / f"{name}.png").write_bytes(png_bytes(rng.integers(0, 255, (60, 80)).astype(np.uint8)))
    return folder


@pytest.mark.parametrize("width", [1280, 390])
def test_a_list_in_a_browser_is_the_list_in_a_terminal(browser, tmp_path, pictures, width):
    path = written_list(tmp_path)
    (tmp_path / "consent.md").write_text("# A study\n\nYou can stop at any time & leave.", encoding="utf-8")
    (tmp_path / "end.html").write_text("<p>Your code is <b>4711</b>.</p>", encoding="utf-8")
    words = dict(consent=tmp_path / "consent.md", end=tmp_path / "end.html")
    with serve_study(pictures, path, tmp_path, **words) as study:
        person = Person(browser, f"{study.address}&person=P07", width, touch=True)
        kept = "async () => { window.isFull = true }"
        person.page.evaluate(f"() => {{ document.documentElement.requestFullscreen = {kept} }}")
        assert "You can stop at any time & leave." in person.text()
        log = tmp_path / "list-P07.jsonl"
        assert untimed(log) == []
        person.begin()
        person.wait(1)
        assert person.page.evaluate("window.isFull")  # asked for by the click that agrees
        shown = [line for line in person.text() if line.strip()]
        assert shown == ["1 of 4", "Which one below is more like the one above?"]  # no names, no tree, no score
        room = person.page.evaluate("[innerWidth, innerHeight]")
        boxes = [image.bounding_box() for image in person.page.locator("#shown img").all()]
        assert len(boxes) == 3 and max(box["y"] + box["height"] for box in boxes) <= room[1]
        assert max(box["width"] / room[0] for box in boxes) > 0.4  # as large as three can be
        person.page.wait_for_timeout(400)
        person.page.keyboard.press("ArrowRight")
        person.wait(2)
        person.page.tap("#shown button >> nth=2")
        person.wait(3)
        person.page.reload()  # and where it was it goes on
        person.begin()
        person.wait(3)
        assert "3 of 4" in person.text()
        person.page.keyboard.press("2")
        person.wait(4)
        person.page.keyboard.press("1")
        person.page.wait_for_selector("#end:not([hidden])")
        assert "Your code is 4711." in person.text() and not person.complaints
        person.context.close()
    here = TrialSession(read_trial_list(path), tmp_path / "terminal.jsonl", "P07")
    assert run_trials(here, iter("3322"), lambda *_, **__: None)
    assert untimed(log) == untimed(tmp_path / "terminal.jsonl") == [{"a": 3}, {"a": 3}, {"a": 2}, {"a": 2}]
    table = trials_table(log)
    assert table.ms[0] >= 400 and (table.ms > 0).all() and table.chosen.tolist() == ["trout", "cow", "pike", "cat"]
    times = [datetime.fromisoformat(time) for time in table.time]
    assert times == sorted(times) and times[0].utcoffset().total_seconds() == 0
    agreed = json.loads(log.read_text(encoding="utf-8").splitlines()[1])
    assert datetime.fromisoformat(agreed["consent"]) <= times[0]


def test_questions_chosen_by_the_answers_are_those_of_the_terminal(browser, tmp_path):
    with serve_study(["cat", "dog", "trout", "pike"], None, tmp_path, person="Ada") as study:
        person = Person(browser, study.address)
        assert "1, 2 and 3, in the order shown" in " ".join(person.text())  # they are stacked on a narrow screen
        person.begin()
        for _ in range(20):
            if person.page.locator("#end:not([hidden])").count():
                break
            at = person.page.evaluate("document.body.dataset.at")
            person.page.keyboard.press("1")
            person.page.wait_for_function(
                f"document.body.dataset.at !== '{at}' || !document.getElementById('end').hidden"
            )
        (log,) = tmp_path.glob("*.jsonl")
        person.context.close()
    same = Session(["cat", "dog", "trout", "pike"], person="Ada")
    while same.question:
        same.answer(1)
    assert read_journal(log).answers == same.state.answers and len(same.state.answers) > 1
    assert "consent" not in log.read_text(encoding="utf-8")  # there was no text to agree to
    assert all(answer.time and answer.ms > 0 for answer in read_journal(log).answers)


def test_nothing_is_counted_twice_or_for_somebody_else(tmp_path):
    path, wish = written_list(tmp_path), dict(do="answer", answer=3, ms=12.0)
    with serve_study(None, path, tmp_path) as study:
        one, two = study.session("P1"), study.session("P2")
        first = study.obey(one, wish | dict(at=0))
        assert first["at"] == 1 and study.obey(one, wish | dict(at=0)) == first  # sent again: the reply was lost
        assert len(one.answers) == 1 and two.answers == []
        for bad in (dict(answer=0), dict(answer=4), dict(answer=None), dict(answer=2, ms=-1.0), dict(answer=2, ms="x")):
            with pytest.raises(InputError):
                study.obey(one, wish | dict(at=1) | bad)
        assert len(one.answers) == 1
    assert untimed(tmp_path / "list-P1.jsonl") == [{"a": 3}]


def test_other_tabs_a_terminal_and_a_restart_lose_and_double_nothing(browser, tmp_path):
    path, log = written_list(tmp_path), tmp_path / "list.jsonl"
    with serve_study(None, path, tmp_path, person="P1") as study:
        port = study.port
        one, two = Person(browser, study.address), Person(browser, study.address)
        for tab in (one, two):
            tab.begin()
            tab.wait(0)
        two.page.keyboard.press("2")
        two.wait(1)
        one.page.keyboard.press("1")  # about a question that the other tab has answered
        one.wait(1)
        assert "2 of 4" in one.text()
        TrialSession(read_trial_list(path), log, "P1").answer(1)
        two.page.keyboard.press("3")  # about a question that was answered in the terminal
        two.wait(2)
    two.page.keyboard.press("2")
    two.page.wait_for_function("document.getElementById('trouble').textContent.startsWith('No connection')")
    with serve_study(None, path, tmp_path, person="P1", port=port):
        two.wait(3)
    for tab in (one, two):
        tab.context.close()
    assert untimed(log) == [{"a": 3}, {"a": 1}, {"a": 2}]


def test_the_command_goes_on_after_ctrl_c(browser, tmp_path):
    "What was confirmed is in the log once; what was typed while nobody listened is sent when somebody does."
    words = [sys.executable, "-m", "comparison_hc", "ask", "--list", str(written_list(tmp_path)), "--person", "P1"]

    def start(*more):
        process = subprocess.Popen([*words, "--browser", *more], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
        return process, re.search(r"http\S+", process.stdout.readline())[0]

    def stop(process):
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 0

    process, address = start()
    try:
        person = Person(browser, address)
        person.begin()
        person.wait(0)
        for at, key in ((1, "2"), (2, "1")):
            person.page.keyboard.press(key)
            person.wait(at)
        stop(process)
        person.page.keyboard.press("3")
        person.page.wait_for_function("document.getElementById('trouble').textContent.startsWith('No connection')")
        process, again = start("--port", re.search(r":(\d+)/", address)[1])
        person.wait(3)
        person.page.reload()
        assert again == address and person.page.inner_text("#start") == "Continue"
        person.context.close()
        stop(process)
    finally:
        process.kill()
    assert untimed(tmp_path / "list.jsonl") == [{"a": 3}, {"a": 1}, {"a": 3}]


def test_an_answer_waits_for_the_address_that_the_page_has(browser, tmp_path):
    "Started again with another token, as in a network: the page keeps its answer until the token is the old one."
    path, first = written_list(tmp_path), dict(token="first-token")
    with serve_study(None, path, tmp_path, person="P1", **first) as study:
        person = Person(browser, study.address)
        person.begin()
        person.wait(0)
    again = dict(person="P1", port=study.port)
    with serve_study(None, path, tmp_path, token="other-token", **again):
        person.page.keyboard.press("2")
        person.page.wait_for_function("document.getElementById('trouble').textContent.startsWith('No connection')")
    with serve_study(None, path, tmp_path, **first, **again):
        person.wait(1)
        person.context.close()
    assert untimed(tmp_path / "list.jsonl") == [{"a": 3}]


def test_in_a_network_the_command_says_how_the_address_stays(tmp_path):
    words = [sys.executable, "-m", "comparison_hc", "ask", "--list", str(written_list(tmp_path)), "--browser"]
    for more in ([], ["--token", "my-study-7"]):
        command = [*words, "--host", "0.0.0.0", *more]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
            address, _, hint = (process.stdout.readline() for _ in range(3))
            process.send_signal(signal.SIGINT)
        port, token = re.search(r":(\d+)/\?token=([\w-]+)", address).groups()
        assert hint.endswith(f"--port {port} --token {token}\n") and (not more or token == more[1])
    assert main(["ask", "--token", "my-study-7"]) != 0


def test_everyone_has_a_list_in_a_folder(tmp_path):
    lists = tmp_path / "lists"
    lists.mkdir()
    written_list(lists, ("central",) * 4, "P1.csv")
    written_list(tmp_path, name="P3.csv")
    with serve_study(None, lists, tmp_path) as study:
        assert study.view(study.session("P1"))["asks"] == "central"
        for other in ("P2", "../P3", ""):
            with pytest.raises(InputError, match="There is no list for"):
                study.session(other)
    with pytest.raises(InputError, match="all that .* asks about"):
        with serve_study(["cat", "dog"], written_list(tmp_path), tmp_path):
            pass


def test_lists_of_a_folder_are_read_before_anybody_comes(tmp_path, pictures):
    "Without a picture a participant would see a name, and a broken list would be found by the one who has it."
    lists = tmp_path / "lists"
    lists.mkdir()
    (lists / "answers.csv").write_text("i,j,k,respondent\ncat,dog,cow,P9\n", encoding="utf-8")  # of `plan --collect`
    with pytest.raises(InputError, match="--list must be"):
        with serve_study(pictures, lists, tmp_path):
            pass
    for person in ("P1", "P2"):
        written_list(lists, name=f"{person}.csv")
    with serve_study(pictures, lists, tmp_path):
        pass
    for wrong, words in (
        ("cat,owl,cow,new,", r"ITEMS must be all that .*P2.csv asks about; got \['owl'\]"),
        ("cat", "line 6"),
    ):
        with open(written_list(lists, name="P2.csv"), "a", encoding="utf-8") as file:
            file.write(f"5,central,{wrong}\n")
        with pytest.raises(InputError, match=words):
            with serve_study(pictures, lists, tmp_path):
                pass


def test_logs_of_a_folder_of_lists_go_where_they_are_sent(tmp_path):
    lists, logs = tmp_path / "lists", tmp_path / "new" / "logs"
    lists.mkdir()
    written_list(lists, name="P1.csv")
    for folder, expected in ((logs, logs), (None, lists)):
        with serve_study(None, lists, folder) as study:
            study.obey(study.session("P1"), dict(do="answer", answer=3, at=0, ms=1.0))
        assert untimed(expected / "P1.jsonl") == [{"a": 3}]


@pytest.mark.parametrize("of_everyone", [True, False])
def test_a_log_names_the_file_of_its_list(tmp_path, monkeypatch, of_everyone):
    path = written_list(tmp_path, name="P1.csv")
    with serve_study(None, tmp_path if of_everyone else path, tmp_path) as study:
        log = study.session("P1").path
    assert json.loads(log.read_text(encoding="utf-8"))["about"]["list"] == "P1.csv"
    monkeypatch.setattr("sys.stdin", iter_input("q\n"))
    assert main(["ask", "--list", str(path), "--person", "P1", "--journal", str(tmp_path / "terminal")]) == 0
    assert (tmp_path / "terminal").read_bytes() == log.read_bytes()


@pytest.mark.parametrize("named", [{}, {"list": "before.csv"}])
def test_a_log_without_a_list_or_of_a_renamed_one_is_read_and_goes_on(tmp_path, named):
    path, log = written_list(tmp_path), tmp_path / "list-P1.jsonl"
    questions = [[each, *three, "new", ""] for each, three in zip(ASKS, THREES)]
    about = dict(questions=questions, person="P1") | named
    old = json.dumps(dict(format="comparison_hc journal", version=3, kind="list", about=about)) + '\n{"a":3}\n'
    log.write_text(old, encoding="utf-8")
    assert len(collect_answers([log])[0]) == 1 and main(["pool", str(log)]) == 0
    with serve_study(None, path, tmp_path) as study:
        study.obey(study.session("P1"), dict(do="answer", answer=1, at=1))
    assert untimed(log) == [{"a": 3}, {"a": 1}] and log.read_text(encoding="utf-8").startswith(old)


def test_the_key_hint_of_a_mixed_list_holds_for_all_questions(tmp_path):
    for asks, hints in ((ASKS, ("1, 2 and 3", "←")), (("triplets",) * 4, ("←",)), (("central",) * 4, ("1, 2 and 3",))):
        with serve_study(None, written_list(tmp_path, asks), tmp_path / asks[1]) as study:
            page = study.page("P1").partition("press the keys ")[2].partition("</p>")[0]
        assert all((hint in page) == (hint in hints) for hint in ("1, 2 and 3", "←"))


def test_texts_are_text_unless_they_are_html(tmp_path):
    (tmp_path / "a.txt").write_text("# Hello\n\n1 < 2 <b>\n", encoding="utf-8")
    (tmp_path / "a.html").write_text("<b>Hello</b>", encoding="utf-8")
    assert text_html(tmp_path / "a.txt", "--end") == "<h1>Hello</h1>\n<p>1 &lt; 2 &lt;b&gt;</p>"
    assert text_html(tmp_path / "a.html", "--end") == "<b>Hello</b>"
    (tmp_path / "a.md").write_text("You:\n\n- may stop\n- keep <this>\n\n# It\ncosts - 5\n", encoding="utf-8")
    listed = "<p>You:</p>\n<ul><li>may stop</li><li>keep &lt;this&gt;</li></ul>\n<h1>It</h1>\n<p>costs - 5</p>"
    assert text_html(tmp_path / "a.md", "--consent") == listed
    with pytest.raises(InputError, match="--end must be an existing file"):
        text_html(tmp_path / "none.txt", "--end")


@pytest.mark.parametrize("kind", ["triplets", "odd-one-out", "central"])
@pytest.mark.parametrize("program", ["jspsych", "psychopy"])
def test_what_participants_answer_in_another_program_is_read(tmp_path, program, kind):
    "A list goes there, its data come back, and say what the same answers say here."
    path = written_list(tmp_path, (kind,) * 4)
    same, right = (("cat", "cat", "pike"), "cat") if kind == "triplets" else (("cat", "pike", "cat"), "pike")
    questions, places = (*read_trial_list(path), Trial(kind, same, "catch", right)), [3, 2, 2, 3, 2]
    session = TrialSession(questions, tmp_path / "here.jsonl", "P1")
    for place in places:
        session.answer(place)
    expected, _ = collect_answers([tmp_path / "here.jsonl"])
    if program == "jspsych":
        rows = []
        for each, place in zip(json.loads(jspsych_timeline(questions)), places):
            assert each["prompt"] != each["stimulus"]  # the plugin shows both, above and below the buttons
            response = place - (2 if kind == "triplets" else 1)  # the number of the button
            saved = dict(trial_type="html-button-response", stimulus=each["stimulus"], response=response, rt=500)
            rows.append(saved | each["data"])
        data = tmp_path / "data.json"
        data.write_text(json.dumps(rows), encoding="utf-8")
    else:
        (tmp_path / "conditions.csv").write_text(psychopy_conditions(questions), encoding="utf-8")
        table = pd.read_csv(tmp_path / "conditions.csv")
        keys = ["left" if place == 2 else "right" for place in places] if kind == "triplets" else places
        data = tmp_path / "data.csv"
        table.assign(**{"key_resp.keys": keys, "participant": "P1", "expName": "x"}).to_csv(data, index=False)
    with pytest.warns(InputWarning, match="1 of 5 rows are left out: catch trials"):
        found = read_comparisons(data, kind=kind, format=program)
    told = [[[each.names[item] for item in row] for row in each.array.tolist()] for each in (found, expected)]
    assert sorted(told[0]) == sorted(told[1]) and len(told[0]) == (4 if kind == "triplets" else 8)


def test_the_command_writes_lists_trials_and_who_answered(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written_list(tmp_path)
    written_list(tmp_path, ("central",) * 4, "same.csv")
    assert main(["ask", "--list", "same.csv", "--export", "list.json", "--export", "conditions.csv"]) == 0
    assert json.loads((tmp_path / "list.json").read_text(encoding="utf-8"))[0]["choices"] == list(THREES[0])
    assert main(["ask", "--list", "list.csv", "--export", "conditions.csv"]) != 0  # its lines ask different things
    assert main(["ask", "--list", "list.csv", "--export", "list.csv"]) != 0  # not over itself
    assert main(["ask", "--consent", "x"]) != 0 and main(["ask", "--export", "x.json"]) != 0
    for person in ("P1", "P2"):
        monkeypatch.setattr("sys.stdin", iter_input("3\n3\n2\n2\n"))
        words = ["ask", "--list", "list.csv", "--person", person, "--journal", f"{person}.jsonl"]
        assert main([*words, "--answers-out", f"{person}.csv", "--trials-out", f"{person}-trials.csv"]) == 0
        assert set(pd.read_csv(f"{person}.csv").respondent) == {person}
        assert (pd.read_csv(f"{person}-trials.csv").ms >= 0).all()
    monkeypatch.setattr("sys.stdin", iter_input("1\nq\n"))
    assert main(["ask", "--person", "Zoe", "--answers-out", "zoe.csv"]) == 0
    assert set(pd.read_csv("zoe.csv").respondent) == {"Zoe"}
    capsys.readouterr()
    assert main(["pool", "P1.jsonl", "P2.jsonl", "--answers-out", "all.csv"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"people +2", printed) and "(chance: 1/3)" in printed
    assert set(pd.read_csv("all.csv").respondent) == {"P1", "P2"}
    assert main(["pool", "P1.jsonl"]) == 0
    capsys.readouterr()
    written = pd.read_csv("P1.csv").drop(columns="respondent").shape[0] + pd.read_csv("zoe.csv").shape[0]
    assert main(["pool", "P1.jsonl", "animals-Zoe.jsonl", "--answers-out", "mixed.csv"]) == 0
    mixed = pd.read_csv("mixed.csv")
    assert set(mixed.respondent) == {"P1", "Zoe"} and len(mixed) == written  # what each of them said, and no more
    assert re.search(r"Zoe +1 ", capsys.readouterr().out)
    assert main(["pool", "P1.jsonl", "P2.csv"]) != 0
    assert "not both" in capsys.readouterr().err


def iter_input(text):
    "A terminal in which somebody types."
    import io

    return io.StringIO(text)


def test_an_answer_waits_for_the_disk_and_is_written_once(browser, tmp_path, monkeypatch):
    "A full disk for a moment: the page says so, keeps the answer and sends it again."
    obey, full = Study.obey, [True]

    def refuse_once(self, session, wish):
        if full.pop():
            full.append(False)
            raise OSError(28, "No space left on device")
        full.append(False)
        return obey(self, session, wish)

    monkeypatch.setattr(Study, "obey", refuse_once)
    with serve_study(None, written_list(tmp_path), tmp_path, person="Ada") as study:
        person = Person(browser, study.address)
        person.begin()
        person.wait(0)
        person.page.keyboard.press("1")
        person.page.wait_for_function("document.getElementById('trouble').textContent.includes('tries again')")
        person.wait(1)
        person.context.close()
    assert untimed(tmp_path / "list.jsonl") == [{"a": 2}]


def test_no_name_ends_the_script_of_the_page(tmp_path):
    names = ["<!--<script>", "</script><b>", "pike"]
    with serve_study(names, None, tmp_path, person="Ada") as study:
        script = study.page("Ada").partition("let state = ")[2].partition("\n")[0]
        state = json.loads(script.partition(", seen")[0])
    assert "<" not in script and sorted(each["name"] for each in state["shown"]) == sorted(names)
