"""Where a class is, who may come in, what is a request, and which settings are worth computing before anybody asks."""

import ipaddress
import re
import secrets
import socket
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from urllib.parse import urlencode

from ..core.validation import InputError, check_integer, require
from .desk import Desk, Job
from .hands import live_page
from ..elicitation.items import default_log, read_items

PORT = 8867  # where a class is, unless it is taken
LOOPBACK = "127.0.0.1"


def listening(host=LOOPBACK, port=None):
    "Where the server listens. Raises `InputError` if it cannot."
    from tornado.netutil import bind_sockets

    if port is not None:
        check_integer(port, "--port", 1, 65535)
    for each in [port] if port is not None else [PORT, 0]:
        try:
            return bind_sockets(each, host, family=socket.AF_INET if host == LOOPBACK else socket.AF_UNSPEC)
        except (OSError, UnicodeError) as error:  # a name that no host can have is the latter
            said = error
    if port is not None and host == LOOPBACK:
        raise InputError(f"--port must be a port that is free; got {port}")
    raise InputError(f"--host must be an address of this machine, with a free port; got {host!r} ({said})")


def own_address():
    "An address of this machine as others on the network see it; no packet is sent to find it."
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for examples: nobody has it
            return probe.getsockname()[0]
        except OSError:
            return socket.gethostname()


def is_loopback(host):
    "Whether only this machine can reach a server that listens there."
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_our_name(name, host):
    "Whether a request was meant for this server: localhost, on a network also numbers and this machine's names."
    name = name.strip("[]").lower()
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        address = None
    if is_loopback(host):
        return name == "localhost" or (address is not None and address.is_loopback)
    mine = socket.gethostname().lower()
    return address is not None or name in ("localhost", host.lower(), mine, f"{mine.partition('.')[0]}.local")


MOST_NAME = 40  # characters of a person's name


def check_token(token):
    "The word that opens the door. Raises `InputError` for one that is short, or that an address cannot have."
    if token is None:
        return secrets.token_urlsafe(12)
    rule = "8 to 64 letters, digits, - or _"
    require(isinstance(token, str) and re.fullmatch(r"[A-Za-z0-9_-]{8,64}", token), "--token", rule, token)
    return token


def check_person(name):
    "Who answers. Raises `InputError`."
    name = " ".join(name.split()) if isinstance(name, str) else name
    fits = isinstance(name, str) and 0 < len(name) <= MOST_NAME and name.isprintable()
    require(fits and re.search(r"\w", name), "name", f"a name of 1 to {MOST_NAME} characters", name)
    return name


MOST_READERS = 300
MOST_PICTURES = 2_000_000  # bytes of pictures in the questions: every page shows all of them
NO_TOKEN = "This server needs the token that stands in the address which its command printed."
NOT_OURS = "This server does not answer to that name."
NO_REQUEST = "a request is JSON: a number, which is a text, and settings"
DRAWS = ("seed", "task")  # controls that draw everything anew
FULL = f"There are {MOST_READERS} readers here already."


def check_items(items):
    "What the page `ask` asks about. Raises `InputError`, also for pictures too large to be sent to all."
    size = sum(len(item.picture) for item in read_items(items))
    rule = f"at most {MOST_PICTURES:,} bytes of pictures for a class, because every page shows all (make them smaller)"
    require(size <= MOST_PICTURES, "--items", rule, size)
    return str(Path(items).resolve()) if Path(items).exists() else items


def _nearest(values, begin):
    "Pairs (steps from where a page begins, value), nearest first."
    place = values.index(begin) if begin in values else 0
    return sorted(((abs(at - place), value) for at, value in enumerate(values)), key=lambda pair: pair[0])


