"""Settings and a function of events become a widget, or a file with stored answers."""

from dataclasses import dataclass, field, fields
from html import escape
from importlib import import_module
from itertools import product
from json import dumps
from math import inf
from string import Template

from ..core.compat import IN_BROWSER
from ..core.validation import as_rng
from comparison_hc.dashboards.page import (
    compiled,
    dashboard_widget,
    static_page,
    static_text,
    stored_answers,
    vega_library,
)
from .registry import find_dashboard
from .shell import message_value, no_step
from .sources import pages_beside, pages_given, sources_html


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
        if about["as_list"]:
            options = "".join(
                f'<option value="{at}"{" selected" * (at == place)}>{escape(text)}</option>'
                for at, text in enumerate(texts)
            )
            found.append(f'<div class="chc-choice" {head}<select {place_of}>{options}</select></div>')
        else:
            spoken = escape(dumps(texts, ensure_ascii=False))
            slider = f'<input type="range" {place_of} max="{len(texts) - 1}" value="{place}" data-texts="{spoken}">'
            found.append(f'<div class="chc-slider" {head}<output></output>{slider}</div>')
    return "\n".join(found)


@dataclass(frozen=True)
class Try:
    "A setting that is worth a look."

    name: str  # on its button
    words: str  # what to see there
    changed: dict  # {name of a setting: value}; all others are as the page begins

    def message(self, settings):
        "The changed settings as the page sends them."
        return {name: value for name, value in settings(**self.changed).message().items() if name in self.changed}

    def fits(self, values):
        "Whether a page with these values of its controls can show it."
        return all(value in values.get(name, [value]) for name, value in self.changed.items())

    def button(self, message):
        "HTML that puts the whole page there."
        sent = escape(dumps(message, ensure_ascii=False))
        return f'<button type="button" data-preset="{sent}" title="{escape(self.words)}">{self.name}</button>'


def more_html(tries, words, sources, pages):
    "What stands folded at the end of a page."
    texts = dict(tries=tries, words=words)
    lists = {
        name: "".join(f"<dt>{word}</dt><dd>{text}</dd>" for word, text in found.items())
        for name, found in texts.items()
    }
    return Template(static_text("more.html")).substitute(lists, sources=sources_html(sources, pages))


