"""Settings whose fields are the controls, a function from settings to events, and the page that shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from html import escape
from importlib import import_module
from inspect import cleandoc
from itertools import product
from json import dumps, loads
from math import inf
from pathlib import Path
from string import Template
from typing import Any

from ..core.compat import IN_BROWSER
from ..core.validation import as_rng, require
from .page import compiled, dashboard_widget, static_page, static_text, stored_answers, vega_library
from .sources import Pages, Source, pages_beside, pages_given, sources_html

# ---- settings


def shown_value(value):
    "A value as the page writes it."
    return f"{value:g}" if isinstance(value, float) else str(value)


def setting(default, check, label="", help="", live=(), stored=(), name=None, text=shown_value, unit=""):
    "A setting, and its control: a list for texts and switches, a slider for numbers."
    control = dict(label=label, help=help, live=list(live), stored=list(stored), text=text, unit=unit)
    return field(default=default, metadata=dict(check=check, called=name or label, **control))


SEED_HELP = "number of the random draw"


class Settings:
    "Base of frozen dataclasses whose fields are made by `setting`. All checks are made at birth."

    def __init_subclass__(cls):
        "The docstring has a line for every field: what its control says of it."
        lines = ["", "", "Parameters", "----------"]
        for name, each in vars(cls).items():
            if isinstance(each, Field):
                kind, default = cls.__annotations__[name], message_value(each.default)
                lines += [f"{name} : {getattr(kind, '__name__', kind)}, default {default!r}"]
                lines += [f"    {each.metadata['help']}"]
        title, *examples = cleandoc(cls.__doc__ or cls.__name__).partition("\n\nExamples\n")
        cls.__doc__ = title + "\n".join(lines) + "".join(examples)

    def __post_init__(self):
        for each in fields(self):
            checked = each.metadata["check"](getattr(self, each.name), each.metadata["called"])
            object.__setattr__(self, each.name, checked)
        self._check_together()

    def _check_together(self):
        "What several settings must fulfil together; raises `InputError`."

    @classmethod
    def from_message(cls, message: dict) -> Settings:
        """Settings as the page sends them, the inverse of `message`.

        Parameters
        ----------
        message : dict
            Some of the fields; infinity is "inf".

        Returns
        -------
        Settings
            All others are as the page begins.

        Raises
        ------
        InputError
            For an unknown name and a value that its control could not have.
        """
        known = {each.name: each for each in fields(cls)}
        rule = f"a dict with some of {', '.join(sorted(known))}"
        require(isinstance(message, dict) and set(message) <= set(known), "settings", rule, message)
        return cls(**{name: inf if value == "inf" else value for name, value in message.items()})

    def message(self) -> dict:
        """All fields as JSON has them.

        Returns
        -------
        dict
            Infinity is "inf", and tuples are lists.
        """
        return {each.name: message_value(getattr(self, each.name)) for each in fields(self)}

    def columns(self, *without: str) -> dict:
        """The settings in a row of a table.

        Parameters
        ----------
        *without : str
            Names of fields that are left out, as lists always are.

        Returns
        -------
        dict
            The others, as in `message`.
        """
        found = self.message()
        return {name: found[name] for name in found if name not in without and not isinstance(found[name], list)}

    @classmethod
    def values(cls, which: str) -> dict:
        """The values of all controls.

        Parameters
        ----------
        which : {"live", "stored"}
            Those of a page that computes, or of its static export.

        Returns
        -------
        dict
            Lists by field; where none are given, of the value with which the page begins.
        """
        controls = [each for each in fields(cls) if each.metadata["label"]]
        return {each.name: each.metadata[which] or [each.default] for each in controls}


def as_settings(settings, kind):
    "The check of functions of settings. Raises `InputError`."
    require(isinstance(settings, kind), "settings", f"made by {kind.__name__}", settings)
    return settings


def message_value(value):
    "JSON has neither infinity nor tuples."
    if isinstance(value, tuple):
        return list(value)
    return "inf" if value == inf else value


def several(count, one, many):
    "A number with its noun."
    return f"{count:,} {one if count == 1 else many}"


def key_text(value):
    "A value as JavaScript writes it."
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


# ---- computation


def no_step(text, done=0, total=0):
    "The progress of work that no page waits for."


class Draw:
    "The data behind one setting: cached properties, computed as needed or taken over."

    depends = {}  # {name of a cached property: names of the settings that it depends on}
    streams = ()  # uses of random numbers

    def __init__(self, settings, before=None):
        self.settings = settings
        for name, needed in self.depends.items() if before else ():
            same = all(getattr(before.settings, each) == getattr(settings, each) for each in needed)
            if same and name in vars(before):
                vars(self)[name] = vars(before)[name]

    def stream(self, use):
        "The random numbers for one use, whatever the others have drawn."
        return as_rng(self.settings.seed).spawn(len(self.streams))[self.streams.index(use)]


# ---- the page


def nearest(values, value):
    "The place of a value, or of the nearest, or the first where nothing is near."
    if value in values:
        return values.index(value)
    if isinstance(value, str) or value == inf:
        return 0
    return min(range(len(values)), key=lambda place: abs(values[place] - value))


def controls_html(settings, values, start):
    "A slider or a list for every setting with several values."
    found = []
    for each in fields(settings):
        name, about = each.name, each.metadata
        if len(values.get(name, ())) < 2:
            continue
        texts = [about["text"](value) for value in values[name]]
        place = nearest(values[name], getattr(start, name))
        sent = escape(dumps([message_value(value) for value in values[name]], ensure_ascii=False))
        words, unit = f'title="{escape(about["help"])}"', f" <small>{about['unit']}</small>" * bool(about["unit"])
        head = f'data-name="{name}" {words}><label for="chc-{{view}}-{name}">{about["label"]}{unit}</label>'
        place_of = f'id="chc-{{view}}-{name}" data-setting="{name}" data-values="{sent}" {words}'
        if isinstance(each.default, (str, bool)):
            chosen = [" selected" * (at == place) for at in range(len(texts))]
            options = [f'<option value="{at}"{chosen[at]}>{escape(text)}</option>' for at, text in enumerate(texts)]
            found.append(f'<div class="chc-choice" {head}<select {place_of}>{"".join(options)}</select></div>')
        else:
            spoken = escape(dumps(texts, ensure_ascii=False))
            slider = f'<input type="range" {place_of} max="{len(texts) - 1}" value="{place}" data-texts="{spoken}">'
            found.append(f'<div class="chc-slider" {head}<output></output>{slider}</div>')
    return "\n".join(found)


@dataclass(frozen=True)
class Try:
    "An instructive setting."

    name: str  # on its button
    words: str  # what it shows
    changed: dict  # {name of a setting: value}, as the page sends it; all others are as the page begins

    def fits(self, values):
        "Whether a page with these values of its controls can show it."
        offered = {name: list(map(message_value, each)) for name, each in values.items()}
        return all(value in offered.get(name, [value]) for name, value in self.changed.items())

    def button(self, start):
        "HTML that puts the whole page there."
        sent = escape(dumps({**start.message(), **self.changed}, ensure_ascii=False))
        return f'<button type="button" data-preset="{sent}" title="{escape(self.words)}">{self.name}</button>'


RESET = Try("reset", "All controls return to their first values.", {})


def page_texts(name):
    "The texts, instructive settings and sources of a page, from `static/NAME.json`, as arguments of `Page`."
    found = loads(static_text(f"{name}.json"))
    tries = tuple(Try(**each) for each in found["tries"])
    return found | dict(name=name, tries=tries, sources=tuple(Source(**each) for each in found["sources"]))


def more_html(tries, words, sources, pages):
    "The folded part at the end of a page."
    lists = [[f"<dt>{word}</dt><dd>{text}</dd>" for word, text in found.items()] for found in (tries, words)]
    parts = dict(tries="".join(lists[0]), words="".join(lists[1]), sources=sources_html(sources, pages))
    return Template(static_text("more.html")).substitute(parts)


@dataclass(frozen=True)
class Page:
    "A dashboard: in a notebook (`widget`), behind a server (`spec` and `work`), or as a file (`static`)."

    name: str  # for the command line; the middle of its HTML is `static/NAME.html`
    title: str  # in words
    summary: str  # a sentence for the list of all dashboards
    about: str  # a paragraph under the title
    settings: type  # `Settings` class
    work: object  # function of (settings, step, memory) that yields events; memory is a dict kept between requests
    parts: object = lambda start: {}  # function of the first settings that gives more parts of the HTML, by name
    charts: object = dict  # function that gives Vega-Lite charts by place
    stored: dict = field(default_factory=dict)  # settings without a control that differ in the static export's events
    small: dict = field(default_factory=dict)  # settings with which it begins where Python runs in the browser
    slow: tuple = ()  # names of settings that change last when all answers are stored, so that memory helps
    tries: tuple = ()  # of `Try`
    words: dict = field(default_factory=dict)  # {word: what it means}, in HTML
    sources: tuple = ()  # of `Source`: paper, statements, proofs, checks and notebooks behind it

    def spec(self, values, start, about, pages=None):
        "What the page has to know before the first event; `pages` as for `sources_html`."
        tries = [each for each in self.tries if each.fits(values)]
        helps = {each.metadata["label"]: escape(each.metadata["help"]) for each in fields(self.settings)}
        helps.pop("", None)
        tried = {each.name: escape(each.words) for each in tries}
        parts = dict(
            title=self.title,
            about=about,
            controls=controls_html(self.settings, values, start),
            main=Template(static_text(f"{self.name}.html")).substitute(self.parts(start)),
            presets="<span>Try</span>" + "".join(each.button(start) for each in (*tries, RESET)),
            more=more_html(tried, {**helps, **self.words}, self.sources, pages),
        )
        html = Template(static_text("page.html")).substitute(parts)
        charts = compiled().get(self.name) or self.charts()
        return dict(html=html, charts=charts, start=start.message(), name=self.name, code=self.code)

    @property
    def code(self):
        "What a reader runs to get the numbers of a setting; the page writes the setting into it."
        name, made = self.settings.__name__, f"{self.name}_data"
        lines = [f"from comparison_hc.dashboards import {name}, {made}", "", f"settings = {name}(SETTINGS)"]
        return "\n".join([*lines, f"found = {made}(settings)", "print(found)", ""])

    def widget(self, **start: Any) -> Any:
        """Show the dashboard in a notebook. Needs the extra `dashboard`.

        Parameters
        ----------
        **start : object
            Where it begins: fields of its settings.

        Returns
        -------
        anywidget.AnyWidget
            The page.

        Raises
        ------
        InputError
            Without the extra, and for a value that its control could not have.

        Examples
        --------
        >>> from comparison_hc.dashboards import find_dashboard, planted_dashboard
        >>> page = planted_dashboard(p=0.2)
        >>> page.spec["start"]["p"]
        0.2
        """
        memory = {}

        def work(message, step):
            return self.work(self.settings.from_message(message), step, memory)

        start, about = {**self.small, **start} if IN_BROWSER else start, self.about
        if IN_BROWSER and self.small:
            about += " The first setting is small, because Python in a browser is slow; the controls offer larger ones."
        spec = self.spec(self.settings.values("live"), self.settings(**start), about, pages_beside())
        return dashboard_widget(spec, work)

    def answers(self, values, progress=None):
        "Events of all settings, by the texts of their values as JavaScript writes them."
        names = [name for name, each in values.items() if len(each) > 1]
        grid = [dict(zip(values, chosen)) for chosen in product(*values.values())]
        keys = [tuple(key_text(chosen[name]) for name in names) for chosen in grid]
        memory, found = {}, dict.fromkeys(keys)  # the file's order is that of the grid
        slow = {name: list(values[name]) for name in self.slow if name in values}
        order = sorted(range(len(grid)), key=lambda at: [each.index(grid[at][name]) for name, each in slow.items()])
        for done, at in enumerate(order, 1):
            found[keys[at]] = list(self.work(self.settings(**grid[at], **self.stored), no_step, memory))
            if progress:
                progress(done, len(grid))
        return stored_answers(names, found)

    def static(self, progress=None, values=None, pages=None):
        "The same page with stored answers; `progress` is called with (settings done, settings in all)."
        values = values or self.settings.values("stored")
        data = self.answers(values, progress)
        wanted = self.settings()
        start = {name: each[nearest(each, getattr(wanted, name))] for name, each in values.items()}
        about = {each.name: each.metadata for each in fields(self.settings)}
        texts = {about[name]["label"]: map(about[name]["text"], each) for name, each in values.items()}
        lists = [f"{label}: {', '.join(each)}" for label, each in texts.items()]
        words = (
            f"{self.about} This static export has no kernel and shows {len(data['answers']):,} stored settings"
            f" ({'; '.join(lists)}). The dashboard, comparison-hc dashboard {self.name}, offers many more."
        )
        return static_page(self.title, self.spec(values, self.settings(**start), words, pages or pages_given()), data)


# ---- all dashboards

MODULES = {
    name: f"comparison_hc.dashboards.{name}_page"
    for name in ("planted", "flat", "step", "ask", "link", "plan", "additive")
}
STATIC = ("planted",)  # those with stored values


def register_dashboard(name: str, module: str) -> None:
    """Let the command find a dashboard.

    Parameters
    ----------
    name : str
        For the command line.
    module : str
        Name of a module whose `PAGE` it is.

    Raises
    ------
    InputError
        If another dashboard has this name.

    Examples
    --------
    >>> from comparison_hc.dashboards import find_dashboard, register_dashboard
    >>> register_dashboard("step", "comparison_hc.dashboards.step_page")
    >>> find_dashboard("step").title
    'Insertion, one question at a time'
    """
    require(MODULES.get(name, module) == module, "name", "that of one dashboard only", name)
    MODULES[name] = module


def find_dashboard(name: str | None = None) -> Page | dict[str, Page]:
    """The dashboard with this name, or all.

    Parameters
    ----------
    name : str, optional
        Of a dashboard.

    Returns
    -------
    Page or dict of str to Page
        By name where none is given.

    Raises
    ------
    InputError
        If there is none of this name.

    Examples
    --------
    >>> from comparison_hc.dashboards import find_dashboard
    >>> list(find_dashboard())
    ['planted', 'flat', 'step', 'ask', 'link', 'plan', 'additive']
    """
    if name is None:
        return {name: find_dashboard(name) for name in MODULES}
    require(isinstance(name, str) and name in MODULES, "NAME", f"one of {', '.join(MODULES)}", name)
    return import_module(MODULES[name]).PAGE


def write_static(
    name: str, path: str | Path, progress: Callable[[int, int], Any] | None = None, pages: Pages | None = None
) -> None:
    """Write the static export of a dashboard: one HTML file that computes nothing.

    Parameters
    ----------
    name : str
        Of a dashboard that has one: "planted".
    path : str or Path
        HTML file to write.
    progress : callable, optional
        Called with (settings done, settings in all).
    pages : Pages, optional
        Where the book is, for links; by default as `COMPARISON_HC_BOOK` says.

    Raises
    ------
    InputError
        For another dashboard, and for a place that cannot be written.

    Examples
    --------
    >>> from comparison_hc.dashboards import write_static
    >>> write_static("plan", "plan.html")
    Traceback (most recent call last):
    comparison_hc.core.validation.InputError: NAME must be a dashboard with a static export (planted); got 'plan'
    """
    from comparison_hc.core.io import atomic_write, check_destination

    page = find_dashboard(name)
    require(name in STATIC, "NAME", f"a dashboard with a static export ({', '.join(STATIC)})", name)
    atomic_write(check_destination(path, "--static", (".html",)), page.static(progress, pages=pages))


def compile_charts():
    "What `compiled` gives without vl-convert: the charts of all dashboards, and Vega."
    charts = {name: page.charts() for name, page in find_dashboard().items() if name != "ask"}
    return dict(charts, library=vega_library())
