"""One server for a class: what it answers, what it refuses in a sentence, and how an answer reaches a slow reader."""

import asyncio
import gzip
import hmac
import json
import os
import threading
import time
import zlib
from collections import deque
from contextlib import contextmanager
from functools import lru_cache
from html import escape
from pathlib import Path

from ..core.validation import InputError, check_integer, require
from .desk import Desk, Reader, packed
from .hands import Hand, live_page
from .page import import_extra
from comparison_hc.dashboards.room import (
    FULL,
    LOOPBACK,
    MOST_NAME,
    MOST_READERS,
    NO_REQUEST,
    NO_TOKEN,
    NOT_OURS,
    Room,
    check_items,
    check_person,
    check_token,
    is_our_name,
    listening,
)
from .served_pages import HOME, pages_made_elsewhere, plain_page
from .server import find_dashboard

SLOW = 60.0  # seconds in which a reader must have taken an event
NO_WORD = packed(dict(kind="word"))  # that the server is still there
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Frame-Options": "DENY",
}


@lru_cache(maxsize=32)
def zipped(text):
    "Text as it travels. Vega alone would take a twentieth of a second of every reader who comes."
    return gzip.compress(text.encode(), 9, mtime=0)


def numbered(number, payload):
    "An event as the page hears it, with the number of its request."
    return f'{{"number":{json.dumps(number)},{zlib.decompress(payload).decode()[1:]}'


def page_policy(host):
    "What a page may load: from here only, and talk to its own server only."
    own = "'self' 'unsafe-inline' 'unsafe-eval'"
    return f"default-src 'none'; script-src {own}; style-src {own}; img-src data: blob:; connect-src 'self' ws://{host}"


@lru_cache(maxsize=1)
def handlers():
    "Tornado's classes for a room."
    from tornado.iostream import StreamClosedError
    from tornado.web import HTTPError, RequestHandler
    from tornado.websocket import WebSocketClosedError, WebSocketHandler

    class Checked:
        "Host and token, before anything else."

        def initialize(self, room, needs_token=True):
            self.room, self.needs_token = room, needs_token

        def prepare(self):
            if not is_our_name(self.request.host_name, self.room.host):
                raise HTTPError(403, reason=NOT_OURS)
            given = self.get_argument("token", "").encode()
            if self.needs_token and not hmac.compare_digest(given, self.room.token.encode()):
                self.room.n_refused += 1
                raise HTTPError(403, reason=NO_TOKEN)

        def write_error(self, status_code, **_):
            said = {403: self._reason, 404: "There is no such page here."}.get(status_code, self._reason)
            self.set_header("Content-Type", "text/html; charset=UTF-8")
            self.finish(plain_page(f"{status_code}", f"<p>{escape(said)}</p>"))

        def set_default_headers(self):
            for name, value in HEADERS.items():
                self.set_header(name, value)

        def give(self, text):
            "A page that stays as it is: compressed once, not for every reader."
            self.set_header("Vary", "Accept-Encoding")
            if "gzip" in self.request.headers.get("Accept-Encoding", ""):
                self.set_header("Content-Encoding", "gzip")
                text = zipped(text)
            self.finish(text)

    class Page(Checked, RequestHandler):
        "The list, a page, the library, the state."

        def get(self, name):
            room = self.room
            self.set_header("Content-Security-Policy", page_policy(self.request.host))
            if name == "":
                found = with_addresses(room.pages[HOME], room)
            elif name == "state":
                self.set_header("Content-Type", "application/json")
                found = room.state()
            elif name == "ask" and name in room.dashboards:
                found = self.asked()
            elif name in room.dashboards:
                return self.give(room.pages[name])
            else:
                raise HTTPError(404)
            if found is not None:
                self.finish(found)

        def asked(self):
            "The questions for a person, or the question who it is; None after a redirection."
            room, person = self.room, self.get_argument("person", "")
            try:
                person = check_person(person) if person else ""
            except InputError as error:
                return plain_page("Who are you?", f"<p>{escape(str(error))}</p>{name_form(room)}")
            if not person:
                return plain_page("Who are you?", name_form(room))
            if not self.get_argument("new", ""):
                return room.pages["ask"]
            if room.journal(person).is_file():
                return plain_page("Is that you?", is_that_you(room, person))
            self.redirect(room.where("ask", person=person), status=303)  # an address that can be loaded again

    class Library(Checked, RequestHandler):
        "Vega, for whoever asks: it is no secret, and a browser may keep it."

        def get(self, name):
            if name not in self.room.pages:
                raise HTTPError(404)
            self.set_header("Content-Type", "text/javascript; charset=UTF-8")
            self.set_header("Cache-Control", "max-age=31536000, immutable")
            self.give(self.room.pages[name])

    class Talk(Checked, Reader, WebSocketHandler):
        "A reader's page."

        def open(self, name):
            room = self.room
            self.name, self.box, self.wake = name, deque(), asyncio.Event()
            self.person, self.number = None, ""
            if name not in room.dashboards:
                return self.close(1008, "no such page")
            if len(room.readers) >= MOST_READERS:
                return self.close(1013, FULL)
            if name == "ask":
                try:
                    self.person = check_person(self.get_argument("person", ""))
                except InputError:
                    return self.close(1008, "no name")
            room.readers.add(self)
            room.desk.hush()
            self.put("", NO_WORD)
            self.sending = asyncio.ensure_future(self.send())

        def hear(self, payload):
            self.put(self.number, payload)

        def put(self, number, payload):
            self.box.append((number, payload))
            self.wake.set()

        def get_compression_options(self):
            return dict(compression_level=1, mem_level=5)  # several times smaller, and quick

        async def send(self):
            "One frame after the other, as fast as the reader takes them."
            try:
                while True:
                    await self.wake.wait()
                    self.wake.clear()
                    while self.box:
                        number, payload = self.box.popleft()
                        await asyncio.wait_for(self.write_message(numbered(number, payload)), SLOW)
            except (WebSocketClosedError, StreamClosedError, asyncio.TimeoutError):
                self.close(1008, "too slow")

        def on_message(self, text):
            try:
                request = json.loads(text) if isinstance(text, str) else None
                number = request["number"]
                fits = isinstance(number, str) and 0 < len(number) <= 80
            except (ValueError, TypeError, KeyError, RecursionError):
                fits = False
            if not fits:
                return self.close(1008, NO_REQUEST)
            self.box.clear()
            self.number = number
            try:
                if self.person:
                    job = self.room.wish(self.person, request)
                else:
                    job = self.room.job(self.name, request.get("settings"))
            except InputError as error:
                self.room.desk.leave(self)
                for event in (dict(kind="sentence", text=str(error)), dict(kind="done")):
                    self.hear(packed(event))
                return
            self.room.desk.ask(self, job)

        def on_close(self):
            self.room.readers.discard(self)
            self.room.desk.leave(self)
            if hasattr(self, "sending"):
                self.sending.cancel()

    return Page, Library, Talk


