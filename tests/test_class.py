"A class on one machine: the desk with made-up hands, the server by its protocol, attacks on it, and one page of it."

import asyncio
import gzip
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from importlib import import_module
from math import inf
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.class_server import family
from hypothesis import given
from hypothesis import strategies as st
from shared import awaited

from comparison_hc import InputError
from comparison_hc.cli import main
from comparison_hc.dashboards import class_server, plan_page, room, serve_command
from comparison_hc.dashboards.desk import LONG, LOST, TOO_LONG, Desk, Job, Reader, packed, unpacked
from comparison_hc.dashboards.hands import Hand, Worktable, live_page
from comparison_hc.dashboards.plan import SIZES
from comparison_hc.dashboards.record import StepSettings
from comparison_hc.dashboards.server import free_port
from comparison_hc.dashboards.shell import no_step
from comparison_hc.dashboards.step_page import PAGE
from comparison_hc.elicitation.session import Session, read_journal

# ---- the desk


class Someone(Reader):
    "Hears, and remembers."

    def __init__(self):
        self.heard = []

    def hear(self, payload):
        self.heard.append(unpacked(payload))

    @property
    def is_answered(self):
        return bool(self.heard) and self.heard[-1]["kind"] == "done"


class Pretended:
    "A hand without a process: `orders` has what it was told."

    def __init__(self):
        self.orders, self.has_ended, self.spent, self.megabytes = [], False, 5.0, 100

    def begin(self, number, request, pauses):
        self.orders.append((number, request))
        self.pauses = pauses

    def stop(self, number):
        self.orders.append((number, None))

    def end(self):
        self.has_ended = True


class Office:
    "A desk, its hands, and a clock that a test moves."

    def __init__(self, n_quick=1, **options):
        self.now = 0.0
        self.desk = Desk(lambda is_patient: Pretended(), n_quick, clock=lambda: self.now, **options)

    @property
    def quick(self):
        return next(hand for hand in self.desk.hands if not hand.is_patient)

    @property
    def patient(self):
        return next(hand for hand in self.desk.hands if hand.is_patient)

    def ask(self, reader, what, **more):
        self.desk.ask(reader, Job("page", dict(what=what), **more))
        self.now += 0.01

    def says(self, hand, kind="part", drawn=False, megabytes=0, **event):
        self.desk.heard(hand, hand.number, kind, packed(dict(kind=kind, **event)), drawn, megabytes)

    def done(self, hand, **more):
        "The hand ends what it was told last, and says what that was."
        what = (hand.orders[-1][1] or {}).get("what")
        if what is not None:
            self.says(hand, of=what, **more)
        self.says(hand, "done")
        return what

    def later(self, seconds):
        self.now += seconds
        self.desk.tick()


def test_equal_requests_are_computed_once_and_kept():
    office, readers = Office(), [Someone() for _ in range(30)]
    for reader in readers:
        office.ask(reader, "A")
    assert office.quick.orders == [(1, dict(what="A"))] and office.done(office.quick) == "A"
    late = Someone()
    office.ask(late, "A")
    assert office.desk.n_computed == 1 and len(office.quick.orders) == 1
    assert all(reader.heard == [dict(kind="part", of="A"), dict(kind="done")] for reader in (*readers, late))


def test_of_what_only_the_last_counts_readers_hear_one_a_second_and_the_last():
    office, ann, ben = Office(final=dict(page=("mean",))), Someone(), Someone()
    office.ask(ann, "A")
    for number in range(10):
        office.says(office.quick, "mean", of=number)
        office.now += 0.3
    assert [event["of"] for event in ann.heard] == [0, 4, 8]
    office.ask(ben, "A")
    assert [event["of"] for event in ann.heard] == [0, 4, 8, 9] and [event["of"] for event in ben.heard] == [9]
    office.says(office.quick, "mean", of=10)
    office.later(1.1)
    assert ann.heard[-1]["of"] == ben.heard[-1]["of"] == 10
    office.says(office.quick, "mean", of=11)
    office.says(office.quick, "part", of=12)
    assert [event["of"] for event in ben.heard] == [9, 10, 11, 12]
    office.says(office.quick, "mean", of=13)
    office.says(office.quick, "done")
    assert [event.get("of") for event in ann.heard[-2:]] == [13, None] and ann.is_answered


