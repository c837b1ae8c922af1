"""One small server for the dashboards: a token, a few processes that compute, and a cache of equal requests.

A page sends its settings through a websocket and hears events. Equal requests are one job, which ends when no reader
waits for it; a reader's new request replaces the one before. While others wait, jobs run in slices.
"""

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
import time
from collections import OrderedDict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import urlencode

from ..core.parallel import limited_threads
from ..core.validation import InputError, check_integer, require
from .page import import_extra, page_parts, static_text, vega_library
from .framework import MODULES, find_dashboard
from .sources import pages_given
from .worker import answer
from ..elicitation.items import default_log, read_items

LOOPBACK, PORT = "127.0.0.1", 8866
MOST_READERS = 300
MOST_NAME = 40  # characters of a person's name
MOST_PICTURES = 2_000_000  # bytes of pictures in the questions: every page shows all of them
MOST_MEMORY = 1_500_000_000  # bytes that a process may take for its data, where the system can limit that
MOST_UNSENT = 30_000_000  # bytes that wait for a reader who takes nothing
CACHE_BYTES = 100_000_000
SLICE = 2.0  # seconds that a job runs while others wait; twice as many the next time
STUCK = 30.0  # seconds in which a process must notice that it should stop
NOT_OURS = "This server does not answer to that name."
NO_TOKEN = "This server needs the token in the address that its command printed."
LOST = "The process that computed this ended: too much memory, perhaps. Take a smaller setting."


def as_json(event):
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def work(connection):
    "What a process does: one order after the other; a message on the way means that this one is wanted no more."
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    memory, sessions = {}, {}
    with limited_threads(), suppress(EOFError, OSError):  # the server has gone
        while True:
            if order := connection.recv():
                _carry_out(*order, connection, memory, sessions)
                connection.send(("end", ""))


def _carry_out(name, request, connection, memory, sessions):
    def publish(event):
        connection.send((event["kind"], as_json(event)))

    def events(message, step):
        return page.work(page.settings.from_message(message), step, memory.setdefault(name, {}))

    page = find_dashboard(name)
    if page.settings:
        return answer(events, request, publish, connection.poll)
    from comparison_hc.dashboards.ask_page import served_replies

    for event in served_replies(request, sessions):
        publish(event)


@dataclass(eq=False)
class Job:
    "What is asked, who waits for it, and what is there of the answer."

    order: tuple  # (name of a page, what it is told)
    key: object  # equal for requests that one answer serves; None for one that must be carried out
    readers: set = field(default_factory=set)
    frames: list = field(default_factory=list)  # events as JSON
    seconds: float = SLICE
    worker: object = None  # that computes it
    n_lost: int = 0  # processes that ended over it

    def tell(self, text):
        for reader in list(self.readers):
            reader.hear(text)


class Worker:
    "A process, and the job that it has."

    def __init__(self, pool):
        self.connection, theirs = pool.context.Pipe()
        self.process = pool.context.Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.job, self.began, self.stopped, self.has_spoken = None, 0.0, 0.0, False
        threading.Thread(target=self._listen, args=(pool,), daemon=True).start()

    def _listen(self, pool):
        "Events come in a thread; the pool works in the server's loop."
        with suppress(RuntimeError):  # the loop is closed
            try:
                while True:
                    pool.loop.call_soon_threadsafe(pool.heard, self, *self.connection.recv())
            except (EOFError, OSError):
                pool.loop.call_soon_threadsafe(pool.lost, self)

    def send(self, order):
        with suppress(OSError):  # it has ended, and `_listen` says so
            self.connection.send(order)


