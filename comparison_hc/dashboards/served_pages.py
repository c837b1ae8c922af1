"""The page of the static twin, without its answers: it asks the server for them."""

import base64
import hashlib
import json
import subprocess
import sys
from html import escape
from string import Template

from ..core.validation import InputError
from .desk import packed
from .hands import live_page
from .home import home_page
from .page import bundle, modules_of, static_text, style_of, vega_library
from .sources import pages_given


def served_page(title, name, spec, home, library, kept="your settings are in the address of this page."):
    "A page that asks its server."
    source = f'<script async id="library" src="{escape(library)}"></script>' if spec["charts"] else ""
    return Template(static_text("served.html")).substitute(
        title=escape(title),
        style=style_of(name),
        home=escape(home),
        kept=escape(kept),
        spec=base64.b64encode(packed(spec)).decode("ascii"),
        line=escape(f"/talk/{name}"),
        library=source,
        script=bundle([*modules_of(name), "begin.mjs"]),
    )


def plain_page(title, body):
    "A page with words only."
    return Template(static_text("class.html")).substitute(title=escape(title), body=body)


def library_name(library):
    "Where the library is: another library has another address, so that a browser may keep this one."
    return f"library-{hashlib.sha256(library.encode()).hexdigest()[:16]}.js"


HOME = ""  # the name of the home page, whose links are the names of the others
KEPT_ANSWERS = "every answer that was shown here is in the journal."


def make_pages(dashboards, home, items="animals"):
    "Every page."
    library = vega_library()
    pages = {
        library_name(library): library,
        HOME: home_page({name: (title, name) for name, (title, _) in dashboards.items()}),
    }
    for name, (title, module) in dashboards.items():
        page = live_page(module)
        if page:
            spec, more = page.spec(page.settings.values("live"), page.settings(), page.about, pages_given()), {}
        else:
            from comparison_hc.dashboards.ask_page import page_spec
            from comparison_hc.elicitation.session import Session

            spec, more = page_spec(Session(items), pages_given()), dict(kept=KEPT_ANSWERS)
        pages[name] = served_page(title, name, spec, home, library_name(library), **more)
    return pages


def pages_main():
    "What `pages_made_elsewhere` runs: arguments from the input, pages to the output."
    pages = make_pages(**json.load(sys.stdin))
    sys.stdout.buffer.write(json.dumps(pages).encode())


def pages_made_elsewhere(**arguments):
    "The pages, made by a process that is gone when they are here. Raises `InputError` with its last word."
    command = "from comparison_hc.dashboards.served_pages import pages_main; pages_main()"
    words = [sys.executable, "-c", command]
    done = subprocess.run(words, input=json.dumps(arguments).encode(), capture_output=True)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise InputError(f"the pages could not be made: {said[-1] if said else 'nothing was said'}")
    return json.loads(done.stdout)