@dataclass
class Room:
    "A class and what it shares."

    dashboards: dict  # {name: `Dashboard`}
    host: str  # name or IP address where the server listens
    port: int  # where it listens
    token: str  # who has it may come in
    items: str = "animals"  # what the page `ask` asks about
    folder: Path = Path("answers")  # of the answers
    pages: dict = None  # from `make_pages`
    desk: Desk = None  # gives work to the hands; None at first

    def __post_init__(self):
        self.readers = set()
        self.n_refused = 0

    def where(self, page="", **more):
        "An address inside."
        return f"./{page}?{urlencode(dict(token=self.token, **more))}"

    @property
    def address(self):
        "What a class is told."
        host = self.host if is_loopback(self.host) else own_address()
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/?token={self.token}"

    def journal(self, person):
        "The file of a person's answers."
        return default_log(self.items, person, self.folder)

    def job(self, name, message):
        "A request that has passed the gate. Raises `InputError`."
        module = self.dashboards[name].module
        kind = live_page(module).settings
        try:
            settings = kind.from_message(message)
        except InputError:
            raise
        except (TypeError, ValueError, OverflowError, RecursionError, ArithmeticError) as error:
            raise InputError(f"settings must be those of this page; got others ({type(error).__name__})") from None
        return Job(name, dict(page=module, settings=settings.message()))

    def wish(self, person, request):
        "What a person wishes, for `session_replies`."
        wish = {name: request.get(name) for name in ("do", "at", "answer", "form", "number")}
        path = str(self.journal(person).resolve())
        return Job("ask", dict(items=self.items, journal=path, person=person, wish=wish), shared=False)

    def start(self, name, **settings):
        "The settings with which a page begins, or others, as the page sends them."
        return live_page(self.dashboards[name].module).settings(**settings).message()

    def usual(self):
        "The starts of all pages, then every control moved alone, nearest first."
        found = []
        for name, settings in self._settings().items():
            found.append((0, self.job(name, self.start(name))))
            for each, values in settings.values("live").items():
                for place, value in _nearest(values, getattr(settings(), each)):
                    found += [(place, job) for job in self._fitting(name, {each: value})]
        seen = set()
        for _, job in sorted(found, key=lambda each: each[0]):
            if job.key not in seen:
                seen.add(job.key)
                yield job

    def further(self):
        "After `usual`: every control together with another draw, the first control of all pages first."
        pages, pairs = self._settings(), []
        for name, settings in pages.items():
            values = settings.values("live")
            draw = next((each for each in DRAWS if each in values), None)
            controls = [each for each in values if each != draw] if draw else []
            pairs += [(turn, name, each, draw) for turn, each in enumerate(controls)]
        for _, name, each, draw in sorted(pairs, key=lambda pair: pair[0]):
            values, begin = pages[name].values("live"), pages[name]()
            ways = [[pair for pair in _nearest(values[one], getattr(begin, one)) if pair[0]] for one in (each, draw)]
            for (_, value), (_, drawn) in sorted(product(*ways), key=lambda both: both[0][0] + both[1][0]):
                yield from self._fitting(name, {each: value, draw: drawn})

    def _settings(self):
        "{name of a page that computes: the class of its settings}."
        pages = {name: live_page(each.module) for name, each in self.dashboards.items()}
        return {name: page.settings for name, page in pages.items() if page}

    def _fitting(self, name, moved):
        "The job of the start with these settings; none where they do not go together with the others."
        message = {each: "inf" if value == float("inf") else value for each, value in moved.items()}
        try:
            return [self.job(name, {**self.start(name), **message})]
        except InputError:
            return []

    def state(self):
        "What is going on, in numbers."
        desk = self.desk
        return dict(
            readers=len(self.readers),
            waiting=sum(job.hand is None for job in desk.jobs.values()),
            computed=desk.n_computed,
            reused=desk.n_reused,
            dropped=desk.n_dropped,
            kept=len(desk.kept),
            kept_bytes=desk.kept_bytes,
            usual_left=len(desk.usual),
            hands=[hand.process.pid for hand in desk.hands],
            hands_lost=desk.n_lost,
            refused=self.n_refused,
        )