@dataclass(frozen=True)
class LivePage:
    "A page with controls, with a kernel (`widget`) or without one (`static`)."

    name: str  # for the command line; its files are `static/NAME.*`
    title: str  # in words
    about: str  # a paragraph under the title
    settings: type  # `Settings` class
    work: object  # function of (settings, step, memory) that yields events; memory is a dict kept between requests
    parts: object = lambda start: {}  # function of the first settings that gives more parts of the HTML, by name
    charts: object = dict  # function that gives Vega charts by place
    stored: dict = field(default_factory=dict)  # settings without a control that differ in the static twin's events
    final: tuple = ()  # kinds of events of which the static twin needs only the last
    small: dict = field(default_factory=dict)  # settings with which it begins where Python runs in the browser
    slow: tuple = ()  # names of settings that change last when all answers are stored, so that memory helps
    heavy: tuple = ()  # names of modules that some settings need; a class's processes import them at the start
    tries: tuple = ()  # of `Try`
    words: dict = field(default_factory=dict)  # {word: what it means}, in HTML
    sources: tuple = ()  # of `Source`: paper, statements, proofs, checks and notebooks behind it

    def spec(self, values, start, about, pages=None):
        "What the page has to know before the first event; `pages` as for `sources_html`."
        controls = controls_html(self.settings, values, start)
        parts = dict(title=self.title, about=about, controls=controls, **self.parts(start))
        parts.update(self._around(values, start, pages))
        html = Template(static_text(f"{self.name}.html")).substitute(parts)
        charts = compiled().get(self.name) or self.charts()
        return dict(html=html, charts=charts, start=start.message(), name=self.name, code=self.code)

    def _around(self, values, start, pages):
        "What stands around every dashboard: things to try, progress and notes, words and sources."
        tries = [each for each in self.tries if each.fits(values)]
        buttons = "".join(each.button({**start.message(), **each.message(self.settings)}) for each in tries)
        talk = Template(static_text("talk.html")).substitute(presets=f"<span>Try</span>{buttons}" if tries else "")
        helps = {each.metadata["label"]: each.metadata["help"] for each in fields(self.settings)}
        words = {**{label: escape(text) for label, text in helps.items() if label}, **self.words}
        tried = {each.name: escape(each.words) for each in tries}
        return dict(talk=talk, more=more_html(tried, words, self.sources, pages))

    @property
    def code(self):
        "What a reader runs to get the numbers of a setting; the page writes the setting into it."
        name, module = self.settings.__name__, self.settings.__module__
        home, made = module.rpartition(".")[0], f"{self.name}_data"
        imports = sorted({f"from {home}.{self.name} import {made}", f"from {module} import {name}"})
        read = f"settings = {name}.from_message(json.loads('SETTINGS'))"
        return "\n".join(["import json", "", *imports, "", read, f"found = {made}(settings)", "print(found)", ""])

    def widget(self, **start):
        "The live page, for a notebook; `start` has fields of the settings. Needs the extra `dashboard`."
        memory = {}

        def work(message, step):
            return self.work(self.settings.from_message(message), step, memory)

        start, about = {**self.small, **start} if IN_BROWSER else start, self.about
        if IN_BROWSER and self.small:
            about += " It begins small here, because Python in a browser is slow; the controls go further."
        spec = self.spec(self.settings.values("live"), self.settings(**start), about, pages_beside())
        return dashboard_widget(self.name, spec, work)

    def answers(self, values, progress=None):
        "Events of all settings, by the texts of their values as JavaScript writes them."
        names = [name for name, each in values.items() if len(each) > 1]
        grid = [dict(zip(values, chosen)) for chosen in product(*values.values())]
        memory = {}
        found = dict.fromkeys(self._key(chosen, names) for chosen in grid)  # the file's order is that of the grid
        slow = {name: [*values[name]] for name in self.slow if name in values}
        grid.sort(key=lambda chosen: [each.index(chosen[name]) for name, each in slow.items()])
        for done, chosen in enumerate(grid, 1):
            events = list(self.work(self.settings(**chosen, **self.stored), no_step, memory))
            last = {event["kind"]: at for at, event in enumerate(events)}
            kept = [e for at, e in enumerate(events) if e["kind"] not in self.final or last[e["kind"]] == at]
            found[self._key(chosen, names)] = kept
            if progress:
                progress(done, len(grid))
        return stored_answers(names, found)

    def _key(self, chosen, names):
        "Under which a stored answer is found."
        return tuple(key_text(chosen[name]) for name in names)

    def static(self, progress=None, values=None, pages=None):
        "The same page with stored answers; `progress` is called with (settings done, settings in all)."
        values = values or self.settings.values("stored")
        data = self.answers(values, progress)
        wanted = self.settings()
        start = {name: each[nearest(each, getattr(wanted, name))] for name, each in values.items()}
        about = {each.name: each.metadata for each in fields(self.settings)}
        stored = "; ".join(
            f"{about[name]['label']}: {', '.join(map(about[name]['text'], each))}" for name, each in values.items()
        )
        words = (
            f"{self.about} This page has no kernel: it answers from {len(data['answers']):,} stored settings"
            f" ({stored}). The live page, comparison-hc dashboard {self.name}, has many more."
        )
        return static_page(
            self.title, self.name, self.spec(values, self.settings(**start), words, pages or pages_given()), data
        )


def compile_charts():
    "What `compiled` gives where there is no vl-convert: the charts of all dashboards, and Vega."
    found = {}
    for dashboard in find_dashboard().values():
        things = vars(import_module(dashboard.module)).values()
        found |= {each.name: each.charts() for each in things if isinstance(each, LivePage)}
    return dict(found, library=vega_library())


def key_text(value):
    "A value as JavaScript writes it."
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def random_stream(seed, use, streams):
    "The random numbers for one use, whatever the others have drawn."
    return as_rng(seed).spawn(len(streams))[streams.index(use)]


class Draw:
    "The data behind one setting: cached properties, computed as needed or taken over."

    depends = {}  # {name of a cached property: names of the settings that it depends on}

    def __init__(self, settings, before=None):
        self.settings = settings
        for name, needed in self.depends.items() if before else ():
            same = all(getattr(before.settings, each) == getattr(settings, each) for each in needed)
            if same and name in vars(before):
                vars(self)[name] = vars(before)[name]