def test_only_the_newest_request_of_a_reader_is_answered_and_it_keeps_its_place():
    office, (first, ann, ben) = Office(), [Someone() for _ in range(3)]
    office.ask(first, "long")
    office.ask(ann, "A1")
    office.ask(ben, "B")
    office.ask(ann, "A2")
    order = [office.done(office.quick) for _ in range(3)]
    assert order == ["long", "A2", "B"] and office.desk.n_dropped == 1
    assert [event.get("of") for event in ann.heard] == ["A2", None]


def test_work_that_nobody_wants_any_more_is_stopped_and_its_late_events_are_not_heard():
    office, ann = Office(), Someone()
    office.ask(ann, "A")
    old = office.quick.number
    office.ask(ann, "B")
    assert office.quick.orders[-1] == (old + 1, None)
    office.desk.heard(office.quick, old, "part", packed(dict(kind="part", of="A")))
    assert ann.heard == [] and office.done(office.quick) is None
    assert office.done(office.quick) == "B" and ann.is_answered
    office.ask(ann, "C")
    office.desk.leave(ann)
    assert office.quick.orders[-1][1] is None and office.desk.jobs == {}


def test_what_another_reader_wants_goes_on():
    office, ann, ben = Office(), Someone(), Someone()
    office.ask(ann, "A")
    office.says(office.quick, of="first")
    office.ask(ben, "A")
    office.ask(ann, "B")
    assert len(office.quick.orders) == 1 and [event["of"] for event in ben.heard] == ["first"]


def test_a_long_job_makes_room_once_it_has_a_picture_and_nothing_is_heard_twice():
    office, slow, quick = Office(), Someone(), Someone()
    office.ask(slow, "long")
    office.says(office.quick, of="picture", drawn=True)
    office.later(1.0)
    office.ask(quick, "short")
    office.later(0.3)
    assert office.quick.orders[-1][1] == dict(what="long")
    office.later(0.3)
    assert office.quick.orders[-1][1] is None and office.patient.orders[-1][1] == dict(what="long")
    office.done(office.quick)
    assert office.done(office.quick) == "short" and quick.is_answered
    office.says(office.patient, of="picture", drawn=True)
    office.done(office.patient)
    assert [event.get("of") for event in slow.heard if event["kind"] != "progress"] == ["picture", "long", None]


def test_while_others_wait_a_job_pauses_at_its_picture_and_the_rest_comes_when_all_have_theirs():
    office, readers = Office(), [Someone() for _ in range(4)]
    for number, reader in enumerate(readers[:3]):
        office.ask(reader, number)
    assert office.quick.pauses is False  # nobody waited when it began
    order = [office.done(office.quick)]
    while office.quick.job:
        paused = office.quick.pauses
        order.append((office.quick.job.request["what"], paused))
        if paused:
            office.says(office.quick, of="picture", drawn=True)
            office.says(office.quick, "paused")
        else:
            office.done(office.quick)
    assert order == [0, (1, True), (2, True), (1, False), (2, False)]  # nobody's rest overtakes that of another
    assert [event.get("of") for event in readers[1].heard] == ["picture", 1, None]


def test_not_all_quick_hands_take_long_jobs():
    office, readers = Office(n_quick=2), [Someone() for _ in range(4)]
    for number, reader in enumerate(readers):
        office.ask(reader, number)
    office.later(4)  # the first two make room
    for hand in office.desk.hands:
        if not hand.is_patient:
            office.done(hand)
    waiting = [job for job in office.desk.jobs.values() if job.stage == LONG]
    assert len(waiting) == 2 and office.patient.job in waiting
    busy = [hand for hand in office.desk.hands if hand.job and not hand.is_patient]
    assert [hand.job.stage == LONG for hand in busy] == [False, False]


def test_a_hand_that_ends_is_replaced_and_its_job_tried_once_more():
    office, ann, ben = Office(), Someone(), Someone()
    office.ask(ben, "before")
    office.done(office.quick)
    for turn in range(2):
        office.ask(ann, "A") if not turn else None
        gone = office.quick
        office.says(gone, "progress")  # so it had begun
        office.desk.lost(gone)
        assert gone not in office.desk.hands and gone.has_ended and len(office.desk.hands) == 2
    assert [event["kind"] for event in ann.heard][-2:] == ["sentence", "done"] and ann.heard[-2]["text"] == LOST
    office.ask(ben, "A")  # nothing of it is kept
    assert office.quick.orders[-1][1] == dict(what="A")


