"The server of dashboards: its pool with pretended processes, the protocol, attacks on it, and a page that outlives it."

import asyncio
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import awaited

from comparison_hc import InputError
from comparison_hc.cli import main
from comparison_hc.dashboards import server
from comparison_hc.dashboards.framework import no_step
from comparison_hc.dashboards.record import StepSettings
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
    def is_answered(self):
        return self.heard[-1:] == [dict(kind="done")]


class Pretended:
    "A worker without a process: `orders` has what it was told."

    def __init__(self, pool):
        self.orders, self.job, self.began, self.stopped, self.has_spoken = [], None, 0.0, 0.0, True
        self.process = SimpleNamespace(kill=lambda: self.orders.append("kill"), join=lambda _: None)

    def send(self, order):
        self.orders.append(order)


@pytest.fixture
def office(monkeypatch):
    "Makes a pool of pretended workers."
    monkeypatch.setattr(server, "Worker", Pretended)

    def make(n_workers=1):
        async def inside():
            return server.Pool(n_workers, [])

        return asyncio.run(inside())

    return make


def ask(pool, reader, what, is_shared=True):
    pool.ask(reader, what, what if is_shared else None)


def finish(pool, worker, *parts):
    "The worker ends its order, unless it was told to stop."
    was = worker.job and worker.job.order
    for part in (*parts, "done"):
        pool.heard(worker, part, json.dumps(dict(kind=part)))
    pool.heard(worker, "end", "")
    return was


def test_equal_requests_are_computed_once_and_kept(office):
    pool, readers, late = office(), [Reader() for _ in range(30)], Reader()
    for reader in readers:
        ask(pool, reader, "A")
    assert finish(pool, pool.workers[0], "part", "progress") == "A"
    ask(pool, late, "A")
    assert pool.workers[0].orders == ["A"] and pool.jobs == []
    assert all([event["kind"] for event in reader.heard] == ["part", "progress", "done"] for reader in readers)
    assert [event["kind"] for event in late.heard] == ["part", "done"]


def test_only_the_newest_request_counts_and_late_events_are_not_heard(office):
    pool, ann, ben = office(), Reader(), Reader()
    worker = pool.workers[0]
    for what in "ABC":
        ask(pool, ann, what)
    assert worker.orders == ["A", None] and [job.order for job in pool.jobs] == ["C"]
    pool.heard(worker, "part", '{"kind":"part"}')
    assert ann.heard == []
    assert finish(pool, worker) is None and worker.orders == ["A", None, "C"] and "A" not in pool.cache
    ask(pool, ben, "C")
    ask(pool, ann, "D")
    assert worker.orders == ["A", None, "C"] and finish(pool, worker) == "C" and ben.is_answered
    assert finish(pool, worker) == "D" and ann.is_answered


def test_while_others_wait_a_long_job_goes_behind_them_and_gets_twice_as_long(office, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(server, "time", SimpleNamespace(monotonic=lambda: now[0]))
    pool, ann, ben = office(), Reader(), Reader()
    worker = pool.workers[0]
    ask(pool, ann, "long")
    now[0] += 100
    pool.tick()
    assert worker.orders == ["long"]  # nobody waits
    ask(pool, ben, "short")
    pool.tick()
    assert worker.orders == ["long", None] and finish(pool, worker) is None
    assert finish(pool, worker) == "short" and ben.is_answered and worker.orders[-1] == "long"
    ask(pool, ben, "other")
    now[0] += 1.5 * server.SLICE
    pool.tick()
    assert worker.orders[-1] == "long" and finish(pool, worker) == "long" and ann.is_answered
    ask(pool, ben, "stuck")
    finish(pool, worker)
    pool.leave(ben)
    now[0] += server.STUCK + 1
    pool.tick()
    assert worker.orders[-2:] == [None, "kill"]


def test_a_process_that_ends_is_replaced_and_its_job_tried_once_more(office):
    pool, ann = office(), Reader()
    ask(pool, ann, "A")
    pool.lost(pool.workers[0])
    assert pool.workers[0].orders == ["A"]
    pool.lost(pool.workers[0])
    assert [event["kind"] for event in ann.heard] == ["sentence", "done"] and ann.heard[0]["text"] == server.LOST
    pool.workers[0].has_spoken = False  # it cannot start: nor could another
    pool.lost(pool.workers[0])
    ask(pool, ann, "B")
    assert pool.workers == []


def test_what_is_kept_has_a_limit(office, monkeypatch):
    monkeypatch.setattr(server, "CACHE_BYTES", 150)
    pool = office()
    for what in "ABCDE":
        ask(pool, Reader(), what)
        finish(pool, pool.workers[0], "x" * 30)
    assert list(pool.cache) == ["D", "E"] and pool.size == sum(len(t) for each in pool.cache.values() for t in each)


def test_a_wish_is_carried_out_whatever_comes_after(office):
    pool, ann = office(), Reader()
    for what in ("first", "second"):
        ask(pool, ann, what, is_shared=False)
    pool.leave(ann)
    assert finish(pool, pool.workers[0]) == "first" and finish(pool, pool.workers[0]) == "second"
    assert pool.cache == {} and ann.heard == []


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ABC-!te")), max_size=40))
def test_whatever_happens_every_reader_is_answered_in_the_end(acts):
    "Readers ask or leave (-), processes end (!), time passes (t), and a worker ends its order (e)."
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "Worker", Pretended)
        patch.setattr(server, "SLICE", -1.0)

        async def inside():
            return server.Pool(2, [])

        pool, readers = asyncio.run(inside()), [Reader() for _ in range(4)]
        wanted = {}

        def end(worker):
            if worker.orders[-1:] and worker.orders[-1] is None or worker.job:
                worker.orders.append("ended")
                finish(pool, worker)

        for number, act in acts:
            reader, worker = readers[number], pool.workers[number % 2]
            if act in "ABC":
                ask(pool, reader, act)
                wanted[number] = act
            elif act == "-":
                pool.leave(reader)
                wanted.pop(number, None)
            elif act == "!" and worker.job and worker.job.n_lost == 0:
                pool.lost(worker)
            elif act == "t":
                pool.tick()
            elif act == "e":
                end(worker)
        for _ in range(200):
            for worker in pool.workers:
                end(worker)
        assert pool.jobs == [] and all(readers[number].is_answered for number in wanted)


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
        assert again["show"]["ask"]["data-at"] == 3 and "went on in another page" in again["show"]["notes"]
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
    assert status == 200 and "Somebody called Dua has answered here" in text
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