def with_addresses(page, room):
    "The home page with the addresses of this room."
    for name in room.dashboards:
        page = page.replace(f'href="{name}"', f'href="{escape(room.where(name))}"')
    return page


def name_form(room):
    "HTML that asks for a name."
    return f"""<form action="ask"><input type="hidden" name="token" value="{escape(room.token)}">
<input type="hidden" name="new" value="1"><p><label>Your name, or what you want to be called:
<input name="person" required maxlength="{MOST_NAME}" autofocus></label> <button>Begin</button></p>
<p>Your answers are kept under this name, on the machine of whoever gave you the address of this page.</p></form>"""


def is_that_you(room, person):
    "HTML that asks somebody whose name has answered before."
    here = escape(room.where("ask", person=person))
    return f"""<p>Somebody called {escape(person)} has answered here. <a href="{here}">That was me: go on</a>, or
take another name:</p>{name_form(room)}"""


TICK, WORD = 0.25, 5.0  # seconds between two looks at the desk, and between two empty words to every reader
NICE = 10  # of the patient hand
TOO_BUSY = "the processes of the server were not ready in time; is this machine busy with something else?"
WARM_UP = 20.0  # seconds that the server takes at most to compute how the pages begin


class _Serving:
    "A room, its loop and its hands."

    def __init__(self, room, sockets, n_hands, patience, usual):
        self.room, self.sockets, self.n_hands, self.usual = room, sockets, n_hands, usual
        self.deadline = time.monotonic() + patience
        pages = filter(None, (live_page(each.module) for each in room.dashboards.values()))
        self.modules = [each.module for each in room.dashboards.values()]
        self.modules += [module for page in pages for module in page.heavy]
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="class", daemon=True)
        self.opened = threading.Event()

    def start_hand(self, is_patient):
        return Hand(self.modules, self._later("heard"), self._later("lost"), NICE if is_patient else 0)

    def _later(self, what):
        "Reports come in a hand's thread; the desk works in the loop's."

        def call(*words):
            try:
                self.loop.call_soon_threadsafe(getattr(self.room.desk, what), *words)
            except RuntimeError:  # the loop is closed
                pass

        return call

    def _run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def prepare(self):
        "Hands and pages, at the same time. Raises `InputError` if there are none by the deadline."
        room = self.room
        final = {name: live_page(each.module).final for name, each in room.dashboards.items() if live_page(each.module)}
        room.desk = Desk(self.start_hand, self.n_hands, final)
        self.thread.start()
        named = {name: (each.title, each.module) for name, each in room.dashboards.items()}
        room.pages = pages_made_elsewhere(dashboards=named, home=room.where(), items=room.items)
        for hand in list(room.desk.hands):
            while not hand.ready.wait(0.1):
                if hand.process.poll() is not None:
                    raise InputError("the processes of the server did not start; what they say stands above")
                if time.monotonic() > self.deadline:
                    raise InputError(TOO_BUSY)

    def open(self):
        "Let readers in."
        from tornado.httpserver import HTTPServer
        from tornado.ioloop import PeriodicCallback
        from tornado.web import Application

        page, library, talk = handlers()
        room = self.room
        routes = [
            (r"/talk/(\w+)", talk, dict(room=room)),
            (r"/(library-\w+\.js)", library, dict(room=room, needs_token=False)),
            (r"/(.*)", page, dict(room=room)),
        ]
        application = Application(
            routes,
            log_function=lambda _: None,  # addresses have the token in them
            compress_response=True,
            websocket_max_message_size=20_000,
            websocket_ping_interval=30,
        )
        self.server = HTTPServer(application, max_body_size=10_000, max_header_size=20_000, idle_connection_timeout=120)
        self.server.add_sockets(self.sockets)
        self.clocks = [PeriodicCallback(room.desk.tick, 1000 * TICK), PeriodicCallback(self._word, 1000 * WORD)]
        for clock in self.clocks:
            clock.start()
        usual = list(room.usual())
        starts = [name for name, each in room.dashboards.items() if live_page(each.module)]
        self.first = usual[: len(starts)]
        for job in self.first:
            room.desk.ask(_Nobody(), job)
        room.desk.usual.extend(room.job(name, room.start(name, **settings)) for name, settings in self.usual)
        room.desk.usual.extend(usual[len(starts) :])
        room.desk.further = room.further()

    def warm_up(self):
        "Wait until the starts of all pages are there, a picture at least, so that the first readers need not."
        late = time.monotonic() + WARM_UP
        while time.monotonic() < late and not all(job.is_drawn for job in self.first):
            time.sleep(0.05)

    def _word(self):
        for reader in self.room.readers:
            reader.put("", NO_WORD)

    def close(self):
        "End everything, in the loop's own thread."

        async def end():
            for clock in getattr(self, "clocks", ()):
                clock.stop()
            if hasattr(self, "server"):
                self.server.stop()
                for reader in list(self.room.readers):
                    reader.close(1001, "the class is over")
                await asyncio.sleep(0.2)
                await self.server.close_all_connections()
            if self.room.desk:
                self.room.desk.close()

        if self.thread.is_alive():
            asyncio.run_coroutine_threadsafe(end(), self.loop).result(30)
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join(10)
            self.loop.close()
        elif self.room.desk:
            self.room.desk.close()
        for each in self.sockets:
            each.close()


