"""The dashboard `ask`: a session's view becomes three cards, a tree and texts; clicks and keys become requests."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from ..core.plotting import tree_layout
from ..core.validation import InputError
from ..elicitation.export import EXPORTS, export_session
from ..elicitation.items import default_log
from ..elicitation.session import Session
from .framework import Page, more_html, page_texts, several
from .page import page_widget, static_text
from .pictures import tree_picture
from .sources import pages_beside


def session_view(session, note=""):
    "A session as a person sees it."
    state, question = session.state, session.question
    return dict(
        at=session.n_records,
        shown=list(question.shown) if question else [],
        why=question.trial_type if question else "",
        doubt=[state.in_words(answer.row) for answer in state.doubt] if state.doubt else [],
        answered=len(state.answers),
        undo=bool(session.events),
        left=state.left_text,
        at_most=state.at_most,
        expected=round(state.expected),
        items=state.items,
        hierarchy=state.hierarchy,
        notes=[text for text in (note, session.report) if text],
        clashes=state.inconsistency_texts,
        state=state,
        journal=session.path.name if session.path else "",
    )


def code_text(session):
    "Python code that contains the answers and builds this tree again."
    lines = [
        "from comparison_hc.elicitation.items import Response, Settings",
        "from comparison_hc.elicitation.session import state_of",
        "",
        f"settings = {session.state.settings!r}",
        "events = [",
        *(f"    {event!r}," for event in session.events),
        "]",
        "print(state_of(settings, events).hierarchy.to_newick())",
        "",
    ]
    return "\n".join(lines)


BEHIND = "This session continued in another page or terminal; here is its present state."


def fulfil(session, wish):
    "Carry out a request of the page. An error becomes a note for the reader."
    saved = None
    done = True
    try:
        if wish["do"] == "answer":
            done = session.answer(wish["answer"], wish["at"])
        elif wish["do"] == "undo":
            done = session.undo(wish["at"])
        elif wish["do"] == "careful":
            done = session.be_careful(at=wish["at"])
        elif wish["do"] == "export":
            saved = code_text(session) if wish["form"] == ".py" else export_session(session, wish["form"])
        else:
            session.reload()
    except (InputError, OSError) as error:
        return str(error), None
    return "" if done else BEHIND, saved


def consistency_words(state):
    "The person's consistency, estimated from repeated questions, in words."
    said = str(state.consistency) if state.consistency.n_repeated else ""
    if not state.careful:
        return said
    return f"{said}. Careful questions with p = {state.careful:.2f}; {state.n_against} answers contradict the tree."


def careful_offer(state):
    "An offer to continue carefully, after repeated questions have had different answers."
    repeated = state.consistency
    if state.careful or repeated.n_same == repeated.n_repeated:
        return ""
    return "Continue carefully: my answers sometimes differ"


def file_event(data, form, stem):
    "A file for the browser to keep."
    name = {"answers.csv": f"{stem}-answers.csv", ".csv": f"{stem}-linkage.csv"}.get(form, f"{stem}{form}")
    raw = data if isinstance(data, bytes) else data.encode()
    return dict(kind="file", name=name, data=base64.b64encode(raw).decode())


def picture_html(item):
    "An item's picture, if it has one."
    if not item.picture:
        return ""
    if item.is_image:
        return f'<img src="{escape(item.picture)}" alt="">'
    return f'<span class="ask-emoji">{escape(item.picture)}</span>'


def tree_show(view, items):
    "The tree so far, and its leaves."
    hierarchy = view["hierarchy"]
    at = tree_layout(hierarchy.children)
    x = 1 - at.x / max(1, at.x[-1])
    y = (at.y + 0.5) / hierarchy.n_items
    tree = tree_picture(x, y, at.parents, [0] * len(x), [["#8a8f94", 1.6]])
    leaves = []
    for leaf in at.leaves:
        number = view["items"][leaf]
        now = " class=ask-now" * (number in view["shown"])
        name = escape(items[number].name)
        leaves.append(f'<li data-item="{name}"{now}>{picture_html(items[number])}<span>{name}</span></li>')
    words = "Finished: this tree agrees with every answer that counts."
    if view["shown"]:
        words = "Dots: the three items of the question. Clusters stay open until you have given an answer about them."
    names = ", ".join(items[view["items"][leaf]].name for leaf in at.leaves)
    label = f"a tree over {hierarchy.n_items} of {len(items)} items: {names}"
    return {"tree": tree | {"aria-label": label}, "leaves": "".join(leaves), "tree-words": words}


def cards_show(shown, items):
    "Three cards."
    found = dict(cards=dict(hidden=None if shown else ""))
    for place, number in enumerate(shown, 1):
        item = items[number]
        rest = " and ".join(items[other].name for other in shown if other != number)
        label = f"{place}: leave out {item.name}; {rest} belong together"
        plain = "" if item.picture else " ask-plain"
        found[f"card-{place}"] = {"aria-label": label, "data-item": item.name, "class": f"ask-card{plain}"}
        found[f"picture-{place}"] = picture_html(item)
        found[f"name-{place}"] = escape(item.name)
        found[f"said-{place}"] = f"{escape(rest)} belong together"
    return found


def words_show(view, items):
    "All texts of the page."
    done = not view["shown"]
    total = view["answered"] + view["expected"]
    share = 100 * view["answered"] / total if total else 100
    asked = ", ".join(items[number].name for number in view["shown"])
    doubt = ""
    if view["doubt"]:
        before, now = map(escape, view["doubt"])
        doubt = f"<p>You said that {before}, and now that {now}. Which is right? Your next answer counts.</p>"
    elif view["why"] == "other":
        doubt = '<p class="ask-hint">The same question about other items:</p>'
    help_text = "Choose the one that is least like the others."
    if done:
        help_text = "The tree is complete; clusters without a clear answer stay open. You can still take answers back."
    limited = not done and view["at_most"] is not None
    limit = "the largest number if you never answer “cannot say” and take nothing back" if limited else None
    journal = view["journal"]
    clashes = view["clashes"]
    careful = careful_offer(view["state"])
    return {
        "heading": "Thank you. That is all." if done else "Which one does not belong?",
        "help": help_text,
        "doubt": doubt,
        "bar": dict(style=f"width:{share:.1f}%"),
        "rail": {"aria-valuenow": view["answered"], "aria-valuemax": total},
        "left": dict(html=f"{view['answered']} answered · {escape(view['left'])}", title=limit),
        "live": "All questions are answered." if done else f"Question {view['answered'] + 1}: {escape(asked)}.",
        "clashes": dict(hidden=None if clashes else ""),
        "clash-count": f"{several(len(clashes), 'earlier answer does', 'earlier answers do')} not fit the tree",
        "clash-list": "".join(f"<li>{escape(text)}</li>" for text in clashes),
        "notes": "".join(f"<p>{escape(text)}</p>" for text in view["notes"]),
        "sure": escape(consistency_words(view["state"])),
        "careful": dict(html=careful, hidden=None if careful else ""),
        "kept": f"Every answer is stored in {escape(journal)}." if journal else NOT_KEPT,
        "pass": dict(hidden="" if done else None),
        "undo": dict(disabled=None if view["undo"] else ""),
        "ask": {"data-at": view["at"], "data-left": 0 if done else view["at_most"] or ""},
    }


NOT_KEPT = "These answers are not stored, because no log was given."


def session_event(session, note=""):
    "A session as the page needs it."
    view = session_view(session, note)
    items = [session.picture(item) for item in range(session.state.settings.n)]
    return dict(kind="state", show=words_show(view, items) | cards_show(view["shown"], items) | tree_show(view, items))


def replies(session, wish, stem=""):
    "Carry out a request of the page, and return the events that show the result."
    note, saved = fulfil(session, wish)
    events = [] if saved is None else [file_event(saved, wish["form"], stem)]
    return [{**event, "number": wish["number"]} for event in (*events, session_event(session, note))]


LABELS = {
    ".nwk": "Newick",
    ".csv": "linkage CSV",
    ".svg": "picture SVG",
    ".pdf": "picture PDF",
    ".png": "picture PNG",
    ".html": "page",
    ".json": "JSON",
    "answers.csv": "answers CSV",
    ".py": "code",
}
NO_REPLY = (
    "No reply. The kernel or the server may have stopped. Every answer up to the last question is stored. To continue,"
    " reload the page or run the cell again."
)


PAGE = Page(settings=None, work=None, **page_texts("ask"))  # the server keeps a log


def page_spec(session, pages=None):
    "The content of the page before the first question."
    items = [session.picture(item) for item in range(session.state.settings.n)]
    emoji = sorted({item.picture for item in items if item.picture and not item.is_image})
    exports = "".join(
        f'<button type="button" class="ask-small" data-do="export" data-form="{form}">{LABELS[form]}</button>'
        for form in (*EXPORTS, ".py")
    )
    exports = f'<div class="ask-row" role="group" aria-label="save"><span>Save:</span>{exports}</div>'
    buttons = [
        f'<button type="button" class="ask-small" data-words title="{escape(each.words)}">{each.name}</button>'
        for each in PAGE.tries
    ]
    more = more_html({each.name: each.words for each in PAGE.tries}, PAGE.words, PAGE.sources, pages)
    html = Template(static_text("ask.html")).substitute(exports=exports, tries="".join(buttons), more=more)
    return dict(name="ask", html=html, charts={}, emoji=emoji, silence=NO_REPLY)


def ask_dashboard(
    items: Any = "animals",
    journal: str | Path | bool | None = None,
    person: str | None = None,
    seed: int | None = None,
    repeat_every: int | None = None,
) -> Any:
    """Show the dashboard that asks a person; run the cell again to continue. Needs the extra `dashboard`.

    Parameters
    ----------
    items : str, Path or sequence, default "animals"
        As for `comparison_hc.elicitation.Session`.
    journal : str, Path or False, optional
        File in which the answers are stored, by default ITEMS-PERSON.jsonl in this folder; False for no file.
    person : str, optional
        Name of the person who answers; by default the name in the log, or "somebody" in a new log.
    seed, repeat_every : int, optional
        As for `comparison_hc.elicitation.Session`.

    Returns
    -------
    anywidget.AnyWidget
        The page.

    Raises
    ------
    InputError
        In the same cases as `comparison_hc.elicitation.Session`, and without the extra.

    Examples
    --------
    >>> from comparison_hc.dashboards import ask_dashboard
    >>> ask_dashboard(["dog", "wolf", "hen"], journal=False).spec["name"]
    'ask'
    """
    path = journal or None
    if journal is None:
        path = default_log(items, person or "somebody")
    session = Session(items, path, person, seed, repeat_every)
    stem = session.path.stem if session.path else "answers"

    def heard(widget, wish):
        for event in replies(session, wish, stem):
            widget.show(event)

    return page_widget(page_spec(session, pages_beside()), heard)


MOST_SESSIONS = 40  # that the server holds open


def served_replies(wish, items, path, person, sessions):
    "Carry out a person's request on a page of the server. An error becomes a note for the reader, never an exception."
    try:
        session = sessions.pop(path, None)
        if session is None or not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            session = Session(items, path, person)
        sessions[path] = session
        if len(sessions) > MOST_SESSIONS:
            sessions.pop(next(iter(sessions)), None)
        return replies(session, wish, path.stem)
    except (InputError, OSError, LookupError, TypeError, ValueError) as error:
        return [dict(kind="state", show=dict(notes=f"<p>{escape(str(error))}</p>"))]
