"""Two words: build the site, and show it on this machine."""

import re
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from .lite import PYODIDE
from ..core.io import is_file_name
from ..core.screen import say
from ..core.validation import require
from ..dashboards.server import LOOPBACK, NOT_OURS, is_our_name, listening


def add_book(commands):
    "The words of `book`."
    book = commands.add_parser(
        "book",
        help="the site: all notebooks as pages, to build or to look at",
        description="The site: all notebooks as pages, to build or to look at.",
    )
    words = book.add_subparsers(dest="word", required=True, metavar="WORD")
    about = "Make the site from the notebooks and their outputs, as static files. No notebook is executed."
    build = words.add_parser("build", help="make the site", description=about)
    build.add_argument("--out", default="_docs", metavar="FOLDER", help="where (default: _docs in this folder)")
    about = "leave out the live pages with stored answers, whose computing takes most of the time"
    build.add_argument("--no-live", dest="live", action="store_false", help=about)
    about = "also pages that run in the reader's browser; needs --pyodide"
    build.add_argument("--lite", action="store_true", help=about)
    about = f"folder or address of the files of Pyodide {PYODIDE} (its full release), which are copied into the site"
    build.add_argument("--pyodide", metavar="SOURCE", help=about)
    build.set_defaults(run=build_command, parsers=commands.choices)
    serve = words.add_parser("serve", help="show it", description="Serve the site on this machine only, until Ctrl-C.")
    serve.add_argument("--folder", default="_docs", metavar="FOLDER", help="where it is (default: _docs)")
    serve.add_argument("--port", type=int, metavar="N", help="where it listens (default: 8866, or any that is free)")
    serve.set_defaults(run=serve_command)


def build_command(args):
    "Make the site, and say how large it is."
    from comparison_hc.book.live import TWINS
    from comparison_hc.book.site import build_site

    def told(sentence):
        say(f"comparison-hc: {sentence}", sys.stderr)

    require(is_file_name(args.out), "--out", "a name that a folder can have", args.out)
    require(args.lite == (args.pyodide is not None), "--lite", "given together with --pyodide", args.pyodide)
    twins = TWINS if args.live else ()
    made = build_site(args.out, args.parsers, twins=twins, progress=told, pyodide=args.pyodide)
    size = f"{made['pages']} pages, {made['bytes'] / 1e6:.0f} MB, in {made['seconds']:.0f} seconds"
    say(f"wrote {args.out}: {size}")
    say(f"look at it: comparison-hc book serve --folder {args.out}")


class _Quiet(SimpleHTTPRequestHandler):
    """Files, without a line for every request; a browser keeps them, and asks whether they have changed.

    To who was sent here under another machine's name there are none.
    """

    protocol_version = "HTTP/1.1"  # one connection for many files
    timeout = 60

    def log_message(self, *_):
        pass

    def send_head(self):
        if is_our_name(self.headers.get("Host", "").removesuffix(f":{self.server.server_port}"), LOOPBACK):
            return super().send_head()
        self.send_error(403, NOT_OURS)

    def end_headers(self):
        path = getattr(self, "path", "").partition("?")[0]  # a request that cannot be read has none
        named_by_content = re.search(r"\.[0-9a-f]{8,}\.\w+$", path)
        keep = "max-age=31536000, immutable" if named_by_content else "no-cache"
        self.send_header("Cache-Control", keep)
        super().end_headers()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        "A reader who leaves in the middle of a page is no fault to speak of."
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def site_server(folder, port=None):
    "A server of a folder on the loopback. Raises `InputError` if there is no site, or the port is taken."
    rule = "a folder with a site (make one with: comparison-hc book build)"
    require((Path(folder) / "index.html").is_file(), "--folder", rule, str(folder))
    free = listening(LOOPBACK, port)[0]  # refuses a port that is taken
    with free:
        number = free.getsockname()[1]
    return _Server((LOOPBACK, number), partial(_Quiet, directory=str(folder)))


def serve_command(args):
    "Show the site until Ctrl-C."
    with site_server(args.folder, args.port) as server:
        print(f"http://127.0.0.1:{server.server_port}/ (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            raise KeyboardInterrupt("the site is closed") from None