def test_a_hand_that_ends_at_once_is_not_started_again_at_once():
    office = Office()
    office.desk.lost(office.quick)
    assert len(office.desk.hands) == 1
    office.later(1)
    assert len(office.desk.hands) == 1
    office.later(office.desk.again_after)
    assert len(office.desk.hands) == 2


def test_limits_of_time_and_memory():
    office, ann, ben = Office(), Someone(), Someone()
    office.ask(ann, "endless")
    office.quick.spent += office.desk.most - 1
    office.later(10 * office.desk.most)  # however long it waited for a processor
    assert not ann.is_answered
    office.quick.spent += 2
    office.later(1)
    assert ann.heard[-2]["text"] == TOO_LONG.format(office.desk.most, "page") and ann.is_answered
    office.later(office.desk.stuck_after + 1)  # it does not even notice that it should stop
    office.ask(ben, "B")
    large = office.quick
    office.says(large, "done", megabytes=10_000)
    assert ben.is_answered and large.has_ended and large not in office.desk.hands
    assert office.desk.n_lost == 0


def test_what_is_kept_has_a_limit():
    office, ann = Office(), Someone()
    office.desk.keep_bytes = 400
    for number in range(50):
        office.ask(ann, number)
        office.done(office.quick)
    kept = sum(job.n_bytes for job in office.desk.kept.values())
    assert kept == office.desk.kept_bytes <= 400 and len(office.desk.kept) > 1
    assert list(office.desk.kept.values())[-1].request == dict(what=49)


def test_usual_settings_are_computed_while_nobody_waits():
    office, ann = Office(), Someone()
    office.desk.usual.extend(Job("page", dict(what=what)) for what in "ABC")
    office.desk.go_on()
    assert office.done(office.patient) == "A" and office.quick.orders == []
    office.ask(ann, "A")
    assert ann.is_answered
    office.ask(ann, "B")  # in work, but slowly: begun anew by a quick hand
    assert office.quick.orders[-1][1] == dict(what="B") and office.patient.orders[-1][1] is None
    office.done(office.patient)
    assert office.patient.job is None
    office.done(office.quick)
    assert office.patient.job.request == dict(what="C")
    office.later(office.desk.idle_most + 1)
    assert office.desk.jobs == {} and office.patient.orders[-1][1] is None


def test_after_the_list_comes_the_series_until_so_much_is_kept():
    office = Office()
    office.desk.usual.append(Job("page", dict(what="A")))
    office.desk.further = iter([Job("page", dict(what=what)) for what in "ABC"])
    office.desk.go_on()
    assert [office.done(office.patient) for _ in "AB"] == ["A", "B"]
    assert office.patient.job.request == dict(what="C")
    office.desk.advance_bytes = office.desk.kept_bytes
    office.desk.further = iter([Job("page", dict(what="D"))])
    office.done(office.patient)
    assert office.patient.job is None and next(office.desk.further).request == dict(what="D")


def test_what_nobody_asked_for_may_not_take_much_memory():
    office = Office()
    office.desk.usual.extend(Job("page", dict(what=what)) for what in "AB")
    office.desk.go_on()
    large = office.patient
    large.megabytes = office.desk.most_megabytes
    office.later(1)
    assert large.job.request == dict(what="A") and not large.has_ended
    large.megabytes += 1
    office.later(1)
    assert large.has_ended and office.patient is not large and office.patient.job.request == dict(what="B")
    ann = Someone()
    office.ask(ann, "C")
    office.quick.megabytes = 2 * office.desk.most_megabytes  # somebody waits for this: it may
    office.later(1)
    assert office.quick.job.request == dict(what="C")


def test_a_wish_is_fulfilled_whatever_comes_after():
    office, ann = Office(), Someone()
    for what in "AAB":
        office.ask(ann, what, shared=False)
    office.desk.leave(ann)
    assert sorted(office.done(office.quick) for _ in range(3)) == ["A", "A", "B"] and ann.heard == []


ACTS = st.lists(
    st.tuples(st.sampled_from(["ask", "leave", "done", "lost", "tick"]), st.integers(0, 4), st.integers(0, 3))
)


