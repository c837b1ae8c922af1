"The command `dashboard`, and its old name `serve`."

import argparse
import sys

from ..core.parallel import command_bar
from ..core.screen import say
from ..core.validation import require
from .options import add_command, adder, refuse


def _add_options(option):
    "Add the options that both names have."
    option("names", nargs="*", metavar="NAME")
    option("--host", default="127.0.0.1", metavar="ADDRESS")
    option("--port", type=int, metavar="N")
    option("--token", metavar="WORD")
    option("--workers", "--hands", type=int, metavar="N")
    option("--items", metavar="ITEMS")
    option("--folder", metavar="FOLDER")


def add_dashboard(commands):
    "Add the command `dashboard`."
    _, option = add_command(commands, "dashboard", dashboard_command)
    _add_options(option)
    option("--browser", action=argparse.BooleanOptionalAction, default=None)
    option("--journal", metavar="FILE")
    option("--person", metavar="NAME")
    option("--static", metavar="PATH.html")


def add_serve(commands):
    "Add `serve`, the former name of `dashboard`."
    serve, _ = add_command(commands, "serve", dashboard_command)
    _add_options(adder(serve, "dashboard"))
    serve.set_defaults(browser=False, journal=None, person=None, static=None)


def dashboard_command(args):
    "Serve dashboards until Ctrl-C, or write one's static export."
    from comparison_hc.dashboards.framework import find_dashboard, write_static
    from comparison_hc.dashboards.server import LOOPBACK, run_dashboard

    if args.command == "serve":
        say("comparison-hc: serve is now called dashboard; this name goes with the next release", sys.stderr)
    options = ("items", "folder", "journal", "person")
    names = list(dict.fromkeys(args.names))
    if args.static is not None:
        require(len(names) == 1, "NAME", "the name of one dashboard with --static", " ".join(names))
        refuse(args, ("port", "token", "workers", *options), "left out with --static")
        with command_bar(names[0]) as progress:
            write_static(names[0], args.static, progress)
        return say(f"wrote {args.static}")
    if "ask" not in (names or find_dashboard()):
        refuse(args, options, "left out without the page ask")
    one = args.person is not None or args.journal is not None or (args.host == LOOPBACK and names == ["ask"])
    refuse(args, ("folder",) if one and args.folder and args.journal else (), "left out with --journal")
    where = dict(host=args.host, token=args.token, workers=args.workers)
    asked = dict(items=args.items or "animals", journal=args.journal, person=args.person, one_person=one)
    asked["folder"] = args.folder or ("." if one else "answers")
    browser = args.host == LOOPBACK if args.browser is None else args.browser
    try:
        run_dashboard(names or None, args.port, browser, **where, **asked)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the dashboards are closed") from None
