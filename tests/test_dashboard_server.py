"The server of dashboards: its pool with pretended processes, the protocol, attacks on it, and a page that outlives it."

import asyncio
import http.client
import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from functools import wraps
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from shared import awaited

from comparison_hc import InputError
from comparison_hc.cli import main
from comparison_hc.dashboards import server
from comparison_hc.dashboards.framework import no_step
from comparison_hc.dashboards.step import StepSettings
from comparison_hc.dashboards.step_page import PAGE
from comparison_hc.elicitation.session import Session, read_journal

pytest.importorskip("tornado", reason="tornado is not installed (extra: dashboard)")
TOKEN = "monday-morning"


# ---- the pool


class Reader:
    "Hears, and remembers."

    def __init__(self):
        self.heard = []

    def hear(self, text):
        self.heard.append(json.loads(text))

    @property
    def kinds(self):
        return [event["kind"] for event in self.heard]


class Office:
    "A pool whose processes are pipes: the test reads their orders and sends their events."

    def __init__(self, n_workers):
        self.lines = []
        self.pool = server.Pool(n_workers, self.start)

    def start(self):
        ours, theirs = multiprocessing.Pipe()
        self.lines.append(ours)
        return SimpleNamespace(kill=ours.close, join=lambda _: None), theirs

    def ask(self, reader, what):
        self.pool.ask(reader, what, what)

    async def order(self, line=0):
        "What a process is told next."
        while len(self.lines) <= line:  # until another process has begun
            await asyncio.sleep(0.01)
        return await asyncio.wait_for(asyncio.to_thread(self.lines[line].recv), 20)

    async def finish(self, *parts, line=0):
        "The process sends events and ends its order; the loop hears them."
        for kind in (*parts, "done"):
            self.lines[line].send((kind, json.dumps(dict(kind=kind), separators=(",", ":"))))
        self.lines[line].send(("end", ""))
        await asyncio.sleep(0.1)


def in_office(n_workers=1):
    "Decorates a test that is given an office, in a loop."

    def decorate(test):
        @wraps(test)
        def run():
            async def inside():
                office = Office(n_workers)
                try:
                    await asyncio.wait_for(test(office), 60)
                finally:
                    office.pool.close()

            asyncio.run(inside())

        del run.__wrapped__  # pytest would ask for a fixture of the argument's name
        return run

    return decorate


@in_office()
async def test_a_reader_may_leave_when_the_process_has_just_ended(office):
    def ended(_):
        raise BrokenPipeError

    reader = Reader()
    office.ask(reader, "A")
    assert await office.order() == "A"
    office.pool.asked[reader].line = SimpleNamespace(send=ended)
    office.pool.leave(reader)
    assert "A" not in office.pool.jobs


class Hurried(SimpleQueue):
    "A queue whose taker has always acted before `put` returns."

    def put(self, job):
        super().put(job)
        time.sleep(0.2)


@in_office()
async def test_a_process_that_is_free_at_once_serves_the_first_request(office):
    office.pool.waiting.put(server.Job("nobody's", "nobody's"))  # the thread leaves the old queue
    office.pool.waiting = Hurried()
    reader = Reader()
    office.ask(reader, "A")
    assert await asyncio.to_thread(office.lines[0].poll, 5) and await office.order() == "A"
    await office.finish()
    assert reader.kinds == ["done"]


class SlowLine:
    "A line to a process that takes its time over each order and never answers."

    def __init__(self):
        self.sent, self.heard = [], SimpleQueue()

    def send(self, message):
        time.sleep(0.2 if message else 0)
        self.sent.append(message)

    def recv(self):
        return self.heard.get()


@in_office(0)
async def test_a_reader_who_leaves_while_the_order_is_sent_is_heard_after_it(office):
    line, reader = SlowLine(), Reader()
    threading.Thread(target=office.pool._work, args=(line,), daemon=True).start()
    office.ask(reader, "A")
    await asyncio.sleep(0.1)
    office.pool.leave(reader)
    assert line.sent == ["A", None]


@in_office()
async def test_equal_requests_are_computed_once_and_kept(office):
    readers, late = [Reader() for _ in range(30)], Reader()
    for reader in readers:
        office.ask(reader, "A")
    assert await office.order() == "A"
    await office.finish("part", "progress")
    office.ask(late, "A")
    assert all(reader.kinds == ["part", "progress", "done"] for reader in readers) and late.kinds == ["part", "done"]
    assert not office.lines[0].poll(0.2)