@given(ACTS)
def test_whatever_happens_every_reader_is_answered_in_the_end(acts):
    office, readers, wanted = Office(n_quick=2), [Someone() for _ in range(5)], {}
    for act, who, what in acts:
        reader = readers[who]
        hand = office.desk.hands[who % len(office.desk.hands)]
        if act == "ask":
            reader.heard.clear()
            office.ask(reader, what)
            wanted[reader] = what
        elif act == "leave":
            office.desk.leave(reader)
            wanted.pop(reader, None)
        elif act == "done" and (hand.job or hand.stopped is not None):
            office.done(hand)
        elif act == "lost":
            hand.is_known = True
            office.desk.lost(hand)
        else:
            office.later(0.7)
    for _ in range(40):
        for hand in list(office.desk.hands):
            if hand.job or hand.stopped is not None:
                office.done(hand)
    assert office.desk.jobs == {}
    for reader, what in wanted.items():
        said = [event for event in reader.heard if event["kind"] in ("part", "sentence")]
        assert reader.is_answered and (said[-1].get("of") == what or said[-1].get("text") == LOST)


def test_work_that_pauses_is_gone_on_with_and_what_others_left_does_not_mix_with_it(monkeypatch):
    "Every page: the events of two settings, computed in turns, are those of each alone."
    settings = dict(planted=dict(n_pure=3, n_levels=2), step=dict(n=5), link=dict(per_class=3, tasks=2))
    settings |= dict(flat=dict(n=30, k=2, a=3), plan=dict(n=12, n_levels=1))

    def repetition(settings, r, step):
        return np.full((3, len(SIZES)), 0.1 * settings.seed + 0.01 * r)

    monkeypatch.setattr(plan_page, "one_repetition", repetition)  # seconds otherwise
    monkeypatch.setattr(Worktable, "most_megabytes", inf)  # other tests may have filled this process
    for name, common in settings.items():
        page = import_module(f"comparison_hc.dashboards.{name}_page").PAGE
        last = "task" if name == "link" else "seed"
        wanted, orders, table = [], [], Worktable()
        for value in (1, 2):
            chosen = page.settings(**common, **{last: value})
            wanted.append(list(page.work(chosen, no_step, {})))
            orders.append(dict(page=page.work.__module__, settings=chosen.message()))
        monkeypatch.setattr("comparison_hc.dashboards.hands.live_page", lambda _, page=page: page)
        found = [list(table.answer(dict(request=order, pauses=True), no_step)) for order in orders]
        assert len(table.paused) == 2 and all("show" in events[-1] for events in found), name
        assert name != "flat" or all([event["kind"] for event in events] == ["similarity"] for events in found)
        for events, order in zip(found, orders):
            events += table.answer(dict(request=order, pauses=False), no_step)
        for events, all_ in zip(found, wanted):
            assert [e for e in events if e["kind"] not in page.final] == [
                e for e in all_ if e["kind"] not in page.final
            ]
            assert events[-1] == all_[-1], name


def test_a_hand_says_what_it_has_used_and_holds():
    "The desk reads both; a hand that never said them would be allowed everything."
    worked, module = threading.Event(), "comparison_hc.dashboards.flat_page"

    def heard(hand, number, kind, *rest):
        worked.set() if kind == "done" else None

    hand = Hand([module], heard, lambda hand: None)
    try:
        hand.begin(1, dict(page=module, settings=live_page(module).settings(n=200).message()))
        assert worked.wait(120)
        ends = time.monotonic() + 20
        while not hand.megabytes and time.monotonic() < ends:
            time.sleep(0.05)
        assert hand.spent > 0 and 20 < hand.megabytes < 2000
    finally:
        hand.end()


# ---- the door


def test_two_servers_in_one_instant_get_two_ports():
    ready, found = threading.Barrier(4), []

    def listen():
        ready.wait()
        found.append(room.listening())

    threads = [threading.Thread(target=listen) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ports = [sockets[0].getsockname()[1] for sockets in found]
    with pytest.raises(InputError, match=f"--port must be a port that is free; got {ports[0]}"):
        room.listening(port=ports[0])
    for sockets in found:
        sockets[0].close()
    assert len(set(ports)) == 4


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["serve", "nothing"], "NAME must be one of"),
        (["serve", "step", "--token", "short"], "--token must be 8 to 64 letters"),
        (["serve", "step", "--token", "with blank"], "--token must be 8 to 64 letters"),
        (["serve", "step", "--hands", "0"], "--hands must be"),
        (["serve", "step", "--port", "70000"], "--port must be"),
        (["serve", "step", "--host", "192.0.2.77", "--port", "8899"], "--host must be an address of this machine"),
        (["serve", "step", "--items", "digits"], "--items must be left out without ask"),
        (["serve", "ask", "--items", "nothing-there"], "items must be"),
    ],
)
def test_the_command_refuses(words, says, capsys):
    assert main(words) == 2 and says in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "   ", "\n", "x" * 41, "a\x00b", "‮abc", "...", None])
