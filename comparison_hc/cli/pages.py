"The command `dashboard`, and its old name `serve`."

import argparse
import sys

from ..core.parallel import command_bar
from ..core.screen import say
from ..core.validation import require
from ._options import refuse


def _add_options(parser):
    "What both names take."
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as planted, or ask (default: all)")
    host = "let a network in: an address of this machine, or 0.0.0.0 for all of them (default: this machine only)"
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help=host)
    where = "where it listens (default: 8866, or any that is free)"
    parser.add_argument("--port", type=int, metavar="N", help=where)
    token = "the word in the address that lets a reader in (default: the same at every start; with --host a new one)"
    parser.add_argument("--token", metavar="WORD", help=token)
    workers = "processes that compute (default: one per core, four to eight)"
    parser.add_argument("--workers", "--hands", type=int, metavar="N", help=workers)
    parser.add_argument("--items", metavar="ITEMS", help="ask: what is asked about, as for the command ask")
    folder = "ask: where answers go, one log per person (default: answers, in this folder)"
    parser.add_argument("--folder", metavar="FOLDER", help=folder)
    parser.set_defaults(run=dashboard_command)


def add_dashboard(commands):
    "The options of `dashboard`."
    parser = commands.add_parser(
        "dashboard",
        help="pages with sliders, for yourself or for a class",
        description="Serve dashboards until Ctrl-C, on this machine or, with --host, to a class: one server, a few "
        "processes, any number of readers. With --static, write a dashboard as one file that needs no server.",
    )
    _add_options(parser)
    opened = "open the page in the browser (default: without --host), or not"
    parser.add_argument("--browser", action=argparse.BooleanOptionalAction, default=None, help=opened)
    journal = "ask: the one log in which answers are kept (default: ITEMS-PERSON.jsonl in this folder)"
    parser.add_argument("--journal", metavar="FILE", help=journal)
    parser.add_argument("--person", metavar="NAME", help="ask: who answers")
    parser.add_argument("--static", metavar="PATH.html", help="write one file with stored answers instead")


def add_serve(commands):
    "The options of `serve`."
    serve = commands.add_parser("serve", help="old name of dashboard", description="The old name of dashboard.")
    _add_options(serve)
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