@in_office()
async def test_only_the_newest_request_counts_and_late_events_are_not_heard(office):
    ann, ben = Reader(), Reader()
    office.ask(ann, "A")
    assert await office.order() == "A"
    for what in "BC":
        office.ask(ann, what)
    assert await office.order() is None  # A is wanted no more, and B never was begun
    await office.finish("part")
    assert ann.heard == [] and await office.order() == "C"
    office.ask(ben, "C")
    office.ask(ann, "D")  # Ben waits for C still
    await office.finish()
    assert ann.heard == [] and ben.kinds == ["done"] and await office.order() == "D"
    await office.finish()
    assert ann.kinds == ["done"]


@in_office()
async def test_a_process_that_ends_is_replaced_and_who_waited_is_told(office):
    ann = Reader()
    office.ask(ann, "A")
    await office.order()
    office.lines[0].close()
    await asyncio.sleep(0.3)
    assert ann.kinds == ["sentence", "done"] and ann.heard[0]["text"] == server.LOST and office.pool.jobs == {}
    office.ask(ann, "A")
    assert await office.order(1) == "A"
    await office.finish(line=1)
    assert ann.kinds[2:] == ["done"]


@in_office()
async def test_what_is_kept_has_a_limit(office):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "CACHE_BYTES", 130)
        for what in "ABCDE":
            office.ask(Reader(), what)
            assert await office.order() == what
            await office.finish("x" * 30)
    kept = office.pool.jobs
    assert list(kept) == ["D", "E"] and office.pool.size == sum(len(t) for each in kept.values() for t in each.frames)


@in_office(2)
async def test_whatever_readers_do_the_last_request_of_each_is_answered(office):
    rng, readers, wanted, over = random.Random(0), [Reader() for _ in range(6)], {}, []

    def compute(line):
        while not over:
            if line.poll(0.01) and (order := line.recv()):
                for kind in (order, "done"):
                    line.send((kind, json.dumps(dict(kind=kind), separators=(",", ":"))))
                line.send(("end", ""))

    threads = [threading.Thread(target=compute, args=(line,)) for line in office.lines]
    for thread in threads:
        thread.start()
    for _ in range(300):
        reader, what = rng.choice(readers), rng.choice("ABCDEFG-")
        if what == "-":
            office.pool.leave(reader)
            wanted.pop(reader, None)
        else:
            reader.heard.clear()
            office.ask(reader, what)
            wanted[reader] = what
        await asyncio.sleep(rng.choice([0, 0, 0.002]))
    await asyncio.sleep(1)
    over.append(True)
    for thread in threads:
        thread.join(5)
    assert len(wanted) >= 3 and all(reader.kinds == [what, "done"] for reader, what in wanted.items())


# ---- the command


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["dashboard", "nothing"], "NAME must be one of"),
        (["serve", "step", "--token", "short"], "--token must be 8 to 64 letters"),
        (["dashboard", "step", "--token", "with blank"], "--token must be 8 to 64 letters"),
        (["dashboard", "step", "--workers", "0"], "--workers must be"),
        (["dashboard", "step", "--port", "70000"], "--port must be"),
        (["dashboard", "step", "--host", "192.0.2.77", "--port", "8899"], "--host must be an address of this machine"),
        (["dashboard", "step", "--items", "digits"], "--items must be left out without the page ask"),
        (["dashboard", "ask", "--items", "nothing-there"], "items must be"),
        (["dashboard", "--static", "x.html"], "NAME must be the name of one dashboard"),
        (["dashboard", "step", "--static", "x.html"], "NAME must be a dashboard with a static export (planted)"),
        (["dashboard", "planted", "--static", "x.html", "--port", "8000"], "--port must be left out with --static"),
        (["dashboard", "planted", "--static", "x.pdf"], ".html"),
    ],
)
def test_the_command_refuses(words, says, capsys):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == "" and says in err and err.count("\n") == 1 + ("serve" in words)


def test_a_taken_port_is_named():
    (taken,) = server.listening()
    port = taken.getsockname()[1]
    with taken, pytest.raises(InputError, match=f"--port must be a port that is free; got {port}"):
        server.listening(port=port)


def is_running(pid):
    "Whether a process works: one that ended and is not yet waited for has its number still."
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def family(pid):
    "Processes that this one started, and those that they started."
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents.setdefault(int(path.read_text().rpartition(")")[2].split()[1]), []).append(int(path.parent.name))
        except OSError:
            pass
    found = [pid]
    for each in found:
        found += parents.get(each, [])
    return found[1:]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_command_until_it_ends_and_no_process_stays(how, tmp_path):
    words = [sys.executable, "-m", "comparison_hc", "dashboard", "step", "--no-browser", "--workers=1"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    address = re.search(r"http\S+", process.stdout.readline())[0]

    async def talk():
        line = await line_of(address)
        assert await answer(line, "1", settings=dict(n=4)) == events_of(n=4)

    awaited(talk())
    started = family(process.pid)
    assert len(started) >= 1
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    late = time.monotonic() + 15
    while any(map(is_running, started)) and time.monotonic() < late:
        time.sleep(0.1)
    assert [pid for pid in started if is_running(pid)] == []
    if how != signal.SIGKILL:
        assert process.returncode == 130 and err == "comparison-hc: the dashboards are closed\n"


# ---- a server


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("class")


@pytest.fixture(scope="module")
def served(folder):
    "The address of two dashboards."
    with server.serve_dashboard(["step", "ask"], token=TOKEN, folder=folder) as address:
        yield address


def get(served, path, host=None, method="GET"):
    "(status, text) of a request."
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(served).port, timeout=180)
    connection.request(method, path, headers={"Host": host} if host else {})
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, text