def test_names_that_are_none(name):
    with pytest.raises(InputError, match="name must be"):
        room.check_person(name)


def test_while_a_reader_comes_in_nothing_is_computed_in_advance():
    office = Office()
    office.desk.usual.extend(Job("page", dict(what=what)) for what in "AB")
    office.desk.go_on()
    office.desk.hush()
    assert office.patient.orders[-1][1] is None and office.desk.jobs == {} and len(office.desk.usual) == 2
    office.done(office.patient)
    office.later(0.9 * office.desk.hushed_for)
    assert office.patient.job is None
    office.later(0.2 * office.desk.hushed_for)
    assert office.done(office.patient) == "A" and office.patient.job.request == dict(what="B")


# ---- a server


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    "A class of two pages, with a single quick hand."
    for name in ("tornado", "anywidget"):
        pytest.importorskip(name, reason=f"{name} is not installed (extra: dashboard)")
    with class_server.serve_class(["step", "ask"], n_hands=1, folder=tmp_path_factory.mktemp("class")) as found:
        yield found


def get(served, path, host=None, method="GET"):
    "(status, text) of a request."
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=180)
    headers = {"Host": host} if host else {}
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def line_of(served, name="step", query="", token=None, **headers):
    "An open line to the server (awaitable)."
    from tornado.httpclient import HTTPRequest
    from tornado.websocket import websocket_connect

    url = f"ws://127.0.0.1:{served.port}/talk/{name}?token={token or served.token}{query}"
    return websocket_connect(HTTPRequest(url, headers=headers))


async def answer(line, number, timeout=240, **request):
    "All events of the answer but progress; None if the line was closed."
    await line.write_message(json.dumps(dict(number=number, **request)))
    events = []
    while not events or events[-1]["kind"] != "done":
        text = await asyncio.wait_for(line.read_message(), timeout)
        if text is None:
            return None
        event = json.loads(text)
        if event.pop("number") == number and event["kind"] != "progress":
            events.append(event)
    return events[:-1]


def events_of(**settings):
    return json.loads(json.dumps(list(PAGE.work(StepSettings(**settings), no_step, {}))))


def test_who_may_come_in(served):
    token = f"?token={served.token}"
    assert get(served, f"/{token}")[0] == get(served, f"/step{token}")[0] == 200
    for path in ("/", "/?token=", "/?token=wrong", "/step", "/state?token=%FF", f"/?token={served.token}x"):
        status, text = get(served, path)
        assert status in (400, 403) and (status == 400 or room.NO_TOKEN in text)
    for host in ("evil.example", "evil.example:80", f"localhost.evil.example:{served.port}", "192.168.1.1"):
        status, text = get(served, f"/{token}", host)
        assert status == 403 and room.NOT_OURS in text
    assert get(served, f"/{token}", f"localhost:{served.port}")[0] == 200
    assert get(served, f"/planted{token}")[0] == get(served, f"/../../etc/passwd{token}")[0] == 404
    assert get(served, f"/{token}", method="POST")[0] == get(served, f"/{token}", method="PUT")[0] == 405
    library = next(name for name in served.pages if name.startswith("library"))
    assert get(served, f"/{library}")[0] == 200 and get(served, f"/{library}", "evil.example")[0] == 403
    assert "Content-Security-Policy" not in get(served, f"/{token}")[1] and served.token not in get(served, "/")[1]


def test_pages_are_compressed_once_and_the_library_is_kept_by_the_browser(served):
    library = next(name for name in served.pages if name.startswith("library"))
    before = class_server.zipped.cache_info().misses
    for name, query in ((library, ""), ("step", f"?token={served.token}")):
        for _ in range(3):
            connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=180)
            connection.request("GET", f"/{name}{query}", headers={"Accept-Encoding": "gzip, br"})
            found = connection.getresponse()
            said, body = dict(found.getheaders()), found.read()
            connection.close()
            assert said["Content-Encoding"] == "gzip" and gzip.decompress(body).decode() == served.pages[name]
        assert "Accept-Encoding" in said["Vary"] and get(served, f"/{name}{query}")[1] == served.pages[name]
        assert ("immutable" in said["Cache-Control"]) == (name == library)
    assert class_server.zipped.cache_info().misses <= before + 2


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


