"Shared by all commands: help texts, which are in help.json, and the refusal of options that do not go together."

import json
from functools import cache
from pathlib import Path

from ..core.validation import require


@cache
def help_texts():
    "{command or group of options: {option: help}}; help and description are those of a command itself."
    return json.loads(Path(__file__).with_name("help.json").read_text(encoding="utf-8"))


def add_command(commands, name, run):
    "Add a command: its parser, and the function `option` that adds one of its options."
    about = {key: text for key, text in help_texts()[name].items() if key in ("help", "description")}
    parser = commands.add_parser(name, **about)
    parser.set_defaults(run=run)
    return parser, adder(parser, name)


def adder(parser, group, **filled):
    "A function that adds an option of a group with its help; `filled` completes help texts with names in braces."
    texts = help_texts()[group]

    def option(name, *others, **settings):
        text = texts[name.removeprefix("--")].format(**filled)
        parser.add_argument(name, *others, **{"help": text} | settings)

    return option


def option_name(name):
    "The option of an argument's name."
    return f"--{name.replace('_', '-')}"


def refuse(args, names, rule):
    "Raise `InputError` if any of these arguments was given."
    for name in names:
        value = getattr(args, name, None)
        require(value is None or value is False or value == [], option_name(name), rule, value)


def parts_of(text, option):
    "The names between commas; None for None."
    if text is None:
        return None
    parts = tuple(part.strip() for part in text.split(","))
    require(all(parts), option, "names with commas between them", text)
    return parts


HEADER = {"yes": True, "no": False, "auto": None}
