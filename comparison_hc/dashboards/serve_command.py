"""The words of `comparison-hc serve`: which pages, to whom, where answers go; and the line that a class is told."""

import signal
import sys
import threading

from ..core.validation import require


def add_serve(commands):
    "The words of `serve`."
    serve = commands.add_parser(
        "serve",
        help="the live pages for a class, on this machine",
        description="Serve live pages to a class until Ctrl-C: one server, a few processes, any number of readers. "
        "Without --host, only this machine can open them.",
    )
    serve.add_argument("names", nargs="*", metavar="NAME", help="such as planted, or ask (default: all pages)")
    host = "let a network in: an address of this machine, or 0.0.0.0 for all of them (default: this machine only)"
    serve.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help=host)
    serve.add_argument("--port", type=int, metavar="N", help="where it listens (default: 8867, or any that is free)")
    token = "the word in the address that lets a reader in, the same every day (default: a new one at every start)"
    serve.add_argument("--token", metavar="WORD", help=token)
    hands = "processes that compute (default: one a core, two to four)"
    serve.add_argument("--hands", type=int, metavar="N", help=hands)
    serve.add_argument("--items", default="animals", metavar="ITEMS", help="ask: what is asked about, as for ask")
    folder = "ask: where the journals go, one a person (default: answers, in this folder)"
    serve.add_argument("--folder", default="answers", metavar="FOLDER", help=folder)
    serve.set_defaults(run=serve_command)


def announcement(room):
    "What is printed when readers may come."
    from comparison_hc.dashboards.room import is_loopback

    yield f"The class is open: {room.address} (Ctrl-C ends it)"
    if is_loopback(room.host):
        yield "Only this machine can open it; --host 0.0.0.0 lets the network in."
    else:
        yield "Whoever has this address may come in. It goes over the network as it is, and so does every answer."
    if "ask" in room.dashboards:
        yield f"Answers go to {room.folder}, a journal for every person."


def lecture_settings():
    "What the four lectures will show."
    from comparison_hc.classroom import lecture_a18, lecture_f19, lecture_l20, lecture_n20

    lectures = [each.lecture for each in (lecture_f19, lecture_n20, lecture_a18, lecture_l20)]
    return [(lecture.dashboard, step.settings) for lecture in lectures for step in lecture.steps]


def run_home(port=None, browser=True, stop=None):
    "Serve all live pages to this machine, behind one home page, until Ctrl-C."
    import webbrowser

    from comparison_hc.dashboards.class_server import serve_class

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupt)
    with serve_class(port=port) as room:
        print(f"All live pages: {room.address} (Ctrl-C ends it)", flush=True)
        if browser:
            webbrowser.open(room.address)
        (stop or threading.Event()).wait()


def serve_command(args, stop=None):
    "Serve until Ctrl-C, or until the event `stop`."
    from comparison_hc.dashboards.class_server import serve_class

    names = list(dict.fromkeys(args.names)) or None
    require("ask" in (names or ["ask"]) or args.items == "animals", "--items", "left out without ask", args.items)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupt)
    print("comparison-hc: making the pages", file=sys.stderr, flush=True)
    try:
        where = args.host, args.port, args.token, args.hands, args.items, args.folder
        with serve_class(names, *where, usual=lecture_settings()) as room:
            for line in announcement(room):
                print(line, flush=True)
            (stop or threading.Event()).wait()
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the class is closed") from None


def _interrupt(*_):
    raise KeyboardInterrupt