def test_answers_are_those_of_the_pure_function(served):
    async def talk():
        line = await line_of(served)
        for number, settings in enumerate((dict(n=5), dict(n=7, p=0.9, shape="caterpillar"), dict(n=5))):
            assert await answer(line, f"v:{number}", settings=settings) == events_of(**settings)

    awaited(talk())


BAD = ["", "no JSON", "[]", "7", "null", "{}", '{"number": 3, "settings": {}}', '{"number": "", "settings": {}}']
BAD += ["[" * 9000, json.dumps(dict(number="x" * 81, settings={})), '{"number": "' + "9" * 15_000 + '"}', "x" * 30_000]


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:20])
def test_what_is_no_request_ends_the_line(served, text):
    async def talk():
        line = await line_of(served)
        await line.write_message(text)
        while (said := await asyncio.wait_for(line.read_message(), 180)) is not None:
            assert json.loads(said)["kind"] == "word"

    awaited(talk())


REFUSED = [
    None,
    [],
    "n",
    3,
    dict(n=10**9),
    dict(n=-1),
    dict(n=2.5),
    dict(n=True),
    dict(n="12"),
    dict(n=[12]),
    dict(n={}),
]
REFUSED += [dict(p=7), dict(p=float("nan")), dict(p="inf"), dict(shape="x" * 5000), dict(shape=["balanced"])]
REFUSED += [dict(seed=-1), dict(delta=0), dict(unknown=1), {"__class__": 1}, dict(p=None)]


def test_settings_that_do_not_fit_are_a_sentence(served):
    async def talk():
        line = await line_of(served)
        for number, settings in enumerate(REFUSED):
            events = await answer(line, f"v:{number}", settings=settings)
            assert [event["kind"] for event in events] == ["sentence"] and len(events[0]["text"]) < 1000
            assert "must be" in events[0]["text"], settings
        assert await answer(line, "good", settings=dict(n=4)) == events_of(n=4)

    awaited(talk())


def test_thirty_readers_at_once_each_get_their_own_answer(served):
    before = served.desk.n_reused

    async def reader(number):
        line = await line_of(served)
        for turn in range(2):
            settings = dict(n=6, seed=(number + turn) % 6)
            assert await answer(line, f"{number}:{turn}", settings=settings) == events_of(**settings)

    async def all_of_them():
        await asyncio.gather(*(reader(number) for number in range(30)))

    awaited(all_of_them())
    assert served.desk.n_reused - before >= 60 - 6  # six settings, computed once at most


class Sleeper:
    "A reader whose machine takes nothing: a socket with little room, which is never read after the handshake."

    def __init__(self, served):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        self.socket.connect(("127.0.0.1", served.port))
        key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13"
        words = f"GET /talk/step?token={served.token} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nUpgrade: websocket"
        self.socket.sendall(f"{words}\r\nConnection: Upgrade\r\n{key}\r\n\r\n".encode())
        assert self.socket.recv(100).startswith(b"HTTP/1.1 101")

    def say(self, text):
        "A frame with a mask of zeros."
        raw = text.encode()
        self.socket.sendall(b"\x81" + bytes([0x80 | 126]) + len(raw).to_bytes(2, "big") + bytes(4) + raw)


def test_a_reader_who_takes_nothing_delays_nobody_and_fills_nothing(served):
    before = set(served.readers)
    sleeper = Sleeper(served)
    late = time.monotonic() + 180
    while not (new := set(served.readers) - before) and time.monotonic() < late:
        time.sleep(0.01)
    (reader,) = new
    for number in range(60):
        settings = dict(n=26, seed=number % 8, shape="caterpillar")
        sleeper.say(json.dumps(dict(number=f"s:{number}", settings=settings)))
    longest = []

    async def talk():
        line = await line_of(served)
        for turn in range(20):
            settings = dict(n=4, seed=turn)
            assert await answer(line, f"quick:{turn}", settings=settings) == events_of(**settings)
            longest.append(len(reader.box))

    awaited(talk())
    assert max(longest) < 20 and reader in served.readers
    sleeper.socket.close()
    while reader in served.readers and time.monotonic() < late:
        time.sleep(0.01)
    assert reader not in served.readers


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_killed_hand_is_replaced_and_readers_do_not_notice(served):
    lost = served.desk.n_lost

    async def talk():
        line = await line_of(served)
        for hand in list(served.desk.hands):
            os.kill(hand.process.pid, signal.SIGKILL)
        assert await answer(line, "after", settings=dict(n=9, seed=17)) == events_of(n=9, seed=17)

    awaited(talk())
    late = time.monotonic() + 180
    while served.desk.n_lost < lost + 2 and time.monotonic() < late:
        time.sleep(0.05)
    assert served.desk.n_lost == lost + 2


