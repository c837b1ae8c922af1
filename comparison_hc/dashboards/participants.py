"""The participants' page: one question and a counter, nothing else; every answer is logged before the next question."""

import json
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from string import Template

from ..core.io import JournalError
from ..core.validation import InputError, require
from ..elicitation.items import default_log, read_items
from ..elicitation.session import Session
from ..elicitation.trial_list import COLUMNS, TrialSession, read_trial_list
from .ask_page import picture_html
from .page import import_extra, static_text
from .server import (
    LOOPBACK,
    MOST_NAME,
    Served,
    check_person,
    check_token,
    checked_handler,
    is_loopback,
    plain_page,
    running,
)

ASKED = {
    "triplets": "Which one below is more like the one above?",
    "odd-one-out": "Which one does not belong?",
    "central": "Which one is the most typical of the three?",
}
THANKS = "Thank you. There are no more questions. You can close this page."


def text_html(path, argument):
    "The words of a file: HTML as it is, other text by paragraphs. Raises `InputError`."
    path = Path(path)
    require(path.is_file(), argument, "an existing file of text or HTML", str(path))
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} must be UTF-8 text; byte {error.start} is not") from None
    if path.suffix.lower() in (".html", ".htm"):
        return text
    blocks = [block.strip() for block in text.replace("\r\n", "\n").split("\n\n") if block.strip()]
    return "\n".join(map(_block_html, blocks))


def _block_html(block):
    "A title (# in front), a list (- in front of each line) or a paragraph; a title may have lines below it."
    title, _, below = block.partition("\n")
    if title.startswith("# "):
        return f"<h1>{escape(title[2:])}</h1>" + (f"\n{_block_html(below)}" if below else "")
    lines = block.split("\n")
    if all(line.startswith("- ") for line in lines):
        return f"<ul>{''.join(f'<li>{escape(line[2:])}</li>' for line in lines)}</ul>"
    return f"<p>{escape(block)}</p>"


def lists_in(path):
    "The lists of a file or a folder; other tables of a folder, such as collected answers, are none."
    if path.is_file():
        return [path]
    head = COLUMNS[0].encode()
    return sorted(
        each for each in path.glob("*.csv") if each.read_bytes()[:20].lstrip(b"\xef\xbb\xbf").startswith(head)
    )


@dataclass(eq=False)
class Study(Served):
    "What participants are asked, and where their answers go; without a person in the address, the page asks who."

    items: object = None  # as for `read_items`; None: the names of the list alone
    lists: Path | None = None  # a list for all, or a folder with one per person; None: questions chosen by the answers
    folder: Path | None = None  # of the logs; None: this one, or that of the lists if everyone has one
    person: str | None = None  # the only one who answers; None: the address says who
    consent: str = ""  # HTML
    end: str = ""  # HTML
    labels: bool = False  # whether names stand below pictures
    sessions: dict = field(default_factory=dict)

    def __post_init__(self):
        self.by_name = {} if self.items is None else {item.name: item for item in read_items(self.items)}
        listed = lists_in(self.lists) if self.lists else []
        require(listed or not self.lists, "--list", "a folder with PERSON.csv for everyone", str(self.lists))
        for path in listed:
            names = {name for question in read_trial_list(path) for name in question.shown}
            missing = sorted(names - set(self.by_name)) if self.by_name else []
            require(not missing, "ITEMS", f"all that {path} asks about", missing[:3])

    def session(self, person):
        "A participant's session, continued from the log. Raises `InputError`."
        if person in self.sessions:
            return self.sessions[person]
        folder = self.folder or Path()
        if self.lists is None:
            found = Session(self.items, default_log(self.items, person, folder), person)
        elif self.lists.is_file():
            own = self.person is not None
            path = self.lists.with_suffix(".jsonl") if own else default_log(self.lists, person, folder)
            found = TrialSession(read_trial_list(self.lists), path, person, self.lists.name)
        else:
            path = self.lists / f"{person}.csv"
            if not path.is_file() or path.parent != self.lists:
                raise InputError(f"There is no list for {person!r} in this study. Please check your code.")
            log = (self.folder or self.lists) / f"{person}.jsonl"
            found = TrialSession(read_trial_list(path), log, person, path.name)
        self.sessions[person] = found
        return found

    def view(self, session):
        "A question as the page shows it; nothing is shown at the end."
        question, is_list = session.question, isinstance(session, TrialSession)
        given = session.answers if is_list else session.state.answers
        about = dict(at=session.n_records, agreed=session.has_consented or not self.consent, shown=[])
        if question is None:
            return about
        asks, names = "odd-one-out", question.shown
        if is_list:
            asks, places = question.asks, question.places
        else:
            names, places = [session.picture(number).name for number in names], (1, 2, 3)
        shown = [self.card(name, place if place in places else 0) for place, name in enumerate(names, 1)]
        counter = f"{len(given) + 1} of {len(session.questions)}" if is_list else f"Question {len(given) + 1}"
        return about | dict(asks=asks, prompt=ASKED[asks], counter=counter, shown=shown)

    def card(self, name, place):
        "What is shown of an object; its name only where there is nothing else to see, or it is asked for."
        item = self.by_name.get(name)
        picture = picture_html(item).replace("ask-emoji", "emoji") if item else ""
        label = f"<span>{escape(name)}</span>" if self.labels or not picture else ""
        return dict(html=picture + label, name=name if label else f"picture {place or 'above'}", place=place)

    def obey(self, session, wish):
        "Do what the page wishes, if it saw the session as it is. Raises `InputError`."
        if wish.get("at") == session.n_records:
            if wish.get("do") == "agree" and self.consent and not session.has_consented:
                session.consent()
            elif wish.get("do") == "answer" and session.question is not None:
                place = wish.get("answer")
                legal = session.question.places if isinstance(session, TrialSession) else (1, 2, 3)
                require(place in legal, "answer", f"one of {legal}", place)
                session.answer(place, ms=wish.get("ms"))
        return self.view(session)

    def page(self, person):
        "The HTML for a participant."
        session = self.session(person)
        pairs = {question.asks == "triplets" for question in session.questions} if self.lists else {False}
        keys = {True: "← and → (or 1 and 2)", False: "1, 2 and 3, in the order shown"}
        both = f"{keys[False]}; where you choose between two, {keys[True]}"
        parts = dict(
            state=json.dumps(self.view(session)).replace("<", "\\u003c"),  # nothing in it can end the script
            consent=self.consent,
            end=self.end,
            agree=json.dumps("I agree, and begin" if self.consent else "Begin"),
            keys=both if len(pairs) == 2 else keys[pairs.pop()],
        )
        return Template(static_text("participant.html")).substitute(parts)