class Pool:
    "Jobs, in the order in which they came, for a few processes; and the answers, for all who ask the same."

    def __init__(self, n_workers, modules):
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        self.context = multiprocessing.get_context(method)
        if method == "forkserver":
            self.context.set_forkserver_preload([__name__, *modules])
        self.loop, self.is_open = asyncio.get_running_loop(), True
        self.jobs, self.cache, self.size = [], OrderedDict(), 0
        self.workers = [Worker(self) for _ in range(n_workers)]

    def ask(self, reader, order, key):
        "This is what a reader wants now, and nothing that they wanted before."
        self.leave(reader)
        if key in self.cache:
            self.cache.move_to_end(key)
            return [reader.hear(text) for text in self.cache[key]]
        job = next((job for job in self.jobs if key and job.key == key), None)
        if job is None:
            self.jobs.append(job := Job(order, key))
        job.readers.add(reader)
        for text in job.frames:
            reader.hear(text)
        self.go_on()

    def leave(self, reader):
        "A reader goes, or goes on."
        for job in [job for job in self.jobs if reader in job.readers]:
            job.readers.discard(reader)
            if job.key and not job.readers:
                self.jobs.remove(job)
                self._stop(job)

    def _stop(self, job):
        worker, job.worker = job.worker, None
        if worker:
            worker.job, worker.stopped = None, time.monotonic()
            worker.send(None)

    def go_on(self):
        "Work for every process that has none."
        waiting = [job for job in self.jobs if job.worker is None]
        for worker in self.workers:
            if waiting and not worker.job and not worker.stopped:
                worker.job, worker.began = waiting.pop(0), time.monotonic()
                worker.job.worker = worker
                worker.send(worker.job.order)

    def heard(self, worker, kind, text):
        "An event, or the end of an answer."
        job, worker.has_spoken = worker.job, True
        if kind == "end":
            worker.job, worker.stopped = None, 0.0
            if job:
                self.jobs.remove(job)
                self._keep(job)
            self.go_on()
        elif job:
            if kind != "progress":
                job.frames.append(text)
            job.tell(text)

    def _keep(self, job):
        if job.key:
            self.cache[job.key] = job.frames
            self.size += sum(map(len, job.frames))
        while self.size > CACHE_BYTES:
            self.size -= sum(map(len, self.cache.popitem(last=False)[1]))

    def lost(self, worker):
        "A process has ended: another takes its place, and its job is tried once more."
        if not self.is_open:
            return
        place, job = self.workers.index(worker), worker.job
        self.workers[place : place + 1] = [Worker(self)] if worker.has_spoken else []  # a new one would end as well
        if job:
            job.worker, job.n_lost = None, job.n_lost + 1
            if job.n_lost > 1 or not job.key or not self.workers:
                self.jobs.remove(job)
                for event in (dict(kind="sentence", text=LOST), dict(kind="done")):
                    job.tell(as_json(event))
        self.go_on()

    def tick(self):
        "While others wait, a job that has had its seconds goes behind them; a process that does not stop is ended."
        now = time.monotonic()
        for worker in self.workers:
            job = worker.job
            if worker.stopped and now - worker.stopped > STUCK:
                worker.process.kill()
            elif job and job.key and now - worker.began > job.seconds and any(not each.worker for each in self.jobs):
                job.seconds, job.frames = 2 * job.seconds, []
                self._stop(job)
                self.jobs.append(self.jobs.pop(self.jobs.index(job)))

    def close(self):
        self.is_open = False
        for worker in self.workers:
            worker.process.kill()
            worker.process.join(5)


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
class Site:
    "What is served, and to whom."

    names: list
    host: str
    port: int
    token: str
    items: str  # what the page `ask` asks about
    folder: str  # of the answers
    journal: object  # the one file of answers, where one person answers
    person: object
    pool: object = None

    def __post_init__(self):
        self.readers, self.page = set(), lru_cache(self.page)

    def where(self, page="", **more):
        "A link inside."
        return escape(f"./{page}?{urlencode(dict(token=self.token, **more))}")

    @property
    def address(self):
        "What readers are told."
        host = self.host if is_loopback(self.host) else own_address()
        page = self.names[0] if len(self.names) == 1 else ""
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/{page}?token={self.token}"

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
                here = f'<a href="{self.where("ask", person=person)}">That was me: go on</a>, or take another name:'
                words = f"Somebody called {escape(person)} has answered here. {here}"
        except InputError as error:
            words = escape(str(error))
        parts = dict(words=words, token=self.token, most=MOST_NAME)
        return plain_page("Who are you?", Template(static_text("name.html")).substitute(parts))


@lru_cache(maxsize=1)
def handlers():
    "Tornado's classes."
    from tornado.web import HTTPError, RequestHandler
    from tornado.websocket import WebSocketClosedError, WebSocketHandler

    class Checked:
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
            words = "This server has no page of that name." if status_code == 404 else self._reason
            self.finish(plain_page(f"{status_code}", f"<p>{escape(words)}</p>"))

        def set_default_headers(self):
            own, host = "'self' 'unsafe-inline' 'unsafe-eval'", self.request.host  # Vega makes functions from text
            policy = f"default-src 'none'; script-src {own}; style-src {own}; img-src data: blob:"
            self.set_header("Content-Security-Policy", f"{policy}; connect-src 'self' ws://{host}")
            safe = {"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY"}
            for name, value in {**safe, "Cache-Control": "no-store"}.items():
                self.set_header(name, value)

    class Page(Checked, RequestHandler):
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

    class Talk(Checked, WebSocketHandler):
        "A reader's page."

        def open(self, name):
            site, self.name, self.number, self.unsent = self.site, name, "", 0
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
            "One event, with the number of the request; a reader who takes nothing for long is let go."
            text = f'{{"number":{json.dumps(self.number)},{text[1:]}'
            self.unsent += len(text)
            if self.unsent > MOST_UNSENT:
                return self.close(1008, "too slow")
            with suppress(WebSocketClosedError):
                sent = asyncio.ensure_future(self.write_message(text))
                sent.add_done_callback(lambda done: self.is_sent(done, len(text)))

        def is_sent(self, done, size):
            done.exception()  # of a reader who has gone
            self.unsent -= size

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
                where = dict(items=self.site.items, journal=str(self.site.log(self.person)), person=self.person)
                return self.site.pool.ask(self, ("ask", dict(where, wish=wish)), None)
            try:
                settings = find_dashboard(self.name).settings.from_message(settings).message()
            except (ValueError, TypeError, ArithmeticError) as error:
                self.site.pool.leave(self)
                words = str(error) if isinstance(error, InputError) else "These are not settings of this page."
                return [self.hear(as_json(each)) for each in (dict(kind="sentence", text=words), dict(kind="done"))]
            self.site.pool.ask(self, (self.name, settings), self.name + as_json(settings))

        def on_close(self):
            self.site.readers.discard(self)
            self.site.pool.leave(self)

    return Checked, Page, Talk