def test_everybody_has_a_journal_of_their_own(served):
    async def person(name):
        line = await line_of(served, "ask", f"&person={name}")
        at = (await answer(line, "0", do="look", at=0))[-1]["show"]["ask"]["data-at"]
        assert at == 0
        for turn in range(3):
            (state,) = await answer(line, f"{turn + 1}", do="answer", at=turn, answer=1)
            assert state["show"]["ask"]["data-at"] == turn + 1
        (again,) = await answer(line, "again", do="answer", at=0, answer=2)  # from a page that is behind
        assert again["show"]["ask"]["data-at"] == 3 and "went on in another page" in again["show"]["notes"]
        for bad in (
            dict(do="answer", at=3, answer=9),
            dict(do="export", at=3, form="../x"),
            dict(do=["x"]),
            dict(at={}),
        ):
            events = await answer(line, "bad", **bad)
            assert [event["kind"] for event in events] == ["state"]

    async def all_of_them():
        await asyncio.gather(*(person(name) for name in ("Ann", "Ben", "Cem")))

    awaited(all_of_them())
    for name in ("Ann", "Ben", "Cem"):
        journal = read_journal(served.journal(name))
        assert journal.settings.person == name and len(journal.answers) == 3
        assert Session("animals", served.journal(name)).n_records == 3


def test_two_servers_of_one_folder_keep_one_journal_for_a_person(served):
    "The one that comes second is told, nothing confirmed is lost, and neither stands in the other's way."
    with class_server.serve_class(["ask"], n_hands=1, folder=served.journal("Eva").parent) as other:
        assert other.journal("Eva") == served.journal("Eva") and other.port != served.port

        async def talk():
            here, there = [await line_of(server, "ask", "&person=Eva") for server in (served, other)]
            for turn in range(0, 6, 2):
                first, second = (here, there) if turn % 4 else (there, here)
                (state,) = await answer(first, f"{turn} first", do="answer", at=turn, answer=1)
                assert state["show"]["ask"]["data-at"] == turn + 1
                (state,) = await answer(second, f"{turn} late", do="answer", at=turn, answer=2)
                assert state["show"]["ask"]["data-at"] == turn + 1
                assert "went on in another page" in state["show"]["notes"]
                (state,) = await answer(second, f"{turn} again", do="answer", at=turn + 1, answer=2)
                assert state["show"]["ask"]["data-at"] == turn + 2

        awaited(talk())
    kept = read_journal(served.journal("Eva"))
    assert len(kept.answers) == 6 == Session("animals", served.journal("Eva")).n_records


def is_running(pid):
    "Whether a process works: one that ended and is not yet waited for has its number still."
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_killed_command_leaves_no_hand_and_no_port_behind(tmp_path):
    port = free_port()
    words = [sys.executable, "-m", "comparison_hc", "serve", "step", "--hands=1", f"--port={port}"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=tmp_path)
    try:
        assert f":{port}/" in process.stdout.readline()
        hands = [pid for pid in family(process.pid) if pid != process.pid]
        assert len(hands) == 2  # one for short work, one for long
    finally:
        process.kill()
        process.wait()
    late = time.monotonic() + 15
    while any(is_running(pid) for pid in hands) and time.monotonic() < late:
        time.sleep(0.1)
    assert [pid for pid in hands if is_running(pid)] == []
    room.listening(port=port)[0].close()


def test_a_name_that_was_here_is_asked_about(served):
    token = f"/ask?token={served.token}"
    assert "Your name" in get(served, token)[1]
    assert get(served, f"{token}&person=Newcomer&new=1")[0] == 303
    served.journal("Dua").touch()
    status, text = get(served, f"{token}&person=Dua&new=1")
    assert status == 200 and "Somebody called Dua has answered here" in text
    assert 'id="spec"' in get(served, f"{token}&person=Dua")[1]
    status, text = get(served, f"{token}&person=%3Cscript%3E&new=1")
    assert status == 303
    served.journal("<b>x").touch()
    assert "<b>x" not in get(served, f"{token}&person=%3Cb%3Ex&new=1")[1]
    served.journal("Dua").unlink()
    served.journal("<b>x").unlink()


