"""One small server for the dashboards: a token, a few processes that compute, and a cache of equal requests.

A page sends its settings through a websocket and hears events. Equal requests are one job, which ends when no reader
waits for it; a reader's new request replaces the one before.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import multiprocessing
import os
import re
import secrets
import signal
import socket
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from pathlib import Path
from queue import SimpleQueue
from string import Template
from typing import Any
from urllib.parse import urlencode

from ..core.parallel import limited_threads
from ..core.validation import InputError, check_integer, require
from ..elicitation.items import default_log, read_items
from .framework import MODULES, find_dashboard
from .page import import_extra, page_parts, static_text, vega_library
from .sources import pages_given
from .worker import answered

LOOPBACK, PORT = "127.0.0.1", 8866
MOST_READERS = 300
MOST_NAME = 40  # characters of a person's name
MOST_PICTURES = 2_000_000  # bytes of pictures in the questions: every page shows all of them
CACHE_BYTES = 100_000_000
NOT_OURS = "The host name in the address is not that of this server."
NO_TOKEN = "The address must contain the token that the command printed."
LOST = "The process that computed this has ended, perhaps because of too little memory. Choose a smaller setting."
HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


def as_json(event):
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


# ---- processes that compute


def work(line):
    "What a process does: one order after the other; a message on the way means that this one is wanted no more."
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory = {}

    def publish(event):
        line.send((event["kind"], as_json(event)))

    def events(order, step):
        name, message = order
        page = find_dashboard(name)
        return page.work(page.settings.from_message(message), step, memory.setdefault(name, {}))

    with limited_threads(), suppress(EOFError, OSError):  # the server has gone
        while True:
            if order := line.recv():
                for _ in answered(events, order, publish, line.poll):
                    pass
                line.send(("end", ""))


@dataclass(eq=False)
class Job:
    "What is asked, who waits for it, and what is there of the answer."

    order: tuple  # (name of a page, settings)
    key: str  # equal for requests that one answer serves
    readers: set = field(default_factory=set)
    frames: list = field(default_factory=list)  # events as JSON
    line: object = None  # to the process that computes it

    @property
    def is_answered(self):
        "Whether nothing more will come."
        return bool(self.frames) and self.frames[-1].startswith('{"kind":"done"')


class Pool:
    "A few processes, each with a thread that gives it one job after the other; and the answers, for who asks the same."

    def __init__(self, n_workers, start):
        self.loop, self.lock, self.is_open = asyncio.get_running_loop(), threading.Lock(), True
        self.start, self.waiting, self.processes = start, SimpleQueue(), []
        self.jobs, self.asked, self.size = OrderedDict(), {}, 0  # jobs by key; what each reader waits for
        for line in [self._begin() for _ in range(n_workers)]:
            threading.Thread(target=self._work, args=(line,), daemon=True).start()

    def ask(self, reader, order, key):
        "This is what a reader wants now, and nothing that they wanted before."
        self.leave(reader)
        is_new = key not in self.jobs
        job = self.jobs.setdefault(key, Job(order, key))
        self.jobs.move_to_end(key)
        job.readers.add(reader)
        self.asked[reader] = job
        for text in job.frames:
            reader.hear(text)
        if is_new:
            self.waiting.put(job)  # last: a thread that is free takes it at once, and drops it if nobody waits

    def leave(self, reader):
        "A reader leaves or asks for something else; a job without readers ends."
        job = self.asked.pop(reader, None)
        if job:
            job.readers.discard(reader)
            with self.lock, suppress(OSError):  # the process may have ended
                if not job.readers and job.line:
                    job.line.send(None)
            if not job.readers and not job.is_answered:
                self.jobs.pop(job.key, None)

    def _work(self, line):
        "A thread: one process, and one job after the other; a process that ends over a job is replaced."
        while self.is_open:
            job = self.waiting.get()
            try:
                with self.lock:  # `leave` speaks to the process only after the order
                    if not job.readers:
                        continue
                    line.send(job.order)
                    job.line = line
                while (event := line.recv())[0] != "end":
                    self.loop.call_soon_threadsafe(self.heard, job, *event)
            except (EOFError, OSError):
                if self.is_open:
                    self.loop.call_soon_threadsafe(self.lost, job)
                    line = self._begin()
            with self.lock:
                job.line = None

    def _begin(self):
        process, line = self.start()
        self.processes.append(process)
        return line

    def heard(self, job, kind, text):
        "An event; answers are kept as long as there is room."
        if kind != "progress":
            job.frames.append(text)
        for reader in list(job.readers):
            reader.hear(text)
        if job.is_answered and self.jobs.get(job.key) is job:
            self.size += sum(map(len, job.frames))
            while self.size > CACHE_BYTES:
                key = next(key for key, each in self.jobs.items() if each.is_answered)
                self.size -= sum(map(len, self.jobs.pop(key).frames))

    def lost(self, job):
        "The process has ended: those who waited are told."
        self.jobs.pop(job.key, None)
        for event in (dict(kind="sentence", text=LOST), dict(kind="done")):
            self.heard(job, event["kind"], as_json(event))

    def close(self):
        self.is_open = False
        for process in self.processes:
            process.kill()
            process.join(5)


def starter(modules):
    "A function that starts a process: (process, line to it)."
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload([__name__, *modules])

    def start():
        line, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return process, line

    return start


# ---- who may come in


def is_loopback(host):
    "Whether only this machine can reach a server that listens there."
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_our_name(name, host):
    "Whether a request was meant for this server: localhost, on a network also numbers and this machine's names."
    name = name.strip("[]").lower()
    mine = socket.gethostname().lower()
    with suppress(ValueError):
        address = ipaddress.ip_address(name)
        return address.is_loopback or not is_loopback(host)
    names = ("localhost", host.lower(), mine, f"{mine.partition('.')[0]}.local")
    return name == "localhost" if is_loopback(host) else name in names


def own_address():
    "An address of this machine as others on the network see it; no packet is sent to find it."
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for examples: nobody has it
            return probe.getsockname()[0]
        except OSError:
            return socket.gethostname()


def listening(host=LOOPBACK, port=None):
    "Sockets of the server. Raises `InputError` if it cannot listen there."
    from tornado.netutil import bind_sockets

    if port is not None:
        check_integer(port, "--port", 1, 65535)
    for each in [PORT, 0] if port is None else [port]:
        try:
            return bind_sockets(each, host, family=socket.AF_INET if host == LOOPBACK else socket.AF_UNSPEC)
        except (OSError, UnicodeError) as error:  # a name that no host can have is the latter
            reason = error
    require(port is None or not is_loopback(host), "--port", "a port that is free", port)
    raise InputError(f"--host must be an address of this machine, with a free port; got {host!r} ({reason})")


def check_token(token, host):
    "The word that opens the door; on this machine the same at every start, so that open pages go on."
    from comparison_hc.evaluation._dataset_files import cache_folder

    if token is None and is_loopback(host):
        with suppress(OSError):
            place = cache_folder() / "dashboard-token"
            if not place.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                with open(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
                    file.write(secrets.token_urlsafe(24))
            token = place.read_text()
    token = secrets.token_urlsafe(12) if token is None else token
    rule = "8 to 64 letters, digits, - or _"
    require(isinstance(token, str) and re.fullmatch(r"[A-Za-z0-9_-]{8,64}", token), "--token", rule, token)
    return token


def check_person(name):
    "Who answers. Raises `InputError`."
    name = " ".join(name.split())
    rule = f"a name of 1 to {MOST_NAME} characters"
    require(len(name) <= MOST_NAME and name.isprintable() and re.search(r"\w", name), "name", rule, name)
    return name


def check_items(items):
    "What the page `ask` asks about. Raises `InputError`, also for pictures too large to be sent to all."
    size = sum(len(item.picture) for item in read_items(items))
    rule = f"at most {MOST_PICTURES:,} bytes of pictures, because every page shows all (make them smaller)"
    require(size <= MOST_PICTURES, "--items", rule, size)
    return str(Path(items).resolve()) if Path(items).exists() else items


def plain_page(title, body):
    "A page with words only."
    return Template(static_text("plain.html")).substitute(title=escape(title), body=body)


@dataclass(eq=False)
class Served:
    "A site: who may come in and where; what happens when it begins and ends."

    host: str
    token: str
    port: int = 0
    path: str = ""

    @property
    def address(self):
        "What readers are told."
        host = self.host if is_loopback(self.host) else own_address()
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/{self.path}?token={self.token}"

    def on_begin(self):
        "Called in the loop before the first request."

    def on_end(self):
        "Called in the loop after the last request."


@contextmanager
def running(site, routes, port=None, **limits):
    "Serve (pattern, handler) for a site, in a thread with a loop of its own, until the context ends."
    from tornado.httpserver import HTTPServer
    from tornado.web import Application

    sockets = listening(site.host, port)
    site.port = sockets[0].getsockname()[1]
    is_ready, stop = threading.Event(), threading.Event()

    async def serve():
        limits["log_function"] = lambda _: None  # addresses have the token in them
        application = Application([(*each, dict(site=site)) for each in routes], compress_response=True, **limits)
        server = HTTPServer(application, max_body_size=10_000, max_header_size=20_000, idle_connection_timeout=120)
        site.on_begin()
        server.add_sockets(sockets)
        is_ready.set()
        await asyncio.to_thread(stop.wait)
        server.stop()
        site.on_end()
        await asyncio.sleep(0.1)
        await server.close_all_connections()

    loop = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    loop.start()
    try:
        require(is_ready.wait(60), "the server", "ready in a minute", "nothing")
        yield
    finally:
        stop.set()
        loop.join(15)


@lru_cache(maxsize=1)
def checked_handler():
    "Tornado's class for all requests."
    from tornado.web import HTTPError, RequestHandler

    class Checked(RequestHandler):
        "Host and token, before anything else."

        def initialize(self, site):
            self.site = site

        def prepare(self):
            if not is_our_name(self.request.host_name, self.site.host):
                raise HTTPError(403, reason=NOT_OURS)
            given = self.get_argument("token", "").encode()
            if self.request.path != "/vega.js" and not hmac.compare_digest(given, self.site.token.encode()):
                raise HTTPError(403, reason=NO_TOKEN)

        def write_error(self, status_code, **_):
            words = "This server has no page with this name." if status_code == 404 else self._reason
            self.finish(plain_page(f"{status_code}", f"<p>{escape(words)}</p>"))

        def set_default_headers(self):
            own, host = "'self' 'unsafe-inline' 'unsafe-eval'", self.request.host  # Vega makes functions from text
            policy = f"default-src 'none'; script-src {own}; style-src {own}; img-src data: blob:"
            self.set_header("Content-Security-Policy", f"{policy}; connect-src 'self' ws://{host}")
            for name, value in HEADERS.items():
                self.set_header(name, value)

    return Checked


# ---- dashboards


@dataclass(eq=False)
class Site(Served):
    "What is served, and to whom."

    names: Sequence = ()
    n_workers: int = 2
    items: str = "animals"  # what the page `ask` asks about
    folder: Path = Path()  # of the answers
    journal: object = None  # the one file of answers, where one person answers
    person: object = None

    def __post_init__(self):
        self.readers, self.page, self.path = set(), lru_cache(self.page), "" if self.names[1:] else self.names[0]
        self.sessions, self.locks = {}, {}  # of those who answer, by their logs

    def on_begin(self):
        from tornado.ioloop import PeriodicCallback

        self.pool = Pool(self.n_workers, starter([MODULES[name] for name in self.names]))
        self.beats = PeriodicCallback(self.greet, 5000)
        self.beats.start()

    def greet(self):
        "The server is still there."
        for reader in list(self.readers):
            reader.hear('{"kind":"hello"}')

    def on_end(self):
        self.beats.stop()
        for reader in list(self.readers):
            reader.close(1001, "the server ends")
        self.pool.close()

    def where(self, page="", **more):
        "A link inside."
        return escape(f"./{page}?{urlencode(dict(token=self.token, **more))}")

    def page(self, name):
        "The HTML of a dashboard, which asks its server."
        page, kept = find_dashboard(name), "your settings are in the address of this page."
        if page.settings:
            spec = page.spec(page.settings.values("live"), page.settings(), page.about, pages_given())
        else:
            from comparison_hc.dashboards.ask_page import page_spec
            from comparison_hc.elicitation.session import Session

            spec = page_spec(Session(self.items), pages_given())
            kept = "every answer that was shown here is in the log."
        home = f'<nav><a href="{self.where()}">All dashboards</a></nav>' if len(self.names) > 1 else ""
        library = '<script async id="library" src="vega.js"></script>' if spec["charts"] else ""
        parts = dict(page_parts(spec), title=escape(page.title), home=home, kept=kept, library=library)
        return Template(static_text("served.html")).substitute(parts, line=f"talk/{name}")

    def home(self):
        "A card for every dashboard."
        cards = []
        for name, each in ((name, find_dashboard(name)) for name in self.names):
            words = f"<h2>{escape(each.title)}</h2><p>{escape(each.summary)}</p>"
            cards.append(f'<li><a href="{self.where(name)}">{words}</a></li>')
        return plain_page("Clusters and hierarchies from comparisons", f"<ul>{''.join(cards)}</ul>")

    def log(self, person):
        "The file of a person's answers."
        return Path(self.journal or default_log(self.items, person, self.folder)).resolve()

    def replies(self, person, wish):
        "What becomes of a person's wish; one after the other for every log."
        from comparison_hc.dashboards.ask_page import served_replies

        path = self.log(person)
        with self.locks.setdefault(path, threading.Lock()):
            return served_replies(wish, self.items, path, person, self.sessions)

    def asked(self, person, is_new):
        "The questions for a person, or the question who it is; None where the address should be another one."
        words = ""
        try:
            person = check_person(person) if person else ""
            if self.journal or person and not is_new:
                return self.page("ask")
            if person and not self.log(person).is_file():
                return None
            if person:
                here = (
                    f'<a href="{self.where("ask", person=person)}">That was me: continue</a>, or choose another name:'
                )
                words = f"A person with the name {escape(person)} has answered here. {here}"
        except InputError as error:
            words = escape(str(error))
        parts = dict(words=words, token=self.token, most=MOST_NAME)
        return plain_page("Who are you?", Template(static_text("name.html")).substitute(parts))


def dashboard_routes():
    "Tornado's classes for pages and for the lines that they open."
    from tornado.web import HTTPError
    from tornado.websocket import WebSocketClosedError, WebSocketHandler

    class Page(checked_handler()):
        "The list, a dashboard, the library of charts."

        async def get(self, name):
            site = self.site
            if name == "vega.js":
                self.set_header("Content-Type", "text/javascript; charset=UTF-8")
                self.set_header("Cache-Control", "max-age=86400")
                return self.finish(await asyncio.to_thread(vega_library))
            if name and name not in site.names:
                raise HTTPError(404)
            person = self.get_argument("person", "")
            if name == "ask" and (text := site.asked(person, self.get_argument("new", ""))) is None:
                query = urlencode(dict(token=site.token, person=check_person(person)))
                return self.redirect(f"./ask?{query}", status=303)  # an address that can be loaded again
            self.finish(text if name == "ask" else await asyncio.to_thread(site.page, name) if name else site.home())

    class Talk(checked_handler(), WebSocketHandler):
        "A reader's page."

        def open(self, name):
            site, self.name, self.number = self.site, name, ""
            if name not in site.names or len(site.readers) >= MOST_READERS:
                return self.close(1008, "no such page, or too many readers")
            try:
                person = self.get_argument("person", "")
                self.person = site.person if name != "ask" or site.journal else check_person(person)
            except InputError:
                return self.close(1008, "no name")
            site.readers.add(self)
            self.hear('{"kind":"hello"}')

        def get_compression_options(self):
            return dict(compression_level=1, mem_level=5)

        def hear(self, text):
            "One event, with the number of the request."
            with suppress(WebSocketClosedError):
                sent = asyncio.ensure_future(self.write_message(f'{{"number":{json.dumps(self.number)},{text[1:]}'))
                sent.add_done_callback(lambda done: done.exception())  # of a reader who has gone

        def on_message(self, text):
            try:
                request = json.loads(text)
                number, settings = request["number"], request.get("settings")
                if not isinstance(number, str) or len(number) > 80:
                    raise TypeError
            except (ValueError, TypeError, KeyError, RecursionError, AttributeError):
                return self.close(1008, "a request is JSON: a number, which is a text, and settings")
            self.number = number
            if self.name == "ask":
                wish = {name: request.get(name) for name in ("do", "at", "answer", "form", "number")}
                return self.reply(wish)  # Tornado waits for it before the next message
            try:
                settings = find_dashboard(self.name).settings.from_message(settings).message()
            except (ValueError, TypeError, ArithmeticError) as error:
                self.site.pool.leave(self)
                words = str(error) if isinstance(error, InputError) else "This page has no such settings."
                return [self.hear(as_json(each)) for each in (dict(kind="sentence", text=words), dict(kind="done"))]
            self.site.pool.ask(self, (self.name, settings), self.name + as_json(settings))

        async def reply(self, wish):
            for event in await asyncio.to_thread(self.site.replies, self.person, wish):
                self.hear(as_json(event))

        def on_close(self):
            self.site.readers.discard(self)
            self.site.pool.leave(self)

    return [(r"/talk/(\w+)", Talk), (r"/(.*)", Page)]


@contextmanager
def serve_dashboard(
    name: str | Sequence[str] | None = None,
    port: int | None = None,
    host: str = LOOPBACK,
    token: str | None = None,
    workers: int | None = None,
    items: Any = "animals",
    folder: str | Path = ".",
    journal: str | Path | None = None,
    person: str | None = None,
    one_person: bool = False,
) -> Iterator[str]:
    """Serve dashboards until the context ends. Needs the extra `dashboard`.

    Parameters
    ----------
    name : str or sequence of str, optional
        Of dashboards; by default all.
    port : int, optional
        Where it listens; by default 8866, or any that is free.
    host : str, default "127.0.0.1"
        An address of this machine; "0.0.0.0" lets the network in.
    token : str, optional
        The word in the address that lets a reader in; by default chosen.
    workers : int, optional
        Number of processes that compute; by default one per core, four to eight.
    items : str, Path or sequence, default "animals"
        What the page `ask` asks about.
    folder : str or Path, default "."
        Of the answers, a log for every person.
    journal : str or Path, optional
        The one log, for one person.
    person : str, optional
        The one who answers.
    one_person : bool, default False
        Whether only one person answers, into a log that is named after items and person.

    Yields
    ------
    str
        The address, with the token that opens the page.

    Raises
    ------
    InputError
        Without the extra, for an unknown name, and where it cannot listen.

    Examples
    --------
    >>> from comparison_hc.dashboards import serve_dashboard
    >>> with serve_dashboard("step", token="monday-morning") as address:
    ...     address.startswith("http://127.0.0.1:")
    True
    """
    import_extra("tornado")
    names = [name] if isinstance(name, str) else list(dict.fromkeys(name or MODULES))
    for each in names:
        require(each in MODULES, "NAME", f"one of {', '.join(MODULES)}", each)
    n_workers = min(8, max(4, os.cpu_count() or 1)) if workers is None else check_integer(workers, "--workers", 1, 64)
    token = check_token(token, host)
    if "ask" in names:
        items = check_items(items)
        if one_person or journal is not None or person is not None:
            from comparison_hc.elicitation.session import Session

            journal = str(Path(journal or default_log(items, person or "somebody", folder)).resolve())
            Session(items, Path(journal), person)  # what does not fit is said at once
    asked = dict(items=items, folder=Path(folder), journal=journal, person=person)
    site = Site(host, token, names=names, n_workers=n_workers, **asked)
    with running(site, dashboard_routes(), port, websocket_max_message_size=20_000, websocket_ping_interval=30):
        yield site.address


def run_dashboard(
    name: str | Sequence[str] | None = None,
    port: int | None = None,
    browser: bool = True,
    stop: threading.Event | None = None,
    **options: Any,
) -> None:
    """Serve dashboards until Ctrl-C; a request to terminate is taken as one, so that no process is left behind.

    Parameters
    ----------
    name : str or sequence of str, optional
        As for `serve_dashboard`.
    port : int, optional
        As for `serve_dashboard`.
    browser : bool, default True
        Whether to open it.
    stop : threading.Event, optional
        Ends it; by default only Ctrl-C does.
    **options : object
        Of `serve_dashboard`.

    Examples
    --------
    >>> from threading import Event
    >>> from comparison_hc.dashboards import run_dashboard
    >>> stop = Event()
    >>> stop.set()
    >>> run_dashboard("step", browser=False, stop=stop)
    Dashboards: http://127.0.0.1:.../step?token=... (Ctrl-C ends it)
    """
    import webbrowser

    def interrupt(*_):
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, interrupt)
    with serve_dashboard(name, port, **options) as address:
        print(f"Dashboards: {address} (Ctrl-C ends it)", flush=True)
        if not is_loopback(options.get("host", LOOPBACK)):
            print("Anyone who has this address can open the page. The connection is not encrypted.", flush=True)
        if browser:
            webbrowser.open(address)
        (stop or threading.Event()).wait()