def who_page(token, words=""):
    "The question who takes part."
    ask = f'<label>Your code or name: <input name="person" required maxlength="{MOST_NAME}" autofocus></label>'
    hidden = f'<input type="hidden" name="token" value="{escape(token)}">'
    return plain_page("Welcome", f"<form><p>{escape(words)}</p>{hidden}<p>{ask} <button>Go on</button></p></form>")


def study_handler():
    "Tornado's class."
    from tornado.web import HTTPError

    class Asked(checked_handler()):
        "The page, and the answers that it sends."

        def person(self):
            return self.site.person or check_person(self.get_argument("person", ""))

        def get(self, name):
            if name:
                raise HTTPError(404)
            given = self.get_argument("person", "")
            try:
                text = self.site.page(self.person()) if given or self.site.person else who_page(self.site.token)
            except InputError as error:
                text = who_page(self.site.token, str(error))
            self.finish(text)

        def post(self, name):
            try:
                wish = json.loads(self.request.body)
                if name != "answer" or not isinstance(wish, dict):
                    raise HTTPError(400)
                person = self.person()
                try:
                    self.finish(self.site.obey(self.site.session(person), wish))
                except JournalError:
                    self.site.sessions.pop(person, None)  # the log went on elsewhere: it is read once more
                    self.finish(self.site.view(self.site.session(person)))
            except (InputError, ValueError, TypeError) as error:
                self.set_status(400)
                self.finish(str(error))
            except OSError as error:  # a full disk: the page keeps the answer and tries again
                self.set_status(503)
                self.finish(str(error))

    return Asked


@contextmanager
def serve_study(
    items=None, lists=None, folder=None, consent=None, end=None, host=LOOPBACK, port=None, token=None, **asked
):
    "A `Study` while the context lasts. Its texts come from files. Needs the extra `dashboard`."
    import_extra("tornado")
    lists = None if lists is None else Path(lists)
    require(lists is None or lists.exists(), "--list", "a list of questions, or a folder of lists", str(lists))
    consent = "" if consent is None else text_html(consent, "--consent")
    end = f"<p>{THANKS}</p>" if end is None else text_html(end, "--end")
    items = "animals" if items is None and lists is None else items
    folder = None if folder is None else Path(folder)
    asked.update(items=items, lists=lists, folder=folder, consent=consent, end=end)
    study = Study(host, check_token(token, host), **asked)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    if study.person is not None:
        study.session(check_person(study.person))  # what does not fit is said at once
    with running(study, [(r"/(.*)", study_handler())], port):
        yield study


def run_study(browser=True, **options):
    "Serve the participants' page until Ctrl-C."
    import webbrowser

    with serve_study(**options) as study, suppress(KeyboardInterrupt):
        print(
            f"Participants: {study.address} (Ctrl-C ends it; with &person=NAME the page does not ask for a name)",
            flush=True,
        )
        if not is_loopback(study.host):
            print("Anyone who has this address can open the page. The connection is not encrypted.", flush=True)
            again = f"--port {study.port} --token {study.token}"
            print(f"To start again under this address, add to the command: {again}", flush=True)
        if browser and is_loopback(study.host):
            webbrowser.open(study.address)
        threading.Event().wait()