class Unready(Pretended):
    "A hand whose process runs, or has ended, and said nothing."

    def __init__(self, ended):
        super().__init__()
        self.ready, self.process = threading.Event(), SimpleNamespace(poll=lambda: ended)


@pytest.mark.parametrize("ended, says", [(None, "were not ready in time; is this machine busy"), (1, "did not start")])
def test_a_server_without_hands_says_whether_they_ended_or_are_late(ended, says, tmp_path, monkeypatch):
    pytest.importorskip("tornado", reason="tornado is not installed (extra: dashboard)")
    monkeypatch.setattr(class_server, "Hand", lambda *_: Unready(ended))
    monkeypatch.setattr(class_server, "pages_made_elsewhere", lambda **_: {})
    with pytest.raises(InputError, match=says), class_server.serve_class(["step"], folder=tmp_path, patience=0):
        pass


def test_what_the_server_says_of_itself(served):
    status, text = get(served, f"/state?token={served.token}")
    state = json.loads(text)
    assert status == 200 and state["hands"] == [hand.process.pid for hand in served.desk.hands] and state["computed"]


def test_usual_settings_are_of_every_control_and_pass_the_gate(served):
    jobs = list(served.usual())
    found = [StepSettings.from_message(job.request["settings"]) for job in jobs]
    assert found[0] == StepSettings() and len({job.key for job in jobs}) == len(jobs)
    for name, values in StepSettings.values("live").items():
        assert {getattr(each, name) for each in found} == set(values)


def test_further_settings_are_every_control_with_another_draw(served):
    usual, further = list(served.usual()), list(served.further())
    found = [StepSettings.from_message(job.request["settings"]) for job in further]
    assert len({job.key for job in usual + further}) == len(usual + further)
    values, start = StepSettings.values("live"), StepSettings()
    moved = [[name for name in values if getattr(each, name) != getattr(start, name)] for each in found]
    fitting = 0
    for name in values.keys() - {"seed"}:
        for value in set(values[name]) - {getattr(start, name)}:
            try:
                StepSettings(**{name: value})
            except InputError:
                continue
            fitting += len(set(values["seed"]) - {start.seed})
    assert len(found) == fitting > 100 and all("seed" in each and len(each) == 2 for each in moved)
    order = [each[0] for each in moved]
    assert order == sorted(order, key=list(values).index)
    assert (found[0].n, found[0].seed) in {(n, seed) for n in (start.n - 1, start.n + 1) for seed in (1,)}


def test_what_the_lectures_show_fits_their_pages():
    known = class_server.find_dashboard()
    for name, settings in serve_command.lecture_settings():
        assert class_server.live_page(known[name].module).settings(**settings)


# ---- a page


def test_a_page_keeps_its_settings_and_says_when_the_server_is_gone(browser, served, monkeypatch):
    monkeypatch.setattr(class_server, "pages_made_elsewhere", lambda **_: served.pages)  # made once
    with class_server.serve_class(["step"], n_hands=1) as here:
        page, complaints = browser.new_page(), []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.set_default_timeout(300_000)

        def settled():
            page.wait_for_selector(".chc[data-done]")
            page.wait_for_function("() => (({asked, done}) => asked === done)(document.querySelector('.chc').dataset)")

        page.goto(here.address.replace("/?", "/step?"))
        settled()
        page.locator(".chc-slider[data-name=n] input").press("ArrowRight")
        settled()
        page.reload()
        settled()
        assert page.locator(".chc-slider[data-name=n] output").inner_text() == f"{StepSettings.n + 1}"
        assert page.get_attribute(".chc-stage .chc-tree-svg", "aria-label")
        assert not page.locator("#gone").is_visible()
    page.wait_for_selector("#gone", state="visible")
    assert page.evaluate("() => getComputedStyle(document.querySelector('main')).filter") == "grayscale(1)"
    page.locator(".chc-slider[data-name=seed] input").evaluate(
        "e => { e.value = 5; e.dispatchEvent(new Event('input')); }"
    )
    with class_server.serve_class(["step"], n_hands=1, port=here.port, token=here.token):
        page.wait_for_selector("#gone", state="hidden")
        settled()
        assert page.locator(".chc-slider[data-name=seed] output").inner_text() == "5"
    assert complaints == []
    page.close()