class _Nobody(Reader):
    "For whom the starts of all pages are computed when the server opens."

    def hear(self, payload):
        pass


@contextmanager
def serve_class(
    names=None,
    host=LOOPBACK,
    port=None,
    token=None,
    n_hands=None,
    items="animals",
    folder="answers",
    patience=120,
    usual=(),
):
    "Serve dashboards to a class until the context ends. Needs the extra `dashboard`; raises `InputError`."
    for needed in ("tornado", "anywidget"):
        import_extra(needed)
    known = find_dashboard()
    for name in names or known:
        require(name in known, "NAME", f"one of {', '.join(known)}", name)
    n_hands = min(4, max(2, os.cpu_count() or 2)) if n_hands is None else check_integer(n_hands, "--hands", 1, 64)
    chosen = {name: known[name] for name in names or known}
    items = check_items(items) if "ask" in chosen else items
    sockets = listening(host, port)
    number = sockets[0].getsockname()[1]
    room = Room(chosen, host, number, check_token(token), items, Path(folder))
    serving = _Serving(room, sockets, n_hands, patience, [pair for pair in usual if pair[0] in chosen])
    try:
        serving.prepare()
        serving.loop.call_soon_threadsafe(lambda: (serving.open(), serving.opened.set()))
        require(serving.opened.wait(30), "the server", "ready in half a minute", "nothing")
        serving.warm_up()
        yield room
    finally:
        serving.close()