async def _serve(site, sockets, n_workers, is_ready, stop):
    "Everything that runs in the loop, until `stop` is set."
    from tornado.httpserver import HTTPServer
    from tornado.web import Application

    site.pool = Pool(n_workers, [MODULES[name] for name in site.names if name in MODULES])
    _, page, talk = handlers()
    routes = [(r"/talk/(\w+)", talk, dict(site=site)), (r"/(.*)", page, dict(site=site))]
    limits = dict(websocket_max_message_size=20_000, websocket_ping_interval=30)
    limits["log_function"] = lambda _: None  # addresses have the token in them
    application = Application(routes, compress_response=True, **limits)
    server = HTTPServer(application, max_body_size=10_000, max_header_size=20_000, idle_connection_timeout=120)
    server.add_sockets(sockets)
    is_ready.set()
    beats = 0
    while not stop.is_set():
        await asyncio.sleep(0.25)
        site.pool.tick()
        beats += 1
        for reader in list(site.readers) if beats % 20 == 0 else ():
            reader.hear('{"kind":"hello"}')  # the server is still there
    server.stop()
    for reader in list(site.readers):
        reader.close(1001, "the server ends")
    await asyncio.sleep(0.1)
    await server.close_all_connections()
    site.pool.close()


@contextmanager
def serve_dashboard(
    name=None,
    port=None,
    host=LOOPBACK,
    token=None,
    workers=None,
    items="animals",
    folder=".",
    journal=None,
    person=None,
    one_person=False,
):
    """Serve dashboards until the context ends. Needs the extra `dashboard`.

    Parameters
    ----------
    name
        Name of a dashboard, or a list of names; None: all.
    port
        Where it listens; None: 8866, or any that is free.
    host
        An address of this machine; "0.0.0.0" lets the network in.
    token
        The word in the address that lets a reader in; None: chosen.
    workers
        Number of processes that compute; None: one per core, two to four.
    items, folder, journal, person, one_person
        Of the page `ask`: what it asks about, and where answers go. For one person, a log that is given or named after
        items and person; else a log in the folder for every person.

    Returns
    -------
    result
        Yields the address, with the token that opens the page.
    """
    import_extra("tornado")
    known = list(MODULES)
    names = [name] if isinstance(name, str) else list(name or known)
    for each in names:
        require(each in known, "NAME", f"one of {', '.join(known)}", each)
    n_workers = min(4, max(2, os.cpu_count() or 2)) if workers is None else check_integer(workers, "--workers", 1, 64)
    token = check_token(token, host)
    if "ask" in names:
        items = check_items(items)
        if one_person or journal is not None or person is not None:
            from comparison_hc.elicitation.session import Session

            journal = str(Path(journal or default_log(items, person or "somebody", folder)).resolve())
            Session(items, Path(journal), person)  # what does not fit is said at once
    sockets = listening(host, port)
    names = list(dict.fromkeys(names))
    site = Site(names, host, sockets[0].getsockname()[1], token, items, Path(folder), journal, person)
    is_ready, stop = threading.Event(), threading.Event()
    loop = threading.Thread(target=lambda: asyncio.run(_serve(site, sockets, n_workers, is_ready, stop)), daemon=True)
    loop.start()
    try:
        require(is_ready.wait(60), "the server", "ready in a minute", "nothing")
        yield site.address
    finally:
        stop.set()
        loop.join(15)


def run_dashboard(name=None, port=None, browser=True, stop=None, **options):
    """Serve dashboards until Ctrl-C; a request to terminate is taken as one, so that no process is left behind.

    Parameters
    ----------
    name, port
        As for `serve_dashboard`.
    browser
        Whether to open it.
    stop
        `threading.Event` that ends it; None for Ctrl-C only.
    **options
        Of `serve_dashboard`.
    """
    import webbrowser

    def interrupt(*_):
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, interrupt)
    with serve_dashboard(name, port, **options) as address:
        print(f"Dashboards: {address} (Ctrl-C ends it)", flush=True)
        if not is_loopback(options.get("host", LOOPBACK)):
            print("Anyone who has this address may come in. Nothing is encrypted on the way.", flush=True)
        if browser:
            webbrowser.open(address)
        (stop or threading.Event()).wait()
