"The command `dashboard`."

import argparse

from ..core.parallel import command_bar
from ..core.screen import say
from ._options import refuse


def add_dashboard(commands):
    "The words of `dashboard`."
    live = commands.add_parser(
        "dashboard",
        help="a live page, or the home page of all",
        description="Serve a live page on this machine until Ctrl-C, or write it as one file that needs no server.",
    )
    live.add_argument("name", nargs="?", metavar="NAME", help="such as planted; without it, the home page of all")
    where = "where it listens, on this machine only (default: 8866, or any that is free)"
    live.add_argument("--port", type=int, metavar="N", help=where)
    opened = "open the page in the browser (default), or not"
    live.add_argument("--browser", action=argparse.BooleanOptionalAction, default=True, help=opened)
    live.add_argument("--items", metavar="ITEMS", help="ask: what is asked about, as for the command ask")
    journal = "ask: where the answers go (default: ITEMS-PERSON.jsonl in this folder)"
    live.add_argument("--journal", metavar="FILE", help=journal)
    live.add_argument("--person", metavar="NAME", help="ask: who answers")
    twin = "write the static twin instead: one file with stored answers"
    live.add_argument("--static", metavar="PATH.html", help=twin)
    live.set_defaults(run=dashboard_command)


def dashboard_command(args):
    "Serve a dashboard, or all behind a home page, until Ctrl-C, or write one's static twin."
    from comparison_hc.dashboards.server import find_dashboard, run_dashboard, write_static

    options = {name: value for name in ("items", "journal", "person") if (value := getattr(args, name)) is not None}
    if args.name is None:
        from comparison_hc.dashboards.serve_command import run_home

        refuse(args, ("static", *options), f"that of one page ({', '.join(find_dashboard())})")
        try:
            return run_home(args.port, args.browser)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("the dashboards are closed") from None
    if args.static is None:
        try:
            return run_dashboard(args.name, args.port, args.browser, **options)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("the dashboard is closed") from None
    refuse(args, ("port", *options), "left out with --static")
    with command_bar(args.name) as progress:
        write_static(args.name, args.static, progress)
    say(f"wrote {args.static}")