def line_of(served, name="step", query="", token=None, **headers):
    "An open line to the server (awaitable)."
    from tornado.httpclient import HTTPRequest
    from tornado.websocket import websocket_connect

    parts = urlsplit(served)
    own = parts.query.partition("=")[2]
    url = f"ws://{parts.netloc}/talk/{name}?token={token or own}{query}"
    return websocket_connect(HTTPRequest(url, headers=headers))


async def answer(line, number, timeout=240, **request):
    "All events of the answer but progress; None if the line was closed."
    await line.write_message(json.dumps(dict(number=number, **request)))
    events = []
    while True:
        text = await asyncio.wait_for(line.read_message(), timeout)
        if text is None:
            return None
        event = json.loads(text)
        if event.pop("number") == number and event["kind"] not in ("progress", "hello"):
            if event["kind"] == "done":
                return events
            events.append(event)
            if "do" in request and event["kind"] == "state":
                return events


def events_of(**settings):
    return json.loads(json.dumps(list(PAGE.work(StepSettings(**settings), no_step, {}))))


def test_who_may_come_in(served):
    token, port = f"?token={TOKEN}", urlsplit(served).port
    assert get(served, f"/{token}")[0] == get(served, f"/step{token}")[0] == 200
    for path in ("/", "/?token=", "/?token=wrong", "/step", f"/?token={TOKEN}x"):
        status, text = get(served, path)
        assert status == 403 and server.NO_TOKEN in text and TOKEN not in text
    for host in ("evil.example", "evil.example:80", f"localhost.evil.example:{port}", "192.168.1.1"):
        status, text = get(served, f"/{token}", host)
        assert status == 403 and server.NOT_OURS in text
    assert get(served, f"/{token}", f"localhost:{port}")[0] == 200
    assert get(served, f"/planted{token}")[0] == get(served, f"/../../etc/passwd{token}")[0] == 404
    assert get(served, f"/{token}", method="POST")[0] == 405
    assert get(served, "/vega.js")[0] == 200 and get(served, "/vega.js", "evil.example")[0] == 403
    is_ours = server.is_our_name
    assert is_ours("192.168.1.1", "0.0.0.0") and not is_ours("evil.example", "0.0.0.0") and is_ours("::1", "::1")


def test_a_line_needs_the_same_and_comes_from_our_own_page(served):
    from tornado.httpclient import HTTPClientError

    async def refused(**how):
        with pytest.raises(HTTPClientError) as error:
            await line_of(served, **how)
        return error.value.code

    async def all_of_them():
        assert await refused(token="wrong") == await refused(Origin="http://evil.example") == 403
        assert await refused(Host="evil.example") == 403
        assert await (await line_of(served, "planted")).read_message() is None
        assert await (await line_of(served, "ask")).read_message() is None  # nobody's

    awaited(all_of_them())


BAD = ["", "no JSON", "[]", "7", "null", "{}", '{"number": 3, "settings": {}}', "[" * 9000, "x" * 30_000]
BAD += [json.dumps(dict(number="x" * 81, settings={}))]


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:20])
def test_what_is_no_request_ends_the_line(served, text):
    async def talk():
        line = await line_of(served)
        await line.write_message(text)
        while (said := await asyncio.wait_for(line.read_message(), 180)) is not None:
            assert json.loads(said)["kind"] == "hello"

    awaited(talk())


REFUSED = [None, [], "n", dict(n=10**9), dict(n=2.5), dict(n=True), dict(n="12"), dict(n=[12]), dict(p=float("nan"))]
REFUSED += [dict(p="inf"), dict(shape="x" * 5000), dict(seed=-1), dict(unknown=1), {"__class__": 1}, dict(p=None)]


def test_settings_that_do_not_fit_are_a_sentence(served):
    async def talk():
        line = await line_of(served)
        for number, settings in enumerate(REFUSED):
            events = await answer(line, f"v:{number}", settings=settings)
            assert [event["kind"] for event in events] == ["sentence"] and len(events[0]["text"]) < 6000
            assert "must be" in events[0]["text"], settings
        assert await answer(line, "good", settings=dict(n=4)) == events_of(n=4)

    awaited(talk())


