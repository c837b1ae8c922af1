"What the commands share: help texts, and options that make no sense together."

from ..core.validation import require


def one_line(text):
    "A help text without the line breaks of the source."
    return " ".join(text.split())


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