def test_thirty_readers_at_once_each_get_their_own_answer(served):
    async def reader(number):
        line = await line_of(served)
        for turn in range(2):
            settings = dict(n=6, seed=(number + turn) % 6)
            assert await answer(line, f"{number}:{turn}", settings=settings) == events_of(**settings)

    async def all_of_them():
        await asyncio.gather(*(reader(number) for number in range(30)))

    awaited(all_of_them())


def test_everybody_has_a_log_of_their_own(served, folder):
    async def person(name):
        line = await line_of(served, "ask", f"&person={name}")
        assert (await answer(line, "0", do="look", at=0))[-1]["show"]["ask"]["data-at"] == 0
        for turn in range(3):
            (state,) = await answer(line, f"{turn + 1}", do="answer", at=turn, answer=1)
            assert state["show"]["ask"]["data-at"] == turn + 1
        (again,) = await answer(line, "again", do="answer", at=0, answer=2)  # from a page that is behind
        assert again["show"]["ask"]["data-at"] == 3 and "continued in another page" in again["show"]["notes"]
        for bad in (dict(do="answer", at=3, answer=9), dict(do="export", at=3, form="../x"), dict(do=["x"])):
            assert [event["kind"] for event in await answer(line, "bad", **bad)] == ["state"]

    async def all_of_them():
        await asyncio.gather(*(person(name) for name in ("Ann", "Ben", "Cem")))

    awaited(all_of_them())
    for name in ("Ann", "Ben", "Cem"):
        log = read_journal(folder / f"animals-{name}.jsonl")
        assert log.settings.person == name and len(log.answers) == 3


@pytest.mark.parametrize("name", ["", "   ", "\n", "x" * 41, "a\x00b", "‮abc", "..."])
def test_names_that_are_none(name):
    with pytest.raises(InputError, match="name must be"):
        server.check_person(name)


def test_a_name_that_was_here_is_asked_about(served, folder):
    token = f"/ask?token={TOKEN}"
    assert "Your name" in get(served, token)[1] and "name must be" in get(served, f"{token}&person=...&new=1")[1]
    assert get(served, f"{token}&person=Newcomer&new=1")[0] == 303
    (folder / "animals-Dua.jsonl").touch()
    status, text = get(served, f"{token}&person=Dua&new=1")
    assert status == 200 and "A person with the name Dua has answered here" in text
    assert 'id="spec"' in get(served, f"{token}&person=Dua")[1]
    (folder / "animals-_b_x.jsonl").touch()
    assert "<b>x" not in get(served, f"{token}&person=%3Cb%3Ex&new=1")[1]


def test_one_person_has_one_log_which_must_fit(tmp_path):
    Session(["a", "b", "c"], tmp_path / "mine.jsonl")
    with pytest.raises(InputError, match="journal must be about the same items"):
        with server.serve_dashboard("ask", journal=tmp_path / "mine.jsonl"):
            pass


def test_the_token_of_this_machine_stays_and_is_its_owners(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPARISON_HC_CACHE", str(tmp_path / "cache"))
    token = server.check_token(None, "127.0.0.1")
    assert token == server.check_token(None, "::1") and len(token) > 20
    assert len({token, server.check_token(None, "0.0.0.0"), server.check_token(None, "0.0.0.0")}) == 3
    if os.name == "posix":
        assert (tmp_path / "cache" / "dashboard-token").stat().st_mode & 0o77 == 0


# ---- a page


def test_a_page_outlives_its_server_and_goes_on_with_its_settings(browser):
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_default_timeout(120_000)

    def settled():
        page.wait_for_selector(".chc[data-done]")
        page.wait_for_function("() => (({asked, done}) => asked === done)(document.querySelector('.chc').dataset)")

    with server.serve_dashboard("step", token=TOKEN) as address:
        page.goto(address)
        settled()
        page.locator(".chc-slider[data-name=n] input").press("ArrowRight")
        settled()
        page.reload()
        settled()
        assert page.locator(".chc-slider[data-name=n] output").inner_text() == f"{StepSettings.n + 1}"
        assert not page.locator("#gone").is_visible()
    page.wait_for_selector("#gone", state="visible")
    assert page.evaluate("() => getComputedStyle(document.querySelector('main')).filter") == "grayscale(1)"
    page.locator(".chc-slider[data-name=seed] input").evaluate(
        "input => { input.value = 3; input.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    with server.serve_dashboard("step", port=urlsplit(address).port, token=TOKEN):
        page.wait_for_selector("#gone", state="hidden")
        settled()
        assert page.locator(".chc-slider[data-name=seed] output").inner_text() == "3"
        assert page.get_attribute(".chc-stage .chc-tree-svg", "aria-label")
    assert complaints == []
    page.close()
